//! Verdicts: sound filters pass, whatever their repeats; those that break the promise or their counts do not.
#![allow(missing_docs, reason = "a test has no public interface")]

mod common;

use truebloom::verify::{ExpectedVerdict, Measurement, Verification};
use truebloom::{BloomFilter, PortableHasher, Rate, Seed};

fn filter(items: u64, rate: &str, seed: u128) -> BloomFilter {
    let rate: Rate = rate.parse().expect("a rate");
    BloomFilter::with_hasher(items, rate, PortableHasher::xxh3(Seed::from(seed))).expect("a filter")
}

fn verify(filter: &BloomFilter) -> Verification {
    Verification::of(filter).expect("cheap")
}

/// The same filter with other counts of keys, as a file might claim.
fn claiming(filter: &BloomFilter, offered: u64, changed: u64) -> BloomFilter {
    let mut bytes = filter.to_bytes().expect("memory");
    bytes[48..56].copy_from_slice(&offered.to_le_bytes());
    bytes[56..64].copy_from_slice(&changed.to_le_bytes());
    common::seal(&mut bytes);
    BloomFilter::from_bytes(&bytes).expect("a consistent header")
}

/// 1,200 sound filters: each verdict errs with probability at most 1e-6, so this fails with probability at most 0.4% for a random choice of seeds; these are frozen.
#[test]
fn sound_filters_are_never_accused() {
    for (items, rate, filters) in [(1, "0.1", 200), (10, "0.5", 200), (100, "1e-2", 400), (1_000, "1e-3", 300), (10_000, "0.1", 100)] {
        for seed in 0..filters {
            let mut filter = filter(items, rate, seed);
            filter.extend(0..items);
            let distinct = verify(&filter);
            assert!(distinct.holds() && distinct.fill().tested, "{distinct:?}");
            assert_eq!(distinct.expected_verdict(), ExpectedVerdict::Met);
            // Repeats change the count of offers and nothing else.
            (0..3).for_each(|_| filter.extend(0..items));
            let repeated = verify(&filter);
            assert!(repeated.holds(), "{repeated:?}");
            assert!(repeated.items().0 <= items && items <= repeated.items().1, "{repeated:?}");
            let mut measurement = Measurement::new(&filter, seed as u64);
            measurement.query(2_000);
            assert!(measurement.holds(), "{measurement:?}");
            let (low, high) = measurement.interval();
            assert!(low <= measurement.rate() && measurement.rate() <= high && measurement.queries() == 2_000);
        }
    }
}

#[test]
fn too_many_items_are_told() {
    let mut filter = filter(1_000, "1e-2", 7);
    filter.extend(0..1_100u64);
    let verification = verify(&filter);
    assert_eq!(verification.expected_verdict(), ExpectedVerdict::Exceeded);
    assert!(!verification.holds() && verification.fill().holds());
}

/// A count that is off by more than a tenth shows in the fill, at ten thousand items.
#[test]
fn counts_that_do_not_fit_the_fill_are_told() {
    let mut sound = filter(20_000, "1e-3", 7);
    sound.extend(0..10_000u64);
    let (offered, changed) = (sound.offered(), sound.changed());
    assert!(verify(&claiming(&sound, offered, changed)).holds());
    let fewer = verify(&claiming(&sound, offered * 9 / 10, changed * 9 / 10));
    assert!(!fewer.fill().holds() && fewer.fill().too_many < 1e-6, "{fewer:?}");
    let more = verify(&claiming(&sound, offered * 11 / 10, changed * 11 / 10));
    assert!(!more.fill().holds() && more.fill().too_few < 1e-6, "{more:?}");
}

/// A hash that does not spread sets too few bits: here, all keys share one hash and each claims to have set one.
#[test]
fn a_broken_hash_is_told() {
    let mut broken = filter(1_000, "1e-2", 7);
    for i in 0..300u128 {
        broken.insert_hash((i % 20).into());
    }
    let claimed = claiming(&broken, 300, 60.max(broken.changed()));
    assert!(!verify(&claimed).fill().holds(), "{:?}", verify(&claimed));
}

/// A fifth more hits than the fill allows would be told from 200,000 queries; that many are as expected.
#[test]
fn a_measurement_has_power() {
    let mut filter = filter(1_000, "1e-2", 7);
    filter.extend(0..1_000u64);
    let mut measurement = Measurement::new(&filter, 1);
    measurement.query(200_000);
    let expected = filter.fpr().value * 200_000.0;
    assert!((measurement.hits() as f64 - expected).abs() < 5.0 * expected.sqrt());
    assert!(truebloom_math::binomial::two_sided((1.2 * expected) as u64, 200_000, filter.fpr().value) < 1e-6);
}

#[test]
fn after_a_merge_the_fill_has_no_law() {
    let (mut one, mut two) = (filter(1_000, "1e-2", 7), filter(1_000, "1e-2", 7));
    one.extend(0..300u64);
    two.extend(200..500u64);
    one.union_with(&two).expect("same plan and seed");
    let verification = verify(&one);
    assert!(!verification.fill().tested && verification.holds());
    assert!(verification.items().0 <= 500 && 500 <= verification.items().1);
}

#[test]
fn without_a_rate_nothing_is_asked() {
    let mut filter = BloomFilter::with_bits_probes_and_hasher(10_000, 5, PortableHasher::xxh3(Seed::from(1))).expect("a filter");
    filter.extend(0..100u64);
    assert_eq!(verify(&filter).expected_verdict(), ExpectedVerdict::NothingAsked);
    // Far beyond full: no law to test, and no complaint.
    filter.extend(0..200_000u64);
    assert!(verify(&filter).holds(), "{:?}", verify(&filter));
}

/// As for standard filters, but 300 blocked ones and two verdicts: wrong accusations in at most 0.06% of the choices of seeds; these are frozen.
#[test]
fn sound_blocked_filters_are_never_accused() {
    for (items, rate, filters) in [(1u64, "0.1", 100), (100, "1e-2", 100), (10_000, "1e-2", 100)] {
        for seed in 0..filters {
            let mut filter = blocked(items, rate, seed.into());
            filter.extend(0..items);
            let verification = Verification::of_blocked(&filter).expect("cheap");
            assert!(verification.holds() && !verification.fill().tested, "{verification:?}");
            assert_eq!(verification.expected_verdict(), ExpectedVerdict::Met);
            filter.extend(0..items);
            let repeated = Verification::of_blocked(&filter).expect("cheap");
            assert!(repeated.holds() && repeated.items().0 <= items && items <= repeated.items().1, "{repeated:?}");
            let mut measurement = Measurement::of_blocked(&filter, seed).expect("in range");
            measurement.query(5_000);
            assert!(measurement.holds() && measurement.queries() == 5_000, "{measurement:?}");
        }
    }
}

/// The rate of the mean fill is not the mean rate of the blocks: half the blocks full and half of them empty hit for every second key.
#[test]
fn the_hits_of_a_blocked_filter_are_held_to_its_own_blocks() {
    let mut filter = blocked(10_000, "1e-2", 3);
    filter.extend(0..10_000u64);
    let mut bytes = filter.to_bytes().expect("memory");
    bytes[256..].chunks_mut(64).enumerate().for_each(|(block, bits)| bits.fill(if block % 2 == 0 { 0xff } else { 0 }));
    bytes[48..56].copy_from_slice(&100_000u64.to_le_bytes());
    common::seal_all(&mut bytes);
    let uneven = truebloom::BlockedBloomFilter::from_bytes(&bytes).expect("consistent counts");
    let mut measurement = Measurement::of_blocked(&uneven, 1).expect("in range");
    measurement.query(100_000);
    assert!(measurement.holds() && measurement.possible_rates().0 > 0.49, "{measurement:?}");
}

#[test]
fn too_many_items_in_a_blocked_filter_are_told() {
    let mut filter = blocked(1_000, "1e-2", 7);
    filter.extend(0..1_200u64);
    let verification = Verification::of_blocked(&filter).expect("cheap");
    assert_eq!(verification.expected_verdict(), ExpectedVerdict::Exceeded);
    assert!(!verification.holds());
}

fn blocked(items: u64, rate: &str, seed: u128) -> truebloom::BlockedBloomFilter {
    let rate: Rate = rate.parse().expect("a rate");
    truebloom::BlockedBloomFilter::with_hasher(items, rate, PortableHasher::xxh3(Seed::from(seed))).expect("a filter")
}
