//! Bits that the filter owns.

use crate::arch::AlignedWords;
use crate::error::BuildError;
use alloc::vec::Vec;
use core::ops::Range;

/// A fixed number of bits in 64-bit words; bit i is bit i mod 64 of word i / 64. The bits of the last word beyond the length are 0.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    words: AlignedWords,
}

/// AlignedWords that hold so many bits.
pub(crate) fn words_for(bits: u64) -> u64 {
    bits.div_ceil(64)
}

impl Bits {
    /// All 0. An error if the memory is not to be had.
    pub(crate) fn zeroed(bits: u64) -> Result<Bits, BuildError> {
        let refuse = || BuildError::Memory { bytes: words_for(bits).saturating_mul(8) };
        let count = usize::try_from(words_for(bits)).map_err(|_| refuse())?;
        AlignedWords::zeroed(count).map(|words| Bits { words }).ok_or_else(refuse)
    }

    /// The words as they are, if they are those of so many bits: as many as needed, and 0 beyond the last bit.
    pub(crate) fn from_words(words: Vec<u64>, bits: u64) -> Option<Bits> {
        let beyond = match bits % 64 {
            0 => 0,
            used => words.last().map_or(0, |last| last >> used),
        };
        let fits = words.len() as u64 == words_for(bits) && beyond == 0;
        fits.then(|| AlignedWords::from_vec(words)).flatten().map(|words| Bits { words })
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Positions beyond the end are 0. None come from a scheme; `get` on the vector instead of an index only spares the code for a panic.
    #[inline]
    pub(crate) fn get(&self, position: u64) -> bool {
        self.words.get((position >> 6) as usize).is_some_and(|word| word >> (position & 63) & 1 == 1)
    }

    /// Sets a bit and says whether it was 0.
    #[inline]
    pub(crate) fn set(&mut self, position: u64) -> bool {
        set(&mut self.words, position)
    }

    /// What sets bits, as [`set`](Self::set) does, one after the other: where the words are is looked up once, not after everything that is written.
    #[inline(always)]
    pub(crate) fn setter(&mut self) -> impl FnMut(u64) -> bool {
        let words = &mut self.words[..];
        move |position| set(words, position)
    }

    pub(crate) fn unset(&mut self, position: u64) {
        if let Some(word) = self.words.get_mut((position >> 6) as usize) {
            *word &= !(1 << (position & 63));
        }
    }

    /// Bits that are set in both, of vectors of one length.
    pub(crate) fn count_common(&self, other: &Bits) -> u64 {
        self.words.iter().zip(other.words.iter()).map(|(word, other)| u64::from((word & other).count_ones())).sum()
    }

    pub(crate) fn count_ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The set bits of a range within the length.
    pub(crate) fn count_ones_in(&self, range: Range<u64>) -> u64 {
        let before = |end: u64| -> u64 {
            let (whole, rest) = ((end >> 6) as usize, end & 63);
            let words: u64 = self.words.iter().take(whole).skip((range.start >> 6) as usize).map(|word| u64::from(word.count_ones())).sum();
            words + self.words.get(whole).map_or(0, |word| u64::from((word & ((1 << rest) - 1)).count_ones()))
        };
        before(range.end) - before(range.start)
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Each word becomes what `combine` makes of it and of the other's, of vectors of one length.
    pub(crate) fn combine(&mut self, other: &Bits, combine: impl Fn(u64, u64) -> u64) {
        self.words.iter_mut().zip(other.words.iter()).for_each(|(word, other)| *word = combine(*word, *other));
    }
}

#[inline(always)]
fn set(words: &mut [u64], position: u64) -> bool {
    let mask = 1 << (position & 63);
    let Some(word) = words.get_mut((position >> 6) as usize) else { return false };
    let was_zero = *word & mask == 0;
    *word |= mask;
    was_zero
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_set_once_and_counted() {
        let mut bits = Bits::zeroed(130).unwrap_or_else(|error| panic!("{error}"));
        for position in [0, 63, 64, 129] {
            assert!(!bits.get(position) && bits.set(position) && !bits.set(position) && bits.get(position));
        }
        assert_eq!(bits.count_ones(), 4);
        for (range, ones) in [(0..130, 4), (0..0, 0), (0..1, 1), (1..64, 1), (63..65, 2), (64..64, 0), (65..129, 0), (128..130, 1)] {
            assert_eq!(bits.count_ones_in(range.clone()), ones, "{range:?}");
        }
        assert!(!bits.get(192) && !bits.set(192) && !bits.get(u64::MAX));
        bits.clear();
        assert_eq!(bits.count_ones(), 0);
    }

    #[test]
    fn words_beyond_the_length_are_refused() {
        assert!(Bits::from_words(vec![u64::MAX], 64).is_some());
        assert!(Bits::from_words(vec![1 << 62], 63).is_some());
        assert!(Bits::from_words(vec![1 << 63], 63).is_none());
        assert!(Bits::from_words(vec![0, 0], 64).is_none());
        assert!(Bits::from_words(vec![], 1).is_none());
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        assert!(matches!(Bits::zeroed(1 << 62), Err(BuildError::Memory { bytes }) if bytes == 1 << 59));
    }
}
