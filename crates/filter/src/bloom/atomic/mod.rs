//! The Bloom filter shared by threads.

mod batch;
#[cfg(feature = "std")]
mod claim;
mod rates;

use super::{Counts, FilterOf, Head, Origin};
use crate::arch::AlignedWords;
use crate::backing::{Inline, Owned};
use crate::bits::{AtomicBits, count_ones};
use crate::error::BuildError;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, Seed, hash_key};
use crate::items::ItemCount;
use crate::key::Key;
use crate::scheme::{Scheme, Storage};
use crate::tally::Tally;
use core::fmt;
use truebloom_math::Rate;

/// A [filter](FilterOf) into which several threads insert keys while other threads query it,
/// without locks. [`new`](AtomicFilterOf::new) makes such a filter for a number of items and a
/// rate. You can also convert a [`FilterOf`] to such a filter, and convert the filter back with
/// [`into_filter`](Self::into_filter).
///
/// # What threads see
/// * A thread always sees the keys that it inserted. Another thread sees the key once both threads
///   have synchronized after the insertion, by a join, a channel, or a lock. Before that, the other
///   thread may see only some of the key's bits, and its lookup may return false.
/// * If several threads insert the same new key at the same time, [`insert`](Self::insert) may
///   return true in more than one of them. The bits of a key are set one after the other, so each
///   thread may be the first to set some of them. At least one call returns true, with one
///   exception: insertions of other keys may set all missing bits of this key first. If exactly one
///   call must return true, use [`claim`](Self::claim).
/// * The final bits do not depend on the order of the insertions.
///
/// ```
/// use truebloom::AtomicBloomFilter;
/// let shared = AtomicBloomFilter::new(1_000, 0.001)?;
/// std::thread::scope(|scope| {
///     for part in 0..4u64 {
///         let shared = &shared;
///         scope.spawn(move || (0..250).for_each(|i| { shared.insert(&(250 * part + i)); }));
///     }
/// });
/// let filter = shared.into_filter();
/// assert!((0..1_000u64).all(|key| filter.contains(&key)));
/// assert_eq!(filter.offered(), 1_000);
/// # Ok::<(), truebloom::BuildError>(())
/// ```
pub struct AtomicFilterOf<S: Scheme, H: KeyHasher = PortableHasher> {
    bits: AtomicBits,
    /// The number of insertions, repeats included.
    offered: Tally,
    #[cfg(feature = "std")]
    claims: claim::Claims,
    head: Inline<Head<S, H>>,
    /// For a filter that comes from an intersection, the number of insertions that certainly do not
    /// belong to its keys: see [`Origin::Intersection`].
    excluded: Option<u64>,
}

impl<S: Scheme> AtomicFilterOf<S> {
    /// Like [`FilterOf::new`], for a filter shared by threads.
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::new`].
    #[cfg(feature = "random")]
    pub fn new<R: TryInto<Rate>>(items: impl ItemCount, rate: R) -> Result<AtomicFilterOf<S>, BuildError>
    where
        BuildError: From<R::Error>,
    {
        FilterOf::new(items, rate).map(AtomicFilterOf::from)
    }

    /// Like [`FilterOf::from_plan`], for a filter shared by threads.
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::from_plan`].
    #[cfg(feature = "random")]
    pub fn from_plan(plan: &truebloom_math::Plan) -> Result<AtomicFilterOf<S>, BuildError> {
        FilterOf::from_plan(plan).map(AtomicFilterOf::from)
    }
}

impl<S: Scheme, H: KeyHasher> AtomicFilterOf<S, H> {
    /// Like [`FilterOf::with_hasher`], for a filter shared by threads.
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::with_hasher`].
    pub fn with_hasher<R: TryInto<Rate>>(items: impl ItemCount, rate: R, hasher: H) -> Result<AtomicFilterOf<S, H>, BuildError>
    where
        BuildError: From<R::Error>,
    {
        FilterOf::with_hasher(items, rate, hasher).map(AtomicFilterOf::from)
    }

    head_methods!();

    /// The text that [`FilterOf::set_label`] attached to the filter. Returns `None` if the filter
    /// has no label.
    pub fn label(&self) -> Option<&str> {
        self.head.label.text()
    }

    /// The number of insertions so far, repeats included.
    pub fn offered(&self) -> u64 {
        self.offered.get()
    }

    /// Inserts a key. Returns true if this call set any bit of the key. If several threads insert
    /// the same key at the same time, more than one call may return true: see [`AtomicFilterOf`].
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// Returns true if the filter contains a key.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// The key's hash: see [`FilterOf::hash`].
    #[inline]
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        hash_key(&self.head.hasher, key)
    }

    /// Like [`insert`](Self::insert), for a key that is already hashed.
    #[inline]
    pub fn insert_hash(&self, hash: KeyHash) -> bool {
        self.offered.add(1);
        self.bits.insert(&self.head.scheme, hash) > 0
    }

    /// Like [`contains`](Self::contains), for a key that is already hashed.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.bits.contains(&self.head.scheme, hash)
    }

    /// Converts the filter to a [`FilterOf`] with the same bits.
    ///
    /// The result is [marked as merged](FilterOf::is_merged), because a filter shared by threads
    /// does not count how many keys were new. The number of distinct keys in the result is
    /// therefore known only within bounds. The upper bound is [`most_items`](FilterOf::most_items).
    /// The lower bound is [`changed`](FilterOf::changed), which is computed from the number of set
    /// bits. If the filter comes from an intersection, the lower bound is 0.
    pub fn into_filter(self) -> FilterOf<S, H> {
        let AtomicFilterOf { bits, offered, head, excluded, .. } = self;
        filter_of(head, bits.into_words(), offered.get(), excluded)
    }

    /// A copy of the filter as it is now. You can save or inspect the copy while threads go on
    /// inserting into the filter. The copy is [marked as merged](FilterOf::is_merged), like the
    /// result of [`into_filter`](Self::into_filter). The time is linear in the number of bits.
    ///
    /// The copy contains every key that the calling thread inserted. The copy contains another
    /// thread's key if that thread inserted the key and then synchronized with this thread (by a
    /// join, a channel or a lock) before this call. If a thread inserts a key during the copy, the
    /// copy may have all, some or none of the key's bits.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn snapshot(&self) -> Result<FilterOf<S, H>, BuildError>
    where
        H: Clone,
    {
        let bits = self.bits.to_aligned().ok_or_else(|| BuildError::Memory { bytes: self.bits().div_ceil(8) })?;
        // The count is read after the bits. An insertion is counted before it sets a bit, so the
        // count is an upper bound.
        Ok(filter_of(self.head.clone(), bits, self.offered.get(), self.excluded))
    }
}

impl<S: Scheme, H: KeyHasher> From<FilterOf<S, H>> for AtomicFilterOf<S, H> {
    fn from(filter: FilterOf<S, H>) -> AtomicFilterOf<S, H> {
        let FilterOf { head, storage, counts } = filter;
        AtomicFilterOf {
            bits: AtomicBits::of(storage.into_words()),
            offered: Tally::new(counts.offered),
            #[cfg(feature = "std")]
            claims: claim::Claims::default(),
            head,
            excluded: counts.excluded(),
        }
    }
}

impl<S: Scheme, H: KeyHasher> fmt::Debug for AtomicFilterOf<S, H> {
    /// Shows the parameters and counts, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head.describe(f, "AtomicFilterOf").field("offered", &self.offered()).finish_non_exhaustive()
    }
}

/// A filter made of words that several threads have set.
fn filter_of<S: Scheme, H: KeyHasher>(
    head: Inline<Head<S, H>>,
    words: AlignedWords,
    offered: u64,
    excluded: Option<u64>,
) -> FilterOf<S, H> {
    let ones = count_ones(&words);
    let storage: S::Storage<Owned> = Storage::with_known((words, ones));
    // The bits of an intersection may be set by chance, so their number gives no lower bound on the
    // number of keys.
    let changed = if excluded.is_some() { 0 } else { ones.div_ceil(head.scheme.probes().into()) };
    let origin = excluded.map_or(Origin::Merged, |excluded| Origin::Intersection { excluded });
    FilterOf { head, storage, counts: Counts { offered: offered.max(changed), changed, origin } }
}
