//! Streams of items for simulations.

use super::Result;
use crate::error::out_of_range;
use crate::exact::random::SplitMix64;
use alloc::vec::Vec;

/// The items that arrive in a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Stream {
    /// All items are new.
    New,
    /// Items are independent draws from a population in which all items are equally likely.
    Uniform {
        /// The size of the population.
        items: u64,
    },
    /// Items are independent draws from a population in which the i-th item has the weight
    /// `i^-exponent`.
    Zipf {
        /// The size of the population.
        items: u64,
        /// The exponent, at least 0.
        exponent: f64,
    },
    /// About half of the arrivals are new items. All other arrivals repeat older items. The
    /// probability that a given item is repeated decreases exponentially with the number of newer
    /// items: each newer item multiplies this probability by `1 - 1/(mean + 1)`.
    Fading {
        /// The mean number of new items between an item and its repeat. The mean is at least 1.
        mean: f64,
    },
}

/// The largest size of a population.
const MOST_ITEMS: u64 = 1 << 26;

pub(super) struct Arriving {
    stream: Stream,
    /// Cumulative weights, from which items are drawn by bisection.
    weights: Vec<f64>,
    news: u64,
}

impl Arriving {
    pub(super) fn new(stream: Stream) -> Result<Arriving> {
        let mut weights = Vec::new();
        if let Stream::Uniform { items } | Stream::Zipf { items, .. } = stream
            && !(1..=MOST_ITEMS).contains(&items)
        {
            return out_of_range("items", items, "from 1 to 2^26 in a simulation");
        }
        if let Stream::Zipf { items, exponent } = stream {
            if !(0.0..=100.0).contains(&exponent) {
                return out_of_range("exponent", exponent, "from 0 to 100");
            }
            let mut sum = 0.0;
            weights = (1..=items)
                .map(|i| {
                    sum += libm::pow(i as f64, -exponent);
                    sum
                })
                .collect();
        }
        if let Stream::Fading { mean } = stream
            && !(1.0..=1e6).contains(&mean)
        {
            return out_of_range("mean", mean, "from 1 to 1e6");
        }
        Ok(Arriving { stream, weights, news: 0 })
    }

    /// Returns the number of slots for remembered items.
    pub(super) fn population(&self) -> usize {
        match self.stream {
            Stream::New => 0,
            Stream::Uniform { items } | Stream::Zipf { items, .. } => items as usize,
            // After this many newer items, an item is practically never repeated: the probability
            // is e^-64.
            Stream::Fading { mean } => (64.0 * mean) as usize + 1,
        }
    }

    /// Draws the next item.
    pub(super) fn draw(&mut self, random: &mut SplitMix64) -> Arrival {
        match self.stream {
            Stream::New => self.fresh(),
            Stream::Uniform { items } => Arrival::again(random.below(items)),
            Stream::Zipf { .. } => {
                let total = self.weights[self.weights.len() - 1];
                let at = random.unit() * total;
                Arrival::again(self.weights.partition_point(|&sum| sum <= at).min(self.weights.len() - 1) as u64)
            }
            Stream::Fading { mean } => {
                let back = (libm::log(1.0 - random.unit()) / libm::log1p(-1.0 / (mean + 1.0))) as u64;
                let places = self.population() as u64;
                if random.unit() < 0.5 || back >= self.news.min(places) {
                    return self.fresh();
                }
                let item = self.news - back;
                Arrival { item, place: (item % places) as usize, fresh: false }
            }
        }
    }

    fn fresh(&mut self) -> Arrival {
        self.news += 1;
        Arrival { item: self.news, place: (self.news % (self.population() as u64).max(1)) as usize, fresh: true }
    }
}

/// An arrival of an item.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub(super) item: u64,
    /// The slot that stores the history of the item.
    pub(super) place: usize,
    /// Whether the item is new. If so, the slot still contains the history of another item.
    pub(super) fresh: bool,
}

impl Arrival {
    fn again(item: u64) -> Arrival {
        Arrival { item, place: item as usize, fresh: false }
    }
}
