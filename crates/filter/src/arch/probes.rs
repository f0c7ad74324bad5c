//! Lookups of many keys whose positions can be anywhere among the bits.

use super::{Lanes, Level};
use crate::word::Word;

/// The positions of one probe, one lane for each key, aligned to whole cache lines. In an unaligned
/// row, every vector of eight positions would lie in two lines. Unaligned rows made batches of hits
/// take up to 1.5 times as long.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Row(pub(crate) Lanes);

/// Looks up a group of keys. The result has one bit for each key, which is set if all positions of
/// the key are set. There is one row of positions for each probe. Positions beyond the end count as
/// unset.
///
/// There is no branch, because most of these keys are contained.
#[inline]
pub(crate) fn all_set_at<W: Word>(level: Level, words: &[W], positions: &[Row]) -> u32 {
    match level {
        // SAFETY: `Level::detect` makes this value only on processors that have the instructions.
        #[cfg(all(target_arch = "x86_64", feature = "simd"))]
        Level::Avx512 => unsafe { avx512::all_set_at(words, positions) },
        // AVX2 can gather four words at a time, but on many processors this is slower than reading
        // them one by one.
        _ => one_by_one(words, positions),
    }
}

fn one_by_one<W: Word>(words: &[W], positions: &[Row]) -> u32 {
    let is_set = |position: u64| words.get((position >> 6) as usize).map_or(0, |word| word.get() >> (position & 63)) & 1;
    let of_lane = |lane: usize| positions.iter().fold(1, |all, Row(positions)| all & is_set(positions[lane]));
    (0..super::LANES).fold(0, |found, lane| found | (of_lane(lane) as u32) << lane)
}

#[cfg(all(target_arch = "x86_64", feature = "simd"))]
mod avx512 {
    use super::{Row, Word};
    use core::arch::x86_64::{
        __m512i, _mm512_cmplt_epu64_mask, _mm512_loadu_epi64, _mm512_mask_i64gather_epi64, _mm512_rolv_epi64, _mm512_set1_epi64,
        _mm512_setzero_si512, _mm512_srli_epi64, _mm512_test_epi64_mask,
    };

    /// # Safety
    /// The processor has AVX-512 F.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn all_set_at<W: Word>(words: &[W], positions: &[Row]) -> u32 {
        const { assert!(size_of::<W>() == 8) };
        let (one, end) = (_mm512_set1_epi64(1), _mm512_set1_epi64(words.len() as i64));
        let mut found = 0;
        for first in (0..super::super::LANES).step_by(8) {
            let mut all = u8::MAX;
            for Row(positions) in positions {
                let Some(eight) = positions[first..].first_chunk::<8>() else { continue };
                // SAFETY: eight numbers of eight bytes; the load needs no alignment.
                let eight: __m512i = unsafe { _mm512_loadu_epi64(eight.as_ptr().cast()) };
                let numbers = _mm512_srli_epi64::<6>(eight);
                let inside = _mm512_cmplt_epu64_mask(numbers, end);
                // SAFETY: the mask selects only numbers of words within the slice, so no other
                // words are read. These numbers fit into an i64, and a word has eight bytes.
                let read = unsafe { _mm512_mask_i64gather_epi64::<8>(_mm512_setzero_si512(), inside, numbers, words.as_ptr().cast()) };
                // A rotation uses only the low six bits of the position.
                all &= _mm512_test_epi64_mask(read, _mm512_rolv_epi64(one, eight));
            }
            found |= u32::from(all) << first;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::{LANES, levels};
    use proptest::prelude::*;

    /// The expected answer for every lane, by the definition of a lookup.
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
                let drawn = truebloom_math::mix(seed ^ (probe * LANES + lane) as u64);
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
}
