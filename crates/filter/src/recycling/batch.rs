//! Offering many items at a time, and looking up many keys at a time.

use super::RecyclingFilter;
use super::memory::{Layout, Memory};
use crate::backing::{Backing, Writable};
use crate::bulk::{self, Answers, BATCH, Hashes};
use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;
use alloc::vec::Vec;

/// If items are processed one by one, the bits of an item are prefetched this many items ahead.
const AHEAD: usize = 16;

impl<H: KeyHasher, S: Layout, K: Writable> RecyclingFilter<H, S, K> {
    /// Calls [`check_and_insert`](Self::check_and_insert) for each key in order, and returns which
    /// items were [new](super::Seen::is_new). In filters larger than the caches, this method is
    /// faster than one call per key, because it prefetches the bits of later keys. Up to 256 keys
    /// are taken from the iterator before the first of them is offered.
    ///
    /// ```
    /// use truebloom::RecyclingFilter;
    /// let mut seen = RecyclingFilter::for_items(100, 0.01)?;
    /// assert!(seen.check_and_insert_all(["a", "b", "a"]).iter().eq([true, true, false]));
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn check_and_insert_all<I: IntoIterator<Item: Key>>(&mut self, keys: I) -> Answers {
        let (mut keys, mut hashes, mut answers) = (keys.into_iter(), Vec::with_capacity(BATCH), Answers::default());
        loop {
            hashes.clear();
            hashes.extend(keys.by_ref().take(BATCH).map(|key| self.hash(&key)));
            if hashes.is_empty() {
                return answers;
            }
            self.offer_all(hashes.iter().copied(), &mut answers);
        }
    }

    /// Calls [`check_and_insert_hash`](Self::check_and_insert_hash) for each hash in order, and
    /// returns which items were [new](super::Seen::is_new). Pass an iterator that computes each
    /// hash only when this method asks for the hash. The processor can then compute hashes while it
    /// waits for memory.
    ///
    /// ```
    /// use truebloom::{KeyHasher, RecyclingFilter};
    /// let mut seen = RecyclingFilter::for_items(100, 0.01)?;
    /// let hasher = *seen.hasher();
    /// let hashes = ["a", "b", "a"].iter().map(|key| hasher.hash(key.as_bytes()));
    /// assert!(seen.check_and_insert_all_hashes(hashes).iter().eq([true, true, false]));
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn check_and_insert_all_hashes(&mut self, hashes: impl IntoIterator<Item = KeyHash>) -> Answers {
        let mut answers = Answers::default();
        self.offer_all(hashes.into_iter().fuse(), &mut answers);
        answers
    }

    fn offer_all(&mut self, mut hashes: impl Iterator<Item = KeyHash>, answers: &mut Answers) {
        if !self.memory.enters_groups() {
            return self.one_by_one(hashes, answers);
        }
        loop {
            let mut left = Vec::new();
            self.memory.enter_groups(&mut hashes, &self.policy, &mut self.counts, answers, &mut left);
            if left.is_empty() {
                return;
            }
            // One of these items can end the phase.
            self.one_by_one(left.into_iter(), answers);
        }
    }

    fn one_by_one(&mut self, mut hashes: impl Iterator<Item = KeyHash>, answers: &mut Answers) {
        let mut waiting = Vec::with_capacity(BATCH);
        loop {
            waiting.clear();
            waiting.extend(hashes.by_ref().take(BATCH));
            if waiting.is_empty() {
                return;
            }
            waiting.iter().take(AHEAD).for_each(|hash| self.prefetch(*hash));
            answers.extend(waiting.iter().enumerate().map(|(index, hash)| {
                waiting.get(index + AHEAD).into_iter().for_each(|later| self.prefetch(*later));
                self.check_and_insert_hash(*hash).is_new()
            }));
        }
    }
}

impl<H: KeyHasher, S: Layout, K: Backing> RecyclingFilter<H, S, K> {
    /// Reports which of the keys are remembered. For each key, the answer is the result of
    /// [`contains`](Self::contains). In filters larger than the caches, this method is faster than
    /// a call of `contains` for each key, because it prefetches the bits of later keys.
    ///
    /// ```
    /// use truebloom::RecyclingFilter;
    /// let mut seen = RecyclingFilter::for_items(100, 1e-6)?;
    /// seen.check_and_insert("a");
    /// assert!(seen.contains_all(["a", "b"]).iter().eq([true, false]));
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        self.queries(bulk::hashing(&self.hasher, keys))
    }

    /// Like [`contains_all`](Self::contains_all), for keys that are already hashed.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        self.queries(bulk::hashed(hashes))
    }

    fn queries(&self, next: impl FnMut(&mut Hashes)) -> Answers {
        let (ask, answer) =
            (|memory: &&S::Memory<K>, hash| memory.prefetch(hash), |memory: &mut &S::Memory<K>, hash| memory.contains(hash));
        bulk::answers(next, |batch| batch.one_by_one(&mut &self.memory, ask, answer))
    }
}
