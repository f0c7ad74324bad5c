//! Simulations with ideal hashes, of fresh keys against filled filters, where no law gives the
//! rate.

use crate::exact::power::power;
pub use crate::exact::random::SplitMix64;
use crate::exact::random::mix;
use crate::{Fpr, Method, binomial};
use alloc::vec;
use alloc::vec::Vec;

/// How a key takes its positions.
pub trait Positions {
    /// Calls `all` with the positions of a key whose base words come from `word`, until it says
    /// false. Whether it never did.
    fn every(&self, word: &mut impl FnMut() -> u64, all: impl FnMut(u64) -> bool) -> bool;
}

/// The result of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulation {
    /// The number of filters, each filled with its own words.
    pub filters: u64,
    /// Keys queried, over all filters.
    pub queries: u64,
    /// How many of them passed.
    pub hits: u64,
    /// Hits over queries.
    pub rate: f64,
    /// Lower end of the 99% interval of the expected rate.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Simulation {
    /// This many filters of `bits` bits, each filled with `items` keys and asked for `each` others.
    /// The words come from SplitMix64 at `seed`.
    pub fn run(positions: &impl Positions, bits: u64, items: u64, filters: u64, each: u64, seed: u64) -> Simulation {
        let mut words = vec![0; bits.div_ceil(64) as usize];
        let hits: Vec<u64> = (0..filters).map(|number| hits(positions, &mut words, items, each, seed ^ mix(number + 1))).collect();
        Simulation::of(&hits, each)
    }

    /// The interval is for the expected rate. Queries of one filter share its bits, so only filters
    /// are independent: three standard errors of their mean (Student's 99% point for 16 filters is
    /// 2.95), and at least the binomial interval of all queries, which is what remains where
    /// filters do not scatter.
    ///
    /// Where all filters agree, or all but a few, their scatter says nothing of what is rare. Then
    /// those that agree have one share of hits, and the chance of others is at most what this few
    /// allow (Clopper and Pearson, at 99%), whatever their shares.
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

/// Fewer filters than this that differ from the others do not tell how filters scatter.
const FEW: u64 = 30;

/// The most frequent number of hits, and how many filters have it.
fn most_frequent(hits: &[u64]) -> (u64, u64) {
    let mut sorted = hits.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64));
    runs.max_by_key(|run| run.1).unwrap_or((0, 0))
}

/// Hits among `queries` strangers of a filter of `items` keys.
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
