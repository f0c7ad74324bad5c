//! Positions are uniform and independent, on hashes that are anything but random. (The statistical acceptance of whole filters against their law is a
//! suite of its own.)
//!
//! Chi-square tests at alpha = 1e-6 each on frozen hashes, with at least 1,000 expected a cell, where the chi-square law is near enough. The tests here
//! are below 400, so a correct scheme would fail one of them for fewer than one choice of frozen hashes in 2,500.

mod common;

use common::SplitMix64;
use truebloom::KeyHash;
use truebloom::scheme::{Scheme, Standard};

const ALPHA: f64 = 1e-6;

/// Hashes by index.
type Family = (&'static str, fn(u64) -> u128);

/// Random hashes, and hashes as near to each other as can be.
const FAMILIES: [Family; 6] = [
    ("random", |i| SplitMix64(i.wrapping_mul(0xd134_2543_de82_ef95)).next_wide()),
    ("low half counts", |i| i as u128),
    ("high half counts", |i| (i as u128) << 64),
    ("both halves count", |i| (i as u128) << 64 | i as u128),
    ("high half counts in its high bits", |i| (i as u128) << 96),
    ("low half counts in its high bits", |i| (i as u128) << 40 | 0xdead_beef << 64),
];

fn positions(hash: u128, bits: u64, probes: u32) -> Vec<u64> {
    <Standard as Scheme>::new(bits, probes).expect("in range").positions(KeyHash::from(hash)).collect()
}

fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    assert!(expected >= 1_000.0, "too few for the chi-square law: {expected}");
    counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum()
}

/// An upper bound of the chance of so uneven counts: the tail for the next even number of degrees of freedom, a finite Poisson sum.
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
    for (name, family) in FAMILIES {
        for bits in [1, 2, 3, 7, 12, 64, 100] {
            for probe in [0, 1, 6] {
                let counts = count(bits, 150_000, |i| positions(family(i), bits, 7)[probe]);
                assert!(tail(&counts) > ALPHA, "{name}, {bits} bits, probe {probe}: {:e}", tail(&counts));
            }
        }
    }
}

#[test]
fn every_pair_of_probes_is_independent() {
    const BITS: u64 = 11;
    for (name, family) in FAMILIES {
        for (first, second) in (0..6).flat_map(|second| (0..second).map(move |first| (first, second))) {
            let counts = count(BITS * BITS, 130_000, |i| {
                let positions = positions(family(i), BITS, 6);
                positions[first] * BITS + positions[second]
            });
            assert!(tail(&counts) > ALPHA, "{name}, probes {first} and {second}: {:e}", tail(&counts));
        }
    }
}

/// Hashes that differ in one bit, whichever, have positions that know nothing of each other.
#[test]
fn neighbours_are_independent() {
    const BITS: u64 = 11;
    let (_, random) = FAMILIES[0];
    for bit in 0..128 {
        let counts = count(BITS * BITS, 130_000, |i| {
            let (here, there) = (random(i), random(i) ^ 1 << bit);
            let probe = bit as usize % 3;
            positions(here, BITS, 3)[probe] * BITS + positions(there, BITS, 3)[probe]
        });
        assert!(tail(&counts) > ALPHA, "bit {bit}: {:e}", tail(&counts));
    }
}

/// 16 words fall on 3 positions of 3 2^60 modulo 3; only the rejection makes them even. Without it the same test fails: that is its power.
#[test]
fn huge_filters_are_uniform_because_words_are_rejected() {
    const BITS: u64 = 3 << 60;
    for (name, family) in FAMILIES {
        let counts = count(3, 150_000, |i| positions(family(i), BITS, 3)[2] % 3);
        assert!(tail(&counts) > ALPHA, "{name}: {:e}", tail(&counts));
        let coarse = count(64, 150_000, |i| positions(family(i), BITS, 3)[2] / (BITS / 64));
        assert!(tail(&coarse) > ALPHA, "{name}: {:e}", tail(&coarse));
    }
    let mut random = SplitMix64(1);
    let biased = count(3, 150_000, |_| ((u128::from(random.next()) * u128::from(BITS)) >> 64) as u64 % 3);
    assert!(tail(&biased) < ALPHA, "the test has no power: {:e}", tail(&biased));
}

/// Hashes on which simpler schemes set one bit or two.
#[test]
fn degenerate_hashes_still_have_distinct_positions() {
    let half = u128::from(u64::MAX);
    for hash in [0, u128::MAX, half, half << 64, 1, 1 << 64, 1 << 127, 1 << 63, u128::MAX - 1] {
        for bits in [1_000_000, 1 << 20, 1 << 40, (1 << 62) - 1] {
            let mut found = positions(hash, bits, 20);
            assert!(found.iter().all(|position| *position < bits));
            found.sort_unstable();
            found.dedup();
            // 20 of a million coincide with a chance of 2e-4; more than two pairs never.
            assert!(found.len() >= 18, "{hash:x} {bits}: {found:?}");
        }
        assert_eq!(positions(hash, 1, 5), [0; 5]);
    }
}
