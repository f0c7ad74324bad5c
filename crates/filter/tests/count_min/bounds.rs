//! Tests the bounds on estimates over many seeds.
//!
//! Each test counts the seeds for which the error of a fixed key exceeds a bound that holds with
//! probability at least 1 - delta. The count is at most distributed as Binomial(seeds, delta). A
//! test fails if the count is above the quantile at level 1 - 1e-6, so for a correct bound and
//! fresh seeds it fails once in a million. The planted faults at the end show the power of the
//! tests, which they fail by a wide margin.

use crate::streams::{KINDS, Kind, counts};
use crate::{hasher, rate, small};
use truebloom::count_min::{CountMin, FullRows, PairwiseRows, RowHashes, Sketch, TwoHashCountMin, TwoHashRows};
use truebloom::{KeyHash, PortableHasher, Rate, Seed};
use truebloom_math::count_min::{Family, Rows, Shape};

const SEEDS: u64 = 200;

/// The largest number that is exceeded with a probability above 1e-6 by a variable with the
/// distribution Binomial(trials, p).
fn most(trials: u64, p: f64) -> u64 {
    let (mut pmf, mut cdf, mut count) = ((trials as f64 * (-p).ln_1p()).exp(), 0.0, 0);
    loop {
        cdf += pmf;
        if cdf >= 1.0 - 1e-6 {
            return count;
        }
        pmf *= (trials - count) as f64 / (count + 1) as f64 * p / (1.0 - p);
        count += 1;
    }
}

/// The numbers of seeds for which the key's error exceeds the bound from the total, and the bound
/// from the counters. Also checks that no key's estimate is below its count.
fn exceeded<R: RowHashes>(kind: Kind, key: u64, conservative: bool, delta: &Rate, seeds: u64) -> (u64, u64) {
    let counts = counts(kind, 4_000, 7);
    let (mut by_total, mut by_counters) = (0, 0);
    for seed in 0..seeds {
        let mut sketch: Sketch<R, u32> = small(seed);
        if conservative {
            sketch = sketch.with_conservative_update();
        }
        // Integer keys are hashed as they are, so the pairwise family is tested against its own
        // theorem. The iteration order of a hash map differs in each run, and must not matter.
        let mut order: Vec<_> = counts.iter().collect();
        order.sort_unstable();
        order.into_iter().for_each(|(key, count)| sketch.add_hash(hash::<R>(&sketch, *key), *count));
        if seed < 20 {
            assert!(counts.iter().all(|(key, count)| sketch.estimate_hash(hash::<R>(&sketch, *key)).value >= *count));
        }
        let error = sketch.estimate_hash(hash::<R>(&sketch, key)).value - counts.get(&key).copied().unwrap_or(0);
        let bound = sketch.error_bound(delta);
        by_total += u64::from(error > bound.from_total);
        by_counters += u64::from(bound.from_counters.is_some_and(|bound| error > bound));
        assert!(bound.from_counters.is_none_or(|counters| counters <= bound.from_total));
    }
    (by_total, by_counters)
}

fn hash<R: RowHashes>(sketch: &Sketch<R, u32>, key: u64) -> KeyHash {
    if R::FAMILY == Family::Pairwise { KeyHash::from_uniform_bits(u128::from(key)) } else { sketch.hash(&key) }
}

fn hold<R: RowHashes>(conservative: bool) {
    for kind in KINDS {
        // Three keys: an ordinary key of the stream, the heaviest key, and a key that is not in the
        // stream.
        for key in [1, 0, 999_999] {
            for delta in ["0.01", "0.3"] {
                let p: f64 = delta.parse().expect("a number");
                let (by_total, by_counters) = exceeded::<R>(kind, key, conservative, &rate(delta), SEEDS);
                let allowed = most(SEEDS, p);
                assert!(by_total <= allowed && by_counters <= allowed, "{kind:?} {key} {delta}: {by_total} {by_counters} of {allowed}");
            }
        }
    }
}

#[test]
fn full_rows_keep_their_bounds() {
    hold::<FullRows>(false);
}

#[test]
fn two_hash_rows_keep_their_bounds() {
    hold::<TwoHashRows>(false);
}

#[test]
fn pairwise_rows_keep_their_bound() {
    hold::<PairwiseRows>(false);
}

#[test]
fn conservative_update_keeps_the_bounds() {
    hold::<FullRows>(true);
    hold::<TwoHashRows>(true);
}

/// If neither bound always implies the other, each is computed for half of the probability, which
/// is decided without looking at the counters. This is the case for rows made from two hashes, and
/// for sums over ranges. With independent rows, the bound from the counters is never above the
/// other bound, so both are computed for the whole probability.
#[test]
fn the_smaller_of_two_bounds_keeps_the_probability_asked_for() {
    for (kind, seed) in KINDS.into_iter().zip(1..) {
        let stream = counts(kind, 4_000, seed);
        let mut two: Sketch<TwoHashRows, u32> = small(seed);
        let mut full: CountMin<u32> = small(seed);
        stream.iter().for_each(|(key, count)| {
            two.add(key, *count);
            full.add(key, *count);
        });
        for (delta, half) in [("0.3", "0.15"), ("1e-3", "5e-4"), ("1/3", "1/6")] {
            let found = two.error_bound(&rate(delta));
            assert_eq!(found.from_total, two.shape().error_bound(two.total(), Family::Ideal, &rate(half)), "{kind:?} {delta}");
            let found = full.error_bound(&rate(delta));
            assert_eq!(found.from_total, full.shape().error_bound(full.total(), Family::Ideal, &rate(delta)), "{kind:?} {delta}");
            assert!(found.from_counters.expect("full rows") <= found.from_total, "{kind:?} {delta}");
        }
    }
}

/// Given the counters, the law of the estimate of a key that is not in the sketch is exactly a
/// product of shares. The test measures many such keys and uses the quantiles of level 1e-6 on both
/// sides.
#[test]
fn the_law_of_a_missing_key_is_the_product_of_shares() {
    let counts = counts(Kind::Zipf, 4_000, 7);
    let mut sketch: CountMin<u32> = small(3);
    counts.iter().for_each(|(key, count)| sketch.add(key, *count));
    let keys = 1_500;
    for delta in ["0.3", "0.05"] {
        let bound = sketch.error_bound(&rate(delta)).from_counters.expect("full rows");
        let above = (0..keys).filter(|key| sketch.estimate(&(1_000_000 + key)).value > bound).count() as u64;
        let p: f64 = delta.parse().expect("a number");
        assert!(above <= most(keys, p), "{delta}: {above}");
        // The bound is the smallest one: a bound that is lower by one is exceeded more often than
        // delta, often enough to be detected.
        let above = (0..keys).filter(|key| sketch.estimate(&(1_000_000 + key)).value >= bound).count() as f64;
        assert!(above > keys as f64 * p - 5.0 * (keys as f64 * p).sqrt(), "{delta}: {above}");
    }
}

/// Tests that faulty sketches are rejected: rows that share one hash function, and the mean of the
/// rows instead of their minimum. Each row is a sketch with depth 1. One key makes up half of the
/// stream. Another key collides with it in one row with probability 1/101, and in all four rows
/// with probability about 1e-8, so a correct sketch never exceeds the bound.
#[test]
fn planted_faults_exceed_the_bounds() {
    let stream = counts(Kind::OneHeavy, 400, 7);
    let shape = |depth| Shape::new(Rows::Independent, 101, depth, 1).expect("a shape");
    let row = |seed: u64| {
        let mut row: CountMin<u32> = CountMin::with_shape(shape(1), hasher(seed)).expect("small");
        stream.iter().for_each(|(key, count)| row.add(key, *count));
        row.estimate(&999_999u64).value
    };
    let (seeds, delta) = (2_000, "0.001");
    let bound = shape(4).error_bound(400, Family::Ideal, &rate(delta));
    let (mut sound, mut shared, mut mean) = (0, 0, 0);
    for seed in 0..seeds {
        let rows: Vec<u64> = (0..4).map(|j| row(10_000 * j + seed)).collect();
        sound += u64::from(rows.iter().min() > Some(&bound));
        shared += u64::from(rows[0] > bound);
        mean += u64::from(rows.iter().sum::<u64>() / 4 > bound);
    }
    let allowed = most(seeds, 0.001);
    assert!(sound <= allowed, "{sound} of {allowed}");
    assert!(shared > allowed, "shared hashes are not found out: {shared} of {allowed}");
    assert!(mean > allowed, "a mean is not found out: {mean} of {allowed}");
}

/// Someone who knows the seed can choose keys that share all counters of another key. Estimates are
/// then still never too low, but no upper bound holds, as the documentation says.
#[test]
fn keys_chosen_with_the_seed_break_the_upper_bound_only() {
    let shape = Shape::new(Rows::Independent, 5, 2, 1).expect("a shape");
    let mut sketch: CountMin = CountMin::with_shape(shape, hasher(1)).expect("small");
    let mut probe = sketch.clone();
    probe.add("victim", 1);
    let colliding: Vec<u64> = (0..10_000u64).filter(|key| probe.estimate(key).value == 1).collect();
    assert!(colliding.len() > 300);
    sketch.add("victim", 3);
    colliding.iter().for_each(|key| sketch.add(key, 1));
    assert_eq!(sketch.estimate("victim").value, 3 + colliding.len() as u64);
    assert!(colliding.iter().all(|key| sketch.estimate(key).value >= 1));
}

/// Intervals with confidence 99% miss in at most a hundredth of all cases. More than twelve misses
/// in 200 cases have a probability below 1e-6. An interval for the keys of all rows together, or
/// for those of a part of a row, would miss in nearly all cases.
#[test]
fn distinct_keys_are_covered() {
    for two_hash in [false, true] {
        let covered = (0..200u128).filter(|seed| {
            let (keys, hasher) = (100 + 7 * *seed as u64, PortableHasher::xxh3(Seed::from(*seed)));
            let found = if two_hash {
                let shape = Shape::new(Rows::TwoHash, 1_009, 3, 2).expect("a shape");
                let mut counts: TwoHashCountMin = TwoHashCountMin::with_shape(shape, hasher).expect("small");
                (0..3 * keys).for_each(|key| counts.add(&(key % keys), 1 + key % 5));
                counts.distinct(0.99)
            } else {
                let shape = Shape::new(Rows::Independent, 1_009, 3, 1).expect("a shape");
                let mut counts: CountMin = CountMin::with_shape(shape, hasher).expect("small");
                (0..3 * keys).for_each(|key| counts.add(&(key % keys), 1 + key % 5));
                counts.distinct(0.99)
            };
            let found = found.expect("in range").expect("full hashes");
            found.lower <= keys && found.upper.is_none_or(|upper| keys <= upper)
        });
        assert!(covered.count() >= 188);
    }
}

/// Halving rounds the counters of a key and its own count, and a merge adds what was lost by
/// rounding. In 2,000 seeds, the bound must fail at most as often as delta allows; with an
/// allowance of 1, it would fail in a tenth of the seeds.
#[test]
fn merged_halves_are_bounded() {
    for times in [1, 2, 1_000] {
        let failed = (0..2_000).filter(|&seed| {
            let mut half: CountMin =
                CountMin::with_shape(Shape::new(Rows::Independent, 1_000, 1, 1).expect("a shape"), hasher(seed)).expect("small");
            (0..100u64).for_each(|key| half.add(&key, 1));
            half.halve();
            let mut merged: CountMin = CountMin::with_shape(half.shape(), hasher(seed)).expect("small");
            if seed % 2 == 0 {
                merged.merge_times(&half, times).expect("alike");
            } else {
                (0..times.min(3)).for_each(|_| merged.merge(&half).expect("alike"));
            }
            let read: CountMin = CountMin::from_bytes(&merged.to_bytes().expect("small")).expect("just written");
            assert_eq!((read.error_bound(&rate("1%")), &read), (merged.error_bound(&rate("1%")), &merged));
            // Half of each count, rounded down, is 0.
            merged.estimate(&0u64).value > merged.error_bound(&rate("1%")).least()
        });
        let failed = failed.count() as u64;
        assert!(failed <= most(2_000, 0.01), "{times}: {failed}");
    }
}

/// The sum of all counts exceeds 2^64, but no counter does. No bound follows from the sum. A bound
/// that takes 2^64 - 1 as the sum would fail for every seed.
#[test]
fn a_sum_beyond_the_total_is_no_bound() {
    let mut failed = 0;
    for seed in 0..50 {
        let mut sketch: CountMin =
            CountMin::with_shape(Shape::new(Rows::Independent, 16, 1, 1).expect("a shape"), hasher(seed)).expect("small");
        (0..1_024u64).for_each(|key| sketch.add(&key, 1 << 57));
        let (estimate, bound) = (sketch.estimate(&0u64), sketch.error_bound(&rate("50%")));
        assert_eq!((sketch.total(), bound.from_total), (u64::MAX, u64::MAX));
        assert!(sketch.inner_product(&sketch, &rate("1%")).is_ok_and(|found| found.error_bound == f64::INFINITY));
        failed += u64::from(!estimate.saturated && estimate.value - (1 << 57) > bound.least());
    }
    assert!(failed <= most(50, 0.5), "{failed}");
}
