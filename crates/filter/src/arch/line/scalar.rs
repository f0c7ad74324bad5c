//! The reference: one position after the other, with instructions of every processor.

use super::Line;

/// Whether the first `probes` positions of the word, at most seven, are all set. Without branches, as which positions are set cannot be guessed.
#[inline(always)]
pub(super) fn has(line: &Line, word: u64, probes: u32) -> bool {
    (0..probes).fold(1, |all, probe| {
        let position = word >> (9 * probe);
        all & line[(position >> 6 & 7) as usize] >> (position & 63)
    }) == 1
}

/// Sets the first `probes` positions of the word, at most seven; not 0 if any of them was.
#[inline(always)]
pub(super) fn set(line: &mut Line, word: u64, probes: u32) -> u64 {
    (0..probes).fold(0, |newly_set, probe| {
        let position = word >> (9 * probe);
        let (place, mask) = (&mut line[(position >> 6 & 7) as usize], 1 << (position & 63));
        let new = !*place & mask;
        *place |= mask;
        newly_set | new
    })
}
