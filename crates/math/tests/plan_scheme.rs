//! Tests plans for two-hash schemes, and the floors of their rates.

mod common;

use common::{fraction, int, rows};
use num_traits::ToPrimitive;
use truebloom_math::convergence::{LARGE_PRIME, partition_constant};
use truebloom_math::law::{Double, Offsets, Step};
use truebloom_math::{Error, Plan, SchemeId, Target};

fn target(scheme: SchemeId, items: u64, rate: &str) -> Target {
    Target::new().scheme(scheme).items(items).rate(rate.parse().expect("a rate")).mean()
}

#[test]
fn plans_meet_their_rate_and_do_not_waste() {
    for (items, rate, most) in [(200u64, "0.02", 1.2), (100_000, "1e-4", 1.05), (1_000_000, "1e-6", 1.1)] {
        // The largest for those that have laws of their own.
        let large = [SchemeId::DoubleNonzero, SchemeId::Cube, SchemeId::PartitionDouble];
        let spread = SchemeId::ALL.into_iter().filter(|scheme| scheme.block_bits().is_none());
        let standard = Plan::new(&target(SchemeId::Standard, items, rate)).expect("a plan");
        for scheme in spread.filter(|scheme| items < 1_000_000 || large.contains(scheme)) {
            let plan = match Plan::new(&target(scheme, items, rate)) {
                Ok(plan) => plan,
                Err(error) => panic!("{scheme} {items} {rate}: {error}"),
            };
            let asked = plan.rate.expect("was asked");
            assert!(plan.fpr.upper <= asked.to_f64(), "{plan:?}");
            let law = scheme.law(plan.bits, plan.probes).expect("in range");
            assert!(law.meets(items, &asked, 128).expect("affordable"));
            let times = plan.bits as f64 / standard.bits as f64;
            println!("{scheme} {items} {rate}: {} bits, {} probes, {times:.4} of standard, {:?}", plan.bits, plan.probes, plan.fpr.method);
            assert!(times < most, "{scheme} {items} {rate}: {times}");
        }
    }
}

#[test]
fn what_a_scheme_cannot_reach_is_refused_with_what_can() {
    for (scheme, items, rate) in [(SchemeId::PartitionDouble, 1_000, "1e-9"), (SchemeId::Double, 100, "1e-12")] {
        match Plan::new(&target(scheme, items, rate)) {
            Err(Error::SchemeOutOfReach { reachable, alternative, asked, .. }) => {
                assert!(reachable > asked.to_f64());
                assert!(alternative.contains("standard"), "{alternative}");
            }
            other => panic!("{scheme}: {other:?}"),
        }
    }
}

/// Compares floors with the first-order terms of the reference. If the reference has only the
/// leading term, ours may be slightly above it.
#[test]
fn floors_of_the_vectors() {
    let all = rows("km_floor.json");
    for row in all["rows"].as_array().expect("rows") {
        let (n, m, k) = (int(row, "n"), int(row, "m"), int(row, "k") as u32);
        let number = |field: &str| fraction(row[field].as_str().expect("a number")).to_f64().expect("finite");
        let close = |found: f64, field: &str, error: f64| {
            let expected = number(field);
            assert!((found / expected - 1.0).abs() < error, "{field}: {found:e} for {expected:e} in {row}");
        };
        let floor = |cause: &str| {
            let floors = SchemeId::Double.law(m, k).expect("in range").floors(n, 64);
            floors.into_iter().find(|floor| floor.cause == cause).expect("is listed").rate
        };
        close(floor("equal hashes"), "floor_hash64", 1e-12);
        close(floor("equal pairs of hashes"), "same_pair_n_over_m2", 1e-12);
        close(floor("h2 = 0"), "h2zero_q_over_m", 1e-6);
        // Four ways to share a stretch that lacks 1, 2, .. k - 1 positions, which are filled by
        // others.
        let q = -(-((n * u64::from(k)) as f64) / m as f64).exp_m1();
        let stretches: f64 = (1..k).map(|others| q.powi(others as i32)).sum();
        let expected = 4.0 * n as f64 / (m as f64 * m as f64) * stretches;
        let found = floor("shifted progressions, both ways");
        assert!((found - expected).abs() < 1e-9 * expected, "{found:e} for {expected:e} in {row}");
        let c = m as f64 / n as f64;
        let of = |step, offsets| Double::new(LARGE_PRIME, k, step, offsets).expect("in range").constant(c).expect("affordable") / n as f64;
        close(partition_constant(c, k) / n as f64, "excess_partition", 1e-9);
        close(of(Step::Any, Offsets::Linear), "excess_double_prime", 1e-9);
        close(of(Step::NonZero, Offsets::Linear), "excess_double_h2nonzero", 1e-9);
        if row["cube_leading_only"] == false {
            close(of(Step::Any, Offsets::Square), "excess_sq", 1e-9);
            close(of(Step::Any, Offsets::Cube), "excess_cube", 1e-9);
        }
    }
}
