//! Offering items to a recycling filter.

use super::RecyclingFilter;
use super::memory::{Entered, Layout, Memory};
use crate::backing::{Backing, Writable};
use crate::hash::{KeyHash, KeyHasher, hash_key};
use crate::key::Key;
use core::time::Duration;

/// The result of offering an item to a recycling filter: whether the filter already contained the
/// item, and in which phase.
///
/// A recycling filter consists of one or two Bloom filters, called *phases*. New items are inserted
/// into the *active* phase. The second phase, if there is one, is the *frozen* phase. The frozen
/// phase holds the items of the previous cycle, which ended at the most recent recycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Seen {
    /// The filter certainly did not remember the item, because no phase contained it.
    New,
    /// Only the frozen phase contained the item, so the item is a repeat or a false positive. The
    /// item was then inserted into the active phase.
    Frozen,
    /// The active phase contained the item, so the item is a repeat or a false positive.
    Active,
}

impl Seen {
    /// Returns true if the item was new, that is, if the filter did not remember it.
    #[inline]
    #[must_use]
    pub fn is_new(self) -> bool {
        self == Seen::New
    }
}

impl<H: KeyHasher, S: Layout, K: Writable> RecyclingFilter<H, S, K> {
    /// Checks whether an item is new (not remembered), and then inserts the item. If the active
    /// phase is then full, as defined by the [policy](super::Policy), the filter recycles: the
    /// filter forgets old items.
    ///
    /// The method hashes the key once and takes at most k probes per phase, where k is
    /// [`probes`](Self::probes). A recycle takes time linear in the number of bits.
    #[inline]
    pub fn check_and_insert<Q: Key + ?Sized>(&mut self, key: &Q) -> Seen {
        self.check_and_insert_hash(self.hash(key))
    }

    /// Calls [`advance`](Self::advance) with `now`, the present time on the caller's clock. Then
    /// calls [`check_and_insert`](Self::check_and_insert) with the key.
    #[inline]
    pub fn check_and_insert_at<Q: Key + ?Sized>(&mut self, key: &Q, now: Duration) -> Seen {
        self.advance(now);
        self.check_and_insert(key)
    }

    /// Like [`check_and_insert`](Self::check_and_insert), for a key that is already hashed.
    #[inline]
    pub fn check_and_insert_hash(&mut self, hash: KeyHash) -> Seen {
        self.counts.offered = self.counts.offered.saturating_add(1);
        let trigger_bits = self.memory.trigger_bits(hash, &self.policy, self.is_last(self.counts.items + 1));
        let seen = match self.memory.enter(hash) {
            Entered::Known => return Seen::Active,
            Entered::Refreshed => {
                self.counts.refreshed = self.counts.refreshed.saturating_add(1);
                Seen::Frozen
            }
            Entered::New { rate } => {
                self.counts.keep(rate);
                Seen::New
            }
        };
        self.counts.items += 1;
        if self.memory.is_over_limit(&self.policy) || self.is_last(self.counts.items) {
            self.recycle_after(hash, &trigger_bits);
        }
        seen
    }

    /// Returns true if inserting this key would exceed the recycle threshold,
    /// [`sigma`](super::Policy::sigma), and therefore make the filter recycle. Use this method in
    /// programs that must stop before the filter forgets anything. The method does not predict
    /// recycles that are caused by the number of insertions or by the age of the phase.
    ///
    /// ```
    /// use truebloom::recycling::RecyclingFilter;
    /// let mut seen = RecyclingFilter::for_items(100, 0.01)?;
    /// for i in 0..1_000 {
    ///     let ends = seen.would_overfill(seen.hash(&i));
    ///     let cycles = seen.stats().cycles;
    ///     seen.check_and_insert(&i);
    ///     assert_eq!(seen.stats().cycles > cycles, ends);
    /// }
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    #[inline]
    pub fn would_overfill(&self, hash: KeyHash) -> bool {
        self.memory.would_exceed(hash, &self.policy)
    }
}

impl<H: KeyHasher, S: Layout, K: Backing> RecyclingFilter<H, S, K> {
    /// Prefetches the bits of a key that will be offered soon. It is best to call this method about
    /// ten keys before the key is offered. In a filter larger than the cache, the memory accesses
    /// of these ten keys then overlap. Prefetching does not change the filter.
    #[inline]
    pub fn prefetch(&self, hash: KeyHash) {
        self.memory.prefetch(hash);
    }

    /// Returns true if the key is remembered. The answer is always true for an item that was
    /// offered after the most recent recycle. With two phases, the answer is always true for an
    /// item that was offered after the second most recent recycle. There is one exception: with
    /// [`Trigger::Excluded`](super::Trigger::Excluded), the item that ends a phase can be forgotten
    /// immediately.
    ///
    /// For a key that was never offered, the method returns true with probability
    /// [`fpr`](Self::fpr).
    #[inline]
    pub fn contains<Q: Key + ?Sized>(&self, key: &Q) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// Like [`contains`](Self::contains), for a key that is already hashed.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.memory.contains(hash)
    }

    /// The key's hash. The hash can be passed to
    /// [`check_and_insert_hash`](Self::check_and_insert_hash) of this filter and of all filters
    /// with the same hasher and seed.
    #[inline]
    pub fn hash<Q: Key + ?Sized>(&self, key: &Q) -> KeyHash {
        hash_key(&self.hasher, key)
    }
}
