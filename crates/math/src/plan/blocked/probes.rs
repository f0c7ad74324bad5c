//! The search over numbers of probes. It finds the nearest size with a guarantee, and the lowest
//! guaranteed rate of a size.

use super::super::target::Target;
use super::super::walk::{Step, walk};
use super::about::is_beyond;
use super::choice;
use super::sizes::Question;
use super::sure::{NEARLY, Sure};
use crate::{Rate, Result};

/// Finds the size with a guarantee that is nearest to the size that the average alone needs, and
/// returns the distance between the two sizes. For each number of probes that the average does not
/// exclude, the search first tries a size slightly nearer than the best so far. The parameters of
/// the bound (the tilt) are computed for that size.
pub(super) fn nearest_sure<'a>(question: &Question<'a>) -> Result<Option<(u64, Sure<'a>)>> {
    let Question { target, confidence, rate, sizes, mean_probes } = *question;
    let mut best: Option<(u64, Sure)> = None;
    walk(choice(target), mean_probes, |probes| {
        let nearer = best.as_ref().map_or(Some(0), |(away, _)| away.checked_sub(sizes.grain(*away)));
        let Some(start) = nearer else { return Ok(Step::Excluded) };
        let (blocks, items) = sizes.at(start);
        if best.is_some() && is_beyond(blocks, items, probes, rate.ln_above()) {
            return Ok(Step::Excluded);
        }
        let Some(mut sure) = Sure::new(target, confidence, probes, blocks, items) else { return Ok(Step::Excluded) };
        let kept = sure.kept_nearly(blocks, items, rate);
        let failed = Step::Kept { rate: kept, is_better: false };
        if best.is_some() && !sure.keeps(blocks, items, rate) {
            return Ok(failed);
        }
        let Some(mut away) = sure.nearest(question, start) else { return Ok(failed) };
        let (blocks, items) = sizes.at(away);
        if probes != mean_probes && !sure.meets(blocks, items, rate)? {
            let Some(least) = sizes.of_mean(&target.clone().probes(probes), rate)? else { return Ok(failed) };
            away = away.max(least);
            let (blocks, items) = sizes.at(away);
            if !sure.keeps_anywhere(blocks, items, rate) {
                return Ok(failed);
            }
        }
        let is_better = best.as_ref().is_none_or(|(least, _)| away < *least);
        if is_better {
            best = Some((away, sure));
        }
        Ok(Step::Kept { rate: kept, is_better })
    })?;
    let Some((away, sure)) = best else { return Ok(None) };
    settled(question, sure, away)
}

/// Refines `near`, the distance that [`nearest_sure`] found. Here, the guarantee of each size is
/// decided separately ([`Sure::at`]). If the returned distance is reduced by one (one block less,
/// or one item more), the search finds no number of probes that meets the rate.
fn settled<'a>(question: &Question<'a>, mut sure: Sure<'a>, mut near: u64) -> Result<Option<(u64, Sure<'a>)>> {
    let mut best: Option<(u64, Sure)> = None;
    loop {
        let found = sure.settled(question, near)?;
        let Some(away) = found.filter(|found| best.as_ref().is_none_or(|(least, _)| found < least)) else { return Ok(best) };
        let (blocks, items) = question.sizes.at(away);
        let Some(at) = sure.at(blocks, items) else { return Ok(best) };
        best = Some((away, at));
        let Some(nearer) = away.checked_sub(1) else { return Ok(best) };
        let Some(other) = other_probes(&sure, question.sizes.at(nearer), question.rate)? else { return Ok(best) };
        (sure, near) = (other, nearer);
    }
}

/// Returns the guarantee with another number of probes that holds at this size, if there is one.
fn other_probes<'a>(sure: &Sure<'a>, (blocks, items): (u64, u64), rate: &Rate) -> Result<Option<Sure<'a>>> {
    if sure.target.probes.is_some() {
        return Ok(None);
    }
    let mut found = None;
    walk(choice(sure.target), sure.probes, |probes| {
        if found.is_some() || is_beyond(blocks, items, probes, rate.ln_above()) {
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

/// Returns the lowest rate that can be promised for a size: the guaranteed rate of one filter, or
/// the average rate if that is higher. If a rate is given, only numbers of probes that meet it are
/// considered.
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
        if is_beyond(blocks, items, probes, libm::log(known)) {
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
