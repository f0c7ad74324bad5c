//! Tests of the bounds for a single run.

use crate::common::chain::Chain;
use num_traits::ToPrimitive;
use truebloom_math::recycling::{Design, Mode, Seeds};

/// Computes how many of n new items pass, by the full chain of fills and counts, for one phase that
/// starts empty. The bound may fail with at most the stated probability. In long runs, a bound that
/// is 15% lower must fail with at least a fortieth of this probability.
#[test]
fn one_run_keeps_to_its_bound() {
    for (bits, probes, sigma, colliding) in [(12u64, 2u32, 5u64, true), (20, 3, 11, true), (20, 3, 11, false), (40, 1, 20, true)] {
        let design = Design::new(bits, probes, sigma, Mode { colliding, ..Mode::default() }).expect("a design");
        let chain = Chain::new(bits, probes.into(), sigma, colliding, false);
        let step: Vec<Vec<f64>> =
            (0..=sigma).map(|from| (0..=sigma).map(|to| chain.step(from, to).to_f64().expect("finite")).collect()).collect();
        for items in [1u64, 7, 60, 400] {
            let passed = passes(&step, items as usize);
            for confidence in [0.5, 0.9, 0.999, 0.999_999] {
                let most = design.wrong_drops_at_most(items, confidence).expect("in range");
                let fails: f64 = passed.iter().skip(most as usize + 1).sum();
                let context = format!("{design:?} {items} {confidence}: {most} fails with {fails:e}");
                assert!(fails <= (1.0 - confidence) * (1.0 + 1e-9), "{context}");
                let next: f64 = passed.iter().skip((most as f64 * 0.85) as usize).sum();
                // In short runs, the bound is less tight, because of the cycle in which the run
                // ends.
                assert!(items < 400 || next > (1.0 - confidence) / 40.0, "{context}, {next:e}");
            }
        }
    }
}

/// The law of the number of items that pass, among `items` new ones. An item that overflows the
/// last state starts a new cycle.
fn passes(step: &[Vec<f64>], items: usize) -> Vec<f64> {
    let states = step.len();
    let mut law = vec![vec![0.0; items + 1]; states];
    law[0][0] = 1.0;
    for _ in 0..items {
        let mut next = vec![vec![0.0; items + 1]; states];
        for (from, counts) in law.iter().enumerate() {
            let over = 1.0 - step[from].iter().sum::<f64>();
            for (count, &chance) in counts.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
                next[from][(count + 1).min(items)] += chance * step[from][from];
                (from + 1..states).for_each(|to| next[to][count] += chance * step[from][to]);
                next[0][count] += chance * over;
            }
        }
        law = next;
    }
    (0..=items).map(|count| law.iter().map(|counts| counts[count]).sum()).collect()
}

/// Tests two phases with binomial tails at the worst rate.
#[test]
fn one_run_of_two_phases_keeps_to_its_bound() {
    let design = Design::new(30, 2, 12, Mode::two_phase()).expect("a design");
    let worst = design.long_run().expect("in range").worst.upper;
    for (items, confidence) in [(1u64, 0.5), (40, 0.9), (400, 0.999_999), (400, 0.5)] {
        let most = design.wrong_drops_at_most(items, confidence).expect("in range");
        let fails: f64 = (most + 1..=items)
            .map(|x| {
                let ways: f64 = (0..x).map(|i| (((items - i) as f64) / ((x - i) as f64)).ln()).sum();
                (ways + x as f64 * worst.ln() + (items - x) as f64 * (-worst).ln_1p()).exp()
            })
            .sum();
        assert!(fails <= 1.0 - confidence && (items < 40 || most < items), "{items} {confidence}: {most} {fails}");
    }
    let kept = Design::new(30, 2, 12, Mode { seeds: Seeds::Kept, ..Mode::two_phase() }).expect("a design");
    assert!(
        kept.wrong_drops_at_most(9, 0.9).is_err()
            && design.wrong_drops_at_most(0, 0.9).is_err()
            && design.wrong_drops_at_most(9, 1.0).is_err()
    );
}
