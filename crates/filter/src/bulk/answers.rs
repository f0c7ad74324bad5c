//! One bit of answer a key.

use super::BatchAnswers;
use alloc::vec::Vec;
use core::fmt;

/// The answers to many keys, in their order: a bit each.
///
/// ```
/// use truebloom::BloomFilter;
/// let mut seen = BloomFilter::new(1_000, 0.001)?;
/// let new = seen.insert_all(["a", "b", "a"]);
/// assert!(new.iter().eq([true, true, false]));
/// assert_eq!((new.len(), new.count_ones(), new.get(2)), (3, 2, Some(false)));
/// # Ok::<(), truebloom::BuildError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Answers {
    pub(super) words: Vec<u64>,
    pub(super) len: usize,
}

impl Answers {
    /// The number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there were no keys.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The answer to this key; `None` beyond the last.
    pub fn get(&self, key: usize) -> Option<bool> {
        (key < self.len).then(|| self.words.get(key / 64).is_some_and(|word| word >> (key % 64) & 1 == 1))
    }

    /// The number of keys that were answered with true.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The answers in order.
    pub fn iter(&self) -> impl Iterator<Item = bool> {
        (0..self.len).map(|key| self.words[key / 64] >> (key % 64) & 1 == 1)
    }

    /// The answers as words: key i is bit i mod 64 of word i / 64; the bits beyond the last key are 0.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Adds the answers of a batch; all batches but the last are full.
    pub(crate) fn push(&mut self, answers: &BatchAnswers, count: usize) {
        self.words.extend(answers.iter().take(count.div_ceil(64)));
        self.len += count;
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(u8::from)).finish()
    }
}
