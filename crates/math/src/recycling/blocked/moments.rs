//! The mean and the variance of the rate of one blocked filter after a number of items.

use super::super::Result;
use crate::Law;
use crate::exact::enclosure::{Enclose, Enclosure, GUARD};
use crate::law::Blocked;
use alloc::vec;

/// Proven bounds on the mean and the variance of the rate `W` of one blocked filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// An upper bound on the variance.
    pub(super) variance: f64,
}

/// Returns the moments after `items` distinct items.
///
/// W is the mean of `Y = (d/m)^k` over B lines with m bits, d of which are set. So `E[W]` is the
/// expected rate f. `E[Y^2]` is the probability that two queries of the same line both pass, and
/// `E[Y Y']` is the probability that two queries of different lines both pass. Then
///
/// ```text
/// Var W = (E[Y^2] - E[Y Y']) / B - (f^2 - E[Y Y'])
/// ```
///
/// An item in one line is missing in all other lines, so `E[Y Y']` is below `f^2` by about
/// `f^2 / B`. So the variance of W is less than `Var Y / B`. At a rate of 1%, it is an eighth of
/// `Var Y / B`. The formula subtracts nearly equal numbers, which is done in exact integer
/// arithmetic.
pub(super) fn after(law: &Blocked, items: u64) -> Result<Moments> {
    if items == 0 {
        return Ok(Moments { lower: 0.0, upper: 0.0, variance: 0.0 });
    }
    let blocks = law.bits() / law.block_bits();
    let guard = GUARD + blocks.ilog2();
    let mean = law.expected(items).enclose(guard)?;
    let same = law.same_block(items).fpr()?.upper;
    // With one item or one line, two queries of different lines never both pass.
    let other = match blocks.min(items) {
        1 => Enclosure::around(vec![0], 0, 0, 0),
        _ => law.two_blocks(items).enclose(guard)?,
    };
    let own = ((same - other.lower.floor()).next_up() / (blocks as f64).next_down()).next_up();
    let shared = mean.lower.multiply(&mean.lower).minus(&other.upper).floor();
    let variance = (own - shared).next_up().max(0.0);
    Ok(Moments { lower: mean.lower.floor(), upper: mean.upper.ceil().min(1.0), variance })
}

impl Moments {
    /// Returns an upper bound on `P(W > x)`: Cantelli's inequality, if the mean is below x.
    pub(super) fn above(&self, x: f64) -> f64 {
        one_sided(self.variance, (x - self.upper).next_down())
    }

    /// Returns an upper bound on `P(W <= x)`: Cantelli's inequality, if the mean is above x.
    pub(super) fn at_most(&self, x: f64) -> f64 {
        one_sided(self.variance, (self.lower - x).next_down())
    }

    /// Returns an upper bound on `E[(W - x)^+]`: Scarf's inequality.
    pub(super) fn excess(&self, x: f64) -> f64 {
        positive_part((self.upper - x).next_up(), self.variance)
    }

    /// Returns an upper bound on `E[(x - W)^+]`: Scarf's inequality.
    pub(super) fn shortfall(&self, x: f64) -> f64 {
        positive_part((x - self.lower).next_up(), self.variance)
    }
}

/// The value `v / (v + d^2)` for d above 0, rounded up.
fn one_sided(variance: f64, distance: f64) -> f64 {
    if distance <= 0.0 {
        return 1.0;
    }
    let square = (distance * distance).next_down();
    (variance / (variance + square).next_down()).next_up().min(1.0)
}

/// The value `(sqrt(v + d^2) + d) / 2`, rounded up, without cancellation for d below 0.
fn positive_part(mean: f64, variance: f64) -> f64 {
    if mean < 0.0 {
        let root = libm::sqrt((variance + (mean * mean).next_down()).next_down()).next_down();
        return (variance / (2.0 * (root - mean).next_down())).next_up();
    }
    let root = libm::sqrt((variance + (mean * mean).next_up()).next_up()).next_up();
    ((root + mean).next_up() / 2.0).next_up()
}

#[cfg(test)]
mod tests {
    use super::super::every_state::{empty, one_more, own_rates};
    use super::*;
    use crate::law::InBlock;

    /// Compares the mean and the variance with exact values from all states of small filters. The
    /// derived bounds must hold at every threshold, and some of them nearly with equality.
    #[test]
    fn moments_and_their_bounds_are_those_of_every_state() {
        let mut nearest = [f64::INFINITY; 4];
        for (blocks, block_bits, probes) in [(1u32, 8u32, 3u32), (2, 4, 2), (3, 6, 1), (4, 3, 4), (9, 2, 2), (12, 1, 1)] {
            let law = Blocked::new((blocks * block_bits).into(), block_bits.into(), InBlock::Independent, probes).expect("in range");
            let mut states = empty(blocks, block_bits);
            for items in 1..=25 {
                states = one_more(&states, block_bits, probes);
                let rates = own_rates(&states, block_bits, probes);
                let over = |of: &dyn Fn(f64) -> f64| rates.iter().map(|&(w, chance)| chance * of(w)).sum::<f64>();
                let (mean, found) = (over(&|w| w), after(&law, items).expect("in range"));
                let variance = over(&|w| (w - mean) * (w - mean));
                let context = format!("{law:?} {items} {found:?} {mean} {variance}");
                assert!((found.lower - mean).abs() < 1e-12 && (found.upper - mean).abs() < 1e-12, "{context}");
                assert!((found.variance - variance).abs() < 1e-9 * variance + 1e-15, "{context}");
                for &(w, _) in &rates {
                    // Thresholds between the rates, so that rounding does not affect the
                    // comparison.
                    for x in [0.97 * w, 1.03 * w] {
                        let truths = [
                            over(&|w| f64::from(w > x)),
                            over(&|w| f64::from(w <= x)),
                            over(&|w| (w - x).max(0.0)),
                            over(&|w| (x - w).max(0.0)),
                        ];
                        let bounds = [found.above(x), found.at_most(x), found.excess(x), found.shortfall(x)];
                        for ((truth, bound), nearest) in truths.iter().zip(bounds).zip(&mut nearest) {
                            assert!(*truth <= bound * (1.0 + 1e-9) + 1e-14, "{truth} {bound} at {x}: {context}");
                            if bound < 0.9 && *truth > 1e-6 {
                                *nearest = nearest.min(bound / truth);
                            }
                        }
                    }
                }
            }
        }
        assert!(nearest.iter().all(|nearest| *nearest < 1.3), "the bounds are generous: {nearest:?}");
    }

    /// Tests means far below the threshold, where the bound is about `v / (4 |d|)`. A subtraction
    /// of nearly equal numbers would lose its digits.
    #[test]
    fn small_parts_keep_their_digits() {
        for (mean, variance) in [(-1.0, 1e-30), (-0.3, 1e-20), (-1e-5, 1e-18)] {
            let (found, expected) = (positive_part(mean, variance), variance / (4.0 * -mean));
            assert!(found >= expected * (1.0 - 1e-7) && found < expected * (1.0 + 1e-7), "{mean} {variance}: {found:e} for {expected:e}");
        }
    }
}
