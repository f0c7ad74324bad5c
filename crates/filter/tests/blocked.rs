//! Tests the blocked filter: its answers, the values that it reports, and its file.

mod common;

use common::{SplitMix64, seal, seal_all};
use proptest::prelude::*;
use truebloom::{
    BlockedBloomFilter, BloomFilter, BuildError, FileKind, ForeignHasher, FormatError, HasherId, KeyHash, MergeError, PortableHasher, Seed,
};
use truebloom_math::binomial;

const ALPHA: f64 = 1e-6;

fn filter(bits: u64, probes: u32, seed: u128) -> BlockedBloomFilter {
    let hasher = PortableHasher::xxh3(Seed::from(seed));
    BlockedBloomFilter::builder().bits(bits).probes(probes).hasher(hasher).build().expect("small and in range")
}

/// Compares batches with single operations, and their answers with those of a filter that is
/// queried key by key.
fn check(bits: u64, probes: u32, members: &[u64], asked: &[u64]) {
    let mut singly = filter(bits, probes, 7);
    let (mut bulk, mut hashed, mut called) = (singly.clone(), singly.clone(), singly.clone());
    let expected: Vec<bool> = members.iter().map(|key| singly.insert(key)).collect();
    let context = format!("{bits} bits, {probes} probes, {} members, {} asked", members.len(), asked.len());
    let hashes = |keys: &[u64]| keys.iter().map(|key| singly.hash(key)).collect::<Vec<KeyHash>>();

    assert!(bulk.insert_all(members).iter().eq(expected.iter().copied()), "{context}");
    assert!(hashed.insert_all_hashes(&hashes(members)).iter().eq(expected.iter().copied()), "{context}");
    let mut flags = Vec::new();
    called.insert_each(members, |new| flags.push(new));
    assert_eq!(flags, expected, "{context}");
    assert!(bulk == singly && hashed == singly && called == singly, "{context}");
    assert!(members.iter().all(|key| singly.contains(key)), "a false negative: {context}");

    let expected: Vec<bool> = asked.iter().map(|key| singly.contains(key)).collect();
    assert!(singly.contains_all(asked).iter().eq(expected.iter().copied()), "{context}");
    assert!(singly.contains_all_hashes(&hashes(asked)).iter().eq(expected.iter().copied()), "{context}");
    let mut flags = Vec::new();
    singly.contains_each(asked, |found| flags.push(found));
    assert_eq!(flags, expected, "{context}");
}

#[test]
fn many_keys_at_a_time_are_as_many_one_by_one() {
    for count in [0, 1, 63, 64, 65, 255, 256, 257, 1000] {
        let members: Vec<u64> = (0..count).map(|key| key * 7 % (count / 2 + 1)).collect();
        let asked: Vec<u64> = (0..count).map(|key| key + count / 3).collect();
        for (bits, probes) in [(512, 1), (1024, 7), (8 * 512, 8), (20 * 512, 14), (20 * 512, 15), (64 << 20, 64)] {
            check(bits, probes, &members, &asked);
        }
    }
}

proptest! {
    #[test]
    fn any_keys_in_any_filter(lines in 1u64..500, probes in 1u32..=64, seed: u64, members in 0usize..900, asked in 0usize..900, range in 1u64..2_000) {
        let mut random = SplitMix64(seed);
        let mut keys = |count| (0..count).map(|_| random.next() % range).collect::<Vec<u64>>();
        let (members, asked) = (keys(members), keys(asked));
        check(512 * lines, probes, &members, &asked);
    }
}

#[test]
fn a_planned_filter_keeps_its_rate() {
    for (items, rate) in [(100u64, 0.1), (10_000, 0.01), (50_000, 0.001)] {
        let mut built = BlockedBloomFilter::with_hasher(items, rate, PortableHasher::xxh3(Seed::from(5))).expect("a plan");
        assert_eq!((built.capacity(), built.rate().map(|rate| rate.to_f64())), (Some(items), Some(rate)));
        assert!(built.is_empty() && built.fpr().upper == 0.0);
        built.extend(0..items);
        assert!(built.expected_fpr().expect("affordable").expect("planned").upper <= rate);
        assert!(!built.is_over_capacity() && built.offered() == items && built.changed() <= items && !built.is_empty());
        let (queries, fpr) = (1_000_000, built.fpr());
        let hits = built.contains_all(items..items + queries).count_ones() as u64;
        assert!(binomial::two_sided(hits, queries, fpr.value) >= ALPHA, "{hits} hits at {fpr:?}");
        built.clear();
        assert!(built.is_empty() && built.ones() == 0 && built.offered() == 0);
    }
}

#[test]
fn union_is_what_one_filter_would_have_been() {
    let (mut here, mut there, mut both) = (filter(5_120, 6, 1), filter(5_120, 6, 1), filter(5_120, 6, 1));
    here.extend(0..200);
    there.extend(150..400);
    both.extend(0..400);
    here.union_with(&there).expect("alike");
    assert!(here.is_merged() && here.ones() == both.ones() && (0..400).all(|key| here.contains(&key)));
    assert_eq!(here.offered(), 450);
    assert!((0..2_000).all(|key: u64| here.contains(&key) == both.contains(&key)));
    let sip = BlockedBloomFilter::builder()
        .bits(5_120)
        .probes(6)
        .hasher(PortableHasher::new(HasherId::Sip13, Seed::from(1)))
        .build()
        .expect("small");
    assert!(matches!(here.union_with(&filter(512, 6, 1)), Err(MergeError::Bits { .. })));
    assert!(matches!(here.union_with(&filter(5_120, 7, 1)), Err(MergeError::Probes { .. })));
    assert!(matches!(here.union_with(&filter(5_120, 6, 2)), Err(MergeError::Seed)));
    assert!(matches!(here.union_with(&sip), Err(MergeError::Hasher { .. })));
}

#[test]
fn what_cannot_be_made_is_refused() {
    let hasher = PortableHasher::xxh3(Seed::from(1));
    for (bits, probes) in [(0, 7), (100, 7), (513, 7), (1 << 63, 7), (512, 0), (512, 65)] {
        assert!(BlockedBloomFilter::builder().bits(bits).probes(probes).hasher(hasher).build().is_err(), "{bits} {probes}");
    }
    assert!(
        matches!(BlockedBloomFilter::builder().bits(1 << 62).probes(7).hasher(hasher).build(), Err(BuildError::Memory { bytes }) if bytes == 1 << 59)
    );
    let plan = truebloom::Plan::new(
        &truebloom::Target::new().layout(truebloom_math::Layout::Lines).items(1_000).rate("1%".parse().expect("a rate")).mean(),
    );
    let foreign = ForeignHasher::new(std::hash::RandomState::new());
    let refused = BlockedBloomFilter::from_plan_with_hasher(&plan.expect("a plan"), foreign);
    assert!(matches!(refused, Err(BuildError::HashBits { found: 64, .. })));
}

fn some_file() -> Vec<u8> {
    let mut built = BlockedBloomFilter::with_hasher(300, 0.01, PortableHasher::xxh3(Seed::from(9))).expect("a plan");
    built.extend(0..300);
    built.to_bytes().expect("small")
}

#[test]
fn files_come_back_as_they_were() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("blocked.tbl");
    let bytes = some_file();
    let built = BlockedBloomFilter::from_bytes(&bytes).expect("its own bytes");
    assert!((0..300).all(|key| built.contains(&key)) && built.encoded_bytes() == bytes.len() as u64);
    built.save(&path).expect("saved");
    assert_eq!(BlockedBloomFilter::open(&path).expect("opened"), built);
    assert_eq!(BlockedBloomFilter::read_from(&bytes[..]).expect("read"), built);
    // The error names the kind of the file.
    assert!(matches!(BloomFilter::from_bytes(&bytes), Err(FormatError::Kind { found: FileKind::Blocked })));
    let other = common::filter(100, 3, 1).to_bytes().expect("small");
    assert!(matches!(BlockedBloomFilter::from_bytes(&other), Err(FormatError::Kind { found: FileKind::Bloom })));
}

/// Changes every byte of a file and corrects the checksums, as a forger would. The result is an
/// error, or a filter that can be queried and saved.
#[test]
fn bytes_from_anywhere_are_an_error_or_a_filter() {
    let bytes = some_file();
    let mut accepted = 0;
    for place in (8..256).chain((256..bytes.len()).step_by(17)) {
        for value in [0, 1, 0x7f, 0xff] {
            let mut hostile = bytes.clone();
            hostile[place] = value;
            assert!(hostile == bytes || BlockedBloomFilter::from_bytes(&hostile).is_err(), "no checksum covers byte {place}");
            if place < 248 {
                seal(&mut hostile)
            } else {
                seal_all(&mut hostile)
            }
            if let Ok(filter) = BlockedBloomFilter::from_bytes(&hostile) {
                accepted += 1;
                let _ = (filter.contains(&1), filter.fpr().value, filter.expected_fpr().is_ok(), filter.is_over_capacity());
                assert_eq!(filter.to_bytes().as_deref(), Ok(&hostile[..]));
            }
        }
    }
    assert!(accepted > 100, "the seed and the counts may be anything: {accepted}");
    for length in 0..bytes.len() {
        assert!(BlockedBloomFilter::from_bytes(&bytes[..length]).is_err());
    }
}

#[test]
fn fields_out_of_range_are_named() {
    let bytes = some_file();
    let refuse = |offset: usize, field: &[u8]| {
        let mut hostile = bytes.clone();
        hostile[offset..offset + field.len()].copy_from_slice(field);
        seal(&mut hostile);
        BlockedBloomFilter::from_bytes(&hostile).expect_err("refused")
    };
    assert!(matches!(refuse(12, &[1, 0]), FormatError::Unknown { field: "scheme", found: 1 }));
    assert!(matches!(refuse(16, &[2]), FormatError::Unknown { field: "flags", .. }));
    assert!(matches!(refuse(20, &[65]), FormatError::Field { field: "probes", .. }));
    assert!(matches!(refuse(24, &513u64.to_le_bytes()), FormatError::Field { field: "bits modulo 512", .. }));
    assert!(matches!(refuse(24, &0u64.to_le_bytes()), FormatError::Field { field: "bits", .. }));
    assert!(matches!(refuse(24, &(1u64 << 40).to_le_bytes()), FormatError::Field { field: "payload length", .. }));
    assert!(matches!(refuse(120, &256u64.to_le_bytes()), FormatError::Field { field: "block bits", .. }));
    assert!(matches!(refuse(130, &[1]), FormatError::Reserved { offset: 128 }));
    // The label begins at byte 144, with its first character.
    assert!(matches!(refuse(200, &[1]), FormatError::Reserved { offset: 144 }));
}

/// Tests that an error names the value that was given, and does not suggest a value that would be
/// refused.
#[test]
fn sizes_that_cannot_be_are_refused_in_the_words_of_the_call() {
    let message = BlockedBloomFilter::builder().bits(100).probes(3).build().expect_err("no line").to_string();
    assert_eq!(message, "bits is 100, but must be a multiple of 512, so that blocks are whole");
    let message = |bits| BloomFilter::builder().items(10).rate(0.1).bits(bits).build().expect_err("too few bits").to_string();
    assert!(message(3).ends_with("the lowest proven rate is 1, with 1 probe; give more bits or fewer items"), "{}", message(3));
    assert!(message(30).ends_with("; choose that rate, or give more bits or fewer items"), "{}", message(30));
}
