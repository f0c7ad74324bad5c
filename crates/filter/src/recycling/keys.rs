//! Offering items to a recycling filter.

use super::RecyclingFilter;
use super::memory::{Entered, Layout, Memory};
use crate::backing::{Backing, Writable};
use crate::hash::{KeyHash, KeyHasher, hash_key};
use crate::key::Key;
use core::time::Duration;

/// Which phase contained an item when it was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Seen {
    /// No phase contained the item, so it was certainly not remembered.
    New,
    /// Only the frozen phase contained the item: it is a repeat or a false positive. The item has
    /// now entered the active phase.
    Frozen,
    /// The active phase contained the item: it is a repeat or a false positive.
    Active,
}

impl Seen {
    /// Returns true if the item was new: the filter did not remember it.
    #[inline]
    #[must_use]
    pub fn is_new(self) -> bool {
        self == Seen::New
    }
}

impl<H: KeyHasher, S: Layout, K: Writable> RecyclingFilter<H, S, K> {
    /// Checks whether an item is new (not remembered), and remembers it. If the active phase is
    /// then full, the filter recycles.
    ///
    /// Time: one hash and k probes, or up to twice as many probes with two phases. A recycle takes
    /// time linear in the bits, which is a small cost per item when spread over a cycle.
    #[inline]
    pub fn check_and_insert<Q: Key + ?Sized>(&mut self, key: &Q) -> Seen {
        self.check_and_insert_hash(self.hash(key))
    }

    /// Like [`check_and_insert`](Self::check_and_insert), after calling [`advance`](Self::advance)
    /// with this time of the caller's clock.
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

    /// Returns true if offering this key next would raise the fill above
    /// [`sigma`](super::Policy::sigma) and so end the active phase. Use this in programs that must
    /// stop before anything is forgotten. Recycles that are caused by the number of insertions, or
    /// by age, are not predicted.
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
    /// Prefetches the bits of a key that will be offered soon; about ten keys ahead works best. In
    /// a filter larger than the caches, the memory accesses then overlap. Prefetching does not
    /// change the filter.
    #[inline]
    pub fn prefetch(&self, hash: KeyHash) {
        self.memory.prefetch(hash);
    }

    /// Returns true if the key is remembered. The answer is always true for items that were offered
    /// since the last recycle. With two phases, it is always true for items that were offered since
    /// the second-to-last recycle. For other keys, the answer is true with a probability of
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
