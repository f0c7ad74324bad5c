//! Batched operations on a filter that several threads share.

use super::AtomicFilterOf;
use crate::bits::AtomicBits;
use crate::bulk::{self, Answers, Batch, Hashes};
use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;
use crate::scheme::{Batches, Doing, Scheme};

const ASKING: Doing = Doing { inserts: false, shared: true };
const INSERTING: Doing = Doing { inserts: true, shared: true };

impl<S: Scheme, H: KeyHasher> AtomicFilterOf<S, H> {
    /// Inserts keys in order. The answer for each key is the result of [`insert`](Self::insert):
    /// true if the call set any bit of the key. In filters larger than the cache, this method is
    /// several times as fast as one call of `insert` per key, because it prefetches the bits of the
    /// next keys.
    ///
    /// ```
    /// use truebloom::AtomicBloomFilter;
    /// let seen = AtomicBloomFilter::new(1_000, 0.001)?;
    /// assert!(seen.insert_all(["a", "b", "a"]).iter().eq([true, true, false]));
    /// assert_eq!(seen.contains_all(["a", "b"]).count_ones(), 2);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn insert_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        let keys = keys.into_iter();
        if bulk::are_few(self.few(INSERTING), &keys) {
            return keys.map(|key| self.insert(&key)).collect();
        }
        self.insertions(bulk::hashing(self.hasher(), keys))
    }

    /// Like [`insert_all`](Self::insert_all), for keys that are already hashed.
    pub fn insert_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        if hashes.len() <= self.few(INSERTING) {
            return hashes.iter().map(|hash| self.insert_hash(*hash)).collect();
        }
        self.insertions(bulk::hashed(hashes))
    }

    /// Reports which of the keys are contained. For each key, the answer is the result of
    /// [`contains`](Self::contains).
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        let keys = keys.into_iter();
        if bulk::are_few(self.few(ASKING), &keys) {
            return keys.map(|key| self.contains(&key)).collect();
        }
        self.queries(bulk::hashing(self.hasher(), keys))
    }

    /// Like [`contains_all`](Self::contains_all), for keys that are already hashed.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        if hashes.len() <= self.few(ASKING) {
            return hashes.iter().map(|hash| self.contains_hash(*hash)).collect();
        }
        self.queries(bulk::hashed(hashes))
    }

    /// See [`Batches::few`].
    fn few(&self, doing: Doing) -> usize {
        S::Batches::few(self.scheme(), doing)
    }

    /// Inserts keys batch after batch. All keys of a batch are counted before the first is
    /// inserted, because the count must be an upper bound at all times.
    fn insertions(&self, next: impl FnMut(&mut Hashes)) -> Answers {
        let insert = |batch: Batch<'_>| {
            self.offered.add(batch.present.count() as u64);
            let ask = |bits: &&AtomicBits, hash| bits.ask(self.scheme(), hash, usize::MAX);
            batch.one_by_one(&mut &self.bits, ask, |bits, hash| bits.insert(self.scheme(), hash) > 0)
        };
        bulk::answers(next, insert)
    }

    /// Looks up keys batch after batch.
    fn queries(&self, next: impl FnMut(&mut Hashes)) -> Answers {
        let mut batches = S::Batches::new(self.scheme());
        bulk::answers(next, |batch| self.bits.contains_batch(&mut batches, self.scheme(), batch))
    }
}
