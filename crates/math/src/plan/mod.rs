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

/// A blocked filter counts as worth its additional memory if its number of bits is at most this
/// factor times the number of bits of a standard filter. In return for the additional memory, a
/// query of a blocked filter reads only one cache line.
pub const WORTH_TIMES: f64 = 1.1;

/// The parameters of a filter, such as its number of bits, and the rate that is proven for these
/// parameters. [`Plan::new`] creates a plan. In the crate `truebloom`, the constructors named
/// `from_plan` build filters from a plan. A plan can be used for many filters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The scheme: how a hash becomes positions.
    pub scheme: SchemeId,
    /// The number of bits, m.
    pub bits: u64,
    /// The number of probes per item, k.
    pub probes: u32,
    /// The number of distinct items, n, for which the rate holds. If the target gives a number of
    /// items, `items` is that number. Otherwise, `items` is the largest number of items that the
    /// bits can hold at the requested rate.
    pub items: u64,
    /// The requested rate, or `None` if no rate was requested.
    pub rate: Option<Rate>,
    /// The expected rate of a filter with `items` items. The upper end of this bracket includes
    /// [`hash_floor`](Self::hash_floor), the bound for keys with equal hashes. The upper end is at
    /// most the requested rate.
    pub fpr: Fpr,
    /// For [`Promise::OneFilter`], an upper limit on the rate of the individual filter. If the seed
    /// is random, the rate is at most this limit with the confidence that the target requests. The
    /// limit is proven with tail bounds. The proof does not assume a normal distribution.
    ///
    /// The limit is given as a bracket. The upper end of the bracket includes
    /// [`hash_floor`](Self::hash_floor), the bound for keys with equal hashes. The upper end is at
    /// most the requested rate.
    pub guarantee: Option<RateQuantile>,
    /// An upper bound on the part of the rate that is caused by keys with equal hashes:
    /// `items / 2^hash_bits`.
    pub hash_floor: f64,
    /// The target of the plan, which is needed for the comparison with the textbook.
    pub(crate) target: Target,
}

impl Plan {
    /// Creates the plan for a target. If the target gives items and a rate, this function computes
    /// the smallest number of bits. If the target gives bits and a rate, it computes the largest
    /// number of items. If the target gives items and bits, it computes the rate. If the target
    /// does not give the number of probes, the function uses the best number of probes.
    ///
    /// The average rate is proven to be at most the requested rate. With [`Promise::OneFilter`],
    /// the rate of the individual filter is also proven to be at most the requested rate, with the
    /// requested confidence.
    ///
    /// With [`Promise::Mean`], it is also proven that a filter with one bit less does not meet the
    /// rate. For blocked filters, it is proven that a filter with one block fewer does not meet the
    /// rate. Two-hash schemes, such as double hashing, are an exception: a smaller plan may exist.
    ///
    /// With [`Promise::OneFilter`], a smaller filter may meet the rate, too, because more bits can
    /// lower the probability of meeting it. For example, a standard filter meets the rate if at
    /// most s of its bits are set. Because s is a whole number, one more bit in the filter can
    /// leave s unchanged. The probability then falls.
    ///
    /// # Errors
    /// Fails if a parameter is out of range. Fails with
    /// [`Error::Underdetermined`](crate::Error::Underdetermined) if the target gives fewer than two
    /// of these three: the number of items, the rate, the number of bits. Fails with
    /// [`Error::NoGuarantee`](crate::Error::NoGuarantee) if the target requests a guarantee for a
    /// two-hash scheme.
    ///
    /// Keys with equal hashes add at most `items / 2^hash_bits` to the rate. Fails if the requested
    /// rate is not above this bound. In this case, the error's field `reachable` is the bound.
    ///
    /// Fails if the requested rate needs more memory than the cap allows. Fails if the requested
    /// rate cannot be proven for the given number of bits. In these two cases, the field
    /// `reachable` of the error is a rate that is proven to be possible. An even lower rate may be
    /// possible.
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
            (scheme, _) => out_of_range("scheme", scheme, "a scheme that can be planned"),
        }
    }

    /// Returns the blocked plan if it is worth its additional bits ([`Plan::is_worth_it`]), and
    /// otherwise the standard plan. The result is also the standard plan if the blocked planner
    /// fails, because then no blocked filter is known to meet the target.
    fn auto(target: &Target) -> Result<Plan> {
        let spread = spread::plan(target)?;
        let in_lines = blocked::plan(target).ok().filter(|plan| plan.is_worth_it(&spread));
        Ok(in_lines.unwrap_or(spread))
    }

    /// Returns the law of the planned filter: the formulas for its rate and its number of set bits.
    ///
    /// # Errors
    /// Fails if [`SchemeId::law`] fails. [`SchemeId::law`] never fails for a plan whose fields were
    /// not changed.
    pub fn law(&self) -> Result<Box<dyn Law>> {
        self.scheme.law(self.bits, self.probes)
    }

    /// Returns the layout: whether the positions of a key can be anywhere or are in one block. A
    /// plan never has [`Layout::Auto`].
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.scheme.layout()
    }

    /// Returns the expected rate of the planned filter with another number of items. The upper end
    /// of the bracket includes `items / 2^hash_bits`, the bound for keys with equal hashes. For
    /// two-hash schemes, the result is the same proven bracket that [`new`](Self::new) uses.
    ///
    /// # Errors
    /// Fails as [`Law::fpr`] does.
    pub fn fpr_with(&self, items: u64) -> Result<Fpr> {
        let _work = work::begin();
        let mut fpr = match (self.scheme.variant(), self.scheme.layout()) {
            #[cfg(feature = "two-hash")]
            (None, Layout::Spread) if items > 0 => two_hash::rate_with(self, items)?,
            _ => self.law()?.fpr(items)?,
        };
        fpr.add_above(hash_floor(items, self.target.hash_bits));
        Ok(fpr)
    }

    /// Returns the amount that keys with equal hashes add to the rate of the planned filter. In
    /// two-hash schemes, the positions of a key depend on each other. For these schemes, also
    /// returns the amounts that this dependence adds to the rate.
    ///
    /// # Errors
    /// Fails as [`law`](Self::law) does.
    pub fn floors(&self) -> Result<Vec<Floor>> {
        let _work = work::begin();
        Ok(self.law()?.floors(self.items, self.target.hash_bits))
    }

    /// Returns the filter that the textbook formulas give for the same target, and the expected
    /// rate that this filter really has.
    ///
    /// # Errors
    /// Fails if computing the exact rate of the textbook filter would take too much work.
    pub fn textbook(&self) -> Result<Textbook> {
        let _work = work::begin();
        Textbook::new(&self.target, self)
    }

    /// Returns the memory for the bits, in bytes, rounded up to whole 64-bit words.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits.div_ceil(64) * 8
    }

    /// Returns the number of bits of this blocked filter, divided by the number of bits of a
    /// standard filter for the same number of items and the same rate. `standard` must be the
    /// standard plan for the same target.
    ///
    /// If the target gives the number of bits, `self` and `standard` both have about this number of
    /// bits, so their ratio says nothing. The function then makes two more plans. Neither target
    /// fixes the number of bits:
    ///
    /// - The standard plan has the same items and the same rate as `self`.
    /// - The blocked plan has the same items and the same rate as `standard`.
    ///
    /// If the target also gives items and a rate, the result is the bits of the blocked plan,
    /// divided by the bits of the standard plan. Otherwise, the result is the larger of these two
    /// ratios:
    ///
    /// - the given bits, divided by the bits of the standard plan
    /// - the bits of the blocked plan, divided by the given bits
    ///
    /// The result is `None` if one of the two plans cannot be made. Making both takes as long as
    /// [`Plan::new`] for a blocked filter: a few tens of milliseconds.
    #[must_use]
    pub fn bits_ratio(&self, standard: &Plan) -> Option<f64> {
        let _work = work::begin();
        let ask = self.target.ask();
        let Ok(Ask::MostItems { bits, .. } | Ask::GivenSize { bits, .. }) = ask else {
            return Some(self.bits as f64 / standard.bits as f64);
        };
        // A target with the items and the rate of a plan, but without a number of bits.
        let same = |plan: &Plan| {
            let rate = plan.rate.or_else(|| Rate::try_from(plan.promised()).ok())?;
            Some(Target { bits: None, max_bits: None, ..self.target.clone() }.items(plan.items).rate(rate))
        };
        let spread = spread::plan(&Target { scheme: SchemeId::Standard, ..same(self)? }).ok()?.bits;
        let in_lines = blocked::plan(&same(standard)?).ok()?.bits;
        let [bits, spread, in_lines] = [bits, spread, in_lines].map(|bits| bits as f64);
        // If the target gives both bits and a rate, the filter may have far more bits than the rate
        // needs.
        let is_asked_twice = matches!(ask, Ok(Ask::GivenSize { rate: Some(_), .. }));
        Some(if is_asked_twice { in_lines / spread } else { (bits / spread).max(in_lines / bits) })
    }

    /// Returns the rate that the plan promises: the guaranteed rate of one filter, or the average
    /// rate if there is no guarantee. If the confidence is low, the average rate can be above the
    /// guaranteed rate. The result is then the average rate.
    #[must_use]
    pub fn promised(&self) -> f64 {
        self.guarantee.map_or(self.fpr.upper, |one| one.fpr.upper.max(self.fpr.upper))
    }

    /// Returns true if [`Plan::bits_ratio`] is at most [`WORTH_TIMES`], which is 1.1. In this case,
    /// the planner treats a blocked filter as worth its additional memory. [`Layout::Auto`] uses
    /// this criterion.
    #[must_use]
    pub fn is_worth_it(&self, standard: &Plan) -> bool {
        self.bits_ratio(standard).is_some_and(|times| times <= WORTH_TIMES)
    }

    /// Creates the plan for a size (bits, probes and items) that an earlier plan found, and proves
    /// its rates again. Returns an error if the size does not meet the target.
    #[cfg(feature = "serde")]
    pub(crate) fn of_size(scheme: SchemeId, bits: u64, probes: u32, items: u64, target: Target) -> Result<Plan> {
        let given = Target { scheme, layout: Layout::Spread, ..target.clone() }.bits(bits).probes(probes).items(items);
        Ok(Plan { target, ..Plan::new(&given)? })
    }

    /// Creates the plan for a size whose rate is known to be low enough. `fpr` is the expected rate
    /// without the bound on equal hashes, which this function adds.
    fn of(target: &Target, scheme: SchemeId, bits: u64, probes: u32, items: u64, mut fpr: Fpr, guarantee: Option<RateQuantile>) -> Plan {
        let hash_floor = hash_floor(items, target.hash_bits);
        fpr.add_above(hash_floor);
        // It was decided in whole numbers that the plan meets the rate. Rounding outward must not
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

    /// Tests that [`Plan::bits_ratio`] is the same with and without a number of bits in the target,
    /// if the target gives a rate.
    #[test]
    fn given_sizes_compare_at_the_rate_that_is_asked() {
        let ratio = |target: &Target| {
            let blocked = Plan::new(&Target { layout: Layout::Lines, ..target.clone() }).expect("in range");
            blocked.bits_ratio(&Plan::new(target).expect("in range")).expect("both can be planned")
        };
        let asked = Target::new().items(50_000).rate("1%".parse().expect("a rate"));
        assert_eq!(ratio(&asked.clone().bits(600_064)), ratio(&asked));
        assert!(ratio(&asked) < 1.05 && ratio(&Target::new().items(50_000).bits(600_064)) > 1.05);
    }

    #[test]
    fn bytes_are_whole_words() {
        for items in [1, 9, 100, 1_000, 12_345] {
            let plan = Plan::new(&Target::new().items(items).rate("1%".parse().expect("a rate")).mean()).expect("in range");
            let bytes = plan.bytes();
            assert!(bytes.is_multiple_of(8) && 8 * bytes >= plan.bits && 8 * bytes - plan.bits < 64, "{} bits, {bytes} bytes", plan.bits);
        }
    }
}
