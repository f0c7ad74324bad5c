//! Tests compressed files, and differences between files.

use truebloom::recycling::{Policy, RecyclingFilter};
use truebloom::scheme::Scheme;
use truebloom::truebloom_math::Growth;
use truebloom::{AnyFilter, BlockedBloomFilter, BloomFilter, FileHeader, FormatError, PortableHasher, ScalableFilter, Seed, wire};

fn seeded(bits: u64, probes: u32) -> BloomFilter {
    BloomFilter::with_scheme(Scheme::new(bits, probes).expect("in range"), PortableHasher::xxh3(Seed::from(5))).expect("small")
}

/// Makes a filter with this fill.
fn filled(bits: u64, fill: f64) -> BloomFilter {
    let mut filter = seeded(bits, 3);
    let mut key = 0u64;
    while filter.fill() < fill {
        filter.extend(key..key + 16);
        key += 16;
    }
    filter
}

/// The entropy in bytes of this many bits, of which `ones` are set.
fn entropy(bits: u64, ones: u64) -> f64 {
    let fill = ones as f64 / bits as f64;
    let part = |share: f64| if share > 0.0 { -share * share.log2() } else { 0.0 };
    bits as f64 * (part(fill) + part(1.0 - fill)) / 8.0
}

/// `cargo test -p truebloom --test wire compressed_sizes -- --nocapture` prints the table of
/// docs/GROWTH.md.
#[test]
fn compressed_sizes_are_near_the_entropy() {
    println!("| fill | bytes | compressed | entropy | above it |\n|---|---|---|---|---|");
    for fill in [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5] {
        let filter = filled(1 << 23, fill);
        let bytes = filter.to_bytes().expect("small");
        let sent = wire::compress(&bytes).expect("a file");
        let least = entropy(filter.bits(), filter.ones());
        let above = sent.len() as f64 / least - 1.0;
        println!("| {:.0}% | {} | {} | {least:.0} | {:.2}% |", 100.0 * fill, bytes.len(), sent.len(), 100.0 * above);
        assert!((-0.001..0.003).contains(&above), "{fill}: {above}");
        assert_eq!(wire::expand(&sent).as_deref(), Ok(&bytes[..]));
    }
    // The overhead of a compressed file, which matters for small filters.
    let small = filled(8_192, 0.5).to_bytes().expect("small");
    assert!(wire::compress(&small).expect("a file").len() < 1_024 + 140);
}

/// Inserts new items into a filter that is half full. The length of the difference is near the
/// entropy of the new bits among those that were 0. The test prints the table of differences in the
/// same document; select it by the name `differences`.
#[test]
fn differences_are_near_the_entropy() {
    println!("| new items | difference | entropy | above it | whole, compressed |\n|---|---|---|---|---|");
    let mut filter = seeded(1 << 23, 7);
    let items = 800_000u64;
    filter.extend(0..items);
    let before = filter.to_bytes().expect("small");
    for share in [0.001, 0.01, 0.1] {
        let mut later = filter.clone();
        later.extend(items..items + (share * items as f64) as u64);
        let bytes = later.to_bytes().expect("small");
        let news = wire::difference(&before, &bytes).expect("two states");
        let least = entropy(filter.bits() - filter.ones(), later.ones() - filter.ones());
        let above = news.len() as f64 / least - 1.0;
        let whole = wire::compress(&bytes).expect("a file").len();
        println!("| {}% | {} | {least:.0} | {:.2}% | {whole} |", 100.0 * share, news.len(), 100.0 * above);
        // In addition to the bits, a difference takes about 120 bytes.
        assert!(-0.001 < above && (news.len() as f64) < 1.002 * least + 130.0, "{share}: {above}");
        assert_eq!(wire::apply(&before, &news).as_deref(), Ok(&bytes[..]));
    }
}

/// Tests that each layer of a filter that grows is coded by its own fill.
#[test]
fn layers_are_coded_by_their_fill() {
    let growth = Growth::new("1%".parse().expect("a rate"), 20_000).expect("in range");
    let mut filter = ScalableFilter::with_growth(growth, PortableHasher::xxh3(Seed::from(1))).expect("small");
    filter.extend(0..75_000u64);
    let least: f64 = filter.layers().iter().zip(filter.layer_ones()).map(|(layer, ones)| entropy(layer.bits(), ones)).sum();
    let sent = wire::compress(&filter.to_bytes().expect("small")).expect("a file").len() as f64;
    let together = entropy(filter.bits(), filter.ones());
    assert!(sent < 1.01 * least && sent < 0.97 * together, "{sent}, entropy {least}, of all bits together {together}");
}

/// Tests that every method that opens a file also opens a compressed one, for every kind, and that
/// expanding gives the original bytes.
#[test]
fn compressed_files_are_opened() {
    let mut grown =
        ScalableFilter::with_growth(Growth::new("1%".parse().expect("a rate"), 64).expect("in range"), PortableHasher::xxh3(Seed::from(1)))
            .expect("small");
    grown.extend(0..3_000u64);
    let mut blocked = BlockedBloomFilter::new(1_000, 0.01).expect("small");
    blocked.extend(0..1_000u64);
    let mut recycling = RecyclingFilter::new(10_000, 5, Policy::two_phases(5_000)).expect("small");
    (0..2_000u64).for_each(|key| _ = recycling.check_and_insert(&key));
    for bytes in [grown.to_bytes(), blocked.to_bytes(), recycling.to_bytes(), seeded(100, 3).to_bytes(), seeded(1 << 24, 3).to_bytes()] {
        let bytes = bytes.expect("small");
        let sent = wire::compress(&bytes).expect("a file");
        assert!(wire::is_coded(&sent) && !wire::is_coded(&bytes));
        assert_eq!(wire::expand(&sent).as_deref(), Ok(&bytes[..]));
        assert_eq!((wire::compress(&sent), wire::expand(&bytes)), (Ok(sent.clone()), Ok(bytes.clone())));
        assert!((sent.len() as u64) * wire::MOST_EXPANSION >= bytes.len() as u64);
        let (header, plain) = (FileHeader::from_bytes(&sent).expect("a header"), FileHeader::from_bytes(&bytes).expect("a header"));
        assert!(header.kind() == plain.kind() && header.file_bytes() == bytes.len() as u64);
        assert_eq!(
            AnyFilter::from_bytes(&sent).map(|filter| filter.to_bytes()),
            AnyFilter::from_bytes(&bytes).map(|filter| filter.to_bytes())
        );
        // The file is read from a stream that continues after it.
        let mut stream = &[&sent[..], b"behind"].concat()[..];
        assert_eq!(AnyFilter::read_from(&mut stream).is_ok(), AnyFilter::from_bytes(&bytes).is_ok());
        assert!(AnyFilter::view(&sent[..]).is_err());
    }
    let sent = wire::compress(&recycling.to_bytes().expect("small")).expect("a file");
    assert!(RecyclingFilter::from_bytes(&sent).expect("its file") == recycling);
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), &sent).expect("written");
    assert!(RecyclingFilter::open(file.path()).expect("its file") == recycling);
    std::fs::write(file.path(), [&sent[..], b"?"].concat()).expect("written");
    assert!(RecyclingFilter::<PortableHasher>::open(file.path()).is_err());
}

#[test]
fn differences_of_what_grows_and_of_what_is_cleared() {
    let growth = Growth::new("1%".parse().expect("a rate"), 64).expect("in range");
    let mut filter = ScalableFilter::with_growth(growth, PortableHasher::xxh3(Seed::from(1))).expect("small");
    let mut states = vec![filter.to_bytes().expect("small")];
    for step in 0..6u64 {
        filter.extend(500 * step..500 * (step + 1));
        states.push(filter.to_bytes().expect("small"));
    }
    filter.clear();
    states.push(filter.to_bytes().expect("small"));
    for old in &states {
        for new in &states {
            let news = wire::difference(old, new).expect("states of one filter");
            assert_eq!(wire::apply(old, &news).as_deref(), Ok(&new[..]));
            let compressed = wire::compress(old).expect("a file");
            assert_eq!(wire::apply(&compressed, &news).as_deref(), Ok(&new[..]));
            for other in states.iter().filter(|other| *other != old) {
                assert!(matches!(wire::apply(other, &news), Err(FormatError::WrongBase { .. })));
            }
        }
    }
    let other = seeded(1_000, 7).to_bytes().expect("small");
    assert_eq!(wire::difference(&states[0], &other), Err(FormatError::OtherFilter { field: "kinds" }));
    let smaller = seeded(999, 7).to_bytes().expect("small");
    assert_eq!(wire::difference(&other, &smaller), Err(FormatError::OtherFilter { field: "bits" }));
    // A compressed file is not accepted as a difference, and a difference is not accepted as a
    // compressed file.
    let news = wire::difference(&other, &other).expect("states of one filter");
    assert_eq!(wire::expand(&news), Err(FormatError::Coded { is_difference: true }));
    assert_eq!(BloomFilter::from_bytes(&news), Err(FormatError::Coded { is_difference: true }));
    assert_eq!(wire::apply(&other, &wire::compress(&other).expect("a file")), Err(FormatError::NotADifference));
    assert_eq!(wire::apply(&other, &other), Err(FormatError::NotADifference));
    assert!(matches!(BloomFilter::view(&wire::compress(&other).expect("a file")), Err(FormatError::Coded { is_difference: false })));
}

/// Tests every changed byte, with and without a corrected checksum of the body, and every wrong
/// length.
#[test]
fn damaged_bytes_are_refused() {
    let mut filter = seeded(2_000, 3);
    filter.extend(0..100u64);
    let before = filter.to_bytes().expect("small");
    filter.extend(100..120u64);
    let sent = wire::compress(&before).expect("a file");
    let news = wire::difference(&before, &filter.to_bytes().expect("small")).expect("two states");
    for whole in [&sent, &news] {
        for at in 0..whole.len() {
            assert!(wire::expand(&whole[..at]).is_err() && wire::apply(&before, &whole[..at]).is_err());
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                assert!(wire::expand(&damaged).is_err() && wire::apply(&before, &damaged).is_err(), "{at}");
                let sum = xxhash_rust::xxh3::xxh3_64(&damaged[26..]).to_le_bytes();
                damaged[18..26].copy_from_slice(&sum);
                // A forged code can be decoded, but the decoded bytes must have the checksums of
                // the file.
                if let Ok(file) = wire::expand(&damaged) {
                    assert!(file == before || BloomFilter::from_bytes(&file).is_err(), "{at}");
                }
                let _ = wire::apply(&before, &damaged);
            }
        }
    }
}

/// Tests a few set bits among very many zeros. Byte values that do not occur must not cost more
/// than those that do, and there is only one section.
#[test]
fn sparse_differences_are_near_the_entropy() {
    let mut filter = seeded(1 << 26, 3);
    let before = filter.to_bytes().expect("small");
    filter.extend(0..20u64);
    let after = filter.to_bytes().expect("small");
    let news = wire::difference(&before, &after).expect("two states");
    // The compressed file consists of: 26 bytes for the envelope, 8 for the base, 32 for the map of
    // the header and 18 for the header's bytes, 16 for length, count and state, 4 for the last
    // word, and 1 for the end.
    let around = 26 + 8 + 32 + 18 + 16 + 4 + 1;
    let least = entropy(filter.bits(), filter.ones());
    assert!(filter.ones() == 60 && (news.len() as f64) < 1.01 * least + f64::from(around), "{} {least}", news.len());
    assert_eq!(wire::apply(&before, &news).as_deref(), Ok(&after[..]));
}

/// A difference can be made only from files that can be opened, because `apply` would detect the
/// damage too late, when the earlier file is gone.
#[test]
fn differences_of_damaged_files_are_refused() {
    let mut filter = seeded(2_000, 3);
    let old = filter.to_bytes().expect("small");
    filter.extend(0..100u64);
    let new = filter.to_bytes().expect("small");
    let damaged = |file: &[u8]| {
        let mut file = file.to_vec();
        file[300] ^= 1;
        file
    };
    assert!(matches!(wire::difference(&damaged(&old), &new), Err(FormatError::PayloadChecksum { .. })));
    assert!(matches!(wire::difference(&old, &damaged(&new)), Err(FormatError::PayloadChecksum { .. })));
    // Flag 6 says that the file is being changed in place.
    let unfinished = |file: &[u8]| {
        let mut file = file.to_vec();
        file[16] |= 1 << 6;
        let sum = xxhash_rust::xxh3::xxh3_64(&file[..248]).to_le_bytes();
        file[248..256].copy_from_slice(&sum);
        file
    };
    assert_eq!(wire::difference(&unfinished(&old), &new), Err(FormatError::Unfinished));
    assert_eq!(wire::difference(&old, &unfinished(&new)), Err(FormatError::Unfinished));
}

/// Tests that bytes with an unknown type of contents are refused, both as a compressed file and as
/// a difference.
#[test]
fn other_contents_are_told_apart() {
    let file = seeded(1_000, 3).to_bytes().expect("small");
    let mut sent = wire::compress(&file).expect("a file");
    sent[9] = 3;
    let unknown = FormatError::Unknown { field: "what is coded", found: 3 };
    assert_eq!(wire::expand(&sent), Err(unknown.clone()));
    assert_eq!(BloomFilter::from_bytes(&sent), Err(unknown.clone()));
    assert_eq!(BloomFilter::view(&sent).map(drop), Err(unknown.clone()));
    assert_eq!(wire::apply(&file, &sent), Err(unknown));
}
