//! Tests bytes that are truncated, damaged or forged, or that are different at each access.

use crate::common::{filter, seal};
use std::sync::atomic::{AtomicU32, Ordering};
use truebloom::count_min::CountMin;
use truebloom::recycling::{Policy, RecyclingFilter};
use truebloom::{AnyFilter, FormatError, PortableHasher, Seed};

fn sample() -> Vec<u8> {
    let mut filter = filter(1_003, 5, 1);
    filter.extend(0..100);
    filter.to_bytes().expect("small")
}

/// Tests that a view refuses the same bytes as a filter does, except for errors in the payload.
#[test]
fn headers_are_checked_as_for_filters() {
    let bytes = sample();
    for length in 0..bytes.len() {
        let error = AnyFilter::view(&bytes[..length]).map(drop).expect_err("cut off");
        assert_eq!(Err(error), AnyFilter::from_bytes(&bytes[..length]).map(drop));
        assert!(AnyFilter::view_prefix(&bytes[..length]).is_err());
    }
    for at in 0..256 {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let damaged = AnyFilter::view(&changed).map(drop);
            assert!(damaged.is_err());
            assert_eq!(damaged, AnyFilter::from_bytes(&changed).map(drop));
            // A forged header with a corrected checksum.
            seal(&mut changed);
            let (viewed, read) = (AnyFilter::view(&changed).map(drop), AnyFilter::from_bytes(&changed).map(drop));
            match AnyFilter::view(&changed) {
                Ok(view) => assert_eq!(view.verify_bytes().map(drop), read),
                Err(_) => assert_eq!(viewed, read),
            }
        }
    }
    let long = [&bytes[..], &[0]].concat();
    assert!(matches!(AnyFilter::view(&long), Err(FormatError::TooLong { .. })));
    assert!(AnyFilter::view_prefix(&long).is_ok());
}

/// Tests lengths that exceed any address space.
#[test]
fn sizes_are_held_to_what_is_there() {
    let mut huge = sample();
    huge[24..32].copy_from_slice(&(1u64 << 62).to_le_bytes());
    huge[104..112].copy_from_slice(&(1u64 << 59).to_le_bytes());
    seal(&mut huge);
    assert_eq!(AnyFilter::view(&huge).map(drop), Err(FormatError::Truncated { expected: (1 << 59) + 256, found: huge.len() as u64 }));
    let mut sketch: CountMin = CountMin::new("0.1".parse().expect("a rate"), "0.1".parse().expect("a rate")).expect("small");
    sketch.add("key", 1);
    let mut huge = sketch.to_bytes().expect("small");
    huge[24..32].copy_from_slice(&(1u64 << 55).to_le_bytes());
    seal(&mut huge);
    assert!(CountMin::<u64>::view(&huge).is_err() && CountMin::<u32>::view(&huge).is_err());
}

/// Bytes that are complete at first, and later truncated or all ones; safe code can behave like
/// this.
struct Fickle<'a> {
    looks: AtomicU32,
    whole: &'a [u8],
    then: &'a [u8],
}

impl AsRef<[u8]> for &Fickle<'_> {
    fn as_ref(&self) -> &[u8] {
        if self.looks.fetch_add(1, Ordering::Relaxed) < 3 { self.whole } else { self.then }
    }
}

#[test]
fn bytes_that_change_do_no_harm() {
    let bytes = sample();
    let ones = vec![0xff; bytes.len()];
    let policy = Policy::two_phases(400);
    let mut recycling: RecyclingFilter =
        RecyclingFilter::with_hasher(1_003, 5, policy, PortableHasher::xxh3(Seed::from(1))).expect("small");
    (0..300).for_each(|key| _ = recycling.check_and_insert(&key));
    let recycling = recycling.to_bytes().expect("small");
    for then in [&[][..], &bytes[..100], &bytes[..300], &ones] {
        let fickle = Fickle { looks: AtomicU32::new(0), whole: &bytes, then };
        let view = AnyFilter::view(&fickle).expect("whole at first");
        (0..1_000).for_each(|key| _ = view.contains(&key));
        let found = view.contains_all(0..1_000).count_ones();
        assert_eq!(found, if then.len() < bytes.len() { 0 } else { 1_000 });
        assert!(view.verify_bytes().is_err());
        let fickle = Fickle { looks: AtomicU32::new(0), whole: &recycling, then };
        let view = RecyclingFilter::<PortableHasher>::view(&fickle).expect("whole at first");
        (0..1_000).for_each(|key| _ = view.contains(&key));
        assert!(view.verify_bytes().is_err());
    }
}
