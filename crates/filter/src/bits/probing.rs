//! Batches of the standard scheme, whose probes can be anywhere.

use super::drawn::Drawn;
use super::undecided::survivors;
use super::{Bits, IN_CACHE, Spread};
use crate::arch::{LANES, Level, all_probes_set, all_set_at, gathers, prefetch};
use crate::backing::{Backing, Writable};
use crate::bulk::{Batch, BatchAnswers, Group, Hashes, mark};
use crate::scheme::{Batches, Doing, Scheme, Standard};
use crate::word::{Reads, is_set};

/// State that is kept between batches: whether the filter contained most keys of the last batch,
/// and a buffer for positions. The buffer is reused, because clearing a new buffer would take as
/// long as filling it.
pub struct Probing {
    level: Level,
    /// Whether prefetching the positions saves more time than it takes.
    is_far: bool,
    drawn: Drawn,
    /// Whether the filter contained most keys of the last batch. If so, it probably contains most
    /// keys of the next batch, too. The lookup of a contained key takes all its probes. The lookup
    /// of any other key takes only about two probes, if they are made one at a time.
    mostly_hits: bool,
}

impl Batches<Standard> for Probing {
    fn new(scheme: &Standard) -> Probing {
        Probing { level: Level::detect(), is_far: scheme.bits() > IN_CACHE, drawn: Drawn::new(scheme), mostly_hits: false }
    }

    /// These limits were measured with `bench/src/begin`. In a filter that fits in the cache, a
    /// batch of insertions into shared words is never faster than single insertions, because the
    /// keys of the batch are inserted one by one.
    fn few(scheme: &Standard, doing: Doing) -> usize {
        match (scheme.bits() > IN_CACHE, doing.inserts && doing.shared) {
            (true, true) => 4,
            (true, false) => 8,
            (false, true) => usize::MAX,
            (false, false) => 128,
        }
    }

    #[inline]
    fn contains<K: Backing>(&mut self, scheme: &Standard, storage: &Spread<K>, batch: Batch<'_>) -> BatchAnswers {
        self.look_up(scheme, &storage.bits.words()[..], batch.present)
    }

    #[inline]
    fn contains_shared<R: Reads>(&mut self, scheme: &Standard, _: Level, words: &[R], batch: Batch<'_>) -> BatchAnswers {
        self.look_up(scheme, words, batch.present)
    }

    #[inline]
    fn insert<K: Writable>(&mut self, scheme: &Standard, storage: &mut Spread<K>, batch: Batch<'_>) -> BatchAnswers {
        let (answers, newly_set) = self.set(scheme, &mut storage.bits, batch.present);
        *K::kept_mut(&mut storage.ones) += newly_set;
        answers
    }
}

impl Probing {
    /// Reports which keys of a batch are contained.
    #[inline]
    fn look_up<R: Reads>(&mut self, scheme: &Standard, bits: &[R], hashes: &Hashes) -> BatchAnswers {
        let decided = if self.mostly_hits { None } else { survivors(self.level, self.is_far, scheme, bits, hashes) };
        let answers = decided.unwrap_or_else(|| self.all_probes(scheme, bits, hashes));
        let hits: u32 = answers.iter().map(|word| word.count_ones()).sum();
        self.mostly_hits = 2 * hits as usize > hashes.count();
        answers
    }

    /// Looks up all probes of every key, without a branch.
    fn all_probes<R: Reads>(&mut self, scheme: &Standard, bits: &[R], hashes: &Hashes) -> BatchAnswers {
        let mut answers = BatchAnswers::default();
        for (number, group) in hashes.groups().enumerate() {
            let found = match (self.is_far, R::IS_SHARED) {
                (false, false) if gathers(self.level) => all_probes_set(self.level, bits, scheme.draws(), group.first, group.second),
                // No method was found that is faster than one key at a time.
                (false, true) => None,
                _ => self.look_ahead(scheme, bits, group).then(|| all_set_at(self.level, bits, self.drawn.rows())),
            };
            let one_by_one = || group.answers(|hash| scheme.all(hash, |position| is_set(bits, position)));
            let found = found.unwrap_or_else(one_by_one) & group.lanes();
            answers[number * LANES / 64] |= u64::from(found) << (number * LANES % 64);
        }
        answers
    }

    /// Sets the bits of a batch of keys in order. Returns which keys were new, and the number of
    /// bits newly set.
    #[inline]
    fn set<K: Writable>(&mut self, scheme: &Standard, bits: &mut Bits<K>, hashes: &Hashes) -> (BatchAnswers, u64) {
        let (mut answers, mut newly_set) = (BatchAnswers::default(), 0);
        for (number, group) in hashes.groups().enumerate() {
            let is_drawn = self.look_ahead(scheme, bits.words(), group);
            for lane in 0..group.count {
                let before = newly_set;
                if is_drawn {
                    let mut set = bits.setter();
                    self.drawn.of(lane).for_each(|position| newly_set += u64::from(set(position)));
                } else {
                    scheme.positions(group.hash(lane)).for_each(|position| newly_set += u64::from(bits.set(position)));
                }
                mark(&mut answers, number * LANES + lane, newly_set > before);
            }
        }
        (answers, newly_set)
    }

    /// Draws the positions of a group, and prefetches them if that saves time. Returns false if the
    /// keys must be handled one by one.
    #[inline(always)]
    fn look_ahead<R: Reads>(&mut self, scheme: &Standard, bits: &[R], group: Group<'_>) -> bool {
        let is_far = self.is_far;
        self.drawn.draw(self.level, scheme, group, |positions| {
            if is_far {
                positions.iter().take(group.count).for_each(|position| prefetch(bits, position >> 6));
            }
        })
    }
}
