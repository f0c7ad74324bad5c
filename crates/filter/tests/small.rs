//! Tests how much memory many small filters take besides their bits, and how large their files are.

mod common;

use common::{seal, seal_all};
use truebloom::scheme::{AnyScheme, InLines, Scheme, SchemeId, Standard};
use truebloom::{
    BlockedBloomFilter, BloomFilter, BuildError, FileKind, FilterOf, FormatError, Member, MergeError, Pack, PortableHasher, ScalableFilter,
    Seed, Shared,
};
use truebloom_math::Growth;

/// Tests that a part of a file has the right bytes, wherever it begins and ends, and is empty
/// beyond the end of the file.
#[test]
fn parts_of_a_file_are_its_bytes() {
    let growth = Growth::new("0.01".parse().expect("a rate"), 1_000).expect("in range");
    let mut grows = ScalableFilter::with_growth(growth, PortableHasher::xxh3(Seed::from(1))).expect("small");
    let mut fixed = BloomFilter::with_hasher(300, 0.01, PortableHasher::xxh3(Seed::from(2))).expect("small");
    grows.extend(0..5_000);
    fixed.extend(0..300);
    let whole = [grows.to_bytes().expect("memory"), fixed.to_bytes().expect("memory")];
    let part = |which: usize, start: u64, length: usize| {
        let part = if which == 0 { grows.part_of_bytes(start, length) } else { fixed.part_of_bytes(start, length) };
        part.expect("memory")
    };
    for (which, whole) in whole.iter().enumerate() {
        for start in [0, 1, 8, 255, 256, 257, 263, 264, 300, whole.len() - 9, whole.len() - 1, whole.len()] {
            for length in [0, 1, 7, 8, 9, 255, 256, 600, whole.len(), usize::MAX] {
                let end = start.saturating_add(length).min(whole.len());
                assert_eq!(part(which, start as u64, length), whole[start..end], "{which} {start} {length}");
            }
        }
        assert!(part(which, whole.len() as u64 + 1, 100).is_empty() && part(which, u64::MAX, 1).is_empty());
    }
}

#[test]
fn a_filter_among_many_takes_64_bytes_beside_its_bits() {
    assert!(size_of::<FilterOf<Standard, PortableHasher, Shared>>() <= 64);
    assert!(size_of::<FilterOf<InLines, PortableHasher, Shared>>() <= 64);
    assert!(size_of::<Member<'_>>() <= 64 && size_of::<Member<'_, InLines>>() <= 64);
}

/// Tests that a filter that shares values with its clones is equal to a filter with its own values.
#[test]
fn shared_filters_are_filters() {
    let mut own = BlockedBloomFilter::with_hasher(2_000, 0.01, PortableHasher::xxh3(Seed::from(1))).expect("small");
    let mut shared = own.clone().into_shared();
    let empty = shared.clone();
    own.extend(0..1_000);
    shared.extend(0..1_000);
    assert!(shared.insert("one") == own.insert("one") && !empty.contains("one") && empty.is_empty());
    assert_eq!((shared.ones(), shared.fpr(), shared.offered()), (own.ones(), own.fpr(), own.offered()));
    assert_eq!(shared.to_bytes(), own.to_bytes());
    assert_eq!(shared.contains_all(0..5_000), own.contains_all(0..5_000));
    shared.union_with(&own).expect("of one plan and seed");
    assert_eq!(shared.into_owned(), own);
    let mut standard = BloomFilter::new(100, 0.01).expect("small");
    standard.insert("one");
    let ones = standard.ones();
    let mut shared = standard.into_shared();
    shared.insert("two");
    assert!(shared.ones() > ones && shared.into_owned().contains("two"));
}

#[test]
fn bytes_are_written_where_they_are_to_stand() {
    let mut filter = BloomFilter::new(5_000, 0.01).expect("small");
    filter.extend(0..5_000);
    let bytes = filter.to_bytes().expect("small");
    let mut place = vec![7; bytes.len() + 10];
    assert_eq!(filter.write_into(&mut place), Ok(bytes.len()));
    assert!(place.starts_with(&bytes) && place.ends_with(&[7; 10]));
    let (needed, found) = (bytes.len() as u64, 300);
    assert_eq!(filter.write_into(&mut place[..300]), Err(BuildError::Room { needed, found }));
    assert_eq!(filter.write_into(&mut []), Err(BuildError::Room { needed, found: 0 }));
}

fn filled<S: Scheme>(empty: &FilterOf<S>, number: u64) -> FilterOf<S> {
    let mut filter = empty.clone();
    filter.extend((0..350).map(|key| 1_000 * number + key));
    filter
}

fn check_pack<S: Scheme>(empty: &FilterOf<S>) {
    let mut pack = Pack::of(empty);
    assert!(pack.is_empty() && pack.get(0).expect("nothing is damaged").is_none());
    let filters: Vec<FilterOf<S>> = (0..20).map(|number| filled(empty, number)).collect();
    for filter in &filters {
        pack.push(filter).expect("of one plan");
    }
    let mut merged = filters[0].clone();
    merged.intersect_with(&filters[1]).expect("of one plan");
    pack.push(&merged).expect("of one plan");
    let bytes = pack.to_bytes().expect("small");
    assert_eq!(bytes.len(), 256 + pack.len() * pack.member_bytes());
    assert_eq!(FileKind::of_whole(|| Ok(&bytes[..])).expect("a pack"), FileKind::Pack);
    assert_eq!(Pack::<S>::from_bytes(&bytes).as_ref(), Ok(&pack));
    for shift in 0..9 {
        let held = [&vec![0; shift][..], &bytes, &[9; 9]].concat();
        let view = Pack::<S>::view_prefix(&held[shift..]).expect("whole");
        assert_eq!((view.len(), view.encoded_bytes()), (21, bytes.len() as u64));
        for (filter, member) in filters.iter().chain([&merged]).zip(view.iter()) {
            let member = member.expect("undamaged");
            assert!((0..3_000u64).all(|key| member.contains(&key) == filter.contains(&key)));
            assert_eq!(member.contains_all(0..21_000), filter.contains_all(0..21_000));
            let said = (member.offered(), member.changed(), member.is_intersection(), member.most_items(), member.capacity());
            assert_eq!(said, (filter.offered(), filter.changed(), filter.is_intersection(), filter.most_items(), filter.capacity()));
            let counted = member.verify_bytes().expect("undamaged");
            assert_eq!((counted.ones(), counted.fpr()), (filter.ones(), filter.fpr()));
            assert_eq!(counted.to_bytes(), filter.to_bytes());
        }
        let again = view.verify_bytes().expect("undamaged").to_bytes();
        assert_eq!(again.as_deref(), Ok(&bytes[..]));
    }
    let hash = pack.hash(&4_005u64);
    assert!(pack.get(4).expect("undamaged").expect("there").contains_hash(hash));
}

#[test]
fn members_are_the_filters_that_were_added() {
    let hasher = PortableHasher::xxh3(Seed::from(3));
    check_pack::<Standard>(&FilterOf::with_hasher(400, 0.01, hasher).expect("small"));
    check_pack::<InLines>(&FilterOf::with_hasher(400, 0.01, hasher).expect("small"));
    let scheme = AnyScheme::named(SchemeId::Partitioned, 5_003, 7).expect("in range");
    check_pack::<AnyScheme>(&FilterOf::with_scheme(scheme, hasher).expect("small"));
}

/// Tests the size of packs with 5,000 keys per filter at a rate of 1%.
#[test]
fn a_pack_takes_little_more_than_its_bits() {
    let filter = BloomFilter::new(5_000, 0.01).expect("small");
    let blocked = BlockedBloomFilter::new(5_000, 0.01).expect("small");
    let (bits, member) = (filter.bits() as f64 / 8.0, Pack::of(&filter).member_bytes() as f64);
    let (blocked_bits, blocked_member) = (blocked.bits() as f64 / 8.0, Pack::of(&blocked).member_bytes() as f64);
    assert!(member + 256.0 / 10_000.0 <= 1.02 * bits && blocked_member <= 1.02 * blocked_bits, "{member} {bits}");
}

#[test]
fn members_stand_apart_and_are_held_to_their_pack() {
    let table = filled(&BloomFilter::new(400, 0.01).expect("small"), 0);
    let pack = Pack::of(&table);
    let mut block = vec![3; pack.member_bytes() + 5];
    pack.write_member(&table, &mut block[1..]).expect("room");
    let (needed, found) = (pack.member_bytes(), needed_less(pack.member_bytes()));
    assert_eq!(pack.write_member(&table, &mut vec![0; found]), Err(MergeError::Room { needed, found }));
    let member = pack.view_member(&block[1..]).expect("whole");
    assert!((0..350u64).all(|key| member.contains(&key)));
    assert_eq!(member.verify_bytes().expect("undamaged").fpr(), table.fpr());
    assert!(matches!(pack.view_member(&block[1..100]).map(drop), Err(FormatError::Truncated { .. })));
    // This pack has another seed, so it does not accept the member's bytes.
    let other = Pack::of(&BloomFilter::new(400, 0.01).expect("small"));
    assert!(matches!(other.view_member(&block[1..]).map(drop), Err(FormatError::MemberChecksum { .. })));
    assert_eq!(Pack::of(&BloomFilter::new(400, 0.01).expect("small")).push(&table), Err(MergeError::Seed));
    assert!(matches!(Pack::of(&BloomFilter::new(401, 0.01).expect("small")).push(&table), Err(MergeError::Bits { .. })));
}

fn needed_less(bytes: usize) -> usize {
    bytes - 1
}

#[test]
fn damaged_and_forged_packs_are_refused() {
    let empty = BloomFilter::new(100, 0.01).expect("small");
    let mut pack = Pack::of(&empty);
    (0..3).for_each(|number| pack.push(&filled(&empty, number)).expect("of one plan"));
    let (bytes, length) = (pack.to_bytes().expect("small"), pack.member_bytes());
    // An error in the values that a member stores is detected at once, and an error in its bits by
    // `verify_bytes`. The other members are not affected.
    for at in 0..length {
        let mut damaged = bytes.clone();
        damaged[256 + length + at] ^= 0x10;
        let view = <Pack>::view(&damaged).expect("its header is whole");
        let member = view.get(1).map(|member| member.expect("there").verify_bytes().map(drop));
        match member {
            Err(FormatError::MemberChecksum { .. }) => assert!(at < 64),
            Ok(Err(FormatError::PayloadChecksum { .. })) => assert!(at >= 64),
            other => panic!("{at}: {other:?}"),
        }
        assert!(view.get(0).is_ok() && view.get(2).is_ok() && view.verify_bytes().is_err());
        seal_all(&mut damaged);
        assert!(<Pack>::from_bytes(&damaged).is_err());
    }
    for length in 0..bytes.len() {
        assert_eq!(<Pack>::view(&bytes[..length]).map(drop), <Pack>::from_bytes(&bytes[..length]).map(drop));
        assert!(<Pack>::view(&bytes[..length]).is_err());
    }
    // The claimed number of members exceeds the available bytes, or any number of bytes.
    for members in [4, 1 << 40, u64::MAX] {
        let mut forged = bytes.clone();
        forged[128..136].copy_from_slice(&members.to_le_bytes());
        seal(&mut forged);
        assert!(<Pack>::view(&forged).is_err() && <Pack>::from_bytes(&forged).is_err());
    }
    assert!(matches!(BloomFilter::from_bytes(&bytes), Err(FormatError::Kind { found: FileKind::Pack })));
}

/// Someone who knows the format can forge a member with a correct checksum. Its counts are then
/// checked against each other and against its bits.
#[test]
fn forged_members_are_refused() {
    let empty = BloomFilter::new(100, 0.01).expect("small");
    let mut pack = Pack::of(&empty);
    pack.push(&filled(&empty, 0)).expect("of one plan");
    let bytes = pack.to_bytes().expect("small");
    // Each member is bound to the header of its pack, without the fields that describe the members.
    let mut head = bytes[..256].to_vec();
    head[104..136].fill(0);
    let family = xxhash_rust::xxh3::xxh3_64(&head[..248]);
    let forged = |word: usize, number: u64| {
        let mut member = bytes[256..].to_vec();
        member[8 * word..8 * word + 8].copy_from_slice(&number.to_le_bytes());
        let checksum = xxhash_rust::xxh3::xxh3_64_with_seed(&member[..56], family);
        member[56..64].copy_from_slice(&checksum.to_le_bytes());
        member
    };
    let refusal = |member: &[u8]| pack.view_member(member).and_then(Member::verify_bytes).map(drop).expect_err("forged");
    let changed = pack.get(0).expect("undamaged").expect("there").changed();
    assert!(pack.view_member(&forged(1, changed)).is_ok(), "the checksum is made as in the library");
    for word in [4, 5] {
        assert!(matches!(refusal(&forged(word, 1)), FormatError::Field { field: "reserved words of a member", .. }));
    }
    assert!(matches!(refusal(&forged(1, 1 << 40)), FormatError::Field { field: "changed", .. }));
    assert!(matches!(refusal(&forged(1, 1)), FormatError::Field { field: "set bits", .. }));
    for flags in [2, 32, 1 << 40] {
        let error = refusal(&forged(2, flags));
        assert!(matches!(error, FormatError::Unknown { field: "flags", .. } | FormatError::Field { field: "flags", .. }), "{error:?}");
    }
}

/// The resident memory of this process.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    4096 * status.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("pages")
}

/// Tests that a filter with small pages takes at most one page per probe of a key. A filter that is
/// planned for few keys also uses small pages.
#[cfg(target_os = "linux")]
#[test]
fn a_sparse_filter_takes_its_small_pages() {
    use truebloom::{Plan, Target};
    let declined = BloomFilter::with_bits_and_probes(1 << 31, 7).expect("256 MiB").with_small_pages();
    let target = Target::new().items(1_000).bits(1 << 31).probes(7);
    let planned = BloomFilter::from_plan(&Plan::new(&target).expect("a plan")).expect("256 MiB");
    for mut filter in [declined, planned] {
        let before = resident();
        filter.extend(0..1_000);
        let taken = resident().saturating_sub(before);
        assert!(taken < 64 << 20, "{taken} bytes for 1,000 keys");
        assert!((0..1_000).all(|key| filter.contains(&key)));
    }
}

/// A label belongs to one filter, and not to the values that a pack shares. So packs of labelled
/// filters can be read, and take filters with other labels.
#[test]
fn packs_of_labelled_filters_are_read_again() {
    let mut filter = BloomFilter::new(1_000, 0.01).expect("small");
    filter.insert("key");
    assert!(filter.set_label("addresses"));
    let mut pack = Pack::of(&filter);
    pack.push(&filter).expect("itself");
    assert!(filter.set_label("others"));
    pack.push(&filter).expect("the same seed");
    let pack = <Pack>::from_bytes(&pack.to_bytes().expect("small")).expect("whole");
    assert!(pack.iter().all(|member| member.expect("whole").contains("key")) && pack.len() == 2);
}
