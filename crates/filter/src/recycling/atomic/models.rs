//! Tests of every interleaving of two threads. Run them with `RUSTFLAGS='--cfg truebloom_loom'
//! cargo test --release -p truebloom --lib atomic`.

use super::AtomicRecyclingFilter;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, Seed};
use crate::recycling::{Policy, RecyclingFilter, Seeds, Seen};
use crate::scheme::{Scheme, Standard};
use loom::sync::Arc;
use loom::thread;

/// A filter of 128 bits in two words, with two probes per key and a fixed seed. With this seed, key
/// 0 of the test has a bit in each word.
fn filter(policy: Policy) -> Arc<AtomicRecyclingFilter> {
    let policy = Policy { seeds: Seeds::Kept, ..policy };
    Arc::new(AtomicRecyclingFilter::with_hasher(128, 2, policy, PortableHasher::xxh3(Seed::from(1))).expect("small"))
}

/// Hashes that share no bit. The first hash has its two bits in different words.
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

/// Two threads offer one key each, in parallel; returns the two answers.
fn offer_both(filter: &Arc<AtomicRecyclingFilter>, one: KeyHash, other: KeyHash) -> [Seen; 2] {
    let there = Arc::clone(filter);
    let thread = thread::spawn(move || {
        let seen = there.check_and_insert_hash(other);
        (seen, there.contains_hash(other))
    });
    let here = filter.check_and_insert_hash(one);
    let (told, known) = thread.join().expect("no panic");
    assert!(known, "a thread does not find its own key");
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

/// When the items of two threads together fill the phase beyond its limit, the filter recycles
/// once. With two phases, it forgets no item.
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

/// The same test with batches: a batch that has filled the phase releases its lock before it
/// recycles.
#[test]
fn batches_that_overfill_a_phase_recycle_it_once() {
    let [first, second, third] = hashes();
    loom::model(move || {
        let filter = filter(Policy::two_phases(3));
        let there = Arc::clone(&filter);
        let thread = thread::spawn(move || there.check_and_insert_all_hashes(&[first, second]).count_ones());
        let here = filter.check_and_insert_all_hashes(&[third]).count_ones();
        assert_eq!((here, thread.join().expect("no panic")), (1, 2));
        assert_eq!(filter.cycles(), 1);
        assert!([first, second, third].into_iter().all(|key| filter.contains_hash(key)));
    });
}

/// A snapshot is taken while another thread fills and recycles the phase. The snapshot has every
/// item that was offered before it was taken, and can be saved and opened.
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
