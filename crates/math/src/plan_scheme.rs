//! Plans for schemes of two hashes: a size that is proven to meet a rate, or a refusal that says what can.

use crate::convergence::{LARGE_PRIME, constant, limit_rate, partition_constant};
use crate::error::{check_probes, out_of_range};
use crate::law::double::Shape;
use crate::law::double::modular::next_prime;
use crate::law::{Floor, Hashing};
use crate::{Error, Fpr, MAX_BITS, Plan, Rate, Result, Target, Variant};

/// A filter of a scheme whose expected rate is proven.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SchemePlan {
    /// The scheme.
    pub scheme: Hashing,
    /// Number of bits m; prime for double hashing, so many probes times a prime for the partition scheme.
    pub bits: u64,
    /// Probes k of an item.
    pub probes: u32,
    /// The number of distinct items.
    pub items: u64,
    /// The rate asked for.
    pub rate: Rate,
    /// The expected rate, with the floor of equal hashes in its upper end, which is at most the rate asked for.
    pub fpr: Fpr,
    /// What correlated positions and equal hashes add at this size.
    pub floors: Vec<Floor>,
    /// Bits of the standard filter for the same rate.
    pub standard_bits: u64,
}

/// What is asked of a scheme.
#[derive(Clone, Debug)]
pub struct SchemeTarget {
    /// The scheme.
    pub scheme: Hashing,
    /// The number of distinct items.
    pub items: u64,
    /// The expected rate asked for.
    pub rate: Rate,
    /// Probes, if they are given.
    pub probes: Option<u32>,
    /// The most bits; by default four times those of the standard filter.
    pub max_bits: Option<u64>,
    /// Width of the hash of a key.
    pub hash_bits: u32,
}

/// Without a cap of its own, a scheme may take so many times the bits of the standard filter.
const MOST_TIMES_STANDARD: u64 = 4;

impl SchemePlan {
    /// A size whose rate is proven to be at most the rate asked for: accepted on the upper end of the bracket, with equal hashes counted.
    ///
    /// Not the smallest such size. The rate of these schemes is not monotone in the bits (a size with small divisors has short orders, the next has none), so sizes are taken
    /// prime, where it nearly is, from the first-order prediction upwards. Some seconds at the most.
    ///
    /// Errors: what [`Plan::new`] says of the standard filter for the same rate, since no scheme needs less than equal hashes allow; [`Error::SchemeOutOfReach`] when no size
    /// up to the cap is proven to do, with the rate that the largest is proven to have and a scheme that meets the one asked for.
    pub fn new(target: &SchemeTarget) -> Result<SchemePlan> {
        if let Some(probes) = target.probes {
            check_probes(probes)?;
        }
        let variant = Variant::ALL.into_iter().find(|variant| variant.name() == target.scheme.name());
        let standard = standard_plan(target, variant.unwrap_or(Variant::Standard))?;
        if variant.is_some() {
            return finish(target, standard.bits, standard.probes, standard.bits);
        }
        if target.probes.is_some_and(|probes| probes > MOST_PROBES) {
            return out_of_range("probes", target.probes.unwrap_or_default(), format!("at most {MOST_PROBES} for {}", target.scheme));
        }
        let cap = target.max_bits.unwrap_or(standard.bits.saturating_mul(MOST_TIMES_STANDARD)).min(MAX_BITS);
        let Some((bits, probes)) = predicted(target, standard.probes, cap)? else { return refuse(target, &standard, cap) };
        match proven_size(target, bits, probes, cap)? {
            Some(bits) => finish(target, bits, probes, standard.bits),
            None => refuse(target, &standard, cap),
        }
    }
}

/// Laws of two hashes are planned with so many probes.
const MOST_PROBES: u32 = 64;

fn standard_plan(target: &SchemeTarget, variant: Variant) -> Result<Plan> {
    Plan::new(&Target {
        items: Some(target.items),
        rate: Some(target.rate),
        probes: target.probes,
        hash_bits: target.hash_bits,
        variant,
        ..Target::default()
    })
}

fn finish(target: &SchemeTarget, bits: u64, probes: u32, standard_bits: u64) -> Result<SchemePlan> {
    let law = target.scheme.law(bits, probes)?;
    // A bracket or better: the size was accepted on it.
    let mut fpr = law.proven(target.items)?.unwrap_or(Fpr::ONE);
    fpr.add_above(crate::law::hash_floor(target.items, target.hash_bits));
    fpr.cap(&target.rate);
    let floors = law.floors(target.items, target.hash_bits);
    Ok(SchemePlan { scheme: target.scheme, bits, probes, items: target.items, rate: target.rate, fpr, floors, standard_bits })
}

/// The first-order rate at any size, for one number of probes.
enum Prediction {
    Slices,
    Array(Shape),
}

impl Prediction {
    fn new(scheme: Hashing, probes: u32) -> Result<Prediction> {
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

    /// The fewest bits that meet the rate by the prediction, which falls with the bits where it means anything.
    fn bits(&self, target: &SchemeTarget, probes: u32, cap: u64) -> Option<u64> {
        let (items, aim) = (target.items as f64, target.rate.to_f64());
        if self.rate(cap as f64, items, probes) > aim {
            return None;
        }
        let (mut low, mut high) = (1f64, cap as f64);
        while high - low > 0.5 && high / low > 1.0 + 1e-12 {
            let middle = low + (high - low) / 2.0;
            if self.rate(middle, items, probes) > aim { low = middle } else { high = middle }
        }
        Some(high as u64)
    }
}

/// Bits and probes of the smallest size by the first-order prediction; none where all probes exceed the cap.
fn predicted(target: &SchemeTarget, standard_probes: u32, cap: u64) -> Result<Option<(u64, u32)>> {
    let most = standard_probes.saturating_add(2).min(MOST_PROBES);
    let range = target.probes.map_or(1..=most, |probes| probes..=probes);
    let mut best: Option<(u64, u32)> = None;
    for probes in range.rev() {
        if let Some(bits) = Prediction::new(target.scheme, probes)?.bits(target, probes, cap)
            && best.is_none_or(|(least, _)| bits < least)
        {
            best = Some((bits, probes));
        }
    }
    Ok(best)
}

/// The sizes that plans choose from: the first prime from there on, times the probes for slices.
fn size_from(target: &SchemeTarget, bits: u64, probes: u32) -> Option<u64> {
    match target.scheme {
        Hashing::PartitionDouble => next_prime(bits.div_ceil(u64::from(probes)).max(u64::from(probes)))?.checked_mul(u64::from(probes)),
        // More bits than probes, so that no query is short of positions but by chance.
        _ => next_prime(bits.max(u64::from(probes) + 1)),
    }
}

fn proven_size(target: &SchemeTarget, bits: u64, probes: u32, cap: u64) -> Result<Option<u64>> {
    let meets = |bits: u64| target.scheme.law(bits, probes)?.meets(target.items, &target.rate, target.hash_bits);
    let within = |bits: u64| size_from(target, bits, probes).filter(|size| *size <= cap);
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

fn refuse(target: &SchemeTarget, standard: &Plan, cap: u64) -> Result<SchemePlan> {
    let probes = target.probes.unwrap_or(standard.probes).min(MOST_PROBES);
    // The largest size that can be answered at all says what can be had.
    let largest = size_from(target, cap - cap / 64, probes).filter(|size| *size <= cap);
    let law = largest.map(|bits| target.scheme.law(bits, probes)).transpose()?;
    let mut fpr = law.map_or(Ok(None), |law| law.proven(target.items))?.unwrap_or(Fpr::ONE);
    fpr.add_above(crate::law::hash_floor(target.items, target.hash_bits));
    let can = |scheme: &Hashing| {
        let tried = SchemeTarget { scheme: *scheme, max_bits: Some(cap), ..target.clone() };
        let shape = predicted(&tried, standard.probes, cap).ok().flatten();
        shape.is_some_and(|(bits, probes)| proven_size(&tried, bits, probes, cap).is_ok_and(|found| found.is_some()))
    };
    let better = [Hashing::DoubleNonzero, Hashing::Cube].into_iter().filter(|scheme| *scheme != target.scheme).find(can);
    let alternative = match better {
        Some(scheme) => format!("{scheme} does within these bits, or standard with {}", standard.bits),
        None => format!("standard does with {} bits and {} probes", standard.bits, standard.probes),
    };
    Err(Error::SchemeOutOfReach {
        scheme: target.scheme.name(),
        asked: target.rate,
        items: target.items,
        allowed: cap,
        reachable: fpr.upper,
        alternative,
    })
}
