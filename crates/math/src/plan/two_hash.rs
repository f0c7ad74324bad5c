//! Plans for schemes of two hashes: a size that is proven to meet a rate, or an error that says
//! what can.

use super::Plan;
use super::target::{Ask, Target};
use crate::error::out_of_range;
use crate::exact::bisect::bisect_sizes;
use crate::exact::modular::next_prime;
use crate::law::convergence::{LARGE_PRIME, constant, limit_rate, partition_constant};
use crate::law::double::Shape;
use crate::{Error, Fpr, MAX_BITS, Rate, Result, SchemeId};
use alloc::format;

/// Without a memory cap, a scheme may need at most this many times the bits of the standard filter.
const MOST_TIMES_STANDARD: u64 = 4;

/// The largest number of probes in plans for schemes of two hashes.
const MOST_PROBES: u32 = 64;

pub(super) fn plan(target: &Target) -> Result<Plan> {
    match target.ask()? {
        Ask::FewestBits { items, rate } => fewest_bits(&Question::new(target, items, rate)),
        Ask::MostItems { rate, bits } => most_items(target, rate, bits),
        Ask::GivenSize { items, rate, bits } => given_size(target, items, rate, bits),
    }
}

/// A size whose rate is proven to be at most the rate asked for: the upper end of the bracket,
/// including equal hashes, is compared.
///
/// It is not the smallest such size. The rate of these schemes is not monotone in the bits (a size
/// with small divisors has short orders, and the next size has none). So only primes, for which it
/// nearly is, are tried, from the first-order prediction upwards. Takes at most some seconds.
///
/// Errors: those of the standard planner for the same rate, because no scheme needs less than equal
/// hashes allow; and [`Error::SchemeOutOfReach`] if no size up to the cap is proven to meet the
/// rate, with the proven rate of the largest size and a scheme that meets the one asked for.
fn fewest_bits(question: &Question<'_>) -> Result<Plan> {
    let target = question.target;
    let standard = Plan::new(&Target { max_bits: None, ..standard(target) })?;
    if let Some(probes) = target.probes.filter(|probes| *probes > MOST_PROBES) {
        return out_of_range("probes", probes, format!("at most {MOST_PROBES} for {}", target.scheme));
    }
    let cap = target.max_bits.unwrap_or(standard.bits.saturating_mul(MOST_TIMES_STANDARD)).min(MAX_BITS);
    let Some((bits, probes)) = predicted(question, standard.probes, cap)? else { return refuse(question, &standard, cap) };
    match proven_size(question, bits, probes, cap)? {
        Some(bits) => finish(target, bits, probes, question.items),
        None => refuse(question, &standard, cap),
    }
}

/// Uses the probes of the standard filter, and as many items as it holds if that is also proven
/// here; otherwise fewer items.
fn most_items(target: &Target, rate: Rate, bits: u64) -> Result<Plan> {
    let standard = Plan::new(&standard(target))?;
    let law = target.scheme.law(bits, standard.probes)?;
    let meets = |items: u64| law.meets(items, &rate, target.hash_bits);
    let (mut most, mut step) = (standard.items, standard.items / 4096 + 1);
    while most > 0 && !meets(most)? {
        (most, step) = (most.saturating_sub(step), step.saturating_mul(2));
    }
    if most == 0 {
        return Err(Error::OutOfReach {
            asked: rate,
            items: 1,
            bits,
            probes: standard.probes,
            reachable: law.fpr(1)?.upper,
            is_impossible: false,
        });
    }
    finish(target, bits, standard.probes, most)
}

/// Uses the probes of the standard filter, and the scheme's own rate with them.
fn given_size(target: &Target, items: u64, rate: Option<Rate>, bits: u64) -> Result<Plan> {
    let probes = Plan::new(&standard(target))?.probes;
    let law = target.scheme.law(bits, probes)?;
    if let Some(asked) = rate
        && !law.meets(items, &asked, target.hash_bits)?
    {
        let mut fpr = law.proven(items)?.unwrap_or(Fpr::ONE);
        fpr.add_above(crate::law::hash_floor(items, target.hash_bits));
        return Err(Error::OutOfReach { asked, items, bits, probes, reachable: fpr.upper, is_impossible: false });
    }
    finish(target, bits, probes, items)
}

/// The same question for the standard scheme.
fn standard(target: &Target) -> Target {
    Target { scheme: SchemeId::Standard, ..target.clone() }
}

fn finish(target: &Target, bits: u64, probes: u32, items: u64) -> Result<Plan> {
    let law = target.scheme.law(bits, probes)?;
    // A bracket or better where a rate was asked for: the size was accepted on it.
    let fpr = match target.rate {
        Some(_) => law.proven(items)?.unwrap_or(Fpr::ONE),
        None => law.fpr(items)?,
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

    /// The smallest number of bits that meets the rate according to the prediction, which decreases
    /// with the bits in its range of validity.
    fn bits(&self, question: &Question<'_>, probes: u32, cap: u64) -> Option<u64> {
        let (items, aim) = (question.items as f64, question.rate.to_f64());
        if self.rate(cap as f64, items, probes) > aim {
            return None;
        }
        let (_, enough) = bisect_sizes(1.0, cap as f64, |bits| self.rate(bits, items, probes) <= aim);
        Some(enough as u64)
    }
}

/// The bits and probes of the smallest size according to the first-order prediction; `None` if it
/// exceeds the cap for all probes.
fn predicted(question: &Question<'_>, standard_probes: u32, cap: u64) -> Result<Option<(u64, u32)>> {
    let most = standard_probes.saturating_add(2).min(MOST_PROBES);
    let range = question.target.probes.map_or(1..=most, |probes| probes..=probes);
    let mut best: Option<(u64, u32)> = None;
    for probes in range.rev() {
        if let Some(bits) = Prediction::new(question.scheme, probes)?.bits(question, probes, cap)
            && best.is_none_or(|(least, _)| bits < least)
        {
            best = Some((bits, probes));
        }
    }
    Ok(best)
}

/// The sizes that plans choose from: the first prime from `bits` on, times the probes for slices.
fn size_from(question: &Question<'_>, bits: u64, probes: u32) -> Option<u64> {
    match question.scheme {
        SchemeId::PartitionDouble => next_prime(bits.div_ceil(u64::from(probes)).max(u64::from(probes)))?.checked_mul(u64::from(probes)),
        // More bits than probes, so that no query is short of positions but by chance.
        _ => next_prime(bits.max(u64::from(probes) + 1)),
    }
}

fn proven_size(question: &Question<'_>, bits: u64, probes: u32, cap: u64) -> Result<Option<u64>> {
    let meets = |bits: u64| question.scheme.law(bits, probes)?.meets(question.items, &question.rate, question.target.hash_bits);
    let within = |bits: u64| size_from(question, bits, probes).filter(|size| *size <= cap);
    let (mut failed, mut step) = (None, bits / 4096 + 1);
    let mut size = within(bits);
    while let Some(found) = size {
        if meets(found)? {
            break;
        }
        failed = Some(found);
        size = within(found.saturating_add(step));
        step = step.saturating_mul(2);
    }
    let (Some(mut found), Some(mut below)) = (size, failed) else { return Ok(size) };
    // Back towards the last that failed, a few times.
    for _ in 0..8 {
        let Some(middle) = within(below + (found - below) / 2).filter(|middle| *middle < found) else { break };
        if meets(middle)? { found = middle } else { below = middle }
    }
    Ok(Some(found))
}

fn refuse(question: &Question<'_>, standard: &Plan, cap: u64) -> Result<Plan> {
    let probes = question.target.probes.unwrap_or(standard.probes).min(MOST_PROBES);
    // The largest size that has an answer at all says what is possible.
    let largest = size_from(question, cap - cap / 64, probes).filter(|size| *size <= cap);
    let law = largest.map(|bits| question.scheme.law(bits, probes)).transpose()?;
    let mut fpr = law.map_or(Ok(None), |law| law.proven(question.items))?.unwrap_or(Fpr::ONE);
    fpr.add_above(crate::law::hash_floor(question.items, question.target.hash_bits));
    let can = |scheme: &SchemeId| {
        let tried = Question { scheme: *scheme, ..*question };
        let shape = predicted(&tried, standard.probes, cap).ok().flatten();
        shape.is_some_and(|(bits, probes)| proven_size(&tried, bits, probes, cap).is_ok_and(|found| found.is_some()))
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
        reachable: fpr.upper,
        alternative,
    })
}
