//! The size of a sketch, and the size that a given error and probability require.

use super::euler::{Depth, Exactly, floor_of_multiple};
use crate::exact::work;
use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec::Vec;
use alloc::{format, vec};

use super::{Family, Rows};
use crate::error::out_of_range;
use crate::exact::combine::Power;
use crate::exact::enclosure::Enclose;
use crate::exact::modular::{gcd, is_prime, next_prime};
use crate::{Error, Rate, Result};

/// The largest number of copies in a two-hash sketch ([`Rows::TwoHash`]). A copy is a group of rows
/// that share two hash functions.
pub const MAX_COPIES: u32 = 1 << 30;

/// The size of a Count-Min sketch, and the method by which its rows get their hashes. The sketch
/// has `copies * depth` rows with `width` counters each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub(super) rows: Rows,
    pub(super) width: u64,
    pub(super) depth: u32,
    pub(super) copies: u32,
}

impl Shape {
    /// Creates the shape of a sketch. The sketch has `copies` copies (groups of rows), each copy
    /// has `depth` rows, and each row has `width` counters.
    ///
    /// # Errors
    /// Fails in these cases:
    /// * The width, the depth or the number of copies is 0.
    /// * The rows are independent, but there is more than one copy. Increase the depth instead.
    /// * The sketch uses two hashes, and there are more than [`MAX_COPIES`] copies.
    /// * The sketch uses two hashes, but the width is not a prime.
    /// * The sketch uses two hashes, but the width is below the depth. Two rows would then use the
    ///   same hash function.
    pub fn new(rows: Rows, width: u64, depth: u32, copies: u32) -> Result<Shape> {
        if width == 0 {
            return out_of_range("width", width, "at least 1");
        }
        if depth == 0 {
            return out_of_range("depth", depth, "at least 1");
        }
        match rows {
            Rows::Independent if copies != 1 => out_of_range("copies", copies, "1 for independent rows; give more depth instead"),
            Rows::TwoHash if !(1..=MAX_COPIES).contains(&copies) => out_of_range("copies", copies, "from 1 to 2^30"),
            Rows::TwoHash if !is_prime(width) => out_of_range("width", width, "a prime for two hashes"),
            Rows::TwoHash if u64::from(depth) > width => out_of_range("depth", depth, "at most the width, for two hashes"),
            _ => Ok(Shape { rows, width, depth, copies }),
        }
    }

    /// Computes the size of a sketch for a given error and probability. With this size, the
    /// probability that an estimate is too high by `epsilon` N or more is at most `delta`. N is the
    /// sum of all counts in the stream. This is proven for independent rows with either [`Family`]
    /// of hash functions. For [two-hash rows](Rows::TwoHash), it is proven only for
    /// [`Family::Ideal`] (see [`failure_bound`](Shape::failure_bound)).
    ///
    /// For independent rows:
    /// * The width is `ceil(e / epsilon)`.
    /// * The depth is `ceil(ln(1 / delta))`.
    ///
    /// For two-hash rows:
    /// * The width is the smallest prime that is at least `2e / epsilon`.
    /// * The depth is `max(1, ceil(ln(1 / (epsilon (1 - 1/(2e^2))))))`.
    /// * The number of copies is the smallest c with `epsilon^c <= delta`.
    ///
    /// These formulas are evaluated without rounding errors.
    ///
    /// # Errors
    /// Fails if the width does not fit a `u64`. This happens if `epsilon` is below about 1.5e-19
    /// for independent rows, or below about 3e-19 for two-hash rows. Also fails if more than
    /// [`MAX_COPIES`] copies would be needed.
    pub fn for_error(epsilon: &Rate, delta: &Rate, rows: Rows) -> Result<Shape> {
        let _work = work::begin();
        let width = width(epsilon, rows)?;
        let (depth, copies) = match rows {
            Rows::Independent => (least_depth(delta, false)?, 1),
            Rows::TwoHash => (least_depth(epsilon, true)?, least_copies(epsilon, delta)?),
        };
        Shape::new(rows, width, depth, copies)
    }

    /// Returns the method by which the rows get their hashes.
    #[must_use]
    pub fn rows(&self) -> Rows {
        self.rows
    }

    /// Returns the number of counters per row.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Returns the number of rows per copy.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the number of independent copies. Each copy gives an estimate, and the estimate of
    /// the sketch is the smallest of these. For independent rows, the number of copies is 1.
    #[must_use]
    pub fn copies(&self) -> u32 {
        self.copies
    }

    /// Returns the total number of rows, `depth * copies`, which is at most 2^62.
    #[must_use]
    pub fn all_rows(&self) -> u64 {
        u64::from(self.depth) * u64::from(self.copies)
    }

    /// Returns the number of counters in all rows.
    #[must_use]
    pub fn cells(&self) -> u128 {
        u128::from(self.width) * u128::from(self.all_rows())
    }

    /// Returns the number of hash functions that are evaluated per item: one per row, or two per
    /// copy.
    #[must_use]
    pub fn hash_functions(&self) -> u64 {
        match self.rows {
            Rows::Independent => self.all_rows(),
            Rows::TwoHash => 2 * u64::from(self.copies),
        }
    }

    /// Returns the smallest number of copies for which [`failure_bound`](Self::failure_bound) is at
    /// most `delta`. The width and the depth of this shape are kept. With this number of copies,
    /// the probability that an estimate is too high by `epsilon` N or more is at most `delta`. The
    /// result is `None` if [`MAX_COPIES`] copies are not enough.
    ///
    /// For [`Family::Pairwise`] and two hashes per copy, the result is usually larger than the
    /// number of copies that [`for_error`](Shape::for_error) uses.
    ///
    /// # Errors
    /// Fails if the width is too small for `epsilon`: no number of copies then gives a bound below
    /// 1.
    pub fn copies_proven(&self, epsilon: &Rate, delta: &Rate, family: Family) -> Result<Option<u32>> {
        let _work = work::begin();
        let enough = |copies| Shape { copies, ..*self }.is_proven(epsilon, delta, family);
        least(MAX_COPIES, enough)
    }
}

/// Returns the numerator of `1 / rate` as a list of factors, and the denominator of `1 / rate`.
pub(super) fn inverse(rate: &Rate) -> (Vec<u64>, u64) {
    let (numerator, exponent, divisor) = rate.parts();
    let digits = exponent.unsigned_abs();
    let mut factors = vec![divisor, 10u64.pow(digits % 19)];
    factors.extend((0..digits / 19).map(|_| 10u64.pow(19)));
    (factors, numerator)
}

fn width(epsilon: &Rate, rows: Rows) -> Result<u64> {
    let (mut factors, numerator) = inverse(epsilon);
    if rows == Rows::TwoHash {
        factors.push(2);
    }
    let whole = floor_of_multiple(&factors, numerator).and_then(|floor| floor.checked_add(1));
    let width = if rows == Rows::TwoHash { whole.and_then(next_prime) } else { whole };
    width.map_or_else(|| out_of_range("epsilon", epsilon, "so large that a row has fewer than 2^64 counters"), Ok)
}

/// The smallest d with `e^-d <= rate` or, for two hashes, with `e^-d / (1 - e^-2 / 2) <= rate`
/// (Theorem 9.1). The smallest possible rate is near 10^-4020, so a depth of 16,384 is always
/// enough.
fn least_depth(rate: &Rate, two_hash: bool) -> Result<u32> {
    let depth = least(1 << 14, |power| Depth { power, two_hash }.at_most(rate, None))?;
    depth.map_or_else(|| out_of_range("delta", rate, "at least 10^-4020"), Ok)
}

fn least_copies(epsilon: &Rate, delta: &Rate) -> Result<u32> {
    let reached = |exponent: u32| {
        let power = Power { base: Exactly(*epsilon), exponent: exponent.into() };
        Ok(is_power(epsilon, exponent, delta) || power.at_most(delta, None)?)
    };
    let copies = least(MAX_COPIES, reached)?;
    copies.map_or_else(|| out_of_range("epsilon", epsilon, format!("so small that 2^30 copies reach a delta of {delta}")), Ok)
}

/// Returns the smallest number from 1 to `most` for which `enough` is true. The result is `None` if
/// `enough` is false for all of them. The search doubles the number until it is enough, and then
/// bisects. So it tries no number far above the answer.
fn least(most: u32, enough: impl Fn(u32) -> Result<bool>) -> Result<Option<u32>> {
    let (mut below, mut at) = (0, 1);
    while !enough(at)? {
        if at == most {
            return Ok(None);
        }
        (below, at) = (at, at.saturating_mul(2).min(most));
    }
    while at - below > 1 {
        let middle = below + (at - below) / 2;
        if enough(middle)? { at = middle } else { below = middle }
    }
    Ok(Some(at))
}

/// Whether `base^exponent` equals `other` exactly. In lowest terms, the power's numerator is a
/// power of the base's numerator, and likewise for the denominators. So the comparison needs no
/// more digits than `other` has.
fn is_power(base: &Rate, exponent: u32, other: &Rate) -> bool {
    let ((top, bottom), (top_other, bottom_other)) = (lowest_terms(base), lowest_terms(other));
    let grown = if top == 1 { Some(1) } else { top.checked_pow(exponent) };
    grown == Some(top_other) && bottom.power(exponent) == Some(bottom_other)
}

/// A whole number as `odd * 2^twos * 5^fives`, where `odd` has no factor 2 or 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Factored {
    odd: u64,
    twos: u64,
    fives: u64,
}

impl Factored {
    fn power(self, exponent: u32) -> Option<Factored> {
        let odd = if self.odd == 1 { Some(1) } else { self.odd.checked_pow(exponent) }?;
        Some(Factored { odd, twos: self.twos * u64::from(exponent), fives: self.fives * u64::from(exponent) })
    }
}

/// Returns the numerator and the denominator of a rate in lowest terms. The part of the denominator
/// that is coprime to ten divides a one-word number, so all factors fit in words.
fn lowest_terms(rate: &Rate) -> (u64, Factored) {
    let (mut top, exponent, mut odd) = rate.parts();
    let ten = u64::from(exponent.unsigned_abs());
    let mut count = |prime: u64| {
        let mut power = ten;
        while odd.is_multiple_of(prime) {
            (odd, power) = (odd / prime, power + 1);
        }
        while power > 0 && top.is_multiple_of(prime) {
            (top, power) = (top / prime, power - 1);
        }
        power
    };
    let (twos, fives) = (count(2), count(5));
    let common = gcd(top, odd);
    (top / common, Factored { odd: odd / common, twos, fives })
}

impl Shape {
    fn is_proven(&self, epsilon: &Rate, delta: &Rate, family: Family) -> Result<bool> {
        match self.failure(epsilon, family) {
            Some(bound) => bound.at_most(delta, None),
            None => Err(Error::OutOfRange { name: "width", found: self.width.to_string(), expected: "larger for this epsilon".to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn powers_are_found_exactly() {
        for (base, exponent, other, expected) in [
            ("0.1", 300, "1e-300", true),
            ("0.1", 4000, "1e-4000", true),
            ("0.5", 3, "0.125", true),
            ("2/3", 3, "8/27", true),
            ("2/6", 2, "1/9", true),
            ("0.2", 4, "16e-4", true),
            ("0.1", 301, "1e-300", false),
            ("2/3", 3, "9/27", false),
            ("0.999999999999", 1 << 30, "1e-300", false),
            ("1/18446744073709551615", 1 << 30, "1e-300", false),
        ] {
            assert_eq!(is_power(&rate(base), exponent, &rate(other)), expected, "{base}^{exponent} and {other}");
        }
    }
}
