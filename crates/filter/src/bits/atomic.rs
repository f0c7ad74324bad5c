//! Bits that many threads set and read at the same time.

use super::Placed;
use crate::arch::AlignedWords;
use crate::hash::KeyHash;
use crate::sync::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};
use alloc::vec::Vec;

/// Words of bits that are only ever set, as long as they are shared.
///
/// Relaxed is enough for queries: every word only grows, and a thread that learns of an insertion
/// by other means (a join, a channel, a lock) sees it, because that orders the two. What was
/// counted before a bit is set is published with it, so that a copy's counts, read after its bits
/// ([`to_aligned`](Self::to_aligned)), are never of fewer keys than it has.
#[derive(Debug)]
pub(crate) struct AtomicBits {
    words: Vec<AtomicU64>,
}

impl AtomicBits {
    /// With these words.
    pub(crate) fn of(words: &[u64]) -> AtomicBits {
        AtomicBits { words: words.iter().map(|word| AtomicU64::new(*word)).collect() }
    }

    /// All 0. An error if the memory cannot be allocated.
    #[cfg(feature = "std")]
    pub(crate) fn zeroed(bits: u64) -> Result<AtomicBits, crate::BuildError> {
        use super::words_for;
        let refuse = || crate::BuildError::Memory { bytes: words_for(bits).saturating_mul(8) };
        let count = usize::try_from(words_for(bits)).map_err(|_| refuse())?;
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| refuse())?;
        words.resize_with(count, || AtomicU64::new(0));
        Ok(AtomicBits { words })
    }

    /// Sets bits of one word, and says how many were 0: each bit, to exactly one of all callers.
    /// Words beyond the end are not there; no scheme has positions in them.
    #[inline]
    pub(crate) fn set(&self, word: usize, mask: u64) -> u32 {
        let Some(word) = self.words.get(word) else { return 0 };
        // A read first, as lines that are only read can stay with every processor.
        if word.load(Relaxed) & mask == mask {
            return 0;
        }
        (mask & !word.fetch_or(mask, Release)).count_ones()
    }

    /// Whether all these bits of one word are set.
    #[inline]
    pub(crate) fn has(&self, word: usize, mask: u64) -> bool {
        self.words.get(word).is_some_and(|word| word.load(Relaxed) & mask == mask)
    }

    /// Sets the positions of a key, and says how many were 0.
    #[inline]
    pub(crate) fn insert(&self, scheme: &impl Placed, hash: KeyHash) -> u32 {
        let mut newly_set = 0;
        scheme.all_words(hash, |word, mask| {
            newly_set += self.set(word, mask);
            true
        });
        newly_set
    }

    /// Whether all positions of a key are set.
    #[inline]
    pub(crate) fn contains(&self, scheme: &impl Placed, hash: KeyHash) -> bool {
        scheme.all_words(hash, |word, mask| self.has(word, mask))
    }

    /// Unsets all.
    #[cfg(feature = "std")]
    pub(crate) fn clear(&mut self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
    }

    /// The words as they are now: every bit that was set before the call, and any that are set
    /// meanwhile. `None` if the memory cannot be allocated.
    pub(crate) fn to_aligned(&self) -> Option<AlignedWords> {
        self.to_aligned_after(0)
    }

    /// The same, after this many words of 0.
    pub(crate) fn to_aligned_after(&self, before: usize) -> Option<AlignedWords> {
        let mut words = AlignedWords::zeroed(self.words.len().checked_add(before)?)?;
        words.iter_mut().skip(before).zip(&self.words).for_each(|(copy, word)| *copy = word.load(Relaxed));
        fence(Acquire);
        Some(words)
    }

    /// Bits that are set in both, as they are now.
    #[cfg(feature = "std")]
    pub(crate) fn count_common(&self, other: &AtomicBits) -> u64 {
        self.words.iter().zip(&other.words).map(|(word, other)| u64::from((word.load(Relaxed) & other.load(Relaxed)).count_ones())).sum()
    }

    /// The words, once they are no longer shared.
    pub(crate) fn into_words(self) -> Vec<u64> {
        self.words.into_iter().map(|word| word.load(Relaxed)).collect()
    }
}

/// `RUSTFLAGS="--cfg truebloom_loom" cargo test -p truebloom --release --lib loom` tries every
/// order in which the threads can run.
#[cfg(all(test, truebloom_loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// The key's bits: one in each of two words.
    fn insert(bits: &AtomicBits) -> bool {
        bits.set(0, 1) + bits.set(1, 1 << 9) > 0
    }

    fn contains(bits: &AtomicBits) -> bool {
        bits.has(0, 1) && bits.has(1, 1 << 9)
    }

    #[test]
    fn loom_of_two_that_insert_one_key_at_least_one_is_told_new() {
        loom::model(|| {
            let bits = Arc::new(AtomicBits::of(&[0, 0]));
            let other = Arc::clone(&bits);
            let there = thread::spawn(move || insert(&other) && contains(&other));
            let here = insert(&bits);
            assert!(contains(&bits), "a key is there for whoever inserted it");
            assert!(there.join().expect("joined") || here);
            assert!(contains(&bits));
            assert_eq!(Arc::try_unwrap(bits).map(AtomicBits::into_words).unwrap_or_default(), [1, 1 << 9]);
        });
    }

    #[test]
    fn loom_every_bit_of_a_shared_word_is_new_once() {
        loom::model(|| {
            let bits = Arc::new(AtomicBits::of(&[0]));
            let other = Arc::clone(&bits);
            let there = thread::spawn(move || other.set(0, 0b011) + other.set(0, 0b100));
            let here = bits.set(0, 0b110) + bits.set(0, 0b001);
            assert_eq!(there.join().expect("joined") + here, 3);
            assert!(bits.has(0, 0b111));
        });
    }

    #[test]
    fn loom_who_is_told_of_an_insertion_sees_it() {
        loom::model(|| {
            let bits = Arc::new(AtomicBits::of(&[0, 0]));
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

/// Counts one more, and stays at the highest number.
#[inline]
pub(crate) fn count_up(count: &AtomicU64) {
    // Asked first: past the highest number it would be 0 for a moment, and somebody might see it.
    if count.load(Relaxed) != u64::MAX {
        count.fetch_add(1, Relaxed);
    }
}
