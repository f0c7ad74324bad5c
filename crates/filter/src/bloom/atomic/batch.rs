//! Batched operations on a filter that several threads share.

use super::AtomicFilterOf;
use crate::bits::IN_CACHE;
use crate::bulk::{self, Answers, Batch, BatchAnswers, Hashes, mark};
use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;
use crate::scheme::Scheme;

/// How many probes of a query are prefetched while most keys are not contained: half of those need
/// no second probe, and few need a third.
const ASKED_AHEAD: u32 = 2;

/// For up to this many keys, a batch takes as long to begin as it saves; measured by
/// `bench/src/begin` for filters that one thread uses.
const FEW: usize = 8;

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
        if self.goes_singly(&keys) {
            return keys.map(|key| self.insert(&key)).collect();
        }
        self.insertions(bulk::hashing(self.hasher(), keys))
    }

    /// Like [`insert_all`](Self::insert_all), for keys that are already hashed.
    pub fn insert_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        if self.goes_singly(&hashes.iter()) {
            return hashes.iter().map(|hash| self.insert_hash(*hash)).collect();
        }
        self.insertions(bulk::hashed(hashes))
    }

    /// Reports which of the keys are contained. The answers are the same as from calling
    /// [`contains`](Self::contains) for each key.
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        let keys = keys.into_iter();
        if self.goes_singly(&keys) {
            return keys.map(|key| self.contains(&key)).collect();
        }
        self.queries(bulk::hashing(self.hasher(), keys))
    }

    /// Like [`contains_all`](Self::contains_all), for keys that are already hashed.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        if self.goes_singly(&hashes.iter()) {
            return hashes.iter().map(|hash| self.contains_hash(*hash)).collect();
        }
        self.queries(bulk::hashed(hashes))
    }

    /// Whether the keys are handled one by one: if they are few, or if the filter fits in the
    /// cache, where prefetching takes longer than it saves.
    fn goes_singly(&self, keys: &impl Iterator) -> bool {
        self.bits() <= IN_CACHE || bulk::are_few(keys, FEW)
    }

    /// Inserts keys batch after batch. All keys of a batch are counted before the first is
    /// inserted, because the count must be an upper bound at all times.
    fn insertions(&self, next: impl FnMut(&mut Hashes)) -> Answers {
        let insert = |hash| self.bits.insert(&self.head.scheme, hash) > 0;
        self.answers(next, |_| self.probes(), |keys| self.offered.add(keys as u64), insert)
    }

    /// Looks up keys batch after batch.
    fn queries(&self, next: impl FnMut(&mut Hashes)) -> Answers {
        // A key that is contained takes all its probes, and the last batch tells what to expect.
        let probes_ahead = |mostly_true| if mostly_true { self.probes() } else { ASKED_AHEAD };
        self.answers(next, probes_ahead, |_| (), |hash| self.contains_hash(hash))
    }

    /// Calls `begin` with the size of each batch before it is processed, and collects the answers.
    /// The words of the next batch are prefetched while the present one is looked up: as many
    /// probes of each key as `probes_ahead` returns, whose argument is whether most answers of the
    /// last batch were true.
    fn answers(
        &self,
        next: impl FnMut(&mut Hashes),
        probes_ahead: impl Fn(bool) -> u32,
        begin: impl Fn(usize),
        answer: impl Fn(KeyHash) -> bool,
    ) -> Answers {
        let (mut all, mut ahead) = (Answers::default(), probes_ahead(false) as usize);
        bulk::for_each_batch(
            next,
            |Batch { present, following, .. }| {
                let mut answers = BatchAnswers::default();
                begin(present.count());
                for key in 0..present.count().max(following.count()) {
                    if key < following.count() {
                        self.bits.ask(self.scheme(), following.hash(key), ahead);
                    }
                    if key < present.count() {
                        mark(&mut answers, key, answer(present.hash(key)));
                    }
                }
                let count: u32 = answers.iter().map(|word| word.count_ones()).sum();
                ahead = probes_ahead(2 * count as usize > present.count()) as usize;
                answers
            },
            |answers, count| all.push(answers, count),
        );
        all
    }
}
