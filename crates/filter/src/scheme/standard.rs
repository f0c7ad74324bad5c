//! Scheme 1: k independent positions from a stream of mixed words.

use super::words::{Words, draw};
use super::{Scheme, SchemeId, check_probes};
use crate::error::BuildError;
use crate::hash::KeyHash;
use truebloom_math::{Law, law};

/// k independent positions, repeats allowed: exactly uniform over the bits if the words are uniform, whatever the number of bits.
///
/// Double hashing (`h1 + i h2 mod m`) would be a few instructions shorter, but puts a floor near 6n/m^2 under the rate that the law of the standard filter
/// does not have; docs/DESIGN.md has the other schemes that were rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standard {
    law: law::Standard,
    bits: u64,
    probes: u32,
    /// 2^64 mod bits: words whose low half is below it are skipped. A division, so done once.
    threshold: u64,
}

impl Scheme for Standard {
    fn new(bits: u64, probes: u32) -> Result<Standard, BuildError> {
        check_probes(probes)?;
        // Checks the bits, so that the remainder below does not divide by zero.
        let law = law::Standard::new(bits, probes)?;
        Ok(Standard { law, bits, probes, threshold: bits.wrapping_neg() % bits })
    }

    fn id(&self) -> SchemeId {
        SchemeId::Standard
    }

    #[inline]
    fn bits(&self) -> u64 {
        self.bits
    }

    #[inline]
    fn probes(&self) -> u32 {
        self.probes
    }

    #[inline]
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
        self.positions(hash)
    }

    fn law(&self) -> Box<dyn Law> {
        Box::new(self.law)
    }
}

impl Standard {
    /// Number of bits m.
    #[inline]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Probes k of a key.
    #[inline]
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// The k positions of a key.
    #[inline]
    pub fn positions(&self, hash: KeyHash) -> Positions {
        Positions { words: Words::new(hash), bits: self.bits, threshold: self.threshold, left: self.probes }
    }

    /// What a position is drawn by.
    #[inline(always)]
    pub(crate) fn range_and_threshold(&self) -> (u64, u64) {
        (self.bits, self.threshold)
    }

    /// One position, for those who keep the stream of many keys themselves.
    #[inline(always)]
    pub(crate) fn next_position(&self, words: &mut Words) -> u64 {
        draw(words, self.bits, self.threshold)
    }
}

/// The positions of one key under the [`Standard`] scheme.
#[derive(Clone, Debug)]
pub struct Positions {
    words: Words,
    bits: u64,
    threshold: u64,
    left: u32,
}

impl Iterator for Positions {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        Some(draw(&mut self.words, self.bits, self.threshold))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Positions {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hash whose first words are all skipped at a threshold of 2^64 - 1, so the bound must end the loop: 64 skipped, the 65th taken.
    #[test]
    fn the_word_after_64_skipped_ones_is_taken_as_it_is() {
        let hash = KeyHash::from(0x0123_4567_89ab_cdef_u128);
        let mut words = Words::new(hash);
        let expected = (0..65).map(|_| words.next()).last().map(|word| ((u128::from(word) * 1000) >> 64) as u64);
        let mut positions = Positions { words: Words::new(hash), bits: 1000, threshold: u64::MAX, left: 1 };
        assert_eq!(positions.next(), expected);
        assert_eq!(positions.words.drawn(), 65);
    }

    #[test]
    fn the_threshold_is_two_to_the_64_modulo_the_bits() {
        for bits in [1, 2, 3, 7, 1000, 1 << 32, (1 << 32) + 1, 3 << 60, (1 << 62) - 1, 1 << 62] {
            let threshold = Standard::new(bits, 1).map(|scheme| scheme.threshold);
            assert_eq!(threshold, Ok(((1u128 << 64) % u128::from(bits)) as u64));
        }
        for (bits, probes) in [(0, 1), ((1 << 62) + 1, 1), (1, 0), (1, crate::MAX_PROBES + 1)] {
            assert!(Standard::new(bits, probes).is_err());
        }
    }
}
