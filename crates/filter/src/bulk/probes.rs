//! Batches on the standard filter, whose probes lie anywhere.

use super::{Answers, BATCH, mark};
use crate::arch::{Level, Streams, prefetch};
use crate::bits::Bits;
use crate::hash::KeyHash;
use crate::scheme::{Standard, Words};

/// Keys whose positions are all asked for at a time: more lines than that only push each other out.
const GROUP: usize = 32;

/// Probes that are asked for ahead. A key with more, at rates below 1e-19, goes alone.
const MOST_AHEAD: usize = 64;

/// What is kept from batch to batch: room for positions, which would take as long to clear as to fill, and how the last batch went.
pub(crate) struct Probing {
    level: Level,
    /// Probe by probe, a lane a key.
    ahead: [[u64; GROUP]; MOST_AHEAD],
    /// What passes needs all its probes, what does not needs two: the last batch says what to expect of the next.
    mostly_hits: bool,
}

impl Probing {
    pub(crate) fn new() -> Probing {
        Probing { level: Level::detect(), ahead: [[0; GROUP]; MOST_AHEAD], mostly_hits: false }
    }

    /// Which of at most [`BATCH`] keys are contained.
    #[inline]
    pub(crate) fn contains(&mut self, scheme: &Standard, bits: &Bits, hashes: &[KeyHash]) -> Answers {
        let answers = if self.mostly_hits { self.all_probes(scheme, bits, hashes) } else { survivors(self.level, scheme, bits, hashes) };
        let hits: u32 = answers.iter().map(|word| word.count_ones()).sum();
        self.mostly_hits = 2 * hits as usize > hashes.len();
        answers
    }

    /// All probes of every key, asked for ahead, and looked at without a branch.
    fn all_probes(&mut self, scheme: &Standard, bits: &Bits, hashes: &[KeyHash]) -> Answers {
        let mut answers = Answers::default();
        for (group, hashes) in hashes.chunks(GROUP).enumerate() {
            let known = self.look_ahead(scheme, bits, hashes);
            for (i, hash) in hashes.iter().enumerate() {
                let found = match known {
                    Some(probes) => self.ahead[..probes].iter().fold(true, |all, positions| all & bits.get(positions[i % GROUP])),
                    None => scheme.positions(*hash).all(|position| bits.get(position)),
                };
                mark(&mut answers, group * GROUP + i, found);
            }
        }
        answers
    }

    /// Inserts at most [`BATCH`] keys in order: which of them were new, and the number of bits newly set.
    #[inline]
    pub(crate) fn insert(&mut self, scheme: &Standard, bits: &mut Bits, hashes: &[KeyHash]) -> (Answers, u64) {
        let (mut answers, mut newly_set) = (Answers::default(), 0);
        for (group, hashes) in hashes.chunks(GROUP).enumerate() {
            let known = self.look_ahead(scheme, bits, hashes);
            for (i, hash) in hashes.iter().enumerate() {
                let before = newly_set;
                match known {
                    Some(probes) => {
                        self.ahead[..probes].iter().for_each(|positions| newly_set += u64::from(bits.set(positions[i % GROUP])));
                    }
                    None => scheme.positions(*hash).for_each(|position| newly_set += u64::from(bits.set(position))),
                }
                mark(&mut answers, group * GROUP + i, newly_set > before);
            }
        }
        (answers, newly_set)
    }

    /// The positions of a group on their way to the cache, and how many each key has; `None` where keys go alone: with too many probes, or when a word is skipped.
    #[inline(always)]
    fn look_ahead(&mut self, scheme: &Standard, bits: &Bits, hashes: &[KeyHash]) -> Option<usize> {
        let probes = scheme.probes() as usize;
        let ahead = self.ahead.get_mut(..probes)?;
        let mut streams = Streams::<GROUP>::new(hashes);
        let (range, threshold) = scheme.range_and_threshold();
        for positions in ahead {
            if !streams.draw(self.level, range, threshold, positions) {
                return None;
            }
            positions.iter().take(hashes.len()).for_each(|position| prefetch(bits.words(), position >> 6));
        }
        Some(probes)
    }
}

/// Probe after probe, and only of the keys that are still in question. In memory the next probe of each is on its way while the others are looked at; in cache the
/// gain is that nothing is guessed: a key is kept or not by arithmetic instead of by a branch that is wrong every other time.
///
/// The first two positions are made for all keys side by side, as half of them need the second; later ones key by key.
fn survivors(level: Level, scheme: &Standard, bits: &Bits, hashes: &[KeyHash]) -> Answers {
    let (mut first, mut positions) = ([0; BATCH], [0; BATCH]);
    let mut walks = [Words::default(); BATCH];
    let (range, threshold) = scheme.range_and_threshold();
    let mut answers = Answers::default();
    let mut drawn = true;
    let lanes = first.as_chunks_mut::<GROUP>().0.iter_mut().zip(positions.as_chunks_mut::<GROUP>().0).zip(walks.as_chunks_mut::<GROUP>().0);
    for (hashes, ((first, second), walks)) in hashes.chunks(GROUP).zip(lanes) {
        let mut streams = Streams::<GROUP>::new(hashes);
        drawn &= streams.draw(level, range, threshold, first);
        first.iter().take(hashes.len()).for_each(|position| prefetch(bits.words(), position >> 6));
        drawn &= streams.draw(level, range, threshold, second);
        walks.iter_mut().enumerate().for_each(|(key, walk)| *walk = streams.stream_of(key));
    }
    if !drawn {
        // A word is skipped, which only happens where the bits are many: key by key.
        let alone = |hash: &KeyHash| scheme.positions(*hash).all(|position| bits.get(position));
        hashes.iter().take(BATCH).enumerate().for_each(|(key, hash)| mark(&mut answers, key, alone(hash)));
        return answers;
    }
    let mut alive: [u8; BATCH] = std::array::from_fn(|key| key as u8);
    let mut count = keep(&mut alive, hashes.len().min(BATCH), bits, &first);
    for probe in 1..scheme.probes() {
        for key in &alive[..count] {
            let key = usize::from(*key);
            if probe > 1 {
                positions[key] = scheme.next_position(&mut walks[key]);
            }
            prefetch(bits.words(), positions[key] >> 6);
        }
        count = keep(&mut alive, count, bits, &positions);
        if count == 0 {
            break;
        }
    }
    alive[..count].iter().for_each(|key| mark(&mut answers, usize::from(*key), true));
    answers
}

/// Keeps those of the first `count` keys whose position is set, in order, and says how many.
#[inline(always)]
fn keep(alive: &mut [u8; BATCH], count: usize, bits: &Bits, positions: &[u64; BATCH]) -> usize {
    let mut kept = 0;
    for i in 0..count {
        let key = alive[i];
        alive[kept] = key;
        kept += usize::from(bits.get(positions[usize::from(key)]));
    }
    kept
}
