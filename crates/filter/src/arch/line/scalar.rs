//! The reference: one position after the other, with instructions that every processor has.

use super::{Line, PROBES_A_WORD};
use crate::word::Word;

/// Whether the first `probes` (at most seven) positions of the word are all set. There is no branch
/// per position, because such a branch could not be predicted.
#[inline(always)]
pub(super) fn has<W: Word>(line: &Line<W>, word: u64, probes: u32) -> bool {
    (0..probes).fold(1, |all, probe| {
        let position = word >> (9 * probe);
        all & line[(position >> 6 & 7) as usize].get() >> (position & 63)
    }) == 1
}

/// Like [`has`], but never inlined, so that callers with a better kernel stay small.
#[inline(never)]
pub(super) fn contains<W: Word>(line: &Line<W>, word: u64, probes: u32) -> bool {
    has(line, word, probes)
}

/// Sets the first `probes` (at most fourteen) positions of the two words; returns true if at least
/// one of these bits was 0.
#[inline(always)]
pub(super) fn set<W: Word>(line: &mut Line<W>, first: u64, second: u64, probes: u32) -> bool {
    let of_second = probes.saturating_sub(PROBES_A_WORD);
    set_word(line, first, probes - of_second) | set_word(line, second, of_second)
}

#[inline(always)]
fn set_word<W: Word>(line: &mut Line<W>, word: u64, probes: u32) -> bool {
    (0..probes).fold(0, |newly_set, probe| {
        let position = word >> (9 * probe);
        let (place, mask) = (&mut line[(position >> 6 & 7) as usize], 1 << (position & 63));
        let was = place.get();
        let new = !was & mask;
        *place = W::of(was | mask);
        newly_set | new
    }) != 0
}
