//! Tests the files of sketches: they can be written and read, and all other bytes are refused.

use crate::common::{seal, seal_all};
use crate::streams::{Kind, counts};
use crate::{rate, small};
use proptest::prelude::*;
use truebloom::count_min::{
    CountMin, Counter, FullRows, HeavyHitters, ListedSketch, PairwiseCountMin, PairwiseRows, RowHashes, Sketch, TwoHashCountMin,
    TwoHashRows,
};
use truebloom::{BloomFilter, FileError, FileKind, FormatError};

fn sample<R: RowHashes, C: Counter>() -> Sketch<R, C> {
    let mut sketch = small(3);
    counts(Kind::Zipf, 500, 1).iter().for_each(|(key, count)| sketch.add(key, *count));
    sketch
}

fn list() -> HeavyHitters<u32> {
    let mut list = HeavyHitters::new(small(3), 20).expect("a list");
    counts(Kind::Zipf, 500, 1).iter().for_each(|(key, count)| list.add(&format!("key {key}"), *count));
    list.add("", 3);
    list
}

fn round_trips<R: RowHashes, C: Counter>() {
    for sketch in [small(3), sample::<R, C>(), sample::<R, C>().with_conservative_update()] {
        let bytes = sketch.to_bytes().expect("small");
        assert_eq!(Sketch::<R, C>::from_bytes(&bytes), Ok(sketch.clone()));
        assert_eq!(Sketch::<R, C>::read_from(&bytes[..]).ok(), Some(sketch.clone()));
        let mut halved = sketch.clone();
        halved.halve();
        assert_eq!(Sketch::<R, C>::from_bytes(&halved.to_bytes().expect("small")), Ok(halved));
    }
}

#[test]
fn what_is_written_is_read() {
    round_trips::<FullRows, u32>();
    round_trips::<FullRows, u64>();
    round_trips::<PairwiseRows, u32>();
    round_trips::<TwoHashRows, u32>();
    round_trips::<TwoHashRows, u64>();
    let mut list = list();
    let bytes = list.to_bytes().expect("small");
    assert_eq!(HeavyHitters::from_bytes(&bytes), Ok(list.clone()));
    list.halve();
    assert_eq!(HeavyHitters::from_bytes(&list.to_bytes().expect("small")), Ok(list));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counts.tbl");
    let sketch: CountMin = sample();
    sketch.save_new(&path).expect("a new file");
    assert!(matches!(sketch.save_new(&path), Err(FileError::Exists { .. })));
    sketch.save(&path).expect("the same file");
    assert_eq!(CountMin::open(&path).ok(), Some(sketch));
}

/// Tests that narrow counters can be read as wide ones, but not the other way round. A saturated
/// counter is read as a saturated one.
#[test]
fn narrow_counters_widen() {
    let mut narrow: CountMin<u32> = sample();
    narrow.add("often", 1 << 40);
    let wide = CountMin::<u64>::from_bytes(&narrow.to_bytes().expect("small")).expect("wider");
    assert!(wide.estimate("often").saturated && !wide.estimate("never").saturated);
    let key = (0..1_000u64).find(|key| !narrow.estimate(key).saturated).expect("most are not");
    assert_eq!(wide.estimate(&key), narrow.estimate(&key));
    assert_eq!(CountMin::<u64>::from_bytes(&wide.to_bytes().expect("small")).as_ref(), Ok(&wide));
    let error = CountMin::<u32>::from_bytes(&wide.to_bytes().expect("small")).expect_err("narrower").to_string();
    assert!(error.contains("bytes of a counter 8"), "{error}");
}

#[test]
fn other_kinds_are_told_apart() {
    let full = sample::<FullRows, u32>().to_bytes().expect("small");
    let (pairwise, two) =
        (sample::<PairwiseRows, u32>().to_bytes().expect("small"), sample::<TwoHashRows, u32>().to_bytes().expect("small"));
    let list = list().to_bytes().expect("small");
    let bloom = BloomFilter::new(100, rate("0.01")).and_then(|filter| filter.to_bytes()).expect("small");
    assert!(BloomFilter::from_bytes(&full).expect_err("a sketch").to_string().contains("CountMin"));
    for bytes in [&pairwise, &two, &list, &bloom] {
        assert!(CountMin::<u32>::from_bytes(bytes).is_err());
    }
    for bytes in [&full, &two, &list] {
        assert!(PairwiseCountMin::<u32>::from_bytes(bytes).is_err());
    }
    for bytes in [&full, &pairwise, &list] {
        assert!(TwoHashCountMin::<u32>::from_bytes(bytes).is_err());
    }
    for bytes in [&full, &two, &pairwise] {
        assert!(HeavyHitters::<u32>::from_bytes(bytes).is_err());
    }
}

fn refused(bytes: &[u8]) -> bool {
    let stream = HeavyHitters::<u32>::read_from(bytes).is_err() && CountMin::<u32>::read_from(bytes).is_err();
    stream
        && HeavyHitters::<u32>::from_bytes(bytes).is_err()
        && CountMin::<u32>::from_bytes(bytes).is_err()
        && TwoHashCountMin::<u32>::from_bytes(bytes).is_err()
}

#[test]
fn damage_is_found_at_every_byte() {
    for bytes in [list().to_bytes().expect("small"), sample::<TwoHashRows, u32>().to_bytes().expect("small")] {
        assert!((0..bytes.len()).all(|length| refused(&bytes[..length])), "cut off");
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 1 << (i % 8);
            assert!(refused(&damaged), "byte {i}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(HeavyHitters::<u32>::from_bytes(&longer).is_err() && TwoHashCountMin::<u32>::from_bytes(&longer).is_err());
    }
}

/// Tests files with forged fields and correct checksums: the error names the field, and no memory
/// of the claimed size is allocated.
#[test]
fn forged_fields_are_refused() {
    let bytes = list().to_bytes().expect("small");
    let forged = |offset: usize, field: &[u8]| {
        let mut forged = bytes.clone();
        forged[offset..offset + field.len()].copy_from_slice(field);
        seal(&mut forged);
        let error = HeavyHitters::<u32>::from_bytes(&forged).expect_err("forged");
        assert!(HeavyHitters::<u32>::read_from(&forged[..]).is_err());
        error.to_string()
    };
    let huge = (1u64 << 61).to_le_bytes();
    for (offset, field, text) in [
        (24, &huge[..], "memory"),                           // width
        (24, &(1u64 << 40).to_le_bytes(), "payload length"), // width
        (24, &[0; 8], "bits 0"),                             // width
        (20, &1_001u32.to_le_bytes(), "probes"),             // depth
        (16, &1u32.to_le_bytes(), "flags"),                  //
        (48, &499u64.to_le_bytes(), "sum of a row"),         // total
        (56, &[1], "must be 0"),                             // changed
        (120, &2u32.to_le_bytes(), "copies"),                //
        (124, &5u32.to_le_bytes(), "bytes of a counter"),    //
        (128, &3u32.to_le_bytes(), "hash family"),           //
        (132, &[1], "must be 0"),                            // reserved
        (136, &[0; 8], "if it has no list"),                 //
        (136, &huge, "capacity"),                            //
        (144, &41u64.to_le_bytes(), "length of the list"),   //
        (144, &[1], "words after the list"),                 //
        (152, &huge, "bytes of the list"),                   //
        (152, &9_999u64.to_le_bytes(), "modulo 8"),          //
        (168, &[1], "rounding"),                             // not halved
        (176, &[1], "must be 0"),                            // reserved
    ] {
        let error = forged(offset, field);
        assert!(error.contains(text), "{offset} {field:?}: {error}");
    }
    let two = sample::<TwoHashRows, u32>().to_bytes().expect("small");
    for (offset, field, text) in
        [(24, 103u64, "payload length"), (24, 100, "prime"), (24, 3, "prime"), (120, 501, "copies"), (120, 251, "rows")]
    {
        let mut forged = two.clone();
        let width = if offset == 24 { 8 } else { 4 };
        forged[offset..offset + width].copy_from_slice(&field.to_le_bytes()[..width]);
        seal(&mut forged);
        let error = TwoHashCountMin::<u32>::from_bytes(&forged).expect_err(text).to_string();
        assert!(error.contains(text), "{offset} {field}: {error}");
    }
}

/// A sketch with a list and a sketch without one are different types.
#[test]
fn each_sketch_names_the_type_that_opens_it() {
    let (with, without) = (list().to_bytes().expect("small"), list().sketch().to_bytes().expect("small"));
    assert!(HeavyHitters::<u32>::from_bytes(&with).is_ok() && CountMin::<u32>::from_bytes(&without).is_ok());
    let mut labelled = list();
    assert!(labelled.set_label("words"));
    let refused = [
        CountMin::<u32>::from_bytes(&with).err(),
        CountMin::<u32>::from_bytes(&labelled.to_bytes().expect("small")).err(),
        HeavyHitters::<u32>::from_bytes(&without).err(),
    ];
    let (full, wide) = (sample::<FullRows, u32>().to_bytes().expect("small"), sample::<FullRows, u64>().to_bytes().expect("small"));
    let other =
        [PairwiseCountMin::<u32>::from_bytes(&full).expect_err("a family"), CountMin::<u32>::from_bytes(&wide).expect_err("a width")];
    assert!(other.iter().all(|error| error.to_string().contains("if the file is intact, open it as a sketch")), "{other:?}");
    for error in refused.map(|error| error.expect("another type")) {
        assert!(matches!(error, FormatError::Kind { .. }) && error.to_string().contains("`<HeavyHitters>::open`"), "{error}");
    }
}

/// A file is recognized as whole with each family of rows, with a list and without.
#[test]
fn every_sketch_is_a_whole_file() {
    fn check<R: RowHashes>() {
        let sketch: Sketch<R, u64> = crate::small(1);
        let list = ListedSketch::new(sketch.clone(), 3).expect("a list");
        for bytes in [sketch.to_bytes().expect("small"), list.to_bytes().expect("small")] {
            assert_eq!(FileKind::of_whole(|| Ok(&bytes[..])).expect("whole"), R::KIND);
        }
    }
    check::<FullRows>();
    check::<PairwiseRows>();
    check::<TwoHashRows>();
}

#[test]
fn forged_lists_are_refused() {
    let list = list();
    let bytes = list.to_bytes().expect("small");
    // The sketch has 4 rows of 101 counters of 4 bytes.
    let start = 256 + 4 * 101 * 4;
    let forge = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut forged = bytes.clone();
        change(&mut forged);
        seal_all(&mut forged);
        HeavyHitters::<u32>::from_bytes(&forged).expect_err("forged").to_string()
    };
    type Change<'a> = &'a dyn Fn(&mut Vec<u8>);
    let cases: [(Change, &str); 7] = [
        (&|bytes| bytes[start..start + 4].fill(0x7f), "count of a listed key"),
        (&|bytes| bytes[start + 16..start + 24].fill(0xff), "bound of a listed key"),
        (&|bytes| bytes[start + 16..start + 24].fill(0), "bound of a listed key"),
        (&|bytes| bytes[start + 24..start + 32].fill(0xff), "length of a listed key"),
        (&|bytes| bytes[start + 24..start + 32].copy_from_slice(&4u64.to_le_bytes()), "after a listed key"),
        (&|bytes| bytes[start + 32] ^= 1, "listed key"),
        (&|bytes| bytes[256..260].fill(0x7f), "sum of a row"),
    ];
    for (change, text) in cases {
        let error = forge(change);
        assert!(error.contains(text), "{error} for {text}");
    }
    assert!(matches!(HeavyHitters::<u32>::from_bytes(&bytes), Ok(found) if found == list));
}

proptest! {
    /// Tests files with arbitrary changes and corrected checksums: the result is an error, or a
    /// sketch that writes the same bytes; nothing panics.
    #[test]
    fn nothing_panics(changes in prop::collection::vec((0usize..2_600, any::<u8>()), 1..6), cut in 0usize..3_000) {
        for bytes in [list().to_bytes().expect("small"), sample::<TwoHashRows, u32>().to_bytes().expect("small")] {
            let mut forged = bytes.clone();
            forged.truncate(cut.max(256));
            for (i, byte) in &changes {
                if let Some(place) = forged.get_mut(*i) {
                    *place = *byte;
                }
            }
            seal_all(&mut forged);
            if let Ok(found) = HeavyHitters::<u32>::from_bytes(&forged) {
                prop_assert_eq!(found.to_bytes().expect("small"), forged.clone());
            }
            if let Ok(found) = TwoHashCountMin::<u32>::from_bytes(&forged) {
                prop_assert_eq!(found.to_bytes().expect("small"), forged.clone());
            }
            let _: Result<CountMin, FormatError> = CountMin::from_bytes(&forged);
        }
    }
}

/// Tests that halving leaves saturated counters unchanged, that the file records this and can be
/// read, and that keys with a saturated count then have no upper bound.
#[test]
fn halved_sketches_with_full_counters_are_read_again() {
    let mut sketch = small::<FullRows, u32>(3);
    sketch.add("hot", 5_000_000_000);
    sketch.add("cold", 7);
    sketch.halve();
    assert_eq!(Sketch::from_bytes(&sketch.to_bytes().expect("small")), Ok(sketch.clone()));
    sketch.halve();
    assert_eq!(Sketch::from_bytes(&sketch.to_bytes().expect("small")), Ok(sketch));

    fn list<C: Counter>(count: u64) {
        let mut list = truebloom::count_min::ListedSketch::<FullRows, C>::new(small(3), 20).expect("a list");
        list.add("hot", count);
        list.add("cold", 7);
        for _ in 0..3 {
            list.halve();
            let read = truebloom::count_min::ListedSketch::<FullRows, C>::from_bytes(&list.to_bytes().expect("small"));
            assert_eq!(read.map(|read| read.top(9)), Ok(list.top(9)));
            list.add("hot", 1);
        }
        let hot = list.bounds("hot");
        assert!(hot.at_least <= hot.at_most && (count < u64::MAX || hot.at_most == u64::MAX), "{hot:?}");
    }
    list::<u32>(5_000_000_000);
    list::<u64>(u64::MAX);
    list::<u64>(u64::MAX - 1);
}

/// A saturated counter says nothing about the sum of its row, but the other rows are still checked.
/// If a forged file of this kind were accepted, the halved sketch could be saved but not read
/// again.
#[test]
fn beside_a_full_counter_the_others_are_held_to_the_sum() {
    let mut bytes = sample::<FullRows, u32>().to_bytes().expect("small");
    bytes[256..260].copy_from_slice(&[255; 4]);
    bytes[260..264].copy_from_slice(&[0, 0, 2, 0]);
    seal_all(&mut bytes);
    assert!(CountMin::<u32>::from_bytes(&bytes).is_err());
    let wide: Result<CountMin, FormatError> = CountMin::from_bytes(&bytes);
    assert!(matches!(wide, Err(FormatError::Field { field: "the sum of a row", .. })), "{wide:?}");
}
