//! The most items that a given memory remembers at a given rate.

use super::fluid::limit_rate;
use super::{Bracket, Design, LongRun, Mode, Phases, Result};
use crate::Rate;
use crate::error::{check_bits, out_of_range};

/// A design that was searched for, and what it does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sized {
    /// The design: its probes and sigma are the best.
    pub design: Design,
    /// Its rates and its items.
    pub run: LongRun,
}

/// The design with the most items per cycle (per phase, for two phases) whose long-run rate is at most `rate`, among those of `bits` bits in all; of equals the fewest probes. Two phases have half of
/// the bits each, and leave an odd one unused. `None` when even the smallest sigma is too much.
///
/// The rate rises with sigma, because a fuller filter comes later on the same stream (for retained colliding items this is observed, not proven, and up to 64 bits every sigma is tried), so the best sigma of a number of probes is found by
/// bisection and decided on the bracket and the decimal as written; a tie within the bracket of pairs of `f64` counts as too much, unless the sizes are so small (a few bits) that it is proven to be one, which passes. Numbers of probes are tried within 3% of the best
/// of the limit of many bits, up to 1,024 bits all within twice the best: a search, verified against all numbers of probes at small sizes, not a proof. Items that agree to 1e-11 count as equal.
///
/// Time: O(probes x bits) for each number tried; 0.2 seconds at a million bits, microseconds above fifty million hashes. Errors when bits are out of range, or rates are below 1e-300.
///
/// ```
/// use truebloom_math::recycling::{Mode, capacity};
/// let best = capacity(1_000, &"0.01".parse()?, Mode::default())?.expect("a design");
/// assert_eq!((best.design.probes(), best.design.sigma()), (6, 606));
/// # Ok::<(), truebloom_math::Error>(())
/// ```
pub fn capacity(bits: u64, rate: &Rate, mode: Mode) -> Result<Option<Sized>> {
    let best = best_design(bits, rate, mode)?;
    best.map(|(design, _)| Ok(Sized { design, run: design.long_run()? })).transpose()
}

fn best_design(bits: u64, rate: &Rate, mode: Mode) -> Result<Option<(Design, Bracket)>> {
    let each = bits / mode.filters();
    check_bits(each)?;
    let mut best: Option<(Design, Bracket)> = None;
    for probes in candidates(each, rate, mode)? {
        let Some(design) = fullest(each, probes, rate, mode)? else { continue };
        let items = Bracket::from_enclosure(&design.nearly()?.items);
        if best.is_none_or(|(_, most)| items.value > most.value * (1.0 + SAME)) {
            best = Some((design, items));
        }
    }
    Ok(best)
}

/// Items that differ by less than this are equal as far as anyone can tell.
const SAME: f64 = 1e-11;

/// Up to so many bits the limit of many bits is no guide.
const SMALL: u64 = 1_024;

/// The load at which the limit has this rate, by bisection.
pub(super) fn limit_load(probes: u32, rate: f64, phases: Phases) -> f64 {
    let (mut low, mut high) = (0.0, 1.0 - f64::EPSILON);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if limit_rate(probes, middle, phases) < rate { low = middle } else { high = middle }
    }
    low
}

/// Items per bit in the limit of many bits, for 1, 2, .. probes, until well beyond the best.
pub(super) fn limit_items(rate: &Rate, phases: Phases) -> Result<Vec<f64>> {
    let p = rate.to_f64();
    if p < 1e-300 {
        return out_of_range("fpr", rate, "at least 1e-300 for a recycling filter");
    }
    let mut items: Vec<f64> = Vec::new();
    let mut best = 0;
    for probes in 1.. {
        let found = -libm::log1p(-limit_load(probes, p, phases)) / f64::from(probes);
        if items.get(best).is_none_or(|&most| found > most) {
            best = items.len();
        }
        items.push(found);
        if items.len() > 2 * best + 16 {
            break;
        }
    }
    Ok(items)
}

fn candidates(bits: u64, rate: &Rate, mode: Mode) -> Result<Vec<u32>> {
    let items = limit_items(rate, mode.phases)?;
    let most = items.iter().copied().fold(0.0, f64::max);
    let worth = |&(_, found): &(u32, f64)| bits <= SMALL || found > 0.97 * most;
    let possible = |probes: &u32| mode.colliding || u64::from(*probes) <= bits;
    Ok((1..).zip(items).filter(worth).map(|(probes, _)| probes).filter(possible).collect())
}

/// The design with the largest sigma that keeps to the rate. In a few bits and at high rates that can be one whose frozen filter may fill up (sigma + probes from bits on), which has a rate, but which no
/// `RecyclingFilter` is made for.
pub(super) fn fullest(bits: u64, probes: u32, rate: &Rate, mode: Mode) -> Result<Option<Design>> {
    let k = u64::from(probes);
    let least = if mode.retaining { k } else { 0 };
    if least >= bits {
        return Ok(None);
    }
    let design = |sigma| Design::new(bits, probes, sigma, mode);
    let meets = |sigma| design(sigma)?.meets(rate);
    if mode.retaining && mode.colliding && bits <= SCANNED {
        for sigma in (least..bits).rev() {
            if meets(sigma)? {
                return design(sigma).map(Some);
            }
        }
        return Ok(None);
    }
    let guess = (limit_load(probes, rate.to_f64(), mode.phases) * bits as f64) as u64;
    let (mut low, mut high) = around(guess.clamp(least, bits - 1), least, bits, &meets)?;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if meets(middle)? { low = middle } else { high = middle }
    }
    if low == least && !meets(least)? {
        return Ok(None);
    }
    design(low).map(Some)
}

/// Up to so many bits every sigma is tried where the rate is not proven to rise with it.
const SCANNED: u64 = 64;

/// `low` and `high` with the largest sigma that meets between them, in steps that double from a guess: `low` meets, or is the least; `high` does not, or is `end`.
fn around(guess: u64, least: u64, end: u64, meets: &impl Fn(u64) -> Result<bool>) -> Result<(u64, u64)> {
    let mut step = 1;
    if meets(guess)? {
        let mut low = guess;
        loop {
            let next = low.saturating_add(step);
            if next >= end || !meets(next)? {
                return Ok((low, next.min(end)));
            }
            (low, step) = (next, 2 * step);
        }
    }
    let mut high = guess;
    loop {
        let next = high.saturating_sub(step).max(least);
        if next == least || meets(next)? {
            return Ok((next, high.max(next + 1)));
        }
        (high, step) = (next, 2 * step);
    }
}

/// The smallest memory, in bits in all, with a design that keeps at least `items` per cycle (per phase, for two phases) at a long-run rate of at most `rate`; `None` above 2^62 bits.
///
/// The capacity is not monotone in bits (sigma and probes are whole), so after a bisection the sizes below are tried too: all of them up to 512 bits, otherwise 48 (with two phases, 48 even ones), 12 above
/// a hundred thousand; below those the capacity falls short by more than its steps. A search, verified against all sizes for small filters.
///
/// Errors when `items` is not above 0 and finite, or the rate below 1e-300.
pub fn min_bits(items: f64, rate: &Rate, mode: Mode) -> Result<Option<Sized>> {
    if !(items > 0.0 && items <= 1e18) {
        return out_of_range("items_per_cycle", items, "above 0 and at most 1e18");
    }
    let filters = mode.filters();
    let enough = |each: u64| -> Result<Option<Design>> {
        let Some((design, mut found)) = best_design(each * filters, rate, mode)? else { return Ok(None) };
        if found.lower < items && items <= found.upper {
            found = design.long_run()?.items_per_cycle;
        }
        // What no bracket tells apart is equal.
        Ok((found.upper >= items).then_some(design))
    };
    let per_bit = limit_items(rate, mode.phases)?.into_iter().fold(0.0, f64::max);
    let most = crate::MAX_BITS / filters;
    let guess = items / per_bit;
    if guess > 0.99 * most as f64 {
        return Ok(None);
    }
    let (mut low, mut high) = (0, guess as u64 + 1);
    let mut step = 1;
    let mut found = loop {
        match enough(high)? {
            Some(found) => break found,
            None if high == most => return Ok(None),
            None => (low, high, step) = (high, (high + step).min(most), 2 * step),
        }
    };
    step = 1;
    while low == 0 && high > 1 {
        let next = high.saturating_sub(step).max(1);
        match enough(next)? {
            Some(smaller) => (found, high, step) = (smaller, next, 2 * step),
            None => low = next,
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match enough(middle)? {
            Some(smaller) => (found, high) = (smaller, middle),
            None => low = middle,
        }
    }
    let depth = match high {
        ..=512 => high,
        513..=100_000 => 48,
        _ => 12,
    };
    for each in (high.saturating_sub(depth).max(1)..high).rev() {
        if let Some(smaller) = enough(each)? {
            found = smaller;
        }
    }
    Ok(Some(Sized { design: found, run: found.long_run()? }))
}
