//! What a recycling filter reports about its stream.

use super::memory::{Layout, Memory};
use super::{Phases, RecyclingFilter, Seeds};
use crate::backing::{Backing, Counted};
use crate::hash::KeyHasher;
use truebloom_math::Error;
use truebloom_math::freedman::wrong_drops_at_most;

/// The counts of a recycling filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// How many items were offered, repeats included. For a filter that threads share, only items
    /// that set a bit are counted.
    pub offered: u64,
    /// How many items were new.
    pub new: u64,
    /// How many items were contained only in the frozen phase.
    pub refreshed: u64,
    /// The number of recycles so far.
    pub cycles: u64,
    /// How many of the recycles happened because of [`sigma`](super::Policy::sigma).
    pub by_fill: u64,
    /// How many items have entered the active phase since the last recycle, including a retained
    /// one.
    pub items: u64,
}

/// How many new items were reported as seen because the filter cannot distinguish them from
/// repeats.
///
/// An item counts once per cycle, when it is first offered (with two phases: once while it is
/// remembered); all its later offers in that time are reported as seen as well.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WrongDrops {
    /// An estimate of the number of wrong drops, which has the same mean over seeds as that number.
    /// The estimate may be higher than the number of items that were reported as seen.
    pub expected: f64,
    /// An upper bound on the number of wrong drops, which holds with the confidence asked for. The
    /// bound is never higher than the number of items that were reported as seen.
    pub at_most: u64,
}

/// The counts, and the sum of the odds of the items that were kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub(super) offered: u64,
    pub(super) new: u64,
    pub(super) refreshed: u64,
    pub(super) cycles: u64,
    pub(super) by_fill: u64,
    pub(super) items: u64,
    /// The odds of earlier cycles and those of the present cycle are summed separately: a single
    /// sum would stop growing at 2^53 times its terms.
    pub(super) odds: f64,
    pub(super) odds_of_cycle: f64,
    /// If the filter was shared by threads: the largest number of bits by which they have exceeded
    /// the limit of a phase.
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
        // A rate that rounds to 1 would end the sum for good; the bound is not given for such
        // filters anyway.
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
    /// stream. If threads have shared the filter, it holds from now on.
    pub fn worst_fpr(&self) -> f64 {
        (self.memory.worst_rate(&self.policy, self.counts.overfill.unwrap_or(0)) * (1.0 + self.rounding())).min(1.0)
    }

    /// The sum of `rho / (1 - rho)` over the items that were new, where rho is the probability,
    /// just before the item was inserted, that it would pass. Its mean equals that of the number of
    /// new items that were reported as seen, under the conditions of
    /// [`wrong_drops`](Self::wrong_drops). The sum does not include items that threads offered to
    /// an [`AtomicRecyclingFilter`](super::AtomicRecyclingFilter).
    pub fn compensator(&self) -> f64 {
        self.counts.odds + self.counts.odds_of_cycle
    }

    /// How many new items of this stream were reported as seen: an estimate with the same mean, and
    /// an upper bound that holds with this confidence at all times of the stream.
    ///
    /// The bound is proven ([`truebloom_math::freedman`]) for every stream that was chosen
    /// independently of the seed. With [`Seeds::Kept`], a forgotten item that returns does not
    /// behave like a new item, and if the stream is repeated, its errors are repeated, too. So the
    /// result is `None` as soon as something has been forgotten. The result is also `None` for
    /// filters so small that a fresh key may be certain to pass, and for filters that threads have
    /// shared, because the rates at which their items were offered are not known. Equal 128-bit
    /// hashes add at most `new^2 / 2^129` on average.
    ///
    /// # Errors
    /// The confidence is not strictly between 0 and 1; more than 2^53 wrong drops are expected for
    /// the stream.
    pub fn wrong_drops(&self, confidence: f64) -> Result<Option<WrongDrops>, Error> {
        let worst = self.worst_fpr();
        let odds = worst / (1.0 - worst);
        if self.counts.overfill.is_some() || self.has_stale_seeds() || odds > MOST_ODDS_BOUNDED {
            return Ok(None);
        }
        let expected = self.compensator();
        // What rounding may have lost: each term, amplified where 1 - rho is small, and each
        // addition, of which a cycle has no more than bits.
        let additions = self.bits() as f64 + self.counts.cycles as f64;
        let safe = expected * (1.0 + (1.0 + odds) * self.rounding() + additions * f64::EPSILON);
        // A wrong drop is an item that was reported as seen.
        let seen = self.counts.offered.saturating_sub(self.counts.new);
        Ok(Some(WrongDrops { expected, at_most: wrong_drops_at_most(safe, odds, confidence)?.min(seen) }))
    }

    /// The average rate of this stream so far: the estimated number of wrong drops divided by the
    /// number of new items, including those that were wrongly dropped. `None` before the first new
    /// item, and for filters that threads have shared.
    ///
    /// For a stream whose new items come independently of the fill, it converges to the long-run
    /// average of the design; popular items that return after each recycle raise it.
    pub fn average_fpr(&self) -> Option<f64> {
        let expected = self.compensator();
        (self.counts.new > 0 && self.counts.overfill.is_none()).then(|| expected / (self.counts.new as f64 + expected))
    }

    /// Whether the filter has forgotten items that may come again under the same seed.
    fn has_stale_seeds(&self) -> bool {
        let kept_until = if self.policy.phases == Phases::One { 0 } else { 1 };
        self.policy.seeds == Seeds::Kept && self.counts.cycles > kept_until
    }

    /// The relative error of a rate: three terms with `2 (k + 1)` rounding errors each, none larger
    /// than the result, and some operations.
    fn rounding(&self) -> f64 {
        (3.0 * f64::from(self.probes()) + 8.0) * f64::EPSILON
    }
}

impl<H: KeyHasher, S: Layout, K: Counted> RecyclingFilter<H, S, K> {
    /// The present rate: the probability that a key is reported as seen although it was never
    /// offered and was chosen without knowing the seed. The bits determine this rate.
    pub fn fpr(&self) -> f64 {
        self.memory.rate()
    }
}

/// The largest sum of odds for which a bound is computed.
const MOST_ODDS_BOUNDED: f64 = 1e6;
