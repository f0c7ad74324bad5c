//! What many filters said, and the exact tests of it.

use truebloom_math::{Fill, Fpr, binomial};

/// Hits of strangers against the rates of their filters.
///
/// Each rate is given by the filter's set bits, or is the expected one of a filter that is asked
/// once; where a law gives a bracket, both ends are summed and the nearer one is held against. The
/// hits are a sum of independent Bernoulli variables, whose tails beyond the mean are below those
/// of the binomial variable of the same mean (Hoeffding 1956).
#[derive(Clone, Copy, Default)]
pub struct Hits {
    pub filters: u64,
    pub asked: u64,
    pub hits: u64,
    /// Hits expected by the lower and the upper ends of the rates.
    expected: (f64, f64),
}

impl Hits {
    /// One more filter.
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

    /// The mean of the rates that the law allows, the nearest to what was measured.
    fn rate(&self) -> f64 {
        (self.hits as f64).clamp(self.expected.0, self.expected.1) / self.asked as f64
    }

    /// Hits over expected ones.
    pub fn ratio(&self) -> f64 {
        self.hits as f64 / (self.rate() * self.asked as f64)
    }

    /// An exact two-sided test.
    pub fn p_value(&self) -> f64 {
        binomial::two_sided(self.hits, self.asked, self.rate())
    }

    /// The power: the smallest factor on the rate that is noticed at this level with 99%.
    pub fn noticed(&self, alpha: f64) -> f64 {
        binomial::noticed_factor(self.asked, self.expected.1 / self.asked as f64, alpha)
    }
}

/// Set bits of all filters of a case against the exact law of the fill, by the proven bounds of its
/// tails: members that share positions set too few.
pub fn fill_p_value(one: &Fill, filters: u64, ones: u64) -> f64 {
    let mut all = *one;
    (all.mean, all.variance) = (all.mean * filters as f64, all.variance * filters as f64);
    (2.0 * all.at_least(ones).min(all.at_most(ones))).min(1.0)
}
