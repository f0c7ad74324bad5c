//! A proven bracket of a rate. The bracket follows from the number of hash pairs that hit exactly
//! one of a query's positions, and the number of pairs that hit several.
//!
//! The probability that all positions are hit is computed separately for each number g of items
//! that hit two or more positions. All other items hit one position or none. So the probability
//! that those items cover the remaining positions is an occupancy sum with k + 1 powers instead of
//! 2^k ([`Powers`]). The main term is the one for `g = 0`. For g > 0, the g items together cover at
//! least as many positions as the largest of their sets, and at most the sum of the sizes of their
//! sets. These two numbers give the lower and the upper end of the bracket. For large g, the total
//! probability is so small that it hardly widens the bracket.
//!
//! A *single* pair hits exactly one position. Positions can differ in their numbers of single
//! pairs. The probability of covering all positions is Schur-concave in these numbers, so equal
//! numbers give an upper bound. (For example, suppose that each of N items hits one of two
//! positions, the first of them with probability x. Both are covered with probability
//! `1 - x^N - (1-x)^N`, which is largest at x = 1/2.) The most unequal numbers give a lower bound,
//! because they majorise all other numbers with the same sum.

use super::powers::{Pairs, Powers};
use crate::exact::enclosure::Enclose;
use crate::{Fpr, Result};
use alloc::vec;
use alloc::vec::Vec;

/// How the pairs of an item's hashes hit the positions of one query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hits {
    /// For every position, the number of pairs that hit this position and no other.
    pub(crate) single: Vec<u128>,
    /// `several[s]` is the number of pairs that hit s positions. The first two entries are not
    /// used.
    pub(crate) several: Vec<u64>,
}

/// A margin for rounding errors. The numbers that are computed in `f64` here are positive, with
/// fewer than ten thousand roundings each.
pub(super) const ROUNDING: f64 = 4e-12;

/// The largest number g of items that hit several positions for which the bracket has a separate
/// term.
pub(super) const MOST_SEVERAL: u64 = 48;

/// A lower and an upper bound on the probability that `items` items hit all positions.
pub(crate) fn bracket(hits: &Hits, pairs: Pairs, items: u64) -> Result<(f64, f64)> {
    let cover = Cover { hits, pairs, several: hits.several.iter().skip(2).map(|&count| u128::from(count)).sum() };
    let positions = hits.single.len();
    let (mut lower, mut upper) = (cover.at_least(items)?, cover.at_most(items)?);
    // For each number of positions, the expected number of items that hit this many.
    let expected: Vec<f64> = hits.several.iter().map(|&count| count as f64 / pairs.count() as f64 * items as f64).collect();
    let mean: f64 = expected.iter().skip(2).sum();
    // `ways` is C(n, g) / n^g; `largest` has the weights by the largest size of g sets, and `sum`
    // those by the sum of their sizes.
    let (mut ways, mut largest, mut sum) = (1.0, vec![0.0; positions + 1], vec![0.0; positions + 1]);
    (largest[0], sum[0]) = (1.0, 1.0);
    let mut rest = mean;
    for several in 1..=MOST_SEVERAL.min(items) {
        if mean == 0.0 || rest <= 1e-9 * upper {
            break;
        }
        ways *= (items - several + 1) as f64 / (several as f64 * items as f64);
        (largest, sum) = (combine(&largest, &expected, usize::max), combine(&sum, &expected, |a, b| (a + b).min(positions)));
        for left in 0..positions {
            if largest[positions - left] > 0.0 {
                lower += ways * largest[positions - left] * cover.left(left, items - several, false)?;
            }
            if sum[positions - left] > 0.0 {
                upper += ways * sum[positions - left] * cover.left(left, items - several, true)?;
            }
        }
        // An upper bound on the probability that more than g items hit several positions.
        rest *= mean / (several + 1) as f64;
    }
    if rest > 0.0 && mean > 0.0 {
        upper += rest.min(1.0);
    }
    Ok((lower * (1.0 - ROUNDING), (upper * (1.0 + ROUNDING) + f64::MIN_POSITIVE).min(1.0)))
}

/// Updates the distribution of the largest set size, or of the sum of the set sizes, when one more
/// set is added.
fn combine(law: &[f64], expected: &[f64], join: impl Fn(usize, usize) -> usize) -> Vec<f64> {
    let mut next = vec![0.0; law.len()];
    for (covered, &share) in law.iter().enumerate().filter(|entry| *entry.1 > 0.0) {
        for (size, &more) in expected.iter().enumerate().skip(2) {
            next[join(covered, size)] += share * more;
        }
    }
    next
}

pub(super) struct Cover<'a> {
    pub(super) hits: &'a Hits,
    pub(super) pairs: Pairs,
    /// The number of pairs that hit several positions.
    pub(super) several: u128,
}

impl Cover<'_> {
    fn smallest(&self) -> u128 {
        self.hits.single.iter().copied().min().unwrap_or(0)
    }

    fn largest(&self) -> u128 {
        self.hits.single.iter().copied().max().unwrap_or(0)
    }

    /// The probability that no item hits several positions while the items cover all positions of
    /// the groups. A group is `(number of positions, number of pairs that hit each of them)`.
    pub(super) fn chance(&self, groups: &[(usize, u128)], items: u64) -> Result<Fpr> {
        // If more pairs are used than exist, the numbers give no bound.
        let used = groups.iter().map(|&(count, single)| count as u128 * single).sum::<u128>() + self.several;
        if used > self.pairs.count() {
            return Ok(Fpr::bound(0.0, 1.0));
        }
        let mut terms = vec![(self.several, 1i128)];
        let mut log2_guess = 0.0;
        for &(count, single) in groups {
            let choose = signed_binomials(count);
            let with = |&(hits, sum): &(u128, i128)| {
                choose.iter().enumerate().map(|(t, c)| (hits + t as u128 * single, sum * c)).collect::<Vec<_>>()
            };
            terms = terms.iter().flat_map(with).collect();
            let share = -libm::expm1(-(items as f64) * (single as f64 / self.pairs.count() as f64));
            log2_guess += count as f64 * libm::log2(share.max(1e-300));
        }
        let positions = groups.iter().map(|group| group.0 as u32).sum();
        if items == 0 || groups.iter().any(|&(count, single)| count > 0 && single == 0) {
            return Ok(if positions == 0 { Fpr::ONE } else { Fpr::ZERO });
        }
        // The probability is 0 if there are fewer items than positions, or if all pairs hit several
        // positions.
        if items < u64::from(positions) || self.several == self.pairs.count() {
            return Ok(Fpr::ZERO);
        }
        Powers { log2_guess, ..Powers::new(self.pairs, items, positions, 1, terms) }.fpr()
    }

    /// A lower bound on the probability of hitting all positions. The bound uses the most unequal
    /// distribution of the pairs: every position, except at most one, has the smallest or the
    /// largest number of pairs.
    fn at_least(&self, items: u64) -> Result<f64> {
        let (least, most, positions) = (self.smallest(), self.largest(), self.hits.single.len());
        if least == most {
            return Ok(self.chance(&[(positions, least)], items)?.lower);
        }
        let excess: u128 = self.hits.single.iter().map(|single| single - least).sum();
        let (high, between) = ((excess / (most - least)) as usize, excess % (most - least));
        // The smallest number is below the largest, so not all positions have the largest, and high
        // < positions.
        let groups = [(high, most), (1, least + between), (positions - high - 1, least)];
        Ok(self.chance(&groups, items)?.lower)
    }

    /// An upper bound on the probability of hitting all positions, computed as if each were hit by
    /// the mean number of pairs, rounded up.
    fn at_most(&self, items: u64) -> Result<f64> {
        let positions = self.hits.single.len();
        let mean = self.hits.single.iter().sum::<u128>().div_ceil(positions as u128);
        Ok(self.chance(&[(positions, mean)], items)?.upper)
    }

    /// A bound on the probability of hitting the remaining positions: an upper bound if `above` is
    /// true, and otherwise a lower bound.
    fn left(&self, positions: usize, items: u64, above: bool) -> Result<f64> {
        let single = if above { self.largest() } else { self.smallest() };
        let chance = self.chance(&[(positions, single)], items)?;
        Ok(if above { chance.upper } else { chance.lower })
    }
}

/// `(-1)^t C(count, t)`.
fn signed_binomials(count: usize) -> Vec<i128> {
    let mut all = vec![1i128];
    for t in 0..count as i128 {
        let last = all[t as usize];
        all.push(-last * (count as i128 - t) / (t + 1));
    }
    all
}

/// The mean of brackets, weighted by integers, as a rate.
pub(crate) fn average(parts: &[(u64, (f64, f64))], total: u64) -> Result<Fpr> {
    let mean = |end: &dyn Fn(&(f64, f64)) -> f64| parts.iter().map(|(weight, ends)| *weight as f64 * end(ends)).sum::<f64>() / total as f64;
    let (lower, upper) = (mean(&|ends| ends.0) * (1.0 - ROUNDING), (mean(&|ends| ends.1) * (1.0 + ROUNDING)).min(1.0));
    if !(lower >= 0.0 && upper.is_finite()) {
        return Ok(Fpr::bound(0.0, 1.0));
    }
    Ok(Fpr::bound(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests a mean with weights in sixteenths, a lower end of 0, and an end that is not a number,
    /// which gives the bracket from 0 to 1.
    #[test]
    fn means_of_brackets_keep_both_ends() {
        let found = average(&[(4, (0.0, 0.25)), (12, (0.5, 0.75))], 16).expect("a mean");
        assert!((found.lower - 0.375).abs() < 1e-9 && (found.upper - 0.625).abs() < 1e-9, "{found:?}");
        let found = average(&[(1, (0.0, 0.25))], 1).expect("a mean");
        assert!(found.lower == 0.0 && (found.upper - 0.25).abs() < 1e-9, "{found:?}");
        let nothing = average(&[(1, (f64::NAN, 0.25))], 1).expect("a mean");
        assert_eq!((nothing.lower, nothing.upper), (0.0, 1.0));
    }
}
