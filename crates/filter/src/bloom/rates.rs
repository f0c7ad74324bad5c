//! The rates of a filter and its number of items.

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
    /// The present false-positive rate of this filter. It is the probability that
    /// [`contains`](Self::contains) returns true for a key that was not inserted. The key must be
    /// chosen without knowing the seed.
    ///
    /// The rate depends only on the set bits. In the formulas, `bits` is the number of bits, `ones`
    /// is the number of set bits, and `probes` is the number of probes per key:
    /// * For the standard scheme, the rate is exactly `(ones / bits)^probes`.
    /// * For a blocked filter, the rate is the mean of `(ones / 512)^probes` over all blocks. Here,
    ///   `ones` is the number of set bits in one block.
    /// * For schemes that derive all positions of a key from two hashes, there is no such formula,
    ///   but the rate is at most `ones / bits`. In the result, the field `value` is this upper
    ///   bound, and the field `method` is [`Method::Bound`](truebloom_math::Method::Bound).
    ///
    /// The field `upper` of the result is an upper bound on the rate. This bound includes the
    /// probability that the key has the same hash as an inserted key. For 128-bit hashes, this
    /// probability is at most n / 2^128, where n is the number of insertions
    /// ([`offered`](Self::offered)). In a nearly empty filter, this probability is not negligible
    /// compared with the rate. Then the field `value` includes this probability, too, and the field
    /// `method` is [`Method::Bound`](truebloom_math::Method::Bound).
    ///
    /// This method takes a few microseconds. For blocked and partitioned filters, the time is
    /// linear in the number of bits.
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

    /// Returns true if the false-positive rate can be computed from the set bits. In that case,
    /// [`fpr`](Self::fpr) returns the filter's rate, and you can compare a measured rate with it.
    /// Otherwise, [`fpr`](Self::fpr) returns only bounds on the rate.
    pub fn fill_tells_rate(&self) -> bool {
        matches!(self.storage.fpr(self.scheme()), Ok(Some(_)))
    }

    /// An estimate of the number of distinct items in the filter. It is the number of items for
    /// which the mean number of set bits is equal to the present number of set bits. In the
    /// formulas, `bits` is the number of bits, `ones` is the number of set bits, and `probes` is
    /// the number of probes per key:
    /// * For the standard scheme, the estimate is `ln(1 - ones/bits) / (probes ln(1 - 1/bits))`.
    /// * For the classic and the partitioned scheme, in which every key sets `probes` different
    ///   bits, the estimate is `ln(1 - ones/bits) / ln(1 - probes/bits)`.
    /// * For blocked filters and two-hash schemes, there is no such formula. The method returns
    ///   `None`.
    ///
    /// Returns `None` for a full filter, because any large number of items could have filled it.
    ///
    /// The estimate depends only on the set bits, so it is also valid for unions. Returns `None`
    /// for an intersection, because some of its set bits may come from none of its keys. For an
    /// intersection, [`most_items`](Self::most_items) is an upper bound.
    pub fn estimated_items(&self) -> Option<f64> {
        if self.is_intersection() { None } else { estimated_items(self.scheme(), self.ones(), || self.fill_tells_rate()) }
    }
}

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    /// The expected false-positive rate of the filter when it holds as many items as its capacity.
    /// The expected rate is the mean over all seeds, and is proven to be at most the requested
    /// rate. Returns `None` if the filter has no capacity.
    ///
    /// This method takes a few microseconds for ordinary numbers of bits and probes.
    ///
    /// # Errors
    /// Returns an error if the exact rate would take too long to compute, which happens only with
    /// hundreds of probes.
    pub fn expected_fpr(&self) -> Result<Option<Fpr>, Error> {
        self.capacity().map(|items| self.expected_fpr_at(items)).transpose()
    }

    /// The expected false-positive rate of the filter when it holds a given number of distinct
    /// items, `items`. In the result, the fields `lower` and `upper` are proven bounds on the
    /// expected rate. See [`expected_fpr`](Self::expected_fpr).
    ///
    /// # Errors
    /// Returns an error if the exact rate would take too long to compute, which happens only with
    /// hundreds of probes.
    pub fn expected_fpr_at(&self, items: u64) -> Result<Fpr, Error> {
        expected_at::<S, H>(self.scheme(), items)
    }
}

/// Computes [`FilterOf::expected_fpr_at`] for filters of this scheme.
pub(super) fn expected_at<S: Scheme, H: KeyHasher>(scheme: &S, items: u64) -> Result<Fpr, Error> {
    let proven = scheme.law().proven(items)?.unwrap_or_else(|| bounded(1.0, scheme.probes()));
    Ok(above_hash_floor::<H>(proven, items))
}

/// Adds to the upper end the probability that a key has the same hash as one of the items.
pub(super) fn above_hash_floor<H: KeyHasher>(mut rate: Fpr, items: u64) -> Fpr {
    rate.add_above(hash_floor(items, H::HASH_BITS));
    rate
}

/// The rate computed from the set bits. If the set bits do not determine the rate, the result is a
/// bound that holds for every scheme. For the bits and probes that a filter can have, the law never
/// returns an error (a test covers the extremes). If the law did return an error, the bound would
/// still hold.
pub(super) fn or_bounded(rate: Result<Option<Fpr>, Error>, fill: impl FnOnce() -> f64, probes: u32) -> Fpr {
    rate.ok().flatten().unwrap_or_else(|| bounded(fill(), probes))
}

/// Computes [`FilterOf::estimated_items`] for a filter that does not come from an intersection.
pub(super) fn estimated_items(scheme: &impl Scheme, ones: u64, tells_rate: impl FnOnce() -> bool) -> Option<f64> {
    let id = scheme.id();
    match id.variant() {
        _ if id.block_bits().is_some() => None,
        Some(Variant::Standard) => items_from_ones(scheme.bits(), scheme.probes(), ones),
        // With these schemes, every key sets k different bits. If no number of items would set
        // `ones` bits on average, there is no estimate.
        _ if tells_rate() => items_by_moments(Variant::Classic, scheme.bits(), scheme.probes(), ones).ok().flatten(),
        _ => None,
    }
}

/// The bounds `1 - k (1 - fill)` and `fill` on the rate. They hold for two reasons. Each position
/// is uniform over all bits or over its slice, and the fill of the emptiest slice is at most the
/// mean fill.
fn bounded(fill: f64, probes: u32) -> Fpr {
    if fill == 0.0 {
        return Fpr::ZERO;
    }
    let lower = (1.0 - f64::from(probes) * (1.0 - fill) - f64::EPSILON * f64::from(probes)).max(0.0);
    bracket(lower, fill.next_up())
}

/// A rate that is known only to lie between two proven bounds; the upper bound becomes its value.
pub(crate) fn bracket(lower: f64, upper: f64) -> Fpr {
    let mut rate = Fpr::bound(lower, upper.min(1.0));
    (rate.value, rate.ln) = (rate.upper, rate.ln_upper);
    rate
}
