//! Tests the numbers of bits that are needed to transmit filters.

use truebloom_math::{Plan, SchemeId, Target, entropy_bits};

/// With fewer probes, the number of transmitted bits falls down to `n (log2(1/p) + 1/ln 2)`, while
/// the memory grows. The planner must choose the first plan that fits.
#[test]
fn fewer_probes_are_smaller_to_send() {
    for (items, text) in [(10_000u64, "1%"), (100_000, "0.1%")] {
        let target = Target::new().items(items).rate(text.parse().expect("a rate"));
        let best = Plan::new(&target).expect("a plan");
        let plans: Vec<(Plan, f64)> = (1..=best.probes)
            .map(|probes| {
                let plan = Plan::new(&target.clone().probes(probes)).expect("a plan");
                let sent = plan.transmitted_bits().expect("known").expect("known");
                (plan, sent)
            })
            .collect();
        assert!(plans.windows(2).all(|pair| pair[0].1 < pair[1].1 && pair[0].0.bits > pair[1].0.bits));
        let rate = target.rate.expect("given").to_f64();
        let limit = items as f64 * (rate.recip().log2() + std::f64::consts::LOG2_E);
        assert!((plans[0].1 / limit - 1.0).abs() < 0.02, "{} {limit}", plans[0].1);
        for (plan, sent) in &plans {
            let chosen = Plan::for_transmission(&target, sent.ceil() as u64).expect("it fits");
            assert!(chosen.probes == plan.probes && chosen.bits == plan.bits && chosen.fpr.upper <= rate, "{text} {}", plan.probes);
        }
        assert!(Plan::for_transmission(&target, plans[0].1 as u64 - 1).is_err());
        assert!(Plan::for_transmission(&target.clone().bits(best.bits), 1 << 40).is_err());
        let blocked = Plan::for_transmission(&target.clone().scheme(SchemeId::Blocked), 1 << 40).expect_err("no law of the fill");
        assert!(blocked.to_string().contains("blocked"), "{blocked}");
    }
}

/// Tests that the entropy is above `log2 C(m, ones)`, by no more than half of its logarithm and one
/// bit.
#[test]
fn the_entropy_is_that_of_the_arrangements() {
    let ln_factorial = |n: u64| (1..=n).map(|n| (n as f64).ln()).sum::<f64>();
    for (bits, ones) in [(10, 3), (1_000, 10), (1_000, 500), (10_000, 9_999)] {
        let arrangements = (ln_factorial(bits) - ln_factorial(ones) - ln_factorial(bits - ones)) / std::f64::consts::LN_2;
        let above = entropy_bits(bits, ones) - arrangements;
        assert!((0.0..0.5 * (bits as f64).log2() + 1.0).contains(&above), "{bits} {ones}: {above}");
    }
    assert!(entropy_bits(7, 7) == 0.0 && entropy_bits(7, 9) == 0.0);
}
