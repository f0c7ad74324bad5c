//! Tests the label of recycling filters and sketches, which is stored at the end of their payloads.
//! The file `codec.rs` tests the label of Bloom filters, which is stored in the header.
#![allow(missing_docs, reason = "a test has no public interface")]

mod common;

use common::{seal, seal_all};
use truebloom::count_min::{HeavyHitters, ListedSketch, Sketch, TwoHashRows};
use truebloom::recycling::{AtomicRecyclingFilter, BlockedRecyclingFilter, Policy, RecyclingFilter};
use truebloom::{BloomFilter, FileHeader, FormatError, PortableHasher, ScalableFilter, Seed};
use truebloom_math::count_min::{Rows, Shape};

const TEXT: &str = r#"{"csv":true,"column":"straße"}"#;
const LABEL: usize = 104;

fn hasher() -> PortableHasher {
    PortableHasher::xxh3(Seed::from(7))
}

/// The bytes of a value without a label, and those of the same value with a label.
type Pair = (Vec<u8>, Vec<u8>);

/// Reads a value from bytes in both ways, and returns its label and the bytes that it writes.
type Reader = fn(&[u8]) -> Result<(Option<String>, Vec<u8>), FormatError>;

macro_rules! kind {
    ($made:expr, $type:ty) => {{
        let mut made: $type = $made;
        let bare = made.to_bytes().expect("small");
        assert_eq!(made.label(), None);
        assert!(!made.set_label(&"x".repeat(LABEL + 1)) && !made.set_label("a\0b"));
        assert!(made.set_label("other") && made.set_label("") && made.to_bytes().expect("small") == bare, "an empty text is no label");
        assert!(made.set_label(TEXT));
        let copy = made.clone();
        assert!(copy == made && copy.label() == Some(TEXT));
        assert!(<$type>::from_bytes(&bare).expect("whole") == made, "a label changes no answer");
        let read: Reader = |bytes| {
            let found = <$type>::from_bytes(bytes)?;
            let streamed = <$type>::read_from(bytes).expect("the same bytes");
            assert!(found == streamed && found.label() == streamed.label());
            Ok((found.label().map(str::to_owned), found.to_bytes().expect("small")))
        };
        ((bare, made.to_bytes().expect("small")), read)
    }};
}

fn one() -> RecyclingFilter {
    let mut seen: RecyclingFilter = RecyclingFilter::with_hasher(1_000, 4, Policy::one_phase(500), hasher()).expect("small");
    for key in 0..70 {
        let _ = seen.check_and_insert(&key);
    }
    seen
}

fn two() -> RecyclingFilter {
    let mut seen: RecyclingFilter = RecyclingFilter::with_hasher(1_000, 4, Policy::two_phases(200), hasher()).expect("small");
    for key in 0..300 {
        let _ = seen.check_and_insert(&key);
    }
    assert!(seen.frozen_ones() > 0);
    seen
}

fn blocked() -> BlockedRecyclingFilter {
    let mut seen = BlockedRecyclingFilter::with_hasher(1_024, 4, Policy::one_phase(0.01), hasher()).expect("small");
    for key in 0..40 {
        let _ = seen.check_and_insert(&key);
    }
    seen
}

fn listed() -> HeavyHitters {
    let sketch = Sketch::with_shape(Shape::new(Rows::Independent, 101, 3, 1).expect("a shape"), hasher()).expect("small");
    let mut list = ListedSketch::new(sketch, 5).expect("small");
    (0..90).for_each(|key| list.add(&(key % 7), 1));
    list
}

fn two_hash() -> ListedSketch<TwoHashRows> {
    let sketch = Sketch::with_shape(Shape::new(Rows::TwoHash, 101, 3, 1).expect("a shape"), hasher()).expect("small");
    let mut list = ListedSketch::new(sketch, 5).expect("small");
    (0..90).for_each(|key| list.add(&(key % 7), 1));
    list
}

fn kinds() -> [(Pair, Reader); 5] {
    [
        kind!(one(), RecyclingFilter),
        kind!(two(), RecyclingFilter),
        kind!(blocked(), BlockedRecyclingFilter),
        kind!(listed(), HeavyHitters),
        kind!(two_hash(), ListedSketch<TwoHashRows>),
    ]
}

#[test]
fn labels_are_read_as_they_were_written() {
    for ((bare, labelled), read) in kinds() {
        assert_eq!(labelled.len(), bare.len() + LABEL);
        assert_eq!(&labelled[256..bare.len()], &bare[256..]);
        assert_eq!(read(&bare), Ok((None, bare)));
        let header = FileHeader::from_bytes(&labelled).expect("whole");
        assert_eq!(header.file_bytes(), labelled.len() as u64);
        assert_eq!(read(&labelled), Ok((Some(TEXT.to_owned()), labelled)));
    }
}

#[test]
fn views_have_them_too() {
    let mut seen = two();
    assert!(seen.set_label(TEXT));
    let mut bytes = seen.to_bytes().expect("small");
    let length = bytes.len() as u64;
    bytes.extend([1; 9]);
    let view = <RecyclingFilter>::view_prefix(&bytes[..]).expect("whole");
    assert_eq!((view.label(), view.encoded_bytes()), (Some(TEXT), length));
    assert_eq!(view.verify_bytes().expect("whole").label(), Some(TEXT));
    let mut list = listed();
    assert!(list.set_label(TEXT));
    let bytes = list.to_bytes().expect("small");
    let view = HeavyHitters::<u64>::view(&bytes[..]).expect("whole").verify_bytes().expect("whole");
    assert_eq!(view.total(), list.sketch().total());
}

#[test]
fn forged_labels_are_refused() {
    for ((bare, labelled), read) in kinds() {
        let start = bare.len();
        let with = |patch: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = labelled.clone();
            patch(&mut bytes);
            seal_all(&mut bytes);
            read(&bytes).expect_err("forged")
        };
        assert!(matches!(with(&|bytes| bytes[start] = 0xff), FormatError::Parameters { .. }), "no UTF-8");
        assert!(matches!(with(&|bytes| bytes[start + LABEL - 1] = b'x'), FormatError::Parameters { .. }), "after its end");
        assert!(matches!(with(&|bytes| bytes[start..].fill(0)), FormatError::Parameters { .. }), "none is said by the flag");
        assert!(matches!(with(&|bytes| bytes[16] ^= 128), FormatError::Field { field: "payload length", .. }), "without its flag");
        let mut flagged = bare.clone();
        flagged[16] |= 128;
        seal(&mut flagged);
        assert!(matches!(read(&flagged), Err(FormatError::Field { field: "payload length", .. })), "without the label");
        let mut damaged = labelled.clone();
        damaged[start + 3] ^= 1;
        assert!(matches!(read(&damaged), Err(FormatError::PayloadChecksum { .. })));
    }
    // A sketch without a list has no label. A Bloom filter stores its label elsewhere.
    let mut sketch = listed().sketch().to_bytes().expect("small");
    sketch[16] |= 128;
    seal(&mut sketch);
    assert!(matches!(Sketch::<truebloom::count_min::FullRows, u64>::from_bytes(&sketch), Err(FormatError::Unknown { field: "flags", .. })));
}

#[test]
fn a_merge_keeps_what_both_say() {
    let labelled = |text: &str| {
        let mut list = listed();
        assert!(list.set_label(text));
        list
    };
    let mut merged = labelled("a");
    merged.merge(&labelled("a")).expect("alike");
    assert_eq!(merged.label(), Some("a"));
    merged.merge(&labelled("b")).expect("alike");
    assert_eq!(merged.label(), None);
}

/// Tests that a merge with a value that holds no keys takes the label of the other value. A merge
/// often begins with an empty copy, whose label was set for another purpose or never.
#[test]
fn a_merge_takes_the_label_of_the_side_with_keys() {
    macro_rules! check {
        ($empty:expr, $add:expr, $merge:expr) => {{
            let (add, merge) = ($add, $merge);
            let labelled = |text: &str, with_keys: bool| {
                let mut made = $empty;
                if with_keys {
                    add(&mut made);
                }
                assert!(made.set_label(text));
                made
            };
            for (ours, theirs, expected) in [
                (("a", true), ("b", false), Some("a")),
                (("a", false), ("b", true), Some("b")),
                (("", false), ("b", true), Some("b")),
                (("a", true), ("", false), Some("a")),
                (("a", false), ("a", false), Some("a")),
                (("a", false), ("b", false), None),
                (("a", true), ("b", true), None),
                (("a", true), ("", true), None),
            ] {
                let mut merged = labelled(ours.0, ours.1);
                merge(&mut merged, labelled(theirs.0, theirs.1));
                assert_eq!(merged.label(), expected, "{ours:?} {theirs:?}");
            }
        }};
    }
    let add = |filter: &mut BloomFilter| _ = filter.insert("key");
    let fixed = || BloomFilter::builder().items(100).rate(0.01).hasher(hasher()).build().expect("small");
    check!(fixed(), add, |ours: &mut BloomFilter, theirs| ours.union_with(&theirs).expect("alike"));
    check!(fixed(), add, |ours: &mut BloomFilter, theirs| ours.intersect_with(&theirs).expect("alike"));
    let grow = |filter: &mut ScalableFilter| _ = filter.insert("key");
    let base = ScalableFilter::new(0.01).expect("small");
    check!(base.clone(), grow, |ours: &mut ScalableFilter, theirs| ours.union_with(&theirs).expect("alike"));
    let sketch = || Sketch::with_shape(Shape::new(Rows::Independent, 101, 3, 1).expect("a shape"), hasher()).expect("small");
    let count = |list: &mut HeavyHitters| list.add("key", 1);
    check!(ListedSketch::new(sketch(), 5).expect("small"), count, |ours: &mut HeavyHitters, theirs| ours.merge(&theirs).expect("alike"));
}

/// Tests that a filter shared by threads keeps its label, in its snapshots and when it is turned
/// back into a filter for one thread.
#[test]
fn threads_keep_the_label() {
    let mut plain = one();
    assert!(plain.set_label(TEXT));
    let shared = AtomicRecyclingFilter::try_from(plain).expect("a policy for threads");
    assert_eq!(shared.snapshot().expect("small").label(), Some(TEXT));
    assert_eq!(shared.into_filter().label(), Some(TEXT));
}
