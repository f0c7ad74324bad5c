//! Tests of merging, halving, inner products, saturation and batches.

use crate::streams::{Kind, counts};
use crate::{hasher, rate, small};
use truebloom::count_min::{CountMin, Counter, FullRows, PairwiseRows, RowHashes, Sketch, TwoHashCountMin, TwoHashRows};
use truebloom::{BuildError, KeyHash, MergeError};
use truebloom_math::count_min::{Rows, Shape};

fn sketch_of<R: RowHashes>(kind: Kind, seed: u64) -> Sketch<R> {
    let mut sketch = small(1);
    counts(kind, 2_000, seed).iter().for_each(|(key, count)| sketch.add(key, *count));
    sketch
}

fn merged_is_the_sketch_of_both<R: RowHashes>() {
    let (mut a, b): (Sketch<R>, Sketch<R>) = (sketch_of(Kind::Zipf, 1), sketch_of(Kind::Uniform, 2));
    let mut both = small(1);
    for (kind, seed) in [(Kind::Zipf, 1), (Kind::Uniform, 2)] {
        counts(kind, 2_000, seed).iter().for_each(|(key, count)| both.add(key, *count));
    }
    a.merge(&b).expect("one seed");
    assert_eq!(a, both);
}

#[test]
fn merging_is_adding() {
    merged_is_the_sketch_of_both::<FullRows>();
    merged_is_the_sketch_of_both::<PairwiseRows>();
    merged_is_the_sketch_of_both::<TwoHashRows>();
}

/// Tests that merging n times in one step gives the same result as n merges, up to the highest
/// value of a counter and of the sum. Merging 0 times changes nothing.
#[test]
fn merging_many_times_is_merging_often() {
    let shape = Shape::new(Rows::Independent, 64, 3, 1).expect("small");
    let empty = || Sketch::<FullRows, u32>::with_shape(shape, hasher(1)).expect("small");
    let mut one = empty();
    counts(Kind::Zipf, 500, 3).iter().for_each(|(key, count)| one.add(key, *count));
    let (mut often, mut at_once) = (one.clone(), one.clone());
    at_once.merge_times(&one, 0).expect("one seed");
    assert_eq!(at_once, one);
    (0..5).for_each(|_| often.merge(&one).expect("one seed"));
    at_once.merge_times(&one, 5).expect("one seed");
    assert_eq!(at_once, often);
    at_once.merge_times(&one, u64::MAX).expect("one seed");
    let (key, _) = counts(Kind::Zipf, 500, 3).into_iter().next().expect("some");
    assert!(at_once.is_saturated() && at_once.estimate(&key).saturated && at_once.total() == u64::MAX);
    let other = Sketch::with_shape(shape, hasher(2)).expect("small");
    assert!(at_once.merge_times(&other, 0).is_err(), "another seed is an error also of none");
}

#[test]
fn conservative_sketches_merge_and_stay_above_the_truth() {
    let part = |seed| {
        let mut sketch: CountMin = small(1).with_conservative_update();
        counts(Kind::Zipf, 2_000, seed).iter().for_each(|(key, count)| (0..*count).for_each(|_| sketch.add(key, 1)));
        sketch
    };
    let (mut merged, plain) = (part(1), {
        let mut plain: CountMin = sketch_of(Kind::Zipf, 1);
        plain.merge(&sketch_of(Kind::Zipf, 2)).expect("one seed");
        plain
    });
    merged.merge(&part(2)).expect("one seed");
    assert!(merged.is_conservative());
    let mut exact = counts(Kind::Zipf, 2_000, 1);
    counts(Kind::Zipf, 2_000, 2).into_iter().for_each(|(key, count)| *exact.entry(key).or_default() += count);
    let mut smaller = 0;
    for (key, count) in &exact {
        let (conservative, plain) = (merged.estimate(key).value, plain.estimate(key).value);
        assert!(*count <= conservative && conservative <= plain, "{key}: {count} {conservative} {plain}");
        smaller += u64::from(conservative < plain);
    }
    assert!(smaller > exact.len() as u64 / 2, "it is worth it");
    assert!(matches!(merged.inner_product(&merged, &rate("0.1")), Err(MergeError::NotSums { .. })));
}

#[test]
fn what_differs_is_named() {
    let shape = |rows, width, depth, copies| Shape::new(rows, width, depth, copies).expect("a shape");
    let make = |shape, seed| CountMin::<u64>::with_shape(shape, hasher(seed)).expect("small");
    let mut sketch = make(shape(Rows::Independent, 101, 4, 1), 1);
    sketch.add("key", 5);
    let before = sketch.clone();
    for (other, text) in [
        (make(shape(Rows::Independent, 100, 4, 1), 1), "width (101 and 100)"),
        (make(shape(Rows::Independent, 101, 3, 1), 1), "depth (4 and 3)"),
        (make(shape(Rows::Independent, 101, 4, 1), 2), "same seed"),
    ] {
        let error = sketch.merge(&other).expect_err(text).to_string();
        assert!(error.contains(text) && error.contains("make both"), "{error}");
    }
    let sip = CountMin::with_shape(sketch.shape(), truebloom::PortableHasher::sip13(truebloom::Seed::from(1))).expect("small");
    assert!(matches!(sketch.merge(&sip), Err(MergeError::Hasher { .. })));
    let mut two: TwoHashCountMin = small(1);
    let one = TwoHashCountMin::with_shape(shape(Rows::TwoHash, 101, 4, 1), hasher(1)).expect("small");
    assert!(two.merge(&one).expect_err("copies").to_string().contains("copies (2 and 1)"));
    assert_eq!(sketch, before);
}

#[test]
fn shapes_that_cannot_be_had_are_refused() {
    let with = |rows, width, depth| CountMin::<u32>::with_shape(Shape::new(rows, width, depth, 1).expect("a shape"), hasher(1)).map(drop);
    assert!(matches!(with(Rows::Independent, 1 << 55, 100), Err(BuildError::Counters { .. })));
    assert!(matches!(with(Rows::Independent, 10, 1_001), Err(BuildError::Rows { found: 1_001 })));
    assert!(matches!(with(Rows::TwoHash, 11, 1), Err(BuildError::RowHashes { .. })));
    assert!(with(Rows::Independent, u64::MAX, 1).is_err());
    let wide = Shape::new(Rows::Independent, (1 << 40) + 1, 1, 1).expect("a shape");
    assert!(Sketch::<PairwiseRows, u32>::with_shape(wide, hasher(1)).is_err());
    assert!(CountMin::<u32>::new(rate("1e-18"), rate("1e-300")).is_err());
    assert!(TwoHashCountMin::<u32>::new(rate("0.999"), rate("1e-300")).is_err());
}

#[test]
fn halved_counts_fade_and_stay_within_their_bounds() {
    let (mut sketch, mut exact): (CountMin<u32>, _) = (small(1), std::collections::HashMap::<u64, f64>::new());
    for round in 0..8 {
        for (key, count) in counts(Kind::Zipf, 1_000, round) {
            sketch.add(&key, count);
            *exact.entry(key).or_default() += count as f64;
        }
        sketch.halve();
        exact.values_mut().for_each(|count| *count /= 2.0);
        let total: f64 = exact.values().sum();
        assert!((total..total + 2.0).contains(&(sketch.total() as f64)));
        let mut missed = 0;
        let bound = sketch.error_bound(&rate("0.01"));
        for (key, count) in &exact {
            let found = sketch.estimate(key).value;
            assert!(found >= count.floor() as u64, "{key}: {found} for {count}");
            missed += u64::from(found as f64 - count > bound.least() as f64);
        }
        assert!(missed <= exact.len() as u64 / 20, "a hundredth is expected: {missed}");
    }
    assert!(sketch.is_halved() && matches!(sketch.inner_product(&sketch, &rate("0.1")), Err(MergeError::NotSums { how: "halving" })));
    sketch.clear();
    assert!(sketch == small(1));
}

#[test]
fn inner_products_are_never_too_low_and_rarely_too_high() {
    fn hold<R: RowHashes>() {
        let (left, right) = (counts(Kind::Zipf, 2_000, 1), counts(Kind::Zipf, 2_000, 2));
        let truth: u128 = left.iter().map(|(key, count)| u128::from(*count) * u128::from(right.get(key).copied().unwrap_or(0))).sum();
        let mut missed = 0;
        for seed in 0..100 {
            let (mut a, mut b): (Sketch<R, u32>, Sketch<R, u32>) = (small(seed), small(seed));
            left.iter().for_each(|(key, count)| a.add(key, *count));
            right.iter().for_each(|(key, count)| b.add(key, *count));
            let product = a.inner_product(&b, &rate("0.01")).expect("one seed");
            assert!(product.value >= truth && !product.saturated);
            missed += u32::from((product.value - truth) as f64 > product.error_bound);
        }
        // At most one is expected. More than 9 have a probability below 1e-6.
        assert!(missed <= 9, "{missed}");
    }
    hold::<FullRows>();
    hold::<PairwiseRows>();
    hold::<TwoHashRows>();
}

#[test]
fn full_counters_say_so() {
    let mut sketch: CountMin<u32> = small(1);
    sketch.add("often", u64::from(u32::MAX) - 1);
    assert!(!sketch.estimate("often").saturated && !sketch.is_saturated());
    sketch.add("often", 5);
    let found = sketch.estimate("often");
    assert!(found.saturated && found.value == u32::MAX.into() && sketch.is_saturated());
    sketch.halve();
    assert!(sketch.estimate("often").saturated, "half of unknown is unknown");
    let other = sketch.clone();
    sketch.merge(&other).expect("itself");
    assert!(sketch.estimate("often").saturated && !sketch.estimate("never").saturated);
    let mut wide: CountMin<u64> = small(1);
    wide.add("often", u64::MAX);
    wide.add("often", 1);
    assert!(wide.estimate("often").saturated && wide.total() == u64::MAX);
    assert_eq!((u32::HIGHEST.plus(1), 7u32.half(), u64::saturated_from(9)), (u32::MAX, 3, 9));
}

#[test]
fn bulk_is_one_by_one() {
    for conservative in [false, true] {
        let (mut bulk, mut single): (CountMin, CountMin) = (small(1), small(1));
        if conservative {
            (bulk, single) = (bulk.with_conservative_update(), single.with_conservative_update());
        }
        for count in [0, 1, 31, 32, 33, 1_000u64] {
            bulk.add_all((0..count).map(|i| i % 77));
            (0..count).for_each(|i| single.add(&(i % 77), 1));
        }
        assert_eq!(bulk, single);
        bulk.add_hashes(&[KeyHash::from_uniform_bits(1), KeyHash::from_uniform_bits(1)]);
        assert!(bulk.estimate_hash(KeyHash::from_uniform_bits(1)).value >= 2);
    }
}
