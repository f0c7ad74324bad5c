//! Compares the guesses of plans with the exact law.

use super::about::{RateTable, ln_rate};
use super::mean::{about_blocks, law};
use super::sizes::Sizes;
use super::sure::Sure;
use crate::{Law, Rate, Target};

/// Compares the starting points of plans with the exact law. The lower bound is below the exact
/// rate, the table has an error of 1e-9, and the approximation with the second-order term is close.
#[test]
fn guesses_are_near_the_law() {
    let mut table = RateTable::new();
    for (blocks, items, probes) in [
        (3u64, 100u64, 4u32),
        (20, 1_000, 1),
        (20, 300, 2),
        (300, 9_000, 2),
        (20, 1_000, 7),
        (200, 4_000, 12),
        (200, 20_000, 3),
        (5_000, 100_000, 16),
    ] {
        let exact = law(blocks, probes).and_then(|law| law.fpr(items)).expect("in range");
        let (b, n) = (blocks as f64, items as f64);
        let (first, second, tabled) = (ln_rate(b, n, probes, false), ln_rate(b, n, probes, true), table.ln_rate(b, n, probes));
        assert!(first <= exact.ln_upper + 1e-9 && (tabled - exact.ln).abs() < 1e-9, "{blocks} {items} {probes}");
        // With two probes, there are no terms beyond the second order.
        let most = if probes <= 2 { 1e-11 } else { 0.1 * (exact.ln - first) };
        assert!((second - exact.ln).abs() <= most, "{blocks} {items} {probes}: {}", second - exact.ln);
    }
}

/// Tests that the estimated size has an average rate close to the requested rate.
#[test]
fn guessed_sizes_have_the_rate() {
    for (items, probes, rate) in [(1_000u64, 5u32, 1e-2f64), (100_000, 9, 1e-3), (10_000_000, 7, 1e-2), (1_000_000, 16, 1e-6)] {
        for start in [items as f64 / 100.0, items as f64 / 30.0, items as f64 / 5.0, items as f64] {
            let blocks = about_blocks(items, probes, rate.ln(), start);
            let missed = ln_rate(blocks, items as f64, probes, true) - rate.ln();
            assert!(missed.abs() < 1e-6 + probes as f64 * 0.3 / blocks, "{items} {probes} {rate} from {start}: {blocks} {missed}");
        }
    }
}

/// Tests the estimated size for a guarantee. At this size, the approximate guaranteed rate must be
/// close to the requested rate.
#[test]
fn guessed_sizes_for_a_guarantee_have_the_rate() {
    for (items, text, probes) in [(1_000u64, "1%", 5u32), (100_000, "0.1%", 8), (10_000_000, "1%", 6)] {
        let rate: Rate = text.parse().expect("a rate");
        let target = Target::new().items(items).rate(rate);
        let mean = about_blocks(items, probes, rate.ln(), items as f64 / 50.0);
        let mut sure = Sure::new(&target, 0.999, probes, mean as u64, items).expect("blocks that are followed");
        let guess = sure.about_size(&rate, Sizes::Blocks { mean: mean as u64, items }, 0);
        sure.tilt_at(guess as u64, items);
        let missed = sure.ln_about(guess as u64, items) - rate.ln();
        assert!(guess > mean && missed.abs() < 1e-3 + probes as f64 * 1.5 / guess, "{items} {text}: {mean} {guess} {missed}");
    }
}
