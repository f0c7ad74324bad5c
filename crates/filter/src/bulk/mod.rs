//! Many keys at a time: hashed ahead, their memory asked for ahead, and answered in order, exactly as one by one.

mod mask;
mod probes;

pub use mask::Mask;
pub(crate) use probes::Probing;

use crate::hash::KeyHash;

/// Keys in flight. Enough that the last few survivors of a batch, whose probes wait for one another, cost little a key; small enough that all state stays in
/// the first cache. One byte numbers them.
pub(crate) const BATCH: usize = 256;

/// The answers of a batch, a bit a key.
pub(crate) type Answers = [u64; BATCH / 64];

/// The answers whose keys have these numbers.
#[inline]
pub(crate) fn mark(answers: &mut Answers, key: usize, answer: bool) {
    answers[key / 64 % (BATCH / 64)] |= u64::from(answer) << (key % 64);
}

/// Hashes batch after batch of what `next` gives and hands each batch's answers, and their number, to `take`.
#[inline]
pub(crate) fn for_each_batch<F: ?Sized>(
    filter: &mut F,
    mut next: impl FnMut(&F) -> Option<KeyHash>,
    mut answer: impl FnMut(&mut F, &[KeyHash]) -> Answers,
    mut take: impl FnMut(&Answers, usize),
) {
    let mut batch = [KeyHash { h1: 0, h2: 0 }; BATCH];
    loop {
        let mut filled = 0;
        while filled < BATCH
            && let Some(hash) = next(filter)
        {
            batch[filled] = hash;
            filled += 1;
        }
        take(&answer(filter, &batch[..filled]), filled);
        if filled < BATCH {
            return;
        }
    }
}

/// The answers of a batch one by one.
#[inline]
pub(crate) fn each(answers: &Answers, count: usize, mut use_answer: impl FnMut(bool)) {
    (0..count).for_each(|key| use_answer(answers[key / 64] >> (key % 64) & 1 == 1));
}
