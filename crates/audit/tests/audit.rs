//! Compares the audit's profiles of libraries with the real libraries, and with independent
//! computations of the same numbers.
//!
//! The real libraries wrote `peers.csv`; `peers/README.md` explains how.
#![allow(missing_docs, reason = "a test has no public interface")]

use truebloom_audit::{PROFILES, Profile, Size, find, ideal, rate, simulate};
use truebloom_math::{Fpr, Variant, rate_moments};

/// The number of standard deviations that a correct profile exceeds with a probability below 1e-6.
/// This includes the skewness of small numbers of hits: the smallest expected number here is 80.
const DEVIATIONS: f64 = 6.0;

struct Row {
    profile: &'static Profile,
    items: u64,
    rate: f64,
    size: Size,
    queries: u64,
    hits: u64,
}

fn rows() -> Vec<Row> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let whole = |cell: usize| cells[cell].parse::<u64>().expect("a whole number");
        Row {
            profile: find(cells[0]).expect("a profile"),
            items: whole(1),
            rate: cells[2].parse().expect("a rate"),
            size: Size { bits: whole(3), probes: whole(4) as u32 },
            queries: whole(5),
            hits: whole(6),
        }
    };
    include_str!("peers.csv").lines().skip(1).map(row).collect()
}

#[test]
fn sizes_are_those_of_the_real_libraries() {
    let rows = rows();
    assert!(rows.len() >= 280);
    for row in &rows {
        let found = row.profile.size(row.items, row.rate).expect("in range");
        assert_eq!(found, row.size, "{} at {} items and {}", row.profile.name, row.items, row.rate);
    }
}

/// Compares the hits of 20 real filters with the formula or, if there is none, with a simulation.
/// The number of hits varies by chance, and so do the filters' own rates.
#[test]
fn measured_rates_are_those_of_the_profiles() {
    let measured: Vec<Row> = rows().into_iter().filter(|row| row.queries > 0).collect();
    assert_eq!(measured.len(), 30);
    for row in measured {
        let (expected, error) = expected(&row);
        let found = row.hits as f64 / row.queries as f64;
        let moments = rate_moments(Variant::Standard, row.size.bits, row.items, row.size.probes).expect("in range");
        let spread = moments.variance / 20.0 * (expected / moments.mean.value).powi(2);
        let deviation = (found - expected) / (expected / row.queries as f64 + spread + error * error).sqrt();
        assert!(deviation.abs() < DEVIATIONS, "{} at {} items and {}: {found:e}, not {expected:e}", row.profile.name, row.items, row.rate);
    }
}

/// Returns the rate of the profile and its standard error, which is 0 unless the rate comes from a
/// simulation.
fn expected(row: &Row) -> (f64, f64) {
    match rate(row.profile, row.size, row.items).expect("in range") {
        Some(law) => (law.value, 0.0),
        None => {
            let found = simulate(row.profile, row.size, row.items, 2_000_000, 7).expect("in range");
            (found.rate, (found.upper - found.lower) / 5.2)
        }
    }
}

/// If a profile has a formula, the simulated arithmetic agrees with it. At the smallest sizes, the
/// test detects a difference of 2% of the rate.
#[test]
fn laws_are_those_of_the_simulated_arithmetic() {
    for (items, asked) in [(100, 0.01), (1_000, 0.03), (3_000, 0.01)] {
        for profile in &PROFILES {
            let Ok(size) = profile.size(items, asked) else { continue };
            let Some(law) = rate(profile, size, items).expect("in range") else { continue };
            let found = simulate(profile, size, items, 1_000_000, items).expect("in range");
            let error = (found.upper - found.lower) / 5.2;
            assert!((found.rate - law.value).abs() < DEVIATIONS * error, "{} at {items}: {found:?}, not {law:?}", profile.name);
        }
    }
}

/// Test vectors of Bitcoin Core (bitcoin/bitcoin, src/test/bloom_tests.cpp). The first bytes of its
/// filters are their length, and the next four bytes are their number of probes.
#[test]
fn bip37_has_the_sizes_of_its_own_tests() {
    let bip37 = find("bip37").expect("known");
    assert_eq!(bip37.size(3, 0.01), Ok(Size { bits: 24, probes: 5 }));
    assert_eq!(bip37.size(2, 0.001), Ok(Size { bits: 24, probes: 8 }));
}

/// The table in the documentation of arrow-rs, in bytes.
#[test]
fn parquet_has_the_sizes_of_its_own_table() {
    let parquet = find("parquet").expect("known");
    for (items, rate, kilobytes) in [
        (10_000, 0.1, 8),
        (10_000, 0.01, 16),
        (10_000, 0.001, 32),
        (10_000, 1e-4, 32),
        (100_000, 0.1, 128),
        (100_000, 1e-3, 256),
        (100_000, 1e-5, 512),
        (1_000_000, 0.01, 2048),
        (1_000_000, 1e-6, 8192),
    ] {
        assert_eq!(parquet.size(items, rate), Ok(Size { bits: kilobytes * 8192, probes: 8 }), "{items} at {rate}");
    }
}

/// Computes the rate of split blocks by inclusion and exclusion over the words of a block. The
/// terms alternate in sign, so this independent computation is accurate only if the rate is not
/// small.
#[test]
fn split_blocks_by_inclusion_and_exclusion() {
    let parquet = find("parquet").expect("known");
    for (items, bits) in [(10, 256), (100, 2_048), (1_000, 4_096), (1_000, 16_384)] {
        let blocks = (bits / 256) as f64;
        let choose = [1.0, 8.0, 28.0, 56.0, 70.0, 56.0, 28.0, 8.0, 1.0];
        let term = |i: i32| (-1f64).powi(i) * choose[i as usize] * (1.0 - (1.0 - (31.0f64 / 32.0).powi(i)) / blocks).powi(items);
        let sum: f64 = (0..=8).map(term).sum();
        let found = rate(parquet, Size { bits, probes: 8 }, items as u64).expect("in range").expect("a law");
        // A key of the same block passes if its 32 bits are equal. Otherwise, its words decide.
        let floor = f64::from(items) / blocks / 2f64.powi(32);
        let sum = floor + (1.0 - floor) * sum;
        assert!((found.value / sum - 1.0).abs() < 1e-9, "{items} in {bits}: {} and {sum}", found.value);
    }
}

/// If the size of a slice divides 2^16, all its positions are equally likely, and the partitioned
/// law holds. With 24,576 bits, 16,384 positions have three chunks and the others have two. For one
/// item, the rate can then be computed by hand.
#[test]
fn slices_are_even_where_the_chunk_is_a_multiple() {
    let pybloom = find("pybloom-live").expect("known");
    let law = |slice: u64, items: u64| rate(pybloom, Size { bits: 5 * slice, probes: 5 }, items).expect("in range").expect("a law").value;
    let even = |slice: u64, items: u64| Variant::Partitioned.fpr(5 * slice, items, 5).expect("in range").value;
    assert!((law(16_384, 1_000) / even(16_384, 1_000) - 1.0).abs() < 1e-11);
    let met = (16_384.0 * 9.0 + 8_192.0 * 4.0) / 2f64.powi(32);
    assert!((law(24_576, 1) / f64::powi(met, 5) - 1.0).abs() < 1e-11);
}

#[test]
fn what_a_library_refuses_or_spoils_is_said() {
    let cassandra = find("cassandra").expect("known");
    assert!(cassandra.size(1_000, 6.7e-5).is_err());
    assert_eq!(cassandra.size(1_000, 6.71e-5), Ok(Size { bits: 20_032, probes: 14 }));
    // The library's table has 0.393 for two bits and one probe. From this entry on, bits and probes
    // are exchanged in the source.
    assert_eq!(cassandra.size(1_000, 0.39), Ok(Size { bits: 3_072, probes: 1 }));
    assert_eq!(cassandra.size(1_000, 0.393), Ok(Size { bits: 1_024, probes: 2 }));
    // The number of probes is rounded down to 0, so every key passes.
    let rbloom = find("rbloom").expect("known");
    let size = rbloom.size(1_000, 0.6).expect("in range");
    assert_eq!((size.probes, rate(rbloom, size, 1_000)), (0, Ok(Some(Fpr::ONE))));
    assert_eq!(simulate(rbloom, size, 10, 1_000, 1).map(|found| found.hits == found.queries), Ok(true));
    for profile in &PROFILES {
        assert!(
            profile.size(0, 0.01).is_err()
                && profile.size(1, 0.0).is_err()
                && profile.size(1, 1.0).is_err()
                && profile.size(1, f64::NAN).is_err()
        );
        assert!(simulate(profile, Size { bits: 1 << 40, probes: 8 }, 1, 1, 1).is_err());
    }
}

/// DCSO's multiplier is small, which is noticeable in small filters: at 958 bits, the rate is 8%
/// higher. A hundred filters with 10,000 queries each have about 10,000 hits, so the standard error
/// is 1% (with a fixed seed); the excess is eight standard errors.
#[test]
fn powers_of_a_small_factor_are_not_independent() {
    let dcso = find("dcso").expect("known");
    let size = dcso.size(100, 0.01).expect("in range");
    assert_eq!(rate(dcso, size, 100), Ok(None));
    let found = simulate(dcso, size, 100, 1_000_000, 1).expect("affordable");
    let ideal = ideal(size, 100).expect("affordable");
    assert!(found.lower > ideal.value, "{found:?} against {ideal:?}");
}

/// No library's rate is below the rate of equal hashes of the library's hash width: with 500
/// million items and a 64-bit hash, this is 2.7e-11 for every filter.
#[test]
fn floors_of_hashes_are_counted() {
    let items = 500_000_000;
    for (name, bits) in [
        ("fastbloom", 64),
        ("rbloom", 64),
        ("dcso", 64),
        ("guava", 128),
        ("redisbloom", 128),
        ("cassandra", 128),
        ("bloomfilter", 128),
        ("bits-and-blooms", 256),
    ] {
        let profile = find(name).expect("known");
        let size = profile.size_of(1 << 36, 40).expect("in range");
        assert_eq!(profile.arithmetic.hash_bits(size), bits, "{name}");
        let floor = profile.arithmetic.hash_floor(size, items);
        assert!((floor / (items as f64 * 2f64.powi(-(bits as i32))) - 1.0).abs() < 1e-9, "{name}: {floor:e}");
        if let Some(law) = rate(profile, size, items).expect("in range") {
            assert!(law.lower > 0.999_999 * floor && law.lower <= law.value && law.value <= law.upper, "{name}: {law:?}");
        }
    }
    let fastbloom = find("fastbloom").expect("known");
    let size = fastbloom.size(items, 1e-12).expect("in range");
    let law = rate(fastbloom, size, items).expect("in range").expect("a law");
    assert!(law.value > 2.7e-11 && law.value < 3e-11, "{law:?}");
    // Parquet takes the positions in a block from 32 bits.
    let parquet = find("parquet").expect("known");
    let size = parquet.size_of(1 << 30, 8).expect("in range");
    let floor = parquet.arithmetic.hash_floor(size, 1_000_000);
    assert!((floor / (1e6 / 2f64.powi(22 + 32)) - 1.0).abs() < 1e-6, "{floor:e}");
    assert_eq!(find("bip37").expect("known").arithmetic.hash_floor(size, 0), 0.0);
}

/// The README's statements about the libraries agree with the tables of `docs/AUDIT.md`.
#[test]
fn the_sentence_of_the_readme_follows_from_the_table() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).expect(name);
    let readme = read("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(readme.contains(
        "For 100,000 keys at 1%, BIP37 has 29 times the requested rate, and all others have at most 1.02 times the requested rate"
    ));
    let audit = read("docs/AUDIT.md");
    let (_, table) = audit.split_once("### 100k items, 1e-2 asked").expect("a table");
    let table = table.split("\n### ").next().expect("its rows");
    let rows: Vec<Vec<&str>> =
        table.lines().filter(|line| line.starts_with("| ")).skip(1).map(|line| line.split('|').map(str::trim).collect()).collect();
    assert_eq!(rows.len(), 12);
    // The rate of the law if there is one; otherwise, the measured rate.
    let rate = |row: &[&str]| row[5].parse::<f64>().unwrap_or_else(|_| row[7].parse().expect("a rate"));
    let (kept, other): (Vec<_>, Vec<_>) = rows.iter().partition(|row| rate(row) <= 0.0102);
    assert_eq!((kept.len(), other.len()), (11, 1));
    assert_eq!((rate(other[0]) / 0.01).round(), 29.0);
}
