//! Approximations of the average rate: a lower bound that needs no table, and a table of the rates
//! of a block for each load.

use crate::exact::power::power;
use crate::law::registry::{BLOCK_BITS, BLOCK_PROBES};
use alloc::vec;
use alloc::vec::Vec;

/// A lower bound on the logarithm of the expected rate. It is computed in `f64`, in a microsecond
/// or two, and the relative error of the rate is below 1e-9. If the load is so high that the
/// computation would take longer, the result is minus infinity.
///
/// The load of a query's block is binomial, and given the load, the rate is at least the k-th power
/// of the mean fill (Jensen). Loads far above the mean are left out, which can only lower a sum of
/// positive terms. If `second` is true, the result is not a bound but an approximation: a
/// second-order term for the variance of the fill of a block is added.
pub(super) fn ln_rate(blocks: f64, items: f64, probes: u32, second: bool) -> f64 {
    let (k, bits) = (f64::from(probes), BLOCK_BITS as f64);
    let lambda = items / blocks;
    if blocks == 1.0 && !second && items <= 500.0 {
        // The only block holds all items.
        return k * libm::log(-libm::expm1(k * items * libm::log1p(-1.0 / bits)));
    }
    if lambda > 500.0 || blocks < 2.0 {
        return f64::NEG_INFINITY;
    }
    let most = (lambda + 12.0 * libm::sqrt(lambda) + 20.0).min(items) as u64;
    // The probabilities that one item leaves one given bit, and two given bits, empty.
    let (one, two) = (libm::exp(k * libm::log1p(-1.0 / bits)), libm::exp(k * libm::log1p(-2.0 / bits)));
    let mut weight = libm::exp(items * libm::log1p(-1.0 / blocks));
    let (mut empty, mut both, mut sum) = (1.0, 1.0, 0.0);
    for load in 0..=most {
        let full = 1.0 - empty;
        if full > 0.0 {
            let mut rate = power(full, probes);
            if second {
                let variance = (empty * full + (bits - 1.0) * (both - empty * empty)).max(0.0) / bits;
                rate *= 1.0 + 0.5 * k * (k - 1.0) * variance / (full * full);
            }
            sum += weight * rate;
        }
        weight *= (items - load as f64) / ((load + 1) as f64 * (blocks - 1.0));
        empty *= one;
        both *= two;
    }
    libm::log(sum)
}

/// Whether the average rate with these probes provably exceeds `e^ln_most`: the lower bound exceeds
/// it by more than the rounding error.
pub(super) fn is_beyond(blocks: u64, items: u64, probes: u32, ln_most: f64) -> bool {
    ln_rate(blocks as f64, items as f64, probes, false) > ln_most + ROUNDING
}

/// A margin for the rounding of the logarithms in this module.
const ROUNDING: f64 = 1e-8;

/// Rates in `f64`, computed from the rates of a block for each load. The rates of a block do not
/// depend on the size, so they are computed only once for each number of probes.
///
/// Let u be the number of distinct positions of a query that are still empty in its block. One
/// position of an item (a ball) hits one of them with probability u/512. So each ball changes the
/// distribution of u by `p_u' = p_u (1 - u/512) + p_(u+1) (u+1)/512`. The rate at a load is `p_0`
/// after all balls of that load. All terms are positive, and all factors are exact. So the relative
/// error is below `3 * 2^-53` per ball, which is below 1e-11 for the largest number of balls,
/// 32,000.
pub(super) struct RateTable(Vec<Vec<f64>>);

impl RateTable {
    pub(super) fn new() -> RateTable {
        // One entry for each number of probes that a target can give.
        RateTable(vec![Vec::new(); BLOCK_PROBES as usize + 1])
    }

    /// The rates of loads 0 to `most`.
    fn of_loads(&mut self, probes: u32, most: usize) -> &[f64] {
        let known = &mut self.0[probes as usize];
        if known.len() <= most {
            // Later guesses may need higher loads, so a few more are computed now.
            *known = rates_of_loads(probes, most + 8);
        }
        &known[..=most]
    }

    /// A lower bound on the logarithm of the expected rate. It takes a microsecond, and the
    /// relative error of the rate is below 1e-9. The bound is minus infinity if loads are so high
    /// that the computation would take longer. The load of a query's block is binomial. Loads far
    /// above the mean are left out, which lowers a sum of positive terms by less than 1e-20.
    pub(super) fn ln_rate(&mut self, blocks: f64, items: f64, probes: u32) -> f64 {
        let lambda = items / blocks;
        if lambda > 500.0 || blocks < 2.0 {
            return f64::NEG_INFINITY;
        }
        let most = (lambda + 12.0 * libm::sqrt(lambda) + 20.0).min(items) as usize;
        let mut weight = libm::exp(items * libm::log1p(-1.0 / blocks));
        let (mut sum, odds) = (0.0, 1.0 / (blocks - 1.0));
        for (load, rate) in self.of_loads(probes, most).iter().enumerate() {
            sum += weight * rate;
            weight *= (items - load as f64) * odds / (load + 1) as f64;
        }
        libm::log(sum)
    }

    /// Whether the average rate with these probes provably exceeds `e^ln_most`. The proof is that
    /// one of the two lower bounds, with or without the table, exceeds that rate by more than the
    /// rounding error.
    pub(super) fn is_excluded(&mut self, blocks: u64, items: u64, probes: u32, ln_most: f64) -> bool {
        is_beyond(blocks, items, probes, ln_most) || self.ln_rate(blocks as f64, items as f64, probes) > ln_most + ROUNDING
    }
}

fn rates_of_loads(probes: u32, most: usize) -> Vec<f64> {
    let (k, bits) = (probes as usize, BLOCK_BITS as f64);
    let mut left = vec![0.0; k + 2];
    left[0] = 1.0;
    for _ in 0..k {
        for distinct in (0..=k).rev() {
            let before = if distinct > 0 { left[distinct - 1] * ((bits - (distinct - 1) as f64) / bits) } else { 0.0 };
            left[distinct] = left[distinct] * (distinct as f64 / bits) + before;
        }
    }
    let mut rates = Vec::with_capacity(most + 1);
    rates.push(0.0);
    for _ in 0..most {
        for _ in 0..k {
            for u in 0..=k {
                left[u] = left[u] * ((bits - u as f64) / bits) + left[u + 1] * ((u + 1) as f64 / bits);
            }
        }
        rates.push(left[0]);
    }
    rates
}
