//! All positions of a word are tested at once, each in a 64-bit lane: the line is in one register,
//! and one permutation fetches from it.

use super::{Asked, LINE_BITS, Line, PROBES_A_WORD, SHIFTS, each_key, set_each_key};
use crate::word::{Reads, Word};
use core::arch::x86_64::{
    __m512i, _mm512_andnot_epi64, _mm512_loadu_epi64, _mm512_mask_or_epi64, _mm512_or_epi64, _mm512_permutexvar_epi64, _mm512_rolv_epi64,
    _mm512_set_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64, _mm512_srlv_epi64, _mm512_storeu_epi64,
    _mm512_test_epi64_mask, _mm512_testn_epi64_mask, _mm512_xor_epi64,
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
        // The position is in the low nine bits of its lane. The higher bits have no effect: a
        // rotation uses only six bits, and a permutation three.
        let positions = _mm512_srlv_epi64(_mm512_set1_epi64(word as i64), shifts);
        let bits = _mm512_rolv_epi64(_mm512_set1_epi64(1), positions);
        let words = _mm512_permutexvar_epi64(_mm512_srli_epi64::<6>(positions), line);
        _mm512_testn_epi64_mask(words, bits) == 0
    }
}

/// Two constants for each number of probes: a mask that selects the bits of a word that are used,
/// and a factor that copies the word's first position to the unused places.
const KEPT: [(u64, u64); PROBES_A_WORD as usize + 1] = {
    let mut kept = [(0, 0); PROBES_A_WORD as usize + 1];
    let mut probes = 0;
    while probes < kept.len() {
        let mut place = 0;
        while place < PROBES_A_WORD as usize {
            if place < probes {
                kept[probes].0 |= (LINE_BITS - 1) << (9 * place)
            } else {
                kept[probes].1 |= 1 << (9 * place)
            }
            place += 1;
        }
        probes += 1;
    }
    kept
};

/// A line in which only the first `probes` positions of the word are set.
///
/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn line_of(word: u64, probes: u32) -> __m512i {
    let (kept, repeated) = KEPT[(probes & 7) as usize];
    let word = (word & kept) | ((word & (LINE_BITS - 1)) * repeated);
    // SAFETY: the processor has the instructions.
    unsafe {
        let word = _mm512_set1_epi64(word as i64);
        let ones = |number: i64| number * 0x0040_2010_0804_0201;
        let numbers = _mm512_set_epi64(ones(7) << 6, ones(6) << 6, ones(5) << 6, ones(4) << 6, ones(3) << 6, ones(2) << 6, ones(1) << 6, 0);
        let apart = _mm512_xor_epi64(word, numbers);
        let one = _mm512_set1_epi64(1);
        let mut line = _mm512_setzero_si512();
        macro_rules! add {
            ($($place:literal)*) => {
                $({
                    let here = _mm512_testn_epi64_mask(apart, _mm512_set1_epi64(7 << (9 * $place + 6)));
                    let bit = _mm512_rolv_epi64(one, _mm512_srli_epi64::<{ 9 * $place }>(word));
                    line = _mm512_mask_or_epi64(line, here, line, bit);
                })*
            };
        }
        add!(0 1 2 3 4 5 6);
        line
    }
}

/// Sets the positions of both words with one read and one write of the line. A second read would
/// have to wait for the first write.
///
/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn set_positions<W: Word>(line: &mut Line<W>, first: u64, second: u64, probes: u32) -> bool {
    const { assert!(size_of::<Line<W>>() == 64) };
    // SAFETY: a line is eight words of eight bytes long, loads and stores need no alignment, and
    // the processor has the instructions.
    unsafe {
        let mut mask = line_of(first, probes.min(PROBES_A_WORD));
        if probes > PROBES_A_WORD {
            mask = _mm512_or_epi64(mask, line_of(second, probes - PROBES_A_WORD));
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
pub(super) unsafe fn set<W: Word>(line: &mut Line<W>, first: u64, second: u64, probes: u32) -> bool {
    // SAFETY: as the caller promised.
    unsafe { set_positions(line, first, second, probes) }
}

/// # Safety
/// The processor has AVX-512 F.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn insert_group<W: Word>(lines: &mut [Line<W>], asked: Asked<'_>, probes: u32) -> u32 {
    // SAFETY: as the caller promised.
    let set = |line: &mut Line<W>, first, second, probes| unsafe { set_positions(line, first, second, probes) };
    set_each_key(set, lines, asked, probes)
}

/// # Safety
/// The processor has AVX-512 F.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn contains<W: Word>(line: &Line<W>, word: u64, probes: u32) -> bool {
    // SAFETY: as the caller promised.
    unsafe { has(line, word, probes) }
}

/// Each word is loaded separately into the register. If the words were first copied to memory,
/// reading the line would have to wait for these writes.
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
