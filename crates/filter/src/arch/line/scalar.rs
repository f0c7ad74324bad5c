//! The reference: one position after the other, with instructions of every processor.

use super::Line;
use crate::backing::Word;

/// Whether the first `probes` positions of the word, at most seven, are all set. Without branches,
/// as which positions are set cannot be guessed.
#[inline(always)]
pub(super) fn has<W: Word>(line: &Line<W>, word: u64, probes: u32) -> bool {
    (0..probes).fold(1, |all, probe| {
        let position = word >> (9 * probe);
        all & line[(position >> 6 & 7) as usize].get() >> (position & 63)
    }) == 1
}

/// [`has`] by a call, so that where there is something better it takes no room.
#[inline(never)]
pub(super) fn contains<W: Word>(line: &Line<W>, word: u64, probes: u32) -> bool {
    has(line, word, probes)
}

/// Sets the first `probes` positions of the word, at most seven, and says whether any of them
/// was 0.
#[inline(always)]
pub(super) fn set<W: Word>(line: &mut Line<W>, word: u64, probes: u32) -> bool {
    (0..probes).fold(0, |newly_set, probe| {
        let position = word >> (9 * probe);
        let (place, mask) = (&mut line[(position >> 6 & 7) as usize], 1 << (position & 63));
        let was = place.get();
        let new = !was & mask;
        *place = W::of(was | mask);
        newly_set | new
    }) != 0
}
