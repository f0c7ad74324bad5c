//! Tests encoding and decoding: a filter is unchanged by both, and any other bytes give a typed
//! error.

mod common;

use common::{SplitMix64, filter, seal, seal_all};
use proptest::prelude::*;
use std::io::{self, Read};
use truebloom::scheme::{InLines, Scheme, SchemeId, Standard};
use truebloom::{BloomFilter, Expected, FileHeader, FileKind, FilterOf, FormatError, HasherId, PortableHasher, Rate, ReadError, Seed};

fn sample() -> BloomFilter {
    let mut filter = BloomFilter::with_hasher(100, 0.01, PortableHasher::xxh3(Seed::from(9))).expect("a plan");
    filter.extend(0..80);
    filter
}

fn encoded(filter: &BloomFilter) -> Vec<u8> {
    filter.to_bytes().expect("small")
}

/// The result of both decoders, which must agree.
fn decode(bytes: &[u8]) -> Result<BloomFilter, FormatError> {
    let from_bytes = BloomFilter::from_bytes(bytes);
    match (BloomFilter::read_from(bytes), &from_bytes) {
        (Ok(read), Ok(decoded)) => assert_eq!(&read, decoded),
        // The stream can continue after the filter.
        (Ok(_), Err(FormatError::TooLong { .. })) => {}
        // If there are two faults, the stream decoder reports the first one in the file.
        (Err(ReadError::Format(_)), Err(_)) => {}
        (read, decoded) => panic!("{read:?} but {decoded:?}"),
    }
    from_bytes
}

fn refusal(bytes: &[u8]) -> FormatError {
    let error = decode(bytes).expect_err("these bytes are no filter");
    assert!(error.to_string().len() > 40, "what to do is missing: {error}");
    error
}

fn patched(offset: usize, field: &[u8]) -> Vec<u8> {
    let mut bytes = encoded(&sample());
    bytes[offset..offset + field.len()].copy_from_slice(field);
    seal(&mut bytes);
    bytes
}

proptest! {
    #[test]
    fn what_is_written_is_read(bits in prop_oneof![1..200u64, 1..100_000u64], probes in 1..20u32, seed: u128, sip: bool, keys in prop::collection::vec(any::<u64>(), 0..100), merge: bool) {
        let seed = Seed::from(seed);
        let hasher = if sip { PortableHasher::sip13(seed) } else { PortableHasher::xxh3(seed) };
        let mut filter = BloomFilter::builder().bits(bits).probes(probes).hasher(hasher).build().expect("small");
        filter.extend(&keys);
        if merge {
            filter.union_with(&filter.clone()).expect("itself");
        }
        let bytes = encoded(&filter);
        let mut written = Vec::new();
        filter.write_to(&mut written).expect("memory");
        prop_assert_eq!(&written, &bytes);
        prop_assert_eq!(filter.encoded_bytes(), bytes.len() as u64);
        let decoded = decode(&bytes);
        prop_assert_eq!(decoded.as_ref(), Ok(&filter));
        prop_assert!(keys.iter().all(|key| decoded.as_ref().is_ok_and(|filter| filter.contains(key))));
    }

    #[test]
    fn noise_is_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..2000), dress: bool) {
        if dress && bytes.len() > 256 {
            bytes[..8].copy_from_slice(b"\x89TBL\r\n\x1a\n");
            bytes[8..20].copy_from_slice(&[1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0]);
            seal_all(&mut bytes);
        }
        prop_assert!(decode(&bytes).is_err());
    }

    /// Tests headers in which one field has any value and the checksums are correct. The result is
    /// an error, or a filter that keeps its invariants; nothing panics.
    #[test]
    fn forged_headers_do_no_harm(offset in 8..248usize, field in prop::collection::vec(any::<u8>(), 1..9), key: u64) {
        let field = &field[..field.len().min(248 - offset)];
        if let Ok(mut filter) = decode(&patched(offset, field)) {
            filter.insert(&key);
            prop_assert!(filter.contains(&key) && filter.ones() <= filter.bits() && filter.changed() <= filter.offered());
            prop_assert!(filter.fpr().upper <= 1.0);
            let _ = (filter.is_over_capacity(), filter.estimated_items(), filter.union_with(&filter.clone()));
            prop_assert_eq!(decode(&encoded(&filter)), Ok(filter));
        }
    }
}

#[test]
fn a_cut_off_file_is_refused_at_every_length() {
    let bytes = encoded(&sample());
    for length in 0..bytes.len() {
        let expected = if length < 256 { 256 } else { bytes.len() as u64 };
        assert_eq!(refusal(&bytes[..length]), FormatError::Truncated { expected, found: length as u64 });
        let read = BloomFilter::read_from(&bytes[..length]);
        assert!(matches!(read, Err(ReadError::Format(FormatError::Truncated { found, .. })) if found == length as u64));
    }
}

#[test]
fn a_file_that_goes_on_is_refused_and_a_stream_is_left_there() {
    let mut bytes = encoded(&sample());
    let expected = bytes.len() as u64;
    bytes.extend(encoded(&sample()));
    assert_eq!(refusal(&bytes), FormatError::TooLong { expected, found: 2 * expected });
    let mut stream = &bytes[..];
    for _ in 0..2 {
        assert_eq!(BloomFilter::read_from(&mut stream).ok(), Some(sample()));
    }
    assert!(stream.is_empty());
}

#[test]
fn every_flipped_bit_is_found() {
    let bytes = encoded(&sample());
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1 << bit;
            let error = refusal(&damaged);
            let fits = match position {
                0..8 => matches!(error, FormatError::NotAFilter { .. } | FormatError::TextMode { .. }),
                8..10 => matches!(error, FormatError::Version { expected: 1, .. }),
                10..256 => matches!(error, FormatError::HeaderChecksum { .. }),
                _ => matches!(error, FormatError::PayloadChecksum { .. }),
            };
            assert!(fits, "byte {position}: {error}");
        }
    }
}

#[test]
fn other_files_and_text_mode_are_told_apart() {
    for other in [&b"PK\x03\x04 and so on, a zip file or whatever it may be"[..], b"hello, world", b"\x89PNG\r\n\x1a\n....", &[0; 1000]] {
        assert!(matches!(refusal(other), FormatError::NotAFilter { .. }));
    }
    let bytes = encoded(&sample());
    for start in [&b"\x89TBL\n\x1a\n"[..], b"\x89TBL\r\r\n\x1a\r\n", b"\x09TBL\r\n\x1a\n", b"\x89TBL\r\x1a\r"] {
        assert!(matches!(refusal(&[start, &bytes[8..]].concat()), FormatError::TextMode { .. }), "{start:?}");
    }
}

#[test]
fn hostile_fields_are_refused_by_name() {
    let bits = sample().bits();
    let length = bits.div_ceil(64) * 8;
    let field = |field, expected, found| FormatError::Field { field, expected, found };
    let cases: [(usize, &[u8], FormatError); 29] = [
        (8, &[2, 0], FormatError::Version { expected: 1, found: 2 }),
        (10, &[2, 0], FormatError::Kind { found: FileKind::Blocked }),
        (10, &[0, 0], FormatError::Unknown { field: "kind", found: 0 }),
        (10, &[10, 0], FormatError::Unknown { field: "kind", found: 10 }),
        (10, &[3, 0], FormatError::Kind { found: FileKind::RecyclingOnePhase }),
        (10, &[7, 0], FormatError::Kind { found: FileKind::TwoHashCountMin }),
        (12, &[10, 0], FormatError::Unknown { field: "scheme", found: 10 }),
        (12, &[4, 0], FormatError::Scheme { expected: SchemeId::Standard, found: SchemeId::Double }),
        (14, &[4, 0], FormatError::Unknown { field: "hasher", found: 4 }),
        (14, &[1, 0], FormatError::Unknown { field: "hasher", found: 1 }),
        (12, &[1, 0], FormatError::Unknown { field: "scheme", found: 1 }),
        (12, &[12, 0], FormatError::Unknown { field: "scheme", found: 12 }),
        (16, &[2, 0, 0, 0], FormatError::Unknown { field: "flags", found: 2 }),
        (16, &[1, 0, 0, 128], FormatError::Unknown { field: "flags", found: 0x8000_0001 }),
        (20, &[0; 4], field("probes", Expected::Within(1, 1000), 0)),
        (20, &1001u32.to_le_bytes(), field("probes", Expected::Within(1, 1000), 1001)),
        (24, &[0; 8], field("bits", Expected::Within(1, 1 << 62), 0)),
        (24, &[255; 8], field("bits", Expected::Within(1, 1 << 62), u64::MAX)),
        (24, &(1u64 << 62).to_le_bytes(), field("payload length", Expected::Exactly(1 << 59), length)),
        (92, &[1], FormatError::Reserved { offset: 92 }),
        (120, &[1], FormatError::Reserved { offset: 120 }),
        (143, &[1], FormatError::Reserved { offset: 120 }),
        // A label is text, and all bytes after its end are 0.
        (144, &[0xff], FormatError::Reserved { offset: 144 }),
        (147, b"x", FormatError::Reserved { offset: 144 }),
        (247, &[1], FormatError::Reserved { offset: 144 }),
        (96, &[0; 8], field("payload offset", Expected::Exactly(256), 0)),
        (96, &[255; 8], field("payload offset", Expected::Exactly(256), u64::MAX)),
        (104, &[255; 8], field("payload length", Expected::Exactly(length), u64::MAX)),
        (56, &81u64.to_le_bytes(), field("changed", Expected::Within(0, 80), 81)),
    ];
    for (offset, patch, expected) in cases {
        let bytes = patched(offset, patch);
        let error = refusal(&bytes);
        assert_eq!(error, expected);
        // Another number of bits would need another payload. If reserved bytes are not 0, the error
        // names the first of them.
        let first_reserved = if offset < 144 { offset.min(120) } else { 144 };
        let shown = if offset == 24 && patch[7] == 64 { 104 } else { first_reserved };
        let at = error.header_bytes(&bytes).expect("one field");
        assert!(at.contains(&(shown as u64)), "{error}: {at:?}");
    }
    // The header claims a huge filter and is consistent, but the bytes are missing.
    let mut huge = patched(24, &(1u64 << 62).to_le_bytes());
    huge[104..112].copy_from_slice(&(1u64 << 59).to_le_bytes());
    seal(&mut huge);
    assert_eq!(refusal(&huge), FormatError::Truncated { expected: (1 << 59) + 256, found: huge.len() as u64 });
}

/// The field is at offset 120 if the layout has no parameters, and at 128 if the number of bits per
/// block precedes it.
#[test]
fn offers_that_an_intersection_excludes_stand_after_the_parameters_of_the_layout() {
    fn check<S: Scheme>(start: usize, kind: FileKind) {
        let filter = |keys: u64| {
            let mut filter =
                FilterOf::<S>::builder().bits(1_024).probes(3).hasher(PortableHasher::xxh3(Seed::from(1))).build().expect("small");
            filter.extend(0..keys);
            filter
        };
        let mut both = filter(80);
        both.intersect_with(&filter(30)).expect("alike");
        let mut bytes = both.to_bytes().expect("small");
        let header = FileHeader::from_bytes(&bytes).expect("whole");
        assert_eq!((header.kind(), header.bits(), header.probes(), header.offered()), (kind, 1_024, 3, 110));
        assert!(header.is_intersection());
        assert_eq!(header.file_bytes(), bytes.len() as u64);
        assert_eq!(bytes[start..start + 8], 80u64.to_le_bytes());
        assert_eq!(FilterOf::<S>::from_bytes(&bytes).expect("whole").most_items(), 30);
        bytes[start..start + 8].copy_from_slice(&111u64.to_le_bytes());
        seal(&mut bytes);
        let error = FilterOf::<S>::from_bytes(&bytes).map(drop).expect_err("more than were offered");
        assert_eq!(error, FormatError::Field { field: "excluded offers", expected: Expected::Within(0, 110), found: 111 });
        assert_eq!(error.header_bytes(&bytes), Some(start as u64..start as u64 + 8));
    }
    check::<Standard>(120, FileKind::Bloom);
    check::<InLines>(128, FileKind::Blocked);
}

#[test]
fn headers_tell_how_a_filter_was_made() {
    let rate: Rate = "1%".parse().expect("a rate");
    let hasher = PortableHasher::sip13(Seed::from(1));
    let mut filter = FilterOf::<Standard>::builder().items(1_000).rate(rate).hasher(hasher).build().expect("small");
    assert!(filter.set_label("made by a test"));
    let header = FileHeader::from_bytes(&filter.to_bytes().expect("small")).expect("whole");
    assert_eq!((header.capacity(), header.rate(), header.label().as_deref()), (Some(1_000), Some(rate), Some("made by a test")));
    assert_eq!((header.scheme_id(), header.hasher_id()), (Some(SchemeId::Standard), Some(HasherId::Sip13)));
    assert!(!header.is_intersection());

    let bare = BloomFilter::with_bits_and_probes(1_000, 7).expect("small").to_bytes().expect("small");
    let header = FileHeader::from_bytes(&bare).expect("whole");
    assert_eq!((header.capacity(), header.rate(), header.label()), (None, None, None));

    // In other kinds of files, the same bytes have other meanings.
    let sketch = include_bytes!("golden/v1-count-min-full.tbl");
    let header = FileHeader::from_bytes(sketch).expect("whole");
    assert_eq!((header.capacity(), header.rate(), header.label()), (None, None, None));
    assert_eq!((header.scheme_id(), header.hasher_id()), (None, None));
}

#[test]
fn rates_that_are_none_are_refused() {
    let with_rate = |numerator: u64, divisor: u64, exponent: i32| {
        patched(72, &[&numerator.to_le_bytes()[..], &divisor.to_le_bytes(), &exponent.to_le_bytes()].concat())
    };
    for (numerator, divisor, exponent) in
        [(0, 1, 0), (0, 0, -1), (1, 0, 0), (1, 1, 0), (2, 1, -4001), (1, 1, 1), (u64::MAX, 1, -19), (1, 1, i32::MIN), (1, 1, i32::MAX)]
    {
        assert_eq!(refusal(&with_rate(numerator, divisor, exponent)), FormatError::Rate { numerator, exponent, divisor });
    }
    assert_eq!(decode(&with_rate(0, 0, 0)).map(|filter| filter.rate()), Ok(None));
    assert_eq!(decode(&with_rate(1, 3, -4000)).map(|filter| filter.rate().is_some()), Ok(true));
}

#[test]
fn counts_must_fit_the_bits() {
    let filter = sample();
    let (changed, probes) = (filter.changed(), u64::from(filter.probes()));
    let with_changed = |changed: u64| patched(56, &changed.to_le_bytes());
    let least = filter.ones().div_ceil(probes);
    let error =
        |changed| FormatError::Field { field: "set bits", expected: Expected::Within(changed, changed * probes), found: filter.ones() };
    assert!(least < changed && decode(&with_changed(least)).is_ok());
    assert_eq!(refusal(&with_changed(least - 1)), error(least - 1));
    assert_eq!(refusal(&with_changed(0)), error(0));
    // The number of offers that set a bit is above the number of set bits.
    let mut empty = encoded(&common::filter(100, 3, 1));
    empty[48..64].copy_from_slice(&[5, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
    seal(&mut empty);
    assert_eq!(refusal(&empty), FormatError::Field { field: "set bits", expected: Expected::Within(5, 15), found: 0 });
    // After a merge, these counts are only bounds, so they are not compared.
    let mut merged = with_changed(0);
    merged[16] = 1;
    seal(&mut merged);
    assert!(decode(&merged).is_ok_and(|filter| filter.is_merged()));
    // Counts at their maximum do not overflow.
    let most = [255; 16];
    let mut endless = with_changed(0);
    endless[16] = 1;
    endless[48..64].copy_from_slice(&most);
    seal(&mut endless);
    let mut endless = decode(&endless).expect("merged");
    endless.extend(1_000..1_010);
    endless.union_with(&endless.clone()).expect("itself");
    assert_eq!((endless.offered(), endless.changed()), (u64::MAX, u64::MAX));
}

#[test]
fn set_bits_beyond_the_last_are_refused() {
    for bits in [1, 63, 65, 100, 127] {
        let mut bytes = encoded(&filter(bits, 1, 1));
        // The test sets one bit, for which the counts must have one offer.
        bytes[48..64].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        for bit in 0..8 * (bytes.len() as u64 - 256) {
            let mut bytes = bytes.clone();
            bytes[256 + bit as usize / 8] |= 1 << (bit % 8);
            seal_all(&mut bytes);
            assert_eq!(decode(&bytes).is_ok(), bit < bits, "{bit} of {bits}");
            if bit >= bits {
                assert_eq!(refusal(&bytes), FormatError::Padding { bits });
            }
        }
    }
}

/// A reader that gives a byte or a few at a time, is interrupted, and may fail at some point.
struct Halting<'a> {
    bytes: &'a [u8],
    random: SplitMix64,
    fails: bool,
}

impl Read for Halting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.random.next() % 4 {
            0 => Err(io::ErrorKind::Interrupted.into()),
            _ if self.bytes.is_empty() && self.fails => Err(io::ErrorKind::ConnectionReset.into()),
            step => {
                let count = buffer.len().min(step as usize * 7).min(self.bytes.len());
                let (now, later) = self.bytes.split_at(count);
                buffer[..count].copy_from_slice(now);
                self.bytes = later;
                Ok(count)
            }
        }
    }
}

#[test]
fn streams_may_halt_and_fail() {
    let bytes = encoded(&sample());
    let reader = |length: usize, fails| Halting { bytes: &bytes[..length], random: SplitMix64(length as u64), fails };
    assert_eq!(BloomFilter::read_from(reader(bytes.len(), false)).ok(), Some(sample()));
    for length in [0, 7, 100, 256, 300, bytes.len() - 1] {
        let error = BloomFilter::read_from(reader(length, true)).expect_err("it fails");
        assert!(matches!(&error, ReadError::Io(error) if error.kind() == io::ErrorKind::ConnectionReset), "{error}");
    }
    struct Liar;
    impl Read for Liar {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            Ok(buffer.len() + 1)
        }
    }
    assert!(matches!(BloomFilter::read_from(Liar), Err(ReadError::Io(_))));
}
