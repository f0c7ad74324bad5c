//! Schemes 12 and 10: a block, and k independent positions in it.

use super::words::draw;
use super::{Words, digit};
use crate::arch::{self, LINE_BITS, Level, Line};
use crate::error::BuildError;
use crate::hash::KeyHash;
use truebloom_math::law;

/// Bits of a word that number a position in a block of 512.
const POSITION_BITS: u32 = 9;

/// Positions that one word of the stream gives: seven times nine bits. The 64th is not used.
pub(crate) const PROBES_A_WORD: u32 = 64 / POSITION_BITS;

/// The most probes of a key in one block: ten words. At a rate of 1e-6 sixteen are best, and blocks are for rates far above that.
pub(crate) const MAX_PROBES: u32 = 64;

impl InLinesId {
    pub(crate) fn name(self) -> &'static str {
        match self {
            InLinesId::InLines => "blocked",
            InLinesId::First => "blocked-1",
        }
    }
}

/// All probes of a key in one block of 512 bits, a cache line.
///
/// The first word of the stream (skips included) draws the block, the next words give seven positions each, from the low bits up: exactly uniform and independent if
/// the words are, so that the only floor is that of equal hashes. Positions may repeat: distinct ones would save 0.3% of the bits at 1% and cost a check
/// on every hit and every insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InLines {
    pub(crate) law: law::Blocked,
    lines: u64,
    probes: u32,
    /// 2^64 mod lines: words whose low half is below it are skipped.
    threshold: u64,
    /// All words from the walk: scheme 10.
    is_first: bool,
}

/// How lines and positions are drawn: the number of the scheme in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum InLinesId {
    /// From the halves of the hash, and then the walk.
    InLines = 12,
    /// From the walk alone: how drafts of this library wrote blocked filters. Read and merged, and not made anew.
    First = 10,
}

impl InLines {
    /// For a multiple of 512 bits up to 2^62 and 1 to [`MAX_PROBES`] probes; an error outside of these.
    pub(crate) fn new(bits: u64, probes: u32) -> Result<InLines, BuildError> {
        InLines::with_id(InLinesId::InLines, bits, probes)
    }

    /// As [`new`](Self::new), of the scheme of this number.
    pub(crate) fn with_id(id: InLinesId, bits: u64, probes: u32) -> Result<InLines, BuildError> {
        if !(1..=MAX_PROBES).contains(&probes) {
            return Err(BuildError::BlockedProbes { found: probes });
        }
        // Checks the bits, so that the remainder below does not divide by zero.
        let law = law::Blocked::new(bits, LINE_BITS, law::InBlock::Independent, probes)?;
        let lines = bits / LINE_BITS;
        Ok(InLines { law, lines, probes, threshold: lines.wrapping_neg() % lines, is_first: id == InLinesId::First })
    }

    #[inline(always)]
    pub(crate) fn probes(&self) -> u32 {
        self.probes
    }

    pub(crate) fn id(&self) -> InLinesId {
        if self.is_first { InLinesId::First } else { InLinesId::InLines }
    }

    /// As [`Scheme::takes_halves`](super::Scheme::takes_halves).
    pub(crate) fn takes_halves(&self) -> bool {
        !self.is_first
    }

    #[inline(always)]
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    #[inline(always)]
    pub(crate) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Words that the positions take.
    #[inline(always)]
    pub(crate) fn words(&self) -> usize {
        self.probes.div_ceil(PROBES_A_WORD) as usize
    }

    /// The number in the stream of the word that draws the line, as long as none is skipped; those of the positions follow.
    #[inline(always)]
    pub(crate) fn first_word(&self) -> u64 {
        if self.is_first { 2 } else { 0 }
    }

    /// The key's line, and the stream from which its positions come.
    #[inline(always)]
    pub(crate) fn line(&self, hash: KeyHash) -> (u64, Words) {
        let mut words = if self.is_first { Words::new(hash) } else { Words::from_halves(hash) };
        (draw(&mut words, self.lines, self.threshold), words)
    }

    /// The key's line, and the first word of its positions: what [`line`](Self::line) gives, without a stream for what is there with the hash.
    #[inline(always)]
    pub(crate) fn line_and_word(&self, hash: KeyHash) -> (u64, u64) {
        let (line, rest) = digit(hash.h1, self.lines);
        if self.is_first | (rest < self.threshold) { self.line_and_word_in_order(hash) } else { (line, hash.h2) }
    }

    #[cold]
    fn line_and_word_in_order(&self, hash: KeyHash) -> (u64, u64) {
        let (line, mut words) = self.line(hash);
        (line, words.next())
    }

    /// Whether all positions of a key are set in its line. Lines beyond the end contain nothing; none is drawn.
    #[inline(always)]
    pub(crate) fn contains(&self, level: Level, lines: &[Line], hash: KeyHash) -> bool {
        let (line, word) = self.line_and_word(hash);
        lines.get(line as usize).is_some_and(|line| self.is_in(level, line, word, hash))
    }

    /// Whether all positions of a key are set in its line; with the first word of its positions.
    #[inline(always)]
    pub(crate) fn is_in(&self, level: Level, line: &Line, word: u64, hash: KeyHash) -> bool {
        // Most filters have no more probes than one word gives.
        if self.probes <= PROBES_A_WORD {
            return arch::contains(level, line, word, self.probes);
        }
        arch::contains(level, line, word, PROBES_A_WORD) && self.contains_later(level, line, hash)
    }

    /// The words after the first that gives positions.
    #[inline(always)]
    fn later_words(&self, hash: KeyHash) -> Words {
        if self.is_first | (digit(hash.h1, self.lines).1 < self.threshold) {
            let (_, mut words) = self.line(hash);
            words.next();
            return words;
        }
        Words::new(hash)
    }

    /// Whether all positions but those of the first word are set.
    #[inline(never)]
    fn contains_later(&self, level: Level, line: &Line, hash: KeyHash) -> bool {
        let mut words = self.later_words(hash);
        arch::all_set(|word, probes| arch::contains(level, line, word, probes), || words.next(), self.probes - PROBES_A_WORD)
    }

    /// Sets the positions of a key in its line, and says whether any was 0. Lines beyond the end take nothing; none is drawn.
    #[inline(always)]
    pub(crate) fn set(&self, level: Level, lines: &mut [Line], hash: KeyHash) -> bool {
        let (line, word) = self.line_and_word(hash);
        lines.get_mut(line as usize).is_some_and(|line| self.set_in(level, line, word, hash))
    }

    /// Sets the positions of a key in its line, and says whether any was 0; with the first word of its positions.
    #[inline(always)]
    pub(crate) fn set_in(&self, level: Level, line: &mut Line, word: u64, hash: KeyHash) -> bool {
        let new = arch::set(level, line, word, self.probes.min(PROBES_A_WORD));
        if self.probes <= PROBES_A_WORD { new } else { new | self.set_later(level, line, hash) }
    }

    /// Sets all positions but those of the first word.
    #[inline(never)]
    fn set_later(&self, level: Level, line: &mut Line, hash: KeyHash) -> bool {
        let mut words = self.later_words(hash);
        arch::insert(|line, word, probes| arch::set(level, line, word, probes), line, || words.next(), self.probes - PROBES_A_WORD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_and_probes_in_range() {
        for (bits, probes) in [(0, 1), (511, 1), (513, 1), (512, 0), (512, MAX_PROBES + 1), (1 << 63, 7)] {
            assert!(InLines::new(bits, probes).is_err(), "{bits} {probes}");
        }
        assert!(InLines::new(1 << 62, MAX_PROBES).is_ok());
    }
}
