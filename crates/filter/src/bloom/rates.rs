//! What a filter reports about itself: rates and numbers of items.

use super::FilterOf;
use crate::backing::{Backing, Counted};
use crate::bits::Storage;
use crate::hash::KeyHasher;
use crate::scheme::{Scheme, SchemeId};
use crate::verify::{self, Measurement, Verification};
use truebloom_math::law::hash_floor;
use truebloom_math::{Error, Fpr, Variant, items_by_moments, items_from_ones};

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    pub(crate) fn scheme_id(&self) -> SchemeId {
        self.scheme().id()
    }
}

impl<S: Scheme, H: KeyHasher + Sync, K: Counted> FilterOf<S, H, K> {
    pub(crate) fn verified(&self) -> Result<Verification, Error> {
        Verification::of(self)
    }

    pub(crate) fn measured(&self, seed: u64) -> Measurement<'_> {
        Measurement::new(self, seed)
    }
}

impl<S: Scheme, H: KeyHasher, K: Counted> FilterOf<S, H, K> {
    /// This filter's rate right now: the probability that a key which was not inserted, chosen
    /// independently of the seed, passes.
    ///
    /// That is `(ones / bits)^probes` for the standard scheme, and the mean over the blocks of
    /// `(ones / 512)^probes` for a blocked filter, exactly, whatever was inserted and however
    /// often. Where the fill does not determine the rate (two hashes for all positions) it is only
    /// bounded: each single position passes with probability `ones / bits`, so the rate is at most
    /// that of one position; then the method is [`Method::Bound`](truebloom_math::Method::Bound)
    /// and the value the upper end. The upper end counts that the key's hash may equal that of a
    /// key that was offered, at most `offered / 2^128`. Some microseconds; linear in the bits of a
    /// blocked filter.
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
        let at_fill = self.storage.fpr(self.scheme());
        // Never refused for the bits and probes a filter can have (a test goes to the corners); if
        // it were, this much would still be true.
        let rate = at_fill.ok().flatten().unwrap_or_else(|| bounded(self.fill(), self.probes()));
        self.with_hash_floor(rate, self.offered())
    }

    /// Whether the fill determines the rate, so that [`fpr`](Self::fpr) is exact and measurements
    /// can be tested against it.
    pub fn fill_tells_rate(&self) -> bool {
        matches!(self.storage.fpr(self.scheme()), Ok(Some(_)))
    }

    /// The number of distinct items that on average gives the present number of set bits:
    /// `ln(1 - ones/bits) / (probes ln(1 - 1/bits))` for the standard scheme, and with
    /// `ln(1 - probes/bits)` below for others whose keys set k different bits. `None` for a full
    /// filter, which only says "many", and for schemes of two hashes and blocked filters, whose
    /// fill has another law.
    ///
    /// An estimate without an interval. It needs no memory of what was inserted, so it also holds
    /// for unions. `None` for intersections, where keys of one filter leave bits behind
    /// ([`most_items`](Self::most_items) bounds those).
    pub fn estimated_items(&self) -> Option<f64> {
        let scheme = self.scheme().id();
        match scheme.variant() {
            _ if self.is_intersection() || scheme.block_bits().is_some() => None,
            Some(Variant::Standard) => items_from_ones(self.bits(), self.probes(), self.ones()),
            // They set k different bits of an item. What no number of items can leave has no
            // estimate.
            _ if self.fill_tells_rate() => items_by_moments(Variant::Classic, self.bits(), self.probes(), self.ones()).ok().flatten(),
            _ => None,
        }
    }

    /// Whether the filter holds more distinct items than it was planned for, so that its expected
    /// rate is above the one proven for it. False without a capacity.
    ///
    /// If true, certain: more than `capacity` offers set a bit, or more bits are set than that many
    /// items can set. For a merged filter, whose items cannot be counted, it is wrong with
    /// probability at most [`ALPHA`](verify::ALPHA): more bits are set than that many items set; a
    /// filter that is just full is not reported. An intersection is judged by what was inserted
    /// since. Always false while `offered() <= capacity`.
    pub fn is_over_capacity(&self) -> bool {
        let Some(capacity) = self.capacity() else { return false };
        if self.most_items() <= capacity || self.is_intersection() {
            return self.changed() > capacity;
        }
        self.changed() > capacity
            || self.ones() > capacity.saturating_mul(self.probes().into())
            || (self.is_merged() && verify::shows_more_than(self, capacity))
    }
}

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    /// The expected rate once the filter holds its capacity: a mean over seeds, proven to be at
    /// most the rate asked for. `None` without a capacity.
    ///
    /// Some microseconds at ordinary parameters.
    ///
    /// # Errors
    /// The exact rate takes too much work, with hundreds of probes.
    pub fn expected_fpr(&self) -> Result<Option<Fpr>, Error> {
        self.capacity().map(|items| self.expected_fpr_at(items)).transpose()
    }

    /// The expected rate of a filter of this size that holds `items` distinct items, as far as it
    /// is proven; see [`expected_fpr`](Self::expected_fpr).
    ///
    /// # Errors
    /// The exact rate takes too much work, with hundreds of probes.
    pub fn expected_fpr_at(&self, items: u64) -> Result<Fpr, Error> {
        let proven = self.law().proven(items)?.unwrap_or_else(|| bounded(1.0, self.probes()));
        Ok(self.with_hash_floor(proven, items))
    }

    fn with_hash_floor(&self, mut rate: Fpr, items: u64) -> Fpr {
        rate.add_above(hash_floor(items, H::HASH_BITS));
        rate
    }
}

/// Between `1 - k (1 - fill)` and the fill: each position is uniform on all bits or on its slice,
/// and for slices the mean over them is at least the smallest.
fn bounded(fill: f64, probes: u32) -> Fpr {
    if fill == 0.0 {
        return Fpr::ZERO;
    }
    let lower = (1.0 - f64::from(probes) * (1.0 - fill) - f64::EPSILON * f64::from(probes)).max(0.0);
    bracket(lower, fill.next_up())
}

/// Proven ends, of which the upper one is the value.
pub(crate) fn bracket(lower: f64, upper: f64) -> Fpr {
    let mut rate = Fpr::bound(lower, upper.min(1.0));
    (rate.value, rate.ln) = (rate.upper, rate.ln_upper);
    rate
}
