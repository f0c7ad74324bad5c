//! One phase whose bits lie anywhere: how many are set, and its seed.

use super::salt::Salt;
use crate::arch::prefetch;
use crate::bits::Bits;
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::scheme::Scheme;
use alloc::vec::Vec;

/// The bits of a phase.
#[derive(Clone, PartialEq)]
pub(super) struct Half {
    pub(super) bits: Bits,
    /// Number of set bits, kept exact.
    pub(super) ones: u64,
    pub(super) salt: Salt,
}

impl Half {
    pub(super) fn new(bits: u64, salt: Salt) -> Result<Half, BuildError> {
        Ok(Half { bits: Bits::zeroed(bits)?, ones: 0, salt })
    }

    /// Sets the positions of a key and says how many were not.
    #[inline]
    pub(super) fn insert(&mut self, scheme: &impl Scheme, hash: KeyHash) -> u64 {
        let (mut newly_set, mut set) = (0, self.bits.setter());
        scheme.all(self.salt.apply(hash), |position| {
            newly_set += u64::from(set(position));
            true
        });
        self.ones += newly_set;
        newly_set
    }

    #[inline]
    pub(super) fn contains(&self, scheme: &impl Scheme, hash: KeyHash) -> bool {
        scheme.all(self.salt.apply(hash), |position| self.bits.get(position))
    }

    /// Asks for the lines of the first so many positions of a key.
    #[inline]
    pub(super) fn prefetch(&self, scheme: &impl Scheme, hash: KeyHash, first: usize) {
        scheme.positions(self.salt.apply(hash)).take(first).for_each(|position| prefetch(self.bits.words(), position >> 6));
    }

    /// The positions of a key that are not set, each once.
    pub(super) fn unset(&self, scheme: &impl Scheme, hash: KeyHash) -> Vec<u64> {
        let mut unset: Vec<u64> = scheme.positions(self.salt.apply(hash)).filter(|position| !self.bits.get(*position)).collect();
        unset.sort_unstable();
        unset.dedup();
        unset
    }

    /// Takes bits out again that are set.
    pub(super) fn remove(&mut self, positions: &[u64]) {
        positions.iter().for_each(|position| self.bits.unset(*position));
        self.ones -= positions.len() as u64;
    }

    pub(super) fn clear(&mut self, salt: Salt) {
        self.bits.clear();
        self.ones = 0;
        self.salt = salt;
    }
}
