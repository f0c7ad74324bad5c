//! Upper bounds on the number of distinct keys that were looked up in a filter. The bounds are
//! computed from the number of keys that set a bit when they were inserted.
//!
//! A key *passes* if all its bits are already set. The probability that a new key passes is the
//! filter's rate at that time. Inserting a key that passes does not change any bits. So the bounds
//! hold whether or not a program inserts such keys.
//!
//! The rest of this page proves the bounds. The keys are chosen without knowing the seed, so their
//! number n does not depend on the seed. Consider the first n distinct keys. `A_n` is the number of
//! these keys that set a bit, and `S_n = n - A_n` is the number that passed. `rho_i` is the
//! filter's rate just before key i: given the earlier keys, key i passes with this probability.
//!
//! The proof uses two facts:
//!
//! * `A_n`, the number of the first n keys that set a bit, never decreases as n grows. So if
//!   `P(A_N <= a) <= error` for some N, the same is true for every larger N. For each number a, let
//!   `N(a)` be such an N. The functions of this module find `N(a)` by a search that depends only on
//!   a. The bound states that `n < N(A_n)`. Here n is the true number of keys, and `A_n` is the
//!   number of keys that changed the filter. Let `a_1` be the largest a with `N(a) <= n`. If the
//!   bound is wrong, then `N(A_n) <= n`, and therefore `A_n <= a_1`. Since `N(a_1) <= n`, the event
//!   `A_n <= a_1` has a probability of at most `error`. So for every n, the bound is right with
//!   probability at least `1 - error`.
//! * `S_n` is how many of the first n keys passed, and `rho_i` is the filter's rate just before key
//!   i. For every t, `exp(t S_n) / prod (1 + rho_i (e^t - 1))` is a martingale with mean 1. The
//!   product is over the first n keys. An upper bound on the sum of the `rho_i` gives an upper
//!   bound on this product, and therefore an upper bound on `S_n`.

use crate::{Variant, bisect};

/// The number of parts into which n keys are divided. The fill is bounded at the end of each part.
const PARTS: u64 = 32;

/// The number of values of t that [`most_at_rate`] tries.
const TILTS: i32 = 64;

/// The largest number of keys that is considered.
const MOST: u64 = 1 << 62;

/// A relative margin for rounding errors. It is enough for a few thousand steps, each with a
/// relative error of 2^-52.
const SLACK: f64 = 1e-9;

/// Returns an upper bound on the number of distinct keys that were looked up in a filter. `changed`
/// is the number of these keys that set a bit. For a random seed, the true number exceeds the bound
/// with probability at most `error`. This holds for any number of keys, and keys may be looked up
/// repeatedly. The result is `None` if no bound is known, for example if the filter is nearly full.
/// This takes less than a millisecond.
///
/// The bound is computed in two steps, each of which is wrong with probability at most `error / 2`:
/// * Suppose that n distinct keys were looked up. In the order of their first look-up, these keys
///   are divided into 32 parts of nearly equal size. Bernstein's inequality gives an upper bound on
///   the number of set bits at the end of each part. This inequality applies because the number of
///   set bits is a sum of independent Bernoulli variables (see [`Fill`](crate::Fill)). A key
///   *passes* if all its bits are already set. Let V be the sum of the pass probabilities of all n
///   keys. The first step gives an upper bound v on V.
/// * Let s be a number above v. With a probability of at most `exp(-(s ln(s/v) - s + v))`, s or
///   more keys pass although V does not exceed v. With `s = n - changed`, the function rules out
///   the value n if this upper bound is at most `error / 2`.
///
/// ```
/// use truebloom_math::{Variant, distinct};
/// // 1,000 keys set a bit, and the rate is then 1%. On average, about 1.7 other keys have passed.
/// let most = distinct::most(Variant::Standard, 9_595, 7, 1_000, 1e-6).expect("far from full");
/// assert!((1_008..1_020).contains(&most));
/// ```
#[must_use]
pub fn most(variant: Variant, bits: u64, probes: u32, changed: u64, error: f64) -> Option<u64> {
    if changed == 0 {
        // The first key sets a bit.
        return Some(0);
    }
    let rates = Rates::new(variant, bits, probes, error / 2.0);
    let least = -libm::log(error / 2.0) * (1.0 + SLACK);
    search(changed, |keys| {
        let (passed, sum) = ((keys - changed) as f64, rates.sum(keys));
        passed > sum && passed * libm::log(passed / sum) - passed + sum >= least
    })
}

/// Returns an upper bound on the number of distinct keys that were looked up in a filter, like
/// [`most`], but for any scheme. `changed` is the number of these keys that set a bit. `pass` is an
/// upper bound on the present rate of the filter. The rate of the filter must never have decreased.
/// The result is usually larger than that of [`most`], because this function assumes that the rate
/// had reached the value `pass` before the first key was looked up.
///
/// Let n be the number of distinct keys that were looked up. For S of these keys, all bits were
/// already set, so `n = changed + S`. The function tries 64 values of t. For each value of t, the
/// probability that `t S - n ln(1 + pass (e^t - 1))` exceeds `ln(64/error)` is at most
/// `error / 64`. So each value of t gives an upper bound on n. The function returns the smallest of
/// these bounds.
pub fn most_at_rate(pass: f64, changed: u64, error: f64) -> Option<u64> {
    if changed == 0 || pass <= 0.0 {
        return Some(changed);
    }
    let ln = -libm::log(error / f64::from(TILTS)) * (1.0 + SLACK);
    let bound = |i: i32| {
        // The values of t go from 16 down to about 5e-9. Each value is the previous one divided by
        // the square root of 2.
        let tilt = 16.0 * libm::exp2(-0.5 * f64::from(i));
        let gain = tilt - libm::log1p(pass * libm::expm1(tilt)) - 1e-15 * tilt;
        if gain > 0.0 { (ln + tilt * changed as f64) / gain * (1.0 + SLACK) } else { f64::INFINITY }
    };
    let most = (0..TILTS).map(bound).fold(f64::INFINITY, f64::min);
    (most < MOST as f64).then(|| (most as u64).max(changed))
}

/// Searches for a small number of keys that is proven to be too large, and returns that number
/// minus one.
fn search(changed: u64, too_many: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut step) = (changed, 1u64);
    let high = loop {
        let high = low.checked_add(step).filter(|high| *high <= MOST)?;
        if too_many(high) {
            break high;
        }
        (low, step) = (high, step + step.div_ceil(2));
    };
    Some(bisect(low + 1..=high, too_many) - 1)
}

/// Upper bounds on the rate after any number of keys. Each bound is wrong with a small probability.
struct Rates {
    bits: f64,
    probes: f64,
    /// The logarithm of the probability that a key does not set a given bit. In a partitioned
    /// filter, this is a bit of the shortest slice.
    ln_missed: f64,
    /// The number of bits by which the number of set bits is divided to get the fill. For a
    /// partitioned filter, it is `k` times the number of bits of the shortest slice.
    capacity: f64,
    /// The negative logarithm of the error probability of each part.
    ln_error: f64,
}

impl Rates {
    fn new(variant: Variant, bits: u64, probes: u32, error: f64) -> Rates {
        let (m, k) = (bits as f64, f64::from(probes));
        let slice = (bits / u64::from(probes.max(1))).max(1) as f64;
        let (ln_missed, capacity) = match variant {
            Variant::Standard => (k * libm::log1p(-1.0 / m), m),
            Variant::Classic => (libm::log1p(-(k / m).min(1.0)), m),
            Variant::Partitioned => (libm::log1p(-1.0 / slice), k * slice),
        };
        Rates { bits: m, probes: k, ln_missed, capacity, ln_error: -libm::log(error / PARTS as f64) }
    }

    /// An upper bound on the rate after this many keys (at least one). For a partitioned filter,
    /// the bound uses the fact that the geometric mean of the slices' fills is at most their
    /// arithmetic mean.
    fn after(&self, keys: u64) -> f64 {
        let ln_empty = keys as f64 * self.ln_missed;
        let mean = -self.bits * libm::expm1(ln_empty);
        // Empty bits are negatively correlated, so the variance is at most that of independent
        // bits.
        let variance = mean * libm::exp(ln_empty);
        let ln = self.ln_error;
        let above = ln / 3.0 + libm::sqrt(ln * ln / 9.0 + 2.0 * variance * ln);
        libm::pow(((mean + above) * (1.0 + SLACK) / self.capacity).min(1.0), self.probes)
    }

    /// An upper bound on the sum of the pass probabilities of this many keys.
    fn sum(&self, keys: u64) -> f64 {
        let end = |part: u64| (u128::from(keys) * u128::from(part) / u128::from(PARTS)) as u64;
        let part = |part: u64| match end(part) - end(part - 1) {
            0 => 0.0,
            count => count as f64 * self.after(end(part)),
        };
        (1..=PARTS).map(part).sum::<f64>() * (1.0 + SLACK)
    }
}
