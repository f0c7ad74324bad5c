//! The mean product of the rates in two different blocks of a filter, which is the probability that
//! two queries of different blocks both pass.
//!
//! An item leaves j given bits of one block and l given bits of another block empty with
//! probability `1 - (2 - a_j - a_l) / B` ([`Items::Blocked`]), so
//!
//! ```text
//! E[f_1 f_2] = sum over j, l of (-1)^(j + l) c_j c_l ((B - 2 + a_j + a_l) / B)^n
//! ```
//!
//! Here B is the number of blocks, n is the number of items, and `a_j` and `c_j` are those of
//! [`super::inclusion`]. The result is slightly below `f^2`, where f is the expected rate, because
//! the two blocks share the items. Errors are counted in units of the last place, as in
//! [`super::inclusion`]. Each term contains a product of two coefficients, so the errors of the
//! coefficients count twice.

use super::inclusion::{Bases, InBlock, Inclusion, Items, MAX_DIGITS, MAX_WORK, Query};
use crate::exact::enclosure::{Enclose, Enclosure};
use crate::exact::fixed::{self, Divisor, Product};
use crate::exact::work;
use crate::{Error, Result};
use alloc::vec;
use alloc::vec::Vec;

/// Two queries of different blocks of one filter. The law must have at least two blocks and at
/// least one item.
pub(crate) struct TwoBlocks(pub(super) Inclusion);

impl TwoBlocks {
    fn blocks(&self) -> (u64, InBlock) {
        match self.0.placement {
            Items::Blocked { blocks, in_block, .. } => (blocks, in_block),
            _ => (1, InBlock::Independent),
        }
    }

    /// The largest error, in either direction, of the whole sum divided by `4^k`, in units of the
    /// last place.
    ///
    /// Before the falling factors, the coefficients `q_j = c_j / 2^k` together are at most
    /// `(k + 2)^2` units too low. The falling factors add an error of at most `j + 1` to each
    /// coefficient, so all coefficients together are less than `2 (k + 2)^2` units too low. The sum
    /// of the coefficients is at most 1. So the sum of the products `q_j q_l` is at most
    /// `4 (k + 2)^2` units too low, plus one unit for each product. A base is at most 2k units too
    /// low: the errors of two `a`, which are `2 (2k - 1)` units, are divided by B, and the division
    /// adds one unit. The n-th power of a base is at most `(2k + 1) n` units too low. The sum is a
    /// weighted mean of such powers, and each of its products adds one more unit.
    fn error(&self) -> u128 {
        let k = u128::from(self.0.probes);
        6 * (k + 2) * (k + 2) + self.0.empty_error()
    }

    /// The coefficients `q_0, q_1, ..`, up to the number of bits.
    fn coefficients(&self, limbs: usize, product: &mut Product) -> Vec<Vec<u64>> {
        let (law, whole) = (&self.0, Divisor::new(self.0.bits));
        let mut coefficients: Vec<Vec<u64>> = law.coefficients(limbs).chunks(limbs).map(<[u64]>::to_vec).collect();
        coefficients.truncate(law.bits.min(u64::from(law.probes)) as usize + 1);
        let mut falling = vec![u64::MAX; limbs];
        if law.query == Query::Independent {
            for (j, coefficient) in coefficients.iter_mut().enumerate().skip(2) {
                fixed::scale(&mut falling, law.bits - (j as u64 - 1), &whole);
                product.multiply(coefficient, &falling);
            }
        }
        coefficients
    }
}

impl Enclose for TwoBlocks {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let (law, (blocks, in_block)) = (&self.0, self.blocks());
        let (mut product, divisor) = (Product::new(limbs), Divisor::new(blocks));
        let coefficients = self.coefficients(limbs, &mut product);
        let mut bases = Bases::new(law, limbs);
        // The first entry stands for a_0 = 1, which these fractions cannot express.
        let mut empties = vec![vec![0; limbs]];
        for j in 1..coefficients.len() as u64 {
            empties.push(bases.in_block(law, in_block, j, &mut product).to_vec());
        }
        let mut sums = [vec![0; limbs + 1], vec![0; limbs + 1]];
        let (mut base, mut power, mut term) = (vec![0; limbs], vec![0; limbs], vec![0; limbs]);
        for (j, (left, a)) in coefficients.iter().zip(&empties).enumerate() {
            for (l, (right, b)) in coefficients.iter().zip(&empties).enumerate().skip(j) {
                term.copy_from_slice(left);
                product.multiply(&mut term, right);
                if l > 0 {
                    base.copy_from_slice(a);
                    let carried = fixed::add(&mut base, b);
                    divisor.divide(blocks - 2 + u64::from(carried || j == 0), &mut base);
                    product.power(&mut power, &base, law.items.into());
                    product.multiply(&mut term, &power);
                }
                let sum = &mut sums[(j + l) % 2];
                fixed::add(sum, &term);
                if j < l {
                    fixed::add(sum, &term);
                }
            }
        }
        let [mut sum, negative] = sums;
        if fixed::subtract(&mut sum, &negative) {
            sum.fill(0);
        }
        let error = self.error();
        Ok(Enclosure::around(sum, error, error, 2 * i64::from(law.probes) - 64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        // The doubled number counts the bits for the error twice, so they are subtracted once.
        2.0 * self.0.bits_needed() - libm::log2(self.error() as f64)
    }

    fn denominator_bits(&self) -> f64 {
        2.0 * self.0.denominator_bits()
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        let (limbs, k) = (bits / 64.0, f64::from(self.0.probes));
        let work = k * k * 64.0 * limbs * limbs;
        if !(bits < MAX_DIGITS && work < MAX_WORK) {
            return Err(Error::TooCostly { probes: self.0.probes, digits: bits as u64 });
        }
        work::spend("the exact moments of a rate", 0.25 * work + 100.0 * k * k)
    }
}

#[cfg(test)]
mod tests {
    use super::super::inclusion::When;
    use super::*;
    use crate::exact::dyadic::Dyadic;
    use num_bigint::BigInt;
    use num_rational::BigRational;
    use num_traits::{One, Signed, ToPrimitive, Zero, pow};

    fn ratio(top: u64, bottom: u64) -> BigRational {
        BigRational::new(top.into(), bottom.into())
    }

    /// The rate in a block after this many items, computed draw by draw from the law of its set
    /// bits.
    fn in_block(bits: u64, probes: u32, items: u64) -> BigRational {
        let mut law = vec![BigRational::zero(); bits as usize + 1];
        law[0] = BigRational::one();
        for _ in 0..items * u64::from(probes) {
            for d in (0..=bits).rev() {
                let come = if d == 0 { BigRational::zero() } else { &law[d as usize - 1] * ratio(bits - d + 1, bits) };
                law[d as usize] = &law[d as usize] * ratio(d, bits) + come;
            }
        }
        law.iter().zip(0..).map(|(chance, d)| chance * pow(ratio(d, bits), probes as usize)).sum()
    }

    /// The exact value, as a sum over the loads of both blocks, which have a multinomial
    /// distribution.
    fn truth(blocks: u64, bits: u64, probes: u32, items: u64) -> BigRational {
        let rates: Vec<BigRational> = (0..=items).map(|load| in_block(bits, probes, load)).collect();
        let choose = |n: u64, k: u64| (0..k).fold(BigRational::one(), |c, i| c * ratio(n - i, i + 1));
        let mut sum = BigRational::zero();
        for first in 0..=items {
            for second in 0..=items - first {
                let rest = items - first - second;
                let ways = choose(items, first) * choose(items - first, second);
                let chance = pow(ratio(1, blocks), (first + second) as usize) * pow(ratio(blocks - 2, blocks), rest as usize);
                sum += ways * chance * &rates[first as usize] * &rates[second as usize];
            }
        }
        sum
    }

    fn rational(x: &Dyadic) -> BigRational {
        let integer = x.words.iter().rev().fold(BigInt::zero(), |sum, &word| (sum << 64) + word);
        BigRational::new(integer, BigInt::one() << x.exponent.unsigned_abs())
    }

    #[test]
    fn the_sum_is_that_over_both_loads_and_its_budget_is_kept_and_used() {
        let mut most = 0.0f64;
        for (blocks, bits, probes) in [(2, 8, 2), (2, 3, 5), (3, 4, 1), (7, 5, 4), (101, 16, 3), (5, 1, 2)] {
            for items in [2, 3, 7, 12] {
                let placement = Items::Blocked { blocks, in_block: InBlock::Independent, when: When::After };
                let pair = TwoBlocks(Inclusion { query: Query::Independent, placement, bits, items, probes });
                let truth = truth(blocks, bits, probes, items);
                let found = pair.attempt(2).expect("cheap");
                let (lower, upper) = (rational(&found.lower), rational(&found.upper));
                assert!(lower <= truth && truth <= upper, "{blocks} {bits} {probes} {items}");
                if !lower.is_zero() {
                    let middle = (&lower + &upper) / BigInt::from(2);
                    let used = (truth - middle).abs() / ((upper - lower) / BigInt::from(2));
                    most = most.max(used.to_f64().expect("finite"));
                }
            }
        }
        // Roundings have both signs here, so they cancel more than in the sum over one block.
        assert!(most > 0.01, "the budget is too generous: {most}");
    }
}
