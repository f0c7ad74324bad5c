//! Decodes forged files of every kind. The files are arbitrary bytes with corrected checksums.

use std::fmt::Debug;
use truebloom::count_min::{CountMin, HeavyHitters, ListedSketch, PairwiseCountMin, TwoHashCountMin, TwoHashRows};
use truebloom::recycling::BlockedRecyclingFilter;
use truebloom::scheme::Classic;
use truebloom::verify::Verification;
use truebloom::{AnyFilter, FileHeader, FileKind, Filter, PortableHasher, RecyclingFilter};

/// Larger payloads take more time and test nothing new.
const MOST_BYTES: usize = 1 << 16;

/// The first byte says which checksums are corrected. For most inputs they are corrected, because
/// otherwise hardly any mutated file would have the right checksums.
pub fn decode(data: &[u8]) {
    let Some((&how, rest)) = data.split_first() else { return };
    let mut bytes = rest[..rest.len().min(MOST_BYTES)].to_vec();
    if how % 8 != 7 {
        mend(&mut bytes, how % 8 != 6);
    }
    let kind = FileKind::of_whole(|| Ok(&bytes[..]));
    let _ = FileHeader::from_bytes(&bytes);
    match kind {
        Ok(FileKind::Bloom | FileKind::Blocked | FileKind::Scalable) => filter(&bytes),
        Ok(FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase | FileKind::RecyclingBlocked) => recycling(&bytes),
        Ok(_) => sketch(&bytes),
        Err(error) => assert!(error.to_string().len() > 20, "a message that says nothing: {error}"),
    }
}

/// Corrects the magic, the version, the payload length and both checksums.
pub(crate) fn mend(bytes: &mut Vec<u8>, length: bool) {
    if bytes.len() < 256 {
        bytes.resize(256, 0);
    }
    bytes[..10].copy_from_slice(b"\x89TBL\r\n\x1a\n\x01\x00");
    if length {
        let payload = bytes.len() as u64 - 256;
        bytes[104..112].copy_from_slice(&payload.to_le_bytes());
    }
    if bytes[10] == 5 {
        mend_records(&mut bytes[256..]);
    }
    let payload = xxhash_rust::xxh3::xxh3_64(&bytes[256..]);
    bytes[112..120].copy_from_slice(&payload.to_le_bytes());
    let header = xxhash_rust::xxh3::xxh3_64(&bytes[..248]);
    bytes[248..256].copy_from_slice(&header.to_le_bytes());
}

/// Corrects the checksums of a filter that grows, one for each layer.
fn mend_records(mut layers: &mut [u8]) {
    while layers.len() >= 64 {
        let sum = xxhash_rust::xxh3::xxh3_64(&layers[..56]);
        layers[56..64].copy_from_slice(&sum.to_le_bytes());
        let bits = u64::from_le_bytes(layers[8..16].try_into().expect("eight bytes"));
        let next = 64 + (bits / 8).min(layers.len() as u64 - 64) as usize;
        layers = &mut layers[next..];
    }
}

/// Checks that the two decoders agree, that writing the decoded filter gives the same bytes, and
/// that the filter works.
fn filter(bytes: &[u8]) {
    let mut filter = AnyFilter::from_bytes(bytes).expect("it was read as a stream");
    assert_eq!(filter.to_bytes().expect("small"), bytes);
    let fpr = filter.fpr();
    assert!(fpr.lower <= fpr.value && fpr.value <= fpr.upper && fpr.upper <= 1.0, "{fpr:?}");
    assert!(filter.ones() <= filter.bits() && filter.changed() <= filter.offered());
    let _ = (filter.estimated_items(), filter.is_over_capacity(), format!("{filter:?}"));
    let _ = match &filter {
        AnyFilter::Standard(filter) => Verification::of(filter).map(|found| found.holds()),
        AnyFilter::Blocked(filter) => Verification::of(filter).map(|found| found.holds()),
        AnyFilter::Other(filter) => Verification::of(filter).map(|found| found.holds()),
        // Inserting a key could open a layer as large as the forged file requires.
        AnyFilter::Scalable(grown) => return assert!(grown.verified().is_ok() && grown.layers().len() == grown.inserted().len()),
        _ => Ok(true),
    };
    filter.insert(&bytes[..8]);
    assert!(filter.contains(&bytes[..8]));
    filter.union_with(&filter.clone()).expect("itself");
    assert!(filter.contains(&bytes[..8]));
    let again = filter.to_bytes().expect("small");
    assert_eq!(AnyFilter::from_bytes(&again).expect("what it writes"), filter);
    filter.clear();
    assert_eq!(filter.ones(), 0);
}

fn recycling(bytes: &[u8]) {
    macro_rules! read_as {
        ($type:ty) => {
            if let Ok(mut filter) = <$type>::from_bytes(bytes) {
                assert_eq!(filter.to_bytes().expect("small"), bytes);
                for key in 0..20u64 {
                    filter.check_and_insert(&key);
                }
                let again = filter.to_bytes().expect("small");
                assert_eq!(<$type>::from_bytes(&again).expect("what it writes").to_bytes().expect("small"), again);
                let _ = format!("{filter:?}");
            }
        };
    }
    read_as!(RecyclingFilter);
    read_as!(RecyclingFilter<PortableHasher, Classic>);
    read_as!(BlockedRecyclingFilter);
}

fn sketch(bytes: &[u8]) {
    macro_rules! read_as {
        ($type:ty) => {
            if let Ok(mut sketch) = <$type>::from_bytes(bytes) {
                written_and_read(&sketch.to_bytes().expect("small"), <$type>::from_bytes, |sketch| sketch.to_bytes().expect("small"));
                let before = sketch.estimate("key");
                sketch.add("key", 3);
                assert!(sketch.estimate("key").value >= before.value);
                sketch.halve();
                written_and_read(&sketch.to_bytes().expect("small"), <$type>::from_bytes, |sketch| sketch.to_bytes().expect("small"));
            }
        };
    }
    read_as!(CountMin<u64>);
    read_as!(CountMin<u32>);
    read_as!(PairwiseCountMin<u64>);
    read_as!(PairwiseCountMin<u32>);
    read_as!(TwoHashCountMin<u64>);
    read_as!(TwoHashCountMin<u32>);
    macro_rules! read_listed {
        ($type:ty) => {
            if let Ok(mut sketch) = <$type>::from_bytes(bytes) {
                sketch.add("key", 3);
                sketch.halve();
                let _ = (sketch.top(3), sketch.above(2), sketch.bounds("key"), sketch.missed_at_most());
                written_and_read(&sketch.to_bytes().expect("small"), <$type>::from_bytes, |sketch| sketch.to_bytes().expect("small"));
            }
        };
    }
    read_listed!(HeavyHitters<u64>);
    read_listed!(ListedSketch<TwoHashRows, u64>);
}

fn written_and_read<T, E: Debug>(bytes: &[u8], read: impl Fn(&[u8]) -> Result<T, E>, write: impl Fn(&T) -> Vec<u8>) {
    let value = read(bytes).unwrap_or_else(|error| panic!("cannot read what it wrote: {error:?}"));
    assert_eq!(write(&value), bytes);
}
