//! The search over numbers of probes: the fewest blocks, the most items and the lowest rate.

use super::super::target::Target;
use super::super::walk::{Step, walk};
use super::about::ln_rate;
use super::mean::{fewest_for_the_mean, most_for_the_mean};
use super::settle::GRAINS;
use super::sure::{NEARLY, Sure};
use super::{MAX_BLOCKS, choice};
use crate::{Rate, Result};

/// Sizes whose relative difference is smaller are treated as equal.
fn grain(size: u64) -> u64 {
    (size / GRAINS).max(1)
}

/// The smallest number of blocks that is found to keep a rate. The search goes over the numbers of
/// probes that the average rate does not exclude. For each, it first tries slightly fewer blocks
/// than the best size so far, with a tilt ([`Sure`]) for that size.
pub(super) fn fewest_sure<'a>(
    target: &'a Target,
    confidence: f64,
    items: u64,
    rate: &Rate,
    mean: (u64, u32),
) -> Result<Option<(u64, Sure<'a>)>> {
    let mut best: Option<(u64, Sure)> = None;
    walk(choice(target), mean.1, |probes| {
        let start = best.as_ref().map_or(mean.0, |(blocks, _)| blocks - grain(*blocks));
        if start < mean.0 || best.is_some() && ln_rate(start as f64, items as f64, probes, false) > rate.ln_above() + 1e-8 {
            return Ok(Step::Excluded);
        }
        let Some(mut sure) = Sure::new(target, confidence, probes, start, items) else { return Ok(Step::Excluded) };
        let kept = sure.kept_nearly(start, items, rate);
        if best.is_some() && !sure.keeps(start, items, rate) {
            return Ok(Step::Kept { rate: kept, is_better: false });
        }
        let Some(mut blocks) = sure.fewest(items, rate, start, mean.0) else { return Ok(Step::Kept { rate: kept, is_better: false }) };
        // At the mean's own probes the average is kept from the mean's blocks on.
        if probes != mean.1 && !sure.meets(blocks, items, rate)? {
            let alone = target.clone().probes(probes);
            let Some((least, _)) = fewest_for_the_mean(&alone, items, rate)? else {
                return Ok(Step::Kept { rate: kept, is_better: false });
            };
            blocks = blocks.max(least);
            if !sure.keeps_anywhere(blocks, items, rate) {
                return Ok(Step::Kept { rate: kept, is_better: false });
            }
        }
        let is_better = best.as_ref().is_none_or(|(least, _)| blocks < *least);
        if is_better {
            best = Some((blocks, sure));
        }
        Ok(Step::Kept { rate: kept, is_better })
    })?;
    let Some((blocks, sure)) = best else { return Ok(None) };
    settled_blocks(sure, items, rate, mean, blocks)
}

/// The smallest number of blocks, with a separate decision for each size. The search found that no
/// number of probes keeps the rate with one block fewer.
fn settled_blocks<'a>(mut sure: Sure<'a>, items: u64, rate: &Rate, mean: (u64, u32), near: u64) -> Result<Option<(u64, Sure<'a>)>> {
    let mut near = near;
    let mut best: Option<(u64, Sure)> = None;
    loop {
        let is_met = |blocks: u64| if sure.probes == mean.1 { Ok(true) } else { sure.meets(blocks, items, rate) };
        let found = sure.settled(near, (mean.0, MAX_BLOCKS), rate, true, |blocks| (blocks, items), is_met)?;
        let Some(blocks) = found.filter(|found| best.as_ref().is_none_or(|(least, _)| found < least)) else { return Ok(best) };
        let Some(at) = sure.at(blocks, items) else { return Ok(best) };
        best = Some((blocks, at));
        if blocks == mean.0 {
            return Ok(best);
        }
        let Some(other) = other_probes(&sure, (blocks - 1, items), rate)? else { return Ok(best) };
        (sure, near) = (other, blocks - 1);
    }
}

/// Another number of probes that keeps the rate at a size.
fn other_probes<'a>(sure: &Sure<'a>, (blocks, items): (u64, u64), rate: &Rate) -> Result<Option<Sure<'a>>> {
    if sure.target.probes.is_some() {
        return Ok(None);
    }
    let mut found = None;
    walk(choice(sure.target), sure.probes, |probes| {
        if found.is_some() || ln_rate(blocks as f64, items as f64, probes, false) > rate.ln_above() + 1e-8 {
            return Ok(Step::Excluded);
        }
        let Some(new) = Sure::new(sure.target, sure.confidence, probes, blocks, items) else { return Ok(Step::Excluded) };
        let kept = new.kept(blocks, items);
        if kept < NEARLY * rate.to_f64()
            && let Some(other) = new.at(blocks, items)
            && other.holds(blocks, items, rate)?
        {
            found = Some(other);
        }
        Ok(Step::Kept { rate: kept, is_better: false })
    })?;
    Ok(found)
}

/// The largest number of items that is found to keep a rate, by the same search as [`fewest_sure`].
pub(super) fn most_sure<'a>(
    target: &'a Target,
    confidence: f64,
    rate: &Rate,
    blocks: u64,
    mean: (u64, u32),
) -> Result<Option<(u64, Sure<'a>)>> {
    let mut best: Option<(u64, Sure)> = None;
    walk(choice(target), mean.1, |probes| {
        let start = best.as_ref().map_or(mean.0, |(items, _)| items + grain(*items));
        if start > mean.0 || best.is_some() && ln_rate(blocks as f64, start as f64, probes, false) > rate.ln_above() + 1e-8 {
            return Ok(Step::Excluded);
        }
        let Some(mut sure) = Sure::new(target, confidence, probes, blocks, start) else { return Ok(Step::Excluded) };
        let kept = sure.kept_nearly(blocks, start, rate);
        if best.is_some() && !sure.keeps(blocks, start, rate) {
            return Ok(Step::Kept { rate: kept, is_better: false });
        }
        let mut items = sure.most(blocks, rate, start, mean.0);
        // With the probes of the plan for the mean, the average keeps the rate up to that plan's
        // items.
        if items > 0 && probes != mean.1 && !sure.meets(blocks, items, rate)? {
            let most = most_for_the_mean(&target.clone().probes(probes), rate, blocks)?;
            items = items.min(most.map_or(0, |(items, _)| items));
            if items > 0 && !sure.keeps(blocks, items, rate) {
                return Ok(Step::Kept { rate: kept, is_better: false });
            }
        }
        let is_better = items > best.as_ref().map_or(0, |(most, _)| *most);
        if is_better {
            best = Some((items, sure));
        }
        Ok(Step::Kept { rate: kept, is_better })
    })?;
    let Some((items, sure)) = best else { return Ok(None) };
    settled_items(sure, blocks, rate, mean, items)
}

/// The largest number of items, with a separate decision for each size. The search found that no
/// number of probes keeps the rate with one item more.
fn settled_items<'a>(mut sure: Sure<'a>, blocks: u64, rate: &Rate, mean: (u64, u32), near: u64) -> Result<Option<(u64, Sure<'a>)>> {
    let mut near = near;
    let mut best: Option<(u64, Sure)> = None;
    loop {
        let is_met = |items: u64| if sure.probes == mean.1 { Ok(true) } else { sure.meets(blocks, items, rate) };
        let found = sure.settled(near, (1, mean.0), rate, false, |items| (blocks, items), is_met)?;
        let Some(items) = found.filter(|found| best.as_ref().is_none_or(|(most, _)| found > most)) else { return Ok(best) };
        let Some(at) = sure.at(blocks, items) else { return Ok(best) };
        best = Some((items, at));
        if items == mean.0 {
            return Ok(best);
        }
        let Some(other) = other_probes(&sure, (blocks, items + 1), rate)? else { return Ok(best) };
        (sure, near) = (other, items + 1);
    }
}

/// The lowest promise that is found for a size: the rate that one filter keeps, or the average if
/// that is higher. If a rate is given, only numbers of probes that keep it are considered.
pub(super) fn least_sure<'a>(
    target: &'a Target,
    confidence: f64,
    (blocks, items): (u64, u64),
    rate: Option<&Rate>,
    likely: u32,
) -> Result<Option<(f64, Sure<'a>)>> {
    let mut best: Option<(f64, Sure)> = None;
    walk(choice(target), likely, |probes| {
        let known = best.as_ref().map_or(1.0, |(least, _)| *least);
        if ln_rate(blocks as f64, items as f64, probes, false) > libm::log(known) + 1e-8 {
            return Ok(Step::Excluded);
        }
        let Some(mut sure) = Sure::new(target, confidence, probes, blocks, items) else { return Ok(Step::Excluded) };
        let mut kept = sure.kept(blocks, items);
        if kept < NEARLY * known {
            let Some(at) = sure.at(blocks, items) else { return Ok(Step::Kept { rate: kept, is_better: false }) };
            (kept, sure) = (at.kept(blocks, items), at);
        }
        if kept < known {
            kept = kept.max(sure.average(blocks, items)?);
        }
        let is_better = kept < known && rate.map_or(Ok(true), |rate| sure.holds(blocks, items, rate))?;
        if is_better {
            best = Some((kept, sure));
        }
        Ok(Step::Kept { rate: kept, is_better })
    })?;
    Ok(best)
}
