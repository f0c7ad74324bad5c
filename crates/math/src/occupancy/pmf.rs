//! The probability of one number of set bits, of every number, or of all numbers whose probability
//! is not negligible. Also the generating function, which is a sum over these probabilities.

use super::Occupancy;
use super::contour::Contour;
use super::thinning::{self, Budget, Precision, Stretch, too_costly};
use crate::error::out_of_range;
use crate::exact::work;
use crate::{Method, Result};
use alloc::vec;
use alloc::vec::Vec;

/// The largest number of throws for which the standard law is computed by a recurrence, throw by
/// throw. For more throws, contour integrals are faster.
pub(super) const WALKED_THROWS: u128 = 256;

/// An upper limit on the number of terms of a recurrence in pairs of `f64`. This many terms take a
/// second or two.
const WALK_TERMS: f64 = 1.5e8;

/// The largest number of probabilities that are computed by contour integrals. Each takes about 3
/// microseconds, so together they take about three seconds.
const CONTOURS: u64 = 1_000_000;

/// The largest number of bits for which the vector of all probabilities is computed.
const MAX_VECTOR: u64 = 1 << 27;

/// In the vector of all probabilities, probabilities below this limit may be replaced by 0.
const SMALLEST: f64 = 1e-280;

/// The probabilities of consecutive numbers of set bits: `first`, `first + 1` and so on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pmf {
    /// The number of set bits to which `probabilities[0]` belongs.
    pub first: u64,
    /// The probabilities; each has a relative error of at most 1e-12.
    pub probabilities: Vec<f64>,
    /// An upper bound on the total probability of all numbers that are not listed.
    pub left_out: f64,
    /// How the probabilities were computed. With [`Method::Exact`], they come from a recurrence
    /// whose terms are all positive, with a proven bound on its rounding errors. With
    /// [`Method::Validated`], they come from contour integrals, whose rounding errors are tested
    /// but not proven.
    pub method: Method,
}

impl Occupancy {
    /// Returns the probability of each number of set bits, from index 0 to `bits`.
    ///
    /// The relative error is at most 1e-12 for every probability above 1e-280. Smaller
    /// probabilities may be 0.
    ///
    /// A *throw* hits one bit, independently of all other throws. In a standard filter, each probe
    /// is a throw. The law of more than 256 throws is computed by contour integrals, which take
    /// about 3 microseconds per probability. All other laws are computed by a recurrence whose
    /// terms are all positive. The recurrence takes longer if there are more committees (sets of
    /// distinct bits), if they are larger, or if more of the probabilities are not negligible.
    ///
    /// # Errors
    /// Fails with [`Error::LawTooCostly`](crate::Error::LawTooCostly) for more than 2^27 bits, for
    /// more than 2^53 throws (independent probes), or if the computation would take more than a few
    /// seconds.
    pub fn pmf(&self) -> Result<Vec<f64>> {
        let _work = work::begin();
        if self.bits > MAX_VECTOR {
            return Err(too_costly(self.bits));
        }
        let part = self.part(SMALLEST)?;
        let mut whole = vec![0.0; self.bits as usize + 1];
        whole[part.first as usize..][..part.probabilities.len()].copy_from_slice(&part.probabilities);
        Ok(whole)
    }

    /// Returns all probabilities above 1e-20, and an upper bound on the sum of all other
    /// probabilities. The probabilities are computed as in [`Occupancy::pmf`], but without the
    /// limit of 2^27 bits.
    ///
    /// ```
    /// use truebloom_math::occupancy::Occupancy;
    /// let pmf = Occupancy::standard(1 << 16, 5_000, 7)?.pmf_window()?;
    /// assert!(pmf.probabilities.len() < 2_500 && pmf.left_out < 1e-18);
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails with [`Error::LawTooCostly`](crate::Error::LawTooCostly) for more than 2^53 throws
    /// (independent probes), or if the computation would take more than a few seconds. With more
    /// than 256 throws, also fails above 2^53 bits.
    pub fn pmf_window(&self) -> Result<Pmf> {
        let _work = work::begin();
        self.part(1e-20)
    }

    /// Returns the probability of exactly `ones` set bits, with a relative error of at most 1e-12
    /// for results above 1e-280. If this number of set bits is impossible, the result is 0. In a
    /// standard filter, each probe is a *throw*. For a law of more than 256 throws, this takes
    /// microseconds. For all other laws, this takes as long as [`Occupancy::pmf`].
    ///
    /// # Errors
    /// Fails with [`Error::LawTooCostly`](crate::Error::LawTooCostly) for more than 2^53 throws
    /// (independent probes), or if the computation would take more than a few seconds. With more
    /// than 256 throws, also fails above 2^53 bits.
    pub fn probability(&self, ones: u64) -> Result<f64> {
        let _work = work::begin();
        let (least, most) = self.support();
        if ones < least || ones > most {
            return Ok(0.0);
        }
        if least == most {
            return Ok(1.0);
        }
        match self.throws() {
            Some(throws) if throws > WALKED_THROWS => {
                Contour::new(self.bits, throws).map(|c| c.probability(ones)).ok_or_else(|| too_costly(self.bits))
            }
            _ => {
                let part = self.part(SMALLEST)?;
                Ok(ones.checked_sub(part.first).and_then(|i| part.probabilities.get(i as usize)).copied().unwrap_or(0.0))
            }
        }
    }

    /// Returns the generating function `E[z^X]` of the number X of set bits, for a finite z of
    /// either sign. See equations (5), (20) and (28) of Burns.
    ///
    /// The method sums over all probabilities, so it takes as long as [`Occupancy::pmf`]. For z >=
    /// 0, the relative error is at most 2e-12. For z < 0, the signs of the terms alternate, and the
    /// absolute error is at most `2e-12 * E[|z|^X]`.
    ///
    /// # Errors
    /// Fails if `E[|z|^X]` exceeds the range of `f64`. Fails with
    /// [`Error::LawTooCostly`](crate::Error::LawTooCostly) if computing the probabilities would
    /// take too long. Fails with the same error if the probabilities that are left out (below
    /// 1e-280) could change the result.
    pub fn generating_function(&self, z: f64) -> Result<f64> {
        let _work = work::begin();
        if !z.is_finite() {
            return out_of_range("z", z, "a finite number");
        }
        let (least, most) = self.support();
        if z == 0.0 {
            return if least > 0 { Ok(0.0) } else { self.probability(0) };
        }
        let part = self.part(SMALLEST)?;
        let ln = libm::log(z.abs());
        let (mut sum, mut size) = (0.0, 0.0);
        for (i, &p) in part.probabilities.iter().enumerate() {
            let x = part.first + i as u64;
            // Logarithms are used only if the power alone leaves the range of `f64`.
            let power = libm::pow(z.abs(), x as f64);
            let term = if power > 1e-290 && power < 1e300 { p * power } else { libm::exp(libm::log(p) + x as f64 * ln) };
            size += term;
            sum += if z < 0.0 && x % 2 == 1 { -term } else { term };
        }
        if !size.is_finite() {
            return out_of_range("z", z, "so small that E[z^X] is below 1.8e308");
        }
        // The missing probabilities are beyond the two ends. Beyond each end they are below the
        // probability at that end, and they decrease.
        let last = part.first + part.probabilities.len() as u64 - 1;
        let missing = |x: u64, count: u64| {
            libm::exp((libm::log(part.left_out.max(f64::MIN_POSITIVE)) + x as f64 * ln).min(709.0)) * (count > 0) as u64 as f64
        };
        let beyond = missing(part.first, part.first - least.min(part.first)).max(missing(least, part.first - least.min(part.first)));
        let beyond = beyond + missing(most, most - last.min(most)).max(missing(last, most - last.min(most)));
        if beyond > 1e-12 * size {
            return Err(too_costly(self.bits));
        }
        Ok(sum)
    }

    /// All probabilities of at least `smallest`, with relative errors of at most 1e-12.
    pub(super) fn part(&self, smallest: f64) -> Result<Pmf> {
        let (least, most) = self.support();
        if least == most {
            return Ok(Pmf { first: least, probabilities: vec![1.0], left_out: 0.0, method: Method::Exact });
        }
        if let Some(throws) = self.throws().filter(|throws| *throws > WALKED_THROWS) {
            let contour = Contour::new(self.bits, throws).ok_or_else(|| too_costly(self.bits))?;
            return self.by_contour(&contour, smallest);
        }
        // Probabilities that are dropped between steps must be negligible compared with those that
        // are kept.
        let floor = smallest * 1e-20;
        let stretch = thinning::law(self, &Budget { precision: Precision::DoubleDouble, floor, terms: WALK_TERMS })?;
        Ok(kept(stretch, smallest))
    }

    /// Computes probabilities outwards from the mean.
    fn by_contour(&self, contour: &Contour, smallest: f64) -> Result<Pmf> {
        let (least, most) = self.support();
        // An estimate of the number of probabilities. Those of at least 1e-280 reach up to about 36
        // standard deviations from the mean in both directions. Those of at least 1e-20 reach up to
        // about 10.
        let reach = 2.0 * libm::sqrt(-2.0 * libm::log(smallest)) * libm::sqrt(self.variance()?);
        if reach > CONTOURS as f64 {
            return Err(too_costly(self.bits));
        }
        let middle = (self.mean()? as u64).clamp(least, most);
        let above: Vec<f64> = (middle..=most).map(|x| contour.probability(x)).take_while(|p| *p >= smallest).collect();
        let mut all: Vec<f64> = (least..middle).rev().map(|x| contour.probability(x)).take_while(|p| *p >= smallest).collect();
        let first = middle - all.len() as u64;
        all.reverse();
        all.extend(above);
        let last = first + (all.len() as u64).max(1) - 1;
        // The probabilities are log-concave, so beyond an end they fall at least as fast as at the
        // end.
        let tail = |end: Option<&f64>, next: Option<u64>| match (end, next) {
            (_, None) => 0.0,
            (None, Some(_)) => 1.0,
            (Some(&end), Some(next)) => {
                let next = contour.probability(next).max(1e-300) * (1.0 + 1e-11);
                if next < end { (next / (1.0 - next / end)).min(1.0) } else { 1.0 }
            }
        };
        let left_out = tail(all.first(), (first > least).then(|| first - 1)) + tail(all.last(), (last < most).then_some(last + 1));
        Ok(Pmf { first, probabilities: all, left_out, method: Method::Validated })
    }
}

/// Reduces a law computed by the recurrence to the probabilities with a relative error of at most
/// 1e-12.
fn kept(stretch: Stretch, smallest: f64) -> Pmf {
    let Stretch { first, mut probabilities, left_out, .. } = stretch;
    let keep = probabilities.iter().rposition(|p| *p >= smallest).map_or(0, |last| last + 1);
    let above: f64 = probabilities[keep..].iter().sum();
    probabilities.truncate(keep);
    let skip = probabilities.iter().position(|p| *p >= smallest).unwrap_or(0);
    let below: f64 = probabilities.drain(..skip).sum();
    let dropped = (above + below) * (1.0 + 1e-9) + left_out;
    Pmf { first: first + skip as u64, probabilities, left_out: dropped, method: Method::Exact }
}
