//! From recycling filters of one thread, and to them.

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
    /// A copy of the filter as it is now, to save or inspect it while threads go on offering items.
    /// Linear in the bits. Offers and queries continue meanwhile; but a recycle waits for the copy,
    /// and then all other calls wait for that recycle.
    ///
    /// # What it remembers
    /// * The snapshot has every item whose offer is known to this thread to have returned (by a
    ///   join, a channel or a lock), unless a recycle has forgotten it.
    /// * Of an item that is being offered meanwhile it has all bits, some or none. So it may answer
    ///   "new" to a later offer of such an item, as before the first offer.
    /// * If the active phase is full and its recycle is still to come, the snapshot is of the state
    ///   after the recycle: with one phase nothing is remembered then, with two phases the full
    ///   one.
    ///
    /// The snapshot behaves like any other [`RecyclingFilter`], except for what depends on its
    /// history: [`Stats::offered`] counts only offers that set a bit, and there is no bound on
    /// [wrong drops](RecyclingFilter::wrong_drops).
    ///
    /// # Errors
    /// The memory cannot be allocated.
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

    /// The filter for one thread, with everything that is remembered: a
    /// [`snapshot`](Self::snapshot), when it is no longer shared. Its bits stay where they are.
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

    /// The same filter for many threads. An error for policies that threads cannot share, as for
    /// [`with_hasher`](AtomicRecyclingFilter::with_hasher).
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

/// The filter for one thread. Its counts are only approximately of the same moment as its bits: an
/// item sets its bits before it is counted, and other threads may see both in any order.
fn plain<H: KeyHasher, S: FillScheme>(mut filter: RecyclingFilter<H, S>) -> RecyclingFilter<H, S> {
    let (policy, memory, counts) = (filter.policy, &filter.memory, filter.counts);
    // Every item has set at least one bit, and at most k.
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
