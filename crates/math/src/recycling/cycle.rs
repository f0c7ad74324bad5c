//! The number of new items in a cycle: its mean, its variance and, if that is fast to compute, its
//! whole distribution.

use super::fills::Fills;
use super::number::Positive;
use super::restart::restart_law;
use super::walk::Walk;
use super::{Bracket, Design, MAX_STEPS, Result};
use crate::error::out_of_range;
use crate::exact::bisect::bisect_reals;
use crate::exact::double::DoubleDouble;
use crate::exact::work;
use crate::{Error, Method};
use alloc::vec;
use alloc::vec::Vec;

/// The length of a cycle: the number of its new items, including the item that ends it. With two
/// phases, this is the length of a phase.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cycle {
    /// The mean length, as in [`LongRun::items_per_cycle`](super::LongRun::items_per_cycle).
    pub mean: Bracket,
    /// The variance of the length. If probes times sigma (the recycle threshold) is at most two
    /// million, the relative error is below 1e-6. Above two million, no bound on the error is
    /// proven. In this range, if probes may collide and no item is retained, the value is the
    /// variance in the limit of large filters.
    pub variance: f64,
    /// The smallest possible length of a cycle.
    pub least: u64,
    /// `survival[n]` is the probability that a cycle has more than n items, with an absolute error
    /// below 1e-11. `None` if the item-by-item computation would take too long.
    survival: Option<Vec<f64>>,
}

/// The largest number of hashes for which the variance is computed in pairs of `f64`.
const FINE_HASHES: f64 = 2e6;

/// The largest amount of work for which the distribution is computed, in states times hashes.
pub(super) const MAX_LAW: f64 = 5e7;

impl Design {
    /// Returns the distribution of the length of a cycle. The whole distribution is computed only
    /// for a sigma (recycle threshold) of up to about 20,000. For larger filters, only the mean and
    /// the variance are computed. More precisely, the product of these three numbers must be at
    /// most about 5e7: the number of probes, the mean number of items per cycle, and
    /// `15 sqrt(sigma)`.
    ///
    /// A cycle continues after n items if at most sigma bits are set. So the probability that a
    /// cycle is longer than n items follows from the distribution of the number of set bits after n
    /// items. The variance of N is computed from `E[N]` and `E[N (N+1) / 2]`.
    ///
    /// # Errors
    /// Fails as [`long_run`](Self::long_run) does.
    pub fn cycle(&self) -> Result<Cycle> {
        let _work = work::begin();
        self.cycle_within(MAX_LAW)
    }

    /// Like [`cycle`](Self::cycle), but with a different limit on the work for the distribution.
    pub(super) fn cycle_within(&self, work: f64) -> Result<Cycle> {
        let mean = self.long_run()?.items_per_cycle;
        // A retained item has set up to k bits before the first item of the cycle.
        let before = u64::from(self.mode.retaining);
        let least = (self.sigma / u64::from(self.probes) + 1 - before).max(1);
        Ok(Cycle { mean, variance: self.cycle_variance()?, least, survival: self.survival(mean.value, work)? })
    }

    fn cycle_variance(&self) -> Result<f64> {
        let k = f64::from(self.probes);
        if k * self.sigma as f64 > FINE_HASHES {
            return if self.has_integrals() { Ok(self.fluid_variance()) } else { self.walked_variance::<f64>() };
        }
        self.walked_variance::<DoubleDouble>()
    }

    fn walked_variance<T: Positive>(&self) -> Result<f64> {
        let steps = f64::from(self.probes) * self.sigma as f64;
        if steps > MAX_STEPS / 2.0 {
            return Err(Error::TooLong { what: "the variance of the cycle length", steps, allowed: MAX_STEPS / 2.0 });
        }
        work::spend("the variance of the cycle length", if T::UNIT < f64::EPSILON * f64::EPSILON * 1e3 { 200.0 } else { 20.0 } * steps)?;
        let start = restart_law::<T>(self);
        let distinct = !self.mode.colliding;
        let (mut visits, mut numbers) =
            (Walk::<T>::new(self.bits, self.probes, distinct), Walk::<T>::new(self.bits, self.probes, distinct));
        let (mut items, mut sum) = (T::ZERO, T::ZERO);
        for ones in 0..=self.sigma {
            let begin = start.get(ones as usize).copied().unwrap_or(T::ZERO);
            let step = visits.step(begin);
            items = items.plus(step.visits);
            // Items are numbered within their cycle. The next item has a number that is one higher
            // than that of the item after which `ones` bits are set.
            sum = sum.plus(numbers.step(begin.plus(step.left)).visits);
        }
        // The variance is 2 E[N (N+1) / 2] - E[N] - E[N]^2. In these subtractions, up to half of
        // the digits of a pair of `f64` cancel.
        let (twice, square) = (sum.plus(sum), items.times(items).plus(items));
        let ((a, b), (c, d)) = (twice.parts(), square.parts());
        Ok(((a - c) + (b - d)).max(0.0))
    }

    /// The probabilities `P(N > n)` for n = 0, 1, ..
    fn survival(&self, mean: f64, work: f64) -> Result<Option<Vec<f64>>> {
        // The window of states that are not negligible is about fifteen standard deviations wide,
        // but has at most sigma + 1 states.
        let width = (15.0 * libm::sqrt(self.sigma as f64) + f64::from(self.probes)).min(self.sigma as f64 + 1.0);
        if mean * width * f64::from(self.probes) > work {
            return Ok(None);
        }
        let start: Vec<f64> = restart_law::<DoubleDouble>(self).into_iter().map(|x| x.parts().0).collect();
        let mut fills = Fills::new(self.bits, self.probes, !self.mode.colliding, start, 1e-30);
        let mut survival = vec![1.0];
        let mut over = 0.0;
        while *survival.last().unwrap_or(&0.0) > 1e-17 {
            fills.item()?;
            over += fills.overflow(self.sigma);
            // Computed from the smaller of the two probabilities, which keeps all digits.
            let left: f64 = fills.weights.iter().sum();
            survival.push(if over < 0.5 { 1.0 - over } else { left });
        }
        Ok(Some(survival))
    }
}

impl Cycle {
    /// Returns the probability that a cycle has more than `items` new items. The result is `None`
    /// if the distribution was not computed.
    #[must_use]
    pub fn survival(&self, items: u64) -> Option<f64> {
        let survival = self.survival.as_ref()?;
        Some(usize::try_from(items).ok().and_then(|n| survival.get(n)).copied().unwrap_or(0.0))
    }

    /// The probabilities `P(N > n)` for n = 0, 1, .., if the distribution is known.
    pub(crate) fn law(&self) -> Option<&[f64]> {
        self.survival.as_deref()
    }

    /// Returns the p-quantile of the number of new items in a cycle, and the method by which it was
    /// computed. The p-quantile is the smallest number n for which the following holds: with
    /// probability at least `p`, a cycle has at most n new items. The method is `Validated` if n
    /// was computed from the distribution. Otherwise, n comes from a normal approximation, and the
    /// method is `Approximation`.
    ///
    /// # Errors
    /// Fails if `p` is not strictly between 0 and 1.
    pub fn quantile(&self, p: f64) -> Result<(u64, Method)> {
        if !(p > 0.0 && p < 1.0) {
            return out_of_range("quantiles", p, "strictly between 0 and 1");
        }
        if let Some(survival) = self.law() {
            let found = survival.iter().position(|&more| 1.0 - more >= p - 1e-13).unwrap_or(survival.len());
            return Ok((found as u64, Method::Validated));
        }
        let found = self.mean.value + normal_quantile(p) * libm::sqrt(self.variance);
        Ok((libm::round(found).max(self.least as f64) as u64, Method::Approximation("normal")))
    }
}

/// Returns a quantile of the normal distribution, computed by bisection on `erfc`.
pub(super) fn normal_quantile(p: f64) -> f64 {
    bisect_reals(-40.0, 40.0, 80, |x| libm::erfc(-x / core::f64::consts::SQRT_2) / 2.0 >= p).0
}

#[cfg(test)]
mod tests {
    use super::normal_quantile;

    #[test]
    fn quantiles_of_the_normal_law() {
        for (p, expected) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.01, -2.326_347_874_040_841), (1e-9, -5.997_807_015_008_182)] {
            assert!((normal_quantile(p) - expected).abs() < 1e-9, "{p}: {}", normal_quantile(p));
        }
    }
}
