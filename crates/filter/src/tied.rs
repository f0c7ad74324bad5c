//! What is proven about filters with correlated positions, either because they are derived from two
//! hashes or because they are in one block. The fill of such filters follows no exact law here, and
//! for two hashes it does not determine the rate; both are bounded by
//! [`truebloom_math::mcdiarmid`].

use crate::KeyHasher;
use crate::backing::{Backing, Counted};
use crate::bloom::FilterOf;
use crate::scheme::{Scheme, SchemeId};
use truebloom_math::Fpr;
use truebloom_math::mcdiarmid::{Fill, covered, rate_distance};

/// The laws of the fill, for the smallest and for the largest number of bits that the items can
/// set.
pub(crate) fn fills<S: Scheme, H: KeyHasher, K: Backing>(filter: &FilterOf<S, H, K>) -> (Fill, Fill) {
    let (bits, probes) = (filter.bits(), filter.probes());
    let fill = |covered| Fill { bits, probes, items: 0, covered };
    if let Some(block_bits) = filter.scheme().id().block_bits() {
        let in_block = fill(covered(block_bits, probes));
        return (in_block, in_block);
    }
    (fill(least_distinct(filter.scheme().id(), bits, probes)), fill(f64::from(probes).min(bits as f64)))
}

/// A lower bound on the mean number of distinct positions of a key: two positions that are d probes
/// apart coincide for at most `gcd(d, m)` of the m possible steps.
fn least_distinct(scheme: SchemeId, bits: u64, probes: u32) -> f64 {
    if scheme == SchemeId::PartitionDouble {
        return probes.into();
    }
    let meetings = (1..u64::from(probes)).map(|apart| (u64::from(probes) - apart) as f64 * truebloom_math::gcd(apart, bits) as f64);
    (f64::from(probes) - meetings.sum::<f64>() / bits as f64).max(1.0)
}

/// The range of one filter's rate, with probability at least `1 - alpha`, if the expected rate of
/// `items` items is in this range; it is limited to what the fill certainly allows. If these two
/// ranges do not overlap, the number of items is wrong, and only the certain range is returned.
pub(crate) fn rate_range<S: Scheme, H: KeyHasher, K: Counted>(
    filter: &FilterOf<S, H, K>,
    items: u64,
    lowest: &Fpr,
    highest: &Fpr,
    alpha: f64,
) -> (f64, f64) {
    let distance = rate_distance(filter.bits(), filter.probes(), items, alpha / 2.0);
    let by_fill = filter.fpr();
    let (low, high) = ((lowest.lower - distance).max(by_fill.lower), (highest.upper + distance).min(by_fill.upper));
    if low <= high { (low, high) } else { (by_fill.lower, by_fill.upper) }
}

/// An upper bound on the rate of one filter with `items` items, which is exceeded with probability
/// at most `alpha`. `None` if no bound below 1 is known.
pub(crate) fn rate_limit<S: Scheme, H: KeyHasher, K: Backing>(filter: &FilterOf<S, H, K>, items: u64, alpha: f64) -> Option<f64> {
    let expected = filter.law().proven(items).ok().flatten()?;
    let limit = expected.upper + rate_distance(filter.bits(), filter.probes(), items, alpha);
    (limit < 1.0).then_some(limit)
}
