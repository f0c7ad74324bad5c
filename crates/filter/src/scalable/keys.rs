//! Inserting keys and looking them up, one by one and in batches.

use super::ScalableFilter;
use super::part::{Part, next_number};
use crate::FilterOf;
use crate::arch::AlignedWords;
use crate::backing::{Backing, KEPT_WORDS, Layers, Packed, Record};
use crate::bits::{IN_CACHE, Spread};
use crate::bloom::Counts;
use crate::bulk::{Answers, BATCH};
use crate::error::BuildError;
use crate::hash::{KeyHash, PortableHasher, hash_key};
use crate::key::Key;
use crate::scheme::{Standard, Storage};
use alloc::alloc::{Layout, handle_alloc_error};
use alloc::vec::Vec;

/// How many keys are looked up together. The number is small enough that, when the keys are
/// inserted, their cache lines in the newest layer are still in the L2 cache.
const TOGETHER: usize = 2 * BATCH;

/// A layer together with its bits.
type Whole<'a, K> = FilterOf<Standard, PortableHasher, Packed<'a, <K as Backing>::Word>>;

impl<K: Backing> ScalableFilter<K> {
    /// Returns true if the filter contains a key. For keys that were inserted, the answer is always
    /// true. For other keys, [`fpr`](Self::fpr) is the probability that the answer is true.
    #[inline]
    pub fn contains<Q: Key + ?Sized>(&self, key: &Q) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// The key's hash, which is the same for every filter with this hasher and seed.
    #[inline]
    pub fn hash<Q: Key + ?Sized>(&self, key: &Q) -> KeyHash {
        hash_key(&self.hasher, key)
    }

    /// Like [`contains`](Self::contains), for a key that is already hashed.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.in_layers(0, hash)
    }

    /// Reports which of the keys are contained. For each key, the answer is the result of
    /// [`contains`](Self::contains). This method is faster than a call of `contains` for each key.
    /// The newest layer, which is the largest, is queried first. An older layer is queried only for
    /// keys that no newer layer contains.
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        let mut found = Answers::default();
        hash_batches(&self.hasher, keys, |hashes| found.extend(self.contained(hashes)));
        found
    }

    /// Like [`contains_all`](Self::contains_all), for keys that are already hashed.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        let mut found = Answers::default();
        hashes.chunks(TOGETHER).for_each(|hashes| found.extend(self.contained(hashes)));
        found
    }

    /// Prefetches the bits of a key that will be inserted or looked up soon: see
    /// [`FilterOf::prefetch`].
    #[inline]
    pub fn prefetch(&self, hash: KeyHash) {
        for (number, part) in self.parts.iter().enumerate() {
            self.whole(number, part).prefetch(part.hash(hash));
        }
    }

    /// Whether the layer at index `first` or any newer layer contains the key. The newest layer is
    /// the largest, and is queried first.
    #[inline]
    fn in_layers(&self, first: usize, hash: KeyHash) -> bool {
        (first..self.parts.len()).rev().any(|number| self.parts.get(number).is_some_and(|part| self.is_in(number, part, hash)))
    }

    #[inline]
    fn is_in(&self, number: usize, part: &Part<K>, hash: KeyHash) -> bool {
        self.whole(number, part).contains_hash(part.hash(hash))
    }

    /// Combines a layer and its bits into a filter.
    #[inline]
    fn whole<'a>(&'a self, number: usize, part: &'a Part<K>) -> Whole<'a, K> {
        let record = Record::or_empty(self.words.layer(number));
        let storage = <Spread<Packed<'a, K::Word>> as Storage<Standard, _>>::unread(record);
        FilterOf { head: &part.head, storage, counts: Counts::default() }
    }

    /// Reports for each of these keys whether any layer contains it.
    fn contained(&self, hashes: &[KeyHash]) -> Vec<bool> {
        if self.bits() <= IN_CACHE {
            return hashes.iter().map(|hash| self.contains_hash(*hash)).collect();
        }
        let mut answers = alloc::vec![false; hashes.len()];
        let (mut left, mut salted) = ((0..hashes.len()).collect::<Vec<usize>>(), Vec::with_capacity(hashes.len()));
        for (number, part) in self.parts.iter().enumerate().rev() {
            if left.is_empty() {
                break;
            }
            salted.clear();
            salted.extend(left.iter().map(|key| part.hash(hashes[*key])));
            let found = self.whole(number, part).contains_all_hashes(&salted);
            left.iter().zip(found.iter()).for_each(|(key, found)| answers[*key] = found);
            left.retain(|key| !answers[*key]);
        }
        answers
    }
}

/// Hashes keys in batches.
fn hash_batches<I: IntoIterator<Item: Key>>(hasher: &PortableHasher, keys: I, mut take: impl FnMut(&[KeyHash])) {
    let (mut keys, mut hashes) = (keys.into_iter(), Vec::with_capacity(TOGETHER));
    loop {
        hashes.clear();
        hashes.extend(keys.by_ref().take(TOGETHER).map(|key| hash_key(hasher, &key)));
        if hashes.is_empty() {
            return;
        }
        take(&hashes);
    }
}

impl ScalableFilter {
    /// Inserts a key; returns true if it was certainly new. False means that all bits of the key
    /// were already set in one layer: the key is a repeat or a false positive.
    ///
    /// # Aborts
    /// If the memory for a new layer cannot be allocated, the method aborts the process, as the
    /// collections of the standard library do. To get an error in this case, use
    /// [`try_insert_hash`](Self::try_insert_hash).
    #[inline]
    pub fn insert<Q: Key + ?Sized>(&mut self, key: &Q) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// Like [`insert`](Self::insert), for a key that is already hashed.
    #[inline]
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        or_abort(self.try_insert_hash(hash))
    }

    /// Like [`insert_hash`](Self::insert_hash), but returns an error if the memory for a new layer
    /// cannot be allocated. After an error, the filter is unchanged.
    ///
    /// # Errors
    /// Returns an error if the memory for a new layer cannot be allocated.
    #[inline]
    pub fn try_insert_hash(&mut self, hash: KeyHash) -> Result<bool, BuildError> {
        let new = self.try_insert_absent_hash(hash)?;
        self.counts.offered = self.counts.offered.saturating_add(u64::from(!new));
        Ok(new)
    }

    /// Like [`try_insert_hash`](Self::try_insert_hash), but does not count a key that the filter
    /// already contains. For such a key, nothing changes, not even [`offered`](Self::offered), the
    /// number of insertions.
    ///
    /// # Errors
    /// Returns an error if the memory for a new layer cannot be allocated.
    #[inline]
    pub fn try_insert_absent_hash(&mut self, hash: KeyHash) -> Result<bool, BuildError> {
        let new = !self.contains_hash(hash);
        if new {
            self.put(hash)?;
            self.counts.offered = self.counts.offered.saturating_add(1);
        }
        Ok(new)
    }

    /// Inserts keys and reports which of them were certainly new. For each key, the answer is the
    /// result of [`insert`](Self::insert). This method is faster than a call of `insert` for each
    /// key.
    ///
    /// ```
    /// use truebloom::ScalableFilter;
    /// let mut seen = ScalableFilter::new(0.001)?;
    /// assert!(seen.insert_all(["a", "b", "a"]).iter().eq([true, true, false]));
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn insert_all<I: IntoIterator<Item: Key>>(&mut self, keys: I) -> Answers {
        let (hasher, mut new) = (self.hasher, Answers::default());
        hash_batches(&hasher, keys, |hashes| new.extend(or_abort(self.insert_together(hashes))));
        new
    }

    /// Like [`insert_all`](Self::insert_all), for keys that are already hashed.
    pub fn insert_all_hashes(&mut self, hashes: &[KeyHash]) -> Answers {
        or_abort(self.try_insert_all_hashes(hashes))
    }

    /// Like [`insert_all_hashes`](Self::insert_all_hashes), but returns an error if the memory for
    /// a new layer cannot be allocated. The keys are inserted in order. If a key needs a new layer
    /// that cannot be allocated, the keys before it are in the filter. This key and the keys after
    /// it were not inserted.
    ///
    /// # Errors
    /// Returns an error if the memory for a new layer cannot be allocated.
    pub fn try_insert_all_hashes(&mut self, hashes: &[KeyHash]) -> Result<Answers, BuildError> {
        let mut new = Answers::default();
        for hashes in hashes.chunks(TOGETHER) {
            new.extend(self.insert_together(hashes)?);
        }
        Ok(new)
    }

    /// Looks up all keys in all layers in one pass, and then inserts the new keys in order. Before
    /// each insertion, the key is looked up again in the layers that earlier insertions can have
    /// changed.
    fn insert_together(&mut self, hashes: &[KeyHash]) -> Result<Vec<bool>, BuildError> {
        if self.bits() <= IN_CACHE {
            return hashes.iter().map(|hash| self.try_insert_hash(*hash)).collect();
        }
        let mut new = self.contained(hashes);
        new.iter_mut().for_each(|answer| *answer = !*answer);
        let open = self.parts.len().saturating_sub(1);
        for (hash, new) in hashes.iter().zip(&mut new) {
            if *new {
                *new = !self.in_layers(open, *hash);
            }
            if *new {
                self.put(*hash)?;
            }
            self.counts.offered = self.counts.offered.saturating_add(1);
        }
        Ok(new)
    }

    /// Inserts a new key into the last layer, or into a new layer if the last one has no room. The
    /// caller has checked that no layer contains the key.
    #[inline]
    fn put(&mut self, hash: KeyHash) -> Result<(), BuildError> {
        if !self.parts.last().is_some_and(Part::has_room) {
            self.open_layer()?;
        }
        if let (Some(part), Some(words)) = (self.parts.last_mut(), self.words.last_mut()) {
            let bits = words.get_mut(KEPT_WORDS..).unwrap_or_default();
            let mut newly_set = 0;
            part.head.scheme.positions(part.salt.apply(hash)).for_each(|position| newly_set += set(bits, position));
            part.ones += newly_set;
            // The key was not in this layer before.
            part.inserted = part.inserted.saturating_add(1);
        }
        self.counts.changed = self.counts.changed.saturating_add(1);
        Ok(())
    }

    /// Opens the next layer.
    pub(super) fn open_layer(&mut self) -> Result<(), BuildError> {
        let part = Part::planned(&self.growth, self.hasher, next_number(&self.parts))?;
        let bits = part.layer.bits();
        let refuse = || BuildError::Memory { bytes: bits / 8 };
        self.parts.try_reserve(1).and_then(|()| self.words.try_reserve(1)).map_err(|_| refuse())?;
        let count = usize::try_from(bits / 64).ok().and_then(|words| words.checked_add(KEPT_WORDS));
        self.words.push(count.and_then(AlignedWords::zeroed).ok_or_else(refuse)?);
        self.parts.push(part);
        Ok(())
    }
}

/// Sets a bit; returns 1 if it was 0.
#[inline(always)]
fn set(bits: &mut [u64], position: u64) -> u64 {
    let Some(word) = bits.get_mut((position >> 6) as usize) else { return 0 };
    let mask = 1 << (position & 63);
    let new = u64::from(*word & mask == 0);
    *word |= mask;
    new
}

/// Aborts the process if the memory could not be allocated, as the standard collections do.
pub(super) fn or_abort<T>(result: Result<T, BuildError>) -> T {
    result.unwrap_or_else(|error| {
        let bytes = if let BuildError::Memory { bytes } = error {
            usize::try_from(bytes).unwrap_or(isize::MAX as usize)
        } else {
            isize::MAX as usize
        };
        handle_alloc_error(Layout::from_size_align(bytes.min(isize::MAX as usize - 63), 64).unwrap_or(Layout::new::<u64>()))
    })
}

impl<Q: Key> Extend<Q> for ScalableFilter {
    /// Inserts every key, as [`insert_all`](ScalableFilter::insert_all) does.
    fn extend<I: IntoIterator<Item = Q>>(&mut self, keys: I) {
        self.insert_all(keys);
    }
}
