//! The arithmetic of the recursion over states. All numbers are non-negative, so their relative
//! errors can be bounded by counting roundings.

use crate::exact::double::DoubleDouble;
use crate::exact::dyadic::Dyadic;
use crate::exact::enclosure::Enclosure;
use alloc::vec;

/// Non-negative numbers that support only addition, multiplication and division. The relative error
/// of a result is at most the number of roundings on the longest path to the result, in units of
/// [`Self::UNIT`]. Products and quotients add the errors of their operands; sums do not.
pub(crate) trait Positive: Copy {
    /// An upper bound on the relative error of one operation.
    const UNIT: f64;
    const ZERO: Self;
    const ONE: Self;
    /// Converts an integer, with at most one rounding.
    fn whole(x: u64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    /// Returns `1 - x` for a probability `x`, or 0 if rounding has made `x` exceed 1. The absolute
    /// error is one unit for each rounding of `x`.
    fn complement(self) -> Self;
    /// Returns the number as an exact sum of two `f64`.
    fn parts(self) -> (f64, f64);
}

impl Positive for f64 {
    const UNIT: f64 = f64::EPSILON / 2.0;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    #[inline]
    fn whole(x: u64) -> f64 {
        x as f64
    }

    #[inline]
    fn plus(self, other: f64) -> f64 {
        self + other
    }

    #[inline]
    fn times(self, other: f64) -> f64 {
        self * other
    }

    #[inline]
    fn over(self, other: f64) -> f64 {
        self / other
    }

    fn complement(self) -> f64 {
        (1.0 - self).max(0.0)
    }

    fn parts(self) -> (f64, f64) {
        (self, 0.0)
    }
}

impl Positive for DoubleDouble {
    // The bound 2^-102 that `double.rs` states for one operation, rounded up.
    const UNIT: f64 = 2e-31;
    const ZERO: DoubleDouble = DoubleDouble::ZERO;
    const ONE: DoubleDouble = DoubleDouble::ONE;

    #[inline]
    fn whole(x: u64) -> DoubleDouble {
        let high = x as f64;
        // Whole numbers here are at most 2^62, so converting back is exact.
        DoubleDouble { high, low: (x as i64 - high as i64) as f64 }
    }

    #[inline]
    fn plus(self, other: DoubleDouble) -> DoubleDouble {
        DoubleDouble::plus(self, other)
    }

    #[inline]
    fn times(self, other: DoubleDouble) -> DoubleDouble {
        DoubleDouble::times(self, other)
    }

    fn over(self, other: DoubleDouble) -> DoubleDouble {
        DoubleDouble::over(self, other)
    }

    fn complement(self) -> DoubleDouble {
        let rest = DoubleDouble::ONE.minus(self);
        if rest.high > 0.0 { rest } else { DoubleDouble::ZERO }
    }

    fn parts(self) -> (f64, f64) {
        (self.high, self.low)
    }
}

/// Returns the bracket from `x (1 - relative)` to `x (1 + relative)`, for a relative error of at
/// most 1/100.
pub(crate) fn around<T: Positive>(x: T, relative: f64) -> Enclosure {
    let (high, low) = x.parts();
    // Takes the leading 119 bits as a whole number. The truncation costs a few units.
    let exponent = if high > 0.0 { libm::ilogb(high) - 118 } else { 0 };
    let units = |x: f64| libm::scalbn(x, -exponent) as u128;
    let slack = units(relative * 1.01 * high) + 4;
    let (high, part) = (units(high), units(low.abs()));
    let value = if low < 0.0 { high.saturating_sub(part) } else { high.saturating_add(part) };
    let dyadic = |value: u128| Dyadic { words: vec![value as u64, (value >> 64) as u64], exponent: exponent.into() };
    if value == 0 {
        return Enclosure { lower: dyadic(0), upper: dyadic(0) };
    }
    Enclosure { lower: dyadic(value.saturating_sub(slack)), upper: dyadic(value.saturating_add(slack)) }
}
