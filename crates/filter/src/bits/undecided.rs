//! Looks up a batch of keys, one probe at a time. A key whose bit is not set at a probe is dropped
//! from the following probes.

use crate::arch::{Chosen, LANES, Level, digits, first_digits, prefetch, word};
use crate::bulk::{BATCH, BatchAnswers, Hashes, each, mark};
use crate::scheme::Standard;
use crate::word::{Reads, is_set};

/// Those keys of a batch, in order, whose bits were set at all probes so far.
struct Undecided<'a> {
    level: Level,
    scheme: &'a Standard,
    hashes: &'a Hashes,
    /// The keys, by their index in the batch.
    chosen: Chosen<BATCH>,
    /// The keys with a skipped word. The positions that are drawn here are wrong for these keys.
    skipping: BatchAnswers,
}

impl Undecided<'_> {
    /// Draws the position of this probe for each key. The position is drawn from the key's present
    /// word or from a new word.
    fn draw(&mut self, probe: u32) {
        let new_word = self.scheme.new_word(probe);
        let Chosen { keys, rest, positions, count } = &mut self.chosen;
        let count = *count;
        for first in (0..count).step_by(LANES) {
            let (rest, positions) = (rest[first..].first_chunk_mut(), positions[first..].first_chunk_mut());
            let (Some(rest), Some(positions)) = (rest, positions) else { break };
            let Some(number) = new_word else {
                digits(self.level, rest, self.scheme.bits(), positions);
                continue;
            };
            let keys = &keys[first..count.min(first + LANES)];
            // The largest word is never skipped, so lanes without a key do not count as skipping.
            let mut words = [u64::MAX; LANES];
            words.iter_mut().zip(keys).for_each(|(new, key)| *new = word(self.hashes.halves(*key as usize), number));
            if !first_digits(self.level, &words, self.scheme.bits(), self.scheme.draws().tuples, positions, rest) {
                let skipping = words.iter().zip(keys).filter(|(word, _)| self.scheme.draws().tuples.skips(**word));
                skipping.for_each(|(_, key)| mark(&mut self.skipping, *key as usize, true));
            }
        }
    }

    /// The answers, after the last probe.
    fn answers<R: Reads>(&self, bits: &[R]) -> BatchAnswers {
        let mut answers = BatchAnswers::default();
        self.chosen.keys[..self.chosen.count].iter().for_each(|key| mark(&mut answers, *key as usize, true));
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
                mark(answers, key, self.scheme.positions(self.hashes.hash(key)).all(|position| is_set(bits, position)));
            }
        });
    }
}

/// Looks up a batch of keys, one probe at a time. Each probe is made only for the keys whose bits
/// were set at all earlier probes. If the filter is larger than the cache, the next probe of each
/// key is prefetched while the other keys are looked up. If the filter fits in the cache, this
/// method is still faster than single lookups, because it selects the remaining keys by arithmetic.
/// A branch would be mispredicted every other time.
///
/// A key with a skipped word is looked up alone at the end.
///
/// Returns `None` if the first two bits are set for more than half of the keys. Most keys are then
/// probably contained, and another method is faster.
pub(super) fn survivors<R: Reads>(level: Level, is_far: bool, scheme: &Standard, bits: &[R], hashes: &Hashes) -> Option<BatchAnswers> {
    let count = hashes.count();
    let mut undecided = Undecided { level, scheme, hashes, chosen: Chosen::first(count), skipping: BatchAnswers::default() };
    for probe in 0..scheme.probes() {
        undecided.draw(probe);
        let chosen = &mut undecided.chosen;
        if is_far {
            chosen.positions.iter().take(chosen.count).for_each(|position| prefetch(bits, position >> 6));
        }
        chosen.keep(level, bits);
        if probe == 1 && 2 * chosen.count > count {
            return None;
        }
        if chosen.count == 0 {
            break;
        }
    }
    Some(undecided.answers(bits))
}
