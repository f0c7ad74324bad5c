//! Integer powers in floating point.

/// Returns `base^exponent`, computed by repeated squaring. Unlike the platform's power function,
/// this function has the same result on every machine. The relative error is below the exponent
/// times 2^-52.
#[doc(hidden)]
#[inline]
#[must_use]
pub fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}
