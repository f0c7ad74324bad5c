//! Tests that a plan of a blocked filter with a guarantee is at least as good as the same plan with
//! any given number of probes, and that the guaranteed rate is a smooth function of the number of
//! probes.

use truebloom_math::{Error, Layout, Plan, Target};

const BLOCK: u64 = 512;

/// The numbers of probes to try: those near the plan's number, and every second or third of the
/// others, because such plans take long.
fn probes(plan: &Plan) -> impl Iterator<Item = u32> {
    let step = if plan.items > 1_000 { 2 } else { 3 };
    (1..=64u32).filter(move |probes| probes.abs_diff(plan.probes) <= 3 || probes % step == 0)
}

fn target(items: u64, rate: &str) -> Target {
    Target::new().items(items).rate(rate.parse().expect("a rate")).layout(Layout::Lines)
}

fn fewest(items: u64, rate: &str) {
    let target = target(items, rate);
    let plan = Plan::new(&target).expect("easy");
    for given in probes(&plan) {
        let least = match Plan::new(&target.clone().probes(given)) {
            Ok(other) => other.bits / BLOCK,
            Err(Error::OverMemoryCap { .. }) => continue,
            Err(error) => panic!("{items} at {rate}, {given} probes: {error}"),
        };
        let blocks = plan.bits / BLOCK;
        // For more than a million blocks, differences of a hundred-thousandth cannot be
        // distinguished.
        let apart = blocks / 5_000;
        assert!(blocks <= least + apart, "{items} at {rate}: {blocks} blocks with {} probes, {least} with {given}", plan.probes);
    }
}

#[test]
fn no_other_probes_take_fewer_blocks_for_few_items() {
    for (items, rate) in [(1, "1e-6"), (20, "1e-9"), (50, "1e-6"), (100, "1e-8"), (300, "1e-3")] {
        fewest(items, rate);
    }
}

#[test]
fn no_other_probes_take_fewer_blocks_for_many_items() {
    for (items, rate) in [(10_000, "1e-4"), (1_000_000, "1e-10"), (1_000_000_000, "1e-12")] {
        fewest(items, rate);
    }
}

fn kept(target: &Target, probes: Option<u32>) -> f64 {
    let target = Target { probes, ..target.clone() };
    Plan::new(&target).expect("easy").guarantee.expect("asked for").fpr.upper
}

/// Tests that the plan of a given size has the number of probes with the lowest guaranteed rate.
/// This rate must be a smooth function of the number of probes: its logarithm has small second
/// differences.
#[test]
fn what_is_kept_of_a_size_is_the_lowest_and_smooth_in_the_probes() {
    for (items, bits) in [(100, 20 * BLOCK), (10_000, 1_700 * BLOCK), (1_000_000_000_000, 300_000_000_000_000)] {
        let target = Target::new().items(items).bits(bits).layout(Layout::Lines);
        let least = kept(&target, None);
        let curve: Vec<f64> = (8..40).map(|probes| kept(&target, Some(probes))).collect();
        let lowest = curve.iter().copied().fold(1.0, f64::min);
        assert!(least <= lowest * 1.01, "{items} in {bits}: {least:e} but {lowest:e} is possible");
        for (near, probes) in curve.windows(3).zip(9..) {
            let bend = (near[0] * near[2] / (near[1] * near[1])).ln();
            assert!(bend.abs() < 0.35, "{items} in {bits}, {probes} probes: {near:?}");
        }
    }
}

/// Tests that no other number of probes holds more items in a given size.
#[test]
fn no_other_probes_hold_more_items() {
    for (blocks, rate) in [(20, "1e-8"), (400, "1e-4")] {
        let target = Target::new().bits(blocks * BLOCK).rate(rate.parse().expect("a rate")).layout(Layout::Lines);
        let plan = Plan::new(&target).expect("easy");
        for given in probes(&plan).filter(|probes| probes.abs_diff(plan.probes) <= 6) {
            let other = Plan::new(&target.clone().probes(given)).map_or(0, |other| other.items);
            assert!(
                plan.items + plan.items / 500 >= other,
                "{blocks} blocks at {rate}: {} with {}, {other} with {given}",
                plan.items,
                plan.probes
            );
        }
    }
}
