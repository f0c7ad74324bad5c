//! Tests estimates of the number of items from the set bits: reference vectors, the definition of
//! the interval, and the coverage.

mod common;

use common::{fraction, int, of_f64, rows};
use num_traits::{Signed, ToPrimitive};
use truebloom_math::occupancy::Occupancy;
use truebloom_math::{Error, Method, Variant, items_by_likelihood, items_by_moments, items_interval};

const UNSLICED: [Variant; 2] = [Variant::Standard, Variant::Classic];

fn law(variant: Variant, bits: u64, items: u64, probes: u32) -> Occupancy {
    match variant {
        Variant::Classic => Occupancy::classic(bits, items, probes),
        _ => Occupancy::standard(bits, items, probes),
    }
    .expect("in range")
}

/// Whether this number of set bits is possible.
fn possible(variant: Variant, ones: u64, probes: u32) -> bool {
    ones == 0 || variant == Variant::Standard || ones >= u64::from(probes)
}

#[test]
fn moments_agree_with_the_vectors() {
    let file = rows("estimators.json");
    let mut worst: f64 = 0.0;
    for (name, variant) in [("n_hat_classic", Variant::Classic), ("n_hat_standard", Variant::Standard)] {
        for row in file[name].as_array().expect("rows") {
            let found = items_by_moments(variant, int(row, "m"), int(row, "k") as u32, int(row, "x")).expect("in range").expect("not full");
            let truth = fraction(row["v"].as_str().expect("digits"));
            let error = ((of_f64(found) - &truth) / truth).abs().to_f64().expect("finite");
            assert!(error < 1e-14, "{row}: {found} {error:e}");
            worst = worst.max(error);
        }
    }
    println!("worst relative error of the moment estimates: {worst:e}");
}

/// Tests that the interval contains exactly the numbers of items that its definition requires.
#[test]
fn small_intervals_invert_the_law() {
    for variant in UNSLICED {
        for (bits, probes) in [(1, 1), (2, 1), (7, 2), (16, 3), (40, 4), (16, 15)] {
            let laws: Vec<Vec<f64>> = (0..=600).map(|n| law(variant, bits, n, probes).pmf().expect("small")).collect();
            for ones in (0..=bits).filter(|ones| possible(variant, *ones, probes)) {
                for confidence in [0.5, 0.9, 0.99] {
                    let Ok(found) = items_interval(variant, bits, probes, ones, confidence) else {
                        panic!("{variant} {bits} {probes} {ones}")
                    };
                    let level = (1.0 - confidence) / 2.0;
                    let inside = |n: &usize| {
                        let (below, above) = laws[*n].split_at(ones as usize);
                        let (above, below) = (above.iter().sum::<f64>(), below.iter().sum::<f64>() + above[0]);
                        // A value on the limit counts as inside.
                        (above > level * (1.0 - 1e-9), below > level * (1.0 - 1e-9))
                    };
                    let low = (0..laws.len()).find(|n| inside(n).0).expect("one");
                    let high = (0..laws.len()).rfind(|n| inside(n).1).expect("one").max(low);
                    let what = format!("{variant} {bits} {probes} {ones} {confidence}: {found:?}");
                    assert_eq!(found.lower, low as u64, "{what}");
                    assert_eq!(found.upper, (ones < bits).then_some(high as u64), "{what}");
                    assert_ne!(found.method, Method::Bound, "{what}");
                    assert_eq!(found.value.is_none(), ones == bits);
                }
            }
        }
    }
}

/// Sums exactly over the set bits to test that the interval covers every number of items with at
/// least the stated confidence.
#[test]
fn coverage_is_at_least_the_level() {
    let mut least: f64 = 1.0;
    for variant in UNSLICED {
        for (bits, probes) in [(12, 2), (64, 3), (100, 7)] {
            for confidence in [0.8, 0.95] {
                let intervals: Vec<_> = (0..=bits).map(|ones| items_interval(variant, bits, probes, ones, confidence).ok()).collect();
                for items in 0..60 {
                    let pmf = law(variant, bits, items, probes).pmf().expect("small");
                    let covers = |x: usize| intervals[x].is_some_and(|i| i.lower <= items && i.upper.is_none_or(|upper| items <= upper));
                    let covered: f64 = pmf.iter().enumerate().filter(|(x, _)| covers(*x)).map(|(_, p)| p).sum();
                    assert!(covered >= confidence - 1e-12, "{variant} {bits} {probes} {items} {confidence}: {covered}");
                    least = least.min(covered - confidence);
                }
            }
        }
    }
    println!("coverage exceeds its level by at least {least:.4}");
    assert!(least < 0.02, "intervals much too wide: {least}");
}

struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Simulates 400 filters with fixed seeds. If the intervals have the stated confidence, fewer than
/// the required number of them cover the true value with probability below 1e-9.
#[test]
fn simulated_filters_are_covered() {
    let mut random = SplitMix64(2_026);
    for (variant, bits, items, probes) in
        [(Variant::Standard, 5_000, 500, 7), (Variant::Classic, 3_000, 200, 5), (Variant::Standard, 200_000, 1_000, 3)]
    {
        let law = law(variant, bits, items, probes);
        let mut known = std::collections::HashMap::new();
        let mut covered = 0;
        for _ in 0..400 {
            let ones = law.sample(&mut || random.next()).expect("small");
            covered += u32::from(*known.entry(ones).or_insert_with(|| {
                let found = items_interval(variant, bits, probes, ones, 0.9).expect("in range");
                found.lower <= items && found.upper.is_none_or(|upper| items <= upper)
            }));
        }
        println!("{variant} {bits}: {covered} of 400 covered at 90%");
        // P(Binomial(400, 0.9) < 320) < 1e-9, and P(Binomial(400, 0.9) = 400) < 1e-18.
        assert!((320..400).contains(&covered), "{variant}: {covered}");
    }
}

/// Tests that intervals from proven bounds contain those of the law, and are hardly wider at large
/// sizes.
#[test]
fn bounds_contain_the_exact_interval_and_are_tight_at_size() {
    let exact = items_interval(Variant::Standard, 1 << 20, 7, 524_288, 0.95).expect("in range");
    assert_eq!(exact.method, Method::Validated);
    let large = items_interval(Variant::Standard, 1 << 40, 7, 1 << 39, 0.95).expect("in range");
    assert_eq!(large.method, Method::Bound);
    let value = large.value.expect("not full");
    // The normal interval at this size: the mean's slope is k (m - x) / m, the deviation that of
    // the law at the estimate.
    let law = law(Variant::Standard, 1 << 40, value as u64, 7);
    let half = 1.959_964 * law.variance().expect("moments").sqrt() / 3.5;
    let (low, high) = (value - large.lower as f64, large.upper.expect("not full") as f64 - value);
    for side in [low, high] {
        assert!((side / half - 1.0).abs() < 1e-3, "{large:?} {side} {half}");
    }
    // A large classic filter has the same spread to leading order.
    let classic = items_interval(Variant::Classic, 1 << 40, 7, 1 << 39, 0.95).expect("in range");
    assert_eq!(classic.method, Method::Bound);
    let width = |found: truebloom_math::ItemsEstimate| (found.upper.expect("not full") - found.lower) as f64;
    assert!((width(classic) / width(large) - 1.0).abs() < 1e-3);
}

#[test]
fn likelihood_is_largest_at_its_estimate() {
    for variant in UNSLICED {
        for (bits, probes) in [(7, 2), (16, 3), (40, 4), (60, 1)] {
            let laws: Vec<Vec<f64>> = (0..=600).map(|n| law(variant, bits, n, probes).pmf().expect("small")).collect();
            for ones in (0..bits).filter(|ones| possible(variant, *ones, probes)) {
                let found = items_by_likelihood(variant, bits, probes, ones).expect("in range").expect("not full") as usize;
                let at = |n: usize| laws[n][ones as usize];
                let best = (0..laws.len()).map(at).fold(0.0, f64::max);
                assert!(at(found) >= best * (1.0 - 1e-12), "{variant} {bits} {probes} {ones}: {found}");
            }
            assert_eq!(items_by_likelihood(variant, bits, probes, bits), Ok(None));
        }
    }
    // For large filters, this is the moment estimate, rounded, or a neighbour of it.
    let ones = 1 << 39;
    let moments = items_by_moments(Variant::Standard, 1 << 40, 7, ones).expect("in range").expect("not full");
    let likely = items_by_likelihood(Variant::Standard, 1 << 40, 7, ones).expect("in range").expect("not full");
    assert!((likely as f64 - moments).abs() <= 2.0, "{likely} {moments}");
    assert!(matches!(items_by_likelihood(Variant::Classic, 1 << 40, 7, ones), Err(Error::LawTooCostly { .. })));
}

#[test]
fn impossible_questions_are_errors_that_name_the_parameter() {
    let named = |result: Result<truebloom_math::ItemsEstimate, Error>, expected: &str| match result {
        Err(Error::OutOfRange { name, .. }) => assert_eq!(name, expected),
        other => panic!("{other:?}"),
    };
    named(items_interval(Variant::Standard, 0, 1, 0, 0.9), "bits");
    named(items_interval(Variant::Standard, 8, 0, 1, 0.9), "probes");
    named(items_interval(Variant::Standard, 8, 1, 9, 0.9), "ones");
    named(items_interval(Variant::Classic, 8, 9, 8, 0.9), "probes");
    named(items_interval(Variant::Classic, 8, 3, 2, 0.9), "ones");
    named(items_interval(Variant::Partitioned, 8, 2, 2, 0.9), "variant");
    for confidence in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        named(items_interval(Variant::Standard, 8, 1, 3, confidence), "confidence");
    }
    // Calls at the limits of the ranges return without a panic.
    for bits in [1, 2, 1 << 62] {
        for probes in [1, 100_000] {
            for variant in UNSLICED {
                for ones in [0, 1, bits / 2, bits - 1, bits] {
                    if let Ok(found) = items_interval(variant, bits, probes, ones, 0.95) {
                        assert!(found.upper.is_none_or(|upper| found.lower <= upper), "{variant} {bits} {probes} {ones}: {found:?}");
                    }
                    let _ = items_by_likelihood(variant, bits, probes, ones);
                }
            }
        }
    }
}
