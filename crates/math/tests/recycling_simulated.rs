//! Simulates recycling filters bit by bit, and compares the results with the models. Seeds are
//! fixed, and intervals have a confidence of 99.99% (one and a half times the width of 99%
//! intervals). So about one in 250 seeds makes one of some forty comparisons fail.

use std::collections::HashSet;
use truebloom_math::recycling::{
    Bracket, Design, Gaps, Mode, Phases, Seeds, Stream, Subject, Trigger, compare, simulate, simulate_subject, subject,
};

fn within(seen: &Bracket, exact: f64, context: &str) {
    let half = (seen.upper - seen.lower) / 2.0 * 1.55;
    assert!((seen.value - exact).abs() < half, "{seen:?} {exact} {context}");
    // The intervals are narrow enough to reject an error of 10%.
    assert!(half < exact / 10.0, "{seen:?} says too little of {context}");
}

fn modes() -> Vec<Mode> {
    let one = |colliding, retaining| Mode { colliding, retaining, ..Mode::default() };
    let two = |colliding, trigger, shared| {
        let seeds = if shared { Seeds::Kept } else { Seeds::Renewed };
        Mode { phases: Phases::Two(trigger), colliding, seeds, retaining: false }
    };
    vec![
        one(true, false),
        one(false, false),
        one(true, true),
        Mode { seeds: Seeds::Kept, ..one(true, true) },
        one(false, true),
        two(true, Trigger::Included, true),
        two(true, Trigger::Excluded, true),
        two(true, Trigger::Included, false),
        two(true, Trigger::Excluded, false),
        two(false, Trigger::Included, true),
        two(false, Trigger::Excluded, false),
    ]
}

#[test]
fn every_mode_as_modelled() {
    for (i, mode) in modes().into_iter().enumerate() {
        let design = Design::new(60, 3, 26, mode).expect("a design");
        let (run, seen) = (design.long_run().expect("in range"), simulate(&design, Stream::New, 640_000, 7 + i as u64).expect("in range"));
        within(&seen.instance, run.fpr.value, &format!("{mode:?}"));
        within(&seen.items_per_cycle, run.items_per_cycle.value, &format!("{mode:?}"));
        assert_eq!((seen.first.value, seen.each.value, seen.forgotten.value), (seen.instance.value, seen.instance.value, 0.0));
    }
}

/// Tests that few or no hits give an exact interval. (An approximate interval from 0 to 0 would
/// exclude the model.) In at most 4 of 64 runs with a few hits, the interval misses the model: each
/// misses with probability at most 1%, so 5 or more have a probability below 6e-4. Without a hit,
/// the upper end is the rate at which no hit has a probability of half a percent.
#[test]
fn few_hits_have_an_exact_interval() {
    let (mut none, mut outside) = (0, 0);
    for seed in 0..64 {
        let design = Design::new(200, 6, 40, Mode::default()).expect("a design");
        let (model, seen) =
            (design.long_run().expect("in range").fpr.value, simulate(&design, Stream::New, 64_000, seed).expect("in range"));
        let share = seen.instance;
        assert!(share.value * 64_000.0 < 6.0 && share.upper < 3e-4, "{share:?}");
        outside += u32::from(model < share.lower || share.upper < model);
        if share.value == 0.0 {
            none += 1;
            assert!((share.upper * 64_000.0 - 200f64.ln()).abs() < 0.01 && share.lower == 0.0, "{share:?}");
        }
    }
    assert!((16..64).contains(&none) && outside <= 4, "{none} without a hit, {outside} outside");
}

/// Tests that a model with another sigma is rejected, so the comparison above has power.
#[test]
fn a_wrong_model_is_rejected() {
    let design = |sigma| Design::new(60, 3, sigma, Mode::two_phase()).expect("a design");
    let seen = simulate(&design(26), Stream::New, 1_000_000, 3).expect("in range");
    let wrong = design(25).long_run().expect("in range").fpr.value;
    assert!((seen.instance.value - wrong).abs() > 2.0 * (seen.instance.upper - seen.instance.lower));
}

/// Simulates a filter along with the sets of items that it holds. Returns the share of items that
/// are in no set after `gap` further new items.
fn forgotten_share(mode: Mode, gap: u64, items: u64) -> f64 {
    let (bits, probes, sigma) = (12u64, 2u64, 5);
    let mut state = 99u64;
    let mut below = |range: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * u128::from(range)) >> 64) as u64
    };
    let (mut active, mut frozen) = (HashSet::new(), HashSet::new());
    let (mut filter, mut gone) = (0u64, 0u64);
    for item in 0..items {
        let first = below(bits);
        let mut second = below(bits);
        while !mode.colliding && second == first {
            second = below(bits);
        }
        let mask = 1 << first | if probes > 1 { 1 << second } else { 0 };
        active.insert(item);
        filter |= mask;
        if u64::from(filter.count_ones()) > sigma {
            if let Phases::Two(trigger) = mode.phases {
                frozen = std::mem::take(&mut active);
                if trigger == Trigger::Excluded {
                    frozen.remove(&item);
                }
            }
            active.clear();
            filter = 0;
            if mode.retaining {
                active.insert(item);
                filter = mask;
            }
        }
        if let Some(older) = item.checked_sub(gap) {
            gone += u64::from(!active.contains(&older) && !frozen.contains(&older));
        }
    }
    gone as f64 / (items - gap) as f64
}

/// Tests forgetting in every mode for gaps from 0 on. The results are correlated over a cycle of
/// about four items, so the standard deviation is at most about sqrt(4 / items) / 2 = 0.002. Five
/// standard deviations are allowed.
#[test]
fn forgetting_as_modelled() {
    for mode in modes() {
        let law = Design::new(12, 2, 5, mode).and_then(|design| design.forgetting()).expect("in range");
        for gap in [0u64, 1, 2, 3, 4, 5, 7, 10, 15] {
            let (exact, seen) = (law.probability(gap), forgotten_share(mode, gap, 250_000));
            assert!((exact.value - seen).abs() < 0.01, "{mode:?} gap {gap}: {exact:?} {seen}");
            assert_eq!(exact.value == 0.0, gap < law.remembered_at_least(), "{mode:?} gap {gap}");
            assert_eq!(seen == 0.0, exact.value == 0.0, "{mode:?} gap {gap}");
        }
        assert!(law.probability(1_000).value > 1.0 - 1e-9 && law.gap_at(0.5).is_some_and(|gap| law.probability(gap).value >= 0.5));
    }
}

/// Tests that the brackets by mean and variance enclose the exact law where both are available.
#[test]
fn large_filters_forget_within_bounds() {
    for mode in [Mode::default(), Mode::two_phase()] {
        let small = Design::new(20_000, 5, 9_000, mode).and_then(|design| design.forgetting()).expect("in range");
        let large = Design::new(200_000_000, 5, 90_000_000, mode).and_then(|design| design.forgetting()).expect("in range");
        for gap in [0u64, 100, 1_000, 1_795, 2_000, 2_390, 3_000, 4_500, 6_000] {
            let (fine, coarse) = (small.probability(gap), large.probability(gap * 10_000));
            assert!(
                (fine.value - coarse.value).abs() < 0.01 && coarse.lower <= coarse.value && coarse.value <= coarse.upper,
                "{gap} {fine:?} {coarse:?}"
            );
            assert!(coarse.upper - coarse.lower < 1e-4, "{gap} {coarse:?}");
        }
    }
}

/// Tests streams with popular items. First arrivals of a uniform population have the same rate as
/// new items, and the other two ways to count give less (see the paper's appendix).
#[test]
fn popular_items() {
    let design = Design::new(200, 4, 100, Mode::default()).expect("a design");
    for stream in [Stream::Uniform { items: 400 }, Stream::Zipf { items: 400, exponent: 1.0 }, Stream::Fading { mean: 30.0 }] {
        let seen = simulate(&design, stream, 400_000, 5).expect("in range");
        assert!(seen.first.value < seen.each.value && seen.each.value < seen.instance.upper, "{seen:?}");
        assert!(seen.forgotten.value > 0.01 && seen.forgotten.value < 0.99, "{seen:?}");
        within(&seen.instance, design.long_run().expect("in range").fpr.value, &format!("{stream:?}"));
    }
    assert!(simulate(&design, Stream::New, 10, 1).is_err() && simulate(&design, Stream::Uniform { items: 0 }, 10_000, 1).is_err());
    assert!(simulate(&design, Stream::Zipf { items: 5, exponent: -1.0 }, 10_000, 1).is_err());
    assert!(simulate(&design, Stream::Fading { mean: 0.1 }, 10_000, 1).is_err());
}

/// Compares averages over laws of the gap with plain sums, and times with Poisson's law.
#[test]
fn forgetting_averaged() {
    let law = Design::new(300, 3, 150, Mode::two_phase()).and_then(|design| design.forgetting()).expect("in range");
    let sum = |weight: &dyn Fn(u64) -> f64, below: u64| {
        let total: f64 = (0..below).map(weight).sum();
        (0..below).map(|gap| weight(gap) * law.probability(gap).value).sum::<f64>() / total
    };
    let found = |gaps| law.averaged(gaps).expect("in range");
    assert!((found(Gaps::Uniform { below: 150 }) - sum(&|_| 1.0, 150)).abs() < 1e-12);
    assert!((found(Gaps::Zipf { below: 5_000, exponent: 1.2 }) - sum(&|gap| (gap as f64 + 1.0).powf(-1.2), 5_000)).abs() < 1e-8);
    assert!((found(Gaps::Fading { mean: 40.0 }) - sum(&|gap| (40.0f64 / 41.0).powi(gap as i32), 5_000)).abs() < 1e-10);
    assert!(law.averaged(Gaps::Uniform { below: 0 }).is_err() && law.averaged(Gaps::Fading { mean: 0.0 }).is_err());
    let (early, late) = (law.after(10.0, 1.0).expect("in range"), law.after(1e6, 1.0).expect("in range"));
    assert!(early < 1e-6 && late > 1.0 - 1e-9 && law.after(-1.0, 1.0).is_err());
    // A mean at which both methods of computation apply.
    let large = Design::new(6_000, 3, 3_000, Mode::default()).and_then(|design| design.forgetting()).expect("in range");
    let (below, above) = (large.after(699.9, 1.0).expect("in range"), large.after(700.1, 1.0).expect("in range"));
    assert!((above - below - 0.2 * (large.probability(701).value - large.probability(700).value)).abs() < 1e-4, "{below} {above}");
}

#[test]
fn gains_over_a_fixed_interval() {
    let found = compare(100_000, &"0.01".parse().expect("a rate"), Mode::default()).expect("in range");
    let (one, two) = (found.gain().expect("both"), found.gain_two_phase().expect("both"));
    assert!((one - 15_534.27 / 10_424.0).abs() < 1e-4 && (two - 5_051.0 / 10_424.0).abs() < 1e-2, "{one} {two}");
    let nothing = compare(1, &"1e-9".parse().expect("a rate"), Mode::default()).expect("in range");
    assert!(nothing.two_phase.is_none() && nothing.gain_two_phase().is_none());
}

/// Tests the simulated filter: it recognizes the items of its frozen filter, and every cycle begins
/// without bits and items.
#[test]
fn the_simulated_filter_keeps_its_word() {
    // Positions among 2^20 bits that do not coincide. The cycle ends with the item that sets the
    // fifth bit, and the next cycle begins after this item.
    let wide = Design::new(1 << 20, 1, 4, Mode::two_phase()).expect("a design");
    let mut filter = subject(&wide, None, 5).expect("in range");
    let mut ends = Vec::new();
    for item in 0..25 {
        let before = filter.cycles();
        assert!(!filter.offer(item), "{item} is new");
        if filter.cycles() > before {
            ends.push(item);
        }
    }
    assert_eq!(ends, [4, 9, 14, 19, 24]);
    // The items of the cycle that just ended are frozen, and the items of earlier cycles are
    // forgotten.
    assert!((20..25).all(|item| filter.offer(item)) && (10..15).all(|item| !filter.offer(item)));
    // With one phase that also ends after a number of items, all items of the phase are forgotten.
    let one = Design::new(1 << 20, 1, 100, Mode::default()).expect("a design");
    let mut filter = subject(&one, Some(3), 5).expect("in range");
    let cycles: Vec<u64> = (0..9).map(|item| (filter.offer(item), filter.cycles()).1).collect();
    assert_eq!(cycles, [0, 0, 1, 1, 1, 2, 2, 2, 3]);
    assert!((6..9).all(|item| !filter.offer(item)));
}

/// Tests a filter that forgets nothing. Its forgotten share is 0 for any stream with repeats. No
/// cycle ends, so the length of a cycle has no upper bound. In a stream without repeats, nothing is
/// known about forgetting.
#[test]
fn a_perfect_filter_forgets_nothing() {
    struct Perfect(HashSet<u64>);
    impl Subject for Perfect {
        fn offer(&mut self, item: u64) -> bool {
            !self.0.insert(item)
        }
        fn cycles(&self) -> u64 {
            0
        }
    }
    let run = |stream| simulate_subject(&mut Perfect(HashSet::new()), Mode::default(), stream, 64_000, 1).expect("in range");
    let seen = run(Stream::Uniform { items: 20_000 });
    assert_eq!((seen.forgotten.value, seen.instance.value, seen.items_per_cycle.lower), (0.0, 0.0, 0.0));
    assert!(seen.items_per_cycle.upper == f64::INFINITY && seen.forgotten.upper < 0.1, "{seen:?}");
    let seen = run(Stream::New).forgotten;
    assert_eq!((seen.value, seen.lower, seen.upper), (0.0, 0.0, 1.0));
}

/// Tests that a few cycles give an exact interval. At its upper end, at least this many cycles have
/// a probability of half a percent.
#[test]
fn a_few_cycles_have_an_exact_interval() {
    let design = Design::new(20_000, 2, 10_000, Mode::default()).expect("a design");
    let model = design.long_run().expect("in range").items_per_cycle.value;
    for seed in 0..3 {
        let seen = simulate(&design, Stream::New, 32_000, seed).expect("in range").items_per_cycle;
        let (cycles, chance) = ((32_000.0 / seen.value).round(), 1.0 / seen.upper);
        // The probability of fewer than this many ends of a cycle among 32,000 items, summed term
        // by term.
        let (mut fewer, mut term) = (0.0, (32_000.0 * (-chance).ln_1p()).exp());
        for ends in 0..cycles as u32 {
            fewer += term;
            term *= (32_000.0 - f64::from(ends)) / f64::from(ends + 1) * chance / (1.0 - chance);
        }
        assert!(cycles < 10.0 && ((1.0 - fewer) / 0.005 - 1.0).abs() < 1e-3, "{seen:?}: {cycles} cycles, {}", 1.0 - fewer);
        assert!(seen.lower < model && model < seen.upper, "{seen:?} {model}");
    }
}
