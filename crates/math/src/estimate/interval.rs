//! Confidence intervals for the number of items, by inversion of the law of the number of set bits.

use super::{check, items_by_moments};
use crate::error::check_confidence;
use crate::exact::work;
use crate::occupancy::Occupancy;
use crate::occupancy::tails::{Bounds, Effort, Tail, of_stretch};
use crate::occupancy::thinning::{self, Budget, Precision};
use crate::{Error, Method, Result, Variant, try_bisect};

/// An estimate of the number of items, with a confidence interval. Both ends belong to the
/// interval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ItemsEstimate {
    /// The method-of-moments estimate: the number of items that would set this number of bits on
    /// average. `None` for a full filter.
    pub value: Option<f64>,
    /// The smallest number of items in the interval.
    pub lower: u64,
    /// The largest number of items in the interval, or `None` if it exceeds 2^62. The value is also
    /// `None` for a full filter, because any larger number of items is possible, too.
    pub upper: Option<u64>,
    /// The method by which the ends were computed. [`Method::Exact`] means that the ends are
    /// proven. [`Method::Validated`] means that the ends depend on an error estimate. Tests confirm
    /// this estimate, but it is not proven. [`Method::Bound`] means that at least one end was
    /// computed by a proven inequality instead of the exact distribution. The interval may then be
    /// slightly longer than an exact one.
    pub method: Method,
}

/// The largest number of terms of a recurrence over the items of a classic filter. Computing this
/// many terms takes a few tenths of a second.
const WALK_TERMS: f64 = 1e8;

/// The largest number of terms of a recurrence for items that are added to a filter with set bits.
/// This many terms take a few hundredths of a second. The limit is lower than [`WALK_TERMS`]
/// because several such intervals are computed at a time.
const ADDED_TERMS: f64 = 2e7;

/// The maximum work for one tail probability during the search for an end of the interval. This
/// work takes about ten milliseconds.
const TAIL: Effort = Effort { walk: 1e6, contours: 5_000 };

/// Estimates the number of items in a standard or classic filter from its number of set bits. The
/// result also has a confidence interval. The interval covers the true number, whatever it is, with
/// probability at least `confidence`.
///
/// Let X be the random number of set bits, and let alpha be `1 - confidence`. Let `P_n` be the
/// probability if the filter holds n items. The interval contains every n that meets two
/// conditions:
/// * `P_n(X >= ones) > alpha/2`
/// * `P_n(X <= ones) > alpha/2`
///
/// Both probabilities are monotone in n, because one more item never clears a bit. Therefore the
/// values of n that meet both conditions form an interval. With probability at most alpha/2, the
/// whole interval is above the true number. With probability at most alpha/2, it is below the true
/// number. If no n meets both conditions, both ends are the smallest n that meets the first
/// condition. For example, suppose that a filter with two bits and seven probes holds one item, and
/// that all seven probes hit the same bit. In this case, no n meets both conditions at a confidence
/// of 0.95.
///
/// Computing the exact probabilities takes up to a few tenths of a second. If this would take
/// longer, proven upper bounds replace the exact probabilities. This can only widen the interval.
/// The bounds are used if the standard deviation of the number of set bits is above about 500.
/// Computing them takes less than a millisecond.
///
/// ```
/// use truebloom_math::{Variant, items_interval};
/// let estimate = items_interval(Variant::Standard, 1_024, 7, 512, 0.95)?;
/// assert!(estimate.lower <= 101 && estimate.upper.unwrap() >= 102);
/// assert_eq!((estimate.lower, estimate.upper), (97, Some(106)));
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`items_by_moments`]. Also fails if
/// `confidence` is not between 0 and 1.
pub fn items_interval(variant: Variant, bits: u64, probes: u32, ones: u64, confidence: f64) -> Result<ItemsEstimate> {
    let _work = work::begin();
    check(variant, bits, probes, ones)?;
    check_confidence(confidence)?;
    let value = items_by_moments(variant, bits, probes, ones)?;
    if ones == 0 {
        // Every item sets a bit, so the filter holds no items.
        return Ok(ItemsEstimate { value, lower: 0, upper: Some(0), method: Method::Exact });
    }
    Search { variant, bits, probes, before: 0, ones, level: (1.0 - confidence) / 2.0 }.estimate(value)
}

/// The inversion of the law of the number of set bits, for a filter to which items are added.
pub(super) struct Search {
    pub(super) variant: Variant,
    pub(super) bits: u64,
    pub(super) probes: u32,
    /// The number of bits that were set before the items were added.
    pub(super) before: u64,
    /// The number of bits that are set after the items were added.
    pub(super) ones: u64,
    /// The error probability on each side, alpha / 2.
    pub(super) level: f64,
}

/// For each end of the interval, two numbers of items between which the end lies. One of them is
/// outside of the interval, and the other is inside. `upper` is `None` if no large number is
/// outside.
struct Bounded {
    /// The lower end is in `lower.0 + 1 ..= lower.1`.
    lower: (u64, u64),
    /// The upper end is in `upper.0 .. upper.1`.
    upper: Option<(u64, u64)>,
}

impl Search {
    /// Computes the interval for the number of items; `value` is the point estimate. The items must
    /// have set at least one bit.
    pub(super) fn estimate(&self, value: Option<f64>) -> Result<ItemsEstimate> {
        let bounded = self.bounded(value)?;
        let (lower, upper, method) = match self.walked(&bounded)? {
            Some((lower, upper)) => (lower, upper, Method::Exact),
            None => self.refined(&bounded)?,
        };
        Ok(ItemsEstimate { value, lower, upper: upper.map(|upper| upper.max(lower)), method })
    }

    fn law(&self, items: u64) -> Result<Occupancy> {
        if self.before > 0 {
            // Only the number of bits that were set before matters. So these bits count as one more
            // committee: a set of different bits that are set together.
            let committees = match self.variant {
                Variant::Classic => (u64::from(self.probes), items),
                _ => (1, items.saturating_mul(self.probes.into())),
            };
            return Occupancy::union(self.bits, &[(self.before, 1), committees]);
        }
        match self.variant {
            Variant::Classic => Occupancy::classic(self.bits, items, self.probes),
            _ => Occupancy::standard(self.bits, items, self.probes),
        }
    }

    /// Bisects with the proven inequalities alone. Each step keeps one number of items that is
    /// outside of the interval and one that is inside. So the result is right even if the bounds
    /// from the inequalities are not monotone.
    fn bounded(&self, value: Option<f64>) -> Result<Bounded> {
        let (ones, level) = (self.ones, self.level);
        // This many items are too few to set the bits.
        let outside = (ones - self.before).div_ceil(u64::from(self.probes)) - 1;
        let start = value.map_or(outside + 1, |value| value as u64).max(outside + 1);
        let at_least = |items: u64| -> Result<_> { self.bound(items, Tail::AtLeast(ones)) };
        let at_most = |items: u64| -> Result<_> { self.bound(items, Tail::AtMost(ones)) };
        let inside = first(outside, start, |items| Ok(at_least(items)?.lower > level))?.unwrap_or(MOST);
        let out = try_bisect(outside + 1..=inside, |items| Ok(at_least(items)?.upper > level))? - 1;
        let upper = if ones == self.bits {
            None
        } else {
            match first(outside, start, |items| Ok(at_most(items)?.upper <= level))? {
                None => None,
                Some(beyond) => Some((try_bisect(outside + 1..=beyond, |items| Ok(at_most(items)?.lower <= level))? - 1, beyond)),
            }
        };
        Ok(Bounded { lower: (out, inside), upper })
    }

    fn bound(&self, items: u64, tail: Tail) -> Result<crate::occupancy::Probability> {
        Ok(Bounds::new(&self.law(items)?)?.tail(tail))
    }

    /// Evaluates the law for each number of items in turn. This method is used for a classic
    /// filter, and for a standard filter that had set bits before. For a standard filter that was
    /// empty, the result is `None`, because contour integrals are faster. The result is also `None`
    /// if the method would take too much work.
    fn walked(&self, bounded: &Bounded) -> Result<Option<(u64, Option<u64>)>> {
        let (size, throws) = match self.variant {
            Variant::Classic => (u64::from(self.probes), 1),
            _ if self.before > 0 => (1, u64::from(self.probes)),
            _ => return Ok(None),
        };
        let terms = if self.before > 0 { ADDED_TERMS } else { WALK_TERMS };
        // The recurrence is not started if it would need too many terms.
        let steps = bounded.lower.1 as f64 * throws as f64 * thinning::row_length(size);
        if steps * (1.0 + 3.0 * libm::sqrt(self.law(bounded.lower.1)?.variance()?)) > terms {
            return Ok(None);
        }
        let (mut lower, mut upper) = (None, None);
        let floor = if self.before > 0 { self.level * 1e-12 } else { self.level * 1e-30 };
        let budget = Budget { precision: Precision::Single, floor: floor.max(1e-280), terms };
        let walk = thinning::walk(self.bits, self.before, size, &budget, |thrown, law| {
            let items = thrown / throws;
            if thrown % throws > 0 || items <= bounded.lower.0 {
                return true;
            }
            let law = law();
            if lower.is_none() && of_stretch(&law, Tail::AtLeast(self.ones)).upper > self.level {
                lower = Some(items);
            }
            if lower.is_some() && of_stretch(&law, Tail::AtMost(self.ones)).upper <= self.level {
                upper = Some(items - 1);
            }
            lower.is_none() || upper.is_none() && self.ones < self.bits
        });
        match (walk, lower) {
            (Ok(()), Some(lower)) => Ok(Some((lower, upper))),
            (Err(Error::LawTooCostly { .. }), _) | (Ok(()), None) => Ok(None),
            (Err(error), _) => Err(error),
        }
    }

    /// Bisects within the range that the inequalities leave open. The tail probabilities are summed
    /// if this takes little enough work, and otherwise bounded.
    fn refined(&self, bounded: &Bounded) -> Result<(u64, Option<u64>, Method)> {
        let mut method = Method::Exact;
        let mut tail = |items: u64, tail: Tail| -> Result<f64> {
            let bracket = self.law(items)?.tail(tail, TAIL)?;
            method = weaker(method, bracket.method);
            Ok(bracket.upper)
        };
        let (out, inside) = bounded.lower;
        let lower = try_bisect(out + 1..=inside, |items| Ok(tail(items, Tail::AtLeast(self.ones))? > self.level))?;
        let upper = match bounded.upper {
            None => None,
            Some((within, beyond)) => {
                Some(try_bisect(within + 1..=beyond, |items| Ok(tail(items, Tail::AtMost(self.ones))? <= self.level))? - 1)
            }
        };
        Ok((lower, upper, method))
    }
}

pub(super) fn weaker(a: Method, b: Method) -> Method {
    let rank = |method| match method {
        Method::Exact => 0,
        Method::Validated => 1,
        _ => 2,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// The largest number of items that is considered.
pub(super) const MOST: u64 = 1 << 62;

/// The first number above `low` for which `reached` holds. The condition must not hold for `low`,
/// and once it holds, it must hold for all larger numbers. The result is `None` if it does not hold
/// for any number up to [`MOST`].
pub(super) fn first(low: u64, guess: u64, mut reached: impl FnMut(u64) -> Result<bool>) -> Result<Option<u64>> {
    let (mut low, mut high, mut step) = (low, guess.clamp(low + 1, MOST), 1u64);
    while !reached(high)? {
        if high >= MOST {
            return Ok(None);
        }
        low = high;
        high = high.saturating_add(step).min(MOST);
        step = step.saturating_mul(4);
    }
    try_bisect(low + 1..=high, reached).map(Some)
}
