//! Batched operations.

use super::{FilterOf, Head};
use crate::backing::{Backing, Writable};
use crate::bulk::{self, Answers, Batch, BatchAnswers};
use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;
use crate::scheme::{Batches, Doing, Scheme};

const ASKING: Doing = Doing { inserts: false, shared: false };
const INSERTING: Doing = Doing { inserts: true, shared: false };

impl<S: Scheme, H: KeyHasher, K: Writable> FilterOf<S, H, K> {
    /// Inserts keys and reports which of them were certainly new. The filter and the answers are
    /// exactly the same as after one call of [`insert`](Self::insert) per key, in order. In filters
    /// larger than the cache, this method is faster, because it prefetches the bits of the next
    /// keys. The method may take up to 512 keys from the iterator before it inserts the first key.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut seen = BloomFilter::new(1_000, 0.001)?;
    /// assert!(seen.insert_all(["a", "b", "a"]).iter().eq([true, true, false]));
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    #[doc(alias = "insert_many")]
    pub fn insert_all<I: IntoIterator<Item: Key>>(&mut self, keys: I) -> Answers {
        let keys = keys.into_iter();
        if bulk::are_few(self.few(INSERTING), &keys) {
            return keys.map(|key| self.insert(&key)).collect();
        }
        let (hasher, insert) = self.inserting();
        bulk::answers(bulk::hashing(hasher, keys), insert)
    }

    /// Like [`insert_all`](Self::insert_all), but passes each key's answer to the function
    /// `is_new`, in the order of the keys.
    pub fn insert_each<I: IntoIterator<Item: Key>>(&mut self, keys: I, mut is_new: impl FnMut(bool)) {
        let keys = keys.into_iter();
        if bulk::are_few(self.few(INSERTING), &keys) {
            return keys.for_each(|key| is_new(self.insert(&key)));
        }
        let (hasher, insert) = self.inserting();
        bulk::for_each_batch(bulk::hashing(hasher, keys), insert, |answers, count| bulk::each(answers, count, &mut is_new));
    }

    /// Like [`insert_all`](Self::insert_all), for keys that are already hashed.
    pub fn insert_all_hashes(&mut self, hashes: &[KeyHash]) -> Answers {
        if hashes.len() <= self.few(INSERTING) {
            return hashes.iter().map(|hash| self.insert_hash(*hash)).collect();
        }
        bulk::answers(bulk::hashed(hashes), self.inserting().1)
    }

    /// The hasher, and a function that inserts a batch.
    fn inserting(&mut self) -> (&H, impl FnMut(Batch<'_>) -> BatchAnswers) {
        let FilterOf { head, storage, counts } = self;
        let Head { hasher, scheme, .. } = &**head;
        let mut batches = S::Batches::new(scheme);
        let insert = move |batch: Batch<'_>| {
            let new = batches.insert(scheme, storage, batch);
            counts.add(batch.present.count(), &new);
            new
        };
        (hasher, insert)
    }
}

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    /// Reports which of the keys are contained. For each key, the answer is the result of
    /// [`contains`](Self::contains). For many keys in a filter larger than the cache, this method
    /// is faster than one call of `contains` per key, because it prefetches the bits of the next
    /// keys.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut seen = BloomFilter::new(1_000, 0.001)?;
    /// seen.extend(0..1_000);
    /// assert_eq!(seen.contains_all(0..1_000).count_ones(), 1_000);
    /// assert!(seen.contains_all(1_000..11_000).count_ones() < 100);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    #[doc(alias = "contains_many")]
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        let keys = keys.into_iter();
        if bulk::are_few(self.few(ASKING), &keys) {
            return keys.map(|key| self.contains(&key)).collect();
        }
        bulk::answers(bulk::hashing(&self.head.hasher, keys), asking(&self.head.scheme, &self.storage))
    }

    /// Like [`contains_all`](Self::contains_all), but passes each key's answer to the function
    /// `is_contained`, in the order of the keys.
    pub fn contains_each<I: IntoIterator<Item: Key>>(&self, keys: I, mut is_contained: impl FnMut(bool)) {
        let keys = keys.into_iter();
        if bulk::are_few(self.few(ASKING), &keys) {
            return keys.for_each(|key| is_contained(self.contains(&key)));
        }
        let (next, ask) = (bulk::hashing(&self.head.hasher, keys), asking(&self.head.scheme, &self.storage));
        bulk::for_each_batch(next, ask, |answers, count| bulk::each(answers, count, &mut is_contained));
    }

    /// Like [`contains_all`](Self::contains_all), for keys that are already hashed.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        if hashes.len() <= self.few(ASKING) {
            return hashes.iter().map(|hash| self.contains_hash(*hash)).collect();
        }
        bulk::answers(bulk::hashed(hashes), asking(&self.head.scheme, &self.storage))
    }

    /// See [`Batches::few`].
    fn few(&self, doing: Doing) -> usize {
        S::Batches::few(&self.head.scheme, doing)
    }

    /// A function that counts how many keys of a slice are contained; any thread can call it.
    pub(crate) fn counter<Q: Key>(&self) -> impl Fn(&[Q]) -> usize + Send + Sync + '_
    where
        for<'q> &'q Q: Key,
        H: Sync,
    {
        // Only these parts are shared, because the whole filter is not always `Sync`.
        let (head, storage): (&Head<S, H>, &S::Storage<K>) = (self.head(), &self.storage);
        move |keys| bulk::answers(bulk::hashing(&head.hasher, keys), asking(&head.scheme, storage)).count_ones()
    }
}

/// A function that looks up a batch.
fn asking<S: Scheme, K: Backing>(scheme: &S, storage: &S::Storage<K>) -> impl FnMut(Batch<'_>) -> BatchAnswers {
    let mut batches = S::Batches::new(scheme);
    move |batch| batches.contains(scheme, storage, batch)
}

impl<Q: Key, S: Scheme, H: KeyHasher, K: Writable> Extend<Q> for FilterOf<S, H, K> {
    /// Inserts every key, as [`insert_all`](FilterOf::insert_all) does.
    fn extend<I: IntoIterator<Item = Q>>(&mut self, keys: I) {
        self.insert_each(keys, drop);
    }
}
