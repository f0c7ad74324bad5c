//! Putting keys in and asking for them, one or many at a time.

use super::BlockedBloomFilter;
use crate::arch::{self, Flight, Words, prefetch};
use crate::bulk::{self, Answers, BATCH, Mask, mark};
use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;

impl<H: KeyHasher> BlockedBloomFilter<H> {
    /// Inserts a key; true if it was surely new. False means that all its bits were set already: a repeat, or a new key that happens to pass.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// Whether the filter contains a key: always true for keys that were inserted; for others true at the rate [`fpr`](Self::fpr).
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// The key's hash, for [`insert_hash`](Self::insert_hash) and [`contains_hash`](Self::contains_hash) of this and all filters with the same hasher and seed.
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        key.with_bytes(|bytes| self.hasher.hash(bytes))
    }

    /// [`insert`](Self::insert) of a key that is hashed already.
    #[inline]
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        let (line, mut words) = self.scheme.line(hash);
        let new = set(&mut self.words, line, || words.next(), self.scheme.probes());
        self.count(1, new.into());
        new
    }

    /// [`contains`](Self::contains) of a key that is hashed already.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        let (line, words) = self.scheme.line(hash);
        // Lines beyond the end contain nothing; the scheme draws none.
        self.lines().get(line as usize).is_some_and(|line| arch::contains(self.level, line, words, self.scheme.probes()))
    }

    /// Inserts keys and says which were surely new: bit for bit what [`insert`](Self::insert) of one after the other gives, repeats among them included, but at the
    /// speed of memory, because the lines of the next keys are on their way meanwhile.
    pub fn insert_all<I: IntoIterator<Item: Key>>(&mut self, keys: I) -> Mask {
        let mut new = Mask::default();
        self.insert_batches(keys, |answers, count| new.push(answers, count));
        new
    }

    /// [`insert_all`](Self::insert_all) with a call for each key, in order, instead of a mask.
    pub fn insert_each<I: IntoIterator<Item: Key>>(&mut self, keys: I, mut is_new: impl FnMut(bool)) {
        self.insert_batches(keys, |answers, count| bulk::each(answers, count, &mut is_new));
    }

    /// [`insert_all`](Self::insert_all) of keys that are hashed already.
    pub fn insert_all_hashes(&mut self, hashes: &[KeyHash]) -> Mask {
        let (mut new, mut flight) = (Mask::default(), Flight::new());
        for hashes in hashes.chunks(BATCH) {
            new.push(&self.insert_batch(&mut flight, hashes), hashes.len());
        }
        new
    }

    /// Which of the keys are contained: what [`contains`](Self::contains) says of each, at the speed of memory.
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Mask {
        let mut found = Mask::default();
        self.contains_batches(keys, |answers, count| found.push(answers, count));
        found
    }

    /// [`contains_all`](Self::contains_all) with a call for each key, in order, instead of a mask.
    pub fn contains_each<I: IntoIterator<Item: Key>>(&self, keys: I, mut is_contained: impl FnMut(bool)) {
        self.contains_batches(keys, |answers, count| bulk::each(answers, count, &mut is_contained));
    }

    /// [`contains_all`](Self::contains_all) of keys that are hashed already.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Mask {
        let (mut found, mut flight) = (Mask::default(), Flight::new());
        for hashes in hashes.chunks(BATCH) {
            found.push(&self.contains_batch(&mut flight, hashes), hashes.len());
        }
        found
    }

    fn insert_batches<I: IntoIterator<Item: Key>>(&mut self, keys: I, take: impl FnMut(&Answers, usize)) {
        let (mut keys, mut flight) = (keys.into_iter(), Flight::new());
        let answer = |filter: &mut Self, hashes: &[KeyHash]| filter.insert_batch(&mut flight, hashes);
        bulk::for_each_batch(self, |filter| keys.next().map(|key| filter.hash(&key)), answer, take);
    }

    fn contains_batches<I: IntoIterator<Item: Key>>(&self, keys: I, take: impl FnMut(&Answers, usize)) {
        let (mut keys, mut flight) = (keys.into_iter(), Flight::new());
        let answer = |filter: &mut &Self, hashes: &[KeyHash]| filter.contains_batch(&mut flight, hashes);
        bulk::for_each_batch(&mut &*self, |filter| keys.next().map(|key| filter.hash(&key)), answer, take);
    }

    fn contains_batch(&self, flight: &mut Flight, hashes: &[KeyHash]) -> Answers {
        self.look_ahead(flight, hashes);
        arch::contains_batch(self.level, self.lines(), flight, self.scheme.probes())
    }

    /// In order, as a key may repeat within the batch.
    fn insert_batch(&mut self, flight: &mut Flight, hashes: &[KeyHash]) -> Answers {
        let mut answers = Answers::default();
        self.look_ahead(flight, hashes);
        for (key, line) in flight.lines().iter().enumerate() {
            mark(&mut answers, key, set(&mut self.words, *line, flight.words_of(key), self.scheme.probes()));
        }
        let changed: u32 = answers.iter().map(|word| word.count_ones()).sum();
        self.count(flight.lines().len() as u64, changed.into());
        answers
    }

    /// The lines of a batch of keys, on their way to the cache.
    #[inline(always)]
    fn look_ahead(&self, flight: &mut Flight, hashes: &[KeyHash]) {
        flight.board(self.level, &self.scheme, hashes, |line| prefetch(&self.words, 8 * line));
    }

    #[inline(always)]
    fn count(&mut self, offered: u64, changed: u64) {
        // Saturating, as a file may bring any count along.
        self.counts.offered = self.counts.offered.saturating_add(offered);
        self.counts.changed = self.counts.changed.saturating_add(changed);
    }
}

/// Sets the positions of a key in its line, and says whether any was 0. Lines beyond the end take nothing; the scheme draws none.
#[inline(always)]
fn set(words: &mut Words, line: u64, next: impl FnMut() -> u64, probes: u32) -> bool {
    words.as_chunks_mut().0.get_mut(line as usize).is_some_and(|line| arch::insert(line, next, probes))
}

impl<K: Key, H: KeyHasher> Extend<K> for BlockedBloomFilter<H> {
    /// Inserts every key.
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.insert_batches(keys, |_, _| ());
    }
}
