//! The law of the standard filter, for numbers of throws that are too large for a recurrence over
//! single throws. Each probability is a contour integral on a circle through its saddle point.
//!
//! Burns (5) is `P(X = x) = C(m, x) N! / m^N [w^N] (e^w - 1)^x`. Here N is the number of throws,
//! and `[w^N]` denotes the coefficient of `w^N`. On the circle of radius r, this probability is
//!
//! ```text
//! P(X = x) = C(m, x) N! / m^N  (e^r - 1)^x r^(-N) I,    I = 1/(2 pi) integral of ((e^w - 1) / (e^r - 1))^x e^(-iNt) dt,  w = r e^(it)
//! ```
//!
//! where I is the probability that x Poisson variables of rate r, each conditioned to be positive,
//! add up to N. At the saddle point, `r / (1 - e^(-r)) = N / x`, which is the mean of these
//! variables, so the sum has no cancellation. The factor before I has exponents as large as
//! `N ln m` that nearly cancel, so it is computed from logarithms of thirty digits. I is computed
//! by the trapezoid rule with T points on the circle. This sum is exactly the total probability
//! that the variables add up to N, N +- T, N +- 2T, and so on. If T is ten standard deviations, all
//! terms except the first are below 1e-18 of the first.
//!
//! The method is *validated*, not proven: the tail of the sum of Poisson variables bounds the error
//! of the trapezoid rule, but the rounding of the integrand is only tested.

use crate::exact::double::{DoubleDouble, ln_factorial};
use crate::exact::power::power;
use alloc::vec;
use alloc::vec::Vec;

/// The largest number of throws or bits. Beyond this limit, even thirty digits are not enough.
pub(crate) const MAX_THROWS: u128 = 1 << 53;

/// Bernoulli numbers `B_2, B_4, .. B_30` as fractions.
const BERNOULLI: [(f64, f64); 15] = [
    (1.0, 6.0),
    (-1.0, 30.0),
    (1.0, 42.0),
    (-1.0, 30.0),
    (5.0, 66.0),
    (-691.0, 2730.0),
    (7.0, 6.0),
    (-3617.0, 510.0),
    (43867.0, 798.0),
    (-174_611.0, 330.0),
    (854_513.0, 138.0),
    (-236_364_091.0, 2730.0),
    (8_553_103.0, 6.0),
    (-23_749_461_029.0, 870.0),
    (8_615_841_276_005.0, 14322.0),
];

/// The number of terms in the expansion of the integrand at its saddle point.
const ORDERS: usize = 26;

/// The values that are the same for all probabilities of one law.
#[derive(Clone, Debug)]
pub(crate) struct Contour {
    bits: u64,
    throws: u64,
    /// The logarithm `ln(m! N! / m^N)`.
    common: DoubleDouble,
    /// The coefficients `B_2j / (2j (2j)!)`; `ln((e^z - 1) / z)` is z/2 plus the sum of these times
    /// z^(2j).
    terms: [DoubleDouble; 15],
}

impl Contour {
    /// Returns `None` for more throws or bits than [`MAX_THROWS`].
    pub(crate) fn new(bits: u64, throws: u128) -> Option<Contour> {
        if throws > MAX_THROWS || u128::from(bits) > MAX_THROWS {
            return None;
        }
        let n = DoubleDouble::of(throws);
        let throws = throws as u64;
        let ln_bits = DoubleDouble::of(u128::from(bits)).ln();
        let common = ln_factorial(bits).plus(ln_factorial(throws)).minus(n.times(ln_bits));
        let mut factorial = DoubleDouble::ONE;
        let terms = core::array::from_fn(|i| {
            let order = 2.0 * (i + 1) as f64;
            factorial = factorial.scaled(order - 1.0).scaled(order);
            let (top, bottom) = BERNOULLI[i];
            DoubleDouble { high: top, low: 0.0 }.over(factorial.scaled(bottom * order))
        });
        Some(Contour { bits, throws, common, terms })
    }

    /// The natural logarithm of the probability of exactly `x` set bits, or minus infinity if that
    /// number is impossible.
    pub(crate) fn ln_probability(&self, x: u64) -> f64 {
        self.parts(x).map_or(f64::NEG_INFINITY, |(ln, integral)| ln.high + (ln.low + libm::log(integral)))
    }

    /// The probability of exactly `x` set bits, or 0 if it is below the range of `f64`. The
    /// measured relative error is at most 1e-12.
    pub(crate) fn probability(&self, x: u64) -> f64 {
        match self.parts(x) {
            Some((ln, integral)) if ln.high > -745.0 => libm::exp(ln.high) * (1.0 + ln.low) * integral,
            _ => 0.0,
        }
    }

    /// Returns two numbers: the logarithm of the factor before the integral, and the integral. The
    /// result is `None` if exactly `x` set bits are impossible.
    fn parts(&self, x: u64) -> Option<(DoubleDouble, f64)> {
        let n = self.throws;
        if x > self.bits || x > n || (x == 0) != (n == 0) {
            return None;
        }
        if n == 0 {
            return Some((DoubleDouble::ZERO, 1.0));
        }
        let choose = self.common.minus(ln_factorial(x)).minus(ln_factorial(self.bits - x));
        if x == n {
            // Every throw hit a different bit: [w^N] (e^w - 1)^N = 1.
            return Some((choose, 1.0));
        }
        if x == 1 {
            // One bit took all throws: [w^N] (e^w - 1) = 1 / N!.
            return Some((choose.minus(ln_factorial(n)), 1.0));
        }
        // Of the x^N sequences of N throws into these x bits, a share of at most x (1 - 1/x)^N
        // misses at least one bit. This share is negligible here, so all x^N sequences are counted.
        // The saddle point would be too far out for the integral.
        let (wide_n, ln_x) = (DoubleDouble::of(u128::from(n)), DoubleDouble::of(u128::from(x)).ln());
        if libm::log(x as f64) - n as f64 / (x as f64) < -46.0 {
            return Some((choose.plus(wide_n.times(ln_x)).minus(ln_factorial(n)), 1.0));
        }
        let repeats = n - x;
        let r = saddle(repeats as f64 / x as f64);
        let radius = DoubleDouble { high: r, low: 0.0 };
        let (x_wide, repeats_wide) = (DoubleDouble::of(u128::from(x)), DoubleDouble::of(u128::from(repeats)));
        // x ln(e^r - 1) - N ln r = x ln((e^r - 1) / r) - (N - x) ln r
        let growth = if r < 0.5 {
            let square = radius.times(radius);
            let even = self.terms.iter().rev().fold(DoubleDouble::ZERO, |sum, term| sum.plus(*term).times(square));
            even.plus(radius.scaled(0.5))
        } else {
            let rest = if r < 700.0 { DoubleDouble::ONE.minus(DoubleDouble::exp(-r)).ln() } else { DoubleDouble::ZERO };
            radius.plus(rest).minus(radius.ln())
        };
        let ln = choose.plus(x_wide.times(growth)).minus(repeats_wide.times(radius.ln()));
        Some((ln, integral(n as f64, x as f64, repeats as f64, r)))
    }
}

/// Solves `r / (1 - e^(-r)) - 1 = c` for `c > 0` by Newton's method. Its steps start above the
/// solution and decrease steadily, because the left side is increasing and convex. The remaining
/// error of r hardly matters, because the result depends on it only through terms that the symmetry
/// of the integrand removes.
fn saddle(c: f64) -> f64 {
    // The left side of the equation, and its slope.
    let at = |r: f64| {
        if r < 0.05 {
            let s = r * r;
            return (r / 2.0 + s / 12.0 - s * s / 720.0 + s * s * s / 30_240.0, 0.5 + r / 6.0 - r * s / 180.0 + r * s * s / 5_040.0);
        }
        let q = -libm::expm1(-r);
        let value = (r - q) / q;
        (value, (1.0 - libm::exp(-r) * (value + 1.0)) / q)
    };
    // The left side is at least r/2 and at least r - 1.
    let mut r = (2.0 * c).min(c + 1.0);
    for _ in 0..60 {
        let (value, slope) = at(r);
        let step = (value - c) / slope;
        r -= step;
        if step.abs() <= 1e-15 * r {
            break;
        }
    }
    r
}

/// The coefficients of `s^j`, from j = 0, in the expansion of `ln((e^z - 1) / (e^r - 1))` with
/// `z = r e^s`. The first two coefficients are set to 0.
fn expansion(r: f64) -> [f64; ORDERS] {
    let mut l = [0.0; ORDERS];
    if r < 1.0 {
        // Each power z^i expands into r^i (i s)^j / j!.
        for (coefficient, i) in powers(r) {
            let mut term = coefficient * i;
            for (j, l) in l.iter_mut().enumerate().skip(2) {
                term *= i / j as f64;
                *l += term;
            }
        }
        return l;
    }
    // The expansion is the sum of two expansions, of r (e^s - 1) and of ln((1 - e^(-z)) / (1 -
    // e^(-r))). The second one comes from e^(-r (e^s - 1)), whose coefficients grow as r^j / j!,
    // but have the weight e^(-r).
    let mut slope = [0.0; ORDERS];
    slope[1] = r;
    for i in 2..ORDERS {
        slope[i] = slope[i - 1] / (i - 1) as f64;
    }
    let mut e = [0.0; ORDERS];
    e[0] = 1.0;
    for j in 1..ORDERS {
        e[j] = -(1..=j).map(|i| slope[i] * e[j - i]).sum::<f64>() / j as f64;
    }
    let share = libm::exp(-r) / -libm::expm1(-r);
    e.iter_mut().skip(1).for_each(|e| *e *= -share);
    for j in 1..ORDERS {
        let known: f64 = (1..j).map(|i| i as f64 * l[i] * e[j - i]).sum();
        l[j] = e[j] - known / j as f64;
    }
    for j in 1..ORDERS {
        l[j] += slope[j] / j as f64;
    }
    l[1] = 0.0;
    l
}

/// Riemann's zeta function at an even number.
fn zeta(s: i32) -> f64 {
    const PI: f64 = core::f64::consts::PI;
    match s {
        2 => PI * PI / 6.0,
        4 => power(PI, 4) / 90.0,
        6 => power(PI, 6) / 945.0,
        8 => power(PI, 8) / 9450.0,
        // The terms left out are below 7^-10 / 6 together. This is about 1e-9 of a term that is
        // itself below 1e-9 of the first.
        _ => 1.0 + [2.0f64, 3.0, 4.0, 5.0, 6.0, 7.0].iter().map(|base| 1.0 / power(*base, s.unsigned_abs())).sum::<f64>(),
    }
}

/// The integral `I`, by the trapezoid rule.
fn integral(n: f64, x: f64, repeats: f64, r: f64) -> f64 {
    let q = -libm::expm1(-r);
    // The variance of a positive Poisson variable: mean (1 + r - mean), with mean - 1 = repeats /
    // x.
    let variance = x * if r < 1e-2 { r / 2.0 + r * r / 6.0 } else { n / x * (r - repeats / x) };
    let sigma = libm::sqrt(variance.max(0.0));
    let expanded = variance > 400.0;
    // The number of points is odd, so that no point is exactly opposite the saddle point.
    let points = if expanded { 10.0 * sigma + 60.0 } else { 12.0 * sigma + 80.0 };
    let points = 2.0 * libm::floor(points / 2.0) + 1.0;
    let step = 2.0 * core::f64::consts::PI / points;
    let terms = if expanded { expansion(r) } else { [0.0; ORDERS] };
    let powers = if !expanded && r < 1.0 { powers(r) } else { Vec::new() };
    let mut sum = 0.5;
    for i in 1..=((points - 1.0) / 2.0) as u64 {
        let t = i as f64 * step;
        let (real, imaginary) = if expanded {
            near_saddle(&terms, t)
        } else if r < 1.0 {
            small_circle(&powers, t)
        } else {
            let (real, imaginary) = large_circle(r, q, t);
            // The linear terms do not cancel completely: 1 + repeats / x - r is r / (e^r - 1).
            (real, imaginary - t * r * libm::exp(-r) / q)
        };
        let (real, imaginary) = (x * real, x * imaginary);
        if real < -48.0 && expanded {
            break;
        }
        sum += libm::exp(real) * libm::cos(imaginary);
    }
    2.0 * sum / points
}

/// The real and imaginary parts of `sum over j of l_j (it)^j`.
fn near_saddle(l: &[f64; ORDERS], t: f64) -> (f64, f64) {
    let s = -t * t;
    let even = (1..ORDERS / 2).rev().fold(0.0, |sum, j| (sum + l[2 * j]) * s);
    let odd = (1..ORDERS / 2).rev().fold(0.0, |sum, j| (sum + l[2 * j + 1]) * s);
    (even, odd * t)
}

/// The number `e^(iu) - 1 - iu`, without cancellation for small u.
fn beyond_linear(u: f64) -> (f64, f64) {
    let half = libm::sin(u / 2.0);
    let imaginary = if u.abs() < 0.7 {
        let s = u * u;
        let tail = [1.0 / 6.0, 1.0 / 20.0, 1.0 / 42.0, 1.0 / 72.0, 1.0 / 110.0, 1.0 / 156.0, 1.0 / 210.0];
        -u * tail.iter().rev().fold(0.0, |sum, factor| factor * s * (1.0 - sum))
    } else {
        libm::sin(u) - u
    };
    (-2.0 * half * half, imaginary)
}

/// The function `ln((e^z - 1) / (e^r - 1))` without its first two terms in t. For r below 1, the
/// function is computed from the [`powers`] of z.
fn small_circle(powers: &[(f64, f64)], t: f64) -> (f64, f64) {
    powers.iter().fold((0.0, 0.0), |sum, &(coefficient, power)| {
        let (real, imaginary) = beyond_linear(power * t);
        (sum.0 + coefficient * real, sum.1 + coefficient * imaginary)
    })
}

/// The terms of `ln((e^z - 1) / z)` for r below 1, up to the first negligible one. The term with
/// `z^i` is given as `(coefficient r^i, i)`.
fn powers(r: f64) -> Vec<(f64, f64)> {
    let mut list = vec![(r / 2.0, 1.0)];
    let ratio = -(r / (2.0 * core::f64::consts::PI)) * (r / (2.0 * core::f64::consts::PI));
    let mut power = 1.0;
    for j in 1..=16 {
        power *= ratio;
        let coefficient = -power * 2.0 * zeta(2 * j) / f64::from(2 * j);
        if coefficient.abs() < 1e-24 * r {
            break;
        }
        list.push((coefficient, f64::from(2 * j)));
    }
    list
}

/// The function of `small_circle` for larger r:
/// `r (e^(it) - 1 - it) + ln((1 - e^(-z)) / (1 - e^(-r)))`.
fn large_circle(r: f64, q: f64, t: f64) -> (f64, f64) {
    let (real, imaginary) = beyond_linear(t);
    let shrunk = libm::exp(-r * libm::cos(t));
    if shrunk > 1e100 {
        // The far side of a large circle, where the integrand is below e^(-200).
        return (-r, 0.0);
    }
    let angle = r * libm::sin(t);
    // 1 - e^(-z)
    let (a, b) = (1.0 - shrunk * libm::cos(angle), shrunk * libm::sin(angle));
    (r * real + 0.5 * libm::log(a * a + b * b) - libm::log(q), r * imaginary + libm::atan2(b, a))
}
