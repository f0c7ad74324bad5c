//! Putting keys in and asking for them, one or many at a time.

use super::BlockedBloomFilter;
use super::flight::Flights;
use crate::arch::{self, LANES, Words, prefetch};
use crate::bulk::{self, Answers, Hashes, Mask};
use crate::hash::{KeyHash, KeyHasher, hash_key};
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
        hash_key(&self.hasher, key)
    }

    /// [`insert`](Self::insert) of a key that is hashed already.
    #[inline]
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        let new = self.scheme.set(self.level, self.words.as_chunks_mut().0, hash);
        // Saturating, as a file may bring any count along.
        self.counts.offered = self.counts.offered.saturating_add(1);
        self.counts.changed = self.counts.changed.saturating_add(new.into());
        new
    }

    /// [`contains`](Self::contains) of a key that is hashed already.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.scheme.contains(self.level, self.lines(), hash)
    }

    /// Inserts keys and says which were surely new: bit for bit what [`insert`](Self::insert) of one after the other gives, repeats among them included, but at the
    /// speed of memory, because the lines of the next keys are on their way meanwhile. Up to 512 keys are taken from the iterator before the first of them is inserted.
    pub fn insert_all<I: IntoIterator<Item: Key>>(&mut self, keys: I) -> Mask {
        let mut new = Mask::default();
        self.insert_batches(|hasher| bulk::hashing(hasher, keys), |answers, count| new.push(answers, count));
        new
    }

    /// [`insert_all`](Self::insert_all) with a call for each key, in order, instead of a mask.
    pub fn insert_each<I: IntoIterator<Item: Key>>(&mut self, keys: I, mut is_new: impl FnMut(bool)) {
        self.insert_batches(|hasher| bulk::hashing(hasher, keys), |answers, count| bulk::each(answers, count, &mut is_new));
    }

    /// [`insert_all`](Self::insert_all) of keys that are hashed already.
    pub fn insert_all_hashes(&mut self, hashes: &[KeyHash]) -> Mask {
        let mut new = Mask::default();
        self.insert_batches(|_| bulk::hashed(hashes), |answers, count| new.push(answers, count));
        new
    }

    /// Which of the keys are contained: what [`contains`](Self::contains) says of each, at the speed of memory.
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Mask {
        let mut found = Mask::default();
        self.contains_batches(bulk::hashing(&self.hasher, keys), |answers, count| found.push(answers, count));
        found
    }

    /// [`contains_all`](Self::contains_all) with a call for each key, in order, instead of a mask.
    pub fn contains_each<I: IntoIterator<Item: Key>>(&self, keys: I, mut is_contained: impl FnMut(bool)) {
        self.contains_batches(bulk::hashing(&self.hasher, keys), |answers, count| bulk::each(answers, count, &mut is_contained));
    }

    /// [`contains_all`](Self::contains_all) of keys that are hashed already.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Mask {
        let mut found = Mask::default();
        self.contains_batches(bulk::hashed(hashes), |answers, count| found.push(answers, count));
        found
    }

    fn contains_batches(&self, next: impl FnMut(&mut Hashes), take: impl FnMut(&Answers, usize)) {
        let (lines, probes) = (self.lines(), self.scheme.probes());
        let mut flights = Flights::new(self.level, &self.scheme);
        let answer = |present: &Hashes, following: &Hashes, is_first: bool| {
            let mut answers = Answers::default();
            flights.fly([present, following], is_first, &mut &self.words, ask, |_, number, asked| {
                let found = arch::contains_group(self.level, lines, asked, probes);
                answers[number * LANES / 64] |= u64::from(found) << (number * LANES % 64);
            });
            answers
        };
        bulk::for_each_batch(next, answer, take);
    }

    /// In order, as a key may repeat within the batch.
    fn insert_batches<'a, N: FnMut(&mut Hashes)>(&'a mut self, next: impl FnOnce(&'a H) -> N, take: impl FnMut(&Answers, usize)) {
        let BlockedBloomFilter { hasher, scheme, words, level, counts, .. } = self;
        let mut flights = Flights::new(*level, scheme);
        let answer = |present: &Hashes, following: &Hashes, is_first: bool| {
            let mut new = Answers::default();
            flights.fly(
                [present, following],
                is_first,
                &mut *words,
                |words, line| ask(&words, line),
                |words, number, asked| {
                    let lines = words.as_chunks_mut().0;
                    let inserted = arch::insert_group(*level, lines, asked, scheme.probes());
                    new[number * LANES / 64] |= u64::from(inserted) << (number * LANES % 64);
                },
            );
            counts.add(present.count(), &new);
            new
        };
        bulk::for_each_batch(next(hasher), answer, take);
    }
}

/// Asks for a line.
#[inline(always)]
fn ask(words: &&Words, line: u64) {
    prefetch(words, 8 * line);
}

impl<K: Key, H: KeyHasher> Extend<K> for BlockedBloomFilter<H> {
    /// Inserts every key.
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.insert_batches(|hasher| bulk::hashing(hasher, keys), |_, _| ());
    }
}
