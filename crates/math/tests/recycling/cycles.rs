//! Tests a single cycle: filters with a limit on the number of items, and the law of the length of
//! a cycle.

use crate::common::chain::Chain;
use crate::common::{int, of_f64, ratio, rows};
use crate::{near, one_phase};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use truebloom_math::recycling::{Counting, Design, Mode, n_bounded};
use truebloom_math::{Method, Variant};

#[test]
fn figure_4_of_n_bounded_filters() {
    for row in rows("rbf_fig4.json")["rows"].as_array().expect("rows") {
        let found = |counting| n_bounded(int(row, "M"), int(row, "k") as u32, int(row, "N"), counting).expect("in range");
        let (worst, oracle, real) = (found(Counting::Worst), found(Counting::Oracle), found(Counting::Real));
        near(oracle.fpr.value, &row["fo_exact"], 1e-12, row);
        near(real.fpr.value, &row["fa_exact"], 1e-12, row);
        near(real.arrivals.value, &row["arrivals_exact"], 1e-12, row);
        near(oracle.printed, &row["fo"], 1e-12, row);
        near(real.printed, &row["fa"], 1e-12, row);
        assert!(worst.fpr.value > real.fpr.value && real.fpr.value > oracle.fpr.value && real.stuck < 1e-20, "{row}");
        assert!(real.fpr.lower < real.fpr.value && real.fpr.upper / real.fpr.lower - 1.0 < 1e-10, "{row}");
    }
    for counting in [Counting::Worst, Counting::Oracle, Counting::Real] {
        assert!(
            [(0, 3, 10), (100, 0, 10), (100, 3, 0)]
                .into_iter()
                .all(|(bits, probes, items)| n_bounded(bits, probes, items, counting).is_err())
        );
    }
    let (worst, exact) = (n_bounded(100, 3, 10, Counting::Worst).expect("in range"), Variant::Standard.fpr(100, 10, 3).expect("in range"));
    assert!(worst.fpr == exact && worst.printed < exact.lower);
}

/// Compares averages over a few items with every chain of up to five bits, in fractions.
#[test]
fn small_n_bounded_chains_in_fractions() {
    for (bits, probes, items) in (2..=5u64).flat_map(|bits| (1..=3u32).flat_map(move |k| (1..=4u64).map(move |n| (bits, k, n)))) {
        let chain = Chain::new(bits, probes.into(), 0, true, false);
        let zero = || vec![ratio(0, 1); bits as usize + 1];
        let (mut all, mut setting) = (zero(), zero());
        (all[0], setting[0]) = (ratio(1, 1), ratio(1, 1));
        let (mut oracle, mut more) = (ratio(0, 1), ratio(0, 1));
        for item in 0..items {
            let (mut next, mut next_setting) = (zero(), zero());
            for ones in 0..=bits {
                let rho = chain.rho(ones);
                oracle += &all[ones as usize] * &rho;
                for after in ones..=bits {
                    next[after as usize] += &all[ones as usize] * chain.step(ones, after);
                    if ones < bits && after > ones {
                        next_setting[after as usize] += &setting[ones as usize] * chain.step(ones, after) / (ratio(1, 1) - &rho);
                    }
                }
                if ones < bits {
                    more += &setting[ones as usize] * &rho / (ratio(1, 1) - &rho);
                }
            }
            if item + 1 < items {
                (all, setting) = (next, next_setting);
            }
        }
        let context = format!("m={bits} k={probes} N={items}");
        let found = n_bounded(bits, probes, items, Counting::Oracle).expect("in range");
        let truth = oracle / ratio(items, 1);
        assert!(of_f64(found.fpr.lower) <= truth && truth <= of_f64(found.fpr.upper), "{context} {:?}", found.fpr);
        let found = n_bounded(bits, probes, items, Counting::Real).expect("in range");
        if found.stuck == 0.0 {
            let truth = &more / (&more + ratio(items, 1));
            assert!(of_f64(found.fpr.lower) <= truth && truth <= of_f64(found.fpr.upper), "{context} {:?}", found.fpr);
        }
    }
}

/// Compares the law of the cycle length with every chain of up to six bits, in fractions: survival,
/// mean and variance.
#[test]
fn small_cycles_in_fractions() {
    for (bits, probes) in (2..=6u64).flat_map(|bits| (1..=4u32).map(move |probes| (bits, probes))) {
        for sigma in 0..bits {
            for (colliding, retaining) in [(true, false), (false, false), (true, true), (false, true)] {
                let Ok(design) = Design::new(bits, probes, sigma, one_phase(colliding, retaining)) else { continue };
                let chain = Chain::new(bits, probes.into(), sigma, colliding, retaining);
                let mut law = vec![ratio(0, 1); sigma as usize + 1];
                let start = if retaining { chain.restart() } else { vec![ratio(1, 1)] };
                law.iter_mut().zip(start).for_each(|(weight, start)| *weight = start);
                let cycle = design.cycle().expect("in range");
                let (mut mean, mut square) = (0.0, 0.0);
                for n in 0..400u64 {
                    let survival = law.iter().sum::<BigRational>().to_f64().expect("finite");
                    if n < 12 {
                        assert!((cycle.survival(n).expect("small") - survival).abs() < 1e-12, "{design:?} {n}");
                        assert_eq!(survival == 1.0, n < cycle.least, "{design:?} {n}");
                    }
                    if n >= 12 {
                        break;
                    }
                    let next = (0..=sigma).map(|to| (0..=to).map(|from| &law[from as usize] * chain.step(from, to)).sum());
                    law = next.collect();
                }
                for n in 0.. {
                    let survival = cycle.survival(n).expect("small");
                    mean += survival;
                    square += (2.0 * n as f64 + 1.0) * survival;
                    if survival < 1e-17 {
                        break;
                    }
                }
                assert!((mean / cycle.mean.value - 1.0).abs() < 1e-11, "{design:?} {mean} {:?}", cycle.mean);
                assert!((square - mean * mean - cycle.variance).abs() < 1e-9 * (1.0 + square), "{design:?} {}", cycle.variance);
            }
        }
    }
}

/// Compares the variance in the limit with the recursion, and the quantiles of both methods.
#[test]
fn long_cycles() {
    let walked = Design::new(100_000, 7, 60_000, Mode::default()).and_then(|design| design.cycle()).expect("in range");
    let limit = Design::new(10_000_000, 7, 6_000_000, Mode::default()).and_then(|design| design.cycle()).expect("in range");
    assert!((limit.variance / walked.variance / 100.0 - 1.0).abs() < 1e-3, "{} {}", walked.variance, limit.variance);
    let medium = Design::new(20_000, 5, 12_000, Mode::default()).and_then(|design| design.cycle()).expect("in range");
    let deviation = medium.variance.sqrt();
    for (p, z) in [(0.5, 0.0), (0.9, 1.2816), (0.01, -2.3263)] {
        let (found, method) = medium.quantile(p).expect("in range");
        assert_eq!(method, Method::Validated);
        assert!((found as f64 - (medium.mean.value + z * deviation)).abs() < 1.5, "{p} {found}");
    }
    assert!(medium.quantile(1.0).is_err());
}

/// Tests that a limit on the number of items lowers the average rate. The references are the chain
/// in fractions, and the rate without a limit.
#[test]
fn a_limit_on_items_lowers_the_rate() {
    for (bits, probes, sigma, colliding) in [(6u64, 2u32, 4u64, true), (6, 3, 5, false), (5, 1, 3, true)] {
        let design = Design::new(bits, probes, sigma, one_phase(colliding, false)).expect("a design");
        let chain = Chain::new(bits, probes.into(), sigma, colliding, false);
        let mut law = vec![ratio(0, 1); sigma as usize + 1];
        law[0] = ratio(1, 1);
        let (mut passed, mut arrived) = (ratio(0, 1), ratio(0, 1));
        for limit in 1..=8u64 {
            passed += law.iter().enumerate().map(|(ones, weight)| weight * chain.rho(ones as u64)).sum::<BigRational>();
            arrived += law.iter().sum::<BigRational>();
            let exact = (&passed / &arrived).to_f64().expect("finite");
            let found = design.fpr_with_limit(limit).expect("in range");
            assert!((found - exact).abs() < 1e-14, "{design:?} {limit}: {found} {exact}");
            law = (0..=sigma).map(|to| (0..=to).map(|from| &law[from as usize] * chain.step(from, to)).sum()).collect();
        }
        let all = design.long_run().expect("in range").fpr.value;
        assert!((design.fpr_with_limit(100_000).expect("in range") / all - 1.0).abs() < 1e-10);
        assert!(design.fpr_with_limit(2).expect("in range") < all && design.fpr_with_limit(0).is_err());
    }
    let two = Design::new(9, 2, 5, Mode::two_phase()).and_then(|design| design.fpr_with_limit(3)).unwrap_err();
    assert_eq!(two.to_string(), "phases is 2, but must be 1 for a limit on new items");
}
