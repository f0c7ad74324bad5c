//! Tests that batches give the same answers, bits, counts and sum of odds as single items, and that
//! a cleared filter is like a new one.

use crate::{filter, policies};
use std::time::Duration;
use truebloom::KeyHash;
use truebloom::recycling::{Blocked, Layout, Policy, RecyclingFilter};
use truebloom::scheme::{Classic, Standard};

/// Hashes of a stream in which two thirds of the items are repeated, some of them immediately.
fn stream(items: u128) -> Vec<KeyHash> {
    (0..items).map(|i| KeyHash::mixed(if i % 3 == 0 { i } else { i * i % 1_001 })).collect()
}

/// Compares a stream that is offered in batches of these sizes with the same stream offered one
/// item at a time.
fn check<S: Layout>(bits: u64, probes: u32, policy: Policy<S::Limit>, pieces: &[usize]) {
    let make = || filter::<S>(bits, probes, policy, 7);
    let (mut one_by_one, mut together): (RecyclingFilter<_, S>, RecyclingFilter<_, S>) = (make(), make());
    let stream = stream(4_000);
    let mut left = &stream[..];
    for length in pieces.iter().cycle() {
        let (now, later) = left.split_at(left.len().min(*length));
        let expected: Vec<bool> = now.iter().map(|hash| one_by_one.check_and_insert_hash(*hash).is_new()).collect();
        let answers = together.check_and_insert_all_hashes(now.iter().copied());
        assert!(answers.iter().eq(expected), "{length} of {bits} bits, {probes} probes, {policy:?}");
        assert!(one_by_one == together && one_by_one.stats() == together.stats());
        let asked = &stream[..now.len()];
        let contained: Vec<bool> = asked.iter().map(|hash| one_by_one.contains_hash(*hash)).collect();
        assert!(together.contains_all_hashes(asked).iter().eq(contained), "{length} of {bits} bits, {probes} probes, {policy:?}");
        left = later;
        if left.is_empty() {
            break;
        }
    }
    assert!(one_by_one.stats().cycles > 0 || policy.insertions.is_none());
}

/// The batches have many recycles, a few, or none. After each recycle, the items that wait in the
/// batch have new positions. 65 probes exceed the number for which positions are computed in
/// vectors.
#[test]
fn many_items_are_as_one_by_one() {
    for pieces in [&[1usize, 0, 31, 32, 33, 64, 100][..], &[256, 1_000], &[4_000]] {
        for (bits, probes, sigma) in [(700, 7, 350), (4_000, 3, 2_000), (20_000, 8, 11_000), (1 << 20, 5, 500_000), (9_000, 65, 5_000)] {
            policies(sigma).into_iter().for_each(|policy| check::<Standard>(bits, probes, policy, pieces));
            let counted = Policy { insertions: Some(101), ..Policy::one_phase(sigma) };
            check::<Standard>(bits, probes, counted, pieces);
            check::<Classic>(bits, probes, counted, pieces);
        }
        check::<Blocked>(1 << 14, 6, Policy::one_phase(0.02), pieces);
    }
}

/// Keys in batches are as single keys; the batches end anywhere within the hashes of a batch.
#[test]
fn many_keys_are_as_one_by_one() {
    for (policy, keys) in policies(350).into_iter().flat_map(|policy| [0u64, 1, 255, 256, 257, 3_000].map(|keys| (policy, keys))) {
        let keys = || (0..keys).map(|i| i * i % 1_001);
        let mut one_by_one = filter::<Standard>(700, 7, policy, 7);
        let mut together = one_by_one.clone();
        let expected: Vec<bool> = keys().map(|key| one_by_one.check_and_insert(&key).is_new()).collect();
        assert!(together.check_and_insert_all(keys()).iter().eq(expected), "{policy:?}");
        assert!(one_by_one == together && one_by_one.stats() == together.stats());
        assert!(together.contains_all(0..2_000u64).iter().eq((0..2_000u64).map(|key| one_by_one.contains(&key))), "{policy:?}");
    }
}

/// A cleared filter equals a new one, and continues like a new one.
fn check_cleared<S: Layout>(policy: Policy<S::Limit>) {
    let new = || -> RecyclingFilter<_, S> { filter::<S>(1 << 12, 6, Policy { age: Some(Duration::from_secs(9)), ..policy }, 7) };
    for offered in [0, 1, 700, 4_000] {
        let mut cleared = new();
        assert!(cleared.set_label("lines"));
        cleared.advance(Duration::from_secs(5));
        cleared.check_and_insert_all_hashes(stream(offered));
        cleared.clear();
        let mut other = new();
        assert!(cleared == other && cleared.label() == Some("lines"), "{offered} items, {policy:?}");
        for hash in stream(2_000) {
            assert_eq!(cleared.check_and_insert_hash(hash), other.check_and_insert_hash(hash));
        }
        assert!(cleared == other && cleared.stats() == other.stats() && cleared.stats().cycles > 0, "{offered} items, {policy:?}");
    }
}

#[test]
fn a_cleared_filter_is_as_new() {
    policies(2_000).into_iter().for_each(check_cleared::<Standard>);
    check_cleared::<Blocked>(Policy::one_phase(0.01));
}
