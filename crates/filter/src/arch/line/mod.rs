//! Probes within one line of 512 bits.
//!
//! A line is all the memory a key of a blocked filter touches. Its positions come seven a word of the key's stream, nine bits each, so a kernel answers for one word:
//! are these positions all set? [`scalar`] says what is right; the others say the same with all positions at once.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod flight;
mod scalar;

pub(crate) use flight::Flight;

use crate::bulk::{Answers, mark};
use crate::scheme::{PROBES_A_WORD, Words};

/// Bits of a line.
pub(crate) const LINE_BITS: u64 = 512;

/// A cache line; bit i is bit i mod 64 of word i / 64.
pub(crate) type Line = [u64; 8];

/// Where each lane of a kernel finds its position in a word, for each number of probes that the word gives. Lanes without a probe repeat the first.
const SHIFTS: [Line; PROBES_A_WORD as usize + 1] = {
    let mut shifts = [[0; 8]; PROBES_A_WORD as usize + 1];
    let mut probes = 0;
    while probes < shifts.len() {
        let mut lane = 1;
        while lane < probes {
            shifts[probes][lane] = 9 * lane as u64;
            lane += 1;
        }
        probes += 1;
    }
    shifts
};

/// The instructions that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Those of every processor.
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best that this processor has.
    pub(crate) fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            if has_avx512() {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Level::Avx2;
            }
        }
        Level::Scalar
    }
}

/// Foundation, 64-bit multiplication, and the short forms: all processors with AVX-512 that are not accelerators have these three.
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl")
}

/// Whether the next `probes` positions of the stream are all set.
#[inline]
pub(crate) fn contains(level: Level, line: &Line, mut words: Words, probes: u32) -> bool {
    match level {
        Level::Scalar => all_set(scalar::has, line, || words.next(), probes),
        // SAFETY: `Level::detect` makes these values only on processors that have the instructions.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::contains(line, words, probes) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::contains(line, words, probes) },
    }
}

/// [`contains`] of the keys of a batch.
#[inline]
pub(crate) fn contains_batch(level: Level, lines: &[Line], flight: &Flight, probes: u32) -> Answers {
    match level {
        Level::Scalar => each_key(scalar::has, lines, flight, probes),
        // SAFETY: `Level::detect` makes these values only on processors that have the instructions.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::contains_batch(lines, flight, probes) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::contains_batch(lines, flight, probes) },
    }
}

/// Sets the next `probes` positions of the words that `next` gives, and says whether any was 0. The same on all processors: what is written one bit at a time is read again at once,
/// and building a whole line of bits first takes as long.
#[inline]
pub(crate) fn insert(line: &mut Line, mut next: impl FnMut() -> u64, mut probes: u32) -> bool {
    let mut newly_set = 0;
    while probes > 0 {
        let now = probes.min(PROBES_A_WORD);
        newly_set |= scalar::set(line, next(), now);
        probes -= now;
    }
    newly_set != 0
}

/// Word by word, until one has a position that is not set. `has` is inlined, so that this becomes part of the function that has the instructions for it.
#[inline(always)]
fn all_set(has: impl Fn(&Line, u64, u32) -> bool, line: &Line, mut next: impl FnMut() -> u64, mut probes: u32) -> bool {
    loop {
        let now = probes.min(PROBES_A_WORD);
        probes -= now;
        if !has(line, next(), now) {
            return false;
        }
        if probes == 0 {
            return true;
        }
    }
}

/// Lines beyond the end contain nothing; no scheme draws one.
#[inline(always)]
fn each_key(has: impl Fn(&Line, u64, u32) -> bool + Copy, lines: &[Line], flight: &Flight, probes: u32) -> Answers {
    let mut answers = Answers::default();
    for (key, line) in flight.lines().iter().enumerate() {
        if let Some(line) = lines.get(*line as usize) {
            mark(&mut answers, key, all_set(has, line, flight.words_of(key), probes));
        }
    }
    answers
}

/// All that this processor has.
#[cfg(test)]
pub(super) fn levels() -> Vec<Level> {
    let mut levels = vec![Level::Scalar];
    #[cfg(target_arch = "x86_64")]
    {
        levels.extend(is_x86_feature_detected!("avx2").then_some(Level::Avx2));
        levels.extend(has_avx512().then_some(Level::Avx512));
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::KeyHash;
    use crate::scheme::InLines;
    use proptest::prelude::*;

    /// What every word says, by the definition.
    fn expected(line: &Line, word: u64, probes: u32) -> bool {
        (0..probes).all(|probe| {
            let position = word >> (9 * probe) & 511;
            line[(position / 64) as usize] >> (position % 64) & 1 == 1
        })
    }

    /// Every level against the definition, for a line, a stream and every number of probes.
    fn check(line: &Line, hash: u128) {
        let stream = Words::new(KeyHash::from(hash));
        for probes in 1..=64 {
            let mut words = stream;
            let truth = (0..probes).step_by(7).all(|first| expected(line, words.next(), (probes - first).min(7)));
            for level in levels() {
                assert_eq!(contains(level, line, stream, probes), truth, "{level:?} {probes} {line:x?} {hash:x}");
                // The same key three times, with lines that differ: the one, an empty one and a full one.
                let scheme = InLines::new(3 * LINE_BITS, probes).expect("in range");
                let hashes = [KeyHash::from(hash); 3];
                let mut flight = Flight::new();
                flight.board(level, &scheme, &hashes, |_| ());
                let (own, words) = scheme.line(hashes[0]);
                let mut words_again = words;
                let truth = (0..probes).step_by(7).all(|first| expected(line, words_again.next(), (probes - first).min(7)));
                let lines: [Line; 3] = std::array::from_fn(|i| if i as u64 == own { *line } else { [0; 8] });
                assert_eq!(
                    contains_batch(level, &lines, &flight, probes),
                    [0b111 * u64::from(truth), 0, 0, 0],
                    "{level:?} {probes} {line:x?} {hash:x}"
                );
                assert_eq!(contains_batch(level, &[[!0; 8]; 3], &flight, probes), [0b111, 0, 0, 0]);
                assert_eq!(contains_batch(level, &[], &flight, probes), [0; 4]);
            }
        }
    }

    proptest! {
        #[test]
        fn every_level_says_what_the_definition_says(words: [u64; 8], dense: [u64; 8], hash: u128) {
            check(&words, hash);
            check(&std::array::from_fn(|i| words[i] | dense[i] | words[7 - i].rotate_left(9)), hash);
        }

        /// A line with just the positions of the key, and the same with one of them missing: the closest calls there are.
        #[test]
        fn one_bit_decides(hash: u128, probes in 1u32..=64, missing: usize) {
            let stream = Words::new(KeyHash::from(hash));
            let mut line = [0; 8];
            let add = |line: &mut Line| {
                let mut words = stream;
                insert(line, || words.next(), probes)
            };
            prop_assert!(add(&mut line) && !add(&mut line));
            check(&line, hash);
            let set: Vec<u64> = (0..512).filter(|i| line[i / 64] >> (i % 64) & 1 == 1).map(|i| i as u64).collect();
            let gone = set[missing % set.len()];
            line[(gone / 64) as usize] ^= 1 << (gone % 64);
            levels().into_iter().for_each(|level| assert!(!contains(level, &line, stream, probes)));
            check(&line, hash);
            prop_assert!(add(&mut line));
        }
    }

    #[test]
    fn every_position_of_every_probe() {
        for probe in 0..7u32 {
            for position in 0..512u64 {
                // The other probes are at 0, which is set.
                let word = position << (9 * probe);
                let mut line = [0; 8];
                scalar::set(&mut line, word, 7);
                assert_eq!(line[(position / 64) as usize] >> (position % 64) & 1, 1);
                assert!(expected(&line, word, 7) && line.iter().map(|word| word.count_ones()).sum::<u32>() == 1 + u32::from(position > 0));
            }
        }
    }
}
