//! The golden files fix every step from keys to bytes permanently. They were written by
//! tests/golden/reference.py, a second implementation.

use std::path::PathBuf;
use truebloom::count_min::{Counter, FullRows, HeavyHitters, PairwiseRows, RowHashes, Sketch, TwoHashRows};
use truebloom::scheme::{AnyScheme, Classic, InLines, Scheme, SchemeId, Standard};
use truebloom::truebloom_math::Growth;
use truebloom::truebloom_math::count_min::{Rows, Shape};
use truebloom::{
    AnyFilter, BlockedBloomFilter, BloomFilter, FileHeader, FileKind, Filter, FilterOf, HasherId, KeyHash, KeyHasher, Pack, PortableHasher,
    ScalableFilter, Seed, wire,
};

const SEED: u128 = 0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0;

fn golden(name: &str) -> (PathBuf, Vec<u8>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    (path, bytes)
}

/// Byte strings whose lengths lie around the limits between XXH3's branches.
fn byte_strings() -> [Vec<u8>; 13] {
    [0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 256].map(|length| (0..=255).take(length).collect())
}

fn insert_keys(filter: &mut BloomFilter, range: std::ops::Range<i64>) {
    filter.extend(range.clone().map(|i| format!("key {i}")));
    filter.extend(range.map(|i| i - 100));
    filter.extend(byte_strings());
}

fn check<S: Scheme>(name: &str, built: &FilterOf<S>) {
    let (path, bytes) = golden(name);
    assert_eq!(built.to_bytes().as_deref(), Ok(&bytes[..]), "{name} is built otherwise than by the reference");
    let opened = FilterOf::<S>::open(path).expect("a golden file");
    assert_eq!(&opened, built);
    assert_eq!(opened.to_bytes().as_deref(), Ok(&bytes[..]), "{name} is written otherwise than it was read");
    assert_eq!(opened.encoded_bytes(), bytes.len() as u64);
}

/// A filter without a plan, so that the golden files stay valid when plans change.
fn filter<S: Scheme>(bits: u64, probes: u32, hasher: PortableHasher) -> FilterOf<S> {
    FilterOf::builder().bits(bits).probes(probes).hasher(hasher).build().expect("small")
}

/// Checks that there is a valid golden file for every kind and every scheme, and that it has this
/// kind and scheme.
#[test]
fn every_kind_has_a_file() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let files = std::fs::read_dir(folder).expect("the files").map(|entry| entry.expect("a file").file_name());
    let names: Vec<String> = files.map(|name| name.to_str().expect("plain").to_owned()).filter(|name| name.ends_with(".tbl")).collect();
    let kind = |name: &String| {
        let bytes = golden(name).1;
        let kind = FileKind::of_whole(|| Ok(&bytes[..])).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(FileHeader::from_bytes(&bytes).map(|header| header.kind()), Ok(kind), "{name}");
        if let Ok(filter) = AnyFilter::from_bytes(&bytes) {
            assert_eq!(filter.to_bytes().as_ref(), Ok(&bytes), "{name} is written otherwise than it was read");
        }
        kind
    };
    let found: Vec<FileKind> = names.iter().map(kind).collect();
    assert_eq!(FileKind::ALL.into_iter().find(|kind| !found.contains(kind)), None);
}

#[test]
fn a_planned_filter_with_xxh3() {
    let rate = "1%".parse().expect("a rate");
    let mut built = filter(2_401, 7, PortableHasher::xxh3(Seed::from(SEED))).planned_for(250, Some(rate)).expect("proven");
    insert_keys(&mut built, 0..120);
    check("v1-xxh3.tbl", &built);
    assert_eq!((built.capacity(), built.rate().map(|rate| rate.to_string())), (Some(250), Some("0.01".to_owned())));
    assert!(built.contains("key 0") && built.contains(&-100i8) && built.contains(&19u128.to_le_bytes()[..8]) && built.contains(""));
}

#[test]
fn a_merged_filter_with_siphash() {
    let hasher = PortableHasher::new(HasherId::Sip13, Seed::from(SEED));
    let mut built = filter(4_097, 5, hasher);
    let mut other = built.clone();
    insert_keys(&mut built, 0..100);
    insert_keys(&mut other, 100..200);
    built.union_with(&other).expect("clones");
    check("v1-siphash-merged.tbl", &built);
    assert!(built.is_merged() && built.capacity().is_none() && built.rate().is_none());
}

/// The filter has ten probes, so that two words give its positions.
#[test]
fn a_blocked_filter() {
    let rate = "0.1%".parse().expect("a rate");
    let empty: BlockedBloomFilter = filter(5_632, 10, PortableHasher::xxh3(Seed::from(SEED)));
    let mut built = empty.planned_for(333, Some(rate)).expect("proven");
    insert_blocked(&mut built);
    check("v1-blocked.tbl", &built);
    // The same keys are inserted in a batch, and one by one.
    assert!(built.contains_all((0..160i64).map(|i| i - 100)).iter().all(|found| found) && built.contains("key 159"));
}

/// Four layers. The layers have the sizes of the current plans. If the plans change, such a filter
/// can no longer be built, but its file can still be opened and filled further.
#[test]
fn a_filter_that_grows() {
    let (path, bytes) = golden("v1-scalable.tbl");
    let growth = Growth::new("2%".parse().expect("a rate"), 64).expect("in range");
    let mut built = ScalableFilter::with_growth(growth, PortableHasher::xxh3(Seed::from(SEED))).expect("small");
    built.extend((0..230).map(|i| format!("key {i}")));
    built.extend((0..230i64).map(|i| i - 100));
    built.extend(byte_strings());
    assert_eq!(built.to_bytes().as_deref(), Ok(&bytes[..]), "built otherwise than by the reference");
    let opened = ScalableFilter::open(path).expect("a golden file");
    assert!(opened == built && opened.to_bytes().as_deref() == Ok(&bytes[..]) && opened.layers().len() == 4);
    // The same filter as a compressed file: compressing and expanding give the expected bytes.
    let (path, sent) = golden("v1-scalable.tbz");
    assert!(wire::compress(&bytes).as_ref() == Ok(&sent) && wire::expand(&sent).as_ref() == Ok(&bytes));
    assert!(ScalableFilter::open(path).expect("a golden file") == built);
    let mut earlier = built.clone();
    earlier.clear();
    earlier.extend((0..100).map(|i| format!("key {i}")));
    earlier.extend((0..100i64).map(|i| i - 100));
    earlier.extend(byte_strings());
    let (before, (_, news)) = (earlier.to_bytes().expect("small"), golden("v1-scalable-difference.tbz"));
    assert!(wire::difference(&before, &bytes).as_ref() == Ok(&news) && wire::apply(&before, &news).as_ref() == Ok(&bytes));
    assert!((0..230).all(|i| opened.contains(&format!("key {i}"))) && opened.contains(&129i64));
}

/// Makes a pack of three members, the last of which is a union.
fn check_pack<S: Scheme>(name: &str, bits: u64) {
    let (path, bytes) = golden(name);
    let empty = planned(filter::<S>(bits, 7, PortableHasher::xxh3(Seed::from(SEED))));
    let mut members: Vec<FilterOf<S>> = (0..3).map(|_| empty.clone()).collect();
    for (number, member) in (0..).zip(&mut members) {
        member.extend((30 * number..30 * number + 20).map(|i| format!("key {i}")));
        member.extend((30 * number..30 * number + 20).map(|i: i64| i - 100));
        member.extend(byte_strings());
    }
    let second = members[1].clone();
    members[2].union_with(&second).expect("clones");
    let mut pack = Pack::of(&empty);
    members.iter().for_each(|member| pack.push(member).expect("clones"));
    assert_eq!(pack.to_bytes().as_deref(), Ok(&bytes[..]), "{name} is built otherwise than by the reference");
    assert_eq!(Pack::<S>::open(path).expect("a golden file"), pack);
}

/// Sets the filter's plan to 100 items at a rate of 1%, which its bits and probes achieve.
fn planned<S: Scheme>(filter: FilterOf<S>) -> FilterOf<S> {
    filter.planned_for(100, Some("1%".parse().expect("a rate"))).expect("proven")
}

#[test]
fn packs() {
    check_pack::<Standard>("v1-pack.tbl", 1_024);
    check_pack::<InLines>("v1-pack-blocked.tbl", 1_536);
}

fn insert_blocked(filter: &mut BlockedBloomFilter) {
    filter.extend((0..160).map(|i| format!("key {i}")));
    for i in 0..160i64 {
        filter.insert(&(i - 100));
    }
    filter.extend(byte_strings());
}

/// Key i comes i + 1 times.
fn counted<R: RowHashes, C: Counter>(rows: Rows, copies: u32, conservative: bool) -> Sketch<R, C> {
    let shape = Shape::new(rows, 31, 3, copies).expect("a shape");
    let mut sketch = Sketch::with_shape(shape, PortableHasher::xxh3(Seed::from(SEED))).expect("small");
    if conservative {
        sketch = sketch.with_conservative_update();
    }
    (0..40).for_each(|i| sketch.add(&format!("key {i}"), i + 1));
    sketch
}

fn check_sketch<R: RowHashes, C: Counter>(name: &str, built: &Sketch<R, C>) {
    let (path, bytes) = golden(name);
    assert_eq!(built.to_bytes().as_deref(), Ok(&bytes[..]), "{name} is built otherwise than by the reference");
    assert_eq!(&Sketch::<R, C>::open(path).expect("a golden file"), built);
}

#[test]
fn sketches() {
    check_sketch("v1-count-min-full.tbl", &counted::<FullRows, u32>(Rows::Independent, 1, false));
    check_sketch("v1-count-min-two-hash.tbl", &counted::<TwoHashRows, u32>(Rows::TwoHash, 2, true));
    let mut pairwise = counted::<PairwiseRows, u64>(Rows::Independent, 1, false);
    pairwise.halve();
    check_sketch("v1-count-min-pairwise.tbl", &pairwise);
    let shape = Shape::new(Rows::Independent, 31, 3, 1).expect("a shape");
    let sketch = Sketch::with_shape(shape, PortableHasher::xxh3(Seed::from(SEED))).expect("small");
    let mut heavy = HeavyHitters::<u32>::new(sketch, 50).expect("a list");
    (0..40).for_each(|i| heavy.add(&format!("key {i}"), i + 1));
    let (path, bytes) = golden("v1-count-min-heavy.tbl");
    assert_eq!(heavy.to_bytes().as_deref(), Ok(&bytes[..]));
    assert_eq!(HeavyHitters::open(path).ok(), Some(heavy));
}

#[test]
fn hashes() {
    let long: Vec<u8> = (0..200).collect();
    let expected: [(HasherId, &[u8], u64, u64); 6] = [
        (HasherId::Xxh3, b"", 0x8c78_073d_5fc4_8f02, 0x070f_10aa_fb48_956c),
        (HasherId::Xxh3, b"a", 0xd763_9895_fb11_da0d, 0xed59_8fc0_1bfd_1d59),
        (HasherId::Xxh3, &long, 0x8ecd_7e62_c62b_d8df, 0xe89f_6de6_4886_823c),
        (HasherId::Sip13, b"", 0x0848_52e4_6450_299c, 0x0355_c756_6661_abcb),
        (HasherId::Sip13, b"a", 0x7e22_f40d_d54a_a936, 0x1c4f_f0f1_acc4_80a9),
        (HasherId::Sip13, &long, 0x17d6_f46e_4b62_ae25, 0x3735_f490_585f_10c5),
    ];
    for (id, key, h1, h2) in expected {
        let hash = PortableHasher::new(id, Seed::from(SEED)).hash(key);
        assert_eq!(u128::from(hash), u128::from(h2) << 64 | u128::from(h1), "{id} {key:?}");
    }
}

/// Tests the positions in the rows of sketches. Some words are skipped: the first word of hash 0 if
/// the width is not a power of two, and one word in 16 if the width is 3 2^60.
#[test]
fn rows() {
    let expected: [(u128, u64, &[u64]); 7] = [
        (0, 1000, &[844, 163, 970, 463, 374, 574, 635, 827]),
        (u128::MAX, 1000, &[852, 647, 79, 226, 178, 718, 219, 551]),
        (1, 1000, &[338, 64, 893, 501, 338, 346, 169, 565]),
        (1 << 64, 1000, &[844, 778, 215, 599, 431, 647, 110, 11]),
        (SEED, 1000, &[12, 534, 671, 887, 680, 482, 736, 915]),
        (0, 1 << 62, &[0, 3_893_412_430_770_617_935, 753_333_019_481_086_609]),
        (1 << 64, 3 << 60, &[2_920_059_323_077_963_451, 2_690_973_919_077_080_042, 744_219_301_177_615_536]),
    ];
    for (hash, width, numbers) in expected {
        let shape = Shape::new(Rows::Independent, width, numbers.len() as u32, 1).expect("a shape");
        let rows = FullRows::new(&shape, Seed::from(0)).expect("in range");
        assert!(rows.cells(KeyHash::from_uniform_bits(hash)).map(|cell| cell % width).eq(numbers.iter().copied()), "{hash:x} {width}");
    }
}

/// Tests the scheme of distinct positions. The cases include skipped words, repeated draws, and a
/// set of a thousand positions, which is compared by its digest.
#[test]
fn distinct_positions() {
    let expected: [(u128, u64, &[u64]); 5] = [
        (0, 10, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (SEED, 1000, &[12, 531, 668, 884, 678, 481, 735, 915]),
        (SEED, 12, &[0, 3, 4, 7, 6, 9, 8, 10]),
        (
            u128::MAX,
            3 << 60,
            &[
                2_947_406_914_153_451_948,
                2_239_909_549_045_120_149,
                275_562_071_787_158_796,
                781_825_649_324_024_901,
                617_594_225_570_871_737,
            ],
        ),
        (1, 1 << 62, &[1_559_518_186_985_144_696, 295_975_802_205_362_776, 4_122_484_138_316_784_007]),
    ];
    let positions = |hash, bits, probes| Classic::new(bits, probes).expect("in range").positions(KeyHash::from_uniform_bits(hash));
    for (hash, bits, expected) in expected {
        assert!(positions(hash, bits, expected.len() as u32).eq(expected.iter().copied()), "{hash:x} {bits}");
    }
    let digest = |digest: u64, position| digest.wrapping_mul(1_099_511_628_211).wrapping_add(position);
    assert_eq!(positions(SEED, 1100, 1000).fold(0, digest), 0xf4b6_b8b1_711f_b546);
}

/// Tests positions of every scheme. The cases include sizes below the differences of the
/// progressions, slices of unequal length, and skipped words.
#[test]
fn positions_of_every_scheme() {
    let (_, bytes) = golden("positions.txt");
    let text = String::from_utf8(bytes).expect("text");
    for line in text.lines() {
        let [name, hash, bits, probes, digest, first] = line.split(' ').collect::<Vec<_>>().try_into().expect("six fields");
        let id = SchemeId::ALL.into_iter().find(|id| id.name() == name).expect("a scheme");
        let scheme = AnyScheme::named(id, bits.parse().expect("bits"), probes.parse().expect("probes")).expect("in range");
        let hash = KeyHash::from_uniform_bits(u128::from_str_radix(hash, 16).expect("a hash"));
        let found: Vec<u64> = scheme.positions(hash).collect();
        let shown: Vec<String> = found.iter().take(8).map(u64::to_string).collect();
        assert_eq!(shown.join(","), first, "{line}");
        assert_eq!(found.len().to_string(), probes);
        let sum = found.iter().zip(1u64..).fold(0u64, |sum, (position, factor)| sum.wrapping_add(position.wrapping_mul(factor)));
        assert_eq!(sum.to_string(), digest, "{line}");
    }
    // Each scheme has five hashes at twelve sizes or more. Schemes with their own layout have a
    // whole file instead.
    let lines_of = |id: SchemeId| text.lines().filter(|line| line.split(' ').next() == Some(id.name())).count();
    SchemeId::ALL.into_iter().filter(|id| lines_of(*id) < 60).for_each(a_whole_file);
}

/// Checks a file by filling a filter with the parameters in the file's header.
fn a_whole_file(id: SchemeId) {
    let (path, bytes) = golden(&format!("v1-scheme-{id}.tbl"));
    let mut filter = AnyFilter::open(path).expect("a golden file");
    assert_eq!((filter.scheme_id(), filter.bits(), filter.probes(), filter.seed()), (id, 3_584, 7, Seed::from(SEED)));
    assert_eq!(filter.to_bytes().as_deref(), Ok(&bytes[..]), "{id} is written otherwise than it was read");
    filter.clear();
    (0..100).for_each(|i| _ = filter.insert(&format!("key {i}")));
    (0..100i64).for_each(|i| _ = filter.insert(&(i - 100)));
    byte_strings().iter().for_each(|key| _ = filter.insert(key));
    assert_eq!(filter.to_bytes().as_deref(), Ok(&bytes[..]), "{id} is built otherwise than by the reference");
}
