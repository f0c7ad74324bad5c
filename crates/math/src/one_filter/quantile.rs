//! The rate that, with a given probability, one filter does not exceed. (The expected rate, in
//! contrast, is an average over filters.)
//!
//! The number of set bits determines the rate R of a filter. This number is a sum of independent
//! Bernoulli variables (see [`Fill`]), and [`bernoulli`](crate::tails::bernoulli) bounds its tails.

use super::balls;
use crate::error::check_confidence;
use crate::exact::bisect::bisect_reals;
use crate::exact::enclosure::{Enclose, HashFloor};
use crate::exact::work;
use crate::law::hash_floor;
use crate::law::inclusion::{Inclusion, Items, Query};
use crate::law::ratios::Ratios;
use crate::law::slices::Slices;
use crate::occupancy::Occupancy;
use crate::occupancy::tails::Tail;
use crate::search::boundary;
use crate::tails::bernoulli::BernoulliSum;
use crate::{Fill, Fpr, Method, Rate, Result, Variant};

/// A lower and an upper bound on a quantile of one filter's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RateQuantile {
    /// The probability c.
    pub confidence: f64,
    /// A lower and an upper bound on the c-quantile of the filter's rate R, where c is
    /// `confidence`. This means that `P(R <= upper) >= c` and `P(R < lower) < c`. Both inequalities
    /// are proven. The `value` is the upper end, because a guarantee uses this end.
    pub fpr: Fpr,
    /// The number of set bits at which the rate of a filter equals the upper end of the bracket.
    /// For the partitioned filter, this is `None`, because the number of set bits does not
    /// determine the rate.
    pub ones: Option<u64>,
}

/// Let c be `confidence`. Returns a proven bracket for the c-quantile of the rate of one filter
/// that holds `items` items. The rate is random, because it depends on the seed.
///
/// The rate of a filter is at most the upper end with a probability of at least `confidence`. A
/// [`Plan`](crate::Plan) of this size also takes equal hashes into account. The rate that this plan
/// guarantees is at most the upper end plus the bound for equal hashes. With few items, the upper
/// end is computed from the exact distribution of the number of set bits. With more items, the
/// upper end follows from bounds on the tails of this distribution. The lower end always follows
/// from bounds on the tails.
///
/// For a partitioned filter, the upper end always follows from tail bounds, whatever the number of
/// items. The rate is the product of the fills of the k slices. This product is at most the k-th
/// power of the mean fill of the slices, because a geometric mean is at most the arithmetic mean.
/// The lower end for the partitioned filter is 0.
///
/// This takes about as long as computing ten rates. With few items, it takes up to a millisecond.
///
/// ```
/// use truebloom_math::{Variant, rate_quantile_bound};
/// let quantile = rate_quantile_bound(Variant::Standard, 959, 100, 7, 0.999)?;
/// // The expected rate is 1%. The 99.9% quantile is about 1.6%.
/// assert!(quantile.fpr.upper > 0.013 && quantile.fpr.upper < 0.0175);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range, or if `confidence` is not strictly between 0 and 1.
pub fn rate_quantile_bound(variant: Variant, bits: u64, items: u64, probes: u32, confidence: f64) -> Result<RateQuantile> {
    let _work = work::begin();
    variant.check(bits, probes)?;
    check_confidence(confidence)?;
    if items == 0 {
        return Ok(RateQuantile { confidence, fpr: Fpr::ZERO, ones: (variant != Variant::Partitioned).then_some(0) });
    }
    let (high, ones) = kept_by(variant, (bits, items, probes), allowed(confidence))?;
    let Some(most) = ones else { return Ok(RateQuantile { confidence, fpr: high, ones }) };
    let law = OnesLaw::new(variant, bits, items, probes)?;
    // If the share of filters with at most x set bits is below the confidence, the quantile is
    // above x.
    let least = boundary(law.fill.mean, 1, bits + 1, |ones| Ok(law.at_most((ones - 1) as f64) < confidence))? - 1;
    let low = own_rate(variant, bits, probes, least.min(most))?;
    let fpr = Fpr { lower: low.lower, ln_lower: low.ln_lower, ..high };
    Ok(RateQuantile { confidence, fpr, ones })
}

/// A rate that at most the share `allowed` of all filters exceed. This rate is the upper end of
/// [`rate_quantile_bound`].
pub(crate) fn kept(variant: Variant, bits: u64, items: u64, probes: u32, allowed: f64) -> Result<Fpr> {
    Ok(kept_by(variant, (bits, items, probes), allowed)?.0)
}

/// Like [`kept`]. Also returns the number of set bits at which a filter has this rate.
fn kept_by(variant: Variant, (bits, items, probes): (u64, u64, u32), allowed: f64) -> Result<(Fpr, Option<u64>)> {
    let law = || OnesLaw::new(variant, bits, items, probes);
    if variant == Variant::Partitioned {
        return Ok((kept_by_slices(&law()?, bits, probes, allowed)?, None));
    }
    let past = match Evidence::of(variant, items, probes, allowed) {
        Evidence::Balls { .. } => balls::too_rare(variant, bits, items, probes, allowed),
        _ => law()?.too_rare(bits, allowed)?,
    };
    let ones = past.saturating_sub(1).min(bits);
    Ok((as_bound(own_rate(variant, bits, probes, ones)?), Some(ones)))
}

/// Like [`kept`], for partitioned filters. The bound on the rate follows from the mean fill of the
/// slices.
fn kept_by_slices(law: &OnesLaw, bits: u64, probes: u32, allowed: f64) -> Result<Fpr> {
    let past = law.too_rare(bits, allowed)?;
    // Y < past, so R <= (past / capacity)^k.
    let most = if law.is_lattice { (past - 1) as f64 } else { law.past((past - 1) as f64, past as f64, allowed) };
    let ln = libm::log(most / law.capacity).min(0.0);
    // Adds more than the roundings in [`share`] and in this function can have lost, so that a
    // target with this rate is accepted.
    let ln_upper = (f64::from(probes) * (ln + 2.0 * SHARE_LOST.0 + 2.0 * SHARE_LOST.1 * ln.abs())).clamp(-1e300, 0.0);
    let upper = (libm::exp(ln_upper) * (1.0 + 1e-15)).next_up().min(1.0);
    Ok(Fpr { value: upper, lower: 0.0, upper, ln: ln_upper, ln_lower: f64::NEG_INFINITY, ln_upper, method: Method::Bound })
}

/// The probability `1 - c` with which a filter may miss a rate, never rounded up. For `c >= 1/2`,
/// the difference is exact. For a tiny c, the rounded difference is 1, and would allow any filter
/// to miss.
pub(crate) fn allowed(confidence: f64) -> f64 {
    let miss = 1.0 - confidence;
    if 1.0 - miss == confidence { miss } else { miss.next_down() }
}

/// Marks the rate as an upper bound, because the number of set bits at which it is computed is not
/// always the smallest possible number.
fn as_bound(high: Fpr) -> Fpr {
    Fpr { value: high.upper, ln: high.ln_upper, method: Method::Bound, ..high }
}

/// Returns a lower bound on the probability that the rate of one filter with `items` items is at
/// most `rate`. The seed of the filter is random. Here, the filter's rate does not include false
/// positives that are caused by equal hashes.
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn confidence_bound(variant: Variant, bits: u64, items: u64, probes: u32, rate: &Rate) -> Result<f64> {
    let _work = work::begin();
    variant.check(bits, probes)?;
    let miss = miss_bound(variant, bits, items, probes, rate, None, Evidence::Law { terms: WALK_TERMS })?;
    // The subtraction can round up, so the next lower `f64` is returned.
    Ok(if miss == 0.0 || miss == 1.0 { 1.0 - miss } else { (1.0 - miss).next_down() })
}

/// An upper bound on the probability that the rate of one filter exceeds `rate`. If `hash_bits` is
/// given, the bound on equal hashes of this width is added to the filter's rate.
///
/// Every kind of [`Evidence`] gives a proven bound.
pub(crate) fn miss_bound(
    variant: Variant,
    bits: u64,
    items: u64,
    probes: u32,
    rate: &Rate,
    hash_bits: Option<u32>,
    evidence: Evidence,
) -> Result<f64> {
    if items == 0 {
        return Ok(0.0);
    }
    let Some(left) = left_by_hashes(items, rate, hash_bits) else { return Ok(1.0) };
    if variant == Variant::Partitioned {
        let law = OnesLaw::new(variant, bits, items, probes)?;
        let most = share(rate.ln_below(), left, probes) * law.capacity;
        return Ok(law.at_least(if law.is_lattice { libm::floor(most) + 1.0 } else { most }));
    }
    let past = too_many_ones(variant, bits, items, probes, rate, left, hash_bits)?;
    let bound = || Ok(OnesLaw::new(variant, bits, items, probes)?.at_least(past as f64));
    match evidence {
        Evidence::Bounds => bound(),
        Evidence::Law { terms } => Ok(bound()?.min(fill_law(variant, bits, items, probes)?.proven_tail(Tail::AtLeast(past), terms)?.upper)),
        Evidence::Balls { allowed } => Ok(balls::at_least(variant, bits, items, probes, past, allowed)),
    }
}

/// Whether more than the share `allowed` of all filters miss the rate even if one more set bit is
/// allowed. The result is false if equal hashes alone already reach the rate.
///
/// With one more set bit allowed, the decision does not depend on the rounding to whole bits (see
/// [`miss_bound`]). The result is also false for slices, because their total number of set bits
/// does not determine the rate.
pub(crate) fn misses_by_far(law: (Variant, u64, u64, u32), rate: &Rate, hash_bits: u32, allowed: f64) -> Result<bool> {
    let (variant, bits, items, probes) = law;
    let Some(left) = left_by_hashes(items, rate, Some(hash_bits)).filter(|_| variant != Variant::Partitioned) else { return Ok(false) };
    let past = too_many_ones(variant, bits, items, probes, rate, left, Some(hash_bits))?;
    Ok(past < bits && balls::at_least(variant, bits, items, probes, past + 1, allowed) > allowed)
}

/// The share of the rate that is left after the bound on equal hashes is subtracted, rounded down.
/// The result is `None` if nothing is left.
fn left_by_hashes(items: u64, rate: &Rate, hash_bits: Option<u32>) -> Option<f64> {
    let taken = hash_bits.map_or(0.0, |hash_bits| hash_floor(items, hash_bits) / rate.to_f64());
    let left = (1.0 - taken * (1.0 + 4.0 * f64::EPSILON)).next_down();
    (left > 0.0).then_some(left)
}

/// The share of the positions that may be set, computed from the logarithm of the rate. It is
/// rounded down by a few ulps of the share and of its logarithm.
fn share(ln_rate: f64, left: f64, probes: u32) -> f64 {
    let ln = (ln_rate + libm::log(left)) / f64::from(probes);
    libm::exp(ln) * (1.0 - SHARE_LOST.0 - SHARE_LOST.1 * ln.abs())
}

/// The relative amount by which [`share`] rounds down: the first number, plus the second number
/// times the absolute logarithm of the share.
const SHARE_LOST: (f64, f64) = (4e-15, 2e-15);

/// The smallest number of set bits whose rate is above the requested rate, found exactly.
fn too_many_ones(variant: Variant, bits: u64, items: u64, probes: u32, rate: &Rate, left: f64, hash_bits: Option<u32>) -> Result<u64> {
    let least = if variant == Variant::Standard { 1 } else { u64::from(probes) };
    let meets = |ones: u64| {
        let floor = hash_bits.map(|hash_bits| HashFloor { items, hash_bits });
        own_ratios(variant, bits, probes, ones).at_most(rate, floor)
    };
    // If all bits are set, the rate is 1, which is too high.
    boundary(share(rate.ln(), left, probes) * bits as f64 + 1.0, least, bits, meets)
}

/// The method that bounds the probability of a miss (a filter with a rate above the requested one).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Evidence {
    /// Bennett's inequality and the Berry-Esseen inequality, which take microseconds.
    Bounds,
    /// The law of the fill, if it can be summed with at most `terms` terms of a recurrence, and
    /// otherwise the inequalities. A term takes a few nanoseconds.
    Law {
        /// The largest number of terms.
        terms: f64,
    },
    /// The law of the fill, computed ball by ball, which takes a nanosecond for each ball and each
    /// relevant number of set bits. This method is not available for slices, whose fill has no such
    /// law.
    Balls {
        /// If the probability is above this value, the result only says that it is above.
        allowed: f64,
    },
}

/// Below this many items, single bits matter, so the law of the fill is used.
pub(crate) const MANY_ITEMS: u64 = 100;

/// For fewer than [`MANY_ITEMS`] items, the law of the fill is used for up to this many balls
/// (items times probes).
pub(crate) const FEW_BALLS: u64 = 4_200;

impl Evidence {
    /// Returns the evidence that plans use. For few balls (items times probes), the law of the fill
    /// is used, which takes at most about a millisecond. For more balls, the bounds are used. The
    /// evidence depends only on the size, so all questions about a size use the same evidence.
    pub(crate) fn of(variant: Variant, items: u64, probes: u32, allowed: f64) -> Evidence {
        let most = match variant {
            Variant::Partitioned => return Evidence::Bounds,
            _ if items < MANY_ITEMS => FEW_BALLS,
            // The law of a classic filter is narrower, so more balls take the same time.
            Variant::Classic => 2_900,
            _ => 1_806,
        };
        if items.saturating_mul(probes.into()) <= most { Evidence::Balls { allowed } } else { Evidence::Bounds }
    }
}

/// An upper limit on the number of terms of a recurrence. This many terms take a few milliseconds.
const WALK_TERMS: f64 = 8e6;

fn fill_law(variant: Variant, bits: u64, items: u64, probes: u32) -> Result<Occupancy> {
    match variant {
        Variant::Classic => Occupancy::classic(bits, items, probes),
        _ => Occupancy::standard(bits, items, probes),
    }
}

fn own_ratios(variant: Variant, bits: u64, probes: u32, ones: u64) -> Ratios {
    match variant {
        Variant::Standard => Ratios::power(ones, bits, probes),
        _ => Ratios::new((0..u64::from(probes)).map(|i| (ones.saturating_sub(i), bits - i))),
    }
}

pub(crate) fn own_rate(variant: Variant, bits: u64, probes: u32, ones: u64) -> Result<Fpr> {
    own_ratios(variant, bits, probes, ones).rate()
}

/// The values from which the tails of the number of set bits are computed. Y is the number of set
/// bits. If there are slices of `s` and of `s + 1` bits, each set bit in a longer slice counts only
/// `s / (s+1)`, so that the mean fill of the slices is `Y / (k s)`.
pub(crate) struct OnesLaw {
    pub(crate) fill: Fill,
    /// The number `k s`.
    pub(crate) capacity: f64,
    /// Whether Y is always a whole number.
    pub(crate) is_lattice: bool,
    /// If there are two slice lengths, Y is the sum of two independent parts, one for each length.
    /// The two numbers describe the part with the larger variance: the variance of its number of
    /// set bits, and the weight of one of its set bits. The values of this part are one weight
    /// apart.
    pub(crate) lattice: (f64, f64),
}

impl OnesLaw {
    pub(crate) fn new(variant: Variant, bits: u64, items: u64, probes: u32) -> Result<OnesLaw> {
        if variant != Variant::Partitioned {
            let fill = variant.law(bits, probes)?.fill(items)?.unwrap_or(Fill::empty(bits));
            return Ok(OnesLaw { fill, capacity: bits as f64, is_lattice: true, lattice: (fill.variance, 1.0) });
        }
        let sizes = Slices { bits, items, probes }.sizes();
        let shorter = sizes[1].0 as f64;
        let (mut total, mut lattice) = (Fill::empty(bits), (0.0, 1.0));
        for (size, count) in sizes {
            if count > 0 {
                let throws = Inclusion { query: Query::Independent, placement: Items::Independent, bits: size, items, probes: 1 };
                let (slice, weight) = (Fill::of(throws)?, shorter / size as f64);
                total.mean += f64::from(count) * weight * slice.mean;
                let variance = f64::from(count) * weight * weight * slice.variance;
                total.variance += variance;
                // The numbers of set bits in slices of one size are whole numbers, so the weighted
                // numbers are `weight` apart.
                if variance > lattice.0 * lattice.1 * lattice.1 {
                    lattice = (f64::from(count) * slice.variance, weight);
                }
            }
        }
        Ok(OnesLaw { fill: total, capacity: f64::from(probes) * shorter, is_lattice: sizes[0].1 == 0, lattice })
    }

    /// The smallest number of set bits that is reached with probability at most `allowed`.
    fn too_rare(&self, bits: u64, allowed: f64) -> Result<u64> {
        boundary(self.fill.mean, 1, bits + 1, |ones| Ok(self.at_least(ones as f64) > allowed))
    }

    /// An upper bound on `P(Y >= ones)`.
    pub(crate) fn at_least(&self, ones: f64) -> f64 {
        self.tail(ones - self.fill.mean)
    }

    /// A real number x in `low..=high` for which `P(Y >= x)` is at most `allowed`. This condition
    /// must hold at `high`.
    fn past(&self, low: f64, high: f64, allowed: f64) -> f64 {
        bisect_reals(low, high, 50, |ones| self.at_least(ones) <= allowed).1
    }

    /// An upper bound on `P(Y <= ones)`.
    pub(crate) fn at_most(&self, ones: f64) -> f64 {
        self.tail(self.fill.mean - ones)
    }

    fn tail(&self, distance: f64) -> f64 {
        // The distance is reduced by the rounding of the mean.
        let sum = BernoulliSum { variance: self.fill.variance, lattice: self.lattice };
        sum.tail(distance - 4.0 * f64::EPSILON * (self.fill.mean + distance.abs()))
    }
}
