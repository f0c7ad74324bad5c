//! Computes the positions of a group of keys in vectors, with one lane for each key.

use crate::arch::{LANES, Lanes, Level, Row, digits, first_digits};
use crate::bulk::Group;
use crate::scheme::{Classic, Scheme, SideBySide, Standard};
use alloc::vec::Vec;

/// The largest number of probes for which positions are computed in vectors. Keys with more probes
/// (at rates below 1e-19) are handled one by one.
const MOST_TOGETHER: usize = 64;

/// A buffer for the positions of a group of keys, with one row for each probe. The buffer is reused
/// for every group, because clearing a new buffer would take as long as filling it.
pub(super) struct Drawn(Vec<Row>);

impl Drawn {
    /// Allocates the buffer for this scheme. The buffer is empty if keys of the scheme must be
    /// handled one by one.
    pub(super) fn new(scheme: &impl Scheme) -> Drawn {
        let probes = Some(scheme.probes() as usize).filter(|probes| *probes <= MOST_TOGETHER).unwrap_or(0);
        Drawn(alloc::vec![Row([0; LANES]); probes])
    }

    /// Draws the positions of a group, and passes the positions of each probe to `drawn`. Returns
    /// false if there are too many probes, or if a key skips a word. The keys must then be handled
    /// one by one.
    #[inline(always)]
    pub(super) fn draw(&mut self, level: Level, scheme: &impl SideBySide, group: Group<'_>, mut drawn: impl FnMut(&Lanes)) -> bool {
        let mut rest = [0; LANES];
        for (probe, Row(positions)) in (0..).zip(&mut self.0) {
            if !scheme.draw(level, group, probe, &mut rest, positions) {
                return false;
            }
            drawn(positions);
        }
        !self.0.is_empty()
    }

    /// The positions of each probe.
    pub(super) fn rows(&self) -> &[Row] {
        &self.0
    }

    /// The positions of one key.
    #[inline(always)]
    pub(super) fn of(&self, lane: usize) -> impl Iterator<Item = u64> {
        self.0.iter().map(move |Row(positions)| positions[lane % LANES])
    }
}

impl SideBySide for Classic {}

impl SideBySide for Standard {
    /// Draws the positions of one probe from the unused digits of the current words, or from new
    /// words.
    #[inline(always)]
    fn draw(&self, level: Level, group: Group<'_>, probe: u32, rest: &mut Lanes, positions: &mut Lanes) -> bool {
        let Some(number) = self.new_word(probe) else {
            digits(level, rest, self.bits(), positions);
            return true;
        };
        let mut room = [0; LANES];
        let words = group.words(level, number, &mut room);
        first_digits(level, words, self.bits(), self.draws().tuples, positions, rest)
    }
}
