//! A recycling filter that threads share.

use super::{Phases, Policy, Seen, Trigger, salt};
use crate::bits::AtomicBits;
use crate::error::BuildError;
use crate::hash::Salt;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, hash_key};
use crate::key::Key;
use crate::scheme::{FillScheme, Scheme, Standard};
use crate::sync::{AtomicU64, Ordering::Relaxed, RwLock};
use std::sync::PoisonError;

/// A [`RecyclingFilter`](super::RecyclingFilter) that many threads offer items to at once, without a lock between them but while it recycles.
///
/// # What holds
/// * No false negatives: once [`check_and_insert`](Self::check_and_insert) of an item has returned, every call that happens after it knows the item, until the recycle that forgets it.
/// * Of several threads that offer one new item at the same time, *at least* one is told [`Seen::New`], unless the item passes by chance; more than one may be, as
///   each may set some of its bits. Who needs exactly one puts a lock around a [`RecyclingFilter`](super::RecyclingFilter).
/// * A fill beyond sigma recycles once, however many threads see it. They may go on inserting until the first of them has the lock, so that sigma is exceeded by up to k bits for every
///   other thread: the worst rate is that of `sigma + k (threads - 1)` bits. An item whose offer sees the overflow counts to the phase that it overfilled.
/// * Nothing is said of [wrong drops](super::RecyclingFilter::wrong_drops): the fill that an item meets depends on how the threads run.
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
#[derive(Debug)]
pub struct AtomicRecyclingFilter<H: KeyHasher = PortableHasher, S: FillScheme = Standard> {
    hasher: H,
    scheme: S,
    policy: Policy,
    /// Read by who inserts, written by who recycles.
    phases: RwLock<State>,
}

#[derive(Debug)]
struct State {
    active: Shared,
    frozen: Option<Shared>,
    cycles: u64,
}

/// A phase whose bits are set by many.
#[derive(Debug)]
struct Shared {
    bits: AtomicBits,
    ones: AtomicU64,
    items: AtomicU64,
    salt: Salt,
}

impl AtomicRecyclingFilter {
    /// As [`RecyclingFilter::new`](super::RecyclingFilter::new).
    ///
    /// # Errors
    /// A policy with an age (call [`recycle`](Self::recycle) by your clock) or with triggers excluded, whose bits could not be told from other threads'.
    #[cfg(feature = "random")]
    pub fn new(bits: u64, probes: u32, policy: Policy) -> Result<AtomicRecyclingFilter, BuildError> {
        AtomicRecyclingFilter::with_hasher(bits, probes, policy, PortableHasher::random()?)
    }
}

impl<H: KeyHasher, S: FillScheme> AtomicRecyclingFilter<H, S> {
    /// [`new`](AtomicRecyclingFilter::new) with a hasher and a scheme of one's own.
    ///
    /// # Errors
    /// As [`new`](Self::new), but for the random numbers.
    pub fn with_hasher(bits: u64, probes: u32, policy: Policy, hasher: H) -> Result<AtomicRecyclingFilter<H, S>, BuildError> {
        let scheme = S::new(bits, probes)?;
        policy.check(bits, probes)?;
        if policy.age.is_some() || policy.phases == Phases::Two(Trigger::Excluded) {
            return Err(BuildError::NotShared { what: if policy.age.is_some() { "an age" } else { "excluded triggers" } });
        }
        let frozen = match policy.phases {
            Phases::Two(_) => Some(Shared::new(bits, Salt::NONE)?),
            _ => None,
        };
        let active = Shared::new(bits, salt(&hasher, policy.seeds, 0))?;
        Ok(AtomicRecyclingFilter { hasher, scheme, policy, phases: RwLock::new(State { active, frozen, cycles: 0 }) })
    }

    /// Whether an item is new to what is remembered; it is remembered from now on. Recycles if that filled the active phase.
    pub fn check_and_insert<K: Key + ?Sized>(&self, key: &K) -> Seen {
        self.check_and_insert_hash(self.hash(key))
    }

    /// [`check_and_insert`](Self::check_and_insert) of a key that is hashed already.
    pub fn check_and_insert_hash(&self, hash: KeyHash) -> Seen {
        // The lock ends with this block: who holds it for reading must not wait for it.
        let (seen, overfilled) = {
            let state = self.phases.read().unwrap_or_else(PoisonError::into_inner);
            let (newly_set, ones, items) = state.active.insert(&self.scheme, hash);
            if newly_set == 0 {
                return Seen::Active;
            }
            let in_frozen = state.frozen.as_ref().is_some_and(|frozen| frozen.contains(&self.scheme, hash));
            let full = ones > self.policy.sigma || self.policy.insertions.is_some_and(|most| items >= most);
            (if in_frozen { Seen::Frozen } else { Seen::New }, full.then_some(state.cycles))
        };
        if let Some(cycle) = overfilled {
            self.recycle_once(cycle, Some(hash));
        }
        seen
    }

    /// Whether what is remembered contains the key.
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// [`contains`](Self::contains) of a key that is hashed already.
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        let state = self.phases.read().unwrap_or_else(PoisonError::into_inner);
        let known = |phase: &Shared| phase.contains(&self.scheme, hash);
        known(&state.active) || state.frozen.as_ref().is_some_and(known)
    }

    /// The key's hash.
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        hash_key(&self.hasher, key)
    }

    /// Recycles now. Waits for the inserts under way.
    pub fn recycle(&self) {
        let cycle = self.cycles();
        self.recycle_once(cycle, None);
    }

    /// Recycles so far.
    pub fn cycles(&self) -> u64 {
        self.phases.read().unwrap_or_else(PoisonError::into_inner).cycles
    }

    /// Set bits of the active phase.
    pub fn ones(&self) -> u64 {
        self.phases.read().unwrap_or_else(PoisonError::into_inner).active.ones.load(Relaxed)
    }

    /// When it forgets, and what it keeps then.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Ends this cycle, unless another thread has: a second recycle would forget a phase that is to be remembered.
    fn recycle_once(&self, cycle: u64, trigger: Option<KeyHash>) {
        let mut state = self.phases.write().unwrap_or_else(PoisonError::into_inner);
        if state.cycles != cycle {
            return;
        }
        let State { active, frozen, cycles } = &mut *state;
        *cycles += 1;
        if let Some(frozen) = frozen {
            core::mem::swap(active, frozen);
        }
        active.clear(salt(&self.hasher, self.policy.seeds, *cycles));
        if let Some(trigger) = trigger.filter(|_| self.policy.retaining) {
            active.insert(&self.scheme, trigger);
        }
    }
}

impl Shared {
    fn new(bits: u64, salt: Salt) -> Result<Shared, BuildError> {
        Ok(Shared { bits: AtomicBits::zeroed(bits)?, ones: AtomicU64::new(0), items: AtomicU64::new(0), salt })
    }

    /// Sets the positions of a key: how many this call set, and the set bits and items after it.
    ///
    /// Relaxed throughout: what is asked of a word is asked of one atomic, whose changes have one order, and the phases change hands under the lock.
    fn insert(&self, scheme: &impl Scheme, hash: KeyHash) -> (u64, u64, u64) {
        let mut newly_set = 0;
        scheme.all_words(self.salt.apply(hash), |word, mask| {
            newly_set += u64::from(self.bits.set(word, mask));
            true
        });
        if newly_set == 0 {
            return (0, 0, 0);
        }
        (newly_set, self.ones.fetch_add(newly_set, Relaxed) + newly_set, self.items.fetch_add(1, Relaxed) + 1)
    }

    fn contains(&self, scheme: &impl Scheme, hash: KeyHash) -> bool {
        scheme.all_words(self.salt.apply(hash), |word, mask| self.bits.has(word, mask))
    }

    fn clear(&mut self, salt: Salt) {
        self.bits.clear();
        [&self.ones, &self.items].into_iter().for_each(|count| count.store(0, Relaxed));
        self.salt = salt;
    }
}

/// Every interleaving of two threads, by `RUSTFLAGS='--cfg truebloom_loom' cargo test --release -p truebloom --lib atomic`.
#[cfg(all(truebloom_loom, test))]
mod models {
    use super::*;
    use crate::Seed;
    use crate::recycling::Seeds;
    use loom::sync::Arc;
    use loom::thread;

    /// 128 bits in two words, two probes a key, one seed for ever: key 0 of the test has a bit in each word.
    fn filter(policy: Policy) -> Arc<AtomicRecyclingFilter> {
        let policy = Policy { seeds: Seeds::Kept, ..policy };
        Arc::new(AtomicRecyclingFilter::with_hasher(128, 2, policy, PortableHasher::xxh3(Seed::from(1))).expect("small"))
    }

    /// Hashes whose keys share no bit, the first with its two bits in different words.
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

    /// Both offer in parallel; what they were told.
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

    /// Both threads' items overfill the phase: one recycle, and with two phases nothing that was offered is forgotten by it.
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
}

#[cfg(all(test, not(truebloom_loom)))]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::recycling::RecyclingFilter;
    use crate::scheme::Classic;

    /// By one thread, it is the filter that is not shared, key by key.
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
                assert_eq!((shared.ones(), shared.cycles()), (plain.ones(), plain.stats().cycles));
            }
            shared.recycle();
            assert_eq!(shared.cycles(), plain.stats().cycles + 1);
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
        // 80,000 items, of which some pass by chance and some exceed the limit while the lock is taken.
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
