//! The distributions of the number of set bits.
//!
//! Each item hits some of `m` bits. In one model, the positions of an item are independent of each
//! other. Each position is then called a *throw*. In the other model, an item hits a set of
//! distinct positions, which is called a *committee*. X is the number of bits that are hit.
//! [`Occupancy`] is the law (the probability distribution) of X, for these filters:
//!
//! | filter | name of the law in the papers | constructor |
//! |---|---|---|
//! | standard filter | classic occupancy, Burns (3)-(7) | [`Occupancy::standard`] |
//! | classic filter | committees of one size, Burns (12)-(15) | [`Occupancy::classic`] |
//! | union (OR) of filters | committees of varying sizes, Burns (18)-(23) | [`Occupancy::union`] |
//! | intersection (AND) of filters | committee intersection, Burns (24)-(42) | [`Occupancy::intersection`] |
//!
//! The following paragraphs show that X has the distribution of a sum of independent Bernoulli
//! variables. Let `F(z) = E[z^X]` and write `F(1 + z) = sum_j C(m,j) a_j z^j`. Here `a_j` is the
//! probability that `j` given bits are all hit. Each of two independent random sets of bits has its
//! own `a_j`. The `a_j` of their intersection is the product of the two. This operation on
//! polynomials is the composition of Schur (1914) and Szegő (1922). If both polynomials have only
//! real roots, and all roots of one of them have the same sign, then their composition has only
//! real roots.
//!
//! A single committee of size k has `F(z) = z^k`, so all roots of `F(1 + z)` are -1. A polynomial
//! with non-negative coefficients has no positive root. So the polynomial of an intersection of
//! committees has only real roots, and none of these roots is positive. The same argument therefore
//! applies to intersections with further sets. For the complement of a set, `F(z)` becomes
//! `z^m F(1/z)`, so all roots are again real and at most 0. A union is the complement of an
//! intersection of complements.
//!
//! A *department* is a union of committees. Every law in this module is the law of an intersection
//! of departments. So all roots of `F` are real and at most 0, which means that X has the
//! distribution of a sum of independent Bernoulli variables. This has two consequences. The
//! probabilities of X are log-concave. Bennett's inequality and the Berry-Esseen inequality hold
//! for the tails of X, with the exact mean and variance.

pub(crate) mod contour;
mod moments;
mod pmf;
#[cfg(feature = "study")]
mod sample;
pub(crate) mod tails;
pub(crate) mod thinning;

use alloc::vec::Vec;
use alloc::{format, vec};
pub use pmf::Pmf;
pub use tails::{Probability, Quantile};

use crate::error::{check_bits, check_probes, out_of_range};
use crate::{Result, Variant};

/// Several committees of the same size: `count` independent draws of `size` distinct bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Committees {
    pub(crate) size: u64,
    pub(crate) count: u128,
}

/// The probability distribution of X, the number of set bits. The [module](self) lists the filters
/// for which this distribution is available.
///
/// Probabilities are computed by recurrences whose terms are all positive, or by contour integrals.
/// Neither method loses digits by subtracting nearly equal numbers. Moments are computed in integer
/// arithmetic. Methods that return the probabilities of single values of X fail with
/// [`Error::LawTooCostly`](crate::Error::LawTooCostly) if the computation would take too long. In
/// this case, [`cdf`](Occupancy::cdf), [`at_least`](Occupancy::at_least) and
/// [`quantile`](Occupancy::quantile) still return a proven lower and upper bound
/// ([`Method::Bound`](crate::Method::Bound)), unless even the moments take too much work.
///
/// ```
/// use truebloom_math::occupancy::Occupancy;
/// // Two items, two probes, four bits.
/// let law = Occupancy::standard(4, 2, 2)?;
/// assert_eq!(law.pmf()?, [0.0, 0.015625, 0.328125, 0.5625, 0.09375]);
/// assert_eq!(law.mean()?, 2.734375);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    bits: u64,
    /// The departments: X counts the bits that are hit in every department. Within a department,
    /// all committees of one size are merged, and no count is 0.
    departments: Vec<Vec<Committees>>,
}

impl Occupancy {
    /// Creates the law of the number of set bits in a standard filter with `items` items. The
    /// filter has `items * probes` probes, and each probe hits one bit independently of all other
    /// probes.
    ///
    /// # Errors
    /// Fails if `bits` or `probes` is out of range.
    pub fn standard(bits: u64, items: u64, probes: u32) -> Result<Occupancy> {
        Variant::Standard.check(bits, probes)?;
        check_probes(probes)?;
        let committees = [Committees { size: 1, count: u128::from(items) * u128::from(probes) }];
        Ok(Occupancy { bits, departments: vec![merged(&committees)] })
    }

    /// Creates the law of the number of set bits in a classic filter, in which each of `items`
    /// items sets `probes` distinct bits.
    ///
    /// # Errors
    /// Fails if `bits` or `probes` is out of range, or if `probes` exceeds `bits`.
    pub fn classic(bits: u64, items: u64, probes: u32) -> Result<Occupancy> {
        Variant::Classic.check(bits, probes)?;
        let committees = [Committees { size: u64::from(probes), count: u128::from(items) }];
        Ok(Occupancy { bits, departments: vec![merged(&committees)] })
    }

    /// Creates the law of the number of bits in the union of several *committees*. A committee is a
    /// random set of distinct bits. Each entry `(size, count)` stands for `count` committees of
    /// `size` bits. See equations (18) to (23) of Burns.
    ///
    /// If the list is empty or all counts are 0, the union contains no bits.
    ///
    /// # Errors
    /// Fails if `bits` is out of range, or if the `size` of a committee is 0 or above `bits`.
    pub fn union(bits: u64, committees: &[(u64, u64)]) -> Result<Occupancy> {
        check_bits(bits)?;
        Ok(Occupancy { bits, departments: vec![department(bits, committees)?] })
    }

    /// Creates the law of the number of bits that are in every *department*. A department is a
    /// union of committees (random sets of distinct bits). Each department is given as a list of
    /// entries `(size, count)`, as in [`Occupancy::union`]. See equations (24) to (42) of Burns;
    /// equation (38) is printed with a wrong sign.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Occupancy::union`], and also if there is no department
    /// (group of committees).
    pub fn intersection<D: AsRef<[(u64, u64)]>>(bits: u64, departments: &[D]) -> Result<Occupancy> {
        check_bits(bits)?;
        if departments.is_empty() {
            return out_of_range("departments", "an empty list", "a list with at least one department");
        }
        let departments = departments.iter().map(|list| department(bits, list.as_ref())).collect::<Result<_>>()?;
        Ok(Occupancy { bits, departments })
    }

    /// Returns the number of bits, m.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Returns the smallest and the largest possible number of set bits. All numbers in between are
    /// possible.
    ///
    /// ```
    /// use truebloom_math::occupancy::Occupancy;
    /// assert_eq!(Occupancy::classic(100, 3, 5)?.support(), (5, 15));
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    #[must_use]
    pub fn support(&self) -> (u64, u64) {
        let bits = self.bits;
        let ends = self.departments.iter().map(|committees| {
            let least = committees.iter().map(|c| c.size).max().unwrap_or(0);
            let most = committees.iter().fold(0u128, |sum, c| sum.saturating_add(c.count.saturating_mul(u128::from(c.size))));
            (least, most.min(u128::from(bits)) as u64)
        });
        ends.reduce(|(least, most), (low, high)| (least.saturating_sub(bits - low), most.min(high))).unwrap_or((bits, bits))
    }

    /// The number of throws, if X counts the bits that are hit by single throws.
    fn throws(&self) -> Option<u128> {
        match self.departments.as_slice() {
            [committees] => match committees.as_slice() {
                [Committees { size: 1, count }] => Some(*count),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Makes a department: checks the sizes, and merges committees of equal size.
fn department(bits: u64, committees: &[(u64, u64)]) -> Result<Vec<Committees>> {
    let mut list = Vec::with_capacity(committees.len());
    for &(size, count) in committees {
        if size == 0 || size > bits {
            return out_of_range("committee size", size, format!("from 1 to bits ({bits})"));
        }
        list.push(Committees { size, count: u128::from(count) });
    }
    list.sort_by_key(|c| c.size);
    Ok(merged(&list))
}

fn merged(sorted: &[Committees]) -> Vec<Committees> {
    let mut list: Vec<Committees> = Vec::new();
    for &committees in sorted.iter().filter(|c| c.count > 0) {
        match list.last_mut() {
            // An overflow would take about 2^64 counts of 2^64 each.
            Some(last) if last.size == committees.size => last.count += committees.count,
            _ => list.push(committees),
        }
    }
    list
}
