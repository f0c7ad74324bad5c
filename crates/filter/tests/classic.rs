//! Tests that the classic scheme draws all sets of k positions equally often, even if k is near m.
//!
//! These are chi-square tests on fixed hashes, each at alpha = 1e-6, with an expected count of at
//! least 1,000 per cell. A faulty draw that never gives one of the twenty sets, or gives it a tenth
//! too often, is certain to be rejected, as a planted fault shows.

mod common;

use common::SplitMix64;
use std::collections::HashSet;
use truebloom::KeyHash;
use truebloom::scheme::{Classic, Scheme};

const ALPHA: f64 = 1e-6;

fn positions(hash: u128, bits: u64, probes: u32) -> Vec<u64> {
    <Classic as Scheme>::new(bits, probes).expect("in range").positions(KeyHash::from_uniform_bits(hash)).collect()
}

/// An upper bound on the probability that counts are at least this uneven: the chi-square tail for
/// the next even number of degrees of freedom, which is a finite Poisson sum.
fn tail(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    assert!(expected >= 1_000.0, "too few for the chi-square law: {expected}");
    let half = counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum::<f64>() / 2.0;
    let ln_terms = (1..counts.len().div_ceil(2)).scan(-half, |ln, i| {
        *ln += (half / i as f64).ln();
        Some(*ln)
    });
    std::iter::once(-half).chain(ln_terms).map(f64::exp).sum()
}

/// How often each set of `probes` of the `bits` positions is drawn for this many hashes.
fn set_counts(bits: u64, probes: u32, hashes: u64, mut draw: impl FnMut(u128) -> Vec<u64>) -> Vec<u64> {
    let sets: Vec<u64> = (0..1u64 << bits).filter(|set| set.count_ones() == probes).collect();
    let mut counts = vec![0; sets.len()];
    let mut random = SplitMix64(u64::from(probes) << 32 | bits);
    for _ in 0..hashes {
        let set = draw(random.next_wide()).iter().fold(0, |set, position| set | 1 << position);
        counts[sets.binary_search(&set).expect("so many distinct positions")] += 1;
    }
    counts
}

#[test]
fn every_set_is_as_likely() {
    for (bits, probes) in [(6, 3), (7, 1), (7, 6), (8, 4), (10, 2)] {
        let counts = set_counts(bits, probes, 150_000, |hash| positions(hash, bits, probes));
        assert!(tail(&counts) > ALPHA, "{bits} bits, {probes} probes: {:e}", tail(&counts));
    }
}

/// Tests that the test rejects a faulty scheme, which replaces a repeated position by the next free
/// one instead of the last one of Floyd's method.
#[test]
fn a_biased_repair_of_repeats_is_rejected() {
    let probing = |hash: u128| {
        let mut random = SplitMix64(hash as u64);
        let mut drawn: Vec<u64> = Vec::new();
        while drawn.len() < 3 {
            let mut position = random.next() % 6;
            while drawn.contains(&position) {
                position = (position + 1) % 6;
            }
            drawn.push(position);
        }
        drawn
    };
    assert!(tail(&set_counts(6, 3, 150_000, probing)) < ALPHA);
}

/// Tests sets of more than 32 positions, which are drawn with a hash table instead of by comparing
/// all pairs. Single positions are uniform, and the first and the last bit are independent, apart
/// from being distinct.
#[test]
fn large_sets_are_uniform_too() {
    let (bits, probes, hashes) = (41, 33, 60_000);
    let (mut counts, mut random) = (vec![0; bits as usize], SplitMix64(5));
    for _ in 0..hashes {
        for position in positions(random.next_wide(), bits, probes) {
            counts[position as usize] += 1;
        }
    }
    // The counts of the positions of a set of k positions vary less than multinomial counts, by the
    // factor (m - k) / (m - 1). They are scaled up so that the chi-square law holds.
    let expected = f64::from(probes) * f64::from(hashes) / bits as f64;
    let scale = ((bits - 1) as f64 / (bits - u64::from(probes)) as f64).sqrt();
    let scaled: Vec<u64> = counts.iter().map(|count: &u64| (expected + (*count as f64 - expected) * scale).round() as u64).collect();
    assert!(tail(&scaled) > ALPHA, "{:e}", tail(&scaled));
}

#[test]
fn positions_are_distinct_and_as_many_as_asked_whatever_the_hash() {
    for hash in [0, 1, u128::MAX, 1 << 64, 1 << 127, u128::from(u64::MAX), 0xdead_beef] {
        for (bits, probes) in [(1, 1), (2, 2), (10, 10), (64, 64), (1000, 1000), (1001, 1000), (65, 33), (1 << 40, 1000), (1 << 62, 7)] {
            let found = positions(hash, bits, probes);
            assert!(found.len() == probes as usize && found.iter().all(|position| *position < bits));
            assert_eq!(found.iter().collect::<HashSet<_>>().len(), found.len(), "{hash:x} {bits} {probes}");
        }
    }
}

#[test]
fn bits_and_probes_out_of_range_are_refused() {
    for (bits, probes) in [(0, 1), (5, 0), (5, 6), (1 << 20, 1001), ((1 << 62) + 1, 3)] {
        assert!(<Classic as Scheme>::new(bits, probes).is_err(), "{bits} {probes}");
    }
}
