//! The largest number of items with a guaranteed rate.

use super::fewest::{LAW_SAVES, WHOLE_BITS};
use super::{Sure, promising};
use crate::Result;
use crate::exact::bisect::bisect_sizes;
use crate::one_filter::quantile::MANY_ITEMS;
use crate::search::{self, Fit};

impl Sure<'_> {
    /// Returns the largest number of items for which the search proves the guarantee with these
    /// bits. The result is at most the number of items that the average rate allows. For a given
    /// number of probes, a filter with more items is more likely to exceed the rate. So the
    /// guarantee also holds for all smaller numbers of items.
    pub(in super::super) fn most_items(&self, bits: u64, mean: Fit) -> Result<Option<Fit>> {
        let last = self.target.variant().max_probes(bits).min(self.most_probes(1).max(mean.probes));
        // Rounding to whole bits changes the required number of bits slightly. The exact
        // distribution, in place of the bounds, also changes it. The margin is the corresponding
        // number of items.
        let by_law = if self.is_followed(mean.size, mean.probes / 2) { LAW_SAVES * mean.size as f64 } else { 0.0 };
        let margin = 1.0 + WHOLE_BITS * mean.size as f64 / bits as f64 + by_law;
        let cost = |probes: u32| -self.about_items(bits, probes, mean.size);
        let always = |probes: u32| mean.size < MANY_ITEMS && self.is_followed(mean.size, probes);
        let mut best = Fit { size: 0, probes: mean.probes };
        for (probes, cost) in promising(self.target, mean.probes, last, margin, cost, always) {
            let more = |items: u64| Ok(!self.is_excluded(bits, items, probes) && self.holds(bits, items, probes)?);
            if best.size < mean.size && more(best.size + 1)? {
                let guess = if cost.is_finite() { -cost } else { self.about_items(bits, probes, mean.size) };
                best = Fit { size: search::boundary(guess + 1.0, best.size + 2, mean.size + 1, more)? - 1, probes };
            }
        }
        Ok((best.size > 0).then_some(best))
    }

    /// Estimates the number of items, as a real number, at which the bound on the probability of a
    /// miss rises above the allowed probability. A miss means that a filter exceeds the requested
    /// rate.
    fn about_items(&self, bits: u64, probes: u32, limit: u64) -> f64 {
        let too_many = |items: f64| self.about(bits, items.max(1.0) as u64, probes) > self.ln_allowed;
        bisect_sizes(0.0, limit as f64 + 1.0, too_many).0
    }
}
