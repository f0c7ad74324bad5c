//! The hashes of a batch of keys.

use super::{BATCH, BatchAnswers, mark};
use crate::arch::{LANES, Lanes, Level, words};
use crate::hash::{KeyHash, KeyHasher, hash_key};
use crate::key::Key;

/// The hashes of up to [`BATCH`] keys. The two halves of each hash are in separate arrays, because
/// vector instructions need them in this form. The arrays are reused for every batch, so entries
/// beyond the count are left over from earlier batches.
pub(crate) struct Hashes {
    first: [u64; BATCH],
    second: [u64; BATCH],
    count: usize,
}

/// The hashes of a batch of keys, together with those of the next batch.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    pub(crate) present: &'a Hashes,
    /// The next batch. It is empty at the end, and has no more keys than the present one.
    pub(crate) following: &'a Hashes,
    /// Whether this is the first batch.
    pub(crate) is_first: bool,
}

/// How many probes of a lookup are prefetched in a layer or phase that probably does not contain
/// the key. If half of the bits are set, three out of four keys that are not contained have an
/// unset bit at one of their first two positions.
pub(crate) const ASKED_AHEAD: usize = 2;

/// If keys are looked up or inserted one by one, the memory of a key is prefetched this many keys
/// ahead.
pub(crate) const AHEAD: usize = 32;

impl Batch<'_> {
    /// Answers the keys one by one. Before each answer, `ask` prefetches the memory of the key
    /// [`AHEAD`] places later, which can be in the next batch. Prefetching a whole batch at once
    /// took up to 2.7 times as long (30 instead of 11 ns, bench/record/2026-11-23-zen4.md), because
    /// the processor can request only a few dozen lines at a time.
    ///
    /// Both functions get the memory, because `answer` may have to write to it.
    #[inline(always)]
    pub(crate) fn one_by_one<M>(
        self,
        memory: &mut M,
        ask: impl Fn(&M, KeyHash),
        mut answer: impl FnMut(&mut M, KeyHash) -> bool,
    ) -> BatchAnswers {
        let Batch { present, following, is_first } = self;
        let ask_for = |memory: &M, key: usize| match key.checked_sub(present.count()) {
            None => ask(memory, present.hash(key)),
            Some(key) if key < following.count() => ask(memory, following.hash(key)),
            Some(_) => (),
        };
        if is_first {
            (0..AHEAD).for_each(|key| ask_for(memory, key));
        }
        let mut answers = BatchAnswers::default();
        for key in 0..present.count() {
            ask_for(memory, key + AHEAD);
            mark(&mut answers, key, answer(memory, present.hash(key)));
        }
        answers
    }
}

/// The hashes of [`LANES`] keys. Only the first `count` of these keys belong to the batch.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    pub(crate) first: &'a Lanes,
    pub(crate) second: &'a Lanes,
    pub(crate) count: usize,
}

impl Group<'_> {
    pub(crate) fn hash(&self, lane: usize) -> KeyHash {
        KeyHash { h1: self.first[lane % LANES], h2: self.second[lane % LANES] }
    }

    /// A mask with one bit for each key of the group that belongs to the batch.
    #[inline]
    pub(crate) fn lanes(&self) -> u32 {
        u32::MAX.checked_shl(self.count as u32).map_or(u32::MAX, |beyond| !beyond)
    }

    /// Looks up the keys of the group one after the other, and returns one bit for each key.
    #[inline]
    pub(crate) fn answers(&self, mut answer: impl FnMut(KeyHash) -> bool) -> u32 {
        (0..self.count).fold(0, |answers, lane| answers | u32::from(answer(self.hash(lane))) << lane)
    }

    /// Word `number` of each key's stream. Words other than the two halves of the hash are computed
    /// and stored in `room`.
    #[inline(always)]
    pub(crate) fn words<'b>(&'b self, level: Level, number: u64, room: &'b mut Lanes) -> &'b Lanes {
        match number {
            0 => self.first,
            1 => self.second,
            _ => {
                words(level, self.first, self.second, number, room);
                room
            }
        }
    }
}

impl Hashes {
    pub(crate) fn new() -> Hashes {
        Hashes { first: [0; BATCH], second: [0; BATCH], count: 0 }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    #[inline(always)]
    pub(crate) fn hash(&self, key: usize) -> KeyHash {
        KeyHash { h1: self.first[key % BATCH], h2: self.second[key % BATCH] }
    }

    /// The halves of a key's hash.
    #[inline(always)]
    pub(crate) fn halves(&self, key: usize) -> (u64, u64) {
        (self.first[key % BATCH], self.second[key % BATCH])
    }

    /// The keys in groups. The last group can have fewer keys than the others.
    #[inline(always)]
    pub(crate) fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let groups = self.first.as_chunks().0.iter().zip(self.second.as_chunks().0);
        let counts = (0..self.count).step_by(LANES).map(|first| (self.count - first).min(LANES));
        groups.zip(counts).map(|((first, second), count)| Group { first, second, count })
    }

    /// Takes the next [`BATCH`] keys from the iterator, or all remaining keys if there are fewer,
    /// and hashes them.
    #[inline]
    pub(crate) fn hash_next<K: Key>(&mut self, hasher: &impl KeyHasher, keys: &mut impl Iterator<Item = K>) {
        let mut numbers = [0; BATCH];
        self.count = 0;
        while self.count < BATCH
            && let Some(key) = keys.next()
        {
            let Some(number) = key.key_number() else {
                // This key is not a number, although other keys of its type are. The numbers before
                // it are hashed now, so that the keys stay in order.
                hasher.hash_numbers(&numbers[..self.count], &mut self.first, &mut self.second);
                self.push(hash_key(hasher, &key));
                return self.hash_one_by_one(hasher, keys);
            };
            numbers[self.count] = number;
            self.count += 1;
        }
        // Vectors have a fixed length, so whole groups are hashed.
        let whole = self.count.next_multiple_of(LANES);
        hasher.hash_numbers(&numbers[..whole], &mut self.first, &mut self.second);
    }

    fn hash_one_by_one<K: Key>(&mut self, hasher: &impl KeyHasher, keys: &mut impl Iterator<Item = K>) {
        while self.count < BATCH
            && let Some(key) = keys.next()
        {
            self.push(hash_key(hasher, &key));
        }
    }

    /// Takes the first [`BATCH`] hashes, and returns the others.
    pub(crate) fn take<'a>(&mut self, hashes: &'a [KeyHash]) -> &'a [KeyHash] {
        let (now, later) = hashes.split_at(hashes.len().min(BATCH));
        self.count = 0;
        now.iter().for_each(|hash| self.push(*hash));
        later
    }

    #[inline(always)]
    fn push(&mut self, hash: KeyHash) {
        (self.first[self.count % BATCH], self.second[self.count % BATCH]) = (hash.h1, hash.h2);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bulk::{answers, hashed};
    use core::cell::RefCell;

    /// Every key is prefetched once, [`AHEAD`] places before its answer. This holds for the first
    /// batch, too.
    #[test]
    fn keys_are_prefetched_ahead_of_their_answers() {
        for count in [0, 1, AHEAD, AHEAD + 1, BATCH - 1, BATCH, BATCH + 1, BATCH + AHEAD, 2 * BATCH, 3 * BATCH + 5] {
            let keys: Vec<KeyHash> = (0..count as u64).map(|key| KeyHash { h1: key, h2: !key }).collect();
            let (asked, mut answered) = (RefCell::new(Vec::new()), Vec::new());
            let found = answers(hashed(&keys), |batch| {
                let answer = |answered: &mut Vec<KeyHash>, hash: KeyHash| {
                    answered.push(hash);
                    assert_eq!(asked.borrow().len(), count.min(answered.len() + AHEAD), "{count} keys");
                    hash.h1.is_multiple_of(3)
                };
                batch.one_by_one(&mut answered, |_, hash| asked.borrow_mut().push(hash), answer)
            });
            assert!(asked.into_inner() == keys && answered == keys, "{count} keys");
            assert!(found.iter().eq(keys.iter().map(|hash| hash.h1.is_multiple_of(3))), "{count} keys");
        }
    }
}
