//! Tests what users expect of any collection: any integer type as the number of items, families
//! that can be merged, builders with helpful errors, and types that implement `Send` and `Debug`.

use std::collections::{BTreeSet, HashSet};
use std::num::NonZero;
use truebloom::recycling::{AtomicRecyclingFilter, BlockedRecyclingFilter, Policy, RecyclingFilter};
use truebloom::scheme::Standard;
use truebloom::truebloom_math::recycling::{BlockedDesign, Design, Mode};
use truebloom::truebloom_math::{Law, Variant};
use truebloom::verify::{Measurement, Verification};
use truebloom::{
    AnyFilter, AtomicBloomFilter, BlockedBloomFilter, BloomFilter, BuildError, FilterFamily, FilterOf, MergeError, Plan, PortableHasher,
    Prehashed, Rate, Seed, Target,
};

fn capacity(filter: Result<BloomFilter, BuildError>) -> Option<u64> {
    filter.expect("small").capacity()
}

#[test]
fn items_and_rates_are_taken_as_they_are_written() {
    let keys = ["a", "b"];
    let rate: Rate = "1%".parse().expect("a rate");
    let all = [
        capacity(BloomFilter::new(2, 0.01)),
        capacity(BloomFilter::new(keys.len(), "1%")),
        capacity(BloomFilter::new(2u8, rate)),
        capacity(BloomFilter::new(2i64, 0.01f32)),
        capacity(BloomFilter::new(NonZero::new(2u32).expect("not 0"), "1/100")),
    ];
    assert!(all.iter().all(|found| *found == Some(2)));
    // All of these are the rate as it was written, not as a float stores it.
    assert_eq!(BloomFilter::new(2, 0.01f32).expect("small").rate(), Some(rate));
}

#[test]
fn what_is_no_number_of_items_or_no_rate_is_said() {
    let message = |filter: Result<BloomFilter, BuildError>| filter.expect_err("wrong").to_string();
    assert_eq!(message(BloomFilter::new(0, 0.01)), "items is 0, but must be at least 1");
    assert_eq!(message(BloomFilter::new(-5, 0.01)), "items is -5, but must be at least 1");
    assert!(message(BloomFilter::new(5, 1.0)).contains("strictly between 0 and 1"));
    assert!(message(BloomFilter::new(5, "often")).contains("`often` is not a rate"));
    // A builder reports its first error, and only when the filter is built.
    assert_eq!(message(BloomFilter::builder().items(-5).rate("often").build()), "items is -5, but must be at least 1");
    assert!(message(BloomFilter::builder().items(5).build()).contains("does not determine a filter"));
    assert!(message(BloomFilter::builder().bits(0).probes(3).build()).contains("bits"));
}

#[test]
fn builders_make_what_the_constructors_make() {
    let hasher = PortableHasher::sip13(Seed::from(7));
    let plan = Plan::new(&Target::new().items(1_000).rate("0.1%".try_into().expect("a rate")).mean().max_bits(1 << 20)).expect("in reach");
    let built = BloomFilter::builder().items(1_000).rate(0.001).mean().max_bits(1 << 20).hasher(hasher).build().expect("small");
    assert_eq!(built, BloomFilter::from_plan_with_hasher(&plan, hasher).expect("small"));
    // The limit on the number of bits equals the given number, or is lower by one.
    let capped = |max: u64| BloomFilter::builder().bits(20_000).rate(0.001).max_bits(max).hasher(hasher).build();
    assert!(capped(20_000).is_ok() && capped(19_999).is_err());
    let given = |max: u64| BloomFilter::builder().bits(20_000).probes(3).max_bits(max).build();
    assert!(given(20_000).is_ok() && given(19_999).is_err());
    let few = BloomFilter::builder().items(1_000).rate(0.001).probes(3).hasher(hasher).build().expect("small");
    assert!(few.probes() == 3 && few.bits() > built.bits());
    // The plan includes the probability of equal 64-bit hashes.
    let narrow = FilterOf::<Standard>::builder().items(1_000).rate(0.001).hasher(Prehashed::new(Seed::from(1))).build().expect("small");
    assert_eq!(narrow, BloomFilter::with_hasher(1_000, 0.001, Prehashed::new(Seed::from(1))).expect("small"));
    let built = BlockedBloomFilter::builder().bits(1 << 12).probes(6).hasher(hasher).build().expect("small");
    assert_eq!((built.bits(), built.probes(), built.capacity(), built.seed()), (1 << 12, 6, None, Seed::from(7)));
    let sure = BloomFilter::builder().items(100).rate(0.01).confidence(0.999_999).build().expect("small");
    assert!(sure.bits() > BloomFilter::new(100, 0.01).expect("small").bits());
}

/// Tests that `{:?}` shows the type, and the scheme by its name.
#[test]
fn filters_are_shown_as_what_they_are() {
    let standard = format!("{:?}", BloomFilter::new(100, 0.01).expect("small"));
    let blocked = format!("{:?}", BlockedBloomFilter::new(100, 0.01).expect("small"));
    assert!(standard.starts_with("FilterOf { scheme: Standard"), "{standard}");
    assert!(blocked.starts_with("FilterOf { scheme: Blocked"), "{blocked}");
}

#[test]
fn a_family_merges_and_strangers_do_not() {
    let builder = BloomFilter::builder().items(1_000).rate(0.01);
    let family = builder.clone().family().expect("in reach");
    let (mut one, mut other) = (family.filter().expect("small"), family.filter().expect("small"));
    one.insert("a");
    other.insert("b");
    one.union_with(&other).expect("of one family");
    assert!(one.contains("a") && one.contains("b"));
    // Another process makes the family from the plan and the hasher.
    let theirs: FilterFamily<_> = FilterFamily::from_plan(family.plan().expect("planned").clone(), *family.hasher());
    one.union_with(&theirs.filter().expect("small")).expect("of one family");
    let mut stranger: BloomFilter = builder.build().expect("small");
    assert_eq!(stranger.union_with(&one), Err(MergeError::Seed));
}

#[test]
fn policies_follow_from_designs() {
    let design = Design::new(1_000, 4, 500, Mode::two_phase()).expect("in range");
    assert_eq!(Policy::from(design), Policy::two_phases(500));
    let blocked = BlockedDesign::new(1 << 12, 512, 6, 0.02).expect("in range");
    assert_eq!(Policy::from(blocked), Policy::one_phase(0.02));
}

#[test]
fn rates_are_kept_in_sets_and_shown() {
    let rates = ["0.1%", "1e-3", "1/1000", "1/3"].map(|text| text.parse::<Rate>().expect("a rate"));
    assert_eq!((BTreeSet::from(rates).len(), HashSet::from(rates).len()), (2, 2));
    let fpr = Variant::Standard.fpr(9_593, 1_000, 7).expect("in range");
    assert_eq!((fpr.to_string(), format!("{fpr:.6}")), ("1.001e-2".to_owned(), "1.000879e-2".to_owned()));
}

#[test]
fn what_threads_may_share() {
    fn shared<T: Send + Sync>() {}
    shared::<BloomFilter>();
    shared::<BlockedBloomFilter>();
    shared::<AnyFilter>();
    shared::<AtomicBloomFilter>();
    shared::<RecyclingFilter>();
    shared::<BlockedRecyclingFilter>();
    shared::<AtomicRecyclingFilter>();
    shared::<FilterFamily<truebloom::scheme::Standard>>();
    shared::<Box<dyn Law>>();
    shared::<Measurement<'_>>();
    shared::<Verification>();
    shared::<Plan>();
    shared::<BuildError>();
}
