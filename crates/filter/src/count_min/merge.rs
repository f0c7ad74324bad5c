//! Operations on two sketches: their sum, and their inner product.

use super::bounds::without_equal_hashes;
use super::{Counter, RowHashes, Sketch};
use crate::error::MergeError;
use crate::hash::check_alike;
use truebloom_math::Rate;
use truebloom_math::count_min::{Rows, Shape};

/// An estimate of the inner product of two streams: the sum over all keys of the product of their
/// counts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct InnerProduct {
    /// The estimate, which is never below the inner product unless it is saturated.
    pub value: u128,
    /// An upper bound on how far the estimate exceeds the inner product. The bound fails with at
    /// most the given probability, by Markov's inequality for the colliding pairs of keys in every
    /// row.
    pub error_bound: f64,
    /// Whether a counter of either sketch, or the product, reached its highest value.
    pub saturated: bool,
}

impl<R: RowHashes, C: Counter> Sketch<R, C> {
    /// Adds all counts of another sketch: afterwards this is the sketch of both streams.
    ///
    /// If either uses conservative update, the result is not the sketch that both streams in a row
    /// would have made. Estimates still keep all their bounds: each sketch's counters are at least
    /// its keys' counts, and at most those of plain update. The time is linear in the number of
    /// counters.
    ///
    /// # Errors
    /// The sketches differ in size, hasher or seed; then nothing changes.
    pub fn merge(&mut self, other: &Sketch<R, C>) -> Result<(), MergeError> {
        self.merge_times(other, 1)
    }

    /// Adds all counts of another sketch `times` times: the same as calling [`merge`](Self::merge)
    /// that often. The time is linear in the number of counters, whatever `times` is.
    ///
    /// # Errors
    /// The sketches differ in size, hasher or seed; then nothing changes.
    pub fn merge_times(&mut self, other: &Sketch<R, C>, times: u64) -> Result<(), MergeError> {
        self.check_mergeable(other)?;
        if times == 0 {
            return Ok(());
        }
        for (counter, more) in self.counters.iter_mut().zip(&other.counters) {
            *counter = if *more == C::HIGHEST { C::HIGHEST } else { counter.plus(more.into_u64().saturating_mul(times)) };
        }
        self.total = self.total.saturating_add(other.total.saturating_mul(times));
        self.conservative |= other.conservative;
        self.halved |= other.halved;
        Ok(())
    }

    /// The sum over all keys of the product of their counts in both streams (for one stream with
    /// itself: the sum of the squares); never too low. The time is linear in the number of
    /// counters.
    ///
    /// # Errors
    /// The sketches differ in size, hasher or seed; or one of them used conservative update or
    /// halving, after which a counter may be below the sum of its keys' counts.
    pub fn inner_product(&self, other: &Sketch<R, C>, delta: &Rate) -> Result<InnerProduct, MergeError> {
        self.check_mergeable(other)?;
        for sketch in [self, other] {
            if sketch.conservative || sketch.halved {
                return Err(MergeError::NotSums { how: if sketch.conservative { "conservative update" } else { "halving" } });
            }
        }
        let width = self.shape.width() as usize;
        let row = |(ours, theirs): (&[C], &[C])| {
            let products = ours.iter().zip(theirs).map(|(a, b)| u128::from(a.into_u64()) * u128::from(b.into_u64()));
            products.fold(0u128, u128::saturating_add)
        };
        let value = self.counters.chunks(width).zip(other.counters.chunks(width)).map(row).min().unwrap_or_default();
        let saturated = value == u128::MAX || self.is_saturated() || other.is_saturated();
        Ok(InnerProduct { value, error_bound: pairs_bound(&self.shape, self.total, other.total, delta), saturated })
    }

    fn check_mergeable(&self, other: &Sketch<R, C>) -> Result<(), MergeError> {
        let differ = |name, ours: u64, theirs: u64| if ours == theirs { Ok(()) } else { Err(MergeError::Shape { name, ours, theirs }) };
        differ("width", self.shape.width(), other.shape.width())?;
        differ("depth", self.shape.depth().into(), other.shape.depth().into())?;
        differ("copies", self.shape.copies().into(), other.shape.copies().into())?;
        check_alike(&self.hasher, &other.hasher)
    }
}

/// A bound on what colliding pairs of keys add to the inner product; their mean in a row is
/// `N M / w`. Rows are independent; where the rows of a copy share hashes, the copies are
/// independent.
fn pairs_bound(shape: &Shape, ours: u64, theirs: u64, delta: &Rate) -> f64 {
    let all = ours as f64 * theirs as f64;
    let independent = if shape.rows() == Rows::Independent { shape.depth() } else { shape.copies() };
    let equal = ours.saturating_add(theirs);
    let Some(delta) = without_equal_hashes(delta, equal) else { return all };
    let factor = libm::exp(-delta.ln() / f64::from(independent));
    (all / shape.width() as f64 * factor * (1.0 + 1e-9)).min(all)
}
