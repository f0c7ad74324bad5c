//! Compares the bound on wrong drops with the exact law for a constant rate. In this case, the
//! number of drops between two kept items is geometric, so the total is negative binomial.

use truebloom_math::freedman::wrong_drops_at_most;

/// Returns the smallest number that the wrong drops exceed with probability at most `alpha` before
/// `kept` items are kept, and the probability that they exceed `bound`.
fn exact(kept: u64, rate: f64, alpha: f64, bound: u64) -> (u64, f64) {
    let mut ln_p = kept as f64 * (-rate).ln_1p();
    let mut probabilities = Vec::new();
    // This number is far beyond the quantile, so the omitted terms are negligible.
    let end = (kept as f64 * rate * 3.0) as u64 + 400;
    for drops in 0..end {
        probabilities.push(ln_p.exp());
        ln_p += ((kept + drops) as f64 / (drops + 1) as f64 * rate).ln();
    }
    let (mut tail, mut quantile, mut beyond) = (0.0, end, 0.0);
    for (drops, probability) in probabilities.iter().enumerate().rev() {
        if drops as u64 == bound {
            beyond = tail;
        }
        if tail <= alpha {
            quantile = drops as u64;
        }
        tail += probability;
    }
    (quantile, beyond)
}

#[test]
fn the_bound_holds_and_is_as_tight_as_its_proof() {
    for (kept, rate) in [(1, 0.3), (10, 0.01), (100, 0.2), (1_000, 1e-3), (1_000, 0.05), (10_000, 1e-2), (100_000, 1e-2), (1_000_000, 1e-5)]
    {
        for confidence in [0.9, 0.99, 0.999_999] {
            let odds = rate / (1.0 - rate);
            let expected = kept as f64 * odds;
            let bound = wrong_drops_at_most(expected, odds, confidence).expect("in range");
            let (quantile, beyond) = exact(kept, rate, 1.0 - confidence, bound);
            assert!(beyond <= 1.0 - confidence, "{kept} {rate} {confidence}: exceeded with {beyond:e}");
            // The bound is Bernstein's bound for a known variance, plus the cost of the grid of 96
            // points, plus 5% for values between the points.
            let exponent = -(-confidence).ln_1p() + 96f64.ln();
            let known = 1.05 * (2.0 * expected / (1.0 - rate) * exponent).sqrt() + exponent;
            assert!((quantile as f64..=expected + known).contains(&(bound as f64)), "{kept} {rate} {confidence}: {bound} for {quantile}");
        }
    }
}

#[test]
fn larger_odds_larger_sums_and_more_confidence_raise_the_bound() {
    let bound = |sum, odds, confidence| wrong_drops_at_most(sum, odds, confidence).expect("in range");
    assert!(bound(100.0, 0.01, 0.9) <= bound(100.0, 0.5, 0.9));
    assert!(bound(100.0, 0.01, 0.9) < bound(100.0, 0.01, 0.999));
    assert!(bound(100.0, 0.01, 0.9) < bound(200.0, 0.01, 0.9));
    // If the odds vanish, the result is the bound for Poisson drops, in whichever way they vanish.
    assert_eq!(bound(100.0, 0.0, 0.99), bound(100.0, 1e-300, 0.99));
    assert!(bound(0.0, 0.0, 0.99) <= 1 && bound(1e-12, 1e-15, 0.999_999) <= 2);
    // With odds of 0, no item is dropped. At this confidence, the bound is exactly 0.
    assert_eq!(bound(0.0, 0.0, 1e-6), 0);
    assert!((1e15..1.000_001e15).contains(&(bound(1e15, 0.01, 0.999_999) as f64)));
}

#[test]
fn numbers_that_mean_nothing_are_refused() {
    for (sum, odds, confidence) in [
        (-1.0, 0.1, 0.9),
        (f64::NAN, 0.1, 0.9),
        (1.0, f64::INFINITY, 0.9),
        (1.0, -0.1, 0.9),
        (1.0, 0.1, 0.0),
        (1.0, 0.1, 1.0),
        (1.0, 0.1, f64::NAN),
    ] {
        assert!(wrong_drops_at_most(sum, odds, confidence).is_err(), "{sum} {odds} {confidence}");
    }
    assert!(wrong_drops_at_most(1e300, 0.1, 0.9).is_err());
}
