//! Confidence intervals for the number of bits of a filter, by inversion of the law of the number
//! of set bits. The method is known from capture-recapture studies; here, the bits are the
//! population.

use super::bits::batches;
use super::interval::{MOST, first, weaker};
use crate::error::check_confidence;
use crate::exact::work;
use crate::occupancy::tails::{Bounds, Effort, Tail};
use crate::occupancy::{Occupancy, Probability};
use crate::{Method, Result, Variant, try_bisect};

/// The maximum work for one tail probability during the search for an end of the interval. This
/// work takes about twenty milliseconds. After the inequalities have narrowed the range of each
/// end, the search computes about twenty tail probabilities.
const TAIL: Effort = Effort { walk: 1e7, contours: 5_000 };

/// An interval for the number of bits m, ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BitsInterval {
    /// The smallest number of bits in the interval.
    pub lower: u64,
    /// The largest number of bits in the interval, or `None` if it exceeds 2^62. It is also `None`
    /// if `ones` equals `items * probes`: then no two probes coincided, and a filter of any larger
    /// size is possible.
    pub upper: Option<u64>,
    /// The method by which the ends were computed. [`Method::Exact`] and [`Method::Validated`] mean
    /// the same as for a [`Probability`]. [`Method::Bound`] means that at least one end was
    /// computed by a proven inequality instead of the exact law. The interval is then slightly
    /// longer than an exact one.
    pub method: Method,
}

/// Returns an interval that covers the number of bits of a filter with probability at least
/// `confidence` (between 0 and 1). The interval is computed from the numbers of items, probes and
/// set bits. [`estimate_bits()`](crate::estimate_bits()) gives an estimate without an interval.
///
/// The interval is found by equal-tailed inversion of the exact law. It contains every whole number
/// m of bits with `P_m(X >= ones) > alpha/2` and `P_m(X <= ones) > alpha/2`, where X is the number
/// of set bits and alpha is `1 - confidence`. Both probabilities are monotone in m, for the
/// following reason. The probability of x set bits is `C(m, x) W(x)` divided by the number of
/// outcomes, where W does not depend on m. From m to m + 1, this probability changes by a factor
/// that is proportional to `(m + 1) / (m + 1 - x)`, which increases with x.
///
/// Therefore the values of m that satisfy both conditions form an interval. The interval lies above
/// the true number with probability at most alpha/2, and below it with probability at most alpha/2.
/// If no m satisfies both conditions, both ends are the smallest m with `P_m(X >= ones) > alpha/2`.
/// If summing the law takes too long, proven upper bounds replace the two probabilities, and the
/// interval may be longer than the exact one, but not shorter. If the law is summed, this takes
/// milliseconds to tenths of a second.
///
/// ```
/// use truebloom_math::{Variant, bits_interval};
/// let found = bits_interval(Variant::Standard, 101, 7, 512, 0.95)?;
/// assert!(found.lower < 1_024 && found.upper.unwrap() > 1_024);
/// // Two throws that did not meet: any filter may be that large.
/// assert_eq!(bits_interval(Variant::Standard, 1, 2, 2, 0.95)?.upper, None);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range, if `ones` is impossible (see
/// [`estimate_bits()`](crate::estimate_bits())), or if `confidence` is not between 0 and 1. The
/// number of steps is not limited.
pub fn bits_interval(variant: Variant, items: u64, probes: u32, ones: u64, confidence: f64) -> Result<BitsInterval> {
    let _work = work::begin();
    let (batches, batch) = batches(variant, items, probes, ones)?;
    check_confidence(confidence)?;
    let level = (1.0 - confidence) / 2.0;
    let filter = Inversion { variant, items, probes };
    let mut method = Method::Exact;
    let mut excluded = |bits: u64, tail: Tail| -> Result<bool> {
        let found = filter.law(bits)?.tail(tail, TAIL)?;
        method = weaker(method, found.method);
        Ok(found.upper <= level)
    };
    // There are at least as many bits as set bits.
    let (least, start) = (ones - 1, ones.saturating_mul(2).min(MOST));
    let inside = first(least, start, |bits| Ok(filter.bound(bits, Tail::AtLeast(ones))?.lower > level))?.unwrap_or(MOST);
    let out = try_bisect(least + 1..=inside, |bits| Ok(filter.bound(bits, Tail::AtLeast(ones))?.upper > level))?;
    let lower = try_bisect(out..=inside, |bits| Ok(!excluded(bits, Tail::AtLeast(ones))?))?;
    let apart = u128::from(ones) == batches * u128::from(batch);
    let beyond = match apart {
        true => None,
        false => first(least, start, |bits| Ok(filter.bound(bits, Tail::AtMost(ones))?.upper <= level))?,
    };
    let upper = match beyond {
        None => None,
        Some(beyond) => {
            let within = try_bisect(least + 1..=beyond, |bits| Ok(filter.bound(bits, Tail::AtMost(ones))?.lower <= level))?;
            Some((try_bisect(within..=beyond, |bits| excluded(bits, Tail::AtMost(ones)))? - 1).max(lower))
        }
    };
    Ok(BitsInterval { lower, upper, method })
}

/// The law of the number of set bits, as a function of the number of bits.
struct Inversion {
    variant: Variant,
    items: u64,
    probes: u32,
}

impl Inversion {
    fn law(&self, bits: u64) -> Result<Occupancy> {
        match self.variant {
            Variant::Classic => Occupancy::classic(bits, self.items, self.probes),
            _ => Occupancy::standard(bits, self.items, self.probes),
        }
    }

    fn bound(&self, bits: u64, tail: Tail) -> Result<Probability> {
        Ok(Bounds::new(&self.law(bits)?)?.tail(tail))
    }
}
