//! Weights, which express the rate of a blocked filter as a sum of integers over its lines. The
//! filter updates this sum exactly at every insertion.

use alloc::vec::Vec;

/// The weights of the lines of a blocked filter. A line has m bits, and an item has k probes. If d
/// bits of a line are set, the weight of the line is `(d/m)^k`, in units of 2^-64 and rounded up.
/// The mean weight of all lines is the current rate of the filter, plus a rounding error of less
/// than [`Weights::most_rounded`]. The filter is emptied if this mean exceeds the limit of its
/// design. So a cycle never continues with a rate above the limit.
///
/// The rounding is part of the definition, so that all implementations get the same weights. The
/// computation starts with the number 2^64 and takes k steps. Each step multiplies the number by d,
/// divides it by m and rounds it up.
///
/// ```
/// use truebloom_math::recycling::BlockedDesign;
/// let weights = BlockedDesign::new(1 << 20, 512, 2, 0.1)?.weights();
/// assert_eq!(weights.of(0), 0);
/// assert_eq!(weights.of(256), 1 << 62);
/// assert_eq!(weights.of(512), 1 << 64);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    weights: Vec<u128>,
    probes: u32,
}

/// The weight of a line in which all bits are set, which corresponds to a rate of 1.
const FULL: u128 = 1 << 64;

impl Weights {
    pub(super) fn new(block_bits: u64, probes: u32) -> Weights {
        let m = u128::from(block_bits);
        let weigh = |ones: u128| (0..probes).fold(FULL, |weight, _| (weight * ones).div_ceil(m));
        Weights { weights: (0..=m).map(weigh).collect(), probes }
    }

    /// Returns the weight of a line with `ones` set bits. If `ones` exceeds the number of bits of a
    /// line, the result is the weight of a full line.
    #[inline]
    #[must_use]
    pub fn of(&self, ones: usize) -> u128 {
        self.weights.get(ones).copied().unwrap_or(FULL)
    }

    /// Returns an upper bound on the rounding error of a line's weight. The bound is a rate: k
    /// times 2^-64, where k is the number of probes. The weight is computed in k steps. Each step
    /// rounds up by less than 2^-64, and does not increase the errors of earlier steps.
    #[must_use]
    pub fn most_rounded(&self) -> f64 {
        f64::from(self.probes) * UNIT
    }

    /// Returns the rate of a filter from the sum of its weights, `total`, and its number of lines,
    /// `blocks`. The result is rounded to an `f64`. The rate is 0 if there are no lines.
    #[must_use]
    pub fn rate(total: u128, blocks: u64) -> f64 {
        if blocks == 0 { 0.0 } else { total as f64 * UNIT / blocks as f64 }
    }
}

/// The unit of weights, 2^-64.
const UNIT: f64 = 1.0 / 18_446_744_073_709_551_616.0;

/// Returns `limit * blocks * 2^64`, rounded down, computed in integers. `limit` is from 0 to 1, and
/// there are at most 2^62 blocks.
pub(super) fn at_most(limit: f64, blocks: u64) -> u128 {
    // An f64 is a whole number of 53 bits times a power of two.
    let (fraction, exponent) = libm::frexp(limit);
    let product = u128::from((fraction * 9_007_199_254_740_992.0) as u64) * u128::from(blocks);
    match exponent + 64 - 53 {
        left @ 0.. => product << left,
        right => product.checked_shr(right.unsigned_abs()).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    /// Tests that `ceil(2^64 (d/m)^k) <= weight < 2^64 (d/m)^k + k`.
    #[test]
    fn weights_are_rounded_up_by_less_than_the_probes() {
        for (bits, probes) in [(512u64, 1u32), (512, 6), (512, 16), (512, 32), (7, 5), (1, 3), (65_536, 9)] {
            let weights = Weights::new(bits, probes);
            let mut most = 0.0f64;
            for ones in 0..=bits {
                let exact = BigUint::from(ones).pow(probes) << 64u32;
                let whole = BigUint::from(bits).pow(probes);
                let weight = BigUint::from(weights.of(ones as usize)) * &whole;
                assert!(exact <= weight && weight < &exact + &whole * probes, "{bits} {probes} {ones}");
                let above = (&weight - &exact) * 1_000u32 / &whole;
                most = most.max(above.to_u64_digits().first().copied().unwrap_or(0) as f64 / 1_000.0);
            }
            assert!(probes < 9 || most > 2.0, "rounding is counted, but hardly happens: {most}");
        }
    }

    #[test]
    fn limits_are_whole_numbers_rounded_down() {
        assert_eq!(at_most(0.5, 3), 3 << 63);
        assert_eq!(at_most(0.75, 1 << 53), 3 << 115);
        assert_eq!(at_most(libm::exp2(-60.0), 3), 48);
        assert_eq!(at_most(libm::exp2(-66.0), 7), 1);
        assert_eq!(at_most(1e-15, 1), 18_446);
        assert_eq!(at_most(0.999, 1), 18_428_297_329_635_842_048);
        assert_eq!(at_most(1e-300, 1), 0);
    }
}
