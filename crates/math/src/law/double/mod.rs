//! Double hashing on one array of bits: position i of a key is `h1 + i h2 + f(i)` modulo m, where m
//! is the number of bits.

mod averaged;
mod bounded;
pub(crate) mod bracket;
mod collisions;
mod constants;
mod exact;
pub(crate) mod powers;

use alloc::vec::Vec;
use alloc::{format, vec};
pub(crate) use constants::Shape;
pub use constants::odd_step_constant;

use super::unproven::Progression;
use super::{EQUAL_HASHES, Floor, Law, hash_floor};
use crate::error::{check_bits, check_probes, out_of_range};
use crate::exact::enclosure::{Enclose, HashFloor};
use crate::exact::work;
use crate::{Fill, Fpr, Method, Rate, Result};
use powers::{Pairs, Powers};

/// The range of the second hash `h2`, which is the step from one position to the next. In the
/// ranges below, m is the number of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `h2` is uniform on `0..m`. If `h2` is 0, all positions of plain double hashing coincide.
    Any,
    /// `h2` is uniform on `1..m`.
    NonZero,
}

/// The offsets `f(i)` of extended double hashing (Kirsch and Mitzenmacher, section 5.2). Position i
/// of a key is `h1 + i h2 + f(i)` modulo the number of bits. Here h1 and h2 are two hashes of the
/// key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Offsets {
    /// `f(i) = 0`: plain double hashing.
    Linear,
    /// `f(i) = i^2`.
    Square,
    /// `f(i) = i^3`.
    Cube,
    /// `f(i) = (i^3 - i) / 6`: enhanced double hashing.
    Enhanced,
    /// Custom offsets, one for each probe. For example, they can be random.
    Custom(Vec<i64>),
}

impl Offsets {
    /// Returns the offset `f(i)`, which is 0 beyond the last custom offset.
    #[must_use]
    pub fn at(&self, i: u32) -> i64 {
        let i = i64::from(i);
        match self {
            Offsets::Linear => 0,
            Offsets::Square => i * i,
            Offsets::Cube => i * i * i,
            Offsets::Enhanced => (i * i * i - i) / 6,
            Offsets::Custom(list) => list.get(i as usize).copied().unwrap_or(0),
        }
    }
}

/// The law of plain and extended double hashing. Position i of a key is `h1 + i h2 + f(i)` modulo
/// the number of bits m, which can be any number. The hashes h1 and h2 of all keys are uniform and
/// independent. If positions of a key coincide, the key has fewer than k different positions.
///
/// The positions of a key depend on each other. So the number of set bits does not determine the
/// rate, and [`fpr_at_fill`](Law::fpr_at_fill) returns `None`. The distribution of the number of
/// set bits is not known, so [`fill`](Law::fill) also returns `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Double {
    bits: u64,
    probes: u32,
    step: Step,
    offsets: Offsets,
}

impl Double {
    /// Creates the law of filters of this size.
    ///
    /// ```
    /// use truebloom_math::Law;
    /// use truebloom_math::law::{Double, Offsets, Step};
    /// let law = Double::new(401, 2, Step::Any, Offsets::Linear)?;
    /// assert_eq!(format!("{:.9}", law.fpr(100)?.value), "0.154656303");
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if `bits` or `probes` is out of range, or if the number of custom offsets differs from
    /// the number of probes. Also fails if `bits` is 1 and the step is [`Step::NonZero`], because
    /// then no `h2` is possible.
    pub fn new(bits: u64, probes: u32, step: Step, offsets: Offsets) -> Result<Double> {
        check_bits(bits)?;
        check_probes(probes)?;
        if step == Step::NonZero && bits == 1 {
            return out_of_range("bits", bits, "at least 2, so that h2 can differ from 0");
        }
        if let Offsets::Custom(list) = &offsets
            && list.len() != probes as usize
        {
            return out_of_range(
                "offsets",
                format!("a list of {} numbers", list.len()),
                format!("a list with one number for each of the {probes} probes"),
            );
        }
        // Offsets that are all 0 give the law without offsets.
        let offsets = if (0..probes).all(|i| offsets.at(i) == 0) { Offsets::Linear } else { offsets };
        Ok(Double { bits, probes, step, offsets })
    }

    /// Returns the range of the values that `h2` can have.
    #[must_use]
    pub fn step(&self) -> Step {
        self.step
    }

    /// Returns the offsets that are added to the positions. If all offsets are 0, the result is
    /// [`Offsets::Linear`].
    #[must_use]
    pub fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// Returns four numbers: the number of hash pairs that hit one given position; an upper bound
    /// on the number of pairs that hit two given positions; the number of probes that repeat a
    /// position of their item, over all steps; and the number of all hash pairs.
    pub(crate) fn collision_counts(&self) -> (u128, u64, u64, u128) {
        let k = u64::from(self.probes);
        let hits = collisions::hits_of_one(self);
        let shared = (1..k).map(|apart| 2 * (k - apart) * crate::exact::modular::gcd(apart, self.bits)).sum();
        let lost = u128::from(k) * u128::from(self.pairs().second) - hits;
        (hits, shared, lost as u64, self.pairs().count())
    }

    /// Returns a proven bracket of the rate, for laws whose exact sum takes too long.
    pub(crate) fn bracket(&self, items: u64) -> Result<Option<Fpr>> {
        for rate in [bounded::rate, averaged::rate] {
            match rate(self, items) {
                Ok(None) => {}
                Err(error) if error.is_cost() => {}
                found => return found,
            }
        }
        Ok(None)
    }

    /// Returns a proven bracket of the rate that can be computed for any number of bits.
    pub(crate) fn bracket_of_averages(&self, items: u64) -> Result<Option<Fpr>> {
        averaged::rate(self, items)
    }

    /// Returns the exact rate as a sum, or `None` if listing its terms takes too long.
    pub(crate) fn sum(&self, items: u64) -> Option<Powers> {
        exact::sum(self, items)
    }

    pub(super) fn progression(&self) -> Progression {
        let least_step = u64::from(self.step == Step::NonZero);
        Progression { modulus: self.bits, least_step, offsets: collisions::offsets(self), slices: false }
    }

    fn pairs(&self) -> Pairs {
        Pairs { first: self.bits, second: self.bits - u64::from(self.step == Step::NonZero) }
    }
}

/// The largest order of h2 for which a [`Floor`] is listed. The effect of larger orders is
/// negligible.
const MOST_SHORT_ORDER: u64 = 64;

impl Law for Double {
    fn bits(&self) -> u64 {
        self.bits
    }

    fn probes(&self) -> u32 {
        self.probes
    }

    fn fpr(&self, items: u64) -> Result<Fpr> {
        let _work = work::begin();
        match self.proven(items)? {
            Some(fpr) if fpr.method == Method::Exact => Ok(fpr),
            known => Ok(self.progression().best(items, known, self.first_order(items).ok(), &self.floors(items, 128))),
        }
    }

    fn proven(&self, items: u64) -> Result<Option<Fpr>> {
        let _work = work::begin();
        if items == 0 {
            return Ok(Some(Fpr::ZERO));
        }
        match exact::rate(self, items)? {
            Some(powers) => powers.fpr().map(Some),
            None => self.bracket(items),
        }
    }

    /// Returns whether a filter with `items` distinct items is proven to meet `rate` (see
    /// [`Law::meets`]). If the exact rate can be computed, the function compares the exact rate
    /// with `rate`. Otherwise, the function compares the upper end of the proven bracket with
    /// `rate`. If the offsets are not linear, the function compares bounds first, because computing
    /// the exact rate takes longer.
    fn meets(&self, items: u64, rate: &Rate, hash_bits: u32) -> Result<bool> {
        let _work = work::begin();
        if items == 0 {
            return Ok(true);
        }
        let floor = hash_floor(items, hash_bits);
        // With offsets, the exact rate enumerates all queries, while a bracket is fast.
        if self.offsets != Offsets::Linear
            && let Ok(Some(mut fpr)) = averaged::rate(self, items)
        {
            fpr.add_above(floor);
            if fpr.upper < rate.to_f64() {
                return Ok(true);
            }
            if fpr.lower > rate.to_f64() {
                return Ok(false);
            }
        }
        if let Some(powers) = exact::rate(self, items)? {
            return powers.at_most(rate, Some(HashFloor { items, hash_bits }));
        }
        let Some(mut fpr) = self.bracket(items)? else { return Ok(false) };
        fpr.add_above(floor);
        Ok(fpr.upper < rate.to_f64())
    }

    /// Returns the terms by which equal hashes and dependent positions raise the rate: one
    /// [`Floor`] for each cause. For the following three causes, the term is an upper bound:
    ///
    /// - `equal hashes`: an item and the query have the same full hash. This term does not depend
    ///   on the number of bits.
    /// - `equal pairs of hashes`: an item and the query have the same h1 and h2 modulo m.
    /// - `reversed progressions`: an item has the positions of the query in reverse order.
    ///
    /// The terms of all other causes are first-order approximations. All terms except the term
    /// `equal hashes` tend to 0 as the number of bits grows.
    fn floors(&self, items: u64, hash_bits: u32) -> Vec<Floor> {
        let _work = work::begin();
        let mut floors = vec![Floor { cause: EQUAL_HASHES, rate: hash_floor(items, hash_bits) }];
        let (n, k) = (items as f64, f64::from(self.probes));
        let own = n / self.pairs().count() as f64;
        floors.push(Floor { cause: "equal pairs of hashes", rate: own.min(1.0) });
        let filled = -libm::expm1(-n * k / self.bits as f64);
        // q + q^2 + .. + q^(k-1), for shared runs of all lengths below k.
        let stretches = filled * (1.0 - libm::pow(filled, k - 1.0)) / (1.0 - filled).max(f64::MIN_POSITIVE);
        // Squares have these terms, too, because i^2, shifted or reversed, is i^2 plus a
        // progression. Cubes do not have them.
        if matches!(self.offsets, Offsets::Linear | Offsets::Square) {
            floors.push(Floor { cause: "reversed progressions", rate: own.min(1.0) });
            floors.push(Floor { cause: "shifted progressions, both ways", rate: (4.0 * own * stretches).min(1.0) });
        }
        if self.offsets == Offsets::Linear {
            let most = u64::from(self.probes).saturating_sub(1).min(MOST_SHORT_ORDER);
            for order in crate::exact::modular::divisors_up_to(self.bits, most).filter(|&order| order > 1 || self.step == Step::Any) {
                let share = crate::exact::modular::totient(order) as f64 / self.pairs().second as f64;
                let cause = if order == 1 { "h2 = 0" } else { "h2 of short order" };
                floors.push(Floor { cause, rate: (share * libm::pow(filled, order as f64)).min(1.0) });
            }
        }
        floors
    }

    fn fpr_at_fill(&self, _: &[u64]) -> Result<Option<Fpr>> {
        Ok(None)
    }

    fn fill(&self, _: u64) -> Result<Option<Fill>> {
        Ok(None)
    }
}
