//! The blocked filter shared by threads.

use super::BlockedBloomFilter;
use crate::arch::{Level, Line, Words, insert, set};
use crate::bits::AtomicBits;
use crate::bloom::Counts;
use crate::error::BuildError;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, hash_key};
use crate::key::Key;
use crate::scheme::InLines;

/// A [`BlockedBloomFilter`] that threads fill and ask at the same time, without locks. What they see is what they see of an
/// [`AtomicBloomFilter`](crate::AtomicBloomFilter): of several that insert one new key, at least one is told that it is new.
///
/// ```
/// use truebloom::{AtomicBlockedBloomFilter, BlockedBloomFilter};
/// let shared = AtomicBlockedBloomFilter::from(BlockedBloomFilter::new(1_000, 0.001)?);
/// std::thread::scope(|scope| {
///     for part in 0..4u64 {
///         let shared = &shared;
///         scope.spawn(move || (0..250).for_each(|i| { shared.insert(&(250 * part + i)); }));
///     }
/// });
/// let filter = shared.into_filter()?;
/// assert!((0..1_000u64).all(|key| filter.contains(&key)));
/// # Ok::<(), truebloom::BuildError>(())
/// ```
pub struct AtomicBlockedBloomFilter<H: KeyHasher = PortableHasher> {
    bits: AtomicBits,
    hasher: H,
    scheme: InLines,
    plan: (Option<u64>, Option<truebloom_math::Rate>),
}

impl<H: KeyHasher> AtomicBlockedBloomFilter<H> {
    /// Inserts a key; true if it was new to this call.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// Whether the filter contains a key.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// The key's hash, as that of [`BlockedBloomFilter::hash`].
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        hash_key(&self.hasher, key)
    }

    /// [`insert`](Self::insert) of a key that is hashed already.
    #[inline]
    pub fn insert_hash(&self, hash: KeyHash) -> bool {
        self.bits.offer();
        let (first, masks) = self.masks(hash);
        (0..).zip(masks).filter(|(_, mask)| *mask != 0).fold(false, |new, (i, mask)| self.bits.set(first + i, mask) | new)
    }

    /// [`contains`](Self::contains) of a key that is hashed already.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        let (first, masks) = self.masks(hash);
        (0..).zip(masks).filter(|(_, mask)| *mask != 0).all(|(i, mask)| self.bits.has(first + i, mask))
    }

    /// The first word of the key's line, and the key's bits in it.
    #[inline]
    fn masks(&self, hash: KeyHash) -> (usize, Line) {
        let (line, mut words) = self.scheme.line(hash);
        let mut masks = [0; 8];
        insert(|line, word, now| set(Level::Scalar, line, word, now), &mut masks, || words.next(), self.scheme.probes());
        (8 * line as usize, masks)
    }

    /// The filter, with all that was inserted; merged, as [`AtomicBloomFilter::into_filter`](crate::AtomicBloomFilter::into_filter) says. An error if there is no memory.
    pub fn into_filter(self) -> Result<BlockedBloomFilter<H>, BuildError> {
        let (words, offered) = self.bits.into_words();
        let bytes = 8 * words.len() as u64;
        let words = Words::from_vec(words).ok_or(BuildError::Memory { bytes })?;
        let (capacity, rate) = self.plan;
        let counts = Counts { offered, changed: 0, merged: true };
        let mut filter =
            BlockedBloomFilter { hasher: self.hasher, scheme: self.scheme, words, level: Level::detect(), counts, capacity, rate };
        filter.counts.changed = filter.ones().div_ceil(self.scheme.probes().into());
        Ok(filter)
    }
}

impl<H: KeyHasher> From<BlockedBloomFilter<H>> for AtomicBlockedBloomFilter<H> {
    fn from(filter: BlockedBloomFilter<H>) -> AtomicBlockedBloomFilter<H> {
        let bits = AtomicBits::new(&filter.words, filter.counts.offered);
        AtomicBlockedBloomFilter { bits, hasher: filter.hasher, scheme: filter.scheme, plan: (filter.capacity, filter.rate) }
    }
}
