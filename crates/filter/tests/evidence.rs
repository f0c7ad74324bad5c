//! Tests that no reported number claims more than is known, and that errors show their causes but
//! no secrets.
#![allow(missing_docs, reason = "a test has no public interface")]

mod common;

use std::error::Error;
use truebloom::count_min::CountMin;
use truebloom::scheme::{Classic, Partitioned, Scheme};
use truebloom::verify::{ExpectedVerdict, Measurement, Verification};
use truebloom::{
    AnyFilter, AtomicBloomFilter, BlockedBloomFilter, BloomFilter, BuildError, FileError, FileHeader, FilterOf, FormatError, KeyHash,
    KeyHasher, MergeError, PortableHasher, Prehashed, ReadError, RecyclingFilter, ScalableFilter, Seed,
};
use truebloom_math::{Growth, Method};

fn filter(items: u64, keys: std::ops::Range<u64>) -> BloomFilter {
    let mut filter = BloomFilter::with_hasher(items, 0.01, PortableHasher::xxh3(Seed::from(3))).expect("small");
    filter.extend(keys);
    filter
}

fn intersection(one: &BloomFilter, other: &BloomFilter) -> BloomFilter {
    let mut both = one.clone();
    both.intersect_with(other).expect("same plan and seed");
    both
}

/// Intersects filters of two disjoint sets of about 1,000 keys. An estimate from the fill would
/// report about four hundred common keys.
#[test]
fn an_intersection_is_bounded_by_its_smallest_input_and_never_estimated() {
    let (one, other) = (filter(1_000, 0..1_000), filter(1_000, 1_000..1_900));
    let both = intersection(&one, &other);
    assert!(both.is_intersection() && both.is_merged() && both.ones() > 1_000);
    assert_eq!((both.most_items(), both.changed(), both.estimated_items()), (900, 0, None));
    assert_eq!(Verification::of(&both).expect("cheap").items(), (0, 900));
    assert!(!both.is_over_capacity() && !one.is_intersection());
    // The probability of equal hashes is still computed for the keys of both filters.
    assert!(both.fpr().upper >= 1_900.0 / 2f64.powi(128));
}

#[test]
fn the_mark_of_an_intersection_stays() {
    let (one, other) = (filter(1_000, 0..1_000), filter(1_000, 500..1_400));
    let both = intersection(&one, &other);
    let read = BloomFilter::from_bytes(&both.to_bytes().expect("memory")).expect("its own bytes");
    assert_eq!(read, both);
    assert!(read.is_intersection() && read.most_items() == 900);
    // Later insertions are counted. An intersection with a third set lowers the bound, and a union
    // raises it. Atomic filters keep it.
    let mut more = read;
    more.extend(5_000..5_010u64);
    assert_eq!(more.most_items(), 910);
    assert!(more.estimated_items().is_none());
    let three = intersection(&more, &filter(1_000, 0..200));
    assert_eq!(three.most_items(), 200);
    let mut union = filter(1_000, 0..50);
    union.union_with(&three).expect("same plan and seed");
    assert!(union.is_intersection() && union.changed() == 50);
    assert_eq!((union.most_items(), union.estimated_items()), (250, None));
    let shared = AtomicBloomFilter::from(both).into_filter();
    assert!(shared.is_intersection() && shared.most_items() == 900 && shared.changed() == 0);
    let mut cleared = shared;
    cleared.clear();
    assert!(!cleared.is_intersection() && cleared.estimated_items() == Some(0.0));
}

#[test]
fn forged_marks_are_refused() {
    let both = intersection(&filter(1_000, 0..300), &filter(1_000, 0..300));
    let bytes = both.to_bytes().expect("memory");
    assert_eq!((bytes[16], &bytes[120..128]), (33, 300u64.to_le_bytes().as_slice()));
    let forged = |offset: usize, value: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[offset..offset + value.len()].copy_from_slice(value);
        common::seal(&mut bytes);
        BloomFilter::from_bytes(&bytes)
    };
    assert!(matches!(forged(16, &[32]), Err(FormatError::Field { field: "flags", .. })), "an intersection is merged");
    assert!(matches!(forged(16, &[1]), Err(FormatError::Reserved { offset: 120 })), "a union has nothing there");
    assert!(matches!(forged(120, &601u64.to_le_bytes()), Err(FormatError::Field { field: "excluded offers", .. })));
    assert!(matches!(forged(128, &[1]), Err(FormatError::Reserved { offset: 128 })));
    assert!(forged(120, &600u64.to_le_bytes()).is_ok_and(|filter| filter.most_items() == 0));
}

#[test]
fn other_schemes_mark_intersections_too() {
    let hasher = PortableHasher::xxh3(Seed::from(1));
    let make = |keys: std::ops::Range<u64>| {
        let mut filter = FilterOf::with_scheme(<Classic as Scheme>::new(9_600, 7).expect("in range"), hasher).expect("small");
        filter.extend(keys);
        filter
    };
    let mut both = make(0..900);
    assert!(both.estimated_items().is_some_and(|items| (items - 900.0).abs() < 60.0));
    both.intersect_with(&make(900..1_000)).expect("alike");
    assert_eq!((both.most_items(), both.estimated_items()), (100, None));
}

/// Tests 1,000 keys that differ only in low bits, in high bits, or in 64 bits at either end. There
/// are 12 tests of fills and 12 measurements, each of which fails for a correct filter with
/// probability at most 1e-6.
#[test]
fn mixed_hashes_are_safe_for_any_numbers() {
    let mut random = common::SplitMix64(2);
    let hashes: Vec<u64> = (0..1_000).map(|_| random.next()).collect();
    let shapes: [&dyn Fn(u64) -> u128; 6] = [
        &|i| i.into(),
        &|i| u128::from(i) << 64,
        &|i| u128::from(i) << 118,
        &|i| hashes[i as usize].into(),
        &|i| u128::from(hashes[i as usize]) << 64,
        &|i| u128::from(i) * 0x1_0000_0001_0000_0001,
    ];
    for shape in shapes {
        let hasher = PortableHasher::xxh3(Seed::from(3));
        let mut standard = BloomFilter::with_hasher(1_000, 0.01, hasher).expect("small");
        let mut blocked = BlockedBloomFilter::with_hasher(1_000, 0.01, hasher).expect("small");
        for i in 0..1_000 {
            standard.insert_hash(KeyHash::mixed(shape(i)));
            blocked.insert_hash(KeyHash::mixed(shape(i)));
        }
        let (found, in_blocks) = (Verification::of(&standard).expect("cheap"), Verification::of(&blocked).expect("cheap"));
        assert!(found.fill().holds() && in_blocks.fill().holds(), "{found:?} {in_blocks:?}");
        assert!(blocked.fpr().upper < 0.02 && standard.fpr().upper < 0.02);
        let distinct: std::collections::HashSet<u128> = (0..1_000).map(|i| KeyHash::mixed(shape(i)).into()).collect();
        assert_eq!(distinct.len(), 1_000);
    }
    assert_eq!(u128::from(KeyHash::from_uniform_bits(7 << 64 | 5)), 7 << 64 | 5);
}

/// Uses consecutive numbers as if they were hashes. The fill and the hits follow the law, and every
/// reported rate includes n/2^64.
#[test]
fn hashes_of_64_bits_are_mixed_and_their_floor_is_counted() {
    let hasher = Prehashed::new(Seed::from(9));
    let mut standard = BloomFilter::with_hasher(1_000, 0.01, hasher).expect("small");
    let mut blocked = BlockedBloomFilter::with_hasher(1_000, 0.01, hasher).expect("small");
    standard.extend(0..1_000u64);
    blocked.extend(0..1_000u64);
    let (found, in_blocks) = (Verification::of(&standard).expect("cheap"), Verification::of(&blocked).expect("cheap"));
    assert!(found.holds() && in_blocks.holds(), "{found:?} {in_blocks:?}");
    for (hits, rate) in [
        ((1_000..101_000u64).filter(|key| standard.contains(key)).count(), standard.fpr().value),
        ((1_000..101_000u64).filter(|key| blocked.contains(key)).count(), blocked.fpr().value),
    ] {
        // The tolerance is six standard errors.
        assert!((hits as f64 - 1e5 * rate).abs() < 6.0 * (1e5 * rate).sqrt(), "{hits} {rate}");
    }
    let mut measurement = Measurement::new(&standard, 1);
    measurement.query(100_000);
    assert!(measurement.holds());
    // Here, the rate of the bits is far below the probability of equal hashes.
    let mut large = BloomFilter::builder().bits(1 << 20).probes(40).hasher(hasher).build().expect("small");
    large.extend(0..16u64);
    let floor = 2f64.powi(-60);
    assert!(large.fpr().upper >= floor && large.fpr().upper < 1.001 * floor);
    assert!(large.expected_fpr_at(16).expect("cheap").upper >= floor);
    assert!(Verification::of(&large).expect("cheap").expected().upper >= floor);
    // With 64-bit hashes, 1,000 keys cannot have a rate below 1,000 / 2^64.
    assert!(matches!(BloomFilter::with_hasher(1_000, 5e-17, hasher), Err(BuildError::Math(_))));
    assert_ne!(hasher.hash_number(1), Prehashed::new(Seed::from(10)).hash_number(1));
    assert_eq!(hasher.hash(&1u64.to_le_bytes()), hasher.hash_number(1));
    assert_ne!(hasher.hash(b"short"), hasher.hash(b"other"));
}

/// Tests that the rate of a nearly empty filter includes the probability of equal hashes, even
/// where this probability is higher than the rest, and that the method does not claim a more
/// precise rate.
#[test]
fn a_nearly_empty_filter_includes_the_chance_of_equal_hashes() {
    let mut seen = BloomFilter::new(1_000_000, 0.001).expect("small");
    seen.insert("https://example.org");
    let (rate, floor) = (seen.fpr(), 2f64.powi(-128));
    assert!(rate.value >= floor && rate.value == rate.upper && rate.value < 1.001 * floor, "{rate:?}");
    assert!(rate.ln >= floor.ln() && rate.method == Method::Bound, "{rate:?}");
    // The rate of an ordinary filter is exact, as before.
    seen.extend(0..1_000_000);
    let rate = seen.fpr();
    assert!(rate.method == Method::Exact && rate.upper - rate.lower <= 5e-16 * rate.upper, "{rate:?}");
}

/// Anyone who knows a seed can choose keys that pass, so neither `{:?}` nor an error shows the
/// seed.
#[test]
fn seeds_are_not_shown() {
    let secret = 0xfeed_beef_dead_cafe_0123_4567_89ab_cdef_u128;
    let hasher = PortableHasher::sip13(Seed::from(secret));
    let standard = BloomFilter::with_hasher(100, 0.01, hasher).expect("small");
    let mut other = BloomFilter::with_hasher(100, 0.01, PortableHasher::sip13(Seed::from(secret ^ 1))).expect("small");
    let error = other.union_with(&standard).expect_err("other seeds");
    assert_eq!(error, MergeError::Seed);
    let rate = |text: &str| text.parse().expect("a rate");
    let sketch = CountMin::<u64>::with_hasher(rate("0.1"), rate("0.1"), PortableHasher::xxh3(Seed::from(secret))).expect("small");
    let policy = truebloom::recycling::Policy::one_phase(500);
    let shown = [
        format!("{:?}", Seed::from(secret)),
        format!("{:?} {:?} {:?}", hasher, PortableHasher::xxh3(Seed::from(secret)), Prehashed::new(Seed::from(secret))),
        format!("{standard:?}"),
        format!("{:?}", BlockedBloomFilter::with_hasher(100, 0.01, hasher).expect("small")),
        format!("{sketch:?}"),
        format!("{:?}", <RecyclingFilter>::with_hasher(1_000, 5, policy, hasher).expect("small")),
        format!("{:?}", FileHeader::from_bytes(&standard.to_bytes().expect("portable")).expect("sound")),
        format!("{error} {error:?}"),
    ];
    for shown in shown {
        for part in
            ["feed", "beef", "cafe", "89abcdef", &secret.to_string(), &((secret >> 64) as u64).to_string(), &(secret as u64).to_string()]
        {
            assert!(!shown.to_lowercase().contains(part), "{part} in {shown}");
        }
    }
    assert_eq!(Seed::from(secret).to_string(), "feedbeefdeadcafe0123456789abcdef", "asked for, it is shown");
}

/// The message of an error does not repeat the message of its source.
#[test]
fn causes_are_sources() {
    let io = ReadError::from(std::io::Error::other("the wire was cut"));
    assert!(!io.to_string().contains("wire") && io.source().is_some_and(|cause| cause.to_string() == "the wire was cut"));
    let missing = BloomFilter::open("/nonexistent/filter.tbl").expect_err("missing");
    assert!(matches!(missing, FileError::Read { .. }) && missing.to_string().contains("/nonexistent/filter.tbl"), "{missing}");
    let cause = missing.source().expect("a cause").to_string();
    assert!(!cause.is_empty() && !missing.to_string().contains(&cause), "{missing}: {cause}");
    let unwritable = filter(10, 0..1).save("/nonexistent/filter.tbl").expect_err("no folder");
    let cause = unwritable.source().expect("a cause").to_string();
    assert!(!unwritable.to_string().contains(&cause), "{unwritable}: {cause}");
    let file = std::env::temp_dir().join(format!("truebloom-evidence-{}", std::process::id()));
    std::fs::write(&file, b"no filter").expect("a temporary file");
    let foreign = BloomFilter::open(&file).expect_err("no filter");
    std::fs::remove_file(&file).expect("its own file");
    assert!(foreign.source().is_some_and(|cause| cause.downcast_ref::<FormatError>().is_some()), "{foreign:?}");
    assert!(!foreign.to_string().contains("not a truebloom file"), "{foreign}");
}

/// Checks that the sources of the crate use no floating-point functions of the platform. The last
/// digit of their results depends on the machine, unlike that of `libm`. `Rate::ln` is allowed,
/// because this project implements it.
#[test]
fn no_platform_floats() {
    fn visit(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                    let line = line.replace("delta.ln()", "");
                    let calls = [".exp()", ".exp2()", ".exp_m1()", ".ln()", ".ln_1p()", ".log2()", ".log10()", ".powf(", ".powi("];
                    if calls.iter().any(|call| line.contains(call)) {
                        found.push(format!("{}: {line}", path.display()));
                    }
                }
            }
        }
    }
    let mut found = Vec::new();
    visit(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.is_empty(), "{found:#?}");
}

/// The interval covers the number of distinct keys of a union. With a confidence of 1 - 1e-6, it
/// misses in one of 20 unions with a probability of at most 2e-5; the seeds are fixed. For filters
/// whose set bits have no known distribution, there is no interval.
#[test]
fn unions_have_an_interval_for_their_items() {
    for offset in (0..1_000).step_by(50) {
        let mut union = filter(2_000, 0..1_000);
        union.union_with(&filter(2_000, offset..offset + 1_000)).expect("same plan and seed");
        let items = AnyFilter::from(union).items_interval(0.999_999).expect("in range").expect("a standard filter");
        let true_items = 1_000 + offset;
        assert!(items.lower <= true_items && items.upper.is_some_and(|upper| upper >= true_items), "{true_items}: {items:?}");
        assert!(items.upper.is_some_and(|upper| upper - items.lower < 150), "{true_items}: {items:?} is useless");
    }
    // Every key was inserted three times, so the counts alone would allow 6,000 items.
    let three_times = |keys: std::ops::Range<u64>| {
        let mut filter = filter(2_000, keys.clone());
        (0..2).for_each(|_| filter.extend(keys.clone()));
        filter
    };
    let mut union = three_times(0..1_000);
    union.union_with(&three_times(500..1_500)).expect("same plan and seed");
    let verified = Verification::of(&union).expect("in range");
    let (least, most) = verified.items();
    assert!(least <= 1_500 && (1_500..1_600).contains(&most) && union.most_items() == 6_000, "{least} to {most}");
    assert_eq!(verified.expected_verdict(), ExpectedVerdict::Met);
    let hasher = PortableHasher::xxh3(Seed::from(1));
    let one = filter(1_000, 0..1_000);
    let parted = FilterOf::with_scheme(<Partitioned as Scheme>::new(9_600, 6).expect("in range"), hasher).expect("small");
    let without = [
        AnyFilter::from(intersection(&one, &filter(1_000, 500..1_500))),
        AnyFilter::from(BlockedBloomFilter::with_hasher(1_000, 0.01, hasher).expect("small")),
        AnyFilter::from(
            ScalableFilter::with_growth(Growth::new("1%".parse().expect("a rate"), 1_000).expect("in range"), hasher).expect("small"),
        ),
        AnyFilter::from_bytes(&parted.to_bytes().expect("small")).expect("just written"),
    ];
    assert!(without.iter().all(|filter| matches!(filter.items_interval(0.99), Ok(None))));
    for confidence in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(AnyFilter::from(one.clone()).items_interval(confidence).is_err(), "{confidence}");
    }
}
