//! The filter that grows, shared by threads.

use super::ScalableFilter;
use super::part::Part;
use crate::backing::{KEPT_WORDS, Owned};
use crate::bits::{AtomicBits, Placed, count_up};
use crate::bloom::{Counts, Origin};
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::{KeyHash, PortableHasher, hash_key};
use crate::key::Key;
use crate::sync::{AtomicU64, Ordering::Relaxed};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use truebloom_math::Growth;

/// A [`ScalableFilter`] that threads fill and ask at the same time. Made from one, and made one again at the end.
///
/// Insertions and questions take no lock; opening a layer does, and whoever needs it meanwhile waits for it. The rate never exceeds the one asked for: an insertion reserves room for all its bits before it sets any, so a layer stays within its limit whatever the threads do. What threads see of each other's keys, and who is told
/// that a key is new, is as with [`AtomicFilterOf`](crate::AtomicFilterOf).
///
/// ```
/// use truebloom::{AtomicScalableFilter, ScalableFilter};
/// let shared = AtomicScalableFilter::from(ScalableFilter::new(0.001)?);
/// std::thread::scope(|scope| {
///     for part in 0..4u64 {
///         let shared = &shared;
///         scope.spawn(move || (0..10_000).for_each(|i| { shared.insert(&(10_000 * part + i)); }));
///     }
/// });
/// let filter = shared.into_filter()?;
/// assert!((0..40_000u64).all(|key| filter.contains(&key)) && filter.fpr().upper <= 0.001);
/// # Ok::<(), truebloom::BuildError>(())
/// ```
pub struct AtomicScalableFilter {
    hasher: PortableHasher,
    growth: Growth,
    label: Label,
    layers: Box<[OnceLock<SharedLayer>]>,
    /// Layers that are there. Stored after the layer.
    count: AtomicUsize,
    /// Held by whoever opens a layer.
    opening: Mutex<()>,
    offered: AtomicU64,
    /// Distinct keys, at least, of the filter that it was made of.
    changed: u64,
}

struct SharedLayer {
    part: Part<Owned>,
    bits: AtomicBits,
    /// Set bits, and those that insertions under way may set.
    taken: AtomicU64,
}

/// Layers that may be opened: they hold more than 10^6 times as many keys as those before.
const MORE_LAYERS: usize = 128;

impl AtomicScalableFilter {
    /// Inserts a key; true if it was new to this call.
    ///
    /// # Panics
    /// Never; but where the memory for a new layer cannot be allocated the process ends, as with the collections of the standard library. [`try_insert_hash`](Self::try_insert_hash) returns an error instead.
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        super::keys::or_abort(self.try_insert_hash(self.hash(key)))
    }

    /// Whether the filter contains a key.
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// The key's hash, as that of [`ScalableFilter::hash`].
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        hash_key(&self.hasher, key)
    }

    /// Layers so far.
    pub fn layers(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// [`insert`](Self::insert) of a key that is hashed already.
    ///
    /// # Errors
    /// There is no memory for a new layer; the key is not inserted then.
    pub fn try_insert_hash(&self, hash: KeyHash) -> Result<bool, BuildError> {
        count_up(&self.offered);
        loop {
            let count = self.layers();
            if self.is_in(count, hash) {
                return Ok(false);
            }
            if let Some(new) = self.layer(count - 1).and_then(|open| open.insert(hash)) {
                return Ok(new);
            }
            self.open(count)?;
        }
    }

    /// [`contains`](Self::contains) of a key that is hashed already.
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.is_in(self.layers(), hash)
    }

    fn layer(&self, number: usize) -> Option<&SharedLayer> {
        self.layers.get(number).and_then(OnceLock::get)
    }

    /// The newest, and so largest, first.
    fn is_in(&self, count: usize, hash: KeyHash) -> bool {
        (0..count).rev().filter_map(|number| self.layer(number)).any(|layer| layer.contains(hash))
    }

    /// Opens the layer after so many, unless another thread has.
    fn open(&self, count: usize) -> Result<(), BuildError> {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if self.layers() > count {
            return Ok(());
        }
        let number = (0..count).filter_map(|number| self.layer(number)).map(|layer| layer.part.number + 1).max().unwrap_or(0);
        let planned = self.growth.layer(u32::try_from(number).unwrap_or(u32::MAX))?.layer;
        let refuse = || BuildError::Memory { bytes: planned.bits() / 8 };
        let part = Part::new(self.hasher, number, planned, 0, 0)?;
        let layer = SharedLayer { part, bits: AtomicBits::zeroed(planned.bits())?, taken: AtomicU64::new(0) };
        self.layers.get(count).and_then(|place| place.set(layer).ok()).ok_or_else(refuse)?;
        self.count.store(count + 1, Ordering::Release);
        Ok(())
    }

    /// The filter, with all that was inserted. It counts as merged: several calls may have been told that one key is new. Linear in the bits.
    ///
    /// # Errors
    /// There is no memory for it beside this one.
    pub fn into_filter(self) -> Result<ScalableFilter, BuildError> {
        self.snapshot()
    }

    /// The filter as it is now, while threads go on inserting: with every key whose insertion this thread knows to have returned. Linear in the bits.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn snapshot(&self) -> Result<ScalableFilter, BuildError> {
        let AtomicScalableFilter { hasher, growth, label, offered, changed, .. } = self;
        let (mut parts, mut words) = (Vec::new(), Vec::new());
        for layer in (0..self.layers()).filter_map(|number| self.layer(number)) {
            let mut part = layer.part.clone();
            let bits = layer.bits.to_aligned_after(KEPT_WORDS).ok_or(BuildError::Memory { bytes: part.layer.bits() / 8 })?;
            part.ones = bits.iter().map(|word| u64::from(word.count_ones())).sum();
            part.inserted = part.inserted.max(part.ones.div_ceil(part.layer.probes().into()));
            words.push(bits);
            parts.push(part);
        }
        // After the bits: an insertion counts itself before it sets any, and the count is to be an upper bound.
        // Two layers may have one key, of two threads or of a merge, so the sum over them would be no lower bound.
        let changed = parts.iter().map(|part| part.inserted).fold(*changed, u64::max);
        let counts = Counts { offered: offered.load(Relaxed).max(changed), changed, origin: Origin::Merged };
        Ok(ScalableFilter { hasher: *hasher, growth: *growth, label: label.clone(), parts, words, counts })
    }
}

impl SharedLayer {
    fn contains(&self, hash: KeyHash) -> bool {
        self.part.head.scheme.all_words(self.part.hash(hash), |word, mask| self.bits.has(word, mask))
    }

    /// Whether any of its bits was 0; `None`, and nothing is set, where there is no room for all of them.
    fn insert(&self, hash: KeyHash) -> Option<bool> {
        let (probes, limit) = (u64::from(self.part.layer.probes()), self.part.layer.limit());
        self.taken.fetch_update(Relaxed, Relaxed, |taken| Some(taken + probes).filter(|taken| *taken <= limit)).ok()?;
        let mut newly_set = 0;
        self.part.head.scheme.all_words(self.part.hash(hash), |word, mask| {
            newly_set += u64::from(self.bits.set(word, mask));
            true
        });
        self.taken.fetch_sub(probes - newly_set.min(probes), Relaxed);
        Some(newly_set > 0)
    }
}

impl From<ScalableFilter> for AtomicScalableFilter {
    fn from(filter: ScalableFilter) -> AtomicScalableFilter {
        let ScalableFilter { hasher, growth, label, parts, words, counts } = filter;
        let layers: Box<[OnceLock<SharedLayer>]> = (0..parts.len() + MORE_LAYERS).map(|_| OnceLock::new()).collect();
        let count = parts.len();
        for (place, (part, words)) in layers.iter().zip(parts.into_iter().zip(words)) {
            let taken = AtomicU64::new(part.ones);
            let bits = AtomicBits::of(words.get(KEPT_WORDS..).unwrap_or_default());
            // The place is new.
            let _ = place.set(SharedLayer { part, bits, taken });
        }
        let (count, offered, changed) = (AtomicUsize::new(count), AtomicU64::new(counts.offered), counts.changed);
        AtomicScalableFilter { hasher, growth, label, layers, count, opening: Mutex::new(()), offered, changed }
    }
}

impl core::fmt::Debug for AtomicScalableFilter {
    /// The parameters and counts, not the bits.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AtomicScalableFilter").field("growth", &self.growth).field("layers", &self.layers()).finish_non_exhaustive()
    }
}
