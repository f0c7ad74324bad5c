//! The best probes, the fewest bits and the most items, each proven: every alternative is excluded by a bound or by an exact decision.

use crate::error::{check_bits, out_of_range};
use crate::{Fpr, MAX_BITS, Rate, Result, Variant};
use std::cmp::Ordering;

/// Probes are searched up to this number.
pub const MAX_SEARCHED_PROBES: u32 = 1_000;

/// Items are searched up to this number.
const MAX_ITEMS: u64 = 1 << 62;

/// Slack for comparing logarithms computed in `f64`: far above their rounding (relative 1e-15 of magnitudes up to 1e5), far below what matters.
fn slack(ln: f64) -> f64 {
    1e-9 + 1e-12 * ln.abs()
}

/// The probes with the smallest expected rate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OptimalProbes {
    /// The smallest optimum.
    pub probes: u32,
    /// All optima, decided exactly.
    pub ties: Vec<u32>,
    /// The rate they reach.
    pub fpr: Fpr,
    /// Whether more than [`MAX_SEARCHED_PROBES`] would be better still.
    pub capped: bool,
}

/// The textbook's rate `(1 - (1 - 1/m)^(nk))^k`, as a logarithm: the power of the mean (Lehr), close to every law of uniform positions.
pub(crate) fn ln_power_of_mean(bits: f64, items: f64, probes: f64) -> f64 {
    probes * libm::log(-libm::expm1(items * probes * libm::log1p(-1.0 / bits)))
}

/// A proven lower bound of the logarithm of the expected rate, in `f64` (its rounding is covered by [`slack`]).
///
/// By convexity (Jensen) the rate is at least the rate at the mean fill: `(E[X]/m)^k` for the standard filter, `C(E[X], k) / C(m, k)` for the
/// classic one (Burns, corollary 23). The partitioned rate is a product that `f64` evaluates directly.
fn ln_lower_bound(variant: Variant, bits: u64, items: u64, probes: u32) -> f64 {
    let (m, n, k) = (bits as f64, items as f64, f64::from(probes));
    match variant {
        Variant::Standard => ln_power_of_mean(m, n, k),
        Variant::Classic if u64::from(probes) == bits => 0.0,
        Variant::Classic => {
            let mean = -m * libm::expm1(n * libm::log1p(-k / m));
            (0..probes).map(|i| libm::log((mean - f64::from(i)).max(0.0) / (m - f64::from(i)))).sum()
        }
        Variant::Partitioned => {
            let (size, longer) = ((bits / u64::from(probes)) as f64, (bits % u64::from(probes)) as f64);
            let slice = |size: f64| if size == 1.0 { 0.0 } else { libm::log(-libm::expm1(n * libm::log1p(-1.0 / size))) };
            (k - longer) * slice(size) + if longer > 0.0 { longer * slice(size + 1.0) } else { 0.0 }
        }
    }
}

/// An upper bound of `ln(1 - rate)`: the expected number of empty query positions, where a slice may be one bit longer than `m/k`.
fn ln_complement_bound(variant: Variant, bits: u64, items: u64, probes: u32) -> f64 {
    let (m, n, k) = (bits as f64, items as f64, f64::from(probes));
    libm::log(k)
        + match variant {
            Variant::Standard => n * k * libm::log1p(-1.0 / m),
            Variant::Classic => n * libm::log1p(-k / m),
            Variant::Partitioned => n * libm::log1p(-1.0 / bits.div_ceil(u64::from(probes)) as f64),
        }
}

/// The number of probes with the smallest expected rate, searched up to [`MAX_SEARCHED_PROBES`] (and up to `bits` where positions are distinct or
/// sliced), with all ties. Never `(m/n) ln 2` rounded, which misses: the best k of (1000, 100) is 7, of (26, 12) classic 2 but standard 1.
///
/// Proven without assuming that the rate is unimodal in k: every k whose lower bound is above the best rate is excluded, the rest are compared
/// exactly. Usually a few exact rates; milliseconds. Errors for parameters out of range.
pub fn optimal_probes(variant: Variant, bits: u64, items: u64) -> Result<OptimalProbes> {
    check_bits(bits)?;
    if items == 0 {
        return out_of_range("items", items, "at least 1");
    }
    let most = variant.max_probes(bits).min(MAX_SEARCHED_PROBES);
    let mut best = best_probes(variant, bits, items, most)?;
    if best.ties.contains(&MAX_SEARCHED_PROBES) && bits > 1 && variant.max_probes(bits) > MAX_SEARCHED_PROBES {
        let beyond = variant.expected(bits, items, MAX_SEARCHED_PROBES + 1)?;
        best.capped = beyond.compare(&*variant.expected(bits, items, best.probes)?)?.is_lt();
    }
    Ok(best)
}

fn best_probes(variant: Variant, bits: u64, items: u64, most: u32) -> Result<OptimalProbes> {
    // A filter of one bit is full after one item, whatever the probes.
    if bits == 1 {
        return Ok(OptimalProbes { probes: 1, ties: (1..=most).collect(), fpr: Fpr::ONE, capped: false });
    }
    let saturated = items as f64 * -libm::log1p(-1.0 / bits as f64) > 0.7;
    let start = if saturated { 1 } else { likely_probes(bits, items, most) };
    let mut ties = vec![start];
    let mut best = variant.expected(bits, items, start)?;
    let mut best_fpr = best.fpr()?;
    // Near the start the better ones come first, so that the bound excludes the others at once.
    let mut order: Vec<u32> = (1..=most).filter(|&k| k != start).collect();
    order.sort_by_key(|&k| (k.abs_diff(start), k));
    for probes in order {
        let bound = ln_lower_bound(variant, bits, items, probes);
        if bound > best_fpr.ln_upper + slack(bound) {
            continue;
        }
        // Near 1 rates differ only in their complements; that of a single probe is (1 - 1/m)^n.
        let complement = ln_complement_bound(variant, bits, items, probes);
        if ties == [1] && complement < items as f64 * libm::log1p(-1.0 / bits as f64) - slack(items as f64 / bits as f64) {
            continue;
        }
        let other = variant.expected(bits, items, probes)?;
        match other.compare(&*best)? {
            Ordering::Greater => {}
            Ordering::Equal => ties.push(probes),
            Ordering::Less => {
                ties = vec![probes];
                best_fpr = other.fpr()?;
                best = other;
            }
        }
    }
    ties.sort_unstable();
    Ok(OptimalProbes { probes: ties[0], ties, fpr: best_fpr, capped: false })
}

/// `(m/n) ln 2` rounded: where to start looking.
fn likely_probes(bits: u64, items: u64, most: u32) -> u32 {
    let ideal = bits as f64 / items as f64 * std::f64::consts::LN_2;
    ideal.round().clamp(1.0, f64::from(most)) as u32
}

/// A size that meets a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fit {
    /// Bits or items, whichever was searched.
    pub(crate) size: u64,
    /// Probes that meet the rate at this size.
    pub(crate) probes: u32,
}

/// What is searched for, at fixed probes: whether `size` bits (items) meet the rate.
struct Question<'a> {
    variant: Variant,
    rate: &'a Rate,
    hash_bits: Option<u32>,
}

impl Question<'_> {
    fn meets(&self, bits: u64, items: u64, probes: u32) -> Result<bool> {
        self.variant.meets(bits, items, probes, self.rate, self.hash_bits)
    }

    /// False when the bound proves that these probes cannot meet the rate.
    fn may_meet(&self, bits: u64, items: u64, probes: u32) -> bool {
        let bound = ln_lower_bound(self.variant, bits, items, probes);
        bound <= self.rate.ln() + slack(bound)
    }

    /// The probes to search, best guess first.
    fn order(&self, probes: Option<u32>) -> Vec<u32> {
        if let Some(probes) = probes {
            return vec![probes];
        }
        let likely = (-self.rate.ln() / std::f64::consts::LN_2).round().clamp(1.0, f64::from(MAX_SEARCHED_PROBES)) as u32;
        let mut order: Vec<u32> = (1..=MAX_SEARCHED_PROBES).collect();
        order.sort_by_key(|&k| (k.abs_diff(likely), k));
        order
    }
}

/// The smallest number of bits whose expected rate for `items` items is at most `rate`, at the given or any number of probes; `None` beyond
/// [`MAX_BITS`]. At fixed probes the rate falls with the bits, so the answer is proven minimal.
pub(crate) fn fewest_bits(variant: Variant, items: u64, rate: &Rate, probes: Option<u32>, hash_bits: Option<u32>) -> Result<Option<Fit>> {
    let question = Question { variant, rate, hash_bits };
    let mut best: Option<Fit> = None;
    for k in question.order(probes) {
        let least = if variant == Variant::Standard { 1 } else { u64::from(k) };
        // To be of use, these probes must meet the rate with one bit less than the best so far.
        let limit = best.map_or(MAX_BITS, |best| best.size - 1);
        if limit < least || !question.may_meet(limit, items, k) {
            continue;
        }
        let meets = |bits: u64| question.meets(bits, items, k);
        // Invert the textbook formula at the rate asked for, then at the rate corrected by what it missed.
        let target = rate.ln();
        let invert = |ln: f64| items as f64 * f64::from(k) / -libm::log1p(-libm::exp(ln / f64::from(k)));
        let mut guess = invert(target);
        for _ in 0..2 {
            let bits = (guess as u64).clamp(least, limit);
            let missed = variant.fpr(bits, items, k)?.ln - ln_power_of_mean(bits as f64, items as f64, f64::from(k));
            guess = invert(target - missed);
        }
        // A limit that meets the rate: the best so far less one, or somewhat above the guess.
        let enough = if best.is_some() { limit } else { (2.0 * guess) as u64 };
        let Some(limit) = first_that_meets(enough.clamp(least, limit), limit, meets)? else { continue };
        let size = boundary(guess, least, limit, |bits| Ok(!meets(bits)?))?;
        best = Some(Fit { size, probes: k });
    }
    Ok(best)
}

/// The largest number of items whose expected rate in `bits` bits is at most `rate`; `None` if not even one. At fixed probes the rate rises with
/// the items, so the answer is proven maximal.
pub(crate) fn most_items(variant: Variant, bits: u64, rate: &Rate, probes: Option<u32>, hash_bits: Option<u32>) -> Result<Option<Fit>> {
    let question = Question { variant, rate, hash_bits };
    let mut best: Option<Fit> = None;
    for k in question.order(probes) {
        // To be of use, these probes must hold one item more than the best so far.
        let least = best.map_or(1, |best| best.size + 1);
        if k > variant.max_probes(bits) || least > MAX_ITEMS || !question.may_meet(bits, least, k) || !question.meets(bits, least, k)? {
            continue;
        }
        let target = rate.ln();
        let invert = |ln: f64| -(bits as f64) / f64::from(k) * libm::log1p(-libm::exp(ln / f64::from(k)));
        let mut guess = invert(target);
        for _ in 0..2 {
            let items = (guess as u64).clamp(least, MAX_ITEMS);
            let missed = variant.fpr(bits, items, k)?.ln - ln_power_of_mean(bits as f64, items as f64, f64::from(k));
            guess = invert(target - missed);
        }
        // The first number of items too many is one above the last that fits.
        let first_too_many = boundary(guess + 1.0, least + 1, MAX_ITEMS, |items| question.meets(bits, items, k))?;
        best = Some(Fit { size: first_too_many - 1, probes: k });
    }
    Ok(best)
}

/// The smallest size in `least..=limit` for which `before` is false, given that it is false at `limit` and, once false, stays so. Gallops
/// away from the guess, then bisects: two questions when the guess is right.
fn boundary(guess: f64, least: u64, limit: u64, before: impl Fn(u64) -> Result<bool>) -> Result<u64> {
    // `low` is the largest size known to be before the boundary, or one below the least; `high` the smallest known to be past it.
    let (mut low, mut high) = (least - 1, limit);
    let mut at = guess.ceil().max(0.0) as u64;
    let mut step = 1;
    while high - low > 1 {
        at = at.clamp(low + 1, high - 1);
        if before(at)? {
            low = at
        } else {
            high = at
        }
        at = if low < least {
            high.saturating_sub(step)
        } else if high == limit {
            low.saturating_add(step)
        } else {
            low + (high - low) / 2
        };
        step = step.saturating_mul(4);
    }
    Ok(high)
}

/// The first of `size`, `4 size`, .. up to `limit` that meets the rate.
fn first_that_meets(mut size: u64, limit: u64, meets: impl Fn(u64) -> Result<bool>) -> Result<Option<u64>> {
    loop {
        if meets(size)? {
            return Ok(Some(size));
        }
        if size == limit {
            return Ok(None);
        }
        size = size.saturating_mul(4).min(limit);
    }
}

/// A size that meets a rate, with the best probes there.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Best {
    /// The number of bits of the filter.
    pub bits: u64,
    /// The number of distinct items it holds.
    pub items: u64,
    /// The best probes at this size.
    pub probes: u32,
    /// The expected rate they reach.
    pub fpr: Fpr,
}

/// The smallest number of bits whose expected rate, at its best probes, is at most `rate` for `items` items; equality passes. `None` above
/// [`MAX_BITS`]. A law's own answer, without the floor of a hash: see [`crate::Plan`] for filters. Errors for 0 items.
pub fn min_bits(variant: Variant, items: u64, rate: &Rate) -> Result<Option<Best>> {
    if items == 0 {
        return out_of_range("items", items, "at least 1");
    }
    let fit = fewest_bits(variant, items, rate, None, None)?;
    fit.map(|fit| best_at(variant, fit.size, items, rate)).transpose()
}

/// The largest number of items whose expected rate in `bits` bits, at its best probes, is at most `rate`; equality passes. `None` if not even one item.
pub fn max_items(variant: Variant, bits: u64, rate: &Rate) -> Result<Option<Best>> {
    check_bits(bits)?;
    let fit = most_items(variant, bits, rate, None, None)?;
    fit.map(|fit| best_at(variant, bits, fit.size, rate)).transpose()
}

fn best_at(variant: Variant, bits: u64, items: u64, rate: &Rate) -> Result<Best> {
    let OptimalProbes { probes, mut fpr, .. } = optimal_probes(variant, bits, items)?;
    fpr.cap(rate);
    Ok(Best { bits, items, probes, fpr })
}
