//! Double-word arithmetic: pairs of `f64` that carry 106 bits.
//!
//! In plain `f64`, sums of large logarithms and long recurrences of positive terms lose digits. In
//! double-word arithmetic, such computations keep thirty digits. The error bounds are those of
//! Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building blocks of
//! double-word arithmetic" (ACM Transactions on Mathematical Software 44, 2017). The relative error
//! is at most 2^-102 per operation, if nothing underflows. Sums use their Algorithm 6, whose
//! relative error is at most slightly more than 3 u^2 with u = 2^-53, even if the terms cancel.
//! Products use their Algorithm 10, whose relative error is at most 7 u^2. A quotient is computed
//! by long division. The first remainder has the error of a product of the dividend's size (7 u^2),
//! and the final sum adds 3 u^2. The errors of later remainders are smaller by a factor of 2^52.
//! The total is at most 11 u^2, while the bound of 2^-102 is 16 u^2.

/// The number `high + low`, where `low` is at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DoubleDouble {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

/// The sum `a + b` and its rounding error, for `|a| >= |b|`.
#[inline]
fn quick_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    DoubleDouble { high, low: b - (high - a) }
}

/// The sum `a + b` and its rounding error.
#[inline]
fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let part = high - a;
    DoubleDouble { high, low: (a - (high - part)) + (b - part) }
}

/// Splits a significand into two halves (Veltkamp). This is exact below 2^996.
#[inline]
fn split(a: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * a;
    let high = scaled - (scaled - a);
    (high, a - high)
}

/// The product `a b` and its rounding error (Dekker). `mul_add` is not used, because it is a
/// library call on processors without such an instruction.
#[inline]
fn two_product(a: f64, b: f64) -> DoubleDouble {
    let high = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    DoubleDouble { high, low: ((ah * bh - high) + ah * bl + al * bh) + al * bl }
}

impl DoubleDouble {
    pub(crate) const ZERO: DoubleDouble = DoubleDouble { high: 0.0, low: 0.0 };
    pub(crate) const ONE: DoubleDouble = DoubleDouble { high: 1.0, low: 0.0 };
    pub(crate) const LN_2: DoubleDouble = DoubleDouble { high: core::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };
    /// `ln(2 pi) / 2`.
    pub(crate) const HALF_LN_TAU: DoubleDouble = DoubleDouble { high: 0.918_938_533_204_672_8, low: -3.878_294_158_067_241e-17 };

    /// Converts an integer to a pair. This is exact below 2^106.
    pub(crate) fn of(x: u128) -> DoubleDouble {
        let high = x as f64;
        // If x rounds to 2^128, the conversion back saturates. Such large numbers do not occur.
        let back = high as u128;
        let low = if back > x { -((back - x) as f64) } else { (x - back) as f64 };
        quick_sum(high, low)
    }

    pub(crate) fn to_f64(self) -> f64 {
        self.high + self.low
    }

    #[inline]
    pub(crate) fn plus(self, other: DoubleDouble) -> DoubleDouble {
        let high = two_sum(self.high, other.high);
        let low = two_sum(self.low, other.low);
        let sum = quick_sum(high.high, high.low + low.high);
        quick_sum(sum.high, sum.low + low.low)
    }

    #[inline]
    pub(crate) fn minus(self, other: DoubleDouble) -> DoubleDouble {
        self.plus(DoubleDouble { high: -other.high, low: -other.low })
    }

    #[inline]
    pub(crate) fn times(self, other: DoubleDouble) -> DoubleDouble {
        let product = two_product(self.high, other.high);
        quick_sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }

    pub(crate) fn scaled(self, factor: f64) -> DoubleDouble {
        self.times(DoubleDouble { high: factor, low: 0.0 })
    }

    pub(crate) fn over(self, other: DoubleDouble) -> DoubleDouble {
        let first = self.high / other.high;
        let rest = self.minus(other.scaled(first));
        let second = rest.high / other.high;
        let rest = rest.minus(other.scaled(second));
        quick_sum(first, second).plus(DoubleDouble { high: rest.high / other.high, low: 0.0 })
    }

    /// Computes `e^x` for `|x|` below 700. The argument is reduced by multiples of `ln 2` and nine
    /// halvings, and ten terms of `e^s - 1` are summed.
    pub(crate) fn exp(x: f64) -> DoubleDouble {
        let twos = libm::round(x / core::f64::consts::LN_2);
        let rest = DoubleDouble { high: x, low: 0.0 }.minus(DoubleDouble::LN_2.scaled(twos));
        let s = DoubleDouble { high: rest.high / 512.0, low: rest.low / 512.0 };
        let mut sum = DoubleDouble::ONE;
        for i in (2..=10u32).rev() {
            sum = DoubleDouble::ONE.plus(sum.times(s).over(DoubleDouble { high: f64::from(i), low: 0.0 }));
        }
        let mut less_one = sum.times(s);
        for _ in 0..9 {
            less_one = less_one.scaled(2.0).plus(less_one.times(less_one));
        }
        let result = less_one.plus(DoubleDouble::ONE);
        let power = |part| libm::scalbn(part, twos as i32);
        DoubleDouble { high: power(result.high), low: power(result.low) }
    }

    /// The natural logarithm of a positive number within 1e-300..1e300, by one Newton step from the
    /// logarithm of the high part.
    pub(crate) fn ln(self) -> DoubleDouble {
        let guess = libm::log(self.high);
        let off = self.times(DoubleDouble::exp(-guess)).minus(DoubleDouble::ONE);
        // ln(1 + d) is d - d^2/2, because d is about 1e-16.
        let correction = off.minus(DoubleDouble { high: off.high * off.high / 2.0, low: 0.0 });
        DoubleDouble { high: guess, low: 0.0 }.plus(correction)
    }
}

/// Computes `ln n!` with an absolute error below 2e-18 plus 2^-100 of the result. For n below 20,
/// n! is exact. For larger n, Stirling's series is used.
pub(crate) fn ln_factorial(n: u64) -> DoubleDouble {
    if n < 20 {
        return DoubleDouble::of((1..=u128::from(n)).product()).ln();
    }
    let x = DoubleDouble::of(u128::from(n));
    let main = x.plus(DoubleDouble { high: 0.5, low: 0.0 }).times(x.ln()).minus(x).plus(DoubleDouble::HALF_LN_TAU);
    let y = 1.0 / x.high;
    let s = y * y;
    // The coefficients are B_2j / (2j (2j-1)). The first omitted term is below 1e-24. The leading
    // term 1 / (12 n) is at most 0.0042, and its rounding errors are below 2e-18.
    const TERMS: [f64; 9] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3617.0 / 122_400.0,
        43867.0 / 244_188.0,
    ];
    let series = TERMS.iter().rev().fold(0.0, |sum, term| sum * s + term) * y;
    main.plus(DoubleDouble { high: series, low: 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use num_rational::BigRational;
    use num_traits::{Signed, ToPrimitive};
    use proptest::prelude::*;

    fn exact(x: DoubleDouble) -> BigRational {
        BigRational::from_float(x.high).expect("finite") + BigRational::from_float(x.low).expect("finite")
    }

    fn off(found: DoubleDouble, truth: &BigRational) -> f64 {
        ((exact(found) - truth) / truth).abs().to_f64().expect("finite")
    }

    proptest! {
        #[test]
        fn operations_keep_their_error(a in 1u64.., b in 1u64.., c in 1u64.., d in 1u64..) {
            let (x, y) = (DoubleDouble::of((u128::from(a) * u128::from(b)) >> 24), DoubleDouble::of((u128::from(c) * u128::from(d)) >> 30));
            prop_assume!(x.high > 0.0 && y.high > 0.0);
            let (p, q) = (exact(x), exact(y));
            prop_assert!(off(x.plus(y), &(&p + &q)) < 1e-31);
            prop_assert!(off(x.times(y), &(&p * &q)) < 1e-31);
            prop_assert!(off(x.over(y), &(&p / &q)) < 1e-31);
        }

        #[test]
        fn logarithms_and_exponentials_undo_each_other(x in -300f64..300.0) {
            let back = DoubleDouble::exp(x).ln().minus(DoubleDouble { high: x, low: 0.0 });
            prop_assert!(back.high.abs() < 1e-29 * (1.0 + x.abs()), "{back:?}");
        }
    }

    #[test]
    fn whole_numbers_are_exact() {
        for x in [0, 1, (1 << 53) + 1, u128::from(u64::MAX), (1 << 105) + 1] {
            assert_eq!(exact(DoubleDouble::of(x)), BigRational::from(BigInt::from(x)));
        }
    }

    #[test]
    fn logarithms_of_factorials_add_up() {
        // The test uses numbers around 20, where Stirling's series takes over from exact products,
        // and far above.
        for n in [1, 5, 19, 20, 21, 22, 100, 1_000_003, 1 << 40] {
            let step = ln_factorial(n).minus(ln_factorial(n - 1)).minus(DoubleDouble::of(u128::from(n)).ln());
            assert!(step.high.abs() < 2e-18 + 1e-30 * ln_factorial(n).high, "{n}: {step:?}");
        }
        let ten = DoubleDouble::of(3_628_800).ln().minus(ln_factorial(10));
        assert!(ten.high.abs() < 1e-29);
    }
}
