//! The average rate of blocked filters: its law, guesses in `f64`, and the smallest sizes, which
//! are decided exactly.

use super::super::target::Target;
use super::about::{RateTable, ln_rate};
use super::{MAX_BLOCKS, choice};
use crate::law::registry::{BLOCK_BITS, BLOCK_PROBES};
use crate::law::{Blocked, InBlock};
use crate::{Error, Fpr, Law, Rate, Result};
use alloc::vec::Vec;

const MAX_ITEMS: u64 = 1 << 62;

pub(super) fn law(blocks: u64, probes: u32) -> Result<Blocked> {
    Blocked::new(blocks.saturating_mul(BLOCK_BITS), BLOCK_BITS, InBlock::Independent, probes)
}

/// The number of probes with the lowest rate at a size, and that rate.
pub(super) fn best(target: &Target, blocks: u64, items: u64) -> Result<(u32, Fpr)> {
    let mut table = RateTable::new();
    let mut order: Vec<(f64, u32)> = choice(target).map(|probes| (ln_rate(blocks as f64, items as f64, probes, true), probes)).collect();
    crate::search::lowest_first(&mut order);
    let mut best: Option<(u32, Fpr)> = None;
    for (_, probes) in order {
        if best.is_some_and(|(_, least)| table.is_excluded(blocks, items, probes, least.ln_upper)) {
            continue;
        }
        let fpr = law(blocks, probes)?.fpr(items)?;
        if best.is_none_or(|(known, least)| fpr.ln_upper < least.ln_upper || fpr.ln_upper == least.ln_upper && probes < known) {
            best = Some((probes, fpr));
        }
    }
    best.ok_or(Error::Underdetermined { given: "no probes", missing: "a number of probes from 1" })
}

/// Returns a number of probes with which a filter of this size has an average rate of at most
/// `rate`, or `None` if there is none.
pub(super) fn better(target: &Target, table: &mut RateTable, blocks: u64, items: u64, rate: &Rate) -> Result<Option<u32>> {
    let ln_most = rate.ln_above();
    for probes in choice(target) {
        if !table.is_excluded(blocks, items, probes, ln_most) && law(blocks, probes)?.meets(items, rate, target.hash_bits)? {
            return Ok(Some(probes));
        }
    }
    Ok(None)
}

/// Estimates the number of blocks at which the average rate with a given number of probes is
/// `e^ln_most`.
pub(super) fn about_blocks(items: u64, probes: u32, ln_most: f64, start: f64) -> f64 {
    let rate = |blocks: f64| ln_rate(blocks, items as f64, probes, true);
    let mut blocks = start.max(2.0);
    for _ in 0..12 {
        let found = rate(blocks);
        if !found.is_finite() {
            blocks *= 2.0;
            continue;
        }
        let slope = (rate(blocks * 1.001) - found) / libm::log(1.001);
        let step = ((ln_most - found) / slope.min(-0.2)).clamp(-0.7, 0.7);
        blocks = (blocks * libm::exp(step)).max(2.0);
        if step.abs() * blocks < 0.05 || step.abs() < 1e-9 {
            break;
        }
    }
    blocks
}

/// Returns the smallest number of blocks whose average rate is low enough, and the number of
/// probes.
pub(super) fn fewest_for_the_mean(target: &Target, items: u64, rate: &Rate) -> Result<Option<(u64, u32)>> {
    let table = &mut RateTable::new();
    let meets = |blocks: u64, probes: u32| law(blocks, probes)?.meets(items, rate, target.hash_bits);
    // The guess starts from the textbook's number of bits. It also tries up to four probes fewer
    // than the textbook's number, because fewer probes are best in fuller blocks.
    let textbook = items as f64 * -rate.ln() / (core::f64::consts::LN_2 * core::f64::consts::LN_2 * BLOCK_BITS as f64);
    let likely = ((-rate.ln() / core::f64::consts::LN_2) as u32).clamp(1, BLOCK_PROBES);
    let tried = target.probes.map_or(likely.saturating_sub(4).max(1)..=likely, |probes| probes..=probes);
    let guessed = tried.map(|probes| (about_blocks(items, probes, rate.ln(), textbook), probes));
    let Some((guess, mut probes)) = guessed.min_by(|a, b| a.0.total_cmp(&b.0)) else { return Ok(None) };
    let mut guess = guess.min(MAX_BLOCKS as f64);
    let Some(mut blocks) = crate::search::first_that_meets((guess as u64).clamp(1, MAX_BLOCKS), MAX_BLOCKS, |b| meets(b, probes))? else {
        // With so few probes, no size is enough. With more probes, the largest size may be enough.
        return Ok(better(target, table, MAX_BLOCKS, items, rate)?.map(|probes| (MAX_BLOCKS, probes)));
    };
    loop {
        blocks = crate::search::boundary(guess, 1, blocks, |blocks| Ok(!meets(blocks, probes)?))?;
        let other = if blocks > 1 { better(target, table, blocks - 1, items, rate)? } else { None };
        let Some(other) = other else { return Ok(Some((blocks, probes))) };
        (blocks, probes, guess) = (blocks - 1, other, (blocks - 1) as f64);
    }
}

/// Returns the largest number of items for which the average rate is low enough, and the number of
/// probes.
pub(super) fn most_for_the_mean(target: &Target, rate: &Rate, blocks: u64) -> Result<Option<(u64, u32)>> {
    let table = &mut RateTable::new();
    let fails = |items: u64, probes: u32| Ok(!law(blocks, probes)?.meets(items, rate, target.hash_bits)?);
    let Some(mut probes) = better(target, table, blocks, 1, rate)? else { return Ok(None) };
    let mut items = 1;
    loop {
        let mut limit = items + items / 4 + 1;
        while limit < MAX_ITEMS && !fails(limit, probes)? {
            limit *= 2;
        }
        items = crate::search::boundary(items as f64 + 1.0, items + 1, limit.min(MAX_ITEMS), |items| Ok(!fails(items, probes)?))? - 1;
        let Some(other) = better(target, table, blocks, items + 1, rate)? else { return Ok(Some((items, probes))) };
        (items, probes) = (items + 1, other);
    }
}
