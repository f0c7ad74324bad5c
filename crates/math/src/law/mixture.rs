//! The probability that all positions of a query are set in each of several independent filters.
//!
//! Let the query have `d` distinct positions. In one filter, these positions are all set with
//! probability
//!
//! ```text
//! L_d = sum over l = 0..d of (-1)^l C(d, l) g_l     (the d-th difference of g at 0)
//! ```
//!
//! where `g_l` is the probability that `l` given bits are empty ([`Inclusion::for_each_empty`]).
//! The filters are independent, so the probability that the positions are set in all filters is
//! `sum_d P(D = d) prod_i L_d(i)`, where D is the random number of distinct positions, and `L_d(i)`
//! is the probability for filter i. All terms of this sum are positive. The sum is the rate of an
//! intersection of filters of disjoint sets (Burns, theorem 13, gives the law of its bits). With
//! one filter and `2k` draws, the sum is the second moment of the rate of a standard filter. With
//! one filter and two sets of `k` positions, it is the second moment of the rate of a classic
//! filter. With `d` fixed positions, it gives the ends of Burns' theorem 15.
//!
//! Errors are counted in units of the last place, as in [`super::inclusion`]. The differences are
//! computed exactly, but each step doubles the errors of its terms. So the errors of the d-th
//! difference are `2^d` times as large. Therefore, the working precision exceeds the precision of
//! the result by d bits.

use super::inclusion::{Inclusion, MAX_DIGITS, MAX_WORK};
use crate::exact::enclosure::{Enclose, Enclosure};
use crate::exact::fixed::{self, Divisor, Product};
use crate::exact::work;
use crate::{Error, Result};
use alloc::vec;
use alloc::vec::Vec;

/// How a query chooses its positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Positions {
    /// This many independent draws, at least 1; positions may repeat.
    Draws(u32),
    /// This many distinct positions: at least 1, at most `bits`.
    Distinct(u32),
    /// Two independent sets, each of this many distinct positions.
    TwoSets(u32),
}

/// The probability that all positions of a query are set in each of the filters. The caller must
/// check the parameters: there is at least one filter, each has at least one item, and all have the
/// same number of bits.
#[derive(Clone, Debug)]
pub(crate) struct Mixture {
    pub(crate) positions: Positions,
    /// How each filter sets its bits. The field `query` of these values is not used.
    pub(crate) filters: Vec<Inclusion>,
}

impl Mixture {
    fn bits(&self) -> u64 {
        self.filters[0].bits
    }

    /// The largest possible number of distinct positions.
    fn most(&self) -> u32 {
        let most = match self.positions {
            Positions::Draws(t) => u64::from(t),
            Positions::Distinct(d) => u64::from(d),
            Positions::TwoSets(k) => 2 * u64::from(k),
        };
        most.min(self.bits()) as u32
    }

    /// The number of low words of the working precision that the doubling of errors makes inexact.
    fn spent_limbs(&self) -> usize {
        self.most() as usize / 64 + 1
    }

    /// The largest error of the whole sum in either direction, in units of the last place, after
    /// the inexact words ([`Self::spent_limbs`]) are dropped.
    ///
    /// The error of each `L_d` is at most `2^d` times the error of a `g_l`, plus one if `L_d` is
    /// clamped to the range from 0 to 1. The weights together are less than `(most + 2)^2` units
    /// too low, and each product adds an error of one unit. Once the inexact words are dropped, the
    /// errors of the weights and products are below one unit. Dropping the words truncates once
    /// more.
    fn error(&self) -> u128 {
        self.filters.iter().map(Inclusion::empty_error).sum::<u128>() + 4
    }

    /// The probabilities `L_0 .. L_most` of one filter, each as a fixed-point fraction of `limbs`
    /// words.
    fn all_set(&self, filter: &Inclusion, limbs: usize) -> Vec<Vec<u64>> {
        let most = self.most();
        // The extra word holds the whole part of g_0 = 1. Negative numbers wrap around, and
        // subtraction still works.
        let mut table = vec![vec![0; limbs + 1]; most as usize + 1];
        table[0][limbs] = 1;
        filter.for_each_empty(most, &mut Product::new(limbs), limbs, |j, empty, _| table[j as usize][..limbs].copy_from_slice(empty));
        let mut all = vec![vec![u64::MAX; limbs]];
        for d in 1..=most as usize {
            for l in 0..=most as usize - d {
                let (left, right) = table.split_at_mut(l + 1);
                fixed::subtract(&mut left[l], &right[0]);
            }
            let mut value = table[0][..limbs].to_vec();
            match table[0][limbs] {
                0 => {}
                // Because of rounding errors, the value is at least 1, or below 0.
                1 => value.fill(u64::MAX),
                _ => value.fill(0),
            }
            all.push(value);
        }
        all
    }

    /// The probabilities `P(D = d)` for d = 0 .. most. The steps conserve probability, so the total
    /// error is a sum: at most two units for each number in each step, plus one unit because the
    /// weights start at `1 - 2^-B`.
    fn weights(&self, limbs: usize) -> Vec<Vec<u64>> {
        let (bits, most) = (self.bits(), self.most() as usize);
        let mut weights = vec![vec![0; limbs]; most + 1];
        let mut moved = vec![0; limbs];
        // One step: stays at x with probability stay(x) / whole, and goes from x to x + 1 with
        // probability go(x) / whole.
        let mut step = |weights: &mut Vec<Vec<u64>>, last: usize, stay: &dyn Fn(u64) -> u64, go: &dyn Fn(u64) -> u64, whole: u64| {
            let whole = Divisor::new(whole);
            for x in (0..=last).rev() {
                if x < most {
                    moved.copy_from_slice(&weights[x]);
                    fixed::scale(&mut moved, go(x as u64), &whole);
                    fixed::add(&mut weights[x + 1], &moved);
                }
                fixed::scale(&mut weights[x], stay(x as u64), &whole);
            }
        };
        match self.positions {
            Positions::Distinct(d) => weights[d as usize].fill(u64::MAX),
            Positions::Draws(draws) => {
                weights[1].fill(u64::MAX);
                for t in 1..draws as usize {
                    step(&mut weights, t.min(most), &|x| x, &|x| bits - x, bits);
                }
            }
            Positions::TwoSets(k) => {
                // The positions of the second set are drawn without replacement. After t draws, x
                // of them are not in the first set.
                let k = u64::from(k);
                weights[0].fill(u64::MAX);
                for t in 0..k {
                    let last = (t as usize).min(most);
                    step(&mut weights, last, &|x| (k + x).saturating_sub(t), &|x| (bits - k).saturating_sub(x), bits - t);
                }
                // The number of different positions is d = k + x.
                weights.rotate_right(k as usize);
            }
        }
        weights
    }
}

impl Enclose for Mixture {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let spent = self.spent_limbs();
        let limbs = limbs.max(spent + 2);
        let mut product = Product::new(limbs);
        let filters: Vec<_> = self.filters.iter().map(|filter| self.all_set(filter, limbs)).collect();
        let mut sum = vec![0; limbs + 1];
        for (d, mut term) in self.weights(limbs).into_iter().enumerate() {
            if term.iter().all(|&word| word == 0) {
                continue;
            }
            for filter in &filters {
                product.multiply(&mut term, &filter[d]);
            }
            fixed::add(&mut sum, &term);
        }
        let sum = sum[spent..].to_vec();
        Ok(Enclosure::around(sum, self.error(), self.error() + 1, -64 * (limbs - spent) as i64))
    }

    fn bits_needed(&self) -> f64 {
        let k = f64::from(self.most());
        let share = |filter: &Inclusion| {
            let balls = filter.items as f64 * f64::from(filter.probes);
            libm::log2(-libm::expm1(-balls / filter.bits as f64))
        };
        64.0 * self.spent_limbs() as f64 + libm::log2(self.error() as f64) + 4.0 - k * self.filters.iter().map(share).sum::<f64>()
    }

    fn denominator_bits(&self) -> f64 {
        let log2_bits = libm::log2(self.bits() as f64) + 1e-9;
        let balls: f64 = self.filters.iter().map(|filter| filter.items as f64 * f64::from(filter.probes)).sum();
        (balls + 2.0 * f64::from(self.most())) * log2_bits
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        let (limbs, k) = (bits / 64.0, f64::from(self.most()));
        let filters = self.filters.len() as f64;
        let work = filters * (k * 130.0 * limbs * limbs + 2.0 * k * k * limbs);
        if !(bits < MAX_DIGITS && work < MAX_WORK && filters * k * limbs < MAX_WORDS) {
            return Err(Error::TooCostly { probes: self.most(), digits: bits.min(1e18) as u64 });
        }
        work::spend("the exact rate of an intersection", work)
    }
}

/// The largest number of words for the differences of all filters, which take half a gigabyte.
const MAX_WORDS: f64 = 6e7;
