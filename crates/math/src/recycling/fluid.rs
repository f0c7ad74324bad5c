//! The long-run rate of designs with too many states for the recursion. A state is a number of set
//! bits. Sums over states are replaced by integrals with bounded remainders.
//!
//! If the probes of an item may collide, the filter is filled by a sequence of single hashes, `k`
//! per item. Let `T` be the number of hashes until more than `sigma` bits are set. Then a cycle has
//! `ceil(T / k)` items. Let `T_b` be the number of hashes until `b` bits are set, and let `w` be a
//! k-th root of 1. Since `T_b` is a sum of independent geometric variables, `E[w^(T_b)]` is a
//! product. Let `v_b` be the expected number of items that find b set bits. Then the following
//! equations hold exactly:
//!
//! ```text
//! v_b  = (1/k) [ m/(m-b) + sum over w of E[w^(T_b)] / (1 - w b/m) ]          w over the roots other than 1
//! E[N] = E[T]/k + (k-1)/(2k) + (1/k) sum over w of E[w^T] / (1/w - 1)
//! ```
//!
//! The absolute value `|E[w^(T_b)]|` decreases like `exp(-b^2/m)`, which bounds the sums over the
//! roots other than 1. The terms without w lead to sums over b of `1/(1-x)` and `x^k/(1-x)` with
//! `x = b/m`. All derivatives of these functions are positive, so two successive partial sums of
//! the Euler-Maclaurin formula enclose each of these sums. The relative rounding error is below
//! [`rounding`].

use super::long_run::{Walked, times_rho};
use super::number::around;
use super::walk::{Walk, last_seen};
use super::{Design, Result};
use crate::exact::enclosure::Enclosure;
use crate::exact::power::power;
use alloc::vec::Vec;
use core::f64::consts::PI;

/// A positive number with a lower and an upper bound.
#[derive(Clone, Copy, Debug)]
struct Between {
    low: f64,
    high: f64,
}

impl Between {
    fn enclosure(self, relative: f64) -> Enclosure {
        let (low, high) = (around(self.low.max(0.0), relative), around(self.high, relative));
        Enclosure::between(low.lower, high.upper)
    }
}

/// A bound on the relative rounding error of every number that this module computes. The bound
/// covers a few hundred operations and a k-th power.
fn rounding(probes: u32) -> f64 {
    (1_000.0 + 40.0 * f64::from(probes)) * f64::EPSILON
}

impl Design {
    /// Returns the long-run rate and the number of items per cycle, computed by integrals. The
    /// integrals apply only if probes may collide and every cycle begins with an empty filter.
    pub(super) fn fluid(&self) -> Result<Walked> {
        let (k, m) = (f64::from(self.probes), self.bits as f64);
        let items = self.fluid_items();
        let passed = self.fluid_passed();
        // Narrows the bounds where possible: a cycle has at least one item, and an average rate is
        // at most the rate in the fullest state.
        let items = Between { low: items.low.max(1.0), high: items.high };
        let active = Between { low: (passed.low / items.high).max(0.0), high: (passed.high / items.low).min(1.0) };
        let (relative, items) = (rounding(self.probes), items.enclosure(rounding(self.probes)));
        if !self.mode.has_two_phases() {
            return Ok(Walked { rate: times_rho(self.rho(self.sigma), &active.enclosure(relative))?, items });
        }
        // The rates of both filters are divided by the pass probability of the fullest possible
        // frozen filter.
        let top = self.fullest();
        let down = |ones: u64| libm::exp(k * libm::log1p(-((top - ones) as f64) / top as f64));
        let rho = libm::exp(k * libm::log1p(-((self.bits - top) as f64) / m));
        let scale = down(self.sigma);
        let active = Between { low: active.low * scale, high: active.high * scale };
        let frozen: f64 = self.fluid_frozen().into_iter().map(|(ones, weight)| weight * down(ones)).sum();
        // T modulo k is uniformly distributed, except for a small deviation that the roots other
        // than 1 bound.
        let uneven = k * self.roots(|_, size| size);
        let frozen = Between { low: frozen * (1.0 - uneven), high: frozen * (1.0 + uneven) };
        // The rate is a + g - E[a g], where a and g are the pass probabilities of the active and of
        // the frozen filter. With shared positions, a and g are positively correlated, and
        // `shared_excess` bounds their covariance.
        let shared = if self.mode.shares_positions() { self.shared_excess(active.high * rho, rho) / rho } else { 0.0 };
        let known = |a: f64, g: f64| a * (1.0 - (rho * g).min(1.0)) + g;
        let share = Between { low: known(active.low, frozen.low) - shared, high: known(active.high, frozen.high) };
        Ok(Walked { rate: times_rho(self.rho(top), &share.enclosure(4.0 * relative))?, items })
    }

    /// Returns the sum of `term(angle, |E[w^T]|)` over the roots other than 1. The terms must
    /// decrease as the angle grows to 180 degrees.
    fn roots(&self, term: impl Fn(f64, f64) -> f64) -> f64 {
        self.pairs(|angle| {
            let term = term(angle, self.decay(angle));
            (term, term)
        })
    }

    /// Returns an upper bound on `|E[w^T]|` for the root w with this angle.
    ///
    /// `|E[w^T]|` is the product of `(1-x) / |1 - w x|` over the states. The inverse of a factor
    /// has the logarithm `L = ln(1 + a x / (1-x)^2) / 2` with `a = |1 - w|^2`. L rises with x, so
    /// the sum over the states is at least the integral. The integral is
    /// `-(1-x) L + (a/2) ln |1 - w x| + sin(angle) arg`, where `-arg` is the angle of `1 - w x`.
    /// Each of its terms is below `a x / (1-x)^2`, which bounds the effect of cancellation.
    fn decay(&self, angle: f64) -> f64 {
        let (m, x) = (self.bits as f64, self.sigma as f64 / self.bits as f64);
        let empty = (self.bits - self.sigma) as f64 / m;
        let (sine, half) = (libm::sin(angle), libm::sin(angle / 2.0));
        let a = 4.0 * half * half;
        let more = libm::log1p(a * x / (empty * empty)) / 2.0;
        let arg = libm::atan2(x * sine, 1.0 - x * libm::cos(angle));
        let integral = a / 2.0 * (more + log_empty(x, empty)) + sine * arg - empty * more;
        let slack = 1e-14 * a * x / (empty * empty);
        libm::exp(-m * (integral * (1.0 - 1e-9) - slack).max(0.0))
    }

    /// Returns a sum over the roots other than 1 in which each root and its complex conjugate have
    /// the same term. For each angle, `at` returns the term and a bound on all terms with larger
    /// angles. When this bound is negligible, the sum ends, and the bound is added for each
    /// remaining root.
    fn pairs(&self, at: impl Fn(f64) -> (f64, f64)) -> f64 {
        let mut sum = 0.0;
        for j in 1..=self.probes / 2 {
            let left = f64::from(self.probes - 2 * j);
            let (term, later) = at(2.0 * PI * f64::from(j) / f64::from(self.probes));
            sum += if left > 0.0 { 2.0 * term } else { term };
            if left * later < 1e-25 {
                return sum + left * later;
            }
        }
        sum
    }

    /// Returns the expected number of items in a cycle, `E[N]`.
    fn fluid_items(&self) -> Between {
        let (k, m) = (f64::from(self.probes), self.bits as f64);
        let (x, empty) = (self.sigma as f64 / m, (self.bits - self.sigma) as f64 / m);
        let sum = -m * log_empty(x, empty) + (1.0 + 1.0 / empty) / 2.0 + (1.0 / (empty * empty) - 1.0) / (12.0 * m);
        let next = 6.0 / (empty * empty * empty * empty) / (720.0 * m * m * m);
        let rest = self.roots(|angle, size| size / (2.0 * libm::sin(angle / 2.0)));
        let half = (k - 1.0) / 2.0;
        Between { low: (sum - next + half - rest) / k, high: (sum + half + rest) / k }
    }

    /// Returns the variance of the number of items in a cycle, in the limit of large filters. The
    /// result is the variance of `ceil(T / k)`, if `T` modulo k is uniform. `Var T` is the sum of
    /// `x / (1-x)^2` over the states.
    pub(super) fn fluid_variance(&self) -> f64 {
        let (k, m) = (f64::from(self.probes), self.bits as f64);
        let (x, empty) = (self.sigma as f64 / m, (self.bits - self.sigma) as f64 / m);
        // The integral of x / (1-x)^2 is x / (1-x) + ln(1-x). The Euler-Maclaurin formula adds half
        // of the last term, and a term with the difference between the derivatives at the two ends.
        let integral = if x < 1e-4 { x * x / 2.0 + x * x * x * 2.0 / 3.0 } else { x / empty + log_empty(x, empty) };
        let slope = (1.0 + x) / (empty * empty * empty) - 1.0;
        let hashes = m * integral + x / (2.0 * empty * empty) + slope / (12.0 * m);
        (hashes + (k * k - 1.0) / 12.0) / (k * k)
    }

    /// Returns the expected number of items that pass in a cycle, divided by the pass probability
    /// at sigma set bits.
    fn fluid_passed(&self) -> Between {
        let (k, m) = (f64::from(self.probes), self.bits as f64);
        let (x, empty) = (self.sigma as f64 / m, (self.bits - self.sigma) as f64 / m);
        // The derivatives of x^k / (1-x), by Leibniz' rule, divided by x^k.
        let falling = |i: i32| (0..i).map(|i| (k - f64::from(i)) / x).product::<f64>();
        let first = falling(1) / empty + 1.0 / (empty * empty);
        let inverse = 1.0 / empty;
        let third =
            falling(3) * inverse + 3.0 * falling(2) * power(inverse, 2) + 6.0 * falling(1) * power(inverse, 3) + 6.0 * power(inverse, 4);
        let at_zero = if self.probes == 1 { 1.0 / x } else { 0.0 };
        let sum = m * tail_integral(self.probes, x, empty) + inverse / 2.0 + (first - at_zero) / (12.0 * m);
        let next = third / (720.0 * m * m * m);
        let rest = self.early_states();
        Between { low: (sum - next - rest) / k, high: (sum + rest) / k }
    }

    /// Returns an upper bound on what the roots other than 1 contribute to the number of items that
    /// pass, divided by `x^k` at sigma set bits. The terms of these roots decrease with b only
    /// after some bits are set, so they need a separate bound.
    ///
    /// By concavity, `ln(1 + a x) >= x ln(1 + a)` for x up to 1. So
    /// `|E[w^(T_b)]| <= exp(-ln(1 + a) b (b-1) / (4 m))`. Because b is at most m, this is at most
    /// `(1 + a)^(1/4) exp(-c b^2 / 2)` with `c = ln(1 + a) / (2 m)`. The function
    /// `b^k exp(-c b^2/2)` has one peak, so its sum over b up to sigma is at most its integral plus
    /// its value at the peak. A second bound applies if `r = k/sigma - ln(1 + a x / (1-x)^2) / 2`
    /// is above 0. In this case, each term up to sigma is at least `exp(r)` times the previous one,
    /// so the sum is at most the last term times `1 + 1/r`. The absolute value `|1 - w x|` is at
    /// least the sine of the angle, or at least 1 for angles above a right angle.
    fn early_states(&self) -> f64 {
        let (k, sigma) = (f64::from(self.probes), self.sigma as f64);
        let ln_sigma = libm::log(sigma);
        let empty = (self.bits - self.sigma) as f64;
        self.pairs(|angle| {
            let a = 2.0 * (1.0 - libm::cos(angle));
            let c = libm::log1p(a) / (2.0 * self.bits as f64);
            let nearest = if angle < PI / 2.0 { libm::sin(angle) } else { 1.0 };
            let half = (k + 1.0) / 2.0;
            let integral = libm::lgamma(half) + half * libm::log(2.0 / c) - libm::log(2.0);
            let peak = k / 2.0 * (libm::log(k / c) - 1.0);
            let at_once: f64 = [integral, peak].into_iter().map(|ln| libm::exp((ln - k * ln_sigma).min(700.0))).sum();
            let slope = libm::log1p(a * sigma * self.bits as f64 / (empty * empty)) / 2.0;
            let rising = k / sigma * (1.0 - 1e-9) - slope;
            // This product includes only the states below sigma, one fewer than the product for T.
            let last = if rising > 0.0 { self.decay(angle) * libm::exp(slope) * (1.0 + 1.0 / rising) } else { f64::INFINITY };
            // The sum over b decreases as the angle grows, and the fourth root is at most 1.5. So
            // `1.5 * each` bounds all terms with larger angles.
            let each = 1.000_001 * at_once.min(last) / nearest;
            (libm::pow(1.0 + a, 0.25) * each, 1.5 * each)
        })
    }

    /// Returns the distribution of the fill of the frozen filter. The computation assumes that each
    /// of the `k` hashes of an item is equally likely to be the one that makes the number of set
    /// bits exceed sigma.
    fn fluid_frozen(&self) -> Vec<(u64, f64)> {
        let (bits, probes, sigma) = (self.bits, self.probes, self.sigma);
        match self.mode.excludes_triggers() {
            false => {
                let mut walk = Walk::<f64>::entering(bits, probes, sigma);
                (sigma + 1..=self.fullest()).map(|ones| (ones, walk.step_beyond().left)).collect()
            }
            true => {
                let first = (sigma + 1).saturating_sub(probes.into());
                let visits: Vec<f64> = (first..=sigma).map(|ones| bits as f64 / ((bits - ones) as f64 * f64::from(probes))).collect();
                (first..).zip(last_seen(bits, probes, false, sigma, &visits)).collect()
            }
        }
    }

    /// Returns an upper bound on `E[a g] - E[a] E[g]` if both filters use the same positions. Here
    /// `a` is the probability that r distinct positions of a query are set in the active filter,
    /// and `g` is the same probability for the frozen filter.
    ///
    /// Both `a` and `g` decrease with r, so the covariance is at least 0. The covariance is at most
    /// the sum over t >= 1 of `P(r = k - t) a_(k-t) g_(k-t)`. Here `P(r = k - t) <= (C(k,2)/m)^t`,
    /// `a_(k-t) <= E[x^(k-t)] <= f^((k-t)/k)` by Jensen, and `g_(k-t) <= rho^((k-t)/k)`, where f is
    /// the argument `rate`, an upper bound on the rate of the active filter. So a geometric series
    /// bounds the sum.
    fn shared_excess(&self, rate: f64, rho: f64) -> f64 {
        let k = f64::from(self.probes);
        let ratio = k * (k - 1.0) / 2.0 / self.bits as f64 / libm::pow(rate * rho, 1.0 / k);
        if ratio < 0.5 { 1.000_001 * rate * rho * ratio / (1.0 - ratio) } else { rate.min(rho) }
    }
}

/// Returns `ln(1 - x)`, computed from x or from 1 - x, whichever is more precise.
fn log_empty(x: f64, empty: f64) -> f64 {
    if x < 0.5 { libm::log1p(-x) } else { libm::log(empty) }
}

/// Returns the rate at a load of `x = sigma / bits`, in the limit of large filters. Searches start
/// from this approximation.
pub(super) fn limit_rate(probes: u32, x: f64, filters: u64) -> f64 {
    let full = libm::pow(x, probes.into());
    let one = full * tail_integral(probes, x, 1.0 - x) / -libm::log1p(-x);
    if filters == 1 { one } else { one + full - one * full }
}

/// Returns the sum over j > k of `x^(j-k) / j`. The sum is equal to the integral of `y^k / (1-y)`
/// from 0 to x, divided by `x^k`. The relative error is below `(500 + 20 k)` times 2^-52, which is
/// half of [`rounding`]. The function computes the sum in one of two ways:
///
/// * Subtract the first k terms of the series of `-ln(1-x)` from the logarithm itself, all divided
///   by `x^k`. Each term has an error of at most `1.5 k + 6` units of the last place. Subtraction
///   is used only if at least a tenth of the logarithm remains, so the error grows at most tenfold.
/// * Add up the series, beginning with its smallest terms: `x (1/(k+1) + x (1/(k+2) + ..))`. Term j
///   has an error of `1.5 j` units, and x has an error of half a unit for each power. The weights
///   of the terms decrease at least like `x^j`, so the average error is at most `2 / (1-x)` units.
///   Above x = 0.95, the series is used only if the first k terms are at least nine tenths of the
///   logarithm, and therefore `1/(1-x) < 2 k^1.12`.
fn tail_integral(probes: u32, x: f64, empty: f64) -> f64 {
    let k = f64::from(probes);
    if x > 0.95 {
        let all = -log_empty(x, empty) / libm::pow(x, k);
        let first: f64 = (1..=probes).map(|j| libm::pow(x, f64::from(j) - k) / f64::from(j)).sum();
        // Both sums are infinite if x^k is below the range of f64.
        if all.is_finite() && all - first > 0.1 * all {
            return all - first;
        }
    }
    // The terms after the first n are at most x^n times the sum.
    let terms = libm::ceil(-42.0 / libm::log(x)).max(1.0) as u64;
    (1..=terms).rev().fold(0.0, |sum, j| x * (sum + 1.0 / (k + j as f64)))
}

#[cfg(test)]
mod tests {
    use super::super::{Mode, Phases, Seeds, Trigger};
    use super::*;
    use crate::exact::double::DoubleDouble;

    /// Tests that the integrals enclose the result of the recursion in pairs of `f64`, and that the
    /// brackets are as narrow as when the test was written. The test compares the number of items
    /// and the rate, with and without shared positions of the two filters.
    #[test]
    fn integrals_enclose_the_walk() {
        for (bits, probes, sigma, [most, most_items, most_shared]) in [
            (100u64, 1u32, 40u64, [1e-8, 2e-9, 2e-9]),
            (1_000, 1, 990, [5e-7, 2e-7, 4e-9]),
            (1_000, 2, 300, [0.018, 1e-12, 5e-3]),
            (1_000, 4, 900, [7e-6, 4.5e-11, 2.5e-3]),
            (20_000, 3, 7_000, [1.3e-5, 1e-12, 2.4e-5]),
            (20_000, 7, 12_000, [8e-11, 1e-12, 1.8e-5]),
            (50_000, 12, 49_000, [4e-12, 1e-12, 4.5e-4]),
            (100_000, 20, 40_000, [4e-12, 1e-12, 1.4e-11]),
        ] {
            for mode in [
                Mode::default(),
                Mode::two_phase(),
                Mode { seeds: Seeds::Kept, ..Mode::two_phase() },
                Mode { phases: Phases::Two(Trigger::Excluded), seeds: Seeds::Kept, ..Mode::default() },
            ] {
                let design = Design::new(bits, probes, sigma, mode).expect("a design");
                let (walked, fluid) = (design.walked::<DoubleDouble>().expect("walked"), design.fluid().expect("fluid"));
                let most = if mode.shares_positions() { most_shared } else { most };
                for (exact, bound, most) in [(&walked.rate, &fluid.rate, most), (&walked.items, &fluid.items, most_items)] {
                    let inside = bound.lower.compare(&exact.upper).is_le() && exact.lower.compare(&bound.upper).is_le();
                    assert!(inside, "{design:?}: {:e} .. {:e} misses {:e}", bound.lower.floor(), bound.upper.ceil(), exact.lower.floor());
                    let width = bound.upper.ceil() / bound.lower.floor() - 1.0;
                    assert!(width < most, "{design:?}: a relative width of {width:e}");
                }
            }
        }
    }

    /// Tests designs with few set bits, where the bound on the items that pass comes from the last
    /// of the increasing terms (see [`Design::early_states`]).
    #[test]
    fn integrals_enclose_the_walk_of_few_set_bits() {
        for (bits, probes, sigma) in [(100_000, 12, 2_000), (100_000, 12, 2_500), (1_000_000, 20, 16_000)] {
            let design = Design::new(bits, probes, sigma, Mode::default()).expect("a design");
            let (walked, fluid) = (design.walked::<DoubleDouble>().expect("walked"), design.fluid().expect("fluid"));
            let width = fluid.rate.upper.ceil() / fluid.rate.lower.floor() - 1.0;
            println!("{design:?}: {width}");
            assert!(fluid.rate.lower.compare(&walked.rate.upper).is_le() && walked.rate.lower.compare(&fluid.rate.upper).is_le());
            assert!(width < 4.0, "{design:?}: a relative width of {width}");
        }
    }

    /// Compares `tail_integral` with the series in pairs of `f64`, at loads that `f64` pairs
    /// represent exactly. The error must be below the documented bound. If subtraction were used
    /// until only a hundredth of the logarithm remains, the error would reach 51 units of the last
    /// place per probe.
    #[test]
    fn the_tail_keeps_to_its_bound() {
        let series = |probes: u32, full: u64, bits: u64| {
            let x = DoubleDouble::over(whole(full), whole(bits));
            let terms = (-80.0 / (full as f64 / bits as f64).ln()).ceil() as u64;
            (1..=terms).rev().fold(DoubleDouble::ZERO, |sum, j| x.times(sum.plus(DoubleDouble::ONE.over(whole(u64::from(probes) + j)))))
        };
        let mut worst: f64 = 0.0;
        for probes in [1u32, 2, 7, 20, 50, 100, 190, 400] {
            for step in 0..60 {
                // The share of empty bits goes from a tenth down to about 3e-4.
                let (bits, empty) = (1_000_003u64, (100_000.0 * libm::exp(-0.097 * f64::from(step))) as u64);
                let (x, rest) = ((bits - empty) as f64 / bits as f64, empty as f64 / bits as f64);
                let (exact, found) = (series(probes, bits - empty, bits), tail_integral(probes, x, rest));
                let error = ((found - exact.high) - exact.low).abs() / exact.high / f64::EPSILON;
                worst = worst.max(error / (500.0 + 20.0 * f64::from(probes)));
                assert!(error <= 500.0 + 20.0 * f64::from(probes), "{probes} probes, {x}: {error} units");
            }
        }
        println!("at most {worst} of the bound");
    }

    fn whole(x: u64) -> DoubleDouble {
        <DoubleDouble as super::super::number::Positive>::whole(x)
    }

    /// Tests the variance for one probe. With one probe, a cycle consists of independent geometric
    /// waiting times, one for each bit, so the variance is a sum. The loads are on both sides of
    /// the point below which a series is used.
    #[test]
    fn variances_are_those_of_the_waits() {
        for (bits, sigma) in [
            (1_000_000, 30),
            (1_000_000, 90),
            (1_000_000, 99),
            (1_000_000, 150),
            (100_000, 30_000),
            (100_000, 90_000),
            (1_000, 300),
            (1_000, 900),
        ] {
            let design = crate::recycling::Design::new(bits, 1, sigma, crate::recycling::Mode::default()).expect("in range");
            let share = |ones: u64| ones as f64 / bits as f64;
            let exact: f64 = (0..=sigma).map(|ones| share(ones) / ((1.0 - share(ones)) * (1.0 - share(ones)))).sum();
            let found = design.fluid_variance();
            assert!((found / exact - 1.0).abs() < 1e-7, "{bits} {sigma}: {found} {exact}");
        }
    }

    /// Tests the variance for several probes, where a cycle always ends with a whole item. Compares
    /// this variance with the variance from the distribution of the set bits, computed hash by
    /// hash.
    #[test]
    fn variances_of_several_probes_are_those_of_the_chain() {
        for (bits, probes, sigma) in [(400usize, 2u32, 150usize), (400, 5, 250), (1_000, 3, 300)] {
            let mut law = vec![0.0f64; sigma + 1];
            law[0] = 1.0;
            // E[N] and E[N^2] are sums over the probabilities that a cycle has more than a given
            // number of items.
            let (mut mean, mut square) = (0.0, 0.0);
            for items in 0u32.. {
                let left: f64 = law.iter().sum();
                if left < 1e-15 {
                    break;
                }
                (mean, square) = (mean + left, square + (2.0 * f64::from(items) + 1.0) * left);
                for _ in 0..probes {
                    for ones in (0..=sigma).rev() {
                        let from_below = if ones > 0 { law[ones - 1] * (bits - ones + 1) as f64 / bits as f64 } else { 0.0 };
                        law[ones] = law[ones] * ones as f64 / bits as f64 + from_below;
                    }
                }
            }
            let exact = square - mean * mean;
            let found = Design::new(bits as u64, probes, sigma as u64, Mode::default()).expect("a design").fluid_variance();
            println!("{bits} {probes} {sigma}: {found} {exact}");
            assert!((found / exact - 1.0).abs() < 1e-8, "{bits} {probes} {sigma}: {found} {exact}");
        }
    }
}
