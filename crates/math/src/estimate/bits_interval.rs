//! Confidence intervals for the number of bits of a filter, by inversion of the law (distribution)
//! of the number of set bits. The method is known from capture-recapture studies, which estimate
//! the size of a population. Here, the population is the set of all bits of the filter.

use super::bits::batches;
use super::interval::{MOST, first, weaker};
use crate::error::check_confidence;
use crate::exact::work;
use crate::occupancy::tails::{Bounds, Effort, Tail};
use crate::occupancy::{Occupancy, Probability};
use crate::{Method, Result, Variant, try_bisect};

/// The maximum work for one tail probability during the search for an end of the interval. This
/// work takes about twenty milliseconds. Proven inequalities first narrow the range in which each
/// end lies. The search then computes about twenty tail probabilities.
const TAIL: Effort = Effort { walk: 1e7, contours: 5_000 };

/// A confidence interval for the number of bits of a filter. Both ends belong to the interval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BitsInterval {
    /// The smallest number of bits in the interval.
    pub lower: u64,
    /// The largest number of bits in the interval, or `None` if it exceeds 2^62. The value is also
    /// `None` if `ones` equals `items * probes`. In this case, every probe has set a different bit,
    /// so the number of bits has no upper bound.
    pub upper: Option<u64>,
    /// The method by which the ends were computed. [`Method::Exact`] means that the ends are
    /// proven. [`Method::Validated`] means that the ends depend on an error estimate. Tests confirm
    /// this estimate, but it is not proven. [`Method::Bound`] means that at least one end was
    /// computed by a proven inequality instead of the exact distribution. The interval may then be
    /// slightly longer than an exact one.
    pub method: Method,
}

/// Returns a confidence interval for the number of bits of a filter. The interval is computed from
/// the numbers of items, probes and set bits. It covers the true number of bits with probability at
/// least `confidence`. For an estimate without an interval, use
/// [`estimate_bits()`](crate::estimate_bits()).
///
/// Let X be the random number of set bits, and let alpha be `1 - confidence`. Let `P_m` be the
/// probability if the filter has m bits. The interval contains every m that meets two conditions:
/// * `P_m(X >= ones) > alpha/2`
/// * `P_m(X <= ones) > alpha/2`
///
/// Both probabilities are monotone in m, for the following reason. The probability of x set bits is
/// proportional to `C(m, x) W(x)`. `C(m, x)` is the binomial coefficient, and `W(x)` does not
/// depend on m. If m increases by 1, `C(m, x)` grows by the factor `(m + 1) / (m + 1 - x)`. This
/// factor increases with x, so larger numbers of set bits become more likely.
///
/// Therefore the values of m that meet both conditions form an interval. With probability at most
/// alpha/2, the whole interval is above the true number. With probability at most alpha/2, it is
/// below the true number. If no number m meets both conditions, the interval is a single number:
/// the smallest m that meets the first condition.
///
/// Computing the exact probabilities takes milliseconds to tenths of a second. If this would take
/// longer, proven upper bounds replace the exact probabilities. This can only widen the interval.
///
/// ```
/// use truebloom_math::{Variant, bits_interval};
/// let found = bits_interval(Variant::Standard, 101, 7, 512, 0.95)?;
/// assert!(found.lower < 1_024 && found.upper.unwrap() > 1_024);
/// // Two probes hit two different bits, so no number of bits is too large.
/// assert_eq!(bits_interval(Variant::Standard, 1, 2, 2, 0.95)?.upper, None);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range. `confidence` must be between 0 and 1. `ones` must be at
/// most `items * probes`. For the standard filter, `ones` must be at least 1. For the classic
/// filter, `ones` must be at least `probes`.
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
