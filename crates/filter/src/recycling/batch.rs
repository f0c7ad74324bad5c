//! Offering many items at a time.

use super::RecyclingFilter;
use super::memory::{Layout, Memory};
use crate::backing::Writable;
use crate::bulk::{Answers, BATCH};
use crate::hash::{KeyHash, KeyHasher};
use alloc::vec::Vec;

/// If items are processed one by one, the bits of the item this many places ahead are prefetched.
const AHEAD: usize = 16;

impl<H: KeyHasher, S: Layout, K: Writable> RecyclingFilter<H, S, K> {
    /// Calls [`check_and_insert_hash`](Self::check_and_insert_hash) for each hash in order, and
    /// returns which items were [new](super::Seen::is_new). Pass an iterator that computes each
    /// hash only when it is needed, so that hashing overlaps with waiting for memory.
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
            // One of these items may end the phase.
            self.one_by_one(left.into_iter(), &mut answers);
        }
    }

    fn one_by_one(&mut self, mut hashes: impl Iterator<Item = KeyHash>, answers: &mut Answers) {
        let mut waiting = Vec::with_capacity(BATCH);
        loop {
            waiting.clear();
            waiting.extend(hashes.by_ref().take(BATCH));
            if waiting.is_empty() {
                return;
            }
            waiting.iter().take(AHEAD).for_each(|hash| self.prefetch(*hash));
            answers.extend(waiting.iter().enumerate().map(|(index, hash)| {
                waiting.get(index + AHEAD).into_iter().for_each(|later| self.prefetch(*later));
                self.check_and_insert_hash(*hash).is_new()
            }));
        }
    }
}
