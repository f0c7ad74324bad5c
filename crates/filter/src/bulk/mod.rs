//! Many keys at a time: hashed ahead, their memory asked for ahead, and answered in order, exactly
//! as one by one.

mod answers;
mod batch;

pub use answers::{Answers, AnswersIter};
pub(crate) use batch::Batch;
pub(crate) use batch::{Group, Hashes};

use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;

/// Keys in flight. Enough that the last few survivors of a batch, whose probes wait for one
/// another, cost little a key; small enough that all state stays in the first cache. One byte
/// numbers them.
pub(crate) const BATCH: usize = 256;

/// The answers of a batch, a bit per key.
pub(crate) type BatchAnswers = [u64; BATCH / 64];

/// Puts down the answer of a key, where there was none before or a no.
#[inline]
pub(crate) fn mark(answers: &mut BatchAnswers, key: usize, answer: bool) {
    answers[key / 64 % (BATCH / 64)] |= u64::from(answer) << (key % 64);
}

/// Whether an iterator promises at most so many keys. One that promises nothing may have any
/// number.
pub(crate) fn are_few(keys: &impl Iterator, most: usize) -> bool {
    keys.size_hint().1.unwrap_or(usize::MAX) <= most
}

/// Batch after batch of what `next` gives; each batch's answers, and their number, go to `take`.
///
/// Batches overlap: `answer` gets a batch together with the one after it, which is empty at the
/// end, so that it may already ask for that one's memory. Its first argument says whether the batch
/// is the first.
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

/// Hashes batch after batch of keys.
#[inline]
pub(crate) fn hashing<K: Key>(hasher: &impl KeyHasher, keys: impl IntoIterator<Item = K>) -> impl FnMut(&mut Hashes) {
    let mut keys = keys.into_iter();
    move |hashes| hashes.hash_next(hasher, &mut keys)
}

/// Batch after batch of hashes.
pub(crate) fn hashed(hashes: &[KeyHash]) -> impl FnMut(&mut Hashes) {
    let mut left = hashes;
    move |hashes| left = hashes.take(left)
}

/// The answers of a batch one by one.
#[inline]
pub(crate) fn each(answers: &BatchAnswers, count: usize, mut use_answer: impl FnMut(bool)) {
    (0..count).for_each(|key| use_answer(answers[key / 64] >> (key % 64) & 1 == 1));
}
