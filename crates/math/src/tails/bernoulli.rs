//! Proven bounds on the tails of sums of independent Bernoulli variables. The bounds are computed
//! from the mean and the variance of the sum.
//!
//! Let S be such a sum with mean `mu` and variance `V`, and `theta > 0`.
//!
//! *Bennett (1962).* `E exp(theta (S - mu)) <= exp(V (e^theta - 1 - theta))`, so
//! `P(S - mu >= d) <= exp(-(theta d - V (e^theta - 1 - theta)))` for every `theta > 0`. The best
//! choice is `theta = ln(1 + d/V)`. Every theta gives a valid bound, so rounding theta causes no
//! error.
//!
//! *The factor that Chernoff's bound leaves out.* Multiply the probability of each outcome by
//! `e^(theta S)`, and normalize. This is exponential tilting. In the tilted distribution, the
//! summands are still independent Bernoulli variables, with success probabilities
//! `p' = p e^theta / (1 - p + p e^theta)`. Their variances are
//! `p' (1 - p') = p' (1 - p) / (1 - p + p e^theta)`, which is at least `p (1 - p) e^-theta`. So the
//! tilted variance `V'` is at least `V e^-theta`. Let `E'` and `P'` be the expectation and the
//! probability in the tilted distribution. Then
//!
//! ```text
//! P(S >= x) = E[e^(theta (S - x))] E'[e^(-theta (S - x)); S >= x],
//! E'[e^(-theta (S - x)); S >= x] <= max_s P'(S = s) (1 + e^-theta + e^-2theta + ..) = max_s P'(S = s) / (1 - e^-theta).
//! ```
//!
//! The largest probability of a single value is at most `(1/2 pi) integral |E' e^(itS)| dt`. Here
//! `|E' e^(itS)|^2` is the product of `1 - 2 p'(1-p') (1 - cos t)` over the summands, which is at
//! most `exp(-2 V' (1 - cos t))`. So the probability is at most `e^-V' I_0(V')`, where `I_0` is the
//! modified Bessel function ([`peak`]). For large `V'`, this is about `1 / sqrt(2 pi V')`. Where
//! the normal tail is accurate, the resulting bound on `P(S >= x)` is within a few percent of the
//! normal tail. At a tail probability of 0.1%, Chernoff's bound alone is 8 times too large.
//!
//! *Berry and Esseen.* The error of the normal tail is at most `0.56 / sqrt(V)`. The constant is
//! that of Shevtsova for summands with different distributions ("An improvement of convergence rate
//! estimates in the Lyapunov theorem", Doklady Mathematics 82, 2010). The sum of the absolute third
//! moments of centred Bernoulli variables is at most the variance. For a large filter, this bound
//! is close to the exact tail in the middle of the distribution.

/// The properties of the sum that the bounds need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BernoulliSum {
    /// The variance `V`.
    pub(crate) variance: f64,
    /// Describes one part of the sum: the variance of the part, divided by the square of the
    /// spacing of its values, and this spacing. The values of the part must be evenly spaced, and
    /// the part must be independent of the rest. If all terms of the sum have weight 1, the part is
    /// the whole sum, and the two numbers are `V` and 1. If the terms have two different weights,
    /// of at most 1, the part consists of the terms with one of the weights.
    pub(crate) lattice: (f64, f64),
}

/// A margin for the relative errors of the caller's variance and of `libm`'s functions, and for a
/// few roundings.
const ROUNDING: f64 = 1e-14;

impl BernoulliSum {
    /// An upper bound on `P(S - mu >= distance)`. The caller must first subtract the rounding error
    /// of the distance.
    pub(crate) fn tail(&self, distance: f64) -> f64 {
        if self.variance <= 0.0 {
            return bennett(self.variance, distance);
        }
        let deviation = libm::sqrt(self.variance);
        let normal = 0.5 * libm::erfc(distance / deviation * core::f64::consts::FRAC_1_SQRT_2) + 0.56 / deviation;
        // Below the mean, only the normal bound is below 1.
        let tilted = if distance > 0.0 { self.tilted(distance) } else { 1.0 };
        (tilted.min(normal) * (1.0 + 1e-12)).min(1.0)
    }

    /// Bennett's bound multiplied by the factor that Chernoff's bound leaves out (see the module).
    fn tilted(&self, distance: f64) -> f64 {
        let theta = libm::log1p(distance / self.variance);
        let (variance, spacing) = self.lattice;
        let values = peak(variance * libm::exp(-theta)) / -libm::expm1(-theta * spacing);
        libm::exp(-exponent(self.variance, distance, theta)) * (values * (1.0 + ROUNDING)).min(1.0)
    }
}

/// Bennett's bound on `P(S - mu >= distance)`, rounded up. It is never 0, even if it is too small
/// for an `f64`.
pub(crate) fn bennett(variance: f64, distance: f64) -> f64 {
    if distance <= 0.0 {
        return 1.0;
    }
    if variance <= 0.0 {
        return f64::MIN_POSITIVE;
    }
    let exponent = exponent(variance, distance, libm::log1p(distance / variance));
    // Where the exponential is above the smallest f64, the exponent is below 750, so its rounding
    // changes the result by less than 1e-12.
    (libm::exp(-exponent) * (1.0 + 1e-12)).clamp(f64::MIN_POSITIVE, 1.0)
}

/// A lower bound on `theta d - V (e^theta - 1 - theta)`. Each of the two terms is rounded downwards
/// by more than its rounding error.
fn exponent(variance: f64, distance: f64, theta: f64) -> f64 {
    (theta * distance * (1.0 - ROUNDING) - variance * excess(theta) * (1.0 + ROUNDING)).max(0.0)
}

/// The function `e^theta - 1 - theta` for `theta > 0`, with a relative error of a few 1e-15.
///
/// Computing `expm1(theta) - theta` would lose all digits for small theta: at 1e-4, an exponent of
/// 700 would have an error of 1e-9. The series `theta^2/2 (1 + theta/3 (1 + theta/4 (..)))` has
/// only positive terms. For theta up to 1, the remainder after its 18th term is below 2^-60 of the
/// sum.
fn excess(theta: f64) -> f64 {
    if theta > 1.0 {
        return libm::expm1(theta) - theta;
    }
    let series = (3..=20).rev().fold(1.0, |inner, i| 1.0 + theta / f64::from(i) * inner);
    0.5 * theta * theta * series
}

/// An upper bound on `e^-V I_0(V)`. In a Bernoulli sum with a variance of at least V, no single
/// value has a probability above `e^-V I_0(V)`.
///
/// `e^-V I_0(V) = (2/pi) integral_0^1 e^(-2V w^2) / sqrt(1 - w^2) dw`. For `w <= 1/2`, the factor
/// `1 / sqrt(1 - w^2)` is at most `1 + 0.6189 w^2` (a chord in `w^2`, by convexity), which
/// contributes at most `(1 + 0.1548/V) / sqrt(2 pi V)`. For larger w, the exponential is at most
/// `e^(-V/2)`, and the integral of the other factor is `pi/3`.
pub(crate) fn peak(variance: f64) -> f64 {
    let near = (1.0 + 0.1548 / variance) / libm::sqrt(2.0 * core::f64::consts::PI * variance);
    (near + 2.0 / 3.0 * libm::exp(-0.5 * variance)).min(1.0) * (1.0 + ROUNDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares `peak` with the power series of the Bessel function, whose terms are all positive.
    #[test]
    fn peaks_are_above_the_bessel_function_and_close() {
        for variance in [0.01f64, 0.3, 1.0, 3.0, 10.0, 40.0, 200.0, 600.0] {
            let (mut term, mut sum) = ((-variance).exp(), 0.0f64);
            for j in 1..3_000 {
                sum += term;
                term *= (variance / 2.0 / f64::from(j)).powi(2);
            }
            let bound = peak(variance);
            assert!(bound >= sum.min(1.0), "{variance}: {bound} < {sum}");
            assert!(variance < 10.0 || bound < 1.04 * sum, "{variance}: {bound} is far above {sum}");
        }
    }

    /// Compares the bounds with exact binomial tails in both directions. A bound half as large
    /// would be too small for some of these tails.
    #[test]
    fn tails_of_binomials_are_kept() {
        let (mut closest, mut cases) = (f64::INFINITY, 0);
        for (n, p) in [(5u32, 0.5f64), (60, 0.01), (60, 0.3), (400, 0.5), (400, 0.9), (3_000, 0.02), (3_000, 0.6)] {
            let ln = |x: u32| {
                libm::lgamma(f64::from(n) + 1.0) - libm::lgamma(f64::from(x) + 1.0) - libm::lgamma(f64::from(n - x) + 1.0)
                    + f64::from(x) * p.ln()
                    + f64::from(n - x) * (-p).ln_1p()
            };
            let (mean, variance) = (f64::from(n) * p, f64::from(n) * p * (1.0 - p));
            let sum = BernoulliSum { variance, lattice: (variance, 1.0) };
            let mut tail = 0.0;
            for x in (0..=n).rev() {
                tail += ln(x).exp();
                let bound = sum.tail(f64::from(x) - mean - 1e-9);
                assert!(bound >= tail * (1.0 - 1e-9), "{n} {p} {x}: {bound} < {tail}");
                if tail > 1e-300 && f64::from(x) > mean + variance.sqrt() {
                    closest = closest.min(bound / tail);
                    cases += 1;
                }
            }
        }
        println!("{cases} tails; the closest bound is {closest} times the truth");
        assert!(closest < 1.5, "a bound half as large would not have failed");
    }

    #[test]
    fn no_digit_is_lost_for_small_tilts() {
        for theta in [1e-12f64, 1e-7, 1e-4, 0.03, 0.5, 1.0, 1.000_1, 5.0] {
            let exact = (2..60).rev().fold(0.0, |sum, i| sum + theta.powi(i) / (1..=i).map(f64::from).product::<f64>());
            assert!((excess(theta) / exact - 1.0f64).abs() < 4e-15, "{theta}: {} for {exact}", excess(theta));
        }
        // Here the exponent is 700 and theta is near 1e-4. The rounding of `expm1` alone would
        // change the bound by 1e-9 of its value.
        let (variance, theta) = (1.4e11, 1e-4f64);
        let expected = variance * (theta.exp_m1() * theta - (theta * theta / 2.0 + theta.powi(3) / 6.0 + theta.powi(4) / 24.0));
        let found = bennett(variance, variance * theta.exp_m1());
        assert!(found >= (-expected).exp() && found < (-expected).exp() * (1.0 + 1e-8), "{found:e} for {:e}", (-expected).exp());
    }
}
