//! Guarantees for a single filter: the quantiles of its rate over seeds, and the number of hits
//! among new keys.

pub(crate) mod balls;
pub(crate) mod blocks;
#[cfg(feature = "study")]
pub(crate) mod hits;
#[cfg(feature = "study")]
mod hits_quantile;
pub(crate) mod quantile;

#[cfg(feature = "study")]
pub use hits::{Hits, RateMoments, false_positives, rate_moments};
#[cfg(feature = "study")]
pub use hits_quantile::{HitsQuantile, hits_quantile_bound};
pub use quantile::{RateQuantile, confidence_bound, rate_quantile_bound};
