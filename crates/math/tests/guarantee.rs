//! Tests every bound on the rate of one filter against the exact law of the set bits.

mod common;

use common::oracle::{self, occupancy};
use common::{choose, fraction, of_f64, power, ratio};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use std::collections::BTreeMap;
use truebloom_math::{
    Error, Method, Plan, Rate, Target, Variant, confidence_bound, false_positives, hits_quantile_bound, rate_quantile_bound,
};

/// All values of the rate of one filter, with their probabilities, as exact fractions.
fn own_rates(variant: Variant, bits: u64, items: u64, probes: u32) -> BTreeMap<BigRational, BigRational> {
    let k = u64::from(probes);
    let of = |bits: u64, steps: u64, batch: u64, rate: &dyn Fn(u64) -> BigRational| -> Vec<(BigRational, BigRational)> {
        let law = occupancy(bits, steps, batch);
        let possible = law.ways.iter().enumerate().filter(|(_, ways)| !ways.is_zero());
        possible.map(|(ones, ways)| (rate(ones as u64), BigRational::new(ways.clone(), law.outcomes.clone()))).collect()
    };
    let mut all = BTreeMap::new();
    match variant {
        Variant::Standard => all.extend(of(bits, items * k, 1, &|ones| power(&ratio(ones, bits), probes))),
        Variant::Classic => all.extend(of(bits, items, k, &|ones| BigRational::new(choose(ones, k), choose(bits, k)))),
        Variant::Partitioned => {
            all.insert(BigRational::from(BigInt::from(1)), BigRational::from(BigInt::from(1)));
            for size in oracle::slices(bits, probes) {
                let mut next = BTreeMap::new();
                for (factor, p) in of(size, items, 1, &|ones| ratio(ones, size)) {
                    for (rate, q) in &all {
                        *next.entry(rate * &factor).or_insert_with(BigRational::zero) += &p * q;
                    }
                }
                all = next;
            }
        }
    }
    all
}

fn mass(law: &BTreeMap<BigRational, BigRational>, within: impl Fn(&BigRational) -> bool) -> BigRational {
    law.iter().filter(|(rate, _)| within(rate)).map(|(_, p)| p).sum()
}

#[test]
fn quantiles_lie_in_their_brackets() {
    let mut cases = 0;
    for variant in Variant::ALL {
        for (bits, items, probes) in
            [(1u64, 3u64, 1u32), (7, 1, 3), (8, 2, 3), (20, 3, 4), (33, 5, 4), (60, 20, 2), (60, 1, 60), (45, 9, 4), (90, 10, 6)]
        {
            let law = own_rates(variant, bits, items, probes);
            for confidence in [1e-300, 1e-17, 1e-9, 0.01, 0.3, 0.5, 0.9, 0.99, 0.999_999, 1.0 - 1e-12] {
                let context = format!("{variant} m={bits} n={items} k={probes} c={confidence}");
                let found = rate_quantile_bound(variant, bits, items, probes, confidence).expect("in range");
                let c = of_f64(confidence);
                let (lower, upper) = (of_f64(found.fpr.lower), of_f64(found.fpr.upper));
                assert!(mass(&law, |rate| *rate <= upper) >= c, "{context}: {found:?} is too low");
                assert!(mass(&law, |rate| *rate < lower) < c, "{context}: {found:?} is too high below");
                assert_eq!(found.fpr.method, Method::Bound);
                assert!(
                    found.fpr.lower <= found.fpr.value && found.fpr.value <= found.fpr.upper && found.fpr.ln_lower <= found.fpr.ln_upper
                );
                cases += 1;
            }
        }
    }
    println!("{cases} quantiles in their brackets");
}

#[test]
fn confidence_is_never_overstated() {
    let mut gaps = Vec::new();
    for variant in Variant::ALL {
        for (bits, items, probes) in [(20u64, 3u64, 4u32), (33, 5, 4), (60, 20, 2), (90, 10, 6), (7, 2, 7), (1, 1, 1)] {
            let law = own_rates(variant, bits, items, probes);
            // This includes ties: rates that a filter can have exactly.
            for text in ["1e-9", "0.001", "1%", "1/16", "1/9", "0.2", "0.5", "0.9", "0.9999"] {
                let rate: Rate = text.parse().expect("a rate");
                let asked = match text.strip_suffix('%') {
                    Some(percent) => fraction(percent) / BigRational::from(BigInt::from(100)),
                    None => fraction(text),
                };
                let truth = mass(&law, |rate| *rate <= asked);
                let found = confidence_bound(variant, bits, items, probes, &rate).expect("in range");
                assert!(of_f64(found) <= truth, "{variant} m={bits} n={items} k={probes} {text}: {found} {truth}");
                gaps.push(truth.to_f64().expect("finite") - found);
            }
        }
    }
    assert!(gaps.iter().filter(|gap| **gap < 0.05).count() * 3 > gaps.len(), "{gaps:?}");
}

fn target(items: u64, rate: &str, confidence: f64) -> Target {
    Target::new().items(items).rate(rate.parse().expect("a rate")).confidence(confidence)
}

/// With a tiny confidence, a plan is no larger than with a higher one, and its certificate holds.
#[test]
fn tiny_confidences_take_no_more_bits() {
    for variant in Variant::ALL {
        let plans = [1e-300, 1e-20, 6e-17, 1e-9].map(|confidence| {
            let asked = target(1_000, "0.01", confidence).scheme(variant.into());
            Plan::new(&asked).unwrap_or_else(|error| panic!("{variant} {confidence}: {error}"))
        });
        assert!(plans.is_sorted_by_key(|plan| plan.bits), "{variant}: {plans:?}");
    }
}

#[test]
fn plans_keep_their_word() {
    for variant in Variant::ALL {
        for (items, text, confidence) in [(10u64, "0.05", 0.9), (10, "0.05", 0.999), (25, "0.1", 0.5), (6, "0.01", 0.99), (4, "0.3", 0.2)] {
            let context = format!("{variant} n={items} p={text} c={confidence}");
            let asked = target(items, text, confidence).scheme(variant.into());
            let plan = Plan::new(&asked).unwrap_or_else(|error| panic!("{context}: {error}"));
            let average = Plan::new(&asked.clone().mean()).expect("easy");
            let guarantee = plan.guarantee.expect("asked for");
            assert!(average.guarantee.is_none() && average.bits <= plan.bits, "{context}");
            assert!(
                guarantee.fpr.upper <= plan.rate.expect("asked").to_f64() && plan.fpr.upper <= plan.rate.expect("asked").to_f64(),
                "{plan:?}"
            );
            let law = own_rates(variant, plan.bits, items, plan.probes);
            let kept = mass(&law, |rate| *rate <= fraction(text)).to_f64().expect("finite");
            println!(
                "{context}: {} bits, {} probes (on average {}, {}), kept with {kept}",
                plan.bits, plan.probes, average.bits, average.probes
            );
            assert!(kept >= confidence, "{context}: {kept}");
            // The largest number of items at this size is at least the given number, and the given
            // size is accepted.
            let back = Plan::new(&Target { items: None, ..asked.clone().bits(plan.bits) }).expect("they fit");
            assert!(back.items >= items, "{context}: {back:?}");
            let law = own_rates(variant, back.bits, back.items, back.probes);
            assert!(mass(&law, |rate| *rate <= fraction(text)).to_f64().expect("finite") >= confidence, "{context}");
            assert!(Plan::new(&asked.clone().bits(plan.bits)).is_ok(), "{context}");
            let given = Plan::new(&asked.probes(plan.probes)).expect("the same");
            assert_eq!((given.bits, given.probes), (plan.bits, plan.probes), "{context}");
        }
    }
}

/// The probability of at most `ones` set bits after single throws, computed by the chain in `f64`
/// with positive terms.
fn at_most(bits: usize, throws: u64, ones: usize) -> f64 {
    let mut law = vec![0.0; bits + 1];
    law[0] = 1.0;
    for throw in 1..=throws {
        for x in (0..=bits.min(throw as usize)).rev() {
            law[x] = law[x] * x as f64 / bits as f64 + if x > 0 { law[x - 1] * (bits + 1 - x) as f64 / bits as f64 } else { 0.0 };
        }
    }
    law[..=ones].iter().sum()
}

#[test]
fn the_cost_of_a_guarantee() {
    let mut before = Plan::new(&target(1_000, "1%", 0.5).mean()).expect("easy").bits;
    for confidence in [0.6, 0.9, 0.99, 0.999, 0.999_999] {
        let plan = Plan::new(&target(1_000, "1%", confidence)).expect("easy");
        let ones = plan.guarantee.and_then(|guarantee| guarantee.ones).expect("one count");
        let kept = at_most(plan.bits as usize, 1_000 * u64::from(plan.probes), ones as usize);
        println!("c={confidence}: {} bits, {} probes, {ones} ones, kept with {kept}", plan.bits, plan.probes);
        assert!(kept >= confidence && plan.bits >= before && plan.bits < 10_400, "{plan:?}");
        before = plan.bits;
    }
    // At a real size, a guarantee of 99.9% costs less than a thousandth, and equal 128-bit hashes
    // cost nothing.
    for variant in Variant::ALL {
        let asked = target(10_000_000, "0.1%", 0.999).scheme(variant.into());
        let (sure, average) = (Plan::new(&asked).expect("easy"), Plan::new(&asked.mean()).expect("easy"));
        assert!(sure.bits > average.bits && (sure.bits as f64) < average.bits as f64 * 1.001, "{} {}", sure.bits, average.bits);
    }
}

#[test]
fn what_cannot_be_guaranteed() {
    for confidence in [0.0, 1.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
        for error in [
            Plan::new(&target(10, "1%", confidence)).expect_err("no probability"),
            rate_quantile_bound(Variant::Standard, 10, 1, 2, confidence).expect_err("no probability"),
        ] {
            assert!(error.to_string().starts_with("confidence"), "{error}");
        }
    }
    // The size for the average is not enough, and the error names a rate that is possible.
    let average = Plan::new(&target(1_000, "1%", 0.5).mean()).expect("easy");
    let asked = target(1_000, "1%", 0.999).bits(average.bits);
    let Err(Error::OutOfReach { reachable, probes, .. }) = Plan::new(&asked) else { panic!("half of the filters are above 1%") };
    assert!(reachable > 0.01 && reachable < 0.013, "{reachable}");
    let rate = Rate::try_from(reachable).expect("a rate");
    assert!(Plan::new(&asked.clone().rate(rate).probes(probes)).is_ok());
    // Without a rate, the plan reports the rate that it keeps.
    let plan = Plan::new(&Target { rate: None, ..asked }).expect("any size");
    assert!((plan.guarantee.expect("asked for").fpr.upper / reachable - 1.0).abs() < 1e-9);
    let capped = Plan::new(&target(1_000, "1%", 0.999).max_bits(average.bits));
    assert!(matches!(capped, Err(Error::OverMemoryCap { needed: Some(_), .. })), "{capped:?}");
    // Calls at the limits of the ranges return quickly, whatever they return.
    for items in [1, 1 << 40] {
        for rate in ["1e-300", "0.999999", "1e-9"] {
            for variant in Variant::ALL {
                let _ = Plan::new(&target(items, rate, 0.999).scheme(variant.into()));
                let _ = confidence_bound(variant, 1 << 62, items, 7, &rate.parse().expect("a rate"));
                let _ = rate_quantile_bound(variant, 1 << 62, items, 7, 0.5);
            }
        }
    }
}

/// The exact probability `P(Bin(queries, rate) <= hits)`.
fn binomial_at_most(hits: i64, queries: u64, rate: &BigRational) -> BigRational {
    let rest = BigRational::from(BigInt::from(1)) - rate;
    (0..=hits.max(-1))
        .map(|h| BigRational::from(choose(queries, h as u64)) * power(rate, h as u32) * power(&rest, (queries - h as u64) as u32))
        .sum()
}

#[test]
fn quantiles_of_hits_lie_in_their_brackets() {
    let (mut cases, mut widths) = (0, Vec::new());
    for variant in Variant::ALL {
        for (bits, items, probes) in [(8u64, 2u64, 3u32), (20, 3, 4), (1, 1, 1), (40, 9, 3), (30, 1, 5)] {
            let law = own_rates(variant, bits, items, probes.min(bits as u32));
            for queries in [1u64, 5, 12] {
                let cdf: Vec<BigRational> =
                    (-1..=queries as i64).map(|h| law.iter().map(|(rate, p)| p * binomial_at_most(h, queries, rate)).sum()).collect();
                for probability in [0.001, 0.3, 0.5, 0.9, 0.9999] {
                    let found = hits_quantile_bound(variant, bits, items, probes.min(bits as u32), queries, probability).expect("in range");
                    let context = format!("{variant} m={bits} n={items} k={probes} Q={queries} q={probability}: {found:?}");
                    // cdf[h] is P(H < h).
                    assert!(cdf[found.upper as usize + 1] >= of_f64(probability), "{context}");
                    assert!(cdf[found.lower as usize] < of_f64(probability), "{context}");
                    widths.push((found.upper - found.lower) as f64 / queries as f64);
                    cases += 1;
                }
            }
        }
    }
    println!("{cases} brackets, mean width {} of the queries", widths.iter().sum::<f64>() / cases as f64);
    // At a real size, the interval is narrow, and contains the mean.
    for queries in [1_000_000u64, 1 << 50] {
        let mean = false_positives(Variant::Standard, 143_800_000, 10_000_000, 10, queries).expect("in range").mean;
        for (probability, low, high) in [(0.001, 0.88, 1.0), (0.5, 0.98, 1.02), (0.999, 1.0, 1.15)] {
            let found = hits_quantile_bound(Variant::Standard, 143_800_000, 10_000_000, 10, queries, probability).expect("in range");
            assert!(found.lower as f64 > low * mean && (found.upper as f64) < high * mean + 1.0, "{probability} {found:?} {mean}");
        }
    }
    assert!(
        hits_quantile_bound(Variant::Standard, 8, 1, 1, 1, 1.0).is_err()
            && hits_quantile_bound(Variant::Standard, 8, 1, 1, u64::MAX, 0.5).is_err()
    );
    assert_eq!(hits_quantile_bound(Variant::Standard, 8, 0, 1, 9, 0.9).map(|found| found.upper), Ok(0));
}

/// Tests that the quantile is exact, not only bracketed, if the law of the fill is summed.
#[test]
fn quantiles_of_hits_close_where_the_law_is_summed() {
    for (bits, items, probes, queries) in [(20u64, 3u64, 2u32, 15u64), (33, 5, 4, 200), (60, 12, 3, 1_000)] {
        let pmf = truebloom_math::occupancy::Occupancy::standard(bits, items, probes).expect("in range").pmf().expect("small");
        let cdf = |hits: u64| -> f64 {
            let at = |(ones, p): (usize, &f64)| {
                p * truebloom_math::binomial::at_most(hits, queries, (ones as f64 / bits as f64).powi(probes as i32))
            };
            pmf.iter().enumerate().map(at).sum()
        };
        for probability in [0.01, 0.3, 0.5, 0.9, 0.999] {
            let found = hits_quantile_bound(Variant::Standard, bits, items, probes, queries, probability).expect("in range");
            let expected = (0..=queries).find(|&hits| cdf(hits) >= probability).expect("the last is certain");
            assert_eq!((found.lower, found.upper), (expected, expected), "{bits} {items} {probes} {queries} {probability}: {found:?}");
        }
    }
}

/// Tests rates slightly below the rate of a number of set bits, which exclude this number. The
/// result must be the same for all rates down to the one of the next smaller number.
#[test]
fn a_hair_below_a_tie_is_below_it() {
    for (half, items) in [(50u64, 30u64), (500, 320), (5_000, 3_400)] {
        // Two slices; half of the positions set is a rate of a quarter.
        let bound =
            |text: &str| confidence_bound(Variant::Partitioned, 4 * half / 2, items, 2, &text.parse().expect("a rate")).expect("in range");
        let below = ((2 * half - 1) as f64 / (2 * half) as f64).powi(2) / 4.0;
        let (hair, between, tie) = (bound("0.2499999999999999"), bound(&format!("{}", (0.25 + below) / 2.0)), bound("0.25000000001"));
        assert!(hair == between && between < tie, "{half} {items}: {hair} {between} {tie}");
    }
}
