//! Many keys at a time.

use super::BloomFilter;
use crate::bulk::{self, Answers, Mask, Probing};
use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;

impl<H: KeyHasher> BloomFilter<H> {
    /// Inserts keys and says which were surely new: bit for bit what [`insert`](Self::insert) of one after the other gives, repeats among them included, but at the
    /// speed of memory, because the bits of the next keys are on their way while those of one are set.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut seen = BloomFilter::new(1_000, 0.001)?;
    /// assert!(seen.insert_all(["a", "b", "a"]).iter().eq([true, true, false]));
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
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
        let (mut new, mut probing) = (Mask::default(), Probing::new());
        for hashes in hashes.chunks(bulk::BATCH) {
            new.push(&self.insert_batch(&mut probing, hashes), hashes.len());
        }
        new
    }

    /// Which of the keys are contained: what [`contains`](Self::contains) says of each, at the speed of memory, because the next probe of every key that is still in
    /// question is on its way while the others are looked at.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut seen = BloomFilter::new(1_000, 0.001)?;
    /// seen.extend(0..1_000);
    /// assert_eq!(seen.contains_all(0..1_000).count_ones(), 1_000);
    /// assert!(seen.contains_all(1_000..11_000).count_ones() < 100);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
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
        let (mut found, mut probing) = (Mask::default(), Probing::new());
        for hashes in hashes.chunks(bulk::BATCH) {
            found.push(&probing.contains(&self.scheme, &self.storage, hashes), hashes.len());
        }
        found
    }

    fn insert_batches<I: IntoIterator<Item: Key>>(&mut self, keys: I, take: impl FnMut(&Answers, usize)) {
        let (mut keys, mut probing) = (keys.into_iter(), Probing::new());
        let answer = |filter: &mut Self, hashes: &[KeyHash]| filter.insert_batch(&mut probing, hashes);
        bulk::for_each_batch(self, |filter| keys.next().map(|key| filter.hash(&key)), answer, take);
    }

    fn contains_batches<I: IntoIterator<Item: Key>>(&self, keys: I, take: impl FnMut(&Answers, usize)) {
        let (mut keys, mut probing) = (keys.into_iter(), Probing::new());
        let answer = |filter: &mut &Self, hashes: &[KeyHash]| probing.contains(&filter.scheme, &filter.storage, hashes);
        bulk::for_each_batch(&mut &*self, |filter| keys.next().map(|key| filter.hash(&key)), answer, take);
    }

    fn insert_batch(&mut self, probing: &mut Probing, hashes: &[KeyHash]) -> Answers {
        let (new, newly_set) = probing.insert(&self.scheme, &mut self.storage, hashes);
        self.ones += newly_set;
        let changed: u32 = new.iter().map(|word| word.count_ones()).sum();
        self.counts.offered = self.counts.offered.saturating_add(hashes.len() as u64);
        self.counts.changed = self.counts.changed.saturating_add(changed.into());
        new
    }
}
