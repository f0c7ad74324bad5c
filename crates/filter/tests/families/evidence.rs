//! The results of many filters, and the exact tests of these results.

use truebloom_math::{Fill, Fpr, binomial};

/// The number of hits among keys that were not inserted, and the rates of their filters.
///
/// The rate of each filter follows from its set bits, or is the expected rate if the filter is
/// queried once. If the law gives only bounds on the rate, both bounds are summed, and the test
/// uses the nearer one. The number of hits is a sum of independent Bernoulli variables, whose tails
/// beyond the mean are below those of the binomial variable with the same mean (Hoeffding 1956).
#[derive(Clone, Copy, Default)]
pub struct Hits {
    pub filters: u64,
    pub asked: u64,
    pub hits: u64,
    /// The number of hits expected from the lower bounds on the rates, and the number expected from
    /// the upper bounds.
    expected: (f64, f64),
}

impl Hits {
    /// Adds the hits of one more filter.
    pub fn count(&mut self, asked: u64, hits: u64, fpr: &Fpr) {
        let rates = (asked as f64 * fpr.lower, asked as f64 * fpr.upper);
        self.add(&Hits { filters: 1, asked, hits, expected: rates });
    }

    pub fn add(&mut self, other: &Hits) {
        self.filters += other.filters;
        self.asked += other.asked;
        self.hits += other.hits;
        self.expected = (self.expected.0 + other.expected.0, self.expected.1 + other.expected.1);
    }

    /// The mean rate that is nearest to the measured rate among those that the law allows.
    fn rate(&self) -> f64 {
        (self.hits as f64).clamp(self.expected.0, self.expected.1) / self.asked as f64
    }

    /// The number of hits divided by the expected number.
    pub fn ratio(&self) -> f64 {
        self.hits as f64 / (self.rate() * self.asked as f64)
    }

    /// An exact two-sided test.
    pub fn p_value(&self) -> f64 {
        binomial::two_sided(self.hits, self.asked, self.rate())
    }

    /// The power: the smallest factor on the rate that the test detects at this level with
    /// probability 99%.
    pub fn noticed(&self, alpha: f64) -> f64 {
        binomial::noticed_factor(self.asked, self.expected.1 / self.asked as f64, alpha)
    }
}

/// Compares the number of set bits in all filters of a case with the exact law of the fill, by
/// proven bounds on its tails. If inserted keys share positions, there are too few set bits.
pub fn fill_p_value(one: &Fill, filters: u64, ones: u64) -> f64 {
    let mut all = *one;
    (all.mean, all.variance) = (all.mean * filters as f64, all.variance * filters as f64);
    (2.0 * all.at_least(ones).min(all.at_most(ones))).min(1.0)
}
