//! Sums `1/D sum_W c_W (1 - W/(a b))^n` with integers `c_W`. Here `a b` is the number of all hash
//! pairs ([`Pairs`]). The rate of every two-hash scheme has this form, where W is the number of
//! hash pairs that hit a set of positions.

use crate::exact::enclosure::{Enclose, Enclosure};
use crate::exact::fixed::{self, Divisor, Product};
use crate::exact::work;
use crate::law::inclusion::MAX_DIGITS;
use crate::{Error, Result};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// The pairs `(h1, h2)` that an item can have: `first` times `second` pairs, all equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pairs {
    pub(crate) first: u64,
    pub(crate) second: u64,
}

impl Pairs {
    pub(crate) fn count(self) -> u128 {
        u128::from(self.first) * u128::from(self.second)
    }

    /// Sets `x` to the fraction `1 - hits / count`, as a fixed-point number. The result is at most
    /// [`BASE_ERROR`] units of the last place too low. `hits` must be above 0 and below `count`.
    fn set_missed(self, x: &mut [u64], part: &mut [u64], hits: u128) {
        // hits = whole * second + rest, so the share is whole / first + rest / (first * second).
        // Each term is rounded down by less than one unit.
        let (whole, rest) = ((hits / u128::from(self.second)) as u64, (hits % u128::from(self.second)) as u64);
        let first = Divisor::new(self.first);
        fixed::set_ratio(x, whole, &first);
        if rest > 0 {
            fixed::set_ratio(part, rest, &Divisor::new(self.second));
            first.divide(0, part);
            fixed::add(x, part);
        }
        // The result is 2^B - 3 - x. It is not above the complement, because x was rounded down by
        // less than three units.
        x.iter_mut().for_each(|word| *word = !*word);
        if fixed::subtract(x, &[2]) {
            x.fill(0);
        }
    }
}

/// A sum `1/D sum_W c_W (1 - W/(a b))^n`. The values `W` are strictly ascending and at most the
/// number of hash pairs. `total` is the denominator D. The value of the sum must be a probability.
#[derive(Clone, Debug)]
pub(crate) struct Powers {
    pub(crate) pairs: Pairs,
    pub(crate) items: u64,
    /// The terms `(W, c_W)`.
    pub(crate) terms: Vec<(u128, i128)>,
    pub(crate) total: u64,
    /// The binary logarithm of an approximation of the sum, which is used only to save work.
    pub(crate) log2_guess: f64,
    pub(crate) probes: u32,
}

/// The largest error of the share of pairs that miss, in units of the last place: three roundings.
const BASE_ERROR: u128 = 3;

impl Powers {
    /// Creates the sum from terms in any order. Terms that cancel are dropped, as are terms with
    /// `W` equal to the number of all pairs, whose power is 0.
    pub(crate) fn new(pairs: Pairs, items: u64, probes: u32, total: u64, terms: impl IntoIterator<Item = (u128, i128)>) -> Powers {
        let mut sums = BTreeMap::new();
        for (hits, coefficient) in terms {
            *sums.entry(hits).or_insert(0) += coefficient;
        }
        let terms = sums.into_iter().filter(|&(hits, sum)| sum != 0 && hits < pairs.count()).collect();
        Powers { pairs, items, terms, total, log2_guess: log2_guess(pairs, items, probes), probes }
    }

    /// Returns the same sum for another number of items. The terms do not depend on that number.
    pub(crate) fn with_items(&self, items: u64) -> Powers {
        Powers { items, log2_guess: log2_guess(self.pairs, items, self.probes), ..self.clone() }
    }

    /// The sum of all `|c_W|`, divided by D and rounded up.
    fn weight(&self) -> u128 {
        self.terms.iter().map(|(_, sum)| sum.unsigned_abs()).sum::<u128>() / u128::from(self.total) + 1
    }

    /// The largest error of the sum in either direction, in units of the last place: the error of
    /// the powers ([`Product::power`]) times the weight, plus a margin for the division. Saturates
    /// on overflow.
    fn error(&self) -> u128 {
        self.weight().saturating_mul((BASE_ERROR + 1) * u128::from(self.items.max(1))).saturating_add(2)
    }
}

/// The binary logarithm of the rate that the textbook formula gives.
fn log2_guess(pairs: Pairs, items: u64, probes: u32) -> f64 {
    let share = -libm::expm1(-(items as f64) * f64::from(probes) / pairs.first as f64);
    f64::from(probes) * libm::log2(share)
}

impl Enclose for Powers {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let mut product = Product::new(limbs);
        // Three words for the whole parts are enough, because coefficients have at most two words.
        let mut sums = [vec![0; limbs + 3], vec![0; limbs + 3]];
        let (mut base, mut power, mut part) = (vec![0; limbs], vec![0; limbs], vec![0; limbs]);
        let mut scaled = vec![0; limbs + 3];
        for &(hits, coefficient) in &self.terms {
            let sum = &mut sums[usize::from(coefficient < 0)];
            let size = coefficient.unsigned_abs();
            if hits == 0 || self.items == 0 {
                fixed::add(&mut sum[limbs..], &fixed::units(size));
                continue;
            }
            self.pairs.set_missed(&mut base, &mut part, hits);
            product.power(&mut power, &base, u128::from(self.items));
            for (offset, factor) in fixed::units(size).into_iter().enumerate() {
                if factor > 0 {
                    scaled[..limbs].copy_from_slice(&power);
                    scaled[limbs] = fixed::multiply_word(&mut scaled[..limbs], factor);
                    fixed::add(&mut sum[offset..], &scaled[..=limbs]);
                }
            }
        }
        let [mut sum, negative] = sums;
        if fixed::subtract(&mut sum, &negative) {
            sum.fill(0);
        }
        Divisor::new(self.total).divide(0, &mut sum);
        let error = self.error();
        Ok(Enclosure::around(sum, error, error, -64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        libm::log2(self.error() as f64) - self.log2_guess + 4.0
    }

    fn denominator_bits(&self) -> f64 {
        self.items as f64 * (libm::log2(self.pairs.count() as f64) + 1e-9) + libm::log2(self.total as f64) + 1e-9
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        let limbs = bits / 64.0;
        let work = self.terms.len() as f64 * 2.0 * f64::from(64 - self.items.leading_zeros()) * (limbs * limbs + 4.0);
        if !(bits < MAX_DIGITS && work < MAX_WORK && self.error() < u128::MAX) {
            return Err(Error::TooCostly { probes: self.probes, digits: bits.min(1e18) as u64 });
        }
        work::spend("the exact rate of a two-hash scheme", work)
    }
}

/// The largest number of word operations for one sum, which take about a second.
const MAX_WORK: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;
    use core::cmp::Ordering;

    /// Tests that a bracket computed with two words contains the very narrow bracket computed with
    /// six words, but would not contain it at a tenth of its width.
    #[test]
    fn the_budget_of_the_powers_is_kept_and_used() {
        let mut worst = 0.0f64;
        for (first, second) in [(97, 96), (1_009, 1_009), (65_537, 3)] {
            for items in [1, 10, 5_000] {
                for hits in 1..40 {
                    let law = Powers::new(Pairs { first, second }, items, 3, 1, [(hits, 1)]);
                    let (rough, fine) = (law.attempt(2).expect("cheap"), law.attempt(6).expect("cheap"));
                    assert_ne!(fine.lower.compare(&rough.lower), Ordering::Less, "{first} {second} {items} {hits}");
                    assert_ne!(fine.upper.compare(&rough.upper), Ordering::Greater, "{first} {second} {items} {hits}");
                    let (left, whole) = (fine.upper.minus(&rough.lower), rough.upper.minus(&rough.lower));
                    worst = worst.max(2.0 * left.floor() / whole.ceil() - 1.0);
                }
            }
        }
        assert!(0.1 < worst && worst <= 1.0, "a tenth of the budget would do: {worst}");
    }
}
