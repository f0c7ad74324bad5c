//! The filter that grows, shared by threads.

use super::ScalableFilter;
use super::part::{Part, next_number};
use super::rates::rate_at;
use crate::arch::AlignedWords;
use crate::backing::{KEPT_WORDS, Owned};
use crate::bits::{AtomicBits, IN_CACHE, count_ones};
use crate::bloom::{Counts, Origin};
use crate::bulk::{self, ASKED_AHEAD, Answers, Hashes};
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, Seed, hash_key};
use crate::key::Key;
use crate::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, Ordering::Relaxed, fence};
use crate::tally::Tally;
use alloc::alloc::{Layout, handle_alloc_error};
use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::{OnceLock, PoisonError};
use truebloom_math::law::Layered;
use truebloom_math::{Fpr, Growth, Rate};

/// A [`ScalableFilter`] into which several threads can insert keys while other threads query it.
/// [`new`](AtomicScalableFilter::new) makes such a filter for a given rate. You can also convert a
/// [`ScalableFilter`] to such a filter, and convert the filter back with
/// [`into_filter`](Self::into_filter).
///
/// The filter consists of layers. When the newest layer has no room for a key, the insertion of
/// this key takes a lock and adds a new layer. Other insertions that need the new layer wait until
/// it exists. All other insertions, and all queries, take no lock.
///
/// Each layer has a limit on its number of set bits. Before an insertion sets the bits of its key,
/// it reserves room for them within this limit. Therefore, concurrent insertions do not raise the
/// rate above the requested rate. There is one exception: if the filter was made from a
/// [`ScalableFilter`] whose rate was raised by a [merge](ScalableFilter::union_with), the rate can
/// be higher than requested.
///
/// The documentation of [`AtomicFilterOf`](crate::AtomicFilterOf) says when a thread sees the keys
/// of other threads. It also says which threads get true if several threads insert the same new
/// key.
///
/// ```
/// use truebloom::AtomicScalableFilter;
/// let shared = AtomicScalableFilter::new(0.001)?;
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
    /// The number of layers, which is updated after a new layer is stored.
    count: AtomicUsize,
    /// A lock, held by the thread that adds a new layer.
    opening: Mutex<()>,
    offered: Tally,
    /// A lower bound on the number of distinct keys in the filter from which this one was made.
    changed: u64,
}

struct SharedLayer {
    part: Part<Owned>,
    bits: AtomicBits,
    /// The number of set bits, plus the number of bits that insertions in progress have reserved.
    taken: AtomicU64,
}

/// The number of slots for layers after the first. The memory is exhausted before all slots are
/// used.
const MORE_LAYERS: usize = Growth::MOST_LAYERS as usize;

impl AtomicScalableFilter {
    /// Like [`ScalableFilter::new`], for a filter shared by threads.
    ///
    /// # Errors
    /// Returns the same errors as [`ScalableFilter::new`].
    #[cfg(feature = "random")]
    pub fn new<R: TryInto<Rate>>(rate: R) -> Result<AtomicScalableFilter, BuildError>
    where
        BuildError: From<R::Error>,
    {
        ScalableFilter::new(rate).map(AtomicScalableFilter::from)
    }

    /// Like [`ScalableFilter::with_growth`], for a filter shared by threads.
    ///
    /// # Errors
    /// Returns the same errors as [`ScalableFilter::with_growth`].
    pub fn with_growth(growth: Growth, hasher: PortableHasher) -> Result<AtomicScalableFilter, BuildError> {
        ScalableFilter::with_growth(growth, hasher).map(AtomicScalableFilter::from)
    }

    /// Inserts a key. Returns true if this call set any bit of the key.
    ///
    /// # Aborts
    /// If the memory for a new layer cannot be allocated, the method aborts the process, as the
    /// collections of the standard library do. To get an error in this case, use
    /// [`try_insert_hash`](Self::try_insert_hash).
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> bool {
        super::keys::or_abort(self.try_insert_hash(self.hash(key)))
    }

    /// Returns true if the filter contains a key.
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// The key's hash: see [`ScalableFilter::hash`].
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

    /// The seed of the hasher.
    pub fn seed(&self) -> Seed {
        KeyHasher::seed(&self.hasher)
    }

    /// The requested false-positive rate.
    pub fn rate(&self) -> Rate {
        self.growth.rate()
    }

    /// The number of bits in all layers so far.
    pub fn bits(&self) -> u64 {
        self.parts().map(|part| part.layer.bits()).sum()
    }

    /// The largest number of probes that a query can take: the sum of the probes per key of all
    /// layers so far.
    pub fn probes(&self) -> u32 {
        self.parts().fold(0, |probes, part| probes.saturating_add(part.layer.probes()))
    }

    /// The present false-positive rate of this filter: see [`ScalableFilter::fpr`]. Bits that other
    /// threads set during the call may or may not be counted. The method counts the set bits
    /// without copying them. The time is linear in the number of bits.
    pub fn fpr(&self) -> Fpr {
        let there = || (0..self.layers()).filter_map(|number| self.layer(number));
        let (layers, ones): (Vec<&SharedLayer>, Vec<u64>) = there().map(|layer| (layer, count_ones(layer.bits.words()))).unzip();
        let numbers = layers.iter().map(|layer| layer.part.number).collect();
        let law = Layered::numbered(layers.iter().map(|layer| layer.part.layer).collect(), numbers);
        fence(Ordering::Acquire);
        // The count is read after the bits. An insertion is counted before it sets a bit, so the
        // count is an upper bound.
        rate_at(&law, &ones, self.offered())
    }

    fn parts(&self) -> impl Iterator<Item = &Part<Owned>> {
        (0..self.layers()).filter_map(|number| self.layer(number)).map(|layer| &layer.part)
    }

    /// The text that a program attached to the filter: see
    /// [`FilterOf::set_label`](crate::FilterOf::set_label).
    pub fn label(&self) -> Option<&str> {
        self.label.text()
    }

    /// The number of insertions so far, repeats included.
    pub fn offered(&self) -> u64 {
        self.offered.get()
    }

    /// The number of layers so far.
    pub fn layers(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Like [`insert`](Self::insert), for a key that is already hashed.
    pub fn insert_hash(&self, hash: KeyHash) -> bool {
        super::keys::or_abort(self.try_insert_hash(hash))
    }

    /// Inserts keys in order. The answer for each key is the result of [`insert`](Self::insert):
    /// true if the call set any bit of the key. While one key is inserted, the bits of later keys
    /// are prefetched.
    ///
    /// ```
    /// use truebloom::AtomicScalableFilter;
    /// let seen = AtomicScalableFilter::new(0.001)?;
    /// assert!(seen.insert_all(["a", "b", "a"]).iter().eq([true, true, false]));
    /// assert_eq!(seen.contains_all(["a", "b"]).count_ones(), 2);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn insert_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        self.answers(bulk::hashing(&self.hasher, keys), |hash| self.insert_hash(hash))
    }

    /// Like [`insert_all`](Self::insert_all), for keys that are already hashed.
    pub fn insert_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        self.answers(bulk::hashed(hashes), |hash| self.insert_hash(hash))
    }

    /// Reports which of the keys are contained. For each key, the answer is the result of
    /// [`contains`](Self::contains).
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        self.answers(bulk::hashing(&self.hasher, keys), |hash| self.contains_hash(hash))
    }

    /// Like [`contains_all`](Self::contains_all), for keys that are already hashed.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        self.answers(bulk::hashed(hashes), |hash| self.contains_hash(hash))
    }

    /// Collects the result of `answer` for each key. Words in the newest layer are prefetched,
    /// because this layer is queried first and is the largest.
    fn answers(&self, next: impl FnMut(&mut Hashes), answer: impl Fn(KeyHash) -> bool) -> Answers {
        bulk::answers(next, |batch| {
            let newest = self.layer(self.layers() - 1).filter(|layer| layer.part.layer.bits() > IN_CACHE);
            let ask = |newest: &Option<&SharedLayer>, hash| {
                if let Some(newest) = newest {
                    newest.bits.ask(&newest.part.head.scheme, newest.part.hash(hash), ASKED_AHEAD);
                }
            };
            batch.one_by_one(&mut { newest }, ask, |_, hash| answer(hash))
        })
    }

    /// Like [`insert_hash`](Self::insert_hash), but returns an error instead of aborting the
    /// process.
    ///
    /// # Errors
    /// Returns an error if the memory for a new layer cannot be allocated. After an error, the key
    /// is not inserted, and [`offered`](Self::offered) stays the same.
    pub fn try_insert_hash(&self, hash: KeyHash) -> Result<bool, BuildError> {
        loop {
            let count = self.layers();
            if self.is_in(count, hash) {
                self.offered.add(1);
                return Ok(false);
            }
            if let Some(new) = self.layer(count - 1).and_then(|open| open.insert(hash, || self.offered.add(1))) {
                return Ok(new);
            }
            self.open(count)?;
        }
    }

    /// Like [`contains`](Self::contains), for a key that is already hashed.
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.is_in(self.layers(), hash)
    }

    fn layer(&self, number: usize) -> Option<&SharedLayer> {
        self.layers.get(number).and_then(OnceLock::get).map(Box::as_ref)
    }

    /// Whether one of the first `count` layers contains the key. The newest of these layers is the
    /// largest, and is queried first.
    fn is_in(&self, count: usize, hash: KeyHash) -> bool {
        (0..count).rev().filter_map(|number| self.layer(number)).any(|layer| layer.contains(hash))
    }

    /// Adds a layer, unless there are already more than `count` layers because another thread has
    /// added one.
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

    /// Converts the filter to a [`ScalableFilter`], which contains all keys that were inserted.
    /// Several calls may have reported the same key as new, so the number of distinct keys in the
    /// result is known only within bounds. The result is therefore
    /// [marked as merged](ScalableFilter::is_merged).
    ///
    /// The time is linear in the number of bits. The layers are copied one at a time, and each
    /// layer is freed after it is copied. The conversion therefore needs additional memory for only
    /// one layer.
    ///
    /// # Errors
    /// Returns an error if the memory for a layer cannot be allocated.
    pub fn into_filter(self) -> Result<ScalableFilter, BuildError> {
        let AtomicScalableFilter { hasher, growth, label, layers, offered, changed, .. } = self;
        let there = layers.into_vec().into_iter().filter_map(OnceLock::into_inner);
        // Each layer is freed when it has been copied.
        let copies = there.map(|layer| layer.copied()).collect::<Result<_, _>>()?;
        Ok(assembled((hasher, growth, label), copies, offered.get(), changed))
    }

    /// A copy of the filter as it is now. During the copy, other threads can go on inserting. The
    /// copy contains every key that the calling thread inserted. The copy contains another thread's
    /// key if that thread inserted the key and then synchronized with this thread (by a join, a
    /// channel or a lock) before this call. The time is linear in the number of bits.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn snapshot(&self) -> Result<ScalableFilter, BuildError> {
        let AtomicScalableFilter { hasher, growth, label, offered, changed, .. } = self;
        let there = (0..self.layers()).filter_map(|number| self.layer(number));
        let copies = there.map(SharedLayer::copied).collect::<Result<_, _>>()?;
        // The count is read after the bits. An insertion is counted before it sets a bit, so the
        // count is an upper bound.
        Ok(assembled((*hasher, *growth, label.clone()), copies, offered.get(), *changed))
    }
}

/// Makes a filter from these layers. `changed` is a lower bound on the number of distinct keys in
/// the layers. `offered` is the number of keys that were offered, repeats included.
fn assembled(
    (hasher, growth, label): (PortableHasher, Growth, Label),
    layers: Vec<(Part<Owned>, AlignedWords)>,
    offered: u64,
    changed: u64,
) -> ScalableFilter {
    let (parts, words): (Vec<_>, Vec<_>) = layers.into_iter().unzip();
    // Because of concurrent insertions or a merge, a key can be in two layers. Adding the counts of
    // all layers could count this key twice, so only the largest count is used.
    let changed = parts.iter().map(|part| part.inserted).fold(changed, u64::max);
    let counts = Counts { offered: offered.max(changed), changed, origin: Origin::Merged };
    ScalableFilter { hasher, growth, label, parts, words, counts }
}

impl SharedLayer {
    fn contains(&self, hash: KeyHash) -> bool {
        self.bits.contains(&self.part.head.scheme, self.part.hash(hash))
    }

    /// A copy of the layer as it is now, with its words.
    fn copied(&self) -> Result<(Part<Owned>, AlignedWords), BuildError> {
        let mut part = self.part.clone();
        let words = self.bits.to_aligned_after(KEPT_WORDS).ok_or(BuildError::Memory { bytes: part.layer.bits() / 8 })?;
        part.ones = count_ones(&words);
        part.inserted = part.inserted.max(part.ones.div_ceil(part.layer.probes().into()));
        Ok((part, words))
    }

    /// Sets the bits of a key and returns true if at least one of them was 0. If there is no room
    /// for all of them, no bit is set and the result is `None`. If there is room, `counted` is
    /// called before any bit is set.
    fn insert(&self, hash: KeyHash, counted: impl FnOnce()) -> Option<bool> {
        let (probes, limit) = (u64::from(self.part.layer.probes()), self.part.layer.limit());
        self.taken.fetch_update(Relaxed, Relaxed, |taken| Some(taken + probes).filter(|taken| *taken <= limit)).ok()?;
        counted();
        let newly_set = u64::from(self.bits.insert(&self.part.head.scheme, self.part.hash(hash)));
        self.taken.fetch_sub(probes - newly_set.min(probes), Relaxed);
        Some(newly_set > 0)
    }
}

/// A copy of the words, aligned to a cache line. If the memory cannot be allocated, the process is
/// aborted, as `Clone` does.
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
            // The slot is empty, so this does not fail.
            let _ = place.set(Box::new(SharedLayer { part, bits, taken }));
        }
        let (count, offered, changed) = (AtomicUsize::new(count), Tally::new(counts.offered), counts.changed);
        AtomicScalableFilter { hasher, growth, label, layers, count, opening: Mutex::new(()), offered, changed }
    }
}

impl core::fmt::Debug for AtomicScalableFilter {
    /// Formats the parameters and counts, not the bits.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AtomicScalableFilter").field("growth", &self.growth).field("layers", &self.layers()).finish_non_exhaustive()
    }
}

/// Checks every interleaving of two threads: `RUSTFLAGS='--cfg truebloom_loom' cargo test --release
/// -p truebloom --lib atomic`. The model checker does not cover `OnceLock`, in which a layer is
/// stored before it is counted.
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
        // Finds two keys, each of which sets as many bits as possible. The layer has no room for
        // both.
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
        // Reading all words takes many steps. Three switches between the two threads are enough to
        // reach every relevant interleaving.
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
