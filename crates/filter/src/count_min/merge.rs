//! Operations on two sketches: their sum, and their inner product.

use super::bounds::without_equal_hashes;
use super::{Counter, RowHashes, Sketch};
use crate::error::MergeError;
use crate::hash::check_alike;
use truebloom_math::Rate;
use truebloom_math::count_min::{Rows, Shape};

/// An estimate of the inner product of two streams. For every key, its count in one stream is
/// multiplied by its count in the other stream. The inner product is the sum of these products.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct InnerProduct {
    /// The estimate. Unless the estimate is saturated, it is at least the inner product.
    pub value: u128,
    /// An upper bound on the amount by which the estimate exceeds the inner product. The bound
    /// fails with a probability of at most `delta`. The caller chooses `delta`. The bound is
    /// infinite if the sum of the counts of a stream is not known, because it is 2^64 - 1 or
    /// higher.
    pub error_bound: f64,
    /// Whether the estimate, or any counter of the two sketches, is at its highest possible value.
    pub saturated: bool,
}

impl<R: RowHashes, C: Counter> Sketch<R, C> {
    /// Adds all counts of another sketch. This sketch then contains the counts of both streams.
    ///
    /// If either sketch uses [conservative update](Self::with_conservative_update), the merged
    /// counters can differ from the counters of a single sketch that counts both streams. Even
    /// then, all bounds hold for the merged sketch. The time is linear in the number of counters.
    ///
    /// # Errors
    /// Returns an error if the sketches differ in size, hasher or seed. After an error, the sketch
    /// is unchanged.
    pub fn merge(&mut self, other: &Sketch<R, C>) -> Result<(), MergeError> {
        self.merge_times(other, 1)
    }

    /// Multiplies each count of another sketch by the number `times`, and adds the products to this
    /// sketch. The other sketch stays the same. The result is the same as if [`merge`](Self::merge)
    /// were called `times` times. The time is linear in the number of counters and does not depend
    /// on `times`.
    ///
    /// # Errors
    /// Returns an error if the sketches differ in size, hasher or seed. After an error, the sketch
    /// is unchanged.
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
        self.rounded = self.rounded.saturating_add(other.rounded.saturating_mul(times));
        Ok(())
    }

    /// An estimate of the inner product of two streams: the one that this sketch counted, and the
    /// one that `other` counted. To compute the inner product, the count of every key in one stream
    /// is multiplied by its count in the other stream, and all products are added. For example, the
    /// inner product of a stream with itself is the sum of the squares of all counts.
    ///
    /// The estimate is never too low, unless it is saturated. The time is linear in the number of
    /// counters.
    ///
    /// # Errors
    /// Returns an error if the sketches differ in size, hasher or seed. Also returns an error if
    /// one of the sketches uses conservative update or was halved. In such a sketch, a counter can
    /// be lower than the sum of the counts of all keys that share this counter.
    pub fn inner_product(&self, other: &Sketch<R, C>, delta: &Rate) -> Result<InnerProduct, MergeError> {
        self.check_mergeable(other)?;
        for sketch in [self, other] {
            if sketch.conservative || sketch.is_halved() {
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

/// An upper bound on the part of the inner product's error that is caused by pairs of colliding
/// keys. In one row, the mean of this error is `N M / w`, where N and M are the sums of the counts
/// of the two streams, and w is the width. The bound uses several independent rows. If the rows of
/// a copy share hashes, only the copies are independent.
fn pairs_bound(shape: &Shape, ours: u64, theirs: u64, delta: &Rate) -> f64 {
    if ours == u64::MAX || theirs == u64::MAX {
        return f64::INFINITY;
    }
    let all = ours as f64 * theirs as f64;
    let independent = if shape.rows() == Rows::Independent { shape.depth() } else { shape.copies() };
    let equal = ours.saturating_add(theirs);
    let Some(delta) = without_equal_hashes(delta, equal) else { return all };
    let factor = libm::exp(-delta.ln() / f64::from(independent));
    (all / shape.width() as f64 * factor * (1.0 + 1e-9)).min(all)
}
