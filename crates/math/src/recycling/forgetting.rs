//! How long an item is remembered.

use super::cycle::{Cycle, MAX_LAW};
use super::{Bracket, Design, Phases, Result, Trigger};
use crate::exact::work;
use crate::{Method, bisect};
use alloc::vec;
use alloc::vec::Vec;

/// How long a design remembers an item. Items are inserted into the *active* filter. With two
/// phases, the *frozen* filter is the full filter of the previous phase. Time is measured in *new*
/// items. An item is new if the active filter does not contain the item, even if the frozen filter
/// contains it.
#[derive(Clone, Debug)]
pub struct Forgetting {
    design: Design,
    cycle: Cycle,
    /// `sums[n]` is the sum of `P(N > i)` over i < n, where N is the length of a cycle.
    sums: Vec<f64>,
}

impl Design {
    /// Returns the distribution of the number of new items that arrive before a given item is
    /// forgotten. The item arrives at a random moment in a long stream of new items. The item is
    /// *forgotten* when no filter contains it any more. A repeat of a forgotten item may still be
    /// reported as seen, with the same probability as any new item.
    ///
    /// With one phase, an item is forgotten when its cycle ends. With two phases, an item is
    /// forgotten when the next cycle ends. Let N be the length of a cycle. A random item is more
    /// likely to be in a long cycle than in a short one, because a cycle of length N contains N
    /// items. The item is equally likely to be at any place in its cycle. So the probability that
    /// exactly u more items follow in the same cycle is `P(N > u) / E[N]`.
    ///
    /// Let N, N_1 and N_2 be the lengths of independent cycles, and let `x^+` be the larger of x
    /// and 0. Let `H_0(c) = c`, `H_1(c) = E[(c - N_1)^+]` and `H_2(c) = E[(c - N_1 - N_2)^+]`. Let
    /// g be a number of new items, and let `c = g + 1`. Then this is the probability that the item
    /// is forgotten after g new items:
    ///
    /// ```text
    /// one phase   (H_0(c) - H_1(c)) / E[N]  = E[min(N, c)] / E[N]
    /// two phases  (H_1(c) - H_2(c)) / E[N]
    /// ```
    ///
    /// With [`Mode::retaining`](super::Mode::retaining), the formula holds with `c = g`. With
    /// [`Trigger::Excluded`], the item that ends a phase is forgotten immediately, which adds
    /// `P(N > g) / E[N]` to the probability.
    ///
    /// The computation takes as long as [`Design::cycle`].
    ///
    /// # Errors
    /// Fails as [`long_run`](Self::long_run) does.
    pub fn forgetting(&self) -> Result<Forgetting> {
        let _work = work::begin();
        self.forgetting_within(MAX_LAW)
    }

    /// Like [`forgetting`](Self::forgetting), but with a different limit on the work for the
    /// distribution.
    pub(super) fn forgetting_within(&self, work: f64) -> Result<Forgetting> {
        let cycle = self.cycle_within(work)?;
        let mut sums = vec![0.0];
        let mut sum = 0.0;
        for survival in cycle.law().unwrap_or_default() {
            sum += survival;
            sums.push(sum);
        }
        Ok(Forgetting { design: *self, cycle, sums })
    }
}

impl Forgetting {
    /// Returns the length of a cycle.
    #[must_use]
    pub fn cycle(&self) -> &Cycle {
        &self.cycle
    }

    /// Returns a number n: every item is remembered at least until n new items have come after it.
    /// This n is 0 if the item that ends a cycle is forgotten immediately.
    ///
    /// With [`Trigger::Included`], n is `floor(sigma / probes) + 1`, the length of the shortest
    /// possible phase. With [`Mode::retaining`](super::Mode::retaining), n is 1, because the item
    /// that ends a cycle is inserted into the emptied filter.
    #[must_use]
    pub fn remembered_at_least(&self) -> u64 {
        match self.design.mode.phases {
            Phases::One => u64::from(self.design.mode.retaining),
            Phases::Two(Trigger::Included) => self.cycle.least,
            Phases::Two(Trigger::Excluded) => 0,
        }
    }

    /// Returns the number of new items after which an item is guaranteed to be forgotten. Usually,
    /// the result is `None`: false positives set no bits, so there is no limit on the length of a
    /// cycle, or on how long an item is remembered. The result is a number only if the first item
    /// of every cycle ends the cycle. There are two such cases: the recycle threshold is 0, or
    /// probes are distinct and the recycle threshold is below the number of probes.
    #[must_use]
    pub fn remembered_at_most(&self) -> Option<u64> {
        let design = &self.design;
        let one_item = design.sigma == 0 || (!design.mode.colliding && design.sigma < u64::from(design.probes));
        match design.mode.phases {
            _ if !one_item => None,
            Phases::Two(Trigger::Included) => Some(1),
            _ => Some(0),
        }
    }

    /// Returns the probability that an item is no longer remembered after `gap` more new items.
    ///
    /// A cycle lasts from one recycle to the next. The length of a cycle is the number of its new
    /// items. For small designs, the probability is computed from the distribution of the cycle
    /// length (see [`Design::cycle`]). Its absolute error is then below 1e-10, and its method is
    /// [`Method::Validated`].
    ///
    /// For large designs, this distribution is not computed. A lower and an upper bound on the
    /// probability then follow from the mean and the variance of the cycle length. (The
    /// inequalities are those of Jensen and Scarf.) The value is a normal approximation. If the
    /// approximation is not between the bounds, the value is the nearer bound. The bounds differ by
    /// at most about s/m, where s is the standard deviation and m is the mean of the cycle length.
    /// The method is also [`Method::Validated`], because no bound on the error of the variance is
    /// proven.
    #[must_use]
    pub fn probability(&self, gap: u64) -> Bracket {
        if gap < self.remembered_at_least() {
            return Bracket { value: 0.0, lower: 0.0, upper: 0.0, method: Method::Exact };
        }
        if self.remembered_at_most().is_some_and(|most| gap >= most) {
            return Bracket { value: 1.0, lower: 1.0, upper: 1.0, method: Method::Exact };
        }
        match self.cycle.law() {
            Some(survival) => {
                let value = self.summed(survival, gap).clamp(0.0, 1.0);
                Bracket { value, lower: (value - SUMMED).max(0.0), upper: (value + SUMMED).min(1.0), method: Method::Validated }
            }
            None => self.by_moments(gap as f64),
        }
    }

    fn summed(&self, survival: &[f64], gap: u64) -> f64 {
        let mean = self.sums[self.sums.len() - 1];
        // The sum of P(N > i) over i < n. Beyond the end of the law, it is constant.
        let sum = |n: u64| self.sums[usize::try_from(n).map_or(self.sums.len() - 1, |n| n.min(self.sums.len() - 1))];
        let more = |n: u64| usize::try_from(n).ok().and_then(|n| survival.get(n)).copied().unwrap_or(0.0);
        let mode = self.design.mode;
        if mode.phases == Phases::One {
            return sum(gap.saturating_add(u64::from(!mode.retaining))) / mean;
        }
        let places = gap.saturating_add(1).min(survival.len() as u64);
        // For the first `sure` values of u, P(N > u) is 1. So for these values, the sum of 1 -
        // P(N' > gap - u) is a difference of known sums.
        let sure = survival.iter().take_while(|&&more| more == 1.0).count() as u64;
        let first = places.min(sure);
        let known = first as f64 - (sum(gap.saturating_add(1)) - sum(gap.saturating_add(1) - first));
        let both = known + (first..places).map(|u| more(u) * (1.0 - more(gap - u))).sum::<f64>();
        let at_once = if mode.excludes_triggers() { more(gap) } else { 0.0 };
        (both + at_once) / mean
    }

    fn by_moments(&self, gap: f64) -> Bracket {
        let (mean, variance) = (self.cycle.mean.value, self.cycle.variance);
        let mode = self.design.mode;
        let c = gap + if mode.retaining { 0.0 } else { 1.0 };
        let phases = mode.filters() as f64;
        let ((lower, value, upper), (lower_next, value_next, upper_next)) =
            (shortfall(c, (phases - 1.0) * mean, (phases - 1.0) * variance), shortfall(c, phases * mean, phases * variance));
        // If triggers are excluded, at most one item per cycle is forgotten immediately.
        let at_once = if mode.excludes_triggers() { 1.0 } else { 0.0 };
        let slack = 1e-9 * (1.0 + c / mean);
        let share = |x: f64| (x / mean).clamp(0.0, 1.0);
        let (lower, upper) = (share(lower - upper_next - slack * mean), share(upper - lower_next + at_once + slack * mean));
        Bracket { value: share(value - value_next).clamp(lower, upper), lower, upper, method: Method::Validated }
    }

    /// Returns the smallest number of new items after which an item is forgotten with at least the
    /// given probability. The result is `None` if this number is above 2^62.
    #[must_use]
    pub fn gap_at(&self, probability: f64) -> Option<u64> {
        let (mut low, mut high) = (0u64, 1u64);
        while self.probability(high).value < probability {
            (low, high) = (high, high.checked_mul(2).filter(|&gap| gap < 1 << 63)?);
        }
        if self.probability(0).value >= probability {
            return Some(0);
        }
        Some(bisect(low + 1..=high, |gap| self.probability(gap).value >= probability))
    }
}

/// The number of steps allowed for the distribution of the cycle length if many designs are
/// compared.
pub(super) const MANY_CALLS: f64 = 5e6;

/// An upper bound on the absolute error of sums of probabilities from the distribution.
const SUMMED: f64 = 1e-10;

/// Three values for `E[(c - Y)^+]`: Jensen's lower bound, the value for a normal Y, and Scarf's
/// upper bound.
fn shortfall(c: f64, mean: f64, variance: f64) -> (f64, f64, f64) {
    let (short, deviation) = (c - mean, libm::sqrt(variance));
    if deviation == 0.0 {
        let certain = short.max(0.0);
        return (certain, certain, certain);
    }
    let z = short / deviation;
    let density = libm::exp(-z * z / 2.0) / libm::sqrt(2.0 * core::f64::consts::PI);
    let normal = deviation * (z * libm::erfc(-z / core::f64::consts::SQRT_2) / 2.0 + density);
    // Computes (sqrt(s^2 + d^2) + d) / 2 without cancellation for d < 0.
    let root = libm::hypot(deviation, short);
    let most = if short < 0.0 { variance / (2.0 * (root - short)) } else { (root + short) / 2.0 };
    (short.max(0.0), normal, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recycling::Mode;

    /// Compares `shortfall` with tabulated values of `E[(c - Y)^+]` for a normal Y:
    /// `d (z Phi(z) + phi(z))`.
    #[test]
    fn the_normal_shortfall_lies_between_its_bounds() {
        for (z, expected) in
            [(-1.0, 0.083_315_470_581_186_4), (0.0, 0.398_942_280_401_432_7), (1.0, 1.083_315_470_581_186_4), (2.0, 2.008_490_702_616_857)]
        {
            for (mean, deviation) in [(0.0, 1.0), (100.0, 7.0), (-3.0, 0.25)] {
                let (least, normal, most) = shortfall(mean + z * deviation, mean, deviation * deviation);
                assert!((normal / (deviation * expected) - 1.0).abs() < 1e-9, "{z} {mean} {deviation}: {normal}");
                assert!(least <= normal && normal <= most, "{z} {mean} {deviation}: {least} {normal} {most}");
            }
        }
    }

    fn designs() -> impl Iterator<Item = Forgetting> {
        let modes = [Mode::default(), Mode::two_phase()];
        modes.into_iter().map(|mode| Design::new(300, 3, 140, mode).and_then(|design| design.forgetting()).expect("in range"))
    }

    /// Tests that the gap for a probability is the first gap that reaches this probability.
    #[test]
    fn gaps_are_the_inverse_of_probabilities() {
        for law in designs() {
            for p in [1e-6, 0.01, 0.3, 0.5, 0.9, 0.999] {
                let gap = law.gap_at(p).expect("all is forgotten some day");
                assert!(law.probability(gap).value >= p, "{p}: {gap}");
                assert!(gap == 0 || law.probability(gap - 1).value < p, "{p}: {gap}");
            }
            assert_eq!(law.gap_at(law.probability(0).value), Some(0));
            assert_eq!(law.gap_at(1.1), None);
        }
    }

    /// Compares the probability with a sum over the item's position in its phase. An item is
    /// forgotten when the rest of its phase and the whole next phase are over.
    #[test]
    fn two_phases_forget_what_neither_holds() {
        let law = Design::new(300, 3, 140, Mode::two_phase()).and_then(|design| design.forgetting()).expect("in range");
        let survival = law.cycle.law().expect("short").to_vec();
        let more = |i: u64| usize::try_from(i).ok().and_then(|i| survival.get(i)).copied().unwrap_or(0.0);
        let mean: f64 = survival.iter().sum();
        for gap in [0, 30, 45, 60, 80, 100, 130, 200] {
            let both: f64 = (0..=gap).map(|u| more(u) * (1.0 - more(gap - u))).sum();
            let at_once = if law.design.mode.excludes_triggers() { more(gap) } else { 0.0 };
            let found = law.probability(gap).value;
            assert!((found - (both + at_once) / mean).abs() < 1e-9, "{gap}: {found} {}", (both + at_once) / mean);
        }
    }
}
