//! What is proven of filters whose positions are tied to each other, two hashes making all of them: the fill neither obeys a law given here nor determines the rate.
//!
//! Both are functions of independent items. An item sets at most k bits, so it moves the set bits by at most k; a query has each of its k positions uniform on the bits or on its
//! slice, so k bits lie in the way of at most a share `k k / m` of the queries, and an item moves the rate by at most that. McDiarmid's inequality bounds both from there.

use crate::KeyHasher;
use crate::bloom::BloomFilter;
use crate::scheme::{Scheme, SchemeId};
use truebloom_math::Fpr;

/// Upper bounds of the probability of so few set bits, with `items.0` items, and of so many, with `items.1`.
pub(crate) fn fill_tails<H: KeyHasher, S: Scheme>(filter: &BloomFilter<H, S>, items: (u64, u64)) -> (f64, f64) {
    let (bits, probes, ones) = (filter.bits() as f64, f64::from(filter.probes()), filter.ones() as f64);
    let mean = |items: u64, covered: f64| -bits * (items as f64 * (-covered / bits).ln_1p()).exp_m1();
    let tail = |items: u64, distance: f64| {
        if distance <= 0.0 { 1.0 } else { (-2.0 * distance * distance / (items as f64 * probes * probes)).exp() }
    };
    // A little for rounding.
    let slack = 1e-9 * bits + 1e-6;
    let fewest = mean(items.0, least_distinct(filter.scheme().id(), filter.bits(), filter.probes()));
    let most = mean(items.1, probes.min(bits));
    (tail(items.0, fewest - slack - ones), tail(items.1, ones - most - slack))
}

/// At most the mean number of distinct positions of a key: two of them, d probes apart, meet for at most `gcd(d, m)` of m steps.
fn least_distinct(scheme: SchemeId, bits: u64, probes: u32) -> f64 {
    if scheme == SchemeId::PartitionDouble {
        return probes.into();
    }
    let meetings = (1..u64::from(probes)).map(|apart| (u64::from(probes) - apart) as f64 * gcd(apart, bits) as f64);
    (f64::from(probes) - meetings.sum::<f64>() / bits as f64).max(1.0)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Where one filter's rate lies, but for a chance of `alpha`, when the expected rate of `items` items lies between these.
pub(crate) fn rate_range<H: KeyHasher, S: Scheme>(
    filter: &BloomFilter<H, S>,
    items: u64,
    lowest: &Fpr,
    highest: &Fpr,
    alpha: f64,
) -> (f64, f64) {
    let probes = f64::from(filter.probes());
    let distance = probes * probes / filter.bits() as f64 * (items as f64 * (2.0 / alpha).ln() / 2.0).sqrt();
    let by_fill = filter.fpr();
    ((lowest.lower - distance).max(by_fill.lower), (highest.upper + distance).min(by_fill.upper))
}
