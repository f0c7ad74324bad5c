//! Offering items.

use super::{Half, RecyclingFilter, Seeds};
use crate::hash::{KeyHash, KeyHasher, hash_key};
use crate::key::Key;
use crate::scheme::FillScheme;
use std::time::Duration;

/// What was known of an item when it was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// Nothing: it is surely new to what is remembered.
    New,
    /// Only the frozen phase knew it: a repeat or a false positive. It has entered the active phase now.
    Frozen,
    /// The active phase knew it: a repeat or a false positive.
    Active,
}

impl Seen {
    /// Whether it was new: to be kept by who wants the first occurrences.
    #[inline]
    pub fn is_new(self) -> bool {
        self == Seen::New
    }
}

impl<H: KeyHasher, S: FillScheme> RecyclingFilter<H, S> {
    /// Whether an item is new to what is remembered; it is remembered from now on. Recycles if that filled the active phase.
    ///
    /// Time: one hash and k probes, with two phases at most twice as many; at a recycle linear in the bits, which the items of a cycle share.
    #[inline]
    pub fn check_and_insert<K: Key + ?Sized>(&mut self, key: &K) -> Seen {
        self.check_and_insert_hash(self.hash(key))
    }

    /// [`check_and_insert`](Self::check_and_insert) at this time of the caller's clock: [`advance`](Self::advance) comes first.
    #[inline]
    pub fn check_and_insert_at<K: Key + ?Sized>(&mut self, key: &K, now: Duration) -> Seen {
        self.advance(now);
        self.check_and_insert(key)
    }

    /// [`check_and_insert`](Self::check_and_insert) of a key that is hashed already.
    #[inline]
    pub fn check_and_insert_hash(&mut self, hash: KeyHash) -> Seen {
        self.counts.offered = self.counts.offered.saturating_add(1);
        let before = (self.active.ones, self.both);
        let undo = if self.takes_triggers_out() && self.may_recycle() { self.active.unset(&self.scheme, hash) } else { Vec::new() };
        let (newly_set, in_frozen) = self.enter(hash);
        if newly_set == 0 {
            return Seen::Active;
        }
        self.counts.items += 1;
        let seen = if in_frozen {
            self.counts.refreshed = self.counts.refreshed.saturating_add(1);
            Seen::Frozen
        } else {
            let rate = self.rate_at(before.0, before.1);
            self.counts.keep(rate);
            Seen::New
        };
        if self.is_full() {
            self.recycle_after(hash, &undo);
        }
        seen
    }

    /// Asks for the memory of a key's bits that will be offered soon, some ten keys later. In a filter larger than the caches the waits overlap then. Changes nothing.
    #[inline]
    pub fn prefetch(&self, hash: KeyHash) {
        self.active.prefetch(&self.scheme, hash, usize::MAX);
        if let Some(frozen) = &self.frozen {
            // A new item leaves the frozen phase after two probes or so.
            frozen.prefetch(&self.scheme, hash, 2);
        }
    }

    /// Whether what is remembered contains the key: always true of items that were offered since the last recycle (two phases: the last but one), and of others at the rate
    /// [`fpr`](Self::fpr).
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) of a key that is hashed already.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        let known = |half: &Half| half.contains(&self.scheme, hash);
        known(&self.active) || self.frozen.as_ref().is_some_and(known)
    }

    /// The key's hash, for [`check_and_insert_hash`](Self::check_and_insert_hash) of this and all filters with the same hasher and seed.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        hash_key(&self.hasher, key)
    }

    /// Enters an item into the active phase: how many of its bits were not set there, and whether the frozen phase knows it (asked only if that matters).
    #[inline]
    pub(super) fn enter(&mut self, hash: KeyHash) -> (u64, bool) {
        let Some(frozen) = &self.frozen else { return (self.active.insert(&self.scheme, hash), false) };
        if self.policy.seeds == Seeds::Renewed {
            let newly_set = self.active.insert(&self.scheme, hash);
            return (newly_set, newly_set > 0 && frozen.contains(&self.scheme, hash));
        }
        let (mut newly_set, mut newly_both, mut in_frozen) = (0, 0, true);
        for position in self.scheme.positions(hash) {
            let (new, old) = (self.active.bits.set(position), frozen.bits.get(position));
            newly_set += u64::from(new);
            newly_both += u64::from(new && old);
            in_frozen &= old;
        }
        self.active.ones += newly_set;
        self.both += newly_both;
        (newly_set, in_frozen)
    }
}
