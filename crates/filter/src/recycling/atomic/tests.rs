//! Tests that compare the filter that threads share with the filter for a single thread.

use super::AtomicRecyclingFilter;
use crate::error::BuildError;
use crate::hash::{KeyHash, PortableHasher, Seed};
use crate::recycling::{Phases, Policy, RecyclingFilter, Seeds, Stats, Trigger};
use crate::scheme::Classic;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// With one thread, the shared filter gives the same answers as the ordinary filter, key by key.
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

/// With one thread, batches give the same answers and counts as single keys, whichever key of a
/// batch ends a cycle.
#[test]
fn alone_batches_are_as_single_keys() {
    for (policy, length) in policies().into_iter().flat_map(|policy| [0usize, 1, 31, 256, 300, 2_000].map(|length| (policy, length))) {
        let hasher = PortableHasher::xxh3(Seed::from(3));
        let together: AtomicRecyclingFilter = AtomicRecyclingFilter::with_hasher(100, 4, policy, hasher).expect("small");
        let single: AtomicRecyclingFilter = AtomicRecyclingFilter::with_hasher(100, 4, policy, hasher).expect("small");
        let keys: Vec<u64> = (0..2_000).map(|i| i * i % 700).collect();
        for (number, keys) in keys.chunks(length.max(1)).enumerate() {
            let keys = &keys[..keys.len().min(length)];
            let hashes: Vec<KeyHash> = keys.iter().map(|key| single.hash(key)).collect();
            let contained: Vec<bool> = keys.iter().map(|key| single.contains(key)).collect();
            assert!(
                together.contains_all(keys).iter().eq(contained.iter().copied())
                    && together.contains_all_hashes(&hashes).iter().eq(contained)
            );
            let new: Vec<bool> = keys.iter().map(|key| single.check_and_insert(key).is_new()).collect();
            let answers = if number % 2 == 0 { together.check_and_insert_all(keys) } else { together.check_and_insert_all_hashes(&hashes) };
            assert!(answers.iter().eq(new) && together.stats() == single.stats(), "{length} keys, {policy:?}");
        }
        assert!(together.into_filter() == single.into_filter());
    }
}

/// If threads offer batches, each phase exceeds its limit by at most the bits of one key for each
/// thread. With two phases, one thread may also set the bits of the trigger, which is then counted
/// within the limit.
#[test]
fn threads_that_offer_batches_exceed_the_limit_no_more_than_with_single_keys() {
    let (threads, probes) = (4, 4);
    for policy in [Policy::two_phases(400), Policy::one_phase(400)] {
        let hasher = PortableHasher::xxh3(Seed::from(3));
        let shared: AtomicRecyclingFilter = AtomicRecyclingFilter::with_hasher(1_000, probes, policy, hasher).expect("small");
        std::thread::scope(|scope| {
            for part in 0..threads {
                let shared = &shared;
                scope.spawn(move || {
                    (0..40u64).for_each(|batch| drop(shared.check_and_insert_all((0..256).map(|key| part << 32 | batch << 16 | key))))
                });
            }
        });
        let counts = shared.into_filter().counts;
        assert!(counts.cycles > 100 && counts.overfill.is_some_and(|bits| bits <= threads * u64::from(probes)), "{counts:?}");
    }
}

#[test]
fn a_shared_filter_for_items_has_the_size_of_the_plain_one() {
    let hasher = PortableHasher::xxh3(Seed::from(3));
    let shared = AtomicRecyclingFilter::for_items_with_hasher(1_000, 0.001, hasher).expect("small");
    let plain = RecyclingFilter::for_items_with_hasher(1_000, 0.001, hasher).expect("small");
    assert_eq!((shared.bits(), shared.probes(), shared.policy()), (plain.bits(), plain.probes(), plain.policy()));
    assert!(AtomicRecyclingFilter::for_items(0, 0.001).is_err());
}

/// If the rate computed from the set bits is negligible, the present rate equals the probability of
/// equal hashes. With two phases, this probability includes the items of both phases.
#[test]
fn the_present_rate_includes_equal_hashes() {
    for policy in [Policy::one_phase(900), Policy { insertions: Some(2), ..Policy::two_phases(900) }] {
        let hasher = PortableHasher::xxh3(Seed::from(3));
        let shared: AtomicRecyclingFilter<_, Classic> = AtomicRecyclingFilter::with_hasher(1 << 20, 40, policy, hasher).expect("small");
        let mut plain: RecyclingFilter<_, Classic> = RecyclingFilter::with_hasher(1 << 20, 40, policy, hasher).expect("small");
        for key in 0..3u64 {
            assert!(shared.check_and_insert(&key) == plain.check_and_insert(&key) && shared.fpr() == plain.fpr());
            let floor = truebloom_math::law::hash_floor(key + 1, 128);
            assert!(plain.fpr() >= floor && plain.fpr() <= 1.0001 * floor, "{key}: {}", plain.fpr());
            assert!(plain.fpr() <= plain.worst_fpr());
        }
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

/// A shared filter that is saved to a file in the middle of a cycle, opened and shared again
/// continues in the same state. The shared filter then reports no values that depend on the history
/// of its items.
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
        assert!(first.into_filter().memory == plain.memory);
        // A filter that a single thread has filled can be shared, too.
        let shared = AtomicRecyclingFilter::try_from(plain.clone()).expect("what threads can share");
        assert!(shared.stats() == plain.stats() && shared.fpr() == plain.fpr());
        assert!(shared.into_filter().wrong_drops(0.9).is_ok_and(|drops| drops.is_none()));
    }
}

/// Takes snapshots of small filters, which recycle often, while threads offer items. A snapshot has
/// every item whose offer was complete before the snapshot was taken. It can be saved and opened,
/// even if a phase is overfilled.
#[test]
fn snapshots_while_threads_offer_have_what_was_offered_before() {
    for policy in policies() {
        let hasher = PortableHasher::xxh3(Seed::from(4));
        let shared: AtomicRecyclingFilter = AtomicRecyclingFilter::with_hasher(100, 4, policy, hasher).expect("small");
        // A key that was offered, and the number of the cycle just before the offer. Filters with
        // two phases remember the key for one more cycle.
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
            // The threads end even if an assertion fails here.
            let _ends = Raised(done);
            let mut checked = 0;
            while checked < 100 {
                let known = acknowledged.load(Ordering::Acquire);
                let snapshot = shared.snapshot().expect("small");
                if known > 0 && snapshot.stats().cycles <= (known >> 32) + remembered {
                    assert!(snapshot.contains(&(known & 0xffff_ffff)));
                    checked += 1;
                }
                let read: RecyclingFilter = RecyclingFilter::from_bytes(&snapshot.to_bytes().expect("small")).expect("a state of a filter");
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
                    // The item is remembered, unless the filter recycled twice in between.
                    let known = seen.contains(&key);
                    assert!(known || seen.cycles() >= cycle + 2, "lost");
                }
            });
        }
    });
    let cycles = seen.cycles();
    // Some of the 80,000 items are false positives, and some are inserted beyond the limit before a
    // recycle has the lock.
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
