//! Offering many items at a time.

use super::RecyclingFilter;
use super::memory::{Layout, Memory};
use crate::backing::Writable;
use crate::bulk::Answers;
use crate::hash::{KeyHash, KeyHasher};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Items whose bits are asked for before the first of them is looked up, where they go one by one.
const AHEAD: usize = 16;

impl<H: KeyHasher, S: Layout, K: Writable> RecyclingFilter<H, S, K> {
    /// [`check_and_insert_hash`](Self::check_and_insert_hash) of each in order, and whether they
    /// were [new](super::Seen::is_new). An iterator that hashes as it goes is best: hashing and
    /// waiting for memory overlap.
    ///
    /// ```
    /// use truebloom::{KeyHasher, RecyclingFilter};
    /// let mut seen = RecyclingFilter::for_items(100, 0.01)?;
    /// let hasher = *seen.hasher();
    /// let hashes = ["a", "b", "a"].iter().map(|key| hasher.hash(key.as_bytes()));
    /// assert!(seen.check_and_insert_all_hashes(hashes).iter().eq([true, true, false]));
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn check_and_insert_all_hashes(&mut self, hashes: impl IntoIterator<Item = KeyHash>) -> Answers {
        let (mut hashes, mut answers) = (hashes.into_iter().fuse(), Answers::default());
        if !self.memory.enters_groups() {
            self.one_by_one(hashes, &mut answers);
            return answers;
        }
        loop {
            let mut left = Vec::new();
            self.memory.enter_groups(&mut hashes, &self.policy, &mut self.counts, &mut answers, &mut left);
            if left.is_empty() {
                return answers;
            }
            // One of them may end the phase.
            self.one_by_one(left.into_iter(), &mut answers);
        }
    }

    fn one_by_one(&mut self, mut hashes: impl Iterator<Item = KeyHash>, answers: &mut Answers) {
        let mut waiting = VecDeque::with_capacity(AHEAD);
        loop {
            while waiting.len() < AHEAD
                && let Some(hash) = hashes.next()
            {
                self.prefetch(hash);
                waiting.push_back(hash);
            }
            let Some(hash) = waiting.pop_front() else { return };
            answers.push_bits(self.check_and_insert_hash(hash).is_new().into(), 1);
        }
    }
}
