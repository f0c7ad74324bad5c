//! Batched operations. Keys are hashed, and their memory is prefetched, ahead of time. The answers
//! are the same as if the keys were handled one after the other.

mod answers;
mod batch;

pub use answers::{Answers, AnswersIter};
pub(crate) use batch::{ASKED_AHEAD, Batch, Group, Hashes};

use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;

/// The number of keys in a batch. At the end of a batch, only a few keys need further probes, and
/// these probes must wait for each other. In a batch of this size, the waiting time per key is
/// short. The batch is also small enough for all its state to fit in the L1 cache.
pub(crate) const BATCH: usize = 256;

/// The answers of a batch, one bit per key.
pub(crate) type BatchAnswers = [u64; BATCH / 64];

/// Sets a key's answer, which must still be false.
#[inline]
pub(crate) fn mark(answers: &mut BatchAnswers, key: usize, answer: bool) {
    answers[key / 64 % (BATCH / 64)] |= u64::from(answer) << (key % 64);
}

/// Processes keys batch by batch. `next` fills a batch, `answer` returns its answers, and `take`
/// gets the answers and their number.
///
/// `answer` gets each batch together with the next batch, so that it can prefetch the memory of the
/// next batch. At the end, the next batch is empty.
#[inline]
pub(crate) fn for_each_batch(
    mut next: impl FnMut(&mut Hashes),
    mut answer: impl FnMut(Batch<'_>) -> BatchAnswers,
    mut take: impl FnMut(&BatchAnswers, usize),
) {
    // References are swapped instead of the hashes, which take four kilobytes.
    let (present, following) = (&mut Hashes::new(), &mut Hashes::new());
    let (mut present, mut following, mut is_first) = (present, following, true);
    next(present);
    while present.count() > 0 {
        if present.count() == BATCH {
            next(following);
        } else {
            following.take(&[]);
        }
        take(&answer(Batch { present, following, is_first }), present.count());
        core::mem::swap(&mut present, &mut following);
        is_first = false;
    }
}

/// Processes keys batch by batch, like [`for_each_batch`], and collects the answers.
#[inline]
pub(crate) fn answers(next: impl FnMut(&mut Hashes), answer: impl FnMut(Batch<'_>) -> BatchAnswers) -> Answers {
    let mut all = Answers::default();
    for_each_batch(next, answer, |answers, count| all.push(answers, count));
    all
}

/// Whether an iterator promises at most `few` keys. If it does, single calls are faster than a
/// batch. An iterator without an upper bound on its length makes no such promise. The result is
/// then true only if `few` is `usize::MAX`.
pub(crate) fn are_few(few: usize, keys: &impl Iterator) -> bool {
    keys.size_hint().1.unwrap_or(usize::MAX) <= few
}

/// Returns a function that hashes keys, one batch at each call.
#[inline]
pub(crate) fn hashing<K: Key>(hasher: &impl KeyHasher, keys: impl IntoIterator<Item = K>) -> impl FnMut(&mut Hashes) {
    let mut keys = keys.into_iter();
    move |hashes| hashes.hash_next(hasher, &mut keys)
}

/// Returns a function that yields hashes, one batch at each call.
pub(crate) fn hashed(hashes: &[KeyHash]) -> impl FnMut(&mut Hashes) {
    let mut left = hashes;
    move |hashes| left = hashes.take(left)
}

/// Calls `use_answer` with the answers of a batch one by one.
#[inline]
pub(crate) fn each(answers: &BatchAnswers, count: usize, mut use_answer: impl FnMut(bool)) {
    (0..count).for_each(|key| use_answer(answers[key / 64] >> (key % 64) & 1 == 1));
}
