//! The stream of words into which a hash is expanded, and uniform numbers drawn from this stream.

use crate::arch::Below;
use crate::hash::KeyHash;
use truebloom_math::mix;

/// The next digit of a word in this base, and the remainder of the word.
#[inline(always)]
pub(crate) fn digit(word: u64, base: u64) -> (u64, u64) {
    let product = u128::from(word) * u128::from(base);
    ((product >> 64) as u64, product as u64)
}

impl Below {
    /// The next word that is not skipped.
    #[inline(always)]
    pub(super) fn next_word(&self, words: &mut WordStream) -> u64 {
        let mut word = words.next();
        if self.skips(word) {
            (word, *words) = skip(*words, |word| self.skips(word));
        }
        word
    }

    /// A number below the bound; exactly uniform if the words are.
    #[inline(always)]
    pub(crate) fn draw(&self, words: &mut WordStream) -> u64 {
        let (mut number, rest) = digit(words.next(), self.bound);
        // This is Lemire's rejection method. Among the words that are not skipped, equally many
        // give each number.
        if self.skips_after(rest) {
            (number, *words) = self.draw_after_skip(*words);
        }
        number
    }

    #[cold]
    fn draw_after_skip(self, words: WordStream) -> (u64, WordStream) {
        let (word, words) = skip(words, |word| self.skips(word));
        (digit(word, self.bound).0, words)
    }
}

/// The largest number of words that may be skipped in a row. Each word is skipped with a
/// probability below 1/4, so this many words in a row are skipped with a probability below 2^-128.
const MAX_SKIPS: u32 = 64;

/// Returns the word to use after a word was skipped, and the rest of the stream. After
/// [`MAX_SKIPS`] skipped words, the next word is used without a check, so that the loop ends for
/// every hash.
///
/// The stream is passed by value, because a reference would keep the state of the hot loop in
/// memory instead of registers.
#[cold]
pub(super) fn skip(mut words: WordStream, skips: impl Fn(u64) -> bool) -> (u64, WordStream) {
    let mut skipped = 1;
    loop {
        let word = words.next();
        if skipped == MAX_SKIPS || !skips(word) {
            return (word, words);
        }
        skipped += 1;
    }
}

/// A generator of words that starts from the halves of a hash. The generator's state is a cubic
/// function of the number of words, so that the streams of two hashes are not shifted or reversed
/// copies of each other. Without the rotation, hashes whose second halves differ only in high bits
/// would share every other word.
///
/// The generator is passed by value, like the stream in [`skip`], so that hot loops keep it in
/// registers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Walk {
    x: u64,
    y: u64,
    /// How many words were drawn so far.
    drawn: u64,
}

impl Walk {
    #[inline(always)]
    pub(super) fn new(hash: KeyHash) -> Walk {
        Walk { x: hash.h1, y: hash.h2, drawn: 0 }
    }

    /// Returns the next word, and the state after it.
    #[inline(always)]
    pub(super) fn next(self) -> (u64, Walk) {
        let Walk { x, y, drawn } = self;
        let drawn = drawn.wrapping_add(1);
        (mix(x ^ y.rotate_left(32)), Walk { x: x.wrapping_add(y), y: y.wrapping_add(drawn), drawn })
    }
}

/// The stream of words of a hash: its two halves, and then the words of a [generator](Walk) that
/// starts from them.
///
/// Most schemes leave out the halves. The words of the generator are mixed, so that even hashes
/// that are hardly random give good positions; this costs ten instructions per word. Schemes that
/// are designed for speed begin with the halves ([`from_halves`](Self::from_halves)). With the
/// halves, most lookups of keys that are not contained need no generated word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WordStream {
    walk: Walk,
    /// How many halves of the hash have not been used yet.
    halves: u32,
}

impl WordStream {
    /// A stream without the halves, which starts with the words of the generator.
    #[inline]
    pub(crate) fn new(hash: KeyHash) -> WordStream {
        WordStream { walk: Walk::new(hash), halves: 0 }
    }

    /// A stream that starts with the halves, followed by the words of the generator.
    #[inline]
    pub(crate) fn from_halves(hash: KeyHash) -> WordStream {
        WordStream { walk: Walk::new(hash), halves: 2 }
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        let half = match self.halves {
            0 => {
                let word;
                (word, self.walk) = self.walk.next();
                return word;
            }
            1 => self.walk.y,
            _ => self.walk.x,
        };
        self.halves -= 1;
        half
    }

    /// A number below `bound` (1 to 2^62), exactly uniform if the words are. Use this method for
    /// bounds that change from draw to draw; for a fixed bound, make [`Below`] once and use
    /// [`Below::draw`].
    #[inline]
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let (mut number, rest) = digit(self.next(), bound);
        // Computing the threshold takes a division. The threshold is below the bound, so it is
        // computed only if the remainder is below the bound, too.
        if rest < bound {
            let below = Below::new(bound);
            if below.skips_after(rest) {
                (number, *self) = below.draw_after_skip(*self);
            }
        }
        number
    }
}
