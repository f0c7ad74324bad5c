//! Bits stored in words, in any backing.

use crate::arch::AlignedWords;
use crate::backing::{Backing, Owned, Writable};
use crate::error::BuildError;
use crate::word::{Lies, Reads, Word, is_set};
use core::ops::Range;

/// A fixed number of bits in 64-bit words. Bit i is bit i mod 64 of word i / 64. If the words were
/// checked, the unused bits of the last word are known to be 0.
pub(crate) struct Bits<K: Backing = Owned> {
    words: K::Words,
}

/// The number of words that hold this many bits.
pub(crate) fn words_for(bits: u64) -> u64 {
    bits.div_ceil(64)
}

impl<K: Backing> Bits<K>
where
    K::Words: Clone,
{
    pub(crate) fn copied(&self) -> Bits<K> {
        Bits { words: self.words.clone() }
    }
}

impl<K: Backing<Words = AlignedWords>> Bits<K> {
    /// Bits that are all 0. Returns an error if the memory cannot be allocated.
    pub(crate) fn zeroed(bits: u64) -> Result<Bits<K>, BuildError> {
        let refuse = || BuildError::Memory { bytes: words_for(bits).saturating_mul(8) };
        let count = usize::try_from(words_for(bits)).map_err(|_| refuse())?;
        AlignedWords::zeroed(count).map(|words| Bits { words }).ok_or_else(refuse)
    }
}

impl<K: Backing> Bits<K> {
    /// Wraps the words without checking them.
    pub(crate) fn unread(words: K::Words) -> Bits<K> {
        Bits { words }
    }

    /// Wraps the words if their number is right for this many bits, and the unused bits of the last
    /// word are 0.
    pub(crate) fn from_words(words: K::Words, bits: u64) -> Option<Bits<K>> {
        let beyond = match bits % 64 {
            0 => 0,
            used => words.last().map_or(0, |last| last.get() >> used),
        };
        (words.len() as u64 == words_for(bits) && beyond == 0).then_some(Bits { words })
    }

    pub(crate) fn words(&self) -> &K::Words {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut K::Words {
        &mut self.words
    }

    pub(crate) fn into_words(self) -> K::Words {
        self.words
    }

    /// Returns a function that reports whether a bit is set, like [`is_set`]. The address of the
    /// words is loaded only once for all calls of this function.
    #[inline(always)]
    pub(crate) fn getter(&self) -> impl Fn(u64) -> bool {
        let words = &self.words[..];
        move |position| is_set(words, position)
    }

    /// The number of bits that are set in both filters, which must have the same length.
    pub(crate) fn count_common(&self, other: &Bits<K>) -> u64 {
        count_pairs(&self.words, &other.words, |word, other| word & other)
    }

    pub(crate) fn count_ones(&self) -> u64 {
        count_ones(&self.words)
    }
}

impl<K: Writable> Bits<K> {
    /// Sets a bit; returns whether it was 0.
    #[inline]
    pub(crate) fn set(&mut self, position: u64) -> bool {
        set(&mut self.words, position)
    }

    /// Returns a function that sets bits, like [`set`](Self::set). The address of the words is
    /// loaded only once, and not again after every write.
    #[inline(always)]
    pub(crate) fn setter(&mut self) -> impl FnMut(u64) -> bool {
        let words = &mut self.words[..];
        move |position| set(words, position)
    }

    pub(crate) fn unset(&mut self, position: u64) {
        if let Some(word) = self.words.get_mut((position >> 6) as usize) {
            *word = K::Word::of(word.get() & !(1 << (position & 63)));
        }
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(K::Word::of(0));
    }
}

impl<K: Backing> PartialEq for Bits<K> {
    fn eq(&self, other: &Bits<K>) -> bool {
        self.words[..] == other.words[..]
    }
}

/// The number of set bits in these words.
pub(crate) fn count_ones<W: Reads>(words: &[W]) -> u64 {
    words.iter().map(|word| u64::from(word.read().count_ones())).sum()
}

/// Applies `combine` to each pair of words, and counts the set bits of the results. Both slices
/// must have the same length.
pub(crate) fn count_pairs<V: Reads, W: Reads>(words: &[V], other: &[W], combine: impl Fn(u64, u64) -> u64) -> u64 {
    words.iter().zip(other).map(|(word, other)| u64::from(combine(word.read(), other.read()).count_ones())).sum()
}

/// The number of set bits in a range of positions. Each word is read once, so that the result never
/// exceeds the length of the range, even if other threads set bits meanwhile.
pub(crate) fn count_ones_in<W: Reads>(words: &[W], range: Range<u64>) -> u64 {
    let (first, last) = ((range.start >> 6) as usize, (range.end >> 6) as usize);
    let read = |word: usize| words.get(word).map_or(0, Reads::read);
    let (from, below) = (u64::MAX << (range.start & 63), (1 << (range.end & 63)) - 1);
    if first == last {
        return u64::from((read(first) & from & below).count_ones());
    }
    let whole = words.get(first + 1..last).unwrap_or_default();
    u64::from((read(first) & from).count_ones()) + count_ones(whole) + u64::from((read(last) & below).count_ones())
}

/// Replaces each word with the result of `combine` for this word and the other slice's word at the
/// same index. Both slices must have the same length.
pub(crate) fn combine<V: Word, W: Word>(words: &mut [V], other: &[W], combine: impl Fn(u64, u64) -> u64) {
    words.iter_mut().zip(other).for_each(|(word, other)| *word = V::of(combine(word.get(), other.get())));
}

#[inline(always)]
fn set<W: Word>(words: &mut [W], position: u64) -> bool {
    let mask = 1 << (position & 63);
    let Some(word) = words.get_mut((position >> 6) as usize) else { return false };
    let was = word.get();
    *word = W::of(was | mask);
    was & mask == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backing::View;

    #[test]
    fn bits_are_set_once_and_counted() {
        let mut bits: Bits = Bits::zeroed(130).unwrap_or_else(|error| panic!("{error}"));
        for position in [0, 63, 64, 129] {
            assert!(!bits.getter()(position) && bits.set(position) && !bits.set(position) && bits.getter()(position));
        }
        assert_eq!(bits.count_ones(), 4);
        for (range, ones) in [(0..130, 4), (0..0, 0), (0..1, 1), (1..64, 1), (63..65, 2), (64..64, 0), (65..129, 0), (128..130, 1)] {
            assert_eq!(count_ones_in(&bits.words[..], range.clone()), ones, "{range:?}");
        }
        assert!(!bits.getter()(192) && !bits.set(192) && !bits.getter()(u64::MAX));
        bits.clear();
        assert_eq!(bits.count_ones(), 0);
    }

    #[test]
    fn words_beyond_the_length_are_refused() {
        let fits = |words: Vec<u64>, bits| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let viewed = Bits::<View<&[u8]>>::from_words(crate::backing::InBytes::new(&bytes, 0, bytes.len()), bits).is_some();
            let owned = AlignedWords::from_vec(words).and_then(|words| Bits::<Owned>::from_words(words, bits)).is_some();
            assert_eq!(viewed, owned);
            owned
        };
        assert!(fits(vec![u64::MAX], 64));
        assert!(fits(vec![1 << 62], 63));
        assert!(!fits(vec![1 << 63], 63));
        assert!(!fits(vec![0, 0], 64));
        assert!(!fits(vec![], 1));
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        assert!(matches!(Bits::<Owned>::zeroed(1 << 62), Err(BuildError::Memory { bytes }) if bytes == 1 << 59));
    }
}
