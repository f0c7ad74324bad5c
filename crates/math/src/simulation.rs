//! Filling filters with ideal hashes and asking strangers of them, where no law gives the rate.

use crate::{Fpr, Method, binomial};

/// How a key takes its positions.
pub(crate) trait Positions {
    /// Calls `all` with the positions of a key whose base words come from `word`, until it says false. Whether it never did.
    fn every(&self, word: &mut impl FnMut() -> u64, all: impl FnMut(u64) -> bool) -> bool;
}

/// What came out of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulation {
    /// Filters that were filled, each with words of its own.
    pub filters: u64,
    /// Keys asked for, over all filters.
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
    /// So many filters of `bits` bits, each filled with `items` keys and asked for `each` others. The words come from SplitMix64 at `seed`.
    pub(crate) fn run(positions: &impl Positions, bits: u64, items: u64, filters: u64, each: u64, seed: u64) -> Simulation {
        let mut words = vec![0; bits.div_ceil(64) as usize];
        let hits: Vec<u64> = (0..filters).map(|number| hits(positions, &mut words, items, each, seed ^ mix(number + 1))).collect();
        Simulation::of(&hits, each)
    }

    /// The interval is for the expected rate, so it must hold both the scatter of hits and that of filters: it is the wider of the exact binomial interval, at 99%, and three
    /// standard errors of the mean over the filters (Student's 99% point for 16 filters is 2.95).
    fn of(hits: &[u64], each: u64) -> Simulation {
        let (filters, total) = (hits.len() as u64, hits.iter().sum::<u64>());
        let queries = filters * each;
        let rate = total as f64 / queries as f64;
        let (low, high) = binomial::interval(total, queries, 0.99);
        let squares: f64 = hits.iter().map(|hits| (*hits as f64 / each as f64 - rate).powi(2)).sum();
        let error = 3.0 * (squares / (filters as f64 * (filters as f64 - 1.0))).sqrt();
        Simulation { filters, queries, hits: total, rate, lower: low.min(rate - error).max(0.0), upper: high.max(rate + error).min(1.0) }
    }

    pub(crate) fn fpr(&self) -> Fpr {
        let mut fpr = Fpr::bound(self.lower, self.upper);
        fpr.place(self.rate);
        Fpr { method: Method::Simulation, ..fpr }
    }
}

/// Hits among `queries` strangers of a filter of `items` keys.
fn hits(positions: &impl Positions, words: &mut [u64], items: u64, queries: u64, seed: u64) -> u64 {
    let mut state = seed;
    let mut word = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(state)
    };
    words.fill(0);
    for _ in 0..items {
        positions.every(&mut word, |position| {
            words[(position / 64) as usize] |= 1 << (position % 64);
            true
        });
    }
    (0..queries).map(|_| u64::from(positions.every(&mut word, |p| words[(p / 64) as usize] >> (p % 64) & 1 == 1))).sum()
}

/// SplitMix64's finalizer (Steele, Lea and Flood 2014).
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
