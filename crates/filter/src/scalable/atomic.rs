//! The filter that grows, shared by threads.

use super::ScalableFilter;
use super::part::{Part, next_number};
use crate::backing::{KEPT_WORDS, Owned};
use crate::bits::{AtomicBits, count_up};
use crate::bloom::{Counts, Origin};
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::{KeyHash, PortableHasher, hash_key};
use crate::key::Key;
use crate::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, Ordering::Relaxed};
use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::{OnceLock, PoisonError};
use truebloom_math::Growth;

/// A [`ScalableFilter`] that threads fill and ask at the same time. Made from one, and made one
/// again at the end.
///
/// Insertions and queries take no lock; opening a layer does, and a thread that needs the new layer
/// waits for it. The rate never exceeds the one asked for: an insertion reserves room for all its
/// bits before it sets any, so a layer stays within its limit whatever the threads do. What threads
/// see of each other's keys, and which of them a new key is reported to, is as with
/// [`AtomicFilterOf`](crate::AtomicFilterOf).
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
    /// Layers that are there. Stored after the layer.
    count: AtomicUsize,
    /// Held by the thread that opens a layer.
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

/// Places for layers to come: more than a growth has before memory ends.
const MORE_LAYERS: usize = Growth::MOST_LAYERS as usize;

impl AtomicScalableFilter {
    /// Inserts a key; true if it was new to this call.
    ///
    /// # Panics
    /// Never; but where the memory for a new layer cannot be allocated the process ends, as with
    /// the collections of the standard library. [`try_insert_hash`](Self::try_insert_hash) returns
    /// an error instead.
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

    /// How it grows.
    pub fn growth(&self) -> &Growth {
        &self.growth
    }

    /// The hasher, with its seed.
    pub fn hasher(&self) -> &PortableHasher {
        &self.hasher
    }

    /// The text that a program keeps with it: [`FilterOf::set_label`](crate::FilterOf::set_label).
    pub fn label(&self) -> Option<&str> {
        self.label.text()
    }

    /// Offers of keys so far, repeats included.
    pub fn offered(&self) -> u64 {
        self.offered.load(Relaxed)
    }

    /// Layers so far.
    pub fn layers(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// [`insert`](Self::insert) of a key that is already hashed.
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

    /// [`contains`](Self::contains) of a key that is already hashed.
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.is_in(self.layers(), hash)
    }

    fn layer(&self, number: usize) -> Option<&SharedLayer> {
        self.layers.get(number).and_then(OnceLock::get).map(Box::as_ref)
    }

    /// The newest, and so largest, first.
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

    /// The filter, with all that was inserted. It counts as merged: several calls may have been
    /// told that one key is new. Linear in the bits.
    ///
    /// # Errors
    /// The memory for a second filter cannot be allocated.
    pub fn into_filter(self) -> Result<ScalableFilter, BuildError> {
        self.snapshot()
    }

    /// The filter as it is now, while threads go on inserting: with every key whose insertion this
    /// thread knows to have returned. Linear in the bits.
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
        // After the bits: an insertion counts itself before it sets any, and the count is to be an
        // upper bound. Two layers may have one key, of two threads or of a merge, so the sum over
        // them would be no lower bound.
        let changed = parts.iter().map(|part| part.inserted).fold(*changed, u64::max);
        let counts = Counts { offered: offered.load(Relaxed).max(changed), changed, origin: Origin::Merged };
        Ok(ScalableFilter { hasher: *hasher, growth: *growth, label: label.clone(), parts, words, counts })
    }
}

impl SharedLayer {
    fn contains(&self, hash: KeyHash) -> bool {
        self.bits.contains(&self.part.head.scheme, self.part.hash(hash))
    }

    /// Whether any of its bits was 0; `None`, and nothing is set, where there is no room for all of
    /// them.
    fn insert(&self, hash: KeyHash) -> Option<bool> {
        let (probes, limit) = (u64::from(self.part.layer.probes()), self.part.layer.limit());
        self.taken.fetch_update(Relaxed, Relaxed, |taken| Some(taken + probes).filter(|taken| *taken <= limit)).ok()?;
        let newly_set = u64::from(self.bits.insert(&self.part.head.scheme, self.part.hash(hash)));
        self.taken.fetch_sub(probes - newly_set.min(probes), Relaxed);
        Some(newly_set > 0)
    }
}

impl From<ScalableFilter> for AtomicScalableFilter {
    fn from(filter: ScalableFilter) -> AtomicScalableFilter {
        let ScalableFilter { hasher, growth, label, parts, words, counts } = filter;
        let layers: Box<[OnceLock<Box<SharedLayer>>]> = (0..parts.len() + MORE_LAYERS).map(|_| OnceLock::new()).collect();
        let count = parts.len();
        for (place, (part, words)) in layers.iter().zip(parts.into_iter().zip(words)) {
            let taken = AtomicU64::new(part.ones);
            let bits = AtomicBits::of(words.get(KEPT_WORDS..).unwrap_or_default());
            // The place is new.
            let _ = place.set(Box::new(SharedLayer { part, bits, taken }));
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

/// Every interleaving of two threads, by `RUSTFLAGS='--cfg truebloom_loom' cargo test --release -p
/// truebloom --lib atomic`. That a layer is there before it is counted is left to `OnceLock`, which
/// the model does not have.
#[cfg(all(truebloom_loom, test))]
mod models {
    use super::*;
    use crate::Seed;
    use loom::sync::Arc;
    use loom::thread;
    use truebloom_math::law::Layer;

    /// A filter whose open layer has room for one key more.
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
