//! Probes within one line of 512 bits.
//!
//! All bits of a key in a blocked filter lie in one line. Each word of the key's stream gives seven
//! positions of nine bits each. A kernel tests whether all positions of a word are set. [`scalar`]
//! is the reference. The other kernels give the same answers, but test all positions at once.

#[cfg(all(target_arch = "x86_64", feature = "simd"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "simd"))]
mod avx512;
mod scalar;

use super::{Lanes, prefetch};
use crate::word::{Reads, Word};

/// The number of bits that encode a position in a line.
const POSITION_BITS: u32 = 9;

/// The number of positions that one word of the stream gives: seven times nine bits. The 64th bit
/// is not used.
pub(crate) const PROBES_A_WORD: u32 = 64 / POSITION_BITS;

/// The number of bits in a line.
pub(crate) const LINE_BITS: u64 = 512;

/// A cache line. Bit i of a line is bit i mod 64 of word i / 64.
pub(crate) type Line<W = u64> = [W; 8];

/// For each number of probes per word, the shifts with which the lanes of a kernel extract their
/// positions from the word. Lanes without a probe use the first position again.
#[cfg(all(target_arch = "x86_64", feature = "simd"))]
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

/// The vector instructions that a kernel uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Only the instructions that every processor has.
    Scalar,
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    Avx2,
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    Avx512,
}

impl Level {
    /// The best level that this processor supports.
    pub(crate) fn detect() -> Level {
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
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

/// Whether the processor has three parts of AVX-512: the foundation (F), 64-bit multiplication
/// (DQ), and shorter vectors (VL). All processors with AVX-512, except accelerators, have these
/// three parts.
#[cfg(all(target_arch = "x86_64", feature = "simd"))]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl")
}

/// Whether the first `probes` (at most seven) positions of a word are all set.
#[inline(always)]
pub(crate) fn contains<W: Word>(level: Level, line: &Line<W>, word: u64, probes: u32) -> bool {
    match level {
        Level::Scalar => scalar::contains(line, word, probes),
        // SAFETY: `Level::detect` makes these values only on processors that have the instructions.
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx2 => unsafe { avx2::contains(line, word, probes) },
        // SAFETY: as above.
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx512 => unsafe { avx512::contains(line, word, probes) },
    }
}

/// Like [`contains`], for a line that other threads may change at the same time.
#[inline(always)]
pub(crate) fn contains_shared<R: Reads>(level: Level, line: &[R; 8], word: u64, probes: u32) -> bool {
    match level {
        // SAFETY: `Level::detect` makes this value only on processors that have the instructions.
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx512 => unsafe { avx512::contains_shared(line, word, probes) },
        _ => contains(level, &line.each_ref().map(Reads::read), word, probes),
    }
}

/// The data of a group of keys, and the lines that later keys need.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The number of each key's line.
    pub(crate) lines: &'a Lanes,
    /// The words that encode the keys' positions: the first word of every key, then the second word
    /// of every key, and so on.
    pub(crate) words: &'a [Lanes],
    /// The number of keys in the group.
    pub(crate) count: usize,
    /// Lines to prefetch during the lookup. One of them is requested before each key is looked up,
    /// because requests for all lines at once would wait for each other.
    pub(crate) ahead: &'a Lanes,
}

/// Looks up a group of keys. Returns one bit per key, which is set if the key is contained.
#[inline]
pub(crate) fn contains_group<W: Word>(level: Level, lines: &[Line<W>], asked: Asked<'_>, probes: u32) -> u32 {
    match level {
        Level::Scalar => each_key(scalar::has, lines, asked, probes),
        // SAFETY: `Level::detect` makes these values only on processors that have the instructions.
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx2 => unsafe { avx2::contains_group(lines, asked, probes) },
        // SAFETY: as above.
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx512 => unsafe { avx512::contains_group(lines, asked, probes) },
    }
}

/// Sets the first `probes` (at most fourteen) positions of two words; returns true if at least one
/// of these bits was 0.
#[inline(always)]
pub(crate) fn set<W: Word>(level: Level, line: &mut Line<W>, first: u64, second: u64, probes: u32) -> bool {
    match level {
        // SAFETY: `Level::detect` makes this value only on processors that have the instructions.
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx512 => unsafe { avx512::set(line, first, second, probes) },
        // With AVX2, a line takes two registers. No AVX2 kernel for insertions was tried.
        _ => scalar::set(line, first, second, probes),
    }
}

/// Inserts a group of keys in order. Returns one bit per key, which is set if the key was new.
#[inline]
pub(crate) fn insert_group<W: Word>(level: Level, lines: &mut [Line<W>], asked: Asked<'_>, probes: u32) -> u32 {
    match level {
        // SAFETY: as above.
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx512 => unsafe { avx512::insert_group(lines, asked, probes) },
        _ => set_each_key(scalar::set, lines, asked, probes),
    }
}

/// Sets the first `probes` positions of the words that `next` returns; returns true if at least one
/// of these bits was 0.
#[inline(always)]
pub(crate) fn insert<L>(set: impl Fn(&mut L, u64, u64, u32) -> bool, line: &mut L, mut next: impl FnMut() -> u64, mut probes: u32) -> bool {
    let mut new = false;
    while probes > 0 {
        let now = probes.min(2 * PROBES_A_WORD);
        let first = next();
        let second = if now > PROBES_A_WORD { next() } else { 0 };
        new |= set(line, first, second, now);
        probes -= now;
    }
    new
}

/// Whether the first `probes` positions of the words that `next` returns are all set. The test
/// stops at the first word with an unset position.
#[inline(always)]
pub(crate) fn all_set(has: impl Fn(u64, u32) -> bool, mut next: impl FnMut() -> u64, mut probes: u32) -> bool {
    loop {
        let now = probes.min(PROBES_A_WORD);
        probes -= now;
        if !has(next(), now) {
            return false;
        }
        if probes == 0 {
            return true;
        }
    }
}

/// Looks up a group of keys with the kernel `has`. If a key's line is beyond the end, the key
/// counts as not contained, but no scheme has such lines. This function is inlined, so that it is
/// compiled with the instructions of its caller.
#[inline(always)]
fn each_key<W: Word>(has: impl Fn(&Line<W>, u64, u32) -> bool + Copy, lines: &[Line<W>], asked: Asked<'_>, probes: u32) -> u32 {
    let Some((first, more)) = asked.words.split_first() else { return 0 };
    let now = probes.min(PROBES_A_WORD);
    let mut contained = 0;
    // Loops of fixed length are fastest, so all lanes are tested, eight at a time. The answers of
    // lanes without a key are dropped.
    let eights = asked.lines.as_chunks::<8>().0.iter().zip(first.as_chunks::<8>().0).zip(asked.ahead.as_chunks::<8>().0);
    for (eight, ((numbers, words), ahead)) in eights.enumerate() {
        let mut found = 0;
        for lane in 0..8 {
            prefetch(lines.as_flattened(), ahead[lane].wrapping_mul(8));
            let line = lines.get(numbers[lane] as usize);
            found |= u32::from(line.is_some_and(|line| has(line, words[lane], now))) << lane;
        }
        contained |= found << (8 * eight);
    }
    contained &= u32::MAX.checked_shl(asked.count as u32).map_or(u32::MAX, |beyond| !beyond);
    if probes > PROBES_A_WORD {
        // For most keys that are not contained, the first word has an unset position.
        let mut in_question = contained;
        while in_question != 0 {
            let lane = in_question.trailing_zeros() as usize;
            let line = lines.get(asked.lines[lane] as usize);
            let mut words = more.iter().map(|words| words[lane]);
            let found =
                line.is_some_and(|line| all_set(|word, now| has(line, word, now), || words.next().unwrap_or(0), probes - PROBES_A_WORD));
            contained &= !(u32::from(!found) << lane);
            in_question &= in_question - 1;
        }
    }
    contained
}

/// Inserts a group of keys with the kernel `set`. If a key's line is beyond the end, the key is not
/// inserted, but no scheme has such lines.
#[inline(always)]
fn set_each_key<W: Word>(
    set: impl Fn(&mut Line<W>, u64, u64, u32) -> bool + Copy,
    lines: &mut [Line<W>],
    asked: Asked<'_>,
    probes: u32,
) -> u32 {
    let mut inserted = 0;
    for (lane, (number, ahead)) in asked.lines.iter().zip(asked.ahead).enumerate().take(asked.count) {
        prefetch(lines.as_flattened(), ahead.wrapping_mul(8));
        if let Some(line) = lines.get_mut(*number as usize) {
            let mut words = asked.words.iter();
            let new = insert(set, line, || words.next().map_or(0, |words| words[lane]), probes);
            inserted |= u32::from(new) << lane;
        }
    }
    inserted
}

/// All levels that this processor supports.
#[cfg(test)]
pub(crate) fn levels() -> Vec<Level> {
    let mut levels = vec![Level::Scalar];
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    {
        levels.extend(is_x86_feature_detected!("avx2").then_some(Level::Avx2));
        levels.extend(has_avx512().then_some(Level::Avx512));
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::LANES;
    use crate::hash::KeyHash;
    use crate::scheme::WordStream;
    use proptest::prelude::*;

    /// The expected answer for a word, computed directly from the definition.
    fn expected(line: &Line, word: u64, probes: u32) -> bool {
        (0..probes).all(|probe| {
            let position = word >> (9 * probe) & 511;
            line[(position / 64) as usize] >> (position % 64) & 1 == 1
        })
    }

    fn stream_contains(level: Level, line: &Line, stream: WordStream, probes: u32) -> bool {
        let (mut words, mut shared_words) = (stream, stream);
        let found = all_set(|word, now| contains(level, line, word, now), || words.next(), probes);
        let shared = all_set(|word, now| contains_shared(level, line, word, now), || shared_words.next(), probes);
        assert_eq!(found, shared, "{level:?}");
        found
    }

    /// Compares every level with the definition, for a line, a stream and every number of probes.
    fn check(line: &Line, hash: u128) {
        let stream = WordStream::new(KeyHash::from_uniform_bits(hash));
        for probes in 1..=64 {
            let mut words = stream;
            let truth = (0..probes).step_by(7).all(|first| expected(line, words.next(), (probes - first).min(7)));
            for level in levels() {
                assert_eq!(stream_contains(level, line, stream, probes), truth, "{level:?} {probes} {line:x?} {hash:x}");
                // The same key is tested with four lines: the given line, an empty one, a full one,
                // and one beyond the end.
                let (mut words, mut numbers) = ([[0; LANES]; 10], [9; LANES]);
                let mut stream = stream;
                words.iter_mut().for_each(|words| words[..4].fill(stream.next()));
                numbers[..4].copy_from_slice(&[1, 0, 2, 3]);
                let lines = [[0; 8], *line, [!0; 8]];
                let found = |count| {
                    contains_group(level, &lines, Asked { lines: &numbers, words: &words, count, ahead: &[u64::MAX; LANES] }, probes)
                };
                assert_eq!(found(4), u32::from(truth) | 0b100, "{level:?} {probes} {line:x?} {hash:x}");
                assert_eq!((found(2), found(0)), (u32::from(truth), 0));
            }
        }
    }

    proptest! {
        #[test]
        fn every_level_says_what_the_definition_says(words: [u64; 8], dense: [u64; 8], hash: u128) {
            check(&words, hash);
            check(&core::array::from_fn(|i| words[i] | dense[i] | words[7 - i].rotate_left(9)), hash);
        }

        /// The keys of a group, some of which share lines, are inserted in order. The lines and the
        /// answers of every level equal those of the reference.
        #[test]
        fn every_level_inserts_what_the_reference_does(start: [u64; 8], seeds: [u64; 10], numbers: [u64; 8], probes in 1u32..=64, count in 0..=LANES) {
            let words: Vec<Lanes> = seeds.iter().map(|seed| core::array::from_fn(|lane| seed.wrapping_mul(2 * lane as u64 / 3 + 1))).collect();
            let numbers: Lanes = core::array::from_fn(|lane| numbers[lane % 8] % 4);
            let before = [start, [0; 8], [!0; 8]];
            let mut expected = before;
            let mut answers = 0;
            for (lane, number) in numbers.iter().enumerate().take(count) {
                let Some(line) = expected.get_mut(*number as usize) else { continue };
                let mut words = words.iter();
                answers |= u32::from(insert(scalar::set, line, || words.next().expect("ten words")[lane], probes)) << lane;
            }
            for level in levels() {
                let mut lines = before;
                let asked = Asked { lines: &numbers, words: &words, count, ahead: &numbers };
                prop_assert_eq!(insert_group(level, &mut lines, asked, probes), answers, "{:?}", level);
                prop_assert_eq!(lines, expected);
                let mut one = start;
                let mut stream = words.iter().map(|words| words[0]);
                let new = insert(|line: &mut Line, first, second, now| set(level, line, first, second, now), &mut one, || stream.next().expect("ten"), probes);
                let (mut alone, mut stream) = (start, words.iter().map(|words| words[0]));
                prop_assert_eq!(new, insert(scalar::set, &mut alone, || stream.next().expect("ten"), probes));
                prop_assert_eq!(one, alone);
            }
        }

        /// Tests the two closest cases: a line with exactly the key's positions, and the same line
        /// without one of them.
        #[test]
        fn one_bit_decides(hash: u128, probes in 1u32..=64, missing: usize) {
            let stream = WordStream::new(KeyHash::from_uniform_bits(hash));
            let mut line = [0; 8];
            let add = |line: &mut Line| {
                let mut words = stream;
                insert(scalar::set, line, || words.next(), probes)
            };
            prop_assert!(add(&mut line) && !add(&mut line));
            check(&line, hash);
            let set: Vec<u64> = (0..512).filter(|i| line[i / 64] >> (i % 64) & 1 == 1).map(|i| i as u64).collect();
            let gone = set[missing % set.len()];
            line[(gone / 64) as usize] ^= 1 << (gone % 64);
            levels().into_iter().for_each(|level| assert!(!stream_contains(level, &line, stream, probes)));
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
                scalar::set(&mut line, word, 0, 7);
                assert_eq!(line[(position / 64) as usize] >> (position % 64) & 1, 1);
                assert!(expected(&line, word, 7) && line.iter().map(|word| word.count_ones()).sum::<u32>() == 1 + u32::from(position > 0));
            }
        }
    }
}
