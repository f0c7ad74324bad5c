//! The Bloom filter shared by threads.

use super::{BloomFilter, Counts};
use crate::bits::{AtomicBits, Bits};
use crate::error::BuildError;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, hash_key};
use crate::key::Key;
use crate::scheme::Standard;

/// A [`BloomFilter`] that threads fill and ask at the same time, without locks. Made from a filter, and made one again at the end.
///
/// # What threads see
/// * A key is contained for the thread that inserted it, and for every thread that learns of the insertion by other means: a join, a channel, a lock. Others may see
///   a part of its bits for a while and answer no.
/// * Of several threads that insert one new key at the same time, *at least one* is told that it is new, and it may be more than one: a key's bits are set one after the other, and each bit is
///   new to exactly one. Where exactly one must be told, put a lock or a set of keys in flight before it.
/// * The bits in the end are those of any order, one thread after the other.
///
/// ```
/// use truebloom::{AtomicBloomFilter, BloomFilter};
/// let shared = AtomicBloomFilter::from(BloomFilter::new(1_000, 0.001)?);
/// std::thread::scope(|scope| {
///     for part in 0..4u64 {
///         let shared = &shared;
///         scope.spawn(move || (0..250).for_each(|i| { shared.insert(&(250 * part + i)); }));
///     }
/// });
/// let filter = shared.into_filter()?;
/// assert!((0..1_000u64).all(|key| filter.contains(&key)));
/// assert_eq!(filter.offered(), 1_000);
/// # Ok::<(), truebloom::BuildError>(())
/// ```
pub struct AtomicBloomFilter<H: KeyHasher = PortableHasher> {
    bits: AtomicBits,
    hasher: H,
    scheme: Standard,
    plan: (Option<u64>, Option<truebloom_math::Rate>),
}

impl<H: KeyHasher> AtomicBloomFilter<H> {
    /// Inserts a key; true if it was new to this call. See the type for what that means among threads.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// Whether the filter contains a key.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// The key's hash, as that of [`BloomFilter::hash`].
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        hash_key(&self.hasher, key)
    }

    /// [`insert`](Self::insert) of a key that is hashed already.
    #[inline]
    pub fn insert_hash(&self, hash: KeyHash) -> bool {
        self.bits.offer();
        self.scheme.positions(hash).fold(false, |new, position| self.bits.set((position >> 6) as usize, 1 << (position & 63)) | new)
    }

    /// [`contains`](Self::contains) of a key that is hashed already.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.scheme.positions(hash).all(|position| self.bits.has((position >> 6) as usize, 1 << (position & 63)))
    }

    /// The filter, with all that was inserted. It counts as merged: several calls may have been told that one key is new, so the number of distinct keys has only bounds, the lower one from the
    /// number of set bits. An error if there is no memory for it beside this one. Linear in the bits.
    pub fn into_filter(self) -> Result<BloomFilter<H>, BuildError> {
        let bits = self.scheme.bits();
        let (words, offered) = self.bits.into_words();
        let storage = Bits::from_words(words, bits).ok_or(BuildError::Memory { bytes: bits.div_ceil(8) })?;
        let ones = storage.count_ones();
        let counts = Counts { offered, changed: ones.div_ceil(self.scheme.probes().into()), merged: true };
        let (capacity, rate) = self.plan;
        Ok(BloomFilter { hasher: self.hasher, scheme: self.scheme, storage, ones, counts, capacity, rate })
    }
}

impl<H: KeyHasher> From<BloomFilter<H>> for AtomicBloomFilter<H> {
    fn from(filter: BloomFilter<H>) -> AtomicBloomFilter<H> {
        let bits = AtomicBits::new(filter.storage.words(), filter.counts.offered);
        AtomicBloomFilter { bits, hasher: filter.hasher, scheme: filter.scheme, plan: (filter.capacity, filter.rate) }
    }
}
