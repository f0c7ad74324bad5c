//! The fewest bits for few balls, by the exact distribution of the number of set bits.
//!
//! With few balls, single bits matter. For a given number of probes, the largest share s of bits
//! that may be set is nearly the same at all sizes, and a filter of m bits misses its rate if more
//! than s m bits are set. As m grows, the probability of a miss decreases, but not monotonically:
//! it jumps where s m passes an integer. If one more set bit is allowed (`s m + 1`), the
//! probability is below that of a miss at this and every smaller size, because each jump is by one
//! bit. So if a size misses too often even with one more bit allowed, all smaller sizes are
//! excluded (`tests/plan_guarantee.rs` checks this at all sizes), and every larger size is tried.
//! For the partitioned layout, only a bound is known, and every size from that of the mean on is
//! tried.

use super::Sure;
use crate::one_filter::quantile::{Evidence, FEW_BALLS, MANY_ITEMS, misses_by_far};
use crate::{Result, Variant, search};

/// Whether the law of the fill decides, which the approximations only come near; for slices, where
/// their lengths do.
pub(super) fn is_followed(variant: Variant, items: u64, probes: u32, allowed: f64) -> bool {
    match variant {
        Variant::Partitioned => items < MANY_ITEMS && items * u64::from(probes) <= FEW_BALLS,
        _ => matches!(Evidence::of(variant, items, probes, allowed), Evidence::Balls { .. }),
    }
}

impl Sure<'_> {
    /// Whether every size is tried: with the exact distribution, computed by throwing one ball
    /// after another, or, for the partitioned layout and few items, with its bound.
    pub(super) fn is_followed(&self, items: u64, probes: u32) -> bool {
        is_followed(self.target.variant(), items, probes, 1.0 - self.confidence)
    }

    /// Whether these probes miss the rate at this size and at all smaller ones.
    fn misses_up_to(&self, bits: u64, items: u64, probes: u32) -> Result<bool> {
        let law = (self.target.variant(), bits, items, probes);
        Ok(bits < self.target.variant().least_bits(probes) || misses_by_far(law, self.rate, self.target.hash_bits, 1.0 - self.confidence)?)
    }

    /// The fewest bits below `limit` at given probes.
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
