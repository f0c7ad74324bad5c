//! Plans for schemes of two hashes: a size that is proven to meet a rate, or an error that says
//! which scheme can.

use super::Plan;
use super::target::{Ask, Target};
use super::walk::walk;
use crate::error::out_of_range;
use crate::exact::bisect::bisect_sizes;
use crate::exact::modular::{is_prime, next_prime};
use crate::law::convergence::{LARGE_PRIME, constant, limit_rate, partition_constant};
use crate::law::double::Shape;
use crate::{Error, Fpr, MAX_BITS, Method, Rate, Result, SchemeId};
use alloc::format;

/// Without a memory cap, a scheme may need at most this many times the bits of the standard filter.
const MOST_TIMES_STANDARD: u64 = 4;

/// Up to this many bits, the exact rate is computed as a sum.
const SMALL: u64 = 1_000;

/// The search for the lowest rate of a size begins with at most this many probes.
const FEW_PROBES: u32 = 12;

/// The largest number of probes in plans for schemes of two hashes.
const MOST_PROBES: u32 = 64;

pub(super) fn plan(target: &Target) -> Result<Plan> {
    match target.ask()? {
        Ask::FewestBits { items, rate } => fewest_bits(&Question::new(target, items, rate)),
        Ask::MostItems { rate, bits } => most_items(target, rate, bits),
        Ask::GivenSize { items, rate, bits } => given_size(target, items, rate, bits),
    }
}

/// A size whose rate is proven to be at most the requested rate. The upper end of the rate's
/// bracket, including equal hashes, is compared.
///
/// It need not be the smallest such size. The rate of these schemes is not monotone in the bits: in
/// a size with small divisors, some strides repeat positions, while the next size may have no such
/// divisors. For primes, the rate is nearly monotone. So only primes are tried, from the
/// first-order prediction upwards. The proven rate rises faster with the probes than the predicted
/// rate, so for each number of probes the search tries to find fewer bits than the best so far. The
/// search takes at most some seconds.
///
/// Errors: those of the standard planner for the same rate; and [`Error::SchemeOutOfReach`] if no
/// size up to the cap is proven to meet the rate. That error has the lowest proven rate near the
/// cap, and a scheme that meets the requested rate.
fn fewest_bits(question: &Question<'_>) -> Result<Plan> {
    let target = question.target;
    let standard = Plan::new(&Target { max_bits: None, ..standard(target) })?;
    let cap = target.max_bits.unwrap_or(standard.bits.saturating_mul(MOST_TIMES_STANDARD)).min(MAX_BITS);
    match smallest(question, cap)? {
        Ok((bits, probes)) => finish(target, bits, probes, question.items),
        Err(reachable) => refuse(question, &standard, cap, reachable),
    }
}

/// The smallest size that is found up to a cap, and its probes. If none is found, the lowest rate
/// that is proven near the cap.
fn smallest(question: &Question<'_>, cap: u64) -> Result<core::result::Result<(u64, u32), f64>> {
    let (mut best, mut lowest) = (None, 1.0f64);
    let likely = predicted(question, cap)?;
    walk(choice(question.target)?, likely, |probes| {
        let known = best.map_or(cap, |(bits, _)| bits - 1);
        let Some(size) = size_below(question, known, probes) else { return Ok((f64::INFINITY, false)) };
        let promised = promised(question.target, question.scheme, size, question.items, probes)?;
        lowest = lowest.min(promised);
        let found = if promised < question.rate.to_f64() { proven_size(question, probes, cap)? } else { None };
        let is_better = found.is_some_and(|found| found <= known);
        if let Some(found) = found.filter(|_| is_better) {
            best = Some((found, probes));
        }
        Ok((promised, is_better))
    })?;
    Ok(best.ok_or(lowest))
}

/// The largest number of items that the bits are proven to hold with any number of probes.
fn most_items(target: &Target, rate: Rate, bits: u64) -> Result<Plan> {
    let standard = Plan::new(&standard(target))?;
    // A scheme with distinct positions may hold a few items more than the standard one.
    let limit = standard.items.saturating_mul(2).saturating_add(16);
    let (mut best, mut lowest) = (None, (1.0, standard.probes));
    let (likely, _) = self::lowest(target, bits, standard.items)?;
    walk(choice(target)?, likely, |probes| {
        let known = best.map_or(0, |(items, _)| items);
        if !is_possible(target, bits, probes) {
            return Ok((f64::NAN, false));
        }
        let promised = promised(target, target.scheme, bits, known + 1, probes)?;
        if best.is_none() && promised < lowest.0 {
            lowest = (promised, probes);
        }
        let meets = |items: u64| meets(target, target.scheme, (bits, items, probes), &rate);
        if known + 1 >= limit || !meets(known + 1)? {
            return Ok((promised, false));
        }
        let guess = Prediction::new(target.scheme, probes)?.items(bits, rate, probes, limit);
        best = Some((crate::search::boundary(guess + 1.0, known + 2, limit, meets)? - 1, probes));
        Ok((promised, true))
    })?;
    match best {
        Some((items, probes)) => finish(target, bits, probes, items),
        None => Err(Error::OutOfReach { asked: rate, items: 1, bits, probes: lowest.1, reachable: lowest.0, is_impossible: false }),
    }
}

/// The plan with the number of probes whose proven rate is lowest.
fn given_size(target: &Target, items: u64, rate: Option<Rate>, bits: u64) -> Result<Plan> {
    // If the standard planner returns an error, it also applies to this scheme.
    Plan::new(&standard(target))?;
    let (probes, reachable) = lowest(target, bits, items)?;
    if let Some(asked) = rate
        && reachable >= asked.to_f64()
    {
        return Err(Error::OutOfReach { asked, items, bits, probes, reachable, is_impossible: false });
    }
    finish(target, bits, probes, items)
}

/// The number of probes whose proven rate at a size is lowest, and that rate.
fn lowest(target: &Target, bits: u64, items: u64) -> Result<(u32, f64)> {
    let likely = likely_probes(target, bits, items)?;
    let mut best = (likely, f64::INFINITY);
    walk(choice(target)?, likely, |probes| {
        if !is_possible(target, bits, probes) {
            return Ok((f64::NAN, false));
        }
        let promised = promised(target, target.scheme, bits, items, probes)?;
        let is_better = promised < best.1;
        if is_better {
            best = (probes, promised);
        }
        Ok((promised, is_better))
    })?;
    Ok(best)
}

/// The proven rate of a size, including equal hashes, which decides every answer in this module. It
/// is 1 if nothing is proven.
fn promised(target: &Target, scheme: SchemeId, bits: u64, items: u64, probes: u32) -> Result<f64> {
    let mut fpr = proven(scheme, bits, items, probes)?;
    fpr.add_above(crate::law::hash_floor(items, target.hash_bits));
    Ok(fpr.upper)
}

/// The proven rate of the positions. For large sizes, it comes from a bracket, which is much faster
/// than the exact sum. For small sizes, where the bracket is wide, it comes from the exact sum.
fn proven(scheme: SchemeId, bits: u64, items: u64, probes: u32) -> Result<Fpr> {
    if bits > SMALL
        && let Some(law) = scheme.double(bits, probes)?
        && let Some(fpr) = law.bracket(items)?
    {
        return Ok(fpr);
    }
    match scheme.law(bits, probes)?.proven(items) {
        Err(error) if error.is_cost() => Ok(Fpr::ONE),
        found => Ok(found?.unwrap_or(Fpr::ONE)),
    }
}

/// Whether a size is proven to keep a rate.
fn meets(target: &Target, scheme: SchemeId, (bits, items, probes): (u64, u64, u32), rate: &Rate) -> Result<bool> {
    Ok(promised(target, scheme, bits, items, probes)? < rate.to_f64())
}

/// The numbers of probes to choose from.
fn choice(target: &Target) -> Result<core::ops::RangeInclusive<u32>> {
    match target.probes {
        Some(probes) if probes > MOST_PROBES => out_of_range("probes", probes, format!("at most {MOST_PROBES} for {}", target.scheme)),
        probes => Ok(probes.map_or(1..=MOST_PROBES, |probes| probes..=probes)),
    }
}

/// The same question for the standard scheme.
fn standard(target: &Target) -> Target {
    Target { scheme: SchemeId::Standard, ..target.clone() }
}

fn finish(target: &Target, bits: u64, probes: u32, items: u64) -> Result<Plan> {
    let law = target.scheme.law(bits, probes)?;
    let proven = proven(target.scheme, bits, items, probes)?;
    // Uses a narrower bracket than the one that accepted the size, if there is one. For schemes
    // with offsets, the exact rate is not computed, because it would enumerate all queries.
    let is_cheap = proven.method == Method::Exact || !matches!(target.scheme, SchemeId::Square | SchemeId::Cube | SchemeId::Enhanced);
    let better = match target.rate {
        Some(_) if is_cheap => law.proven(items),
        Some(_) => Ok(None),
        None => law.fpr(items).map(Some),
    };
    let fpr = match better {
        Ok(Some(fpr)) if fpr.upper <= proven.upper => fpr,
        Err(error) if !error.is_cost() => return Err(error),
        _ => proven,
    };
    Ok(Plan::of(target, target.scheme, bits, probes, items, fpr, None))
}

/// The question for the smallest number of bits for items at a rate.
#[derive(Clone, Copy)]
struct Question<'a> {
    target: &'a Target,
    scheme: SchemeId,
    items: u64,
    rate: Rate,
}

impl Question<'_> {
    fn new(target: &Target, items: u64, rate: Rate) -> Question<'_> {
        Question { target, scheme: target.scheme, items, rate }
    }
}

/// The first-order rate at any size, for one number of probes.
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
    least_by(question.target, |probes| Ok(Prediction::new(question.scheme, probes)?.bits(question, probes, cap) as f64))
}

/// The number of probes for which the predicted rate of a size is lowest. Numbers above
/// [`FEW_PROBES`] are left out, because proofs for many probes are weak and slow.
fn likely_probes(target: &Target, bits: u64, items: u64) -> Result<u32> {
    least_by(target, |probes| {
        let is_possible = target.probes.is_some() || probes <= FEW_PROBES && is_possible(target, bits, probes);
        Ok(if is_possible { Prediction::new(target.scheme, probes)?.rate(bits as f64, items as f64, probes) } else { f64::INFINITY })
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

/// The sizes that plans choose from: the first prime from `bits` on, multiplied by the probes if
/// there are slices.
fn size_from(question: &Question<'_>, bits: u64, probes: u32) -> Option<u64> {
    match question.scheme {
        SchemeId::PartitionDouble => next_prime(bits.div_ceil(u64::from(probes)).max(u64::from(probes)))?.checked_mul(u64::from(probes)),
        // The size has more bits than probes, so that a query's positions can all be distinct.
        _ => next_prime(bits.max(u64::from(probes) + 1)),
    }
}

/// The largest of these sizes up to a limit.
fn size_below(question: &Question<'_>, limit: u64, probes: u32) -> Option<u64> {
    let unit = if question.scheme == SchemeId::PartitionDouble { u64::from(probes) } else { 1 };
    let least = if unit > 1 { unit } else { u64::from(probes) + 1 };
    let prime = (least..=limit / unit).rev().find(|size| is_prime(*size))?;
    Some(prime * unit)
}

/// The first size that is proven to meet the rate, from the predicted one on.
fn proven_size(question: &Question<'_>, probes: u32, cap: u64) -> Result<Option<u64>> {
    let bits = Prediction::new(question.scheme, probes)?.bits(question, probes, cap);
    let meets = |bits: u64| meets(question.target, question.scheme, (bits, question.items, probes), &question.rate);
    let within = |bits: u64| size_from(question, bits, probes).filter(|size| *size <= cap);
    let mut start = bits;
    // Goes down if the prediction is far too high.
    while let Some(less) = size_below(question, start - start / 128, probes).filter(|less| *less < start)
        && meets(less)?
    {
        start = less;
    }
    let (mut failed, mut step) = (None, bits / 4096 + 1);
    let mut size = within(start);
    while let Some(found) = size {
        if meets(found)? {
            break;
        }
        failed = Some(found);
        size = within(found.saturating_add(step));
        step = step.saturating_mul(2);
    }
    // The last step may have gone beyond the cap.
    let last = if failed.is_some() && size.is_none() { size_below(question, cap, probes) } else { None };
    if let Some(last) = last
        && failed.is_some_and(|failed| failed < last)
        && meets(last)?
    {
        size = Some(last);
    }
    let (Some(mut found), Some(mut below)) = (size, failed) else { return Ok(size) };
    // Bisects between the size found and the last that failed.
    while found - below > found / 4096 {
        let Some(middle) = within(below + (found - below) / 2).filter(|middle| *middle < found) else { break };
        if meets(middle)? { found = middle } else { below = middle }
    }
    Ok(Some(found))
}

fn refuse(question: &Question<'_>, standard: &Plan, cap: u64, reachable: f64) -> Result<Plan> {
    let can = |scheme: &SchemeId| {
        let tried = Question { scheme: *scheme, ..*question };
        smallest(&tried, cap).is_ok_and(|found| found.is_ok())
    };
    let better = [SchemeId::DoubleNonzero, SchemeId::Cube].into_iter().filter(|scheme| *scheme != question.scheme).find(can);
    let alternative = match better {
        Some(scheme) => format!("{scheme} reaches it within these bits, and so does standard with {}", standard.bits),
        None => format!("standard reaches it with {} bits and {} probes", standard.bits, standard.probes),
    };
    Err(Error::SchemeOutOfReach {
        scheme: question.scheme.name(),
        asked: question.rate,
        items: question.items,
        allowed: cap,
        reachable,
        alternative,
    })
}
