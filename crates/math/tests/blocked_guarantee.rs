//! Measures how many bits the guarantee of blocked filters costs, and how many of them are due to
//! the bound. The reference is a simulation for few blocks, and the normal law for many blocks.

#[path = "common/set_bits.rs"]
mod set_bits;

use set_bits::{BITS as BLOCK, set_bits};
use truebloom_math::law::simulation::SplitMix64;
use truebloom_math::{Plan, Rate, SchemeId, Target};

/// The number of simulated filters per size. About 100 filters are above the 99.9% quantile; the
/// standard deviation of this count is 10%.
const FILTERS: u64 = 100_000;

fn value(ones: usize, probes: u32) -> f64 {
    (ones as f64 / BLOCK as f64).powi(probes as i32)
}

/// The number of simulated filters of `blocks` blocks whose rate is above `asked`. Loads are
/// simulated item by item; the set bits of a block are drawn from the law for its load.
fn above(blocks: u64, items: u64, probes: u32, asked: f64) -> u64 {
    let mean = items as f64 / blocks as f64;
    let rows = set_bits((mean + 12.0 * mean.sqrt() + 25.0) as usize, probes);
    // Running sums, starting with the first load that has a non-negligible probability.
    let running: Vec<(usize, Vec<f64>)> = rows
        .iter()
        .map(|row| {
            let first = row.iter().position(|p| *p > 1e-15).expect("a law");
            let mut sum = 0.0;
            (
                first,
                row[first..]
                    .iter()
                    .map(|p| {
                        sum += p;
                        sum
                    })
                    .collect(),
            )
        })
        .collect();
    let values: Vec<f64> = (0..=BLOCK).map(|ones| value(ones, probes)).collect();
    let mut words = SplitMix64::at(blocks << 32 | u64::from(probes));
    let mut loads = vec![0usize; blocks as usize];
    (0..FILTERS)
        .filter(|_| {
            loads.fill(0);
            (0..items).for_each(|_| loads[words.below(blocks) as usize] += 1);
            let mut sum = 0.0;
            for &load in &loads {
                let (first, running) = &running[load.min(running.len() - 1)];
                let drawn = words.unit();
                sum += values[(first + running.partition_point(|sum| *sum < drawn)).min(BLOCK)];
            }
            sum > asked * blocks as f64
        })
        .count() as u64
}

/// Mean and variance of the rate of one filter, up to terms of order one over the number of blocks.
/// The variance is computed for Poisson loads, minus the part that is linear in the load, because
/// the sum of the loads is fixed.
fn moments(blocks: f64, items: f64, probes: u32) -> (f64, f64) {
    let lambda = items / blocks;
    let rows = set_bits((lambda + 12.0 * lambda.sqrt() + 20.0) as usize, probes);
    let (mut weight, mut sums) = ((-lambda).exp(), [0.0f64; 3]);
    for (load, row) in rows.iter().enumerate() {
        let (first, second) = row.iter().enumerate().fold((0.0, 0.0), |(first, second), (ones, p)| {
            let value = value(ones, probes);
            (first + p * value, second + p * value * value)
        });
        sums[0] += weight * first;
        sums[1] += weight * second;
        sums[2] += weight * first * (load as f64 - lambda);
        weight *= lambda / (load as f64 + 1.0);
    }
    (sums[0], (sums[1] - sums[0] * sums[0] - sums[2] * sums[2] / lambda) / blocks)
}

/// The smallest number of blocks for which `fails` is false, between `failed` (where it is true)
/// and `enough` (where it is false).
fn fewest(mut failed: u64, mut enough: u64, fails: impl Fn(u64) -> bool) -> u64 {
    while enough - failed > (enough / 100_000).max(1) {
        let middle = failed + (enough - failed) / 2;
        if fails(middle) { failed = middle } else { enough = middle }
    }
    enough
}

fn plans(items: u64, text: &str) -> (Plan, Plan, Plan) {
    let rate: Rate = text.parse().expect("a rate");
    let target = Target::new().items(items).rate(rate).scheme(SchemeId::Blocked);
    let standard = Target::new().items(items).rate(rate);
    (Plan::new(&target.clone().mean()).expect("easy"), Plan::new(&target).expect("easy"), Plan::new(&standard).expect("easy"))
}

fn show(items: u64, text: &str, how: &str, least: u64) -> f64 {
    let (mean, sure, standard) = plans(items, text);
    let blocks = |plan: &Plan| plan.bits / BLOCK as u64;
    let percent = |more: u64, of: u64| 100.0 * (more as f64 / of as f64 - 1.0);
    let loose = percent(blocks(&sure), least);
    println!(
        "{items} items at {text}: {} blocks on average, {least} for 99.9% ({how}: {:.3}% more), {} by the bound ({loose:.3}% above that); {:.1}% above the standard layout",
        blocks(&mean),
        percent(least, blocks(&mean)),
        blocks(&sure),
        percent(sure.bits, standard.bits),
    );
    loose
}

/// For few blocks, compares the plan with the smallest number of blocks at which at most one in a
/// thousand simulated filters is above the rate. The plan must not have fewer blocks, except for
/// the random error of the simulation (10% of the probability, which is well below a block here).
/// It may exceed this number by at most the stated percentage.
#[test]
fn what_the_bound_gives_away_of_a_thousand_items() {
    for (text, most) in [("1%", 6.0), ("0.1%", 12.0), ("1e-6", 60.0)] {
        let (mean, sure, _) = plans(1_000, text);
        let (first, last) = (mean.bits / BLOCK as u64 - 1, sure.bits / BLOCK as u64);
        let asked: f64 = text.parse::<Rate>().expect("a rate").to_f64();
        assert!(above(last, 1_000, sure.probes, asked) <= 150, "{text}: {sure:?}");
        let least = (sure.probes.saturating_sub(2)..=sure.probes + 2)
            .map(|probes| fewest(first, last + last / 5, |blocks| above(blocks, 1_000, probes, asked) > FILTERS / 1_000))
            .min()
            .expect("some");
        let loose = show(1_000, text, "simulated", least);
        assert!((-1.0..most).contains(&loose), "{text}: {loose}%");
    }
}

/// For many blocks, compares the plan with the normal law: the mean plus 3.0902 standard
/// deviations.
#[test]
fn what_the_bound_gives_away_of_many_items() {
    for (items, text, most) in [(100_000, "1%", 0.3), (100_000, "0.1%", 0.5), (10_000_000, "1%", 0.03), (10_000_000, "0.1%", 0.05)] {
        let (mean, sure, _) = plans(items, text);
        let asked: f64 = text.parse::<Rate>().expect("a rate").to_f64();
        let fails = |blocks: u64| {
            let (mean, variance) = moments(blocks as f64, items as f64, sure.probes);
            mean + 3.0902 * variance.sqrt() > asked
        };
        let least = fewest(mean.bits / BLOCK as u64 - 1, sure.bits / BLOCK as u64 * 11 / 10, fails);
        let loose = show(items, text, "normal law", least);
        assert!((-0.02..most).contains(&loose), "{items} {text}: {loose}%");
    }
}
