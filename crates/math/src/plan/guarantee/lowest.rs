//! The lowest rate that can be promised for a size.

use super::super::look::ln_kept;
use super::super::target::Target;
use super::followed::is_followed;
use super::promising;
use crate::law::hash_floor;
use crate::one_filter::quantile::{MANY_ITEMS, allowed, kept};
use crate::search::ln_lower_bound;
use crate::{Fpr, Result};

/// Below this number of items, all numbers of probes are tried, up to well beyond the probable best
/// one.
const FEW_ITEMS: u64 = 30;

/// The largest decrease of the logarithm of a rate if the exact distribution replaces the bounds,
/// for at least a hundred items. For fewer items, it is [`LAW_LOWERS_FEW`].
const LAW_LOWERS: f64 = 0.1;
const LAW_LOWERS_FEW: f64 = 1.5;

/// The number of probes with the lowest rate that can be promised for a size, and that rate. The
/// promised rate is the guaranteed rate of one filter, or the average rate if that is higher. Both
/// rates include the bound on equal hashes.
pub(in super::super) struct Lowest {
    pub(in super::super) probes: u32,
    pub(in super::super) promised: Fpr,
}

impl Lowest {
    /// Tries the numbers of probes up to `most`, or only the number in the target if there is one.
    pub(in super::super) fn new(target: &Target, bits: u64, items: u64, confidence: f64, most: u32) -> Result<Lowest> {
        let variant = target.variant();
        let allowed = allowed(confidence);
        let likely = libm::round(bits as f64 / items as f64 * core::f64::consts::LN_2).clamp(1.0, f64::from(most)) as u32;
        let first = target.probes.unwrap_or(likely);
        let cost = |probes: u32| ln_kept(variant, bits as f64, items as f64, f64::from(probes), libm::log(allowed));
        let is_followed = |probes: u32| is_followed(variant, items, probes, allowed);
        let always = |probes: u32| items < FEW_ITEMS && probes <= 2 * first + 16 && is_followed(probes);
        let by_law = if is_followed(first / 2) { if items < MANY_ITEMS { LAW_LOWERS_FEW } else { LAW_LOWERS } } else { 0.0 };
        // One more set bit raises the logarithm of the rate by k divided by the number of set bits.
        let margin = 4.0 * f64::from(first) / bits as f64 + by_law + 1e-9;
        let mut best: Option<Lowest> = None;
        let mut refused = None;
        for (probes, _) in promising(target, first, most, margin, cost, always) {
            let bound = ln_lower_bound(variant, bits, items, probes);
            if best.as_ref().is_some_and(|best| bound > best.promised.ln_upper + 1e-9 * (1.0 + bound.abs())) {
                continue;
            }
            // Far above the likely number of probes, computing a rate can take more work than one
            // call may.
            let promised = match promised(target, bits, items, probes, allowed) {
                Ok(promised) => promised,
                Err(error) => {
                    refused = Some(error);
                    continue;
                }
            };
            if best.as_ref().is_none_or(|best| (promised.ln_upper, probes) < (best.promised.ln_upper, best.probes)) {
                best = Some(Lowest { probes, promised });
            }
        }
        match (best, refused) {
            (Some(best), _) => Ok(best),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(Lowest { probes: first, promised: Fpr::ONE }),
        }
    }
}

/// The promised rate for a size and a given number of probes.
fn promised(target: &Target, bits: u64, items: u64, probes: u32, allowed: f64) -> Result<Fpr> {
    let mut one = kept(target.variant(), bits, items, probes, allowed)?;
    // If the confidence is at least one half, the average rate is below the guaranteed rate, except
    // for rounding.
    let mean = target.variant().fpr(bits, items, probes)?;
    if mean.ln_upper > one.ln_upper {
        one = mean;
    }
    one.add_above(hash_floor(items, target.hash_bits));
    Ok(one)
}
