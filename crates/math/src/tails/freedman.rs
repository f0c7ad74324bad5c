//! An upper bound on the number of items that a filter has wrongly dropped. The bound is computed
//! from data that the filter can observe. The method is a martingale bound, similar to that of
//! Freedman (1975).
//!
//! Items are offered one after another to a filter that answers "new" or "known". Items with the
//! answer "new" are *kept*. A *wrong drop* is a new item with the answer "known". The probability
//! that the next new item is a wrong drop is the *pass probability* rho. It depends on everything
//! that happened before. Wrong drops look like repeats, so only the kept items can be observed. Let
//! `g = rho / (1 - rho)` be the odds that the next new item is a wrong drop.
//!
//! * Let W be the number of wrong drops. Let the *compensator* `S` be the sum of g over the kept
//!   items. S and W have the same mean, for the following reason. A new item adds rho to the mean
//!   of W. The item is kept with probability `1 - rho`, so it adds `(1 - rho) g = rho` to the mean
//!   of S.
//! * Choose a number `u > 0` with `g u < 1`. Multiply `(1 + u)^W` by the factors `1 - g u` of all
//!   kept items. This product is a martingale, because `rho (1 + u) + (1 - rho)(1 - g u) = 1`.
//! * Freedman's own inequality needs the variance of W. This variance cannot be observed, because
//!   it is a sum over *all* new items. The martingale does not need the variance.
//! * Let G be an upper bound on all odds g. `-ln(1 - g u)` is convex in g, and it is 0 for g = 0.
//!   Therefore the product of the factors `1 - g u` is at least `(1 - G u)^(S / G)`. So it is
//!   enough to store S.
//!
//! The parameter u must be chosen before the stream is observed. The best u depends on S, which is
//! not known at that time. So the bound uses the average of the martingales for a fixed list of
//! values of u. This average is a martingale, too. By Ville's inequality, the probability that it
//! ever reaches `1 / alpha` is at most alpha. So the bound is valid even if it is computed after
//! every item. For any value of S, the bound is nearly as good as the bound for the best u of the
//! list.

use crate::error::{check_confidence, out_of_range};
use crate::{Result, bisect};
use alloc::format;

/// The number of values of u. Each value is the previous one divided by the square root of 2. The
/// last value is below 2^-27, which is small enough for 10^15 wrong drops.
const GRID: u32 = 96;

/// The largest u, and also the largest odds that are accepted. The limit on u bounds the factor by
/// which one wrong drop multiplies the martingale. With larger odds, the search for the bound might
/// not end.
const MOST: f64 = 1_048_576.0;

/// The largest compensator, 2^53. Above this limit, an `f64` cannot represent every whole number.
const MOST_DROPS: f64 = 9_007_199_254_740_992.0;

/// Returns an upper bound on the number of wrong drops: new items that the filter reported as
/// known. The bound can be computed after each item of a stream. With probability at least
/// `confidence`, all these bounds are right.
///
/// An item is *kept* if the filter reported it as new. Consider the moment just before a kept item
/// is inserted. Let rho be the probability that the filter would now report a new item as known.
/// `compensator` is the sum of the odds `rho / (1 - rho)` over the kept items. `max_odds` is an
/// upper bound on the odds of every item, and must be fixed before the stream begins. The positions
/// of a new item must be independent of everything that happened before. A forgotten item that is
/// offered again with the same seed violates this condition.
///
/// For a large compensator S, the bound is about `S + sqrt(2 S (ln(1/alpha) + 4))`, where alpha is
/// `1 - confidence`. The computation takes microseconds.
///
/// ```
/// use truebloom_math::freedman::wrong_drops_at_most;
/// // A million items kept at a rate of 0.1%: about a thousand wrong drops.
/// let most = wrong_drops_at_most(1_000.0, 0.002, 0.999_999)?;
/// assert!((1_150..1_250).contains(&most));
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if `compensator` is negative or above 2^53, if `max_odds` is negative or above 2^20, or if
/// `confidence` is not strictly between 0 and 1.
pub fn wrong_drops_at_most(compensator: f64, max_odds: f64, confidence: f64) -> Result<u64> {
    for (name, value, most) in [("compensator", compensator, MOST_DROPS), ("max_odds", max_odds, MOST)] {
        if !(0.0..=most).contains(&value) {
            return out_of_range(name, value, format!("from 0 to {most}"));
        }
    }
    check_confidence(confidence)?;
    let threshold = -libm::log1p(-confidence);
    let possible = |drops: u64| ln_martingale(drops as f64, compensator, max_odds) < threshold;
    let mut low = 0;
    let mut high = (compensator as u64).max(1);
    while possible(high) {
        low = high;
        high *= 2;
    }
    Ok(bisect(low + 1..=high, |drops| !possible(drops)) - 1)
}

/// The logarithm of the average of `(1 + u)^drops (1 - G u)^(S / G)` over the grid of u. It
/// increases with the drops.
fn ln_martingale(drops: f64, compensator: f64, max_odds: f64) -> f64 {
    let exponents = grid(max_odds).map(|u| drops * libm::log1p(u) - compensator * cost(u, max_odds));
    let largest = exponents.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + libm::log(exponents.map(|exponent| libm::exp(exponent - largest)).sum::<f64>() / f64::from(GRID))
}

/// The values of u, all of which are below 1 / G.
fn grid(max_odds: f64) -> impl Iterator<Item = f64> + Clone {
    let top = if max_odds * MOST > 0.9 { 0.9 / max_odds } else { MOST };
    (0..GRID).map(move |step| top * libm::exp2(-f64::from(step) / 2.0))
}

/// The value `-ln(1 - G u) / G`, which converges to u as the odds go to 0.
fn cost(u: f64, max_odds: f64) -> f64 {
    let product = max_odds * u;
    if product > 0.0 { u * (-libm::log1p(-product) / product) } else { u }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes through every history of a stream of new items. Kept items raise the rate, and drops
    /// lower it. At the end of every history, calls `visit` with the probability of the history,
    /// and with whether `exceeded(drops, compensator)` was true at any time.
    fn walk(
        items: u32,
        state: (f64, f64, u32, bool, f64),
        exceeded: &dyn Fn(f64, f64) -> bool,
        visit: &mut dyn FnMut(f64, f64, f64, bool),
    ) {
        let (drops, compensator, kept, before, probability) = state;
        if items == 0 {
            return visit(probability, drops, compensator, before);
        }
        let rate = (0.05 + 0.03 * f64::from(kept) - 0.01 * drops).clamp(0.01, 0.4);
        for (dropped, chance) in [(true, rate), (false, 1.0 - rate)] {
            let (drops, compensator, kept) =
                if dropped { (drops + 1.0, compensator, kept) } else { (drops, compensator + rate / (1.0 - rate), kept + 1) };
            let after = before || exceeded(drops, compensator);
            walk(items - 1, (drops, compensator, kept, after, probability * chance), exceeded, visit);
        }
    }

    const START: (f64, f64, u32, bool, f64) = (0.0, 0.0, 0, false, 1.0);
    const ODDS: f64 = 0.4 / 0.6;

    #[test]
    fn the_compensator_has_the_mean_of_the_drops() {
        let (mut drops, mut compensators) = (0.0, 0.0);
        walk(13, START, &|_, _| false, &mut |probability, dropped, compensator, _| {
            drops += probability * dropped;
            compensators += probability * compensator;
        });
        assert!((drops - compensators).abs() < 1e-12 && drops > 1.0, "{drops} {compensators}");
    }

    /// Tests that the mean of the martingale is at most 1, and close to 1. A mean close to 1 shows
    /// that little is lost by the use of convexity.
    #[test]
    fn the_martingale_has_a_mean_of_at_most_one() {
        let mut mean = 0.0;
        let mut forgotten_cost = 0.0;
        walk(13, START, &|_, _| false, &mut |probability, drops, compensator, _| {
            mean += probability * libm::exp(ln_martingale(drops, compensator, ODDS));
            // A deliberate fault: u itself in place of the cost, as for Poisson drops.
            forgotten_cost +=
                probability * grid(ODDS).map(|u| libm::exp(drops * libm::log1p(u) - compensator * u)).sum::<f64>() / f64::from(GRID);
        });
        assert!(0.9 < mean && mean <= 1.0 + 1e-12, "{mean}");
        assert!(forgotten_cost > 1.001, "the test has no power: {forgotten_cost}");
    }

    /// Checks the bound after every item. The bound may fail with at most the stated probability.
    /// It must also fail sometimes, so that the test has power.
    #[test]
    fn the_bound_holds_at_all_times_together() {
        for confidence in [0.3, 0.6, 0.9] {
            let mut failed = 0.0;
            let bound = |compensator: f64| wrong_drops_at_most(compensator, ODDS, confidence).expect("in range") as f64;
            walk(13, START, &|drops, compensator| drops > bound(compensator), &mut |probability, _, _, exceeded| {
                failed += if exceeded { probability } else { 0.0 };
            });
            assert!(0.0 < failed && failed <= 1.0 - confidence, "{confidence}: {failed}");
        }
    }

    /// Tests that the martingale starts at 1, because the weights of the grid add up to 1.
    #[test]
    fn nothing_seen_is_worth_one() {
        for odds in [0.0, 1e-9, ODDS, MOST] {
            assert!(ln_martingale(0.0, 0.0, odds).abs() < 1e-14, "{odds}");
        }
    }
}
