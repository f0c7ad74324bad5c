//! The binomial distribution: exact tests and intervals for measured rates.
//!
//! Tails are sums of positive terms. The terms use the saddle-point formula of Loader, "Fast and
//! accurate computation of binomial probabilities" (2000). This formula stays accurate at 10^12
//! trials. Common crates for special functions lose digits above about 10^9 trials.

use crate::bisect;
use core::f64::consts::PI;

/// Returns the probability of exactly `hits` successes in `trials` trials with success probability
/// `p`. The relative error is about 1e-13 at 10^12 trials.
///
/// As in all functions of this module, a `p` below 0 counts as 0, and a `p` above 1 counts as 1. If
/// `p` is NaN, the result is NaN.
#[must_use]
pub fn probability(hits: u64, trials: u64, p: f64) -> f64 {
    if p.is_nan() {
        return p;
    }
    if hits > trials {
        return 0.0;
    }
    let (x, n) = (hits as f64, trials as f64);
    if p <= 0.0 || p >= 1.0 {
        let certain = if p <= 0.0 { 0 } else { trials };
        return f64::from(u8::from(hits == certain));
    }
    if hits == 0 {
        return libm::exp(n * libm::log1p(-p));
    }
    if hits == trials {
        return libm::exp(n * libm::log(p));
    }
    let rest = (trials - hits) as f64;
    let ln = stirling_error(n) - stirling_error(x) - stirling_error(rest) - deviance(x, n * p) - deviance(rest, n * (1.0 - p));
    libm::exp(ln) * libm::sqrt(n / (2.0 * PI * x * rest))
}

/// Returns the probability of at least `hits` successes in `trials` trials with success probability
/// `p`. The computation is fast for any number of trials, because long tails are not summed term by
/// term.
#[must_use]
pub fn at_least(hits: u64, trials: u64, p: f64) -> f64 {
    let p = p.clamp(0.0, 1.0);
    if p.is_nan() {
        return p;
    }
    if hits == 0 || hits > trials {
        return f64::from(u8::from(hits == 0));
    }
    if (hits as f64) <= trials as f64 * p {
        return 1.0 - lower_sum(hits - 1, trials, p);
    }
    upper_sum(hits, trials, p)
}

/// Returns the probability of at most `hits` successes in `trials` trials with success probability
/// `p`.
#[must_use]
pub fn at_most(hits: u64, trials: u64, p: f64) -> f64 {
    let p = p.clamp(0.0, 1.0);
    if p.is_nan() {
        return p;
    }
    if hits >= trials {
        return 1.0;
    }
    if hits as f64 >= trials as f64 * p {
        return 1.0 - upper_sum(hits + 1, trials, p);
    }
    lower_sum(hits, trials, p)
}

/// Returns the p-value of the exact two-sided test: twice the smaller of [`at_least`] and
/// [`at_most`], but at most 1. A test at the significance level alpha rejects `p` if this p-value
/// is below alpha. If `p` is the true probability, the test rejects `p` with probability at most
/// alpha.
#[must_use]
pub fn two_sided(hits: u64, trials: u64, p: f64) -> f64 {
    (2.0 * at_least(hits, trials, p).min(at_most(hits, trials, p))).min(1.0)
}

/// Returns the result of [`noticed_rate`] divided by `rate`. If the true probability is at least
/// this factor times `rate`, a test at the significance level `alpha` rejects `rate` with
/// probability at least 99%. The factor is infinite if [`noticed_rate`] returns `None`.
#[must_use]
pub fn noticed_factor(trials: u64, rate: f64, alpha: f64) -> f64 {
    noticed_rate(trials, rate, alpha).map_or(f64::INFINITY, |noticed| noticed / rate)
}

/// Returns the smallest true probability above `rate` that a test of `rate` detects with
/// probability at least 99%. At every larger true probability, the test also rejects `rate` with
/// probability at least 99%. The test rejects `rate` if the p-value is below `alpha`. The p-value
/// is twice the result of [`at_least`] for `rate` (see [`two_sided`]). The result is `None` if even
/// a hit in every trial is not enough to reject `rate`.
#[must_use]
pub fn noticed_rate(trials: u64, rate: f64, alpha: f64) -> Option<f64> {
    let rejected = |hits: u64| 2.0 * at_least(hits, trials, rate) < alpha;
    if !rejected(trials) {
        return None;
    }
    let least_rejected = bisect((trials as f64 * rate) as u64..=trials, rejected);
    Some(solve(|p| at_least(least_rejected, trials, p) >= 0.99))
}

/// Returns the equal-tailed Clopper-Pearson interval for the success probability. The interval
/// contains the true probability with probability at least `confidence` (between 0 and 1).
///
/// ```
/// let (low, high) = truebloom_math::binomial::interval(0, 1_000, 0.95);
/// assert_eq!(low, 0.0);
/// assert!((high - 0.003_682).abs() < 1e-6);
/// ```
#[must_use]
pub fn interval(hits: u64, trials: u64, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    let lower = if hits == 0 { 0.0 } else { solve(|p| at_least(hits, trials, p) > tail) };
    let upper = if hits >= trials { 1.0 } else { solve(|p| at_most(hits, trials, p) <= tail) };
    (lower, upper)
}

/// The smallest probability in 0..1 for which `past` holds. It is found by bisection over the bit
/// patterns of `f64`, so the steps are nearly uniform in the logarithm of the probability.
fn solve(past: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1e-300f64.to_bits(), 1f64.to_bits());
    while high - low > 1 << 10 {
        let middle = low + (high - low) / 2;
        if past(f64::from_bits(middle)) { high = middle } else { low = middle }
    }
    f64::from_bits(high)
}

/// Adds up the terms from `hits` (above the mean) upwards. The ratio of each term to the previous
/// one is below 1, and decreases.
fn upper_sum(hits: u64, trials: u64, p: f64) -> f64 {
    if let Some(sum) = long_sum(hits, trials, p, true) {
        return sum;
    }
    let odds = p / (1.0 - p);
    sum(probability(hits, trials, p), |i| {
        let x = hits + i;
        if x >= trials { 0.0 } else { (trials - x) as f64 / (x + 1) as f64 * odds }
    })
}

/// Adds up the terms from `hits` (below the mean) downwards.
fn lower_sum(hits: u64, trials: u64, p: f64) -> f64 {
    if let Some(sum) = long_sum(hits, trials, p, false) {
        return sum;
    }
    let odds = (1.0 - p) / p;
    sum(probability(hits, trials, p), |i| match hits.checked_sub(i) {
        None | Some(0) => 0.0,
        Some(x) => x as f64 / (trials - x + 1) as f64 * odds,
    })
}

/// The tail from `hits` upwards or downwards, for tails with too many terms to add one by one. For
/// shorter tails, the result is `None`.
///
/// The method uses the Euler-Maclaurin formula twice. With step 1, the formula gives the sum from
/// an integral. With a larger step, 1/256 of the scale on which terms change, the formula gives the
/// integral from a sum of few terms. After the first three corrections, the relative error is about
/// 256^-6.
fn long_sum(hits: u64, trials: u64, p: f64, up: bool) -> Option<f64> {
    const TERMS: f64 = 256.0;
    const SHORTEST: u64 = 64;
    let n = trials as f64;
    let (x, rest) = (hits as f64 + 0.5, n - hits as f64 + 0.5);
    let sign = if up { 1.0 } else { -1.0 };
    // The first three derivatives of the term's logarithm, in the direction of the tail.
    let slope = sign * libm::log(rest / x * (p / (1.0 - p)));
    let (second, third) = (-(1.0 / x + 1.0 / rest), sign * (1.0 / (x * x) - 1.0 / (rest * rest)));
    let step = (libm::sqrt(n * p * (1.0 - p)).min(1.0 / slope.abs()) / TERMS) as u64;
    if step < SHORTEST {
        return None;
    }
    let at = |i: u64| match i.checked_mul(step) {
        None => 0.0,
        Some(far) if up => hits.checked_add(far).map_or(0.0, |x| probability(x, trials, p)),
        Some(far) => hits.checked_sub(far).map_or(0.0, |x| probability(x, trials, p)),
    };
    let first = at(0);
    let mut total = 0.0;
    for i in 1.. {
        let term = at(i);
        total += term;
        if term <= 1e-20 * (first + total) {
            break;
        }
    }
    let (h, first_derivative) = (step as f64, first * slope);
    let third_derivative = first * (slope * slope * slope + 3.0 * slope * second + third);
    let integral = h * (first / 2.0 + total) + h * h * first_derivative / 12.0 - h * h * h * h * third_derivative / 720.0;
    Some((integral + first / 2.0 - first_derivative / 12.0 + third_derivative / 720.0).min(1.0))
}

/// The sum `first (1 + r_0 + r_0 r_1 + ..)` with ratios below 1, until the rest is negligible.
fn sum(first: f64, ratio: impl Fn(u64) -> f64) -> f64 {
    let (mut term, mut total) = (1.0, 1.0);
    for i in 0.. {
        let r = ratio(i);
        term *= r;
        total += term;
        // The remaining terms are at most a geometric series.
        if term <= 1e-18 * total * (1.0 - r) {
            break;
        }
    }
    (first * total).min(1.0)
}

/// The error of Stirling's formula, `ln(n!) - ln(sqrt(2 pi n) (n/e)^n)`. From n = 16 on, Stirling's
/// series is exact to the last digit.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * libm::log(n) + n - 0.5 * libm::log(2.0 * PI);
    }
    let s = 1.0 / (n * n);
    (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s * (1.0 / 1188.0 - s * 691.0 / 360_360.0))))) / n
}

/// Loader's deviance `x ln(x/mean) + mean - x`, without cancellation for x near the mean.
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if difference.abs() >= 0.1 * (x + mean) {
        return x * libm::log(x / mean) + mean - x;
    }
    let v = difference / (x + mean);
    let mut total = difference * v;
    let mut term = 2.0 * x * v;
    for j in 1.. {
        term *= v * v;
        let next = total + term / f64::from(2 * j + 1);
        if next == total {
            break;
        }
        total = next;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that, at the reported true probability, the test rejects with probability at least
    /// 99%. At a slightly smaller true probability, it must reject with probability below 99%.
    #[test]
    fn what_is_noticed_is_rejected() {
        for (trials, rate, alpha) in [(1_000, 0.1, 1e-6), (1_000_000, 0.01, 1e-8), (100_000, 1e-3, 0.01)] {
            let factor = noticed_factor(trials, rate, alpha);
            let least = (0..=trials)
                .find(|hits| *hits as f64 > trials as f64 * rate && two_sided(*hits, trials, rate) < alpha)
                .expect("some are too many");
            assert!(at_least(least, trials, factor * (1.0 + 1e-9) * rate) >= 0.99, "{factor}");
            assert!(at_least(least, trials, factor * (1.0 - 1e-9) * rate) < 0.99, "{factor}");
        }
    }

    /// Compares tails with values computed to 60 digits. At these sizes, common crates return 0 or
    /// are wrong by 1 percent.
    #[test]
    fn tails_keep_their_digits() {
        for (hits, trials, p, expected) in TAILS {
            let found = at_least(hits, trials, p);
            assert!((found / expected - 1.0).abs() < 1e-12, "{hits} of {trials} at {p}: {found:e} {expected:e}");
        }
    }

    #[test]
    fn small_cases_agree_with_summed_fractions() {
        for trials in 1..=12u64 {
            for eighths in 1..8u32 {
                let p = f64::from(eighths) / 8.0;
                let choose = |x: u64| (0..x).fold(1.0, |c, i| c * (trials - i) as f64 / (i + 1) as f64);
                let exact = |x: u64| choose(x) * p.powi(x as i32) * (1.0 - p).powi((trials - x) as i32);
                for hits in 0..=trials {
                    let above: f64 = (hits..=trials).map(exact).sum();
                    let below: f64 = (0..=hits).map(exact).sum();
                    assert!((at_least(hits, trials, p) - above).abs() < 1e-14 && (at_most(hits, trials, p) - below).abs() < 1e-14);
                    assert!((probability(hits, trials, p) - exact(hits)).abs() < 1e-14);
                }
            }
        }
    }

    /// Tests by exact summation, for every probability on a grid, that the interval covers the true
    /// value with at least the promised probability.
    #[test]
    fn the_interval_covers_its_level() {
        for trials in [1, 5, 20, 60] {
            let intervals: Vec<_> = (0..=trials).map(|hits| interval(hits, trials, 0.9)).collect();
            for step in 1..200 {
                let p = f64::from(step) / 200.0;
                let covered: f64 = (0..=trials)
                    .filter(|&x| intervals[x as usize].0 <= p && p <= intervals[x as usize].1)
                    .map(|x| probability(x, trials, p))
                    .sum();
                assert!(covered >= 0.9 - 1e-12, "{trials} {p}: {covered}");
            }
        }
    }

    /// Tests that [`long_sum`] agrees with a sum of all terms, for tails that are short enough to
    /// add up term by term. For a mean of 2^62, the tails on both sides must match the normal
    /// distribution.
    #[test]
    fn long_tails_are_sums_too() {
        let plain = |hits: u64, trials: u64, p: f64| {
            let odds = p / (1.0 - p);
            sum(probability(hits, trials, p), |i| (trials - hits - i) as f64 / (hits + i + 1) as f64 * odds)
        };
        for (trials, p) in [(1 << 40, 0.5), (1 << 41, 0.1), (3 << 42, 0.01)] {
            let (mean, deviation) = (trials as f64 * p, (trials as f64 * p * (1.0 - p)).sqrt());
            for sds in [0.0, 0.5, 2.0, 4.0] {
                let hits = (mean + sds * deviation) as u64 + 1;
                let found = long_sum(hits, trials, p, true).expect("long");
                let expected = plain(hits, trials, p);
                // The plain sum rounds once per term, and has millions of terms.
                assert!((found / expected - 1.0).abs() < 1e-9, "{trials} {p} {sds}: {found} {expected}");
                assert_eq!(found, at_least(hits, trials, p));
                let below = at_most(hits - 1, trials, p);
                assert!((below + found - 1.0).abs() < 1e-10, "{trials} {p} {sds}: {below} {found}");
            }
        }
        for sds in [-3.0, 0.0, 3.0] {
            let hits = (4_611_686_018_427_387_904.0 + sds * 1_518_500_249.988) as u64;
            let below = at_most(hits, 1 << 63, 0.5);
            // The expected values are Phi(-3), 1/2 and Phi(3).
            let expected = [(-3.0, 0.001_349_898_031_630_095), (0.0, 0.5), (3.0, 0.998_650_101_968_369_9)];
            let expected = expected.iter().find(|(at, _)| *at == sds).expect("one of them").1;
            // In `f64`, numbers just below 2^62 are rounded to multiples of 512. The error is up to
            // 1.7e-7 standard deviations. At -3 standard deviations, the relative error of the tail
            // is 3.3 times as large.
            assert!((below / expected - 1.0).abs() < 1e-6, "{sds}: {below}");
        }
    }

    /// Tests that no probability causes an endless loop or an overflow, and that intervals of any
    /// size are found.
    #[test]
    fn any_arguments_have_an_answer() {
        let chances = [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0, 1e-320, 0.5, 1.0, 1.0 + 1e-15, 7.0, f64::INFINITY];
        for trials in [0, 1, 2, 1 << 40, u64::MAX - 1, u64::MAX] {
            for hits in [0, 1, trials / 2, trials.saturating_sub(1), trials, trials.saturating_add(1)] {
                for p in chances {
                    let answers =
                        [probability(hits, trials, p), at_least(hits, trials, p), at_most(hits, trials, p), two_sided(hits, trials, p)];
                    assert!(
                        answers.iter().all(|answer| (0.0..=1.0 + 1e-9).contains(answer) || p.is_nan()),
                        "{hits} {trials} {p}: {answers:?}"
                    );
                    let (low, high) = interval(hits, trials, p);
                    assert!(low <= high || !(0.0..1.0).contains(&p), "{hits} {trials} {p}: {low} {high}");
                }
            }
        }
        assert!(noticed_factor(u64::MAX, 1e-3, 1e-6) > 1.0);
    }

    const TAILS: [(u64, u64, f64, f64); 5] = [
        (10200, 1000000, 0.01, 0.022_742_497_360_522_2),
        (10000500, 1000000000, 0.01, 0.43691238799214518),
        (1100, 1000000000, 1e-06, 0.000_962_625_233_700_154_3),
        (75, 1000000, 5e-05, 0.000_577_569_338_631_258_3),
        (3, 100000000, 1e-09, 0.00015465306596669397),
    ];
}
