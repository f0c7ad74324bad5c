//! Many keys at once.

use super::{Counter, RowHashes, Sketch};
use crate::hash::KeyHash;
use crate::key::Key;

/// So many keys are hashed before their counters are touched: enough to have the memory work on many at a time, few enough to stay in the first cache.
const BATCH: usize = 32;

impl<R: RowHashes, C: Counter> Sketch<R, C> {
    /// Counts every key once, as [`add`](Self::add) does, but with the waiting for memory of many keys at a time.
    pub fn add_all<K: Key, I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let mut keys = keys.into_iter();
        let mut hashes = [KeyHash::from(0); BATCH];
        loop {
            let mut filled = 0;
            for (slot, key) in hashes.iter_mut().zip(&mut keys) {
                *slot = self.hash(&key);
                filled += 1;
            }
            self.add_hashes(&hashes[..filled]);
            if filled < BATCH {
                return;
            }
        }
    }

    /// [`add_all`](Self::add_all) of keys that are hashed already.
    pub fn add_hashes(&mut self, hashes: &[KeyHash]) {
        // A loaded counter is in the cache by the time it is raised. The loads do not depend on each other, so they wait together; reading is enough, and safe.
        for hashes in hashes.chunks(BATCH) {
            let touched = hashes.iter().flat_map(|hash| self.hashes.cells(*hash)).filter_map(|cell| self.counters.get(cell as usize));
            std::hint::black_box(touched.fold(C::default(), |most, counter| most.max(*counter)));
            hashes.iter().for_each(|hash| self.add_hash(*hash, 1));
        }
    }
}
