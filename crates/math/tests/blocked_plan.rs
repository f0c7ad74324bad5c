//! Tests that plans of blocked filters meet the rate, and that one block less or one item more
//! would miss it with any number of probes. Also tests the rate of one filter against its blocks.

mod common;

use common::oracle::hold;
use common::{choose, ratio};
use num_rational::BigRational;
use num_traits::pow;
use truebloom_math::law::{Blocked, InBlock};
use truebloom_math::{Error, Law, Layout, Plan, Promise, Rate, Target};

/// The largest number of probes of a blocked filter.
const MOST_PROBES: u32 = 64;

fn target(items: Option<u64>, rate: Option<&str>, bits: Option<u64>) -> Target {
    let mut target = Target::new().layout(Layout::Lines).mean();
    (target.items, target.rate, target.bits) = (items, rate.map(|rate| rate.parse().expect("a rate")), bits);
    target
}

fn meets(bits: u64, probes: u32, items: u64, rate: &str) -> bool {
    let rate: Rate = rate.parse().expect("a rate");
    Blocked::new(bits, 512, InBlock::Independent, probes).and_then(|law| law.meets(items, &rate, 128)).expect("in range")
}

#[test]
fn a_block_less_would_not_do_at_any_probes() {
    for (items, rate) in [
        (1, "0.5"),
        (1, "1e-6"),
        (10, "1e-3"),
        (33, "0.1"),
        (100, "1e-6"),
        (1_000, "1e-2"),
        (54_700, "1e-3"),
        (1_000_000, "1e-4"),
        (10_000_000_000, "1e-2"),
    ] {
        let plan = Plan::new(&target(Some(items), Some(rate), None)).expect("a plan");
        assert!(meets(plan.bits, plan.probes, items, rate) && plan.fpr.upper <= rate.parse::<f64>().expect("a number"), "{plan:?}");
        let less = plan.bits - 512;
        assert!(less == 0 || (1..=MOST_PROBES).all(|probes| !meets(less, probes, items, rate)), "{plan:?}");
        let lowest = (1..=MOST_PROBES).all(|probes| {
            let other = Blocked::new(plan.bits, 512, InBlock::Independent, probes).and_then(|law| law.fpr(items)).expect("in range");
            other.upper >= plan.law().and_then(|law| law.fpr(items)).expect("in range").lower
        });
        assert!(lowest, "{plan:?}");
    }
}

#[test]
fn an_item_more_would_not_do_at_any_probes() {
    for (bits, rate) in [(512, "0.5"), (600, "1e-2"), (65_536, "1e-3"), (8 << 23, "1e-2"), (1 << 40, "1e-4")] {
        let plan = Plan::new(&target(None, Some(rate), Some(bits))).expect("a plan");
        assert_eq!(plan.bits, bits / 512 * 512);
        assert!(meets(plan.bits, plan.probes, plan.items, rate), "{plan:?}");
        assert!((1..=MOST_PROBES).all(|probes| !meets(plan.bits, probes, plan.items + 1, rate)), "{plan:?}");
    }
}

/// Tests the goals of 9.93 bits per key at 1% and 15.6 at 0.1%. The blocked layout is worth the
/// additional bits at 1% and 0.1%, but not at 1e-4.
#[test]
fn the_price_beside_the_standard_filter() {
    for (rate, most, worth_it) in [("1e-2", 9.93, true), ("1e-3", 15.6, true), ("1e-4", 22.1, false), ("1e-6", 39.0, false)] {
        let target = target(Some(1_000_000), Some(rate), None);
        let (plan, standard) = (Plan::new(&target).expect("a plan"), Plan::new(&target.clone().layout(Layout::Spread)).expect("a plan"));
        let bits_a_key = plan.bits as f64 / 1e6;
        assert!(bits_a_key <= most && plan.is_worth_it(&standard) == worth_it, "{rate}: {bits_a_key}");
    }
}

#[test]
fn given_sizes_and_probes_are_kept() {
    let plan = Plan::new(&target(Some(1_000), None, Some(10_000))).expect("a plan");
    assert_eq!((plan.bits, plan.items, plan.rate), (9_728, 1_000, None));
    let given = Plan::new(&target(Some(1_000), Some("1%"), None).probes(3)).expect("a plan");
    assert!(given.probes == 3 && given.bits > Plan::new(&target(Some(1_000), Some("1%"), None)).expect("a plan").bits);
    assert!(meets(given.bits, 3, 1_000, "1%") && !meets(given.bits - 512, 3, 1_000, "1%"));
}

#[test]
fn what_cannot_be_had_is_refused_with_what_can() {
    let new = |target: Target| Plan::new(&target).expect_err("out of reach");
    assert!(matches!(new(target(Some(1_000), Some("1e-60"), None)), Error::BelowHashFloor { .. }));
    let capped = target(Some(1_000), Some("1%"), None).max_bits(5_000);
    assert!(matches!(new(capped), Error::OverMemoryCap { needed: Some(needed), reachable, .. } if needed > 5_000 && reachable > 0.01));
    let nothing = target(Some(1_000), Some("1%"), None).max_bits(100);
    assert!(matches!(new(nothing), Error::OverMemoryCap { reachable: 1.0, .. }));
    assert!(
        matches!(new(target(Some(1_000), Some("1%"), Some(5_000))), Error::OutOfReach { reachable, bits: 4_608, items: 1_000, .. } if reachable > 0.01)
    );
    assert!(matches!(new(target(None, Some("1e-39"), Some(1_100))), Error::OutOfReach { bits: 1_024, items: 1, .. }));
    for wrong in [
        target(Some(1), Some("1%"), None).probes(0),
        target(Some(1), Some("1%"), None).confidence(1.0),
        target(Some(1), Some("1%"), None).hash_bits(0),
        target(Some(0), Some("1%"), None),
        target(Some(1), None, Some(511)),
        target(Some(1), None, Some(u64::MAX)),
    ] {
        assert!(matches!(new(wrong), Error::OutOfRange { .. }));
    }
    for little in [target(Some(1), None, None), target(None, Some("1%"), None), target(None, None, Some(512)), Target::default()] {
        assert!(matches!(new(little), Error::Underdetermined { .. }));
    }
}

/// The mean rate over blocks, in exact fractions.
#[test]
fn the_rate_of_one_filter_is_the_mean_over_its_blocks() {
    for (block_bits, probes, counts) in
        [(4u64, 2u32, vec![1u64, 0, 2, 0, 3]), (512, 7, (0..513).map(|x| x % 5).collect()), (8, 8, vec![0, 0, 0, 0, 0, 0, 0, 0, 9])]
    {
        let blocks: u64 = counts.iter().sum();
        let mean = |in_block: fn(u64, u64, u32) -> BigRational| {
            let sum: BigRational =
                counts.iter().enumerate().map(|(ones, count)| in_block(ones as u64, block_bits, probes) * ratio(*count, 1)).sum();
            sum / ratio(blocks, 1)
        };
        let independent = mean(|ones, bits, probes| pow(ratio(ones, bits), probes as usize));
        let distinct = mean(|ones, bits, probes| BigRational::new(choose(ones, probes.into()), choose(bits, probes.into())));
        for (in_block, truth) in [(InBlock::Independent, independent), (InBlock::Distinct, distinct)] {
            let law = Blocked::new(blocks * block_bits, block_bits, in_block, probes).expect("in range");
            let fpr = law.fpr_at_block_fills(&counts).expect("in range").expect("determined");
            let (lower, upper) = (BigRational::from_float(fpr.lower), BigRational::from_float(fpr.upper));
            assert!(lower.expect("finite") <= truth && truth <= upper.expect("finite"), "{law:?} {fpr:?}");
            assert!(fpr.upper / fpr.lower - 1.0 < 1e-12 && fpr.ln_lower <= fpr.value.ln() && fpr.value.ln() <= fpr.ln_upper, "{fpr:?}");
        }
    }
    let law = Blocked::new(1024, 512, InBlock::Distinct, 7).expect("in range");
    let mut counts = vec![0; 513];
    counts[6] = 2;
    assert_eq!(law.fpr_at_block_fills(&counts).expect("in range").expect("determined").value, 0.0);
    counts[6] = 1;
    assert!(law.fpr_at_block_fills(&counts).is_err() && law.fpr_at_block_fills(&counts[..512]).is_err());
    // The counts are right, but the list is one entry too short or too long.
    for wrong in [512, 514] {
        let mut counts = vec![0; wrong];
        counts[6] = 2;
        assert!(law.fpr_at_block_fills(&counts).is_err(), "{wrong}");
    }
    let split = Blocked::new(1024, 512, InBlock::Split { word_bits: 64 }, 8).expect("in range");
    counts[6] = 2;
    assert_eq!(split.fpr_at_block_fills(&counts), Ok(None));
    hold(
        &Blocked::new(512, 512, InBlock::Independent, 1).and_then(|law| law.fpr(1)).expect("in range"),
        &ratio(1, 512),
        "one bit of a block",
    );
}

/// Tests that the number of probes can be given up to the maximum of a block, which is more than
/// plans choose by themselves.
#[test]
fn given_probes_are_planned_for_or_refused() {
    for promise in [Promise::Mean, Promise::default()] {
        let plan = |items, probes| Plan::new(&Target { promise, ..target(Some(items), Some("1%"), None).probes(probes) });
        for (items, probes) in [(2_000, 33), (2_000, 64), (1_000_000, 40), (100, 64)] {
            let plan = plan(items, probes).expect("in range");
            assert!(plan.probes == probes && plan.fpr.upper <= 0.01, "{plan:?}");
        }
        for probes in [0, 65, 100_000] {
            assert!(matches!(plan(2_000, probes), Err(Error::OutOfRange { name: "probes", .. })), "{probes}");
        }
    }
}
