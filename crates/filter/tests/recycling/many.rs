//! Tests that batches give the same answers, bits, counts and sum of odds as single items.

use crate::{filter, policies};
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
