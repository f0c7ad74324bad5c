//! Proven rates of two-hash schemes. Every answer of the planner is based on them.
//!
//! The proven rate of a size depends only on the size. In particular, it does not depend on what
//! the search computed before, because each rate has its own limit on the work. So no two answers
//! contradict each other.

use super::super::target::Target;
use crate::exact::enclosure::Enclose;
use crate::exact::work;
use crate::law::double::powers::Powers;
use crate::law::hash_floor;
use crate::{Fpr, Result};
use alloc::collections::BTreeMap;
use core::cell::RefCell;

/// The largest number of bits for which the exact rate is summed. For such small filters, brackets
/// would be wide.
const SMALL: u64 = 1_000;

/// The largest number of steps for one rate. They take about a third of a second.
const STEPS: u32 = 200_000_000;

/// The number of steps for the bracket of a larger size. A search computes up to a hundred such
/// brackets, which together take a few seconds. Some composite sizes need more steps; their
/// brackets are computed in a faster way and are wider.
const BRACKET_STEPS: u32 = 20_000_000;

/// The proven rates of a scheme. The terms of exact sums are kept, because they do not depend on
/// the number of items.
pub(super) struct Proofs<'a> {
    pub(super) target: &'a Target,
    sums: RefCell<BTreeMap<(u64, u32), Option<Powers>>>,
}

impl<'a> Proofs<'a> {
    pub(super) fn new(target: &'a Target) -> Proofs<'a> {
        Proofs { target, sums: RefCell::default() }
    }

    /// The proven rate of a size, including the bound on equal hashes; 1 if nothing is proven.
    pub(super) fn promised(&self, bits: u64, items: u64, probes: u32) -> Result<f64> {
        let mut fpr = self.proven(bits, items, probes)?;
        fpr.add_above(hash_floor(items, self.target.hash_bits));
        Ok(fpr.upper)
    }

    /// The rate of a size. It is exact for small sizes. Otherwise it is a bracket, which takes much
    /// less time than the exact sum.
    pub(super) fn proven(&self, bits: u64, items: u64, probes: u32) -> Result<Fpr> {
        let Some(law) = self.target.scheme.double(bits, probes)? else {
            return Ok(affordable(self.law(bits, items, probes))?.unwrap_or(Fpr::bound(0.0, 1.0)));
        };
        if bits <= SMALL
            && let Some(fpr) = self.exact(bits, items, probes)?
        {
            return Ok(fpr);
        }
        let fpr = match affordable(work::alone(BRACKET_STEPS, || law.bracket(items)))? {
            None => affordable(work::alone(u32::MAX, || law.bracket_of_averages(items)))?,
            found => found,
        };
        Ok(fpr.unwrap_or(Fpr::bound(0.0, 1.0)))
    }

    fn law(&self, bits: u64, items: u64, probes: u32) -> Result<Option<Fpr>> {
        let law = self.target.scheme.law(bits, probes)?;
        work::alone(STEPS, || law.proven(items))
    }

    fn exact(&self, bits: u64, items: u64, probes: u32) -> Result<Option<Fpr>> {
        let Some(law) = self.target.scheme.double(bits, probes)? else { return Ok(None) };
        let mut sums = self.sums.borrow_mut();
        let sum = match sums.get(&(bits, probes)) {
            Some(known) => known,
            None => {
                let sum = work::alone(STEPS, || law.sum(items));
                sums.entry((bits, probes)).or_insert(sum)
            }
        };
        let Some(sum) = sum else { return Ok(None) };
        affordable(work::alone(STEPS, || sum.with_items(items).fpr()).map(Some))
    }
}

/// Turns the error of a computation that would take too long into `None`.
fn affordable(found: Result<Option<Fpr>>) -> Result<Option<Fpr>> {
    match found {
        Err(error) if error.is_cost() => Ok(None),
        found => found,
    }
}
