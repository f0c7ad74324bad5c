//! The keys of a batch that are hashed, but not yet looked up.

use crate::arch::{Asked, LANES, Lanes, Level, PROBES_A_WORD, first_digits, words};
use crate::bulk::Batch;
use crate::bulk::{BATCH, Group};
use crate::scheme::InLines;
use alloc::vec;
use alloc::vec::Vec;
use truebloom_math::BLOCK_PROBES;

/// The largest number of stream words that a key needs for its positions, without the word that
/// selects the line.
const MAX_WORDS: usize = BLOCK_PROBES.div_ceil(PROBES_A_WORD) as usize;

/// The lines of a group of keys, and the words that encode their positions.
#[derive(Clone)]
struct Flight {
    lines: Lanes,
    words: [Lanes; MAX_WORDS],
    count: usize,
}

/// The number of groups in a batch.
const GROUPS: usize = BATCH / LANES;

/// A ring buffer for the groups of keys of one batch. It has one slot for each group of a batch,
/// and one spare slot. While one group is looked up, a group of the next batch is put into the
/// spare slot, and the cache lines of that group are prefetched. The ring is reused for every
/// batch, because initializing a new one would take as long as a lookup.
pub struct Flights {
    level: Level,
    scheme: InLines,
    ring: Vec<Flight>,
    /// The slot of the present group.
    present: usize,
}

impl Flights {
    pub(super) fn of(level: Level, scheme: &InLines) -> Flights {
        let flight = Flight { lines: [0; LANES], words: [[0; LANES]; MAX_WORDS], count: 0 };
        Flights { level, scheme: *scheme, ring: vec![flight; GROUPS + 1], present: 0 }
    }

    /// Calls `arrive` for each group of the present batch. `arrive` also gets the lines of a group
    /// of the next batch, and must prefetch them. Each line is therefore prefetched a whole batch
    /// before it is used, and only a few lines are requested at once. The lines of the first batch
    /// have no earlier batch, so they are all prefetched at the start, by calling `ask` for each
    /// line.
    #[inline(always)]
    pub(super) fn fly<M>(
        &mut self,
        Batch { present, following, is_first }: Batch<'_>,
        memory: &mut M,
        ask: impl Fn(&M, u64),
        mut arrive: impl FnMut(&mut M, usize, Asked<'_>),
    ) {
        if is_first {
            for (flight, group) in self.ring.iter_mut().zip(present.groups()) {
                flight.board(self.level, &self.scheme, group);
                flight.lines.iter().take(flight.count).for_each(|line| ask(memory, *line));
            }
        }
        let mut following = following.groups();
        for number in 0..GROUPS {
            // The spare slot: it is empty at the start, and later has the group that was looked up
            // in the previous step. The new group in this slot is looked up after a whole batch.
            let boarding = (self.present + GROUPS) % (GROUPS + 1);
            match following.next() {
                Some(group) => self.ring[boarding].board(self.level, &self.scheme, group),
                None => self.ring[boarding].count = 0,
            }
            let Flight { lines, words, count } = &self.ring[self.present];
            arrive(memory, number, Asked { lines, words, count: *count, ahead: &self.ring[boarding].lines });
            self.present = (self.present + 1) % (GROUPS + 1);
        }
    }
}

impl Flight {
    /// Replaces the present group by a new one, and computes the lines and words of the new group's
    /// keys.
    #[inline(always)]
    fn board(&mut self, level: Level, scheme: &InLines, group: Group<'_>) {
        let (mut room, mut rest) = ([0; LANES], [0; LANES]);
        self.count = group.count;
        let drawn = group.words(level, 0, &mut room);
        if !first_digits(level, drawn, scheme.lines(), scheme.draws(), &mut self.lines, &mut rest) {
            // A key that skips a word needs one word more than the other keys. This is rare in
            // filters with far fewer than 2^50 lines.
            return self.board_one_by_one(scheme, group);
        }
        for (number, drawn) in (1..).zip(self.words.iter_mut().take(scheme.words())) {
            words(level, group.first, group.second, number, drawn);
        }
    }

    #[cold]
    fn board_one_by_one(&mut self, scheme: &InLines, group: Group<'_>) {
        for lane in 0..group.count {
            let (line, mut stream) = scheme.line(group.hash(lane));
            self.lines[lane] = line;
            self.words.iter_mut().take(scheme.words()).for_each(|words| words[lane] = stream.next());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::levels;
    use crate::bulk::Hashes;
    use crate::hash::KeyHash;
    use crate::scheme::Scheme;

    /// Each key gets the same line and words in a batch as it gets alone. The test includes filters
    /// with so many lines that skipped words are common.
    #[test]
    fn keys_in_company_are_as_alone() {
        let all: Vec<KeyHash> =
            (0..400u128).map(|i| KeyHash::from_uniform_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834))).collect();
        let (mut present, mut following) = (Hashes::new(), Hashes::new());
        for bits in [512, 512 * 1000, (512 * 3) << 51, 1 << 62] {
            for probes in [1, 7, 8, 64] {
                let scheme = InLines::new(bits, probes).expect("in range");
                for level in levels() {
                    let mut flights = Flights::of(level, &scheme);
                    let left = present.take(&all);
                    following.take(left);
                    let empty = Hashes::new();
                    let first = Batch { present: &present, following: &following, is_first: true };
                    let second = Batch { present: &following, following: &empty, is_first: false };
                    for (batch, hashes) in [(first, &all[..BATCH]), (second, &all[BATCH..])] {
                        let mut keys = 0;
                        flights.fly(
                            batch,
                            &mut (),
                            |(), _| (),
                            |(), number, asked| {
                                for lane in 0..asked.count {
                                    let (line, mut stream) = scheme.line(hashes[number * LANES + lane]);
                                    let mut words = asked.words.iter().map(|words| words[lane]);
                                    assert_eq!(asked.lines[lane], line, "{level:?} {bits} lane {lane}");
                                    assert!(
                                        (0..probes.div_ceil(7)).all(|_| words.next() == Some(stream.next())),
                                        "{level:?} {bits} lane {lane}"
                                    );
                                    keys += 1;
                                }
                            },
                        );
                        assert_eq!(keys, hashes.len());
                    }
                }
            }
        }
    }
}
