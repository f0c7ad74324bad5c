//! The answers of a batch, one bit per key.

use super::BatchAnswers;
use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;
use core::mem;
use core::ops::{Index, Range};

/// The answers for a batch of keys, in the order of the keys. Each answer takes one bit.
///
/// ```
/// use truebloom::BloomFilter;
/// let mut seen = BloomFilter::new(1_000, 0.001)?;
/// let new = seen.insert_all(["a", "b", "a"]);
/// assert!(new.iter().eq([true, true, false]));
/// assert_eq!((new.len(), new.count_ones(), new.get(2), new[0]), (3, 2, Some(false), true));
/// for is_contained in seen.contains_all(["a", "b"]) {
///     assert!(is_contained);
/// }
/// # Ok::<(), truebloom::BuildError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Answers {
    pub(super) words: Vec<u64>,
    pub(super) len: usize,
}

impl Answers {
    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there were no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The answer for the key at this index, or `None` if there is no such key.
    #[must_use]
    pub fn get(&self, key: usize) -> Option<bool> {
        (key < self.len).then(|| answer(&self.words, key))
    }

    /// The number of keys for which the answer is true.
    #[must_use]
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The answers in order.
    pub fn iter(&self) -> AnswersIter<&[u64]> {
        AnswersIter { words: &self.words, left: 0..self.len }
    }

    /// The answers as 64-bit words. The answer for key i is bit `i % 64` of word `i / 64`. The bits
    /// beyond the last key are 0.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Appends answers one by one.
    pub(crate) fn extend(&mut self, answers: impl IntoIterator<Item = bool>) {
        // The last word is written only when it is full, not for every answer.
        let mut word = if self.len.is_multiple_of(64) { 0 } else { self.words.pop().unwrap_or(0) };
        for answer in answers {
            word |= u64::from(answer) << (self.len % 64);
            self.len += 1;
            if self.len.is_multiple_of(64) {
                self.words.push(mem::take(&mut word));
            }
        }
        if !self.len.is_multiple_of(64) {
            self.words.push(word);
        }
    }

    /// Appends more answers. The answers that are already present must fill whole words.
    #[cfg(feature = "rayon")]
    pub(crate) fn append(&mut self, after: Answers) {
        self.words.extend(after.words);
        self.len += after.len;
    }

    /// Appends the answers for up to 64 keys. The first key's answer is bit 0.
    pub(crate) fn push_bits(&mut self, bits: u64, count: usize) {
        if count == 0 {
            return;
        }
        let used = self.len % 64;
        match self.words.last_mut().filter(|_| used > 0) {
            Some(last) => *last |= bits << used,
            None => self.words.push(bits),
        }
        if used > 0 && used + count > 64 {
            self.words.push(bits >> (64 - used));
        }
        self.len += count;
    }

    /// Appends the answers of a batch. All batches except the last must be full.
    pub(crate) fn push(&mut self, answers: &BatchAnswers, count: usize) {
        self.words.extend(answers.iter().take(count.div_ceil(64)));
        self.len += count;
    }
}

fn answer(words: &[u64], key: usize) -> bool {
    words.get(key / 64).is_some_and(|word| word >> (key % 64) & 1 == 1)
}

impl Index<usize> for Answers {
    type Output = bool;

    /// The answer for the key at this index.
    ///
    /// # Panics
    /// Panics if the index is not below the number of keys.
    fn index(&self, key: usize) -> &bool {
        assert!(key < self.len, "the number of answers is {}, but the index of the key is {key}", self.len);
        if answer(&self.words, key) { &true } else { &false }
    }
}

/// A double-ended iterator over [`Answers`]: see [`Answers::iter`].
#[derive(Clone, Debug)]
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct AnswersIter<W> {
    words: W,
    left: Range<usize>,
}

impl<W: AsRef<[u64]>> Iterator for AnswersIter<W> {
    type Item = bool;

    fn next(&mut self) -> Option<bool> {
        self.left.next().map(|key| answer(self.words.as_ref(), key))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }

    fn nth(&mut self, skipped: usize) -> Option<bool> {
        self.left.nth(skipped).map(|key| answer(self.words.as_ref(), key))
    }
}

impl<W: AsRef<[u64]>> DoubleEndedIterator for AnswersIter<W> {
    fn next_back(&mut self) -> Option<bool> {
        self.left.next_back().map(|key| answer(self.words.as_ref(), key))
    }
}

impl<W: AsRef<[u64]>> ExactSizeIterator for AnswersIter<W> {}

impl<W: AsRef<[u64]>> FusedIterator for AnswersIter<W> {}

impl<'a> IntoIterator for &'a Answers {
    type Item = bool;
    type IntoIter = AnswersIter<&'a [u64]>;

    fn into_iter(self) -> AnswersIter<&'a [u64]> {
        self.iter()
    }
}

impl IntoIterator for Answers {
    type Item = bool;
    type IntoIter = AnswersIter<Vec<u64>>;

    fn into_iter(self) -> AnswersIter<Vec<u64>> {
        AnswersIter { words: self.words, left: 0..self.len }
    }
}

impl FromIterator<bool> for Answers {
    /// Collects the answers that an iterator returns, one answer per key.
    fn from_iter<I: IntoIterator<Item = bool>>(answers: I) -> Answers {
        let mut all = Answers::default();
        all.extend(answers);
        all
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(u8::from)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn answers_go_both_ways_and_know_how_many_are_left() {
        let answers = Answers { words: vec![1 << 63 | 1, 0b10], len: 67 };
        let expected: Vec<bool> = (0..67).map(|key| [0, 63, 65].contains(&key)).collect();
        assert!(answers.iter().eq(expected.iter().copied()) && answers.iter().rev().eq(expected.iter().rev().copied()));
        assert_eq!(expected.iter().copied().collect::<Answers>(), answers);
        assert!(answers.clone().into_iter().eq(&answers) && (0..67).all(|key| answers[key] == expected[key]));
        let mut left = answers.iter();
        assert_eq!((left.nth(62), left.next(), left.next_back(), left.len()), (Some(false), Some(true), Some(false), 2));
        assert_eq!((left.next(), left.next(), left.next(), left.next_back()), (Some(false), Some(true), None, None));
    }

    #[test]
    #[should_panic(expected = "the number of answers is 1, but the index of the key is 1")]
    fn beyond_the_last_is_none() {
        let _ = Answers { words: vec![1], len: 1 }[1];
    }
}
