//! What a filter reports about itself: rates and numbers of items.

use super::FilterOf;
use crate::backing::{Backing, Counted};
use crate::hash::KeyHasher;
use crate::scheme::{Scheme, SchemeId, Storage};
use truebloom_math::law::hash_floor;
use truebloom_math::{Error, Fpr, Variant, items_by_moments, items_from_ones};

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    pub(crate) fn scheme_id(&self) -> SchemeId {
        self.scheme().id()
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
        let rate = or_bounded(self.storage.fpr(self.scheme()), || self.fill(), self.probes());
        above_hash_floor::<H>(rate, self.offered())
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
        if self.is_intersection() { None } else { estimated_items(self.scheme(), self.ones(), || self.fill_tells_rate()) }
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
        expected_at::<S, H>(self.scheme(), items)
    }
}

/// [`FilterOf::expected_fpr_at`] of filters of this scheme.
pub(super) fn expected_at<S: Scheme, H: KeyHasher>(scheme: &S, items: u64) -> Result<Fpr, Error> {
    let proven = scheme.law().proven(items)?.unwrap_or_else(|| bounded(1.0, scheme.probes()));
    Ok(above_hash_floor::<H>(proven, items))
}

/// The rate with the chance above it that the key's hash equals that of one of the items.
pub(super) fn above_hash_floor<H: KeyHasher>(mut rate: Fpr, items: u64) -> Fpr {
    rate.add_above(hash_floor(items, H::HASH_BITS));
    rate
}

/// The rate that the bits tell, or else what is true of every scheme. Never refused for the bits
/// and probes a filter can have (a test goes to the corners); if it were, this much would still be
/// true.
pub(super) fn or_bounded(rate: Result<Option<Fpr>, Error>, fill: impl FnOnce() -> f64, probes: u32) -> Fpr {
    rate.ok().flatten().unwrap_or_else(|| bounded(fill(), probes))
}

/// [`FilterOf::estimated_items`] of a filter that no intersection went into.
pub(super) fn estimated_items(scheme: &impl Scheme, ones: u64, tells_rate: impl FnOnce() -> bool) -> Option<f64> {
    let id = scheme.id();
    match id.variant() {
        _ if id.block_bits().is_some() => None,
        Some(Variant::Standard) => items_from_ones(scheme.bits(), scheme.probes(), ones),
        // They set k different bits per item. What no number of items can leave has no estimate.
        _ if tells_rate() => items_by_moments(Variant::Classic, scheme.bits(), scheme.probes(), ones).ok().flatten(),
        _ => None,
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
