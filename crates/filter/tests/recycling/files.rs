//! The checks that the files of every layout must pass.

use crate::common::seal;
use crate::state::decode_as;
use proptest::prelude::*;
use std::time::Duration;
use truebloom::recycling::{Layout, Policy, RecyclingFilter};
use truebloom::{FormatError, HasherId, PortableHasher, Seed};

type Filter<L> = RecyclingFilter<PortableHasher, L>;

/// Replaces a field in these bytes, and corrects the header's checksum.
pub fn patched(mut bytes: Vec<u8>, offset: usize, field: &[u8]) -> Vec<u8> {
    bytes[offset..offset + field.len()].copy_from_slice(field);
    seal(&mut bytes);
    bytes
}

/// Tests that a filter continues in the same state after it is saved and opened, after `at` items
/// of which `keys` differ.
pub fn goes_on<L: Layout>(
    bits: u64,
    probes: u32,
    policy: Policy<L::Limit>,
    (seed, sip): (u128, bool),
    at: u64,
    keys: u64,
) -> Result<(), TestCaseError> {
    let id = if sip { HasherId::Sip13 } else { HasherId::Xxh3 };
    let hasher = PortableHasher::new(id, Seed::from(seed));
    let mut one: Filter<L> = RecyclingFilter::with_hasher(bits, probes, policy, hasher).expect("in range");
    let key = |i: u64| (i * i % keys, Duration::from_nanos(i));
    for (key, now) in (0..at).map(key) {
        one.check_and_insert_at(&key, now);
    }
    let mut two: Filter<L> = decode_as(&one.to_bytes().expect("small")).expect("just written");
    prop_assert!(one == two);
    prop_assert_eq!(one.fpr(), two.fpr());
    for (key, now) in (at..at + 400).map(key) {
        prop_assert_eq!(one.check_and_insert_at(&key, now), two.check_and_insert_at(&key, now));
    }
    prop_assert!(one == two);
    Ok(())
}

/// Tests that a file is either refused or gives a filter that keeps its invariants; nothing panics.
pub fn does_no_harm<L: Layout>(bytes: &[u8], start: u64) -> Result<(), TestCaseError> {
    let Ok(mut filter) = decode_as::<L>(bytes) else { return Ok(()) };
    for key in start..start.saturating_add(300) {
        filter.check_and_insert_at(&key, Duration::from_nanos(key));
        prop_assert!(filter.fpr() <= filter.worst_fpr());
    }
    prop_assert!(filter.compensator() >= 0.0);
    let _ = (filter.wrong_drops(0.99), filter.average_fpr());
    prop_assert!(decode_as(&filter.to_bytes().expect("small")).is_ok_and(|again: Filter<L>| again == filter));
    Ok(())
}

/// Tests that every wrong length and every flipped bit is detected.
pub fn damage_is_found<L: Layout>(bytes: &[u8]) {
    let error = |bytes: &[u8]| decode_as::<L>(bytes).err();
    for length in 0..bytes.len() {
        assert!(matches!(error(&bytes[..length]), Some(FormatError::Truncated { .. })));
    }
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(error(&damaged).is_some(), "bit {bit}");
    }
    assert!(matches!(error(&[bytes, bytes].concat()), Some(FormatError::TooLong { .. })));
}
