//! An upper bound on the number of new items that are wrongly reported as seen in a single run,
//! computed from an exponential supermartingale.
//!
//! The method is the same as in [`freedman`](crate::freedman), but the bound is computed before the
//! run. Let W be the number of items that pass, out of n new items. For every `u > 0`, two bounds
//! hold:
//!
//! * *By the worst rate.* Whatever came before, a new item passes with a probability of at most the
//!   worst rate w. So `e^(u W) (1 + w (e^u - 1))^-n` is a supermartingale. With the best u, this
//!   gives Chernoff's bound: `P(W >= x) <= exp(-n KL(x/n, w))`.
//! * *By the average*, for one phase whose cycles all begin with an empty filter. Only new items
//!   fill the filter, so the lengths of cycles do not depend on the other items of the stream. Let
//!   N be the number of new items in a cycle. Choose `lambda` so large that
//!   `E[e^(u W - lambda N)] <= 1` over a cycle. Let `h(b)` be the expectation of the same
//!   expression from b set bits to the end of the cycle. Then `e^(u W - lambda n) h(b)` is a
//!   supermartingale that starts at 1 or less. A fuller filter ends its cycle earlier on the same
//!   items, so `h(b) >= e^(-lambda E[N])` by Jensen. So
//!   `P(W >= x) <= exp(lambda (n + E[N]) - u x)`.
//!
//! The value of u, which is near the best, is computed from the design, n and the confidence. The
//! expectation over a cycle is computed by the recursion of [`Walk`], with the weight
//! `e^(u - lambda)` for an item that passes, and `e^(-lambda)` for any other item.

use super::blocked::BlockedDesign;
use super::number::Positive;
use super::walk::{MOST_STAYING, Walk};
use super::{Design, LongRun, Phases, Result, Seeds};
use crate::error::{check_confidence, out_of_range};
use crate::exact::bisect::bisect_reals;
use crate::exact::work;

/// The largest product of probes and sigma for which the expectation over a cycle is computed. The
/// search for lambda computes it about six times.
const MOST_HASHES: f64 = 1e7;

/// The largest number of expectations that are computed to find lambda.
const WALKS: usize = 8;

impl Design {
    /// Returns an upper bound on the number of wrong drops in a single run. A wrong drop is a new
    /// item that is wrongly reported as seen. The bound is for the first `items` new items of the
    /// run. An item is new if no filter contains it.
    ///
    /// The bound holds with probability at least `confidence` over the random seeds, for every
    /// stream that was chosen without knowledge of the seeds.
    ///
    /// Let n be `items`, let f be the long-run average rate, and let alpha be `1 - confidence`. For
    /// one phase without [`Mode::retaining`](super::Mode::retaining), the bound is about
    /// `n f + sqrt(2 n f ln(1/alpha))`. The bound uses the worst rate instead of f in three cases:
    /// the filter has two phases, the filter retains items, or probes times sigma (the recycle
    /// threshold) is above ten million. The result divided by `items` is a bound on the average
    /// rate of the run. The computation takes less than a second.
    ///
    /// ```
    /// use truebloom_math::recycling::{Design, Mode};
    /// let design = Design::new(1_000, 6, 606, Mode::default())?;
    /// let most = design.wrong_drops_at_most(1_000_000, 0.999_999)?;
    /// // The long-run average is 0.9994%, and the worst rate 5%.
    /// assert!((10_400..10_800).contains(&most));
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails as [`Design::long_run`] does. Also fails if `items` is 0 or above 10^15, or if
    /// `confidence` is not strictly between 0 and 1. Also fails for [`Seeds::Kept`]: if all phases
    /// have the same seed, the same item could be wrongly dropped again and again.
    pub fn wrong_drops_at_most(&self, items: u64, confidence: f64) -> Result<u64> {
        let _work = work::begin();
        let threshold = threshold(items, confidence)?;
        if self.mode.seeds == Seeds::Kept {
            return out_of_range("seeds", "kept", "renewed: if the seed is kept, errors repeat when items recur");
        }
        let run = self.long_run()?;
        let whatever = by_worst(items, run.worst.upper, threshold);
        if self.wrong_drops_are_by_worst() {
            return Ok(whatever);
        }
        Ok(self.by_average(items, &run, threshold).map_or(whatever, |most| most.min(whatever)))
    }

    /// Returns whether [`wrong_drops_at_most`](Self::wrong_drops_at_most) uses only the worst rate.
    /// This is the case with two phases, with [`Mode::retaining`](super::Mode::retaining), or if
    /// the number of probes times sigma is above ten million.
    #[must_use]
    pub fn wrong_drops_are_by_worst(&self) -> bool {
        let cycles_are_alike = self.mode.phases == Phases::One && !self.mode.retaining;
        !cycles_are_alike || f64::from(self.probes) * self.sigma as f64 > MOST_HASHES
    }

    fn by_average(&self, items: u64, run: &LongRun, threshold: f64) -> Option<u64> {
        let all = items as f64 + run.items_per_cycle.upper;
        let mean = run.fpr.upper * all;
        // The largest allowed u. It limits the weight of items that pass, and therefore at most the
        // share `MOST_STAYING` of an item's weight stays in the fullest state.
        let most = libm::log(MOST_STAYING / run.worst.upper);
        // The best u for Poisson drops solves u e^u - e^u + 1 = threshold / mean.
        let poisson = |u: f64| mean * (u * libm::exp(u) - libm::expm1(u));
        let u = bisect_reals(0.0, most, 60, |u| poisson(u) >= threshold).1;
        if u.is_nan() || u <= 0.0 {
            return None;
        }
        let lambda = self.growth(u, run)?;
        Some(((lambda * all + threshold) / u * (1.0 + 1e-12)) as u64)
    }

    /// Returns nearly the smallest lambda for which `E[e^(u W - lambda N)] <= 1` over a cycle.
    fn growth(&self, u: f64, run: &LongRun) -> Option<f64> {
        let slack = 40.0 * f64::UNIT * Walk::<f64>::roundings(self.fullest() + u64::from(self.probes), self.probes);
        let length = run.items_per_cycle.value;
        let mut lambda = libm::log1p(run.fpr.upper * libm::expm1(u));
        let mut found = None;
        for _ in 0..WALKS {
            let ln = libm::log(self.weighed_cycle(u, lambda)?) + slack;
            if ln <= 0.0 {
                found = Some(lambda);
            }
            if (-1e-6..=0.0).contains(&ln) {
                break;
            }
            lambda += (ln + 5e-7) / length;
        }
        found
    }

    /// Returns the expectation `E[e^(u W - lambda N)]` over a cycle that begins with an empty
    /// filter. The error is at most forty times the rounding errors of the recursion, because
    /// subtracting nearly equal probabilities loses a digit. The result is `None` if the
    /// expectation may be infinite.
    fn weighed_cycle(&self, u: f64, lambda: f64) -> Option<f64> {
        let (passing, keeping) = (libm::exp(u - lambda), libm::exp(-lambda));
        let mut walk = Walk::<f64>::new(self.bits, self.probes, !self.mode.colliding);
        for ones in 0..=self.sigma {
            walk.step_weighed(if ones == 0 { 1.0 } else { 0.0 }, passing, keeping)?;
        }
        let top = self.bits.min(self.sigma.saturating_add(self.probes.into()));
        Some((self.sigma + 1..=top).map(|_| walk.step_beyond().left).sum())
    }
}

impl BlockedDesign {
    /// Like [`Design::wrong_drops_at_most`], but always uses the worst rate,
    /// [`limit`](BlockedDesign::limit). This takes microseconds.
    ///
    /// # Errors
    /// Fails if `items` is 0 or above 10^15, or if `confidence` is not strictly between 0 and 1.
    pub fn wrong_drops_at_most(&self, items: u64, confidence: f64) -> Result<u64> {
        let _work = work::begin();
        Ok(by_worst(items, self.limit(), threshold(items, confidence)?))
    }
}

/// Returns `ln(1 / alpha)`, where alpha is 1 - confidence.
fn threshold(items: u64, confidence: f64) -> Result<f64> {
    if !(1..=1_000_000_000_000_000).contains(&items) {
        return out_of_range("items", items, "from 1 to 10^15");
    }
    check_confidence(confidence)?;
    Ok(-libm::log1p(-confidence))
}

/// Chernoff's bound for items that each pass with a probability of at most `worst`, whatever came
/// before.
fn by_worst(items: u64, worst: f64, threshold: f64) -> u64 {
    let n = items as f64;
    let exponent = |x: f64| {
        let more = x - n * worst;
        x * libm::log(x / (n * worst)) + if x < n { (n - x) * libm::log1p(-more / (n * (1.0 - worst))) } else { 0.0 }
    };
    if worst >= 1.0 || exponent(n) < threshold {
        return items;
    }
    let high = bisect_reals(n * worst, n, 100, |drops| exponent(drops) * (1.0 - 1e-12) >= threshold).1;
    // Adds a relative margin of 10^-9, which is more than the rounding of the logarithms.
    (high * (1.0 + 1e-9)) as u64
}
