//! Tests how rates depend on bits, items and probes, and distinguishes what is proven from what is
//! only observed. False conjectures of the papers are in `tests/errata`.

mod common;

use common::oracle;
use common::ratio;
use num_rational::BigRational;
use num_traits::One;
use truebloom_math::{Rate, Variant, max_items, min_bits, optimal_probes};

fn best(variant: Variant, bits: u64, items: u64) -> Vec<u32> {
    optimal_probes(variant, bits, items).expect("in range").ties
}

#[test]
fn no_items_have_no_best_probes() {
    for variant in [Variant::Standard, Variant::Classic, Variant::Partitioned] {
        assert_eq!(optimal_probes(variant, 1, 0).unwrap_err().to_string(), "items is 0, but must be at least 1");
    }
}

/// Tests that the rate falls with the number of bits and rises with the number of items, for a
/// fixed number of probes. Coupling proves this in general (docs/design/planning.md).
#[test]
fn monotone_in_bits_and_items() {
    for variant in Variant::ALL {
        for probes in 1..=6u32 {
            for items in 1..=4 {
                let rates: Vec<BigRational> = (u64::from(probes)..=18).map(|bits| oracle::rate(variant, bits, items, probes)).collect();
                assert!(rates.windows(2).all(|pair| pair[1] < pair[0]), "{variant} n={items} k={probes}");
                let bits = u64::from(probes) + 7;
                assert!(
                    oracle::rate(variant, bits, items, probes) < oracle::rate(variant, bits, items + 1, probes),
                    "{variant} n={items} k={probes}"
                );
            }
        }
    }
}

/// Tests at large sizes that neighbouring numbers of bits or items have brackets that do not
/// overlap.
#[test]
fn brackets_separate_neighbours() {
    for variant in Variant::ALL {
        for (bits, items, probes) in [(9_595, 1_000, 7), (1_000_000, 69_000, 10), (95_850_584, 10_000_000, 7)] {
            let fpr = |bits, items| variant.fpr(bits, items, probes).expect("in range");
            let here = fpr(bits, items);
            assert!(
                fpr(bits + 1, items).upper < here.lower && here.upper < fpr(bits, items + 1).lower,
                "{variant} m={bits} n={items} k={probes}"
            );
        }
    }
}

/// Tests an observation for small sizes that the crate never relies on: as the number of probes
/// grows, the standard and classic rates fall to a minimum and then rise.
#[test]
fn unimodal_in_probes() {
    for variant in [Variant::Standard, Variant::Classic] {
        for bits in 2..=16u64 {
            for items in 1..=4 {
                let rates: Vec<BigRational> = (1..=bits as u32).map(|probes| oracle::rate(variant, bits, items, probes)).collect();
                let least = rates.iter().min().expect("not empty");
                let bottom = rates.iter().position(|rate| rate == least).expect("found");
                assert!(rates[..bottom + 1].windows(2).all(|pair| pair[0] > pair[1]), "{variant} m={bits} n={items}");
                assert!(rates[bottom..].windows(2).all(|pair| pair[0] <= pair[1]), "{variant} m={bits} n={items}");
            }
        }
    }
}

/// Compares the best numbers of probes and their ties with a search over every number of probes in
/// exact fractions.
#[test]
fn best_probes_by_brute_force() {
    for variant in Variant::ALL {
        for bits in 2..=14u64 {
            for items in 1..=6 {
                // For more probes than twice the bits, the rate of a standard filter only rises,
                // because the lower bound (E[X]/m)^k tends to 1.
                let most = if variant == Variant::Standard { 2 * bits as u32 } else { bits as u32 };
                let rates: Vec<BigRational> = (1..=most).map(|probes| oracle::rate(variant, bits, items, probes)).collect();
                let least = rates.iter().min().expect("not empty");
                let ties: Vec<u32> = (1..=most).filter(|&k| rates[k as usize - 1] == *least).collect();
                let found = optimal_probes(variant, bits, items).expect("in range");
                assert_eq!(found.ties, ties, "{variant} m={bits} n={items}");
                assert!(found.probes == ties[0] && !found.capped);
                oracle::hold(&found.fpr, least, &format!("{variant} m={bits} n={items}"));
            }
        }
    }
}

#[test]
fn ties_are_found_exactly() {
    assert_eq!(best(Variant::Standard, 3, 1), [1, 2]);
    for half in 1..=20u32 {
        assert_eq!(best(Variant::Classic, 2 * u64::from(half) + 1, 1), [half, half + 1]);
        assert_eq!(best(Variant::Classic, 2 * u64::from(half), 1), [half]);
    }
    // After one item, a filter with one bit is full, whatever the number of probes.
    assert_eq!(best(Variant::Standard, 1, 1).len(), 1_000);
    assert_eq!(best(Variant::Classic, 1, 1), [1]);
}

/// Tests that one probe is best above ln 2 items per bit, even where all rates are 1 to every digit
/// of an `f64`.
#[test]
fn one_probe_is_best_past_saturation() {
    for variant in Variant::ALL {
        for (bits, items) in [(100, 70), (1_000, 10_000), (1_000, 1_000_000), (1 << 40, 1 << 41)] {
            assert_eq!(best(variant, bits, items), [1], "{variant} m={bits} n={items}");
        }
    }
}

/// Compares the smallest size with all smaller sizes, because the rate of a partitioned filter at
/// its best number of probes is not monotone in the bits.
#[test]
fn fewest_bits_by_brute_force() {
    for variant in Variant::ALL {
        for items in 1..=3u64 {
            // The best rate of each size, computed in fractions.
            let least = |bits: u64| {
                let most = if variant == Variant::Standard { 14 } else { bits.min(14) as u32 };
                (1..=most).map(|probes| oracle::rate(variant, bits, items, probes)).min().expect("not empty")
            };
            let rates: Vec<BigRational> = (1..=18).map(least).collect();
            for (text, rate) in [
                ("1/2", ratio(1, 2)),
                ("1/3", ratio(1, 3)),
                ("0.25", ratio(1, 4)),
                ("0.1", ratio(1, 10)),
                ("3/64", ratio(3, 64)),
                ("1/27", ratio(1, 27)),
                ("0.0234375", ratio(3, 128)),
            ] {
                let expected = rates.iter().position(|found| *found <= rate).map(|i| i as u64 + 1);
                let asked: Rate = text.parse().expect("a rate");
                let found = min_bits(variant, items, &asked).expect("in range").map(|best| best.bits);
                match expected {
                    Some(expected) => assert_eq!(found, Some(expected), "{variant} n={items} p={text}"),
                    None => assert!(found.is_none_or(|bits| bits > 18), "{variant} n={items} p={text}"),
                }
            }
        }
    }
}

#[test]
fn most_items_by_brute_force() {
    for variant in Variant::ALL {
        for bits in 1..=12u64 {
            let fits = |items: u64, rate: &BigRational| {
                let most = if variant == Variant::Standard { 12 } else { bits as u32 };
                (1..=most).any(|probes| oracle::rate(variant, bits, items, probes) <= *rate)
            };
            for (text, rate) in [
                ("1/2", ratio(1, 2)),
                ("3/4", ratio(3, 4)),
                ("0.19", ratio(19, 100)),
                ("0.1", ratio(1, 10)),
                ("1/64", ratio(1, 64)),
                ("0.9", ratio(9, 10)),
            ] {
                let expected = (1..).take_while(|&items| fits(items, &rate)).count() as u64;
                let asked: Rate = text.parse().expect("a rate");
                let found = max_items(variant, bits, &asked).expect("in range").map_or(0, |best| best.items);
                assert_eq!(found, expected, "{variant} m={bits} p={text}");
            }
        }
    }
}

/// Tests that Bloom's own formula is the exact rate for equal slices.
#[test]
fn equal_slices_are_blooms_formula() {
    for (bits, items, probes) in [(12u64, 3usize, 4u32), (30, 7, 5), (14, 9, 7)] {
        let empty = num_traits::pow(ratio(bits - u64::from(probes), bits), items);
        let formula = num_traits::pow(BigRational::one() - empty, probes as usize);
        assert_eq!(oracle::rate(Variant::Partitioned, bits, items as u64, probes), formula);
        oracle::hold(&Variant::Partitioned.fpr(bits, items as u64, probes).expect("in range"), &formula, "equal slices");
    }
}
