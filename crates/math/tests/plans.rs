//! Tests that plans keep their promises: the rate is met, one bit less misses it, and an impossible
//! request is refused with the relevant numbers.

mod common;

use common::oracle;
use common::{fraction, of_f64};
use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;
use truebloom_math::{Error, Law, Plan, Rate, Target, Variant, law, max_items, min_bits};

fn rate(text: &str) -> Rate {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn target(items: u64, text: &str) -> Target {
    Target::new().items(items).rate(rate(text)).mean()
}

fn plan(items: u64, text: &str) -> Plan {
    Plan::new(&target(items, text)).unwrap_or_else(|error| panic!("{error}"))
}

/// The floor of equal 128-bit hashes.
fn hash_floor(items: u64) -> BigRational {
    BigRational::new(items.into(), BigInt::from(1) << 128)
}

fn exact(rate: &Rate) -> BigRational {
    let (numerator, exponent, divisor) = rate.parts();
    fraction(&format!("{numerator}e{exponent}")) / BigInt::from(divisor)
}

/// Whether the rate with its floor is certainly at most `rate`, by the end of the bracket as a
/// fraction.
fn meets(variant: Variant, bits: u64, items: u64, probes: u32, rate: &BigRational) -> bool {
    of_f64(variant.fpr(bits, items, probes).expect("in range").upper) + hash_floor(items) <= *rate
}

/// Whether the rate with its floor is certainly above `rate`.
fn misses(variant: Variant, bits: u64, items: u64, probes: u32, rate: &BigRational) -> bool {
    u64::from(variant.max_probes(bits)) < u64::from(probes)
        || of_f64(variant.fpr(bits, items, probes).expect("in range").lower) + hash_floor(items) > *rate
}

fn variant() -> impl Strategy<Value = Variant> {
    prop::sample::select(&Variant::ALL)
}

/// Numbers of items up to 10^9, uniformly distributed in the logarithm, and rates from 1e-14 to
/// 0.999.
fn wish() -> impl Strategy<Value = (u64, Rate)> {
    (0f64..9.0, 1u64..=999, -14i32..=-3)
        .prop_map(|(digits, numerator, exponent)| (10f64.powf(digits) as u64, rate(&format!("{numerator}e{exponent}"))))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_meets_the_rate_and_one_bit_less_does_not(variant in variant(), (items, asked) in wish()) {
        let plan = Plan::new(&Target::new().items(items).rate(asked).scheme(variant.into()).mean())?;
        let p = exact(&asked);
        // A random rate is never so close to an exact rate that rounding matters. Ties have
        // separate tests.
        prop_assert!(meets(variant, plan.bits, items, plan.probes, &p), "{plan:?}");
        prop_assert!(plan.fpr.upper <= asked.to_f64(), "{plan:?}");
        for probes in 1..=60 {
            prop_assert!(plan.bits == 1 || misses(variant, plan.bits - 1, items, probes, &p), "{plan:?} but one bit less does with {probes} probes");
        }
    }

    #[test]
    fn most_items_meet_the_rate_and_one_more_does_not(variant in variant(), digits in 0f64..11.0, (_, asked) in wish()) {
        let bits = 10f64.powf(digits) as u64;
        let p = exact(&asked);
        match Plan::new(&Target::new().bits(bits).rate(asked).scheme(variant.into()).mean()) {
            Ok(plan) => {
                prop_assert!(meets(variant, bits, plan.items, plan.probes, &p), "{plan:?}");
                for probes in 1..=60 {
                    prop_assert!(misses(variant, bits, plan.items + 1, probes, &p), "{plan:?} but one more fits with {probes} probes");
                }
            }
            Err(Error::OutOfReach { .. }) => {
                for probes in 1..=60 {
                    prop_assert!(misses(variant, bits, 1, probes, &p), "{bits} bits hold an item at {asked} with {probes} probes");
                }
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    /// Tests that a given number of probes is kept, and that the size is the smallest for it.
    #[test]
    fn given_probes_are_kept(variant in variant(), (items, asked) in wish(), probes in 1u32..=40) {
        let plan = Plan::new(&Target::new().items(items).rate(asked).probes(probes).scheme(variant.into()).mean())?;
        let p = exact(&asked);
        prop_assert_eq!(plan.probes, probes);
        prop_assert!(meets(variant, plan.bits, items, probes, &p), "{:?}", plan);
        // From 10^13 bits on, one bit changes the rate by less than the width of an f64 bracket.
        prop_assert!(plan.bits == 1 || plan.bits > 10_000_000_000_000 || misses(variant, plan.bits - 1, items, probes, &p), "{:?}", plan);
    }

    /// Tests that the planned size, given as a size, holds at least the planned number of items.
    #[test]
    fn the_two_questions_agree((items, asked) in wish()) {
        let forth = Plan::new(&Target::new().items(items).rate(asked).mean())?;
        let back = Plan::new(&Target::new().bits(forth.bits).rate(asked).mean())?;
        prop_assert!(back.items >= items);
        let again = Plan::new(&Target::new().items(back.items).rate(asked).mean())?;
        prop_assert_eq!(again.bits, forth.bits);
    }
}

/// Tests rates that a filter has exactly, as a decimal or a fraction. Equality passes, and a
/// slightly lower rate needs one more bit or one item fewer.
#[test]
fn ties_pass_and_a_hair_below_fails() {
    // (bits, items, the exact rate with one probe, a slightly lower rate)
    let ties = [
        (2, 1, "1/2", "0.4999999999999999999"),
        (2, 1, "0.5", "9223372036854775807/18446744073709551615"),
        (10, 2, "0.19", "0.1899999999999999999"),
        (10, 3, "0.271", "0.2709999999999999999"),
        (2, 10, "0.9990234375", "0.9990234374999999999"),
        (10, 9, "0.612579511", "0.6125795109999999999"),
        (10, 10, "0.6513215599", "0.6513215598999999999"),
        (4, 3, "37/64", "0.5781249999999999999"),
        (100, 2, "1.99%", "1.989999999999999999%"),
    ];
    let mut separated = 0;
    for variant in Variant::ALL {
        for (bits, items, tie, below) in ties {
            assert_eq!(oracle::rate(variant, bits, items, 1), exact(&rate(tie)));
            let fits = |asked: &str| {
                (min_bits(variant, items, &rate(asked)).expect("in range"), max_items(variant, bits, &rate(asked)).expect("in range"))
            };
            let (fewest, most) = fits(tie);
            assert!(fewest.is_some_and(|best| best.bits <= bits) && most.is_some_and(|best| best.items >= items), "{variant} {tie}");
            let (fewest_below, most_below) = fits(below);
            // The slightly lower rate needs another size only if one probe is best for this size.
            if (2..=bits as u32).all(|probes| oracle::rate(variant, bits, items, probes) > exact(&rate(tie))) {
                separated += 1;
                assert_eq!((fewest.map(|best| best.bits), most.map(|best| best.items)), (Some(bits), Some(items)), "{variant} {tie}");
                assert_eq!(fewest_below.map(|best| best.bits), Some(bits + 1), "{variant} {below}");
                assert!(most_below.is_none_or(|best| best.items == items - 1), "{variant} {below}");
            }
        }
    }
    assert!(separated >= 15, "{separated}");
}

/// Tests ties of several numbers of probes: the best rate of a size, requested as a fraction, is
/// met by that size.
#[test]
fn the_best_rate_of_a_size_is_met_by_that_size() {
    for variant in [Variant::Standard, Variant::Classic] {
        for (bits, items) in [(4u64, 1u64), (5, 1), (6, 1), (8, 2), (9, 3)] {
            let best = (1..=bits as u32).map(|probes| oracle::rate(variant, bits, items, probes)).min().expect("not empty");
            let (top, bottom): (u64, u64) = match (best.numer().try_into(), best.denom().try_into()) {
                (Ok(top), Ok(bottom)) => (top, bottom),
                _ => continue,
            };
            let at = Rate::from_parts(top, 0, bottom).expect("a rate");
            assert_eq!(min_bits(variant, items, &at).expect("in range").map(|best| best.bits), Some(bits), "{variant} n={items} p={at}");
            assert_eq!(max_items(variant, bits, &at).expect("in range").map(|best| best.items), Some(items), "{variant} m={bits} p={at}");
            // The largest fraction below it that fits: scaled up, less one.
            let scale = u64::MAX / bottom;
            let below = Rate::from_parts(top * scale - 1, 0, bottom * scale).expect("a rate");
            assert_eq!(
                min_bits(variant, items, &below).expect("in range").map(|best| best.bits),
                Some(bits + 1),
                "{variant} n={items} p={below}"
            );
        }
    }
}

/// Tests that a filter that meets a rate exactly is refused once the floor of equal hashes is
/// added. One more bit is enough.
#[test]
fn the_hash_floor_counts_against_a_tie() {
    assert_eq!(min_bits(Variant::Standard, 10, &rate("0.6513215599")).expect("in range").map(|best| best.bits), Some(10));
    let plan = plan(10, "0.6513215599");
    assert_eq!(plan.bits, 11);
    assert!(plan.hash_floor > 0.0);
    // If rounding outward would move the upper end above the requested rate, the upper end is the
    // requested rate. The bracket still contains the true rate.
    let tight = Plan::new(&target(10, "0.9990234375000000001").bits(2).probes(1)).expect("the hair holds the floor");
    let truth = oracle::rate(Variant::Standard, 2, 10, 1) + hash_floor(10);
    oracle::hold(&tight.fpr, &truth, "a tie with a hair of room");
}

#[test]
fn a_hash_is_1_to_128_bits_wide() {
    for hash_bits in [0, 129, 70_000, 1 << 31, u32::MAX] {
        let error = Plan::new(&target(1, "1/2").hash_bits(hash_bits)).expect_err("no hash is so wide");
        assert!(error.to_string().contains(&hash_bits.to_string()), "{error}");
    }
}

/// Tests few items, few bits and rates near 1. Each of these cases took seconds until it had a
/// separate bound.
#[test]
fn corners_are_answered() {
    for (bits, items, p) in [(1 << 40, 7, "1e-6"), (1 << 62, 1, "1e-9"), (2_000, 1, "0.5")] {
        let plan = Plan::new(&target(items, p).bits(bits)).expect("easy to meet");
        assert!(plan.fpr.upper <= 1e-9 && plan.probes < 1_000, "{plan:?}");
    }
    for (items, p) in [(1, "0.9999999999"), (1, "0.9999999999999999999"), (1, "2.939e-39"), (10_000_000_000, "2.94e-29")] {
        let plan = plan(items, p);
        assert!(meets_with_floor(&plan, p), "{plan:?}");
    }
    // One item, and a hash of one bit. By the textbook, three probes are enough, but by the exact
    // rate they are not, so the search must try more probes.
    let plan = Plan::new(&Target::new().items(1).bits(37).hash_bits(1)).expect("a plan");
    assert!(plan.probes > 3 && plan.textbook().is_ok(), "{plan:?}");
}

/// Tests that the rate claimed by the textbook plan is that of its formula, for odd and even
/// numbers of probes.
#[test]
fn the_textbook_claims_what_its_formula_says() {
    for (items, p) in [(1_000, "1%"), (1_000, "0.1%"), (77, "1e-4"), (100_000, "1e-6"), (5, "0.3")] {
        let textbook = plan(items, p).textbook().expect("a textbook");
        let (n, m, k) = (textbook.items as f64, textbook.bits as f64, f64::from(textbook.probes));
        let claimed = (1.0 - (-n * k / m).exp()).powf(k);
        assert!((textbook.claimed / claimed - 1.0).abs() < 1e-9, "{items} {p}: {textbook:?} {claimed}");
    }
}

/// Tests that the upper end of a rate that is met with equality is not above the requested rate.
/// These rates are `f64` numbers.
#[test]
fn a_tie_ends_at_its_rate() {
    for (items, p) in [(1u64, "0.5"), (2, "0.75"), (3, "0.875"), (4, "0.9375")] {
        for variant in [Variant::Standard, Variant::Classic] {
            let found = min_bits(variant, items, &rate(p)).expect("in range").expect("a size");
            assert!(found.fpr.upper <= p.parse().expect("a number"), "{variant} {items} {p}: {found:?}");
        }
    }
}

/// Whether the plan meets the rate with the floor, as decided by its law.
fn meets_with_floor(plan: &Plan, p: &str) -> bool {
    let law = plan.scheme.law(plan.bits, plan.probes).expect("in range");
    law.meets(plan.items, &rate(p), 128).expect("cheap") && plan.fpr.ln_upper <= rate(p).ln() + 1e-12
}

#[test]
fn peers_failing_cases() {
    for (items, text) in [(100, "1e-6"), (1_000, "1e-6"), (1_000, "1e-9")] {
        let plan = plan(items, text);
        let textbook = plan.textbook().expect("cheap");
        let p = exact(&rate(text));
        assert!(meets(Variant::Standard, plan.bits, items, plan.probes, &p), "{plan:?}");
        assert!(of_f64(textbook.fpr.lower) > p, "the textbook's filter should miss: {plan:?}");
        assert!(plan.bits > textbook.bits, "{plan:?}");
        println!(
            "n={items} p={text}: {} bits, textbook {} bits which has {:.4} of the rate",
            plan.bits,
            textbook.bits,
            textbook.fpr.value / rate(text).to_f64()
        );
    }
}

/// Tests a plan for 10^10 items at 1e-15. The benchmark measures its time, half a millisecond.
#[test]
fn the_largest_plan() {
    let plan = plan(10_000_000_000, "1e-15");
    assert!(meets(Variant::Standard, plan.bits, plan.items, plan.probes, &exact(&rate("1e-15"))), "{plan:?}");
    assert!(misses(Variant::Standard, plan.bits - 1, plan.items, plan.probes, &exact(&rate("1e-15"))), "{plan:?}");
}

/// Asserts that the request is refused with a message that contains the expected parts, such as the
/// request and the smallest possible rate.
fn refused(target: Target, expected: &[&str]) -> Error {
    let error = Plan::new(&target).expect_err("impossible");
    let message = error.to_string();
    for part in expected {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
    error
}

#[test]
fn rates_below_the_hash_floor_are_refused() {
    let error = refused(target(1_000_000_000, "1e-30"), &["1e-30", "1000000000", "128-bit", "a rate of 2.939e-30"]);
    assert!(matches!(error, Error::BelowHashFloor { hash_bits: 128, .. }));
    let error = refused(target(1_000_000, "1e-15").hash_bits(64), &["1e-15", "1000000", "64-bit", "a rate of 5.42", "use a 128-bit hash"]);
    assert!(matches!(error, Error::BelowHashFloor { hash_bits: 64, .. }));
    // With the wider hash, the same request succeeds. With the narrower hash, a rate slightly above
    // the floor succeeds.
    assert!(Plan::new(&target(1_000_000, "1e-15")).is_ok());
    let near = Plan::new(&target(1_000_000, "6e-14").hash_bits(64)).expect("above the floor");
    assert!(near.fpr.upper <= 6e-14 && near.bits > plan(1_000_000, "6e-14").bits, "the floor takes its share: {near:?}");
}

#[test]
fn the_memory_cap_is_kept() {
    let free = plan(1_000, "1%");
    assert_eq!(Plan::new(&target(1_000, "1%").max_bits(free.bits)).expect("fits").bits, free.bits);
    let error = refused(target(1_000, "1%").max_bits(free.bits - 1), &["0.01", "1000 items", "9595", "9594"]);
    let Error::OverMemoryCap { reachable, .. } = error else { panic!("{error}") };
    assert!(reachable > 0.01 && reachable < 0.0101);
    // The rate that the message names can be reached.
    let text = format!("{reachable:e}");
    assert!(Plan::new(&target(1_000, &text).max_bits(free.bits - 1)).is_ok());
    refused(target(1_000, "1%").bits(9_000).max_bits(8_000), &["9000", "8000"]);
}

#[test]
fn sizes_too_small_are_refused() {
    let error = refused(target(1_000, "1%").bits(9_000), &["9000 bits", "1000 items", "0.01", "with 6 probes"]);
    let Error::OutOfReach { reachable, .. } = error else { panic!("{error}") };
    assert!(reachable > 0.01 && Plan::new(&target(1_000, &format!("{reachable:e}")).bits(9_000)).is_ok());
    refused(Target::new().bits(10).rate(rate("1e-9")).mean(), &["10 bits", "1 item ", "1e-9"]);
}

#[test]
fn nonsense_is_refused() {
    refused(target(0, "1%"), &["items is 0"]);
    refused(target(5, "1%").probes(0), &["probes is 0"]);
    refused(target(5, "1%").probes(100_001), &["probes is 100001", "100000"]);
    refused(target(5, "1%").bits(0), &["bits is 0"]);
    refused(target(5, "1%").bits((1 << 62) + 1), &["bits is 4611686018427387905", "2^62"]);
    refused(target(5, "1%").bits(5).probes(6).scheme(Variant::Classic.into()), &["probes is 6", "at most the number of bits (5)"]);
    for text in ["0", "1", "1.5", "-0.1", "100%", "1/0", "abc"] {
        let error = text.parse::<Rate>().expect_err("no rate");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn too_little_is_named() {
    let none = Target::default();
    refused(none.clone(), &["items", "rate", "bits"]);
    refused(none.clone().items(5), &["number of items", "a rate"]);
    refused(none.clone().rate(rate("1%")), &["a rate", "number of items"]);
    refused(none.clone().bits(5), &["number of bits", "a rate"]);
    assert!(matches!(refused(none.probes(5), &["items"]), Error::Underdetermined { .. }));
}

/// The last convergents of the continued fraction of `exact` with one-word terms. These fractions
/// are within 2^-120 of the exact number, on both sides.
fn nearest_fractions(exact: &BigRational) -> Vec<(u64, u64)> {
    let (mut rest, mut all) = (exact.clone(), Vec::new());
    let (mut top, mut bottom) = ((BigInt::from(0), BigInt::from(1)), (BigInt::from(1), BigInt::from(0)));
    loop {
        let whole = rest.floor().to_integer();
        top = (top.1.clone(), &whole * &top.1 + &top.0);
        bottom = (bottom.1.clone(), &whole * &bottom.1 + &bottom.0);
        let (Ok(a), Ok(b)) = (u64::try_from(&top.1), u64::try_from(&bottom.1)) else { return all };
        all.push((a, b));
        rest = (rest - BigRational::from_integer(whole)).recip();
    }
}

/// Tests fractions that no bracket of a hundred digits separates from the rate. Those above the
/// rate are met and those below are not, because none of them is a tie.
#[test]
fn near_ties_are_no_ties() {
    let binomial = |n: u64, x: u64, p: &BigRational| {
        let ways = (0..x).fold(BigRational::from_integer(1.into()), |ways, i| ways * BigInt::from(n - i) / BigInt::from(i + 1));
        ways * p.pow(x as i32) * (BigRational::from_integer(1.into()) - p).pow((n - x) as i32)
    };
    let blocked = |blocks: u64, items: u64, probes: u32| -> BigRational {
        let one = BigRational::new(1.into(), blocks.into());
        (1..=items).map(|load| binomial(items, load, &one) * oracle::rate(Variant::Standard, 8, load, probes)).sum()
    };
    let standard = |bits, probes| -> Box<dyn Law> { Box::new(law::Standard::new(bits, probes).expect("in range")) };
    let classic = |bits, probes| -> Box<dyn Law> { Box::new(law::Classic::new(bits, probes).expect("in range")) };
    let in_blocks = |blocks: u64, probes| -> Box<dyn Law> {
        Box::new(law::Blocked::new(8 * blocks, 8, law::InBlock::Independent, probes).expect("in range"))
    };
    let mut cases = Vec::new();
    for (bits, items, probes) in [(97u64, 20u64, 5u32), (1_001, 60, 7), (53, 9, 4)] {
        cases.push((standard(bits, probes), items, oracle::rate(Variant::Standard, bits, items, probes)));
        cases.push((classic(bits, probes), items, oracle::rate(Variant::Classic, bits, items, probes)));
    }
    for (blocks, items, probes) in [(1_000_003u64, 12u64, 1u32), (97, 40, 3), (1 << 40, 10, 2)] {
        cases.push((in_blocks(blocks, probes), items, blocked(blocks, items, probes)));
    }
    for (law, items, of_law) in cases {
        let exact = of_law + BigRational::new(items.into(), 256.into());
        let near = nearest_fractions(&exact);
        for &(a, b) in near.iter().rev().take(4) {
            let asked = Rate::from_parts(a, 0, b).expect("a rate");
            let meets = exact <= BigRational::new(a.into(), b.into());
            assert_eq!(law.meets(items, &asked, 8).expect("decided"), meets, "{} bits, {items} items: {a}/{b}", law.bits());
        }
    }
}

/// At rates so low that equal hashes limit the number of items, a plan for a given size is found
/// within the budget of one call, and holds as many items as equal hashes allow.
#[test]
fn a_large_size_at_a_rate_near_that_of_equal_hashes_is_planned() {
    for (bits, text) in [(1u64 << 18, "1e-36"), (1 << 19, "1e-36"), (1 << 23, "1e-36"), (1 << 23, "1e-37")] {
        for target in [Target::new().bits(bits).rate(rate(text)), Target::new().bits(bits).rate(rate(text)).mean()] {
            let plan = Plan::new(&target).unwrap_or_else(|error| panic!("{bits} bits at {text}: {error}"));
            assert!(hash_floor(plan.items) < exact(&rate(text)) && hash_floor(plan.items + 1) >= exact(&rate(text)), "{plan:?}");
            assert!(plan.fpr.upper <= rate(text).to_f64() && plan.bits == bits);
        }
    }
}
