//! Batched operations on several threads, with the same results as on one thread. This module needs
//! the feature `rayon`.

use super::FilterOf;
use crate::backing::Owned;
use crate::bulk::{Answers, BATCH};
use crate::hash::{KeyHash, KeyHasher, hash_key};
use crate::key::Key;
use crate::scheme::Scheme;
use alloc::vec::Vec;
use rayon::prelude::*;

/// The number of keys that one thread queries at a time. With this many keys, distributing them to
/// the threads costs almost nothing.
const QUERIED: usize = 64 * BATCH;

/// The number of keys that are hashed while the previous batch of keys is inserted. The number is
/// large enough to keep every thread busy, and the hashes take 2 MiB.
const HASHED: usize = 256 * BATCH;

/// Divides the keys into parts, gives each part to the next free thread, and returns the answers in
/// the order of the keys.
fn query<K: Sync>(keys: &[K], ask: impl Fn(&[K]) -> Answers + Send + Sync) -> Answers {
    let parts: Vec<Answers> = keys.par_chunks(QUERIED).map(ask).collect();
    join(parts)
}

/// One thread inserts the present keys, while the other threads hash the next ones. The keys are
/// inserted in order, because the order decides which of two equal keys is new.
fn build<K: Key + Sync, H: KeyHasher + Sync>(keys: &[K], hasher: &H, mut insert: impl FnMut(&[KeyHash]) -> Answers + Send) -> Answers {
    let hash = |key: &K| hash_key(hasher, key);
    let hash_all = |keys: &[K]| -> Vec<KeyHash> { keys.par_iter().with_min_len(BATCH).map(&hash).collect() };
    let mut parts = keys.chunks(HASHED);
    let mut hashed = parts.next().map(&hash_all);
    let mut answers = Vec::new();
    while let Some(hashes) = hashed {
        let next = parts.next();
        let (answer, hashed_next) = rayon::join(|| insert(&hashes), || next.map(&hash_all));
        answers.push(answer);
        hashed = hashed_next;
    }
    join(answers)
}

/// Joins the answers of all parts. Every part except the last fills whole words.
fn join(parts: Vec<Answers>) -> Answers {
    parts.into_iter().fold(Answers::default(), |mut all, part| {
        all.append(part);
        all
    })
}

impl<S: Scheme + Send + Sync, H: KeyHasher + Clone + Send + Sync> FilterOf<S, H>
where
    S::Storage<Owned>: Send + Sync,
{
    /// Like [`insert_all`](Self::insert_all), but uses the threads of the crate `rayon`. The filter
    /// and the answers are the same as with [`insert_all`](Self::insert_all). All threads hash
    /// keys, but only one thread inserts them. The speedup is therefore largest for long keys. If
    /// the order of keys does not matter, use [`AtomicFilterOf`](crate::AtomicFilterOf), in which
    /// all threads insert.
    pub fn par_insert_all<K: Key + Sync>(&mut self, keys: &[K]) -> Answers {
        let hasher = self.hasher().clone();
        build(keys, &hasher, |hashes| self.insert_all_hashes(hashes))
    }

    /// Like [`contains_all`](Self::contains_all), but uses the threads of the crate `rayon`. The
    /// answers are the same, in the same order.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut seen = BloomFilter::new(1_000, 0.001)?;
    /// seen.par_insert_all(&["a", "b"]);
    /// assert_eq!(seen.par_contains_all(&["a", "b"]).count_ones(), 2);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn par_contains_all<K: Key + Sync>(&self, keys: &[K]) -> Answers {
        query(keys, |keys| self.contains_all(keys))
    }
}
