//! The distribution of the number of set bits, computed item by item.

use crate::exact::work;
use crate::{Error, Result};
use alloc::vec;
use alloc::vec::Vec;

/// The largest number of steps for one distribution. This many steps take about a second.
const MAX_STEPS: f64 = 6e7;

/// The cost of a step, in word operations.
const STEP: f64 = 30.0;

/// The distribution of the number of set bits: `weights[i]` is the probability of `first + i` set
/// bits. Negligible probabilities are dropped. The field `dropped` is their sum.
#[derive(Clone, Debug)]
pub(crate) struct Fills {
    bits: u64,
    probes: u32,
    distinct: bool,
    pub(crate) first: u64,
    pub(crate) weights: Vec<f64>,
    /// Probabilities below this are dropped at both ends of `weights`.
    negligible: f64,
    /// The sum of the dropped probabilities.
    pub(crate) dropped: f64,
    steps: f64,
}

impl Fills {
    /// Creates the distribution before the first item.
    pub(crate) fn new(bits: u64, probes: u32, distinct: bool, start: Vec<f64>, negligible: f64) -> Fills {
        Fills { bits, probes, distinct, first: 0, weights: start, negligible, dropped: 0.0, steps: 0.0 }
    }

    /// Returns two probabilities for the next hash of an item, after `placed` of its hashes are
    /// placed: that the hash finds its bit set, and that it finds its bit empty.
    #[inline]
    fn chances(&self, ones: u64, placed: u64) -> (f64, f64) {
        let placed = if self.distinct { placed } else { 0 };
        let share = 1.0 / (self.bits - placed) as f64;
        (ones.saturating_sub(placed) as f64 * share, (self.bits - ones) as f64 * share)
    }

    /// Adds one item. Each hash finds its bit set or sets it. All terms are positive, and each hash
    /// adds at most 5 roundings.
    pub(crate) fn item(&mut self) -> Result<()> {
        self.item_after(|_, _| (1.0, 1.0))
    }

    /// Adds an item, under the condition that it sets at least one bit. In each state, the
    /// probabilities of the cases that meet this condition are scaled so that their sum is 1.
    pub(crate) fn item_that_sets(&mut self) -> Result<()> {
        self.item_after(|fills, ones| (0.0, 1.0 / fills.leaving(ones)))
    }

    /// Returns the probability `1 - rho` that an item sets a bit, as a sum of positive terms. Each
    /// term is the probability that a given hash is the first one that sets a bit.
    pub(crate) fn leaving(&self, ones: u64) -> f64 {
        let (mut stay, mut leave) = (1.0, 0.0);
        for h in 0..u64::from(self.probes) {
            let (set, empty) = self.chances(ones, h);
            leave += stay * empty;
            stay *= set;
        }
        leave
    }

    pub(crate) fn passing(&self, ones: u64) -> f64 {
        (0..u64::from(self.probes)).map(|h| self.chances(ones, h).0).product()
    }

    /// Returns the odds `rho / (1 - rho)`, the expected number of items that pass before an item
    /// sets a bit.
    pub(crate) fn odds(&self, ones: u64) -> f64 {
        self.passing(ones) / self.leaving(ones)
    }

    /// Adds an item. `weigh` returns two factors: one for items that set no bit, and one for all
    /// others.
    fn item_after(&mut self, weigh: impl Fn(&Fills, u64) -> (f64, f64)) -> Result<()> {
        let width = self.weights.len();
        let steps = f64::from(self.probes) * (width as f64 + f64::from(self.probes)) + 10.0;
        self.steps += steps;
        work::spend("the distribution of set bits after each item", STEP * steps)?;
        if self.steps > MAX_STEPS {
            return Err(Error::TooLong { what: "the distribution of set bits after each item", steps: self.steps, allowed: MAX_STEPS });
        }
        let last = (self.first + width as u64 - 1 + u64::from(self.probes)).min(self.bits);
        let room = (last - self.first) as usize + 1;
        let factors: Vec<(f64, f64)> = (0..width).map(|i| weigh(self, self.first + i as u64)).collect();
        // The probability of each state, separately for two cases: the item has set no bit so far,
        // or it has set a bit.
        let mut untouched = core::mem::take(&mut self.weights);
        let mut touched = vec![0.0; room];
        for h in 0..u64::from(self.probes) {
            for i in (0..room).rev() {
                let (set, _) = self.chances(self.first + i as u64, h);
                let mut here = touched[i] * set;
                if i > 0 {
                    let (_, empty) = self.chances(self.first + i as u64 - 1, h);
                    let fresh = untouched.get(i - 1).map_or(0.0, |weight| weight * factors[i - 1].1);
                    here += (touched[i - 1] + fresh) * empty;
                }
                touched[i] = here;
            }
            for (i, weight) in untouched.iter_mut().enumerate() {
                *weight *= self.chances(self.first + i as u64, h).0;
            }
        }
        for ((sum, weight), (stay, _)) in touched.iter_mut().zip(untouched).zip(factors) {
            *sum += weight * stay;
        }
        self.weights = touched;
        self.trim();
        Ok(())
    }

    fn trim(&mut self) {
        let keep = |weight: &f64| *weight >= self.negligible;
        let (Some(low), Some(high)) = (self.weights.iter().position(keep), self.weights.iter().rposition(keep)) else {
            self.dropped += self.weights.iter().sum::<f64>();
            self.weights = vec![0.0];
            return;
        };
        self.dropped += self.weights[..low].iter().chain(&self.weights[high + 1..]).sum::<f64>();
        self.weights.truncate(high + 1);
        self.weights.drain(..low);
        self.first += low as u64;
    }

    /// Removes the states above `sigma`, and returns their probability.
    pub(crate) fn overflow(&mut self, sigma: u64) -> f64 {
        let keep = (sigma + 1).saturating_sub(self.first).min(self.weights.len() as u64) as usize;
        let over = self.weights[keep..].iter().sum();
        self.weights.truncate(keep);
        if self.weights.is_empty() {
            self.weights.push(0.0);
        }
        over
    }

    /// Adds the weights of another distribution to this one, each multiplied by `value(b)`.
    pub(crate) fn add(&mut self, other: &Fills, value: impl Fn(u64) -> f64) {
        let end = |fills: &Fills| fills.first + fills.weights.len() as u64;
        let first = self.first.min(other.first);
        let mut weights = vec![0.0; (end(self).max(end(other)) - first) as usize];
        weights[(self.first - first) as usize..].iter_mut().zip(&self.weights).for_each(|(sum, weight)| *sum = *weight);
        for (ones, weight) in (other.first..).zip(&other.weights) {
            weights[(ones - first) as usize] += weight * value(ones);
        }
        (self.first, self.weights) = (first, weights);
    }

    /// Returns the sum of `weight(b) value(b)` over b.
    pub(crate) fn mean(&self, value: impl Fn(u64) -> f64) -> f64 {
        (self.first..).zip(&self.weights).map(|(ones, weight)| weight * value(ones)).sum()
    }
}
