//! Batched operations on a filter that several threads share.

use super::AtomicFilterOf;
use crate::bits::IN_CACHE;
use crate::bulk::{self, Answers, BatchAnswers, Hashes, mark};
use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;
use crate::scheme::Scheme;

/// How many probes of a query are prefetched. Half of the keys that are not contained need no
/// second probe, and few need a third.
const ASKED_AHEAD: usize = 2;

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
        self.insertions(bulk::hashing(self.hasher(), keys))
    }

    /// Like [`insert_all`](Self::insert_all), for keys that are already hashed.
    pub fn insert_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        self.insertions(bulk::hashed(hashes))
    }

    /// Reports which of the keys are contained. The answers are the same as from calling
    /// [`contains`](Self::contains) for each key.
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        self.answers(bulk::hashing(self.hasher(), keys), ASKED_AHEAD, |_| (), |hash| self.contains_hash(hash))
    }

    /// Like [`contains_all`](Self::contains_all), for keys that are already hashed.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        self.answers(bulk::hashed(hashes), ASKED_AHEAD, |_| (), |hash| self.contains_hash(hash))
    }

    /// Inserts keys batch after batch. All keys of a batch are counted before the first is
    /// inserted, because the count must be an upper bound at all times.
    fn insertions(&self, next: impl FnMut(&mut Hashes)) -> Answers {
        let insert = |hash| self.bits.insert(&self.head.scheme, hash) > 0;
        self.answers(next, self.probes() as usize, |keys| self.offered.add(keys as u64), insert)
    }

    /// Calls `begin` with the size of each batch before it is processed, and collects the answers.
    /// The words of the next batch are prefetched while the present one is looked up.
    fn answers(
        &self,
        next: impl FnMut(&mut Hashes),
        probes_ahead: usize,
        begin: impl Fn(usize),
        answer: impl Fn(KeyHash) -> bool,
    ) -> Answers {
        let mut all = Answers::default();
        let is_far = self.bits() > IN_CACHE;
        bulk::for_each_batch(
            next,
            |batch| {
                let mut answers = BatchAnswers::default();
                begin(batch.present.count());
                for key in 0..batch.present.count().max(batch.following.count()) {
                    if is_far && key < batch.following.count() {
                        self.bits.ask(self.scheme(), batch.following.hash(key), probes_ahead);
                    }
                    if key < batch.present.count() {
                        mark(&mut answers, key, answer(batch.present.hash(key)));
                    }
                }
                answers
            },
            |answers, count| all.push(answers, count),
        );
        all
    }
}
