//! The fewest bits for few items, decided by the exact distribution of the number of set bits.
//!
//! A *ball* is one position of one item. If there are few balls, every single bit matters. For a
//! given number of probes, the largest allowed share s of set bits is nearly the same for all
//! sizes. A filter of m bits misses its rate if more than s m bits are set. As m grows, the
//! probability that a filter misses its rate decreases, but not monotonically: it jumps where s m
//! passes an integer. Now suppose that one more set bit is allowed (`s m + 1`). The probability of
//! exceeding this limit is below the probability of a miss at this size and at every smaller size,
//! because each jump is by one bit. So if a size misses too often even with one more bit allowed,
//! no smaller size is enough (`tests/plan_guarantee.rs` checks this at all sizes). The search tries
//! all larger sizes. For the partitioned scheme, only a bound on the probability of a miss is
//! known. So the search tries all sizes, starting with the smallest size whose average rate is low
//! enough.

use super::Sure;
use crate::one_filter::quantile::{Evidence, FEW_BALLS, MANY_ITEMS, allowed, misses_by_far};
use crate::{Result, Variant, search};

/// Whether the search must try every size, because approximations are not precise enough. For the
/// partitioned scheme, this is the case below [`MANY_ITEMS`] items and up to [`FEW_BALLS`] balls,
/// because the lengths of the slices matter.
pub(super) fn is_followed(variant: Variant, items: u64, probes: u32, allowed: f64) -> bool {
    match variant {
        Variant::Partitioned => items < MANY_ITEMS && items * u64::from(probes) <= FEW_BALLS,
        _ => matches!(Evidence::of(variant, items, probes, allowed), Evidence::Balls { .. }),
    }
}

impl Sure<'_> {
    /// Whether the search tries every size. Each size is decided by the exact distribution,
    /// computed ball by ball. For the partitioned scheme with few items, a bound decides.
    pub(super) fn is_followed(&self, items: u64, probes: u32) -> bool {
        is_followed(self.target.variant(), items, probes, allowed(self.confidence))
    }

    /// Whether filters with this number of probes miss the rate too often, at this size and at all
    /// smaller sizes.
    fn misses_up_to(&self, bits: u64, items: u64, probes: u32) -> Result<bool> {
        let law = (self.target.variant(), bits, items, probes);
        Ok(bits < self.target.variant().least_bits(probes)
            || misses_by_far(law, self.rate, self.target.hash_bits, allowed(self.confidence))?)
    }

    /// Returns the fewest bits below `limit` for a given number of probes.
    pub(super) fn fewest_by_law(&self, items: u64, probes: u32, mean: u64, limit: u64) -> Result<Option<u64>> {
        let least = mean.max(self.target.variant().least_bits(probes));
        let Some(last) = limit.checked_sub(1).filter(|last| *last >= least) else { return Ok(None) };
        if self.misses_up_to(last, items, probes)? {
            return Ok(None);
        }
        let mut bits = search::boundary(last as f64 - 1.0, least, last, |bits| self.misses_up_to(bits, items, probes))?;
        while bits <= last && !self.holds(bits, items, probes)? {
            bits += 1;
        }
        Ok((bits <= last).then_some(bits))
    }
}
