//! The alternating sum behind every law of uniform positions, evaluated in whole numbers with counted errors.
//!
//! By inclusion and exclusion over the query's positions that stay empty, a false-positive rate is
//!
//! ```text
//! f = sum over j = 0..k of (-1)^j c_j g_j
//! ```
//!
//! with `g_j` the probability that `j` given bits are all empty and `c_j` the expected number of `j`-subsets of the query's positions:
//! Burns (56) and Grandi (9) regrouped for the standard filter, Burns (60) and Grandi (16) for the classic one. All `c_j / 2^k` and `g_j` are
//! fractions; each is computed by steps that round down by less than one unit, so the sum is known to within a whole number of units.
//! In `f64` the same sum loses every digit at ordinary parameters, and so do the recursions of the papers.

use crate::enclosure::{Enclose, Enclosure};
use crate::fixed::{self, Divisor, Product};
use crate::{Error, Result};

/// The query's positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    /// `k` independent draws, repeats allowed.
    Independent,
    /// `k` distinct positions.
    Distinct,
}

/// How an item sets bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Items {
    /// `k` independent draws: `g_j = (1 - j/m)^(nk)`.
    Independent,
    /// `k` distinct bits: `g_j = (C(m-j, k) / C(m, k))^n`.
    Distinct,
}

/// One rate: parameters are checked by whoever makes it (`items` at least 1, distinct probes at most `bits`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inclusion {
    pub(crate) query: Query,
    pub(crate) placement: Items,
    pub(crate) bits: u64,
    pub(crate) items: u64,
    pub(crate) probes: u32,
}

impl Inclusion {
    /// Steps of the chain that empties bits: the exponent of the power in `g_j`.
    fn exponent(&self) -> u128 {
        match self.placement {
            Items::Independent => u128::from(self.items) * u128::from(self.probes),
            Items::Distinct => u128::from(self.items),
        }
    }

    /// Units by which a computed `g_j` may be too small (see [`Product::power`]): the base is cut once, or once a factor.
    pub(crate) fn empty_error(&self) -> u128 {
        let base_error = match self.placement {
            Items::Independent => 1,
            Items::Distinct => u128::from(self.probes),
        };
        (base_error + 1) * self.exponent()
    }

    /// Units by which the whole sum, over `2^k`, may be off in either direction.
    ///
    /// The coefficients together: [`coefficients`]. Each term: the falling factor at most `j`, the power [`Self::empty_error`], and one for each of
    /// the two products, as no factor exceeds 1.
    fn sum_error(&self) -> u128 {
        let k = u128::from(self.probes);
        (k + 2) * (k + 2) + k * (k + self.empty_error() + 2)
    }

    /// Calls `visit(j, g_j)` for j = 1, 2, .. `last`, and stops before the first that is 0.
    pub(crate) fn for_each_empty(&self, last: u32, product: &mut Product, limbs: usize, mut visit: impl FnMut(u64, &[u64], &mut Product)) {
        let (mut base, mut power) = (vec![0; limbs], vec![0; limbs]);
        let exponent = self.exponent();
        let whole = Divisor::new(self.bits);
        for j in 1..=u64::from(last).min(self.bits) {
            match self.placement {
                Items::Independent if j == self.bits => break,
                Items::Independent => fixed::set_ratio(&mut base, self.bits - j, &whole),
                // C(m-j, k) / C(m-j+1, k) = (m-j+1-k) / (m-j+1)
                Items::Distinct => {
                    let left = self.bits - j + 1;
                    let Some(rest) = left.checked_sub(u64::from(self.probes)).filter(|rest| *rest > 0) else { break };
                    if j == 1 {
                        fixed::set_ratio(&mut base, rest, &whole);
                    } else {
                        fixed::scale(&mut base, rest, &Divisor::new(left));
                    }
                }
            }
            product.power(&mut power, &base, exponent);
            visit(j, &power, product);
        }
    }

    /// `c_j / 2^k` without the falling factor `m (m-1) .. (m-j+1) / m^j` of the independent query.
    ///
    /// `c_j` is the expected number of `j`-subsets of the distinct positions among `k` draws. One more draw adds those that it completes, so
    /// with `c_j = (falling factor) s_j`: `s_j(t+1) = (1 - j/m) s_j(t) + s_(j-1)(t)`, all terms positive. Halving at every step keeps them below 1
    /// and their rounding from doubling: a step passes on half of the errors of two neighbours, so the errors of all `s_j` together grow by at
    /// most one unit for each of its `t + 2` numbers, to less than `(k + 2)^2` units after `k` steps. A distinct query is the case without `j/m`: `C(k, j)`.
    fn coefficients(&self, limbs: usize) -> Vec<u64> {
        let k = self.probes as usize;
        let mut all = vec![0; (k + 1) * limbs];
        all[limbs - 1] = 1 << 63;
        all[2 * limbs - 1] = 1 << 63;
        let whole = Divisor::new(self.bits);
        for step in 1..k {
            for j in (0..=step + 1).rev() {
                let (before, from_j) = all.split_at_mut(j * limbs);
                let current = &mut from_j[..limbs];
                let mut carry = false;
                if j > 0 {
                    if self.query == Query::Independent && j <= step {
                        fixed::scale(current, self.bits.saturating_sub(j as u64), &whole);
                    }
                    carry = fixed::add(current, &before[(j - 1) * limbs..]);
                }
                fixed::halve(current, carry);
            }
        }
        all
    }
}

impl Enclose for Inclusion {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let coefficients = self.coefficients(limbs);
        let mut product = Product::new(limbs);
        let mut sums = [vec![0; limbs + 1], vec![0; limbs + 1]];
        fixed::add(&mut sums[0], &coefficients[..limbs]);
        let whole = Divisor::new(self.bits);
        let (mut falling, mut term) = (vec![0; limbs], vec![0; limbs]);
        self.for_each_empty(self.probes, &mut product, limbs, |j, empty, product| {
            let at = j as usize * limbs;
            term.copy_from_slice(&coefficients[at..at + limbs]);
            if self.query == Query::Independent && j > 1 {
                if j == 2 {
                    fixed::set_ratio(&mut falling, self.bits - 1, &whole);
                } else {
                    fixed::scale(&mut falling, self.bits - (j - 1), &whole);
                }
                product.multiply(&mut term, &falling);
            }
            product.multiply(&mut term, empty);
            fixed::add(&mut sums[j as usize % 2], &term);
        });
        let [mut sum, negative] = sums;
        if fixed::subtract(&mut sum, &negative) {
            sum.fill(0);
        }
        let error = self.sum_error();
        Ok(Enclosure::around(sum, error, error, i64::from(self.probes) - 64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        let (m, n, k) = (self.bits as f64, self.items as f64, f64::from(self.probes));
        // log2 of the power of the mean, a lower bound of the standard rate (Jensen).
        let mean_power = k * libm::log2(-libm::expm1(-n * k / m));
        // Distinct targets need distinct throws: matters for few items only.
        let distinct = match self.query {
            Query::Independent => 0.0,
            Query::Distinct => (0..self.probes).map(|i| libm::log2(1.0 - f64::from(i) / (n * k))).sum(),
        };
        k + libm::log2(self.sum_error() as f64) - mean_power - distinct + 4.0
    }

    fn denominator_bits(&self) -> f64 {
        let log2_bits = libm::log2(self.bits as f64) + 1e-9;
        let (n, k) = (self.items as f64, f64::from(self.probes));
        // m^(nk) or C(m,k)^n for the items, m^k or C(m,k) for the query.
        (n * k + k) * log2_bits
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        let (limbs, k) = (bits / 64.0, f64::from(self.probes));
        let steps = 2.0 * (128 - self.exponent().leading_zeros()) as f64;
        let work = k * steps * limbs * limbs + 2.0 * k * k * limbs;
        if !(bits < MAX_DIGITS && work < MAX_WORK) {
            return Err(Error::TooCostly { probes: self.probes, digits: bits as u64 });
        }
        Ok(())
    }
}

/// Word operations that one answer may take: about five seconds. The worst up to 2^40 bits and 1,000 probes takes four.
pub(crate) const MAX_WORK: f64 = 1e10;

/// Digits that one answer may take, so that coefficients stay below half a gigabyte.
pub(crate) const MAX_DIGITS: f64 = 4e6;

#[cfg(test)]
#[path = "inclusion_tests.rs"]
mod tests;
