//! Offering many items at a time to a recycling filter that threads share, and looking up many keys
//! at a time.

use super::{AtomicRecyclingFilter, State};
use crate::bulk::{self, ASKED_AHEAD, Answers, Hashes};
use crate::hash::{KeyHash, KeyHasher};
use crate::key::Key;
use crate::scheme::FillScheme;
use crate::sync::RwLockReadGuard;

impl<H: KeyHasher, S: FillScheme> AtomicRecyclingFilter<H, S> {
    /// Calls [`check_and_insert`](Self::check_and_insert) for each key in order, and returns which
    /// items were [new](super::Seen::is_new). In filters larger than the caches, this method is
    /// faster than one call per key, because it prefetches the bits of later keys.
    ///
    /// ```
    /// use truebloom::recycling::AtomicRecyclingFilter;
    /// let seen = AtomicRecyclingFilter::for_items(100, 0.01)?;
    /// assert!(seen.check_and_insert_all(["a", "b", "a"]).iter().eq([true, true, false]));
    /// assert_eq!(seen.contains_all(["a", "b"]).count_ones(), 2);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn check_and_insert_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        self.offers(bulk::hashing(&self.hasher, keys))
    }

    /// Like [`check_and_insert_all`](Self::check_and_insert_all), for keys that are already hashed.
    pub fn check_and_insert_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        self.offers(bulk::hashed(hashes))
    }

    /// Reports which of the keys are remembered. For each key, the answer is the result of
    /// [`contains`](Self::contains).
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        self.queries(bulk::hashing(&self.hasher, keys))
    }

    /// Like [`contains_all`](Self::contains_all), for keys that are already hashed.
    pub fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
        self.queries(bulk::hashed(hashes))
    }

    /// Offers keys batch after batch. The phases are locked once per batch, and not once per key. A
    /// thread that has filled the active phase releases the lock at once. Batches therefore exceed
    /// the limit by no more bits than single keys do.
    fn offers(&self, next: impl FnMut(&mut Hashes)) -> Answers {
        bulk::answers(next, |batch| {
            let ask = |state: &Option<RwLockReadGuard<'_, State>>, hash| state.iter().for_each(|state| self.ask(state, hash, usize::MAX));
            batch.one_by_one(&mut Some(self.state()), ask, |state, hash| {
                let (seen, ended) = self.offer(state.get_or_insert_with(|| self.state()), hash);
                if let Some(cycle) = ended {
                    *state = None;
                    self.recycle_once(cycle, Some(hash));
                }
                seen.is_new()
            })
        })
    }

    /// Looks up keys batch after batch.
    fn queries(&self, next: impl FnMut(&mut Hashes)) -> Answers {
        bulk::answers(next, |batch| {
            let ask = |state: &RwLockReadGuard<'_, State>, hash| self.ask(state, hash, ASKED_AHEAD);
            batch.one_by_one(&mut self.state(), ask, |state, hash| self.remembers(state, hash))
        })
    }

    /// Prefetches the bits at a key's first positions: `in_active` of them in the active phase, and
    /// a few in the frozen phase.
    fn ask(&self, state: &State, hash: KeyHash, in_active: usize) {
        state.active.ask(&self.scheme, hash, in_active);
        state.frozen.iter().for_each(|frozen| frozen.ask(&self.scheme, hash, ASKED_AHEAD));
    }
}
