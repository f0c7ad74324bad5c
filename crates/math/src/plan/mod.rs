//! Plans: the smallest filter whose rate is proven to be at most the requested one, for every
//! scheme and layout.

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
mod walk;

use alloc::boxed::Box;
use alloc::vec::Vec;
pub use blocked::MAX_BLOCKED_PROBES;
pub use target::{Promise, Target};
pub use textbook::Textbook;
pub use transmit::entropy_bits;

use target::Ask;

use crate::error::out_of_range;
use crate::exact::work;
use crate::law::{Floor, Law, hash_floor};
use crate::one_filter::quantile::RateQuantile;
use crate::{Fpr, Layout, Rate, Result, SchemeId};

/// The size of a filter, with a proven rate. [`Plan::new`] makes a plan. Every constructor of the
/// filter crate accepts it, and it can be used many times.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The scheme: how a hash becomes positions.
    pub scheme: SchemeId,
    /// The number of bits, m.
    pub bits: u64,
    /// The number of probes per item, k.
    pub probes: u32,
    /// The number of distinct items, n, for which the rate holds. It is the number in the target,
    /// or the largest number that the bits can hold at the rate.
    pub items: u64,
    /// The requested rate, if there was one.
    pub rate: Option<Rate>,
    /// The expected rate at `items`; its upper end includes the floor of equal hashes, and is at
    /// most the requested rate.
    pub fpr: Fpr,
    /// For [`Promise::OneFilter`]: the rate that the one filter does not exceed, with the
    /// confidence of the promise. The upper end of its bracket includes the floor of equal hashes,
    /// and is at most the requested rate. The proof uses bounds on the tails and does not assume a
    /// normal distribution.
    pub guarantee: Option<RateQuantile>,
    /// An upper bound on what equal hashes add to the rate: `items / 2^hash_bits`.
    pub hash_floor: f64,
    /// The target, which is needed for the comparison with the textbook.
    pub(crate) target: Target,
}

impl Plan {
    /// Computes what the target leaves open: the smallest number of bits for the rate, the largest
    /// number of items, or the rate of a size. The number of probes is the best unless it is given.
    ///
    /// The average rate is proven to be at most the requested rate. With [`Promise::OneFilter`],
    /// the rate of the one filter is also proven to be at most this rate, with the confidence of
    /// the target. With [`Promise::Mean`], it is also proven that no smaller size is enough: one
    /// bit less for independent positions, one block less for blocks. With a guarantee, the size is
    /// only the smallest that was *found*: the probability is not monotone in the bits, because
    /// rounding to whole bits changes the rate. For schemes of two hashes, the size is also only
    /// the smallest that was found.
    ///
    /// # Errors
    /// Fails if parameters are out of range, if too little is given
    /// ([`Error::Underdetermined`](crate::Error::Underdetermined)), or if a guarantee is requested
    /// for a scheme of two hashes ([`Error::NoGuarantee`](crate::Error::NoGuarantee)). Also fails
    /// if the rate is below the hash floor, needs more than the memory cap, or cannot be reached
    /// with the given bits. The error then has the lowest rate that can be reached.
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

    /// The blocked plan if it is worth its bits ([`Plan::is_worth_it`]), and otherwise the standard
    /// plan. If the blocked planner returns an error, no blocked filter meets the target.
    fn auto(target: &Target) -> Result<Plan> {
        let spread = spread::plan(target)?;
        let in_lines = blocked::plan(target).ok().filter(|plan| plan.is_worth_it(&spread));
        Ok(in_lines.unwrap_or(spread))
    }

    /// Returns the law of the filter that is planned.
    ///
    /// # Errors
    /// Fails as [`SchemeId::law`] does. This cannot happen for the bits and probes of a plan.
    pub fn law(&self) -> Result<Box<dyn Law>> {
        self.scheme.law(self.bits, self.probes)
    }

    /// Returns where a key's positions are. This is never [`Layout::Auto`].
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.scheme.layout()
    }

    /// Returns the amounts that are added to the rate at this size by equal hashes and, for schemes
    /// of two hashes, by correlated positions.
    ///
    /// # Errors
    /// Fails as [`law`](Self::law) does.
    pub fn floors(&self) -> Result<Vec<Floor>> {
        let _work = work::begin();
        Ok(self.law()?.floors(self.items, self.target.hash_bits))
    }

    /// Returns the answer of the textbook formulas to the same question, and the true rate of that
    /// answer.
    ///
    /// # Errors
    /// Fails if computing the exact rate of the textbook's size would take too much work.
    pub fn textbook(&self) -> Result<Textbook> {
        let _work = work::begin();
        Textbook::new(&self.target, self)
    }

    /// Returns the memory of the bits in bytes, rounded up to whole 64-bit words.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits.div_ceil(64) * 8
    }

    /// Returns the bits of a blocked filter divided by the bits of the standard plan, where both
    /// hold the same items at the same rate. If the target gives the bits, this blocked plan has
    /// the same bits as the standard plan, but holds fewer items or has a higher rate. Then the
    /// blocked filter that is compared is one for the items and the rate of the standard plan. The
    /// result is `None` if no such filter is proven to have that rate.
    #[must_use]
    pub fn times_bits(&self, standard: &Plan) -> Option<f64> {
        let _work = work::begin();
        let bits = match self.target.ask() {
            Ok(Ask::MostItems { .. } | Ask::GivenSize { rate: None, .. }) => {
                let rate = self.target.rate.or_else(|| Rate::try_from(standard.promised()).ok())?;
                let target = Target { bits: None, max_bits: None, ..self.target.clone() };
                blocked::plan(&target.items(standard.items).rate(rate)).ok()?.bits
            }
            _ => self.bits,
        };
        Some(bits as f64 / standard.bits as f64)
    }

    /// The rate that is promised: that of one filter, or the average if that is higher.
    fn promised(&self) -> f64 {
        self.guarantee.map_or(self.fpr.upper, |one| one.fpr.upper.max(self.fpr.upper))
    }

    /// Returns whether the speed of one cache line per query is worth the bits of this blocked
    /// plan. The answer is yes if the plan takes at most a tenth more bits than a standard plan
    /// ([`Plan::times_bits`]). [`Layout::Auto`] uses this criterion.
    #[must_use]
    pub fn is_worth_it(&self, standard: &Plan) -> bool {
        self.times_bits(standard).is_some_and(|times| times <= 1.1)
    }

    /// Makes the plan for a size that was found before; its rates are proven again. Returns an
    /// error if the size does not meet the target.
    #[cfg(feature = "serde")]
    pub(crate) fn of_size(scheme: SchemeId, bits: u64, probes: u32, items: u64, target: Target) -> Result<Plan> {
        let given = Target { scheme, layout: Layout::Spread, ..target.clone() }.bits(bits).probes(probes).items(items);
        Ok(Plan { target, ..Plan::new(&given)? })
    }

    /// Makes the plan for a size whose rate is known to be low enough. `fpr` is the expected rate
    /// without equal hashes, which are added here.
    fn of(target: &Target, scheme: SchemeId, bits: u64, probes: u32, items: u64, mut fpr: Fpr, guarantee: Option<RateQuantile>) -> Plan {
        let hash_floor = hash_floor(items, target.hash_bits);
        fpr.add_above(hash_floor);
        // It was decided in whole numbers that the plan keeps the rate. Rounding outward must not
        // contradict that decision.
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
