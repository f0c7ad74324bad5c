//! Plans for the schemes with independent positions: standard, classic and partitioned.

use super::Plan;
use super::guarantee::{Lowest, Sure, kept};
use super::target::{Ask, Target};
use crate::law::hash_floor;
use crate::search::{self, Question, best_probes, ln_power_of_mean};
use crate::{Error, Fpr, MAX_BITS, Rate, Result};

pub(super) fn plan(target: &Target) -> Result<Plan> {
    match target.ask()? {
        Ask::FewestBits { items, rate } => fewest_bits(target, items, rate),
        Ask::MostItems { rate, bits } => most_items(target, rate, bits),
        Ask::GivenSize { items, rate, bits } => given_size(target, items, rate, bits),
    }
}

/// Creates the plan for a size. If a rate is requested, the caller must ensure that the size meets
/// this rate.
fn finish(target: &Target, bits: u64, probes: u32, items: u64) -> Result<Plan> {
    let fpr = target.variant().fpr(bits, items, probes)?;
    let kept = |confidence| kept(target, bits, items, probes, confidence, target.rate.as_ref());
    let guarantee = target.asked_confidence().map(kept).transpose()?;
    // The plan's scheme is the requested one, if it has a law of independent positions. For other
    // schemes, this plan only serves for a comparison, and has the scheme of the law.
    let scheme = if target.scheme.variant().is_some() { target.scheme } else { target.variant().into() };
    Ok(Plan::of(target, scheme, bits, probes, items, fpr, guarantee))
}

pub(super) fn question<'a>(target: &Target, rate: &'a Rate) -> Question<'a> {
    Question { variant: target.variant(), rate, probes: target.probes, hash_bits: Some(target.hash_bits) }
}

/// Returns an upper limit on the numbers of probes that are worth trying. At this limit, the rate
/// is well below the requested rate, and below a thousandth of the bound on equal hashes, unless
/// the filter is too small for such a rate.
pub(super) fn useful_probes(target: &Target, bits: u64, items: u64) -> Result<u32> {
    let most = target.variant().max_probes(bits).min(search::MAX_SEARCHED_PROBES);
    // With less than half a bit per item, additional probes only fill the filter.
    if bits < items / 2 {
        return Ok(1);
    }
    let floor = libm::log(hash_floor(items, target.hash_bits)) - libm::log(1000.0);
    let asked = target.rate.map_or(0.0, |rate| question(target, &rate).ln_target(items) - 1.0);
    let enough = floor.min(asked);
    // The textbook's rate is too low, so it only gives a starting point.
    let textbook = |k: u32| ln_power_of_mean(bits as f64, items as f64, f64::from(k));
    let mut probes = (1..most).find(|&k| textbook(k) < enough).unwrap_or(most);
    while probes < most && target.variant().fpr(bits, items, probes)?.ln > enough {
        probes = (probes + probes / 4 + 1).min(most);
    }
    Ok(probes)
}

fn fewest_bits(target: &Target, items: u64, rate: Rate) -> Result<Plan> {
    target.check_hash_floor(items, rate)?;
    let cap = target.max_bits.unwrap_or(MAX_BITS).min(MAX_BITS);
    let mean = search::fewest_bits(question(target, &rate), items)?;
    let fit = match (mean, target.asked_confidence()) {
        (Some(mean), Some(confidence)) => Sure::new(target, &rate, confidence).fewest_bits(items, mean)?,
        (mean, _) => mean,
    };
    match fit {
        Some(fit) if fit.size <= cap => {
            let probes = if target.asked_confidence().is_some() { fit.probes } else { best_within(target, fit.size, items, fit.probes)? };
            finish(target, fit.size, probes, items)
        }
        needed => {
            let reachable = reachable_within(target, cap, items)?;
            let needed = needed.map(|fit| fit.size);
            Err(Error::OverMemoryCap { asked: rate, items, needed, allowed: cap, reachable })
        }
    }
}

/// Returns the upper end of the lowest rate that can be reached with this many bits. The result is
/// 1 if the given number of probes is not possible with so few bits.
fn reachable_within(target: &Target, bits: u64, items: u64) -> Result<f64> {
    if target.probes.is_some_and(|probes| probes > target.variant().max_probes(bits)) {
        return Ok(1.0);
    }
    Ok(lowest(target, bits, items)?.1.upper)
}

/// Returns the number of probes with the lowest promised rate for a size, and that rate. The
/// promised rate is the guaranteed rate of one filter, or the average rate if that is higher. If
/// only the mean is requested, it is the average rate.
fn lowest(target: &Target, bits: u64, items: u64) -> Result<(u32, Fpr)> {
    if let Some(confidence) = target.asked_confidence() {
        let found = Lowest::new(target, bits, items, confidence, useful_probes(target, bits, items)?)?;
        return Ok((found.probes, found.promised));
    }
    let (probes, mut fpr) = best_rate(target, bits, items)?;
    fpr.add_above(hash_floor(items, target.hash_bits));
    Ok((probes, fpr))
}

fn most_items(target: &Target, rate: Rate, bits: u64) -> Result<Plan> {
    target.variant().check(bits, target.probes.unwrap_or(1))?;
    target.check_cap(bits)?;
    let Some(mean) = search::most_items(question(target, &rate), bits)? else {
        return out_of_reach(rate, (bits, 1), lowest(target, bits, 1)?, true);
    };
    let Some(confidence) = target.asked_confidence() else {
        return finish(target, bits, best_within(target, bits, mean.size, mean.probes)?, mean.size);
    };
    match Sure::new(target, &rate, confidence).most_items(bits, mean)? {
        Some(fit) => finish(target, bits, fit.probes, fit.size),
        None => out_of_reach(rate, (bits, 1), lowest(target, bits, 1)?, false),
    }
}

fn given_size(target: &Target, items: u64, rate: Option<Rate>, bits: u64) -> Result<Plan> {
    target.variant().check(bits, target.probes.unwrap_or(1))?;
    target.check_cap(bits)?;
    if let Some(rate) = rate {
        target.check_hash_floor(items, rate)?;
    }
    let found = lowest(target, bits, items)?;
    let probes = found.0;
    if let Some(rate) = rate {
        let meets = |probes: u32| target.variant().meets(bits, items, probes, &rate, Some(target.hash_bits));
        let is_kept = match target.asked_confidence() {
            Some(confidence) => Sure::new(target, &rate, confidence).holds(bits, items, probes)?,
            None => meets(probes)?,
        };
        if !is_kept {
            let is_impossible = !meets(probes)? && !meets(best_rate(target, bits, items)?.0)?;
            return out_of_reach(rate, (bits, items), found, is_impossible);
        }
    }
    finish(target, bits, probes, items)
}

fn out_of_reach(asked: Rate, (bits, items): (u64, u64), (probes, promised): (u32, Fpr), is_impossible: bool) -> Result<Plan> {
    Err(Error::OutOfReach { asked, items, bits, probes, reachable: promised.upper, is_impossible })
}

/// Returns the number of probes for a size, and the resulting rate. The number of probes is the one
/// that the target gives, or otherwise the best.
fn best_rate(target: &Target, bits: u64, items: u64) -> Result<(u32, Fpr)> {
    match target.probes {
        Some(probes) => Ok((probes, target.variant().fpr(bits, items, probes)?)),
        None => best_probes(target.variant(), bits, items, useful_probes(target, bits, items)?).map(|best| (best.probes, best.fpr)),
    }
}

/// Returns the best number of probes for a size, or `known` if the target gives the number of
/// probes.
fn best_within(target: &Target, bits: u64, items: u64, known: u32) -> Result<u32> {
    if target.probes.is_some() { Ok(known) } else { Ok(best_rate(target, bits, items)?.0) }
}
