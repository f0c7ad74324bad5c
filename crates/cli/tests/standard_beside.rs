//! Compares the standard size that the plan of another scheme reports with the size in the plan of
//! the standard scheme.
#![allow(missing_docs, reason = "a test has no public interface")]

use serde_json::Value;
use std::process::Command;

fn plan(args: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_truebloom")).arg("plan").args(args).arg("--json").output().expect("runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// In an earlier version, the first was 9,597 and the second 9,595. `more_percent` was computed
/// from the same wrong value, so this test takes the size from the standard plan.
#[test]
fn the_standard_size_beside_another_scheme_is_its_own_plans() {
    for promise in [&["--mean"][..], &[]] {
        for size in [["-n", "1000", "-p", "1%"], ["-n", "300", "-p", "1e-4"]] {
            let of = |scheme: &str| plan(&[&size[..], promise, &["--scheme", scheme]].concat());
            let standard = of("standard")["bits"].clone();
            for scheme in ["partitioned", "classic"] {
                assert_eq!(of(scheme)["standard_bits"], standard, "{scheme} {size:?} {promise:?}");
            }
        }
    }
    assert_eq!(plan(&["-n", "1000", "-p", "1%", "--scheme", "partitioned", "--mean"])["standard_bits"], 9_595);
}

/// In an earlier version, a plan with `--layout` compared the blocked layout with itself: 10,752
/// bits, +0.000%.
#[test]
fn the_standard_size_beside_a_layout_is_its_own_plans() {
    for promise in [&["--mean"][..], &[]] {
        for size in [["-n", "1000", "-p", "1%"], ["-n", "1000000", "-p", "1%"]] {
            let of = |choice: &[&str]| plan(&[&size[..], promise, choice].concat());
            let standard = of(&[])["bits"].clone();
            for choice in [["--layout", "blocked"], ["--scheme", "blocked"], ["--layout", "auto"]] {
                let found = of(&choice);
                assert_eq!(found["scheme"], "blocked", "{choice:?} {size:?} {promise:?}");
                assert_eq!(found["standard_bits"], standard, "{choice:?} {size:?} {promise:?}");
            }
        }
    }
}
