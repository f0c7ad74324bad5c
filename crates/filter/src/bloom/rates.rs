//! What the filter says of itself: rates and numbers of items.

use super::BloomFilter;
use crate::hash::KeyHasher;
use truebloom_math::law::hash_floor;
use truebloom_math::{Error, Fpr, Method, items_from_ones};

impl<H: KeyHasher> BloomFilter<H> {
    /// This filter's rate right now: the chance that a key which was not inserted, chosen independently of the seed, passes.
    ///
    /// That is `(ones / bits)^probes`, exactly, whatever was inserted and however often. The upper end counts that the key's hash may equal that of
    /// a key that was offered, at most `offered / 2^128`. Some microseconds.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut filter = BloomFilter::new(1_000, 0.01)?;
    /// filter.extend(0..1_000);
    /// let fpr = filter.fpr();
    /// assert!(0.005 < fpr.lower && fpr.upper < 0.02);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn fpr(&self) -> Fpr {
        let at_fill = self.law().fpr_at_fill(&[self.ones]);
        // Never refused for the bits and probes a filter can have (a test goes to the corners); if it were, this much would still be true.
        let rate = at_fill.ok().flatten().unwrap_or(anything());
        self.with_hash_floor(rate, self.offered())
    }

    /// The expected rate once the filter holds its capacity: a mean over seeds, proven to be at most the rate asked for. `None` without a capacity.
    ///
    /// An error if the exact rate takes too much work, with hundreds of probes. Some microseconds at ordinary parameters.
    pub fn expected_fpr(&self) -> Result<Option<Fpr>, Error> {
        self.capacity.map(|items| self.expected_fpr_at(items)).transpose()
    }

    /// The expected rate of a filter of this size that holds `items` distinct items; see [`expected_fpr`](Self::expected_fpr).
    pub fn expected_fpr_at(&self, items: u64) -> Result<Fpr, Error> {
        Ok(self.with_hash_floor(self.law().fpr(items)?, items))
    }

    fn with_hash_floor(&self, mut rate: Fpr, items: u64) -> Fpr {
        rate.add_above(hash_floor(items, H::HASH_BITS));
        rate
    }

    /// The number of distinct items that on average gives the present number of set bits: `ln(1 - ones/bits) / (probes ln(1 - 1/bits))`. `None` for a full
    /// filter, which says no more than "many".
    ///
    /// An estimate without an interval. It needs no memory of what was inserted, so it also holds for unions; not for intersections, where keys of one
    /// filter leave bits behind.
    pub fn estimated_items(&self) -> Option<f64> {
        items_from_ones(self.bits(), self.probes(), self.ones)
    }

    /// Whether the filter holds more distinct items than it was planned for, so that its expected rate is above the one proven for it. False without a
    /// capacity.
    ///
    /// Certain if true, as more than `capacity` offers set a bit; for a merged filter, whose items cannot be counted, by
    /// [`estimated_items`](Self::estimated_items).
    pub fn is_over_capacity(&self) -> bool {
        let Some(capacity) = self.capacity else { return false };
        let surely = self.changed() > capacity;
        surely || (self.is_merged() && self.estimated_items().is_none_or(|items| items > capacity as f64))
    }
}

fn anything() -> Fpr {
    let mut rate = Fpr::ONE;
    (rate.lower, rate.ln_lower, rate.method) = (0.0, f64::NEG_INFINITY, Method::Bound);
    rate
}
