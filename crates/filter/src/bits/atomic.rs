//! Bits that many threads set and read at the same time.

#[cfg(not(all(test, truebloom_loom)))]
use crate::arch::SharedWords;
use crate::arch::{AlignedWords, Level, prefetch};
use crate::bulk::{Batch, BatchAnswers};
use crate::hash::KeyHash;
use crate::scheme::{Batches as _, Placed, Scheme};
use crate::sync::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};
use crate::word::Reads;

/// Words that threads share. While the words are shared, bits are only set, never unset.
///
/// Relaxed ordering is enough for queries. Bits are never unset, and a thread that synchronizes
/// with an inserting thread after the insertion (by a join, a channel or a lock) sees the bits of
/// the inserted key. An insertion is counted before it sets bits, and the count is published
/// together with the bits. To copy a filter, a thread reads the bits first
/// ([`to_aligned`](Self::to_aligned)) and the counts afterwards. The counts of the copy are
/// therefore never lower than its number of keys. Only a recycling filter counts an item after its
/// bits are set, and corrects the counts of a copy.
pub(crate) struct AtomicBits {
    words: SharedWords,
    level: Level,
}

/// The words are copied, because the model checker's atomic words are larger than plain ones.
#[cfg(all(test, truebloom_loom))]
struct SharedWords(alloc::vec::Vec<AtomicU64>);

#[cfg(all(test, truebloom_loom))]
impl SharedWords {
    fn of(words: AlignedWords) -> SharedWords {
        SharedWords(words.iter().map(|word| AtomicU64::new(*word)).collect())
    }

    fn into_words(self) -> AlignedWords {
        AlignedWords::from_vec(self.0.iter().map(|word| word.load(Relaxed)).collect()).expect("small")
    }
}

#[cfg(all(test, truebloom_loom))]
impl core::ops::Deref for SharedWords {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        &self.0
    }
}

impl Reads for AtomicU64 {
    const IS_SHARED: bool = true;

    #[inline(always)]
    fn read(&self) -> u64 {
        self.load(Relaxed)
    }
}

impl AtomicBits {
    /// Turns words into shared words, in place.
    pub(crate) fn of(words: AlignedWords) -> AtomicBits {
        AtomicBits { words: SharedWords::of(words), level: Level::detect() }
    }

    /// Words that are all 0. Returns an error if the memory cannot be allocated.
    #[cfg(feature = "std")]
    pub(crate) fn zeroed(bits: u64) -> Result<AtomicBits, crate::BuildError> {
        super::Bits::<crate::Owned>::zeroed(bits).map(|bits| AtomicBits::of(bits.into_words()))
    }

    /// The words as they are now; other threads may change them at any time.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        &self.words
    }

    /// Sets a bit and returns whether it was 0. If several threads set the same bit, exactly one of
    /// them gets true. Positions beyond the end are ignored, but no scheme has such positions.
    #[inline]
    pub(crate) fn set(&self, position: u64) -> bool {
        let bit = 1 << (position & 63);
        self.words.get((position >> 6) as usize).is_some_and(|word| word.fetch_or(bit, Release) & bit == 0)
    }

    /// Sets the bits of a key and returns how many of them were 0.
    ///
    /// If a key is already contained, its cache lines are only read, and can therefore stay in the
    /// caches of all processors. There is one branch per key. With one branch per bit, so many
    /// branches were mispredicted that insertions took twice as long.
    #[inline]
    pub(crate) fn insert(&self, scheme: &impl Scheme, hash: KeyHash) -> u32 {
        let mut newly_set = 0;
        if !self.contains(scheme, hash) {
            scheme.each(hash, |position| newly_set += u32::from(self.set(position)));
        }
        newly_set
    }

    /// Whether all bits of a key are set.
    #[inline]
    pub(crate) fn contains(&self, scheme: &impl Placed, hash: KeyHash) -> bool {
        scheme.are_set(self.level, hash, &self.words)
    }

    /// Reports which keys of a batch are contained, and prefetches the words of the next batch.
    #[inline]
    pub(crate) fn contains_batch<S: Placed>(&self, batches: &mut S::Batches, scheme: &S, batch: Batch<'_>) -> BatchAnswers {
        batches.contains_shared(scheme, self.level, &self.words, batch)
    }

    /// Prefetches the words of a key's first probes.
    #[inline]
    pub(crate) fn ask(&self, scheme: &impl Placed, hash: KeyHash, probes: usize) {
        scheme.for_each_ahead(hash, probes, |word| prefetch(&self.words, word));
    }

    /// Unsets all bits.
    #[cfg(feature = "std")]
    pub(crate) fn clear(&mut self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
    }

    /// A copy of the words. The copy has every bit that was set before the call, and can have bits
    /// that are set during the call. Returns `None` if the memory cannot be allocated.
    pub(crate) fn to_aligned(&self) -> Option<AlignedWords> {
        self.to_aligned_after(0)
    }

    /// Like [`to_aligned`](Self::to_aligned), but the copy begins with `before` additional words
    /// that are 0.
    pub(crate) fn to_aligned_after(&self, before: usize) -> Option<AlignedWords> {
        let mut words = AlignedWords::zeroed(self.words.len().checked_add(before)?)?;
        words.iter_mut().skip(before).zip(self.words()).for_each(|(copy, word)| *copy = word.load(Relaxed));
        fence(Acquire);
        Some(words)
    }

    /// The number of bits that are set in both filters at present.
    #[cfg(feature = "std")]
    pub(crate) fn count_common(&self, other: &AtomicBits) -> u64 {
        super::count_pairs(self.words(), other.words(), |word, other| word & other)
    }

    /// Turns shared words back into plain words, once no other thread uses them.
    pub(crate) fn into_words(self) -> AlignedWords {
        self.words.into_words()
    }
}

/// `RUSTFLAGS="--cfg truebloom_loom" cargo test -p truebloom --release --lib loom` tries every
/// order in which the threads can run.
#[cfg(all(test, truebloom_loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    fn bits(words: usize) -> AtomicBits {
        AtomicBits::of(AlignedWords::zeroed(words).expect("small"))
    }

    fn has(bits: &AtomicBits, word: usize, mask: u64) -> bool {
        bits.words()[word].read() & mask == mask
    }

    /// Inserts a key that has one bit in each of two words.
    fn insert(bits: &AtomicBits) -> bool {
        bits.set(0) | bits.set(64 + 9)
    }

    fn contains(bits: &AtomicBits) -> bool {
        has(bits, 0, 1) && has(bits, 1, 1 << 9)
    }

    #[test]
    fn loom_of_two_that_insert_one_key_at_least_one_is_told_new() {
        loom::model(|| {
            let bits = Arc::new(bits(2));
            let other = Arc::clone(&bits);
            let there = thread::spawn(move || insert(&other) && contains(&other));
            let here = insert(&bits);
            assert!(contains(&bits), "a key is there for whoever inserted it");
            assert!(there.join().expect("joined") || here);
            assert!(contains(&bits));
            assert!(Arc::try_unwrap(bits).is_ok_and(|bits| bits.into_words()[..] == [1, 1 << 9]));
        });
    }

    #[test]
    fn loom_every_bit_of_a_shared_word_is_new_once() {
        loom::model(|| {
            let bits = Arc::new(bits(1));
            let other = Arc::clone(&bits);
            let set = |bits: &AtomicBits, order: [u64; 3]| order.into_iter().filter(|position| bits.set(*position)).count();
            let there = thread::spawn(move || set(&other, [0, 1, 2]));
            let here = set(&bits, [2, 1, 0]);
            assert_eq!(there.join().expect("joined") + here, 3);
            assert!(has(&bits, 0, 0b111));
        });
    }

    #[test]
    fn loom_who_is_told_of_an_insertion_sees_it() {
        loom::model(|| {
            let bits = Arc::new(bits(2));
            let flag = Arc::new(loom::sync::atomic::AtomicBool::new(false));
            let (other, told) = (Arc::clone(&bits), Arc::clone(&flag));
            let writer = thread::spawn(move || {
                insert(&other);
                told.store(true, loom::sync::atomic::Ordering::Release);
            });
            if flag.load(loom::sync::atomic::Ordering::Acquire) {
                assert!(contains(&bits));
            }
            writer.join().expect("joined");
        });
    }
}
