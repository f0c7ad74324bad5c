//! Fixed-point fractions, the arithmetic behind all proven rates.
//!
//! A fraction in `[0, 1)` is a little-endian slice of `L` words with the value
//! `sum words[i] 2^(64 i) / 2^(64 L)`. One *unit* is `2^(-64 L)`. Every operation here rounds down,
//! by less than one unit unless its documentation says otherwise. So callers only have to count
//! errors in whole units. Crates for big integers allocate in each operation, or fix the width at
//! compile time; this module does neither. The tests of this module compare it with a crate for big
//! integers.

use alloc::vec;
use alloc::vec::Vec;

/// A divisor of one word with its precomputed reciprocal (Möller and Granlund, "Improved division
/// by invariant integers", 2011).
pub(crate) struct Divisor {
    normalized: u64,
    shift: u32,
    reciprocal: u64,
}

impl Divisor {
    /// `divisor` must not be 0.
    pub(crate) fn new(divisor: u64) -> Self {
        let shift = divisor.leading_zeros();
        let normalized = divisor << shift;
        // The number floor((2^128 - 1) / d) - 2^64 fits a word, because d >= 2^63.
        let reciprocal = (u128::MAX / u128::from(normalized)) as u64;
        Divisor { normalized, shift, reciprocal }
    }

    /// Divides `high * 2^64 + low` by `normalized`, and returns the quotient and the remainder.
    /// `high` must be below `normalized`.
    #[inline]
    fn divide_step(&self, high: u64, low: u64) -> (u64, u64) {
        let estimate = u128::from(self.reciprocal) * u128::from(high) + (u128::from(high) << 64 | u128::from(low));
        let (mut quotient, fraction) = (((estimate >> 64) as u64).wrapping_add(1), estimate as u64);
        let mut remainder = low.wrapping_sub(quotient.wrapping_mul(self.normalized));
        if remainder > fraction {
            quotient = quotient.wrapping_sub(1);
            remainder = remainder.wrapping_add(self.normalized);
        }
        if remainder >= self.normalized {
            quotient = quotient.wrapping_add(1);
            remainder -= self.normalized;
        }
        (quotient, remainder)
    }

    /// Divides the integer `top * 2^(64 L) + x`. The quotient replaces `x`, and the remainder is
    /// dropped. `top` must be below the divisor.
    pub(crate) fn divide(&self, mut top: u64, x: &mut [u64]) {
        let shift = self.shift;
        for i in (0..x.len()).rev() {
            let word = x[i];
            // Shifts the dividend by as many bits as the divisor.
            let high = if shift == 0 { top } else { top << shift | word >> (64 - shift) };
            x[i] = high;
            top = word;
        }
        // x now holds the shifted dividend without its lowest word. `top` is the lowest word before
        // shifting.
        let lowest = top << shift;
        let mut remainder = x[x.len() - 1];
        for i in (0..x.len()).rev() {
            let low = if i == 0 { lowest } else { x[i - 1] };
            let (quotient, rest) = self.divide_step(remainder, low);
            x[i] = quotient;
            remainder = rest;
        }
    }
}

/// Sets `x = floor(x factor / divisor)`. `factor` must be at most the divisor, so that the result
/// is a fraction again.
pub(crate) fn scale(x: &mut [u64], factor: u64, divisor: &Divisor) {
    let carry = multiply_word(x, factor);
    divisor.divide(carry, x);
}

/// Sets `x = x * factor` as integers, and returns the word that does not fit.
pub(crate) fn multiply_word(x: &mut [u64], factor: u64) -> u64 {
    let mut carry = 0;
    for word in x {
        let product = u128::from(*word) * u128::from(factor) + u128::from(carry);
        *word = product as u64;
        carry = (product >> 64) as u64;
    }
    carry
}

/// Sets `x = floor(numerator / divisor)` as a fraction. `numerator` must be below the divisor.
pub(crate) fn set_ratio(x: &mut [u64], numerator: u64, divisor: &Divisor) {
    x.fill(0);
    divisor.divide(numerator, x);
}

/// Sets `x += y` as integers, and returns whether there was a carry at the end.
pub(crate) fn add(x: &mut [u64], y: &[u64]) -> bool {
    let mut carry = false;
    for (i, word) in x.iter_mut().enumerate() {
        let (sum, first) = word.overflowing_add(y.get(i).copied().unwrap_or(0));
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        *word = sum;
        carry = first | second;
    }
    carry
}

/// Sets `x -= y` as integers, and returns whether there was a borrow at the end.
pub(crate) fn subtract(x: &mut [u64], y: &[u64]) -> bool {
    let mut borrow = false;
    for (i, word) in x.iter_mut().enumerate() {
        let (rest, first) = word.overflowing_sub(y.get(i).copied().unwrap_or(0));
        let (rest, second) = rest.overflowing_sub(u64::from(borrow));
        *word = rest;
        borrow = first | second;
    }
    borrow
}

/// Sets `x = floor(x / 2)`. `carry` is the integer part of x that an earlier addition left.
pub(crate) fn halve(x: &mut [u64], carry: bool) {
    let mut carry = u64::from(carry) << 63;
    for word in x.iter_mut().rev() {
        let low = *word << 63;
        *word = *word >> 1 | carry;
        carry = low;
    }
}

/// The number `units` as two words, for adding and subtracting error counts.
pub(crate) fn units(units: u128) -> [u64; 2] {
    [units as u64, (units >> 64) as u64]
}

/// Memory for one product of double width.
pub(crate) struct Product(Vec<u64>);

impl Product {
    pub(crate) fn new(limbs: usize) -> Self {
        Product(vec![0; 2 * limbs])
    }

    /// Sets `x = floor(x y)`.
    pub(crate) fn multiply(&mut self, x: &mut [u64], y: &[u64]) {
        match x.len() {
            2 => multiply_fixed::<2>(x, y),
            3 => multiply_fixed::<3>(x, y),
            4 => multiply_fixed::<4>(x, y),
            limbs => {
                multiply_full(&mut self.0, x, y);
                x.copy_from_slice(&self.0[limbs..]);
            }
        }
    }

    /// Sets `x = floor(x^2)`.
    pub(crate) fn square(&mut self, x: &mut [u64]) {
        match x.len() {
            2 => square_fixed::<2>(x),
            3 => square_fixed::<3>(x),
            4 => square_fixed::<4>(x),
            limbs => {
                square_full(&mut self.0, x);
                x.copy_from_slice(&self.0[limbs..]);
            }
        }
    }

    /// Sets `x = base^exponent`, for an exponent of at least 1. The bits of the exponent are used
    /// from left to right.
    ///
    /// If `base` is at most `b` units below the true base, the result is at most
    /// `(b + 1) exponent - 1` units below the true power. Squaring doubles the error and truncates:
    /// `2 ((b+1) e - 1) + 1 = (b+1) 2e - 1`. Multiplying by the base adds `b` and truncates:
    /// `(b+1) e - 1 + b + 1 = (b+1)(e+1) - 1`. No factor exceeds 1.
    pub(crate) fn power(&mut self, x: &mut [u64], base: &[u64], exponent: u128) {
        x.copy_from_slice(base);
        for bit in (0..127 - exponent.leading_zeros()).rev() {
            self.square(x);
            if exponent >> bit & 1 == 1 {
                self.multiply(x, base);
            }
        }
    }

    /// Sets `mean = (1 + base + .. + base^(count - 1)) / count` and `power = base^count`, for a
    /// count from 1 to 2^62. The bits of the count are used from left to right.
    ///
    /// If `base` is at most `b` units below the true base, with `b` at least 1, the mean is at most
    /// `(b + 1) count` units below the true mean. The mean starts as `1 - 2^-B`. To double the
    /// number c of terms, the mean becomes `mean (1 + power) / 2`. Its error is at most half of
    /// `2 (b+1) c + (b+1) c - 1`, plus the truncations of the product and of the halving, and so at
    /// most `1.5 (b+1) c + 1`. To add one term, the mean becomes `c/(c+1) mean + 1/(c+1) power`,
    /// with an error of at most `(b+1) c` plus two truncations.
    pub(crate) fn mean_of_powers(&mut self, mean: &mut [u64], power: &mut [u64], base: &[u64], count: u64) {
        let mut term = vec![0; base.len()];
        mean.fill(u64::MAX);
        power.copy_from_slice(base);
        for bit in (0..63 - count.leading_zeros()).rev() {
            term.copy_from_slice(mean);
            self.multiply(&mut term, power);
            let carry = add(mean, &term);
            halve(mean, carry);
            self.square(power);
            if count >> bit & 1 == 1 {
                let before = (count >> bit) - 1;
                let whole = Divisor::new(before + 1);
                term.copy_from_slice(power);
                scale(&mut term, 1, &whole);
                scale(mean, before, &whole);
                add(mean, &term);
                self.multiply(power, base);
            }
        }
    }
}

/// Like `multiply`, for a width that is known at compile time. Usual parameters need two to four
/// words, for which the unrolled loops take half the time.
#[inline]
fn multiply_fixed<const L: usize>(x: &mut [u64], y: &[u64]) {
    let (x, y): (&mut [u64; L], &[u64; L]) = (x.try_into().expect("L words"), y.try_into().expect("L words"));
    let mut product = [[0u64; L]; 2];
    multiply_full(product.as_flattened_mut(), x, y);
    *x = product[1];
}

#[inline]
fn square_fixed<const L: usize>(x: &mut [u64]) {
    let x: &mut [u64; L] = x.try_into().expect("L words");
    let mut product = [[0u64; L]; 2];
    square_full(product.as_flattened_mut(), x);
    *x = product[1];
}

#[inline(always)]
fn multiply_full(product: &mut [u64], x: &[u64], y: &[u64]) {
    product[..x.len()].fill(0);
    for (i, &a) in x.iter().enumerate() {
        product[i + y.len()] = multiply_add(&mut product[i..i + y.len()], a, y);
    }
}

/// Sets `product += a * y`, and returns the carry.
#[inline(always)]
fn multiply_add(product: &mut [u64], a: u64, y: &[u64]) -> u64 {
    let mut carry = 0;
    for (word, &b) in product.iter_mut().zip(y) {
        let sum = u128::from(a) * u128::from(b) + u128::from(*word) + u128::from(carry);
        *word = sum as u64;
        carry = (sum >> 64) as u64;
    }
    carry
}

/// Adds the products of different words, doubles the sum, and then adds the squares of the words.
#[inline(always)]
fn square_full(product: &mut [u64], x: &[u64]) {
    let limbs = x.len();
    product.fill(0);
    for i in 0..limbs {
        product[i + limbs] = multiply_add(&mut product[2 * i + 1..i + limbs], x[i], &x[i + 1..]);
    }
    let (mut carry, mut shifted_out) = (0u64, 0u64);
    for (i, &a) in x.iter().enumerate() {
        let square = u128::from(a) * u128::from(a);
        for (word, part) in [(2 * i, square as u64), (2 * i + 1, (square >> 64) as u64)] {
            let doubled = product[word] << 1 | shifted_out;
            shifted_out = product[word] >> 63;
            let sum = u128::from(doubled) + u128::from(part) + u128::from(carry);
            product[word] = sum as u64;
            carry = (sum >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn big(words: &[u64]) -> BigUint {
        words.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << 64) + word)
    }

    /// A word that is often 0 or all ones, because such words cause carries.
    fn word() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), Just(u64::MAX), Just(1), Just(1 << 63), any::<u64>()]
    }

    proptest! {
        #[test]
        fn means_of_powers_stay_within_their_error(base in prop::collection::vec(word(), 2..6), count in 1u64..60) {
            let (mut mean, mut power) = (vec![0; base.len()], vec![0; base.len()]);
            Product::new(base.len()).mean_of_powers(&mut mean, &mut power, &base, count);
            // The sum has the common denominator 2^(64 L (count - 1)).
            let width = 64 * base.len();
            let sum: BigUint = (0..count as u32).map(|i| big(&base).pow(i) << (width * (count as usize - 1 - i as usize))).sum();
            let exact = (sum << width >> (width * (count as usize - 1))) / count;
            let error = if exact > big(&mean) { exact.clone() - big(&mean) } else { big(&mean) - exact.clone() };
            prop_assert!(big(&mean) <= exact.clone() + 1u8, "above");
            prop_assert!(error <= BigUint::from(2 * count), "{error} {count}");
            let mut alone = base.clone();
            Product::new(base.len()).power(&mut alone, &base, u128::from(count));
            prop_assert_eq!(power, alone);
        }

        #[test]
        fn products_are_floors(x in prop::collection::vec(word(), 1..9), seed in any::<u64>()) {
            let y: Vec<u64> = x.iter().map(|w| w.rotate_left(17) ^ seed).collect();
            let limbs = x.len();
            let mut product = Product::new(limbs);
            let mut z = x.clone();
            product.multiply(&mut z, &y);
            prop_assert_eq!(big(&z), (big(&x) * big(&y)) >> (64 * limbs));
            let mut z = x.clone();
            product.square(&mut z);
            prop_assert_eq!(big(&z), (big(&x) * big(&x)) >> (64 * limbs));
        }

        #[test]
        fn ratios_are_floors(x in prop::collection::vec(word(), 1..9), d in 1u64.., f in any::<u64>()) {
            let d = d >> (f % 64);
            let d = d.max(1);
            let factor = f % d;
            let divisor = Divisor::new(d);
            let mut z = x.clone();
            scale(&mut z, factor, &divisor);
            prop_assert_eq!(big(&z), big(&x) * factor / d);
            let mut z = x.clone();
            set_ratio(&mut z, factor, &divisor);
            prop_assert_eq!(big(&z), (BigUint::from(factor) << (64 * x.len())) / d);
        }

        #[test]
        fn sums_and_halves(x in prop::collection::vec(word(), 1..9), seed in any::<u64>()) {
            let y: Vec<u64> = x.iter().map(|w| w.rotate_left(29) ^ seed).collect();
            let modulus = BigUint::from(1u8) << (64 * x.len());
            let mut z = x.clone();
            let carried = add(&mut z, &y);
            prop_assert_eq!(big(&z) + if carried { modulus.clone() } else { BigUint::ZERO }, big(&x) + big(&y));
            let mut half = z.clone();
            halve(&mut half, carried);
            prop_assert_eq!(big(&half), (big(&x) + big(&y)) >> 1);
            let borrowed = subtract(&mut z, &y);
            prop_assert_eq!(borrowed, carried);
            prop_assert_eq!(&z, &x);
        }

        #[test]
        fn powers_stay_within_their_error(base in prop::collection::vec(word(), 1..6), exponent in 1u32..200) {
            let mut power = base.clone();
            Product::new(base.len()).power(&mut power, &base, u128::from(exponent));
            let exact = big(&base).pow(exponent) >> (64 * base.len() * (exponent as usize - 1));
            prop_assert!(big(&power) <= exact);
            prop_assert!(exact - big(&power) < BigUint::from(exponent));
        }
    }

    #[test]
    fn counts_of_units_keep_both_words() {
        for count in [0, 1, u128::from(u64::MAX), 1 << 64, 0x0123_4567_89ab_cdef << 40, u128::MAX] {
            assert_eq!(big(&units(count)), BigUint::from(count));
        }
    }
}
