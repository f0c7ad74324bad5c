//! The alternating sum that gives the rate of standard, classic and blocked filters. The sum is
//! evaluated in fixed-point arithmetic, with a bound on its rounding error.
//!
//! By the inclusion-exclusion formula over the query's positions that remain empty, the
//! false-positive rate is
//!
//! ```text
//! f = sum over j = 0..k of (-1)^j c_j g_j
//! ```
//!
//! where `g_j` is the probability that `j` given bits are all empty, and `c_j` is the expected
//! number of `j`-subsets of the query's positions. For the standard filter, this is Burns (56) and
//! Grandi (9), regrouped. For the classic filter, it is Burns (60) and Grandi (16). All numbers
//! `c_j / 2^k` and `g_j` are at most 1. Each of them is computed in steps that round down by less
//! than one unit of the last place, so the error of the sum is bounded by a known number of units.
//! In `f64`, this sum and the recursions of the papers can lose all digits at ordinary
//! parameters.

use crate::exact::enclosure::{Enclose, Enclosure};
use crate::exact::fixed::{self, Divisor, Product};
use crate::exact::work;
use crate::{Error, Result};
use alloc::vec;
use alloc::vec::Vec;

/// How a query chooses its positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    /// The query makes `k` independent draws; repeats are allowed.
    Independent,
    /// The query has `k` distinct positions.
    Distinct,
}

/// How an item sets bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Items {
    /// An item makes `k` independent draws: `g_j = (1 - j/m)^(nk)`.
    Independent,
    /// An item sets `k` distinct bits: `g_j = (C(m-j, k) / C(m, k))^n`.
    Distinct,
    /// An item chooses one of `blocks` blocks of `bits` bits each, and sets all its bits there:
    /// `g_j = (1 - (1 - a_j) / blocks)^n`. Here `a_j` is the probability that an item in the
    /// query's block leaves `j` given bits of the block empty. The number `L` of items in that
    /// block has a binomial distribution, and the average of `a_j^L` is exactly `g_j`. So no sum
    /// over `L` is needed, and nothing is truncated.
    Blocked { blocks: u64, in_block: InBlock, when: When },
}

/// When the rate is computed: after the last item, or on average before each item. Here `z` is the
/// probability that one item leaves the `j` given bits empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// The filter holds all n items: `z^n`.
    After,
    /// Average over the filters that hold 0 to n - 1 items, with equal weights:
    /// `(z^0 + .. + z^(n-1)) / n`.
    Before,
}

/// How an item sets bits within its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InBlock {
    /// Independent positions: `a_j = (1 - j/m)^k`.
    Independent,
    /// Distinct positions: `a_j = C(m-j, k) / C(m, k)`.
    Distinct,
    /// One bit in each of `k` words of `word_bits` bits. The `j` given bits are in different words:
    /// `a_j = (1 - 1/word_bits)^j`.
    Split { word_bits: u64 },
}

/// A rate, as the alternating sum of this module. The caller must check the parameters: `items` is
/// at least 1, and the number of distinct probes is at most `bits`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inclusion {
    pub(crate) query: Query,
    pub(crate) placement: Items,
    pub(crate) bits: u64,
    pub(crate) items: u64,
    pub(crate) probes: u32,
}

impl Inclusion {
    /// The exponent of the power in `g_j`: the number of independent random choices.
    fn exponent(&self) -> u128 {
        match self.placement {
            Items::Independent => u128::from(self.items) * u128::from(self.probes),
            Items::Distinct | Items::Blocked { .. } => u128::from(self.items),
        }
    }

    /// The number of units of the last place by which a computed `g_j` can be too low (see
    /// [`Product::power`]). The base of the power is truncated once, or once per factor. In blocks,
    /// `a_j` is at most `2k - 1` units too low. This is the error of a k-th power whose base is
    /// truncated once, as for independent positions; for other positions, the error is not larger.
    /// The division by the number of blocks truncates once more, so the base is at most `2k` units
    /// too low. A mean of powers has the error of its last power plus one unit
    /// ([`Product::mean_of_powers`]).
    pub(crate) fn empty_error(&self) -> u128 {
        let base_error = match self.placement {
            Items::Independent => 1,
            Items::Distinct => u128::from(self.probes),
            Items::Blocked { .. } => 2 * u128::from(self.probes),
        };
        (base_error + 1) * self.exponent()
    }

    /// The largest error, in either direction, of the whole sum divided by `2^k`, in units of the
    /// last place.
    ///
    /// The comment at [`Self::coefficients`] bounds the total error of all coefficients. In each
    /// term, the falling factor has an error of at most `j`, and the power has the error of
    /// [`Self::empty_error`]. Each of the two products adds an error of one unit, because no factor
    /// exceeds 1.
    fn sum_error(&self) -> u128 {
        let k = u128::from(self.probes);
        (k + 2) * (k + 2) + k * (k + self.empty_error() + 2)
    }

    /// The number of units of the last place by which a computed term `c_j g_j / 2^k` can be too
    /// low. A computed term is never too high.
    pub(crate) fn term_error(&self) -> u128 {
        let k = u128::from(self.probes);
        (k + 2) * (k + 2) + k + self.empty_error() + 2
    }

    /// Calls `visit(j, g_j)` for j = 1, 2, .. up to `last`. The calls stop before the first `g_j`
    /// that is 0.
    pub(crate) fn for_each_empty(&self, last: u32, product: &mut Product, limbs: usize, mut visit: impl FnMut(u64, &[u64], &mut Product)) {
        let (mut power, mut mean, mut bases) = (vec![0; limbs], vec![0; limbs], Bases::new(self, limbs));
        for j in 1..=u64::from(last).min(self.bits) {
            let Some(base) = bases.next(self, j, product) else { break };
            match self.placement {
                Items::Blocked { when: When::Before, .. } => {
                    product.mean_of_powers(&mut mean, &mut power, base, self.items);
                    visit(j, &mean, product);
                }
                _ => {
                    product.power(&mut power, base, self.exponent());
                    visit(j, &power, product);
                }
            }
        }
    }

    /// Returns the whole sum divided by `2^k`, in units of `2^-(64 limbs)`. Calls `visit` with the
    /// absolute value of each term, for j = 0, 1, .. up to the last term that is not 0.
    pub(crate) fn sum(&self, limbs: usize, mut visit: impl FnMut(&[u64])) -> Vec<u64> {
        let coefficients = self.coefficients(limbs);
        let mut product = Product::new(limbs);
        let mut sums = [vec![0; limbs + 1], vec![0; limbs + 1]];
        fixed::add(&mut sums[0], &coefficients[..limbs]);
        visit(&coefficients[..limbs]);
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
            visit(&term);
            fixed::add(&mut sums[j as usize % 2], &term);
        });
        let [mut sum, negative] = sums;
        if fixed::subtract(&mut sum, &negative) {
            sum.fill(0);
        }
        sum
    }

    /// Returns the coefficients `c_j / 2^k`. For independent queries, they do not include the
    /// falling factor `m (m-1) .. (m-j+1) / m^j`.
    ///
    /// `c_j` is the expected number of `j`-subsets of the distinct positions among `k` draws. A
    /// further draw can add a new position, and with it the subsets that contain this position. So
    /// with `c_j = (falling factor) s_j`, the recursion is
    /// `s_j(t+1) = (1 - j/m) s_j(t) + s_(j-1)(t)`, in which all terms are positive. Every step
    /// halves the numbers, which keeps them below 1 and prevents their rounding errors from
    /// doubling. In a step, half of each error goes to each of two results, and each of the `t + 2`
    /// results gets at most one unit of new error. So the errors of all `s_j` together are less
    /// than `(k + 2)^2` units after `k` steps. For a distinct query, the term `j/m` is absent, and
    /// the coefficient is `C(k, j)`.
    pub(super) fn coefficients(&self, limbs: usize) -> Vec<u64> {
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

/// Computes the bases of the powers `g_j`, in the order j = 1, 2, .. A base is the probability that
/// one item leaves `j` given bits empty.
pub(super) struct Bases {
    base: Vec<u64>,
    /// The last `a_j` of a block. The next `a_j` can be computed from it.
    inner: Vec<u64>,
    bits: Divisor,
}

impl Bases {
    pub(super) fn new(law: &Inclusion, limbs: usize) -> Bases {
        Bases { base: vec![0; limbs], inner: vec![0; limbs], bits: Divisor::new(law.bits) }
    }

    /// Computes the base for `j`, which is at most `law.bits`. The result is `None` if the base
    /// is 0.
    fn next(&mut self, law: &Inclusion, j: u64, product: &mut Product) -> Option<&[u64]> {
        let positive = match law.placement {
            Items::Independent => self.independent(law, j),
            Items::Distinct => distinct(&mut self.base, law, j, &self.bits),
            Items::Blocked { blocks, in_block, when } => {
                self.in_block(law, in_block, j, product);
                self.base.copy_from_slice(&self.inner);
                // (blocks - 1 + a_j) / blocks
                Divisor::new(blocks).divide(blocks - 1, &mut self.base);
                blocks > 1 || when == When::Before || self.inner.iter().any(|word| *word > 0)
            }
        };
        positive.then_some(&self.base)
    }

    fn independent(&mut self, law: &Inclusion, j: u64) -> bool {
        if j < law.bits {
            fixed::set_ratio(&mut self.base, law.bits - j, &self.bits);
        }
        j < law.bits
    }

    /// Sets `inner` to `a_j`. The calls must be in the order j = 1, 2, .. The result is at most
    /// `2k - 1` units of the last place too low.
    pub(super) fn in_block(&mut self, law: &Inclusion, in_block: InBlock, j: u64, product: &mut Product) -> &[u64] {
        let positive = match in_block {
            InBlock::Independent => {
                let positive = self.independent(law, j);
                product.power(&mut self.inner, &self.base, u128::from(law.probes));
                positive
            }
            InBlock::Distinct => distinct(&mut self.inner, law, j, &self.bits),
            InBlock::Split { word_bits: 1 } => false,
            InBlock::Split { word_bits } if j == 1 => {
                fixed::set_ratio(&mut self.inner, word_bits - 1, &Divisor::new(word_bits));
                true
            }
            InBlock::Split { word_bits } => {
                fixed::scale(&mut self.inner, word_bits - 1, &Divisor::new(word_bits));
                true
            }
        };
        if !positive {
            self.inner.fill(0);
        }
        &self.inner
    }
}

/// Turns `C(m-j+1, k) / C(m, k)` into `C(m-j, k) / C(m, k)`. Returns false if the result is 0.
fn distinct(base: &mut [u64], law: &Inclusion, j: u64, bits: &Divisor) -> bool {
    // C(m-j, k) / C(m-j+1, k) = (m-j+1-k) / (m-j+1)
    let left = law.bits - j + 1;
    let Some(rest) = left.checked_sub(u64::from(law.probes)).filter(|rest| *rest > 0) else { return false };
    if j == 1 {
        fixed::set_ratio(base, rest, bits);
    } else {
        fixed::scale(base, rest, &Divisor::new(left));
    }
    true
}

impl Enclose for Inclusion {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let (sum, error) = (self.sum(limbs, |_| {}), self.sum_error());
        Ok(Enclosure::around(sum, error, error, i64::from(self.probes) - 64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        let (m, n, k) = (self.bits as f64, self.items as f64, f64::from(self.probes));
        // The binary logarithm of the k-th power of the mean fill. By Jensen's inequality, this
        // power is a lower bound on the standard rate. For blocked filters, use the number of items
        // in a block that contributes most to the rate.
        let mean_power = |items: f64| k * libm::log2(-libm::expm1(-items * k / m));
        let mean_power = match self.placement {
            Items::Blocked { blocks, .. } => heaviest_load(n, n / blocks as f64, mean_power),
            _ => mean_power(n),
        };
        // Hitting k distinct positions takes k different draws. This matters only if there are few
        // items.
        let distinct = match self.query {
            Query::Independent => 0.0,
            Query::Distinct if matches!(self.placement, Items::Blocked { .. }) => 0.0,
            Query::Distinct => (0..self.probes).map(|i| libm::log2(1.0 - f64::from(i) / (n * k))).sum(),
        };
        k + libm::log2(self.sum_error() as f64) - mean_power - distinct + 4.0
    }

    fn denominator_bits(&self) -> f64 {
        let log2_bits = libm::log2(self.bits as f64) + 1e-9;
        let (n, k) = (self.items as f64, f64::from(self.probes));
        let block_choice = match self.placement {
            Items::Blocked { blocks, .. } => n * (libm::log2(blocks as f64) + 1e-9),
            _ => 0.0,
        };
        // The denominators are m^(nk) or C(m,k)^n for the items, and m^k or C(m,k) for the query.
        (n * k + k) * log2_bits + block_choice
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        let (limbs, k) = (bits / 64.0, f64::from(self.probes));
        let in_block = if matches!(self.placement, Items::Blocked { .. }) { u128::from(self.probes) } else { 1 };
        let squarings = |exponent: u128| f64::from(128 - exponent.leading_zeros());
        let steps = 2.0 * (squarings(self.exponent()) + squarings(in_block));
        // The coefficients of distinct positions are cheaper, because they are only added and
        // halved.
        let coefficient = if self.query == Query::Distinct { 0.7 } else { 2.0 };
        let work = k * steps * limbs * limbs + coefficient * k * k * limbs;
        if !(bits < MAX_DIGITS && work < MAX_WORK) {
            return Err(Error::TooCostly { probes: self.probes, digits: bits as u64 });
        }
        // Operations on short numbers take longer than the number of words suggests.
        work::spend("exact rates", work + 20.0 * k * steps + 4.0 * k * k)
    }
}

/// Estimates the binary logarithm of the largest contribution that a single load (number of items
/// in a block) makes to a rate. The contribution is the Poisson probability of the load times the
/// rate at that load. The function tries the loads 1, 2, 4, .. and the mean load.
fn heaviest_load(items: f64, mean: f64, rate: impl Fn(f64) -> f64) -> f64 {
    let poisson = |load: f64| (load * libm::log(mean) - mean - libm::lgamma(load + 1.0)) / core::f64::consts::LN_2;
    let doubled = (0..64).map(|power| libm::scalbn(1.0, power)).chain([libm::floor(mean).max(1.0)]);
    doubled.filter(|load| *load <= items).map(|load| poisson(load) + rate(load)).fold(f64::NEG_INFINITY, f64::max)
}

/// The largest number of word operations for one sum, which take about a second. For 1,000 probes,
/// this is enough for rates above about 1e-200.
pub(crate) const MAX_WORK: f64 = 1e9;

/// The largest number of binary digits for one sum. This limit keeps the coefficients below half a
/// gigabyte.
pub(crate) const MAX_DIGITS: f64 = 4e6;

#[cfg(test)]
#[path = "inclusion_tests.rs"]
mod tests;
