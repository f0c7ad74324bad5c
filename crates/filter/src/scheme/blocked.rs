//! Scheme 10: a block, and k independent positions in it.

use super::words::{Words, draw};
use crate::arch::LINE_BITS;
use crate::error::BuildError;
use crate::hash::KeyHash;
use truebloom_math::law;

/// Bits of a word that number a position in a block of 512.
const POSITION_BITS: u32 = 9;

/// Positions that one word of the stream gives: seven times nine bits. The 64th is not used.
pub(crate) const PROBES_A_WORD: u32 = 64 / POSITION_BITS;

/// The most probes of a key in one block: ten words. At a rate of 1e-6 sixteen are best, and blocks are for rates far above that.
pub(crate) const MAX_PROBES: u32 = 64;

/// Its number in files.
pub(crate) const ID: u16 = 10;

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
}

impl InLines {
    /// For a multiple of 512 bits up to 2^62 and 1 to [`MAX_PROBES`] probes; an error outside of these.
    pub(crate) fn new(bits: u64, probes: u32) -> Result<InLines, BuildError> {
        if !(1..=MAX_PROBES).contains(&probes) {
            return Err(BuildError::BlockedProbes { found: probes });
        }
        // Checks the bits, so that the remainder below does not divide by zero.
        let law = law::Blocked::new(bits, LINE_BITS, law::InBlock::Independent, probes)?;
        let lines = bits / LINE_BITS;
        Ok(InLines { law, lines, probes, threshold: lines.wrapping_neg() % lines })
    }

    #[inline(always)]
    pub(crate) fn probes(&self) -> u32 {
        self.probes
    }

    /// What a line is drawn by.
    #[inline(always)]
    pub(crate) fn lines_and_threshold(&self) -> (u64, u64) {
        (self.lines, self.threshold)
    }

    /// The key's line, and the stream from which its positions come.
    #[inline(always)]
    pub(crate) fn line(&self, hash: KeyHash) -> (u64, Words) {
        let mut words = Words::new(hash);
        (draw(&mut words, self.lines, self.threshold), words)
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
