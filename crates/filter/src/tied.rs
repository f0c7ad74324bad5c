//! Proven bounds for filters in which the positions of a key depend on each other, because they are
//! derived from two hashes or are in one block. No exact law is known for the number of set bits of
//! such filters. If the positions are derived from two hashes, the number of set bits does not
//! determine the rate, either. [`truebloom_math::mcdiarmid`] gives bounds on both.

use crate::KeyHasher;
use crate::backing::{Backing, Counted};
use crate::bloom::FilterOf;
use crate::scheme::{Scheme, SchemeId};
use truebloom_math::Fpr;
use truebloom_math::mcdiarmid::{Fill, covered, rate_distance};

/// Two laws of the fill. The first assumes a lower bound on the mean number of bits that a key
/// sets, and the second assumes an upper bound.
pub(crate) fn fills<S: Scheme, H: KeyHasher, K: Backing>(filter: &FilterOf<S, H, K>) -> (Fill, Fill) {
    let (bits, probes) = (filter.bits(), filter.probes());
    let fill = |covered| Fill { bits, probes, items: 0, covered };
    if let Some(block_bits) = filter.scheme().id().block_bits() {
        let in_block = fill(covered(block_bits, probes));
        return (in_block, in_block);
    }
    (fill(least_distinct(filter.scheme().id(), bits, probes)), fill(f64::from(probes).min(bits as f64)))
}

/// A lower bound on the mean number of distinct positions of a key. Probe i is at position
/// `h1 + i h2 + f(i)`, modulo the number of bits m. So two probes whose indices differ by d
/// coincide for at most `gcd(d, m)` of the m possible values of h2.
fn least_distinct(scheme: SchemeId, bits: u64, probes: u32) -> f64 {
    if scheme == SchemeId::PartitionDouble {
        return probes.into();
    }
    let meetings = (1..u64::from(probes)).map(|apart| (u64::from(probes) - apart) as f64 * truebloom_math::gcd(apart, bits) as f64);
    (f64::from(probes) - meetings.sum::<f64>() / bits as f64).max(1.0)
}

/// A range that contains one filter's rate with probability at least `1 - alpha`, if the expected
/// rate with `items` items is between `lowest` and `highest`. The fill gives another range, which
/// always holds, and the result is the overlap of both ranges. If the ranges do not overlap, the
/// number of items is wrong, and the result is the range from the fill.
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
/// at most `alpha`. Returns `None` if no bound below 1 is known.
pub(crate) fn rate_limit<S: Scheme, H: KeyHasher, K: Backing>(filter: &FilterOf<S, H, K>, items: u64, alpha: f64) -> Option<f64> {
    let expected = filter.law().proven(items).ok().flatten()?;
    let limit = expected.upper + rate_distance(filter.bits(), filter.probes(), items, alpha);
    (limit < 1.0).then_some(limit)
}
