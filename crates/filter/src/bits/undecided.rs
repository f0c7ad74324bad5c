//! Looks up a batch of keys one probe at a time, and only for the keys that are still undecided.

use super::words::get;
use crate::arch::{Draws, LANES, Level, digits, first_digits, keep, prefetch, word};
use crate::bulk::{BATCH, BatchAnswers, Hashes, each, mark};
use crate::scheme::Standard;
use crate::word::Reads;

/// The keys of a batch, in order, whose bits were set at all probes so far.
struct Undecided<'a> {
    level: Level,
    scheme: &'a Standard,
    hashes: &'a Hashes,
    /// The index of each key in the batch.
    keys: [u64; BATCH],
    /// What remains of each key's present word after the positions that were drawn from it.
    rest: [u64; BATCH],
    /// The position of each key's present probe.
    positions: [u64; BATCH],
    /// The number of keys. Entries of the arrays beyond it have no meaning.
    count: usize,
    /// The keys with a skipped word; their positions are not those drawn here.
    skipping: BatchAnswers,
}

impl Undecided<'_> {
    /// Draws the position of this probe for each key, from its present word or from a new one.
    fn draw(&mut self, probe: u32) {
        let new_word = self.scheme.new_word(probe);
        for first in (0..self.count).step_by(LANES) {
            let (rest, positions) = (self.rest[first..].first_chunk_mut(), self.positions[first..].first_chunk_mut());
            let (Some(rest), Some(positions)) = (rest, positions) else { break };
            let Some(number) = new_word else {
                digits(self.level, rest, self.scheme.bits(), positions);
                continue;
            };
            let keys = &self.keys[first..self.count.min(first + LANES)];
            // The largest word is never skipped, so lanes without a key do not count as skipping.
            let mut words = [u64::MAX; LANES];
            words.iter_mut().zip(keys).for_each(|(new, key)| *new = word(self.hashes.halves(*key as usize), number));
            let Draws { bits, tuples, threshold, .. } = *self.scheme.draws();
            if !first_digits(self.level, &words, bits, tuples, threshold, positions, rest) {
                let skipping = words.iter().zip(keys).filter(|(word, _)| self.scheme.draws().skips(**word));
                skipping.for_each(|(_, key)| mark(&mut self.skipping, *key as usize, true));
            }
        }
    }

    /// Keeps the keys whose present position is set.
    fn keep<R: Reads>(&mut self, bits: &[R]) {
        self.count = keep(self.level, bits, &self.positions, &mut self.keys, &mut self.rest, self.count);
    }

    /// The answers, after the last probe.
    fn answers<R: Reads>(&self, bits: &[R]) -> BatchAnswers {
        let mut answers = BatchAnswers::default();
        self.keys[..self.count].iter().for_each(|key| mark(&mut answers, *key as usize, true));
        if self.skipping != BatchAnswers::default() {
            self.answer_alone(bits, &mut answers);
        }
        answers
    }

    /// Looks up, one by one, the keys with a skipped word, and replaces their answers.
    #[cold]
    fn answer_alone<R: Reads>(&self, bits: &[R], answers: &mut BatchAnswers) {
        answers.iter_mut().zip(self.skipping).for_each(|(answers, skipping)| *answers &= !skipping);
        let mut keys = 0..;
        each(&self.skipping, self.hashes.count(), |is_skipping| {
            let key = keys.next().unwrap_or(0);
            if is_skipping {
                mark(answers, key, self.scheme.positions(self.hashes.hash(key)).all(|position| get(bits, position)));
            }
        });
    }
}

/// Looks up one probe at a time, and only for the keys that are still undecided. If the filter is
/// larger than the cache, the next probe of each key is prefetched while the other keys are looked
/// up. If the filter fits in the cache, this is faster because keys are selected by arithmetic; a
/// branch would be mispredicted every other time.
///
/// A key with a skipped word is looked up alone at the end.
///
/// Returns `None` if most keys pass two probes, because then most keys are contained.
pub(super) fn survivors<R: Reads>(level: Level, is_far: bool, scheme: &Standard, bits: &[R], hashes: &Hashes) -> Option<BatchAnswers> {
    let count = hashes.count();
    let (keys, skipping) = (core::array::from_fn(|key| key as u64), BatchAnswers::default());
    let mut undecided = Undecided { level, scheme, hashes, keys, rest: [0; BATCH], positions: [0; BATCH], count, skipping };
    for probe in 0..scheme.probes() {
        undecided.draw(probe);
        if is_far {
            undecided.positions.iter().take(undecided.count).for_each(|position| prefetch(bits, position >> 6));
        }
        undecided.keep(bits);
        if probe == 1 && 2 * undecided.count > count {
            return None;
        }
        if undecided.count == 0 {
            break;
        }
    }
    Some(undecided.answers(bits))
}
