//! A phase that threads share, and its counts.

use crate::arch::AlignedWords;
use crate::bits::AtomicBits;
use crate::error::BuildError;
use crate::hash::{KeyHash, Salt};
use crate::recycling::Policy;
use crate::recycling::account::Counts;
use crate::scheme::{Placed, Scheme};
use crate::sync::{AtomicU64, Ordering::Relaxed};

/// A phase whose bits are set by several threads.
pub(super) struct Shared {
    pub(super) bits: AtomicBits,
    pub(super) ones: AtomicU64,
    pub(super) items: AtomicU64,
    /// How many items were contained only in the frozen phase.
    pub(super) refreshed: AtomicU64,
    pub(super) salt: Salt,
}

impl Shared {
    pub(super) fn new(bits: u64, salt: Salt) -> Result<Shared, BuildError> {
        Ok(Shared {
            bits: AtomicBits::zeroed(bits)?,
            ones: AtomicU64::new(0),
            items: AtomicU64::new(0),
            refreshed: AtomicU64::new(0),
            salt,
        })
    }

    /// A phase with these words, in which `ones` bits are set.
    pub(super) fn of(words: AlignedWords, ones: u64, salt: Salt) -> Shared {
        Shared { bits: AtomicBits::of(words), ones: AtomicU64::new(ones), items: AtomicU64::new(0), refreshed: AtomicU64::new(0), salt }
    }

    /// The counts `before` this phase, plus those of this phase.
    pub(super) fn counted(&self, before: Counts) -> Counts {
        let entered = self.items.load(Relaxed);
        let refreshed = self.refreshed.load(Relaxed).min(entered);
        Counts {
            offered: before.offered.saturating_add(entered),
            new: before.new.saturating_add(entered - refreshed),
            refreshed: before.refreshed.saturating_add(refreshed),
            items: before.items + entered,
            ..before
        }
    }

    /// Sets the bits of a key. Returns three numbers: how many bits this call set, and how many
    /// bits and items the phase has afterwards.
    ///
    /// Relaxed ordering is enough. Each decision depends on a single atomic number, and all threads
    /// see the changes of a single atomic number in the same order. Phases are swapped under a
    /// lock.
    pub(super) fn insert(&self, scheme: &impl Scheme, hash: KeyHash) -> (u64, u64, u64) {
        let newly_set = u64::from(self.bits.insert(scheme, self.salt.apply(hash)));
        if newly_set == 0 {
            return (0, 0, 0);
        }
        (newly_set, self.ones.fetch_add(newly_set, Relaxed) + newly_set, self.items.fetch_add(1, Relaxed) + 1)
    }

    pub(super) fn contains(&self, scheme: &impl Scheme, hash: KeyHash) -> bool {
        self.bits.contains(scheme, self.salt.apply(hash))
    }

    /// Prefetches the words of the first positions of a key.
    pub(super) fn ask(&self, scheme: &impl Placed, hash: KeyHash, first: usize) {
        self.bits.ask(scheme, self.salt.apply(hash), first);
    }

    pub(super) fn clear(&mut self, salt: Salt) {
        self.bits.clear();
        [&self.ones, &self.items, &self.refreshed].into_iter().for_each(|count| count.store(0, Relaxed));
        self.salt = salt;
    }
}

impl Counts {
    /// Records that the phase ended with this many set bits.
    pub(super) fn end_overfilled(&mut self, ones: u64, policy: &Policy, probes: u32) {
        self.by_fill = self.by_fill.saturating_add((ones > policy.sigma).into());
        self.overfill = self.overfill.max(Some(ones.saturating_sub(policy.most_ones(probes))));
    }
}
