//! The rate of the partitioned filter: a product over slices, computed in fixed-point arithmetic
//! with a bound on the rounding errors.

use super::inclusion::{MAX_DIGITS, MAX_WORK};
use crate::exact::enclosure::{Enclose, Enclosure};
use crate::exact::fixed::{self, Divisor, Product};
use crate::exact::work;
use crate::{Error, Result};
use alloc::vec;
use alloc::vec::Vec;

/// A filter of `k` slices. An item sets one random bit in each slice. The rate is the product over
/// slices of `1 - (1 - 1/size)^n`. The product is exact for slices of any sizes, because the slices
/// are independent and each has `n` throws.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slices {
    pub(crate) bits: u64,
    pub(crate) items: u64,
    pub(crate) probes: u32,
}

impl Slices {
    /// The two sizes of slices, as `(size, number of slices)`. The first `bits mod probes` slices
    /// are one bit longer than the others.
    pub(crate) fn sizes(&self) -> [(u64, u32); 2] {
        let probes = u64::from(self.probes);
        let longer = (self.bits % probes) as u32;
        [(self.bits / probes + 1, longer), (self.bits / probes, self.probes - longer)]
    }
}

impl Enclose for Slices {
    /// For each size, the power `(1 - 1/size)^n` is at most `2n` units of the last place too low,
    /// so its complement is known to within `2n` units. Raising both ends to the power `count`
    /// loses up to `count` more units at each end. At the upper end, these units are added again.
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let mut product = Product::new(limbs);
        let mut ends: Option<[Vec<u64>; 2]> = None;
        let mut error = 0;
        for (size, count) in self.sizes() {
            // A slice of one bit is full after one item, so its factor is 1.
            if count == 0 || size == 1 {
                continue;
            }
            let (mut base, mut empty) = (vec![0; limbs], vec![0; limbs]);
            fixed::set_ratio(&mut base, size - 1, &Divisor::new(size));
            product.power(&mut empty, &base, u128::from(self.items));
            // The number 2^B - 1 - x is the complement of x minus one unit.
            let mut upper: Vec<u64> = empty.iter().map(|word| !word).collect();
            let mut lower = upper.clone();
            if fixed::subtract(&mut lower, &fixed::units(2 * u128::from(self.items))) {
                lower.fill(0);
            }
            let bases = [lower.clone(), upper.clone()];
            product.power(&mut lower, &bases[0], u128::from(count));
            product.power(&mut upper, &bases[1], u128::from(count));
            // The upper base is one unit too low, so its power is at most (1 + 1) count - 1 units
            // too low. The product below adds one unit.
            error += 2 * u128::from(count);
            ends = Some(match ends {
                None => [lower, upper],
                Some([mut low, mut high]) => {
                    product.multiply(&mut low, &lower);
                    product.multiply(&mut high, &upper);
                    [low, high]
                }
            });
        }
        let exponent = -64 * limbs as i64;
        Ok(match ends {
            // All slices have one bit, so they are full.
            None => {
                let mut one = vec![0; limbs];
                one.push(1);
                Enclosure::around(one, 0, 0, exponent)
            }
            Some([low, high]) => {
                let lower = Enclosure::around(low, 0, 0, exponent).lower;
                let upper = Enclosure::around(high, 0, error, exponent).upper;
                Enclosure { lower, upper }
            }
        })
    }

    fn bits_needed(&self) -> f64 {
        let (n, k) = (self.items as f64, f64::from(self.probes));
        let share = -libm::expm1(-n * k / self.bits as f64);
        2.0 * libm::log2(n + 1.0) + 8.0 - k * libm::log2(share)
    }

    fn denominator_bits(&self) -> f64 {
        let bits = |(size, count): (u64, u32)| f64::from(count) * self.items as f64 * (libm::log2(size.max(1) as f64) + 1e-9);
        self.sizes().into_iter().map(bits).sum()
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        let limbs = bits / 64.0;
        if bits < MAX_DIGITS && 150.0 * limbs * limbs < MAX_WORK {
            return work::spend("exact rates", 150.0 * (limbs * limbs + 4.0));
        }
        Err(Error::TooCostly { probes: self.probes, digits: bits.min(1e18) as u64 })
    }
}
