//! The requested rate, exactly as it was written.

use crate::exact::dyadic::Dyadic;
use crate::exact::fixed::{self, Divisor};
use crate::exact::modular::gcd;
use crate::{Error, Result};
use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::num::{IntErrorKind, ParseIntError};
use core::str::FromStr;

/// A false-positive rate strictly between 0 and 1. The rate is the exact number that was written,
/// and is not rounded to an `f64`. `0.1%`, `1/1000`, `1e-3` and `0.001` are the same rate. If the
/// rate of a filter can be computed exactly, a plan compares that rate with the exact requested
/// rate. So a filter whose rate is exactly the requested rate is accepted.
///
/// A `Rate` is made from text (`"0.1%".parse()`) or from an `f64`. An `f64` stands for the shortest
/// decimal that rounds to it. A `Rate` has at most 19 significant digits. Its decimal exponent is
/// at least -4000.
///
/// ```
/// use truebloom_math::Rate;
/// let rate: Rate = "0.1%".parse()?;
/// assert_eq!(rate, "1/1000".parse()?);
/// assert_eq!(rate, Rate::try_from(0.001)?);
/// assert_eq!(rate.to_string(), "0.001");
/// # Ok::<(), truebloom_math::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// The numerator of the rate, which is `numerator * 10^exponent / divisor`.
    numerator: u64,
    exponent: i32,
    divisor: u64,
}

const MIN_EXPONENT: i32 = -4000;

/// The reason in the error for an exponent that is too small or too large.
const OUT_OF_RANGE: &str = "its exponent is out of range";
/// The largest power of ten that fits in a word.
const TEN_19: u64 = 10_000_000_000_000_000_000;

impl Rate {
    /// Creates the rate `numerator * 10^exponent / divisor`. Filter files store a rate as these
    /// three numbers.
    ///
    /// # Errors
    /// Fails if the rate is not strictly between 0 and 1, if `divisor` is 0, or if `exponent` is
    /// not from -4000 to 0.
    pub fn from_parts(numerator: u64, exponent: i32, divisor: u64) -> Result<Rate> {
        let shown = || format!("{numerator}e{exponent}/{divisor}");
        let fail = |reason| Err(Error::NotARate { found: shown(), reason });
        if divisor == 0 {
            return fail("it divides by zero");
        }
        if !(MIN_EXPONENT..=0).contains(&exponent) {
            return fail("its exponent is out of range");
        }
        // Whether numerator * 10^exponent < divisor, without overflow. Below 10^-38, every
        // numerator is small enough.
        let below_one = exponent < -38 || u128::from(numerator) < u128::from(divisor).saturating_mul(10u128.pow(exponent.unsigned_abs()));
        if numerator == 0 || !below_one {
            return fail("it must lie strictly between 0 and 1");
        }
        Ok(Rate { numerator, exponent, divisor })
    }

    /// Returns the parts `(numerator, exponent, divisor)` of a rate
    /// `numerator * 10^exponent / divisor`.
    #[must_use]
    pub fn parts(&self) -> (u64, i32, u64) {
        (self.numerator, self.exponent, self.divisor)
    }

    /// Returns the rate as an `f64`. The result is the nearest `f64`, or a neighbor of it. The
    /// result is 0 for rates below the range of `f64`. Use [`Rate::ln`] for such rates.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let decimal: f64 = format!("{}e{}", self.numerator, self.exponent).parse().unwrap_or(0.0);
        decimal / self.divisor as f64
    }

    /// The rate, truncated to an integer times a power of two. If no `f64` equals the rate, the
    /// truncated rate is still above the largest `f64` below the rate.
    fn floored(&self) -> Dyadic {
        let shift = 1074 + self.denominator_bits();
        Dyadic { words: self.floor_shifted(shift), exponent: -(shift as i64) }
    }

    /// The smallest `f64` that is at least the rate.
    pub(crate) fn ceil(&self) -> f64 {
        self.floored().ceil()
    }

    /// An upper bound on the natural logarithm of the rate.
    pub(crate) fn ln_above(&self) -> f64 {
        // The truncation changes the rate by a relative error of about 2^-1074, which is far less
        // than the slack of the logarithm.
        self.floored().ln().1
    }

    /// A lower bound on the natural logarithm of the rate.
    pub(crate) fn ln_below(&self) -> f64 {
        self.floored().ln().0
    }

    /// Returns the natural logarithm of the rate, rounded.
    #[must_use]
    pub fn ln(&self) -> f64 {
        libm::log(self.numerator as f64 / self.divisor as f64) + f64::from(self.exponent) * core::f64::consts::LN_10
    }

    /// The number `floor(rate * 2^shift)` as little-endian words. The result is exact: dividing by
    /// one factor after another, rounding down each time, gives the floor of the whole quotient.
    pub(crate) fn floor_shifted(&self, shift: u64) -> Vec<u64> {
        let mut words = vec![0; shift as usize / 64 + 2];
        words[shift as usize / 64] = self.numerator;
        fixed::multiply_word(&mut words, 1 << (shift % 64));
        let mut divide = |by: u64| Divisor::new(by).divide(0, &mut words);
        let digits = self.exponent.unsigned_abs();
        (0..digits / 19).for_each(|_| divide(TEN_19));
        divide(10u64.pow(digits % 19));
        divide(self.divisor);
        words
    }

    /// A number of bits b such that the denominator is below 2^b.
    pub(crate) fn denominator_bits(&self) -> u64 {
        // log2(10) < 3.33
        u64::from(self.exponent.unsigned_abs()) * 333 / 100 + 1 + u64::from(64 - self.divisor.leading_zeros())
    }

    /// The numerator of this rate times the denominator of the other rate. Exchanging the two rates
    /// gives a result with the same number of words.
    fn over(&self, other: &Rate) -> Vec<u64> {
        let mut product = vec![0; (self.denominator_bits() + other.denominator_bits()) as usize / 64 + 3];
        product[0] = self.numerator;
        let digits = other.exponent.unsigned_abs();
        let tens = (0..digits / 19).map(|_| TEN_19).chain([10u64.pow(digits % 19), other.divisor]);
        tens.for_each(|factor| {
            fixed::multiply_word(&mut product, factor);
        });
        product
    }

    /// Moves factors of ten into the exponent if the divisor allows it, so that equal decimals have
    /// equal parts.
    fn normalized(self) -> (u64, i32, u64) {
        let Rate { mut numerator, mut exponent, mut divisor } = self;
        let common = gcd(numerator, divisor);
        numerator /= common;
        divisor /= common;
        // If the divisor has only the prime factors 2 and 5, the rate is a decimal.
        let (twos, fives) = (multiplicity(divisor, 2), multiplicity(divisor, 5));
        let digits = twos.max(fives);
        if 2u64.pow(twos) * 5u64.pow(fives) == divisor {
            let factor = u128::from(10u64.pow(digits.min(19))) / u128::from(divisor);
            if let (true, Ok(grown)) =
                (digits <= 19 && exponent - digits as i32 >= MIN_EXPONENT, u64::try_from(u128::from(numerator) * factor))
            {
                (numerator, exponent, divisor) = (grown, exponent - digits as i32, 1);
            }
        }
        while numerator.is_multiple_of(10) && exponent < 0 {
            numerator /= 10;
            exponent += 1;
        }
        (numerator, exponent, divisor)
    }
}

fn multiplicity(mut number: u64, prime: u64) -> u32 {
    let mut count = 0;
    while number.is_multiple_of(prime) {
        number /= prime;
        count += 1;
    }
    count
}

impl PartialEq for Rate {
    /// Returns true if both rates are the same number, even if their [`parts`](Self::parts) differ.
    fn eq(&self, other: &Rate) -> bool {
        self.over(other) == other.over(self)
    }
}

impl Eq for Rate {}

impl Ord for Rate {
    /// Compares the numbers exactly.
    fn cmp(&self, other: &Rate) -> Ordering {
        self.over(other).iter().rev().cmp(other.over(self).iter().rev())
    }
}

impl PartialOrd for Rate {
    fn partial_cmp(&self, other: &Rate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Rate {
    /// Hashes the number. Equal rates have the same hash, even if their parts differ.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.floor_shifted(128).hash(state);
    }
}

impl TryFrom<f32> for Rate {
    type Error = Error;

    /// Converts to the shortest decimal that rounds to `rate` as an `f32`.
    fn try_from(rate: f32) -> Result<Rate> {
        format!("{rate:e}").parse()
    }
}

impl TryFrom<&str> for Rate {
    type Error = Error;

    /// Parses a rate as [`from_str`](FromStr::from_str) does: `0.001`, `1e-3`, `0.1%` or `1/1000`.
    fn try_from(text: &str) -> Result<Rate> {
        text.parse()
    }
}

impl TryFrom<f64> for Rate {
    type Error = Error;

    /// Converts to the shortest decimal that rounds to `rate`. So `0.001` means exactly one in a
    /// thousand.
    fn try_from(rate: f64) -> Result<Rate> {
        format!("{rate:e}").parse()
    }
}

impl FromStr for Rate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Rate> {
        parse(text.trim()).map_err(|reason| Error::NotARate { found: text.to_owned(), reason })
    }
}

fn parse(text: &str) -> core::result::Result<Rate, &'static str> {
    let (text, percent) = match text.strip_suffix('%') {
        Some(rest) => (rest.trim_end(), 2),
        None => (text, 0),
    };
    let (decimal, divisor) = match text.split_once('/') {
        Some((numerator, divisor)) => (numerator.trim_end(), whole(divisor.trim_start())?),
        None => (text, 1),
    };
    let (numerator, exponent) = parse_decimal(decimal)?;
    let exponent = exponent - percent;
    // With a positive exponent, the rate can still be below 1 after division, as in 1e3/1e6.
    let grown = if exponent > 0 { 10u64.checked_pow(exponent as u32).and_then(|ten| numerator.checked_mul(ten)) } else { Some(numerator) };
    let numerator = grown.ok_or("it must lie strictly between 0 and 1")?;
    Rate::from_parts(numerator, exponent.min(0), divisor).map_err(|error| match error {
        Error::NotARate { reason, .. } => reason,
        _ => "it is not a number",
    })
}

/// Parses a whole number, which may be written as `1e6`.
fn whole(text: &str) -> core::result::Result<u64, &'static str> {
    let (digits, exponent) = parse_decimal(text)?;
    let ten = u32::try_from(exponent).ok().and_then(|e| 10u64.checked_pow(e));
    ten.and_then(|ten| digits.checked_mul(ten)).ok_or("the number below the line must be whole and below 2^64")
}

/// The digits and the power of ten of a plain or scientific decimal without a sign.
fn parse_decimal(text: &str) -> core::result::Result<(u64, i32), &'static str> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|error| wrong_exponent(&error))?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(if mantissa.starts_with('-') { "it must lie strictly between 0 and 1" } else { "it is not a number" });
    }
    let significant = digits.trim_end_matches('0');
    let cut = digits.len() - significant.len();
    let value = if significant.is_empty() { Ok(0) } else { significant.parse() };
    let value = value.map_err(|_| "it has more than 19 significant digits")?;
    let exponent = i64::from(exponent) - fraction.len() as i64 + cut as i64;
    let in_range = i32::try_from(exponent).ok().filter(|e| *e >= MIN_EXPONENT);
    in_range.map(|exponent| (value, exponent)).ok_or(OUT_OF_RANGE)
}

/// Why an exponent cannot be read.
fn wrong_exponent(error: &ParseIntError) -> &'static str {
    match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => OUT_OF_RANGE,
        _ => "its exponent is not a whole number",
    }
}

impl fmt::Display for Rate {
    /// Writes a decimal if the rate has a short decimal form (`0.001`, `1e-6`), and otherwise a
    /// fraction (`1/3`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (numerator, exponent, divisor) = self.normalized();
        let digits = numerator.to_string();
        let leading = digits.len() as i32 + exponent;
        if exponent == 0 {
            write!(f, "{numerator}")?;
        } else if leading > -4 {
            let zeros = "0".repeat((-leading).max(0) as usize);
            let split = leading.max(0) as usize;
            let whole = if split == 0 { "0" } else { &digits[..split] };
            write!(f, "{whole}.{zeros}{}", &digits[split..])?;
        } else {
            let point = if digits.len() > 1 { "." } else { "" };
            write!(f, "{}{point}{}e{}", &digits[..1], &digits[1..], leading - 1)?;
        }
        if divisor == 1 { Ok(()) } else { write!(f, "/{divisor}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_ways_to_write_a_rate_agree() {
        for same in ["0.1%", "1/1000", "1e-3", ".001", "0.0010", "10/1e4", "1E-3", " 0.001 ", "0.1 %", "1 / 1000"] {
            assert_eq!(rate(same), rate("0.001"), "{same}");
            assert_eq!(rate(same).to_string(), "0.001", "{same}");
        }
        for (text, shown) in [
            ("1e-6", "1e-6"),
            ("12.5e-8", "1.25e-7"),
            ("1/3", "1/3"),
            ("50%", "0.5"),
            ("0.00015", "0.00015"),
            ("1/8", "0.125"),
            ("2e-15/6", "1e-15/3"),
        ] {
            assert_eq!(rate(text).to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_rate_is_refused_with_its_reason() {
        for text in [
            "",
            "abc",
            "0",
            "0%",
            "1",
            "100%",
            "2",
            "-1",
            "1/0",
            "1/1",
            "1e-5000",
            "1e400",
            "0.123456789012345678912",
            "1e",
            "1/2/3",
            "%",
            "nan",
            "inf",
            "1e3",
            "1/1.5",
        ] {
            let error = text.parse::<Rate>().expect_err(text).to_string();
            assert!(error.contains("0.1%"), "the remedy is missing: {error}");
        }
        assert!(Rate::try_from(f64::NAN).is_err() && Rate::try_from(f64::INFINITY).is_err() && Rate::try_from(-0.0).is_err());
        assert_eq!(Rate::try_from(f64::from_bits(1)).map(|r| r.to_string()), Ok("5e-324".to_owned()));
    }

    #[test]
    fn rates_have_the_order_and_the_hashes_of_numbers() {
        let ordered = ["1e-40", "1e-6", "1/1001", "0.1%", "1/6", "0.1666666666666666667", "1/3", "0.9999999999999999999"].map(rate);
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!((a.cmp(b), a == b), (i.cmp(&j), i == j), "{a} {b}");
            }
        }
        let hash =
            |text: &str| std::hash::BuildHasher::hash_one(&core::hash::BuildHasherDefault::<std::hash::DefaultHasher>::new(), rate(text));
        // Equal rates with different parts.
        for (one, other) in [("1/6", "0.5/3"), ("1e-3", "1/1000"), ("2/10", "1/5"), ("1e-60/3", "10e-60/30")] {
            assert_eq!((rate(one), hash(one)), (rate(other), hash(other)));
        }
        assert_ne!(hash("1/6"), hash("1/7"));
        assert_eq!((Rate::try_from(0.1f32), Rate::try_from("10%")), (Ok(rate("0.1")), Ok(rate("0.1"))));
    }

    #[test]
    fn shifted_floors_are_exact() {
        for text in ["0.001", "1/3", "1e-40", "0.9999999999999999999", "123456789e-300/7"] {
            let rate = rate(text);
            let (numerator, exponent, divisor) = rate.parts();
            for shift in [0, 1, 63, 64, 200, 1500] {
                let words = rate.floor_shifted(shift);
                let found = words.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << 64) + word);
                let denominator = BigUint::from(10u8).pow(exponent.unsigned_abs()) * divisor;
                assert!(denominator.bits() <= rate.denominator_bits());
                assert_eq!(found, (BigUint::from(numerator) << shift) / denominator, "{text} {shift}");
            }
        }
    }
}
