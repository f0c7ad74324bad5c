//! One phase, in a filter whose positions can be anywhere: its bits, the number of set bits, and
//! its salt.

use crate::arch::{AlignedWords, prefetch};
use crate::backing::{Backing, Counted, Owned, Writable};
use crate::bits::{Ahead, Bits};
use crate::error::BuildError;
use crate::hash::{KeyHash, Salt};
use crate::scheme::Scheme;
use alloc::vec::Vec;

/// The bits of a phase, and their salt.
pub(super) struct Half<K: Backing = Owned> {
    pub(super) bits: Bits<K>,
    /// The number of set bits.
    pub(super) ones: K::Known<u64>,
    pub(super) salt: Salt,
}

impl<K: Backing<Words = AlignedWords> + Counted> Half<K> {
    pub(super) fn new(bits: u64, salt: Salt) -> Result<Half<K>, BuildError> {
        Ok(Half { bits: Bits::zeroed(bits)?, ones: K::keep(0), salt })
    }
}

impl<K: Backing> Half<K> {
    pub(super) fn copied(&self) -> Half<K>
    where
        K::Words: Clone,
    {
        Half { bits: self.bits.copied(), ones: self.ones.clone(), salt: self.salt }
    }

    #[inline]
    pub(super) fn contains(&self, scheme: &impl Scheme, hash: KeyHash) -> bool {
        scheme.all(self.salt.apply(hash), self.bits.getter())
    }

    /// Prefetches the words of the first positions of a key.
    #[inline]
    pub(super) fn prefetch(&self, scheme: &impl Scheme, hash: KeyHash, first: usize) {
        scheme.positions(self.salt.apply(hash)).take(first).for_each(|position| prefetch(&self.bits.words()[..], position >> 6));
    }

    /// Those positions of a key whose bits are not set, without repeats.
    pub(super) fn unset(&self, scheme: &impl Scheme, hash: KeyHash) -> Vec<u64> {
        let is_set = self.bits.getter();
        let mut unset: Vec<u64> = scheme.positions(self.salt.apply(hash)).filter(|position| !is_set(*position)).collect();
        unset.sort_unstable();
        unset.dedup();
        unset
    }
}

impl<K: Counted> Half<K> {
    /// Makes a phase of these bits, and counts the set bits.
    pub(super) fn of(bits: Bits<K>, salt: Salt) -> Half<K> {
        Half { ones: K::keep(bits.count_ones()), bits, salt }
    }

    /// The number of set bits.
    #[inline]
    pub(super) fn ones(&self) -> u64 {
        *K::kept(&self.ones)
    }
}

impl<K: Writable> Half<K> {
    #[inline]
    pub(super) fn add_ones(&mut self, newly_set: u64) {
        *K::kept_mut(&mut self.ones) += newly_set;
    }

    /// Sets the bits of a key and returns how many were not set before.
    #[inline]
    pub(super) fn insert(&mut self, scheme: &impl Scheme, hash: KeyHash) -> u64 {
        let (mut newly_set, mut set) = (0, self.bits.setter());
        scheme.each(self.salt.apply(hash), |position| newly_set += u64::from(set(position)));
        drop(set);
        self.add_ones(newly_set);
        newly_set
    }

    /// Sets the bits of a key in a group and returns how many were not set before. Does not update
    /// `ones`.
    #[inline(always)]
    pub(super) fn set_positions(&mut self, scheme: &impl Scheme, group: &Ahead, lane: usize) -> u64 {
        let (mut newly_set, mut set) = (0, self.bits.setter());
        group.for_each(scheme, lane, |position| newly_set += u64::from(set(position)));
        drop(set);
        newly_set
    }

    /// Unsets the bits at these positions, all of which must be set.
    pub(super) fn remove(&mut self, positions: &[u64]) {
        positions.iter().for_each(|position| self.bits.unset(*position));
        let ones = K::kept_mut(&mut self.ones);
        // The difference saturates, because a view's bytes may have changed since they were
        // counted.
        *ones = ones.saturating_sub(positions.len() as u64);
    }

    pub(super) fn clear(&mut self, salt: Salt) {
        self.bits.clear();
        self.ones = K::keep(0);
        self.salt = salt;
    }
}

impl<K: Backing> PartialEq for Half<K> {
    fn eq(&self, other: &Half<K>) -> bool {
        self.bits == other.bits && self.salt == other.salt
    }
}
