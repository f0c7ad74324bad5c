//! Batches on the standard filter, whose probes lie anywhere.

use super::{Answers, BATCH, mark};
use crate::arch::prefetch;
use crate::bits::Bits;
use crate::hash::KeyHash;
use crate::scheme::{Standard, Words};

/// Positions that are worked out before the first of them is used.
const AHEAD: usize = 1024;
const _: () = assert!(AHEAD >= crate::MAX_PROBES as usize);

/// Keys whose positions are all asked for at a time: more lines than that only push each other out.
const GROUP: usize = 32;

/// How the last batch went, which says how to walk the next: what passes needs all its probes, what does not needs two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    mostly_hits: bool,
}

/// Which of at most [`BATCH`] keys are contained.
#[inline]
pub(crate) fn contains(scheme: &Standard, bits: &Bits, hashes: &[KeyHash], pace: &mut Pace) -> Answers {
    let answers = if pace.mostly_hits { all_probes(scheme, bits, hashes) } else { survivors(scheme, bits, hashes) };
    let hits: u32 = answers.iter().map(|word| word.count_ones()).sum();
    pace.mostly_hits = 2 * hits as usize > hashes.len();
    answers
}

/// Probe after probe, and only of the keys that are still in question. In memory the next probe of each is on its way while the others are looked at; in cache the
/// gain is that nothing is guessed: a key is kept or not by arithmetic instead of by a branch that is wrong every other time.
fn survivors(scheme: &Standard, bits: &Bits, hashes: &[KeyHash]) -> Answers {
    let mut walks = [Words::default(); BATCH];
    let mut positions = [0; BATCH];
    let mut alive: [u8; BATCH] = std::array::from_fn(|key| key as u8);
    for ((walk, position), hash) in walks.iter_mut().zip(&mut positions).zip(hashes) {
        *walk = Words::new(*hash);
        *position = scheme.next_position(walk);
        prefetch(bits.words(), *position >> 6);
    }
    let mut count = hashes.len().min(BATCH);
    for probe in 1..=scheme.probes() {
        let mut kept = 0;
        for i in 0..count {
            let key = alive[i];
            alive[kept] = key;
            kept += usize::from(bits.get(positions[usize::from(key)]));
        }
        count = kept;
        if count == 0 || probe == scheme.probes() {
            break;
        }
        for key in &alive[..count] {
            let key = usize::from(*key);
            positions[key] = scheme.next_position(&mut walks[key]);
            prefetch(bits.words(), positions[key] >> 6);
        }
    }
    let mut answers = Answers::default();
    alive[..count].iter().for_each(|key| mark(&mut answers, usize::from(*key), true));
    answers
}

/// All probes of every key, asked for ahead.
fn all_probes(scheme: &Standard, bits: &Bits, hashes: &[KeyHash]) -> Answers {
    let (mut answers, mut positions) = (Answers::default(), [0; AHEAD]);
    for (group, hashes) in hashes.chunks(group_size(scheme)).enumerate() {
        look_ahead(scheme, bits, hashes, &mut positions);
        for (i, positions) in positions.chunks_exact(scheme.probes() as usize).take(hashes.len()).enumerate() {
            let all = positions.iter().fold(true, |all, position| all & bits.get(*position));
            mark(&mut answers, group * group_size(scheme) + i, all);
        }
    }
    answers
}

/// Inserts at most [`BATCH`] keys in order: which of them were new, and the number of bits newly set.
#[inline]
pub(crate) fn insert(scheme: &Standard, bits: &mut Bits, hashes: &[KeyHash]) -> (Answers, u64) {
    let (mut answers, mut positions, mut newly_set) = (Answers::default(), [0; AHEAD], 0);
    for (group, hashes) in hashes.chunks(group_size(scheme)).enumerate() {
        look_ahead(scheme, bits, hashes, &mut positions);
        for (i, positions) in positions.chunks_exact(scheme.probes() as usize).take(hashes.len()).enumerate() {
            let before = newly_set;
            positions.iter().for_each(|position| newly_set += u64::from(bits.set(*position)));
            mark(&mut answers, group * group_size(scheme) + i, newly_set > before);
        }
    }
    (answers, newly_set)
}

/// Keys whose positions fit; at least one, as no scheme has more probes than [`MAX_PROBES`](crate::MAX_PROBES).
fn group_size(scheme: &Standard) -> usize {
    (AHEAD / scheme.probes() as usize).clamp(1, GROUP)
}

/// The positions of a group, key after key, on their way to the cache.
#[inline]
fn look_ahead(scheme: &Standard, bits: &Bits, hashes: &[KeyHash], positions: &mut [u64; AHEAD]) {
    for (positions, hash) in positions.chunks_exact_mut(scheme.probes() as usize).zip(hashes) {
        let mut walk = Words::new(*hash);
        for position in positions {
            *position = scheme.next_position(&mut walk);
            prefetch(bits.words(), *position >> 6);
        }
    }
}
