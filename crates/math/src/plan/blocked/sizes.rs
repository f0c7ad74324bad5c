//! The sizes among which a plan with a guarantee chooses.

use super::super::target::Target;
use super::MAX_BLOCKS;
use super::mean::{fewest_for_the_mean, most_for_the_mean};
use crate::{Rate, Result};

/// Possible sizes: larger numbers of blocks for a given number of items, or smaller numbers of
/// items in a given number of blocks. A size is identified by its distance from the size at which
/// the average alone meets the rate. A larger distance lowers every rate, so the search looks for
/// the smallest distance at which the guarantee holds.
#[derive(Clone, Copy)]
pub(super) enum Sizes {
    /// Numbers of blocks from `mean` upwards. `mean` is the smallest number of blocks for which the
    /// average rate is low enough.
    Blocks { mean: u64, items: u64 },
    /// Numbers of items from `mean` downwards. `mean` is the largest number of items for which the
    /// average rate is low enough.
    Items { mean: u64, blocks: u64 },
}

impl Sizes {
    /// The number of blocks or items at a distance.
    pub(super) fn size(self, away: u64) -> u64 {
        match self {
            Sizes::Blocks { mean, .. } => mean + away,
            Sizes::Items { mean, .. } => mean - away,
        }
    }

    /// The blocks and items at a distance.
    pub(super) fn at(self, away: u64) -> (u64, u64) {
        self.with(self.size(away))
    }

    /// The blocks and items of a size.
    pub(super) fn with(self, size: u64) -> (u64, u64) {
        match self {
            Sizes::Blocks { items, .. } => (size, items),
            Sizes::Items { blocks, .. } => (blocks, size),
        }
    }

    /// The largest distance.
    pub(super) fn last(self) -> u64 {
        match self {
            Sizes::Blocks { mean, .. } => MAX_BLOCKS - mean,
            Sizes::Items { mean, .. } => mean - 1,
        }
    }

    /// The smallest and the largest size.
    pub(super) fn range(self) -> (u64, u64) {
        match self {
            Sizes::Blocks { mean, .. } => (mean, MAX_BLOCKS),
            Sizes::Items { mean, .. } => (1, mean),
        }
    }

    /// The distance of a size, rounded so that the rate does not increase.
    pub(super) fn away(self, size: f64) -> u64 {
        let away = match self {
            Sizes::Blocks { mean, .. } => (libm::ceil(size) as u64).saturating_sub(mean),
            Sizes::Items { mean, .. } => mean.saturating_sub(size as u64),
        };
        away.min(self.last())
    }

    /// The sign of the effect of a larger size: 1 if it lowers the rate, and -1 if it raises the
    /// rate.
    pub(super) fn sign(self) -> f64 {
        if matches!(self, Sizes::Blocks { .. }) { 1.0 } else { -1.0 }
    }

    /// During a search, two sizes that differ by less than this are treated as equal.
    pub(super) fn grain(self, away: u64) -> u64 {
        (self.size(away) / GRAINS).max(1)
    }

    /// The smallest distance at which the average rate is at most `rate`, with the number of probes
    /// that `target` gives. The guarantee is not considered. The result is `None` if no size has
    /// such a low average rate.
    pub(super) fn of_mean(self, target: &Target, rate: &Rate) -> Result<Option<u64>> {
        Ok(match self {
            Sizes::Blocks { mean, items } => fewest_for_the_mean(target, items, rate)?.map(|(blocks, _)| blocks - mean),
            Sizes::Items { mean, blocks } => most_for_the_mean(target, rate, blocks)?.map(|(items, _)| mean - items),
        })
    }
}

/// During a search, two sizes above this number are treated as equal if their relative difference
/// is less than `1 / GRAINS`.
pub(super) const GRAINS: u64 = 200_000;

/// The parameters of a search for the nearest size with a guarantee.
pub(super) struct Question<'a> {
    pub(super) target: &'a Target,
    pub(super) confidence: f64,
    pub(super) rate: &'a Rate,
    pub(super) sizes: Sizes,
    /// A number of probes with which the average is low enough at every distance.
    pub(super) mean_probes: u32,
}
