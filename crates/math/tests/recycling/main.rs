//! Recycling filters: reference vectors, exact chains, and chains over the bits themselves.

#[path = "../common/mod.rs"]
mod common;

mod cycles;
mod laws;
mod one_run;
mod sizes;

use common::{int, of_f64};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use serde_json::Value;
use truebloom_math::recycling::{Bracket, Design, Mode, Phases, Seeds, Trigger};
use truebloom_math::{Fpr, Method, Rate};

/// The one-phase mode with a permanent seed, as in the vectors.
pub(crate) fn one_phase(colliding: bool, retaining: bool) -> Mode {
    Mode { colliding, retaining, seeds: Seeds::Kept, ..Mode::default() }
}

pub(crate) fn two_phase(colliding: bool, trigger: Trigger, shared_hash: bool) -> Mode {
    let seeds = if shared_hash { Seeds::Kept } else { Seeds::Renewed };
    Mode { phases: Phases::Two(trigger), colliding, seeds, retaining: false }
}

pub(crate) fn design(row: &Value, bits: u64, mode: Mode) -> Design {
    Design::new(bits, int(row, "k") as u32, int(row, "sigma"), mode).unwrap_or_else(|error| panic!("{row}: {error}"))
}

/// Asserts that the bracket encloses the exact value, with ends at most three `f64` apart.
pub(crate) fn hold(fpr: &Fpr, truth: &BigRational, context: &str) {
    assert_eq!(fpr.method, Method::Exact, "{context}");
    assert!(of_f64(fpr.lower) <= *truth && *truth <= of_f64(fpr.upper), "{fpr:?} misses {:?} of {context}", truth.to_f64());
    assert!(fpr.upper.to_bits() - fpr.lower.to_bits() <= 3, "{fpr:?} is too wide for {context}");
}

pub(crate) fn hold_items(items: &Bracket, truth: &BigRational, context: &str) {
    assert!(of_f64(items.lower) <= *truth && *truth <= of_f64(items.upper), "{items:?} misses {:?} of {context}", truth.to_f64());
    assert!(items.upper.to_bits() - items.lower.to_bits() <= 3, "{items:?} is too wide for {context}");
}

/// Asserts that the number agrees with a rounded decimal up to its last digits. In the vectors,
/// small rates of two phases have lost their last digits in `1 - (1 - a)(1 - b)`.
pub(crate) fn near(found: f64, expected: &Value, tolerance: f64, context: &dyn std::fmt::Display) {
    let expected: f64 = expected.as_str().expect("digits").parse().expect("a number");
    assert!((found - expected).abs() < tolerance * expected + 3e-16, "{found} {expected} {context}");
}

pub(crate) fn rate(text: &str) -> Rate {
    text.parse().expect("a rate")
}
