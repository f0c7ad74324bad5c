//! Scheme 11: k independent positions from a stream of words.

use super::stream::{Walk, WordStream, digit};
use super::{Scheme, SchemeId, check_probes};
use crate::arch::Draws;
use crate::error::BuildError;
use crate::hash::KeyHash;
use alloc::boxed::Box;
use core::ops::BitAnd;
use truebloom_math::{Law, law};

/// The standard scheme: a key has k independent positions, where k is the number of probes. Some of
/// these positions may be equal. The key's hash is expanded into a stream of 64-bit words, from
/// which the positions are drawn. If the words are uniform, the positions are exactly uniform for
/// every number of bits.
///
/// In a filter of at most 2^26 bits, each word gives several positions (Brackett-Rozinsky and
/// Lemire, "Batched ranged random integer generation", 2024). Some words are skipped, so that all
/// positions are equally likely. For filters of up to 2^52 bits, less than one word in 4,096 is
/// skipped.
///
/// Double hashing would save a few instructions. But with n keys, m bits and k probes, double
/// hashing cannot bring the rate below about `(k + 2) n/m^2`. The standard scheme has no such
/// limit. The document docs/design/positions.md lists the schemes that were rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standard {
    law: law::Standard,
    draws: Draws,
}

/// The result of looking up the positions of one or more words.
#[derive(Clone, Copy)]
struct Looked {
    /// Whether all positions are set.
    all: bool,
    /// Whether a word must be skipped. In that case, these positions are not the key's.
    skips: bool,
}

impl BitAnd for Looked {
    type Output = Looked;

    #[inline(always)]
    fn bitand(self, other: Looked) -> Looked {
        Looked { all: self.all & other.all, skips: self.skips | other.skips }
    }
}

impl Scheme for Standard {
    const ID: SchemeId = SchemeId::Standard;

    fn new(bits: u64, probes: u32) -> Result<Standard, BuildError> {
        check_probes(probes)?;
        // This checks the bits, so that the remainder below does not divide by zero.
        let law = law::Standard::new(bits, probes)?;
        Ok(Standard { law, draws: Draws::new(bits, probes) })
    }

    #[inline]
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
        self.positions(hash)
    }

    #[inline(always)]
    fn all(&self, hash: KeyHash, has: impl Fn(u64) -> bool) -> bool {
        match self.fixed() {
            1 => self.all_by::<1>(hash, has),
            2 => self.all_by::<2>(hash, has),
            _ => self.all_of_few(hash, has),
        }
    }

    #[inline(always)]
    fn each(&self, hash: KeyHash, take: impl FnMut(u64)) {
        match self.fixed() {
            1 => self.each_by::<1>(hash, take),
            2 => self.each_by::<2>(hash, take),
            _ => self.each_of_few(hash, take),
        }
    }

    #[inline]
    fn bits(&self) -> u64 {
        self.draws.bits
    }

    #[inline]
    fn probes(&self) -> u32 {
        self.draws.probes
    }

    fn law(&self) -> Box<dyn Law> {
        Box::new(self.law)
    }
}

impl Standard {
    /// The number of bits, m.
    #[inline]
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.draws.bits
    }

    /// The number of probes per key, k.
    #[inline]
    #[must_use]
    pub fn probes(&self) -> u32 {
        self.draws.probes
    }

    /// The k positions of a key.
    #[inline]
    #[must_use]
    pub fn positions(&self, hash: KeyHash) -> Positions {
        Positions { words: WordStream::from_halves(hash), draws: self.draws, word: 0, in_word: 0, left: self.draws.probes }
    }

    /// The number of positions per word if a key has at least two full words, and 0 otherwise. The
    /// number selects code with loops of this fixed length.
    #[inline(always)]
    fn fixed(&self) -> u32 {
        if self.draws.probes < 2 * self.draws.a_word { 0 } else { self.draws.a_word }
    }

    /// Whether all positions of a key are set, with `A` positions per word (0 means any number).
    ///
    /// All positions from the two halves of the hash are looked up before the first branch. A
    /// branch after each position would be mispredicted every other time, which costs more than the
    /// unnecessary accesses. If all positions from the two halves are set, the remaining positions
    /// usually are set, too. So the remaining positions are looked up without a branch.
    ///
    /// The remainder after the last digit shows, at no extra cost, whether a word must be skipped.
    /// A key with such a word is looked up again, one position after the other, with the right
    /// positions.
    #[inline(always)]
    fn all_by<const A: u32>(&self, hash: KeyHash, has: impl Fn(u64) -> bool) -> bool {
        let a_word = if A == 0 { self.draws.a_word } else { A };
        let of_second = self.draws.probes.saturating_sub(a_word).min(a_word);
        let Looked { mut all, mut skips } =
            self.look::<A>(hash.h1, self.draws.probes.min(a_word), &has) & self.look::<A>(hash.h2, of_second, &has);
        let mut left = self.draws.probes.saturating_sub(2 * a_word);
        if all && left > 0 {
            let mut walk = Walk::new(hash);
            while left >= a_word {
                let word;
                (word, walk) = walk.next();
                Looked { all, skips } = Looked { all, skips } & self.look::<A>(word, a_word, &has);
                left -= a_word;
            }
            if left > 0 {
                Looked { all, skips } = Looked { all, skips } & self.look::<0>(walk.next().0, left, &has);
            }
        }
        if skips { self.all_in_order(hash, has) } else { all }
    }

    /// Looks up the first `digits` positions of a word. If `A` is not 0, it must equal `digits`.
    /// The loop then has a fixed length.
    #[inline(always)]
    fn look<const A: u32>(&self, word: u64, digits: u32, has: impl Fn(u64) -> bool) -> Looked {
        let (mut all, mut rest) = (true, word);
        for _ in 0..if A == 0 { digits } else { A } {
            let position;
            (position, rest) = digit(rest, self.draws.bits);
            all &= has(position);
        }
        // After all digits, the product of the word and the number of tuples remains.
        let tuples = &self.draws.tuples;
        Looked { all, skips: if A == 0 { tuples.skips(word) } else { tuples.skips_after(rest) } }
    }

    /// Like [`all_by`](Self::all_by), for filters with few bits. This function is separate, because
    /// code that is inlined into queries must be short.
    #[inline(never)]
    fn all_of_few(&self, hash: KeyHash, has: impl Fn(u64) -> bool) -> bool {
        if self.fixed() == 3 { self.all_by::<3>(hash, has) } else { self.all_by::<0>(hash, has) }
    }

    #[cold]
    #[inline(never)]
    fn all_in_order(&self, hash: KeyHash, has: impl Fn(u64) -> bool) -> bool {
        self.positions(hash).all(has)
    }

    /// Calls `take` with all positions of a key, with `A` positions per word (0 means any number).
    /// A word is checked before its positions are used, because a bit that was set cannot be unset.
    #[inline(always)]
    fn each_by<const A: u32>(&self, hash: KeyHash, mut take: impl FnMut(u64)) {
        let a_word = if A == 0 { self.draws.a_word } else { A };
        let of_second = self.draws.probes.saturating_sub(a_word).min(a_word);
        let mut skips = self.give::<A>(hash.h1, self.draws.probes.min(a_word), &mut take) || self.give::<A>(hash.h2, of_second, &mut take);
        let (mut left, mut walk) = (self.draws.probes.saturating_sub(2 * a_word), Walk::new(hash));
        while !skips && left > 0 {
            let word;
            (word, walk) = walk.next();
            skips = if left < a_word { self.give::<0>(word, left, &mut take) } else { self.give::<A>(word, a_word, &mut take) };
            left = left.saturating_sub(a_word);
        }
        if skips {
            self.each_in_order(hash, take);
        }
    }

    /// Calls `take` with the first `digits` positions of a word. If `A` is not 0, it must equal
    /// `digits`. The loop then has a fixed length. If the word must be skipped, `take` is not
    /// called, and the result is true.
    #[inline(always)]
    fn give<const A: u32>(&self, word: u64, digits: u32, take: &mut impl FnMut(u64)) -> bool {
        let (skips, mut rest) = (self.draws.tuples.skips(word), word);
        if !skips {
            for _ in 0..if A == 0 { digits } else { A } {
                let position;
                (position, rest) = digit(rest, self.draws.bits);
                take(position);
            }
        }
        skips
    }

    /// Like [`each_by`](Self::each_by), for filters with few bits, and as a separate function.
    #[inline(never)]
    fn each_of_few(&self, hash: KeyHash, take: impl FnMut(u64)) {
        if self.fixed() == 3 { self.each_by::<3>(hash, take) } else { self.each_by::<0>(hash, take) }
    }

    #[cold]
    #[inline(never)]
    fn each_in_order(&self, hash: KeyHash, take: impl FnMut(u64)) {
        self.positions(hash).for_each(take);
    }

    /// The index in the stream of the word that gives this probe's position, if this position is
    /// the first one from that word. The index is right only if no word is skipped.
    #[inline(always)]
    pub(crate) fn new_word(&self, probe: u32) -> Option<u64> {
        (probe.is_multiple_of(self.draws.a_word)).then(|| u64::from(probe / self.draws.a_word))
    }

    #[inline(always)]
    pub(crate) fn draws(&self) -> &Draws {
        &self.draws
    }
}

/// The positions of one key under the [`Standard`] scheme.
#[derive(Clone, Debug)]
pub struct Positions {
    words: WordStream,
    draws: Draws,
    /// The remainder of the present word, and the number of positions that it can still give.
    word: u64,
    in_word: u32,
    left: u32,
}

impl Iterator for Positions {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        if self.in_word == 0 {
            (self.word, self.in_word) = (self.draws.tuples.next_word(&mut self.words), self.draws.a_word);
        }
        self.in_word -= 1;
        let position;
        (position, self.word) = digit(self.word, self.draws.bits);
        Some(position)
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
    use crate::arch::Below;
    use core::cell::RefCell;
    use truebloom_math::mix;

    /// With a threshold of 2^64 - 1, nearly every word would be skipped, so only the limit ends the
    /// loop: 64 words are skipped, and the 65th is used.
    #[test]
    fn the_word_after_64_skipped_ones_is_taken_as_it_is() {
        let hash = KeyHash::from_uniform_bits(0x0123_4567_89ab_cdef_u128);
        let mut words = WordStream::new(hash);
        let expected = (0..65).map(|_| words.next()).last().map(|word| digit(word, 1000).0);
        let draws = Draws { bits: 1000, probes: 1, a_word: 1, tuples: Below { bound: 1000, threshold: u64::MAX } };
        let mut positions = Positions { words: WordStream::new(hash), draws, word: 0, in_word: 0, left: 1 };
        assert_eq!(positions.next(), expected);
        assert_eq!(positions.words, words);
    }

    #[test]
    fn thresholds_are_two_to_the_64_modulo_the_tuples() {
        for bits in [1, 2, 3, 7, 1000, 1 << 29, (1 << 29) + 1, 1 << 32, (1 << 32) + 1, 3 << 60, (1 << 62) - 1, 1 << 62] {
            for probes in [1, 2, 3, 7, 100] {
                let Draws { a_word, tuples: Below { bound: tuples, threshold }, .. } =
                    *Standard::new(bits, probes).expect("in range").draws();
                assert_eq!(u128::from(tuples), u128::from(bits).pow(a_word));
                assert_eq!(u128::from(threshold), (1u128 << 64) % u128::from(tuples));
                assert!(a_word == 1 || tuples <= 1 << 52);
                assert!(a_word == probes || u128::from(tuples) * u128::from(bits) > 1 << 52, "{bits} {probes}");
            }
        }
        for (bits, probes) in [(0, 1), ((1 << 62) + 1, 1), (1, 0), (1, crate::MAX_PROBES + 1)] {
            assert!(Standard::new(bits, probes).is_err());
        }
        assert!(Standard::with_id(SchemeId::Classic, 10, 2).is_err());
    }

    /// Tests that `all` looks up the positions of the key in order. The test includes sizes with
    /// which every fourth word is skipped. Also tests that the answer is false if any position is
    /// unset.
    #[test]
    fn all_positions_are_asked_for() {
        for (bits, probes) in
            [1, 7, 1000, 1 << 20, 1 << 27, 3 << 60, 1 << 62].into_iter().flat_map(|bits| [1, 2, 3, 7, 20].map(|k| (bits, k)))
        {
            let scheme = Standard::new(bits, probes).expect("in range");
            for i in 0..200 {
                let hash = KeyHash { h1: mix(2 * i), h2: mix(2 * i + 1) };
                let positions: Vec<u64> = scheme.positions(hash).collect();
                let asked = RefCell::new(Vec::new());
                assert!(scheme.all(hash, |position| {
                    asked.borrow_mut().push(position);
                    true
                }));
                // After a skip, `all` begins again.
                assert!(asked.into_inner().ends_with(&positions), "{bits} {probes}");
                let mut given = Vec::new();
                scheme.each(hash, |position| given.push(position));
                assert!(given.ends_with(&positions) && given.iter().all(|given| positions.contains(given)), "{bits} {probes}");
                let missing = positions[i as usize % positions.len()];
                assert!(!scheme.all(hash, |position| position != missing));
            }
        }
    }

    /// Tests all words of 16 bits: among the words that are not skipped, equally many give each
    /// tuple of positions. The arithmetic is the same as for 64 bits.
    #[test]
    fn every_tuple_of_digits_has_as_many_words() {
        const WORDS: u32 = 1 << 16;
        for (bits, a_word) in [(2u32, 9u32), (3, 5), (7, 3), (10, 4), (100, 2), (255, 2), (1_000, 1)] {
            let tuples = bits.pow(a_word);
            let mut counts = vec![0; tuples as usize];
            for mut word in (0..WORDS).filter(|word| word * tuples % WORDS >= WORDS % tuples) {
                let tuple = (0..a_word).fold(0, |tuple, _| {
                    let product = word * bits;
                    word = product % WORDS;
                    tuple * bits + product / WORDS
                });
                counts[tuple as usize] += 1;
            }
            assert!(counts.iter().all(|count| *count == WORDS / tuples), "{bits} {a_word}");
        }
    }

    /// The positions are the digits of the words, most significant first. The test uses two and a
    /// half words of positions.
    #[test]
    fn positions_are_the_digits_of_words() {
        let (bits, probes) = (1_000_003, 5);
        let scheme = Standard::new(bits, probes).expect("in range");
        assert_eq!(scheme.draws().a_word, 2);
        for i in 0..100 {
            let (h1, h2) = (mix(2 * i + 1), mix(2 * i + 2));
            let third = mix(h1 ^ h2.rotate_left(32));
            let found: Vec<u64> = scheme.positions(KeyHash { h1, h2 }).collect();
            let tuple = |word: u64| ((u128::from(word) * u128::from(bits * bits)) >> 64) as u64;
            assert!(![h1, h2, third].iter().any(|word| scheme.draws().tuples.skips(*word)), "another hash is needed");
            let expected: Vec<u64> =
                [h1, h2, third].into_iter().flat_map(|word| [tuple(word) / bits, tuple(word) % bits]).take(5).collect();
            assert_eq!(found, expected);
            assert!(scheme.all(KeyHash { h1, h2 }, |position| expected.contains(&position)));
            assert!(!scheme.all(KeyHash { h1, h2 }, |position| expected[..4].contains(&position)));
        }
    }
}
