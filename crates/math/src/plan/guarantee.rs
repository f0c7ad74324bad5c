//! The guarantee for one filter, for laws with independent positions.
//!
//! A size is a number of bits, items and probes. [`kept`] computes the guaranteed rate of one
//! filter of this size, and [`Sure::holds`] decides whether the guaranteed rate is at most the
//! requested rate. Both functions use the same bound on the tail probability ([`Evidence::of`]). So
//! the plans for the fewest bits, the most items and the lowest rate cannot contradict each other:
//! they all rely on the same decisions.
//!
//! The search for a size uses approximations in `f64` ([`super::look`]). The result of the search
//! is then proven. Each number of probes has its own search. So a plan does not change if the
//! target also gives the number of probes that the plan would choose.

mod fewest;
mod followed;
mod lowest;
mod most;

use super::look::ln_miss;
use super::spread::question;
use super::target::Target;
use crate::law::hash_floor;
use crate::one_filter::quantile::{Evidence, RateQuantile, allowed, miss_bound, rate_quantile_bound};
use crate::search::{self, MAX_SEARCHED_PROBES, Question, ln_lower_bound};
use crate::{Rate, Result};
use alloc::vec;
use alloc::vec::Vec;
pub(super) use lowest::Lowest;

/// A search for sizes with a guaranteed rate.
#[derive(Clone, Copy)]
pub(super) struct Sure<'a> {
    target: &'a Target,
    rate: &'a Rate,
    confidence: f64,
    /// The logarithm of the allowed probability that a filter exceeds the rate.
    ln_allowed: f64,
}

impl<'a> Sure<'a> {
    pub(super) fn new(target: &'a Target, rate: &'a Rate, confidence: f64) -> Sure<'a> {
        Sure { target, rate, confidence, ln_allowed: libm::log(allowed(confidence)) }
    }

    /// An upper bound on the probability that the rate of a filter of this size exceeds the
    /// requested rate.
    fn miss(&self, bits: u64, items: u64, probes: u32, evidence: Evidence) -> Result<f64> {
        miss_bound(self.target.variant(), bits, items, probes, self.rate, Some(self.target.hash_bits), evidence)
    }

    /// Whether two statements are proven. First, the average rate is at most the requested rate.
    /// Second, with the requested confidence, the rate of one filter is at most the requested rate.
    pub(super) fn holds(&self, bits: u64, items: u64, probes: u32) -> Result<bool> {
        let evidence = Evidence::of(self.target.variant(), items, probes, allowed(self.confidence));
        // The difference 1 - c is exact for c >= 1/2. For smaller c, its rounding error is less
        // than the slack of the bound.
        let keeps = || Ok(self.miss(bits, items, probes, evidence)? <= allowed(self.confidence));
        // Computing the exact distribution ball by ball ends early if a miss is too likely, so this
        // is tried first.
        let is_walk = matches!(evidence, Evidence::Balls { .. });
        if is_walk && !keeps()? {
            return Ok(false);
        }
        let meets = self.target.variant().meets(bits, items, probes, self.rate, Some(self.target.hash_bits))?;
        Ok(meets && (is_walk || keeps()?))
    }

    fn question(&self) -> Question<'_> {
        question(self.target, self.rate)
    }

    /// Estimates the logarithm of [`Self::miss`] from bounds alone.
    fn about(&self, bits: u64, items: u64, probes: u32) -> f64 {
        let ln_rate = self.question().ln_target(items);
        ln_miss(self.target.variant(), bits as f64, items as f64, f64::from(probes), ln_rate)
    }

    /// Whether a fast lower bound on the average rate already exceeds the requested rate.
    fn is_excluded(&self, bits: u64, items: u64, probes: u32) -> bool {
        let bound = ln_lower_bound(self.target.variant(), bits, items, probes);
        bound > self.rate.ln() + 1e-9 * (1.0 + bound.abs())
    }

    /// The largest number of probes to try, which is far above the best number.
    fn most_probes(&self, items: u64) -> u32 {
        let usual = -self.question().ln_target(items) / core::f64::consts::LN_2;
        (2.0 * usual + 16.0).min(f64::from(MAX_SEARCHED_PROBES)) as u32
    }
}

/// Returns the numbers of probes to try, the most promising first. If the target gives the number
/// of probes, only that number is tried. If the target does not give it, the function returns the
/// numbers whose approximate cost exceeds the least cost by at most `margin`, and all numbers for
/// which `always` holds.
///
/// As a function of the number of probes, the cost falls and then rises, except for small jumps
/// where sizes are rounded to whole bits. So the search goes from `first` in both directions. In
/// each direction, the search ends after eight successive numbers that do not improve the cost. A
/// number whose cost is beyond the margin counts as four.
fn promising(
    target: &Target,
    first: u32,
    last: u32,
    margin: f64,
    cost: impl Fn(u32) -> f64,
    always: impl Fn(u32) -> bool,
) -> impl Iterator<Item = (u32, f64)> {
    let mut known = vec![(cost(first), first)];
    let mut least = known[0];
    for up in [false, true] {
        let (mut probes, mut misses) = (first, 0);
        while target.probes.is_none() && misses < 8 && (if up { probes < last } else { probes > 1 }) {
            probes = if up { probes + 1 } else { probes - 1 };
            let found = (cost(probes), probes);
            known.push(found);
            if found.0 < least.0 {
                (least, misses) = (found, 0);
            } else {
                misses += if found.0 > least.0 + margin { 4 } else { 1 };
            }
        }
    }
    known.retain(|(cost, probes)| *cost <= least.0 + margin || always(*probes));
    search::lowest_first(&mut known);
    let tried: Vec<u32> = known.iter().map(|(_, probes)| *probes).collect();
    let others = target.probes.is_none().then(|| search::outwards(least.1, 1, last));
    let others = others.into_iter().flatten().filter(move |probes| always(*probes) && !tried.contains(probes));
    known.into_iter().map(|(cost, probes)| (probes, cost)).chain(others.map(|probes| (probes, f64::INFINITY)))
}

/// Returns an upper limit on the rate of one filter. With the given confidence, the rate does not
/// exceed the limit. The limit includes the bound on equal hashes. If `met` is given, it is already
/// proven that the limit is at most `met`.
pub(super) fn kept(target: &Target, bits: u64, items: u64, probes: u32, confidence: f64, met: Option<&Rate>) -> Result<RateQuantile> {
    let mut quantile = rate_quantile_bound(target.variant(), bits, items, probes, confidence)?;
    quantile.fpr.add_above(hash_floor(items, target.hash_bits));
    if let Some(rate) = met {
        // It was decided in whole numbers that the filter meets this rate. Rounding outward must
        // not contradict that decision.
        quantile.fpr.cap(rate);
    }
    (quantile.fpr.value, quantile.fpr.ln) = (quantile.fpr.upper, quantile.fpr.ln_upper);
    Ok(quantile)
}
