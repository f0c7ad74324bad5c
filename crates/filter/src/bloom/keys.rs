//! Inserting keys and looking them up.

use super::FilterOf;
use crate::arch::prefetch;
use crate::backing::{Backing, Writable};
use crate::hash::{KeyHash, KeyHasher, hash_key};
use crate::key::Key;
use crate::scheme::Scheme;
use crate::scheme::Storage;

impl<S: Scheme, H: KeyHasher, K: Writable> FilterOf<S, H, K> {
    /// Inserts a key. Like `HashSet::insert`, the method returns true if the key was new. There is
    /// one exception: for a new key that is a false positive, the method returns false.
    ///
    /// If the result is true, the key is certainly new. If the result is false, all bits of the key
    /// were already set: the key is a repeat or a false positive. In both cases, the filter
    /// contains the key from now on. The method hashes the key once and takes k probes, where k is
    /// [`probes`](Self::probes).
    #[inline(always)]
    pub fn insert<Q: Key + ?Sized>(&mut self, key: &Q) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// Like [`insert`](Self::insert), for a key that is already hashed.
    #[inline(always)]
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        let new = self.storage.insert(&self.head.scheme, hash);
        // The sum saturates, because a file may contain any count.
        self.counts.offered = self.counts.offered.saturating_add(1);
        self.counts.changed = self.counts.changed.saturating_add(new.into());
        new
    }
}

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    /// Returns true if the filter contains a key. For keys that were inserted, the answer is always
    /// true. For other keys, [`fpr`](Self::fpr) is the probability that the answer is true.
    ///
    /// The method hashes the key once and reads at most k bits, where k is
    /// [`probes`](Self::probes). For a key that is not in the filter, the method often ends before
    /// it has read all k bits.
    #[inline(always)]
    pub fn contains<Q: Key + ?Sized>(&self, key: &Q) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// The key's hash. The hash can be passed to [`insert_hash`](Self::insert_hash) and
    /// [`contains_hash`](Self::contains_hash) of this filter and of all filters with the same
    /// hasher and seed.
    #[inline(always)]
    pub fn hash<Q: Key + ?Sized>(&self, key: &Q) -> KeyHash {
        hash_key(&self.head.hasher, key)
    }

    /// Like [`contains`](Self::contains), for a key that is already hashed.
    #[inline(always)]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.storage.contains(&self.head.scheme, hash)
    }

    /// Prefetches the bits of a key that will be inserted or looked up soon. Call this method about
    /// ten keys ahead of the key that you are processing. In a filter larger than the cache, the
    /// memory accesses of these ten keys then overlap. A prefetch does not change the filter.
    /// [`insert_all`](Self::insert_all) and [`contains_all`](Self::contains_all) already prefetch.
    #[inline]
    pub fn prefetch(&self, hash: KeyHash) {
        let words = &<S::Storage<K> as Storage<S, K>>::words(&self.storage)[..];
        self.head.scheme.for_each_ahead(hash, usize::MAX, |word| prefetch(words, word));
    }
}
