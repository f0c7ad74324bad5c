//! An estimate of the number of bits of a filter, m, from the number of set bits: the
//! minimum-variance unbiased estimator.

use crate::error::{check_probes, out_of_range};
use crate::exact::work;
use crate::{Error, Result, Variant};
use alloc::{format, vec};

/// An estimate of the number of bits, m.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BitsEstimate {
    /// The estimate. It is at least the number of set bits.
    pub value: f64,
    /// An upper bound on the relative rounding error of `value`.
    pub relative_error: f64,
    /// A note about the bias of the estimate. The estimate is unbiased if the true number of bits
    /// is at most `items * probes`. For more bits, no unbiased estimator exists.
    pub note: &'static str,
}

const NOTE: &str = "unbiased only when bits <= items x probes; for more bits no unbiased estimator exists";

/// The largest number of elementary steps for one estimate. This many steps take about a second.
const MAX_STEPS: f64 = 1e8;

/// Estimates the number of bits of a filter from the numbers of items, probes and set bits. The
/// result is the minimum-variance unbiased estimate. It is unbiased only if the true number of bits
/// is at most `items * probes`. For more bits, no unbiased estimator exists. The partitioned filter
/// is not supported.
///
/// In these formulas, n is the number of items, k is the number of probes, and x is the number of
/// set bits:
/// * For the classic filter, the estimate is `x + x W(x-1) / W(x)` (Burns, equation 47). `W(x)` is
///   the number of ways in which n items, each with k distinct bits, can cover exactly a given set
///   of x bits.
/// * For the standard filter, the estimate is `x + S(nk, x-1) / S(nk, x)` (Burns, equation 48). S
///   denotes the Stirling numbers of the second kind.
///
/// The computation takes `items * ones * probes` steps.
///
/// ```
/// use truebloom_math::{Variant, estimate_bits};
/// assert_eq!(estimate_bits(Variant::Classic, 2, 2, 4)?.value, 8.0);
/// assert_eq!(estimate_bits(Variant::Standard, 1, 2, 2)?.value, 3.0);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range, or if the estimate would take more than 10^8 steps. `ones`
/// must be at most `items * probes`. For the standard filter, `ones` must be at least 1. For the
/// classic filter, `ones` must be at least `probes`.
pub fn estimate_bits(variant: Variant, items: u64, probes: u32, ones: u64) -> Result<BitsEstimate> {
    let _work = work::begin();
    let (batches, batch) = batches(variant, items, probes, ones)?;
    let steps = batches as f64 * ones as f64 * f64::from(batch);
    if steps > MAX_STEPS {
        return Err(Error::TooLong { what: "the unbiased estimate of bits", steps, allowed: MAX_STEPS });
    }
    let ratio = cover_ratio(batches as u64, u64::from(batch), ones);
    // For each batch, a term is rounded at most 3k + 8 times: k + 1 times in additions, 2k times in
    // the coefficient, and a few times in products.
    let relative_error = batches as f64 * (3.0 * f64::from(batch) + 8.0) * 2.0 * f64::EPSILON;
    Ok(BitsEstimate { value: ones as f64 + ratio, relative_error, note: NOTE })
}

/// Returns the number of batches, and the number of positions in each batch. A batch is a group of
/// positions that are distinct: a single position in the standard filter, and all positions of one
/// item in the classic filter. Fails if the batches cannot set exactly this many bits.
pub(super) fn batches(variant: Variant, items: u64, probes: u32, ones: u64) -> Result<(u128, u32)> {
    check_probes(probes)?;
    if items == 0 {
        return out_of_range("items", items, "at least 1");
    }
    let balls = u128::from(items) * u128::from(probes);
    let (batches, batch) = match variant {
        Variant::Standard => (balls, 1),
        Variant::Classic => (u128::from(items), probes),
        Variant::Partitioned => return out_of_range("variant", variant, "standard or classic"),
    };
    if !(u128::from(batch)..=balls).contains(&u128::from(ones)) {
        return out_of_range("ones", ones, format!("from {batch} to items x probes ({balls})"));
    }
    Ok((batches, batch))
}

/// Returns the ratio `V(x-1) / V(x)`, where x is `ones`, `V(x) = W(x) / x!`, and W is defined in
/// [`estimate_bits`]. The ratio is equal to `x W(x-1) / W(x)`. One more batch of k positions
/// changes V to `V'(x) = sum over i of V(x-i) C(x-i, k-i) / i!`, where i is the number of bits that
/// only this batch sets.
fn cover_ratio(batches: u64, batch: u64, ones: u64) -> f64 {
    // `ones` and `batches` are at most MAX_STEPS, so they fit a `usize`.
    let (x_max, k) = (ones as usize, batch as usize);
    let mut covers = vec![Scaled::ZERO; x_max + 1];
    covers[0] = Scaled::ONE;
    for step in 1..=batches {
        let reached = usize::try_from(u128::from(step) * u128::from(batch)).unwrap_or(usize::MAX).min(x_max);
        // From a smaller number of set bits, the remaining batches cannot reach `ones - 1`.
        let needed = (batches - step).checked_mul(batch).map_or(0, |rest| ones.saturating_sub(1).saturating_sub(rest)) as usize;
        for x in (needed.max(k)..=reached).rev() {
            // The coefficient `C(x-i, k-i) / i!` is `C(x, k)` for i = 0. For each further i, it is
            // the previous coefficient times `(k-i+1) / ((x-i+1) i)`.
            let mut coefficient = choose(x, k);
            let mut sum = covers[x].times(coefficient);
            for i in 1..=k {
                coefficient = coefficient.scaled((k - i + 1) as f64 / ((x - i + 1) as f64 * i as f64));
                sum = sum.plus(covers[x - i].times(coefficient));
            }
            covers[x] = sum;
        }
        // After a batch, at least k bits are set.
        covers.iter_mut().take(k.min(x_max + 1)).for_each(|cover| *cover = Scaled::ZERO);
    }
    if x_max == 0 { 0.0 } else { covers[x_max - 1].over(covers[x_max]) }
}

fn choose(n: usize, k: usize) -> Scaled {
    (0..k).fold(Scaled::ONE, |product, i| product.scaled((n - i) as f64 / (i + 1) as f64))
}

/// A non-negative number with a wide exponent: `mantissa 2^exponent`, where the mantissa is 0 or
/// within 2^-500..2^500.
#[derive(Clone, Copy)]
struct Scaled {
    mantissa: f64,
    exponent: i64,
}

impl Scaled {
    const ZERO: Scaled = Scaled { mantissa: 0.0, exponent: 0 };
    const ONE: Scaled = Scaled { mantissa: 1.0, exponent: 0 };
    const STEP: i32 = 512;

    fn new(mut mantissa: f64, mut exponent: i64) -> Scaled {
        // HIGH is 2^256. Scaling by a power of two is exact, and the product of two numbers below
        // HIGH does not overflow.
        const HIGH: f64 = 1.157_920_892_373_162e77;
        if mantissa >= HIGH {
            mantissa = libm::scalbn(mantissa, -Scaled::STEP);
            exponent += i64::from(Scaled::STEP);
        } else if mantissa < 1.0 / HIGH && mantissa > 0.0 {
            mantissa = libm::scalbn(mantissa, Scaled::STEP);
            exponent -= i64::from(Scaled::STEP);
        }
        Scaled { mantissa, exponent }
    }

    fn times(self, other: Scaled) -> Scaled {
        Scaled::new(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }

    fn scaled(self, factor: f64) -> Scaled {
        Scaled::new(self.mantissa * factor, self.exponent)
    }

    fn plus(self, other: Scaled) -> Scaled {
        if self.mantissa == 0.0 {
            return other;
        }
        if other.mantissa == 0.0 {
            return self;
        }
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = small.exponent - large.exponent;
        // If the exponents differ by more than two steps, the smaller number is below the last
        // digit of the larger.
        if shift < -2 * i64::from(Scaled::STEP) {
            return large;
        }
        Scaled::new(large.mantissa + libm::scalbn(small.mantissa, shift as i32), large.exponent)
    }

    fn over(self, other: Scaled) -> f64 {
        let shift = (self.exponent - other.exponent).clamp(-4096, 4096) as i32;
        libm::scalbn(self.mantissa / other.mantissa, shift)
    }
}
