//! Plans: the smallest filter that is proven to keep a rate, whatever its scheme and layout.

mod blocked;
#[cfg(feature = "study")]
pub mod certificate;
mod guarantee;
mod look;
mod spread;
mod target;
mod textbook;
mod transmit;
#[cfg(feature = "two-hash")]
mod two_hash;

use alloc::boxed::Box;
use alloc::vec::Vec;
pub use blocked::MAX_BLOCKED_PROBES;
pub use target::{Promise, Target};
pub use textbook::Textbook;
pub use transmit::entropy_bits;

use crate::error::out_of_range;
use crate::exact::work;
use crate::law::{Floor, Law, hash_floor};
use crate::one_filter::quantile::RateQuantile;
use crate::{Fpr, Layout, Rate, Result, SchemeId};

/// A filter whose rate is proven. [`Plan::new`] makes it; every constructor of the filter crate
/// takes it, any number of times.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// How a hash becomes positions.
    pub scheme: SchemeId,
    /// Number of bits m.
    pub bits: u64,
    /// Probes k per item.
    pub probes: u32,
    /// The number of distinct items n that the rate is for: the items asked for, or the most that
    /// the bits hold at the rate.
    pub items: u64,
    /// The rate asked for, if one was.
    pub rate: Option<Rate>,
    /// The expected rate at `items`, with the floor of equal hashes in its upper end. Its upper end
    /// is at most the rate asked for.
    pub fpr: Fpr,
    /// For [`Promise::OneFilter`]: the rate that the one filter keeps with that probability, with
    /// the floor of equal hashes in its upper end, which is at most the rate asked for. Proven from
    /// bounds of the tails, not assumed normal.
    pub guarantee: Option<RateQuantile>,
    /// What equal hashes add at most: `items / 2^hash_bits`.
    pub hash_floor: f64,
    /// The target, for the comparison with the textbook.
    pub(crate) target: Target,
}

impl Plan {
    /// Finds what the target leaves open: the fewest bits that keep the rate, or the most items, or
    /// the rate of a size; always with the best probes unless they are given.
    ///
    /// What is proven: that the plan keeps the rate, on average and, unless the mean alone is asked
    /// for, in the one filter with the confidence of the target. For [`Promise::Mean`] that no
    /// smaller size does is proven too for independent positions (one bit less) and for blocks (one
    /// block less). With a guarantee it is the smallest *found*: the probability is not monotone in
    /// the bits (whole bits round the rate). Schemes of two hashes take the smallest size found as
    /// well.
    ///
    /// # Errors
    /// Too little given ([`Error::Underdetermined`](crate::Error::Underdetermined)); a guarantee
    /// asked for a scheme of two hashes ([`Error::NoGuarantee`](crate::Error::NoGuarantee)); a rate
    /// below the hash floor, above the memory cap or out of reach of the given bits, each with the
    /// smallest rate that can be reached; parameters out of range.
    pub fn new(target: &Target) -> Result<Plan> {
        let _work = work::begin();
        target.check()?;
        match (target.scheme, target.layout) {
            (SchemeId::Blocked, _) | (SchemeId::Standard, Layout::Lines) => blocked::plan(target),
            (SchemeId::Standard, Layout::Auto) => Plan::auto(target),
            (scheme, _) if scheme.variant().is_some() => spread::plan(target),
            #[cfg(feature = "two-hash")]
            (scheme, _) if scheme.layout() == Layout::Spread => two_hash::plan(target),
            #[cfg(not(feature = "two-hash"))]
            (scheme, _) if scheme.layout() == Layout::Spread => out_of_range("scheme", scheme, crate::law::registry::LEFT_OUT),
            (scheme, _) => out_of_range("scheme", scheme, "one that plans are made for"),
        }
    }

    /// The blocked plan if it is worth its bits, otherwise the standard one. An error of the
    /// blocked planner means that no blocked filter does.
    fn auto(target: &Target) -> Result<Plan> {
        let spread = spread::plan(target)?;
        let in_lines = blocked::plan(target).ok().filter(|plan| plan.is_worth_it(&spread));
        Ok(in_lines.unwrap_or(spread))
    }

    /// The law of the plan's filter.
    ///
    /// # Errors
    /// As [`SchemeId::law`]; never for the bits and probes of a plan.
    pub fn law(&self) -> Result<Box<dyn Law>> {
        self.scheme.law(self.bits, self.probes)
    }

    /// Where the positions lie: never [`Layout::Auto`].
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.scheme.layout()
    }

    /// What equal hashes and, for schemes of two hashes, correlated positions add to the rate at
    /// this size.
    ///
    /// # Errors
    /// As for [`law`](Self::law).
    pub fn floors(&self) -> Result<Vec<Floor>> {
        let _work = work::begin();
        Ok(self.law()?.floors(self.items, self.target.hash_bits))
    }

    /// What the textbook's formulas would have given for the same question, and the rate that they
    /// would really have.
    ///
    /// # Errors
    /// The exact rate of the textbook's size takes too much work.
    pub fn textbook(&self) -> Result<Textbook> {
        let _work = work::begin();
        Textbook::new(&self.target, self)
    }

    /// The memory the bits take, in bytes, rounded up to whole 64-bit words.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits.div_ceil(64) * 8
    }

    /// Whether the speed of one line per query is worth the bits of this blocked plan: they are at
    /// most a tenth more than those of the standard plan for the same question. What
    /// [`Layout::Auto`] goes by.
    #[must_use]
    pub fn is_worth_it(&self, standard: &Plan) -> bool {
        let tenths = |bits: u64, factor: u128| u128::from(bits) * factor;
        tenths(self.bits, 10) * u128::from(standard.items) <= tenths(standard.bits, 11) * u128::from(self.items)
    }

    /// The plan of a size that was found before, with its rates proven anew. An error if it does
    /// not keep the target.
    #[cfg(feature = "serde")]
    pub(crate) fn of_size(scheme: SchemeId, bits: u64, probes: u32, items: u64, target: Target) -> Result<Plan> {
        let given = Target { scheme, layout: Layout::Spread, ..target.clone() }.bits(bits).probes(probes).items(items);
        Ok(Plan { target, ..Plan::new(&given)? })
    }

    /// Of a size that was decided to keep the rate: its expected rate with equal hashes in it.
    fn of(target: &Target, scheme: SchemeId, bits: u64, probes: u32, items: u64, mut fpr: Fpr, guarantee: Option<RateQuantile>) -> Plan {
        let hash_floor = hash_floor(items, target.hash_bits);
        fpr.add_above(hash_floor);
        // Decided in whole numbers, and rounding outward must not contradict it.
        if let Some(rate) = target.rate {
            fpr.cap(&rate);
        }
        Plan { scheme, bits, probes, items, rate: target.rate, fpr, guarantee, hash_floor, target: target.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_whole_words() {
        for items in [1, 9, 100, 1_000, 12_345] {
            let plan = Plan::new(&Target::new().items(items).rate("1%".parse().expect("a rate")).mean()).expect("in range");
            let bytes = plan.bytes();
            assert!(bytes.is_multiple_of(8) && 8 * bytes >= plan.bits && 8 * bytes - plan.bits < 64, "{} bits, {bytes} bytes", plan.bits);
        }
    }
}
