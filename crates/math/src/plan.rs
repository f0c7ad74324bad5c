//! Plans: the smallest filter that is proven to meet a rate.

use crate::error::{check_probes, out_of_range};
use crate::guarantee::{Evidence, check_confidence, miss_bound, rate_quantile_bound};
use crate::law::hash_floor;
use crate::search::{self, Fit, Question, best_probes, ln_power_of_mean};
use crate::{Error, Fpr, MAX_BITS, Rate, RateQuantile, Result, Variant};
use std::cmp::Ordering;

/// What is known of a filter. Give any sufficient subset of items, rate, bits and probes; [`Plan::new`] finds the rest.
///
/// ```
/// use truebloom_math::{Plan, Target};
/// let plan = Plan::new(&Target { items: Some(1_000), rate: Some("1%".parse()?), ..Target::default() })?;
/// assert_eq!((plan.bits, plan.probes), (9_595, 7));
/// assert!(plan.fpr.upper <= 0.01);
/// assert!(plan.textbook.fpr.lower > 0.01, "the textbook's 9,586 bits miss the rate");
/// # Ok::<(), truebloom_math::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Target {
    /// The number of distinct items the filter must hold.
    pub items: Option<u64>,
    /// The expected false-positive rate asked for.
    pub rate: Option<Rate>,
    /// The number of bits it may have.
    pub bits: Option<u64>,
    /// The number of probes an item makes.
    pub probes: Option<u32>,
    /// The memory cap, in bits.
    pub max_bits: Option<u64>,
    /// Width of the hash of a key: 128, or 64 for a foreign hasher. Equal hashes add `items / 2^hash_bits` to the rate.
    pub hash_bits: u32,
    /// The law of the positions.
    pub variant: Variant,
    /// Ask for a guarantee instead of an average: with at least this probability (over seeds, strictly between 0 and 1) the rate of the one filter that is
    /// built is at most the rate asked for. The expected rate is held to it as well. Without a rate, the plan reports what is kept with this probability.
    pub confidence: Option<f64>,
}

impl Default for Target {
    fn default() -> Target {
        Target {
            items: None,
            rate: None,
            bits: None,
            probes: None,
            max_bits: None,
            hash_bits: 128,
            variant: Variant::Standard,
            confidence: None,
        }
    }
}

/// A filter whose expected rate is proven.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The law of the positions.
    pub variant: Variant,
    /// Number of bits m.
    pub bits: u64,
    /// Probes k of an item.
    pub probes: u32,
    /// The number of distinct items n that the rate is for: the items asked for, or the most that the bits hold at the rate.
    pub items: u64,
    /// The rate asked for, if one was.
    pub rate: Option<Rate>,
    /// The expected rate at `items`, with the floor of equal hashes in its upper end. Its upper end is at most the rate asked for.
    pub fpr: Fpr,
    /// With a confidence: the rate that one filter keeps to with that probability, with the floor of equal hashes in its upper end, which is at most the rate asked
    /// for. Proven from bounds of the tails of the fill, not assumed normal.
    pub guarantee: Option<RateQuantile>,
    /// What equal hashes add at most: `items / 2^hash_bits`.
    pub hash_floor: f64,
    /// What the textbook's formulas would have given, and the rate that they would really have.
    pub textbook: Textbook,
}

/// The textbook's answer to the same question, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Textbook {
    /// `ceil(-n ln p / (ln 2)^2)`, or the bits that were given.
    pub bits: u64,
    /// The same formula solved for the items, or the items that were given.
    pub items: u64,
    /// `(m/n) ln 2` rounded, or the probes that were given.
    pub probes: u32,
    /// What its formula `(1 - e^(-nk/m))^k` claims for these.
    pub claimed: f64,
    /// The exact expected rate of that filter.
    pub fpr: Fpr,
    /// Whether that rate, with the floor of equal hashes, is at most the one asked for, decided exactly; `None` if none was.
    pub meets: Option<bool>,
}

impl Plan {
    /// Finds what the target leaves open: the smallest number of bits that meets the rate, or the largest number of items, or the rate itself; always
    /// with the best probes unless they are given. At most some milliseconds, with a confidence up to some hundreds.
    ///
    /// With a confidence, that it meets the rate is proven. That it is the smallest is not: this probability is not monotone in the bits (whole bits round the
    /// rate), so sizes are searched around the boundary, and none of the 32 below the one found would do at its probes; probes are searched
    /// until three in a row bring no gain.
    ///
    /// Errors: too little given ([`Error::Underdetermined`]); a rate below the hash floor, above the memory cap or out of reach of the given bits, each
    /// with the smallest rate that can be had; parameters out of range.
    pub fn new(target: &Target) -> Result<Plan> {
        if let Some(probes) = target.probes {
            check_probes(probes)?;
        }
        if target.items == Some(0) {
            return out_of_range("items", 0, "at least 1");
        }
        if !(1..=128).contains(&target.hash_bits) {
            return out_of_range("hash_bits", target.hash_bits, "from 1 to 128");
        }
        if let Some(confidence) = target.confidence {
            check_confidence(confidence)?;
        }
        if target.max_bits == Some(0) {
            return out_of_range("max_bits", 0, "at least 1");
        }
        match (target.items, target.rate, target.bits) {
            (Some(items), Some(rate), None) => fewest_bits(target, items, rate),
            (None, Some(rate), Some(bits)) => most_items(target, rate, bits),
            (Some(items), rate, Some(bits)) => given_size(target, items, rate, bits),
            (Some(_), None, None) => underdetermined("the number of items alone", "a rate or a number of bits as well"),
            (None, Some(_), None) => underdetermined("a rate alone", "the number of items or of bits as well"),
            (None, None, Some(_)) => underdetermined("the number of bits alone", "the number of items or a rate as well"),
            (None, None, None) => underdetermined("an empty target", "two of: the number of items, a rate, the number of bits"),
        }
    }

    /// The memory the bits take, in bytes, rounded up to whole 64-bit words.
    pub fn bytes(&self) -> u64 {
        self.bits.div_ceil(64) * 8
    }

    fn finish(target: &Target, bits: u64, probes: u32, items: u64) -> Result<Plan> {
        let mut fpr = target.variant.fpr(bits, items, probes)?;
        let floor = hash_floor(items, target.hash_bits);
        fpr.add_above(floor);
        // Decided in whole numbers, and rounding outward must not contradict it.
        if let Some(rate) = target.rate {
            fpr.cap(&rate);
        }
        let textbook = Textbook::new(target, probes)?;
        let guarantee = target.confidence.map(|confidence| quantile(target, bits, items, probes, confidence)).transpose()?;
        Ok(Plan { variant: target.variant, bits, probes, items, rate: target.rate, fpr, guarantee, hash_floor: floor, textbook })
    }
}

fn question<'a>(target: &Target, rate: &'a Rate) -> Question<'a> {
    Question { variant: target.variant, rate, probes: target.probes, hash_bits: Some(target.hash_bits) }
}

/// Probes that suffice: enough to take the rate well below the rate asked for, and below a thousandth of the floor of equal hashes, where more of them only
/// cost time.
fn useful_probes(target: &Target, bits: u64, items: u64) -> Result<u32> {
    let most = target.variant.max_probes(bits).min(search::MAX_SEARCHED_PROBES);
    let floor = libm::log(hash_floor(items, target.hash_bits)) - libm::log(1000.0);
    let asked = target.rate.map_or(0.0, |rate| question(target, &rate).ln_target(items) - 1.0);
    let enough = floor.min(asked);
    // The textbook's rate is too low, so it only says where to look.
    let textbook = |k: u32| ln_power_of_mean(bits as f64, items as f64, f64::from(k));
    let mut probes = (1..most).find(|&k| textbook(k) < enough).unwrap_or(most);
    while probes < most && target.variant.fpr(bits, items, probes)?.ln > enough {
        probes = (probes + probes / 4 + 1).min(most);
    }
    Ok(probes)
}

fn underdetermined(given: &'static str, missing: &'static str) -> Result<Plan> {
    Err(Error::Underdetermined { given, missing })
}

fn check_hash_floor(target: &Target, items: u64, rate: Rate) -> Result<()> {
    let reachable = hash_floor(items, target.hash_bits);
    // Equal to the floor is not enough: the positions need a share too.
    if rate.ln() <= libm::log(reachable) {
        return Err(Error::BelowHashFloor { asked: rate, items, hash_bits: target.hash_bits, reachable });
    }
    Ok(())
}

fn fewest_bits(target: &Target, items: u64, rate: Rate) -> Result<Plan> {
    check_hash_floor(target, items, rate)?;
    let cap = target.max_bits.unwrap_or(MAX_BITS).min(MAX_BITS);
    let fit = search::fewest_bits(question(target, &rate), items)?;
    let fit = match (fit, target.confidence) {
        (Some(fit), Some(confidence)) => {
            let found = search_probes(target, fit.probes, |probes| surer_bits(target, items, &rate, probes, confidence), Ordering::is_lt)?;
            found.map(|found| fewer_bits(target, items, &rate, found, confidence)).transpose()?
        }
        _ => fit,
    };
    match fit {
        Some(fit) if fit.size <= cap => {
            let probes = if target.confidence.is_some() { fit.probes } else { best_within(target, fit.size, items, fit.probes)? };
            Plan::finish(target, fit.size, probes, items)
        }
        needed => {
            let reachable = reachable_within(target, cap, items)?;
            let needed = needed.map(|fit| fit.size);
            Err(Error::OverMemoryCap { asked: rate, items, needed, allowed: cap, reachable })
        }
    }
}

/// Upper end of the smallest rate that so many bits reach; 1 when they are too few for the probes.
fn reachable_within(target: &Target, bits: u64, items: u64) -> Result<f64> {
    if target.probes.is_some_and(|probes| probes > target.variant.max_probes(bits)) {
        return Ok(1.0);
    }
    let (probes, mut fpr) = best_rate(target, bits, items)?;
    if let Some(confidence) = target.confidence {
        return Ok(quantile(target, bits, items, probes, confidence)?.fpr.upper);
    }
    fpr.add_above(hash_floor(items, target.hash_bits));
    Ok(fpr.upper)
}

/// What one filter keeps to with a probability, equal hashes included; never above a rate that was decided to be met.
fn quantile(target: &Target, bits: u64, items: u64, probes: u32, confidence: f64) -> Result<RateQuantile> {
    let mut quantile = rate_quantile_bound(target.variant, bits, items, probes, confidence)?;
    quantile.fpr.add_above(hash_floor(items, target.hash_bits));
    if let Some(rate) = target.rate
        && is_sure(target, bits, items, probes, &rate, confidence, Evidence::Law)?
    {
        // The upper end comes down to the rate, and so do the numbers shown for it.
        (quantile.fpr.value, quantile.fpr.ln) = (quantile.fpr.lower, quantile.fpr.ln_lower);
        quantile.fpr.cap(&rate);
    }
    (quantile.fpr.value, quantile.fpr.ln) = (quantile.fpr.upper, quantile.fpr.ln_upper);
    Ok(quantile)
}

fn is_sure(target: &Target, bits: u64, items: u64, probes: u32, rate: &Rate, confidence: f64, evidence: Evidence) -> Result<bool> {
    // 1 - c is exact from a half on, and rounded by less than the slack of the bound below.
    Ok(miss_bound(target.variant, bits, items, probes, rate, Some(target.hash_bits), evidence)? <= 1.0 - confidence)
}

/// The fewest bits at given probes that meet the rate on average and with the confidence, as far as the search goes.
fn surer_bits(target: &Target, items: u64, rate: &Rate, probes: u32, confidence: f64) -> Result<Option<Fit>> {
    let Some(least) = search::fewest_bits_at(question(target, rate), items, probes, None)? else { return Ok(None) };
    let is_sure = |bits: u64| is_sure(target, bits, items, probes, rate, confidence, Evidence::Bounds);
    let Some(limit) = search::first_that_meets(least, MAX_BITS, is_sure)? else { return Ok(None) };
    let mut size = if limit == least { least } else { search::boundary(least as f64 + 1.0, least, limit, |bits| Ok(!is_sure(bits)?))? };
    // Not monotone: look a little further down.
    let mut below = size;
    while below > least && size - below < 32 {
        below -= 1;
        if is_sure(below)? {
            size = below;
        }
    }
    Ok(Some(Fit { size, probes }))
}

/// The bounds of the tails ask for a little too much; where the law itself can be summed, it asks for less.
fn fewer_bits(target: &Target, items: u64, rate: &Rate, found: Fit, confidence: f64) -> Result<Fit> {
    let mut best = found;
    let around =
        if target.probes.is_some() { found.probes..=found.probes } else { found.probes.saturating_sub(1).max(1)..=found.probes + 1 };
    for probes in around {
        let is_sure = |bits: u64| is_sure(target, bits, items, probes, rate, confidence, Evidence::Law);
        let Some(least) = search::fewest_bits_at(question(target, rate), items, probes, None)? else { continue };
        if least > best.size || !is_sure(best.size)? {
            continue;
        }
        let mut size = search::boundary(best.size as f64, least, best.size, |bits| Ok(!is_sure(bits)?))?;
        // Not monotone: look a little further down.
        for below in (least.max(size.saturating_sub(32))..size).rev() {
            if is_sure(below)? {
                size = below;
            }
        }
        if size < best.size {
            best = Fit { size, probes };
        }
    }
    Ok(best)
}

/// The most items at given probes that meet the rate on average and with the confidence, between a number that does and one that is too many.
fn surer_items(
    target: &Target,
    bits: u64,
    rate: &Rate,
    probes: u32,
    confidence: f64,
    (known, limit): (u64, u64),
    evidence: Evidence,
) -> Result<Option<Fit>> {
    let fits = |items: u64| {
        Ok(target.variant.meets(bits, items, probes, rate, Some(target.hash_bits))?
            && is_sure(target, bits, items, probes, rate, confidence, evidence)?)
    };
    let past = search::boundary(limit as f64, known + 1, limit, fits)?;
    Ok((past > 1).then_some(Fit { size: past - 1, probes }))
}

/// The best size over the probes, from a first number in both directions until three in a row bring nothing; the given probes alone, if they are given.
fn search_probes(
    target: &Target,
    first: u32,
    size: impl Fn(u32) -> Result<Option<Fit>>,
    is_better: fn(Ordering) -> bool,
) -> Result<Option<Fit>> {
    let mut best = size(first)?;
    if target.probes.is_some() {
        return Ok(best);
    }
    for up in [false, true] {
        let (mut probes, mut misses) = (first, 0);
        while misses < 3 {
            probes = if up { probes + 1 } else { probes - 1 };
            if probes == 0
                || probes > search::MAX_SEARCHED_PROBES
                || target.bits.is_some_and(|bits| probes > target.variant.max_probes(bits))
            {
                break;
            }
            let found = size(probes)?;
            let gains = match (&found, &best) {
                (Some(found), Some(best)) => is_better(found.size.cmp(&best.size)),
                (found, _) => found.is_some(),
            };
            (best, misses) = if gains { (found, 0) } else { (best, misses + 1) };
        }
    }
    Ok(best)
}

fn most_items(target: &Target, rate: Rate, bits: u64) -> Result<Plan> {
    target.variant.check(bits, target.probes.unwrap_or(1))?;
    check_cap(target, bits)?;
    let fit = search::most_items(question(target, &rate), bits)?;
    if let (Some(fit), Some(confidence)) = (fit, target.confidence) {
        let most = |probes| surer_items(target, bits, &rate, probes, confidence, (0, fit.size + 1), Evidence::Bounds);
        let bounded = search_probes(target, fit.probes, most, Ordering::is_gt)?.unwrap_or(Fit { size: 0, probes: fit.probes });
        // The bounds of the tails allow a little too few; where the law itself can be summed, it allows more.
        let range = (bounded.size, fit.size + 1);
        return match surer_items(target, bits, &rate, bounded.probes, confidence, range, Evidence::Law)? {
            Some(fit) => Plan::finish(target, bits, fit.probes, fit.size),
            None => out_of_reach(target, rate, bits, 1),
        };
    }
    match fit {
        Some(fit) => Plan::finish(target, bits, best_within(target, bits, fit.size, fit.probes)?, fit.size),
        None => out_of_reach(target, rate, bits, 1),
    }
}

fn given_size(target: &Target, items: u64, rate: Option<Rate>, bits: u64) -> Result<Plan> {
    target.variant.check(bits, target.probes.unwrap_or(1))?;
    check_cap(target, bits)?;
    let (probes, _) = best_rate(target, bits, items)?;
    if let Some(rate) = rate {
        check_hash_floor(target, items, rate)?;
        if !target.variant.meets(bits, items, probes, &rate, Some(target.hash_bits))? {
            return out_of_reach(target, rate, bits, items);
        }
        if let Some(confidence) = target.confidence {
            // The best on average first, then its neighbours.
            let sure = |probes| {
                let meets = target.variant.meets(bits, items, probes, &rate, Some(target.hash_bits))?
                    && is_sure(target, bits, items, probes, &rate, confidence, Evidence::Law)?;
                Ok(meets.then_some(Fit { size: bits, probes }))
            };
            return match search_probes(target, probes, sure, Ordering::is_lt)? {
                Some(fit) => Plan::finish(target, bits, fit.probes, items),
                None => out_of_reach(target, rate, bits, items),
            };
        }
    }
    Plan::finish(target, bits, probes, items)
}

fn check_cap(target: &Target, bits: u64) -> Result<()> {
    match target.max_bits {
        Some(cap) if bits > cap => out_of_range("bits", bits, format!("at most the memory cap of {cap} bits")),
        _ => Ok(()),
    }
}

fn out_of_reach(target: &Target, asked: Rate, bits: u64, items: u64) -> Result<Plan> {
    let (probes, mut fpr) = best_rate(target, bits, items)?;
    fpr.add_above(hash_floor(items, target.hash_bits));
    let reachable = match target.confidence {
        Some(confidence) => quantile(target, bits, items, probes, confidence)?.fpr.upper,
        None => fpr.upper,
    };
    Err(Error::OutOfReach { asked, items, bits, probes, reachable })
}

/// The probes to use for a size, and their rate: those given, or the best.
fn best_rate(target: &Target, bits: u64, items: u64) -> Result<(u32, Fpr)> {
    match target.probes {
        Some(probes) => Ok((probes, target.variant.fpr(bits, items, probes)?)),
        None => best_probes(target.variant, bits, items, useful_probes(target, bits, items)?).map(|best| (best.probes, best.fpr)),
    }
}

/// The best probes at a size that some probes are known to fit.
fn best_within(target: &Target, bits: u64, items: u64, known: u32) -> Result<u32> {
    if target.probes.is_some() { Ok(known) } else { Ok(best_rate(target, bits, items)?.0) }
}

impl Textbook {
    fn new(target: &Target, plan_probes: u32) -> Result<Textbook> {
        const LN2: f64 = std::f64::consts::LN_2;
        // Items for each bit at the rate asked for.
        let load = target.rate.map(|rate| match target.probes {
            Some(k) => -libm::log1p(-libm::exp(rate.ln() / f64::from(k))) / f64::from(k),
            None => LN2 * LN2 / -rate.ln(),
        });
        let (bits, items) = match (target.bits, target.items, load) {
            (Some(bits), Some(items), _) => (bits as f64, items as f64),
            (Some(bits), None, Some(load)) => (bits as f64, (bits as f64 * load).floor()),
            (None, Some(items), Some(load)) => ((items as f64 / load).ceil(), items as f64),
            // Not determined, and never planned.
            _ => (1.0, 1.0),
        };
        let (bits, items) = ((bits.max(1.0) as u64).min(MAX_BITS), items.max(1.0) as u64);
        let most = useful_probes(target, bits, items)?;
        let ideal = (bits as f64 / items as f64 * LN2).round().clamp(1.0, f64::from(most)) as u32;
        let probes = if target.probes.is_some() { plan_probes.min(target.variant.max_probes(bits)) } else { ideal };
        let k = f64::from(probes);
        let claimed = libm::pow(-libm::expm1(-(items as f64) * k / bits as f64), k);
        let meets = |rate: Rate| target.variant.meets(bits, items, probes, &rate, Some(target.hash_bits));
        let meets = target.rate.map(meets).transpose()?;
        Ok(Textbook { bits, items, probes, claimed, fpr: target.variant.fpr(bits, items, probes)?, meets })
    }
}
