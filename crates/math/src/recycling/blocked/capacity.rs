//! Blocked recycling filters: the largest number of items that a given memory remembers at a given
//! rate, and the smallest memory for a given number of items.

use super::super::{LongRun, Result, SizedDesign};
use super::cycle::MOST_ITEMS;
use super::{BlockedDesign, MOST_LIMIT};
use crate::error::{check_bits, out_of_range};
use crate::exact::enclosure::Enclose;
use crate::exact::work;
use crate::law::{Blocked, InBlock};
use crate::{BLOCK_BITS, Law, MAX_BITS, MAX_BLOCKED_PROBES, Rate, WORTH_TIMES};
use alloc::vec::Vec;
use alloc::{format, vec};

/// A blocked design found by a search, with its rates.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BlockedSized {
    /// The design, with lines of [`BLOCK_BITS`] bits.
    pub design: BlockedDesign,
    /// The rates and the number of items of the design. The upper bound on the average rate is at
    /// most the requested rate.
    pub run: LongRun,
}

impl BlockedSized {
    /// Returns the bits per item of this design, divided by the bits per item of the design
    /// `standard`. For both designs, the number of items is the expected number of items in a
    /// cycle. Each of these two numbers of items is known only as a bracket. The result is the
    /// largest ratio that the two brackets allow.
    #[must_use]
    pub fn bits_ratio(&self, standard: &SizedDesign) -> f64 {
        let (items, others) = (self.run.items_per_cycle.lower, standard.run.items_per_cycle.upper);
        self.design.bits() as f64 / items / (standard.design.total_bits() as f64 / others)
    }

    /// Returns true if [`bits_ratio`](Self::bits_ratio) is at most [`WORTH_TIMES`], which is 1.1.
    /// In this case, a blocked filter counts as worth its additional memory. The command `truebloom
    /// plan --recycling --layout auto` uses this criterion.
    #[must_use]
    pub fn is_worth_it(&self, standard: &SizedDesign) -> bool {
        self.bits_ratio(standard) <= WORTH_TIMES
    }
}

/// Finds a blocked design with `bits` bits, rounded down to whole lines of [`BLOCK_BITS`] bits. The
/// long-run average rate of the design is proven to be at most `rate`. The number of items per
/// cycle is nearly the largest possible. The result is `None` if no design was found, which can
/// happen with few lines at low rates.
///
/// The [`limit`](BlockedDesign::limit) of the design has four significant decimal digits. It is the
/// highest such number for which the average rate is proven to be at most `rate`. To choose the
/// number of probes, the search first approximates the items per cycle for each number of probes.
/// The search computes proven bounds only for the most promising numbers of probes: those whose
/// approximate capacity is at least 99.7% of the largest one. The resulting design holds more than
/// 99% of the items that the best design would hold.
///
/// At usual rates, the search takes tens of milliseconds, whatever the size. At a rate of 1e-9, the
/// search takes a few tenths of a second.
///
/// ```
/// use truebloom_math::recycling::{Mode, blocked_capacity, capacity};
/// let (bits, rate) = (1 << 24, "0.01".parse()?);
/// let blocked = blocked_capacity(bits, &rate)?.expect("a design");
/// assert!(blocked.run.fpr.upper <= 0.01 && blocked.run.worst.upper < 0.07);
/// assert!(blocked.is_worth_it(&capacity(bits, &rate, Mode::default())?.expect("a design")));
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if `bits` is below [`BLOCK_BITS`] or out of range, or if the rate is below 1e-9.
pub fn blocked_capacity(bits: u64, rate: &Rate) -> Result<Option<BlockedSized>> {
    let _work = work::begin();
    check_bits(bits)?;
    check_rate(rate)?;
    if bits < BLOCK_BITS {
        return out_of_range("bits", bits, format!("at least {BLOCK_BITS}, the size of a block"));
    }
    let blocks = bits / BLOCK_BITS;
    most_items(blocks, &candidates(blocks, rate)?, rate)
}

/// Returns the design with this many lines that holds the most items. The function tries only the
/// probe counts in `candidates`. Each of them comes with an approximate limit.
fn most_items(blocks: u64, candidates: &[(u32, f64)], rate: &Rate) -> Result<Option<BlockedSized>> {
    let mut best: Option<BlockedSized> = None;
    for &(probes, limit) in candidates {
        let Some(sized) = fullest(blocks, probes, limit, rate)? else { continue };
        if best.is_none_or(|best| sized.run.items_per_cycle.lower > best.run.items_per_cycle.lower) {
            best = Some(sized);
        }
    }
    Ok(best)
}

/// The lowest supported rate. At lower rates, blocked filters take more than 1.7 times the bits of
/// standard filters, and the search takes seconds.
const LEAST_RATE: f64 = 1e-9;

fn check_rate(rate: &Rate) -> Result<()> {
    if rate.to_f64() < LEAST_RATE {
        return out_of_range(
            "fpr",
            rate,
            format!(
                "at least {LEAST_RATE:e} for the blocked layout; at lower rates, it needs more than 1.7 times the bits of the standard layout"
            ),
        );
    }
    Ok(())
}

fn law(blocks: u64, probes: u32) -> Result<Blocked> {
    Blocked::new(blocks * BLOCK_BITS, BLOCK_BITS, InBlock::Independent, probes)
}

/// Returns the probe counts with which a filter holds nearly the most items at this average rate.
/// Each of them comes with an approximate limit. The approximation assumes that the filter always
/// has its expected rate.
fn candidates(blocks: u64, rate: &Rate) -> Result<Vec<(u32, f64)>> {
    let mut found = Vec::new();
    let mut most = 0;
    for probes in 1..=MAX_BLOCKED_PROBES {
        let law = law(blocks, probes)?;
        let items = averaging(&law, rate.to_f64())?;
        found.push((probes, items, law.fpr(items)?.value));
        most = most.max(items);
        if (items as f64) < 0.8 * most as f64 {
            break;
        }
    }
    found.retain(|(_, items, _)| *items as f64 >= 0.997 * most as f64);
    Ok(found.into_iter().map(|(probes, _, limit)| (probes, limit)).collect())
}

/// Returns the number of items, n, for which the average of the expected rates before each of the
/// first n insertions is `rate`.
fn averaging(law: &Blocked, rate: f64) -> Result<u64> {
    let below = |items: u64| Ok(items < 2 || law.expected_before(items).fpr()?.value <= rate);
    let (mut low, mut high) = (1, 1 + law.bits() / law.block_bits());
    // At rates near 1, every number of items has an average below the rate.
    while high < MOST_ITEMS && below(high)? {
        (low, high) = (high, 2 * high);
    }
    while high - low > 1 + low / 4_096 {
        let middle = low + (high - low) / 2;
        if below(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

/// Returns the design with the highest four-digit limit whose rate is proven to be low enough. The
/// search starts from an approximate limit.
fn fullest(blocks: u64, probes: u32, limit: f64, rate: &Rate) -> Result<Option<BlockedSized>> {
    let asked = rate.to_f64().next_down();
    let sized = |limit: f64| -> Result<BlockedSized> {
        let design = BlockedDesign::new(blocks * BLOCK_BITS, BLOCK_BITS, probes, limit)?;
        Ok(BlockedSized { design, run: design.long_run()? })
    };
    let (mut meets, mut fails, mut best) = (decimal_below(LEAST_RATE), decimal_below(MOST_LIMIT) + 1, None);
    let mut at = decimal_below(limit);
    for steps in 0.. {
        at = at.clamp(meets + 1, fails - 1);
        let found = sized(decimal(at))?;
        let over = found.run.fpr.upper / asked;
        if over <= 1.0 {
            (meets, best) = (at, Some(found))
        } else {
            fails = at
        }
        if fails - meets <= 1 {
            break;
        }
        // The average is about proportional to the limit. If twelve steps of this kind are not
        // enough, the search bisects.
        at = if steps < 12 { decimal_below(found.design.limit() / over) } else { meets + (fails - meets) / 2 };
    }
    Ok(best)
}

/// Returns the four-digit decimal number with this index. Each power of ten has 9,000 of these
/// numbers, and index 0 is 1e-18.
fn decimal(index: i64) -> f64 {
    // Powers of ten are exact up to 10^22, so this is the f64 nearest to the decimal.
    let (power, digits) = (index / 9_000 - 21, index % 9_000 + 1_000);
    digits as f64 / crate::power(10.0, power.unsigned_abs() as u32)
}

/// Returns the index of the largest four-digit decimal number that is at most `limit`, or the index
/// of a neighbour of it.
fn decimal_below(limit: f64) -> i64 {
    let power = libm::floor(libm::log10(limit.clamp(1e-18, 0.9999))) as i64;
    let digits = (limit * crate::power(10.0, (3 - power).unsigned_abs() as u32)) as i64;
    (power + 18) * 9_000 + digits.clamp(1_000, 9_999) - 1_000
}

/// Finds a blocked design that is proven to hold at least `items` items per cycle on average. Its
/// size is close to the smallest possible one. The long-run average rate of the design is proven to
/// be at most `rate`. The result is `None` if no design with up to 2^62 bits was found.
///
/// The search stops when it has found a size that is large enough and a slightly smaller size that
/// is not. The two sizes differ by at most one line plus a thousandth of the size. A larger filter
/// sometimes holds slightly fewer items than a smaller one. So a size below the result may also be
/// enough. The search takes a few tenths of a second.
///
/// # Errors
/// Fails if `items` is 0 or less, or above 1e18, or if the rate is below 1e-9.
pub fn blocked_min_bits(items: f64, rate: &Rate) -> Result<Option<BlockedSized>> {
    let _work = work::begin();
    if !(items > 0.0 && items <= 1e18) {
        return out_of_range("items_per_cycle", items, "above 0 and at most 1e18");
    }
    check_rate(rate)?;
    let most = MAX_BITS / BLOCK_BITS;
    let textbook = items * -rate.ln() / (core::f64::consts::LN_2 * core::f64::consts::LN_2 * BLOCK_BITS as f64);
    let (mut fails, mut enough): (u64, Option<BlockedSized>) = (0, None);
    let mut blocks = (textbook as u64).clamp(1, most);
    let mut known = (blocks, candidates(blocks, rate)?);
    loop {
        // Similar sizes have the same best number of probes, with nearly the same limit.
        if blocks.abs_diff(known.0) > known.0 {
            known = (blocks, candidates(blocks, rate)?);
        }
        let found = most_items(blocks, &known.1, rate)?;
        if let Some(BlockedSized { design, .. }) = &found {
            known.1 = vec![(design.probes(), design.limit())];
        }
        let kept = found.map_or(0.0, |found| found.run.items_per_cycle.lower);
        match found.filter(|_| kept >= items) {
            Some(found) => enough = Some(found),
            None => fails = fails.max(blocks),
        }
        // The number of items is nearly proportional to the size.
        let next = if kept > 0.0 { libm::ceil(blocks as f64 * (items / kept)) as u64 } else { 2 * blocks };
        blocks = match enough.map(|found| found.design.blocks()) {
            Some(meets) if meets - fails <= step(meets) => return Ok(enough),
            Some(meets) if fails < next && next < meets - step(meets) => next,
            Some(meets) if fails < meets - step(meets) => meets - step(meets),
            Some(meets) => fails + (meets - fails) / 2,
            None if fails >= most => return Ok(None),
            None => next.max(fails + step(fails)).min(most),
        };
    }
}

/// The step between two sizes of the search: about a thousandth, in whole lines.
fn step(blocks: u64) -> u64 {
    1 + blocks / 1_024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_in_order_and_found_again() {
        let written: Vec<f64> =
            ["9.998e-5", "9.999e-5", "1.000e-4", "1.001e-4"].iter().map(|text| text.parse().expect("a number")).collect();
        let first = decimal_below(9.998e-5);
        assert_eq!((first..first + 4).map(decimal).collect::<Vec<_>>(), written);
        for index in (0..18 * 9_000).step_by(77) {
            assert!(decimal(index) < decimal(index + 1));
            assert!((decimal_below(decimal(index) * (1.0 + 1e-9)) - index).abs() == 0, "{index}");
        }
        assert!(decimal(decimal_below(MOST_LIMIT)) <= MOST_LIMIT && decimal(decimal_below(MOST_LIMIT) + 1) > MOST_LIMIT);
    }

    /// Tests that the candidates are exactly the probe counts whose item count is at least 99.7% of
    /// the largest item count.
    #[test]
    fn candidates_are_the_best_of_all_probes() {
        for (blocks, text) in [(20, "20%"), (1_000, "1%"), (1_000, "1e-4")] {
            let rate: Rate = text.parse().expect("a rate");
            let items: Vec<u64> =
                (1..=16).map(|probes| law(blocks, probes).and_then(|law| averaging(&law, rate.to_f64())).expect("in range")).collect();
            let most = *items.iter().max().expect("some") as f64;
            let expected: Vec<u32> =
                (1..).zip(&items).filter(|(_, items)| **items as f64 >= 0.997 * most).map(|(probes, _)| probes).collect();
            let found: Vec<u32> = candidates(blocks, &rate).expect("in range").into_iter().map(|(probes, _)| probes).collect();
            assert_eq!(found, expected, "{blocks} {text}: {items:?}");
        }
    }

    /// Tests that the resulting memory is enough for the items, and that a memory smaller by three
    /// steps is not.
    #[test]
    fn small_memories_are_enough_and_about_the_least() {
        for (items, text) in [(60.0, "5%"), (900.0, "5%"), (2_500.0, "20%")] {
            let rate: Rate = text.parse().expect("a rate");
            let found = blocked_min_bits(items, &rate).expect("in range").expect("a design");
            assert!(found.run.items_per_cycle.lower >= items, "{found:?}");
            let blocks = found.design.blocks();
            let fewer = blocks.saturating_sub(3 * step(blocks));
            let less = if fewer == 0 { None } else { blocked_capacity(fewer * BLOCK_BITS, &rate).expect("in range") };
            assert!(less.is_none_or(|less| less.run.items_per_cycle.lower < items), "{items} {text}: {found:?} {less:?}");
        }
    }
}
