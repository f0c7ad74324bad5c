//! Tests the promises of a set: no key is lost, unions and intersections contain the right keys,
//! and the counts are correct.

mod common;

use common::filter;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher};
use truebloom::scheme::{Classic, Cube, Double, DoubleNonzero, Enhanced, InLines, PartitionDouble, Partitioned, Scheme, Square, Standard};
use truebloom::truebloom_math::Error;
use truebloom::{
    AnyFilter, BlockedBloomFilter, BloomFilter, BuildError, Filter, FilterOf, ForeignHasher, MergeError, Plan, PortableHasher, Seed, Target,
};

fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(any::<u8>(), 0..20), 0..60)
}

fn shape() -> impl Strategy<Value = (u64, u32)> {
    (prop_oneof![1..70u64, 1..5000u64], prop_oneof![1..12u32, 1..200u32])
}

/// The number of set bits, counted in the bytes of the filter's file.
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
    let sip = BloomFilter::builder().bits(100).probes(3).hasher(PortableHasher::sip13(seed)).build().expect("small");
    let sip_id = truebloom::HasherId::Sip13;
    let cases = [
        (filter(101, 3, 1), MergeError::Bits { ours: 100, theirs: 101 }, "copies of one empty filter"),
        (filter(100, 4, 1), MergeError::Probes { ours: 3, theirs: 4 }, "copies of one empty filter"),
        (sip, MergeError::Hasher { ours: Some(truebloom::HasherId::Xxh3), theirs: Some(sip_id) }, "same hasher"),
        (filter(100, 3, 2), MergeError::Seed, "same seed"),
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
    type Fixed = ForeignHasher<BuildHasherDefault<DefaultHasher>>;
    let make = || BloomFilter::<Fixed>::with_hasher(500, 0.01, ForeignHasher::new(BuildHasherDefault::new())).expect("a plan");
    let (mut here, mut there) = (make(), make());
    here.extend(0..250u64);
    there.extend(250..500u64);
    here.union_with(&there).expect("the same hasher");
    assert!((0..500u64).all(|key| here.contains(&key)));
    let passed = (1_000..101_000u64).filter(|key| here.contains(key)).count();
    assert!((500..1_500).contains(&passed), "{passed}");

    let random = || BloomFilter::with_hasher(500, 0.01, ForeignHasher::new(std::hash::RandomState::new())).expect("a plan");
    assert!(matches!(random().union_with(&random()), Err(MergeError::Seed)), "their states differ");
    let below_the_floor =
        BloomFilter::with_hasher(1u64 << 40, 1e-9, ForeignHasher::new(std::hash::RandomState::new())).expect_err("of 64 bits");
    assert!(matches!(below_the_floor, BuildError::Math(Error::BelowHashFloor { hash_bits: 64, .. })));
    let plan = Plan::new(&Target::new().items(500).rate("1%".parse().expect("a rate"))).expect("a plan");
    let other_width =
        BloomFilter::from_plan_with_hasher(&plan, ForeignHasher::new(std::hash::RandomState::new())).expect_err("planned for 128 bits");
    assert!(matches!(other_width, BuildError::HashBits { found: 64, .. }), "{other_width}");
}

/// The order of insertions determines which keys set no bit, but not the answers of the filter, so
/// it does not affect equality. In a filter as full as this one, most keys set no bit, and these
/// keys differ between the two orders.
#[test]
fn equality_is_not_about_order() {
    fn check<S: Scheme>(bits: u64) {
        let empty = FilterOf::<S>::builder().bits(bits).probes(3).hasher(PortableHasher::xxh3(Seed::from(3))).build().expect("small");
        let (mut forwards, mut backwards) = (empty.clone(), empty.clone());
        forwards.extend(0..400u64);
        backwards.extend((0..400u64).rev());
        assert_ne!(forwards.changed(), backwards.changed(), "the counts tell the orders apart, or this shows nothing");
        assert_eq!(forwards, backwards);
        // Filters with the same keys are equal, in whatever order the keys were inserted.
        let mut merged = forwards.clone();
        merged.union_with(&backwards).expect("alike");
        assert!(merged == forwards && merged.is_merged());
        // Filters with different answers or different plans are not equal.
        let mut more = forwards.clone();
        assert!((400..10_000u64).any(|key| more.insert(&key)));
        assert!(more != forwards && empty != forwards);
        let other_seed = FilterOf::<S>::builder().bits(bits).probes(3).hasher(PortableHasher::xxh3(Seed::from(4))).build().expect("small");
        assert!(other_seed != empty && empty.clone().planned_for(1, None).expect("no rate") != empty);
        // A file stores 0 for "no capacity".
        let unplanned = empty.clone().planned_for(0, None).expect("no rate");
        assert!(FilterOf::<S>::from_bytes(&unplanned.to_bytes().expect("small")).expect("whole") == unplanned);
    }
    check::<Standard>(512);
    check::<Classic>(512);
    check::<InLines>(512);
}

/// Tests that the trait `Filter` and the type `AnyFilter` give the same answers as the type of each
/// scheme.
#[test]
fn any_filter_answers_as_the_type_itself() {
    fn check<S: Scheme>(bits: u64) {
        let hasher = PortableHasher::sip13(Seed::from(5));
        let mut own =
            FilterOf::<S>::builder().bits(bits).probes(4).hasher(hasher).build().expect("small").planned_for(90, None).expect("no rate");
        let mut any = AnyFilter::from_bytes(&own.to_bytes().expect("small")).expect("its own bytes");
        let hashes: Vec<_> = (0..100u64).map(|key| own.hash(&key)).collect();
        assert_eq!(any.insert_all_hashes(&hashes), own.insert_all_hashes(&hashes));
        assert_eq!(any.insert_all((50..170u64).map(|key| key * 3)), own.insert_all((50..170u64).map(|key| key * 3)));
        assert_eq!(any.contains_all(0..3_000u64), own.contains_all(0..3_000u64));
        assert!((0..3_000u64).all(|key| any.contains(&key) == own.contains(&key)));
        let by_trait: &dyn Filter = &own;
        let told = |filter: &dyn Filter| {
            let counts = (filter.bits(), filter.probes(), filter.offered(), filter.changed(), filter.ones(), filter.capacity());
            (
                counts,
                filter.fpr(),
                filter.expected_fpr(),
                filter.estimated_items(),
                filter.is_over_capacity(),
                filter.scheme_id(),
                filter.kind(),
            )
        };
        assert_eq!(told(&any), told(by_trait));
        assert_eq!(any.to_bytes(), own.to_bytes());
        let mut twice = any.clone();
        twice.union_with(&any).expect("alike");
        assert!(twice.is_merged() && twice == any);
        twice.intersect_with(&any).expect("alike");
        assert!(hashes.iter().all(|hash| twice.contains_hash(*hash)));
    }
    check::<Standard>(1_000);
    check::<Classic>(1_000);
    check::<Partitioned>(1_001);
    check::<Double>(1_000);
    check::<DoubleNonzero>(1_000);
    check::<Square>(1_000);
    check::<Cube>(1_000);
    check::<Enhanced>(1_000);
    check::<PartitionDouble>(1_000);
    check::<InLines>(1_024);
}

/// Tests that only filters of the same scheme can be merged, and that errors name the kinds of
/// files.
#[test]
fn any_filter_refuses_what_is_unlike() {
    let mut standard = AnyFilter::from(BloomFilter::with_bits_and_probes(1_024, 4).expect("small"));
    let blocked = AnyFilter::from(BlockedBloomFilter::with_bits_and_probes(1_024, 4).expect("small"));
    assert_eq!(standard.union_with(&blocked), Err(MergeError::Scheme { ours: "standard", theirs: "blocked" }));
    let recycling = truebloom::RecyclingFilter::new(1_000, 4, truebloom::recycling::Policy::one_phase(500)).expect("small");
    let error = AnyFilter::from_bytes(&recycling.to_bytes().expect("small")).expect_err("another kind");
    assert_eq!(error, truebloom::FormatError::Kind { found: truebloom::FileKind::RecyclingOnePhase });
    assert!(error.to_string().contains("<RecyclingFilter>::open"), "{error}");
}

/// Tests intersections of blocked filters. A key of both filters is always contained; a key of one
/// filter passes at most at the other filter's rate; other keys pass at the rate that follows from
/// the bits.
#[test]
fn blocked_filters_have_intersections() {
    let empty = BlockedBloomFilter::builder().bits(512 * 40).probes(5).hasher(PortableHasher::xxh3(Seed::from(8))).build().expect("small");
    let (mut one, mut other) = (empty.clone(), empty);
    one.extend(0..1_500u64);
    other.extend(1_000..2_500u64);
    let rate_of_other = other.fpr().value;
    one.intersect_with(&other).expect("alike");
    assert!(one.is_merged() && one.contains_all(1_000..1_500u64).iter().all(|found| found));
    let (strangers, now) = (200_000, one.fpr());
    let hits = one.contains_all(10_000..10_000 + strangers as u64).count_ones() as u64;
    // With 200,000 new keys, a difference of 10% from the rate 0.05 is detected with a probability
    // above 0.999999.
    assert!(truebloom_math::binomial::two_sided(hits, strangers as u64, now.value) > 1e-6, "{hits} {now:?}");
    let of_one = one.contains_all(0..1_000u64).count_ones() as u64;
    assert!(truebloom_math::binomial::at_least(of_one, 1_000, rate_of_other) > 1e-6, "{of_one} {rate_of_other}");
}
