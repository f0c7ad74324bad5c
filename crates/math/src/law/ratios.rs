//! Products of ratios, which give the rate of a filter whose fill is known.

use super::inclusion::MAX_DIGITS;
use crate::exact::dyadic::Dyadic;
use crate::exact::enclosure::{Enclose, Enclosure};
use crate::exact::fixed::{self, Divisor, Product};
use crate::exact::work;
use crate::{Error, Fpr, Result};
use alloc::vec;
use alloc::vec::Vec;

/// A product of powers of ratios, each given as `(numerator, denominator, exponent)`. No ratio
/// exceeds 1.
#[derive(Clone, Debug)]
pub(crate) struct Ratios(Vec<(u64, u64, u32)>);

impl Ratios {
    /// Creates a product in which each ratio has the exponent 1.
    pub(crate) fn new(ratios: impl IntoIterator<Item = (u64, u64)>) -> Ratios {
        Ratios(ratios.into_iter().map(|(a, b)| (a, b, 1)).collect())
    }

    /// Creates a single power of a ratio.
    pub(crate) fn power(numerator: u64, denominator: u64, exponent: u32) -> Ratios {
        Ratios(vec![(numerator, denominator, exponent)])
    }

    /// Returns a bracket of the product, with a relative width of at most `2^-guard`. The product
    /// may be 0 or 1.
    pub(crate) fn enclosed(mut self, guard: u32) -> Result<Enclosure> {
        let whole = |word: u64| Dyadic { words: vec![word], exponent: 0 };
        if self.0.iter().any(|(a, _, _)| *a == 0) {
            return Ok(Enclosure { lower: whole(0), upper: whole(0) });
        }
        self.0.retain(|(a, b, _)| a < b);
        if self.0.is_empty() { Ok(Enclosure { lower: whole(1), upper: whole(1) }) } else { self.enclose(guard) }
    }

    /// Returns the product as a rate. The product may be 0 or 1.
    pub(crate) fn rate(mut self) -> Result<Fpr> {
        if self.0.iter().any(|(a, _, _)| *a == 0) {
            return Ok(Fpr::ZERO);
        }
        self.0.retain(|(a, b, _)| a < b);
        if self.0.is_empty() { Ok(Fpr::ONE) } else { self.fpr() }
    }
}

impl Enclose for Ratios {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let mut product = Product::new(limbs);
        let (mut base, mut power) = (vec![0; limbs], vec![0; limbs]);
        let mut value: Option<Vec<u64>> = None;
        let mut error = 0;
        for &(numerator, denominator, exponent) in &self.0 {
            let divisor = Divisor::new(denominator);
            match &mut value {
                Some(value) if exponent == 1 => {
                    fixed::scale(value, numerator, &divisor);
                    error += 1;
                }
                _ => {
                    fixed::set_ratio(&mut base, numerator, &divisor);
                    product.power(&mut power, &base, u128::from(exponent));
                    error += 2 * u128::from(exponent);
                    match &mut value {
                        Some(value) => product.multiply(value, &power),
                        None => value = Some(power.clone()),
                    }
                }
            }
        }
        Ok(Enclosure::around(value.unwrap_or_default(), 0, error, -64 * limbs as i64))
    }

    fn bits_needed(&self) -> f64 {
        let log2 = |&(a, b, e): &(u64, u64, u32)| f64::from(e) * libm::log2(a as f64 / b as f64);
        16.0 - self.0.iter().map(log2).sum::<f64>()
    }

    fn denominator_bits(&self) -> f64 {
        self.0.iter().map(|&(_, b, e)| f64::from(e) * (libm::log2(b as f64) + 1e-9)).sum()
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        if bits < MAX_DIGITS {
            return work::spend("an exact product", self.0.len() as f64 * (bits / 32.0 + 40.0));
        }
        Err(Error::TooCostly { probes: self.0.len() as u32, digits: bits.min(1e18) as u64 })
    }
}
