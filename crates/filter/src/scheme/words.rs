//! The stream of words that a hash is expanded to, and uniform draws from it.

use super::mix;
use crate::hash::KeyHash;

/// A number below `range` that is exactly uniform if the words are; `threshold` is 2^64 mod `range`.
#[inline(always)]
pub(crate) fn draw(words: &mut Words, range: u64, threshold: u64) -> u64 {
    let mut product = u128::from(words.next()) * u128::from(range);
    // Lemire's rejection: what remains maps the same number of words to every position.
    if (product as u64) < threshold {
        (product, *words) = after_skip(*words, range, threshold);
    }
    (product >> 64) as u64
}

/// So many words in a row may be skipped. Each is with a probability below bits/2^64 <= 1/4, so all of them with one below 2^-128.
const MAX_SKIPS: u32 = 64;

/// Called after one skip. The bound makes the loop end whatever the hash: the word after [`MAX_SKIPS`] skipped ones is taken as it is.
///
/// The words come and go by value: a reference to them would keep the walk of the hot loop in memory instead of registers.
#[cold]
fn after_skip(mut words: Words, bits: u64, threshold: u64) -> (u128, Words) {
    let mut skipped = 1;
    loop {
        let product = u128::from(words.next()) * u128::from(bits);
        if product as u64 >= threshold || skipped == MAX_SKIPS {
            return (product, words);
        }
        skipped += 1;
    }
}

/// The stream of words of a hash. The cubic walk keeps two hashes from sharing shifted or reversed streams, and the rotation keeps pairs whose second
/// halves differ only in high bits from sharing every other word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Words {
    pub(crate) x: u64,
    pub(crate) y: u64,
    pub(crate) step: u64,
}

impl Words {
    #[inline]
    pub(crate) fn new(hash: KeyHash) -> Words {
        Words { x: hash.h1, y: hash.h2, step: 0 }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let word = mix(self.x ^ self.y.rotate_left(32));
        self.step = self.step.wrapping_add(1);
        self.x = self.x.wrapping_add(self.y);
        self.y = self.y.wrapping_add(self.step);
        word
    }

    /// A number below `bound` (1 to 2^62), exactly uniform if the words are. For bounds that change from draw to draw; where the bound stays, its threshold can be kept.
    #[inline]
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.next()) * u128::from(bound);
        // The threshold costs a division and is below the bound, so it is needed only this seldom.
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            if (product as u64) < threshold {
                (product, *self) = after_skip(*self, bound, threshold);
            }
        }
        (product >> 64) as u64
    }

    #[cfg(test)]
    pub(super) fn drawn(&self) -> u64 {
        self.step
    }
}
