//! All positions of a word at once, a 64-bit lane each: the line is one register, and one
//! permutation fetches from it.

use super::{Asked, Line, PROBES_A_WORD, SHIFTS, each_key, set_each_key};
use crate::word::{Reads, Word};
use core::arch::x86_64::{
    __m512i, _mm512_and_epi64, _mm512_andnot_epi64, _mm512_cmpeq_epi64_mask, _mm512_loadu_epi64, _mm512_mask_or_epi64, _mm512_or_epi64,
    _mm512_permutexvar_epi64, _mm512_rolv_epi64, _mm512_set_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64,
    _mm512_srlv_epi64, _mm512_storeu_epi64, _mm512_test_epi64_mask, _mm512_testn_epi64_mask,
};

/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn has<W: Word>(line: &Line<W>, word: u64, probes: u32) -> bool {
    const { assert!(size_of::<Line<W>>() == 64) };
    // SAFETY: eight words of eight bytes, the load needs no alignment, and the processor has the
    // instructions.
    unsafe { has_in(_mm512_loadu_epi64(line.as_ptr().cast()), word, probes) }
}

/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn has_in(line: __m512i, word: u64, probes: u32) -> bool {
    let shifts = &SHIFTS[(probes & 7) as usize];
    // SAFETY: eight words of eight bytes, the load needs no alignment, and the processor has the
    // instructions.
    unsafe {
        let shifts: __m512i = _mm512_loadu_epi64(shifts.as_ptr().cast());
        // The position is in the low nine bits of its lane. What is above does not count: a
        // rotation looks at six bits, a permutation at three.
        let positions = _mm512_srlv_epi64(_mm512_set1_epi64(word as i64), shifts);
        let bits = _mm512_rolv_epi64(_mm512_set1_epi64(1), positions);
        let words = _mm512_permutexvar_epi64(_mm512_srli_epi64::<6>(positions), line);
        _mm512_testn_epi64_mask(words, bits) == 0
    }
}

/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn set_positions<W: Word>(line: &mut Line<W>, word: u64, probes: u32) -> bool {
    const { assert!(size_of::<Line<W>>() == 64) };
    let shifts = &SHIFTS[(probes & 7) as usize];
    // SAFETY: both are eight words of eight bytes long, loads and stores need no alignment, and the
    // processor has the instructions.
    unsafe {
        let shifts: __m512i = _mm512_loadu_epi64(shifts.as_ptr().cast());
        let positions = _mm512_srlv_epi64(_mm512_set1_epi64(word as i64), shifts);
        let bits = _mm512_rolv_epi64(_mm512_set1_epi64(1), positions);
        let places = _mm512_and_epi64(_mm512_srli_epi64::<6>(positions), _mm512_set1_epi64(7));
        // Position after position into the word of the line where it belongs: two may have the
        // same.
        let each_place = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        let mut mask = _mm512_setzero_si512();
        for lane in 0..i64::from(PROBES_A_WORD) {
            let lane = _mm512_set1_epi64(lane);
            let here = _mm512_cmpeq_epi64_mask(each_place, _mm512_permutexvar_epi64(lane, places));
            mask = _mm512_mask_or_epi64(mask, here, mask, _mm512_permutexvar_epi64(lane, bits));
        }
        let before: __m512i = _mm512_loadu_epi64(line.as_ptr().cast());
        _mm512_storeu_epi64(line.as_mut_ptr().cast(), _mm512_or_epi64(before, mask));
        let new = _mm512_andnot_epi64(before, mask);
        _mm512_test_epi64_mask(new, new) != 0
    }
}

/// # Safety
/// The processor has AVX-512 F.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn set<W: Word>(line: &mut Line<W>, word: u64, probes: u32) -> bool {
    // SAFETY: as the caller promised.
    unsafe { set_positions(line, word, probes) }
}

/// # Safety
/// The processor has AVX-512 F.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn insert_group<W: Word>(lines: &mut [Line<W>], asked: Asked<'_>, probes: u32) -> u32 {
    // SAFETY: as the caller promised.
    let set = |line: &mut Line<W>, word, probes| unsafe { set_positions(line, word, probes) };
    set_each_key(set, lines, asked, probes)
}

/// # Safety
/// The processor has AVX-512 F.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn contains<W: Word>(line: &Line<W>, word: u64, probes: u32) -> bool {
    // SAFETY: as the caller promised.
    unsafe { has(line, word, probes) }
}

/// Each word is read by itself, into the register: through memory, all of them would have to be
/// written before the line could be read.
///
/// # Safety
/// The processor has AVX-512 F.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn contains_shared<R: Reads>(line: &[R; 8], word: u64, probes: u32) -> bool {
    let [a, b, c, d, e, f, g, h] = line.each_ref().map(|word| word.read() as i64);
    // SAFETY: as the caller promised.
    unsafe { has_in(_mm512_set_epi64(h, g, f, e, d, c, b, a), word, probes) }
}

/// # Safety
/// The processor has AVX-512 F.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn contains_group<W: Word>(lines: &[Line<W>], asked: Asked<'_>, probes: u32) -> u32 {
    // SAFETY: as the caller promised.
    let has = |line: &Line<W>, word, probes| unsafe { has(line, word, probes) };
    each_key(has, lines, asked, probes)
}
