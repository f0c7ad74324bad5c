//! Tests the guarantee of plans against exact laws in every layout, measures the loss due to the
//! fast bounds, and lists the plans that cannot have a guarantee.

use truebloom_math::occupancy::Occupancy;
use truebloom_math::{Error, Layout, Method, Plan, Promise, Rate, SchemeId, Target, Variant, rate_quantile_bound};

fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}

fn target(scheme: SchemeId, items: u64, text: &str) -> Target {
    Target::new().items(items).rate(rate(text)).scheme(scheme)
}

/// The probability that a filter of this size has a rate above the requested rate, computed from
/// the law of the fill; `None` if the law gives only a bound.
fn miss(variant: Variant, bits: u64, items: u64, probes: u32, asked: f64) -> Option<f64> {
    let law = variant.law(bits, probes).expect("in range");
    let too_high = |ones: u64| law.fpr_at_fill(&[ones]).expect("in range").expect("determined").lower > asked;
    let (mut low, mut high) = (0, bits);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if too_high(middle) { high = middle } else { low = middle }
    }
    let fill = match variant {
        Variant::Classic => Occupancy::classic(bits, items, probes),
        _ => Occupancy::standard(bits, items, probes),
    };
    let found = fill.and_then(|fill| fill.at_least(high)).expect("in range");
    (found.method != Method::Bound).then_some(found.upper)
}

/// Compares plans with the exact law: a plan must keep its promise, and no size that is smaller by
/// more than the slack may keep it, with the same number of probes or one more or less. The slack
/// is 0.3% of the bits below 30,000 items, 0.1% from there on, and at least two bits. Just above
/// 3,000 bits, where the law is no longer summed, the bounds cost 0.27%. Planted fault: With
/// Bennett's inequality alone, plans for 1,000 items need 0.6% more bits, and this test fails.
#[test]
fn the_fast_bounds_give_away_little() {
    let (mut worst, mut cases) = (0.0f64, 0);
    for variant in [Variant::Standard, Variant::Classic] {
        for (items, text) in [
            (10, "1%"),
            (100, "50%"),
            (100, "1e-4"),
            (300, "1%"),
            (1_000, "50%"),
            (1_000, "1%"),
            (1_000, "1e-6"),
            (4_000, "10%"),
            (10_000, "1%"),
            (30_000, "50%"),
        ] {
            let plan = Plan::new(&target(variant.into(), items, text)).expect("easy");
            let asked = rate(text).to_f64();
            let Some(own) = miss(variant, plan.bits, items, plan.probes, asked) else { continue };
            assert!(own <= 0.001, "{own} {plan:?}");
            cases += 1;
            let slack = if items < 30_000 { 0.003 } else { 0.001 };
            let least = (plan.bits as f64 * (1.0 - slack)) as u64 - 2;
            for bits in least - 2..=least {
                for probes in plan.probes.saturating_sub(1).max(1)..=plan.probes + 1 {
                    let Some(found) = miss(variant, bits, items, probes, asked) else { continue };
                    assert!(
                        found > 0.001,
                        "{variant} n={items} p={text}: {} bits were planned, and {bits} do with {probes} probes",
                        plan.bits
                    );
                }
            }
            let law = variant.law(plan.bits, plan.probes).expect("in range");
            let quantile = rate_quantile_bound(variant, plan.bits, items, plan.probes, 0.999).expect("in range");
            assert!(law.fpr(items).expect("cheap").upper <= asked && plan.guarantee.expect("the default").fpr.upper <= asked);
            worst = worst.max(quantile.fpr.upper / asked);
        }
    }
    println!("{cases} plans; the bound of the quantile is at most {worst} of the rate");
    assert!(cases >= 15);
}

/// Tests two blocks, where all loads and all numbers of set bits of both blocks can be summed. The
/// guaranteed rate must be at least the exact quantile. At this unfavourable size, the guaranteed
/// rate is up to 2.8 times the quantile, and a third of it is below the quantile.
#[test]
fn the_bound_of_blocks_is_above_the_exact_quantile() {
    for (items, probes) in [(40u64, 4u32), (70, 5), (100, 3)] {
        let plan = Plan::new(&Target::new().items(items).bits(1024).probes(probes).layout(Layout::Lines)).expect("a size");
        let kept = plan.guarantee.expect("the default").fpr.upper;
        let rows = set_bits(items, probes);
        let value = |ones: usize| (ones as f64 / 512.0).powi(probes as i32);
        let at_most = |limit: f64| {
            (0..=items).fold(0.0, |sum, load| {
                let (a, b) = (&rows[load as usize], &rows[(items - load) as usize]);
                let ways = (libm::lgamma(items as f64 + 1.0)
                    - libm::lgamma(load as f64 + 1.0)
                    - libm::lgamma((items - load) as f64 + 1.0)
                    - items as f64 * std::f64::consts::LN_2)
                    .exp();
                let both = a.iter().enumerate().filter(|(_, p)| **p > 1e-12).fold(0.0, |sum, (x, p)| {
                    sum + p * b.iter().enumerate().filter(|(y, _)| value(x) + value(*y) <= 2.0 * limit).map(|(_, q)| q).sum::<f64>()
                });
                sum + ways * both
            })
        };
        let (mut low, mut high) = (0.0, kept);
        for _ in 0..30 {
            let middle = (low + high) / 2.0;
            if at_most(middle) >= 0.999 { high = middle } else { low = middle }
        }
        println!("n={items} k={probes}: {kept} is promised, {high} is kept");
        assert!(at_most(kept) >= 0.999 && kept < 1.0 && high > kept / 3.0, "n={items} k={probes}: {kept} is promised, {high} is kept");
    }
}

/// The law of the set bits of a block for each load.
fn set_bits(items: u64, probes: u32) -> Vec<Vec<f64>> {
    let mut now = vec![1.0];
    now.resize(513, 0.0);
    let mut rows = vec![now.clone()];
    for _ in 0..items {
        for _ in 0..probes {
            for ones in (0..=512).rev() {
                let before = if ones > 0 { now[ones - 1] * (513 - ones) as f64 / 512.0 } else { 0.0 };
                now[ones] = now[ones] * ones as f64 / 512.0 + before;
            }
        }
        rows.push(now.clone());
    }
    rows
}

/// Tests that the guarantee needs at most the listed percentages of additional bits, compared with
/// plans for the average. docs/design/guarantee.md has the figures.
#[test]
fn what_the_guarantee_costs_in_blocks() {
    for (items, text, most) in [
        (1_000, "1%", 15.1),
        (1_000, "0.1%", 30.1),
        (100_000, "1%", 0.7),
        (100_000, "0.1%", 1.2),
        (10_000_000, "1%", 0.08),
        (10_000_000, "0.1%", 0.12),
    ] {
        let asked = target(SchemeId::Blocked, items, text);
        let (sure, mean) = (Plan::new(&asked).expect("easy"), Plan::new(&asked.clone().mean()).expect("easy"));
        let more = 100.0 * (sure.bits as f64 / mean.bits as f64 - 1.0);
        println!(
            "{items} items at {text}: {} bits with {} probes, on average {} with {}: {more:.3}% more",
            sure.bits, sure.probes, mean.bits, mean.probes
        );
        assert!((0.0..most).contains(&more), "{items} {text}: {more}% more");
        assert!(sure.guarantee.expect("the default").fpr.upper <= rate(text).to_f64() && mean.guarantee.is_none());
    }
}

/// Tests that the answers for the largest number of items and for a given size agree with the
/// smallest number of bits, in every layout with a guarantee.
#[test]
fn the_three_questions_agree() {
    for scheme in SchemeId::ALL.into_iter().filter(|scheme| scheme.has_guarantee()) {
        for (items, text) in [(200, "1%"), (20_000, "1e-3")] {
            let plan = Plan::new(&target(scheme, items, text)).expect("easy");
            assert_eq!(plan.scheme, scheme);
            let back = Plan::new(&Target { items: None, ..target(scheme, items, text).bits(plan.bits) }).expect("they fit");
            // Near the limit, the bounds and the exact law can decide differently.
            assert!(
                back.items as f64 >= 0.998 * items as f64 && back.guarantee.expect("asked").fpr.upper <= rate(text).to_f64(),
                "{scheme}: {back:?}"
            );
            let given = Plan::new(&target(scheme, items, text).bits(plan.bits).probes(plan.probes)).expect("kept");
            assert!(given.guarantee.expect("asked").fpr.upper <= rate(text).to_f64(), "{scheme}: {given:?}");
            let less = Plan::new(&target(scheme, items, text).bits(Plan::new(&target(scheme, items, text).mean()).expect("easy").bits));
            assert!(
                matches!(less, Err(Error::OutOfReach { reachable, .. }) if reachable > rate(text).to_f64()),
                "{scheme}: the mean's bits are too few"
            );
        }
    }
}

#[test]
fn two_hashes_have_no_guarantee() {
    for scheme in SchemeId::ALL.into_iter().filter(|scheme| !scheme.has_guarantee() && scheme.block_bits().is_none()) {
        let asked = target(scheme, 1_000, "1%");
        assert_eq!(Plan::new(&asked), Err(Error::NoGuarantee { scheme }));
        assert!(Error::NoGuarantee { scheme }.to_string().contains("average"));
        assert!(Plan::new(&asked.mean()).is_ok_and(|plan| plan.guarantee.is_none()), "{scheme}");
    }
    assert_eq!(Target::new().promise, Promise::OneFilter { confidence: 0.999 });
}

/// Tests that the planner chooses the blocked layout if it is worth its bits, and the standard
/// layout otherwise. Other schemes have no blocked layout.
#[test]
fn the_layout_may_be_left_to_the_planner() {
    let auto = |text: &str| Plan::new(&target(SchemeId::Standard, 1_000_000, text).layout(Layout::Auto)).expect("easy").scheme;
    assert_eq!((auto("1%"), auto("1e-6")), (SchemeId::Blocked, SchemeId::Standard));
    let wrong = Plan::new(&target(SchemeId::Classic, 10, "1%").layout(Layout::Lines));
    assert!(matches!(wrong, Err(Error::OutOfRange { name: "scheme", .. })));
}

/// For every number of probes up to `most`, the share of filters with at least the requested rate
/// (equal hashes also need a share of the rate), and the average rate. Both are computed ball by
/// ball in plain `f64`, independently of the library.
fn shares(bits: u64, items: u64, most: u32, asked: f64) -> Vec<(f64, f64)> {
    let m = bits as f64;
    let mut law = vec![0.0; bits as usize + 2];
    law[1] = 1.0;
    let (mut first, mut last) = (0usize, 0usize);
    let mut all = Vec::new();
    for probes in 1..=most {
        for _ in 0..items {
            last = (last + 1).min(bits as usize);
            for x in (first..=last).rev() {
                law[x + 1] = (law[x + 1] * x as f64 + law[x] * (m + 1.0 - x as f64)) / m;
            }
            while law[first + 1] < 1e-20 {
                law[first + 1] = 0.0;
                first += 1;
            }
        }
        let rates = (first..=last).map(|x| ((x as f64 / m).powi(probes as i32), law[x + 1]));
        all.push(
            rates.fold((0.0, 0.0), |(miss, mean), (rate, p)| (miss + if rate > asked * (1.0 - 1e-12) { p } else { 0.0 }, mean + rate * p)),
        );
    }
    all
}

/// Targets of few items, with the bits of their smallest plans. For some of them, earlier plans
/// were too large by one to eight bits. A separate program found the smallest sizes by trying all
/// sizes.
const FEW: [(u64, &str, f64, u64); 20] = [
    (1, "1e-4", 0.999, 26),
    (1, "1e-6", 0.999, 38),
    (1, "1e-9", 0.999, 56),
    (1, "1e-12", 0.999, 73),
    (1, "1e-12", 0.999_999, 76),
    (2, "1e-6", 0.999, 73),
    (3, "1e-4", 0.999, 73),
    (3, "1e-6", 0.999, 106),
    (7, "1e-12", 0.999, 450),
    (15, "1e-9", 0.999, 708),
    (20, "1e-6", 0.999, 633),
    (20, "1e-9", 0.999, 933),
    (50, "1e-12", 0.999, 3_006),
    (70, "1e-9", 0.999, 3_153),
    (99, "1e-6", 0.999, 2_977),
    (25, "0.02", 0.999, 0),
    (3, "0.3", 0.999, 0),
    (10, "0.5", 0.99, 0),
    (4, "0.02", 0.5, 0),
    (40, "0.001", 0.3, 0),
];

/// Tests that a plan of few items is the smallest possible. For every size from that of the mean up
/// to one bit less than planned, and for every number of probes, either too many filters miss the
/// rate or the average does. (The allowed share has a small margin for rounding.)
#[test]
fn a_plan_of_few_items_is_the_smallest() {
    for (items, text, confidence, bits) in FEW {
        let asked = target(SchemeId::Standard, items, text).confidence(confidence);
        let plan = Plan::new(&asked).expect("in reach");
        assert!(bits == 0 || plan.bits == bits, "{items} items at {text}: {} bits, {bits} do", plan.bits);
        let mean = Plan::new(&asked.clone().mean()).expect("in reach").bits;
        let rate = rate(text).to_f64();
        for less in mean..=plan.bits {
            let most = if less == plan.bits { plan.probes } else { 2 * plan.probes + 8 };
            for (probes, (miss, average)) in (1..).zip(shares(less, items, most, rate)) {
                let keeps = miss <= (1.0 - confidence) * (1.0 - 1e-7) && average <= rate * (1.0 - 1e-9);
                let is_plan = less == plan.bits && probes == plan.probes;
                assert!(!keeps || less == plan.bits, "{items} items at {text}: {plan:?}, but {less} bits do with {probes} probes");
                assert!(!is_plan || miss <= (1.0 - confidence) * (1.0 + 1e-7), "{items} items at {text}: {miss} of {plan:?} miss");
            }
        }
    }
}

/// Tests that plans of few items never contradict each other: no given number of probes needs fewer
/// bits, the plan's own size is accepted with and without its number of probes, and one bit less
/// does not hold as many items.
#[test]
fn the_questions_of_few_items_agree() {
    for scheme in [SchemeId::Standard, SchemeId::Classic, SchemeId::Partitioned] {
        for (items, text, confidence, _) in FEW {
            let asked = target(scheme, items, text).confidence(confidence);
            let plan = Plan::new(&asked).expect("in reach");
            let what = format!("{scheme}, {items} items at {text} and {confidence}: {plan:?}");
            if items < 30 {
                let of_probes = |probes: u32| Plan::new(&asked.clone().probes(probes)).ok().map(|plan| plan.bits);
                assert_eq!((1..=2 * plan.probes + 4).filter_map(of_probes).min(), Some(plan.bits), "{what}");
            }
            let given = asked.clone().bits(plan.bits);
            assert!(Plan::new(&given).is_ok() && Plan::new(&given.probes(plan.probes)).is_ok(), "{what}");
            let most = |bits: u64| Plan::new(&Target { items: None, ..asked.clone().bits(bits) }).map_or(0, |plan| plan.items);
            assert!(most(plan.bits) >= items, "{what}: {}", most(plan.bits));
            if plan.bits > 1 {
                assert!(most(plan.bits - 1) < items, "{what}");
                assert!(Plan::new(&asked.clone().bits(plan.bits - 1)).is_err(), "{what}");
            }
        }
    }
}

/// Tests that only a proven impossibility is called impossible. For blocks and for many items,
/// there are only bounds. A size that is too small for the average is impossible.
#[test]
fn what_is_not_proven_is_not_called_impossible() {
    for (asked, is_impossible) in [
        (target(SchemeId::Blocked, 1_000, "1e-6").bits(80 * 512), false),
        (target(SchemeId::Blocked, 50, "1e-6").bits(2 * 512), true),
        (target(SchemeId::Standard, 1_000, "1%").bits(9_600), false),
        (target(SchemeId::Standard, 1_000, "1%").bits(9_594), true),
    ] {
        let error = Plan::new(&asked).expect_err("too few bits");
        assert!(matches!(error, Error::OutOfReach { is_impossible: found, .. } if found == is_impossible), "{error:?}");
        assert_eq!(error.to_string().contains("impossible"), is_impossible, "{error}");
        assert_eq!(error.to_string().contains("not proven"), !is_impossible, "{error}");
    }
}
