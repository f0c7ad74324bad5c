//! Counts of ranges of integers.

use super::bounds::{ErrorBound, half, without_equal_hashes};
use super::{CountMin, Counter, Estimate, zeroed};
use crate::error::{BuildError, MergeError};
use crate::hash::PortableHasher;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;
use truebloom_math::count_min::{Family, Rows, Shape};
use truebloom_math::{Error, Rate};

/// Counts integers, and estimates how many of them were in a range. You can query any range.
///
/// An *aligned* range has a length of 1, 2, 4, and so on, and starts at a multiple of its length.
/// For each of these lengths, a Count-Min sketch counts the aligned ranges. Any range can be
/// divided into aligned ranges, with at most two of each length. The estimate for a range is the
/// sum of the estimates for these aligned ranges.
///
/// If a sketch for one length would need at least as many counters as there are aligned ranges of
/// this length, each of these ranges has its own counter, and is counted exactly. This applies to
/// long ranges, because there are only a few of them.
///
/// ```
/// use truebloom::count_min::DyadicCountMin;
/// let mut sizes: DyadicCountMin = DyadicCountMin::new(16, "0.01".parse()?, "0.01".parse()?)?;
/// [200, 404, 404, 10_000].into_iter().for_each(|size| sizes.add(size, 1).expect("below 2^16"));
/// assert!(sizes.range(400..=499).value >= 2);
/// # Ok::<(), truebloom::BuildError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct DyadicCountMin<C: Counter = u64> {
    bits: u32,
    levels: Vec<Level<C>>,
}

impl<C: Counter> fmt::Debug for DyadicCountMin<C> {
    /// Formats the sizes, but not the counters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DyadicCountMin").field("bits", &self.bits).field("exact_levels", &self.exact_levels()).finish_non_exhaustive()
    }
}

/// The counters for the ranges of one length.
#[derive(Clone, PartialEq)]
enum Level<C: Counter> {
    Exact(Vec<C>),
    Sketch(CountMin<C>),
}

impl<C: Counter> Level<C> {
    fn estimate(&self, index: u64, level: u32) -> Estimate {
        match self {
            Level::Exact(counters) => {
                let counter = counters.get(index as usize).copied().unwrap_or_default();
                Estimate { value: counter.into_u64(), saturated: counter == C::HIGHEST }
            }
            Level::Sketch(sketch) => sketch.estimate(&key(index, level)),
        }
    }
}

/// The key that identifies an aligned range. Aligned ranges of different lengths have different
/// keys, so one hash function can be used for all lengths.
fn key(index: u64, level: u32) -> u128 {
    u128::from(level) << 64 | u128::from(index)
}

impl<C: Counter> DyadicCountMin<C> {
    /// A sketch for integers below `2^bits`, where `bits` is 1 to 64. The estimate for one aligned
    /// range (see [`DyadicCountMin`]) exceeds the true count by at most `epsilon` times the sum of
    /// all counts, with probability at least `1 - delta`. The seed is random.
    ///
    /// # Errors
    /// Returns the same errors as [`CountMin::new`], and an error if `bits` is not from 1 to 64.
    #[cfg(feature = "random")]
    pub fn new(bits: u32, epsilon: Rate, delta: Rate) -> Result<DyadicCountMin<C>, BuildError> {
        DyadicCountMin::with_hasher(bits, epsilon, delta, PortableHasher::random()?)
    }

    /// Like [`new`](Self::new), with a hasher that you choose, such as one with a known seed or one
    /// for untrusted keys.
    ///
    /// # Errors
    /// Returns the same errors as [`new`](Self::new), but never fails for lack of random numbers.
    pub fn with_hasher(bits: u32, epsilon: Rate, delta: Rate, hasher: PortableHasher) -> Result<DyadicCountMin<C>, BuildError> {
        if !(1..=64).contains(&bits) {
            return Err(Error::OutOfRange { name: "bits", found: bits.to_string(), expected: "from 1 to 64".to_owned() }.into());
        }
        let shape = Shape::for_error(&epsilon, &delta, Rows::Independent)?;
        let level = |level: u32| {
            let ranges = 1u128 << (bits - level);
            if ranges > shape.cells() {
                return CountMin::with_shape(shape, hasher).map(Level::Sketch);
            }
            zeroed(ranges).map(Level::Exact)
        };
        Ok(DyadicCountMin { bits, levels: (0..=bits).map(level).collect::<Result<_, _>>()? })
    }

    /// Adds `count` to the count of an integer. This takes one addition for each possible length of
    /// an aligned range. There are `bits + 1` such lengths.
    ///
    /// # Errors
    /// Returns an error if the integer is not below `2^bits`.
    pub fn add(&mut self, value: u64, count: u64) -> Result<(), Error> {
        if shifted(value, self.bits) > 0 {
            return Err(Error::OutOfRange { name: "value", found: value.to_string(), expected: format!("below 2^{}", self.bits) });
        }
        for (level, counts) in (0u32..).zip(&mut self.levels) {
            let index = shifted(value, level);
            match counts {
                Level::Exact(counters) => {
                    if let Some(counter) = counters.get_mut(index as usize) {
                        *counter = counter.plus(count);
                    }
                }
                Level::Sketch(sketch) => sketch.add(&key(index, level), count),
            }
        }
        Ok(())
    }

    /// An upper bound on the number of times that integers in this range occurred. If the result is
    /// [`saturated`](Estimate::saturated), the true number can be higher. For an empty range, the
    /// result is 0. The range is split into aligned ranges, at most two of each length. The result
    /// is the sum of their estimates.
    #[must_use]
    pub fn range(&self, range: RangeInclusive<u64>) -> Estimate {
        let mut sum = Estimate { value: 0, saturated: false };
        let (mut first, mut last) = (*range.start(), *range.end());
        if self.bits < 64 {
            last = last.min((1 << self.bits) - 1);
        }
        for (level, counts) in (0u32..).zip(&self.levels) {
            if first > last {
                break;
            }
            let mut count = |index: u64| {
                let part = counts.estimate(index, level);
                let (value, overflows) = sum.value.overflowing_add(part.value);
                sum = Estimate { value: if overflows { u64::MAX } else { value }, saturated: sum.saturated || part.saturated || overflows };
            };
            // The aligned ranges 2i and 2i + 1 form an aligned range of twice the length. If
            // `first` is odd, or if `last` is even, the other half of its pair is outside of the
            // range, so it is counted alone.
            if first & 1 == 1 {
                count(first);
                let Some(after) = first.checked_add(1).filter(|after| *after <= last) else { break };
                first = after;
            }
            if last & 1 == 0 {
                count(last);
                let Some(before) = last.checked_sub(1) else { break };
                last = before;
            }
            (first, last) = (first >> 1, last >> 1);
        }
        sum
    }

    /// Upper bounds on the amount by which the estimate of a range exceeds its true count. For a
    /// range chosen without knowing the seed, both bounds (`from_total` and `from_counters`) hold
    /// with a probability of at least `1 - delta`. The same bounds apply to every range. They
    /// assume the worst case: a range that consists of aligned ranges, two of each length.
    #[must_use]
    pub fn error_bound(&self, delta: &Rate) -> ErrorBound {
        // The estimate of an aligned range is its smallest counter. In any single row, the estimate
        // of the whole range is therefore at most the sum of the counters of its aligned ranges.
        // `from_total` applies Markov's inequality to this sum. `from_counters` is the sum of the
        // bounds of all aligned ranges, each of which gets an equal share of `delta`. Neither bound
        // always implies the other, so each is computed for `delta / 2`, and both hold together.
        let sketches: Vec<&CountMin<C>> =
            self.levels.iter().filter_map(|level| if let Level::Sketch(sketch) = level { Some(sketch) } else { None }).collect();
        let Some(first) = sketches.first() else { return ErrorBound { from_total: 0, from_counters: Some(0) } };
        let parts = 2 * sketches.len() as u64;
        let total = first.total().saturating_mul(parts);
        let Some(delta) = &half(delta) else { return ErrorBound { from_total: total, from_counters: None } };
        let from_total = match without_equal_hashes(delta, total) {
            // At its highest value, the total is no upper bound on the sum of all counts.
            Some(delta) if total < u64::MAX => first.shape().error_bound(total, Family::Ideal, &delta),
            _ => total,
        };
        let share = Rate::try_from(delta.to_f64() * (1.0 - 1e-12) / parts as f64).ok();
        let bound = |sketch: &&CountMin<C>| share.and_then(|share| sketch.error_bound(&share).from_counters);
        let from_counters = sketches.iter().map(bound).try_fold(0u64, |sum, bound| Some(sum.saturating_add(bound?.saturating_mul(2))));
        ErrorBound { from_total, from_counters }
    }

    /// Adds all counts of another sketch.
    ///
    /// # Errors
    /// Returns an error if the two sketches were made with different values of `bits`. Also returns
    /// the errors of [`Sketch::merge`](super::Sketch::merge). After an error, the sketch is
    /// unchanged.
    pub fn merge(&mut self, other: &DyadicCountMin<C>) -> Result<(), MergeError> {
        if self.bits != other.bits {
            return Err(MergeError::Shape { name: "bits", ours: self.bits.into(), theirs: other.bits.into() });
        }
        let mut merged = self.levels.clone();
        for (ours, theirs) in merged.iter_mut().zip(&other.levels) {
            match (ours, theirs) {
                (Level::Sketch(ours), Level::Sketch(theirs)) => ours.merge(theirs)?,
                (Level::Exact(ours), Level::Exact(theirs)) => {
                    ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours = ours.plus(theirs.into_u64()));
                }
                _ => return Err(MergeError::Shape { name: "counted lengths", ours: self.exact_levels(), theirs: other.exact_levels() }),
            }
        }
        self.levels = merged;
        Ok(())
    }

    fn exact_levels(&self) -> u64 {
        self.levels.iter().filter(|level| matches!(level, Level::Exact(_))).count() as u64
    }
}

/// `value / 2^level`, for levels up to 64.
fn shifted(value: u64, level: u32) -> u64 {
    value.checked_shr(level).unwrap_or(0)
}
