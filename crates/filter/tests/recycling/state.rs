//! Tests files with the whole state of a filter in the middle of a cycle: golden files from a
//! second implementation (tests/golden/reference.py), round trips, and hostile bytes.

use crate::common::{seal, seal_all};
use crate::{files, filter, policies};
use proptest::prelude::*;
use std::path::PathBuf;
use std::time::Duration;
use truebloom::recycling::{AtomicRecyclingFilter, Layout, Phases, Policy, RecyclingFilter, Seeds, Trigger};
use truebloom::scheme::{Classic, SchemeId, Standard};
use truebloom::{BloomFilter, Expected, FileKind, FormatError, HasherId, Key, PortableHasher, ReadError, Seed};

pub const SEED: u128 = 0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0;

/// The keys of the golden files.
fn keys(range: std::ops::Range<i64>, mut offer: impl FnMut(&dyn Key)) {
    range.clone().for_each(|i| offer(&format!("key {i}")));
    range.for_each(|i| offer(&(i - 100)));
    let bytes: Vec<u8> = (0..=255).collect();
    for length in [0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 256] {
        offer(&&bytes[..length]);
    }
}

pub fn offer<S: Layout>(filter: &mut RecyclingFilter<PortableHasher, S>, range: std::ops::Range<i64>) {
    keys(range, |key| _ = filter.check_and_insert(key));
}

pub fn check_golden<S: Layout>(name: &str, built: &RecyclingFilter<PortableHasher, S>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let bytes = std::fs::read(&path).expect("a golden file");
    assert_eq!(built.to_bytes().as_deref(), Ok(&bytes[..]), "{name} is built otherwise than by the reference");
    assert!(RecyclingFilter::<_, S>::open(path).expect("a golden file") == *built && built.encoded_bytes() == bytes.len() as u64);
}

#[test]
fn golden_one_phase_by_age_and_retaining() {
    let policy = Policy { retaining: true, age: Some(Duration::from_secs(1)), ..Policy::one_phase(150) };
    let mut built = filter::<Standard>(300, 4, policy, SEED);
    for second in 0..3 {
        built.advance(Duration::from_secs(7 + second));
        offer(&mut built, 0..80 + 40 * second as i64);
    }
    check_golden("v1-recycling-one.tbl", &built);
}

#[test]
fn golden_two_phases() {
    let hasher = PortableHasher::new(HasherId::Sip13, Seed::from(SEED));
    let phases = Phases::Two(Trigger::Excluded);
    let policy = Policy { phases, seeds: Seeds::Kept, insertions: Some(25), ..Policy::one_phase(120) };
    let mut classic: RecyclingFilter<_, Classic> = RecyclingFilter::with_hasher(250, 5, policy, hasher).expect("in range");
    let mut standard = filter::<Standard>(500, 6, Policy::two_phases(303), SEED);
    for range in [0..60, 30..90, 80..130] {
        offer(&mut classic, range.clone());
        offer(&mut standard, range);
    }
    check_golden("v1-recycling-two-classic.tbl", &classic);
    check_golden("v1-recycling-two.tbl", &standard);
}

/// The golden file of a filter shared by threads. The test runs only one thread, so that the order
/// of operations is fixed.
#[test]
fn golden_two_phases_shared_by_threads() {
    let hasher = PortableHasher::xxh3(Seed::from(SEED));
    let policy = Policy { retaining: true, ..Policy::two_phases(303) };
    let shared: AtomicRecyclingFilter = AtomicRecyclingFilter::with_hasher(500, 6, policy, hasher).expect("in range");
    for range in [0..60, 30..90, 80..130] {
        keys(range, |key| _ = shared.check_and_insert(key));
    }
    check_golden("v1-recycling-shared.tbl", &shared.snapshot().expect("small"));
    check_golden("v1-recycling-shared.tbl", &shared.into_filter());
}

/// Tests the number of bits that threads have set beyond the limit. This number is read from the
/// file and increases the worst rate. It must not exceed the number of bits, and must be 0 in the
/// file of a filter for one thread.
#[test]
fn an_overfilled_phase_is_read_if_the_header_says_so() {
    let shared = |overfill: u64| {
        let mut bytes = patched(16, &[16 | 32]);
        bytes[208..216].copy_from_slice(&overfill.to_le_bytes());
        bytes[272..288].copy_from_slice(&((1u128 << 52) - 1).to_le_bytes());
        seal_all(&mut bytes);
        bytes
    };
    // The frozen phase has 40 set bits and the trigger's 3 bits, and 9 more.
    let read = decode(&shared(9)).expect("as the header says");
    assert_eq!((read.frozen_ones(), read.wrong_drops(0.9)), (52, Ok(None)));
    assert!(read.fpr() <= read.worst_fpr() && read.worst_fpr() > decode(&sample()).expect("whole").worst_fpr());
    assert_eq!(read.to_bytes().as_deref(), Ok(&shared(9)[..]));
    let view = <RecyclingFilter>::view(shared(9)).expect("whole");
    assert!(view.worst_fpr() == read.worst_fpr() && view.verify_bytes().is_ok_and(|view| view.frozen_ones() == 52));
    for (bytes, name) in [(shared(8), "frozen bits"), (shared(101), "overfill")] {
        assert!(matches!(decode(&bytes), Err(FormatError::Field { field, .. }) if field == name), "{name}");
    }
    let mut plain = shared(9);
    plain[16] = 16;
    seal(&mut plain);
    assert_eq!(decode(&plain), Err(FormatError::Reserved { offset: 208 }));
}

fn decode(bytes: &[u8]) -> Result<RecyclingFilter, FormatError> {
    decode_as(bytes)
}

/// Decodes these bytes directly and from a stream, and checks that the results agree.
pub fn decode_as<S: Layout>(bytes: &[u8]) -> Result<RecyclingFilter<PortableHasher, S>, FormatError> {
    let from_bytes = RecyclingFilter::from_bytes(bytes);
    match (RecyclingFilter::read_from(bytes), &from_bytes) {
        (Ok(read), Ok(decoded)) => assert_eq!(&read, decoded),
        (Ok(_), Err(FormatError::TooLong { .. })) | (Err(ReadError::Format(_)), Err(_)) => {}
        (read, decoded) => panic!("{read:?} but {decoded:?}"),
    }
    from_bytes
}

/// Two phases in the middle of the third cycle.
fn sample() -> Vec<u8> {
    let mut filter = filter::<Standard>(100, 3, Policy { age: Some(Duration::from_secs(9)), ..Policy::two_phases(40) }, 5);
    filter.advance(Duration::from_secs(3));
    for key in 0..40u64 {
        filter.check_and_insert(&key);
    }
    assert!(filter.stats().cycles >= 2 && filter.stats().items > 2);
    filter.to_bytes().expect("small")
}

fn patched(offset: usize, field: &[u8]) -> Vec<u8> {
    files::patched(sample(), offset, field)
}

proptest! {
    #[test]
    fn a_restored_filter_goes_on(choice in 0..12usize, at in 0..200u64, insertions in prop::option::of(2..30u64), age in prop::option::of(1..50u64), seed: u128, sip: bool) {
        let policy = Policy { insertions, age: age.map(Duration::from_nanos), ..policies(20)[choice] };
        files::goes_on::<Standard>(40, 3, policy, (seed, sip), at, 90)?;
    }

    #[test]
    fn forged_headers_do_no_harm(offset in 8..248usize, field in prop::collection::vec(any::<u8>(), 1..9), start: u64) {
        files::does_no_harm::<Standard>(&patched(offset, &field[..field.len().min(248 - offset)]), start)?;
    }
}

#[test]
fn damage_is_found_everywhere() {
    files::damage_is_found::<Standard>(&sample());
}

#[test]
fn contradictions_are_refused_by_name() {
    let field = |bytes: &[u8]| match decode(bytes) {
        Err(FormatError::Field { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    let number = |offset: usize, number: u64| patched(offset, &number.to_le_bytes());
    assert_eq!(field(&number(56, 41)), "new items");
    assert_eq!(field(&number(168, 41)), "refreshed items");
    assert_eq!(field(&number(152, 1 << 40)), "recycles by fill");
    assert_eq!(field(&number(160, 41)), "items of the cycle");
    assert_eq!(field(&number(160, 1)), "set bits");
    assert_eq!(field(&number(184, u64::MAX)), "start of the phase");
    assert_eq!(field(&number(192, f64::NAN.to_bits())), "sum of odds");
    assert_eq!(field(&number(200, (-1.0f64).to_bits())), "sum of odds of the cycle");
    assert_eq!(field(&number(104, 16)), "payload length");
    // Too many set bits for sigma, in either phase.
    let full = |start: usize| {
        let mut bytes = sample();
        bytes[start..start + 12].fill(0xff);
        seal_all(&mut bytes);
        bytes
    };
    assert_eq!((field(&full(256)), field(&full(272))), ("set bits", "frozen bits"));
    let mut padded = sample();
    padded[256 + 15] = 0x80;
    seal_all(&mut padded);
    assert_eq!(decode(&padded), Err(FormatError::Padding { bits: 100 }));
    for (offset, value) in [(120, 97), (136, u64::MAX)] {
        assert!(matches!(decode(&number(offset, value)), Err(FormatError::Parameters { .. })), "{offset}");
    }
    for offset in [64, 91, 92, 208, 247] {
        assert!(matches!(decode(&patched(offset, &[1])), Err(FormatError::Reserved { .. })), "{offset}");
    }
    // A policy with one phase that removes the trigger is invalid.
    let mut one = patched(10, &[3, 0]);
    one[16] |= 8;
    seal(&mut one);
    assert!(matches!(decode(&one), Err(FormatError::Unknown { field: "flags", .. })));
    // The header claims a huge filter and is consistent, but the bytes are missing. It is refused
    // before memory is allocated.
    let mut huge = number(24, 1 << 61);
    huge[104..112].copy_from_slice(&(1u64 << 59).to_le_bytes());
    seal(&mut huge);
    assert_eq!(decode(&huge), Err(FormatError::Truncated { expected: (1 << 59) + 256, found: huge.len() as u64 }));
    assert_eq!(field(&number(24, 0)), "bits");
    assert!(matches!(decode(&number(24, u64::MAX)), Err(FormatError::Field { expected: Expected::Within(1, _), .. })));
}

#[test]
fn other_kinds_and_schemes_say_what_opens_them() {
    assert_eq!(BloomFilter::from_bytes(&sample()), Err(FormatError::Kind { found: FileKind::RecyclingTwoPhase }));
    let bloom = crate::common::filter(100, 3, 1).to_bytes().expect("small");
    let error = decode(&bloom).expect_err("another kind");
    assert!(error == FormatError::Kind { found: FileKind::Bloom } && error.to_string().contains("BloomFilter::open"), "{error}");
    let classic = filter::<Classic>(100, 3, Policy::one_phase(40), 1).to_bytes().expect("small");
    assert_eq!(decode(&classic), Err(FormatError::Scheme { expected: SchemeId::Standard, found: SchemeId::Classic }));
}

#[test]
fn files_are_replaced_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("state.tbl");
    let mut seen = filter::<Standard>(1_000, 3, Policy::one_phase(400), 1);
    for key in 0..3u64 {
        seen.check_and_insert(&key);
        seen.save(&path).expect("a folder that can be written");
        assert!(RecyclingFilter::open(&path).expect("just saved") == seen);
    }
    assert!(seen.save_new(&path).is_err() && RecyclingFilter::<_, Standard>::check_target(&path).is_ok());
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}
