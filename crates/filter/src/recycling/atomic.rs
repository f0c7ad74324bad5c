//! A recycling filter that threads share.

use super::account::Counts;
use super::half::Half;
use super::halves::{Halves, pass_rate};
use super::memory::Memory;
use super::recycle::Clock;
use super::{Phases, Policy, RecyclingFilter, Seen, Stats, Trigger, salt};
use crate::arch::AlignedWords;
use crate::bits::{AtomicBits, Bits, words_for};
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, Salt, Seed, hash_key};
use crate::key::Key;
use crate::scheme::{FillScheme, Scheme, Standard};
use crate::sync::{AtomicU64, Ordering::Relaxed, RwLock, RwLockReadGuard};
use core::fmt;
use std::sync::PoisonError;

/// A [`RecyclingFilter`] to which many threads offer items at the same time; they wait for each
/// other only during a recycle.
///
/// # What holds
/// * There are no false negatives: after [`check_and_insert`](Self::check_and_insert) of an item
///   has returned, every later call recognises the item, until a recycle forgets it.
/// * When several threads offer the same new item at the same time, *at least one* gets
///   [`Seen::New`], unless the item passes by chance; more than one may, because each may set some
///   of its bits. If exactly one must get it, put a lock around a [`RecyclingFilter`].
/// * When the fill exceeds sigma, the filter recycles once, however many threads notice it. Other
///   threads may continue to insert until the first of them has the lock, so sigma is exceeded by
///   up to k bits for every other thread: the worst rate is that of `sigma + k (threads - 1)` bits.
///   An item whose offer notices the overflow belongs to the phase that it overfilled.
/// * There is no bound on [wrong drops](RecyclingFilter::wrong_drops), because the fill that an
///   item meets depends on the order in which the threads run.
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
/// # Saving it
/// [`snapshot`](Self::snapshot) is a [`RecyclingFilter`] of this moment, which can be saved while
/// the threads go on. After it is opened again, [`TryFrom`] makes a shared filter of it.
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
    /// Insertions lock it for reading, a recycle locks it for writing.
    phases: RwLock<State>,
}

struct State {
    active: Shared,
    frozen: Option<Shared>,
    /// The counts up to the beginning of this cycle, without the items it began with.
    counts: Counts,
    clock: Clock,
}

/// A phase whose bits are set by several threads.
struct Shared {
    bits: AtomicBits,
    ones: AtomicU64,
    items: AtomicU64,
    /// How many items were contained only in the frozen phase.
    refreshed: AtomicU64,
    salt: Salt,
}

impl AtomicRecyclingFilter {
    /// As for [`RecyclingFilter::new`].
    ///
    /// # Errors
    /// The policy has an age (call [`recycle`](Self::recycle) by your own clock), or excludes the
    /// triggers, whose bits could not be distinguished from those of other threads.
    #[cfg(feature = "random")]
    pub fn new(bits: u64, probes: u32, policy: Policy) -> Result<AtomicRecyclingFilter, BuildError> {
        AtomicRecyclingFilter::with_hasher(bits, probes, policy, PortableHasher::random()?)
    }
}

impl<H: KeyHasher, S: FillScheme> AtomicRecyclingFilter<H, S> {
    /// [`new`](AtomicRecyclingFilter::new) with a given hasher. The scheme is part of the type,
    /// which has to be written:
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
    /// As for [`new`](Self::new), except that no random numbers are needed.
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

    /// Checks whether an item is new, that is, not among the remembered ones, and remembers it. If
    /// it fills the active phase, the filter recycles.
    pub fn check_and_insert<K: Key + ?Sized>(&self, key: &K) -> Seen {
        self.check_and_insert_hash(self.hash(key))
    }

    /// [`check_and_insert`](Self::check_and_insert) of a key that is already hashed.
    pub fn check_and_insert_hash(&self, hash: KeyHash) -> Seen {
        // The lock ends with this block: a thread that holds it for reading must not wait for it.
        let (seen, overfilled) = {
            let state = self.state();
            let (newly_set, ones, items) = state.active.insert(&self.scheme, hash);
            if newly_set == 0 {
                return Seen::Active;
            }
            let in_frozen = state.frozen.as_ref().is_some_and(|frozen| frozen.contains(&self.scheme, hash));
            state.active.refreshed.fetch_add(in_frozen.into(), Relaxed);
            let is_full = self.is_full(ones, state.counts.items + items);
            (if in_frozen { Seen::Frozen } else { Seen::New }, is_full.then_some(state.counts.cycles))
        };
        if let Some(cycle) = overfilled {
            self.recycle_once(cycle, Some(hash));
        }
        seen
    }

    /// Whether the remembered items contain the key.
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) of a key that is already hashed.
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        let state = self.state();
        let known = |phase: &Shared| phase.contains(&self.scheme, hash);
        known(&state.active) || state.frozen.as_ref().is_some_and(known)
    }

    /// The key's hash.
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        hash_key(&self.hasher, key)
    }

    /// Recycles now. Waits until insertions in progress have finished.
    pub fn recycle(&self) {
        let cycle = self.cycles();
        self.recycle_once(cycle, None);
    }

    /// Whether a phase is full with this many set bits and items.
    fn is_full(&self, ones: u64, items: u64) -> bool {
        ones > self.policy.sigma || self.policy.insertions.is_some_and(|most| items >= most)
    }

    /// Ends this cycle, unless another thread already has: a second recycle would forget a phase
    /// that must be remembered.
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
            // It is among the items of this cycle, and was counted in the one before.
            active.items.store(0, Relaxed);
            counts.items = 1;
        }
    }
}

/// What the filter reports about itself.
impl<H: KeyHasher, S: FillScheme> AtomicRecyclingFilter<H, S> {
    /// The number of bits per phase, m.
    pub fn bits(&self) -> u64 {
        self.scheme.bits()
    }

    /// The number of probes per key, k.
    pub fn probes(&self) -> u32 {
        self.scheme.probes()
    }

    /// When the filter forgets, and what it keeps then.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The hasher, with its seed.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The seed of the hasher, from which those of the phases are derived.
    pub fn seed(&self) -> Seed {
        self.hasher.seed()
    }

    /// The number of recycles so far.
    pub fn cycles(&self) -> u64 {
        self.state().counts.cycles
    }

    /// The number of set bits in the active phase.
    pub fn ones(&self) -> u64 {
        self.state().active.ones.load(Relaxed)
    }

    /// The number of set bits in the frozen phase; 0 if there is none.
    pub fn frozen_ones(&self) -> u64 {
        let state = self.state();
        state.frozen.as_ref().map_or(0, |frozen| frozen.ones.load(Relaxed))
    }

    /// The counts so far. [`offered`](Stats::offered) counts only items that set a bit: counting
    /// repeats would make all threads wait for one number.
    pub fn stats(&self) -> Stats {
        let state = self.state();
        state.active.counted(state.counts).stats()
    }

    /// The present rate: the probability that a key is reported as seen although it was never
    /// offered and was chosen without knowing the seed. Constant time, except with two phases of
    /// [one seed](super::Seeds::Kept), where it is linear in the bits.
    pub fn fpr(&self) -> f64 {
        let state = self.state();
        let (active, frozen) = (&state.active, state.frozen.as_ref());
        let ones = |phase: &Shared| phase.ones.load(Relaxed);
        let frozen_rate = frozen.map(|frozen| self.scheme.rate_at(ones(frozen)));
        let both = || frozen.map_or(0, |frozen| active.bits.count_common(&frozen.bits));
        pass_rate(&self.scheme, self.policy.seeds, ones(active), frozen_rate, both)
    }
}

/// Conversions from and to filters of one thread.
impl<H: KeyHasher, S: FillScheme> AtomicRecyclingFilter<H, S> {
    /// A copy of the filter as it is now, to save or inspect it while threads go on offering items.
    /// Linear in the bits. Offers and queries continue meanwhile; but a recycle waits for the copy,
    /// and then all other calls wait for that recycle.
    ///
    /// # What it remembers
    /// * The snapshot has every item whose offer is known to this thread to have returned (by a
    ///   join, a channel or a lock), unless a recycle has forgotten it.
    /// * Of an item that is being offered meanwhile it has all bits, some or none. So it may answer
    ///   "new" to a later offer of such an item, as before the first offer.
    /// * If the active phase is full and its recycle is still to come, the snapshot is of the state
    ///   after the recycle: with one phase nothing is remembered then, with two phases the full
    ///   one.
    ///
    /// The snapshot behaves like any other [`RecyclingFilter`], except for what depends on its
    /// history: [`Stats::offered`] counts only offers that set a bit, and there is no bound on
    /// [wrong drops](RecyclingFilter::wrong_drops).
    ///
    /// # Errors
    /// The memory cannot be allocated.
    pub fn snapshot(&self) -> Result<RecyclingFilter<H, S>, BuildError>
    where
        H: Clone,
    {
        let copied = |phase: &Shared| half(phase.bits.to_aligned(), phase.salt, &self.scheme);
        let state = self.state();
        let counts = state.active.counted(state.counts);
        let (active, frozen) = (copied(&state.active)?, state.frozen.as_ref().map(copied).transpose()?);
        let memory = Halves::of(self.scheme.clone(), self.policy.seeds, active, frozen);
        let filter = RecyclingFilter {
            hasher: self.hasher.clone(),
            policy: self.policy,
            memory,
            clock: state.clock,
            counts,
            label: self.label.clone(),
        };
        Ok(plain(filter))
    }

    /// The filter for one thread, with everything that is remembered: a
    /// [`snapshot`](Self::snapshot), when it is no longer shared.
    ///
    /// # Errors
    /// The memory for a second filter cannot be allocated.
    pub fn into_filter(self) -> Result<RecyclingFilter<H, S>, BuildError> {
        let AtomicRecyclingFilter { hasher, scheme, policy, label, phases } = self;
        let State { active, frozen, counts, clock } = phases.into_inner().unwrap_or_else(PoisonError::into_inner);
        let counts = active.counted(counts);
        let taken = |phase: Shared| half(Some(phase.bits.into_words()), phase.salt, &scheme);
        let (active, frozen) = (taken(active)?, frozen.map(taken).transpose()?);
        let memory = Halves::of(scheme, policy.seeds, active, frozen);
        Ok(plain(RecyclingFilter { hasher, policy, memory, clock, counts, label }))
    }
}

impl<H: KeyHasher, S: FillScheme> TryFrom<RecyclingFilter<H, S>> for AtomicRecyclingFilter<H, S> {
    type Error = BuildError;

    /// The same filter for many threads. An error for policies that threads cannot share, as for
    /// [`with_hasher`](AtomicRecyclingFilter::with_hasher).
    fn try_from(filter: RecyclingFilter<H, S>) -> Result<AtomicRecyclingFilter<H, S>, BuildError> {
        let RecyclingFilter { hasher, policy, memory, clock, counts, label } = filter;
        check_shared(&policy)?;
        let (ones, frozen_ones) = (memory.ones(), memory.frozen_ones());
        let (scheme, (active, frozen)) = memory.into_parts();
        let salt = |cycle| salt(&hasher, policy.seeds, cycle);
        let active = Shared::of(active, ones, salt(counts.cycles));
        let frozen = frozen.map(|words| Shared::of(words, frozen_ones, counts.cycles.checked_sub(1).map_or(Salt::NONE, salt)));
        let counts = Counts { overfill: counts.overfill.or(Some(0)), ..counts };
        Ok(AtomicRecyclingFilter { hasher, scheme, policy, label, phases: RwLock::new(State { active, frozen, counts, clock }) })
    }
}

impl<H: KeyHasher, S: FillScheme> fmt::Debug for AtomicRecyclingFilter<H, S> {
    /// Shows the parameters and counts, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicRecyclingFilter")
            .field("bits", &self.bits())
            .field("probes", &self.probes())
            .field("scheme", &self.scheme.id().name())
            .field("hasher", &self.hasher.id())
            .field("policy", &self.policy)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
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

/// A phase made of these words.
fn half(words: Option<AlignedWords>, salt: Salt, scheme: &impl Scheme) -> Result<Half, BuildError> {
    let words = words.ok_or_else(|| BuildError::Memory { bytes: words_for(scheme.bits()).saturating_mul(8) })?;
    Ok(Half::of(Bits::unread(words), salt))
}

/// The filter for one thread. Its counts are only approximately of the same moment as its bits: an
/// item sets its bits before it is counted, and other threads may see both in any order.
fn plain<H: KeyHasher, S: FillScheme>(mut filter: RecyclingFilter<H, S>) -> RecyclingFilter<H, S> {
    let (policy, memory, counts) = (filter.policy, &filter.memory, filter.counts);
    // Every item has set at least one bit, and at most k.
    let items = counts.items.clamp(memory.ones().div_ceil(memory.probes().into()), memory.ones());
    let new = counts.new.saturating_add(items).saturating_sub(counts.items);
    let offered = counts.offered.max(new.saturating_add(counts.refreshed));
    filter.counts = Counts { items, new, offered, ..counts };
    if filter.memory.is_over_limit(&policy) || filter.is_last(items) {
        filter.counts.end_overfilled(filter.memory.ones(), &policy, filter.probes());
        filter.recycle();
    }
    filter
}

impl Counts {
    /// Records the end of a phase in which threads had set this many bits.
    fn end_overfilled(&mut self, ones: u64, policy: &Policy, probes: u32) {
        self.by_fill = self.by_fill.saturating_add((ones > policy.sigma).into());
        self.overfill = self.overfill.max(Some(ones.saturating_sub(policy.most_frozen(probes))));
    }
}

impl Shared {
    fn new(bits: u64, salt: Salt) -> Result<Shared, BuildError> {
        Ok(Shared {
            bits: AtomicBits::zeroed(bits)?,
            ones: AtomicU64::new(0),
            items: AtomicU64::new(0),
            refreshed: AtomicU64::new(0),
            salt,
        })
    }

    /// A phase made of these words, of which `ones` bits are set.
    fn of(words: AlignedWords, ones: u64, salt: Salt) -> Shared {
        Shared { bits: AtomicBits::of(words), ones: AtomicU64::new(ones), items: AtomicU64::new(0), refreshed: AtomicU64::new(0), salt }
    }

    /// The counts including those of this phase.
    fn counted(&self, before: Counts) -> Counts {
        let entered = self.items.load(Relaxed);
        let refreshed = self.refreshed.load(Relaxed).min(entered);
        Counts {
            offered: before.offered.saturating_add(entered),
            new: before.new.saturating_add(entered - refreshed),
            refreshed: before.refreshed.saturating_add(refreshed),
            items: before.items + entered,
            ..before
        }
    }

    /// Sets the positions of a key; returns how many this call set, and the number of set bits and
    /// of items afterwards.
    ///
    /// Relaxed ordering is enough: whatever is asked about a word is asked of one atomic, whose
    /// changes have one order, and phases are exchanged under the lock.
    fn insert(&self, scheme: &impl Scheme, hash: KeyHash) -> (u64, u64, u64) {
        let newly_set = u64::from(self.bits.insert(scheme, self.salt.apply(hash)));
        if newly_set == 0 {
            return (0, 0, 0);
        }
        (newly_set, self.ones.fetch_add(newly_set, Relaxed) + newly_set, self.items.fetch_add(1, Relaxed) + 1)
    }

    fn contains(&self, scheme: &impl Scheme, hash: KeyHash) -> bool {
        self.bits.contains(scheme, self.salt.apply(hash))
    }

    fn clear(&mut self, salt: Salt) {
        self.bits.clear();
        [&self.ones, &self.items, &self.refreshed].into_iter().for_each(|count| count.store(0, Relaxed));
        self.salt = salt;
    }
}

/// Checks every interleaving of two threads: `RUSTFLAGS='--cfg truebloom_loom' cargo test --release
/// -p truebloom --lib atomic`.
#[cfg(all(truebloom_loom, test))]
mod models {
    use super::*;
    use crate::Seed;
    use crate::recycling::Seeds;
    use loom::sync::Arc;
    use loom::thread;

    /// 128 bits in two words, two probes per key and a fixed seed: key 0 of the test has a bit in
    /// each word.
    fn filter(policy: Policy) -> Arc<AtomicRecyclingFilter> {
        let policy = Policy { seeds: Seeds::Kept, ..policy };
        Arc::new(AtomicRecyclingFilter::with_hasher(128, 2, policy, PortableHasher::xxh3(Seed::from(1))).expect("small"))
    }

    /// Hashes whose keys share no bit; the first has its two bits in different words.
    fn hashes() -> [KeyHash; 3] {
        let scheme = Standard::new(128, 2).expect("small");
        let positions = |hash: &KeyHash| scheme.positions(*hash).collect::<Vec<_>>();
        let all = || (0..10_000).map(|number| PortableHasher::xxh3(Seed::from(1)).hash_number(number));
        let first = all().find(|hash| positions(hash)[0] < 64 && positions(hash)[1] >= 64).expect("one of many");
        let apart = |one: &KeyHash, other: &KeyHash| positions(one).iter().all(|p| !positions(other).contains(p));
        let distinct = |hash: &KeyHash| positions(hash)[0] != positions(hash)[1];
        let second = all().find(|hash| distinct(hash) && apart(hash, &first)).expect("one of many");
        let third = all().find(|hash| distinct(hash) && apart(hash, &first) && apart(hash, &second)).expect("one of many");
        [first, second, third]
    }

    /// Both threads offer a key in parallel; returns the two answers.
    fn offer_both(filter: &Arc<AtomicRecyclingFilter>, one: KeyHash, other: KeyHash) -> [Seen; 2] {
        let there = Arc::clone(filter);
        let thread = thread::spawn(move || {
            let seen = there.check_and_insert_hash(other);
            (seen, there.contains_hash(other))
        });
        let here = filter.check_and_insert_hash(one);
        let (told, known) = thread.join().expect("no panic");
        assert!(known, "a false negative for the thread itself");
        [here, told]
    }

    #[test]
    fn at_least_one_is_told_new_and_the_set_bits_are_counted_once() {
        let [key, ..] = hashes();
        loom::model(move || {
            let filter = filter(Policy::one_phase(100));
            let told = offer_both(&filter, key, key);
            assert!(told.contains(&Seen::New) && filter.contains_hash(key));
            assert_eq!((filter.ones(), filter.cycles()), (2, 0));
        });
    }

    /// Both threads' items overfill the phase: there is one recycle, and with two phases it forgets
    /// nothing that was offered.
    #[test]
    fn an_overfilled_phase_is_recycled_once_and_stays_remembered() {
        let [first, second, third] = hashes();
        loom::model(move || {
            let filter = filter(Policy::two_phases(3));
            filter.check_and_insert_hash(first);
            let told = offer_both(&filter, second, third);
            assert_eq!(told, [Seen::New, Seen::New]);
            assert_eq!(filter.cycles(), 1);
            assert!([first, second, third].into_iter().all(|key| filter.contains_hash(key)));
        });
    }

    /// A snapshot taken while another thread fills and recycles the phase has everything that was
    /// offered before, and is a state that a file can have.
    #[test]
    fn a_snapshot_has_what_was_offered_before_and_can_be_saved() {
        let [first, second, third] = hashes();
        for policy in [Policy::two_phases(3), Policy::one_phase(100)] {
            loom::model(move || {
                let filter = filter(policy);
                filter.check_and_insert_hash(first);
                let there = Arc::clone(&filter);
                let thread = thread::spawn(move || [second, third].map(|hash| there.check_and_insert_hash(hash)));
                let snapshot = filter.snapshot().expect("small");
                assert!(snapshot.contains_hash(first));
                let bytes = snapshot.to_bytes().expect("small");
                assert!(RecyclingFilter::from_bytes(&bytes).is_ok_and(|read| read == snapshot));
                thread.join().expect("no panic");
                let last = filter.snapshot().expect("small");
                assert!([first, second, third].into_iter().all(|hash| last.contains_hash(hash)));
                assert_eq!(last.stats(), filter.stats());
            });
        }
    }
}

#[cfg(all(test, not(truebloom_loom)))]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::recycling::Seeds;
    use crate::scheme::Classic;
    use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    /// With one thread, it behaves like the filter that is not shared, key by key.
    #[test]
    fn alone_it_is_the_plain_filter() {
        for policy in [
            Policy::one_phase(40),
            Policy { retaining: true, ..Policy::one_phase(40) },
            Policy::two_phases(40),
            Policy { insertions: Some(5), retaining: true, ..Policy::two_phases(60) },
        ] {
            let hasher = PortableHasher::xxh3(Seed::from(3));
            let shared: AtomicRecyclingFilter<_, Classic> = AtomicRecyclingFilter::with_hasher(100, 4, policy, hasher).expect("small");
            let mut plain: RecyclingFilter<_, Classic> = RecyclingFilter::with_hasher(100, 4, policy, hasher).expect("small");
            for key in (0..2_000u64).map(|i| i * i % 700) {
                assert_eq!(shared.contains(&key), plain.contains(&key));
                assert_eq!(shared.check_and_insert(&key), plain.check_and_insert(&key));
                assert_eq!((shared.ones(), shared.frozen_ones(), shared.fpr()), (plain.ones(), plain.frozen_ones(), plain.fpr()));
                let stats = Stats { offered: plain.counts.new + plain.counts.refreshed, ..plain.stats() };
                assert_eq!(shared.stats(), stats);
                let snapshot = shared.snapshot().expect("small");
                assert!(snapshot.memory == plain.memory && snapshot.stats() == stats && snapshot.worst_fpr() == plain.worst_fpr());
            }
            shared.recycle();
            assert_eq!(shared.cycles(), plain.stats().cycles + 1);
        }
    }

    fn policies() -> [Policy; 4] {
        [
            Policy::one_phase(40),
            Policy { retaining: true, ..Policy::one_phase(40) },
            Policy { seeds: Seeds::Kept, ..Policy::two_phases(40) },
            Policy { insertions: Some(5), retaining: true, ..Policy::two_phases(60) },
        ]
    }

    /// Saved to a file and shared again in the middle of any cycle, the filter continues as if
    /// nothing had happened, and reports nothing that depends on the history of its items.
    #[test]
    fn a_snapshot_that_is_saved_and_shared_again_goes_on() {
        for policy in policies() {
            let hasher = PortableHasher::xxh3(Seed::from(4));
            let mut first: AtomicRecyclingFilter = AtomicRecyclingFilter::with_hasher(100, 4, policy, hasher).expect("small");
            let mut plain: RecyclingFilter = RecyclingFilter::with_hasher(100, 4, policy, hasher).expect("small");
            for key in 0..300u64 {
                assert_eq!(first.check_and_insert(&key), plain.check_and_insert(&key));
                let snapshot = first.snapshot().expect("small");
                let read: RecyclingFilter = RecyclingFilter::from_bytes(&snapshot.to_bytes().expect("small")).expect("a state of a filter");
                assert!(read == snapshot && read.wrong_drops(0.9).is_ok_and(|drops| drops.is_none()) && read.average_fpr().is_none());
                first = AtomicRecyclingFilter::try_from(read).expect("what threads can share");
                assert!(first.stats() == snapshot.stats());
            }
            assert!(first.into_filter().expect("small").memory == plain.memory);
            // One that a single thread has filled before.
            let shared = AtomicRecyclingFilter::try_from(plain.clone()).expect("what threads can share");
            assert!(shared.stats() == plain.stats() && shared.fpr() == plain.fpr());
            assert!(shared.into_filter().is_ok_and(|filter| filter.wrong_drops(0.9).is_ok_and(|drops| drops.is_none())));
        }
    }

    /// Snapshots of small filters that recycle all the time while threads offer items: everything
    /// that was known to be offered is in them, and each is a state that a file can have, including
    /// overfilled phases.
    #[test]
    fn snapshots_while_threads_offer_have_what_was_offered_before() {
        for policy in policies() {
            let hasher = PortableHasher::xxh3(Seed::from(4));
            let shared: AtomicRecyclingFilter = AtomicRecyclingFilter::with_hasher(100, 4, policy, hasher).expect("small");
            // A key that was offered, and the cycle before it was: a phase more is remembered where
            // there are two.
            let acknowledged = AtomicU64::new(0);
            let remembered = if policy.phases == Phases::One { 0 } else { 1 };
            let done = AtomicBool::new(false);
            std::thread::scope(|threads| {
                let (shared, acknowledged, done) = (&shared, &acknowledged, &done);
                let offers = |part: u64| {
                    move || {
                        for key in (part << 24..).take_while(|_| !done.load(Ordering::Relaxed)) {
                            let cycle = shared.cycles();
                            shared.check_and_insert(&key);
                            acknowledged.store(cycle << 32 | key, Ordering::Release);
                        }
                    }
                };
                (1..4).for_each(|part| _ = threads.spawn(offers(part)));
                // Whatever happens here, the threads end.
                let _ends = Raised(done);
                let mut checked = 0;
                while checked < 100 {
                    let known = acknowledged.load(Ordering::Acquire);
                    let snapshot = shared.snapshot().expect("small");
                    if known > 0 && snapshot.stats().cycles <= (known >> 32) + remembered {
                        assert!(snapshot.contains(&(known & 0xffff_ffff)));
                        checked += 1;
                    }
                    let read: RecyclingFilter =
                        RecyclingFilter::from_bytes(&snapshot.to_bytes().expect("small")).expect("a state of a filter");
                    assert!(read == snapshot && read.fpr() <= read.worst_fpr());
                }
            });
        }
    }

    /// Sets the flag when it is dropped.
    struct Raised<'a>(&'a AtomicBool);

    impl Drop for Raised<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn threads_never_lose_an_item_within_the_guaranteed_memory() {
        let policy = Policy { insertions: Some(400), ..Policy::two_phases(90_000) };
        let seen = AtomicRecyclingFilter::new(100_000, 5, policy).expect("small");
        std::thread::scope(|threads| {
            for part in 0..4u64 {
                let seen = &seen;
                threads.spawn(move || {
                    for i in 0..20_000 {
                        let key = part << 32 | i;
                        let cycle = seen.cycles();
                        seen.check_and_insert(&key);
                        // Remembered unless two recycles came between.
                        let known = seen.contains(&key);
                        assert!(known || seen.cycles() >= cycle + 2, "lost");
                    }
                });
            }
        });
        let cycles = seen.cycles();
        // 80,000 items, of which some pass by chance and some exceed the limit while the lock is
        // taken.
        assert!((150..=200).contains(&cycles), "{cycles}");
    }

    #[test]
    fn what_cannot_be_shared_is_refused() {
        let age = Policy { age: Some(core::time::Duration::from_secs(1)), ..Policy::one_phase(10) };
        let excluded = Policy { phases: Phases::Two(Trigger::Excluded), ..Policy::one_phase(10) };
        for policy in [age, excluded] {
            assert!(matches!(AtomicRecyclingFilter::new(100, 3, policy), Err(BuildError::NotShared { .. })));
        }
    }
}
