//! Plans for blocked filters: the smallest number of blocks that is proven to be enough for a rate.

mod about;
mod mean;
mod probes;
mod search;
mod settle;
mod sizes;
mod sure;

use super::Plan;
use super::target::{Ask, Target};
use crate::error::out_of_range;
use crate::law::hash_floor;
use crate::law::registry::{BLOCK_BITS, BLOCK_PROBES};
use crate::one_filter::quantile::RateQuantile;
use crate::{Error, Fpr, Law, MAX_BITS, Method, Rate, Result, SchemeId};
use alloc::format;
use mean::{best, fewest_for_the_mean, law, most_for_the_mean};
use probes::{least_sure, nearest_sure};
use sizes::{Question, Sizes};
use sure::Sure;

/// The largest number of probes of a blocked recycling filter. At a rate of 1e-6, sixteen probes
/// are best. More than 32 probes would be best only at very low rates. At such rates, a blocked
/// filter needs about twice the bits of a standard filter.
pub const MAX_BLOCKED_PROBES: u32 = 32;

/// Plans in whole blocks. If the plan is for the mean rate only, one block less or one item more
/// would miss the rate with any number of probes. For a fixed number of probes, the rate decreases
/// with the number of blocks and increases with the number of items. The reason is that the rate in
/// a block increases with the block's load. The load of a query's block has a binomial
/// distribution, which stochastically increases with the number of items and decreases with the
/// number of blocks. All other numbers of probes are excluded one by one, by a lower bound
/// ([`about`]) or an exact decision. With a guarantee, the plan is the smallest that the search
/// found.
pub(super) fn plan(target: &Target) -> Result<Plan> {
    if let Some(probes) = target.probes.filter(|probes| !(1..=BLOCK_PROBES).contains(probes)) {
        return out_of_range("probes", probes, format!("from 1 to {BLOCK_PROBES} in a block"));
    }
    match target.ask()? {
        Ask::FewestBits { items, rate } => fewest_bits(target, items, rate),
        Ask::MostItems { rate, bits } => most_items(target, rate, whole_blocks(target, bits)?),
        Ask::GivenSize { items, rate, bits } => given_size(target, items, rate, whole_blocks(target, bits)?),
    }
}

const MAX_BLOCKS: u64 = MAX_BITS / BLOCK_BITS;

fn whole_blocks(target: &Target, bits: u64) -> Result<u64> {
    target.check_cap(bits)?;
    match bits {
        ..BLOCK_BITS => out_of_range("bits", bits, format!("at least a block of {BLOCK_BITS}")),
        _ if bits > MAX_BITS => out_of_range("bits", bits, format!("at most {MAX_BITS}")),
        _ => Ok(bits / BLOCK_BITS),
    }
}

/// The numbers of probes that a plan may choose.
fn choice(target: &Target) -> core::ops::RangeInclusive<u32> {
    target.probes.map_or(1..=BLOCK_PROBES, |probes| probes..=probes)
}

/// The plan, with the guarantee that the search found, if there was a search.
fn finish(target: &Target, blocks: u64, probes: u32, items: u64, searched: Option<Sure>) -> Result<Plan> {
    let fpr = law(blocks, probes)?.fpr(items)?;
    let new = |confidence| searched.or_else(|| Sure::new(target, confidence, probes, blocks, items)).ok_or(confidence);
    let guarantee = target.asked_confidence().map(|confidence| match new(confidence) {
        Ok(sure) => sure.quantile(blocks, items, target.rate.as_ref()),
        Err(confidence) => {
            RateQuantile { confidence, fpr: Fpr { lower: 0.0, ln_lower: f64::NEG_INFINITY, method: Method::Bound, ..Fpr::ONE }, ones: None }
        }
    });
    Ok(Plan::of(target, SchemeId::Blocked, blocks * BLOCK_BITS, probes, items, fpr, guarantee))
}

fn fewest_bits(target: &Target, items: u64, rate: Rate) -> Result<Plan> {
    target.check_hash_floor(items, rate)?;
    let cap = target.max_bits.unwrap_or(MAX_BITS).min(MAX_BITS) / BLOCK_BITS;
    let Some((mean, mut probes)) = fewest_for_the_mean(target, items, &rate)? else { return over_cap(target, items, rate, None, cap) };
    let (mut blocks, mut searched) = (mean, None);
    if let Some(confidence) = target.asked_confidence() {
        let sizes = Sizes::Blocks { mean, items };
        let question = Question { target, confidence, rate: &rate, sizes, mean_probes: probes };
        let Some((away, sure)) = nearest_sure(&question)? else { return over_cap(target, items, rate, None, cap) };
        (blocks, probes, searched) = (sizes.size(away), sure.probes, Some(sure));
    } else {
        let (lowest, _) = best(target, blocks, items)?;
        probes = if law(blocks, lowest)?.meets(items, &rate, target.hash_bits)? { lowest } else { probes };
    }
    if blocks > cap {
        return over_cap(target, items, rate, Some(blocks * BLOCK_BITS), cap);
    }
    finish(target, blocks, probes, items, searched)
}

fn most_items(target: &Target, rate: Rate, blocks: u64) -> Result<Plan> {
    let Some((mut items, mut probes)) = most_for_the_mean(target, &rate, blocks)? else {
        return out_of_reach(target, rate, blocks, 1, true);
    };
    let mut searched: Option<Sure> = None;
    if let Some(confidence) = target.asked_confidence() {
        let sizes = Sizes::Items { mean: items, blocks };
        let question = Question { target, confidence, rate: &rate, sizes, mean_probes: probes };
        let Some((away, sure)) = nearest_sure(&question)? else { return out_of_reach(target, rate, blocks, 1, false) };
        (items, probes, searched) = (sizes.size(away), sure.probes, Some(sure));
    }
    finish(target, blocks, probes, items, searched)
}

fn given_size(target: &Target, items: u64, rate: Option<Rate>, blocks: u64) -> Result<Plan> {
    let (mut probes, _) = best(target, blocks, items)?;
    if let Some(rate) = rate {
        target.check_hash_floor(items, rate)?;
        if !law(blocks, probes)?.meets(items, &rate, target.hash_bits)? {
            return out_of_reach(target, rate, blocks, items, true);
        }
    }
    let mut searched: Option<Sure> = None;
    if let Some(confidence) = target.asked_confidence() {
        match (least_sure(target, confidence, (blocks, items), rate.as_ref(), probes)?, rate) {
            (Some((_, sure)), _) => (probes, searched) = (sure.probes, Some(sure)),
            (None, Some(rate)) => return out_of_reach(target, rate, blocks, items, false),
            // The blocks are so full that no guarantee is known.
            (None, None) => {}
        }
    }
    finish(target, blocks, probes, items, searched)
}

/// Returns the best number of probes for a size, and the upper end of the lowest rate that can be
/// guaranteed with it.
fn reachable(target: &Target, blocks: u64, items: u64) -> Result<(u32, f64)> {
    let (probes, mut fpr) = best(target, blocks, items)?;
    fpr.add_above(hash_floor(items, target.hash_bits));
    let Some(confidence) = target.asked_confidence() else { return Ok((probes, fpr.upper)) };
    let found = least_sure(target, confidence, (blocks, items), None, probes)?;
    Ok(found.map_or((probes, 1.0), |(promised, sure)| (sure.probes, promised)))
}

fn over_cap<T>(target: &Target, items: u64, asked: Rate, needed: Option<u64>, cap: u64) -> Result<T> {
    let reachable = if cap == 0 { 1.0 } else { reachable(target, cap, items)?.1 };
    Err(Error::OverMemoryCap { asked, items, needed, allowed: cap * BLOCK_BITS, reachable })
}

fn out_of_reach<T>(target: &Target, asked: Rate, blocks: u64, items: u64, is_impossible: bool) -> Result<T> {
    let (probes, reachable) = reachable(target, blocks, items)?;
    Err(Error::OutOfReach { asked, items, bits: blocks * BLOCK_BITS, probes, reachable, is_impossible })
}

#[cfg(test)]
mod tests;
