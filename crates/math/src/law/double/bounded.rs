//! Proven brackets for plain double hashing, used when the exact sum takes too long. Every class of
//! queries has its own [`bracket`].

use super::bracket::{Hits, average, bracket};
use super::collisions::{hits_of_one, long_orders, of_order, short_orders};
use super::{Double, Offsets};
use crate::exact::work;
use crate::{Fpr, Result};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The largest number of steps for enumerating the classes of short orders, which take about two
/// seconds.
const MAX_STEPS: f64 = 5e8;

/// The largest number of classes. Each class has its own bracket, which takes a few milliseconds.
const MOST_CLASSES: usize = 512;

/// The number of steps that each class costs in addition to its sums.
const CLASS: f64 = 1e6;

/// Returns the bracket, or `None` if there are offsets, too many positions or too many classes.
pub(super) fn rate(law: &Double, items: u64) -> Result<Option<Fpr>> {
    if law.offsets != Offsets::Linear || law.probes > 64 {
        return Ok(None);
    }
    let k = f64::from(law.probes);
    if short_orders(law).count() as f64 * 20.0 * k * k * k * k > MAX_STEPS {
        return Ok(None);
    }
    work::spend("a bracket of the rate of a two-hash scheme", short_orders(law).count() as f64 * 20.0 * k * k * k * k)?;
    let one = hits_of_one(law);
    let mut classes: BTreeMap<(Vec<u128>, Vec<u64>), u64> = BTreeMap::new();
    for order in short_orders(law) {
        let class = of_order(law, order);
        let hits = Hits::of_class(&class, one);
        *classes.entry((hits.single, hits.several)).or_insert(0) += class.weight;
    }
    for (weight, overlaps) in long_orders(law) {
        let hits = Hits::of_overlaps(law.probes, one, &overlaps);
        *classes.entry((hits.single, hits.several)).or_insert(0) += weight;
    }
    if classes.len() > MOST_CLASSES {
        return Ok(None);
    }
    let pairs = law.pairs();
    let part = |((single, several), weight): ((Vec<u128>, Vec<u64>), u64)| {
        work::spend("a bracket of the rate of a two-hash scheme", CLASS)?;
        Ok((weight, bracket(&Hits { single, several }, pairs, items)?))
    };
    let parts = classes.into_iter().map(part).collect::<Result<Vec<_>>>()?;
    average(&parts, pairs.second).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::enclosure::Enclose;
    use crate::law::double::{Step, exact};

    /// Compares the bracket with the exact sum wherever both are available: at tiny sizes, where
    /// most pairs collide, and at usual sizes.
    #[test]
    fn brackets_contain_the_exact_rate_and_are_narrow() {
        let mut widest = 0f64;
        let tiny = (2..40u64).flat_map(|m| [1u64, 2, 3, 7].map(|n| (m, n)));
        let usual = [(401, 60), (1024, 100), (2310, 200), (65_536, 5_000), (80_021, 5_000), (1_081_080, 50_000)];
        for (m, n) in tiny.chain(usual) {
            for (k, step) in (1..=10u32).flat_map(|k| [(k, Step::Any), (k, Step::NonZero)]) {
                let law = Double::new(m, k, step, Offsets::Linear).expect("in range");
                let exact = exact::rate(&law, n).expect("small").expect("affordable").fpr().expect("affordable");
                let found = rate(&law, n).expect("small").expect("affordable");
                assert!(found.lower <= exact.upper && exact.lower <= found.upper, "m={m} n={n} k={k} {step:?}: {found:?} misses {exact:?}");
                if m > 10_000 {
                    widest = widest.max(found.upper / found.lower - 1.0);
                }
            }
        }
        println!("widest bracket from 65536 bits on: {widest:e}");
        assert!(widest < 1e-3);
    }

    /// Compares two ways to compute a class: enumerating every pair, and counting by overlaps.
    #[test]
    fn overlaps_count_what_listing_finds() {
        for (m, k) in [(1_009u64, 6u32), (1_024, 7), (1_155, 5), (2_520, 9), (4_620, 11)] {
            let law = Double::new(m, k, Step::Any, Offsets::Linear).expect("in range");
            let one = hits_of_one(&law);
            let mut listed: BTreeMap<(Vec<u128>, Vec<u64>), u64> = BTreeMap::new();
            for order in (2 * u64::from(k * k) + 1..=m).filter(|&order| m.is_multiple_of(order)) {
                let hits = Hits::of_class(&of_order(&law, order), one);
                *listed.entry((hits.single, hits.several)).or_insert(0) += crate::exact::modular::totient(order);
            }
            let mut counted: BTreeMap<(Vec<u128>, Vec<u64>), u64> = BTreeMap::new();
            for (weight, overlaps) in long_orders(&law) {
                let hits = Hits::of_overlaps(k, one, &overlaps);
                let by_set = Hits::of_class(&super::super::collisions::from_overlaps(k, weight, &overlaps), one);
                assert_eq!(hits, by_set);
                *counted.entry((hits.single, hits.several)).or_insert(0) += weight;
            }
            assert_eq!(listed, counted, "m={m} k={k}");
        }
    }

    /// Compares the numbers of hash pairs that hit a given number of positions with reference
    /// values, for large primes.
    #[test]
    fn histograms_of_large_primes() {
        let text = include_str!("../../../tests/vectors/km_prime_hist.json");
        let all: serde_json::Value = serde_json::from_str(text).expect("the vectors are JSON");
        for row in all["rows"].as_array().expect("rows") {
            let k = row["k"].as_u64().expect("probes") as u32;
            let law = Double::new(crate::law::convergence::LARGE_PRIME, k, Step::Any, Offsets::Linear).expect("in range");
            let classes = long_orders(&law);
            assert_eq!(classes.len(), 1, "all queries of a large prime are alike");
            let hits = Hits::of_overlaps(k, hits_of_one(&law), &classes[0].1);
            for size in 2..=k as usize {
                let expected = row["hist"].get(size.to_string()).map_or(0, |count| count.as_u64().expect("a count"));
                assert_eq!(hits.several[size], expected, "k={k} size={size}");
            }
        }
    }
}
