//! Inserting keys and looking them up.

use super::FilterOf;
use crate::backing::{Backing, Writable};
use crate::hash::{KeyHash, KeyHasher, hash_key};
use crate::key::Key;
use crate::scheme::Scheme;
use crate::scheme::Storage;

impl<S: Scheme, H: KeyHasher, K: Writable> FilterOf<S, H, K> {
    /// Inserts a key; returns true if it was certainly new, like the collections of the standard
    /// library.
    ///
    /// False means that all its bits were already set: the key is a repeat, or it is new and passes
    /// by chance (at the filter's present rate). In both cases the key is contained from now on.
    /// Time: one hash and k probes.
    #[inline(always)]
    pub fn insert<Q: Key + ?Sized>(&mut self, key: &Q) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// [`insert`](Self::insert) of a key that is already hashed.
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
    /// Whether the filter contains a key: always true for keys that were inserted; true for other
    /// keys at the rate [`fpr`](Self::fpr).
    ///
    /// Time: one hash and at most k probes; about two probes for keys that are not contained,
    /// because the first unset bit decides.
    #[inline(always)]
    pub fn contains<Q: Key + ?Sized>(&self, key: &Q) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// The key's hash, for [`insert_hash`](Self::insert_hash) and
    /// [`contains_hash`](Self::contains_hash) of this and all filters with the same hasher and
    /// seed.
    #[inline(always)]
    pub fn hash<Q: Key + ?Sized>(&self, key: &Q) -> KeyHash {
        hash_key(&self.head.hasher, key)
    }

    /// [`contains`](Self::contains) of a key that is already hashed.
    #[inline(always)]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.storage.contains(&self.head.scheme, hash)
    }
}
