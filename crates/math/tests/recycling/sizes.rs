//! Tests of capacities, smallest sizes, and sizes for remembering items.

use crate::common::{int, rows};
use crate::{near, one_phase, rate, two_phase};
use truebloom_math::Error;
use truebloom_math::recycling::{
    Design, Mode, Seeds, SizedDesign, Trigger, capacity, min_bits, remember, worst_capacity, worst_min_bits, worst_remember,
};

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

/// Tests that no design of a small filter with up to forty probes has more items at the rate.
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

/// Tests that a rate equal to the decimal is accepted, and that a decimal lower by one in its last
/// digit is not met.
#[test]
fn ties_are_decided_by_the_decimal() {
    // Four bits, one probe, sigma 2, and a retained item: a rate of 2/5 and 10/3 items (vectors).
    // Other designs with a rate of at most 2/5 hold fewer items.
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
    // All sizes are tried one after another.
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
fn what_it_takes_to_remember() {
    let mode = two_phase(true, Trigger::Included, false);
    for (items, p) in [(2, "0.1"), (4, "0.05")] {
        let asked = rate(p);
        let certain = remember(items, 0.0, &asked, mode).expect("in range").expect("a design");
        assert!(certain.run.fpr.upper <= asked.to_f64() && certain.design.sigma() / u64::from(certain.design.probes()) >= items);
        assert_eq!(certain.design.forgetting().expect("in range").probability(items).value, 0.0);
        // No smaller size is enough.
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

/// Tests two phases with a worst rate: no small design holds more items, and every search keeps to
/// the rate.
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
        // A design for the average rate holds more items, because the average rate is lower.
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

/// Tests extreme calls that once panicked, gave unproven answers, or took minutes. Each call must
/// return an answer that keeps its promises, or an error.
#[test]
fn extreme_calls_end() {
    let two = Mode::two_phase();
    let kept = Mode { seeds: Seeds::Kept, ..two };
    let run = |bits, probes, sigma, mode| Design::new(bits, probes, sigma, mode).and_then(|design| design.long_run());
    for mode in [two, kept] {
        // With 5,000 positions per item, two filters take too many steps, so they are refused.
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
    for (items, p) in [(1_000.0, "1e-15"), (1_000.0, "1e-30"), (5.0, "1e-34")] {
        for found in [min_bits(items, &rate(p), Mode::default()), worst_min_bits(items, &rate(p), two)] {
            let found = found.expect("in range").expect("a design");
            assert!(found.run.fpr.ln_upper <= rate(p).to_f64().ln() + 1e-9 && found.run.items_per_cycle.upper >= items, "{found:?}");
        }
    }
    for (bits, p) in [(1_759, "1e-34"), (160_000, "1e-32"), (10_000, "1e-33")] {
        for mode in [Mode::default(), two, kept] {
            if let Ok(Some(found)) = capacity(bits, &rate(p), mode) {
                assert!(found.run.fpr.ln_upper <= rate(p).to_f64().ln() + 1e-9, "{found:?}");
            }
        }
    }
}

/// Rates of which equal hashes may take more than half are refused, and the rate that the error
/// names is accepted: the law and equal hashes together keep it. At usual rates, nothing is added.
#[test]
fn equal_hashes_count() {
    // The probability of equal hashes, for as many items as bits.
    let floor = |found: &SizedDesign| found.design.total_bits() as f64 / 2f64.powi(128);
    for mode in [Mode::default(), Mode::two_phase()] {
        for p in ["1e-40", "1e-36"] {
            let found = [
                capacity(1 << 20, &rate(p), mode),
                worst_capacity(1 << 20, &rate(p), mode),
                min_bits(1_000.0, &rate(p), mode),
                worst_min_bits(1_000.0, &rate(p), mode),
                remember(1_000, 0.01, &rate(p), Mode::default()),
                worst_remember(1_000, 0.01, &rate(p), mode),
            ];
            assert!(found.iter().all(|found| matches!(found, Err(Error::EqualHashes { .. }))), "{p}: {found:?}");
        }
        for bits in [1 << 10, 1 << 20] {
            let Err(Error::EqualHashes { least, .. }) = capacity(bits, &rate("1e-37"), mode) else { panic!("{bits} bits") };
            assert!(capacity(bits, &least.try_into().expect("a rate"), mode).expect("accepted").is_some(), "{bits} bits");
        }
        for p in ["3e-33", "1e-32", "1e-30"] {
            let found = min_bits(1_000.0, &rate(p), mode).expect("in range").expect("a design");
            let (law, both) = (found.design.long_run_of_bits().expect("affordable").fpr, found.run.fpr);
            // A design has one rate, which is the rate in the search.
            assert_eq!(found.run, found.design.long_run().expect("affordable"), "{p}");
            let again = found.design.long_run_nearly().expect("affordable");
            assert!(again.worst.upper == found.run.worst.upper && again.worst.upper > law.upper, "{p}: {again:?}");
            assert!(both.upper <= rate(p).to_f64() && both.upper > 0.9 * rate(p).to_f64(), "{p}: {found:?}");
            let repeated = capacity(found.design.total_bits(), &rate(p), mode).expect("in range").expect("a design");
            assert!(repeated.run.fpr.upper <= rate(p).to_f64() && repeated.run.items_per_cycle.value >= 999.0, "{p}: {repeated:?}");
            let share = (both.upper - law.upper) / floor(&found);
            assert!((1.0..1.01).contains(&share), "{p}: {share}");
        }
        let usual = min_bits(1_000.0, &rate("1e-9"), mode).expect("in range").expect("a design");
        assert_eq!(usual.run, usual.design.long_run().expect("affordable"));
        assert_eq!(usual.run, usual.design.long_run_of_bits().expect("affordable"));
    }
}
