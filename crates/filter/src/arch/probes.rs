//! Lookups of many keys whose probes can be anywhere among the bits.

use super::lanes::{LANES, Lanes, portable_digits, word};
use super::{Draws, Level};
use crate::word::{Reads, is_set};

/// The positions of one probe, with one lane for each key, aligned to a cache line. In an unaligned
/// row, every vector of eight positions would lie in two lines. With unaligned rows, lookups of
/// contained keys took up to 1.5 times as long.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Row(pub(crate) Lanes);

/// The number of keys whose words fill a vector.
const EIGHT: usize = 8;

/// One number for each key of a vector.
type Eight = [u64; EIGHT];

/// Looks up a group of keys, given the halves of their hashes. Returns one bit per key, which is
/// set if all positions of the key are set. Positions beyond the end count as unset. Returns `None`
/// if a word of any key must be skipped.
///
/// The lookup has no branches, because this function is called when most keys are contained and
/// need all their probes.
#[inline]
pub(crate) fn all_probes_set<R: Reads>(level: Level, words: &[R], draws: &Draws, first: &Lanes, second: &Lanes) -> Option<u32> {
    match level {
        // SAFETY: `Level::detect` makes this value only on processors that have the instructions.
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx512 => unsafe { avx512::all_set(words, draws, first, second) },
        // AVX2 can gather four words at a time, but on many processors this is slower than reading
        // them one by one.
        _ => all_by(draws, first, second, |positions| one_by_one(words, positions)),
    }
}

/// Like [`all_probes_set`], for positions that are already computed. `positions` has one row for
/// each probe, and a row has one lane for each key.
#[inline]
pub(crate) fn all_set_at<R: Reads>(level: Level, words: &[R], positions: &[Row]) -> u32 {
    match level {
        // SAFETY: `Level::detect` makes this value only on processors that have the instructions.
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx512 => unsafe { avx512::all_set_at(words, positions) },
        _ => {
            let of_lane = |lane: usize| positions.iter().fold(true, |all, Row(positions)| all & is_set(words, positions[lane]));
            (0..LANES).fold(0, |found, lane| found | u32::from(of_lane(lane)) << lane)
        }
    }
}

/// Whether this processor gathers words faster than it reads them one by one, so that
/// [`all_probes_set`] is the fastest lookup for a filter in the cache.
#[inline(always)]
pub(crate) fn gathers(level: Level) -> bool {
    match level {
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx512 => true,
        _ => false,
    }
}

/// Draws the positions of eight keys together, and looks them up together with `are_set`, which
/// returns one bit for each key.
#[inline(always)]
fn all_by(draws: &Draws, first: &Lanes, second: &Lanes, are_set: impl Fn(&Eight) -> u8) -> Option<u32> {
    let (mut found, mut skipped) = (0, 0);
    let eights = first.as_chunks::<EIGHT>().0.iter().zip(second.as_chunks::<EIGHT>().0);
    for (number, (first, second)) in eights.enumerate() {
        let (mut all, mut left) = (u8::MAX, draws.probes);
        for number in 0.. {
            let mut rest: Eight = core::array::from_fn(|key| word((first[key], second[key]), number));
            let digits = left.min(draws.a_word);
            if digits < draws.a_word {
                rest.iter().for_each(|word| skipped |= u64::from(draws.tuples.skips(*word)));
            }
            for _ in 0..digits {
                let mut positions = [0; EIGHT];
                portable_digits(&mut rest, draws.bits, &mut positions);
                all &= are_set(&positions);
            }
            if digits == draws.a_word {
                // After all digits, the product of the word and the number of tuples remains.
                rest.iter().for_each(|rest| skipped |= u64::from(draws.tuples.skips_after(*rest)));
            }
            left -= digits;
            if left == 0 {
                break;
            }
        }
        found |= u32::from(all) << (number * EIGHT);
    }
    (skipped == 0).then_some(found)
}

#[inline(always)]
fn one_by_one<R: Reads>(words: &[R], positions: &Eight) -> u8 {
    (0..).zip(positions).fold(0, |found, (key, position)| found | u8::from(is_set(words, *position)) << key)
}

/// A selection from up to `N` keys, in order, with the present position of each selected key.
pub(crate) struct Chosen<const N: usize> {
    /// The index of each selected key.
    pub(crate) keys: [u64; N],
    /// What remains of each key's present word after the positions that were drawn from it.
    pub(crate) rest: [u64; N],
    /// The position of each key's present probe.
    pub(crate) positions: [u64; N],
    /// The number of selected keys. Entries of the arrays beyond this number have no meaning.
    pub(crate) count: usize,
}

impl<const N: usize> Chosen<N> {
    /// Selects the first `count` keys, with no positions yet. Always inlined, because copying the
    /// arrays would take as long as two probes.
    #[inline(always)]
    pub(crate) fn first(count: usize) -> Chosen<N> {
        Chosen { keys: core::array::from_fn(|key| key as u64), rest: [0; N], positions: [0; N], count }
    }

    /// Keeps only the keys whose present position is set. Their entries in `keys` and `rest` are
    /// moved to the front, in order.
    #[inline]
    pub(crate) fn keep<R: Reads>(&mut self, level: Level, words: &[R]) {
        self.count = match level {
            // SAFETY: `Level::detect` makes this value only on processors that have the
            // instructions.
            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            Level::Avx512 => unsafe { avx512::keep(self, words) },
            _ => {
                let mut kept = 0;
                for i in 0..self.count.min(N) {
                    (self.keys[kept], self.rest[kept]) = (self.keys[i], self.rest[i]);
                    kept += usize::from(is_set(words, self.positions[i]));
                }
                kept
            }
        };
    }
}

#[cfg(all(target_arch = "x86_64", feature = "simd"))]
mod avx512 {
    use super::{Chosen, Draws, EIGHT, Eight, LANES, Lanes, Reads, Row, all_by, one_by_one};
    use core::arch::x86_64::{
        __m512i, _mm512_cmplt_epu64_mask, _mm512_loadu_epi64, _mm512_mask_i64gather_epi64, _mm512_maskz_compress_epi64, _mm512_rolv_epi64,
        _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64, _mm512_storeu_epi64, _mm512_test_epi64_mask,
    };

    /// # Safety
    /// The processor has AVX-512 F, DQ and VL.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) unsafe fn all_set<R: Reads>(words: &[R], draws: &Draws, first: &Lanes, second: &Lanes) -> Option<u32> {
        all_by(draws, first, second, |positions| are_set(words, positions))
    }

    /// # Safety
    /// The processor has AVX-512 F, DQ and VL.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) unsafe fn all_set_at<R: Reads>(words: &[R], positions: &[Row]) -> u32 {
        let eight = |first: usize| {
            let of_probes = positions.iter().filter_map(|Row(positions)| positions[first..].first_chunk());
            of_probes.fold(u8::MAX, |all, positions| all & are_set(words, positions))
        };
        (0..LANES).step_by(EIGHT).fold(0, |found, first| found | u32::from(eight(first)) << first)
    }

    /// # Safety
    /// The processor has AVX-512 F, DQ and VL.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub(super) unsafe fn keep<R: Reads, const N: usize>(chosen: &mut Chosen<N>, words: &[R]) -> usize {
        let Chosen { keys, rest, positions, count } = chosen;
        let (count, mut kept) = (*count, 0);
        for from in (0..count.min(N)).step_by(EIGHT) {
            let Some(eight) = positions[from..].first_chunk() else { break };
            let beyond = EIGHT.saturating_sub(count - from);
            let found = are_set(words, eight) & u8::MAX >> beyond;
            for values in [&mut *keys, &mut *rest] {
                let Some(source) = values[from..].first_chunk::<EIGHT>() else { break };
                // SAFETY: eight numbers of eight bytes; the load needs no alignment.
                let moved = unsafe { _mm512_loadu_epi64(source.as_ptr().cast()) };
                let moved = _mm512_maskz_compress_epi64(found, moved);
                // No more numbers are kept than have been read, so the eight numbers that are
                // overwritten here have already been read.
                let Some(target) = values[kept..].first_chunk_mut::<EIGHT>() else { break };
                // SAFETY: eight numbers of eight bytes; the store needs no alignment.
                unsafe { _mm512_storeu_epi64(target.as_mut_ptr().cast(), moved) };
            }
            kept += found.count_ones() as usize;
        }
        kept
    }

    /// Returns one bit for each position, which is 1 if the position is set.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn are_set<R: Reads>(words: &[R], positions: &Eight) -> u8 {
        if R::IS_SHARED {
            return one_by_one(words, positions);
        }
        const { assert!(R::IS_SHARED || size_of::<R>() == 8) };
        let (one, end) = (_mm512_set1_epi64(1), _mm512_set1_epi64(words.len() as i64));
        // SAFETY: eight numbers of eight bytes; the load needs no alignment.
        let eight: __m512i = unsafe { _mm512_loadu_epi64(positions.as_ptr().cast()) };
        let numbers = _mm512_srli_epi64::<6>(eight);
        let inside = _mm512_cmplt_epu64_mask(numbers, end);
        // SAFETY: the mask selects only numbers of words within the slice, so no other words are
        // read, and no thread changes these. The numbers fit into an `i64`, and a word has eight
        // bytes.
        let read = unsafe { _mm512_mask_i64gather_epi64::<8>(_mm512_setzero_si512(), inside, numbers, words.as_ptr().cast()) };
        // A rotation uses only the low six bits of the position.
        _mm512_test_epi64_mask(read, _mm512_rolv_epi64(one, eight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::{LANES, levels};
    use crate::hash::KeyHash;
    use crate::scheme::{Scheme, Standard};
    use proptest::prelude::*;
    use truebloom_math::mix;

    /// The expected answer for every lane, computed directly from the definition of a lookup.
    fn expected(words: &[u64], positions: &[Row]) -> u32 {
        let is_set = |position: u64| position / 64 < words.len() as u64 && words[(position / 64) as usize] & 1 << (position % 64) != 0;
        (0..LANES).filter(|lane| positions.iter().all(|Row(positions)| is_set(positions[*lane]))).fold(0, |found, lane| found | 1 << lane)
    }

    proptest! {
        /// Most bits of the words are set, so that some keys are contained. The positions are
        /// within the words, at their end, and far beyond.
        #[test]
        fn every_level_says_what_the_definition_says(sparse: Vec<u64>, probes in 0usize..12, seed: u64, beyond in 0u64..70) {
            let words: Vec<u64> = sparse.iter().map(|word| word | !(word.rotate_left(7) & word.rotate_left(23) & seed)).collect();
            let range = 64 * words.len() as u64 + beyond;
            let position = |probe: usize, lane: usize| {
                let drawn = mix(seed ^ (probe * LANES + lane) as u64);
                if drawn.is_multiple_of(97) { drawn } else { drawn % range.max(1) }
            };
            let positions: Vec<Row> = (0..probes).map(|probe| Row(core::array::from_fn(|lane| position(probe, lane)))).collect();
            let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
            let expected = expected(&words, &positions);
            for level in levels() {
                prop_assert_eq!(all_set_at(level, &words, &positions), expected, "{:?}", level);
                prop_assert_eq!(all_set_at(level, &bytes, &positions), expected, "{:?}, in bytes", level);
            }
        }
    }

    /// The answer for every lane, computed for one key at a time from the scheme's positions.
    /// `None` if a word is skipped.
    fn one_after_the_other(words: &[u64], scheme: &Standard, hashes: &[KeyHash; LANES]) -> Option<u32> {
        let draws = scheme.draws();
        let drawn = |hash: &KeyHash| {
            (0..draws.probes.div_ceil(draws.a_word)).map(|number| word((hash.h1, hash.h2), number.into())).collect::<Vec<_>>()
        };
        let skips = hashes.iter().any(|hash| drawn(hash).iter().any(|word| draws.tuples.skips(*word)));
        let is_set = |position: u64| words[(position / 64) as usize] & 1 << (position % 64) != 0;
        let contains = |lane: &usize| scheme.positions(hashes[*lane]).all(is_set);
        (!skips).then(|| (0..LANES).filter(contains).fold(0, |found, lane| found | 1 << lane))
    }

    proptest! {
        /// With fewer than 2^17 bits, a word gives three or more positions; with more than 2^26, it
        /// gives one. Seven of eight bits of the words are set.
        #[test]
        fn keys_together_are_looked_up_as_one_by_one(size in 0u32..28, more: u64, probes in 1u32..20, seed: u64) {
            let bits = (1 << size) + more % (1 << size);
            let scheme = Standard::new(bits, probes).expect("in range");
            let words: Vec<u64> = (0..bits.div_ceil(64)).map(|i| mix(seed ^ i) | mix(seed ^ i << 40) | !mix(seed ^ i << 20)).collect();
            let hashes: [KeyHash; LANES] = core::array::from_fn(|i| KeyHash { h1: mix(seed.wrapping_sub(i as u64)), h2: mix(!seed ^ i as u64) });
            let (first, second) = (hashes.map(|hash| hash.h1), hashes.map(|hash| hash.h2));
            for level in levels() {
                let found = all_probes_set(level, &words, scheme.draws(), &first, &second);
                prop_assert_eq!(found, one_after_the_other(&words, &scheme, &hashes), "{:?}", level);
            }
        }

        /// Positions lie inside of two words and beyond them.
        #[test]
        fn keys_whose_position_is_set_are_kept_in_order(words: [u64; 2], drawn in prop::collection::vec(0u64..140, 64), count in 0usize..=64) {
            let positions: [u64; 64] = drawn.try_into().expect("64");
            let all: [u64; 64] = core::array::from_fn(|key| key as u64);
            let is_set = |key: &u64| positions[*key as usize] < 128 && words[positions[*key as usize] as usize / 64] & 1 << (positions[*key as usize] % 64) != 0;
            let expected: Vec<u64> = all[..count].iter().copied().filter(is_set).collect();
            for level in levels() {
                let mut chosen = Chosen { keys: all, rest: all.map(mix), positions, count };
                chosen.keep(level, &words);
                let kept = &chosen.keys[..chosen.count];
                prop_assert_eq!(kept, &expected[..], "{:?}", level);
                prop_assert!(kept.iter().zip(&chosen.rest).all(|(key, rest)| *rest == mix(*key)));
            }
        }
    }

    /// A key with a skipped word must be handled alone. The test skips either half of the hash, in
    /// every lane.
    #[test]
    fn a_skipped_word_is_noticed() {
        let scheme = Standard::new(3 << 50, 4).expect("in range");
        let skipped = (0..u64::MAX).map(mix).find(|word| scheme.draws().tuples.skips(*word)).expect("one in four is");
        let taken = (0..u64::MAX).map(mix).find(|word| !scheme.draws().tuples.skips(*word)).expect("three of four are");
        assert_eq!(scheme.draws().a_word, 1);
        for level in levels() {
            for lane in 0..LANES {
                let mut first = [taken; LANES];
                first[lane] = skipped;
                assert_eq!(all_probes_set(level, &[0u64; 1], scheme.draws(), &first, &[taken; LANES]), None, "{level:?} {lane}");
                assert_eq!(all_probes_set(level, &[0u64; 1], scheme.draws(), &[taken; LANES], &first), None, "{level:?} {lane}");
            }
        }
    }
}
