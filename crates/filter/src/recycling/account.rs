//! The counts and rates that a recycling filter reports about its stream.

use super::memory::{Layout, Memory};
use super::{Phases, RecyclingFilter, Seeds};
use crate::backing::{Backing, Counted};
use crate::hash::KeyHasher;
use truebloom_math::Error;
use truebloom_math::freedman::wrong_drops_at_most;
use truebloom_math::law::hash_floor;

/// The counts of a recycling filter. Items enter the *active* phase. If the filter has two phases,
/// each recycle turns the active phase into the *frozen* phase, and starts a new active phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// How many items were offered, including repeats. If several threads share the filter, only
    /// offers that set a bit are counted.
    pub offered: u64,
    /// How many items were reported as new.
    pub new: u64,
    /// How many items were reported as [`Seen::Frozen`](super::Seen::Frozen): the frozen phase
    /// contained them, but the active phase did not.
    pub refreshed: u64,
    /// The number of recycles so far.
    pub cycles: u64,
    /// How many of the recycles happened because the recycle threshold,
    /// [`sigma`](super::Policy::sigma), was exceeded.
    pub by_fill: u64,
    /// How many items have entered the active phase since the last recycle. If the policy is
    /// [`retaining`](super::Policy::retaining), the item that triggered the last recycle is also
    /// counted.
    pub items: u64,
}

/// The number of *wrong drops*. A wrong drop is a new item that was reported as seen, because it
/// was a false positive.
///
/// With one phase, an item is counted at most once between two recycles: only its first offer can
/// count. With two phases, each item is counted at most once while it is remembered. If a wrongly
/// dropped item is offered again, the filter reports it as seen again, but does not count a second
/// wrong drop.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WrongDrops {
    /// An estimate of the number of wrong drops. The estimate is unbiased: over all seeds, its mean
    /// equals the mean of the true number. The estimate can exceed the number of items that were
    /// reported as seen.
    pub expected: f64,
    /// An upper bound on the number of wrong drops. The bound holds with the requested confidence.
    /// The bound is never higher than the number of items that were reported as seen.
    pub at_most: u64,
}

/// The counts, and a sum over the items that were reported as new. The sum has the term
/// `rate / (1 - rate)` for each such item, where `rate` is the filter's rate just before the item
/// was inserted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub(super) offered: u64,
    pub(super) new: u64,
    pub(super) refreshed: u64,
    pub(super) cycles: u64,
    pub(super) by_fill: u64,
    pub(super) items: u64,
    /// The sum for earlier cycles. The present cycle has its own sum. With a single sum, small
    /// terms would be lost once the sum is 2^53 times as large as a term.
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

    /// Records an item that was reported as new. `rate` is the filter's rate just before the item
    /// was inserted.
    #[inline]
    pub(super) fn keep(&mut self, rate: f64) {
        self.new = self.new.saturating_add(1);
        // Without this limit, a rate that rounds to 1 would make the sum infinite. For filters with
        // such rates, no bound is reported anyway.
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

    /// An upper bound on the rate [`fpr`](Self::fpr) whenever an item is offered. The bound holds
    /// for every item of every stream. The bound includes the probability that two items have equal
    /// hashes. If several threads have shared the filter, the bound holds only for items that are
    /// offered after this call.
    pub fn worst_fpr(&self) -> f64 {
        let of_bits = self.memory.worst_rate(&self.policy, self.counts.overfill.unwrap_or(0)) * (1.0 + self.rounding());
        let phases = if self.policy.phases == Phases::One { 1 } else { 2 };
        (of_bits + hash_floor(phases * self.bits(), H::HASH_BITS)).min(1.0)
    }

    /// An estimate of the number of [wrong drops](WrongDrops): new items that were reported as
    /// seen. The estimate is a sum with one term for each item that was reported as new. The term
    /// of an item depends on `rho`, the filter's rate just before the item was inserted:
    ///
    /// `rho / (1 - rho)`
    ///
    /// The mean of this sum equals the mean of the true number of wrong drops, under the conditions
    /// that [`wrong_drops`](Self::wrong_drops) lists. The sum does not include items that were
    /// offered to an [`AtomicRecyclingFilter`](super::AtomicRecyclingFilter).
    pub fn compensator(&self) -> f64 {
        self.counts.odds + self.counts.odds_of_cycle
    }

    /// An estimate of the number of wrong drops (new items that were reported as seen), and an
    /// upper bound on this number. With a probability of at least `confidence`, the upper bound
    /// holds at every point of the stream. The mean of the estimate equals the mean of the true
    /// number.
    ///
    /// The bound is proven for every stream that was chosen independently of the seed: see
    /// [`truebloom_math::freedman`]. The result is `None` in three cases:
    ///
    /// * The policy has [`Seeds::Kept`], and the filter has forgotten an item. A forgotten item
    ///   that is offered again has the same positions as before. Such an item does not behave like
    ///   a new item.
    /// * The filter can reach a rate of nearly 1 ([`worst_fpr`](Self::worst_fpr)).
    /// * Several threads have shared the filter, so the rate at each offer is unknown.
    ///
    /// Two different items can have equal 128-bit hashes. The estimate and the bound do not include
    /// the wrong drops that equal hashes cause. If n items were reported as new, equal hashes cause
    /// at most `n^2 / 2^129` wrong drops on average.
    ///
    /// # Errors
    /// Returns an error if `confidence` is not strictly between 0 and 1, or if the estimate exceeds
    /// about 2^53.
    pub fn wrong_drops(&self, confidence: f64) -> Result<Option<WrongDrops>, Error> {
        let worst = self.worst_fpr();
        let odds = worst / (1.0 - worst);
        if self.counts.overfill.is_some() || self.has_stale_seeds() || odds > MOST_ODDS_BOUNDED {
            return Ok(None);
        }
        let expected = self.compensator();
        // Adds a bound on the rounding errors of the terms and of the additions. A small 1 - rho
        // amplifies the error of a term. A cycle has at most as many additions as the filter has
        // bits.
        let additions = self.bits() as f64 + self.counts.cycles as f64;
        let safe = expected * (1.0 + (1.0 + odds) * self.rounding() + additions * f64::EPSILON);
        // Every wrong drop was reported as seen.
        let seen = self.counts.offered.saturating_sub(self.counts.new);
        Ok(Some(WrongDrops { expected, at_most: wrong_drops_at_most(safe, odds, confidence)?.min(seen) }))
    }

    /// The average rate of this stream so far: the estimated number of wrong drops, divided by the
    /// estimated number of new items. The new items include those that were wrongly dropped. The
    /// result is `None` before the first new item, and if threads have shared the filter.
    ///
    /// If the arrival of new items does not depend on how many bits are set, this rate converges to
    /// the long-run average rate of the filter's design. The module [`truebloom_math::recycling`]
    /// computes the long-run average rate. If the same items are offered again after each recycle,
    /// the rate of the stream is higher than the long-run average rate.
    pub fn average_fpr(&self) -> Option<f64> {
        let expected = self.compensator();
        (self.counts.new > 0 && self.counts.overfill.is_none()).then(|| expected / (self.counts.new as f64 + expected))
    }

    /// Whether the filter has forgotten items that would have the same positions if they were
    /// offered again.
    fn has_stale_seeds(&self) -> bool {
        let kept_until = if self.policy.phases == Phases::One { 0 } else { 1 };
        self.policy.seeds == Seeds::Kept && self.counts.cycles > kept_until
    }

    /// A bound on the relative error of a computed rate. The rate has three terms. Each term is at
    /// most as large as the result, and has `2 (k + 1)` rounding errors. A few more operations add
    /// to the error.
    fn rounding(&self) -> f64 {
        (3.0 * f64::from(self.probes()) + 8.0) * f64::EPSILON
    }
}

impl<H: KeyHasher, S: Layout, K: Counted> RecyclingFilter<H, S, K> {
    /// The present rate: the probability that a key that was never offered is reported as seen. The
    /// key must be chosen without knowing the seed. The rate is computed from the set bits. The
    /// rate includes an upper bound on the probability that the key has the same hash as a
    /// remembered key. Equal hashes matter only at very low rates.
    pub fn fpr(&self) -> f64 {
        with_equal_hashes::<H>(self.memory.rate(), self.stats(), self.frozen_ones())
    }
}

/// Adds an upper bound on the probability that a key has the same hash as a remembered key. The
/// number of items in the frozen phase is not stored. Two other numbers are upper bounds on it, and
/// the smaller one is used: the number of items that entered earlier phases, and the number of set
/// bits in the frozen phase (each item set at least one bit). For the active phase, the number of
/// set bits would be several times as large as the stored number of items, and a blocked filter
/// would have to count its bits.
pub(super) fn with_equal_hashes<H: KeyHasher>(rate: f64, stats: Stats, frozen_ones: u64) -> f64 {
    let before = stats.new.saturating_add(stats.refreshed).saturating_sub(stats.items);
    let items = stats.items.saturating_add(before.min(frozen_ones));
    (rate + hash_floor(items, H::HASH_BITS)).min(1.0)
}

/// The largest sum of odds, `rate / (1 - rate)`, for which an upper bound on the wrong drops is
/// computed.
const MOST_ODDS_BOUNDED: f64 = 1e6;
