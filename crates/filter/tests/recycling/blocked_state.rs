//! Tests the file of a blocked recycling filter: a golden file from a second implementation, round
//! trips in the middle of a cycle, and hostile bytes.

use crate::common::{seal, seal_all};
use crate::state::{SEED, check_golden, decode_as, offer};
use crate::{files, filter};
use proptest::prelude::*;
use std::time::Duration;
use truebloom::recycling::{Blocked, BlockedRecyclingFilter, Policy, Seeds};
use truebloom::{BlockedBloomFilter, Expected, FileKind, FormatError, PortableHasher, RecyclingFilter};

#[test]
fn golden_blocked() {
    let policy = Policy { age: Some(Duration::from_secs(1)), ..Policy::one_phase(0.0075) };
    let mut built = filter::<Blocked>(1_536, 5, policy, SEED);
    for second in 0..3 {
        built.advance(Duration::from_secs(7 + second));
        offer(&mut built, 0..160 + 40 * second as i64);
    }
    let stats = built.stats();
    assert!(stats.by_fill > 0 && stats.by_fill < stats.cycles && stats.items > 50, "{stats:?}");
    check_golden("v1-recycling-blocked.tbl", &built);
}

fn decode(bytes: &[u8]) -> Result<BlockedRecyclingFilter, FormatError> {
    decode_as::<Blocked>(bytes)
}

/// A filter of three lines, in the middle of a later cycle.
fn sample() -> Vec<u8> {
    let mut filter = filter::<Blocked>(1_536, 4, Policy { age: Some(Duration::from_secs(9)), ..Policy::one_phase(0.01) }, 5);
    filter.advance(Duration::from_secs(3));
    for key in 0..400u64 {
        filter.check_and_insert(&key);
    }
    assert!(filter.stats().cycles >= 2 && filter.stats().items > 9);
    filter.to_bytes().expect("small")
}

fn patched(offset: usize, field: &[u8]) -> Vec<u8> {
    files::patched(sample(), offset, field)
}

proptest! {
    #[test]
    fn a_restored_filter_goes_on(
        at in 0..600u64, insertions in prop::option::of(2..90u64), age in prop::option::of(1..200u64), seed: u128, sip: bool, renewed: bool
    ) {
        let seeds = if renewed { Seeds::Renewed } else { Seeds::Kept };
        let policy = Policy { insertions, age: age.map(Duration::from_nanos), seeds, ..Policy::one_phase(0.002) };
        files::goes_on::<Blocked>(1_024, 5, policy, (seed, sip), at, 390)?;
    }

    #[test]
    fn forged_headers_do_no_harm(offset in 8..248usize, field in prop::collection::vec(any::<u8>(), 1..9), start: u64) {
        files::does_no_harm::<Blocked>(&patched(offset, &field[..field.len().min(248 - offset)]), start)?;
    }
}

#[test]
fn damage_is_found_everywhere() {
    files::damage_is_found::<Blocked>(&sample());
}

#[test]
fn contradictions_are_refused_by_name() {
    let field = |bytes: &[u8]| match decode(bytes) {
        Err(FormatError::Field { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    let number = |offset: usize, number: u64| patched(offset, &number.to_le_bytes());
    assert_eq!(field(&number(208, 256)), "block bits");
    assert_eq!(field(&number(24, 1_537)), "bits modulo 512");
    assert_eq!(field(&number(24, 0)), "bits");
    assert_eq!(field(&number(24, 1_024)), "payload length");
    assert_eq!(field(&patched(20, &33u32.to_le_bytes())), "probes");
    assert_eq!(field(&number(160, 1)), "set bits");
    assert_eq!(field(&number(168, 1)), "refreshed items");
    assert_eq!(field(&number(184, u64::MAX)), "start of the phase");
    // Limits that are invalid.
    for limit in [0.0, 1.0, -0.01, f64::NAN, f64::INFINITY, 1e-16] {
        assert!(matches!(decode(&number(120, limit.to_bits())), Err(FormatError::Parameters { .. })), "{limit}");
    }
    // A rate above the limit: half of the bits of one line are set. The total number of set bits is
    // allowed.
    let mut uneven = sample();
    let ones: u32 = uneven[256..].iter().map(|byte| byte.count_ones()).sum();
    uneven[256..].fill(0);
    uneven[256..256 + ones as usize / 8].fill(0xff);
    seal_all(&mut uneven);
    let error = decode(&uneven).expect_err("too uneven");
    assert!(matches!(error, FormatError::Parameters { .. }) && error.to_string().contains("above the limit of 1e-2"), "{error}");
    // Two phases, or a retained trigger, are not supported.
    for flags in [2, 8, 10, 1] {
        let refused = decode(&patched(16, &[flags | 16]));
        assert!(matches!(refused, Err(FormatError::Parameters { .. } | FormatError::Unknown { field: "flags", .. })), "{refused:?}");
    }
    for offset in [64, 91, 92, 216, 247] {
        assert!(matches!(decode(&patched(offset, &[1])), Err(FormatError::Reserved { .. })), "{offset}");
    }
    assert!(matches!(decode(&patched(12, &[1, 0])), Err(FormatError::Unknown { field: "scheme", found: 1 })));
    // The header claims a huge filter and is consistent, but the bytes are missing. It is refused
    // before memory is allocated.
    let mut huge = number(24, 1 << 61);
    huge[104..112].copy_from_slice(&(1u64 << 58).to_le_bytes());
    seal(&mut huge);
    assert_eq!(decode(&huge), Err(FormatError::Truncated { expected: (1 << 58) + 256, found: huge.len() as u64 }));
    assert!(matches!(decode(&number(24, u64::MAX)), Err(FormatError::Field { expected: Expected::Within(512, _), .. })));
}

#[test]
fn other_layouts_say_what_opens_them() {
    let error = RecyclingFilter::<PortableHasher>::from_bytes(&sample()).expect_err("another layout");
    assert!(
        error == FormatError::Kind { found: FileKind::RecyclingBlocked } && error.to_string().contains("BlockedRecyclingFilter::open"),
        "{error}"
    );
    assert_eq!(BlockedBloomFilter::from_bytes(&sample()), Err(FormatError::Kind { found: FileKind::RecyclingBlocked }));
    let standard: RecyclingFilter = filter(100, 3, Policy::one_phase(40), 1);
    let error = decode(&standard.to_bytes().expect("small")).expect_err("another layout");
    assert_eq!(error, FormatError::Kind { found: FileKind::RecyclingOnePhase });
    // If only the kind in the header is exchanged, the file is not valid as either kind.
    assert!(matches!(
        RecyclingFilter::<PortableHasher>::from_bytes(&patched(10, &[3, 0])),
        Err(FormatError::Unknown { field: "scheme", found: 12 })
    ));
}
