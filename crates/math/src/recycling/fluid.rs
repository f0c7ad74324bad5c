//! The long run where there are too many states to walk: sums become integrals, with what is left out bounded.
//!
//! For colliding probes a filter is a sequence of single hashes, `k` to an item. With `T` the hashes until more than `sigma` bits are set, a cycle has
//! `ceil(T / k)` items. `T` is a sum of independent geometric variables, so `E[w^(T_b)]`, for `w` a k-th root of 1 and `T_b` the hashes until `b` bits are set, is a product, and
//!
//! ```text
//! v_b  = (1/k) [ m/(m-b) + sum over w of E[w^(T_b)] / (1 - w b/m) ]          w over the roots other than 1
//! E[N] = E[T]/k + (k-1)/(2k) + (1/k) sum over w of E[w^T] / (1/w - 1)
//! ```
//!
//! exactly. `|E[w^(T_b)]|` falls like `exp(-b^2/m)`, which bounds the sums over roots; the rest are sums over b of `1/(1-x)` and `x^k/(1-x)`, `x = b/m`, functions whose derivatives are all
//! positive, so that two successive terms of Euler and Maclaurin's formula enclose them. Roundings are below [`rounding`].

use super::long_run::{Walked, times_rho};
use super::number::around;
use super::walk::{Walk, last_seen};
use super::{Design, Phases, Result, Trigger};
use crate::enclosure::Enclosure;
use std::f64::consts::PI;

/// A positive number between two.
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

/// Relative error of everything computed here: a chain of some hundred operations, and a power of `k`.
fn rounding(probes: u32) -> f64 {
    (1_000.0 + 40.0 * f64::from(probes)) * f64::EPSILON
}

impl Design {
    /// Only for colliding probes that are not retained.
    pub(super) fn fluid(&self) -> Result<Walked> {
        let (k, m) = (f64::from(self.probes), self.bits as f64);
        let items = self.fluid_items();
        let passed = self.fluid_passed();
        let active = Between { low: passed.low / items.high, high: passed.high / items.low };
        let (relative, items) = (rounding(self.probes), items.enclosure(rounding(self.probes)));
        if self.mode.phases == Phases::One {
            return Ok(Walked { rate: times_rho(self.rho(self.sigma), &active.enclosure(relative))?, items });
        }
        // Everything relative to the pass probability at the fullest frozen filter.
        let top = self.fullest();
        let down = |ones: u64| libm::exp(k * libm::log1p(-((top - ones) as f64) / top as f64));
        let rho = libm::exp(k * libm::log1p(-((self.bits - top) as f64) / m));
        let scale = down(self.sigma);
        let active = Between { low: active.low * scale, high: active.high * scale };
        let frozen: f64 = self.fluid_frozen().into_iter().map(|(ones, weight)| weight * down(ones)).sum();
        // Each phase has its share 1/k, but for the roots.
        let uneven = k * self.roots(|_, size| size);
        let frozen = Between { low: frozen * (1.0 - uneven), high: frozen * (1.0 + uneven) };
        // a + g - E[a g]: with shared positions the two are positively correlated, by at most what repeated positions allow.
        let shared = if self.mode.shared_hash { self.shared_excess(active.high * rho, rho) / rho } else { 0.0 };
        let known = |a: f64, g: f64| a * (1.0 - (rho * g).min(1.0)) + g;
        let share = Between { low: known(active.low, frozen.low) - shared, high: known(active.high, frozen.high) };
        Ok(Walked { rate: times_rho(self.rho(top), &share.enclosure(4.0 * relative))?, items })
    }

    /// `sum over the roots other than 1 of term(angle, |E[w^T]|)`; beyond `e^-700` the rest is 0.
    ///
    /// `|E[w^T]|^2` is the product of `1 / (1 + a x / (1-x)^2)`, `a = 2 (1 - cos angle)`, over the states, at most `exp(-sum of ln(1 + a x))`, and the sum is at least the integral.
    fn roots(&self, term: impl Fn(f64, f64) -> f64) -> f64 {
        let (m, x) = (self.bits as f64, self.sigma as f64 / self.bits as f64);
        let size = |angle: f64| {
            let a = 2.0 * (1.0 - libm::cos(angle));
            let y = a * x;
            // (1 + y) ln(1 + y) - y = y^2/2 - y^3/6 + .. cancels for small y.
            let integral = if y < 1e-3 { y * y / 2.0 - y * y * y / 6.0 } else { (1.0 + y) * libm::log1p(y) - y } / a;
            libm::exp(-m * integral / 2.0 * (1.0 - 1e-9))
        };
        (1..self.probes).map(|j| 2.0 * PI * f64::from(j) / f64::from(self.probes)).map(|angle| term(angle, size(angle))).sum()
    }

    /// `E[N]`.
    fn fluid_items(&self) -> Between {
        let (k, m) = (f64::from(self.probes), self.bits as f64);
        let (x, empty) = (self.sigma as f64 / m, (self.bits - self.sigma) as f64 / m);
        let sum = -m * log_empty(x, empty) + (1.0 + 1.0 / empty) / 2.0 + (1.0 / (empty * empty) - 1.0) / (12.0 * m);
        let next = 6.0 / (empty * empty * empty * empty) / (720.0 * m * m * m);
        let rest = self.roots(|angle, size| size / (2.0 * libm::sin(angle / 2.0)));
        let half = (k - 1.0) / 2.0;
        Between { low: (sum - next + half - rest) / k, high: (sum + half + rest) / k }
    }

    /// The variance of the items of a cycle in the limit: `ceil(T / k)` for a `T` that is evenly spread modulo k, `Var T = sum of x / (1-x)^2`.
    pub(super) fn fluid_variance(&self) -> f64 {
        let (k, m) = (f64::from(self.probes), self.bits as f64);
        let (x, empty) = (self.sigma as f64 / m, (self.bits - self.sigma) as f64 / m);
        // The integral of x / (1-x)^2 is x / (1-x) + ln(1-x); then half of the last term and the difference of derivatives.
        let integral = if x < 1e-4 { x * x / 2.0 + x * x * x * 2.0 / 3.0 } else { x / empty + log_empty(x, empty) };
        let slope = (1.0 + x) / (empty * empty * empty) - 1.0;
        let hashes = m * integral + x / (2.0 * empty * empty) + slope / (12.0 * m);
        (hashes + (k * k - 1.0) / 12.0) / (k * k)
    }

    /// Expected items of a cycle that pass, over the pass probability at sigma.
    fn fluid_passed(&self) -> Between {
        let (k, m) = (f64::from(self.probes), self.bits as f64);
        let (x, empty) = (self.sigma as f64 / m, (self.bits - self.sigma) as f64 / m);
        // Derivatives of x^k / (1-x) by Leibniz, over x^k.
        let falling = |i: i32| (0..i).map(|i| (k - f64::from(i)) / x).product::<f64>();
        let first = falling(1) / empty + 1.0 / (empty * empty);
        let inverse = 1.0 / empty;
        let third = falling(3) * inverse + 3.0 * falling(2) * inverse.powi(2) + 6.0 * falling(1) * inverse.powi(3) + 6.0 * inverse.powi(4);
        let at_zero = if self.probes == 1 { 1.0 / x } else { 0.0 };
        let sum = m * tail_integral(self.probes, x, empty) + inverse / 2.0 + (first - at_zero) / (12.0 * m);
        let next = third / (720.0 * m * m * m);
        let rest = self.early_states();
        Between { low: (sum - next - rest) / k, high: (sum + rest) / k }
    }

    /// Bounds what the roots add to the items that pass, over `x^k` at sigma: their terms matter only while about `sqrt(m)` bits are set.
    ///
    /// By concavity `ln(1 + a x) >= a x (ln 5)/4` for `a x <= 4`, so `|E[w^(T_b)]| <= exp(-a b (b-1) / (10 m))`, at most `exp(-c b^2 / 2)` with `c = a/(10 m)` from b = 2 on; the sum over b of
    /// `b^k exp(-c b^2/2)`, with one peak, is at most its integral and its peak. `|1 - w x|` is at least the sine of the angle, or 1 beyond a right angle.
    fn early_states(&self) -> f64 {
        let k = f64::from(self.probes);
        let ln_sigma = libm::log(self.sigma as f64);
        let one = |j: u32| {
            let angle = 2.0 * PI * f64::from(j.min(self.probes - j)) / k;
            let c = 2.0 * (1.0 - libm::cos(angle)) / (10.0 * self.bits as f64);
            let nearest = if angle < PI / 2.0 { libm::sin(angle) } else { 1.0 };
            let half = (k + 1.0) / 2.0;
            let integral = libm::lgamma(half) + half * libm::log(2.0 / c) - libm::log(2.0);
            let peak = k / 2.0 * (libm::log(k / c) - 1.0);
            let sum: f64 = [0.0, integral, peak].into_iter().map(|ln| libm::exp((ln - k * ln_sigma).min(700.0))).sum();
            1.000_001 * sum / nearest
        };
        (1..self.probes).map(one).sum()
    }

    /// The law of the frozen filter: each of the `k` hashes of an item is as likely as any other to be the one that passes sigma.
    fn fluid_frozen(&self) -> Vec<(u64, f64)> {
        let (bits, probes, sigma) = (self.bits, self.probes, self.sigma);
        match self.mode.trigger {
            Trigger::Included => {
                let mut walk = Walk::<f64>::entering(bits, probes, sigma);
                (sigma + 1..=self.fullest()).map(|ones| (ones, walk.step_beyond().left)).collect()
            }
            Trigger::Excluded => {
                let first = (sigma + 1).saturating_sub(probes.into());
                let visits: Vec<f64> = (first..=sigma).map(|ones| bits as f64 / ((bits - ones) as f64 * f64::from(probes))).collect();
                (first..).zip(last_seen(bits, probes, false, sigma, &visits)).collect()
            }
        }
    }

    /// Bounds `E[a g] - E[a] E[g]` for a query of shared positions, `a` and `g` the chances that the active and the frozen filter hold r distinct positions.
    ///
    /// Both fall with r, so the covariance is at least 0, and at most `sum over t >= 1 of P(r = k - t) a_(k-t) g_(k-t)`, with `P(r = k - t) <= (C(k,2)/m)^t` and `a_(k-t) <= E[x^(k-t)]
    /// <= f^((k-t)/k)` by Jensen, `g_(k-t) <= rho^((k-t)/k)`: a geometric series.
    fn shared_excess(&self, rate: f64, rho: f64) -> f64 {
        let k = f64::from(self.probes);
        let ratio = k * (k - 1.0) / 2.0 / self.bits as f64 / libm::pow(rate * rho, 1.0 / k);
        if ratio < 0.5 { 1.000_001 * rate * rho * ratio / (1.0 - ratio) } else { rate.min(rho) }
    }
}

/// `ln(1 - x)`, from whichever of x and 1 - x is known better.
fn log_empty(x: f64, empty: f64) -> f64 {
    if x < 0.5 { libm::log1p(-x) } else { libm::log(empty) }
}

/// The rate in the limit of many bits, at a load of `x = sigma / bits`: where searches begin.
pub(super) fn limit_rate(probes: u32, x: f64, phases: Phases) -> f64 {
    let full = libm::pow(x, probes.into());
    let one = full * tail_integral(probes, x, 1.0 - x) / -libm::log1p(-x);
    match phases {
        Phases::One => one,
        Phases::Two => one + full - one * full,
    }
}

/// `sum over j > k of x^(j-k) / j`: the integral of `y^k / (1-y)` from 0 to x, over `x^k`.
fn tail_integral(probes: u32, x: f64, empty: f64) -> f64 {
    let k = f64::from(probes);
    if x > 0.95 {
        // -ln(1-x) less its first k terms; at such x less than two digits cancel up to a hundred probes.
        let first: f64 = (1..=probes).map(|j| libm::pow(x, f64::from(j) - k) / f64::from(j)).sum();
        if -log_empty(x, empty) / libm::pow(x, k) > 1.01 * first {
            return -log_empty(x, empty) / libm::pow(x, k) - first;
        }
    }
    let (mut sum, mut power, mut j) = (0.0, x, k + 1.0);
    while power / j > sum * 1e-18 {
        sum += power / j;
        power *= x;
        j += 1.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use super::*;
    use crate::occupancy::double::Double;

    /// The integrals enclose the walk in pairs of `f64`, and are narrow.
    #[test]
    fn integrals_enclose_the_walk() {
        let mut widest = 0f64;
        for (bits, probes, sigma) in [
            (100u64, 1u32, 40u64),
            (1_000, 1, 990),
            (1_000, 2, 300),
            (1_000, 4, 900),
            (20_000, 3, 7_000),
            (20_000, 7, 12_000),
            (50_000, 12, 49_000),
            (100_000, 20, 40_000),
        ] {
            for mode in [
                Mode::default(),
                Mode::two_phase(),
                Mode { shared_hash: false, ..Mode::two_phase() },
                Mode { trigger: Trigger::Excluded, ..Mode::two_phase() },
            ] {
                let design = Design::new(bits, probes, sigma, mode).expect("a design");
                let (walked, fluid) = (design.walked::<Double>().expect("walked"), design.fluid().expect("fluid"));
                for (exact, bound) in [(&walked.rate, &fluid.rate), (&walked.items, &fluid.items)] {
                    let inside = bound.lower.compare(&exact.upper).is_le() && exact.lower.compare(&bound.upper).is_le();
                    assert!(inside, "{design:?}: {:e} .. {:e} misses {:e}", bound.lower.floor(), bound.upper.ceil(), exact.lower.floor());
                    if bits >= 20_000 {
                        widest = widest.max(bound.upper.ceil() / bound.lower.floor() - 1.0);
                    }
                }
            }
        }
        println!("relative width at most {widest:e}");
        assert!(widest < 0.02);
    }
}
