//! Simulations with ideal (uniformly random) hashes, for rates whose proven bounds are far apart. A
//! simulation fills filters with random keys, and then queries new keys.

use crate::exact::power::power;
pub use crate::exact::random::SplitMix64;
use crate::exact::random::mix;
use crate::{Fpr, Method, binomial};
use alloc::vec;
use alloc::vec::Vec;

/// A rule that maps a random key to its positions.
pub trait Positions {
    /// Takes the positions of a random key one by one and calls `all` for each, until `all` returns
    /// false. This method computes the positions from random words, and each call of `word` gives
    /// one random word. Returns whether `all` returned true for every position.
    fn every(&self, word: &mut impl FnMut() -> u64, all: impl FnMut(u64) -> bool) -> bool;
}

/// The result of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulation {
    /// The number of filters. Each filter is filled with its own random keys.
    pub filters: u64,
    /// The number of keys that were queried, over all filters.
    pub queries: u64,
    /// The number of queried keys that passed.
    pub hits: u64,
    /// The number of hits divided by the number of queries.
    pub rate: f64,
    /// The lower end of an approximate 99% confidence interval for the expected rate.
    pub lower: f64,
    /// The upper end of an approximate 99% confidence interval for the expected rate.
    pub upper: f64,
}

impl Simulation {
    /// Simulates `filters` filters of `bits` bits. Each filter is filled with `items` keys. Then it
    /// is queried with other keys; `each` is the number of these queries. The random words come
    /// from SplitMix64 with this `seed`.
    pub fn run(positions: &impl Positions, bits: u64, items: u64, filters: u64, each: u64, seed: u64) -> Simulation {
        let mut words = vec![0; bits.div_ceil(64) as usize];
        let hits: Vec<u64> = (0..filters).map(|number| hits(positions, &mut words, items, each, seed ^ mix(number + 1))).collect();
        Simulation::of(&hits, each)
    }

    /// Computes the result and the interval for the expected rate. Queries of one filter share its
    /// bits, so only filters are independent. The interval is the mean of the filters' rates plus
    /// or minus three standard errors (Student's 99% point for 16 filters is 2.95). The interval is
    /// at least as wide as the binomial interval of all queries, which matters if the filters'
    /// rates are nearly equal.
    ///
    /// If all or nearly all filters have the same number of hits, the standard error says nothing
    /// about rare filters with other numbers of hits. The interval then allows for such filters,
    /// whatever their share of hits. Their probability is bounded by the 99% Clopper-Pearson upper
    /// bound, which is computed from the number of filters that differed.
    pub(crate) fn of(hits: &[u64], each: u64) -> Simulation {
        let (filters, total) = (hits.len() as u64, hits.iter().sum::<u64>());
        let queries = filters * each;
        let rate = total as f64 / queries as f64;
        let (low, high) = binomial::interval(total, queries, 0.99);
        let squares: f64 = hits.iter().map(|hits| power(*hits as f64 / each as f64 - rate, 2)).sum();
        let error = 3.0 * libm::sqrt(squares / (filters as f64 * (filters as f64 - 1.0)));
        let (mut low, mut high) = (low.min(rate - error), high.max(rate + error));
        let (usual, agreeing) = most_frequent(hits);
        if filters - agreeing <= FEW {
            let others = binomial::interval(filters - agreeing, filters, 0.99).1;
            let (least, most) = binomial::interval(usual * agreeing, each * agreeing, 0.99);
            (low, high) = (low.min(least * (1.0 - others)), high.max(most + (1.0 - most) * others));
        }
        Simulation { filters, queries, hits: total, rate, lower: low.max(0.0), upper: high.min(1.0) }
    }

    pub(crate) fn fpr(&self) -> Fpr {
        let mut fpr = Fpr::bound(self.lower, self.upper);
        fpr.place(self.rate);
        Fpr { method: Method::Simulation, ..fpr }
    }
}

/// If at most this many filters differ from the most frequent number of hits, the interval also
/// allows for rare filters.
const FEW: u64 = 30;

/// The most frequent number of hits, and the number of filters that have it.
fn most_frequent(hits: &[u64]) -> (u64, u64) {
    let mut sorted = hits.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64));
    runs.max_by_key(|run| run.1).unwrap_or((0, 0))
}

/// The number of hits among `queries` new keys in a filter with `items` keys.
fn hits(positions: &impl Positions, words: &mut [u64], items: u64, queries: u64, seed: u64) -> u64 {
    let mut random = SplitMix64::at(seed);
    let mut word = || random.word();
    words.fill(0);
    for _ in 0..items {
        positions.every(&mut word, |position| {
            words[(position / 64) as usize] |= 1 << (position % 64);
            true
        });
    }
    (0..queries).map(|_| u64::from(positions.every(&mut word, |p| words[(p / 64) as usize] >> (p % 64) & 1 == 1))).sum()
}
