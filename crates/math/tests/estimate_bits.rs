//! Tests the unbiased estimator of m with the reference vectors, with the printed formulas in exact
//! fractions, and for unbiasedness.

mod common;

use common::oracle::{SplitMix64, occupancy};
use common::{choose, fraction, int, of_f64, rows};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use truebloom_math::occupancy::Occupancy;
use truebloom_math::{Error, Method, Variant, bits_interval, estimate_bits};

/// `Delta^x C(y, k)^n` at y = 0.
fn difference(items: u64, batch: u64, x: u64) -> BigInt {
    (0..=x)
        .map(|j| {
            let term = choose(x, j) * choose(j, batch).pow(items as u32);
            if (x - j).is_multiple_of(2) { term } else { -term }
        })
        .sum()
}

/// Burns (47), as printed.
fn printed(items: u64, batch: u64, ones: u64) -> BigRational {
    let ratio = BigRational::new(difference(items, batch, ones - 1), difference(items, batch, ones));
    BigRational::from(BigInt::from(ones)) * (BigRational::one() + ratio)
}

fn error_of(variant: Variant, items: u64, probes: u32, ones: u64, truth: &BigRational) -> f64 {
    let found = estimate_bits(variant, items, probes, ones).expect("possible");
    let error = ((of_f64(found.value) - truth) / truth).abs().to_f64().expect("finite");
    assert!(error <= found.relative_error, "{variant} n={items} k={probes} x={ones}: {found:?} is {error:e} off");
    error
}

#[test]
fn the_vectors() {
    let all = rows("estimators.json");
    let mut worst = 0f64;
    for row in all["mvue_m"].as_array().expect("rows") {
        let truth = fraction(row["frac"].as_str().expect("a fraction"));
        worst = worst.max(error_of(Variant::Classic, int(row, "n"), int(row, "k") as u32, int(row, "x"), &truth));
    }
    for row in all["mvue_m_classic_occ"].as_array().expect("rows") {
        let truth = fraction(row["frac"].as_str().expect("a fraction"));
        worst = worst.max(error_of(Variant::Standard, int(row, "balls"), 1, int(row, "x"), &truth));
    }
    println!("worst relative error against the vectors: {worst:e}");
    assert!(worst < 2e-15);
}

#[test]
fn the_printed_formulas_in_fractions() {
    let mut worst = 0f64;
    for (items, batch) in [(1u64, 1u64), (1, 4), (2, 3), (7, 1), (4, 5), (6, 4), (40, 1), (12, 6)] {
        for ones in batch..=items * batch {
            worst = worst.max(error_of(Variant::Classic, items, batch as u32, ones, &printed(items, batch, ones)));
        }
        for ones in 1..=items * batch {
            let single = printed(items * batch, 1, ones);
            worst = worst.max(error_of(Variant::Standard, items, batch as u32, ones, &single));
            // (48): the two printed cases give the same number.
            let stirling = |n: u64, x: u64| BigRational::new(difference(n, 1, x), (1..=x).map(BigInt::from).product());
            let balls = items * batch;
            let (first, second) = (
                BigRational::from(BigInt::from(ones)) + stirling(balls, ones - 1) / stirling(balls, ones),
                stirling(balls + 1, ones) / stirling(balls, ones),
            );
            assert!(first == second && first == single);
        }
    }
    println!("worst relative error: {worst:e}");
}

/// Tests that the estimator is exactly unbiased for every m up to nk, but not for m = nk + 1.
#[test]
fn unbiased_up_to_nk_and_not_beyond() {
    for (items, batch) in [(2u64, 2u64), (3, 2), (2, 3), (6, 1)] {
        for bits in batch..=items * batch + 1 {
            let law = occupancy(bits, items, batch);
            let mean: BigRational = law
                .ways
                .iter()
                .enumerate()
                .filter(|(_, ways)| !ways.is_zero())
                .map(|(x, ways)| BigRational::new(ways.clone(), law.outcomes.clone()) * printed(items, batch, x as u64))
                .sum();
            let found: f64 = law
                .ways
                .iter()
                .enumerate()
                .filter(|(_, ways)| !ways.is_zero())
                .map(|(x, ways)| {
                    let p = BigRational::new(ways.clone(), law.outcomes.clone()).to_f64().expect("finite");
                    p * estimate_bits(Variant::Classic, items, batch as u32, x as u64).expect("possible").value
                })
                .sum();
            let truth = BigRational::from(BigInt::from(bits));
            assert_eq!(mean == truth, bits <= items * batch, "m={bits} n={items} k={batch}");
            assert_eq!((found - bits as f64).abs() < 1e-10, bits <= items * batch, "m={bits} n={items} k={batch}: {found}");
        }
    }
}

/// Tests sizes at which plain `f64` would underflow. The references are `x + P(x-1) / P(x)` for m =
/// x from the exact chain, and known extreme cases.
#[test]
fn larger_sizes() {
    // All balls are in different bits: S(n, n-1) = C(n, 2).
    for balls in [1_000u64, 9_000] {
        let found = estimate_bits(Variant::Standard, balls, 1, balls).expect("possible");
        assert!((found.value / (balls + balls * (balls - 1) / 2) as f64 - 1.0).abs() < found.relative_error, "{found:?}");
    }
    // One batch sets exactly k bits: x = k.
    assert_eq!(estimate_bits(Variant::Classic, 1, 3_000, 3_000).map(|found| found.value), Ok(3_000.0));
    // The same set bits, from single balls and from batches of one ball.
    let mut random = SplitMix64(11);
    for _ in 0..20 {
        let (items, probes) = (random.between(1, 60), random.between(1, 20) as u32);
        let ones = random.between(u64::from(probes), items * u64::from(probes));
        let law = occupancy(ones, items, u64::from(probes));
        let truth =
            BigRational::from(BigInt::from(ones)) + BigRational::new(law.ways[ones as usize - 1].clone(), law.ways[ones as usize].clone());
        error_of(Variant::Classic, items, probes, ones, &truth);
        let batches = estimate_bits(Variant::Classic, items * u64::from(probes), 1, ones).expect("possible");
        assert_eq!(batches, estimate_bits(Variant::Standard, items, probes, ones).expect("possible"));
    }
    // A half-full filter, whose estimate is near the method of moments.
    let found = estimate_bits(Variant::Standard, 700, 10, 5_034).expect("possible");
    assert!((found.value / 10_000.0 - 1.0).abs() < 0.01, "{found:?}");
}

fn law(variant: Variant, bits: u64, items: u64, probes: u32) -> Vec<f64> {
    match variant {
        Variant::Classic => Occupancy::classic(bits, items, probes),
        _ => Occupancy::standard(bits, items, probes),
    }
    .and_then(|law| law.pmf())
    .expect("small")
}

/// Tests that the interval contains exactly the numbers of bits that its definition requires.
/// Summed over the set bits, the coverage is at least the confidence, and not much higher than
/// equal tails require.
#[test]
fn intervals_of_bits_cover_as_often_as_they_say() {
    let mut excess: f64 = 1.0;
    for (variant, items, probes, confidence) in
        [(Variant::Standard, 10, 2, 0.9), (Variant::Standard, 6, 4, 0.95), (Variant::Classic, 10, 2, 0.9), (Variant::Classic, 6, 4, 0.8)]
    {
        let (least, most) = (u64::from(probes), items * u64::from(probes));
        let intervals: Vec<_> =
            (least..=most).map(|ones| bits_interval(variant, items, probes, ones, confidence).expect("possible")).collect();
        let of = |ones: u64| intervals.get(ones.checked_sub(least)? as usize);
        for bits in least..300 {
            let pmf = law(variant, bits, items, probes);
            let level = (1.0 - confidence) / 2.0;
            let mut covered = 0.0;
            for (ones, probability) in pmf.iter().enumerate() {
                let Some(found) = of(ones as u64) else { continue };
                let inside = found.lower <= bits && found.upper.is_none_or(|upper| bits <= upper);
                let (below, above) = (pmf[..=ones].iter().sum::<f64>(), pmf[ones..].iter().sum::<f64>());
                assert_eq!(inside, below > level && above > level, "{variant} m={bits} n={items} k={probes} x={ones}: {found:?}");
                covered += if inside { probability } else { &0.0 };
            }
            assert!(covered >= confidence - 1e-12, "{variant} m={bits}: {covered}");
            excess = excess.min(covered - confidence);
        }
    }
    assert!(excess < 0.01, "intervals much too wide: {excess}");
}

/// Tests intervals for large filters: they contain the true value, and are as wide as the normal
/// law of the set bits predicts. Intervals from proven bounds are nearly as narrow.
#[test]
fn intervals_of_bits_at_size() {
    for (variant, bits, items, probes) in [
        (Variant::Standard, 10_000u64, 700u64, 10u32),
        (Variant::Classic, 2_000, 140, 10),
        (Variant::Standard, 1 << 40, 76_000_000_000, 10),
    ] {
        let occupancy = match variant {
            Variant::Classic => Occupancy::classic(bits, items, probes),
            _ => Occupancy::standard(bits, items, probes),
        }
        .expect("in range");
        let load = items as f64 * f64::from(probes) / bits as f64;
        let ones = occupancy.mean().expect("cheap").round() as u64;
        let found = bits_interval(variant, items, probes, ones, 0.95).expect("possible");
        // The derivative of the mean in m, for a fixed number of balls: 1 - (1 + load) e^-load.
        let half = 1.959_964 * occupancy.variance().expect("cheap").sqrt() / (1.0 - (1.0 + load) * (-load).exp());
        let upper = found.upper.expect("some met");
        // The interval of a small filter is longer above the estimate than below it.
        assert!(
            (found.lower..=upper).contains(&bits) && ((upper - found.lower) as f64 / (2.0 * half) - 1.0).abs() < 0.05,
            "{found:?}, {half}"
        );
        assert_eq!(found.method == Method::Bound, bits > 1 << 30, "{found:?}");
    }
}

#[test]
fn impossible_intervals_of_bits() {
    let named = |result: Result<truebloom_math::BitsInterval, Error>, name: &str| {
        let error = result.expect_err("impossible").to_string();
        assert!(error.starts_with(name), "{error}");
    };
    named(bits_interval(Variant::Classic, 3, 2, 1, 0.9), "ones");
    named(bits_interval(Variant::Partitioned, 3, 2, 4, 0.9), "variant");
    named(bits_interval(Variant::Standard, 0, 2, 4, 0.9), "items");
    for confidence in [0.0, 1.0, -1.0, f64::NAN] {
        named(bits_interval(Variant::Standard, 3, 2, 4, confidence), "confidence");
    }
    for (items, probes, ones) in [(1, 1, 1), (u64::MAX, 100_000, 1), (1 << 60, 7, 1 << 61), (1 << 40, 1, 1 << 40), (1, 100_000, 5)] {
        // The call returns an answer or an error, without a panic.
        let _ = bits_interval(Variant::Standard, items, probes, ones, 0.95);
    }
}

#[test]
fn impossible_questions() {
    let fails = |variant, items, probes, ones, name: &str| {
        let error = estimate_bits(variant, items, probes, ones).expect_err("impossible").to_string();
        assert!(error.starts_with(name), "{error}");
    };
    fails(Variant::Classic, 3, 2, 1, "ones");
    fails(Variant::Classic, 3, 2, 7, "ones");
    fails(Variant::Standard, 3, 2, 0, "ones");
    fails(Variant::Standard, 3, 2, 7, "ones");
    fails(Variant::Standard, 0, 2, 1, "items");
    fails(Variant::Standard, 1, 0, 1, "probes");
    fails(Variant::Partitioned, 3, 2, 4, "variant");
    assert!(matches!(estimate_bits(Variant::Standard, u64::MAX, 100_000, u64::MAX), Err(Error::TooLong { .. })));
    assert!(estimate_bits(Variant::Standard, 3, 2, 4).expect("possible").note.contains("no unbiased estimator"));
}
