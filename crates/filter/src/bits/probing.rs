//! Batches of the standard scheme, whose probes can be anywhere.

use super::drawn::Drawn;
use super::words::get;
use super::{Bits, IN_CACHE, Spread};
use crate::arch::{LANES, Level, all_probes_set, all_set_at, digits, first_digits, keep, prefetch, word};
use crate::backing::{Backing, Writable};
use crate::bulk::{BATCH, Batch, BatchAnswers, Group, Hashes, each, mark};
use crate::scheme::{Batches, Doing, Draws, Standard};
use crate::word::Word;

/// State that is kept from batch to batch: whether the last batch had mostly hits, and an array for
/// positions. The array is reused, because clearing it would take as long as filling it.
pub struct Probing {
    level: Level,
    /// Whether prefetching the positions saves more time than it takes.
    is_far: bool,
    drawn: Drawn,
    /// Whether most keys of the last batch were contained. If most were, most keys of the next
    /// batch probably are contained, too. A lookup of a contained key takes all its probes; any
    /// other lookup takes about two.
    mostly_hits: bool,
}

impl Batches<Standard> for Probing {
    fn new(scheme: &Standard) -> Probing {
        Probing { level: Level::detect(), is_far: scheme.bits() > IN_CACHE, drawn: Drawn::new(scheme), mostly_hits: false }
    }

    /// The limits were measured by `bench/src/begin`.
    fn few(scheme: &Standard, _: Doing) -> usize {
        if scheme.bits() > IN_CACHE { 8 } else { 128 }
    }

    #[inline]
    fn contains<K: Backing>(&mut self, scheme: &Standard, storage: &Spread<K>, batch: Batch<'_>) -> BatchAnswers {
        let (bits, hashes) = (&storage.bits.words()[..], batch.present);
        let decided = if self.mostly_hits { None } else { survivors(self.level, self.is_far, scheme, bits, hashes) };
        let answers = decided.unwrap_or_else(|| self.all_probes(scheme, bits, hashes));
        let hits: u32 = answers.iter().map(|word| word.count_ones()).sum();
        self.mostly_hits = 2 * hits as usize > hashes.count();
        answers
    }

    #[inline]
    fn insert<K: Writable>(&mut self, scheme: &Standard, storage: &mut Spread<K>, batch: Batch<'_>) -> BatchAnswers {
        let (answers, newly_set) = self.set(scheme, &mut storage.bits, batch.present);
        *K::kept_mut(&mut storage.ones) += newly_set;
        answers
    }
}

impl Probing {
    /// Looks up all probes of every key, without a branch.
    fn all_probes<W: Word>(&mut self, scheme: &Standard, bits: &[W], hashes: &Hashes) -> BatchAnswers {
        let mut answers = BatchAnswers::default();
        for (number, group) in hashes.groups().enumerate() {
            let found = if self.is_far {
                self.look_ahead(scheme, bits, group).then(|| all_set_at(self.level, bits, self.drawn.rows()))
            } else {
                all_probes_set(self.level, bits, scheme.draws(), group.first, group.second)
            };
            let one_by_one = || group.answers(|hash| scheme.positions(hash).all(|position| get(bits, position)));
            let found = found.unwrap_or_else(one_by_one) & group.lanes();
            answers[number * LANES / 64] |= u64::from(found) << (number * LANES % 64);
        }
        answers
    }

    /// Sets the bits of a batch of keys in order; returns which keys were new, and the number of
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
    fn look_ahead<W: Word>(&mut self, scheme: &Standard, bits: &[W], group: Group<'_>) -> bool {
        let is_far = self.is_far;
        self.drawn.draw(self.level, scheme, group, |positions| {
            if is_far {
                positions.iter().take(group.count).for_each(|position| prefetch(bits, position >> 6));
            }
        })
    }
}

/// Tests probe after probe, each only for the keys that are still undecided. If the filter is
/// larger than the cache, the next probe of each key is prefetched while the other keys are looked
/// up. If the filter fits in the cache, the gain is that keys are selected by arithmetic, instead
/// of by a branch that would be mispredicted every other time.
///
/// A key that skips a word is looked up alone at the end.
///
/// Returns `None` if most keys pass two probes, because then most keys are contained.
fn survivors<W: Word>(level: Level, is_far: bool, scheme: &Standard, bits: &[W], hashes: &Hashes) -> Option<BatchAnswers> {
    let (mut answers, mut alone) = (BatchAnswers::default(), BatchAnswers::default());
    let (mut keys, mut rest, mut positions) = (core::array::from_fn(|key| key as u64), [0; BATCH], [0; BATCH]);
    let mut count = hashes.count();
    for probe in 0..scheme.probes() {
        let new_word = scheme.new_word(probe);
        let groups = rest.as_chunks_mut().0.iter_mut().zip(positions.as_chunks_mut().0);
        for (group, (rest, positions)) in groups.take(count.div_ceil(LANES)).enumerate() {
            let Some(number) = new_word else {
                digits(level, rest, scheme.bits(), positions);
                continue;
            };
            let keys = &keys[group * LANES..count.min((group + 1) * LANES)];
            let mut words = [0; LANES];
            words.iter_mut().zip(keys).for_each(|(new, key)| *new = word(hashes.halves(*key as usize), number));
            let Draws { bits, tuples, threshold, .. } = *scheme.draws();
            if !first_digits(level, &words, bits, tuples, threshold, positions, rest) {
                let skipped = words.iter().zip(keys).filter(|(word, _)| scheme.draws().skips(**word));
                skipped.for_each(|(_, key)| mark(&mut alone, *key as usize, true));
            }
        }
        if is_far {
            positions.iter().take(count).for_each(|position| prefetch(bits, position >> 6));
        }
        count = keep(level, bits, &positions, &mut keys, &mut rest, count);
        if probe == 1 && 2 * count > hashes.count() {
            return None;
        }
        if count == 0 {
            break;
        }
    }
    keys[..count].iter().for_each(|key| mark(&mut answers, *key as usize, true));
    if alone != BatchAnswers::default() {
        answer_alone(scheme, bits, hashes, alone, &mut answers);
    }
    Some(answers)
}

/// Looks up these keys one by one, and replaces their previous answers.
#[cold]
fn answer_alone<W: Word>(scheme: &Standard, bits: &[W], hashes: &Hashes, alone: BatchAnswers, answers: &mut BatchAnswers) {
    answers.iter_mut().zip(alone).for_each(|(answers, alone)| *answers &= !alone);
    each(&alone, hashes.count(), {
        let mut key = 0;
        move |alone| {
            if alone {
                mark(answers, key, scheme.positions(hashes.hash(key)).all(|position| get(bits, position)));
            }
            key += 1;
        }
    });
}
