//! Tests small filters by two independent methods in exact fractions: an enumeration of all
//! outcomes of all hashes, and the occupancy chain.

mod common;

use common::oracle::{self, hold};
use common::{choose, of_f64, power, ratio};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use truebloom_math::Variant;

/// Calls `visit` with the filter that results from every tuple of `items` hashes.
fn every_filter(hashes: &[u32], items: u64, filter: u32, visit: &mut impl FnMut(u32)) {
    if items == 0 {
        return visit(filter);
    }
    hashes.iter().for_each(|hash| every_filter(hashes, items - 1, filter | hash, visit));
}

/// The largest number of tuples per case.
const TUPLES: u64 = 300_000;

#[test]
fn every_outcome_counted() {
    let mut cases = [0; 3];
    for (which, variant) in Variant::ALL.into_iter().enumerate() {
        for bits in 1..=8u64 {
            for probes in (1..=9u32).filter(|&k| variant == Variant::Standard || u64::from(k) <= bits) {
                let most = TUPLES as f64;
                if variant == Variant::Standard && (bits as f64).powi(probes as i32) > most {
                    continue;
                }
                let hashes = oracle::hashes(variant, bits, probes);
                // For each possible filter, the number of hashes whose positions are all set.
                let within: Vec<u64> =
                    (0..1u32 << bits).map(|filter| hashes.iter().filter(|&hash| hash & !filter == 0).count() as u64).collect();
                for items in (1..=10u64).take_while(|&n| (hashes.len() as f64).powi(n as i32) <= most) {
                    let (mut hits, mut ones, mut squares, mut filters) = (0u64, 0u64, 0u64, 0u64);
                    every_filter(&hashes, items, 0, &mut |filter| {
                        hits += within[filter as usize];
                        ones += u64::from(filter.count_ones());
                        squares += u64::from(filter.count_ones()).pow(2);
                        filters += 1;
                    });
                    let context = format!("{variant} m={bits} n={items} k={probes}");
                    let truth = ratio(hits, filters * hashes.len() as u64);
                    hold(&variant.fpr(bits, items, probes).expect("in range"), &truth, &context);
                    hold(&variant.law(bits, probes).and_then(|law| law.fpr(items)).expect("in range"), &truth, &context);
                    // The occupancy chain, which the other tests use, is compared with the
                    // enumeration.
                    assert_eq!(oracle::rate(variant, bits, items, probes), truth, "{context}");
                    let mean = ratio(ones, filters);
                    let variance = ratio(squares, filters) - &mean * &mean;
                    assert_eq!(oracle::moments(variant, bits, items, probes), (mean, variance), "{context}");
                    cases[which] += 1;
                }
            }
        }
    }
    println!("cases enumerated: {cases:?}");
    assert!(cases.iter().all(|&count| count >= 100), "{cases:?}");
}

#[test]
fn every_fill_counted() {
    for variant in Variant::ALL {
        for (bits, probes) in [(1u64, 1u32), (5, 2), (7, 3), (8, 3), (8, 4)] {
            let probes = probes.min(bits as u32);
            let hashes = oracle::hashes(variant, bits, probes);
            let law = variant.law(bits, probes).expect("in range");
            for filter in 0..1u32 << bits {
                let inside = hashes.iter().filter(|&hash| hash & !filter == 0).count() as u64;
                let mut rest = filter;
                let mut low_bits = |size: u64| {
                    let ones = rest & ((1 << size) - 1);
                    rest >>= size;
                    u64::from(ones.count_ones())
                };
                let ones: Vec<u64> = match variant {
                    Variant::Partitioned => oracle::slices(bits, probes).into_iter().map(&mut low_bits).collect(),
                    _ => vec![low_bits(bits)],
                };
                let fpr = law.fpr_at_fill(&ones).expect("possible").expect("determined by the fill");
                hold(&fpr, &ratio(inside, hashes.len() as u64), &format!("{variant} m={bits} k={probes} filter {filter:b}"));
            }
        }
    }
}

/// Returns the relative error of an `f64`, compared with a fraction.
fn relative_error(found: f64, truth: &BigRational) -> f64 {
    if truth.is_zero() { found } else { ((of_f64(found) - truth) / truth).abs().to_f64().expect("finite") }
}

/// Tests sizes that are too large for an enumeration, by the chain over the number of set bits.
#[test]
fn the_occupancy_chain() {
    let mut worst = [0f64; 2];
    let mut count = 0;
    for variant in Variant::ALL {
        for bits in [1u64, 2, 3, 5, 9, 12, 17, 23, 31, 40] {
            for items in [1u64, 2, 3, 5, 8, 12] {
                for probes in (1..=10u32).filter(|&k| variant == Variant::Standard || u64::from(k) <= bits) {
                    let context = format!("{variant} m={bits} n={items} k={probes}");
                    hold(&variant.fpr(bits, items, probes).expect("in range"), &oracle::rate(variant, bits, items, probes), &context);
                    let fill = variant.law(bits, probes).and_then(|law| law.fill(items)).expect("in range").expect("known");
                    let (mean, variance) = oracle::moments(variant, bits, items, probes);
                    for (worst, error) in worst.iter_mut().zip([relative_error(fill.mean, &mean), relative_error(fill.variance, &variance)])
                    {
                        assert!(error < 1e-15, "{fill:?} of {context}: off by {error:e}");
                        *worst = worst.max(error);
                    }
                    count += 1;
                }
            }
        }
    }
    println!("{count} cases; worst relative error of the mean {:e}, of the variance {:e}", worst[0], worst[1]);
}

/// Tests that the tail bounds hold for the exact tails, and that they are not trivially wide.
#[test]
fn tail_bounds_of_the_fill() {
    let mut earned = 0;
    for (variant, bits, items, probes) in
        [(Variant::Standard, 40, 6, 5), (Variant::Standard, 25, 12, 2), (Variant::Classic, 40, 6, 5), (Variant::Classic, 30, 3, 9)]
    {
        let k = u64::from(probes);
        let chain = if variant == Variant::Standard { oracle::occupancy(bits, items * k, 1) } else { oracle::occupancy(bits, items, k) };
        let fill = variant.law(bits, probes).and_then(|law| law.fill(items)).expect("in range").expect("known");
        for ones in 0..=bits {
            let tail = |keep: &dyn Fn(u64) -> bool| chain.mean(|x| BigInt::from(u8::from(keep(x))), BigInt::one());
            let (above, below) = (tail(&|x| x >= ones), tail(&|x| x <= ones));
            assert!(above <= of_f64(fill.at_least(ones)), "{variant} at least {ones}");
            assert!(below <= of_f64(fill.at_most(ones)), "{variant} at most {ones}");
            earned += u32::from(fill.at_least(ones) < 1e-3) + u32::from(fill.at_most(ones) < 1e-3);
        }
    }
    assert!(earned > 20, "the bounds say little: {earned}");
}

/// Tests the rate of one filter at sizes that are too large for an enumeration.
#[test]
fn rates_at_large_fills() {
    for (bits, ones, probes) in [
        (1u64 << 40, 1u64 << 39, 64u32),
        (1 << 62, (1 << 62) - 1, 30),
        (1_000_003, 7, 7),
        (1_000_003, 6, 7),
        (97, 97, 97),
        (1 << 62, 70, 64),
    ] {
        let context = format!("m={bits} ones={ones} k={probes}");
        let at = |variant: Variant, ones: &[u64]| {
            variant.law(bits, probes).and_then(|law| law.fpr_at_fill(ones)).expect("possible").expect("determined")
        };
        hold(&at(Variant::Standard, &[ones]), &power(&ratio(ones, bits), probes), &context);
        hold(&at(Variant::Classic, &[ones]), &BigRational::new(choose(ones, probes.into()), choose(bits, probes.into())), &context);
        let sizes = oracle::slices(bits, probes);
        let counts: Vec<u64> = sizes.iter().map(|size| size - size / 3).collect();
        let product = sizes.iter().zip(&counts).map(|(&size, &ones)| ratio(ones, size)).product();
        hold(&at(Variant::Partitioned, &counts), &product, &context);
    }
}

#[test]
fn impossible_fills_are_refused() {
    for (variant, ones) in [
        (Variant::Standard, vec![11]),
        (Variant::Classic, vec![11]),
        (Variant::Standard, vec![1, 1, 1]),
        (Variant::Classic, vec![]),
        (Variant::Partitioned, vec![5, 3, 3]),
        (Variant::Partitioned, vec![4, 4, 3]),
        (Variant::Partitioned, vec![3]),
    ] {
        let error = variant.law(10, 3).and_then(|law| law.fpr_at_fill(&ones)).expect_err("impossible");
        assert!(error.to_string().contains("ones"), "{variant} {ones:?}: {error}");
    }
}
