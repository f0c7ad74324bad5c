//! Plans for blocked filters: the smallest number of blocks that is proven to keep a rate.

use super::Plan;
use super::target::{Ask, Target};
use crate::error::out_of_range;
use crate::exact::power::power;
use crate::law::registry::{BLOCK_BITS, BLOCK_PROBES};
use crate::law::{Blocked, InBlock, hash_floor};
use crate::one_filter::blocks::{BlockLaw, Tilt};
use crate::one_filter::quantile::RateQuantile;
use crate::{Error, Fpr, Law, MAX_BITS, Method, Rate, Result, SchemeId};
use alloc::vec::Vec;
use alloc::{format, vec};

/// The most probes of a recycling filter of blocks. At a rate of 1e-6 sixteen are best; where more
/// would be, a standard filter takes half the bits.
pub const MAX_BLOCKED_PROBES: u32 = 32;

/// Plans in whole blocks. For the mean, one block less or one item more would miss the rate with
/// any number of probes. With given probes, the rate falls with the blocks and rises with the
/// items: a query's block holds a binomial number of items, which grows stochastically with n and
/// falls with the blocks, and the rate in a block grows with it. The other numbers of probes are
/// excluded one by one, by a lower bound ([`ln_rate`], [`RateTable`]) or an exact decision. With a
/// guarantee, the size is the smallest that was found.
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
const MAX_ITEMS: u64 = 1 << 62;

fn law(blocks: u64, probes: u32) -> Result<Blocked> {
    Blocked::new(blocks.saturating_mul(BLOCK_BITS), BLOCK_BITS, InBlock::Independent, probes)
}

fn whole_blocks(target: &Target, bits: u64) -> Result<u64> {
    target.check_cap(bits)?;
    match bits {
        ..BLOCK_BITS => out_of_range("bits", bits, format!("at least a block of {BLOCK_BITS}")),
        _ if bits > MAX_BITS => out_of_range("bits", bits, format!("at most {MAX_BITS}")),
        _ => Ok(bits / BLOCK_BITS),
    }
}

/// The numbers of probes to choose from.
fn choice(target: &Target) -> core::ops::RangeInclusive<u32> {
    target.probes.map_or(1..=BLOCK_PROBES, |probes| probes..=probes)
}

/// A lower bound on the logarithm of the expected rate, in `f64` with a relative error of the rate
/// below 1e-9, in a microsecond or two; minus infinity if loads are so high that it would take
/// longer.
///
/// The load of a query's block is binomial, and given the load, the rate is at least the k-th power
/// of the mean fill (Jensen). Loads far above the mean are left out, which can only lower a sum of
/// positive terms. With `second`, it is approximately the rate itself: the second-order term of the
/// scatter in a block is added.
fn ln_rate(blocks: f64, items: f64, probes: u32, second: bool) -> f64 {
    let (k, bits) = (f64::from(probes), BLOCK_BITS as f64);
    let lambda = items / blocks;
    if blocks == 1.0 && !second && items <= 500.0 {
        // The load is certain.
        return k * libm::log(-libm::expm1(k * items * libm::log1p(-1.0 / bits)));
    }
    if lambda > 500.0 || blocks < 2.0 {
        return f64::NEG_INFINITY;
    }
    let most = (lambda + 12.0 * libm::sqrt(lambda) + 20.0).min(items) as u64;
    // One item leaves one given bit, and two given bits, empty.
    let (one, two) = (libm::exp(k * libm::log1p(-1.0 / bits)), libm::exp(k * libm::log1p(-2.0 / bits)));
    let mut weight = libm::exp(items * libm::log1p(-1.0 / blocks));
    let (mut empty, mut both, mut sum) = (1.0, 1.0, 0.0);
    for load in 0..=most {
        let full = 1.0 - empty;
        if full > 0.0 {
            let mut rate = power(full, probes);
            if second {
                let variance = (empty * full + (bits - 1.0) * (both - empty * empty)).max(0.0) / bits;
                rate *= 1.0 + 0.5 * k * (k - 1.0) * variance / (full * full);
            }
            sum += weight * rate;
        }
        weight *= (items - load as f64) / ((load + 1) as f64 * (blocks - 1.0));
        empty *= one;
        both *= two;
    }
    libm::log(sum)
}

/// Rates in `f64`, computed from the rates of a block for each load, which do not depend on the
/// size: they are computed once for each number of probes.
///
/// Of a query's k draws, D are distinct. A ball of an item hits one of u positions that are still
/// empty with probability u/512. So the law of u changes with each ball by
/// `p_u' = p_u (1 - u/512) + p_(u+1) (u+1)/512`, and the rate for a load is `p_0` after its balls.
/// All terms are positive and all factors exact: with `u = 2^-53` the relative error is below `3 u`
/// per ball, which is below 1e-11 for the largest number of balls, 32,000.
struct RateTable(Vec<Vec<f64>>);

impl RateTable {
    fn new() -> RateTable {
        // More than are chosen can be given.
        RateTable(vec![Vec::new(); BLOCK_PROBES as usize + 1])
    }

    /// The rates of loads 0 to `most`.
    fn of_loads(&mut self, probes: u32, most: usize) -> &[f64] {
        let known = &mut self.0[probes as usize];
        if known.len() <= most {
            // Guesses grow: a few more, so that few are found twice.
            *known = rates_of_loads(probes, most + 8);
        }
        &known[..=most]
    }

    /// A lower bound on the logarithm of the expected rate, with a relative error of the rate below
    /// 1e-9, in a microsecond; minus infinity if loads are so high that it would take longer. The
    /// load of a query's block is binomial. Loads far above the mean are left out, which lowers a
    /// sum of positive terms by less than 1e-20.
    fn ln_rate(&mut self, blocks: f64, items: f64, probes: u32) -> f64 {
        let lambda = items / blocks;
        if lambda > 500.0 || blocks < 2.0 {
            return f64::NEG_INFINITY;
        }
        let most = (lambda + 12.0 * libm::sqrt(lambda) + 20.0).min(items) as usize;
        let mut weight = libm::exp(items * libm::log1p(-1.0 / blocks));
        let (mut sum, odds) = (0.0, 1.0 / (blocks - 1.0));
        for (load, rate) in self.of_loads(probes, most).iter().enumerate() {
            sum += weight * rate;
            weight *= (items - load as f64) * odds / (load + 1) as f64;
        }
        libm::log(sum)
    }

    /// Whether it is certain that these probes do not reach a rate: they exceed it by more than the
    /// rounding, according to a bound that needs no table, or to the table.
    fn is_excluded(&mut self, blocks: u64, items: u64, probes: u32, ln_most: f64) -> bool {
        ln_rate(blocks as f64, items as f64, probes, false) > ln_most + 1e-8
            || self.ln_rate(blocks as f64, items as f64, probes) > ln_most + 1e-8
    }
}

fn rates_of_loads(probes: u32, most: usize) -> Vec<f64> {
    let (k, bits) = (probes as usize, BLOCK_BITS as f64);
    let mut left = vec![0.0; k + 2];
    left[0] = 1.0;
    for _ in 0..k {
        for distinct in (0..=k).rev() {
            let before = if distinct > 0 { left[distinct - 1] * ((bits - (distinct - 1) as f64) / bits) } else { 0.0 };
            left[distinct] = left[distinct] * (distinct as f64 / bits) + before;
        }
    }
    let mut rates = Vec::with_capacity(most + 1);
    rates.push(0.0);
    for _ in 0..most {
        for _ in 0..k {
            for u in 0..=k {
                left[u] = left[u] * ((bits - u as f64) / bits) + left[u + 1] * ((u + 1) as f64 / bits);
            }
        }
        rates.push(left[0]);
    }
    rates
}

/// The number of probes with the lowest rate at a size, and that rate.
fn best(target: &Target, blocks: u64, items: u64) -> Result<(u32, Fpr)> {
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

/// Another number of probes that keeps the rate at a size.
fn better(target: &Target, table: &mut RateTable, blocks: u64, items: u64, rate: &Rate) -> Result<Option<u32>> {
    let ln_most = rate.ln_above();
    for probes in choice(target) {
        if !table.is_excluded(blocks, items, probes, ln_most) && law(blocks, probes)?.meets(items, rate, target.hash_bits)? {
            return Ok(Some(probes));
        }
    }
    Ok(None)
}

/// Approximately the number of blocks at which given probes reach the rate.
fn about_blocks(items: u64, probes: u32, ln_most: f64, start: f64) -> f64 {
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

/// The smallest number of blocks for the mean.
fn fewest_for_the_mean(target: &Target, items: u64, rate: &Rate) -> Result<Option<(u64, u32)>> {
    let table = &mut RateTable::new();
    let meets = |blocks: u64, probes: u32| law(blocks, probes)?.meets(items, rate, target.hash_bits);
    // From the bits of the textbook: a little fewer probes than it says, as fuller blocks want
    // fewer.
    let textbook = items as f64 * -rate.ln() / (core::f64::consts::LN_2 * core::f64::consts::LN_2 * BLOCK_BITS as f64);
    let likely = ((-rate.ln() / core::f64::consts::LN_2) as u32).clamp(1, BLOCK_PROBES);
    let tried = target.probes.map_or(likely.saturating_sub(4).max(1)..=likely, |probes| probes..=probes);
    let guessed = tried.map(|probes| (about_blocks(items, probes, rate.ln(), textbook), probes));
    let Some((guess, mut probes)) = guessed.min_by(|a, b| a.0.total_cmp(&b.0)) else { return Ok(None) };
    let mut guess = guess.min(MAX_BLOCKS as f64);
    let Some(mut blocks) = crate::search::first_that_meets((guess as u64).clamp(1, MAX_BLOCKS), MAX_BLOCKS, |b| meets(b, probes))? else {
        // Few probes need few items in a block; more of them may do.
        return Ok(better(target, table, MAX_BLOCKS, items, rate)?.map(|probes| (MAX_BLOCKS, probes)));
    };
    loop {
        blocks = crate::search::boundary(guess, 1, blocks, |blocks| Ok(!meets(blocks, probes)?))?;
        let other = if blocks > 1 { better(target, table, blocks - 1, items, rate)? } else { None };
        let Some(other) = other else { return Ok(Some((blocks, probes))) };
        (blocks, probes, guess) = (blocks - 1, other, (blocks - 1) as f64);
    }
}

/// The guarantee of blocked filters with one number of probes, at similar sizes.
struct Sure<'a> {
    target: &'a Target,
    confidence: f64,
    probes: u32,
    law: BlockLaw,
    tilt: Option<Tilt>,
    /// The items per block for which the tilt was found.
    load: f64,
}

impl Sure<'_> {
    /// `None` if no guarantee is known, because the blocks are too full.
    fn new(target: &Target, confidence: f64, probes: u32, blocks: u64, items: u64) -> Option<Sure<'_>> {
        let law = BlockLaw::new(probes, items as f64 / blocks as f64)?;
        let tilt = law.tilt(blocks.max(2), items, allowed(confidence), None);
        Some(Sure { target, confidence, probes, law, tilt, load: items as f64 / blocks as f64 })
    }

    /// Finds a tilt for a size that is far from the first: starting from the known tilt, or, for a
    /// very different load, without one.
    fn tilt_at(&mut self, blocks: u64, items: u64) {
        let load = items as f64 / blocks as f64;
        let near = self.tilt.as_ref().filter(|_| libm::log(load / self.load).abs() <= MUCH);
        let found = self.law.tilt(blocks.max(2), items, allowed(self.confidence), near);
        if found.is_some() {
            (self.tilt, self.load) = (found, load);
        }
    }

    /// The upper end of the rate that one filter keeps, including equal hashes.
    fn kept(&self, blocks: u64, items: u64) -> f64 {
        let kept = self.law.kept(self.tilt.as_ref(), blocks, items, allowed(self.confidence));
        (kept + hash_floor(items, self.target.hash_bits)).next_up().min(1.0)
    }

    /// Whether one filter keeps the rate.
    fn keeps(&self, blocks: u64, items: u64, rate: &Rate) -> bool {
        self.kept(blocks, items) <= rate.to_f64().next_down()
    }

    /// The same, but with a new tilt if the size is far from that of the known tilt, which may be
    /// too weak if the rate is narrowly missed.
    fn keeps_anywhere(&mut self, blocks: u64, items: u64, rate: &Rate) -> bool {
        if self.keeps(blocks, items, rate) {
            return true;
        }
        if libm::log(items as f64 / blocks as f64 / self.load).abs() <= FAR {
            return false;
        }
        self.tilt_at(blocks, items);
        self.keeps(blocks, items, rate)
    }

    /// The same rate with a tilt that is looked for once more, near the one known, or with that one
    /// if it serves better.
    fn kept_again(&mut self, blocks: u64, items: u64) -> f64 {
        let (known, kept) = (self.tilt.clone(), self.kept(blocks, items));
        self.tilt_at(blocks, items);
        let again = self.kept(blocks, items);
        if again < kept {
            return again;
        }
        self.tilt = known;
        kept
    }

    /// What is kept at a size, looked for once more where it is nearly enough.
    fn kept_nearly(&mut self, blocks: u64, items: u64, rate: &Rate) -> f64 {
        let kept = self.kept(blocks, items);
        let is_near = kept > rate.to_f64() && kept < NEARLY * rate.to_f64();
        if is_near { self.kept_again(blocks, items) } else { kept }
    }

    /// The average alone.
    fn meets(&self, blocks: u64, items: u64, rate: &Rate) -> Result<bool> {
        law(blocks, self.probes)?.meets(items, rate, self.target.hash_bits)
    }

    fn holds(&self, blocks: u64, items: u64, rate: &Rate) -> Result<bool> {
        Ok(self.keeps(blocks, items, rate) && self.meets(blocks, items, rate)?)
    }

    /// Approximately the logarithm of the rate that one filter keeps.
    fn ln_about(&self, blocks: u64, items: u64) -> f64 {
        let about = |tilt| self.law.about(tilt, blocks, items, allowed(self.confidence));
        libm::log(self.tilt.as_ref().map_or(1.0, about) + hash_floor(items, self.target.hash_bits))
    }

    /// Approximately the logarithm of the size at which the rate is reached, by secants from a
    /// first guess; `sign` says whether a larger size lowers the rate.
    fn about_size(&mut self, rate: &Rate, first: f64, range: (f64, f64), sign: f64, at: impl Fn(f64) -> (u64, u64)) -> f64 {
        // A rate falls by some four percent with each percent of bits.
        let (mut guess, mut slope, mut before) = (first, 4.0, None);
        for _ in 0..6 {
            let (blocks, items) = at(guess);
            let missed = self.ln_about(blocks, items) - rate.ln();
            if let Some((last, was)) = before {
                let found: f64 = (was - missed) / (sign * libm::log(guess / last));
                slope = if found.is_finite() { found.clamp(1.5, 40.0) } else { slope };
            }
            let step = (missed / slope).clamp(-0.3, 0.5);
            before = Some((guess, missed));
            guess = (guess * libm::exp(sign * step)).clamp(range.0, range.1);
            if step.abs() > FAR {
                let (blocks, items) = at(guess);
                self.tilt_at(blocks, items);
            }
            if step.abs() * guess < 0.3 || step.abs() < 2e-6 {
                break;
            }
        }
        guess
    }

    /// The fewest blocks found, from those of the mean upwards and first near a start. Beyond a
    /// million a hundred-thousandth more is not looked into.
    fn fewest(&mut self, items: u64, rate: &Rate, start: u64, mean: u64) -> Option<u64> {
        let range = (mean as f64, MAX_BLOCKS as f64);
        let guess = self.about_size(rate, start as f64, range, 1.0, |blocks| (blocks as u64, items));
        let mut blocks = self.fewest_from((libm::ceil(guess) as u64).clamp(mean, MAX_BLOCKS), items, rate, mean)?;
        // A tilt that was found elsewhere may hide fewer.
        for _ in 0..MOST_TILTS {
            if !self.tilt.as_ref().is_some_and(|tilt| tilt.is_steep()) {
                break;
            }
            let known = (self.tilt.take(), self.load);
            self.tilt_at(blocks, items);
            let fewer = self.fewest_from(blocks, items, rate, mean).filter(|fewer| *fewer < blocks);
            let Some(fewer) = fewer else {
                (self.tilt, self.load) = known;
                break;
            };
            blocks = fewer;
        }
        Some(self.fewer(blocks, items, rate, mean))
    }

    fn fewest_from(&mut self, guess: u64, items: u64, rate: &Rate, mean: u64) -> Option<u64> {
        let (grain, mut blocks, mut failed) = (guess / 200_000, guess, guess);
        let mut step = grain.max(1);
        if self.keeps(blocks, items, rate) {
            // Downwards, by larger and larger steps; a block below the mean's is out of the
            // question.
            loop {
                failed = blocks.saturating_sub(step).max(mean - 1);
                if failed < mean || !self.keeps_anywhere(failed, items, rate) {
                    break;
                }
                (blocks, step) = (failed, step.saturating_mul(2));
            }
        } else {
            loop {
                blocks = blocks.saturating_add(step).min(MAX_BLOCKS);
                if self.keeps_anywhere(blocks, items, rate) {
                    break;
                }
                if blocks == MAX_BLOCKS {
                    return None;
                }
                (failed, step) = (blocks, step.saturating_mul(2));
            }
        }
        while blocks - failed > grain.max(1) {
            let middle = failed + (blocks - failed) / 2;
            if self.keeps_anywhere(middle, items, rate) { blocks = middle } else { failed = middle }
        }
        Some(blocks)
    }

    /// Removes one block after the other while the rate is kept: with few blocks, a new tilt for
    /// each size is worth its time.
    fn fewer(&mut self, mut blocks: u64, items: u64, rate: &Rate, mean: u64) -> u64 {
        while blocks > mean && blocks <= FEW_BLOCKS {
            let known = self.tilt.clone();
            self.tilt_at(blocks - 1, items);
            if !self.keeps(blocks - 1, items, rate) {
                // What was shown was shown with the tilt before.
                self.tilt = known;
                break;
            }
            blocks -= 1;
        }
        blocks
    }

    /// Fewer blocks, while tilts that do not come from where the search came from show that they
    /// keep the rate.
    fn fewest_afresh(self, mut blocks: u64, items: u64, rate: &Rate, mean: u64) -> Result<(u64, Self)> {
        let mut known = self;
        while blocks - grain(blocks) >= mean {
            let less = blocks - grain(blocks);
            let Some(mut fresh) = Sure::new(known.target, known.confidence, known.probes, less, items) else { break };
            fresh.kept_nearly(less, items, rate);
            if !fresh.holds(less, items, rate)? {
                break;
            }
            (blocks, known) = (less, fresh);
        }
        Ok((blocks, known))
    }

    /// The most items found, up to those of the mean and first near a start.
    fn most(&mut self, blocks: u64, rate: &Rate, start: u64, mean: u64) -> u64 {
        let guess = self.about_size(rate, start as f64, (1.0, mean as f64), -1.0, |items| (blocks, items as u64));
        let grain = (guess / 2e5) as u64;
        let (mut items, mut step, mut failed) = ((guess as u64).min(mean), grain.max(1), mean + 1);
        while items > 0 && !self.keeps(blocks, items, rate) {
            (failed, items, step) = (items, items.saturating_sub(step), step.saturating_mul(2));
        }
        // The guess may have been too low as well, or the tilt too far away.
        let mut step = grain.max(1);
        if items > 0 && blocks <= FEW_BLOCKS {
            let known = self.tilt.clone();
            self.tilt_at(blocks, items);
            if self.keeps(blocks, items, rate) { failed = mean + 1 } else { self.tilt = known }
        }
        while failed > mean && items < mean {
            let more = items.saturating_add(step).min(mean);
            if self.keeps(blocks, more, rate) {
                (items, step) = (more, step.saturating_mul(2));
            } else {
                failed = more;
            }
        }
        while failed - items > grain.max(1) {
            let middle = items + (failed - items) / 2;
            if self.keeps(blocks, middle, rate) { items = middle } else { failed = middle }
        }
        items
    }

    fn quantile(&self, blocks: u64, items: u64, met: Option<&Rate>) -> RateQuantile {
        let upper = self.kept(blocks, items);
        let mut fpr = Fpr::bound(0.0, met.map_or(upper, |rate| upper.min(rate.ceil())));
        (fpr.value, fpr.ln) = (fpr.upper, fpr.ln_upper);
        RateQuantile { confidence: self.confidence, fpr, ones: None }
    }
}

/// 1 - c is exact for c from a half on, and below that it is rounded by at most half an ulp of 1.
fn allowed(confidence: f64) -> f64 {
    (1.0 - confidence) * (1.0 - 1e-15)
}

/// A size that differs by more, relatively, has a tilt of its own.
const FAR: f64 = 0.03;

/// A tilt of another size, or found in long steps, may give away less than this factor of a rate.
const NEARLY: f64 = 1.1;

/// From a tilt of a load that differs by more, in logarithms, none is looked for.
const MUCH: f64 = 0.7;

/// If full blocks dominate, a search is repeated this many times with a tilt for the size that it
/// found.
const MOST_TILTS: u32 = 2;

/// With up to this many blocks, a tilt is sought for each size.
const FEW_BLOCKS: u64 = 1_000;

/// In a direction the search for probes ends where what is kept has risen so often in a row: as a
/// function of them it falls and then rises.
const RISES: u32 = 3;

/// A rate on average that is above what is kept by more than this factor is one of probes that keep
/// no less.
const ABOVE: f64 = 20.0;

/// Tries numbers of probes from a likely one downwards and upwards. `kept` gives the rate that is
/// kept with one of them at the size that is to be improved, and whether it did improve it.
fn walk(target: &Target, likely: u32, mut kept: impl FnMut(u32) -> Result<(f64, bool)>) -> Result<()> {
    let (first, _) = kept(likely)?;
    let choice = choice(target);
    let mut side = |probes: &mut dyn Iterator<Item = u32>| -> Result<()> {
        let (mut last, mut rises) = (first, 0);
        for probes in probes {
            let (found, is_better) = kept(probes)?;
            rises = if is_better || found < last { 0 } else { rises + 1 };
            if rises == RISES {
                break;
            }
            last = found;
        }
        Ok(())
    };
    side(&mut (*choice.start()..likely).rev())?;
    side(&mut (likely + 1..=*choice.end()))
}

/// Sizes that differ by less are not told apart.
fn grain(size: u64) -> u64 {
    (size / 200_000).max(1)
}

/// The fewest blocks that are found to keep a rate. Each number of probes that the average does not
/// exclude is asked first for fewer blocks than are known, with a tilt of its own.
fn fewest_sure<'a>(target: &'a Target, confidence: f64, items: u64, rate: &Rate, mean: (u64, u32)) -> Result<Option<(u64, Sure<'a>)>> {
    let mut best: Option<(u64, Sure)> = None;
    walk(target, mean.1, |probes| {
        let start = best.as_ref().map_or(mean.0, |(blocks, _)| blocks - grain(*blocks));
        if start < mean.0 || best.is_some() && ln_rate(start as f64, items as f64, probes, false) > rate.ln_above() + 1e-8 {
            return Ok((f64::INFINITY, false));
        }
        let Some(mut sure) = Sure::new(target, confidence, probes, start, items) else { return Ok((f64::INFINITY, false)) };
        let kept = sure.kept_nearly(start, items, rate);
        if best.is_some() && !sure.keeps(start, items, rate) {
            return Ok((kept, false));
        }
        let Some(mut blocks) = sure.fewest(items, rate, start, mean.0) else { return Ok((kept, false)) };
        // At the mean's own probes the average is kept from the mean's blocks on.
        if probes != mean.1 && !sure.meets(blocks, items, rate)? {
            let alone = target.clone().probes(probes);
            let Some((least, _)) = fewest_for_the_mean(&alone, items, rate)? else { return Ok((kept, false)) };
            blocks = blocks.max(least);
            if !sure.keeps_anywhere(blocks, items, rate) {
                return Ok((kept, false));
            }
        }
        let is_better = best.as_ref().is_none_or(|(least, _)| blocks < *least);
        if is_better {
            best = Some((blocks, sure));
        }
        Ok((kept, is_better))
    })?;
    Ok(match best {
        Some((blocks, sure)) => Some(sure.fewest_afresh(blocks, items, rate, mean.0)?),
        None => None,
    })
}

/// The most items that are found to keep a rate, in the same way.
fn most_sure<'a>(target: &'a Target, confidence: f64, rate: &Rate, blocks: u64, mean: (u64, u32)) -> Result<Option<(u64, Sure<'a>)>> {
    let mut best: Option<(u64, Sure)> = None;
    walk(target, mean.1, |probes| {
        let start = best.as_ref().map_or(mean.0, |(items, _)| items + grain(*items));
        if start > mean.0 || best.is_some() && ln_rate(blocks as f64, start as f64, probes, false) > rate.ln_above() + 1e-8 {
            return Ok((f64::INFINITY, false));
        }
        let Some(mut sure) = Sure::new(target, confidence, probes, blocks, start) else { return Ok((f64::INFINITY, false)) };
        let kept = sure.kept_nearly(blocks, start, rate);
        if best.is_some() && !sure.keeps(blocks, start, rate) {
            return Ok((kept, false));
        }
        let mut items = sure.most(blocks, rate, start, mean.0);
        // At the mean's own probes the average is kept up to the mean's items.
        if items > 0 && probes != mean.1 && !sure.meets(blocks, items, rate)? {
            let most = most_for_the_mean(&target.clone().probes(probes), rate, blocks)?;
            items = items.min(most.map_or(0, |(items, _)| items));
            if items > 0 && !sure.keeps(blocks, items, rate) {
                return Ok((kept, false));
            }
        }
        let is_better = items > best.as_ref().map_or(0, |(most, _)| *most);
        if is_better {
            best = Some((items, sure));
        }
        Ok((kept, is_better))
    })?;
    Ok(best)
}

/// The lowest rate that is found to be kept at a size, and the average with it where one is asked
/// for.
fn least_sure<'a>(
    target: &'a Target,
    confidence: f64,
    (blocks, items): (u64, u64),
    rate: Option<&Rate>,
    likely: u32,
) -> Result<Option<(f64, Sure<'a>)>> {
    let mut best: Option<(f64, Sure)> = None;
    walk(target, likely, |probes| {
        let most = best.as_ref().map_or(1.0, |(least, _)| ABOVE * least);
        if ln_rate(blocks as f64, items as f64, probes, false) > libm::log(most) {
            return Ok((f64::INFINITY, false));
        }
        let Some(mut sure) = Sure::new(target, confidence, probes, blocks, items) else { return Ok((f64::INFINITY, false)) };
        let mut kept = sure.kept(blocks, items);
        let known = best.as_ref().map_or(1.0, |(least, _)| *least);
        if kept < NEARLY * known {
            kept = sure.kept_again(blocks, items);
        }
        let is_better = kept < known && rate.map_or(Ok(true), |rate| sure.holds(blocks, items, rate))?;
        if is_better {
            best = Some((kept, sure));
        }
        Ok((kept, is_better))
    })?;
    Ok(best)
}

/// The plan, with the guarantee of the search if there was one.
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
        let Some((least, sure)) = fewest_sure(target, confidence, items, &rate, (mean, probes))? else {
            return over_cap(target, items, rate, None, cap);
        };
        (blocks, probes, searched) = (least, sure.probes, Some(sure));
    } else {
        let (lowest, _) = best(target, blocks, items)?;
        probes = if law(blocks, lowest)?.meets(items, &rate, target.hash_bits)? { lowest } else { probes };
    }
    if blocks > cap {
        return over_cap(target, items, rate, Some(blocks * BLOCK_BITS), cap);
    }
    finish(target, blocks, probes, items, searched)
}

/// The most items for the mean, and their probes.
fn most_for_the_mean(target: &Target, rate: &Rate, blocks: u64) -> Result<Option<(u64, u32)>> {
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

fn most_items(target: &Target, rate: Rate, blocks: u64) -> Result<Plan> {
    let Some((mut items, mut probes)) = most_for_the_mean(target, &rate, blocks)? else {
        return out_of_reach(target, rate, blocks, 1, true);
    };
    let mut searched: Option<Sure> = None;
    if let Some(confidence) = target.asked_confidence() {
        let Some((most, sure)) = most_sure(target, confidence, &rate, blocks, (items, probes))? else {
            return out_of_reach(target, rate, blocks, 1, false);
        };
        (items, probes, searched) = (most, sure.probes, Some(sure));
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
            // Blocks so full that nothing is known.
            (None, None) => {}
        }
    }
    finish(target, blocks, probes, items, searched)
}

/// The best number of probes for a size, and the upper end of the smallest rate that can be
/// guaranteed with it.
fn reachable(target: &Target, blocks: u64, items: u64) -> Result<(u32, f64)> {
    let (probes, mut fpr) = best(target, blocks, items)?;
    fpr.add_above(hash_floor(items, target.hash_bits));
    let Some(confidence) = target.asked_confidence() else { return Ok((probes, fpr.upper)) };
    let Some((kept, sure)) = least_sure(target, confidence, (blocks, items), None, probes)? else { return Ok((probes, 1.0)) };
    let mut fpr = law(blocks, sure.probes)?.fpr(items)?;
    fpr.add_above(hash_floor(items, target.hash_bits));
    Ok((sure.probes, kept.max(fpr.upper)))
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
mod tests {
    use super::*;

    /// Compares the starting points of plans with the exact law: the bound by the mean fill is
    /// below the rate, the table is the rate to 1e-9, and the second-order term brings the bound
    /// near it.
    #[test]
    fn guesses_are_near_the_law() {
        let mut table = RateTable::new();
        for (blocks, items, probes) in [
            (3u64, 100u64, 4u32),
            (20, 1_000, 1),
            (20, 300, 2),
            (300, 9_000, 2),
            (20, 1_000, 7),
            (200, 4_000, 12),
            (200, 20_000, 3),
            (5_000, 100_000, 16),
        ] {
            let exact = law(blocks, probes).and_then(|law| law.fpr(items)).expect("in range");
            let (b, n) = (blocks as f64, items as f64);
            let (first, second, tabled) = (ln_rate(b, n, probes, false), ln_rate(b, n, probes, true), table.ln_rate(b, n, probes));
            assert!(first <= exact.ln_upper + 1e-9 && (tabled - exact.ln).abs() < 1e-9, "{blocks} {items} {probes}");
            // With two probes the second order is all there is.
            let most = if probes <= 2 { 1e-11 } else { 0.1 * (exact.ln - first) };
            assert!((second - exact.ln).abs() <= most, "{blocks} {items} {probes}: {}", second - exact.ln);
        }
    }

    /// The guessed size has the rate, to within half a block.
    #[test]
    fn guessed_sizes_have_the_rate() {
        for (items, probes, rate) in [(1_000u64, 5u32, 1e-2f64), (100_000, 9, 1e-3), (10_000_000, 7, 1e-2), (1_000_000, 16, 1e-6)] {
            for start in [items as f64 / 100.0, items as f64 / 30.0, items as f64 / 5.0, items as f64] {
                let blocks = about_blocks(items, probes, rate.ln(), start);
                let missed = ln_rate(blocks, items as f64, probes, true) - rate.ln();
                assert!(missed.abs() < 1e-6 + probes as f64 * 0.3 / blocks, "{items} {probes} {rate} from {start}: {blocks} {missed}");
            }
        }
    }

    /// The guess for a guarantee is the size at which its rate is reached, by the same
    /// approximation.
    #[test]
    fn guessed_sizes_for_a_guarantee_have_the_rate() {
        for (items, text, probes) in [(1_000u64, "1%", 5u32), (100_000, "0.1%", 8), (10_000_000, "1%", 6)] {
            let rate: Rate = text.parse().expect("a rate");
            let target = Target::new().items(items).rate(rate);
            let mean = about_blocks(items, probes, rate.ln(), items as f64 / 50.0);
            let mut sure = Sure::new(&target, 0.999, probes, mean as u64, items).expect("blocks that are followed");
            let guess = sure.about_size(&rate, mean, (mean, 1e12), 1.0, |blocks| (blocks as u64, items));
            sure.tilt_at(guess as u64, items);
            let missed = sure.ln_about(guess as u64, items) - rate.ln();
            assert!(guess > mean && missed.abs() < 1e-3 + probes as f64 * 1.5 / guess, "{items} {text}: {mean} {guess} {missed}");
        }
    }
}
