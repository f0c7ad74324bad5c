//! Tests the rates that a filter reports.

mod common;

use common::{SplitMix64, filter};
use truebloom::scheme::{Scheme, Standard};
use truebloom::truebloom_math::{Error, Method, SchemeId};
use truebloom::{BloomFilter, BuildError, MAX_PROBES, Plan, PortableHasher, Rate, Seed, Target};

#[test]
fn plans_become_filters() {
    let rate: Rate = "1/1000".parse().expect("a rate");
    let hasher = PortableHasher::xxh3(Seed::from(3));
    for filter in [
        BloomFilter::new(10_000, rate),
        BloomFilter::new(10_000, 0.001),
        BloomFilter::with_hasher(10_000, "0.1%".parse::<Rate>().expect("a rate"), hasher),
    ] {
        let filter = filter.expect("a plan");
        let plan = Plan::new(&Target::new().items(10_000).rate(rate)).expect("a plan");
        assert_eq!((filter.bits(), filter.probes(), filter.capacity(), filter.rate()), (plan.bits, plan.probes, Some(10_000), Some(rate)));
        // The plan guarantees the rate of a single filter, so the average rate is lower.
        let guarantee = plan.guarantee.expect("by default").fpr;
        assert!(guarantee.upper <= 0.001 && guarantee.value > 0.00099, "{guarantee:?}");
        let expected = filter.expected_fpr().expect("cheap").expect("planned");
        assert!(expected.upper < 0.00099 && expected.value > 0.0009, "{expected:?}");
    }
    let mean = Plan::new(&Target::new().items(10_000).rate(rate).mean()).expect("a plan");
    let expected = BloomFilter::from_plan(&mean).expect("small").expected_fpr().expect("cheap").expect("planned");
    assert!(expected.upper <= 0.001 && expected.value > 0.00099, "{expected:?}");
    assert_ne!(BloomFilter::new(10, 0.5).map(|filter| filter.seed()), BloomFilter::new(10, 0.5).map(|filter| filter.seed()));
}

#[test]
fn what_cannot_be_built_is_refused() {
    assert!(matches!(BloomFilter::new(0, 0.01), Err(BuildError::Math(Error::OutOfRange { .. }))));
    for rate in [0.0, 1.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(BloomFilter::new(10, rate), Err(BuildError::Math(Error::NotARate { .. }))), "{rate}");
    }
    assert!(matches!(BloomFilter::new(u64::MAX, 1e-30), Err(BuildError::Math(_))));
    for (bits, probes) in [(0, 1), ((1 << 62) + 1, 1), (10, 0), (10, MAX_PROBES + 1), (u64::MAX, u32::MAX)] {
        let error = BloomFilter::with_bits_and_probes(bits, probes).expect_err("out of range").to_string();
        assert!(error.contains("1 to"), "{error}");
    }
    assert_eq!(BloomFilter::with_bits_and_probes(1 << 62, 1).map(drop), Err(BuildError::Memory { bytes: 1 << 59 }));
    let classic = Plan::new(&Target::new().items(10).rate("10%".parse().expect("a rate")).scheme(SchemeId::Classic));
    assert_eq!(
        BloomFilter::from_plan(&classic.expect("a plan")).map(drop),
        Err(BuildError::Planned { expected: SchemeId::Standard, found: SchemeId::Classic })
    );
}

#[test]
fn the_rate_now_is_the_fill_to_the_power_of_the_probes() {
    let mut filter = filter(1000, 3, 5);
    assert_eq!((filter.fpr().upper, filter.fpr().value, filter.fill(), filter.estimated_items()), (0.0, 0.0, 0.0, Some(0.0)));
    filter.extend(0..200);
    let (rate, now) = (filter.fill().powi(3), filter.fpr());
    assert!((now.value / rate - 1.0).abs() < 1e-14 && now.lower <= now.value && now.value < now.upper && now.method == Method::Exact);
    filter.extend(0..100_000);
    assert_eq!((filter.fpr().value, filter.fill(), filter.estimated_items()), (1.0, 1.0, None));
}

/// The method `fpr` promises an exact answer for every filter. The law must give this answer even
/// for extreme sizes, which no test can fill.
#[test]
fn the_rate_at_a_fill_is_never_refused() {
    for bits in [1, 2, 3, 1 << 40, (1 << 62) - 1, 1 << 62] {
        for ones in [0, 1, bits / 2, bits - 1, bits] {
            for probes in [1, 7, MAX_PROBES] {
                let law = <Standard as Scheme>::new(bits, probes).expect("in range").law();
                let rate = law.fpr_at_fill(&[ones]).expect("cheap").expect("determined by the fill");
                assert_eq!(rate.method, Method::Exact);
                assert!(rate.ln_lower <= rate.ln_upper && rate.lower <= rate.upper);
            }
        }
    }
}

/// Tests that the rate includes the probability that the hash of the queried key equals that of an
/// inserted one, however small the rate is.
#[test]
fn equal_hashes_are_counted() {
    let mut filter = filter(1 << 20, 40, 5);
    filter.insert("one");
    let rate = filter.fpr();
    assert!(rate.lower < 1e-150 && rate.value == rate.upper && rate.upper >= 2f64.powi(-128) && rate.upper < 1.001 * 2f64.powi(-128));
    assert!((rate.ln_upper - -128.0 * std::f64::consts::LN_2).abs() < 1e-9);
}

/// The union of a full filter with a filter that holds some of the same keys is as full as planned.
/// None of 200 such unions is reported as over capacity. The estimate alone would report half of
/// them; a bound with an error probability of 1e-6 reports one in about 5,000 runs of this test.
/// With 1.3 times as many keys, which is some 20 standard deviations more, every union is reported.
#[test]
fn a_merge_that_is_as_full_as_planned_is_not_over_capacity() {
    let mut above = 0;
    for seed in 0..200 {
        let empty = BloomFilter::with_hasher(1_000, 0.01, PortableHasher::xxh3(Seed::from(seed))).expect("a plan");
        let filled = |keys: std::ops::Range<u64>| {
            let mut filter = empty.clone();
            filter.extend(keys);
            filter
        };
        let mut same = filled(0..1_000);
        same.union_with(&filled(0..500)).expect("one plan");
        above += u32::from(same.estimated_items().is_some_and(|items| items > 1_000.0));
        assert!(!same.is_over_capacity(), "{seed}");
        let mut more = filled(0..1_000);
        more.union_with(&filled(1_000..1_300)).expect("one plan");
        assert!(more.is_over_capacity(), "{seed}");
    }
    assert!((60..140).contains(&above), "the test has no power: {above}");
}

#[test]
fn items_are_estimated_and_capacity_is_watched() {
    let mut filter = BloomFilter::with_hasher(1_000, 0.01, PortableHasher::xxh3(Seed::from(11))).expect("a plan");
    let mut random = SplitMix64(1);
    let mut there = filter.clone();
    for _ in 0..1_000 {
        filter.insert(&random.next());
    }
    assert!(!filter.is_over_capacity());
    // The standard deviation is about 15 items.
    assert!(filter.estimated_items().is_some_and(|items| (items - 1_000.0).abs() < 75.0));
    let before = filter.clone();
    for _ in 0..20 {
        filter.insert(&random.next());
        there.insert(&random.next());
    }
    assert!(filter.is_over_capacity());
    let mut union = before;
    union.union_with(&there).expect("same parameters");
    (0..500).for_each(|_| {
        there.insert(&random.next());
    });
    union.union_with(&there).expect("same parameters");
    assert!(union.is_over_capacity() && union.changed() <= 1_000, "by the fill, as the counts are only bounds");
    let full = {
        let mut full = common::filter(64, 5, 1);
        full.extend(0..1000);
        full
    };
    assert!(!full.is_over_capacity(), "none was planned");
}
