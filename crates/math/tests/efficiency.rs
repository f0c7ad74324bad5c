//! Compares peaks and valleys of efficiency with an exhaustive search in exact fractions, and with
//! the reference vectors.

mod common;

use common::oracle;
use common::{fraction, int, power, rows};
use num_rational::BigRational;
use num_traits::One;
use truebloom_math::{
    Variant, best_probes_approximation, crossover, efficiency, max_efficiency, optimal_probes, peak_efficiency, peak_items_approximation,
    standard_limit, valley_efficiency,
};

/// Finds the most efficient number of items by comparing `f(n)^n` exactly, for every n up to the
/// point from which it only rises. The smallest value is the most efficient.
fn exhaustive(variant: Variant, bits: u64, probes: u32, most: u64) -> (u64, BigRational) {
    let mut best = (1, oracle::rate(variant, bits, 1, probes));
    for items in 2..=most {
        let value = power(&oracle::rate(variant, bits, items, probes), items as u32);
        if value < best.1 {
            best = (items, value);
        }
    }
    best
}

#[test]
fn every_small_peak_is_the_best_of_all() {
    for variant in Variant::ALL {
        for bits in 1..=13u64 {
            let mut maximum: Option<(u64, u32, BigRational)> = None;
            for probes in 1..=bits as u32 {
                let (items, value) = exhaustive(variant, bits, probes, 2 * bits + 4);
                let peak = peak_efficiency(variant, bits, probes).expect("in range");
                assert_eq!((peak.items, peak.probes, peak.proven), (items, probes.into(), true), "{variant} m={bits} k={probes}");
                if maximum.as_ref().is_none_or(|(_, _, best)| value < *best) {
                    maximum = Some((items, probes, value));
                }
            }
            let (items, probes, value) = maximum.expect("at least one");
            let found = max_efficiency(variant, bits).expect("in range");
            assert_eq!((found.items, found.probes, found.proven), (items, probes.into(), true), "{variant} m={bits}");
            let expected = if value.is_one() { 0.0 } else { efficiency(variant, bits, items, probes).expect("in range") };
            assert_eq!(found.value, expected, "{variant} m={bits}");
        }
    }
}

#[test]
fn peaks_of_the_vectors() {
    let all = rows("efficiency.json");
    let mut worst = 0f64;
    for row in all["peaks_integer_n"].as_array().expect("rows") {
        let variant = if row["variant"] == "S" { Variant::Standard } else { Variant::Classic };
        let peak = peak_efficiency(variant, int(row, "m"), int(row, "k") as u32).expect("in range");
        assert_eq!((peak.items, peak.proven), (int(row, "n_peak"), true), "{row}");
        let expected: f64 = row["eff"].as_str().expect("digits").parse().expect("a number");
        worst = worst.max((peak.value / expected - 1.0).abs());
    }
    println!("worst relative error of a peak: {worst:e}");
    assert!(worst < 1e-14);
    for row in all["max"].as_array().expect("rows") {
        let bits = int(row, "m");
        let number = |field: &str| row[field].as_str().expect("digits").parse::<f64>().expect("a number");
        let (items, value) = standard_limit(bits).expect("in range");
        assert!((items / number("n_real") - 1.0).abs() < 1e-15 && (value / number("effS_max_real_n") - 1.0).abs() < 1e-15, "{row}");
        // The vectors hold (75), which is not the maximum at three bits: f(2, 1)^2 = 25/81 is below
        // f(1, 1) = 1/3.
        let classic = match bits {
            3 => peak_efficiency(Variant::Classic, 3, 2).expect("in range"),
            _ => max_efficiency(Variant::Classic, bits).expect("in range"),
        };
        assert!((classic.value / number("effC_max") - 1.0).abs() < 1e-13, "{classic:?} {row}");
    }
}

/// Tests that Burns' conjecture 28 (peaks rise with the number of probes) is false. The
/// counterexample has 12 bits, and is computed in exact fractions and by the library.
#[test]
fn conjecture_28_is_false() {
    let rate = |items, probes| oracle::rate(Variant::Classic, 12, items, probes);
    assert!(power(&rate(8, 1), 8) < power(&rate(4, 2), 4));
    let (one, two) =
        (peak_efficiency(Variant::Classic, 12, 1).expect("in range"), peak_efficiency(Variant::Classic, 12, 2).expect("in range"));
    assert_eq!((one.items, two.items), (8, 4));
    assert!(one.value > two.value && (one.value - 0.66384).abs() < 1e-5 && (two.value - 0.66359).abs() < 1e-5);
    let counterexamples: Vec<_> = (1..=40u64)
        .flat_map(|bits| (1..(bits / 2) as u32).map(move |k| (bits, k)))
        .filter(|&(bits, k)| {
            let peak = |k| peak_efficiency(Variant::Classic, bits, k).expect("in range").value;
            peak(k) >= peak(k + 1)
        })
        .collect();
    assert_eq!(counterexamples, [(9, 1), (12, 1), (29, 1), (32, 1), (35, 1), (38, 1), (38, 4)]);
}

#[test]
fn maxima_at_any_size() {
    for bits in [2, 4, 5, 21, 100, 128, 255] {
        let found = max_efficiency(Variant::Classic, bits).expect("in range");
        assert_eq!((found.items, found.probes, found.proven), (1, bits / 2, true));
    }
    let found = max_efficiency(Variant::Classic, 3).expect("in range");
    assert_eq!((found.items, found.probes, found.proven), (2, 1, true), "Burns' (75) is false at three bits");
    let found = max_efficiency(Variant::Standard, 100).expect("in range");
    assert_eq!((found.items, found.probes, found.proven), (69, 1, true));
    assert!((found.value - 0.689675592570).abs() < 1e-12);
    // (75) for more bits than the search covers, computed in another way: the rate of one item is 1
    // / C(m, m/2).
    let found = max_efficiency(Variant::Classic, 4_001).expect("in range");
    assert_eq!((found.items, found.probes, found.proven), (1, 2_000, false));
    assert!((found.value - efficiency(Variant::Classic, 4_001, 1, 2_000).expect("in range")).abs() < 1e-13);
    for variant in Variant::ALL {
        let found = max_efficiency(variant, 1 << 40).expect("in range");
        assert_eq!(found.proven, variant != Variant::Classic);
        assert!(found.value < 1.0 && found.value > 0.693, "{found:?}");
    }
    let found = max_efficiency(Variant::Partitioned, 1_000).expect("in range");
    assert_eq!((found.items, found.probes, found.proven), (693, 1, true));
    let large = peak_efficiency(Variant::Standard, 1 << 40, 7).expect("in range");
    let (below, above) = (large.items - 1, large.items + 1);
    let value = |items| efficiency(Variant::Standard, 1 << 40, items, 7).expect("in range");
    assert!(!large.proven && large.value >= value(below) - 1e-15 && large.value >= value(above) - 1e-15);
}

#[test]
fn crossovers_of_the_vectors() {
    let all = rows("efficiency.json");
    for row in all["theorem31"].as_array().expect("rows") {
        let k = int(row, "k") as u32;
        let expected: f64 = row["x"].as_str().expect("digits").parse().expect("a number");
        let x = crossover(k).expect("in range");
        assert!((x / expected - 1.0).abs() < 3e-16, "{x} {row}");
        // Both sides of (78), and the efficiency there.
        let rate = |k: u32| (-(-x * f64::from(k)).exp_m1()).powi(k as i32);
        assert!((rate(k) / rate(k + 1) - 1.0).abs() < 1e-13);
        assert!((valley_efficiency(k).expect("in range") + x * rate(k).log2()).abs() < 1e-13);
    }
    assert!((valley_efficiency(100_000).expect("in range") - std::f64::consts::LN_2).abs() < 1e-5);
    assert!(crossover(0).is_err() && crossover(200_000).is_err());
    let z = fraction("1.6180339887498948482045868343656");
    assert!((crossover(1).expect("in range").exp() - num_traits::ToPrimitive::to_f64(&z).expect("finite")).abs() < 1e-15);
}

/// Tests the approximations of remark 29: as the reference states, they are good for two or more
/// items and poor for one item.
#[test]
fn approximations_of_remark_29() {
    for (bits, items, approximate, best) in [(1_024, 5, 124.67, 124), (1_000, 20, 33.50, 33), (100, 1, 40.9, 49)] {
        let found = best_probes_approximation(bits, items).expect("in range");
        assert!((found - approximate).abs() < 0.05, "{found}");
        let probes = optimal_probes(Variant::Classic, bits, items).expect("in range").probes;
        assert!(probes == best || (bits, probes) == (100, 50), "{probes}");
    }
    let peak = peak_efficiency(Variant::Classic, 1_024, 20).expect("in range").items as f64;
    assert!((peak_items_approximation(1_024, 20).expect("in range") - peak).abs() < 1.0);
    assert!(best_probes_approximation(10, 0).is_err() && peak_items_approximation(10, 11).is_err() && standard_limit(0).is_err());
    assert!(peak_efficiency(Variant::Partitioned, 3, 4).is_err() && max_efficiency(Variant::Standard, 0).is_err());
}
