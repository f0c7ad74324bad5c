//! Tests two-hash schemes on all pairs of residues, over which their laws average. Also tests how
//! the residues are drawn.

use crate::ALPHA;
use crate::common::SplitMix64;
use truebloom::KeyHash;
use truebloom::scheme::{Cube, Double, DoubleNonzero, Enhanced, PartitionDouble, Scheme, Square};
use truebloom_math::binomial;

/// A key's positions, as the set bits of a word.
type Mask = u64;

fn mask(positions: impl Iterator<Item = u64>) -> Mask {
    positions.fold(0, |mask, position| mask | 1 << position)
}

/// The false-positive rate with `items` items, averaged over all pairs of residues for the items
/// and for the query. The rate is computed in integers, by inclusion and exclusion over the query's
/// bits that are not set.
fn rate(masks: &[Mask], items: u32) -> f64 {
    let mut sum = 0i128;
    for query in masks {
        // All subsets of the query's bits.
        let mut empty = *query;
        loop {
            let spared = masks.iter().filter(|mask| *mask & empty == 0).count() as i128;
            sum += if empty.count_ones() % 2 == 0 { spared.pow(items) } else { -spared.pow(items) };
            if empty == 0 {
                break;
            }
            empty = (empty - 1) & query;
        }
    }
    sum as f64 / (masks.len() as f64).powi(items as i32 + 1)
}

/// The positions for all pairs of residues below `modulus`, with h2 at least `lowest`.
fn all<I: Iterator<Item = u64>>(modulus: u64, lowest: u64, of_residues: impl Fn(u64, u64) -> I) -> Vec<Mask> {
    (0..modulus).flat_map(|h1| (lowest..modulus).map(move |h2| (h1, h2))).map(|(h1, h2)| mask(of_residues(h1, h2))).collect()
}

fn hold(scheme: &impl Scheme, masks: &[Mask], what: &str) {
    for items in [1, 2, 5] {
        let (law, exact) = (scheme.law().fpr(items.into()).expect("a law"), rate(masks, items));
        let (low, high) = (law.lower * (1.0 - 1e-12), law.upper * (1.0 + 1e-12));
        assert!(low <= exact && exact <= high, "{what} with {items} items: {exact} by all pairs, {law:?} by its law");
    }
}

const SIZES: [(u64, u32); 8] = [(2, 2), (3, 3), (5, 4), (6, 3), (7, 4), (8, 4), (11, 5), (12, 5)];

#[test]
fn all_pairs_have_the_rate_of_the_law() {
    for (bits, probes) in SIZES {
        let what = |name: &str| format!("{name}, {bits} bits, {probes} probes");
        let double = Double::new(bits, probes).expect("in range");
        hold(&double, &all(bits, 0, |h1, h2| double.of_residues(h1, h2)), &what("double"));
        let nonzero = DoubleNonzero::new(bits, probes).expect("in range");
        hold(&nonzero, &all(bits, 1, |h1, h2| nonzero.of_residues(h1, h2)), &what("double-nonzero"));
        let square = Square::new(bits, probes).expect("in range");
        hold(&square, &all(bits, 0, |h1, h2| square.of_residues(h1, h2)), &what("square"));
        let cube = Cube::new(bits, probes).expect("in range");
        hold(&cube, &all(bits, 0, |h1, h2| cube.of_residues(h1, h2)), &what("cube"));
        let enhanced = Enhanced::new(bits, probes).expect("in range");
        hold(&enhanced, &all(bits, 0, |h1, h2| enhanced.of_residues(h1, h2)), &what("enhanced"));
        let sliced = PartitionDouble::new(bits * u64::from(probes), probes).expect("in range");
        hold(&sliced, &all(bits, 0, |h1, h2| sliced.of_residues(h1, h2)), &what("partition-double"));
    }
}

/// Tests the joint distribution of h1 and h2: all pairs that a scheme may draw are equally likely,
/// and it draws no other pairs.
#[test]
fn residues_are_uniform_together() {
    const DRAWS: u64 = 200_000;
    let mut hashes = SplitMix64(7);
    for (bits, lowest) in [(2, 0), (2, 1), (5, 0), (5, 1), (12, 0), (12, 1), (13, 1)] {
        let mut counts = vec![0u64; (bits * bits) as usize];
        for _ in 0..DRAWS {
            let hash = KeyHash::from_uniform_bits(hashes.next_wide());
            let (h1, h2) = match lowest {
                0 => Cube::new(bits, 1).expect("in range").residues(hash),
                _ => DoubleNonzero::new(bits, 1).expect("in range").residues(hash),
            };
            counts[(h1 * bits + h2) as usize] += 1;
        }
        let cells = bits * (bits - lowest);
        for (cell, count) in counts.into_iter().enumerate() {
            let allowed = cell as u64 % bits >= lowest;
            let p = if allowed { binomial::two_sided(count, DRAWS, 1.0 / cells as f64) } else { f64::from(u8::from(count == 0)) };
            assert!(p >= ALPHA / cells as f64, "{bits} bits from {lowest}: cell {cell} came {count} times");
        }
    }
}

/// Tests hashes that a good hash function almost never returns: there are as many positions as
/// probes, all of them in range, and the loop ends.
#[test]
fn degenerate_hashes_have_positions_all_the_same() {
    for hash in [0, 1, u128::MAX, 1 << 64, u128::from(u64::MAX), u128::MAX << 64, 1 << 127] {
        for bits in (1..=64).chain([1 << 62, (1 << 62) - 1, 3 << 60]) {
            for id in truebloom::scheme::SchemeId::ALL {
                for probes in [1, 2, 3, 7] {
                    let Ok(scheme) = truebloom::scheme::AnyScheme::named(id, bits, probes) else { continue };
                    let positions: Vec<u64> = scheme.positions(KeyHash::from_uniform_bits(hash)).collect();
                    assert!(
                        positions.len() == probes as usize && positions.iter().all(|position| *position < bits),
                        "{id} {bits} {probes} {hash:x}"
                    );
                }
            }
        }
    }
}
