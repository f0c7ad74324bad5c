//! Forgetting: when, and how.

use super::memory::{Layout, Memory};
use super::policy::nanoseconds;
use super::{RecyclingFilter, salt};
use crate::backing::Writable;
use crate::hash::{KeyHash, KeyHasher};
use core::time::Duration;

/// The caller's clock, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) now: u64,
    /// When the active phase began.
    pub(super) start: u64,
    /// Whether a time has been given yet; until then there is no start.
    pub(super) runs: bool,
}

impl<H: KeyHasher, S: Layout, K: Writable> RecyclingFilter<H, S, K> {
    /// Sets the time, and recycles if the active phase is too old by now; twice after a pause of
    /// two ages or more, because then both phases are too old.
    ///
    /// The clock is the caller's: the time since any moment that stays the same, also for a filter
    /// that is saved and opened again (the Unix epoch, for example). A clock that is set back
    /// stands still for the filter until it has caught up, or is [set back](Self::set_back) here,
    /// too. The first phase begins with the first time given.
    pub fn advance(&mut self, now: Duration) {
        let now = nanoseconds(now);
        if !self.clock.runs {
            self.clock = Clock { now, start: now, runs: true };
        }
        self.clock.now = self.clock.now.max(now);
        let Some(age) = self.policy.age_nanoseconds() else { return };
        let overdue = (self.clock.now - self.clock.start) / age;
        if overdue > 0 {
            // Where the phase would have begun, had every recycle been on time.
            let start = self.clock.start + overdue * age;
            (0..overdue.min(2)).for_each(|_| self.turn());
            self.clock.start = start;
        }
    }

    /// Sets the clock back, and the beginning of the active phase with it, which stays as old as it
    /// was: for a filter that was saved by the clock of another machine, or by one that was wrong.
    /// Nothing if its clock is not ahead.
    pub fn set_back(&mut self, now: Duration) {
        let (now, age) = (nanoseconds(now), self.clock.now - self.clock.start);
        if self.clock.runs && self.clock.now > now {
            self.clock = Clock { now, start: now.saturating_sub(age), runs: true };
        }
    }

    /// Recycles now: the active phase is frozen if there are two, forgotten otherwise. Linear in
    /// the bits.
    pub fn recycle(&mut self) {
        self.turn();
    }

    /// Whether a cycle ends with this number of items.
    #[inline]
    pub(super) fn is_last(&self, items: u64) -> bool {
        self.policy.insertions.is_some_and(|most| items >= most)
    }

    /// Recycles because of an item that has entered the active phase; `trigger_bits` are its bits
    /// there, if they must be removed.
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

    /// The next phase begins, empty.
    fn turn(&mut self) {
        self.counts.next_cycle();
        self.memory.turn(salt(&self.hasher, self.policy.seeds, self.counts.cycles));
        self.clock.start = self.clock.now;
    }
}
