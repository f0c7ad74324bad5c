//! Compares the laws of two-hash schemes with the reference vectors, and with an enumeration of all
//! pairs of hashes.

mod common;

use common::{fraction, int, of_f64, rows};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use serde_json::Value;
use std::collections::BTreeMap;
use truebloom_math::SchemeId;
use truebloom_math::law::{Double, Offsets, PartitionDouble, Step};
use truebloom_math::{Fpr, Law, Method};

/// The law of a row, found by the names that the vectors use.
fn law(row: &Value) -> Box<dyn Law> {
    let k = int(row, "k") as u32;
    let double = |step, offsets| Box::new(Double::new(int(row, "m"), k, step, offsets).expect("in range"));
    match row["scheme"].as_str().expect("a name") {
        "partition" => Box::new(PartitionDouble::new(int(row, "mprime"), k).expect("in range")),
        "double" => double(Step::Any, Offsets::Linear),
        "double_h2nonzero" => double(Step::NonZero, Offsets::Linear),
        "sq" => double(Step::Any, Offsets::Square),
        "cube" => double(Step::Any, Offsets::Cube),
        "enh" => double(Step::Any, Offsets::Enhanced),
        name => panic!("{name}"),
    }
}

fn hold(fpr: &Fpr, expected: &str, row: &Value) {
    let truth = fraction(expected);
    // The vectors are rounded to 25 digits.
    let slack = &truth * BigRational::new(1.into(), BigInt::from(10u8).pow(24));
    assert_eq!(fpr.method, Method::Exact, "{row}");
    assert!(of_f64(fpr.lower) <= &truth + &slack && &truth - &slack <= of_f64(fpr.upper), "{fpr:?} misses {expected} in {row}");
    assert!(fpr.upper - fpr.lower <= 5e-16 * fpr.upper, "{fpr:?} is too wide in {row}");
}

#[test]
fn every_exact_vector_is_enclosed() {
    for (file, count) in [("km_tiny_exact.json", 321), ("km_exact.json", 124), ("km_exact_extended.json", 10)] {
        let all = rows(file);
        let all = all["rows"].as_array().expect("rows");
        assert_eq!(all.len(), count);
        for row in all {
            let items = int(row, "n");
            let fpr = law(row).fpr(items).unwrap_or_else(|error| panic!("{row}: {error}"));
            hold(&fpr, row["pr"].as_str().expect("a rate"), row);
            if let Some(expected) = row["pr_h2nonzero"].as_str() {
                let law = Double::new(int(row, "m"), int(row, "k") as u32, Step::NonZero, Offsets::Linear).expect("in range");
                hold(&law.fpr(items).expect("affordable"), expected, row);
            }
        }
    }
}

/// The rate of a scheme, by enumeration of all pairs of hashes of every item and of the query. The
/// number of ways to reach each filter is updated item by item.
fn enumerated(pairs: &[u64], items: u64) -> BigRational {
    let mut filters: BTreeMap<u64, BigInt> = BTreeMap::from([(0, BigInt::one())]);
    for _ in 0..items {
        let mut next = BTreeMap::new();
        for (filter, count) in &filters {
            for set in pairs {
                *next.entry(filter | set).or_insert_with(BigInt::zero) += count;
            }
        }
        filters = next;
    }
    let passes = |filter: u64| pairs.iter().filter(|&&set| set & filter == set).count();
    let hits: BigInt = filters.iter().map(|(&filter, count)| count * BigInt::from(passes(filter))).sum();
    BigRational::new(hits, BigInt::from(pairs.len()).pow(items as u32 + 1))
}

/// The sets of bits of all pairs of hashes, computed directly from the definition.
fn pairs(m: u64, k: u32, step: Step, offset: impl Fn(i64) -> i64) -> Vec<u64> {
    let first = u64::from(step == Step::NonZero);
    let set = |h1: u64, h2: u64| {
        let position = |i: i64| (h1 as i64 + i * h2 as i64 + offset(i)).rem_euclid(m as i64);
        (0..i64::from(k)).fold(0, |set, i| set | 1 << position(i))
    };
    (0..m).flat_map(|h1| (first..m).map(move |h2| (h1, h2))).map(|(h1, h2)| set(h1, h2)).collect()
}

fn is_enclosed(fpr: &Fpr, truth: &BigRational, what: &str) {
    assert!(of_f64(fpr.lower) <= *truth && *truth <= of_f64(fpr.upper), "{what}: {fpr:?} misses {}", truth.to_f64().expect("finite"));
}

/// A definition of the offsets f that is independent of the crate.
type Offset = Box<dyn Fn(i64) -> i64>;

#[test]
fn all_pairs_of_hashes_of_tiny_filters() {
    let own = [3i64, -1, 4, -1, 5, 9];
    for m in 2..=9u64 {
        for k in 1..=5u32 {
            for n in 1..=3u64 {
                for step in [Step::Any, Step::NonZero] {
                    let families: [(Offsets, Offset); 5] = [
                        (Offsets::Linear, Box::new(|_| 0)),
                        (Offsets::Square, Box::new(|i| i * i)),
                        (Offsets::Cube, Box::new(|i| i * i * i)),
                        (Offsets::Enhanced, Box::new(|i| (i * i * i - i) / 6)),
                        (Offsets::Custom(own[..k as usize].to_vec()), Box::new(move |i| own[i as usize])),
                    ];
                    for (offsets, f) in families {
                        let truth = enumerated(&pairs(m, k, step, f), n);
                        let fpr = Double::new(m, k, step, offsets.clone()).expect("in range").fpr(n).expect("small");
                        is_enclosed(&fpr, &truth, &format!("m={m} k={k} n={n} {step:?} {offsets:?}"));
                    }
                }
            }
        }
    }
}

#[test]
fn all_pairs_of_hashes_of_tiny_slices() {
    for (slice, k) in (1..=8u64).flat_map(|slice| (1..=6u32).map(move |k| (slice, k))).filter(|&(slice, k)| slice * u64::from(k) <= 40) {
        for n in 1..=2u64 {
            let set = |h1: u64, h2: u64| (0..u64::from(k)).fold(0, |set, i| set | 1u64 << (i * slice + (h1 + i * h2) % slice));
            let all: Vec<u64> = (0..slice).flat_map(|h1| (0..slice).map(move |h2| (h1, h2))).map(|(h1, h2)| set(h1, h2)).collect();
            let fpr = PartitionDouble::new(slice, k).expect("in range").fpr(n).expect("small");
            is_enclosed(&fpr, &enumerated(&all, n), &format!("m'={slice} k={k} n={n}"));
        }
    }
}

#[test]
fn names_read_back() {
    for hashing in SchemeId::ALL.into_iter().filter(|scheme| scheme.block_bits().is_none()) {
        assert_eq!(hashing.name().parse(), Ok(hashing));
        assert_eq!(hashing.law(60, 3).expect("in range").bits(), 60);
    }
    assert!("triple".parse::<SchemeId>().is_err());
    assert!(SchemeId::PartitionDouble.law(61, 3).is_err());
}
