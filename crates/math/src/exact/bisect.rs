//! Bisection over whole numbers and sizes.

use core::convert::Infallible;
use core::ops::RangeInclusive;

/// Returns the smallest number in a range for which `reached` returns true. If `reached` is true
/// for a number, it must be true for all larger numbers. For the last number of the range,
/// `reached` is assumed to be true and is not called. A range of length n takes about `log2(n)`
/// calls. If the range is empty, the result is `*range.end()`.
///
/// ```
/// assert_eq!(truebloom_math::bisect(0..=100, |x| x * x >= 50), 8);
/// ```
pub fn bisect(range: RangeInclusive<u64>, mut reached: impl FnMut(u64) -> bool) -> u64 {
    match try_bisect(range, |at| Ok::<bool, Infallible>(reached(at))) {
        Ok(first) => first,
    }
}

/// Like [`bisect`], but `reached` returns a `Result`.
///
/// # Errors
/// Returns the first error of `reached`.
pub fn try_bisect<E>(range: RangeInclusive<u64>, mut reached: impl FnMut(u64) -> Result<bool, E>) -> Result<u64, E> {
    let (mut low, mut high) = range.into_inner();
    while low < high {
        let middle = low + (high - low) / 2;
        if reached(middle)? { high = middle } else { low = middle + 1 }
    }
    Ok(high)
}

/// Finds approximately the smallest number between `low` and `high` for which `reached` holds.
/// Returns the largest tested number for which it did not hold, and the smallest for which it did.
/// The two numbers differ by at most 0.5, or by at most a relative 1e-13.
pub(crate) fn bisect_sizes(mut low: f64, mut high: f64, reached: impl Fn(f64) -> bool) -> (f64, f64) {
    while high - low > 0.5 && high / low.max(1.0) > 1.0 + 1e-13 {
        let middle = low + (high - low) / 2.0;
        if reached(middle) { high = middle } else { low = middle }
    }
    (low, high)
}

/// Like [`bisect_sizes`], but for any real numbers: halves the interval `digits` times.
pub(crate) fn bisect_reals(mut low: f64, mut high: f64, digits: u32, mut reached: impl FnMut(f64) -> bool) -> (f64, f64) {
    for _ in 0..digits {
        let middle = low + (high - low) / 2.0;
        if reached(middle) { high = middle } else { low = middle }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_boundary_of_small_ranges_and_the_ends_of_large_ones() {
        for first in 0..20 {
            assert_eq!(bisect(0..=19, |x| x >= first), first);
            assert_eq!(bisect(3..=19, |x| x >= first), first.max(3));
        }
        for first in [0, 1, u64::MAX - 1, u64::MAX] {
            assert_eq!(bisect(0..=u64::MAX, |x| x >= first), first);
        }
        assert_eq!(bisect(7..=7, |_| unreachable!("the last one is not asked")), 7);
        assert_eq!(try_bisect(0..=9, Err::<bool, u64>), Err(4));
    }

    #[test]
    fn roots_of_reals() {
        let (low, high) = bisect_reals(0.0, 2.0, 60, |x| x * x >= 2.0);
        assert!(low <= core::f64::consts::SQRT_2 && high >= core::f64::consts::SQRT_2 && high - low < 1e-15);
        assert_eq!(bisect_reals(-8.0, 8.0, 4, |x| x >= 3.0), (2.0, 3.0));
    }
}
