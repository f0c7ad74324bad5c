//! The law of the number of set bits: its mean, its variance and proven tail bounds.

use crate::exact::enclosure::{Enclose, Enclosure};
use crate::exact::fixed::{self, Divisor, Product};
use crate::exact::work;
use crate::law::inclusion::{Inclusion, Items};
use crate::tails::bernoulli::bennett;
use crate::{Error, Result};
use alloc::vec;
use alloc::vec::Vec;

/// The mean and the variance of the number of set bits in a filter that holds a given number of
/// distinct items. [`at_least`](Self::at_least) and [`at_most`](Self::at_most) give proven bounds
/// on the tails of the distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fill {
    /// The number of bits, m.
    pub bits: u64,
    /// The expected number of set bits, with a relative error below 1e-15.
    ///
    /// For a filter without slices, let m be the number of bits, and let `g_1` be the probability
    /// that a given bit is empty. The mean is then `m (1 - g_1)`. See Burns (44), and Grandi (7)
    /// and (13), in docs/PAPERS.md.
    pub mean: f64,
    /// The variance of the number of set bits, with a relative error below 1e-15. If the variance
    /// is too small for an `f64`, this field is 0.
    ///
    /// For a filter without slices, let m be the number of bits, and let `g_j` be the probability
    /// that j given bits are empty. The variance is then `m g_1 + m (m-1) g_2 - m^2 g_1^2`. See
    /// Grandi (8) and (14) in docs/PAPERS.md. Burns (43) is misprinted.
    pub variance: f64,
}

impl Fill {
    pub(crate) fn empty(bits: u64) -> Fill {
        Fill { bits, mean: 0.0, variance: 0.0 }
    }

    /// Creates the law of the number of set bits in the filter that `law` describes.
    pub(crate) fn of(law: Inclusion) -> Result<Fill> {
        let bits = law.bits;
        if law.items == 0 {
            return Ok(Fill::empty(bits));
        }
        let m = bits as f64;
        let mean = m * Mean(law).fpr()?.value;
        let variance = match Variance(law) {
            certain if certain.is_zero() => 0.0,
            variance => match variance.fpr() {
                Ok(share) => m * m * share.value,
                // The filter is so full that the variance has more than ten thousand zeros after
                // the point.
                Err(Error::TooCostly { .. }) => 0.0,
                Err(error) => return Err(error),
            },
        };
        Ok(Fill { bits, mean, variance })
    }

    /// Returns the law of a sum: this number of set bits plus `count` independent numbers of set
    /// bits with the law `other`.
    pub(crate) fn plus(self, other: &Fill, count: f64) -> Fill {
        Fill { bits: self.bits, mean: self.mean + count * other.mean, variance: self.variance + count * other.variance }
    }

    /// Returns an upper bound on the probability of at least `ones` set bits.
    ///
    /// The bound is Bennett's inequality with the exact mean and variance. Bennett's inequality
    /// applies because the number of set bits has the distribution of a sum of independent
    /// Bernoulli variables. This is the case because the generating polynomial of the number of set
    /// bits has only real roots. Vatutin and Mikhailov (1982) prove this property of the roots for
    /// single probes and for groups of distinct probes. In a partitioned filter, each slice is a
    /// filter in which every item has one probe. Far from the mean, the bound can be much larger
    /// than the exact probability.
    #[must_use]
    pub fn at_least(&self, ones: u64) -> f64 {
        self.bennett(ones as f64 - self.mean)
    }

    /// Returns an upper bound on the probability of at most `ones` set bits. The bound is computed
    /// as in [`Fill::at_least`].
    #[must_use]
    pub fn at_most(&self, ones: u64) -> f64 {
        self.bennett(self.mean - ones as f64)
    }

    /// Bennett's bound on the probability of a deviation from the mean by at least `distance`. The
    /// rounding error of the mean is first subtracted from the distance.
    fn bennett(&self, distance: f64) -> f64 {
        bennett(self.variance, distance - 4.0 * f64::EPSILON * self.mean)
    }
}

/// The mean divided by m, which is `1 - g_1`.
pub(crate) struct Mean(pub(crate) Inclusion);

/// The variance divided by m^2, which is `g_1 / m + (1 - 1/m) g_2 - g_1^2`.
struct Variance(Inclusion);

impl Variance {
    /// Whether the variance is zero. The number of set bits is certain after a single throw (one
    /// probe, or one item with distinct positions). It is also certain if an item sets all bits.
    fn is_zero(&self) -> bool {
        let law = &self.0;
        match law.placement {
            Items::Independent => law.bits == 1 || law.items == 1 && law.probes == 1,
            Items::Distinct => law.items == 1 || u64::from(law.probes) == law.bits,
            // There is no law of the fill for blocks.
            Items::Blocked { .. } => false,
        }
    }
}

/// Computes `g_1` and `g_2`, each at most [`Inclusion::empty_error`] units of the last place too
/// low.
pub(crate) fn empties(law: &Inclusion, limbs: usize) -> [Vec<u64>; 2] {
    let mut found = [vec![0; limbs], vec![0; limbs]];
    law.for_each_empty(2, &mut Product::new(limbs), limbs, |j, empty, _| found[j as usize - 1].copy_from_slice(empty));
    found
}

impl Enclose for Mean {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let [mut empty, _] = empties(&self.0, limbs);
        // The complement, 2^B - 1 - x, is one unit too low.
        empty.iter_mut().for_each(|word| *word = !*word);
        Ok(Enclosure::around(empty, self.0.empty_error(), 1, -64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        libm::log2(self.0.bits as f64) + libm::log2(self.0.empty_error() as f64)
    }

    fn denominator_bits(&self) -> f64 {
        self.0.denominator_bits()
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        check_moment_cost(&self.0, bits)
    }
}

impl Enclose for Variance {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let [mut first, mut second] = empties(&self.0, limbs);
        let whole = Divisor::new(self.0.bits);
        let mut square = first.clone();
        Product::new(limbs).square(&mut square);
        fixed::scale(&mut second, self.0.bits - 1, &whole);
        fixed::scale(&mut first, 1, &whole);
        // Scaling each of the two terms loses at most one more unit. The square is wrong by at most
        // twice the error of its root.
        let error = self.0.empty_error() + 1;
        let mut sum = first;
        sum.push(0);
        fixed::add(&mut sum, &second);
        if fixed::subtract(&mut sum, &square) {
            sum.fill(0);
        }
        Ok(Enclosure::around(sum, 2 * error, 2 * error, -64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        3.0 * libm::log2(self.0.bits as f64) + libm::log2(self.0.empty_error() as f64)
    }

    fn denominator_bits(&self) -> f64 {
        2.0 * self.0.denominator_bits()
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        check_moment_cost(&self.0, bits)
    }
}

/// Checks that the mean and the variance can be computed in a reasonable time. The variance of a
/// very full filter is so small that its digits are not worth computing.
fn check_moment_cost(law: &Inclusion, bits: f64) -> Result<()> {
    if bits < 1e5 {
        let limbs = bits / 64.0;
        return work::spend("the moments of the number of set bits", 130.0 * (limbs * limbs + 10.0));
    }
    Err(Error::TooCostly { probes: law.probes, digits: bits as u64 })
}
