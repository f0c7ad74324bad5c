//! Evidence that no smaller filter is enough.
//!
//! For a fixed number of probes, the rate decreases as the number of bits grows. So excluding one
//! size excludes all smaller sizes. Let `f(k)` be the expected rate with k probes at that size. By
//! convexity, it is at least `b(k) = (1 - q)^k` with `q = (1 - 1/m)^(nk)`. With
//! `a = -n ln(1 - 1/m)` we have `k = -ln(q) / a`, so `ln b = -ln(q) ln(1 - q) / a`. The product
//! `ln(q) ln(1 - q)` rises up to q = 1/2 and falls beyond. So as k grows, `b` falls while
//! `q >= 1/2`, and then rises. On either side of the minimum, if the bound excludes some k, it also
//! excludes every k farther from the minimum. The remaining numbers of probes, between the two
//! sides, are excluded by computing their rates.

use super::{Claim, Smallest, Whole, decide, standard};
use crate::law::hash_floor;
use crate::search::ln_power_of_mean;
use crate::{Error, Result};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Evidence that a filter with one bit less than the claimed size has too high a rate.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Smaller {
    /// The size that is excluded, which is one bit less than the claimed size.
    pub bits: u64,
    /// For every number of probes from 1 to this number, a lower bound on the rate shows that the
    /// rate is too high. The value is 0 if no number of probes is excluded in this way.
    pub few: u32,
    /// For this number of probes and for every larger number, a lower bound on the rate shows that
    /// the rate is too high. The value is `None` if the claim is for a fixed number of probes.
    pub many: Option<u32>,
    /// The numbers of probes that the lower bound does not exclude. The rate was computed for each
    /// of these numbers, and is too high each time. If the claim is for a fixed number of probes,
    /// only this number is listed.
    pub between: Vec<Excluded>,
}

/// The evidence that a filter with this number of probes has too high a rate. The expected rate,
/// plus `items / 2^hash_bits` for keys with equal hashes, is above the claimed rate.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Excluded {
    /// The number of probes.
    pub probes: u32,
    /// The unit of `sum` and `error` is `2^-precision`.
    pub precision: u64,
    /// The expected rate divided by `2^probes`, as an integer multiple of `2^-precision`.
    pub sum: Whole,
    /// The largest error of `sum` in either direction, in units of `2^-precision`.
    pub error: u128,
}

/// The largest number of values of k that are excluded by computing their rates.
const MOST_SUMS: u32 = 5_000;

pub(super) fn smaller(claim: &Claim) -> Result<Option<Smaller>> {
    if claim.smallest == Smallest::NotClaimed || claim.bits == 1 {
        return Ok(None);
    }
    let bits = claim.bits - 1;
    if claim.smallest == Smallest::ForTheseProbes {
        return Ok(Some(Smaller { bits, few: 0, many: None, between: vec![exclude(claim, bits, claim.probes)?] }));
    }
    let (few, many) = bounded(claim, bits)?;
    let between = (few + 1..many).map(|probes| exclude(claim, bits, probes)).collect::<Result<_>>()?;
    Ok(Some(Smaller { bits, few, many: Some(many), between }))
}

/// Returns the largest number of probes that the bound excludes on the left, and the smallest that
/// it excludes on the right.
fn bounded(claim: &Claim, bits: u64) -> Result<(u32, u32)> {
    let (m, n) = (bits as f64, claim.items as f64);
    // The bound must exceed the requested rate minus the bound on equal hashes by a small margin,
    // because the checker decides in whole numbers.
    let left = 1.0 - libm::exp(libm::log(hash_floor(claim.items, claim.hash_bits)) - claim.rate.ln());
    let target = claim.rate.ln() + libm::log(left.max(1e-300));
    let bound = |probes: u32| ln_power_of_mean(m, n, f64::from(probes));
    let is_excluded = |probes: u32| bound(probes) > target + 1e-9 + 1e-12 * target.abs();
    // The value of -ln(q) per probe. A filter of one bit is full after one item.
    let step = if bits == 1 { f64::INFINITY } else { -n * libm::log1p(-1.0 / m) };
    let q_is_large = |probes: u32| step * f64::from(probes) < core::f64::consts::LN_2 * (1.0 - 1e-9);
    let q_is_small = |probes: u32| step * f64::from(probes) > core::f64::consts::LN_2 * (1.0 + 1e-9);
    let near = (core::f64::consts::LN_2 / step).min(f64::from(crate::MAX_PROBES)) as u32;
    let too_wide = || Error::NotCertified {
        claim: "that no other number of probes meets the rate with one bit less: too many numbers of probes would have to be excluded",
    };
    // The search goes outwards from the lowest bound. The bounds are monotone on each side, so
    // bisection would also work, but few steps are needed.
    let few = (1..=near).rev().take(MOST_SUMS as usize).find(|&probes| q_is_large(probes) && is_excluded(probes)).unwrap_or(0);
    let many =
        (near + 1..=near.saturating_add(MOST_SUMS)).find(|&probes| q_is_small(probes) && is_excluded(probes)).ok_or_else(too_wide)?;
    if many - few > MOST_SUMS { Err(too_wide()) } else { Ok((few, many)) }
}

fn exclude(claim: &Claim, bits: u64, probes: u32) -> Result<Excluded> {
    let law = standard(bits, claim.items, probes);
    match decide(&law, claim)? {
        (Some(Ordering::Greater), sum) => {
            let error = sum.error * u128::from(probes + 1);
            Ok(Excluded { probes, precision: sum.precision, sum: sum.total, error })
        }
        _ => Err(Error::NotCertified { claim: "that one bit less would miss the rate" }),
    }
}
