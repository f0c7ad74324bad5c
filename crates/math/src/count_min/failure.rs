//! Upper bounds on the probability that an estimate is too high by a given share of the stream's
//! sum.

use super::euler::{Fraction, Sum};
use super::shape::inverse;
use super::{Family, LN_SLACK, Rows, Shape, ln_target};
use crate::exact::combine::Power;
use crate::exact::enclosure::{Enclose, GUARD};
use crate::exact::work;
use crate::{Fpr, Rate, Result, bisect};
use alloc::boxed::Box;
use alloc::vec;

impl Shape {
    /// Returns a proven upper bound on the probability that an estimate is too high by `epsilon` N
    /// or more. N is the sum of all counts in the stream. The result is a bracket (a lower and an
    /// upper end) that contains the exact value of this bound. The true probability can be below
    /// both ends of the bracket.
    ///
    /// The bound depends on how the rows get their hashes, and on the assumption about the hash
    /// functions ([`Family`]). In these formulas, w is the width and d is the depth:
    ///
    /// * For independent rows, with either family of hash functions, the bound is
    ///   `(1 / (epsilon w))^d`. It follows from Markov's inequality for each row.
    /// * For two ideal hashes per copy, the bound is
    ///   `((2 / (epsilon w))^d + 2 / (epsilon w^2))^copies` (Theorem 9.1 of Kirsch and
    ///   Mitzenmacher). The proof divides the other items into two groups. The first group consists
    ///   of the items that differ from the estimated item in at least one of the two hashes. In
    ///   each copy, an item of this group shares at most one counter with the estimated item. So
    ///   the errors that this group causes in different rows are negatively associated. The first
    ///   term bounds the probability that this group adds at least `epsilon` N / 2 to the estimate.
    ///   The second group consists of the items with the same two hashes as the estimated item. The
    ///   second term bounds the probability that this group adds at least `epsilon` N / 2 to the
    ///   estimate.
    /// * For two pairwise independent hashes per copy, the bound is `(1 / (epsilon w))^copies`. The
    ///   bound follows from Markov's inequality for one row of each copy, and from the independence
    ///   of the copies. The proof uses only one row of each copy, because the rows of a copy depend
    ///   on each other (K14 in docs/ERRATA.md).
    ///
    /// # Errors
    /// This method does not fail at present, because every [`Shape`] and every [`Rate`] is valid.
    pub fn failure_bound(&self, epsilon: &Rate, family: Family) -> Result<Fpr> {
        let _work = work::begin();
        let Some(bound) = self.failure(epsilon, family) else { return Ok(Fpr::ONE) };
        let enclosure = bound.enclose(GUARD)?;
        if enclosure.lower.floor() >= 1.0 {
            return Ok(Fpr::ONE);
        }
        let mut bound = Fpr::from_enclosure(&enclosure);
        // The logarithm of a number with more than 2^20 binary digits can be wrong in its last
        // digit.
        if bound.ln_lower < -5e5 {
            (bound.ln_lower, bound.ln_upper) = (bound.ln_lower * (1.0 + 1e-15), bound.ln_upper * (1.0 - 1e-15));
        }
        Ok(bound)
    }

    /// The bound, in a form that can be compared exactly with other numbers; `None` if the bound is
    /// not below 1.
    pub(super) fn failure(&self, epsilon: &Rate, family: Family) -> Option<Box<dyn Enclose>> {
        let (factors, numerator) = inverse(epsilon);
        // share / (epsilon w^power)
        let markov = |share: u64, power: usize| {
            let mut top = factors.clone();
            top.push(share);
            let mut bottom = vec![numerator];
            bottom.extend(vec![self.width; power]);
            Fraction { top, bottom }
        };
        let halved = self.rows == Rows::TwoHash && family == Family::Ideal;
        let row = markov(1 + u64::from(halved), 1);
        if row.enclose(GUARD).ok()?.upper.ceil() >= 1.0 {
            return None;
        }
        let (depth, copies) = (u64::from(self.depth), u64::from(self.copies));
        Some(match (self.rows, family) {
            (Rows::Independent, _) => Box::new(Power { base: row, exponent: depth }),
            (Rows::TwoHash, Family::Pairwise) => Box::new(Power { base: row, exponent: copies }),
            (Rows::TwoHash, Family::Ideal) => {
                Box::new(Power { base: Sum(Power { base: row, exponent: depth }, markov(2, 2)), exponent: copies })
            }
        })
    }

    /// Returns a proven bound on the error of an estimate, for a stream whose counts have the sum
    /// `total`. The estimate exceeds the true count by more than this bound with probability at
    /// most `delta`. The result is at most `total`, because no error is larger than `total`. This
    /// takes a few microseconds.
    #[must_use]
    pub fn error_bound(&self, total: u64, family: Family, delta: &Rate) -> u64 {
        let _work = work::begin();
        let target = ln_target(delta);
        // Finds the smallest v with ln failure((v + 1) / total) <= target. The left side decreases
        // as v grows.
        let unlikely = |v: u64| self.ln_failure((v as f64 + 1.0) / total as f64, family) <= target;
        bisect(0..=total, unlikely)
    }

    /// The logarithm of the bound, computed in `f64`, plus a margin for rounding errors.
    fn ln_failure(&self, epsilon: f64, family: Family) -> f64 {
        let (width, depth, copies) = (self.width as f64, f64::from(self.depth), f64::from(self.copies));
        let ln_row = -libm::log(epsilon * width);
        let ln = match (self.rows, family) {
            (Rows::Independent, _) => depth * ln_row,
            (Rows::TwoHash, Family::Pairwise) => copies * ln_row,
            (Rows::TwoHash, Family::Ideal) => {
                let (rows, both) = (depth * (core::f64::consts::LN_2 + ln_row), core::f64::consts::LN_2 + ln_row - libm::log(width));
                let (more, less) = (rows.max(both), rows.min(both));
                copies * (more + libm::log1p(libm::exp(less - more)))
            }
        };
        // The margin is proportional to the size of the logarithm.
        ln + ln.abs() * LN_SLACK * 1e-3
    }
}
