//! Simulating an arithmetic on ideal base hashes.

use super::{Profile, Size};
use crate::error::out_of_range;
use crate::{Error, Result, binomial};

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

/// Fills filters with `items` keys each, by the profile's arithmetic on independent uniform words, and asks at least `queries` other keys of them.
///
/// The interval is for the expected rate, so it must hold both the scatter of hits and that of filters: it is the wider of the exact binomial interval, at 99%, and three
/// standard errors of the mean over the filters (Student's 99% point for 16 filters is 2.95). The words come from SplitMix64 at `seed`, so that an answer can be repeated.
/// Time: some ten nanoseconds a query, and `items * probes` steps a filter.
///
/// Errors: no queries; bits beyond 2^33 (a gigabyte); more than 10^12 steps.
pub fn simulate(profile: &Profile, size: Size, items: u64, queries: u64, seed: u64) -> Result<Simulation> {
    if queries == 0 {
        return out_of_range("queries", queries, "at least 1");
    }
    if size.bits > 1 << 33 {
        return out_of_range("bits", size.bits, "at most 2^33 to be simulated");
    }
    let filling = items.saturating_mul(u64::from(size.probes.max(1)));
    // As many filters as cost about as much to fill as to ask.
    let filters = (queries.saturating_mul(4) / filling.max(1)).clamp(FEWEST, MOST);
    let each = queries.div_ceil(filters);
    let steps = filling.saturating_add(size.bits / 64).saturating_add(each.saturating_mul(2)).saturating_mul(filters);
    if steps > MOST_STEPS {
        return Err(Error::TooLong { what: "the simulation", steps: steps as f64, allowed: MOST_STEPS as f64 });
    }
    let mut filter = Filter::new(profile, size);
    let counts = (0..filters).map(|number| filter.hits(items, each, seed ^ mix(number + 1)));
    Ok(Simulation::of(&counts.collect::<Vec<u64>>(), each))
}

/// Filters of a simulation.
const FEWEST: u64 = 16;
const MOST: u64 = 1_000;

const MOST_STEPS: u64 = 1_000_000_000_000;

impl Simulation {
    fn of(hits: &[u64], each: u64) -> Simulation {
        let (filters, total) = (hits.len() as u64, hits.iter().sum::<u64>());
        let queries = filters * each;
        let rate = total as f64 / queries as f64;
        let (low, high) = binomial::interval(total, queries, 0.99);
        let squares: f64 = hits.iter().map(|hits| (*hits as f64 / each as f64 - rate).powi(2)).sum();
        let error = 3.0 * (squares / (filters as f64 * (filters as f64 - 1.0))).sqrt();
        Simulation { filters, queries, hits: total, rate, lower: low.min(rate - error).max(0.0), upper: high.max(rate + error).min(1.0) }
    }
}

struct Filter<'a> {
    profile: &'a Profile,
    size: Size,
    words: Vec<u64>,
}

impl<'a> Filter<'a> {
    fn new(profile: &'a Profile, size: Size) -> Filter<'a> {
        Filter { profile, size, words: vec![0; size.bits.div_ceil(64) as usize] }
    }

    /// Hits among `queries` strangers of a filter of `items` keys.
    fn hits(&mut self, items: u64, queries: u64, seed: u64) -> u64 {
        let mut state = seed;
        let mut word = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        };
        let (arithmetic, size, words) = (self.profile.arithmetic, self.size, &mut self.words);
        words.fill(0);
        for _ in 0..items {
            arithmetic.every(size, &mut word, |position| {
                words[(position / 64) as usize] |= 1 << (position % 64);
                true
            });
        }
        (0..queries).map(|_| u64::from(arithmetic.every(size, &mut word, |p| words[(p / 64) as usize] >> (p % 64) & 1 == 1))).sum()
    }
}

/// SplitMix64's finalizer (Steele, Lea and Flood 2014).
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
