//! Tests that the answers of the planner do not contradict each other, for random targets from a
//! fixed seed, over layouts and schemes. The targets of `plans_that_contradicted_themselves_agree`
//! once led to contradictory answers: at that time, each question had a search and a bound of its
//! own.

use truebloom_math::{Error, Layout, Plan, Promise, Rate, Result, SchemeId, Target};

fn decimal(text: &str) -> Rate {
    text.parse().expect("a rate")
}

/// A linear congruential generator (Knuth's MMIX), of which the upper bits are used.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    /// A number of items whose logarithm is uniformly distributed.
    fn items(&mut self, digits: f64) -> u64 {
        10f64.powf(digits * self.below(1_000_000) as f64 / 1e6) as u64
    }

    fn rate(&mut self) -> Rate {
        let text =
            format!("{}e-{}", self.pick(&["1", "2", "3", "5", "7.3", "9.99"]), self.pick(&["2", "3", "3", "4", "5", "7", "9", "12", "15"]));
        decimal(&text)
    }

    fn promise(&mut self) -> Promise {
        match self.below(6) {
            0 => Promise::OneFilter { confidence: 0.9 },
            1 => Promise::OneFilter { confidence: 0.999_999 },
            2 => Promise::Mean,
            _ => Promise::default(),
        }
    }
}

/// Asks for the same plan in every other way and compares the answers. `near` returns other numbers
/// of probes to try; it is used only if the target gives no number of probes.
fn agrees(target: &Target, near: impl Fn(u32) -> Vec<u32>) {
    let near = |own| if target.probes.is_none() { near(own) } else { Vec::new() };
    let (items, rate) = (target.items.expect("given"), target.rate.expect("given"));
    let plan = match Plan::new(target) {
        Ok(plan) => plan,
        // If a scheme never reaches the rate, no number of probes does.
        Err(Error::SchemeOutOfReach { .. }) => {
            for probes in near(8) {
                assert!(Plan::new(&target.clone().probes(probes)).is_err(), "{target:?}: refused, but {probes} probes do");
            }
            return;
        }
        Err(error) => panic!("{target:?}: {error}"),
    };
    let asked = rate.to_f64();
    assert!(plan.promised() <= asked, "above the rate asked for: {plan:?}");
    let ask = |target: Target, what: &str| -> Plan {
        let answer: Result<Plan> = Plan::new(&target);
        answer.unwrap_or_else(|error| panic!("{what} of {plan:?}: {error}"))
    };
    let size = Target { rate: None, ..target.clone() }.bits(plan.bits);
    let best = ask(size.clone(), "the rate of the size");
    assert!(best.promised() <= asked, "the best rate of the size is {}, {} probes: {plan:?}", best.promised(), best.probes);
    let printed = Rate::try_from(best.promised() * (1.0 + 1e-12)).expect("a rate");
    ask(target.clone().bits(plan.bits).rate(printed), "the best rate of the size, asked for");
    let same = ask(size.probes(plan.probes), "the rate of the size with its probes");
    assert!(same.promised() <= asked, "the rate of the size with its probes is {}: {plan:?}", same.promised());
    let most = ask(Target { items: None, ..target.clone() }.bits(plan.bits), "the items of the size");
    assert!(most.items >= items && most.promised() <= asked, "{} items with {} probes: {plan:?}", most.items, most.probes);
    ask(target.clone().bits(plan.bits), "its own size");
    ask(target.clone().bits(plan.bits).probes(plan.probes), "its own size and probes");
    let given = ask(target.clone().probes(plan.probes), "its own probes");
    assert_eq!((given.bits, given.probes), (plan.bits, plan.probes), "with its own probes given: {given:?}\n{plan:?}");
    for probes in near(plan.probes) {
        if let Ok(other) = Plan::new(&target.clone().probes(probes)) {
            assert!(other.bits >= plan.bits, "{probes} probes take {} bits: {plan:?}", other.bits);
        }
    }
}

fn neighbours(probes: u32) -> Vec<u32> {
    (probes.saturating_sub(2).max(1)..=probes + 2).filter(|near| *near != probes).collect()
}

fn random_targets_agree(scheme: SchemeId, seed: u64, cases: usize, digits: f64) {
    let mut draws = Draws(seed);
    for _ in 0..cases {
        let target = Target { promise: draws.promise(), ..Target::new().items(draws.items(digits)).rate(draws.rate()).scheme(scheme) };
        agrees(&target, neighbours);
    }
}

#[test]
fn standard_plans_agree() {
    random_targets_agree(SchemeId::Standard, 1, 40, 7.0);
}

#[test]
fn standard_plans_of_few_items_agree() {
    random_targets_agree(SchemeId::Standard, 2, 12, 2.6);
}

#[test]
fn classic_plans_agree() {
    random_targets_agree(SchemeId::Classic, 3, 25, 7.0);
}

#[test]
fn partitioned_plans_agree() {
    random_targets_agree(SchemeId::Partitioned, 4, 25, 7.0);
}

#[test]
fn blocked_plans_agree() {
    random_targets_agree(SchemeId::Blocked, 5, 8, 6.0);
}

/// Tests that the answers agree whichever layout the planner chooses. Given a number of probes
/// other than the best, the planner may choose blocks, so the test gives no other numbers.
#[test]
fn plans_of_either_layout_agree() {
    let mut draws = Draws(7);
    for case in 0..40 {
        let rate = if case % 2 == 0 { decimal(draws.pick(&["10%", "3%", "1%", "0.1%"])) } else { draws.rate() };
        let target = Target::new().items(draws.items(6.0)).rate(rate).layout(Layout::Auto);
        agrees(&Target { promise: draws.promise(), ..target }, |_| Vec::new());
    }
}

/// Tests that the layout chosen for a size is blocked only if that costs at most a tenth of the
/// bits.
#[test]
fn a_given_size_is_blocked_only_where_that_is_cheap() {
    let plan = |target: &Target, layout| Plan::new(&target.clone().layout(layout)).expect("a plan");
    for (items, bits) in [(1_000_000, 45_000_000), (126, 993), (100, 1_400), (1_000, 14_000)] {
        let target = Target::new().items(items).bits(bits);
        let (auto, standard) = (plan(&target, Layout::Auto), plan(&target, Layout::Spread));
        assert_eq!(auto.scheme, SchemeId::Standard, "{items} in {bits}: {auto:?}\n{standard:?}");
    }
    let auto = plan(&Target::new().items(1_000_000).bits(10_000_000), Layout::Auto);
    assert_eq!(auto.scheme, SchemeId::Blocked, "{auto:?}");
    for (bits, rate) in [(993, "3%"), (1_023, "1%"), (1_023, "0.5"), (3_477, "5%"), (100_000, "1%"), (1_000_000, "1e-6")] {
        let target = Target::new().bits(bits).rate(decimal(rate));
        let (auto, standard) = (plan(&target, Layout::Auto), plan(&target, Layout::Spread));
        assert!(10 * standard.items <= 11 * auto.items, "{rate} in {bits}: {auto:?}\n{standard:?}");
    }
}

/// Targets for which earlier versions gave contradictory answers.
#[test]
fn plans_that_contradicted_themselves_agree() {
    for (scheme, items, rate, confidence) in [
        (SchemeId::Standard, 3, "0.0999", 0.999),
        (SchemeId::Standard, 189, "1e-3", 0.999),
        (SchemeId::Standard, 275, "1e-8", 0.999),
        (SchemeId::Standard, 243, "5e-9", 0.9),
        (SchemeId::Standard, 1_386, "5e-4", 0.999),
        (SchemeId::Partitioned, 961, "3e-6", 0.999),
        (SchemeId::Partitioned, 266_243_647_719, "1e-5", 0.999),
        (SchemeId::Partitioned, 3_878_695_972_627, "0.5", 0.999),
        (SchemeId::Blocked, 541, "1e-15", 0.9),
        (SchemeId::Blocked, 254, "1e-15", 0.99),
        (SchemeId::Blocked, 20_590, "9.99e-15", 0.999),
        (SchemeId::Blocked, 994_486, "3e-9", 0.999),
    ] {
        let rate = decimal(rate);
        agrees(&Target::new().items(items).rate(rate).scheme(scheme).confidence(confidence), neighbours);
    }
}

/// Tests that one bit fewer than planned misses the rate, whichever way the plan is requested.
#[test]
fn a_bit_fewer_is_too_few_in_huge_slices() {
    let asked = Target::new().items(266_243_647_719).rate(decimal("1e-5")).scheme(SchemeId::Partitioned);
    let plan = Plan::new(&asked).expect("a plan");
    let less = Plan::new(&Target { rate: None, ..asked.clone() }.bits(plan.bits - 1)).expect("in range");
    assert!(less.promised() > 1e-5, "{less:?}");
    let Err(Error::OutOfReach { reachable, .. }) = Plan::new(&asked.bits(plan.bits - 1)) else { panic!("a bit fewer is accepted") };
    assert!(reachable > 1e-5, "{reachable}");
}

/// Tests blocked filters with a low rate or a low confidence, where the average rate can exceed the
/// rate that one filter keeps to. The best number of probes for a given size keeps both rates low.
#[test]
fn the_best_probes_of_blocks_have_the_lowest_promise() {
    for (items, blocks, confidence, probes) in [(541, 337, 0.9, 30), (10, 11, 0.999, 51), (12, 16, 0.999, 43), (112, 209, 0.999, 48)] {
        let size = Target::new().items(items).bits(512 * blocks).layout(Layout::Lines).confidence(confidence);
        let (best, given) = (Plan::new(&size).expect("in range"), Plan::new(&size.probes(probes)).expect("in range"));
        assert!(best.promised() <= given.promised(), "{} probes: {}, {probes}: {}", best.probes, best.promised(), given.promised());
    }
}

/// Tests for all two-hash schemes. The numbers of items are small, because planning for many items
/// takes long.
#[cfg(feature = "two-hash")]
mod two_hashes {
    use super::*;
    use truebloom_math::Method;

    fn asked(scheme: SchemeId, items: u64, rate: &str) -> Target {
        Target::new().items(items).rate(decimal(rate)).scheme(scheme).mean()
    }

    const SCHEMES: [SchemeId; 6] =
        [SchemeId::Double, SchemeId::DoubleNonzero, SchemeId::Square, SchemeId::Cube, SchemeId::Enhanced, SchemeId::PartitionDouble];

    #[test]
    fn plans_agree() {
        let some = |own: u32| (1..=16).filter(|probes| *probes != own).collect();
        agrees(&asked(SchemeId::PartitionDouble, 20, "1%"), some);
        agrees(&asked(SchemeId::DoubleNonzero, 300, "1e-4"), neighbours);
    }

    #[test]
    fn random_plans_agree() {
        let mut draws = Draws(6);
        for scheme in SCHEMES {
            for given in [None, None, Some(2), Some(3), Some(5)] {
                let rate = draws.pick(&["3%", "1%", "0.3%", "1e-3"]);
                agrees(&Target { probes: given, ..asked(scheme, draws.items(3.0), rate) }, neighbours);
            }
        }
    }

    /// Tests a scheme whose distinct positions give a lower rate than the standard filter, so that
    /// the answers for the standard filter are no limit.
    #[test]
    fn plans_better_than_standard_agree() {
        agrees(&asked(SchemeId::DoubleNonzero, 20, "2.98%").probes(2), neighbours);
        agrees(&asked(SchemeId::DoubleNonzero, 205, "1e-3").probes(2), neighbours);
    }

    /// Tests that the proven rate of a size depends on the size alone, not on the work done before.
    #[test]
    fn plans_of_costly_sums_agree() {
        agrees(&asked(SchemeId::Cube, 13, "1e-3"), |own| vec![own - 1, own + 2]);
        agrees(&Target::new().items(1_000_000).rate(decimal("1e-10")).scheme(SchemeId::Cube).mean(), |_| vec![29]);
        let best = Plan::new(&Target::new().scheme(SchemeId::Cube).mean().items(9).bits(211)).expect("in range");
        let given = Plan::new(&Target::new().scheme(SchemeId::Cube).mean().items(9).bits(211).probes(10)).expect("in range");
        assert!(best.fpr.upper <= given.fpr.upper, "{best:?}\n{given:?}");
    }

    /// Tests that the bisection between the primes 2 and 3 ends.
    #[test]
    fn plans_of_one_item_agree() {
        for scheme in SCHEMES {
            for rate in ["0.5", "0.45", "0.34"] {
                agrees(&asked(scheme, 1, rate), neighbours);
            }
        }
    }

    /// Tests that no plan states a simulated rate.
    #[test]
    fn rates_of_given_sizes_are_proven() {
        for scheme in SCHEMES {
            for (items, bits) in [(12, 211), (1, 3), (40, 20), (500, 5_000)] {
                let plan = Plan::new(&Target::new().scheme(scheme).mean().items(items).bits(bits)).expect("in range");
                assert!(matches!(plan.fpr.method, Method::Exact | Method::Bound), "{plan:?}");
            }
        }
    }

    /// Tests that errors refer to the requested scheme and question.
    #[test]
    fn errors_are_the_schemes_own() {
        let slices = Target::new().scheme(SchemeId::PartitionDouble).mean().bits(1_000).probes(3);
        let rate = decimal("2%");
        for target in [slices.clone().rate(rate), slices.clone().items(100).rate(rate), slices.items(100)] {
            let error = Plan::new(&target).expect_err("slices of 1000/3 bits");
            assert!(
                matches!(error, Error::OutOfRange { .. }) && error.to_string().contains("multiple of the number of probes (3)"),
                "{error}"
            );
        }
        let many = Target::new().scheme(SchemeId::Cube).mean().items(1_000).bits(12_000).probes(70).rate(rate);
        let error = Plan::new(&many).expect_err("too many probes");
        assert!(matches!(error, Error::OutOfRange { .. }) && error.to_string().contains("at most 64"), "{error}");
        let narrow = Target::new().scheme(SchemeId::Double).mean().items(1_000).bits(8_000);
        let error = Plan::new(&narrow.clone().rate(decimal("1%"))).expect_err("too few bits");
        let Error::OutOfReach { reachable, is_impossible: false, .. } = error else { panic!("{error:?}") };
        // The plan that the error suggests is proven.
        let suggested = decimal(&format!("{:.4}", reachable + 5e-5));
        Plan::new(&narrow.rate(suggested)).expect("the suggested rate");
    }
}
