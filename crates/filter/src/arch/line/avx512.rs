//! All positions of a word at once, a 64-bit lane each: the line is one register, and one permutation fetches from it.

use super::{Flight, Line, SHIFTS, all_set, each_key};
use crate::bulk::Answers;
use crate::scheme::Words;
use std::arch::x86_64::{
    __m512i, _mm512_loadu_epi64, _mm512_permutexvar_epi64, _mm512_rolv_epi64, _mm512_set1_epi64, _mm512_srli_epi64, _mm512_srlv_epi64,
    _mm512_testn_epi64_mask,
};

/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn has(line: &Line, word: u64, probes: u32) -> bool {
    let shifts = &SHIFTS[(probes & 7) as usize];
    // SAFETY: both are eight words long, the loads need no alignment, and the processor has the instructions.
    unsafe {
        let (line, shifts): (__m512i, __m512i) = (_mm512_loadu_epi64(line.as_ptr().cast()), _mm512_loadu_epi64(shifts.as_ptr().cast()));
        // The position is in the low nine bits of its lane. What is above does not count: a rotation looks at six bits, a permutation at three.
        let positions = _mm512_srlv_epi64(_mm512_set1_epi64(word as i64), shifts);
        let bits = _mm512_rolv_epi64(_mm512_set1_epi64(1), positions);
        let words = _mm512_permutexvar_epi64(_mm512_srli_epi64::<6>(positions), line);
        _mm512_testn_epi64_mask(words, bits) == 0
    }
}

/// # Safety
/// The processor has AVX-512 F.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn contains(line: &Line, mut words: Words, probes: u32) -> bool {
    // SAFETY: as the caller promised.
    let has = |line: &Line, word, probes| unsafe { has(line, word, probes) };
    all_set(has, line, || words.next(), probes)
}

/// # Safety
/// The processor has AVX-512 F.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn contains_batch(lines: &[Line], flight: &Flight, probes: u32) -> Answers {
    // SAFETY: as the caller promised.
    let has = |line: &Line, word, probes| unsafe { has(line, word, probes) };
    each_key(has, lines, flight, probes)
}
