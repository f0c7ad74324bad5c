//! The Bloom filter shared by threads.

use super::{Counts, FilterOf, Head, Origin};
use crate::arch::AlignedWords;
use crate::backing::{Inline, Owned};
use crate::bits::{AtomicBits, Storage, count_up};
use crate::error::BuildError;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, Seed, hash_key};
use crate::key::Key;
use crate::scheme::Scheme;
use crate::sync::{AtomicU64, Ordering::Relaxed};
use core::fmt;
use truebloom_math::Rate;

/// A [filter](FilterOf) that threads fill and ask at the same time, without locks. Made from a
/// filter, and made one again at the end.
///
/// # What threads see
/// * A key is contained for the thread that inserted it, and for every thread that learns of the
///   insertion by other means: a join, a channel, a lock. Others may see a part of its bits for a
///   while and answer no.
/// * Of several threads that insert one new key at the same time, *at least one* gets the answer
///   that it is new, and more than one may: a key's bits are set one after the other, and each bit
///   is new to exactly one. If exactly one must get it, put a lock or a set of keys in flight
///   before the filter.
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
pub struct AtomicFilterOf<S: Scheme, H: KeyHasher = PortableHasher> {
    bits: AtomicBits,
    /// Offers of keys.
    offered: AtomicU64,
    head: Inline<Head<S, H>>,
    /// As for the filter it was made from.
    excluded: Option<u64>,
}

impl<S: Scheme, H: KeyHasher> AtomicFilterOf<S, H> {
    head_methods!();

    /// The label, if it has one: [`FilterOf::set_label`].
    pub fn label(&self) -> Option<&str> {
        self.head.label.text()
    }

    /// Offers of keys so far, repeats included.
    pub fn offered(&self) -> u64 {
        self.offered.load(Relaxed)
    }

    /// Inserts a key; true if it was new to this call. See the type for what that means among
    /// threads.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// Whether the filter contains a key.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// The key's hash, as that of [`FilterOf::hash`].
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        hash_key(&self.head.hasher, key)
    }

    /// [`insert`](Self::insert) of a key that is already hashed.
    #[inline]
    pub fn insert_hash(&self, hash: KeyHash) -> bool {
        count_up(&self.offered);
        self.bits.insert(&self.head.scheme, hash) > 0
    }

    /// [`contains`](Self::contains) of a key that is already hashed.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.bits.contains(&self.head.scheme, hash)
    }

    /// The filter, with all that was inserted. It counts as merged: several calls may have reported
    /// one key as new, so the number of distinct keys has only bounds, the lower one from the
    /// number of set bits. Linear in the bits.
    ///
    /// # Errors
    /// The memory for a second filter cannot be allocated.
    pub fn into_filter(self) -> Result<FilterOf<S, H>, BuildError> {
        let AtomicFilterOf { bits, offered, head, excluded } = self;
        filter_of(head, AlignedWords::from_vec(bits.into_words()), offered.load(Relaxed), excluded)
    }

    /// The filter as it is now, while threads go on inserting: to save or inspect it. It contains
    /// every key whose insertion this thread knows to have returned, by a join, a channel or a
    /// lock; of keys that are inserted meanwhile it may have all bits, some or none. It counts as
    /// merged, as by [`into_filter`](Self::into_filter). Linear in the bits.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn snapshot(&self) -> Result<FilterOf<S, H>, BuildError>
    where
        H: Clone,
    {
        let bits = self.bits.to_aligned();
        // After the bits: an insertion counts itself before it sets any, and the count is to be an
        // upper bound.
        filter_of(self.head.clone(), bits, self.offered.load(Relaxed), self.excluded)
    }
}

impl<S: Scheme, H: KeyHasher> From<FilterOf<S, H>> for AtomicFilterOf<S, H> {
    fn from(filter: FilterOf<S, H>) -> AtomicFilterOf<S, H> {
        let FilterOf { head, storage, counts } = filter;
        let bits = AtomicBits::of(storage.words());
        AtomicFilterOf { bits, offered: AtomicU64::new(counts.offered), head, excluded: counts.excluded() }
    }
}

impl<S: Scheme, H: KeyHasher> fmt::Debug for AtomicFilterOf<S, H> {
    /// The parameters and counts, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicFilterOf")
            .field("scheme", &self.scheme().id())
            .field("bits", &self.bits())
            .field("probes", &self.probes())
            .field("hasher", &self.hasher().id())
            .field("seed", &self.seed())
            .field("capacity", &self.capacity())
            .field("rate", &self.rate())
            .field("offered", &self.offered())
            .finish_non_exhaustive()
    }
}

/// The filter of words that several threads have set.
fn filter_of<S: Scheme, H: KeyHasher>(
    head: Inline<Head<S, H>>,
    words: Option<AlignedWords>,
    offered: u64,
    excluded: Option<u64>,
) -> Result<FilterOf<S, H>, BuildError> {
    let refuse = || BuildError::Memory { bytes: head.scheme.bits().div_ceil(8) };
    let words = words.ok_or_else(refuse)?;
    // The words are those of such a filter, so only memory can be missing.
    let storage: S::Storage<Owned> = Storage::from_words(&head.scheme, words).map_err(|_| refuse())?;
    // The bits of an intersection may be there by chance.
    let changed = if excluded.is_some() { 0 } else { storage.ones().div_ceil(head.scheme.probes().into()) };
    let origin = excluded.map_or(Origin::Merged, |excluded| Origin::Intersection { excluded });
    Ok(FilterOf { head, storage, counts: Counts { offered: offered.max(changed), changed, origin } })
}
