//! Proven bounds on the errors of one sketch, for the stream that it counted.

use super::{Counter, RowHashes, Sketch};
use crate::backing::Counted;
use crate::word::Lies;
use alloc::vec::Vec;
use truebloom_math::count_min::{Family, Rows};
use truebloom_math::law::hash_floor;
use truebloom_math::{Error, ItemsEstimate, Rate, Variant, bisect, items_interval};

/// Upper bounds on the amount by which an estimate exceeds the true count. For a key chosen without
/// knowing the seed, each bound fails with a probability of at most `delta`. The caller chooses
/// `delta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorBound {
    /// The bound that is computed from the size of the sketch and the sum of all counts. If this
    /// sum is 2^64 - 1 or higher, it is not known exactly, and the bound is 2^64 - 1.
    pub from_total: u64,
    /// The bound that is computed from the values of the counters. If a few keys make up most of
    /// the stream, this bound is much lower than the bound [`from_total`](Self::from_total).
    ///
    /// The value is `None` for hash functions that are only pairwise independent, because no bound
    /// of this kind is proven for them. The value is also `None` if `delta` is so small that no
    /// bound can be computed from the counters.
    pub from_counters: Option<u64>,
}

impl ErrorBound {
    /// The smaller of the two bounds. The probability that the smaller bound fails is also at most
    /// `delta`.
    #[must_use]
    pub fn least(&self) -> u64 {
        self.from_counters.map_or(self.from_total, |bound| bound.min(self.from_total))
    }
}

impl<R: RowHashes, C: Counter, K: Counted> Sketch<R, C, K> {
    /// An estimate of the number of distinct keys, with a confidence interval. The interval
    /// contains the true number with a probability of at least `confidence`.
    ///
    /// Returns `None` after [`halve`](Self::halve), because halving turns counts of 1 into 0. Also
    /// returns `None` for hash functions that are only pairwise independent, because no interval is
    /// proven for them.
    ///
    /// The method treats the first row of counters as a Bloom filter with one probe per key. Each
    /// counter above 0 is treated as a set bit. The function [`items_interval`] computes the
    /// result. If every counter of the row is above 0, the result contains an interval, but its
    /// estimate is `None`. This is likely if there are more than about `w * ln(w)` distinct keys,
    /// where w is the number of counters in a row.
    ///
    /// The time is linear in the number of counters in a row. Computing the interval can take a few
    /// tenths of a second more.
    ///
    /// ```
    /// use truebloom::count_min::CountMin;
    /// let mut counts: CountMin = CountMin::new("0.001".parse()?, "0.001".parse()?)?;
    /// (0..90_000).for_each(|i| counts.add(&(i % 3_000), 1));
    /// let distinct = counts.distinct(0.999)?.expect("full hashes");
    /// assert!(distinct.lower <= 3_000 && distinct.upper >= Some(3_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if `confidence` is not between 0 and 1.
    pub fn distinct(&self, confidence: f64) -> Result<Option<ItemsEstimate>, Error> {
        if self.is_halved() || R::FAMILY != Family::Ideal {
            return Ok(None);
        }
        let row = self.counters.iter().take(usize::try_from(self.shape.width()).unwrap_or(usize::MAX));
        let used = row.filter(|counter| counter.get() != C::default()).count() as u64;
        items_interval(Variant::Standard, self.shape.width(), 1, used, confidence).map(Some)
    }

    /// Upper bounds on the amount by which an estimate exceeds the true count. The bounds hold with
    /// a probability of at least `1 - delta`. This probability already takes into account that two
    /// keys can have the same 128-bit hash. The bounds do not apply to
    /// [`saturated`](super::Estimate::saturated) estimates.
    ///
    /// The result contains two proven bounds. The bound `from_total` is computed by
    /// [`Shape::error_bound`](truebloom_math::count_min::Shape::error_bound). The bound
    /// `from_counters` is computed with the help of
    /// [`Shape::tail_is_below`](truebloom_math::count_min::Shape::tail_is_below).
    ///
    /// This method reads all counters several times. The bounds are the same for all keys, so you
    /// need not call the method for each key.
    ///
    /// ```
    /// use truebloom::count_min::CountMin;
    /// let mut counts: CountMin = CountMin::new("0.01".parse()?, "0.001".parse()?)?;
    /// counts.add("the one that comes often", 1_000_000);
    /// (0..100).for_each(|key| counts.add(&key, 1));
    /// let error = counts.error_bound(&"0.001".parse()?);
    /// assert!(error.from_total > 9_000 && error.from_counters < Some(10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn error_bound(&self, delta: &Rate) -> ErrorBound {
        let Some(delta) = without_equal_hashes(delta, self.total) else {
            return ErrorBound { from_total: self.total, from_counters: None };
        };
        // For rows made from two hashes, neither bound implies the other. Each bound gets half of
        // delta, so that both hold together. For independent rows, the bound from the counters is
        // never above the bound from the total (see `count_min/tail.rs`), so each bound gets all of
        // delta.
        let delta = if self.shape.rows() == Rows::TwoHash && R::FAMILY == Family::Ideal { half(&delta) } else { Some(delta) };
        let Some(delta) = delta else { return ErrorBound { from_total: self.total, from_counters: None } };
        // A total at its highest value is no upper bound on the sum of all counts.
        let from_total = if self.total == u64::MAX { u64::MAX } else { self.shape.error_bound(self.total, R::FAMILY, &delta) };
        let from_counters = (R::FAMILY == Family::Ideal).then(|| self.bound_of_counters(from_total, &delta));
        ErrorBound {
            from_total: from_total.saturating_add(self.rounded),
            from_counters: from_counters.map(|bound| bound.saturating_add(self.rounded)),
        }
    }

    /// The smallest v, up to `most`, for which it is unlikely that all counters of a key are above
    /// v: the probability of this is at most `delta`.
    fn bound_of_counters(&self, most: u64, delta: &Rate) -> u64 {
        let unlikely = |v: u64| {
            let is_above = |counter: C| counter.into_u64() > v || counter == C::HIGHEST;
            let above = |row: &[K::Cell<C>]| row.iter().filter(|counter| is_above(counter.get())).count() as u64;
            let above: Vec<u64> = self.counters.chunks(self.shape.width() as usize).map(above).collect();
            self.shape.tail_is_below(&above, delta).unwrap_or(false)
        };
        bisect(0..=most, unlikely)
    }
}

/// Half of a probability, possibly rounded down.
pub(super) fn half(delta: &Rate) -> Option<Rate> {
    let (numerator, exponent, divisor) = delta.parts();
    let exact = divisor.checked_mul(2).and_then(|divisor| Rate::from_parts(numerator, exponent, divisor).ok());
    exact.or_else(|| Rate::try_from(0.5 * delta.to_f64() * (1.0 - 1e-12)).ok())
}

/// `delta` minus the probability of equal 128-bit hashes; `None` if the difference is not positive.
pub(super) fn without_equal_hashes(delta: &Rate, total: u64) -> Option<Rate> {
    let floor = hash_floor(total, 128);
    // Such a small probability need not be subtracted: it is far below the billionth that the
    // bounds allow for rounding errors.
    if floor < delta.to_f64() * 1e-12 || floor == 0.0 {
        return Some(*delta);
    }
    Rate::try_from((delta.to_f64() - floor) * (1.0 - 1e-12)).ok()
}
