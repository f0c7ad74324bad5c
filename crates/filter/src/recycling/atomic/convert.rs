//! Conversions from and to recycling filters for one thread.

use super::phase::Shared;
use super::{AtomicRecyclingFilter, State, check_shared};
use crate::bits::{Bits, words_for};
use crate::error::BuildError;
use crate::hash::{KeyHasher, Salt};
#[cfg(doc)]
use crate::recycling::Stats;
use crate::recycling::account::Counts;
use crate::recycling::half::Half;
use crate::recycling::halves::Halves;
use crate::recycling::memory::Memory;
use crate::recycling::{RecyclingFilter, salt};
use crate::scheme::FillScheme;
use crate::sync::RwLock;
use std::sync::PoisonError;

impl<H: KeyHasher, S: FillScheme> AtomicRecyclingFilter<H, S> {
    /// Copies the filter's present state, in time linear in the number of bits. You can save or
    /// inspect the copy while threads go on offering items. Other threads can also offer and query
    /// items while this method runs, with one exception. If a recycle becomes due, the recycle
    /// waits until the copy is complete. Other calls then wait until the recycle is complete.
    ///
    /// # What it remembers
    /// * The snapshot remembers every item that this thread has offered. The snapshot also
    ///   remembers the items that another thread has offered, if the two threads have synchronized
    ///   after the offer (by a join, a channel or a lock). The only exceptions are items that a
    ///   recycle has forgotten.
    /// * If an item is offered during the copy, the snapshot can have all, some or none of the
    ///   item's bits. If this item is later offered to the snapshot, it can be reported as new.
    /// * If the active phase is full, but its recycle has not started, this method carries out the
    ///   recycle in the snapshot. With one phase, such a snapshot is empty. With two phases, such a
    ///   snapshot remembers the items of the phase that was full.
    ///
    /// The snapshot behaves like any other [`RecyclingFilter`], with two exceptions. First,
    /// [`Stats::offered`] does not include offers to the shared filter that set no bit. Second,
    /// [`wrong_drops`](RecyclingFilter::wrong_drops) returns no estimate and no bound.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn snapshot(&self) -> Result<RecyclingFilter<H, S>, BuildError>
    where
        H: Clone,
    {
        let copied = |phase: &Shared| -> Result<Half, BuildError> {
            let words = phase.bits.to_aligned().ok_or_else(|| BuildError::Memory { bytes: words_for(self.bits()).saturating_mul(8) })?;
            Ok(Half::of(Bits::unread(words), phase.salt))
        };
        let state = self.state();
        let counts = state.active.counted(state.counts);
        let (active, frozen) = (copied(&state.active)?, state.frozen.as_ref().map(copied).transpose()?);
        let memory = Halves::of(self.scheme.clone(), self.policy.seeds, active, frozen);
        let filter = RecyclingFilter {
            hasher: self.hasher.clone(),
            policy: self.policy,
            memory,
            clock: state.clock,
            counts,
            label: self.label.clone(),
        };
        Ok(plain(filter))
    }

    /// Turns this filter into a filter for one thread. The result is the same as the result of
    /// [`snapshot`](Self::snapshot), but this method does not copy the bits.
    pub fn into_filter(self) -> RecyclingFilter<H, S> {
        let AtomicRecyclingFilter { hasher, scheme, policy, label, phases } = self;
        let State { active, frozen, counts, clock } = phases.into_inner().unwrap_or_else(PoisonError::into_inner);
        let counts = active.counted(counts);
        let taken = |phase: Shared| Half::of(Bits::unread(phase.bits.into_words()), phase.salt);
        let memory = Halves::of(scheme, policy.seeds, taken(active), frozen.map(taken));
        plain(RecyclingFilter { hasher, policy, memory, clock, counts, label })
    }
}

impl<H: KeyHasher, S: FillScheme> TryFrom<RecyclingFilter<H, S>> for AtomicRecyclingFilter<H, S> {
    type Error = BuildError;

    /// Turns the filter into a filter that many threads can share. Returns an error if shared
    /// filters do not support this filter's policy: see [`new`](AtomicRecyclingFilter::new).
    fn try_from(filter: RecyclingFilter<H, S>) -> Result<AtomicRecyclingFilter<H, S>, BuildError> {
        let RecyclingFilter { hasher, policy, memory, clock, counts, label } = filter;
        check_shared(&policy)?;
        let (ones, frozen_ones) = (memory.ones(), memory.frozen_ones());
        let (scheme, (active, frozen)) = memory.into_parts();
        let salt = |cycle| salt(&hasher, policy.seeds, cycle);
        let active = Shared::of(active, ones, salt(counts.cycles));
        let frozen = frozen.map(|words| Shared::of(words, frozen_ones, counts.cycles.checked_sub(1).map_or(Salt::NONE, salt)));
        let counts = Counts { overfill: counts.overfill.or(Some(0)), ..counts };
        Ok(AtomicRecyclingFilter { hasher, scheme, policy, label, phases: RwLock::new(State { active, frozen, counts, clock }) })
    }
}

/// Turns a filter that threads have shared into a filter for one thread. The counts of a shared
/// filter can disagree slightly with its bits, because an item sets its bits before it is counted,
/// and other threads can see these changes in any order. This function corrects the counts.
fn plain<H: KeyHasher, S: FillScheme>(mut filter: RecyclingFilter<H, S>) -> RecyclingFilter<H, S> {
    let (policy, memory, counts) = (filter.policy, &filter.memory, filter.counts);
    // Every item has set 1 to k bits.
    let items = counts.items.clamp(memory.ones().div_ceil(memory.probes().into()), memory.ones());
    let new = counts.new.saturating_add(items).saturating_sub(counts.items);
    let offered = counts.offered.max(new.saturating_add(counts.refreshed));
    filter.counts = Counts { items, new, offered, ..counts };
    if filter.memory.is_over_limit(&policy) || filter.is_last(items) {
        filter.counts.end_overfilled(filter.memory.ones(), &policy, filter.probes());
        filter.recycle();
    }
    filter
}
