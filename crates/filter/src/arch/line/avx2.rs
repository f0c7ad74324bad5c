//! All positions of a word are tested at once, each in a 32-bit lane. The line is in two registers.
//! A permutation fetches from each register, and the top bit of the position chooses between the
//! two results.

use super::{Asked, Line, SHIFTS, each_key};
use crate::word::Word;
use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_blendv_ps, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_loadu_si256, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_shuffle_ps, _mm256_slli_epi32, _mm256_sllv_epi32, _mm256_srli_epi32, _mm256_srlv_epi64,
    _mm256_testc_si256,
};

/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn has<W: Word>(line: &Line<W>, word: u64, probes: u32) -> bool {
    const { assert!(size_of::<Line<W>>() == 64) };
    let shifts = &SHIFTS[(probes & 7) as usize];
    // SAFETY: the line and the shifts are each two registers long, the loads need no alignment, and
    // the processor has the instructions.
    unsafe {
        let load = |words: *const __m256i, half: usize| -> __m256i { _mm256_loadu_si256(words.add(half)) };
        let (line, shifts): (*const __m256i, *const __m256i) = (line.as_ptr().cast(), shifts.as_ptr().cast());
        let word = _mm256_set1_epi64x(word as i64);
        let (low, high) = (_mm256_srlv_epi64(word, load(shifts, 0)), _mm256_srlv_epi64(word, load(shifts, 1)));
        // Takes the low halves of all eight lanes; their order does not matter.
        let positions = _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)));
        let bits = _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(positions, _mm256_set1_epi32(31)));
        // A permutation uses only the low three bits of its index, so the higher bits need no
        // masking.
        let index = _mm256_srli_epi32::<5>(positions);
        let fetch = |half| _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(load(line, half), index));
        let second_half = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(positions));
        let words = _mm256_castps_si256(_mm256_blendv_ps(fetch(0), fetch(1), second_half));
        _mm256_testc_si256(words, bits) == 1
    }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn contains<W: Word>(line: &Line<W>, word: u64, probes: u32) -> bool {
    // SAFETY: as the caller promised.
    unsafe { has(line, word, probes) }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn contains_group<W: Word>(lines: &[Line<W>], asked: Asked<'_>, probes: u32) -> u32 {
    // SAFETY: as the caller promised.
    let has = |line: &Line<W>, word, probes| unsafe { has(line, word, probes) };
    each_key(has, lines, asked, probes)
}
