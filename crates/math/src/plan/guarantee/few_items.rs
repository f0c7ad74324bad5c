//! Plans of few items: the smallest size of any number of probes, by the law of the fill.
//!
//! Here whole bits decide. At given probes, the largest share s of bits that may be set is nearly
//! the same at all sizes, and a filter of m bits misses its rate if more than s m bits are set. As
//! m grows, the probability of that falls, but not steadily: it jumps where s m passes a whole
//! number. With one set bit more allowed (`s m + 1`) it is below the probability at this and every
//! smaller size, because the jumps are of one bit. So a size that even then misses too often
//! excludes all smaller ones (`tests/plan_guarantee.rs` holds this to all sizes), and from there on
//! every size is tried. Of the partitioned layout only a bound is known, and every size from the
//! mean's is tried.

use super::Sure;
use crate::Result;
use crate::one_filter::quantile::{Evidence, misses_by_far};
use crate::search::{self, Fit, MAX_SEARCHED_PROBES, ln_lower_bound};

/// From this many items on, what the bounds give away is little, and the search has less time.
const MANY_ITEMS: u64 = 100;

/// Balls (items times about the best probes) that are followed.
const BALLS: f64 = 4_200.0;

impl Sure<'_> {
    /// The most probes that are tried, far beyond the best; `None` for so many items that the law
    /// is not followed. It depends on nothing but items and rate, so that every question of a size
    /// is answered from the same evidence.
    fn most_probes(&self, items: u64) -> Option<u32> {
        let usual = -self.question().ln_target(items) / core::f64::consts::LN_2;
        let is_few = items < MANY_ITEMS && items as f64 * usual <= BALLS;
        is_few.then(|| (2.0 * usual + 16.0).min(f64::from(MAX_SEARCHED_PROBES)) as u32)
    }

    /// Whether a size is decided by the law of the fill, ball by ball (of slices by its bound).
    pub(super) fn is_followed(&self, items: u64, probes: u32) -> bool {
        self.most_probes(items).is_some_and(|most| probes <= most)
    }

    /// What a size is decided from.
    pub(super) fn evidence(&self, items: u64, probes: u32) -> Evidence {
        if self.is_followed(items, probes) { Evidence::Balls { allowed: 1.0 - self.confidence } } else { super::LAW }
    }

    /// As [`Self::holds`], in the other order: what fails fails at the first balls.
    fn keeps(&self, bits: u64, items: u64, probes: u32) -> Result<bool> {
        let is_sure = self.miss(bits, items, probes, self.evidence(items, probes))? <= 1.0 - self.confidence;
        Ok(is_sure && self.target.variant().meets(bits, items, probes, self.rate, Some(self.target.hash_bits))?)
    }

    /// Numbers of probes to try, from a first one outwards; those given.
    fn numbers_to_try(&self, first: u32, most: u32) -> impl Iterator<Item = u32> {
        let others = self.target.probes.is_none().then(|| search::outwards(first, 1, most));
        core::iter::once(first).chain(others.into_iter().flatten())
    }

    /// Whether even the average is above the rate, by a bound that takes no time.
    fn is_excluded(&self, bits: u64, items: u64, probes: u32) -> bool {
        let bound = ln_lower_bound(self.target.variant(), bits, items, probes);
        bound > self.rate.ln() + 1e-9 * (1.0 + bound.abs())
    }

    /// Whether these probes miss the rate at this size and at all smaller ones.
    fn misses_up_to(&self, bits: u64, items: u64, probes: u32) -> Result<bool> {
        let law = (self.target.variant(), bits, items, probes);
        Ok(bits < self.target.variant().least_bits(probes) || misses_by_far(law, self.rate, self.target.hash_bits, 1.0 - self.confidence)?)
    }

    /// The fewest bits, from a size that is known to hold; `None` where the law is not followed.
    pub(super) fn fewest_bits_of_few(&self, items: u64, mean: u64, known: Fit) -> Result<Option<Fit>> {
        let Some(most) = self.most_probes(items).filter(|most| known.probes <= *most) else { return Ok(None) };
        let mut best = known;
        for probes in self.numbers_to_try(known.probes, most) {
            if let Some(size) = self.fewer_bits_of_few(items, probes, mean, best.size)? {
                best = Fit { size, probes };
            }
        }
        Ok(Some(best))
    }

    /// The fewest bits below `limit` at given probes.
    fn fewer_bits_of_few(&self, items: u64, probes: u32, mean: u64, limit: u64) -> Result<Option<u64>> {
        let least = mean.max(self.target.variant().least_bits(probes));
        let Some(last) = limit.checked_sub(1).filter(|last| *last >= least) else { return Ok(None) };
        if self.is_excluded(last, items, probes) || self.misses_up_to(last, items, probes)? {
            return Ok(None);
        }
        let mut bits = search::boundary(last as f64 - 1.0, least, last, |bits| self.misses_up_to(bits, items, probes))?;
        while bits <= last && !self.keeps(bits, items, probes)? {
            bits += 1;
        }
        Ok((bits <= last).then_some(bits))
    }

    /// The most items that are few, of which `limit` are too many; and the first number that is not
    /// few, or that limit.
    pub(super) fn most_items_of_few(&self, bits: u64, first: u32, limit: u64) -> Result<(Option<Fit>, u64)> {
        // Fewer items are few as well.
        let few = search::boundary(1.0, 1, limit.min(MANY_ITEMS), |items| Ok(self.is_followed(items, first)))?;
        let mut best = Fit { size: 0, probes: first };
        let most = self.most_probes(few - 1).unwrap_or(first).min(self.target.variant().max_probes(bits));
        for probes in self.numbers_to_try(first, most) {
            let more = |items: u64| {
                Ok(self.is_followed(items, probes) && !self.is_excluded(bits, items, probes) && self.keeps(bits, items, probes)?)
            };
            if best.size + 1 < few && more(best.size + 1)? {
                let guess = self.about_items(bits, probes, few) + 1.0;
                best = Fit { size: search::boundary(guess, best.size + 2, few, more)? - 1, probes };
            }
        }
        Ok(((best.size > 0).then_some(best), few))
    }

    /// Probes with which a size holds; `None` if there are none, or too many items to follow.
    pub(super) fn probes_for_few(&self, bits: u64, items: u64, first: u32) -> Result<Option<u32>> {
        let Some(most) = self.most_probes(items).filter(|most| first <= *most) else { return Ok(None) };
        for probes in self.numbers_to_try(first, most.min(self.target.variant().max_probes(bits))) {
            if !self.is_excluded(bits, items, probes) && self.keeps(bits, items, probes)? {
                return Ok(Some(probes));
            }
        }
        Ok(None)
    }
}
