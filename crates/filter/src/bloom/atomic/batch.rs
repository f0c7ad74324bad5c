//! Batched operations on a filter that several threads share.

use super::AtomicFilterOf;
use crate::bits::IN_CACHE;
use crate::bulk::{self, Answers, Batch, BatchAnswers, Hashes, mark};
use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;
use crate::scheme::{Batches as _, Doing, Scheme};

impl<S: Scheme, H: KeyHasher> AtomicFilterOf<S, H> {
    /// Inserts keys in order, and reports which of them were new. The answers are the same as from
    /// calling [`insert`](Self::insert) for each key. For filters larger than the cache, this
    /// method is several times as fast, because the bits of the next keys are prefetched.
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
        if self.inserts_singly(&keys) {
            return keys.map(|key| self.insert(&key)).collect();
        }
        self.insertions(bulk::hashing(self.hasher(), keys))
    }

    /// Like [`insert_all`](Self::insert_all), for keys that are already hashed.
    pub fn insert_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        if self.inserts_singly(&hashes.iter()) {
            return hashes.iter().map(|hash| self.insert_hash(*hash)).collect();
        }
        self.insertions(bulk::hashed(hashes))
    }

    /// Reports which of the keys are contained. The answers are the same as from calling
    /// [`contains`](Self::contains) for each key.
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        let keys = keys.into_iter();
        if self.asks_singly(&keys) {
            return keys.map(|key| self.contains(&key)).collect();
        }
        self.queries(bulk::hashing(self.hasher(), keys))
    }

    /// Like [`contains_all`](Self::contains_all), for keys that are already hashed.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        if self.asks_singly(&hashes.iter()) {
            return hashes.iter().map(|hash| self.contains_hash(*hash)).collect();
        }
        self.queries(bulk::hashed(hashes))
    }

    /// Whether there are too few keys for a batch of insertions to be faster. In a filter that fits
    /// in the cache there is nothing to prefetch, so a batch is never faster.
    fn inserts_singly(&self, keys: &impl Iterator) -> bool {
        self.bits() <= IN_CACHE || bulk::are_few(keys, S::Batches::few(self.scheme(), Doing::Inserting))
    }

    /// Whether there are too few keys for a batch of lookups to be faster.
    fn asks_singly(&self, keys: &impl Iterator) -> bool {
        bulk::are_few(keys, S::Batches::few_shared(self.scheme(), self.bits() > IN_CACHE))
    }

    /// Inserts keys batch after batch. All keys of a batch are counted before the first is
    /// inserted, because the count must be an upper bound at all times. The words of the next batch
    /// are prefetched while the present one is inserted.
    fn insertions(&self, next: impl FnMut(&mut Hashes)) -> Answers {
        let mut new = Answers::default();
        let insert = |Batch { present, following, .. }: Batch<'_>| {
            let mut answers = BatchAnswers::default();
            self.offered.add(present.count() as u64);
            for key in 0..present.count().max(following.count()) {
                if key < following.count() {
                    self.bits.ask(self.scheme(), following.hash(key), self.probes() as usize);
                }
                if key < present.count() {
                    mark(&mut answers, key, self.bits.insert(self.scheme(), present.hash(key)) > 0);
                }
            }
            answers
        };
        bulk::for_each_batch(next, insert, |answers, count| new.push(answers, count));
        new
    }

    /// Looks up keys batch after batch.
    fn queries(&self, next: impl FnMut(&mut Hashes)) -> Answers {
        let (mut found, mut batches) = (Answers::default(), S::Batches::new(self.scheme()));
        let look_up = |batch: Batch<'_>| self.bits.contains_batch(&mut batches, self.scheme(), batch);
        bulk::for_each_batch(next, look_up, |answers, count| found.push(answers, count));
        found
    }
}
