//! Schemes whose rate follows from the number of set bits.

use super::{Classic, Scheme as _, SideBySide, Standard};

/// A scheme for which the number of set bits alone determines the rate.
///
/// Recycling filters compute the rate from the number of set bits after every new item.
/// [`rate_at`](Self::rate_at) is therefore fast, and rounds its result.
/// [`Law::fpr_at_fill`](truebloom_math::Law::fpr_at_fill) computes proven lower and upper bounds on
/// the rate.
pub trait FillScheme: SideBySide {
    /// The false-positive rate if `ones` bits are set. `ones` must not exceed the number of bits.
    /// The relative error is at most `2 (k + 1) 2^-53`, where k is the number of probes, except for
    /// results below 1e-300. The computation takes a few nanoseconds.
    fn rate_at(&self, ones: u64) -> f64;
}

impl FillScheme for Standard {
    /// `(ones / bits)^probes`, where `ones` is the number of set bits.
    #[inline]
    fn rate_at(&self, ones: u64) -> f64 {
        truebloom_math::power(ones as f64 / self.bits() as f64, self.probes())
    }
}

impl FillScheme for Classic {
    /// `C(ones, probes) / C(bits, probes)`, where `C` is the binomial coefficient and `ones` is the
    /// number of set bits.
    #[inline]
    fn rate_at(&self, ones: u64) -> f64 {
        let ratio = |i: u64| ones.saturating_sub(i) as f64 / (self.bits() - i) as f64;
        (0..u64::from(self.probes())).map(ratio).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_law() {
        for (bits, probes) in [(10, 3), (1000, 7), (1000, 1), (1 << 20, 40), (5000, 999), ((1 << 62) - 1, 12)] {
            for ones in [0, 1, bits / 3, bits / 2, bits - 1, bits] {
                check(Standard::new(bits, probes).expect("in range"), ones);
                check(Classic::new(bits, probes).expect("in range"), ones);
            }
        }
    }

    fn check(scheme: impl FillScheme, ones: u64) {
        let exact = scheme.law().fpr_at_fill(&[ones]).expect("in range").expect("known").value;
        let allowed = exact * 2.0 * f64::from(scheme.probes() + 1) * f64::EPSILON / 2.0 + 1e-300;
        let found = scheme.rate_at(ones);
        assert!((found - exact).abs() <= allowed, "{ones}: {found:e} but {exact:e}");
    }
}
