//! Tests that batches give the same bits, answers and counts as single keys, in the same order.

mod common;

use common::{SplitMix64, filter};
use proptest::prelude::*;
use truebloom::scheme::{AnyScheme, SchemeId};
use truebloom::{BloomFilter, FilterOf, KeyHash, MAX_PROBES, PortableHasher, Seed};

/// Inserts the keys one by one, and returns the answers.
fn insert_singly(filter: &mut BloomFilter, keys: &[u64]) -> Vec<bool> {
    keys.iter().map(|key| filter.insert(key)).collect()
}

fn hashes(filter: &BloomFilter, keys: &[u64]) -> Vec<KeyHash> {
    keys.iter().map(|key| filter.hash(key)).collect()
}

/// Compares every batch operation with the operation on single keys, for keys that repeat within
/// and across batches.
fn check(bits: u64, probes: u32, members: &[u64], asked: &[u64]) {
    let mut singly = filter(bits, probes, 7);
    let (mut bulk, mut hashed, mut called) = (singly.clone(), singly.clone(), singly.clone());
    let expected = insert_singly(&mut singly, members);
    let context = format!("{bits} bits, {probes} probes, {} members, {} asked", members.len(), asked.len());

    assert!(bulk.insert_all(members).iter().eq(expected.iter().copied()), "{context}");
    assert!(hashed.insert_all_hashes(&hashes(&singly, members)).iter().eq(expected.iter().copied()), "{context}");
    let mut flags = Vec::new();
    called.insert_each(members, |new| flags.push(new));
    assert_eq!(flags, expected, "{context}");
    assert!(bulk == singly && hashed == singly && called == singly, "{context}");

    let expected: Vec<bool> = asked.iter().map(|key| singly.contains(key)).collect();
    let found = singly.contains_all(asked);
    assert!(found.iter().eq(expected.iter().copied()), "{context}");
    assert_eq!(found, singly.contains_all_hashes(&hashes(&singly, asked)), "{context}");
    let mut flags = Vec::new();
    singly.contains_each(asked, |found| flags.push(found));
    assert_eq!(flags, expected, "{context}");
    assert_eq!((found.len(), found.count_ones()), (asked.len(), expected.iter().filter(|found| **found).count()), "{context}");
    assert!((0..asked.len()).all(|key| found.get(key) == Some(expected[key])) && found.get(asked.len()).is_none(), "{context}");
}

#[test]
fn every_number_of_keys_around_the_size_of_a_batch() {
    for count in [0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1000] {
        let members: Vec<u64> = (0..count).map(|key| key * 7 % (count / 2 + 1)).collect();
        let asked: Vec<u64> = (0..count).map(|key| key + count / 3).collect();
        check(10_007, 7, &members, &asked);
    }
}

#[test]
fn every_kind_of_size() {
    let members: Vec<u64> = (0..700).map(|key| key % 650).collect();
    let asked: Vec<u64> = (0..1400).collect();
    for (bits, probes) in [(1, 1), (64, 3), (100, MAX_PROBES), (5_000, 1), (5_000, 2), (100_000, 33), (9_000_000, 7), (64 << 20, 600)] {
        let some = if probes > 100 { &members[..100] } else { &members };
        check(bits, probes, some, &asked[..2 * some.len()]);
    }
}

/// Tests streams that change from misses to hits and back, and mixed streams, because the method of
/// lookup depends on the previous batch.
#[test]
fn streams_that_turn() {
    let mut random = SplitMix64(3);
    let members: Vec<u64> = (0..3_000).map(|_| random.next()).collect();
    let strangers: Vec<u64> = (0..3_000).map(|_| random.next()).collect();
    let turning = [&members[..700], &strangers[..700], &members[700..1_000], &strangers[700..]].concat();
    let mixed: Vec<u64> = members.iter().zip(&strangers).flat_map(|(member, stranger)| [*member, *stranger]).collect();
    for asked in [turning, mixed] {
        check(30_000, 7, &members, &asked);
    }
}

proptest! {
    #[test]
    fn any_keys_in_any_filter(bits in 1u64..200_000, probes in 1u32..40, seed: u64, members in 0usize..900, asked in 0usize..900, range in 1u64..2_000) {
        let mut random = SplitMix64(seed);
        let mut keys = |count| (0..count).map(|_| random.next() % range).collect::<Vec<u64>>();
        let (members, asked) = (keys(members), keys(asked));
        check(bits, probes, &members, &asked);
    }
}

/// Schemes without a faster method handle the keys of a batch one by one. The filters are larger
/// than the cache, because the keys of smaller filters are handled by single calls.
#[test]
fn every_other_scheme() {
    let members: Vec<u64> = (0..600).map(|key| key % 500).collect();
    let ids = [SchemeId::Classic, SchemeId::Partitioned, SchemeId::Double, SchemeId::Cube, SchemeId::PartitionDouble];
    for (id, probes) in ids.into_iter().flat_map(|id| [(id, 7), (id, 40)]) {
        let scheme = AnyScheme::named(id, 40 * 430_000, probes).or_else(|_| AnyScheme::named(id, 7 * 2_500_000, probes)).expect("in range");
        let mut singly = FilterOf::with_scheme(scheme, PortableHasher::xxh3(Seed::from(7))).expect("small");
        let mut bulk = singly.clone();
        let expected: Vec<bool> = members.iter().map(|key| singly.insert(key)).collect();
        assert!(bulk.insert_all(&members).iter().eq(expected), "{id:?}, {probes} probes");
        assert!(bulk == singly, "{id:?}, {probes} probes");
        let expected = (0..1_000u64).map(|key| singly.contains(&key));
        assert!(singly.contains_all(0..1_000u64).iter().eq(expected), "{id:?}, {probes} probes");
    }
}

#[test]
fn texts_are_keys_too() {
    let mut filter = filter(10_000, 5, 1);
    assert_eq!(filter.insert_all(["a", "b"]).count_ones(), 2);
    assert!(filter.contains_all(["b", "c"].map(String::from)).iter().eq([true, false]));
    assert!(filter.contains("a") && filter.offered() == 2);
}
