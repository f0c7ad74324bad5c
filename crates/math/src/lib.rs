//! Exact false-positive rates and plans for Bloom filters, with proven brackets.
//!
//! This crate knows numbers, not filters: the rate of (bits, items, probes), the smallest filter that meets a rate, and the tests that hold a measured
//! filter to its law. The crate `truebloom` builds filters that obey these laws.
//!
//! | question | answer |
//! |---|---|
//! | what rate does this filter have? | [`Variant::fpr`], or a [`Law`] for more |
//! | how many bits for this rate? how many items fit? | [`Plan::new`], [`min_bits`], [`max_items`]; [`BlockedPlan::new`] |
//! | which number of probes is best? | [`optimal_probes`] |
//! | what rate does one filter keep to, with a probability? | [`rate_quantile_bound`], [`Target::confidence`] |
//! | how many hits among fresh keys? | [`false_positives`], [`hits_quantile_bound`] |
//! | how close do two hashes come to independent ones? | [`law::Double`], [`law::PartitionDouble`], [`convergence`] |
//! | what of unions and intersections? | [`sets`] |
//! | how efficient can it be? | [`efficiency()`], [`peak_efficiency`], [`max_efficiency`], [`crossover`] |
//! | how many bits has it, from those that are set? | [`estimate_bits()`] |
//! | what of filters that forget, and are emptied when full? | [`recycling`] |
//! | what do the papers' formulas say? | [`Approximation`], [`bounds`] |
//! | what of the papers' numbers is right? | [`reproduce`] |
//! | how large must a Count-Min sketch be, and how wrong can it be? | [`count_min`] |
//! | what rate do other libraries really give? | [`audit`] |
//! | does this measurement agree? | [`binomial`], [`Fill`] |
//!
//! Rates are [`Fpr`]: a value with ends that are proven to enclose the truth, two `f64` apart at most. The textbook formula and the sums and
//! recursions of the papers cannot give them in floating point, where they lose up to all digits, so rates are computed in whole numbers whose rounding errors are
//! counted (module [`law`]).
//!
//! ```
//! use truebloom_math::{Plan, Target};
//! let plan = Plan::new(&Target { items: Some(100), rate: Some("1e-6".parse()?), ..Target::default() })?;
//! assert!(plan.fpr.upper <= 1e-6);
//! println!("{} bits, {} probes, at most {:e}", plan.bits, plan.probes, plan.fpr.upper);
//! # Ok::<(), truebloom_math::Error>(())
//! ```

mod approximation;
pub mod audit;
pub mod binomial;
mod blocked_plan;
pub mod bounds;
mod combine;
pub mod convergence;
pub mod count_min;
mod dyadic;
mod efficiency;
mod enclosure;
mod error;
mod estimate;
mod estimate_bits;
mod fill;
mod fixed;
mod fpr;
pub mod freedman;
mod guarantee;
mod hits;
mod hits_quantile;
pub mod law;
pub mod occupancy;
mod plan;
mod plan_scheme;
mod rate;
pub mod recycling;
pub mod reproduce;
mod search;
pub mod sets;
mod simulation;

pub use approximation::Approximation;
pub use blocked_plan::{BLOCK_BITS, BlockedPlan, MAX_BLOCKED_PROBES};
pub use efficiency::{
    MOST_BITS_SEARCHED, Peak, best_probes_approximation, crossover, efficiency, half_full_items, max_efficiency, peak_efficiency,
    peak_items_approximation, standard_limit, valley_efficiency,
};
pub use error::{Error, Result};
pub use estimate::{ItemsEstimate, items_by_likelihood, items_by_moments, items_from_ones, items_interval};
pub use estimate_bits::{BitsEstimate, estimate_bits};
pub use fill::Fill;
pub use fpr::{Fpr, Method};
pub use guarantee::{RateQuantile, confidence_bound, rate_quantile_bound};
pub use hits::{Hits, RateMoments, false_positives, rate_moments};
pub use hits_quantile::{HitsQuantile, hits_quantile_bound};
pub use law::{Law, Variant};
pub use plan::{Plan, Target, Textbook};
pub use plan_scheme::{SchemePlan, SchemeTarget};
pub use rate::Rate;
pub use search::{Best, MAX_SEARCHED_PROBES, OptimalProbes, max_items, min_bits, optimal_probes};

/// The most bits a law is answered for.
pub const MAX_BITS: u64 = 1 << 62;

/// The most probes a law is answered for.
pub const MAX_PROBES: u32 = 100_000;
