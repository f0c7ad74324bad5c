//! Plans for the laws of independent positions: standard, classic and partitioned.

use super::Plan;
use super::guarantee::{Sure, quantile};
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

/// The plan for a size that was decided to keep the rate, if one was asked for.
fn finish(target: &Target, bits: u64, probes: u32, items: u64) -> Result<Plan> {
    let fpr = target.variant().fpr(bits, items, probes)?;
    let kept = |confidence| quantile(target, bits, items, probes, confidence, target.rate.as_ref());
    let guarantee = target.asked_confidence().map(kept).transpose()?;
    // Of the scheme asked for, which others may share their law with; where only a comparison is
    // asked for, of the law's own.
    let scheme = if target.scheme.variant().is_some() { target.scheme } else { target.variant().into() };
    Ok(Plan::of(target, scheme, bits, probes, items, fpr, guarantee))
}

pub(super) fn question<'a>(target: &Target, rate: &'a Rate) -> Question<'a> {
    Question { variant: target.variant(), rate, probes: target.probes, hash_bits: Some(target.hash_bits) }
}

/// A sufficient number of probes: enough to make the rate well below the rate asked for, or below a
/// thousandth of the floor of equal hashes, where more probes only cost time.
pub(super) fn useful_probes(target: &Target, bits: u64, items: u64) -> Result<u32> {
    let most = target.variant().max_probes(bits).min(search::MAX_SEARCHED_PROBES);
    let floor = libm::log(hash_floor(items, target.hash_bits)) - libm::log(1000.0);
    let asked = target.rate.map_or(0.0, |rate| question(target, &rate).ln_target(items) - 1.0);
    let enough = floor.min(asked);
    // The textbook's rate is too low, so it only says where to look.
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

/// The upper end of the smallest rate that this many bits reach; 1 if they are too few for the
/// probes.
fn reachable_within(target: &Target, bits: u64, items: u64) -> Result<f64> {
    if target.probes.is_some_and(|probes| probes > target.variant().max_probes(bits)) {
        return Ok(1.0);
    }
    let (probes, mut fpr) = best_rate(target, bits, items)?;
    if let Some(confidence) = target.asked_confidence() {
        return Ok(least_promised(target, bits, items, probes, confidence));
    }
    fpr.add_above(hash_floor(items, target.hash_bits));
    Ok(fpr.upper)
}

/// The rate that one filter of this size keeps; 1, which is always true, if computing it would take
/// too long.
fn least_promised(target: &Target, bits: u64, items: u64, probes: u32, confidence: f64) -> f64 {
    quantile(target, bits, items, probes, confidence, None).map_or(1.0, |quantile| quantile.fpr.upper)
}

fn most_items(target: &Target, rate: Rate, bits: u64) -> Result<Plan> {
    target.variant().check(bits, target.probes.unwrap_or(1))?;
    target.check_cap(bits)?;
    let Some(mean) = search::most_items(question(target, &rate), bits)? else { return out_of_reach(target, rate, bits, 1, true) };
    let Some(confidence) = target.asked_confidence() else {
        return finish(target, bits, best_within(target, bits, mean.size, mean.probes)?, mean.size);
    };
    match Sure::new(target, &rate, confidence).most_items(bits, mean)? {
        Some(fit) => finish(target, bits, fit.probes, fit.size),
        None => out_of_reach(target, rate, bits, 1, false),
    }
}

fn given_size(target: &Target, items: u64, rate: Option<Rate>, bits: u64) -> Result<Plan> {
    target.variant().check(bits, target.probes.unwrap_or(1))?;
    target.check_cap(bits)?;
    let (mut probes, _) = best_rate(target, bits, items)?;
    if let Some(rate) = rate {
        target.check_hash_floor(items, rate)?;
        if !target.variant().meets(bits, items, probes, &rate, Some(target.hash_bits))? {
            return out_of_reach(target, rate, bits, items, true);
        }
        if let Some(confidence) = target.asked_confidence() {
            match Sure::new(target, &rate, confidence).probes_for(bits, items, probes)? {
                Some(found) => probes = found,
                None => return out_of_reach(target, rate, bits, items, false),
            }
        }
    }
    finish(target, bits, probes, items)
}

fn out_of_reach(target: &Target, asked: Rate, bits: u64, items: u64, is_impossible: bool) -> Result<Plan> {
    let (probes, mut fpr) = best_rate(target, bits, items)?;
    fpr.add_above(hash_floor(items, target.hash_bits));
    let reachable = match target.asked_confidence() {
        Some(confidence) => least_promised(target, bits, items, probes, confidence),
        None => fpr.upper,
    };
    Err(Error::OutOfReach { asked, items, bits, probes, reachable, is_impossible })
}

/// The number of probes to use for a size, given or best, and its rate.
fn best_rate(target: &Target, bits: u64, items: u64) -> Result<(u32, Fpr)> {
    match target.probes {
        Some(probes) => Ok((probes, target.variant().fpr(bits, items, probes)?)),
        None => best_probes(target.variant(), bits, items, useful_probes(target, bits, items)?).map(|best| (best.probes, best.fpr)),
    }
}

/// The best number of probes at a size that `known` probes are known to fit.
fn best_within(target: &Target, bits: u64, items: u64, known: u32) -> Result<u32> {
    if target.probes.is_some() { Ok(known) } else { Ok(best_rate(target, bits, items)?.0) }
}
