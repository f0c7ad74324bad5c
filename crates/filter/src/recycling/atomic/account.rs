//! The counts and rates of a recycling filter that threads share.

use super::AtomicRecyclingFilter;
use super::phase::Shared;
use crate::hash::{KeyHasher, Seed};
use crate::recycling::account::with_equal_hashes;
use crate::recycling::halves::pass_rate;
use crate::recycling::{Policy, Stats};
use crate::scheme::FillScheme;
use crate::sync::Ordering::Relaxed;
use core::fmt;

impl<H: KeyHasher, S: FillScheme> AtomicRecyclingFilter<H, S> {
    /// The number of bits per phase.
    pub fn bits(&self) -> u64 {
        self.scheme.bits()
    }

    /// The number of probes per key, k.
    pub fn probes(&self) -> u32 {
        self.scheme.probes()
    }

    /// The policy, which says when the filter recycles, and what the filter still remembers after a
    /// recycle.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The hasher, with its seed.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The seed of the hasher, from which the seeds of the phases are derived.
    pub fn seed(&self) -> Seed {
        self.hasher.seed()
    }

    /// The number of recycles so far.
    pub fn cycles(&self) -> u64 {
        self.state().counts.cycles
    }

    /// The number of set bits in the active phase.
    pub fn ones(&self) -> u64 {
        self.state().active.ones.load(Relaxed)
    }

    /// The number of set bits in the frozen phase; 0 if there is no frozen phase.
    pub fn frozen_ones(&self) -> u64 {
        let state = self.state();
        state.frozen.as_ref().map_or(0, |frozen| frozen.ones.load(Relaxed))
    }

    /// The counts so far. [`offered`](Stats::offered) counts only items that set a bit. Repeats are
    /// not counted. If repeats were counted, all threads would have to update the same counter at
    /// every offer, and would wait for each other.
    pub fn stats(&self) -> Stats {
        let state = self.state();
        state.active.counted(state.counts).stats()
    }

    /// The present false-positive rate: see [`RecyclingFilter::fpr`](crate::RecyclingFilter::fpr).
    /// With two phases and [`Seeds::Kept`](crate::recycling::Seeds::Kept), this method takes time
    /// linear in the number of bits. Otherwise, this method takes constant time.
    pub fn fpr(&self) -> f64 {
        let state = self.state();
        let (active, frozen) = (&state.active, state.frozen.as_ref());
        let ones = |phase: &Shared| phase.ones.load(Relaxed);
        let frozen_rate = frozen.map(|frozen| self.scheme.rate_at(ones(frozen)));
        let both = || frozen.map_or(0, |frozen| active.bits.count_common(&frozen.bits));
        let rate = pass_rate(&self.scheme, self.policy.seeds, ones(active), frozen_rate, both);
        with_equal_hashes::<H>(rate, active.counted(state.counts).stats(), frozen.map_or(0, ones))
    }
}

impl<H: KeyHasher, S: FillScheme> fmt::Debug for AtomicRecyclingFilter<H, S> {
    /// Formats the parameters and counts, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicRecyclingFilter")
            .field("bits", &self.bits())
            .field("probes", &self.probes())
            .field("scheme", &self.scheme.id().name())
            .field("hasher", &self.hasher.id())
            .field("policy", &self.policy)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
