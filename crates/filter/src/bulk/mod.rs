//! Batched operations: keys are hashed and their memory is prefetched ahead of time, and the
//! answers are those of one key after the other.

mod answers;
mod batch;

pub use answers::{Answers, AnswersIter};
pub(crate) use batch::Batch;
pub(crate) use batch::{Group, Hashes};

use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;

/// The number of keys in a batch. It is large enough that the last undecided keys of a batch, whose
/// probes must wait for each other, cost little per key, and small enough that all state fits in
/// the first cache. One byte is enough to number the keys.
pub(crate) const BATCH: usize = 256;

/// The answers of a batch, a bit per key.
pub(crate) type BatchAnswers = [u64; BATCH / 64];

/// Sets the answer of a key, which must have been unset or false.
#[inline]
pub(crate) fn mark(answers: &mut BatchAnswers, key: usize, answer: bool) {
    answers[key / 64 % (BATCH / 64)] |= u64::from(answer) << (key % 64);
}

/// Whether an iterator promises at most `most` keys. An iterator that promises nothing may yield
/// any number of them.
pub(crate) fn are_few(keys: &impl Iterator, most: usize) -> bool {
    keys.size_hint().1.unwrap_or(usize::MAX) <= most
}

/// Processes what `next` yields batch by batch; the answers of each batch, and their number, go to
/// `take`.
///
/// Batches overlap: `answer` gets a batch together with the following one, which is empty at the
/// end, so that it can prefetch for it. The first argument of `answer` says whether the batch is
/// the first.
#[inline]
pub(crate) fn for_each_batch(
    mut next: impl FnMut(&mut Hashes),
    mut answer: impl FnMut(Batch<'_>) -> BatchAnswers,
    mut take: impl FnMut(&BatchAnswers, usize),
) {
    // Two references change places, not four kilobytes.
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

/// Hashes keys, one batch after the other.
#[inline]
pub(crate) fn hashing<K: Key>(hasher: &impl KeyHasher, keys: impl IntoIterator<Item = K>) -> impl FnMut(&mut Hashes) {
    let mut keys = keys.into_iter();
    move |hashes| hashes.hash_next(hasher, &mut keys)
}

/// Yields hashes, one batch after the other.
pub(crate) fn hashed(hashes: &[KeyHash]) -> impl FnMut(&mut Hashes) {
    let mut left = hashes;
    move |hashes| left = hashes.take(left)
}

/// Passes on the answers of a batch one by one.
#[inline]
pub(crate) fn each(answers: &BatchAnswers, count: usize, mut use_answer: impl FnMut(bool)) {
    (0..count).for_each(|key| use_answer(answers[key / 64] >> (key % 64) & 1 == 1));
}
