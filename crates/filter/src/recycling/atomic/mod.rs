//! The recycling filter that threads share.

mod account;
mod batch;
mod convert;
#[cfg(all(truebloom_loom, test))]
mod models;
mod phase;
#[cfg(all(test, not(truebloom_loom)))]
mod tests;

#[cfg(doc)]
use super::Stats;
use super::account::Counts;
use super::recycle::Clock;
use super::{Phases, Policy, RecyclingFilter, Seen, Trigger, salt};
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, Salt, hash_key};
use crate::items::ItemCount;
use crate::key::Key;
use crate::scheme::{FillScheme, Standard};
use crate::sync::{Ordering::Relaxed, RwLock, RwLockReadGuard};
use phase::Shared;
use std::sync::PoisonError;
use truebloom_math::Rate;

/// A [`RecyclingFilter`] to which many threads offer items at the same time. Threads wait for each
/// other only during a recycle.
///
/// # What holds
/// * There are no false negatives. After [`check_and_insert`](Self::check_and_insert) has returned
///   for an item, every later call reports the item as seen, until a recycle forgets the item.
/// * If several threads offer the same new item at the same time, *at least one* of them gets
///   [`Seen::New`], unless the item is a false positive. More than one thread can get
///   [`Seen::New`], because each of them can set some of the item's bits. If exactly one thread
///   must get [`Seen::New`], use a [`RecyclingFilter`] behind a lock.
/// * The filter recycles when more than [`sigma`](Policy::sigma) bits are set in the active phase.
///   If several threads notice this at the same time, the filter recycles only once. Before this
///   recycle starts, every other thread can set up to k more bits, where k is the number of probes.
///   Let t be the number of threads. When an item is offered, the number of set bits in the active
///   phase is therefore at most `sigma + k (t - 1)`. In a frozen phase, the number of set bits is
///   at most `sigma + k t`.
/// * The item that triggers a recycle belongs to the phase that this recycle ends. If the policy is
///   [`retaining`](Policy::retaining), this item is also inserted into the next phase.
/// * There is no bound on the number of [wrong drops](RecyclingFilter::wrong_drops) (new items that
///   are reported as seen), because the number of set bits at each offer depends on the order in
///   which the threads run.
///
/// ```
/// use truebloom::recycling::{AtomicRecyclingFilter, Policy};
/// let seen = AtomicRecyclingFilter::new(100_000, 6, Policy::two_phases(50_000))?;
/// std::thread::scope(|threads| {
///     for part in 0..4u64 {
///         let seen = &seen;
///         threads.spawn(move || (0..1_000).for_each(|i| { seen.check_and_insert(&(part * 500 + i)); }));
///     }
/// });
/// assert!((0..2_500u64).all(|key| seen.contains(&key)));
/// # Ok::<(), truebloom::BuildError>(())
/// ```
///
/// # Saving
/// [`snapshot`](Self::snapshot) returns a copy of the filter, as a [`RecyclingFilter`]. You can
/// save the copy while threads go on offering items. To share the saved filter again, open the file
/// as a [`RecyclingFilter`]. Then convert the opened filter to an `AtomicRecyclingFilter` with
/// [`TryFrom`].
///
/// ```
/// use truebloom::recycling::{AtomicRecyclingFilter, Policy, RecyclingFilter};
/// let seen = AtomicRecyclingFilter::new(1_000, 4, Policy::two_phases(500))?;
/// seen.check_and_insert("a");
/// let bytes = seen.snapshot()?.to_bytes()?;
/// // After a restart:
/// let seen = AtomicRecyclingFilter::try_from(<RecyclingFilter>::from_bytes(&bytes)?)?;
/// assert!(seen.contains("a"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AtomicRecyclingFilter<H: KeyHasher = PortableHasher, S: FillScheme = Standard> {
    hasher: H,
    scheme: S,
    policy: Policy,
    label: Label,
    /// Insertions lock the phases for reading, and a recycle locks them for writing.
    phases: RwLock<State>,
}

struct State {
    active: Shared,
    frozen: Option<Shared>,
    /// The counts, without the items that have entered the active phase since the filter was shared
    /// or recycled.
    counts: Counts,
    clock: Clock,
}

impl AtomicRecyclingFilter {
    /// Like [`RecyclingFilter::new`], for a filter that threads share.
    ///
    /// # Errors
    /// Returns the errors of [`RecyclingFilter::new`]. Also returns an error for two kinds of
    /// policies that a shared filter does not support:
    ///
    /// * A policy with a maximum [`age`](Policy::age). Instead, measure the time in your program,
    ///   and call [`recycle`](Self::recycle).
    /// * A policy with [`Trigger::Excluded`]. With this policy, a filter unsets the bits of the
    ///   item that triggers a recycle. But a shared filter cannot know whether another thread has
    ///   set the same bits.
    #[cfg(feature = "random")]
    pub fn new(bits: u64, probes: u32, policy: Policy) -> Result<AtomicRecyclingFilter, BuildError> {
        AtomicRecyclingFilter::with_hasher(bits, probes, policy, PortableHasher::random()?)
    }

    /// Like [`RecyclingFilter::for_items`], for a filter that threads share. Together, the threads
    /// can set slightly more bits than the recycle threshold allows. The rate of the filter is then
    /// slightly higher than `rate`. The section [What holds](Self#what-holds) gives the largest
    /// number of set bits.
    ///
    /// ```
    /// use truebloom::recycling::AtomicRecyclingFilter;
    /// let seen = AtomicRecyclingFilter::for_items(1_000_000, 0.001)?;
    /// assert!(seen.check_and_insert("a line").is_new());
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`RecyclingFilter::for_items`].
    #[cfg(feature = "random")]
    pub fn for_items<R: TryInto<Rate>>(items: impl ItemCount, rate: R) -> Result<AtomicRecyclingFilter, BuildError>
    where
        BuildError: From<R::Error>,
    {
        RecyclingFilter::for_items(items, rate)?.try_into()
    }

    /// Like [`for_items`](Self::for_items), with a hasher that you choose, such as one with a known
    /// seed or one for untrusted keys.
    ///
    /// # Errors
    /// Returns the same errors as `for_items`, but never fails for lack of random numbers.
    pub fn for_items_with_hasher<R: TryInto<Rate>>(
        items: impl ItemCount,
        rate: R,
        hasher: PortableHasher,
    ) -> Result<AtomicRecyclingFilter, BuildError>
    where
        BuildError: From<R::Error>,
    {
        RecyclingFilter::for_items_with_hasher(items, rate, hasher)?.try_into()
    }
}

impl<H: KeyHasher, S: FillScheme> AtomicRecyclingFilter<H, S> {
    /// Like [`new`](AtomicRecyclingFilter::new), with a hasher that you choose. The compiler cannot
    /// infer the scheme from the arguments, so annotate the variable with its type:
    ///
    /// ```
    /// use truebloom::PortableHasher;
    /// use truebloom::recycling::{AtomicRecyclingFilter, Policy};
    /// let hasher = PortableHasher::random()?;
    /// let seen: AtomicRecyclingFilter = AtomicRecyclingFilter::with_hasher(1_000, 5, Policy::two_phases(500), hasher)?;
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`new`](Self::new), but never fails for lack of random numbers.
    pub fn with_hasher(bits: u64, probes: u32, policy: Policy, hasher: H) -> Result<AtomicRecyclingFilter<H, S>, BuildError> {
        let scheme = S::new(bits, probes)?;
        policy.check(bits, probes)?;
        check_shared(&policy)?;
        let frozen = match policy.phases {
            Phases::Two(_) => Some(Shared::new(bits, Salt::NONE)?),
            _ => None,
        };
        let active = Shared::new(bits, salt(&hasher, policy.seeds, 0))?;
        let counts = Counts { overfill: Some(0), ..Counts::default() };
        let state = State { active, frozen, counts, clock: Clock::default() };
        Ok(AtomicRecyclingFilter { hasher, scheme, policy, label: Label::default(), phases: RwLock::new(state) })
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.phases.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks whether the filter remembers an item, and then inserts the item. The item is new if
    /// the filter did not remember it. If the active phase is then full, as defined by the
    /// [policy](Policy), the filter recycles: the filter forgets old items.
    pub fn check_and_insert<K: Key + ?Sized>(&self, key: &K) -> Seen {
        self.check_and_insert_hash(self.hash(key))
    }

    /// Like [`check_and_insert`](Self::check_and_insert), for a key that is already hashed.
    pub fn check_and_insert_hash(&self, hash: KeyHash) -> Seen {
        // The read lock is released at the end of this statement. A thread that still held it would
        // wait forever for the write lock of the recycle.
        let (seen, ended) = self.offer(&self.state(), hash);
        if let Some(cycle) = ended {
            self.recycle_once(cycle, Some(hash));
        }
        seen
    }

    /// Checks and inserts an item while the phases are locked. If the active phase is then full,
    /// also returns the number of the cycle. The caller must end this cycle.
    fn offer(&self, state: &State, hash: KeyHash) -> (Seen, Option<u64>) {
        let (newly_set, ones, items) = state.active.insert(&self.scheme, hash);
        if newly_set == 0 {
            return (Seen::Active, None);
        }
        let in_frozen = state.frozen.as_ref().is_some_and(|frozen| frozen.contains(&self.scheme, hash));
        state.active.refreshed.fetch_add(in_frozen.into(), Relaxed);
        let is_full = self.is_full(ones, state.counts.items + items);
        (if in_frozen { Seen::Frozen } else { Seen::New }, is_full.then_some(state.counts.cycles))
    }

    /// Returns true if the key is remembered.
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// Like [`contains`](Self::contains), for a key that is already hashed.
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.remembers(&self.state(), hash)
    }

    fn remembers(&self, state: &State, hash: KeyHash) -> bool {
        let known = |phase: &Shared| phase.contains(&self.scheme, hash);
        known(&state.active) || state.frozen.as_ref().is_some_and(known)
    }

    /// The key's hash.
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        hash_key(&self.hasher, key)
    }

    /// Recycles now, even if the active phase is not full. Waits until insertions in progress have
    /// finished.
    pub fn recycle(&self) {
        let cycle = self.cycles();
        self.recycle_once(cycle, None);
    }

    /// Whether a phase is full with this many set bits and items.
    fn is_full(&self, ones: u64, items: u64) -> bool {
        ones > self.policy.sigma || self.policy.insertions.is_some_and(|most| items >= most)
    }

    /// Ends this cycle, unless another thread has already ended it. A second recycle would forget
    /// items too early.
    fn recycle_once(&self, cycle: u64, trigger: Option<KeyHash>) {
        let mut state = self.phases.write().unwrap_or_else(PoisonError::into_inner);
        if state.counts.cycles != cycle {
            return;
        }
        let State { active, frozen, counts, clock } = &mut *state;
        *counts = active.counted(*counts);
        counts.end_overfilled(active.ones.load(Relaxed), &self.policy, self.scheme.probes());
        counts.next_cycle();
        clock.start = clock.now;
        if let Some(frozen) = frozen {
            core::mem::swap(active, frozen);
        }
        active.clear(salt(&self.hasher, self.policy.seeds, counts.cycles));
        if let Some(trigger) = trigger.filter(|_| self.policy.retaining) {
            active.insert(&self.scheme, trigger);
            // The retained item counts as an item of this cycle. It was already counted as new in
            // the previous cycle, so it is not counted as new again.
            active.items.store(0, Relaxed);
            counts.items = 1;
        }
    }
}

/// Refuses policies that threads cannot share.
fn check_shared(policy: &Policy) -> Result<(), BuildError> {
    let what = match (policy.age, policy.phases) {
        (Some(_), _) => "an age",
        (None, Phases::Two(Trigger::Excluded)) => "excluded triggers",
        _ => return Ok(()),
    };
    Err(BuildError::NotShared { what })
}
