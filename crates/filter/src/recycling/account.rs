//! The counts and rates that a recycling filter reports about its stream.

use super::memory::{Layout, Memory};
use super::{Phases, RecyclingFilter, Seeds};
use crate::backing::{Backing, Counted};
use crate::hash::KeyHasher;
use truebloom_math::Error;
use truebloom_math::freedman::wrong_drops_at_most;
use truebloom_math::law::hash_floor;

/// The counts of a recycling filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// How many items were offered, repeats included. For a filter that threads share, only items
    /// that set a bit are counted.
    pub offered: u64,
    /// How many items were new.
    pub new: u64,
    /// How many offered items were in the frozen phase, but not in the active phase.
    pub refreshed: u64,
    /// The number of recycles so far.
    pub cycles: u64,
    /// How many of the recycles happened because the fill exceeded [`sigma`](super::Policy::sigma).
    pub by_fill: u64,
    /// How many items have entered the active phase since it began. If the item that triggered the
    /// recycle was [retained](super::Policy::retaining), it is one of them.
    pub items: u64,
}

/// How many new items were reported as seen because the filter cannot distinguish them from
/// repeats.
///
/// Each item is counted at most once per cycle, at its first offer. With two phases, each item is
/// counted at most once while it is remembered. Later offers of a wrongly dropped item are not
/// counted, although they are reported as seen.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WrongDrops {
    /// An estimate of the number of wrong drops. The estimate is unbiased: over seeds, its mean is
    /// equal to the mean of the true number. The estimate may be higher than the number of items
    /// that were reported as seen.
    pub expected: f64,
    /// An upper bound on the number of wrong drops, which holds with the requested confidence. The
    /// bound is never higher than the number of items that were reported as seen.
    pub at_most: u64,
}

/// The counts, and the sum of the odds `rate / (1 - rate)` of the items that were kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub(super) offered: u64,
    pub(super) new: u64,
    pub(super) refreshed: u64,
    pub(super) cycles: u64,
    pub(super) by_fill: u64,
    pub(super) items: u64,
    /// The sum for earlier cycles. The present cycle has its own sum, because a single sum would
    /// stop growing once it is 2^53 times as large as its terms.
    pub(super) odds: f64,
    pub(super) odds_of_cycle: f64,
    /// The largest number of bits by which threads have exceeded the limit of a phase; `None` if no
    /// threads have shared the filter.
    pub(super) overfill: Option<u64>,
}

impl Counts {
    pub(super) fn stats(self) -> Stats {
        let Counts { offered, new, refreshed, cycles, by_fill, items, .. } = self;
        Stats { offered, new, refreshed, cycles, by_fill, items }
    }

    /// Records an item that was kept, with the probability that it would have passed before it was
    /// inserted.
    #[inline]
    pub(super) fn keep(&mut self, rate: f64) {
        self.new = self.new.saturating_add(1);
        // A rate that rounds to 1 would make the sum infinite. For such filters no bound is
        // reported anyway.
        self.odds_of_cycle += (rate / (1.0 - rate)).min(MOST_ODDS);
    }

    pub(super) fn next_cycle(&mut self) {
        self.cycles = self.cycles.saturating_add(1);
        self.items = 0;
        self.odds = (self.odds + self.odds_of_cycle).min(f64::MAX);
        self.odds_of_cycle = 0.0;
    }
}

const MOST_ODDS: f64 = 1e15;

impl<H: KeyHasher, S: Layout, K: Backing> RecyclingFilter<H, S, K> {
    /// The counts so far.
    pub fn stats(&self) -> Stats {
        self.counts.stats()
    }

    /// An upper bound on [`fpr`](Self::fpr) at the moment when an item is offered, for every
    /// stream. If threads have shared the filter, the bound applies to offers from now on. It
    /// includes equal hashes: the filter never holds more items than it has bits.
    pub fn worst_fpr(&self) -> f64 {
        let of_bits = self.memory.worst_rate(&self.policy, self.counts.overfill.unwrap_or(0)) * (1.0 + self.rounding());
        let phases = if self.policy.phases == Phases::One { 1 } else { 2 };
        (of_bits + hash_floor(phases * self.bits(), H::HASH_BITS)).min(1.0)
    }

    /// The sum of `rho / (1 - rho)` over all items that were reported as new. For each item, `rho`
    /// is the filter's rate just before this item was inserted. Under the conditions of
    /// [`wrong_drops`](Self::wrong_drops), the mean of this sum is equal to the mean number of new
    /// items that were reported as seen. The sum does not include items that threads offered to an
    /// [`AtomicRecyclingFilter`](super::AtomicRecyclingFilter).
    pub fn compensator(&self) -> f64 {
        self.counts.odds + self.counts.odds_of_cycle
    }

    /// An estimate of the number of new items that were reported as seen, with an upper bound. With
    /// probability at least `confidence`, the upper bound holds at all times of the stream. The
    /// mean of the estimate is equal to the mean of the true number.
    ///
    /// The bound is proven ([`truebloom_math::freedman`]) for every stream that was chosen
    /// independently of the seed. With [`Seeds::Kept`], the result is `None` as soon as the filter
    /// has forgotten an item: a forgotten item does not behave like a new item, because it gets the
    /// same positions again. The result is `None` for filters that are so small that their worst
    /// rate is nearly 1. For filters that threads have shared, the result is `None` because the
    /// rate at each offer is unknown. Equal 128-bit hashes add at most `new^2 / 2^129` wrong drops
    /// on average.
    ///
    /// # Errors
    /// Returns an error if `confidence` is not strictly between 0 and 1, or if more than 2^53 wrong
    /// drops are expected for the stream.
    pub fn wrong_drops(&self, confidence: f64) -> Result<Option<WrongDrops>, Error> {
        let worst = self.worst_fpr();
        let odds = worst / (1.0 - worst);
        if self.counts.overfill.is_some() || self.has_stale_seeds() || odds > MOST_ODDS_BOUNDED {
            return Ok(None);
        }
        let expected = self.compensator();
        // Adds what rounding may have lost: in each term, where a small 1 - rho amplifies the
        // error, and in each addition. A cycle has at most as many additions as the filter has
        // bits.
        let additions = self.bits() as f64 + self.counts.cycles as f64;
        let safe = expected * (1.0 + (1.0 + odds) * self.rounding() + additions * f64::EPSILON);
        // Every wrong drop was reported as seen.
        let seen = self.counts.offered.saturating_sub(self.counts.new);
        Ok(Some(WrongDrops { expected, at_most: wrong_drops_at_most(safe, odds, confidence)?.min(seen) }))
    }

    /// The average rate of this stream so far: the estimated number of wrong drops divided by the
    /// number of new items, including those that were wrongly dropped. `None` before the first new
    /// item, and for filters that threads have shared.
    ///
    /// If the arrival of new items does not depend on the fill, this rate converges to the long-run
    /// average rate of the filter's design. Items that are offered again after each recycle raise
    /// the rate.
    pub fn average_fpr(&self) -> Option<f64> {
        let expected = self.compensator();
        (self.counts.new > 0 && self.counts.overfill.is_none()).then(|| expected / (self.counts.new as f64 + expected))
    }

    /// Whether the filter has forgotten items that may come again under the same seed.
    fn has_stale_seeds(&self) -> bool {
        let kept_until = if self.policy.phases == Phases::One { 0 } else { 1 };
        self.policy.seeds == Seeds::Kept && self.counts.cycles > kept_until
    }

    /// A bound on the relative error of a computed rate. The rate has three terms, each of which is
    /// at most as large as the result, and has `2 (k + 1)` rounding errors. A few more operations
    /// add to the error.
    fn rounding(&self) -> f64 {
        (3.0 * f64::from(self.probes()) + 8.0) * f64::EPSILON
    }
}

impl<H: KeyHasher, S: Layout, K: Counted> RecyclingFilter<H, S, K> {
    /// The present rate: the probability that a key is reported as seen although it was never
    /// offered, for keys chosen without knowing the seed. The rate is computed from the set bits.
    /// It includes an upper bound on the probability that the key has the same hash as a remembered
    /// key. This probability matters only at very low rates.
    pub fn fpr(&self) -> f64 {
        with_equal_hashes::<H>(self.memory.rate(), self.stats(), self.frozen_ones())
    }
}

/// Adds an upper bound on the probability that a key has the same hash as a remembered one. The
/// items of the frozen phase are not counted, but each of them entered some phase, and set a bit.
/// The number of set bits in both phases would also be a bound, but it is several times as large,
/// and a blocked filter would have to count its bits.
pub(super) fn with_equal_hashes<H: KeyHasher>(rate: f64, stats: Stats, frozen_ones: u64) -> f64 {
    let before = stats.new.saturating_add(stats.refreshed).saturating_sub(stats.items);
    let items = stats.items.saturating_add(before.min(frozen_ones));
    (rate + hash_floor(items, H::HASH_BITS)).min(1.0)
}

/// The largest sum of odds for which a bound is computed.
const MOST_ODDS_BOUNDED: f64 = 1e6;
