//! Forgetting: when, and how.

use super::policy::nanoseconds;
use super::{Phases, RecyclingFilter, Seeds, Trigger, salt};
use crate::hash::{KeyHash, KeyHasher};
use crate::scheme::FillScheme;
use std::time::Duration;

/// The caller's clock, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) now: u64,
    /// When the active phase began.
    pub(super) start: u64,
    /// Whether a time was passed in yet; until then there is no start.
    pub(super) runs: bool,
}

impl<H: KeyHasher, S: FillScheme> RecyclingFilter<H, S> {
    /// Tells the time, and recycles if the active phase is too old by now; twice after a pause of two ages or more, because then both phases are.
    ///
    /// The clock is the caller's: the time since any moment that stays the same, also for a filter that is saved and opened again (the Unix epoch, for example). A clock that is
    /// set back stands still for the filter until it has caught up. The first phase begins with the first time that is told.
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

    /// Recycles now: the active phase is frozen if there are two, forgotten otherwise. Linear in the bits.
    pub fn recycle(&mut self) {
        self.turn();
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.active.ones > self.policy.sigma || self.policy.insertions.is_some_and(|most| self.counts.items >= most)
    }

    /// Whether the next item could trigger a recycle.
    #[inline]
    pub(super) fn may_recycle(&self) -> bool {
        let most = self.active.ones.saturating_add(self.scheme.probes().into());
        most > self.policy.sigma || self.policy.insertions.is_some_and(|most| self.counts.items + 1 >= most)
    }

    #[inline]
    pub(super) fn takes_triggers_out(&self) -> bool {
        self.policy.phases == Phases::Two(Trigger::Excluded)
    }

    /// Recycles because of an item that has entered the active phase; `undo` are its bits there if they are to be taken out.
    #[cold]
    pub(super) fn recycle_after(&mut self, trigger: KeyHash, undo: &[u64]) {
        let by_fill = self.active.ones > self.policy.sigma;
        self.counts.by_fill = self.counts.by_fill.saturating_add(by_fill.into());
        self.active.remove(undo);
        self.turn();
        if self.policy.retaining {
            self.enter(trigger);
            self.counts.items = 1;
        }
    }

    /// The next phase begins, empty.
    fn turn(&mut self) {
        self.counts.next_cycle();
        let salt = salt(&self.hasher, &self.policy, self.counts.cycles);
        if let Some(frozen) = &mut self.frozen {
            std::mem::swap(frozen, &mut self.active);
        }
        self.active.clear(salt);
        self.clock.start = self.clock.now;
        self.both = 0;
        self.frozen_rate = self.frozen.as_ref().map_or(0.0, |frozen| self.scheme.rate_at(frozen.ones));
    }

    /// The pass probability of a fresh key if so many bits are set in the active phase and in both.
    ///
    /// Phases of one seed share the key's positions: all of them lie among the active phase's bits, or the frozen one's, or in what they have in common. Phases of two seeds are
    /// independent.
    #[inline]
    pub(super) fn rate_at(&self, active: u64, both: u64) -> f64 {
        let rate = self.scheme.rate_at(active);
        if self.frozen.is_none() {
            return rate;
        }
        match self.policy.seeds {
            Seeds::Renewed => rate + self.frozen_rate - rate * self.frozen_rate,
            Seeds::Kept => rate + self.frozen_rate - self.scheme.rate_at(both),
        }
    }
}
