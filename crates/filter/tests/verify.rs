//! Tests the verdicts: correct filters pass, even with repeated keys, and filters that break the
//! guarantee or have wrong counts fail.
#![allow(missing_docs, reason = "a test has no public interface")]

mod common;

use std::hash::{BuildHasher, Hasher};
use truebloom::scheme::{AnyScheme, Scheme, SchemeId};
use truebloom::verify::{ExpectedVerdict, Measurement, Verification};
use truebloom::{BloomFilter, FilterOf, ForeignHasher, KeyHash, KeyHasher, PortableHasher, Rate, Seed};

fn filter(items: u64, rate: &str, seed: u128) -> BloomFilter {
    let rate: Rate = rate.parse().expect("a rate");
    BloomFilter::with_hasher(items, rate, PortableHasher::xxh3(Seed::from(seed))).expect("a filter")
}

fn verify(filter: &BloomFilter) -> Verification {
    Verification::of(filter).expect("cheap")
}

/// The same filter with different counts of keys, as a forged file might have.
fn claiming(filter: &BloomFilter, offered: u64, changed: u64) -> BloomFilter {
    let mut bytes = filter.to_bytes().expect("memory");
    bytes[48..56].copy_from_slice(&offered.to_le_bytes());
    bytes[56..64].copy_from_slice(&changed.to_le_bytes());
    common::seal(&mut bytes);
    BloomFilter::from_bytes(&bytes).expect("a consistent header")
}

/// Tests 1,200 correct filters. Each verdict is wrong with probability at most 1e-6, so for random
/// seeds this test would fail with probability at most 0.4%; the seeds are fixed.
#[test]
fn sound_filters_are_never_accused() {
    for (items, rate, filters) in [(1, "0.1", 200), (10, "0.5", 200), (100, "1e-2", 400), (1_000, "1e-3", 300), (10_000, "0.1", 100)] {
        for seed in 0..filters {
            let mut filter = filter(items, rate, seed);
            filter.extend(0..items);
            let distinct = verify(&filter);
            assert!(distinct.holds() && distinct.fill().tested && !distinct.has_withheld_keys(), "{distinct:?}");
            assert!(distinct.limit().is_some_and(|limit| limit >= filter.fpr().value), "{distinct:?}");
            assert_eq!(distinct.expected_verdict(), ExpectedVerdict::Met);
            // Repeats change only the number of offers.
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

/// Tests that a count that is wrong by more than a tenth is detected from the fill, with ten
/// thousand items.
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

/// A weak hash sets too few bits. Here, 300 keys have only 20 different hashes, and the file claims
/// that 60 of them set a bit.
#[test]
fn a_broken_hash_is_told() {
    let mut broken = filter(1_000, "1e-2", 7);
    for i in 0..300u128 {
        broken.insert_hash(truebloom::KeyHash::mixed(i % 20));
    }
    let claimed = claiming(&broken, 300, 60.max(broken.changed()));
    assert!(!verify(&claimed).fill().holds(), "{:?}", verify(&claimed));
}

/// With 200,000 queries, a fifth more hits than the fill predicts would be detected. The number of
/// hits in this test is as predicted.
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
    let mut filter = BloomFilter::builder().bits(10_000).probes(5).hasher(PortableHasher::xxh3(Seed::from(1))).build().expect("a filter");
    filter.extend(0..100u64);
    assert_eq!(verify(&filter).expected_verdict(), ExpectedVerdict::NothingAsked);
    // The filter is far more than full, so there is no law to test, and the verdict is that it
    // holds.
    filter.extend(0..200_000u64);
    assert!(verify(&filter).holds(), "{:?}", verify(&filter));
}

/// Tests 300 correct blocked filters in the same way, with two verdicts each. For random seeds,
/// this test would fail with probability at most 0.06%; the seeds are fixed.
#[test]
fn sound_blocked_filters_are_never_accused() {
    for (items, rate, filters) in [(1u64, "0.1", 100), (100, "1e-2", 100), (10_000, "1e-2", 100)] {
        for seed in 0..filters {
            let mut filter = blocked(items, rate, seed.into());
            filter.extend(0..items);
            let verification = Verification::of(&filter).expect("cheap");
            assert!(verification.holds() && verification.fill().tested, "{verification:?}");
            assert_eq!(verification.expected_verdict(), ExpectedVerdict::Met);
            filter.extend(0..items);
            let repeated = Verification::of(&filter).expect("cheap");
            assert!(repeated.holds() && repeated.items().0 <= items && items <= repeated.items().1, "{repeated:?}");
            let mut measurement = Measurement::new(&filter, seed);
            measurement.query(5_000);
            assert!(measurement.holds() && measurement.queries() == 5_000, "{measurement:?}");
        }
    }
}

/// The rate at the mean fill differs from the mean rate of the blocks: if half of the blocks are
/// full and the others empty, every second key passes.
#[test]
fn the_hits_of_a_blocked_filter_are_held_to_its_own_blocks() {
    let mut filter = blocked(10_000, "1e-2", 3);
    filter.extend(0..10_000u64);
    let mut bytes = filter.to_bytes().expect("memory");
    bytes[256..].chunks_mut(64).enumerate().for_each(|(block, bits)| bits.fill(if block % 2 == 0 { 0xff } else { 0 }));
    bytes[48..56].copy_from_slice(&100_000u64.to_le_bytes());
    common::seal_all(&mut bytes);
    let uneven = truebloom::BlockedBloomFilter::from_bytes(&bytes).expect("consistent counts");
    let mut measurement = Measurement::new(&uneven, 1);
    measurement.query(100_000);
    assert!(measurement.holds() && measurement.possible_rates().0 > 0.49, "{measurement:?}");
}

#[test]
fn too_many_items_in_a_blocked_filter_are_told() {
    let mut filter = blocked(1_000, "1e-2", 7);
    filter.extend(0..1_200u64);
    let verification = Verification::of(&filter).expect("cheap");
    assert_eq!(verification.expected_verdict(), ExpectedVerdict::Exceeded);
    assert!(!verification.holds());
}

/// If a program inserts only keys that are not contained, new keys that pass by chance are never
/// offered, so every offer sets a bit. Tests 96 such filters, each of which fails with probability
/// at most 1e-6.
#[test]
fn filters_filled_by_insert_if_absent_are_not_accused() {
    for (items, rate, filters) in [(2_000u64, "0.4", 40), (20_000, "0.1", 10), (1_000_000, "0.01", 1)] {
        for seed in 0..filters {
            let mut filter = filter(items, rate, seed);
            (0..items).for_each(|key| insert_if_absent(&mut filter, key));
            assert_eq!(filter.offered(), filter.changed());
            let found = verify(&filter);
            assert!(found.fill().holds() && !found.is_overfull(), "{found:?}");
            assert!(found.items().0 <= items && items <= found.items().1, "{found:?}");
        }
    }
    // Blocked filters have a different type, and a separate test.
    for id in SchemeId::ALL.into_iter().filter(|id| id.block_bits().is_none()) {
        for seed in 0..5 {
            let scheme = AnyScheme::named(id, 3_000, 3).expect("in range");
            let hasher = PortableHasher::xxh3(Seed::from(seed));
            let mut filter = FilterOf::<AnyScheme>::with_scheme(scheme, hasher).expect("small");
            (0..2_000u64).for_each(|key| insert_if_absent(&mut filter, key));
            let found = Verification::of(&filter).expect("cheap");
            assert!(found.holds(), "{id}: {found:?}");
            let mut measurement = Measurement::new(&filter, 1);
            measurement.query(10_000);
            assert!(measurement.holds(), "{id}: {measurement:?}");
        }
    }
}

fn insert_if_absent<S: Scheme>(filter: &mut FilterOf<S>, key: u64) {
    if !filter.contains(&key) {
        filter.insert(&key);
    }
}

/// Runs the same test on blocked filters.
#[test]
fn blocked_filters_filled_by_insert_if_absent_are_not_accused() {
    for seed in 0..10 {
        let mut filter = blocked(5_000, "0.3", seed);
        for key in 0..5_000u64 {
            if !filter.contains(&key) {
                filter.insert(&key);
            }
        }
        let found = Verification::of(&filter).expect("cheap");
        assert!(found.fill().holds(), "{found:?}");
    }
}

/// The same filter with this many more set bits, at random positions.
fn with_more_bits(filter: &BloomFilter, more: u64, seed: u64) -> BloomFilter {
    let mut bytes = filter.to_bytes().expect("memory");
    let mut random = common::SplitMix64(seed);
    let mut left = more;
    while left > 0 {
        let bit = random.next() % filter.bits();
        let byte = &mut bytes[256 + (bit / 8) as usize];
        if *byte & 1 << (bit % 8) == 0 {
            *byte |= 1 << (bit % 8);
            left -= 1;
        }
    }
    common::seal_all(&mut bytes);
    BloomFilter::from_bytes(&bytes).expect("consistent counts")
}

/// Adds to 160 correct filters the number of set bits that `verify` reports as detectable. Each
/// filter goes undetected with probability at most 1%, so more than 9 do with probability below
/// 1e-5. With a third of these bits, most filters go undetected, so the reported number is not much
/// too large.
#[test]
fn an_excess_of_bits_as_large_as_printed_is_noticed() {
    let (mut missed, mut small_noticed, mut planted) = (0, 0, 0);
    for (items, filters, share) in [(100u64, 60, 0.28), (1_000, 60, 0.07), (10_000, 40, 0.02)] {
        for seed in 0..filters {
            let mut sound = filter(items, "1e-2", seed);
            sound.extend(0..items);
            let excess = verify(&sound).fill().noticed.expect("far from full");
            assert!(excess as f64 <= share * sound.ones() as f64, "{items}: {excess} of {}", sound.ones());
            missed += u32::from(verify(&with_more_bits(&sound, excess, 1)).fill().holds());
            small_noticed += u32::from(!verify(&with_more_bits(&sound, excess / 3, 1)).fill().holds());
            planted += 1;
        }
    }
    assert!(missed <= 9 && small_noticed * 2 < planted, "{missed} missed and {small_noticed} noticed of {planted}");
}

/// A hasher that gives a share of all keys the hash of an inserted key, so that the filter has more
/// hits than its fill predicts.
#[derive(Clone)]
struct Sticky {
    hasher: PortableHasher,
    /// The share of such keys, in units of 2^-16.
    share: u16,
    hash: u64,
}

impl BuildHasher for Sticky {
    type Hasher = Sticky;

    fn build_hasher(&self) -> Sticky {
        self.clone()
    }
}

impl Hasher for Sticky {
    fn write(&mut self, bytes: &[u8]) {
        let sticks = bytes.len() == 16 && u16::from_le_bytes([bytes[0], bytes[1]]) < self.share;
        self.hash = u128::from(self.hasher.hash(if sticks { b"held" } else { bytes })) as u64;
    }

    fn finish(&self) -> u64 {
        self.hash
    }
}

/// Raises the rate of 60 filters to the one that is reported as detectable. Each filter goes
/// undetected with probability at most 1%, so more than 6 do with probability below 1e-5.
#[test]
fn an_excess_of_hits_as_large_as_printed_is_noticed() {
    let mut missed = 0;
    for seed in 0..60u64 {
        let rate: Rate = "1e-2".parse().expect("a rate");
        let make = |share| {
            let hasher = Sticky { hasher: PortableHasher::xxh3(Seed::from(u128::from(seed))), share, hash: 0 };
            let mut filter = BloomFilter::with_hasher(1_000, rate, ForeignHasher::new(hasher)).expect("small");
            filter.insert("held");
            filter.extend(0..999u64);
            filter
        };
        let (sound, own) = (make(0), make(0).fpr().value);
        let mut measurement = Measurement::new(&sound, seed);
        measurement.query(100_000);
        assert!(measurement.holds());
        let noticed = measurement.noticed().expect("enough queries");
        assert!(own < noticed && noticed < 1.35 * own, "{own} {noticed}");
        // share + (1 - share) own >= noticed
        let share = ((noticed - own) / (1.0 - own) * 65_536.0).ceil() as u16;
        let broken = make(share);
        let mut measurement = Measurement::new(&broken, seed);
        measurement.query(100_000);
        missed += u32::from(measurement.holds());
    }
    assert!(missed <= 6, "{missed} of 60 missed");
}

/// Without queries, nothing would be detected; for an empty filter, any hit would be.
#[test]
fn power_without_queries_or_bits() {
    let empty = filter(1_000, "1e-2", 1);
    let mut measurement = Measurement::new(&empty, 1);
    assert_eq!(measurement.noticed(), None);
    measurement.query(1_000);
    let noticed = measurement.noticed().expect("any hit");
    assert!((noticed - (1.0 - 0.01f64.powf(1e-3))).abs() < 1e-6, "{noticed}");
    assert_eq!(verify(&empty).fill().noticed, Some(1));
}

/// Each of two filters is within its capacity, but their union holds twice as many keys as it was
/// planned for.
#[test]
fn a_union_that_holds_too_much_is_told() {
    for seed in 0..20 {
        let (mut one, mut two) = (filter(1_000, "1e-2", seed), filter(1_000, "1e-2", seed));
        one.extend(0..1_000u64);
        two.extend(1_000..2_000u64);
        assert!(verify(&one).holds() && verify(&two).holds());
        one.union_with(&two).expect("same plan and seed");
        let found = verify(&one);
        assert!(found.is_overfull() && !found.holds() && one.fpr().value > 0.1, "{found:?}");
    }
}

/// With a 64-bit hash in a `u128`, all keys of a blocked filter are in one block. The number of set
/// bits is then too low for the number of keys that set one.
#[test]
fn a_hash_that_is_too_narrow_for_blocks_is_told() {
    for rate in ["1e-2", "1e-3"] {
        let mut filter = blocked(1_000, rate, 7);
        let mut hashes = common::SplitMix64(1);
        (0..1_000).for_each(|_| {
            filter.insert_hash(KeyHash::from_uniform_bits(u128::from(hashes.next())));
        });
        let found = Verification::of(&filter).expect("cheap");
        assert!(!found.fill().holds() && !found.holds(), "{found:?}");
    }
}

/// Tests files with arbitrary counts: nothing panics, and the lower end of a range is never above
/// its upper end. The first case is an ordinary filter that holds too many keys, because it was
/// filled by "insert if absent".
#[test]
fn forged_counts_of_tied_schemes_do_no_harm() {
    let tied = [SchemeId::Double, SchemeId::DoubleNonzero, SchemeId::Square, SchemeId::Cube, SchemeId::Enhanced, SchemeId::PartitionDouble];
    let hasher = PortableHasher::xxh3(Seed::from(1));
    let mut ordinary = FilterOf::<AnyScheme>::with_scheme(AnyScheme::named(SchemeId::Double, 1_009, 1).expect("in range"), hasher)
        .expect("small")
        .planned_for(500, None)
        .expect("nothing asked");
    (0..800u64).for_each(|key| insert_if_absent(&mut ordinary, key));
    examine(&ordinary);
    let mut random = common::SplitMix64(9);
    for round in 0..400 {
        let id = tied[round % tied.len()];
        let probes = 1 + (random.next() % 4) as u32;
        let bits = u64::from(probes) * (2 + random.next() % 200);
        let mut filter = FilterOf::<AnyScheme>::with_scheme(AnyScheme::named(id, bits, probes).expect("in range"), hasher)
            .expect("small")
            .planned_for(1 + random.next() % 100, None)
            .expect("nothing asked");
        (0..random.next() % 300).for_each(|key| {
            filter.insert(&key);
        });
        let ones = filter.ones();
        let fewest = ones.div_ceil(probes.into());
        let changed = fewest + random.next() % (ones - fewest + 1);
        let offered = changed + if random.next().is_multiple_of(2) { 0 } else { random.next() >> (random.next() % 64) >> 1 };
        let mut bytes = filter.to_bytes().expect("memory");
        bytes[48..56].copy_from_slice(&offered.to_le_bytes());
        bytes[56..64].copy_from_slice(&changed.to_le_bytes());
        common::seal(&mut bytes);
        examine(&FilterOf::from_bytes(&bytes).expect("a consistent header"));
    }
}

fn examine(filter: &FilterOf<AnyScheme>) {
    // Computing the expected rate can fail. This is an error, not a panic.
    let _ = Verification::of(filter).map(|found| found.holds());
    let mut measurement = Measurement::new(filter, 1);
    measurement.query(50);
    let (low, high) = measurement.possible_rates();
    assert!((0.0..=1.0).contains(&low) && low <= high && high <= 1.0, "{measurement:?}");
    assert!((0.0..=1.0).contains(&measurement.p_value()));
    let _ = (measurement.holds(), measurement.noticed());
}

fn blocked(items: u64, rate: &str, seed: u128) -> truebloom::BlockedBloomFilter {
    let rate: Rate = rate.parse().expect("a rate");
    truebloom::BlockedBloomFilter::with_hasher(items, rate, PortableHasher::xxh3(Seed::from(seed))).expect("a filter")
}
