//! Evidence that the rate of one filter is at most the requested rate, with a given probability.
//!
//! The filter's rate is at most p as long as at most `ones` bits are set. So the probability
//! `P(X >= a)` with a = ones + 1 must be small, where X is the number of set bits. X is a sum of
//! independent Bernoulli variables (see [`Fill`]) with known mean and variance v. The
//! file docs/CERTIFICATE.md proves the bounds.

use super::Claim;
use crate::exact::enclosure::Enclose;
use crate::law::hash_floor;
use crate::law::ratios::Ratios;
use crate::one_filter::quantile::{Evidence, miss_bound};
use crate::search::boundary;
use crate::{Error, Fill, Law, Result, law::Standard};

/// The evidence that the rate of one filter is at most the requested rate, with a given
/// probability.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OneFilter {
    /// The probability with which the rate is proven to be at most the requested rate. It is the
    /// requested confidence, or a lower one if no [`TailBound`] proves the requested confidence.
    pub confidence: f64,
    /// The largest number of set bits at which the rate of the filter is at most the claimed rate.
    /// The rate includes `items / 2^hash_bits` for keys with equal hashes.
    pub ones: u64,
    /// An upper bound on the probability that more than `ones` bits are set.
    pub bound: TailBound,
}

/// An upper bound on `P(X >= a)`, where X is the number of set bits and a is [`OneFilter::ones`]
/// plus 1. In the formulas, `v` is the variance of X.
///
/// Each field is stored as an integer multiple of `2^-64` ([`TailBound::UNIT`]). `mean_above` and
/// `variance_above` are upper bounds on the true values, and `variance` is a lower bound. The
/// formulas hold for every `tilt` above 0, so rounding `tilt` does no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailBound {
    /// The probability is 0. With m bits, and n items of k probes each, at most `min(m, n k)` bits
    /// can be set. This is below `a`.
    Certain,
    /// The filter is so small that the checker can compute the distribution of the number of set
    /// bits item by item.
    Law,
    /// Bennett's bound, `E = exp(v (z - 1 - ln z) - (a - mean) ln z)`. It holds for every number z
    /// above 1. Here, `mean` and v are the mean and the variance of the number of set bits.
    Chernoff {
        /// The value of `z - 1` in the formula, in units of `2^-64`.
        tilt: u128,
        /// An upper bound on the mean.
        mean_above: u128,
        /// An upper bound on the variance.
        variance_above: u128,
    },
    /// A sharper form of Bennett's bound: `0.469 sqrt(z / v) E z / (z - 1)`, with z, v and E as in
    /// [`TailBound::Chernoff`]. The file docs/CERTIFICATE.md proves this bound.
    LargestTerm {
        /// The value of `z - 1` in the formula, in units of `2^-64`.
        tilt: u128,
        /// An upper bound on the mean.
        mean_above: u128,
        /// An upper bound on the variance.
        variance_above: u128,
        /// A lower bound on the variance.
        variance: u128,
    },
    /// The Berry-Esseen bound: the tail of the normal distribution at `(a - mean) / sqrt(v)`, plus
    /// `0.56 / sqrt(v)`.
    Normal {
        /// An upper bound on the mean.
        mean_above: u128,
        /// An upper bound on the variance.
        variance_above: u128,
        /// A lower bound on the variance.
        variance: u128,
    },
}

impl TailBound {
    /// The unit of the fields of a `TailBound` is `2^-UNIT`.
    pub const UNIT: u32 = 64;
}

/// The mean and the variance: as floating-point numbers, and as integers that are rounded up or
/// down.
struct Moments {
    mean: f64,
    variance: f64,
    mean_above: u128,
    variance_above: u128,
    variance_below: u128,
}

/// Converts a number to units of `2^-64`, rounded up or down so that the result is an upper or a
/// lower bound on the true number. The relative error of `x` is at most 1e-15.
fn units(x: f64, up: bool) -> u128 {
    let moved = if up { x * (1.0 + 4e-15) } else { x * (1.0 - 4e-15) };
    let scaled = libm::scalbn(moved, TailBound::UNIT as i32);
    scaled as u128 + u128::from(up)
}

impl Moments {
    fn of(fill: &Fill) -> Moments {
        let (mean, variance) = (fill.mean, fill.variance);
        Moments {
            mean,
            variance,
            mean_above: units(mean, true),
            variance_above: units(variance, true),
            variance_below: units(variance, false),
        }
    }
}

/// The largest product of set bits and balls for which a checker in an interpreted language can
/// compute the distribution in a few seconds. A ball is one position of an item.
const SHORT_LAW: f64 = 1e7;

pub(super) fn one_filter(claim: &Claim, asked: f64) -> Result<OneFilter> {
    let unproven = || Error::NotCertified { claim: "that one filter meets the rate with this probability" };
    let ones = most_ones(claim)?.ok_or_else(unproven)?;
    let throws = u128::from(claim.items) * u128::from(claim.probes);
    if u128::from(ones) >= throws.min(claim.bits.into()) {
        return Ok(OneFilter { confidence: asked, ones, bound: TailBound::Certain });
    }
    let fill = Standard::new(claim.bits, claim.probes)?.fill(claim.items)?.ok_or_else(unproven)?;
    let moments = Moments::of(&fill);
    let (miss, bound) = [chernoff(&moments, ones), largest_term(&moments, ones), normal(&moments, ones)]
        .into_iter()
        .flatten()
        .min_by(|(miss, _), (other, _)| miss.total_cmp(other))
        .unwrap_or((1.0, TailBound::Law));
    let allowed = 1.0 - asked;
    // A margin for the rounding in this function, because the checker rounds outward.
    let safe = miss * (1.0 + 1e-6);
    if safe <= allowed {
        return Ok(OneFilter { confidence: asked, ones, bound });
    }
    let width = 16.0 * libm::sqrt(fill.variance) + 32.0;
    if throws as f64 * width.min(ones as f64) <= SHORT_LAW {
        let evidence = miss_bound(
            crate::Variant::Standard,
            claim.bits,
            claim.items,
            claim.probes,
            &claim.rate,
            Some(claim.hash_bits),
            Evidence::Law { terms: 8e6 },
        )?;
        // The checker drops terms that add up to less than this.
        if evidence + 1e-12 <= allowed {
            return Ok(OneFilter { confidence: asked, ones, bound: TailBound::Law });
        }
    }
    if safe >= 1.0 {
        return Err(unproven());
    }
    // The confidence that is proven, rounded down. Five digits of its complement, the probability
    // of a miss, are kept.
    let digits = libm::pow(10.0, 4.0 - libm::floor(libm::log10(safe)));
    let confidence = 1.0 - libm::ceil(safe * digits + 1e-3) / digits;
    Ok(OneFilter { confidence, ones, bound })
}

/// The largest number of set bits at which the rate is at most p, decided exactly.
fn most_ones(claim: &Claim) -> Result<Option<u64>> {
    let meets = |ones: u64| Ratios::power(ones, claim.bits, claim.probes).at_most(&claim.rate, Some(claim.floor()));
    let left = 1.0 - libm::exp(libm::log(hash_floor(claim.items, claim.hash_bits)) - claim.rate.ln());
    let share = libm::exp((claim.rate.ln() + libm::log(left.max(1e-300))) / f64::from(claim.probes));
    // If all bits are set, the rate is 1, which is too high.
    let past = boundary(share * claim.bits as f64 + 1.0, 1, claim.bits, meets)?;
    Ok(past.checked_sub(1).filter(|ones| *ones > 0))
}

/// The distance from the mean to the smallest number of set bits that is too large, minus a margin
/// for the rounding of the mean.
fn distance(moments: &Moments, ones: u64) -> f64 {
    (ones as f64 - moments.mean) + 1.0 - 8.0 * f64::EPSILON * moments.mean
}

/// Returns the exponent of Bennett's bound, its parameter (the tilt) in units of `2^-64`, and the
/// same parameter as a floating-point number.
fn exponent(moments: &Moments, ones: u64) -> Option<(f64, u128, f64)> {
    let (distance, v) = (distance(moments, ones), moments.variance * (1.0 + 1e-14));
    if !(distance > 0.0 && v > 0.0) {
        return None;
    }
    let tilt = distance / v;
    let units = libm::scalbn(tilt, TailBound::UNIT as i32);
    if !(units >= 1.0 && tilt < 1e9) {
        return None;
    }
    // The exponent v (u - ln(1 + u)) - d ln(1 + u) at u = d / v is -v h. For small u, its terms
    // cancel.
    let h = if tilt < 1e-3 {
        tilt * tilt * (0.5 - tilt / 6.0 + tilt * tilt / 12.0 - tilt * tilt * tilt / 20.0)
    } else {
        (1.0 + tilt) * libm::log1p(tilt) - tilt
    };
    Some((-v * h * (1.0 - 1e-9), units as u128, tilt))
}

fn chernoff(moments: &Moments, ones: u64) -> Option<(f64, TailBound)> {
    let (exponent, tilt, _) = exponent(moments, ones)?;
    let Moments { mean_above, variance_above, .. } = *moments;
    Some((libm::exp(exponent), TailBound::Chernoff { tilt, mean_above, variance_above }))
}

fn largest_term(moments: &Moments, ones: u64) -> Option<(f64, TailBound)> {
    let (exponent, tilt, u) = exponent(moments, ones)?;
    let z = 1.0 + u;
    let miss = 0.469 * libm::sqrt(z / moments.variance) * libm::exp(exponent) * z / u;
    let Moments { mean_above, variance_above, variance_below: variance, .. } = *moments;
    Some((miss, TailBound::LargestTerm { tilt, mean_above, variance_above, variance }))
}

fn normal(moments: &Moments, ones: u64) -> Option<(f64, TailBound)> {
    let deviation = libm::sqrt(moments.variance);
    let d = distance(moments, ones) / deviation;
    if !(d > 0.0 && d.is_finite()) {
        return None;
    }
    // Sampford's bound on the normal tail, with 1 / sqrt(2 pi) rounded up, as in the checker.
    let density = 0.398_943 * libm::exp(-0.5 * d * d);
    let miss = density * 4.0 / (3.0 * d + libm::sqrt(d * d + 8.0)) + 0.56 / deviation;
    let Moments { mean_above, variance_above, variance_below: variance, .. } = *moments;
    Some((miss, TailBound::Normal { mean_above, variance_above, variance }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the exponent with the power series of `(1 + u) ln(1 + u) - u`, to the last digit.
    /// The tilts are on both sides of 1e-3, below which the code uses four terms of the series.
    #[test]
    fn exponents_are_those_of_the_series() {
        for tilt in [1e-6f64, 1e-4, 5e-4, 9.99e-4, 1.001e-3, 0.01, 0.1] {
            let variance = 1e9;
            let moments = Moments { mean: 1e6, variance, mean_above: 0, variance_above: 0, variance_below: 0 };
            let ones = (1e6 + tilt * variance) as u64;
            let (found, _, u) = exponent(&moments, ones).expect("beyond the mean");
            let h: f64 = (2..60).map(|j| (if j % 2 == 0 { 1.0 } else { -1.0 }) * u.powi(j) / f64::from(j * (j - 1))).sum();
            assert!((u / tilt - 1.0).abs() < 1e-2, "{tilt} {u}");
            let relative = -found / (variance * h) - 1.0;
            assert!((-1.2e-9..0.0).contains(&relative), "{tilt}: {relative:e}");
        }
    }
}
