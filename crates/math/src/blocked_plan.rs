//! Plans for blocked filters: the fewest whole blocks that are proven to meet a rate.

use crate::error::out_of_range;
use crate::law::{Blocked, InBlock, hash_floor};
use crate::{Error, Fpr, Law, MAX_BITS, Plan, Rate, Result, Target};

/// Bits of a block: a cache line.
pub const BLOCK_BITS: u64 = 512;

/// The most probes that plans give to a blocked filter. At a rate of 1e-6 sixteen are best; where more would be, a standard filter takes half the bits.
pub const MAX_BLOCKED_PROBES: u32 = 32;

/// A blocked filter that is proven to meet a rate: like [`Plan`], for blocks of [`BLOCK_BITS`] bits with independent positions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BlockedPlan {
    /// Number of bits m, a multiple of [`BLOCK_BITS`].
    pub bits: u64,
    /// Probes k of an item, all in one block.
    pub probes: u32,
    /// The number of distinct items n that the rate is for.
    pub items: u64,
    /// The rate asked for, if one was.
    pub rate: Option<Rate>,
    /// The expected rate at `items`, with the floor of equal hashes in its upper end.
    pub fpr: Fpr,
    /// What equal hashes add at most: `items / 2^hash_bits`.
    pub hash_floor: f64,
}

impl BlockedPlan {
    /// Finds what the target leaves open of items, rate, bits and probes: the fewest blocks that meet the rate, or the most items, or the rate of a size, with the
    /// best probes up to [`MAX_BLOCKED_PROBES`] unless they are given. Bits that are given are rounded down to whole blocks. Some milliseconds.
    ///
    /// One block less, or one item more, would not do at any number of probes: at given probes the rate falls with the blocks and rises with the items (a query's
    /// block holds a binomial number of items, which grows stochastically with n and falls with the blocks, and the rate in a block grows with it), and the other
    /// numbers of probes are excluded one by one, by exact decisions.
    ///
    /// Errors as those of [`Plan::new`]; a confidence is refused, as the scatter of blocked filters has no proven bound here. The target's variant is not looked at.
    ///
    /// ```
    /// use truebloom_math::{BlockedPlan, Target};
    /// let plan = BlockedPlan::new(&Target { items: Some(1_000_000), rate: Some("1%".parse()?), ..Target::default() })?;
    /// assert_eq!((plan.bits, plan.probes), (9_918_464, 6));
    /// assert!(plan.fpr.upper <= 0.01);
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    pub fn new(target: &Target) -> Result<BlockedPlan> {
        check(target)?;
        match (target.items, target.rate, target.bits) {
            (Some(items), Some(rate), None) => fewest_bits(target, items, rate),
            (None, Some(rate), Some(bits)) => most_items(target, rate, whole_blocks(target, bits)?),
            (Some(items), rate, Some(bits)) => given_size(target, items, rate, whole_blocks(target, bits)?),
            (Some(_), None, None) => underdetermined("the number of items alone", "a rate or a number of bits as well"),
            (None, Some(_), None) => underdetermined("a rate alone", "the number of items or of bits as well"),
            (None, None, Some(_)) => underdetermined("the number of bits alone", "the number of items or a rate as well"),
            (None, None, None) => underdetermined("an empty target", "two of: the number of items, a rate, the number of bits"),
        }
    }

    /// The law of the plan's filter.
    pub fn law(&self) -> Result<Blocked> {
        law(self.bits / BLOCK_BITS, self.probes)
    }

    /// Whether the speed of one line a query is worth these bits: they are at most a tenth more than those of the standard filter for the same question. What
    /// `--layout auto` goes by.
    pub fn is_worth_it(&self, standard: &Plan) -> bool {
        let tenths = |bits: u64, factor: u128| u128::from(bits) * factor;
        tenths(self.bits, 10) * u128::from(standard.items) <= tenths(standard.bits, 11) * u128::from(self.items)
    }

    fn finish(target: &Target, blocks: u64, probes: u32, items: u64) -> Result<BlockedPlan> {
        let mut fpr = law(blocks, probes)?.fpr(items)?;
        let hash_floor = hash_floor(items, target.hash_bits);
        fpr.add_above(hash_floor);
        // Decided in whole numbers, and rounding outward must not contradict it.
        if let Some(rate) = target.rate {
            fpr.cap(&rate);
        }
        Ok(BlockedPlan { bits: blocks * BLOCK_BITS, probes, items, rate: target.rate, fpr, hash_floor })
    }
}

const MAX_BLOCKS: u64 = MAX_BITS / BLOCK_BITS;
const MAX_ITEMS: u64 = 1 << 62;

fn law(blocks: u64, probes: u32) -> Result<Blocked> {
    Blocked::new(blocks.saturating_mul(BLOCK_BITS), BLOCK_BITS, InBlock::Independent, probes)
}

fn check(target: &Target) -> Result<()> {
    if let Some(probes) = target.probes {
        law(1, probes)?;
    }
    if target.items == Some(0) {
        return out_of_range("items", 0, "at least 1");
    }
    if !(1..=128).contains(&target.hash_bits) {
        return out_of_range("hash_bits", target.hash_bits, "from 1 to 128");
    }
    match target.confidence {
        Some(confidence) => out_of_range(
            "confidence",
            confidence,
            "left out for a blocked filter: only its average is proven; ask a standard filter for it",
        ),
        None => Ok(()),
    }
}

fn underdetermined<T>(given: &'static str, missing: &'static str) -> Result<T> {
    Err(Error::Underdetermined { given, missing })
}

fn whole_blocks(target: &Target, bits: u64) -> Result<u64> {
    match (bits, target.max_bits) {
        (..BLOCK_BITS, _) => out_of_range("bits", bits, format!("at least a block of {BLOCK_BITS}")),
        (_, Some(cap)) if bits > cap => out_of_range("bits", bits, format!("at most the memory cap of {cap} bits")),
        _ if bits > MAX_BITS => out_of_range("bits", bits, format!("at most {MAX_BITS}")),
        _ => Ok(bits / BLOCK_BITS),
    }
}

/// The probes to choose from.
fn choice(target: &Target) -> std::ops::RangeInclusive<u32> {
    target.probes.map_or(1..=MAX_BLOCKED_PROBES, |probes| probes..=probes)
}

/// The probes of the lowest rate at a size, and that rate.
fn best(target: &Target, blocks: u64, items: u64) -> Result<(u32, Fpr)> {
    let mut best: Option<(u32, Fpr)> = None;
    for probes in choice(target) {
        let fpr = law(blocks, probes)?.fpr(items)?;
        if best.is_none_or(|(_, least)| fpr.ln_upper < least.ln_upper) {
            best = Some((probes, fpr));
        }
    }
    best.ok_or(Error::Underdetermined { given: "no probes", missing: "a number of probes from 1" })
}

/// The smallest value from `fails + 1` to `meets` that meets, where all from some value on do.
fn boundary(mut fails: u64, mut meets: u64, is_met: impl Fn(u64) -> Result<bool>) -> Result<u64> {
    while meets - fails > 1 {
        let middle = fails + (meets - fails) / 2;
        if is_met(middle)? { meets = middle } else { fails = middle }
    }
    Ok(meets)
}

/// Other probes that meet the question where the present ones do not.
fn better(target: &Target, mut meets: impl FnMut(u32) -> Result<bool>) -> Result<Option<u32>> {
    for probes in choice(target) {
        if meets(probes)? {
            return Ok(Some(probes));
        }
    }
    Ok(None)
}

fn fewest_bits(target: &Target, items: u64, rate: Rate) -> Result<BlockedPlan> {
    check_hash_floor(target, items, rate)?;
    let meets = |blocks: u64, probes: u32| law(blocks, probes)?.meets(items, &rate, target.hash_bits);
    let cap = target.max_bits.unwrap_or(MAX_BITS).min(MAX_BITS) / BLOCK_BITS;
    // From the bits of the textbook upwards until the best probes of a size meet the rate.
    let textbook = items as f64 * -rate.ln() / (std::f64::consts::LN_2.powi(2) * BLOCK_BITS as f64);
    let mut blocks = (textbook as u64).clamp(1, MAX_BLOCKS);
    let mut probes = loop {
        let (probes, _) = best(target, blocks, items)?;
        if meets(blocks, probes)? {
            break probes;
        }
        if blocks == MAX_BLOCKS {
            return over_cap(target, items, rate, None, cap);
        }
        blocks = (blocks + blocks / 4 + 1).min(MAX_BLOCKS);
    };
    loop {
        blocks = boundary(0, blocks, |blocks| meets(blocks, probes))?;
        let other = if blocks > 1 { better(target, |probes| meets(blocks - 1, probes))? } else { None };
        let Some(other) = other else { break };
        (blocks, probes) = (blocks - 1, other);
    }
    if blocks > cap {
        return over_cap(target, items, rate, Some(blocks * BLOCK_BITS), cap);
    }
    let (lowest, _) = best(target, blocks, items)?;
    BlockedPlan::finish(target, blocks, if meets(blocks, lowest)? { lowest } else { probes }, items)
}

fn most_items(target: &Target, rate: Rate, blocks: u64) -> Result<BlockedPlan> {
    let fails = |items: u64, probes: u32| Ok(!law(blocks, probes)?.meets(items, &rate, target.hash_bits)?);
    let Some(mut probes) = better(target, |probes| Ok(!fails(1, probes)?))? else {
        return out_of_reach(target, rate, blocks, 1);
    };
    let mut items = 1;
    loop {
        let mut limit = items + items / 4 + 1;
        while limit < MAX_ITEMS && !fails(limit, probes)? {
            limit *= 2;
        }
        items = boundary(items, limit.min(MAX_ITEMS), |items| fails(items, probes))? - 1;
        let Some(other) = better(target, |probes| Ok(!fails(items + 1, probes)?))? else { break };
        (items, probes) = (items + 1, other);
    }
    BlockedPlan::finish(target, blocks, probes, items)
}

fn given_size(target: &Target, items: u64, rate: Option<Rate>, blocks: u64) -> Result<BlockedPlan> {
    let (probes, _) = best(target, blocks, items)?;
    if let Some(rate) = rate {
        check_hash_floor(target, items, rate)?;
        if !law(blocks, probes)?.meets(items, &rate, target.hash_bits)? {
            return out_of_reach(target, rate, blocks, items);
        }
    }
    BlockedPlan::finish(target, blocks, probes, items)
}

fn check_hash_floor(target: &Target, items: u64, asked: Rate) -> Result<()> {
    let reachable = hash_floor(items, target.hash_bits);
    if asked.ln() <= libm::log(reachable) {
        return Err(Error::BelowHashFloor { asked, items, hash_bits: target.hash_bits, reachable });
    }
    Ok(())
}

fn reachable(target: &Target, blocks: u64, items: u64) -> Result<(u32, f64)> {
    let (probes, mut fpr) = best(target, blocks, items)?;
    fpr.add_above(hash_floor(items, target.hash_bits));
    Ok((probes, fpr.upper))
}

fn over_cap<T>(target: &Target, items: u64, asked: Rate, needed: Option<u64>, cap: u64) -> Result<T> {
    let reachable = if cap == 0 { 1.0 } else { reachable(target, cap, items)?.1 };
    Err(Error::OverMemoryCap { asked, items, needed, allowed: cap * BLOCK_BITS, reachable })
}

fn out_of_reach<T>(target: &Target, asked: Rate, blocks: u64, items: u64) -> Result<T> {
    let (probes, reachable) = reachable(target, blocks, items)?;
    Err(Error::OutOfReach { asked, items, bits: blocks * BLOCK_BITS, probes, reachable })
}
