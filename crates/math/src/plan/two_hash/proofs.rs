//! The proven rate of a size of a two-hash scheme. Every answer of the planner is based on it.
//!
//! The rate depends only on the size. The limit on the work holds for each rate alone, so a rate
//! does not depend on what the search computed before, and no two answers contradict each other.

use super::super::target::Target;
use crate::exact::enclosure::Enclose;
use crate::exact::work;
use crate::law::double::powers::Powers;
use crate::law::hash_floor;
use crate::{Fpr, Method, Result, SchemeId};
use alloc::collections::BTreeMap;
use core::cell::RefCell;

/// Up to this many bits, the exact rate is summed, because brackets of small filters are wide.
const SMALL: u64 = 1_000;

/// The largest number of steps for one rate. They take about a third of a second.
const STEPS: u32 = 200_000_000;

/// The number of steps for the bracket of a larger size. A search computes up to a hundred of them,
/// so that all together take some seconds. Some composite sizes need more; a wider bracket then
/// takes its place.
const BRACKET_STEPS: u32 = 20_000_000;

/// The proven rates of a scheme. The terms of exact sums do not depend on the items, and are kept.
pub(super) struct Proofs<'a> {
    pub(super) target: &'a Target,
    sums: RefCell<BTreeMap<(u64, u32), Option<Powers>>>,
}

impl<'a> Proofs<'a> {
    pub(super) fn new(target: &'a Target) -> Proofs<'a> {
        Proofs { target, sums: RefCell::default() }
    }

    /// The proven rate of a size, including equal hashes; 1 if nothing is proven.
    pub(super) fn promised(&self, bits: u64, items: u64, probes: u32) -> Result<f64> {
        let mut fpr = self.proven(bits, items, probes)?;
        fpr.add_above(hash_floor(items, self.target.hash_bits));
        Ok(fpr.upper)
    }

    /// The rate that a plan reports. If the positions are plain progressions (`h1 + i h2`) and
    /// their exact sum takes little time, it is this sum. Otherwise, it is the bracket that decides
    /// whether a size is accepted.
    pub(super) fn best(&self, bits: u64, items: u64, probes: u32) -> Result<Fpr> {
        let proven = self.proven(bits, items, probes)?;
        if proven.method == Method::Exact || matches!(self.target.scheme, SchemeId::Square | SchemeId::Cube | SchemeId::Enhanced) {
            return Ok(proven);
        }
        let better = affordable(self.law(bits, items, probes))?.filter(|better| better.upper <= proven.upper);
        Ok(better.unwrap_or(proven))
    }

    /// The rate of a size. It is exact for small sizes. Otherwise it is a bracket, which takes much
    /// less time than the exact sum.
    fn proven(&self, bits: u64, items: u64, probes: u32) -> Result<Fpr> {
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

/// Returns `None` if a computation was refused because it would take too long.
fn affordable(found: Result<Option<Fpr>>) -> Result<Option<Fpr>> {
    match found {
        Err(error) if error.is_cost() => Ok(None),
        found => found,
    }
}
