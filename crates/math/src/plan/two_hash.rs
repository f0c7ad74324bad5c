//! Plans for schemes of two hashes: a size that is proven to meet a rate, or an error that names
//! another scheme that meets the rate.

mod proofs;

use super::Plan;
use super::target::{Ask, Target};
use super::walk::{Step, walk};
use crate::error::out_of_range;
use crate::exact::bisect::bisect_sizes;
use crate::exact::modular::{is_prime, next_prime};
use crate::law::convergence::{LARGE_PRIME, constant, limit_rate, partition_constant};
use crate::law::double::Shape;
use crate::search::boundary;
use crate::{Error, Fpr, MAX_BITS, Rate, Result, SchemeId};
use alloc::format;
use proofs::Proofs;

/// The largest number of bits that a scheme may need without a memory cap, as a multiple of the
/// bits of the standard filter.
const MOST_TIMES_STANDARD: u64 = 4;

/// The search for the lowest rate of a size starts with at most this many probes.
const FEW_PROBES: u32 = 12;

/// The largest number of probes in plans for schemes of two hashes.
const MOST_PROBES: u32 = 64;

pub(super) fn plan(target: &Target) -> Result<Plan> {
    choice(target)?;
    match target.ask()? {
        Ask::FewestBits { items, rate } => fewest_bits(&Question::new(target, items, rate)),
        Ask::MostItems { rate, bits } => most_items(target, rate, bits),
        Ask::GivenSize { items, rate, bits } => given_size(target, items, rate, bits),
    }
}

/// Finds a size whose rate is proven to be at most the requested rate: the upper end of the
/// bracket, plus the bound on equal hashes, is low enough.
///
/// The result need not be the smallest such size. The rate of two-hash schemes is not monotone in
/// the bits. If the number of bits has small divisors, some values of h2 (the second hash, which is
/// the step between positions) repeat positions. The next number of bits may have no small
/// divisors. Among primes, the rate is nearly monotone. So only primes are tried, starting at the
/// size that a first-order formula predicts. As the number of probes grows, the proven rate rises
/// faster than the predicted rate. So for each number of probes, the search tries to find a smaller
/// size than the best so far. The search takes at most a few seconds.
///
/// Returns the errors of the standard planner for the same rate, and [`Error::SchemeOutOfReach`] if
/// no size up to the cap is proven to meet the rate. This error contains the lowest proven rate
/// near the cap, and a scheme that meets the requested rate.
fn fewest_bits(question: &Question<'_>) -> Result<Plan> {
    let target = question.target;
    let standard = Plan::new(&Target { max_bits: None, ..standard(target) })?;
    let cap = target.max_bits.unwrap_or(standard.bits.saturating_mul(MOST_TIMES_STANDARD)).min(MAX_BITS);
    match smallest(question, cap)? {
        Ok((bits, probes)) => finish(&question.proofs, bits, probes, question.items),
        Err(reachable) => refuse(question, &standard, cap, reachable),
    }
}

/// Returns the smallest size that is found up to a cap, and its number of probes. If none is found,
/// returns the lowest proven rate near the cap.
fn smallest(question: &Question<'_>, cap: u64) -> Result<core::result::Result<(u64, u32), f64>> {
    let (mut best, mut reachable) = (None, 1.0f64);
    let likely = predicted(question, cap)?;
    walk(choice(question.target)?, likely, |probes| {
        let known = best.map_or(cap, |(bits, _)| bits - 1);
        let Some(size) = size_below(question, known, probes) else { return Ok(Step::Excluded) };
        let rate = question.proofs.promised(size, question.items, probes)?;
        reachable = reachable.min(rate);
        let found = if rate < question.rate.to_f64() { proven_size(question, probes, cap)? } else { None };
        let better = found.filter(|found| *found <= known);
        if let Some(found) = better {
            best = Some((found, probes));
        }
        Ok(step(rate, better.is_some(), best.is_some_and(|(_, best)| best < probes)))
    })?;
    Ok(best.ok_or(reachable))
}

/// The largest number of items that the bits are proven to hold with any number of probes.
fn most_items(target: &Target, rate: Rate, bits: u64) -> Result<Plan> {
    let proofs = Proofs::new(target);
    check_size(target, bits)?;
    // This number only starts and limits the search. A filter with distinct positions can hold a
    // few items more.
    let standard = Plan::new(&standard(target)).map_or(1, |plan| plan.items);
    let limit = standard.saturating_mul(2).saturating_add(16);
    let mut best = None;
    walk(choice(target)?, likely_probes(target, bits, standard)?, |probes| {
        if !is_possible(target, bits, probes) {
            return Ok(Step::Impossible);
        }
        let more = best.map_or(0, |(items, _)| items) + 1;
        let kept = proofs.promised(bits, more, probes)?;
        let is_better = more < limit && kept < rate.to_f64();
        if is_better {
            let guess = Prediction::new(target.scheme, probes)?.items(bits, rate, probes, limit);
            let holds = |items: u64| Ok(proofs.promised(bits, items, probes)? < rate.to_f64());
            best = Some((boundary(guess + 1.0, more + 1, limit, holds)? - 1, probes));
        }
        Ok(step(kept, is_better, best.is_some_and(|(_, best)| best < probes)))
    })?;
    match best {
        Some((items, probes)) => finish(&proofs, bits, probes, items),
        None => out_of_reach(&proofs, rate, bits, 1),
    }
}

/// The plan with the number of probes whose proven rate is lowest.
fn given_size(target: &Target, items: u64, rate: Option<Rate>, bits: u64) -> Result<Plan> {
    let proofs = Proofs::new(target);
    check_size(target, bits)?;
    if let Some(rate) = rate {
        target.check_hash_floor(items, rate)?;
    }
    let (probes, reachable) = lowest(&proofs, bits, items)?;
    match rate {
        Some(asked) if reachable >= asked.to_f64() => out_of_reach(&proofs, asked, bits, items),
        _ => finish(&proofs, bits, probes, items),
    }
}

fn out_of_reach(proofs: &Proofs<'_>, asked: Rate, bits: u64, items: u64) -> Result<Plan> {
    let (probes, reachable) = lowest(proofs, bits, items)?;
    Err(Error::OutOfReach { asked, items, bits, probes, reachable, is_impossible: false })
}

/// The number of probes with the lowest rate that is proven at a size, and that rate.
fn lowest(proofs: &Proofs<'_>, bits: u64, items: u64) -> Result<(u32, f64)> {
    let target = proofs.target;
    let likely = likely_probes(target, bits, items)?;
    let mut best = (likely, f64::INFINITY);
    walk(choice(target)?, likely, |probes| {
        if !is_possible(target, bits, probes) {
            return Ok(Step::Impossible);
        }
        let rate = proofs.promised(bits, items, probes)?;
        let is_better = rate < best.1;
        if is_better {
            best = (probes, rate);
        }
        Ok(step(rate, is_better, best.1 < 1.0 && best.0 < probes))
    })?;
    Ok(best)
}

/// Returns the search step for one number of probes. The number is excluded if no rate is proven
/// for it (`rate` is 1) and it is larger than the best number so far (`is_more`).
fn step(rate: f64, is_better: bool, is_more: bool) -> Step {
    if rate == 1.0 && is_more { Step::Excluded } else { Step::Kept { rate, is_better } }
}

/// Returns an error if a given size is out of range, or cannot be divided into equal slices.
fn check_size(target: &Target, bits: u64) -> Result<()> {
    target.check_cap(bits)?;
    target.scheme.law(bits, target.probes.unwrap_or(1)).map(|_| ())
}

/// The numbers of probes to choose from.
fn choice(target: &Target) -> Result<core::ops::RangeInclusive<u32>> {
    match target.probes {
        Some(probes) if probes > MOST_PROBES => out_of_range("probes", probes, format!("at most {MOST_PROBES} for {}", target.scheme)),
        probes => Ok(probes.map_or(1..=MOST_PROBES, |probes| probes..=probes)),
    }
}

/// Returns the same target for the standard scheme.
fn standard(target: &Target) -> Target {
    Target { scheme: SchemeId::Standard, ..target.clone() }
}

/// The proven rate of a plan with another number of items. It is computed as in the search for
/// plans ([`Proofs::proven`]).
pub(super) fn rate_with(plan: &Plan, items: u64) -> Result<Fpr> {
    Proofs::new(&plan.target).proven(plan.bits, items, plan.probes)
}

fn finish(proofs: &Proofs<'_>, bits: u64, probes: u32, items: u64) -> Result<Plan> {
    let fpr = proofs.proven(bits, items, probes)?;
    Ok(Plan::of(proofs.target, proofs.target.scheme, bits, probes, items, fpr, None))
}

/// The question for the smallest number of bits, for these items at this rate.
struct Question<'a> {
    target: &'a Target,
    items: u64,
    rate: Rate,
    proofs: Proofs<'a>,
}

impl Question<'_> {
    fn new(target: &Target, items: u64, rate: Rate) -> Question<'_> {
        Question { target, items, rate, proofs: Proofs::new(target) }
    }

    fn meets(&self, bits: u64, probes: u32) -> Result<bool> {
        Ok(self.proofs.promised(bits, self.items, probes)? < self.rate.to_f64())
    }
}

/// A first-order approximation of the rate for any size and one number of probes.
enum Prediction {
    Slices,
    Array(Shape),
}

impl Prediction {
    fn new(scheme: SchemeId, probes: u32) -> Result<Prediction> {
        Ok(match scheme.double(LARGE_PRIME, probes)? {
            Some(law) => Prediction::Array(law.rough_shape()?),
            None => Prediction::Slices,
        })
    }

    fn rate(&self, bits: f64, items: f64, probes: u32) -> f64 {
        let load = bits / items;
        let coefficient = match self {
            Prediction::Slices => partition_constant(load, probes),
            Prediction::Array(shape) => constant(load, probes, &shape.fewer, shape.lost, &shape.several),
        };
        limit_rate(load, probes) + coefficient / items
    }

    /// The smallest number of bits for which the predicted rate is low enough, or the cap if there
    /// is none. In its range of validity, the predicted rate decreases with the bits.
    fn bits(&self, question: &Question<'_>, probes: u32, cap: u64) -> u64 {
        let (items, aim) = (question.items as f64, question.rate.to_f64());
        bisect_sizes(1.0, cap as f64, |bits| self.rate(bits, items, probes) <= aim).1 as u64
    }

    /// The largest number of items for which the predicted rate is low enough.
    fn items(&self, bits: u64, rate: Rate, probes: u32, limit: u64) -> f64 {
        bisect_sizes(1.0, limit as f64, |items| self.rate(bits as f64, items, probes) > rate.to_f64()).0
    }
}

/// The number of probes for which the predicted size is smallest.
fn predicted(question: &Question<'_>, cap: u64) -> Result<u32> {
    least_by(question.target, |probes| Ok(Prediction::new(question.target.scheme, probes)?.bits(question, probes, cap) as f64))
}

/// The number of probes for which the predicted rate of a size is lowest. Numbers above
/// [`FEW_PROBES`] are not considered, because the brackets for many probes are wide and slow to
/// compute.
fn likely_probes(target: &Target, bits: u64, items: u64) -> Result<u32> {
    least_by(target, |probes| {
        let is_likely = target.probes.is_some() || probes <= FEW_PROBES && is_possible(target, bits, probes);
        Ok(if is_likely { Prediction::new(target.scheme, probes)?.rate(bits as f64, items as f64, probes) } else { f64::INFINITY })
    })
}

/// Whether the scheme allows this size: the slices of partitioned double hashing must have equal
/// lengths.
fn is_possible(target: &Target, bits: u64, probes: u32) -> bool {
    target.scheme != SchemeId::PartitionDouble || bits.is_multiple_of(u64::from(probes))
}

fn least_by(target: &Target, cost: impl Fn(u32) -> Result<f64>) -> Result<u32> {
    let mut best = (f64::INFINITY, *choice(target)?.start());
    for probes in choice(target)? {
        let found = cost(probes)?;
        if found < best.0 {
            best = (found, probes);
        }
    }
    Ok(best.1)
}

/// A size of at least `bits` that plans may choose. It is a prime or, if there are slices, a prime
/// multiplied by the number of probes.
fn size_from(question: &Question<'_>, bits: u64, probes: u32) -> Option<u64> {
    match question.target.scheme {
        SchemeId::PartitionDouble => next_prime(bits.div_ceil(u64::from(probes)).max(u64::from(probes)))?.checked_mul(u64::from(probes)),
        // The size has more bits than probes, so that a query's positions can all be distinct.
        _ => next_prime(bits.max(u64::from(probes) + 1)),
    }
}

/// The largest size up to a limit that plans may choose.
fn size_below(question: &Question<'_>, limit: u64, probes: u32) -> Option<u64> {
    let unit = if question.target.scheme == SchemeId::PartitionDouble { u64::from(probes) } else { 1 };
    let least = if unit > 1 { unit } else { u64::from(probes) + 1 };
    let prime = (least..=limit / unit).rev().find(|size| is_prime(*size))?;
    Some(prime * unit)
}

/// Returns the first size that a search upwards from the predicted size proves to meet the rate.
fn proven_size(question: &Question<'_>, probes: u32, cap: u64) -> Result<Option<u64>> {
    let meets = |bits: u64| question.meets(bits, probes);
    let mut start = Prediction::new(question.target.scheme, probes)?.bits(question, probes, cap);
    let stride = start / 4096 + 1;
    // The prediction may be far too high.
    while let Some(less) = size_below(question, start - start / 128, probes).filter(|less| *less < start)
        && meets(less)?
    {
        start = less;
    }
    let Some((failed, found)) = first_from(question, start, stride, probes, cap)? else { return Ok(None) };
    let Some(mut below) = failed else { return Ok(Some(found)) };
    let mut found = found;
    // Bisects between this size and the last one that failed.
    while found - below > found / 4096 {
        let middle = size_from(question, below + (found - below) / 2, probes).filter(|middle| below < *middle && *middle < found);
        let Some(middle) = middle else { break };
        if meets(middle)? { found = middle } else { below = middle }
    }
    Ok(Some(found))
}

/// Searches upwards from `start`, in strides that double. Returns a size that meets the rate, and
/// the last size tried before it, which does not.
fn first_from(question: &Question<'_>, start: u64, mut stride: u64, probes: u32, cap: u64) -> Result<Option<(Option<u64>, u64)>> {
    let mut failed: Option<u64> = None;
    let mut next = start;
    while let Some(size) = size_from(question, next, probes).filter(|size| *size <= cap) {
        if question.meets(size, probes)? {
            return Ok(Some((failed, size)));
        }
        failed = Some(size);
        next = size.saturating_add(stride);
        stride = stride.saturating_mul(2);
    }
    // The last stride may have gone beyond the cap.
    let last = size_below(question, cap, probes).filter(|last| failed.is_some_and(|failed| failed < *last));
    match last {
        Some(last) if question.meets(last, probes)? => Ok(Some((failed, last))),
        _ => Ok(None),
    }
}

fn refuse(question: &Question<'_>, standard: &Plan, cap: u64, reachable: f64) -> Result<Plan> {
    let Question { target, items, rate, .. } = question;
    let can = |scheme: &SchemeId| {
        let tried = Target { scheme: *scheme, ..(*target).clone() };
        smallest(&Question::new(&tried, *items, *rate), cap).is_ok_and(|found| found.is_ok())
    };
    let better = [SchemeId::DoubleNonzero, SchemeId::Cube].into_iter().filter(|scheme| *scheme != target.scheme).find(can);
    let alternative = match better {
        Some(scheme) => format!("{scheme} reaches it within these bits, and so does the standard scheme with {}", standard.bits),
        None => format!("the standard scheme reaches it with {} bits and {} probes", standard.bits, standard.probes),
    };
    Err(Error::SchemeOutOfReach { scheme: target.scheme.name(), asked: *rate, items: *items, allowed: cap, reachable, alternative })
}
