//! Batches of the standard scheme, whose probes can be anywhere.

use super::drawn::Drawn;
use super::words::get;
use super::{Bits, IN_CACHE, Spread};
use crate::arch::{LANES, Level, all_set_at, prefetch, word};
use crate::backing::{Backing, Writable};
use crate::bulk::{BATCH, Batch, BatchAnswers, Group, Hashes, each, mark};
use crate::scheme::{Batches, Doing, SideBySide, Standard, digit};
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
        let decided = if self.mostly_hits { None } else { survivors(self.level, scheme, bits, hashes) };
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
            let found = if self.look_ahead(scheme, bits, group) {
                all_set_at(self.level, bits, self.drawn.rows()) & group.lanes()
            } else {
                group.answers(|hash| scheme.positions(hash).all(|position| get(bits, position)))
            };
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
/// The first two positions are computed for all keys together, because half of the keys need the
/// second; later ones are computed key by key. Keys that skip a word are looked up one by one at
/// the end.
///
/// Returns `None` if most keys pass two probes, because then most keys are contained.
fn survivors<W: Word>(level: Level, scheme: &Standard, bits: &[W], hashes: &Hashes) -> Option<BatchAnswers> {
    let (mut first, mut second, mut rest) = ([0; BATCH], [0; BATCH], [0; BATCH]);
    let (mut answers, mut alone) = (BatchAnswers::default(), BatchAnswers::default());
    let lanes = first.as_chunks_mut().0.iter_mut().zip(second.as_chunks_mut().0).zip(rest.as_chunks_mut().0);
    for (number, (group, ((first, second), rest))) in hashes.groups().zip(lanes).enumerate() {
        let mut drawn = scheme.draw(level, group, 0, rest, first);
        first.iter().take(group.count).for_each(|position| prefetch(bits, position >> 6));
        drawn &= scheme.draw(level, group, 1, rest, second);
        if !drawn {
            (0..group.count).for_each(|lane| mark(&mut alone, number * LANES + lane, true));
        }
    }
    let mut alive: [u8; BATCH] = core::array::from_fn(|key| key as u8);
    let mut count = keep(&mut alive, hashes.count(), bits, &first);
    let mut positions = second;
    for probe in 1..scheme.probes() {
        let new_word = scheme.new_word(probe);
        for key in &alive[..count] {
            let key = usize::from(*key);
            if probe > 1 {
                if let Some(number) = new_word {
                    rest[key] = word(hashes.halves(key), number);
                    mark(&mut alone, key, scheme.draws().skips(rest[key]));
                }
                (positions[key], rest[key]) = digit(rest[key], scheme.bits());
            }
            prefetch(bits, positions[key] >> 6);
        }
        count = keep(&mut alive, count, bits, &positions);
        if probe == 1 && 2 * count > hashes.count() {
            return None;
        }
        if count == 0 {
            break;
        }
    }
    alive[..count].iter().for_each(|key| mark(&mut answers, usize::from(*key), true));
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

/// Keeps those of the first `count` keys whose position is set, in order, and returns their number.
#[inline(always)]
fn keep<W: Word>(alive: &mut [u8; BATCH], count: usize, bits: &[W], positions: &[u64; BATCH]) -> usize {
    let mut kept = 0;
    for i in 0..count {
        let key = alive[i];
        alive[kept] = key;
        kept += usize::from(get(bits, positions[usize::from(key)]));
    }
    kept
}
