//! Integer arithmetic with the number e (2.718...), used to find the smallest depth and width of a
//! sketch. With rounded logarithms, the depth or the width could be wrong by one.

use crate::exact::dyadic::Dyadic;
use crate::exact::enclosure::{Enclose, Enclosure};
use crate::exact::fixed::{self, Divisor, Product};
use crate::{Rate, Result};
use alloc::vec;
use alloc::vec::Vec;

/// Computes the sum of `1 / i!` over all i >= 2, which is e - 2. If `alternating` is true, computes
/// the sum of `(-1)^i / i!`, which is 1/e. Returns the binary digits of the sum, and an upper bound
/// on its absolute error in units of the last place.
///
/// Each term is the previous term divided by i and rounded down, so its error is below two units.
/// The sum ends at the first term that is rounded to 0. The terms after it would add up to less
/// than four units.
fn series(limbs: usize, alternating: bool) -> (Vec<u64>, u128) {
    let (mut sum, mut term) = (vec![0; limbs], vec![0; limbs]);
    term[limbs - 1] = 1 << 63;
    let mut i = 2;
    while term.iter().any(|&word| word != 0) {
        if alternating && i % 2 == 1 {
            fixed::subtract(&mut sum, &term);
        } else {
            fixed::add(&mut sum, &term);
        }
        i += 1;
        Divisor::new(i).divide(0, &mut term);
    }
    (sum, 2 * u128::from(i) + 4)
}

/// Returns `floor(e multiplier / divisor)`, or `None` if this number does not fit a 64-bit word.
/// The multiplier is the product of `factors`, and can be longer than a word.
pub(super) fn floor_of_multiple(factors: &[u64], divisor: u64) -> Option<u64> {
    // The quotient is irrational, so it is never whole. With enough digits, its lower and upper
    // bounds therefore have the same floor. If 64 words are not enough, the floor of the upper
    // bound is used: it can only make the sketch wider.
    (4..=64)
        .find_map(|limbs| {
            let (sum, error) = series(limbs, false);
            let (mut below, mut above) = (sum.clone(), sum);
            fixed::subtract(&mut below, &fixed::units(error));
            fixed::add(&mut above, &fixed::units(error));
            let floor = |mut words: Vec<u64>| {
                words.push(2);
                words.extend(vec![0; factors.len() + 1]);
                factors.iter().for_each(|&factor| {
                    fixed::multiply_word(&mut words, factor);
                });
                Divisor::new(divisor).divide(0, &mut words);
                words.split_off(limbs)
            };
            let (below, above) = (floor(below), floor(above));
            (below == above || limbs == 64).then_some(above)
        })
        .filter(|whole| whole[1..].iter().all(|&word| word == 0))
        .map(|whole| whole[0])
}

/// The number `e^-power`, or `e^-power / (1 - e^-2 / 2)` for a two-hash sketch. The divisor
/// `1 - e^-2 / 2` comes from Theorem 9.1 of Kirsch and Mitzenmacher. It accounts for items that
/// share both hashes with the estimated item, and makes the depth larger.
pub(super) struct Depth {
    pub(super) power: u32,
    pub(super) two_hash: bool,
}

impl Enclose for Depth {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let (mut base, error) = series(limbs, true);
        fixed::subtract(&mut base, &fixed::units(error));
        // The base is now at most 1/e. It is too low by at most twice the error of the series.
        let error = 2 * error;
        let mut product = Product::new(limbs);
        let mut term = vec![0; limbs];
        product.power(&mut term, &base, self.power.into());
        let mut above = (error + 1) * u128::from(self.power);
        let mut sum = term.clone();
        if self.two_hash {
            // Adds up the geometric series with the ratio q = e^-2 / 2. The error of each term is
            // at most `each`: q times the error of the previous term, plus the error of q, plus one
            // unit.
            let mut q = vec![0; limbs];
            product.power(&mut q, &base, 2);
            fixed::halve(&mut q, false);
            let each = above + 2 * error + 3;
            above = each;
            while term.iter().any(|&word| word != 0) {
                product.multiply(&mut term, &q);
                fixed::add(&mut sum, &term);
                above += each;
            }
            above += each;
        }
        Ok(Enclosure::around(sum, 0, above, -64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        // log2(e) is below 1.45, and the errors take about 30 bits.
        1.45 * f64::from(self.power) + 40.0
    }

    fn denominator_bits(&self) -> f64 {
        // The number is transcendental, and rates are rational, so the two are never equal.
        f64::INFINITY
    }

    fn check_cost(&self, _: f64) -> Result<()> {
        Ok(())
    }
}

/// A rate, in a form that gives brackets of any precision.
pub(super) struct Exactly(pub(super) Rate);

impl Enclose for Exactly {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let shift = 64 * limbs as u64;
        Ok(Enclosure::around(self.0.floor_shifted(shift), 0, 1, -(shift as i64)))
    }

    fn bits_needed(&self) -> f64 {
        self.0.denominator_bits() as f64
    }

    fn denominator_bits(&self) -> f64 {
        self.0.denominator_bits() as f64
    }

    fn check_cost(&self, _: f64) -> Result<()> {
        Ok(())
    }
}

/// The product of some words, divided by the product of others.
pub(super) struct Fraction {
    pub(super) top: Vec<u64>,
    pub(super) bottom: Vec<u64>,
}

impl Enclose for Fraction {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let mut words = vec![0; limbs + self.top.len() + 1];
        words[limbs] = 1;
        self.top.iter().for_each(|&factor| {
            fixed::multiply_word(&mut words, factor);
        });
        // Dividing by each factor in turn, and rounding down each time, gives the floor of the
        // quotient.
        self.bottom.iter().for_each(|&factor| Divisor::new(factor).divide(0, &mut words));
        Ok(Enclosure::around(words, 0, 1, -64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        64.0 * self.bottom.len() as f64
    }

    fn denominator_bits(&self) -> f64 {
        64.0 * self.bottom.len() as f64
    }

    fn check_cost(&self, _: f64) -> Result<()> {
        Ok(())
    }
}

/// The sum of two numbers.
pub(super) struct Sum<A, B>(pub(super) A, pub(super) B);

impl<A: Enclose, B: Enclose> Enclose for Sum<A, B> {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let (a, b) = (self.0.attempt(limbs)?, self.1.attempt(limbs)?);
        Ok(Enclosure::between(plus(&a.lower, &b.lower, false), plus(&a.upper, &b.upper, true)))
    }

    fn bits_needed(&self) -> f64 {
        self.0.bits_needed().max(self.1.bits_needed()) + 2.0
    }

    fn denominator_bits(&self) -> f64 {
        self.0.denominator_bits() + self.1.denominator_bits()
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        self.0.check_cost(bits)?;
        self.1.check_cost(bits)
    }
}

/// Adds two numbers. The sum has the larger of their exponents. It is rounded up if `up` is true,
/// and down otherwise.
fn plus(a: &Dyadic, b: &Dyadic, up: bool) -> Dyadic {
    let exponent = a.exponent.max(b.exponent);
    let (mut sum, other) = (a.aligned(exponent, up), b.aligned(exponent, up));
    sum.words.resize(sum.words.len().max(other.words.len()) + 1, 0);
    fixed::add(&mut sum.words, &other.words);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn big(words: &[u64]) -> BigUint {
        words.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << 64) + word)
    }

    /// Compares the series with the same series computed with two more words. The difference must
    /// always be within the stated error. In at least one case, it must exceed a tenth of that
    /// error.
    #[test]
    fn the_budget_of_the_series_is_kept_and_used() {
        let mut worst = 0.0f64;
        for alternating in [false, true] {
            for limbs in [1, 2, 3, 5, 9, 20] {
                let ((rough, error), (fine, _)) = (series(limbs, alternating), series(limbs + 2, alternating));
                let (rough, fine) = (big(&rough) << 128u8, big(&fine));
                let missed = if rough > fine { rough - fine } else { fine - rough };
                assert!(missed < BigUint::from(error - 1) << 128u8, "{limbs} words, {alternating}");
                let units = u64::try_from(missed >> 128u8).expect("few");
                worst = worst.max(units as f64 / error as f64);
            }
        }
        assert!(worst > 0.1, "a tenth of the budget would do: {worst}");
    }

    /// Tests sums of two numbers with different numbers of words. Some of these sums carry into an
    /// additional word.
    #[test]
    fn sums_keep_all_their_words() {
        let number = |words: &[u64]| Dyadic { words: words.to_vec(), exponent: -64 };
        for (a, b) in [(&[1][..], &[2, 3, 4][..]), (&[2, 3, 4], &[1]), (&[u64::MAX, u64::MAX], &[1]), (&[u64::MAX], &[u64::MAX, u64::MAX])]
        {
            let sum = plus(&number(a), &number(b), false);
            assert_eq!(sum.exponent, -64);
            assert_eq!(big(&sum.words), big(a) + big(b), "{a:?} {b:?}");
        }
    }

    fn holds(outer: &Enclosure, inner: &Enclosure) -> bool {
        outer.lower.compare(&inner.lower).is_le() && inner.upper.compare(&outer.upper).is_le()
    }

    /// Tests that a bracket computed with more digits lies within the bracket computed with fewer
    /// digits.
    #[test]
    fn brackets_contain_those_of_more_digits() {
        for power in [1, 2, 3, 10, 100] {
            for (limbs, two_hash) in (4..24).flat_map(|limbs| [(limbs, false), (limbs, true)]) {
                let depth = Depth { power, two_hash };
                let (coarse, fine) = (depth.attempt(limbs).expect("cheap"), depth.attempt(limbs + 4).expect("cheap"));
                assert!(holds(&coarse, &fine), "e^-{power} {two_hash} {limbs}");
            }
        }
    }

    /// Compares brackets of sums such as `2/3 + 6/7 = 32/21` with the exact sum. The truncation
    /// errors of the two terms can add up to more than one unit of the last place.
    #[test]
    fn sums_are_enclosed() {
        for ((top, a), (other, b)) in [((2u64, 3u64), (6u64, 7u64)), ((10, 11), (12, 13)), ((1, 3), (1, 7)), ((4, 5), (6, 7))] {
            let over = |top: u64, bottom: Vec<u64>| Fraction { top: vec![top], bottom };
            let sum = Sum(over(top, vec![a]), over(other, vec![b])).attempt(3).expect("cheap");
            let exact = over(top * b + other * a, vec![a, b]).attempt(12).expect("cheap");
            assert!(holds(&sum, &exact), "{top}/{a} + {other}/{b}");
        }
    }
}
