//! What a set promises: nothing is forgotten, union and intersection are those of the keys, and the counts are true.

mod common;

use common::filter;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher};
use truebloom::truebloom_math::Error;
use truebloom::{BloomFilter, BuildError, Foreign, MergeError, Plan, PortableHasher, Rate, Seed, Target};

fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(any::<u8>(), 0..20), 0..60)
}

fn shape() -> impl Strategy<Value = (u64, u32)> {
    (prop_oneof![1..70u64, 1..5000u64], prop_oneof![1..12u32, 1..200u32])
}

/// The set bits by way of the file, where they are counted anew.
fn recounted(filter: &BloomFilter) -> u64 {
    let bytes = filter.to_bytes().expect("small");
    bytes[256..].iter().map(|byte| u64::from(byte.count_ones())).sum()
}

proptest! {
    #[test]
    fn nothing_is_forgotten_and_counts_are_true((bits, probes) in shape(), seed: u128, keys in keys()) {
        let mut filter = filter(bits, probes, seed);
        let mut changed = 0;
        for key in &keys {
            let (contained, before) = (filter.contains(key), filter.ones());
            let new = filter.insert(key);
            prop_assert_eq!(new, !contained);
            prop_assert_eq!(new, filter.ones() > before);
            prop_assert!(!filter.insert(key), "a repeat is not new");
            changed += u64::from(new);
        }
        prop_assert!(keys.iter().all(|key| filter.contains(key)));
        prop_assert_eq!((filter.offered(), filter.changed()), (2 * keys.len() as u64, changed));
        prop_assert_eq!(filter.ones(), recounted(&filter));
        prop_assert!(filter.ones() <= changed * u64::from(probes) && changed <= filter.ones());
        prop_assert_eq!(filter.is_empty(), keys.is_empty());
        filter.clear();
        prop_assert_eq!(&filter, &common::filter(bits, probes, seed));
        prop_assert!(keys.iter().all(|key| !filter.contains(key)));
    }

    #[test]
    fn union_is_inserting_both_and_intersection_keeps_what_is_in_both((bits, probes) in shape(), seed: u128, both in keys(), left in keys(), right in keys()) {
        let empty = filter(bits, probes, seed);
        let of = |parts: &[&Vec<Vec<u8>>]| {
            let mut filter = empty.clone();
            parts.iter().for_each(|keys| filter.extend(keys.iter()));
            filter
        };
        let (here, there) = (of(&[&both, &left]), of(&[&both, &right]));

        let mut union = here.clone();
        union.union_with(&there).expect("same parameters");
        let inserted = of(&[&both, &left, &both, &right]);
        prop_assert_eq!(&union.to_bytes().expect("small")[256..], &inserted.to_bytes().expect("small")[256..]);
        prop_assert_eq!((union.ones(), union.offered(), union.is_merged()), (inserted.ones(), inserted.offered(), true));
        let distinct: HashSet<_> = [&both, &left, &right].into_iter().flatten().collect();
        prop_assert!(union.changed() <= distinct.len() as u64);

        let mut intersection = here.clone();
        intersection.intersect_with(&there).expect("same parameters");
        prop_assert!(both.iter().all(|key| intersection.contains(key)));
        prop_assert!(left.iter().chain(&right).all(|key| intersection.contains(key) == (here.contains(key) && there.contains(key))));
        prop_assert_eq!(intersection.ones(), recounted(&intersection));
        prop_assert_eq!((intersection.changed(), intersection.is_merged()), (0, true));
        intersection.clear();
        prop_assert_eq!(intersection, empty);
    }

    #[test]
    fn hashed_twins_agree(seed: u128, keys in keys()) {
        let (mut by_key, mut by_hash) = (filter(997, 4, seed), filter(997, 4, seed));
        for key in &keys {
            let hash = by_key.hash(key);
            prop_assert_eq!(by_key.contains(key), by_hash.contains_hash(hash));
            prop_assert_eq!(by_key.insert(key), by_hash.insert_hash(hash));
        }
        prop_assert_eq!(by_key, by_hash);
    }
}

#[test]
fn a_merge_names_what_differs() {
    let (mut ours, seed) = (filter(100, 3, 1), Seed::from(1));
    let before = ours.clone();
    let sip = BloomFilter::with_bits_probes_and_hasher(100, 3, PortableHasher::sip13(seed)).expect("small");
    let sip_id = truebloom::HasherId::Sip13;
    let cases = [
        (filter(101, 3, 1), MergeError::Bits { ours: 100, theirs: 101 }, "same plan"),
        (filter(100, 4, 1), MergeError::Probes { ours: 3, theirs: 4 }, "same plan"),
        (sip, MergeError::Hasher { ours: Some(truebloom::HasherId::Xxh3), theirs: Some(sip_id) }, "same hasher"),
        (filter(100, 3, 2), MergeError::Seed { ours: seed, theirs: Seed::from(2) }, "same seed"),
    ];
    for (other, expected, remedy) in cases {
        assert_eq!(ours.union_with(&other), Err(expected));
        assert_eq!(ours.intersect_with(&other), Err(expected));
        assert!(expected.to_string().contains(remedy), "{expected}");
    }
    assert_eq!(ours, before, "a refused merge changes nothing");
}

#[test]
fn foreign_hashers_work_and_are_told_apart() {
    type Fixed = Foreign<BuildHasherDefault<DefaultHasher>>;
    let make = || BloomFilter::<Fixed>::with_hasher(500, 0.01, Foreign::new(BuildHasherDefault::new())).expect("a plan");
    let (mut here, mut there) = (make(), make());
    here.extend(0..250u64);
    there.extend(250..500u64);
    here.union_with(&there).expect("the same hasher");
    assert!((0..500u64).all(|key| here.contains(&key)));
    let passed = (1_000..101_000u64).filter(|key| here.contains(key)).count();
    assert!((500..1_500).contains(&passed), "{passed}");

    let random = || BloomFilter::with_hasher(500, 0.01, Foreign::new(std::hash::RandomState::new())).expect("a plan");
    assert!(matches!(random().union_with(&random()), Err(MergeError::Seed { .. })), "their states differ");
    let below_the_floor = BloomFilter::with_hasher(1 << 40, 1e-9, Foreign::new(std::hash::RandomState::new())).expect_err("of 64 bits");
    assert!(matches!(below_the_floor, BuildError::Math(Error::BelowHashFloor { hash_bits: 64, .. })));
    let plan = Plan::new(&Target { items: Some(500), rate: Rate::try_from(0.01).ok(), ..Target::default() }).expect("a plan");
    let other_width =
        BloomFilter::from_plan_with_hasher(&plan, Foreign::new(std::hash::RandomState::new())).expect_err("planned for 128 bits");
    assert!(matches!(other_width, BuildError::HashBits { found: 64, .. }), "{other_width}");
}
