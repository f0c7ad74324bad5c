//! Compares the counts of ranges with exact counts.

use crate::common::SplitMix64;
use crate::{hasher, rate};
use truebloom::Seed;
use truebloom::count_min::{DyadicCountMin, PairwiseRows, RowHashes};
use truebloom_math::count_min::{Rows, Shape};

#[test]
fn ranges_are_never_too_low_and_rarely_too_high() {
    for (bits, mask) in [(10, 1_023u64), (20, (1 << 20) - 1), (64, u64::MAX), (1, 1)] {
        let mut random = SplitMix64(bits.into());
        let mut counts: DyadicCountMin<u32> =
            DyadicCountMin::with_hasher(bits, rate("0.01"), rate("0.01"), hasher(bits.into())).expect("small");
        let mut values: Vec<u64> =
            (0..3_000).map(|i| if i % 3 == 0 { random.next() & mask } else { (random.next() & mask) >> (bits / 2) }).collect();
        values.extend([0, mask, mask]);
        values.iter().for_each(|value| counts.add(*value, 1).expect("in range"));
        let bound = counts.error_bound(&rate("0.01")).least();
        let mut missed = 0;
        for i in 0..300 {
            let (a, b) = (random.next() & mask, random.next() & mask);
            let range = match i {
                0 => 0..=mask,
                1 => 0..=0,
                2 => mask..=mask,
                3 => 1..=mask.saturating_sub(1),
                _ => a.min(b)..=a.max(b) >> (i % 3 * 5),
            };
            let truth = values.iter().filter(|value| range.contains(value)).count() as u64;
            let found = counts.range(range.clone());
            assert!(found.value >= truth && !found.saturated, "{range:?} {truth} {found:?}");
            missed += u64::from(found.value - truth > bound);
        }
        // At most three are expected. More than 15 have a probability below 1e-6.
        assert!(missed <= 15, "{bits}: {missed}");
        if bits <= 10 {
            assert_eq!(bound, 0, "counted exactly");
        }
        assert_eq!(counts.range(0..=u64::MAX).value, values.len() as u64, "one range, the whole");
    }
}

#[test]
fn what_is_outside_is_refused() {
    let mut counts: DyadicCountMin = DyadicCountMin::with_hasher(8, rate("0.1"), rate("0.1"), hasher(1)).expect("small");
    assert!(counts.add(256, 1).is_err() && counts.add(u64::MAX, 1).is_err() && counts.add(255, 1).is_ok());
    #[allow(clippy::reversed_empty_ranges, reason = "an empty range is asked for on purpose")]
    let empty = 9..=3;
    assert_eq!(counts.range(empty).value, 0);
    assert_eq!((counts.range(256..=u64::MAX).value, counts.range(255..=u64::MAX).value), (0, 1));
    for bits in [0, 65] {
        assert!(DyadicCountMin::<u64>::new(bits, rate("0.1"), rate("0.1")).is_err());
    }
    let mut other: DyadicCountMin = DyadicCountMin::with_hasher(9, rate("0.1"), rate("0.1"), hasher(1)).expect("small");
    assert!(counts.merge(&other).is_err());
    other = DyadicCountMin::with_hasher(8, rate("0.1"), rate("0.1"), hasher(1)).expect("small");
    other.add(255, 4).expect("in range");
    counts.merge(&other).expect("equal");
    assert_eq!(counts.range(200..=255).value, 5);
}

#[test]
fn sums_beyond_2_to_the_64_are_saturated() {
    let mut counts: DyadicCountMin = DyadicCountMin::with_hasher(16, rate("0.01"), rate("0.01"), hasher(1)).expect("small");
    [(1, 1 << 63), (2, 1 << 63)].into_iter().for_each(|(value, count)| counts.add(value, count).expect("in range"));
    let (both, one) = (counts.range(1..=2), counts.range(1..=1));
    assert!(both.saturated && both.value == u64::MAX && !one.saturated && one.value == 1 << 63, "{both:?} {one:?}");
    assert_eq!(counts.error_bound(&rate("50%")).from_total, u64::MAX);
}

/// Counts can be private, and coefficients are as secret as the seed.
#[test]
fn debugging_shows_no_counters_and_no_coefficients() {
    let mut counts: DyadicCountMin = DyadicCountMin::with_hasher(8, rate("0.01"), rate("0.01"), hasher(1)).expect("small");
    counts.add(77, 123_456).expect("in range");
    assert_eq!(format!("{counts:?}"), "DyadicCountMin { bits: 8, exact_levels: 9, .. }");
    let rows = PairwiseRows::new(&Shape::new(Rows::Independent, 100, 2, 1).expect("a shape"), Seed::from(7)).expect("small");
    assert_eq!(format!("{rows:?}"), "PairwiseRows { width: 100, depth: 2, .. }");
}
