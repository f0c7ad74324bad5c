//! Exact decimals and fractions for the tests.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test file uses its part")]

pub mod chain;
pub mod committees;
pub mod documents;
pub mod oracle;

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use serde_json::Value;

/// Reads the rows of a file of reference vectors.
pub fn rows(file: &str) -> Value {
    let path = format!("{}/tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).expect("the vectors are JSON")
}

/// A whole number in a field of a row.
pub fn int(row: &Value, field: &str) -> u64 {
    row[field].as_u64().unwrap_or_else(|| panic!("{field} of {row}"))
}

/// `"1.25e-7"`, `"0.5"` or `"3/8"` as a fraction.
pub fn fraction(text: &str) -> BigRational {
    if let Some((top, bottom)) = text.split_once('/') {
        return fraction(top) / fraction(bottom);
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: BigInt = [whole, decimals].concat().parse().expect("digits");
    let exponent = exponent.parse::<i64>().expect("exponent") - decimals.len() as i64;
    let power = BigInt::from(BigUint::from(10u8).pow(exponent.unsigned_abs() as u32));
    if exponent < 0 { BigRational::new(digits, power) } else { BigRational::from(digits * power) }
}

pub fn of_f64(x: f64) -> BigRational {
    BigRational::from_float(x).expect("finite")
}

pub fn power(base: &BigRational, exponent: u32) -> BigRational {
    num_traits::pow(base.clone(), exponent as usize)
}

pub fn ratio(top: u64, bottom: u64) -> BigRational {
    BigRational::new(top.into(), bottom.into())
}

pub fn choose(n: u64, k: u64) -> BigInt {
    if k > n {
        return BigInt::from(0);
    }
    (0..k).fold(BigInt::from(1), |c, i| c * (n - i) / (i + 1))
}
