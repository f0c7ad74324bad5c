//! The one filter that is built: the quantiles of its rate over seeds, and the hits among fresh keys.

pub(crate) mod blocks;
pub(crate) mod hits;
mod hits_quantile;
pub(crate) mod quantile;

pub use hits::{Hits, RateMoments, false_positives, rate_moments};
pub use hits_quantile::{HitsQuantile, hits_quantile_bound};
pub use quantile::{RateQuantile, confidence_bound, rate_quantile_bound};
