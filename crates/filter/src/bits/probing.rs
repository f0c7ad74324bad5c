//! Batches of the standard scheme, whose probes can be anywhere.

use super::words::get;
use super::{Bits, IN_CACHE, Spread};
use crate::arch::{LANES, Lanes, Level, all_set_at, digits, first_digits, prefetch, word};
use crate::backing::{Backing, Writable};
use crate::bulk::{BATCH, Batch, BatchAnswers, Group, Hashes, each, mark};
use crate::scheme::{Batches, Doing, Standard, digit};
use crate::word::Word;

/// The largest number of probes that are computed in advance. A key with more probes, at rates
/// below 1e-9, is handled alone.
const MOST_AHEAD: usize = 32;

/// State that is reused from batch to batch: room for positions, because clearing it would take as
/// long as filling it, and the hit rate of the last batch.
pub struct Probing {
    level: Level,
    /// Whether prefetching the positions is worth its time.
    is_far: bool,
    /// One row per probe, one lane per key. The array is flat, because the compiler clears an array
    /// of arrays element by element, with 512 instructions.
    ahead: Ahead,
    /// Whether most keys of the last batch were contained, and so probably of the next: a key that
    /// is contained needs all its probes, another needs about two.
    mostly_hits: bool,
}

/// Positions at whole cache lines: otherwise every vector of eight would lie in two, which made
/// batches of hits take up to half as long again, depending on where the stack began.
#[repr(align(64))]
struct Ahead([u64; MOST_AHEAD * LANES]);

impl Batches<Standard> for Probing {
    fn new(scheme: &Standard) -> Probing {
        Probing { level: Level::detect(), is_far: scheme.bits() > IN_CACHE, ahead: Ahead([0; MOST_AHEAD * LANES]), mostly_hits: false }
    }

    /// The numbers were measured by `bench/src/begin`.
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
            let found = match self.look_ahead(scheme, bits, group) {
                Some(probes) => all_set_at(self.level, bits, &self.ahead.0.as_chunks().0[..probes]) & group.lanes(),
                None => group.answers(|hash| scheme.positions(hash).all(|position| get(bits, position))),
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
            let known = self.look_ahead(scheme, bits.words(), group);
            for lane in 0..group.count {
                let before = newly_set;
                match known {
                    Some(probes) => {
                        let mut set = bits.setter();
                        self.positions(probes, lane).for_each(|position| newly_set += u64::from(set(position)));
                    }
                    None => scheme.positions(group.hash(lane)).for_each(|position| newly_set += u64::from(bits.set(position))),
                }
                mark(&mut answers, number * LANES + lane, newly_set > before);
            }
        }
        (answers, newly_set)
    }

    /// The positions of one key of the group that was prefetched.
    #[inline(always)]
    fn positions(&self, probes: usize, lane: usize) -> impl Iterator<Item = u64> {
        self.ahead.0.as_chunks::<LANES>().0[..probes].iter().map(move |positions| positions[lane])
    }

    /// Computes the positions of a group, prefetches them if that is worth its time, and returns
    /// how many each key has; `None` if keys must be handled alone: with too many probes, or if a
    /// word is skipped.
    #[inline(always)]
    fn look_ahead<W: Word>(&mut self, scheme: &Standard, bits: &[W], group: Group<'_>) -> Option<usize> {
        let ahead = self.ahead.0.as_chunks_mut().0.get_mut(..scheme.probes() as usize)?;
        let mut rest = [0; LANES];
        for (probe, positions) in (0..).zip(ahead) {
            if !draw(self.level, scheme, group, probe, &mut rest, positions) {
                return None;
            }
            if self.is_far {
                positions.iter().take(group.count).for_each(|position| prefetch(bits, position >> 6));
            }
        }
        Some(scheme.probes() as usize)
    }
}

/// Computes the positions of this probe, from what is left of the words or from new ones. Returns
/// false if a key would have to skip its word.
#[inline(always)]
pub(super) fn draw(level: Level, scheme: &Standard, group: Group<'_>, probe: u32, rest: &mut Lanes, positions: &mut Lanes) -> bool {
    let Some(number) = scheme.new_word(probe) else {
        digits(level, rest, scheme.bits(), positions);
        return true;
    };
    let mut room = [0; LANES];
    let words = group.words(level, number, &mut room);
    first_digits(level, words, scheme.bits(), scheme.draws().tuples, scheme.draws().threshold, positions, rest)
}

/// Goes through the probes one after the other, and only through the keys that are still undecided.
/// In memory, the next probe of each key is prefetched while the others are looked up. In cache,
/// the gain is that no branch is mispredicted: a key is kept or dropped by arithmetic instead of by
/// a branch that is wrong every other time.
///
/// The first two positions are computed for all keys side by side, because half of them need the
/// second; later ones are computed key by key. A key that skips a word is answered alone at the
/// end.
///
/// Returns `None` if most keys survive two probes, because then most keys are contained.
fn survivors<W: Word>(level: Level, scheme: &Standard, bits: &[W], hashes: &Hashes) -> Option<BatchAnswers> {
    let (mut first, mut second, mut rest) = ([0; BATCH], [0; BATCH], [0; BATCH]);
    let (mut answers, mut alone) = (BatchAnswers::default(), BatchAnswers::default());
    let lanes = first.as_chunks_mut().0.iter_mut().zip(second.as_chunks_mut().0).zip(rest.as_chunks_mut().0);
    for (number, (group, ((first, second), rest))) in hashes.groups().zip(lanes).enumerate() {
        let mut drawn = draw(level, scheme, group, 0, rest, first);
        first.iter().take(group.count).for_each(|position| prefetch(bits, position >> 6));
        drawn &= draw(level, scheme, group, 1, rest, second);
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

/// Answers these keys one by one, and replaces earlier answers.
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
