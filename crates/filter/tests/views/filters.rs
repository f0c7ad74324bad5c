//! Tests views of files of kinds 1 and 2, with every scheme.

use crate::common::seal_all;
use crate::everywhere;
use truebloom::scheme::SchemeId;
use truebloom::verify::Verification;
use truebloom::{AnyFilter, BlockedBloomFilter, BloomFilter, Filter, FormatError, PortableHasher, Seed};

/// A filter of each scheme, about half full, whose bits do not fill the last word.
fn of_every_scheme() -> Vec<AnyFilter> {
    let hasher = PortableHasher::xxh3(Seed::from(7));
    let made = |id: SchemeId| AnyFilter::with_scheme(id, 5_003u64.next_multiple_of(id.bits_unit(9)), 9, hasher).expect("small");
    let mut filters: Vec<AnyFilter> = SchemeId::ALL.into_iter().map(made).collect();
    for filter in &mut filters {
        filter.insert_all((0..350u64).map(|key| key * key));
    }
    filters
}

/// Inserted keys and other keys, whose number is not a multiple of the batch size.
fn keys() -> Vec<u64> {
    (0..1_500u64).map(|key| key * key).collect()
}

#[test]
fn a_view_answers_as_the_filter_at_every_alignment() {
    for filter in of_every_scheme() {
        let bytes = filter.to_bytes().expect("small");
        let expected = filter.contains_all(keys());
        assert!((350..1_000).contains(&expected.count_ones()), "strangers and members");
        everywhere(&bytes, |held| {
            let view = AnyFilter::view_prefix(held).expect("whole");
            assert_eq!(view.contains_all(keys()), expected);
            assert!(keys().iter().zip(expected.iter()).all(|(key, expected)| view.contains(key) == expected));
            assert_eq!((view.bits(), view.probes(), view.seed()), (filter.bits(), filter.probes(), filter.seed()));
            assert_eq!((view.offered(), view.changed(), view.kind()), (filter.offered(), filter.changed(), Filter::kind(&filter)));
            let counted = view.verify_bytes().expect("undamaged");
            assert_eq!((counted.ones(), counted.fpr()), (filter.ones(), filter.fpr()));
            assert_eq!(counted.verification(), filter.verification());
        });
        assert!(AnyFilter::view(&bytes[..]).is_ok());
    }
}

/// Tests that a view reports the plan in the header, and the rates that are proven for it, without
/// reading the bits.
#[test]
fn a_view_says_what_was_planned() {
    let mut filter = BloomFilter::new(1_000, 0.01).expect("small");
    filter.extend(0..1_000);
    let bytes = filter.to_bytes().expect("small");
    let view = BloomFilter::view(&bytes).expect("whole");
    assert_eq!((view.capacity(), view.rate()), (filter.capacity(), filter.rate()));
    assert_eq!(view.expected_fpr(), filter.expected_fpr());
    assert_eq!(view.encoded_bytes(), bytes.len() as u64);
    let mut cleared = filter.clone();
    cleared.clear();
    assert_eq!(view.to_empty(), Ok(cleared));
    let counted = view.clone().verify_bytes().expect("undamaged");
    assert_eq!(Verification::of(&counted), Verification::of(&filter));
    // Other types that contain bytes.
    let shared: std::sync::Arc<[u8]> = bytes.clone().into();
    assert!(BloomFilter::view(shared).expect("whole").contains(&7));
    assert!(BloomFilter::view(bytes).expect("whole").contains(&7));
    static BLOCKED: &[u8] = include_bytes!("../golden/v1-blocked.tbl");
    assert!(BlockedBloomFilter::view(BLOCKED).expect("golden").contains("key 159"));
}

/// Tests that a view can be merged into a filter without a copy of the view.
#[test]
fn filters_take_what_views_hold() {
    let mut here = BloomFilter::new(1_000, 0.01).expect("small");
    let mut there = here.clone();
    here.extend(0..400);
    there.extend(300..700);
    let bytes = there.to_bytes().expect("small");
    let (mut by_view, mut by_filter) = (here.clone(), here.clone());
    by_view.union_with(&BloomFilter::view(&bytes).expect("whole")).expect("alike");
    by_filter.union_with(&there).expect("alike");
    assert_eq!(by_view.to_bytes(), by_filter.to_bytes());
    here.intersect_with(&BloomFilter::view(&bytes).expect("whole")).expect("alike");
    assert!((300..400).all(|key| here.contains(&key)));
}

/// Tests that opening a view does not detect damaged bits, but `verify_bytes` does.
#[test]
fn damage_is_found_by_verify_bytes() {
    for filter in of_every_scheme() {
        let bytes = filter.to_bytes().expect("small");
        for at in [256, 300, bytes.len() - 9] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            let error = AnyFilter::view(&damaged[..]).expect("its header is whole").verify_bytes().map(drop);
            assert!(matches!(error, Err(FormatError::PayloadChecksum { .. })), "{error:?}");
        }
        // The bits are forged: bits beyond the last bit are set, or fewer bits than the number of
        // offers that set a bit.
        let mut empty = bytes.clone();
        empty[256..].fill(0);
        seal_all(&mut empty);
        let error = AnyFilter::view(&empty[..]).expect("its header is whole").verify_bytes().map(drop);
        assert_eq!(error, AnyFilter::from_bytes(&empty).map(drop));
        assert!(error.is_err());
        if filter.bits() % 64 > 0 {
            let mut beyond = bytes.clone();
            beyond[bytes.len() - 1] |= 0x80;
            seal_all(&mut beyond);
            let error = AnyFilter::view(&beyond[..]).expect("its header is whole").verify_bytes().map(drop);
            assert_eq!(error, Err(FormatError::Padding { bits: filter.bits() }));
        }
    }
}

/// Tests that inserting into bytes in place gives the same bytes as inserting into a filter and
/// saving it.
#[test]
fn bytes_are_filled_in_place() {
    fn check(mut filter: AnyFilter) {
        let bytes = filter.to_bytes().expect("small");
        everywhere(&bytes, |held| {
            let mut held = held.to_vec();
            let (name, length) = (filter.scheme_id(), bytes.len());
            match AnyFilter::view(&mut held[..length]).expect("whole").verify_bytes().expect("undamaged") {
                AnyFilter::Standard(mut place) => (place.extend(1_000_000..1_000_050), place.insert("one"), place.seal()).2,
                AnyFilter::Blocked(mut place) => (place.extend(1_000_000..1_000_050), place.insert("one"), place.seal()).2,
                AnyFilter::Other(mut place) => (place.extend(1_000_000..1_000_050), place.insert("one"), place.seal()).2,
                _ => unreachable!("no other kind"),
            }
            let mut expected = filter.clone();
            expected.insert_all(1_000_000..1_000_050);
            expected.insert("one");
            assert_eq!(expected.to_bytes().expect("small"), held[..length], "{name}");
            assert_eq!(held[length..], [0x5a; 70]);
        });
        filter.clear();
    }
    of_every_scheme().into_iter().for_each(check);
}
