//! Batched operations.

use super::{Counter, RowHashes, Sketch};
use crate::hash::KeyHash;
use crate::key::Key;
use alloc::vec::Vec;

/// How many keys are hashed before their counters are read or written. The number is large enough
/// that many memory accesses overlap, and small enough that the hashes stay in the L1 cache.
const BATCH: usize = 32;

impl<R: RowHashes, C: Counter> Sketch<R, C> {
    /// Adds 1 to the count of each key, like a call of [`add`](Self::add) with the count 1. If the
    /// sketch does not use [conservative update](Self::with_conservative_update), this method is
    /// usually faster than a call of `add` for each key, because the memory accesses of several
    /// keys overlap.
    pub fn add_all<K: Key, I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let mut keys = keys.into_iter();
        let (mut hashes, mut cells) = ([KeyHash::from_uniform_bits(0); BATCH], Vec::new());
        loop {
            let mut filled = 0;
            for (slot, key) in hashes.iter_mut().zip(&mut keys) {
                *slot = self.hash(&key);
                filled += 1;
            }
            self.add_batch(&hashes[..filled], &mut cells);
            if filled < BATCH {
                return;
            }
        }
    }

    /// Like [`add_all`](Self::add_all), for keys that are already hashed.
    pub fn add_hashes(&mut self, hashes: &[KeyHash]) {
        let mut cells = Vec::new();
        hashes.chunks(BATCH).for_each(|hashes| self.add_batch(hashes, &mut cells));
    }

    /// First computes all indices, and then adds to all counters. The second loop is so short that
    /// the processor overlaps many of its loads without a prefetch.
    fn add_batch(&mut self, hashes: &[KeyHash], cells: &mut Vec<u64>) {
        if self.conservative {
            // With conservative update, the effect of a key depends on counters that earlier keys
            // may have changed.
            return hashes.iter().for_each(|hash| self.add_hash(*hash, 1));
        }
        cells.clear();
        hashes.iter().for_each(|hash| cells.extend(self.hashes.cells(*hash)));
        for cell in cells {
            if let Some(counter) = self.counters.get_mut(*cell as usize) {
                *counter = counter.plus(1);
            }
        }
        self.total = self.total.saturating_add(hashes.len() as u64);
    }
}
