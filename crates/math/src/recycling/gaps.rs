//! The probability that an item is forgotten before it repeats, averaged over the gap between the
//! item and its repeat.

use super::Forgetting;
use super::Result;
use crate::error::out_of_range;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// A probability distribution of gaps. A gap is the number of new items between an item and its
/// repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Gaps {
    /// Every gap from 0 to `below - 1` is equally likely. This is the case for independent draws
    /// from a population of `below` equally popular items. The gap is then the number of
    /// *different* other items between two draws of the same item.
    Uniform {
        /// One more than the largest gap.
        below: u64,
    },
    /// The probability of a gap g is proportional to `(g + 1)^-exponent`. All gaps are less than
    /// `below`.
    Zipf {
        /// One more than the largest gap.
        below: u64,
        /// The exponent, at least 0.
        exponent: f64,
    },
    /// The probability of a gap decreases exponentially with the length of the gap.
    Fading {
        /// The mean gap, which must be above 0.
        mean: f64,
    },
}

/// Gaps below this number are added individually to an average. Larger gaps are grouped into
/// ranges, and the gap in the middle represents all gaps of a range.
const EACH: u64 = 20_000;

impl Gaps {
    /// Returns a function that gives the total probability of all gaps below a number.
    fn cumulated(&self) -> Box<dyn Fn(f64) -> f64> {
        match *self {
            Gaps::Uniform { below } => Box::new(move |gap| (gap / below as f64).min(1.0)),
            Gaps::Zipf { below, exponent } => {
                let harmonic = Harmonic::new(exponent);
                let all = harmonic.sum(below as f64);
                Box::new(move |gap| harmonic.sum(gap.min(below as f64)) / all)
            }
            // P(gap >= g) is (mean / (mean + 1))^g.
            Gaps::Fading { mean } => Box::new(move |gap| -libm::expm1(gap * -libm::log1p(1.0 / mean))),
        }
    }

    fn check(&self) -> Result<()> {
        match *self {
            Gaps::Uniform { below: 0 } | Gaps::Zipf { below: 0, .. } => out_of_range("below", 0, "at least 1"),
            Gaps::Zipf { exponent, .. } if !(0.0..=100.0).contains(&exponent) => out_of_range("exponent", exponent, "from 0 to 100"),
            Gaps::Fading { mean } if !(mean > 0.0 && mean <= 1e18) => out_of_range("mean", mean, "above 0 and at most 1e18"),
            _ => Ok(()),
        }
    }
}

/// The sum of `i^-s` for i = 1..n. The first thousand terms are added one by one, and the rest by
/// the Euler-Maclaurin formula, with a relative error below 1e-9.
struct Harmonic {
    exponent: f64,
    /// The sums for n = 0, 1, .. 1,000.
    first: Vec<f64>,
}

impl Harmonic {
    fn new(exponent: f64) -> Harmonic {
        let mut first = vec![0.0];
        first.extend((1..=1_000u16).scan(0.0, |sum, i| {
            *sum += libm::pow(f64::from(i), -exponent);
            Some(*sum)
        }));
        Harmonic { exponent, first }
    }

    fn sum(&self, n: f64) -> f64 {
        let (s, head) = (self.exponent, (self.first.len() - 1) as f64);
        if n <= head {
            return self.first[n as usize];
        }
        let power = |x: f64| libm::pow(x, -s);
        let integral =
            if (s - 1.0).abs() < 1e-12 { libm::log(n / head) } else { (libm::pow(n, 1.0 - s) - libm::pow(head, 1.0 - s)) / (1.0 - s) };
        self.first[self.first.len() - 1] + integral + (power(n) - power(head)) / 2.0 + s * (power(head) / head - power(n) / n) / 12.0
    }
}

impl Forgetting {
    /// Returns the probability that an item is forgotten before it repeats. The gap is the number
    /// of new items between an item and its repeat. The result is an average over the distribution
    /// `gaps`.
    ///
    /// Each gap below 20,000 is a separate term of the average. Larger gaps are grouped into
    /// ranges. The length of a range is a thousandth of its smallest gap. For all gaps of a range,
    /// the function uses the probability for the gap in the middle. The error of the result is at
    /// most about 1e-3.
    ///
    /// # Errors
    /// Fails if a parameter of the distribution is out of range.
    pub fn averaged(&self, gaps: Gaps) -> Result<f64> {
        gaps.check()?;
        let below = gaps.cumulated();
        let (mut gap, mut before, mut sum) = (0u64, 0.0, 0.0);
        while before < 1.0 - 1e-13 && gap < 1 << 62 {
            let stretch = if gap < EACH { 1 } else { (gap / 1_000).max(1) };
            let upto = below((gap + stretch) as f64);
            sum += (upto - before) * self.probability(gap + (stretch - 1) / 2).value;
            (gap, before) = (gap + stretch, upto);
        }
        Ok((sum / before).clamp(0.0, 1.0))
    }

    /// Returns the probability that an item is no longer remembered `seconds` seconds after it
    /// came. New items arrive as a Poisson process, with `rate` items per second on average.
    ///
    /// The number of new items in this time has a Poisson distribution with the mean
    /// `seconds * rate`. If the mean is 700 or more, the function uses a normal distribution with
    /// the same mean and standard deviation instead. The function then averages over 64 equally
    /// likely values of the normal distribution.
    ///
    /// # Errors
    /// Fails if `seconds` or `rate` is negative or not finite, or if `seconds * rate` is above
    /// 1e18.
    pub fn after(&self, seconds: f64, rate: f64) -> Result<f64> {
        let mean = seconds * rate;
        if !(seconds >= 0.0 && rate >= 0.0 && mean <= 1e18) {
            return out_of_range("seconds x rate", mean, "from 0 to 1e18");
        }
        if mean < 700.0 {
            // A small mean: sums the Poisson distribution.
            let (mut weight, mut sum, mut all, mut gap) = (libm::exp(-mean), 0.0, 0.0, 0u64);
            while all < 1.0 - 1e-13 && gap < 2_000 {
                sum += weight * self.probability(gap).value;
                all += weight;
                gap += 1;
                weight *= mean / gap as f64;
            }
            return Ok((sum / all).clamp(0.0, 1.0));
        }
        let deviation = libm::sqrt(mean);
        let part = |i: u32| mean + deviation * super::cycle::normal_quantile((f64::from(i) + 0.5) / 64.0);
        Ok((0..64).map(|i| self.probability(libm::round(part(i)) as u64).value).sum::<f64>() / 64.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recycling::{Design, Mode};

    #[test]
    fn harmonic_sums_are_those_of_their_terms() {
        for exponent in [0.0, 0.5, 1.0, 1.5, 3.0] {
            let harmonic = Harmonic::new(exponent);
            let mut sum = 0.0;
            for i in 1..=3_000 {
                sum += libm::pow(f64::from(i), -exponent);
                let found = harmonic.sum(f64::from(i));
                assert!((found / sum - 1.0).abs() < 1e-11, "{i}^-{exponent}: {found} {sum}");
            }
        }
    }

    #[test]
    fn fading_gaps_have_their_mean() {
        for mean in [0.5, 3.0, 40.0] {
            let below = Gaps::Fading { mean }.cumulated();
            let found: f64 = (0..3_000).map(|gap| 1.0 - below(f64::from(gap) + 1.0)).sum();
            assert!((found / mean - 1.0).abs() < 1e-9, "{mean}: {found}");
            assert!((below(1.0) - 1.0 / (mean + 1.0)).abs() < 1e-15);
        }
    }

    /// Compares the probability with a sum over Poisson's distribution, whose terms are computed
    /// from logarithms.
    #[test]
    fn poisson_gaps_are_averaged() {
        let law = Design::new(300, 3, 140, Mode::default()).and_then(|design| design.forgetting()).expect("in range");
        for (seconds, rate) in [(0.0, 5.0), (2.0, 3.0), (30.0, 2.0), (0.5, 400.0), (10.0, 69.0)] {
            let mean: f64 = seconds * rate;
            let weight = |gap: u64| {
                if mean == 0.0 {
                    f64::from(u8::from(gap == 0))
                } else {
                    libm::exp(gap as f64 * mean.ln() - mean - libm::lgamma(gap as f64 + 1.0))
                }
            };
            let expected: f64 = (0..2_000).map(|gap| weight(gap) * law.probability(gap).value).sum();
            let found = law.after(seconds, rate).expect("in range");
            assert!((found - expected).abs() < 1e-9, "{seconds} {rate}: {found} {expected}");
        }
    }
}
