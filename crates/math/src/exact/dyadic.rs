//! Non-negative integers times a power of two. Such numbers are the ends of proven brackets. They
//! are rounded outward when they are converted to `f64`.

use crate::exact::fixed;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// The number `words * 2^exponent`, where `words` is little-endian. Leading zero words are allowed.
#[derive(Clone, Debug)]
pub(crate) struct Dyadic {
    pub(crate) words: Vec<u64>,
    pub(crate) exponent: i64,
}

impl Dyadic {
    pub(crate) fn is_zero(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The number of bits of the integer `words`. It is 0 for zero.
    pub(crate) fn bit_length(&self) -> i64 {
        match self.words.iter().rposition(|&word| word != 0) {
            Some(top) => 64 * top as i64 + 64 - i64::from(self.words[top].leading_zeros()),
            None => 0,
        }
    }

    /// The number `floor(log2) + 1`: the value is in `[2^(magnitude - 1), 2^magnitude)`. It is
    /// undefined for zero.
    pub(crate) fn magnitude(&self) -> i64 {
        self.bit_length() + self.exponent
    }

    /// The bits `low..low + 64` of the integer. `low` may be negative.
    fn window(&self, low: i64) -> u64 {
        let word = |index: i64| usize::try_from(index).ok().and_then(|i| self.words.get(i)).copied().unwrap_or(0);
        let (index, shift) = (low.div_euclid(64), low.rem_euclid(64) as u32);
        if shift == 0 { word(index) } else { word(index) >> shift | word(index + 1) << (64 - shift) }
    }

    fn has_bits_below(&self, position: i64) -> bool {
        let position = position.clamp(0, 64 * self.words.len() as i64) as usize;
        let (whole, rest) = (position / 64, position % 64);
        self.words[..whole].iter().any(|&word| word != 0) || rest > 0 && self.words[whole] << (64 - rest) != 0
    }

    /// The top `digits` bits as an integer with its exponent, and whether any bit below them was
    /// set.
    fn leading(&self, digits: i64) -> (u64, i64, bool) {
        let low = self.bit_length() - digits;
        let mask = if digits == 64 { u64::MAX } else { (1 << digits) - 1 };
        (self.window(low) & mask, self.exponent + low, self.has_bits_below(low))
    }

    /// The largest `f64` that is not above the value. It is 0 if the value is below the smallest
    /// positive `f64`.
    pub(crate) fn floor(&self) -> f64 {
        self.round(false)
    }

    /// The smallest `f64` that is not below the value.
    pub(crate) fn ceil(&self) -> f64 {
        self.round(true)
    }

    fn round(&self, up: bool) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        // Below the normal range, an f64 keeps fewer digits, and finally none.
        let digits = (self.magnitude() + 1074).min(53);
        if digits < 1 {
            return if up { f64::from_bits(1) } else { 0.0 };
        }
        let (mantissa, exponent, cut) = self.leading(digits);
        // Both factors and the product are exact: they have at most 54 bits, and the product is
        // never below the smallest positive number.
        libm::scalbn((mantissa + u64::from(up && cut)) as f64, exponent as i32)
    }

    /// Lower and upper bounds on the natural logarithm; both are minus infinity for zero.
    ///
    /// The value is `m 2^e`, where `m` in `[1/2, 1)` is truncated to 53 bits, with a relative error
    /// below 2^-52. `libm::log` is within 1 ulp (see the error analysis in its source, FreeBSD's
    /// `e_log.c`), which is at most 1.2e-16 here. The product of `e` and the high part of ln 2 is
    /// exact for `|e| < 2^20`. The remaining terms contribute one rounding of the result and two
    /// roundings of numbers below 1. So one ulp of the result and 8e-16 cover the sum.
    pub(crate) fn ln(&self) -> (f64, f64) {
        const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
        const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
        if self.is_zero() {
            return (f64::NEG_INFINITY, f64::NEG_INFINITY);
        }
        let (mantissa, exponent, _) = self.leading(53);
        let fraction = mantissa as f64 / (1u64 << 53) as f64;
        let exponent = (exponent + 53) as f64;
        let ln = exponent * LN2_HIGH + (exponent * LN2_LOW + libm::log(fraction));
        let slack = (ln.abs() * f64::EPSILON) + 8e-16;
        (ln - slack, ln + slack)
    }

    /// The exact product.
    pub(crate) fn multiply(&self, other: &Dyadic) -> Dyadic {
        let mut words = vec![0; self.words.len() + other.words.len()];
        for (i, &a) in self.words.iter().enumerate() {
            let mut carry = 0;
            for (word, &b) in words[i..].iter_mut().zip(other.words.iter().chain(core::iter::repeat(&0))) {
                let sum = u128::from(a) * u128::from(b) + u128::from(*word) + carry;
                *word = sum as u64;
                carry = sum >> 64;
            }
        }
        Dyadic { words, exponent: self.exponent + other.exponent }
    }

    /// The exact difference, or 0 if it would be negative.
    pub(crate) fn minus(&self, other: &Dyadic) -> Dyadic {
        let exponent = self.exponent.min(other.exponent);
        let (mut left, right) = (self.aligned(exponent, false), other.aligned(exponent, false));
        left.words.resize(left.words.len().max(right.words.len()), 0);
        if fixed::subtract(&mut left.words, &right.words) {
            left.words.fill(0);
        }
        left
    }

    /// This number with a new exponent. If the new exponent is larger, the number is rounded down
    /// or up.
    pub(crate) fn aligned(&self, exponent: i64, up: bool) -> Dyadic {
        let shift = exponent - self.exponent;
        let length = usize::try_from(((self.bit_length() - shift).max(0) + 63) / 64).unwrap_or(0) + 1;
        let mut words: Vec<u64> = (0..length as i64).map(|i| self.window(64 * i + shift)).collect();
        if up && self.has_bits_below(shift) {
            fixed::add(&mut words, &[1]);
        }
        Dyadic { words, exponent }
    }

    /// The number with only its `words` leading words, rounded down or up.
    pub(crate) fn shortened(&self, words: usize, up: bool) -> Dyadic {
        let excess = self.bit_length() - 64 * words as i64;
        if excess <= 0 { self.clone() } else { self.aligned(self.exponent + excess, up) }
    }

    /// Compares the values, even if the exponents differ.
    pub(crate) fn compare(&self, other: &Dyadic) -> Ordering {
        let by_zero = other.is_zero().cmp(&self.is_zero());
        if self.is_zero() || other.is_zero() {
            return by_zero;
        }
        self.magnitude().cmp(&other.magnitude()).then_with(|| {
            let bits = self.bit_length().max(other.bit_length());
            let step = |i: i64| {
                let mine = self.window(self.bit_length() - 64 * i);
                mine.cmp(&other.window(other.bit_length() - 64 * i))
            };
            (1..=bits / 64 + 1).map(step).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use num_rational::BigRational;
    use proptest::prelude::*;

    fn exact(x: &Dyadic) -> BigRational {
        let integer = x.words.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << 64) + word);
        let power = BigUint::from(1u8) << x.exponent.unsigned_abs();
        let (top, bottom) = if x.exponent < 0 { (integer, power) } else { (integer * power, BigUint::from(1u8)) };
        BigRational::new(top.into(), bottom.into())
    }

    fn dyadic() -> impl Strategy<Value = Dyadic> {
        let word = prop_oneof![Just(0), Just(u64::MAX), any::<u64>()];
        (prop::collection::vec(word, 1..5), -1400i64..-100).prop_map(|(words, exponent)| Dyadic { words, exponent })
    }

    proptest! {
        #[test]
        fn f64_ends_enclose_and_are_adjacent(x in dyadic()) {
            let (low, high) = (x.floor(), x.ceil());
            let rational = |f: f64| BigRational::from_float(f).expect("finite");
            prop_assert!(rational(low) <= exact(&x) && exact(&x) <= rational(high));
            prop_assert!(high.to_bits() - low.to_bits() <= 1);
        }

        #[test]
        fn products_and_differences_are_exact(x in dyadic(), y in dyadic(), shift in -70i64..70, words in 1usize..6) {
            prop_assert_eq!(exact(&x.multiply(&y)), exact(&x) * exact(&y));
            let (large, small) = if exact(&x) < exact(&y) { (&y, &x) } else { (&x, &y) };
            prop_assert_eq!(exact(&large.minus(small)), exact(large) - exact(small));
            prop_assert_eq!(small.minus(large).compare(&Dyadic { words: vec![0], exponent: 0 }), Ordering::Equal);
            let unit = exact(&Dyadic { words: vec![1], exponent: x.exponent + shift });
            let (low, high) = (x.aligned(x.exponent + shift, false), x.aligned(x.exponent + shift, true));
            prop_assert!(exact(&low) <= exact(&x) && exact(&x) - exact(&low) < unit);
            prop_assert!(exact(&high) >= exact(&x) && exact(&high) - exact(&x) < unit);
            let (low, high) = (x.shortened(words, false), x.shortened(words, true));
            prop_assert!(exact(&low) <= exact(&x) && exact(&x) <= exact(&high) && low.words.len() <= words.max(x.words.len()) + 1);
        }

        #[test]
        fn comparison_is_that_of_rationals(x in dyadic(), y in dyadic(), shift in 0u32..64) {
            prop_assert_eq!(x.compare(&y), exact(&x).cmp(&exact(&y)));
            // The same number with other words and another exponent is equal.
            let mut words = vec![0];
            words.extend(&x.words);
            let same = Dyadic { words, exponent: x.exponent - 64 };
            prop_assert_eq!(x.compare(&same), Ordering::Equal);
            let mut near = same.clone();
            near.words[0] |= 1 << shift;
            prop_assert_eq!(x.compare(&near), Ordering::Less);
        }
    }

    #[test]
    fn logarithms_enclose_known_values() {
        // The expected values are ln 3 - 1000 ln 2 and ln(2^64 - 1) - 64 ln 2, from exact tables of
        // 20 digits.
        let three = Dyadic { words: vec![3], exponent: -1000 };
        let (low, high) = three.ln();
        let truth = -692.048_568_271_277_2;
        assert!(low < truth && truth < high && high - low < 6e-13, "{low} {high}");
        let almost_one = Dyadic { words: vec![u64::MAX], exponent: -64 };
        let (low, high) = almost_one.ln();
        assert!(low <= -5.421e-20 && high >= -5.421e-20 && high - low < 2e-15, "{low} {high}");
    }
}
