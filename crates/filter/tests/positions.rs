//! Tests that positions are uniform and independent for keys that are far from random, and that
//! positions in the rows of sketches are uniform even for such hashes. (Another test compares whole
//! filters with their law.)
//!
//! These are chi-square tests on fixed hashes, each at alpha = 1e-6. With an expected count of at
//! least 1,000 per cell, the chi-square approximation is accurate enough. There are fewer than
//! 1,700 tests, so for a correct scheme and randomly chosen keys, one of them would fail with a
//! probability below 1/500.

mod common;

use common::SplitMix64;
use std::hash::{BuildHasherDefault, Hasher};
use truebloom::count_min::{FullRows, RowHashes};
use truebloom::scheme::{Scheme, Standard};
use truebloom::truebloom_math::count_min::{Rows, Shape};
use truebloom::{BloomFilter, ForeignHasher, KeyHash, KeyHasher, PortableHasher, Seed};

const ALPHA: f64 = 1e-6;

/// The name of a family, and the function that gives the key for an index.
type Family = (&'static str, fn(u64) -> u128);

/// Families of random keys, and of keys that are as similar as possible.
const FAMILIES: [Family; 6] = [
    ("random", |i| SplitMix64(i.wrapping_mul(0xd134_2543_de82_ef95)).next_wide()),
    ("low half counts", |i| i as u128),
    ("high half counts", |i| (i as u128) << 64),
    ("both halves count", |i| (i as u128) << 64 | i as u128),
    ("high half counts in its high bits", |i| (i as u128) << 96),
    ("low half counts in its high bits", |i| (i as u128) << 40 | 0xdead_beef << 64),
];

/// How the numbers of a family become positions.
#[derive(Clone, Copy, Debug)]
enum How {
    /// The numbers are used as hashes for rows of a sketch, which mix every word.
    Rows,
    /// The numbers are hashed as keys of 16 bytes.
    Wide,
    /// Both halves of a number together are hashed as a key of 8 bytes.
    Number,
}

const EVERY_WAY: [How; 3] = [How::Rows, How::Wide, How::Number];

fn positions(how: How, number: u128, bits: u64, probes: u32) -> Vec<u64> {
    let hasher = PortableHasher::xxh3(Seed::from(7));
    let hash = match how {
        How::Rows => {
            let shape = Shape::new(Rows::Independent, bits, probes, 1).expect("in range");
            let rows = FullRows::new(&shape, Seed::from(7)).expect("in range");
            return rows.cells(KeyHash::from_uniform_bits(number)).map(|cell| cell % bits).collect();
        }
        How::Wide => hasher.hash(&number.to_le_bytes()),
        How::Number => hasher.hash_number((number >> 64) as u64 ^ (number as u64).rotate_left(24)),
    };
    Standard::new(bits, probes).expect("in range").positions(hash).collect()
}

fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    assert!(expected >= 1_000.0, "too few for the chi-square law: {expected}");
    counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum()
}

/// An upper bound on the probability that counts are at least this uneven: the chi-square tail for
/// the next even number of degrees of freedom, which is a finite Poisson sum.
fn tail(counts: &[u64]) -> f64 {
    let half = chi_square(counts) / 2.0;
    let terms = counts.len().div_ceil(2);
    let ln_terms = (1..terms).scan(-half, |ln, i| {
        *ln += (half / i as f64).ln();
        Some(*ln)
    });
    std::iter::once(-half).chain(ln_terms).map(f64::exp).sum()
}

fn count(cells: u64, hashes: u64, mut cell: impl FnMut(u64) -> u64) -> Vec<u64> {
    let mut counts = vec![0; cells as usize];
    (0..hashes).for_each(|i| counts[cell(i) as usize] += 1);
    counts
}

#[test]
fn every_probe_is_uniform() {
    for (how, (name, family)) in EVERY_WAY.into_iter().flat_map(|how| FAMILIES.map(|family| (how, family))) {
        for bits in [1, 2, 3, 7, 12, 64, 100] {
            for probe in [0, 1, 6] {
                let counts = count(bits, 150_000, |i| positions(how, family(i), bits, 7)[probe]);
                assert!(tail(&counts) > ALPHA, "{how:?} {name}, {bits} bits, probe {probe}: {:e}", tail(&counts));
            }
        }
    }
}

/// The number of cells in which positions are counted.
const CELLS: u64 = 11;

/// Two numbers of bits: with the first, all positions come from one word; with the second, each
/// position takes a word of its own.
const SIZES: [u64; 2] = [CELLS, 1 << 27];

fn cells(how: How, number: u128, bits: u64) -> [u64; 6] {
    let positions = positions(how, number, bits, 6);
    std::array::from_fn(|probe| positions[probe] * CELLS / bits)
}

#[test]
fn every_pair_of_probes_is_independent() {
    for (how, (name, family)) in EVERY_WAY.into_iter().flat_map(|how| FAMILIES.map(|family| (how, family))) {
        for bits in SIZES {
            let pairs = (0..6).flat_map(|second| (0..second).map(move |first| (first, second)));
            let mut counts: Vec<_> = pairs.map(|pair| (pair, vec![0; (CELLS * CELLS) as usize])).collect();
            for i in 0..130_000 {
                let cells = cells(how, family(i), bits);
                counts.iter_mut().for_each(|((first, second), counts)| counts[(cells[*first] * CELLS + cells[*second]) as usize] += 1);
            }
            for (pair, counts) in counts {
                assert!(tail(&counts) > ALPHA, "{how:?} {name}, {bits} bits, probes {pair:?}: {:e}", tail(&counts));
            }
        }
    }
}

/// Tests that two keys or hashes that differ in any one bit have independent positions.
#[test]
fn neighbours_are_independent() {
    let (_, random) = FAMILIES[0];
    for (how, bit) in EVERY_WAY.into_iter().flat_map(|how| (0..128).map(move |bit| (how, bit))) {
        for bits in SIZES {
            let counts = count(CELLS * CELLS, 130_000, |i| {
                let (here, there) = (random(i), random(i) ^ 1 << bit);
                let probe = bit as usize % 3;
                cells(how, here, bits)[probe] * CELLS + cells(how, there, bits)[probe]
            });
            assert!(tail(&counts) > ALPHA, "{how:?}, {bits} bits, bit {bit}: {:e}", tail(&counts));
        }
    }
}

/// With 3 2^60 bits, every 16 consecutive words give only 3 positions, so positions modulo 3 are
/// uniform only because some words are skipped. Without skipping, the same test fails, which shows
/// its power.
#[test]
fn huge_filters_are_uniform_because_words_are_rejected() {
    const BITS: u64 = 3 << 60;
    for (how, (name, family)) in EVERY_WAY.into_iter().flat_map(|how| FAMILIES.map(|family| (how, family))) {
        let counts = count(3, 150_000, |i| positions(how, family(i), BITS, 3)[2] % 3);
        assert!(tail(&counts) > ALPHA, "{how:?} {name}: {:e}", tail(&counts));
        let coarse = count(64, 150_000, |i| positions(how, family(i), BITS, 3)[2] / (BITS / 64));
        assert!(tail(&coarse) > ALPHA, "{how:?} {name}: {:e}", tail(&coarse));
    }
    let mut random = SplitMix64(1);
    let biased = count(3, 150_000, |_| ((u128::from(random.next()) * u128::from(BITS)) >> 64) as u64 % 3);
    assert!(tail(&biased) < ALPHA, "the test has no power: {:e}", tail(&biased));
}

/// Tests hashes with which simpler schemes set only one or two bits.
#[test]
fn degenerate_hashes_still_have_distinct_positions() {
    let half = u128::from(u64::MAX);
    for hash in [0, u128::MAX, half, half << 64, 1, 1 << 64, 1 << 127, 1 << 63, u128::MAX - 1] {
        // The last number of bits is the largest width for twenty rows.
        for bits in [1_000_000, 1 << 20, 1 << 40, u64::MAX / 20] {
            let mut found = positions(How::Rows, hash, bits, 20);
            assert!(found.iter().all(|position| *position < bits));
            found.sort_unstable();
            found.dedup();
            // Two positions among 20 of a million coincide with a probability of 2e-4. More than
            // two pairs practically never do.
            assert!(found.len() >= 18, "{hash:x} {bits}: {found:?}");
        }
        assert_eq!(positions(How::Rows, hash, 1, 5), [0; 5]);
    }
}

/// Tests that the positions of a key under two seeds are independent, even if the seeds differ in
/// only one half. With the first version of the hasher, they would not be; the golden-file tests
/// check that files with that hasher are refused.
#[test]
fn seeds_that_differ_in_one_half_have_nothing_in_common() {
    for (one, other) in [(1u128, 2u128), (1 << 64, 2 << 64), (7, 7 | 1 << 127), (0, u128::from(u64::MAX) << 64), (0, 1)] {
        let hashers = [one, other].map(|seed| PortableHasher::xxh3(Seed::from(seed)));
        for bits in SIZES {
            let scheme = Standard::new(bits, 2).expect("in range");
            for probe in 0..2 {
                let counts = count(CELLS * CELLS, 130_000, |number| {
                    let [here, there] = hashers
                        .each_ref()
                        .map(|hasher| scheme.positions(hasher.hash_number(number)).nth(probe).expect("two") * CELLS / bits);
                    here * CELLS + there
                });
                assert!(tail(&counts) > ALPHA, "{one:x} {other:x}, {bits} bits, probe {probe}: {:e}", tail(&counts));
            }
        }
    }
}

/// A hasher that returns integers unchanged, as the fastest hashers of other crates nearly do.
#[derive(Clone, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Tests that a foreign hasher that returns keys unchanged does not raise the rate. Each of 400
/// filters with 1,024 bits and 7 probes holds 100 consecutive keys, and is queried for other keys.
/// Without mixing, three times as many of these keys would pass.
#[test]
fn foreign_hashers_are_mixed() {
    const FILTERS: u64 = 400;
    const QUERIES: u64 = 20_000;
    let hasher = ForeignHasher::new(BuildHasherDefault::<Identity>::default());
    let exact = Standard::new(1_024, 7).expect("in range").law().fpr(100).expect("in range").value;
    let mut passed = 0;
    for number in 0..FILTERS {
        let mut filter = BloomFilter::builder().bits(1_024).probes(7).hasher(hasher.clone()).build().expect("small");
        let first = number << 40;
        filter.extend(first..first + 100);
        passed += filter.contains_all(first + 100..first + 100 + QUERIES).count_ones() as u64;
    }
    // The rates of filters of this size have a standard deviation of about 12%, so the mean of 400
    // rates has one of 0.6%. A tolerance of 5% is more than eight standard deviations.
    let mean = passed as f64 / (FILTERS * QUERIES) as f64;
    assert!((mean / exact - 1.0).abs() < 0.05, "{mean:e} for {exact:e}");
}
