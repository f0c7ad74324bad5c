//! The unbiased estimator of m: against the vectors, the printed formulas in exact fractions, and unbiasedness itself.

mod common;

use common::oracle::{SplitMix64, occupancy};
use common::{choose, fraction, int, of_f64, rows};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use truebloom_math::{Error, Variant, estimate_bits};

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
            // (48): both printed cases are one number.
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

/// Exactly unbiased for every m up to nk, and not for m = nk + 1.
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

/// Sizes where everything would underflow in plain f64, against `x + P(x-1) / P(x)` for m = x from the exact chain, and against known ends.
#[test]
fn larger_sizes() {
    // All balls apart: S(n, n-1) = C(n, 2).
    for balls in [1_000u64, 9_000] {
        let found = estimate_bits(Variant::Standard, balls, 1, balls).expect("possible");
        assert!((found.value / (balls + balls * (balls - 1) / 2) as f64 - 1.0).abs() < found.relative_error, "{found:?}");
    }
    // One batch: x = k and nothing else.
    assert_eq!(estimate_bits(Variant::Classic, 1, 3_000, 3_000).map(|found| found.value), Ok(3_000.0));
    // The same bits by single balls and by batches of one.
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
    // A half-full filter: near the method of moments.
    let found = estimate_bits(Variant::Standard, 700, 10, 5_034).expect("possible");
    assert!((found.value / 10_000.0 - 1.0).abs() < 0.01, "{found:?}");
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
