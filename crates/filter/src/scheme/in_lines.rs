//! Scheme 12, the blocked layout: a key has k independent positions in one line.

use super::{Scheme, SchemeId, WordStream, digit};
use crate::arch::{self, Below, LINE_BITS, Level, Line, PROBES_A_WORD};
use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::word::Word;
use alloc::boxed::Box;
use truebloom_math::{BLOCK_PROBES, Law, law};

/// The scheme of blocked filters: all probes of a key are in one block of 512 bits, a cache line.
///
/// The hash of a key is expanded into a stream of 64-bit words. The first word selects the block.
/// Some words are skipped at this step, so that all blocks are equally likely. Each of the
/// following words gives seven positions. Each position takes 9 bits of the word, beginning with
/// the lowest bits. If the words are uniform and independent, the positions are also uniform and
/// independent.
///
/// Two positions of a key may be equal. If all positions of a key were distinct, a filter with a
/// rate of 1% would need 0.3% fewer bits. But every insertion and every successful lookup would
/// then need an additional check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InLines {
    pub(crate) law: law::Blocked,
    /// Draws the key's line, as a number below the number of lines.
    draws: Below,
    probes: u32,
}

impl Scheme for InLines {
    const ID: SchemeId = SchemeId::Blocked;

    /// Returns an error if `bits` is not a multiple of 512 from 512 to 2^62, or if `probes` is not
    /// from 1 to 64.
    fn new(bits: u64, probes: u32) -> Result<InLines, BuildError> {
        if !(1..=BLOCK_PROBES).contains(&probes) {
            return Err(BuildError::BlockedProbes { found: probes });
        }
        // This checks the bits, so that the remainder below does not divide by zero.
        let law = law::Blocked::new(bits, LINE_BITS, law::InBlock::Independent, probes)?;
        Ok(InLines { law, draws: Below::new(bits / LINE_BITS), probes })
    }

    #[inline(always)]
    fn bits(&self) -> u64 {
        self.lines() * LINE_BITS
    }

    #[inline(always)]
    fn probes(&self) -> u32 {
        self.probes
    }

    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
        let (line, mut stream) = self.line(hash);
        let (mut word, mut left) = (0, 0);
        (0..self.probes).map(move |_| {
            if left == 0 {
                (word, left) = (stream.next(), PROBES_A_WORD);
            }
            let position = word % LINE_BITS;
            (word, left) = (word / LINE_BITS, left - 1);
            line * LINE_BITS + position
        })
    }

    fn law(&self) -> Box<dyn Law> {
        Box::new(self.law)
    }
}

impl InLines {
    #[inline(always)]
    pub(crate) fn lines(&self) -> u64 {
        self.draws.bound
    }

    #[inline(always)]
    pub(crate) fn draws(&self) -> Below {
        self.draws
    }

    /// The number of words that give a key's positions.
    #[inline(always)]
    pub(crate) fn words(&self) -> usize {
        self.probes.div_ceil(PROBES_A_WORD) as usize
    }

    /// The key's line, and the stream that gives its positions.
    #[inline(always)]
    pub(crate) fn line(&self, hash: KeyHash) -> (u64, WordStream) {
        let mut words = WordStream::from_halves(hash);
        (self.draws.draw(&mut words), words)
    }

    /// The key's line, and the first word that gives its positions. The result is the same as from
    /// [`line`](Self::line), but no stream is made if both words are halves of the hash.
    #[inline(always)]
    pub(crate) fn line_and_word(&self, hash: KeyHash) -> (u64, u64) {
        let (line, rest) = digit(hash.h1, self.lines());
        if self.draws.skips_after(rest) { self.line_and_word_in_order(hash) } else { (line, hash.h2) }
    }

    #[cold]
    fn line_and_word_in_order(&self, hash: KeyHash) -> (u64, u64) {
        let (line, mut words) = self.line(hash);
        (line, words.next())
    }

    /// Whether all positions of a key are set in its line. No key has a line beyond the end. For
    /// such a line, the result would be false.
    #[inline(always)]
    pub(crate) fn contains<W: Word>(&self, level: Level, lines: &[Line<W>], hash: KeyHash) -> bool {
        let (line, word) = self.line_and_word(hash);
        lines.get(line as usize).is_some_and(|line| self.is_in(level, line, word, hash))
    }

    /// Whether all positions of a key are set in its line, given the first word that gives its
    /// positions.
    #[inline(always)]
    pub(crate) fn is_in<W: Word>(&self, level: Level, line: &Line<W>, word: u64, hash: KeyHash) -> bool {
        // In most filters, one word gives enough positions for all probes.
        if self.probes <= PROBES_A_WORD {
            return arch::contains(level, line, word, self.probes);
        }
        arch::contains(level, line, word, PROBES_A_WORD) && self.contains_later(level, line, hash)
    }

    /// The stream of the words that follow the first word with positions.
    #[inline(always)]
    fn later_words(&self, hash: KeyHash) -> WordStream {
        if self.draws.skips(hash.h1) {
            let (_, mut words) = self.line(hash);
            words.next();
            return words;
        }
        WordStream::new(hash)
    }

    /// Whether all positions of a key are set, apart from those in the first word.
    #[inline(never)]
    fn contains_later<W: Word>(&self, level: Level, line: &Line<W>, hash: KeyHash) -> bool {
        let mut words = self.later_words(hash);
        arch::all_set(|word, probes| arch::contains(level, line, word, probes), || words.next(), self.probes - PROBES_A_WORD)
    }

    /// Sets the positions of a key in its line; returns true if at least one of these bits was 0.
    /// No key has a line beyond the end. For such a line, nothing would change.
    #[inline(always)]
    pub(crate) fn set<W: Word>(&self, level: Level, lines: &mut [Line<W>], hash: KeyHash) -> bool {
        let (line, word) = self.line_and_word(hash);
        lines.get_mut(line as usize).is_some_and(|line| self.set_in(level, line, word, hash))
    }

    /// Sets the positions of a key in its line, given the first word that gives its positions.
    /// Returns true if at least one of these bits was 0.
    #[inline(always)]
    pub(crate) fn set_in<W: Word>(&self, level: Level, line: &mut Line<W>, word: u64, hash: KeyHash) -> bool {
        if self.probes <= PROBES_A_WORD {
            return arch::set(level, line, word, 0, self.probes);
        }
        self.set_all(level, line, word, hash)
    }

    /// Sets the positions of a key that takes more than one word.
    #[inline(never)]
    fn set_all<W: Word>(&self, level: Level, line: &mut Line<W>, word: u64, hash: KeyHash) -> bool {
        let mut words = self.later_words(hash);
        let now = self.probes.min(2 * PROBES_A_WORD);
        let new = arch::set(level, line, word, words.next(), now);
        let set = |line: &mut Line<W>, first, second, probes| arch::set(level, line, first, second, probes);
        new | arch::insert(set, line, || words.next(), self.probes - now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_and_probes_in_range() {
        for (bits, probes) in [(0, 1), (511, 1), (513, 1), (512, 0), (512, BLOCK_PROBES + 1), (1 << 63, 7)] {
            assert!(InLines::new(bits, probes).is_err(), "{bits} {probes}");
        }
        assert!(InLines::new(1 << 62, BLOCK_PROBES).is_ok());
    }

    /// The fast path sets and finds exactly the positions that the scheme lists. The test includes
    /// hashes whose first word is skipped.
    #[test]
    fn lines_have_the_positions_of_the_stream() {
        for probes in [1, 6, 7, 8, 14, 15, 20, BLOCK_PROBES] {
            let scheme = InLines::new(3 * LINE_BITS, probes).expect("in range");
            for number in 0..200u64 {
                let h1 = if number % 2 == 0 { 0 } else { number.wrapping_mul(0x9e37_79b9_7f4a_7c15) };
                let hash = KeyHash { h1, h2: number.wrapping_mul(0xd134_2543_de82_ef95) | 1 };
                assert_eq!(scheme.draws.skips(h1), h1 == 0);
                let mut expected = [[0u64; 8]; 3];
                for position in scheme.positions(hash) {
                    expected[(position / LINE_BITS) as usize][(position % LINE_BITS / 64) as usize] |= 1 << (position % 64);
                }
                for level in [Level::Scalar, Level::detect()] {
                    let mut lines = [[0u64; 8]; 3];
                    assert!(scheme.set(level, &mut lines, hash) && !scheme.set(level, &mut lines, hash));
                    assert!(lines == expected && scheme.contains(level, &lines, hash), "{probes} probes of {hash:?}");
                }
            }
        }
    }
}
