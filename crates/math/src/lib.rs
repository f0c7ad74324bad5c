//! Exact false-positive rates and plans for Bloom filters, with proven lower and upper bounds.
//!
//! The crate computes the false-positive rate of a filter with given numbers of bits, items and
//! probes. It also computes the smallest filter whose rate is at most a requested rate. Statistical
//! tests compare measurements of a filter with its *law* (its probability model). This crate does
//! not build filters: the crate `truebloom` builds filters that follow these laws.
//!
//! | question | answer |
//! |---|---|
//! | what rate does this filter have? | [`Variant::fpr`], or a [`Law`] for more |
//! | how many bits does this rate need? how many items fit? | [`Plan::new`], [`min_bits`], [`max_items`] |
//! | which number of probes is best? | [`optimal_probes`] |
//! | how large is a compressed filter, and which plan makes it smaller? | [`entropy_bits`], [`Plan::transmitted_bits`], [`Plan::for_transmission`] |
//! | which rate can be guaranteed for a single filter, with a given probability? | [`rate_quantile_bound`], [`Promise::OneFilter`] |
//! | which schemes turn a hash into positions? | [`SchemeId`] |
//! | how many new keys are false positives? | [`false_positives`], [`hits_quantile_bound`] |
//! | how close are two-hash schemes to independent positions? | [`law::Double`], [`law::PartitionDouble`], [`convergence`] |
//! | what are the rates of unions and intersections? | [`sets`] |
//! | how close can a filter come to the information-theoretic minimum of bits? | [`efficiency()`], [`peak_efficiency`], [`max_efficiency`], [`crossover`] |
//! | how many bits does a filter have, if its items, probes and set bits are known? | [`estimate_bits()`], [`bits_interval()`] |
//! | how large are the layers (single filters) of a filter that grows? | [`growth`], [`law::Layered`] |
//! | what are the rates of filters that are emptied when they are full? | [`recycling`] |
//! | what do the formulas of published papers give? | [`Approximation`], [`bounds`] |
//! | how large must a Count-Min sketch be, and how large can its errors be? | [`count_min`] |
//! | does this measurement agree with the law? | [`binomial`], [`Fill`], [`mcdiarmid`] |
//! | how many distinct keys were looked up in a filter? | [`distinct`] |
//!
//! A rate is an [`Fpr`]: a value with a *bracket*, which is a lower and an upper end. Unless its
//! [`Method`] says otherwise, it is proven that the true rate lies between the ends. For exact
//! rates, the ends usually differ by at most two units in the last place. In floating-point
//! arithmetic, the textbook formula loses some or all digits. The sums and recursions in published
//! papers lose digits, too. Therefore, this crate computes rates in integer arithmetic, with a
//! bound on every rounding error (module [`law`]).
//!
//! Whatever the arguments are, a call takes at most about a second, or a few seconds where the
//! documentation says so. Simulations take as many steps as requested. If the exact answer would
//! take longer, the call returns an error or a wider bracket. The [`Method`] of an answer says
//! whether its bracket is narrow, wide or not proven. The work of a call is limited by a number of
//! steps, and not by a time limit, so the same arguments give the same answer on every machine.
//!
//! ```
//! use truebloom_math::{Plan, Target};
//! let plan = Plan::new(&Target::new().items(100).rate("1e-6".parse()?))?;
//! assert!(plan.fpr.upper <= 1e-6);
//! println!("{} bits, {} probes, at most {:e}", plan.bits, plan.probes, plan.fpr.upper);
//! # Ok::<(), truebloom_math::Error>(())
//! ```

#![warn(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::return_self_not_must_use)]
#![cfg_attr(not(any(test, feature = "std")), no_std)]
// If a feature is off, some helpers are never called, so these lints are disabled. The build with
// all features still reports helpers that no feature needs.
#![cfg_attr(
    not(all(feature = "two-hash", feature = "growth", feature = "recycling", feature = "sketches", feature = "study")),
    allow(dead_code, unused_imports, unreachable_pub)
)]

extern crate alloc;

#[cfg(feature = "sketches")]
pub mod count_min;
mod error;
mod estimate;
mod exact;
#[cfg(feature = "growth")]
pub mod growth;
pub mod law;
#[cfg(feature = "study")]
pub mod occupancy;
#[cfg(not(feature = "study"))]
mod occupancy;
mod one_filter;
#[cfg(feature = "study")]
mod papers;
mod plan;
#[cfg(feature = "serde")]
mod readable;
#[cfg(feature = "recycling")]
pub mod recycling;
mod search;
mod tails;

pub use error::{Error, Result};
#[cfg(feature = "study")]
pub use estimate::{BitsEstimate, BitsInterval, bits_interval, estimate_bits, items_by_likelihood};
pub use estimate::{Ground, ItemsEstimate, distinct, items_beyond, items_by_moments, items_from_ones, items_interval};
pub use exact::bisect::{bisect, try_bisect};
pub use exact::fpr::{Fpr, Method};
#[doc(hidden)]
pub use exact::modular::{gcd, is_prime};
#[doc(hidden)]
pub use exact::power::power;
#[doc(hidden)]
pub use exact::random::mix;
pub use exact::rate::Rate;
pub use exact::work::as_one_call;
#[cfg(feature = "growth")]
pub use growth::Growth;
#[cfg(feature = "study")]
pub use law::sets;
pub use law::{BLOCK_BITS, BLOCK_PROBES, Fill, Law, Layout, SchemeId, Variant};
#[cfg(feature = "two-hash")]
pub use law::{convergence, simulation};
#[cfg(feature = "study")]
pub use one_filter::{Hits, HitsQuantile, RateMoments, false_positives, hits_quantile_bound, rate_moments};
pub use one_filter::{RateQuantile, confidence_bound, rate_quantile_bound};
#[cfg(feature = "study")]
pub use papers::{
    Approximation, MOST_BITS_SEARCHED, Peak, best_probes_approximation, bounds, crossover, efficiency, half_full_items, max_efficiency,
    peak_efficiency, peak_items_approximation, standard_limit, valley_efficiency,
};
#[cfg(feature = "study")]
pub use plan::certificate;
pub use plan::{MAX_BLOCKED_PROBES, Plan, Promise, Target, Textbook, WORTH_TIMES, entropy_bits};
pub use search::{Best, MAX_SEARCHED_PROBES, OptimalProbes, max_items, min_bits, optimal_probes};
pub use tails::{binomial, freedman, mcdiarmid};

/// The largest number of bits of a filter for which this crate computes rates.
pub const MAX_BITS: u64 = 1 << 62;

/// The largest number of probes of a filter for which this crate computes rates.
pub const MAX_PROBES: u32 = 100_000;
