//! Bits that many threads set and read at the same time.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words of bits that are only ever set.
///
/// Relaxed is enough: every word is a counter of its own that only grows, nothing else is published through it, and who has been told of an insertion by other
/// means (a join, a channel, a lock) sees it, because that orders the two.
pub(crate) struct AtomicBits {
    words: Vec<AtomicU64>,
    offered: AtomicU64,
}

impl AtomicBits {
    pub(crate) fn new(words: &[u64], offered: u64) -> AtomicBits {
        AtomicBits { words: words.iter().map(|word| AtomicU64::new(*word)).collect(), offered: AtomicU64::new(offered) }
    }

    /// Sets bits of one word, and says whether any was 0: of each bit, to exactly one of all callers. Words beyond the end are not there; no scheme has positions in them.
    #[inline]
    pub(crate) fn set(&self, word: usize, mask: u64) -> bool {
        let Some(word) = self.words.get(word) else { return false };
        // A read first, as lines that are only read can stay with every processor.
        word.load(Relaxed) & mask != mask && word.fetch_or(mask, Relaxed) & mask != mask
    }

    /// Whether all these bits of one word are set.
    #[inline]
    pub(crate) fn has(&self, word: usize, mask: u64) -> bool {
        self.words.get(word).is_some_and(|word| word.load(Relaxed) & mask == mask)
    }

    /// Counts an offer; stays at the highest number.
    #[inline]
    pub(crate) fn offer(&self) {
        if self.offered.fetch_add(1, Relaxed) == u64::MAX {
            self.offered.store(u64::MAX, Relaxed);
        }
    }

    /// The words and the number of offers, once nobody else has them any more.
    pub(crate) fn into_words(self) -> (Vec<u64>, u64) {
        (self.words.into_iter().map(|word| word.load(Relaxed)).collect(), self.offered.load(Relaxed))
    }
}

/// `RUSTFLAGS="--cfg loom" cargo test -p truebloom --release --lib loom` tries every order in which the threads can run.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// The key's bits: one in each of two words.
    fn insert(bits: &AtomicBits) -> bool {
        bits.offer();
        // Not lazily: every bit is set whatever the others were.
        bits.set(0, 1) | bits.set(1, 1 << 9)
    }

    fn contains(bits: &AtomicBits) -> bool {
        bits.has(0, 1) && bits.has(1, 1 << 9)
    }

    #[test]
    fn loom_of_two_that_insert_one_key_at_least_one_is_told_new() {
        loom::model(|| {
            let bits = Arc::new(AtomicBits::new(&[0, 0], 0));
            let other = Arc::clone(&bits);
            let there = thread::spawn(move || insert(&other) && contains(&other));
            let here = insert(&bits);
            assert!(contains(&bits), "a key is there for whoever inserted it");
            assert!(there.join().expect("joined") || here);
            assert!(contains(&bits));
            let (words, offered) = Arc::try_unwrap(bits).map(AtomicBits::into_words).unwrap_or_default();
            assert_eq!((words, offered), (vec![1, 1 << 9], 2));
        });
    }

    #[test]
    fn loom_no_bit_of_a_shared_word_is_lost_or_new_twice() {
        loom::model(|| {
            let bits = Arc::new(AtomicBits::new(&[0], 0));
            let other = Arc::clone(&bits);
            let there = thread::spawn(move || [other.set(0, 0b011), other.set(0, 0b100)]);
            let here = [bits.set(0, 0b110), bits.set(0, 0b001)];
            let told = there.join().expect("joined").into_iter().chain(here).filter(|new| *new).count();
            assert!((2..=3).contains(&told), "three bits, set by two masks of two or one by one: {told}");
            assert!(bits.has(0, 0b111));
        });
    }

    #[test]
    fn loom_who_is_told_of_an_insertion_sees_it() {
        loom::model(|| {
            let bits = Arc::new(AtomicBits::new(&[0, 0], 0));
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
