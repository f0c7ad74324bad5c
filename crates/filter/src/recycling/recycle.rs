//! Forgetting: when and how a filter recycles.

use super::account::Counts;
use super::memory::{Layout, Memory};
use super::policy::nanoseconds;
use super::{RecyclingFilter, salt};
use crate::backing::Writable;
use crate::hash::{KeyHash, KeyHasher};
use core::time::Duration;

/// Times of the caller's clock, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) now: u64,
    /// When the active phase began.
    pub(super) start: u64,
    /// Whether the caller has passed a time. Until then, `start` has no meaning.
    pub(super) runs: bool,
}

impl<H: KeyHasher, S: Layout, K: Writable> RecyclingFilter<H, S, K> {
    /// Sets the filter's time. The policy can set a maximum [`age`](super::Policy::age) for the
    /// active phase. If the active phase has reached this age, the filter recycles. If the active
    /// phase has reached at least twice this age, the filter recycles twice, and therefore forgets
    /// all items.
    ///
    /// The caller's clock can count from any fixed moment (for example, the Unix epoch). This
    /// moment must stay the same when a filter is saved and opened again. If the clock goes back,
    /// the filter's time does not change until the clock has caught up, or until you call
    /// [`set_back`](Self::set_back). The first phase begins with the first call that passes a time.
    pub fn advance(&mut self, now: Duration) {
        let now = nanoseconds(now);
        if !self.clock.runs {
            self.clock = Clock { now, start: now, runs: true };
        }
        self.clock.now = self.clock.now.max(now);
        let Some(age) = self.policy.age_nanoseconds() else { return };
        let overdue = (self.clock.now - self.clock.start) / age;
        if overdue > 0 {
            // The new phase begins at the time at which it would have begun if every recycle had
            // been on time.
            let start = self.clock.start + overdue * age;
            (0..overdue.min(2)).for_each(|_| self.turn());
            self.clock.start = start;
        }
    }

    /// Sets the filter's clock back to `now`. The beginning of the active phase moves back by the
    /// same amount, so the age of the phase does not change. Use this method if the filter was
    /// saved with the clock of another machine, or with a wrong clock. Nothing happens if the
    /// filter's clock is not ahead of `now`.
    pub fn set_back(&mut self, now: Duration) {
        let (now, age) = (nanoseconds(now), self.clock.now - self.clock.start);
        if self.clock.runs && self.clock.now > now {
            self.clock = Clock { now, start: now.saturating_sub(age), runs: true };
        }
    }

    /// Recycles now. With two phases, the active phase becomes the frozen phase. With one phase,
    /// all items are forgotten. The time is linear in the number of bits.
    pub fn recycle(&mut self) {
        self.turn();
    }

    /// Forgets all items and resets all counts and the clock. The filter keeps its size, its
    /// policy, its seed and its label. The time is linear in the number of bits.
    ///
    /// ```
    /// use truebloom::RecyclingFilter;
    /// let mut seen = RecyclingFilter::for_items(100, 0.01)?;
    /// seen.check_and_insert("a");
    /// seen.clear();
    /// assert!(!seen.contains("a") && seen.stats().offered == 0);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn clear(&mut self) {
        self.memory.clear(salt(&self.hasher, self.policy.seeds, 0));
        (self.clock, self.counts) = (Clock::default(), Counts::default());
    }

    /// Whether a cycle ends because it has this number of items.
    #[inline]
    pub(super) fn is_last(&self, items: u64) -> bool {
        self.policy.insertions.is_some_and(|most| items >= most)
    }

    /// Recycles because of an item that has entered the active phase. `trigger_bits` are the
    /// positions of those bits that this item has set, if they must be unset again. Otherwise, the
    /// list is empty.
    #[cold]
    pub(super) fn recycle_after(&mut self, trigger: KeyHash, trigger_bits: &[u64]) {
        let by_fill = self.memory.is_over_limit(&self.policy);
        self.counts.by_fill = self.counts.by_fill.saturating_add(by_fill.into());
        self.memory.remove(trigger_bits);
        self.turn();
        if self.policy.retaining {
            self.memory.enter(trigger);
            self.counts.items = 1;
        }
    }

    /// Starts the next phase, which is empty.
    fn turn(&mut self) {
        self.counts.next_cycle();
        self.memory.turn(salt(&self.hasher, self.policy.seeds, self.counts.cycles));
        self.clock.start = self.clock.now;
    }
}
