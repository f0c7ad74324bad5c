//! The filter that grows, shared by threads.

use super::ScalableFilter;
use super::part::{Part, next_number};
use crate::arch::AlignedWords;
use crate::backing::{KEPT_WORDS, Owned};
use crate::bits::AtomicBits;
use crate::bloom::{Counts, Origin};
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::{KeyHash, PortableHasher, hash_key};
use crate::key::Key;
use crate::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, Ordering::Relaxed};
use crate::tally::Tally;
use alloc::alloc::{Layout, handle_alloc_error};
use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::{OnceLock, PoisonError};
use truebloom_math::Growth;

/// A [`ScalableFilter`] that threads fill and query at the same time. It is made from a
/// [`ScalableFilter`], and turned back into one at the end.
///
/// Insertions and queries take no lock. Opening a layer does, and a thread that needs the new layer
/// waits for it. The rate never exceeds the one asked for: an insertion reserves room for all its
/// bits before it sets any, so a layer stays within its limit however the threads run. Which keys
/// of other threads a thread sees, and to which threads a key is reported as new, is the same as
/// for [`AtomicFilterOf`](crate::AtomicFilterOf).
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
    layers: Box<[OnceLock<Box<SharedLayer>>]>,
    /// The number of layers that exist. It is stored after the layer.
    count: AtomicUsize,
    /// Held by the thread that opens a layer.
    opening: Mutex<()>,
    offered: Tally,
    /// A lower bound on the distinct keys of the filter that it was made from.
    changed: u64,
}

struct SharedLayer {
    part: Part<Owned>,
    bits: AtomicBits,
    /// The number of set bits, plus those that insertions in progress may set.
    taken: AtomicU64,
}

/// Slots for later layers: more than can be used before memory runs out.
const MORE_LAYERS: usize = Growth::MOST_LAYERS as usize;

impl AtomicScalableFilter {
    /// Inserts a key; returns true if it was new to this call.
    ///
    /// # Panics
    /// Never; but if the memory for a new layer cannot be allocated, the process ends, as with the
    /// collections of the standard library. [`try_insert_hash`](Self::try_insert_hash) returns an
    /// error instead.
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

    /// How the filter grows.
    pub fn growth(&self) -> &Growth {
        &self.growth
    }

    /// The hasher, with its seed.
    pub fn hasher(&self) -> &PortableHasher {
        &self.hasher
    }

    /// The text that a program attached to it: [`FilterOf::set_label`](crate::FilterOf::set_label).
    pub fn label(&self) -> Option<&str> {
        self.label.text()
    }

    /// How often keys were offered so far, repeats included.
    pub fn offered(&self) -> u64 {
        self.offered.get()
    }

    /// The number of layers so far.
    pub fn layers(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// [`insert`](Self::insert) of a key that is already hashed.
    ///
    /// # Errors
    /// The memory for a new layer cannot be allocated; then the key is not inserted.
    pub fn try_insert_hash(&self, hash: KeyHash) -> Result<bool, BuildError> {
        self.offered.add(1);
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

    /// [`contains`](Self::contains) of a key that is already hashed.
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.is_in(self.layers(), hash)
    }

    fn layer(&self, number: usize) -> Option<&SharedLayer> {
        self.layers.get(number).and_then(OnceLock::get).map(Box::as_ref)
    }

    /// Looks first in the newest layer, which is the largest.
    fn is_in(&self, count: usize, hash: KeyHash) -> bool {
        (0..count).rev().filter_map(|number| self.layer(number)).any(|layer| layer.contains(hash))
    }

    /// Opens the layer after `count` layers, unless another thread has done so.
    fn open(&self, count: usize) -> Result<(), BuildError> {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if self.layers() > count {
            return Ok(());
        }
        let parts = (0..count).filter_map(|number| self.layer(number)).map(|layer| &layer.part);
        let part = Part::planned(&self.growth, self.hasher, next_number(parts))?;
        let bits = part.layer.bits();
        let layer = SharedLayer { part, bits: AtomicBits::zeroed(bits)?, taken: AtomicU64::new(0) };
        let place = self.layers.get(count).and_then(|place| place.set(Box::new(layer)).ok());
        place.ok_or(BuildError::Memory { bytes: bits / 8 })?;
        self.count.store(count + 1, Ordering::Release);
        Ok(())
    }

    /// The filter, with all keys that were inserted. It is marked as merged, because several calls
    /// may have reported one key as new. Linear in the bits.
    ///
    /// # Errors
    /// The memory for a second filter cannot be allocated.
    pub fn into_filter(self) -> Result<ScalableFilter, BuildError> {
        self.snapshot()
    }

    /// A copy of the filter as it is now, while threads go on inserting: it has every key whose
    /// insertion is known to this thread to have returned. Linear in the bits.
    ///
    /// # Errors
    /// The memory cannot be allocated.
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
        // After the bits: an insertion counts itself before it sets any, and the count is to be an
        // upper bound. Two layers may have one key, of two threads or of a merge, so the sum over
        // them would be no lower bound.
        let changed = parts.iter().map(|part| part.inserted).fold(*changed, u64::max);
        let counts = Counts { offered: offered.get().max(changed), changed, origin: Origin::Merged };
        Ok(ScalableFilter { hasher: *hasher, growth: *growth, label: label.clone(), parts, words, counts })
    }
}

impl SharedLayer {
    fn contains(&self, hash: KeyHash) -> bool {
        self.bits.contains(&self.part.head.scheme, self.part.hash(hash))
    }

    /// Sets the bits of a key and returns whether any of them was 0; `None`, and nothing is set, if
    /// there is no room for all of them.
    fn insert(&self, hash: KeyHash) -> Option<bool> {
        let (probes, limit) = (u64::from(self.part.layer.probes()), self.part.layer.limit());
        self.taken.fetch_update(Relaxed, Relaxed, |taken| Some(taken + probes).filter(|taken| *taken <= limit)).ok()?;
        let newly_set = u64::from(self.bits.insert(&self.part.head.scheme, self.part.hash(hash)));
        self.taken.fetch_sub(probes - newly_set.min(probes), Relaxed);
        Some(newly_set > 0)
    }
}

/// A copy of the words, aligned to a cache line. If the memory cannot be allocated it aborts, like
/// every clone.
fn copied(words: &[u64]) -> AlignedWords {
    let mut copy = AlignedWords::zeroed(words.len()).unwrap_or_else(|| handle_alloc_error(Layout::for_value(words)));
    copy.copy_from_slice(words);
    copy
}

impl From<ScalableFilter> for AtomicScalableFilter {
    fn from(filter: ScalableFilter) -> AtomicScalableFilter {
        let ScalableFilter { hasher, growth, label, parts, words, counts } = filter;
        let layers: Box<[OnceLock<Box<SharedLayer>>]> = (0..parts.len() + MORE_LAYERS).map(|_| OnceLock::new()).collect();
        let count = parts.len();
        for (place, (part, words)) in layers.iter().zip(parts.into_iter().zip(words)) {
            let taken = AtomicU64::new(part.ones);
            let bits = AtomicBits::of(copied(words.get(KEPT_WORDS..).unwrap_or_default()));
            // The place is new.
            let _ = place.set(Box::new(SharedLayer { part, bits, taken }));
        }
        let (count, offered, changed) = (AtomicUsize::new(count), Tally::new(counts.offered), counts.changed);
        AtomicScalableFilter { hasher, growth, label, layers, count, opening: Mutex::new(()), offered, changed }
    }
}

impl core::fmt::Debug for AtomicScalableFilter {
    /// Shows the parameters and counts, not the bits.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AtomicScalableFilter").field("growth", &self.growth).field("layers", &self.layers()).finish_non_exhaustive()
    }
}

/// Checks every interleaving of two threads: `RUSTFLAGS='--cfg truebloom_loom' cargo test --release
/// -p truebloom --lib atomic`. `OnceLock` ensures that a layer exists before it is counted, and the
/// model does not include `OnceLock`.
#[cfg(all(truebloom_loom, test))]
mod models {
    use super::*;
    use crate::Seed;
    use loom::sync::Arc;
    use loom::thread;
    use truebloom_math::law::Layer;

    /// A filter whose open layer has room for one more key.
    fn nearly_full() -> (ScalableFilter, Vec<KeyHash>) {
        let growth = Growth::new("50%".parse().expect("a rate"), 64).expect("in range");
        let mut filter = ScalableFilter::with_growth(growth, PortableHasher::xxh3(Seed::from(5))).expect("small");
        let mut keys = (0u64..).map(|key| hash_key(&PortableHasher::xxh3(Seed::from(5)), &key));
        while filter.parts[0].room() > 1 {
            filter.insert_hash(keys.next().expect("endless"));
        }
        // Two of which each sets as many bits as a key can, so that both together are too many.
        let sets_all = |filter: &mut ScalableFilter, hash: &KeyHash| {
            let before = filter.ones();
            filter.insert_hash(*hash);
            filter.ones() - before == u64::from(filter.parts[0].layer.probes())
        };
        let first = keys.find(|hash| sets_all(&mut filter.clone(), hash)).expect("one of many");
        let mut with_first = filter.clone();
        with_first.parts[0].layer =
            Layer::new(filter.parts[0].layer.bits(), filter.parts[0].layer.probes(), filter.parts[0].layer.bits() - 1).expect("in range");
        with_first.insert_hash(first);
        let second = keys.find(|hash| sets_all(&mut with_first.clone(), hash)).expect("one of many");
        (filter, vec![first, second])
    }

    #[test]
    fn loom_of_two_that_fill_a_layer_none_goes_beyond_its_limit() {
        let (filter, hashes) = nearly_full();
        let (limit, second) = (filter.parts[0].layer.limit(), filter.growth.layer(1).expect("in range").layer);
        assert!(second.bits() > 64);
        let mut model = loom::model::Builder::new();
        // The bits are many words, each of them looked at; two threads that take turns three times
        // meet in every way that is of interest.
        (model.max_branches, model.preemption_bound) = (100_000, Some(3));
        model.check(move || {
            let shared = Arc::new(AtomicScalableFilter::from(filter.clone()));
            let (there, hash) = (Arc::clone(&shared), hashes[1]);
            let other = thread::spawn(move || {
                there.try_insert_hash(hash).expect("memory");
                assert!(there.contains_hash(hash), "a key is there for whoever inserted it");
            });
            shared.try_insert_hash(hashes[0]).expect("memory");
            other.join().expect("no panic");
            assert!(hashes.iter().all(|hash| shared.contains_hash(*hash)));
            let back = shared.snapshot().expect("memory");
            assert!(back.parts[0].ones <= limit && back.layers().len() <= 2 && back.offered() == filter.offered() + 2);
        });
    }
}
