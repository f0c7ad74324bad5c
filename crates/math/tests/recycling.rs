//! Recycling filters: reference vectors, exact chains, and chains over the bits themselves.

mod common;

use common::chain::{Chain, joint_rate};
use common::{fraction, int, of_f64, ratio, rows};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use serde_json::Value;
use truebloom_math::recycling::{
    Bracket, Counting, Design, Mode, Phases, Seeds, Trigger, capacity, min_bits, n_bounded, remember, worst_capacity, worst_min_bits,
    worst_remember,
};
use truebloom_math::{Fpr, Method, Rate, Variant};

/// Under one seed for ever, as the vectors have it.
fn one_phase(colliding: bool, retaining: bool) -> Mode {
    Mode { colliding, retaining, seeds: Seeds::Kept, ..Mode::default() }
}

fn two_phase(colliding: bool, trigger: Trigger, shared_hash: bool) -> Mode {
    let seeds = if shared_hash { Seeds::Kept } else { Seeds::Renewed };
    Mode { phases: Phases::Two(trigger), colliding, seeds, retaining: false }
}

fn design(row: &Value, bits: u64, mode: Mode) -> Design {
    Design::new(bits, int(row, "k") as u32, int(row, "sigma"), mode).unwrap_or_else(|error| panic!("{row}: {error}"))
}

/// Encloses the truth with ends at most three `f64` apart.
fn hold(fpr: &Fpr, truth: &BigRational, context: &str) {
    assert_eq!(fpr.method, Method::Exact, "{context}");
    assert!(of_f64(fpr.lower) <= *truth && *truth <= of_f64(fpr.upper), "{fpr:?} misses {:?} of {context}", truth.to_f64());
    assert!(fpr.upper.to_bits() - fpr.lower.to_bits() <= 3, "{fpr:?} is too wide for {context}");
}

fn hold_items(items: &Bracket, truth: &BigRational, context: &str) {
    assert!(of_f64(items.lower) <= *truth && *truth <= of_f64(items.upper), "{items:?} misses {:?} of {context}", truth.to_f64());
    assert!(items.upper.to_bits() - items.lower.to_bits() <= 3, "{items:?} is too wide for {context}");
}

/// Within some last digits of a decimal that is itself rounded. Small rates of two phases lost theirs in the vectors to `1 - (1 - a)(1 - b)`.
fn near(found: f64, expected: &Value, tolerance: f64, context: &dyn std::fmt::Display) {
    let expected: f64 = expected.as_str().expect("digits").parse().expect("a number");
    assert!((found - expected).abs() < tolerance * expected + 3e-16, "{found} {expected} {context}");
}

#[test]
fn exact_vectors() {
    for row in rows("rbf_exact.json")["rows"].as_array().expect("rows") {
        let (colliding, retaining) = (int(row, "noncolliding") == 0, int(row, "retaining") == 1);
        let run = design(row, int(row, "M"), one_phase(colliding, retaining)).long_run().expect("in range");
        let exact = |field: &str| fraction(row[field].as_str().expect("a fraction"));
        hold(&run.fpr, &exact("f1"), &row.to_string());
        hold_items(&run.items_per_cycle, &exact("N"), &row.to_string());
        for (field, trigger) in [("f2_exact_excl", Trigger::Excluded), ("f2_exact_incl", Trigger::Included)] {
            if !retaining {
                let run = design(row, int(row, "M"), two_phase(colliding, trigger, true)).long_run().expect("in range");
                hold(&run.fpr, &exact(field), &format!("{field} {row}"));
            }
        }
    }
}

#[test]
fn grid_vectors() {
    for row in rows("rbf_grid.json")["rows"].as_array().expect("rows") {
        let bits = int(row, "M");
        for (letters, mode) in
            [("cn", one_phase(true, false)), ("nn", one_phase(false, false)), ("cr", one_phase(true, true)), ("nr", one_phase(false, true))]
        {
            if row.get(format!("f_{letters}")).is_some() && bits * int(row, "k") < 40_000 {
                let run = design(row, bits, mode).long_run().expect("in range");
                near(run.fpr.value, &row[format!("f_{letters}")], 1e-13, &row);
                near(run.items_per_cycle.value, &row[format!("N_{letters}")], 1e-13, &row);
            }
        }
        // The vectors hold the paper's product: two seeds where positions may repeat.
        for (letters, colliding) in [("cn", true), ("nn", false)] {
            for (name, trigger) in [("excl", Trigger::Excluded), ("incl", Trigger::Included)] {
                if let Some(expected) = row.get(format!("f2_{letters}_{name}")) {
                    let run = design(row, bits, two_phase(colliding, trigger, !colliding)).long_run().expect("in range");
                    near(run.fpr.value, expected, 1e-13, &row);
                }
            }
        }
    }
}

#[test]
fn figure_3_and_single_probes() {
    for row in rows("rbf_fig3.json")["rows"].as_array().expect("rows") {
        let run = design(row, 1_000, Mode::default()).long_run().expect("in range");
        near(run.fpr.value, &row["f1"], 1e-13, row);
        near(run.items_per_cycle.value, &row["N"], 1e-13, row);
        for (field, trigger) in [("f2_M500_sigma", Trigger::Excluded), ("f2_incl", Trigger::Included)] {
            if row.get(field).is_some() {
                let run = design(row, 500, two_phase(true, trigger, false)).long_run().expect("in range");
                near(run.fpr.value, &row[field], 1e-13, row);
            }
        }
    }
    for row in rows("rbf_k1.json")["rows"].as_array().expect("rows") {
        let run = Design::new(int(row, "M"), 1, int(row, "sigma"), Mode::default()).and_then(|design| design.long_run()).expect("in range");
        near(run.fpr.value, &row["f"], 3e-16, row);
        near(run.items_per_cycle.value, &row["N"], 3e-16, row);
    }
}

/// Every size up to six bits, every sigma, one to eight probes, all modes of one phase, against chains in fractions.
#[test]
fn small_chains_in_fractions() {
    let mut count = 0;
    for bits in 1..=6u64 {
        for (probes, sigma) in (1..=8u32).flat_map(|probes| (0..bits).map(move |sigma| (probes, sigma))) {
            for (colliding, retaining) in [(true, false), (false, false), (true, true), (false, true)] {
                let Ok(design) = Design::new(bits, probes, sigma, one_phase(colliding, retaining)) else {
                    assert!(!colliding && u64::from(probes) > bits || retaining && sigma < u64::from(probes));
                    continue;
                };
                let chain = Chain::new(bits, probes.into(), sigma, colliding, retaining);
                let (run, context) = (design.long_run().expect("in range"), format!("{design:?}"));
                hold(&run.fpr, &chain.rate(), &context);
                hold_items(&run.items_per_cycle, &chain.items(), &context);
                hold(&run.worst, &chain.rho(sigma), &context);
                count += 1;
            }
        }
    }
    // 8 x 21 colliding, 91 distinct, 35 of each retaining.
    assert_eq!(count, 329);
}

/// A retained item that is placed afresh, as a filter does that renews its seed: the chain that begins with any item's distinct positions, in fractions. Two figures of that very filter,
/// simulated: 1.7017 items (99%: 1.7006 to 1.7027) of 30 bits, 10 probes and sigma 15, and a rate from 0.014121 to 0.014478 of 12, 6 and 7. With kept positions they are 1.6696 and 0.014507.
#[test]
fn retained_items_are_placed_afresh_where_seeds_are_renewed() {
    let mut differ = 0;
    for (bits, probes) in (1..=6u64).flat_map(|bits| (1..=4u32).map(move |probes| (bits, probes))) {
        for (sigma, colliding) in (u64::from(probes)..bits).flat_map(|sigma| [(sigma, true), (sigma, false)]) {
            let fresh = Mode { colliding, retaining: true, ..Mode::default() };
            let (design, kept) = (|mode| Design::new(bits, probes, sigma, mode).expect("a design"), Mode { seeds: Seeds::Kept, ..fresh });
            let chain = Chain::new(bits, probes.into(), sigma, colliding, false);
            let any: Vec<BigRational> = (0..=u64::from(probes).min(bits)).map(|distinct| chain.step(0, distinct)).collect();
            let (run, context) = (design(fresh).long_run().expect("in range"), format!("{bits} {probes} {sigma} {colliding}"));
            hold(&run.fpr, &chain.rate_from(&any), &context);
            differ += u32::from(run.fpr != design(kept).long_run().expect("in range").fpr);
        }
    }
    // One probe, and distinct ones, begin alike either way.
    assert!(differ >= 15, "{differ}");
    let run = |bits, probes, sigma| {
        let mode = Mode { retaining: true, ..Mode::default() };
        Design::new(bits, probes, sigma, mode).and_then(|design| design.long_run()).expect("in range")
    };
    assert_eq!(format!("{:.4}", run(30, 10, 15).items_per_cycle.value), "1.7014");
    assert_eq!(format!("{:.6}", run(12, 6, 7).fpr.value), "0.014208");
}

/// Two phases, by the chain over both filters' bits: nothing is assumed independent.
#[test]
fn joint_law_of_two_phases() {
    for (bits, probes) in [(3u64, 1u32), (3, 2), (3, 4), (4, 1), (4, 2), (4, 3)] {
        for sigma in 0..bits {
            for (colliding, included, shared) in [
                (true, true, true),
                (true, false, true),
                (true, true, false),
                (true, false, false),
                (false, true, true),
                (false, false, true),
            ] {
                let trigger = if included { Trigger::Included } else { Trigger::Excluded };
                let Ok(design) = Design::new(bits, probes, sigma, two_phase(colliding, trigger, shared)) else { continue };
                let found = design.long_run().expect("in range").fpr;
                let expected = joint_rate(bits, probes, sigma, colliding, included, shared);
                assert!((found.value - expected).abs() < 1e-11, "{} {expected} {design:?}", found.value);
                assert!(found.lower <= found.value && found.value <= found.upper);
            }
        }
    }
}

/// With one probe both filters see one position, and the closed form of erratum D22.
#[test]
fn one_probe_in_closed_form() {
    for bits in 1..=30u64 {
        for sigma in 0..bits {
            let run = Design::new(bits, 1, sigma, Mode::default()).and_then(|design| design.long_run()).expect("in range");
            let sum: BigRational = (0..=sigma).map(|j| ratio(bits, bits - j)).sum();
            hold(&run.fpr, &(ratio(1, 1) - ratio(sigma + 1, 1) / &sum), "one probe");
            hold_items(&run.items_per_cycle, &sum, "one probe");
        }
    }
}

/// Rates far below the range of `f64` keep their logarithm, and a wide walk brackets the narrow one.
#[test]
fn extreme_sizes() {
    let run = Design::new(1 << 40, 40, 1_000, Mode::two_phase()).and_then(|design| design.long_run()).expect("in range");
    assert!(
        run.fpr.value <= f64::from_bits(1) && run.fpr.upper > 0.0 && run.fpr.ln < -800.0 && run.fpr.ln_upper - run.fpr.ln_lower < 1e-9,
        "{:?}",
        run.fpr
    );
    let coarse = Design::new(200_000, 7, 150_000, Mode::default()).and_then(|design| design.long_run()).expect("in range");
    assert!(coarse.fpr.upper / coarse.fpr.lower - 1.0 < 2e-8 && coarse.fpr.upper > coarse.fpr.lower);
    let full = Design::new(64, 3, 63, one_phase(true, true)).and_then(|design| design.long_run()).expect("in range");
    assert!(full.fpr.upper < 1.0 && full.worst.upper < 1.0);
}

#[test]
fn what_is_no_design_is_named() {
    let fails = |bits, probes, sigma, mode| Design::new(bits, probes, sigma, mode).expect_err("no design").to_string();
    assert!(fails(10, 2, 10, Mode::default()).contains("sigma is 10"));
    assert!(fails(0, 2, 0, Mode::default()).contains("bits is 0"));
    assert!(fails(10, 0, 3, Mode::default()).contains("probes is 0"));
    assert!(fails(3, 4, 2, one_phase(false, false)).contains("probes is 4"));
    assert!(fails(9, 4, 3, one_phase(true, true)).contains("sigma is 3"));
    assert!(fails(9, 4, 5, Mode { retaining: true, ..Mode::two_phase() }).contains("retaining"));
    let error = Design::new(1 << 62, 100_000, 1 << 61, one_phase(false, false)).and_then(|design| design.long_run()).expect_err("too long");
    assert!(error.to_string().contains("steps"), "{error}");
}

/// The rates of the vectors are not all small: the tests above see the differences that the modes make.
#[test]
fn modes_differ() {
    let bits = |mode| Design::new(100, 3, 50, mode).expect("a design").total_bits();
    assert_eq!((bits(Mode::default()), bits(Mode::two_phase())), (100, 200));
    let rate = |mode| Design::new(6, 2, 4, mode).and_then(|design| design.long_run()).expect("in range").fpr.value;
    let all = [
        one_phase(true, false),
        one_phase(false, false),
        one_phase(true, true),
        one_phase(false, true),
        two_phase(true, Trigger::Included, true),
        two_phase(true, Trigger::Excluded, true),
        two_phase(true, Trigger::Included, false),
        two_phase(true, Trigger::Excluded, false),
        two_phase(false, Trigger::Included, true),
        two_phase(false, Trigger::Excluded, true),
    ];
    let mut rates: Vec<f64> = all.into_iter().map(rate).collect();
    rates.sort_by(f64::total_cmp);
    assert!(rates.windows(2).all(|pair| (pair[1] - pair[0]).abs() > 1e-4), "{rates:?}");
}

fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}

#[test]
fn capacities_of_the_vectors() {
    for row in rows("rbf_capacity.json")["rows"].as_array().expect("rows") {
        let (bits, p) = (int(row, "M"), rate(row["p"].as_str().expect("a rate")));
        if bits > 100_000 {
            continue;
        }
        let one = capacity(bits, &p, Mode::default()).expect("in range").expect("a design");
        let expected = &row["sigma_design"];
        assert_eq!((u64::from(one.design.probes()), one.design.sigma()), (int(expected, "k"), int(expected, "sigma")), "{row}");
        near(one.run.items_per_cycle.value, &expected["N"], 1e-9, row);
        near(one.run.fpr.value, &expected["f"], 1e-9, row);
        // The vectors price two phases by the product, which two seeds have.
        for (field, trigger) in [("two_excl", Trigger::Excluded), ("two_incl", Trigger::Included)] {
            let two = capacity(bits, &p, two_phase(true, trigger, false)).expect("in range").expect("a design");
            let found = (u64::from(two.design.probes()), two.design.sigma());
            assert_eq!(found, (int(&row[field], "k"), int(&row[field], "sigma")), "{field} {row}");
            near(two.run.items_per_cycle.value, &row[field]["N"], 1e-9, row);
        }
    }
}

/// All designs of small filters, up to forty probes: none has more items at the rate.
#[test]
fn small_capacities_are_the_most() {
    for (bits, p) in [(1u64, "0.5"), (2, "0.3"), (7, "0.1"), (16, "0.01"), (24, "0.2"), (40, "0.001"), (40, "0.9")] {
        for mode in [
            Mode::default(),
            one_phase(false, false),
            one_phase(true, true),
            one_phase(false, true),
            Mode::two_phase(),
            two_phase(true, Trigger::Excluded, false),
            two_phase(false, Trigger::Included, true),
        ] {
            let each = bits / mode.filters();
            let Ok(found) = capacity(bits, &rate(p), mode) else {
                assert_eq!(each, 0);
                continue;
            };
            let mut best = (0.0, 0);
            for (probes, sigma) in (1..=40u32).flat_map(|probes| (0..each).map(move |sigma| (probes, sigma))) {
                let Ok(run) = Design::new(each, probes, sigma, mode).and_then(|design| design.long_run()) else { continue };
                let items = run.items_per_cycle.value;
                if run.fpr.upper <= rate(p).to_f64() && items > best.0 * (1.0 + 1e-12) {
                    best = (items, probes);
                }
            }
            let found = found.map_or((0.0, 0), |found| (found.run.items_per_cycle.value, found.design.probes()));
            assert!((found.0 - best.0).abs() <= 1e-12 * best.0 && found.1 == best.1, "{bits} bits {p} {mode:?}: {found:?} {best:?}");
        }
    }
}

/// A rate that is the decimal itself passes, and so does its last digit down not.
#[test]
fn ties_are_decided_by_the_decimal() {
    // Four bits, one probe, sigma 2, retaining: a rate of 2/5 and 10/3 items (vectors); what else keeps to 2/5 has fewer.
    let items = |p: &str| capacity(4, &rate(p), one_phase(false, true)).expect("in range").expect("a design").run.items_per_cycle.value;
    let most = 10.0 / 3.0;
    assert!([items("0.4"), items("2/5"), items("0.4000000000000000001")].iter().all(|found| (found - most).abs() < 1e-15));
    assert!(items("0.3999999999999999999") < most - 0.1);
}

#[test]
fn smallest_sizes() {
    for row in rows("rbf_sizing.json")["rows"].as_array().expect("rows") {
        let items = int(row, "N") as f64;
        let p = rate(row["p"].as_str().expect("a rate"));
        let found = min_bits(items, &p, Mode::default()).expect("in range").expect("a size");
        println!("{} bits for {row}", found.design.total_bits());
        assert!(
            found.design.total_bits() <= int(row, "M") && found.run.items_per_cycle.lower >= items && found.run.fpr.upper <= p.to_f64()
        );
        let less = capacity(found.design.total_bits() - 1, &p, Mode::default()).expect("in range");
        assert!(less.is_none_or(|less| less.run.items_per_cycle.upper < items));
    }
    // Every size, one by one.
    for (items, p, mode) in [(3.5, "0.05", Mode::default()), (12.0, "0.01", Mode::two_phase()), (20.0, "0.1", one_phase(false, false))] {
        let found = min_bits(items, &rate(p), mode).expect("in range").expect("a size").design.total_bits();
        let first = (mode.filters()..)
            .find(|&bits| capacity(bits, &rate(p), mode).expect("in range").is_some_and(|found| found.run.items_per_cycle.upper >= items));
        assert_eq!(Some(found), first.map(|bits| bits / mode.filters() * mode.filters()));
    }
}

#[test]
fn sizes_beyond_walking() {
    let found = capacity(1 << 40, &rate("0.01"), Mode::default()).expect("in range").expect("a design");
    let share = found.design.sigma() as f64 / (1u64 << 40) as f64;
    assert!(found.design.probes() == 6 && (share - 0.606_244).abs() < 1e-6, "{found:?}");
    assert!(found.run.fpr.upper <= 0.01 && found.run.fpr.lower > 0.009_999_999);
    assert!(found.run.items_per_cycle.upper / found.run.items_per_cycle.lower - 1.0 < 1e-11);
    let items = 1e10;
    for mode in [Mode::default(), Mode::two_phase()] {
        let found = min_bits(items, &rate("1e-6"), mode).expect("in range").expect("a size");
        assert!(
            found.run.fpr.upper <= 1e-6
                && found.run.items_per_cycle.upper >= items
                && found.run.items_per_cycle.lower < items * (1.0 + 1e-8)
        );
    }
    assert_eq!(min_bits(1e18, &rate("1e-6"), Mode::default()).expect("in range"), None);
}

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

/// Averages over a few items, in fractions: every chain up to five bits.
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
/// The law of the cycle length of every chain up to six bits, in fractions: survival, mean and variance.
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

/// The variance of the limit against the recursion, and quantiles of both routes.
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

/// A limit on items lowers the average: against the chain in fractions, and up to the rate without a limit.
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

#[test]
fn what_it_takes_to_remember() {
    let mode = two_phase(true, Trigger::Included, false);
    for (items, p) in [(2, "0.1"), (4, "0.05")] {
        let asked = rate(p);
        let certain = remember(items, 0.0, &asked, mode).expect("in range").expect("a design");
        assert!(certain.run.fpr.upper <= asked.to_f64() && certain.design.sigma() / u64::from(certain.design.probes()) >= items);
        assert_eq!(certain.design.forgetting().expect("in range").probability(items).value, 0.0);
        // Nothing smaller does.
        for bits in 1..certain.design.bits() {
            for probes in 1..=12 {
                let sigma = u64::from(probes) * items;
                if sigma + u64::from(probes) < bits {
                    let run = Design::new(bits, probes, sigma, mode).and_then(|design| design.long_run()).expect("in range");
                    assert!(run.fpr.value > asked.to_f64(), "{items} {p}: {bits} bits, {probes} probes");
                }
            }
        }
    }
    for (items, forgotten, mode) in [(20, 0.01, mode), (10, 0.2, one_phase(true, false))] {
        let (asked, context) = (rate("0.01"), format!("{items} {forgotten} {mode:?}"));
        let found = remember(items, forgotten, &asked, mode).expect("in range").expect("a design");
        let chance = |design: &Design| design.forgetting().expect("in range").probability(items).value;
        assert!(found.run.fpr.upper <= asked.to_f64() && chance(&found.design) <= forgotten, "{context}");
        let shorter = min_bits(0.97 * found.run.items_per_cycle.value, &asked, mode).expect("in range").expect("a design");
        assert!(chance(&shorter.design) > forgotten, "{context}");
    }
    for (items, forgotten, mode) in
        [(0, 0.1, mode), (9, 0.0, one_phase(true, false)), (9, 1.0, mode), (9, f64::NAN, mode), (u64::MAX, 0.1, mode)]
    {
        assert!(remember(items, forgotten, &rate("0.01"), mode).is_err());
    }
    assert_eq!(remember(1_000_000_000_000_000, 1e-6, &rate("1e-300"), one_phase(true, false)), Ok(None));
}

/// The chances are those of tests/reference/recycling.py, where each cycle is weighted by the chance that it ends.
#[test]
fn cycles_that_get_stuck_are_left_out() {
    // A single bit is set by the first item, and no item sets another.
    let all = n_bounded(1, 1, 3, Counting::Real).expect("in range");
    assert_eq!((all.stuck, all.fpr.lower), (1.0, 0.0));
    for (bits, probes, items, fpr) in [(9, 3, 8, 0.333_826_164_131_986), (4, 2, 3, 0.315_004_659_832_246)] {
        let found = n_bounded(bits, probes, items, Counting::Real).expect("in range");
        assert!(found.stuck > 0.1 && (found.fpr.value - fpr).abs() < 1e-12, "{found:?}");
    }
}

/// Distinct and retained probes of filters too large to walk: near the truth where it can be had, and always between its ends.
#[test]
fn large_filters_of_all_modes_are_answered() {
    for phases in [Phases::One, Phases::Two(Trigger::Included)] {
        for (colliding, retaining) in [(false, false), (true, true), (false, true)] {
            if retaining && phases != Phases::One {
                continue;
            }
            let mode = Mode { phases, colliding, retaining, ..Mode::default() };
            let design = |bits: u64| Design::new(bits, 7, bits * 6 / 10, mode).expect("a design");
            let (walked, near) = (design(200_000).long_run().expect("cheap"), design(200_000).long_run_nearly().expect("cheap"));
            for (near, truth, lower, upper) in [
                (near.fpr.value, walked.fpr.value, near.fpr.lower, near.fpr.upper),
                (near.items_per_cycle.value, walked.items_per_cycle.value, near.items_per_cycle.lower, near.items_per_cycle.upper),
            ] {
                assert!(
                    (near / truth - 1.0).abs() < 3e-4 && lower <= truth && truth <= upper,
                    "{mode:?}: {near} for {truth} in {lower} to {upper}"
                );
            }
            let large = design(1 << 40);
            assert!(matches!(large.long_run(), Err(truebloom_math::Error::TooLong { .. })));
            let near = large.long_run_nearly().expect("in microseconds");
            assert!(matches!(near.fpr.method, truebloom_math::Method::Approximation(_)) && near.fpr.value < near.fpr.upper, "{near:?}");
        }
    }
}

/// Two phases at a worst rate: of all small designs none has more items, and every search keeps to it.
#[test]
fn worst_rates_are_kept() {
    let mode = Mode::two_phase();
    for (bits, p) in [(16u64, "0.3"), (30, "0.2"), (48, "0.05")] {
        let found = worst_capacity(bits, &rate(p), mode).expect("in range").expect("a design");
        let mut best: f64 = 0.0;
        for (probes, sigma) in (1..=30u32).flat_map(|probes| (0..bits / 2).map(move |sigma| (probes, sigma))) {
            let run = Design::new(bits / 2, probes, sigma, mode).and_then(|design| design.long_run()).expect("in range");
            if run.worst.upper <= rate(p).to_f64() {
                best = best.max(run.items_per_cycle.value);
            }
        }
        assert!(
            (found.run.items_per_cycle.value / best - 1.0).abs() < 1e-12 && found.run.worst.upper <= rate(p).to_f64(),
            "{found:?} {best}"
        );
        // The average is lower, and what is planned for it has more items.
        let average = capacity(bits, &rate(p), mode).expect("in range").expect("a design");
        assert!(average.run.worst.lower > rate(p).to_f64() && average.run.items_per_cycle.value > best);
    }
    let asked = rate("0.001");
    for found in [worst_min_bits(300.0, &asked, mode), worst_remember(200, 0.01, &asked, mode), worst_remember(200, 0.0, &asked, mode)] {
        let found = found.expect("in range").expect("a design");
        assert!(found.run.worst.upper <= 0.001 && found.run.worst.lower > 0.000_99, "{found:?}");
    }
    assert!(worst_min_bits(300.0, &asked, mode).expect("in range").expect("a design").run.items_per_cycle.upper >= 300.0);
}

/// How many of n new items pass, by the chain of fills and counts in full: the bound fails with at most the chance that it says, and where it counts with more than a fortieth of it, so it is not idle.
/// One phase from the empty filter on; two phases that a stream keeps at their worst.
#[test]
fn one_run_keeps_to_its_bound() {
    for (bits, probes, sigma, colliding) in [(12u64, 2u32, 5u64, true), (20, 3, 11, true), (20, 3, 11, false), (40, 1, 20, true)] {
        let design = Design::new(bits, probes, sigma, Mode { colliding, ..Mode::default() }).expect("a design");
        let chain = Chain::new(bits, probes.into(), sigma, colliding, false);
        let step: Vec<Vec<f64>> =
            (0..=sigma).map(|from| (0..=sigma).map(|to| chain.step(from, to).to_f64().expect("finite")).collect()).collect();
        for items in [1u64, 7, 60, 400] {
            let passed = passes(&step, items as usize);
            for confidence in [0.5, 0.9, 0.999, 0.999_999] {
                let most = design.wrong_drops_at_most(items, confidence).expect("in range");
                let fails: f64 = passed.iter().skip(most as usize + 1).sum();
                let context = format!("{design:?} {items} {confidence}: {most} fails with {fails:e}");
                assert!(fails <= (1.0 - confidence) * (1.0 + 1e-9), "{context}");
                let next: f64 = passed.iter().skip((most as f64 * 0.85) as usize).sum();
                // Short runs pay for the cycle that they end in.
                assert!(items < 400 || next > (1.0 - confidence) / 40.0, "{context}, {next:e}");
            }
        }
    }
}

/// The law of the items that pass, of so many new ones; what leaves the last state begins again.
fn passes(step: &[Vec<f64>], items: usize) -> Vec<f64> {
    let states = step.len();
    let mut law = vec![vec![0.0; items + 1]; states];
    law[0][0] = 1.0;
    for _ in 0..items {
        let mut next = vec![vec![0.0; items + 1]; states];
        for (from, counts) in law.iter().enumerate() {
            let over = 1.0 - step[from].iter().sum::<f64>();
            for (count, &chance) in counts.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
                next[from][(count + 1).min(items)] += chance * step[from][from];
                (from + 1..states).for_each(|to| next[to][count] += chance * step[from][to]);
                next[0][count] += chance * over;
            }
        }
        law = next;
    }
    (0..=items).map(|count| law.iter().map(|counts| counts[count]).sum()).collect()
}

/// By the worst rate: binomial tails, summed.
#[test]
fn one_run_of_two_phases_keeps_to_its_bound() {
    let design = Design::new(30, 2, 12, Mode::two_phase()).expect("a design");
    let worst = design.long_run().expect("in range").worst.upper;
    for (items, confidence) in [(1u64, 0.5), (40, 0.9), (400, 0.999_999), (400, 0.5)] {
        let most = design.wrong_drops_at_most(items, confidence).expect("in range");
        let fails: f64 = (most + 1..=items)
            .map(|x| {
                let ways: f64 = (0..x).map(|i| (((items - i) as f64) / ((x - i) as f64)).ln()).sum();
                (ways + x as f64 * worst.ln() + (items - x) as f64 * (-worst).ln_1p()).exp()
            })
            .sum();
        assert!(fails <= 1.0 - confidence && (items < 40 || most < items), "{items} {confidence}: {most} {fails}");
    }
    let kept = Design::new(30, 2, 12, Mode { seeds: Seeds::Kept, ..Mode::two_phase() }).expect("a design");
    assert!(
        kept.wrong_drops_at_most(9, 0.9).is_err()
            && design.wrong_drops_at_most(0, 0.9).is_err()
            && design.wrong_drops_at_most(9, 1.0).is_err()
    );
}

/// Calls at the corners that once panicked, answered beyond what they knew, or walked for minutes: each ends with an answer that keeps its promises, or with a reason.
#[test]
fn extreme_calls_end() {
    let two = Mode::two_phase();
    let kept = Mode { seeds: Seeds::Kept, ..two };
    let run = |bits, probes, sigma, mode| Design::new(bits, probes, sigma, mode).and_then(|design| design.long_run());
    for mode in [two, kept] {
        // Two filters at one item's 5,000 positions take too many steps, and are refused.
        let Ok(found) = run(500, 5_000, 250, mode) else {
            assert_eq!(mode, kept);
            continue;
        };
        assert!(found.fpr.lower <= found.fpr.upper && found.fpr.upper <= 1.0 && found.items_per_cycle.lower > 1.0 - 1e-9, "{found:?}");
        let law = Design::new(1_000, 7, 100, mode).and_then(|design| design.forgetting()).expect("in range");
        let late = law.probability(u64::MAX);
        assert!(late.value == 1.0 && late.upper == 1.0, "{late:?}");
    }
    assert!(run(1_000, 100_000, 500, kept).is_err() && run(1 << 40, 20, 1 << 39, Mode { colliding: false, ..two }).is_err());
    for (items, p) in [(1_000.0, "1e-15"), (1_000.0, "1e-30"), (5.0, "1e-39"), (100_000.0, "1e-300")] {
        for found in [min_bits(items, &rate(p), Mode::default()), worst_min_bits(items, &rate(p), two)] {
            let found = found.expect("in range").expect("a design");
            assert!(found.run.fpr.ln_upper <= rate(p).to_f64().ln() + 1e-9 && found.run.items_per_cycle.upper >= items, "{found:?}");
        }
    }
    for (bits, p) in [(1_759, "1e-300"), (160_000, "1e-39"), (10_000, "1e-300")] {
        for mode in [Mode::default(), two, kept] {
            if let Ok(Some(found)) = capacity(bits, &rate(p), mode) {
                assert!(found.run.fpr.ln_upper <= rate(p).to_f64().ln() + 1e-9, "{found:?}");
            }
        }
    }
}
