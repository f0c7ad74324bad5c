//! Compares sizes and bounds of Count-Min sketches with the reference vectors and with exact
//! fractions.

mod common;

use common::{fraction, int, of_f64, power, ratio, rows};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use proptest::prelude::*;
use truebloom_math::count_min::{Family, Rows, Shape, is_prime, next_prime};
use truebloom_math::{Fpr, Method, Rate};

fn rate(text: &str) -> Rate {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn two_hash(epsilon: &str, delta: &str) -> Shape {
    Shape::for_error(&rate(epsilon), &rate(delta), Rows::TwoHash).unwrap_or_else(|error| panic!("{epsilon} {delta}: {error}"))
}

fn classic(epsilon: &str, delta: &str) -> Shape {
    Shape::for_error(&rate(epsilon), &rate(delta), Rows::Independent).unwrap_or_else(|error| panic!("{epsilon} {delta}: {error}"))
}

fn encloses(bound: &Fpr, truth: &BigRational) -> bool {
    let slack = truth * fraction("1e-23");
    of_f64(bound.lower) <= truth + &slack && truth - &slack <= of_f64(bound.upper)
}

#[test]
fn the_reference_sizes_and_bounds() {
    let vectors = rows("cm_vectors.json");
    let vectors = vectors["rows"].as_array().expect("rows");
    assert_eq!(vectors.len(), 35);
    for row in vectors {
        let text = |field: &str| row[field].as_str().expect("a text");
        let shape = two_hash(text("eps"), text("delta"));
        let found = [shape.width(), shape.depth().into(), shape.copies().into(), shape.hash_functions(), shape.cells() as u64];
        assert_eq!(found, ["w_prime", "depth", "copies", "hash_functions", "cells"].map(|field| int(row, field)), "{row}");
        let bound = shape.failure_bound(&rate(text("eps")), Family::Ideal).expect("in range");
        assert!(encloses(&bound, &fraction(text("bound_total"))) && bound.method == Method::Exact, "{bound:?} {row}");
        let one = Shape::new(Rows::TwoHash, shape.width(), shape.depth(), 1).expect("a shape");
        let bound = one.failure_bound(&rate(text("eps")), Family::Ideal).expect("in range");
        assert!(encloses(&bound, &fraction(text("bound_one_copy"))) && bound.upper <= rate(text("eps")).to_f64(), "{bound:?} {row}");
        let shape = classic(text("eps"), text("delta"));
        let found = [shape.width(), shape.depth().into(), shape.cells() as u64];
        assert_eq!(found, ["cm_w", "cm_d", "cm_cells"].map(|field| int(row, field)), "{row}");
    }
}

/// The number e to 60 digits; its powers as fractions give an independent computation of every
/// size.
fn e() -> BigRational {
    fraction("2.71828182845904523536028747135266249775724709369995957496697")
}

#[test]
fn sizes_are_least_by_exact_fractions() {
    for (epsilon, delta) in [("0.37", "0.99"), ("0.9", "1e-9"), ("1/3", "1/7"), ("1e-18", "1e-300"), ("0.0183156388887341802937", "1e-40")]
    {
        let epsilon = &epsilon[..epsilon.len().min(20)];
        let (exact_epsilon, exact_delta) = (fraction(epsilon), fraction(delta));
        let shape = classic(epsilon, delta);
        let width = (e() / &exact_epsilon).ceil().to_integer();
        assert_eq!(Some(shape.width()), width.to_u64());
        assert!(power(&e(), shape.depth()) * &exact_delta >= ratio(1, 1));
        assert!(shape.depth() == 1 || power(&e(), shape.depth() - 1) * &exact_delta < ratio(1, 1));
        let shape = two_hash(epsilon, delta);
        let least = (ratio(2, 1) * e() / &exact_epsilon).ceil().to_integer().to_u64().expect("a word");
        assert_eq!(Some(shape.width()), next_prime(least));
        let enough = |depth: u32| power(&e(), depth) * &exact_epsilon * (ratio(1, 1) - ratio(1, 2) / power(&e(), 2)) >= ratio(1, 1);
        assert!(enough(shape.depth()) && (shape.depth() == 1 || !enough(shape.depth() - 1)), "{shape:?}");
        let reached = |copies: u32| power(&exact_epsilon, copies) <= exact_delta;
        assert!(reached(shape.copies()) && (shape.copies() == 1 || !reached(shape.copies() - 1)));
    }
}

/// Tests that ties are decided by the decimals as written: 0.1 to the power 300 equals 1e-300
/// exactly.
#[test]
fn ties_of_copies_are_decided_exactly() {
    for (epsilon, delta, copies) in [
        ("0.1", "1e-300", 300),
        ("0.1", "0.99999999e-300", 301),
        ("0.1", "1e-4000", 4000),
        ("1e-6", "1e-18", 3),
        ("1/3", "1/9", 2),
        ("0.5", "0.125", 3),
    ] {
        assert_eq!(two_hash(epsilon, delta).copies(), copies, "{epsilon} {delta}");
    }
    assert_eq!(two_hash("0.999", "1e-300").copies(), 690_431);
}

#[test]
fn the_corners_are_answered_or_refused_clearly() {
    let shape = two_hash("1e-18", "1e-300");
    assert_eq!((shape.width(), shape.depth(), shape.copies()), (5_436_563_656_918_090_519, 42, 17));
    let bound = shape.failure_bound(&rate("1e-18"), Family::Ideal).expect("in range");
    assert!(bound.upper <= 1e-300 && bound.ln_upper <= -690.0 && bound.value > 0.0);
    assert_eq!(shape.cells(), 5_436_563_656_918_090_519 * 42 * 17);
    for rows in [Rows::Independent, Rows::TwoHash] {
        for epsilon in ["1e-20", "1e-300", "1e-4000", "1e-3999/3"] {
            let error = Shape::for_error(&rate(epsilon), &rate("0.1"), rows).expect_err(epsilon).to_string();
            assert!(error.contains("epsilon"), "{error}");
        }
    }
    let error = Shape::for_error(&rate("0.9999999999999999999"), &rate("1e-4000"), Rows::TwoHash).expect_err("copies").to_string();
    assert!(error.contains("epsilon") && error.contains("copies"), "{error}");
    let (huge, tiny) = (Shape::for_error(&rate("0.5"), &rate("1e-4000/18446744073709551615"), Rows::Independent), rate("1e-4000"));
    assert_eq!(huge.map(|shape| shape.depth()), Ok(9255));
    assert_eq!(classic("0.5", "1e-4000").depth(), 9211);
    assert_eq!(Shape::new(Rows::Independent, 10, 1, 1).and_then(|shape| shape.failure_bound(&tiny, Family::Ideal)), Ok(Fpr::ONE));
    for (rows, width, depth, copies, word) in [
        (Rows::Independent, 0, 1, 1, "width"),
        (Rows::Independent, 1, 0, 1, "depth"),
        (Rows::Independent, 1, 1, 2, "copies"),
        (Rows::TwoHash, 10, 1, 1, "prime"),
        (Rows::TwoHash, 3, 4, 1, "depth"),
        (Rows::TwoHash, 3, 1, 0, "copies"),
    ] {
        let error = Shape::new(rows, width, depth, copies).expect_err(word).to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// Tests that for two hashes that are only pairwise independent, the bound uses a single row per
/// copy, and that the sufficient number of copies is found.
#[test]
fn pairwise_independence_proves_less() {
    let (epsilon, delta) = (rate("0.01"), rate("0.001"));
    let (shape, rows) = (two_hash("0.01", "0.001"), classic("0.01", "0.001"));
    let bound = shape.failure_bound(&epsilon, Family::Pairwise).expect("in range");
    assert!(encloses(&bound, &power(&ratio(100, 547), 2)));
    assert_eq!(shape.copies_proven(&epsilon, &delta, Family::Ideal), Ok(Some(2)));
    assert_eq!(shape.copies_proven(&epsilon, &delta, Family::Pairwise), Ok(Some(5)));
    assert!(power(&ratio(100, 547), 5) <= fraction("0.001") && power(&ratio(100, 547), 4) > fraction("0.001"));
    assert_eq!(rows.failure_bound(&epsilon, Family::Pairwise), rows.failure_bound(&epsilon, Family::Ideal));
}

#[test]
fn primes_are_those_of_a_sieve() {
    let mut composite = vec![false; 20_000];
    for number in 2..composite.len() {
        assert_eq!(is_prime(number as u64), !composite[number], "{number}");
        (2 * number..composite.len()).step_by(number).for_each(|multiple| composite[multiple] = true);
    }
    // Strong pseudoprimes to the first bases, Carmichael numbers, squares, and the largest primes
    // below 2^64.
    for composite in
        [561, 3_215_031_751, 3_474_749_660_383, 341_550_071_728_321, 3_825_123_056_546_413_051, 4_294_967_291 * 4_294_967_291, u64::MAX]
    {
        assert!(!is_prime(composite), "{composite}");
    }
    for prime in [2_147_483_647, (1 << 61) - 1, u64::MAX - 58, 4_294_967_291] {
        assert!(is_prime(prime), "{prime}");
    }
    assert!(!is_prime(0) && !is_prime(1));
}

/// Tests with exact fractions that the whole error bound is the smallest one, up to the margin of
/// 10^-9 in the probability.
#[test]
fn whole_error_bounds_are_least() {
    let nearly = fraction("1.00000001");
    for (total, delta) in [(1_000_003u64, "0.01"), (12, "0.3"), (u64::MAX, "1e-9"), (1, "0.5"), (0, "0.5")] {
        for shape in [two_hash("0.05", "0.01"), classic("0.02", "0.001"), classic("0.3", "0.4")] {
            for family in [Family::Ideal, Family::Pairwise] {
                let failure = |v: u64| {
                    let row = ratio(total, shape.width()) / fraction(&v.to_string());
                    let two = ratio(2, 1) * &row;
                    match (shape.rows(), family) {
                        (Rows::Independent, _) => power(&row, shape.depth()),
                        (Rows::TwoHash, Family::Pairwise) => power(&row, shape.copies()),
                        (Rows::TwoHash, _) => power(&(power(&two, shape.depth()) + two / ratio(shape.width(), 1)), shape.copies()),
                    }
                };
                let v = shape.error_bound(total, family, &rate(delta));
                assert!(v <= total);
                assert!(v == total || failure(v + 1) <= fraction(delta), "{total} {delta} {shape:?} {family}: {v}");
                assert!(v == 0 || failure(v) * &nearly > fraction(delta), "{total} {delta} {shape:?} {family}: {v}");
            }
        }
    }
}

#[test]
fn tails_multiply_the_rows_that_are_independent() {
    let rows = Shape::new(Rows::Independent, 100, 3, 1).expect("a shape");
    let ln = rows.ln_tail(&[10, 20, 50]).expect("three rows");
    assert!((0.01f64.ln()..0.01f64.ln() + 1e-9).contains(&ln), "{ln}");
    assert!(rows.tail_is_below(&[10, 20, 50], &rate("0.010001")).expect("three rows"));
    assert!(!rows.tail_is_below(&[10, 20, 50], &rate("0.01")).expect("three rows"), "the billionth");
    let two = Shape::new(Rows::TwoHash, 101, 3, 2).expect("a shape");
    let ln = two.ln_tail(&[101, 20, 10, 5, 6, 0]).expect("six rows");
    assert_eq!(ln, f64::NEG_INFINITY);
    let ln = two.ln_tail(&[101, 20, 10, 5, 7, 6]).expect("six rows");
    assert!((ln - (20.0 * 10.0 * 5.0 * 6.0 / 101f64.powi(4)).ln()).abs() < 1e-9, "{ln}");
    assert!(rows.ln_tail(&[1, 2]).is_err() && rows.ln_tail(&[1, 2, 101]).is_err());
    assert_eq!(Shape::new(Rows::TwoHash, 101, 1, 1).and_then(|one| one.ln_tail(&[101])), Ok(0.0));
}

proptest! {
    #[test]
    fn any_sizes_keep_their_promise(a in 1u64.., b in 1u64.., c in 1u64.., d in 1u64.., e in 0u32..12) {
        let (epsilon, delta) = (format!("{}e-{e}/{}", a.min(b), a.max(b)), format!("{}/{}", c.min(d), c.max(d)));
        let (Ok(epsilon), Ok(delta)) = (epsilon.parse::<Rate>(), delta.parse::<Rate>()) else { return Ok(()) };
        for rows in [Rows::Independent, Rows::TwoHash] {
            if let Ok(shape) = Shape::for_error(&epsilon, &delta, rows) {
                let bound = shape.failure_bound(&epsilon, Family::Ideal).expect("in range");
                prop_assert!(bound.lower <= delta.to_f64() * (1.0 + 1e-15), "{bound:?} {shape:?}");
            }
        }
    }
}

/// Tests that bounds below 1, including those above one half, are returned unchanged, and that
/// logarithms with more than 2^20 digits enclose the true value.
#[test]
fn bounds_are_given_up_to_one_and_far_down() {
    let bound = |epsilon: &str, width, depth| {
        let shape = Shape::new(Rows::Independent, width, depth, 1).expect("in range");
        shape.failure_bound(&epsilon.parse().expect("a rate"), Family::Pairwise).expect("in range")
    };
    let found = bound("0.01", 143, 1);
    assert!((found.value - 1.0 / 1.43).abs() < 1e-15 && found.lower <= found.upper && found.upper < 0.7, "{found:?}");
    assert_eq!(bound("0.01", 100, 1).value, 1.0);
    // 2^-1,000,000: a million times ln 2 = 0.693147180559945309417.
    let found = bound("0.5", 4, 1_000_000);
    assert!(found.ln_lower < -693_147.180_559_945_4 && -693_147.180_559_945_2 < found.ln_upper, "{found:?}");
    assert!(found.ln_upper - found.ln_lower < 1e-8, "{found:?}");
}

/// Tests that a rate of 19 or 20 digits, slightly above a rate of one digit, requires the same
/// number of counters or one fewer.
#[test]
fn long_decimals_are_as_wide_as_short_ones() {
    let width = |text: &str| {
        Shape::for_error(&text.parse().expect("a rate"), &"0.01".parse().expect("a rate"), Rows::Independent).expect("in range").width()
    };
    // e / 0.1 = 27.18, and e / 0.3 = 9.06.
    for (text, expected) in [
        ("0.1", 28),
        ("0.1000000000000000001", 28),
        ("0.10000000000000000001", 28),
        ("0.3000000000000000007", 10),
        ("0.00000000000000000031", 8_768_650_000_000_000_000),
    ] {
        let found = width(text);
        assert!(found.abs_diff(expected) as f64 <= 1e-4 * expected as f64 && (expected > 100 || found == expected), "{text}: {found}");
    }
}

/// Tests values of delta that are closer to the bound than any decimal: the last convergents of
/// `1 / (epsilon w)` with one-word terms.
#[test]
fn a_delta_just_below_the_bound_is_not_kept() {
    let width = next_prime(1 << 50).expect("a prime");
    let shape = Shape::new(Rows::TwoHash, width, 5, 1).expect("in range");
    let epsilon: Rate = "0.000000000012345678901".parse().expect("a rate");
    // 10^21 / (12345678901 w) in lowest terms, expanded by Euclid's algorithm.
    let (mut top, mut bottom) = (10u128.pow(21), 12_345_678_901 * u128::from(width));
    let exact = ratio(1, 1) * num_bigint::BigInt::from(top) / num_bigint::BigInt::from(bottom);
    let (mut a, mut b) = ((0u128, 1u128), (1u128, 0u128));
    let mut near = Vec::new();
    while bottom > 0 {
        let whole = top / bottom;
        (top, bottom) = (bottom, top % bottom);
        (a, b) = ((a.1, whole * a.1 + a.0), (b.1, whole * b.1 + b.0));
        let (Ok(above), Ok(below)) = (u64::try_from(a.1), u64::try_from(b.1)) else { break };
        near.push((above, below));
    }
    for &(a, b) in near.iter().rev().take(4) {
        let kept = exact <= BigRational::new(a.into(), b.into());
        let delta = Rate::from_parts(a, 0, b).expect("a rate");
        let found = shape.copies_proven(&epsilon, &delta, Family::Pairwise).expect("decided");
        assert_eq!(found, Some(if kept { 1 } else { 2 }), "{a}/{b}");
    }
}
