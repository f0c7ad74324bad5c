//! Tests the estimates of how many items filters have in common. For every scheme with a law, the
//! intervals contain the true number at least as often as they promise, and are not much wider than
//! necessary.
//!
//! Coverage: the seeds are fixed, and each interval misses with probability at most alpha. So the
//! probability of more than `alpha R + 5 sqrt(alpha R)` misses in R runs is below 1e-5. Power:
//! intervals of half the width miss in more than a quarter of the runs, ten times as often as
//! allowed.

use truebloom::scheme::AnyScheme;
use truebloom::{
    AnyFilter, BlockedBloomFilter, CompareError, Comparison, Filter, FilterOf, PortableHasher, Quantity, ScalableFilter, Seed, View,
};
use truebloom_math::{Growth, SchemeId};

/// Makes filters with one plan and seed, each of which contains the numbers of one of these ranges.
fn filters(scheme: &str, bits: u64, probes: u32, seed: u64, ranges: &[std::ops::Range<u64>]) -> Vec<AnyFilter> {
    let hasher = PortableHasher::xxh3(Seed::from(u128::from(seed)));
    let empty: AnyFilter = match scheme {
        "blocked" => BlockedBloomFilter::builder().bits(bits).probes(probes).hasher(hasher).build().expect("it fits").into(),
        name => {
            let id: SchemeId = name.parse().expect("a scheme");
            let scheme = AnyScheme::named(id, bits, probes).expect("it fits");
            FilterOf::with_scheme(scheme, hasher).expect("it fits").into()
        }
    };
    let filled = |range: &std::ops::Range<u64>| {
        let mut filter = empty.clone();
        // The keys are the same for each seed. This is as good as different keys, because the seed
        // is new.
        filter.insert_all(range.clone());
        filter
    };
    ranges.iter().map(filled).collect()
}

fn covers(quantity: &Quantity, truth: u64) -> bool {
    quantity.lower <= truth && quantity.upper.is_none_or(|upper| truth <= upper)
}

/// Compares two filters of 1,000 items each, with 500 in common, at a rate of 1%. Each kind of
/// interval misses in at most 5% of the runs.
fn holds_its_confidence(scheme: &str, bits: u64, probes: u32, runs: u64, widest: u64) {
    let mut missed = [0u64; 6];
    let (mut narrow_misses, mut width) = (0, 0);
    for seed in 0..runs {
        let filters = filters(scheme, bits, probes, 1_000 + seed, &[0..1_000, 500..1_500]);
        let found = Comparison::of(&filters, 0.95).expect(scheme);
        let truths = [(found.sizes[0], 1_000), (found.own[0], 500), (found.own[1], 500), (found.union, 1_500), (found.common, 500)];
        truths.iter().enumerate().for_each(|(i, (quantity, truth))| missed[i] += u64::from(!covers(quantity, *truth)));
        missed[5] += u64::from(!(found.similarity.lower <= 1.0 / 3.0 && 1.0 / 3.0 <= found.similarity.upper));
        let (lower, upper) = (found.common.lower, found.common.upper.expect("not full"));
        let (middle, half) = ((lower + upper) as f64 / 2.0, (upper - lower) as f64 / 4.0);
        narrow_misses += u64::from((middle - 500.0).abs() > half);
        width = width.max(upper - lower);
    }
    let allowed = 0.05 * runs as f64;
    let allowed = allowed + 5.0 * allowed.sqrt();
    assert!(missed.iter().all(|missed| (*missed as f64) < allowed), "{scheme}: {missed:?} of {runs} missed");
    assert!(width <= widest, "{scheme}: {width} wide");
    // McDiarmid's intervals are much wider than necessary.
    assert!(narrow_misses as f64 > 0.2 * runs as f64 || widest > 60, "{scheme}: {narrow_misses} of {runs}, no power");
}

#[test]
fn standard_filters_hold_their_confidence() {
    holds_its_confidence("standard", 9_593, 7, 60, 70);
}

#[test]
fn classic_filters_hold_their_confidence() {
    holds_its_confidence("classic", 9_593, 7, 60, 70);
}

#[test]
fn partitioned_filters_hold_their_confidence() {
    holds_its_confidence("partitioned", 9_600, 7, 60, 75);
}

#[test]
fn tied_filters_hold_their_confidence() {
    holds_its_confidence("double", 9_593, 7, 40, 260);
    holds_its_confidence("partition-double", 9_590, 7, 40, 260);
    holds_its_confidence("blocked", 10_240, 6, 40, 260);
}

/// Tests that comparisons give the same results for filters in mapped files, and in bytes with any
/// alignment.
#[test]
fn views_are_compared_as_filters_are() {
    for scheme in ["standard", "partitioned", "double", "blocked"] {
        let list = filters(scheme, 512 * 19, 7, 1, &[0..600, 400..1_000, 900..1_300]);
        let bytes: Vec<Vec<u8>> = list.iter().map(|filter| filter.to_bytes().expect("small")).collect();
        let views: Vec<_> =
            bytes.iter().map(|bytes| AnyFilter::view(bytes).and_then(AnyFilter::<View<_>>::verify_bytes).expect("undamaged")).collect();
        assert_eq!(Comparison::of(&views, 0.95), Comparison::of(&list, 0.95), "{scheme}");
        assert!(Comparison::of(&list, 0.95).is_ok(), "{scheme}");
        let (mut union, mut same) = (views[0].to_empty().expect("small"), list[0].clone());
        (0..2).for_each(|index| union.union_with(&views[index]).expect("alike"));
        same.union_with(&list[1]).expect("alike");
        assert_eq!(union, same);
    }
}

/// The same key may be in different layers of two filters, so their common bits have no meaning.
#[test]
fn filters_that_grow_are_refused() {
    let grows = |seed: u128| {
        AnyFilter::from(
            ScalableFilter::with_growth(
                Growth::new("1%".parse().expect("a rate"), 64).expect("in range"),
                PortableHasher::xxh3(Seed::from(seed)),
            )
            .expect("small"),
        )
    };
    assert_eq!(Comparison::of(&[grows(1), grows(1)], 0.9), Err(CompareError::Grows { index: 0 }));
    let flat = filters("standard", 9_600, 7, 1, &[0..10, 0..20]).remove(0);
    assert_eq!(Comparison::of(&[flat, grows(1)], 0.9), Err(CompareError::Grows { index: 1 }));
}

/// Compares seven filters of 1,000 items each, 400 of which are in all filters. Estimates the
/// number of common items, the number of items that only one filter has, and the size of the union.
/// The interval for the common items is the widest, because its estimate involves the six other
/// filters.
#[test]
fn seven_filters_have_a_common_part() {
    let (mut missed, runs) = ([0u64; 3], 4u64);
    for seed in 0..runs {
        let hasher = PortableHasher::xxh3(Seed::from(u128::from(seed)));
        let empty = truebloom::BloomFilter::builder().bits(40_000).probes(7).hasher(hasher).build().expect("it fits");
        let day = |day: u64| {
            let mut filter = empty.clone();
            filter.insert_all((0..400u64).chain(10_000 + 600 * day..10_600 + 600 * day));
            AnyFilter::from(filter)
        };
        let days: Vec<AnyFilter> = (0..7).map(day).collect();
        let found = Comparison::of(&days, 0.95).expect("comparable");
        missed[0] += u64::from(!covers(&found.common, 400));
        missed[1] += u64::from(!covers(&found.own[3], 600));
        missed[2] += u64::from(!covers(&found.union, 4_600));
        let common = found.common.value.expect("estimated");
        // Five standard deviations of the sum of 63 estimates. The standard deviation was measured
        // to be below 20 for these seeds.
        assert!((common - 400.0).abs() < 100.0, "{common}");
        assert!(found.common.upper.is_some_and(|upper| upper <= 500) && found.common.lower > 150, "{:?}", found.common);
    }
    let allowed = 0.05 * runs as f64;
    assert!(missed.iter().all(|missed| (*missed as f64) < allowed + 5.0 * allowed.sqrt()), "{missed:?}");
}

/// A merged filter has no exact counts, so the number of its items is estimated from its fill.
#[test]
fn merged_and_empty_and_equal_filters() {
    let mut list = filters("standard", 9_593, 7, 1, &[0..600, 400..1_000, 500..1_500, 0..0]);
    let (mut merged, other) = (list.remove(0), list.remove(0));
    merged.union_with(&other).expect("alike");
    let found = Comparison::of(&[merged, list[0].clone()], 0.99).expect("comparable");
    assert!(covers(&found.sizes[0], 1_000) && covers(&found.common, 500) && covers(&found.union, 1_500), "{found:?}");
    let found = Comparison::of(&[list[0].clone(), list[0].clone()], 0.95).expect("comparable");
    assert_eq!((found.own[0].upper, found.own[0].value), (Some(0), Some(0.0)));
    assert!(covers(&found.common, 1_000) && found.similarity.upper >= 1.0 && found.similarity.lower > 0.98, "{found:?}");
    let found = Comparison::of(&[list[1].clone(), list[0].clone()], 0.95).expect("comparable");
    assert_eq!((found.common.upper, found.sizes[0].upper, found.similarity.value), (Some(0), Some(0), Some(0.0)));
    let found = Comparison::of(&[list[1].clone(), list[1].clone()], 0.95).expect("comparable");
    assert_eq!((found.union.upper, found.similarity.value), (Some(0), Some(1.0)));
}

#[test]
fn what_cannot_be_compared_says_why() {
    let list = filters("standard", 9_593, 7, 1, &[0..600, 400..1_000]);
    assert_eq!(Comparison::of(&list[..1], 0.95), Err(CompareError::Arguments));
    // The bounds from counts can be wrong with a quarter of a millionth, whatever is requested.
    for confidence in [0.0, 0.999_999_9, 1.0, f64::NAN] {
        assert_eq!(Comparison::of(&list, confidence), Err(CompareError::Arguments));
    }
    assert!(Comparison::of(&list, 0.999_999).is_ok());
    let mut both = list[0].clone();
    both.intersect_with(&list[1]).expect("alike");
    assert_eq!(Comparison::of(&[list[0].clone(), both], 0.95), Err(CompareError::Intersection { index: 1 }));
    let other = filters("standard", 9_593, 7, 2, std::slice::from_ref(&(0..600))).remove(0);
    assert!(matches!(Comparison::of(&[list[0].clone(), other], 0.95), Err(CompareError::Differs { index: 1, .. })));
    let other = filters("classic", 9_593, 7, 1, std::slice::from_ref(&(0..600))).remove(0);
    assert!(matches!(Comparison::of(&[other, list[0].clone()], 0.95), Err(CompareError::Differs { index: 1, .. })));
}
