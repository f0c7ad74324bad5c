//! Compares rates with the reference vectors: 32 digits from exact fractions and multiple-precision
//! sums, computed independently of this crate.

mod common;

use common::{fraction, int, of_f64, rows};
use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use serde_json::Value;
use truebloom_math::{Approximation, Fpr, Method, Variant, efficiency, max_items, min_bits, optimal_probes};

const WIDTH: f64 = 1e-12;

/// The largest rounding error of a vector's last digit.
fn rounding(value: &BigRational) -> BigRational {
    value * BigRational::new(1.into(), BigInt::from(BigUint::from(10u8).pow(31)))
}

/// Asserts that a bracket encloses the vector and is narrow. The width is checked for the value if
/// it is a normal `f64`, and for the logarithm in any case. Returns the relative error of `value`.
fn hold(fpr: &Fpr, expected: &str, ln: Option<&str>, row: &Value) -> f64 {
    let truth = fraction(expected);
    let slack = rounding(&truth);
    assert_eq!(fpr.method, Method::Exact);
    assert!(of_f64(fpr.lower) <= &truth + &slack && &truth - &slack <= of_f64(fpr.upper), "{fpr:?} misses {expected} in {row}");
    let ln_truth: f64 = match ln {
        Some(text) => text.parse().expect("a logarithm"),
        None => ln_of(expected),
    };
    // In these vectors, the logarithm is itself rounded to f64.
    let ulp = ln_truth.abs() * f64::EPSILON + 2e-16;
    assert!(fpr.ln_lower <= ln_truth + ulp && ln_truth - ulp <= fpr.ln_upper, "{fpr:?} misses ln {ln_truth} in {row}");
    assert!(fpr.ln_upper - fpr.ln_lower <= WIDTH, "{fpr:?} is too wide in {row}");
    if fpr.lower < f64::MIN_POSITIVE {
        return 0.0;
    }
    assert!((fpr.upper - fpr.lower) / fpr.lower <= WIDTH, "{fpr:?} is too wide in {row}");
    ((of_f64(fpr.value) - &truth) / &truth).to_f64().expect("finite").abs()
}

/// The logarithm of a decimal that may be below the range of f64.
fn ln_of(decimal: &str) -> f64 {
    let (mantissa, exponent) = decimal.split_once('e').unwrap_or((decimal, "0"));
    let exponent: f64 = exponent.parse().expect("an exponent");
    fraction(mantissa).to_f64().expect("finite").ln() + exponent * std::f64::consts::LN_10
}

fn text<'a>(row: &'a Value, field: &str) -> Option<&'a str> {
    row[field].as_str()
}

#[test]
fn every_rate_lies_in_its_bracket() {
    for file in ["fpr_tiny.json", "fpr_medium.json", "fpr_huge.json"] {
        let mut worst = [0f64; 3];
        let mut count = 0;
        for row in rows(file).as_array().expect("rows") {
            let (m, n, k) = (int(row, "m"), int(row, "n"), int(row, "k") as u32);
            for (i, (variant, value, ln)) in
                [(Variant::Standard, "fS", "lnfS"), (Variant::Classic, "fC", "lnfC"), (Variant::Partitioned, "fP", "lnfP")]
                    .into_iter()
                    .enumerate()
            {
                // The exact fraction is used if the vector has one.
                let exact = text(row, &format!("{value}_frac"));
                let Some(expected) = exact.or(text(row, value)) else { continue };
                let fpr = variant.fpr(m, n, k).unwrap_or_else(|error| panic!("{variant} {row}: {error}"));
                worst[i] = worst[i].max(hold(&fpr, expected, text(row, ln), row));
                count += 1;
            }
        }
        println!(
            "{file}: {count} rates enclosed; worst relative error of the value: standard {:e}, classic {:e}, partitioned {:e}",
            worst[0], worst[1], worst[2]
        );
        assert!(count > 900 && worst.iter().all(|&error| error < 3e-16));
    }
}

#[test]
fn approximations_of_the_papers() {
    let mut worst = [0f64; 5];
    for file in ["fpr_tiny.json", "fpr_medium.json", "fpr_huge.json"] {
        for row in rows(file).as_array().expect("rows") {
            let (m, n, k) = (int(row, "m"), int(row, "n"), int(row, "k") as u32);
            for (i, (approximation, field)) in Approximation::ALL.into_iter().zip(["A1", "A2", "A3", "U", "L"]).enumerate() {
                let Some(expected) = text(row, field) else { continue };
                let expected = fraction(expected).to_f64().expect("finite");
                // Below 1e-290, the approximation itself can underflow.
                if expected < 1e-290 {
                    continue;
                }
                let found = approximation.value(m, n, k).unwrap_or_else(|error| panic!("{row}: {error}"));
                let error = (found / expected - 1.0).abs();
                assert!(error < 1e-12, "{approximation:?} {found:e} {expected:e} {row}");
                worst[i] = worst[i].max(error);
            }
        }
    }
    println!("worst relative errors: {:?}", Approximation::ALL.iter().zip(worst).collect::<Vec<_>>());
}

#[test]
fn best_probes_with_all_ties() {
    for row in rows("optimal_k.json").as_array().expect("rows") {
        let (m, n) = (int(row, "m"), int(row, "n"));
        for (variant, letter) in [(Variant::Standard, "S"), (Variant::Classic, "C")] {
            let best = optimal_probes(variant, m, n).unwrap_or_else(|error| panic!("{row}: {error}"));
            let Some(expected) = row.get(format!("k{letter}")) else { continue };
            assert_eq!(u64::from(best.probes), expected.as_u64().expect("probes"), "{variant} {row}");
            if let Some(ties) = row.get(format!("k{letter}_ties")) {
                assert_eq!(serde_json::json!(best.ties), *ties, "{variant} {row}");
            }
            if let Some(expected) = text(row, &format!("f{letter}")) {
                hold(&best.fpr, expected, None, row);
            }
            if let Some(expected) = text(row, &format!("eff{letter}")) {
                let found = efficiency(variant, m, n, best.probes).expect("in range");
                assert!((found / expected.parse::<f64>().expect("decimal") - 1.0).abs() < 1e-12, "{variant} {row}");
            }
        }
    }
}

#[test]
fn fewest_bits_and_most_items() {
    let all = rows("sizing_minmax.json");
    let variant = |row: &Value| if row["variant"] == "S" { Variant::Standard } else { Variant::Classic };
    for row in all["n_max"].as_array().expect("rows") {
        let rate = text(row, "p").expect("rate").parse().expect("a rate");
        let found = max_items(variant(row), int(row, "m"), &rate).expect("in range");
        assert_eq!(found.map_or(0, |best| best.items), int(row, "n_max"), "{row}");
    }
    for row in all["m_min"].as_array().expect("rows") {
        let rate = text(row, "p").expect("rate").parse().expect("a rate");
        let found = min_bits(variant(row), int(row, "n"), &rate).expect("in range");
        assert_eq!(found.map(|best| best.bits), Some(int(row, "m_min")), "{row}");
    }
}
