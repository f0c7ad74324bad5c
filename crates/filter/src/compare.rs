//! Comparing filters: how many items they have in common.

use crate::any_filter::{AnyFilter, each_arm, each_planned};
use crate::backing::{Backing, Counted};
use crate::bits::count_ones_in;
use crate::bloom::FilterOf;
use crate::error::{BuildError, MergeError};
use crate::hash::KeyHasher;
use crate::scheme::{Scheme, layouts};
use crate::tied;
use crate::verify::ALPHA;
use alloc::vec::Vec;
use core::fmt;
use truebloom_math::{Error, Ground, ItemsEstimate, Variant, as_one_call, items_beyond};

/// An estimated number of items, with a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Quantity {
    /// The estimate. The value is `None` if it is computed from a filter or union whose bits are
    /// all set. For [`Comparison::common`] and [`Comparison::similarity`], the estimate is also
    /// `None` if more than 10 filters are compared.
    pub value: Option<f64>,
    /// The lower end of the interval.
    pub lower: u64,
    /// The upper end of the interval, or `None` if there is no upper bound.
    pub upper: Option<u64>,
}

/// An estimate of a proportion between 0 and 1, such as [`Comparison::similarity`], with a
/// confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Share {
    /// The estimate. `None` in the same cases as [`Quantity::value`].
    pub value: Option<f64>,
    /// The lower end of the interval.
    pub lower: f64,
    /// The upper end of the interval.
    pub upper: f64,
}

/// Estimates of how many items several filters hold, and how many of these items they share. Each
/// estimate has a confidence interval. If the keys were chosen without knowing the seed, each
/// interval contains the true value with at least the requested probability. The probability is
/// over the choice of the seed.
///
/// The interval for the number of items in one filter is computed from the number of insertions
/// that set a bit ([`FilterOf::changed`]). For a merged filter, this interval is computed from the
/// set bits. The interval for the number of items that one filter alone holds is computed from the
/// bits that are set in that filter alone ([`items_beyond`]). The intervals for
/// [`union`](Self::union) and [`common`](Self::common) are computed by adding and subtracting the
/// ends of such intervals.
///
/// ```
/// use truebloom::{AnyFilter, BloomFilter, Comparison, Filter};
/// let mut monday = BloomFilter::new(1_000, 0.01)?;
/// let mut tuesday = monday.clone(); // the same seed
/// monday.insert_all(0..1_000);
/// tuesday.insert_all(500..1_500);
/// let both = Comparison::of(&[monday.into(), tuesday.into()], 0.99)?;
/// assert!(both.common.lower <= 500 && both.common.upper >= Some(500));
/// assert!(both.common.upper.expect("not full") - both.common.lower < 80);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The number of items in each filter, in the order in which the filters were passed.
    pub sizes: Vec<Quantity>,
    /// For each filter, the number of its items that no other filter holds.
    pub own: Vec<Quantity>,
    /// The number of items that are in at least one of the filters.
    pub union: Quantity,
    /// The number of items that are in all filters.
    pub common: Quantity,
    /// The Jaccard similarity: [`common`](Self::common) divided by [`union`](Self::union).
    pub similarity: Share,
}

/// The reason why filters cannot be compared.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CompareError {
    /// There are fewer than two filters, or the confidence is invalid.
    Arguments,
    /// A filter cannot be merged with the first filter of the list.
    Differs {
        /// The index of the filter in the list, from 0.
        index: usize,
        /// How this filter differs from the first filter of the list.
        cause: MergeError,
    },
    /// A filter is an intersection. The set bits of an intersection do not determine how many items
    /// it holds.
    Intersection {
        /// The index of the filter in the list, from 0.
        index: usize,
    },
    /// A filter is a [`ScalableFilter`](crate::ScalableFilter), which consists of several filters.
    /// Two such filters can hold the same key in different places, so their bits cannot be
    /// compared.
    Grows {
        /// The index of the filter in the list, from 0.
        index: usize,
    },
    /// The number of set bits is implausible for the number of insertions that the filter counted.
    Unfit {
        /// The index of the filter in the list, from 0.
        index: usize,
    },
    /// The comparison needs a probability that cannot be computed.
    Law(Error),
    /// The comparison makes another filter of the same size. The memory for this filter cannot be
    /// allocated.
    Memory(BuildError),
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompareError::Arguments => f.write_str("give at least two filters, and a confidence above 0 and at most 0.999999"),
            CompareError::Differs { index, cause } => write!(f, "filter {index} differs from the first: {cause}"),
            CompareError::Intersection { index } => {
                write!(f, "filter {index} is an intersection, whose set bits do not determine how many items it holds")
            }
            CompareError::Grows { index } => {
                write!(f, "filter {index} grows, and cannot be compared: another filter may have the same keys in other layers")
            }
            CompareError::Unfit { index } => write!(f, "the set bits of filter {index} are inconsistent with the keys that it was offered"),
            CompareError::Law(error) => error.fmt(f),
            CompareError::Memory(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for CompareError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            CompareError::Law(error) => error.source(),
            CompareError::Memory(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Error> for CompareError {
    fn from(error: Error) -> CompareError {
        CompareError::Law(error)
    }
}

impl From<BuildError> for CompareError {
    fn from(error: BuildError) -> CompareError {
        CompareError::Memory(error)
    }
}

/// An interval, and the probability that it misses the true value. An upper end of `u64::MAX` means
/// that there is no upper bound.
#[derive(Clone, Copy)]
struct Size {
    lower: u64,
    upper: u64,
    error: f64,
}

/// The number of common items is estimated for at most this many filters, because the estimate
/// needs the union of every subset of them.
const MOST_SELECTED: usize = 10;

impl Comparison {
    /// Compares filters that have the same size, number of probes, scheme, hasher and seed.
    ///
    /// The time is linear in the number of bits and quadratic in the number of filters. In
    /// addition, each confidence interval takes a few hundredths of a second. For 3 to 10 filters,
    /// the estimate of [`common`](Self::common) also computes the unions of many subsets of the
    /// filters. For 10 filters, it computes about a thousand unions. The comparison allocates
    /// memory for at most four more filters of the same size.
    ///
    /// # Errors
    /// Returns an error if there are fewer than two filters, if `confidence` is at most 0 or above
    /// 0.999999, or if the filters cannot be merged. Returns an error if one of the filters is a
    /// [`ScalableFilter`](crate::ScalableFilter), is an intersection, or has an implausible number
    /// of set bits. See [`CompareError`].
    pub fn of<K: Counted>(filters: &[AnyFilter<K>], confidence: f64) -> Result<Comparison, CompareError> {
        let (Some(first), true, true) = (filters.first(), filters.len() > 1, confidence > 0.0 && confidence <= 1.0 - ALPHA) else {
            return Err(CompareError::Arguments);
        };
        if let Some(index) = filters.iter().position(|filter| matches!(filter, AnyFilter::Scalable(_))) {
            return Err(CompareError::Grows { index });
        }
        // This loop checks that every filter can be merged with an empty one. No filters are merged
        // before all of them have passed this check.
        let empty = first.to_empty()?;
        for (index, filter) in filters.iter().enumerate() {
            empty.check_mergeable(filter).map_err(|cause| CompareError::Differs { index, cause })?;
            if filter.is_intersection() {
                return Err(CompareError::Intersection { index });
            }
            if !filter.verification()?.fill().holds() {
                return Err(CompareError::Unfit { index });
            }
        }
        as_one_call(|| Compared { filters, empty, alpha: 1.0 - confidence }.compare())
    }
}

struct Compared<'a, K: Backing> {
    filters: &'a [AnyFilter<K>],
    empty: AnyFilter,
    /// The largest probability with which an interval may miss the true value.
    alpha: f64,
}

impl<K: Counted> Compared<'_, K> {
    fn compare(&self) -> Result<Comparison, CompareError> {
        let all = self.union_of(|_| true)?;
        let count = self.filters.len();
        // The largest and the smallest filter are chosen by the number of insertions, which does
        // not depend on the seed. If the choice depended on the seed, the law would have to account
        // for it.
        let by_offers = |index: &usize| self.filters.get(*index).map_or(0, AnyFilter::offered);
        let (largest, smallest) = ((0..count).max_by_key(by_offers).unwrap_or(0), (0..count).min_by_key(by_offers).unwrap_or(0));
        let mut sizes = Vec::new();
        let mut own = Vec::new();
        for (index, filter) in self.filters.iter().enumerate() {
            let (size, value) = self.size(filter, self.alpha)?;
            sizes.push(quantity(value, size.lower, size.upper));
            let others = self.union_of(|other| other != index)?;
            let found = beyond(&others, &all, self.alpha)?;
            // A filter has at most this many items, whatever its bits say.
            own.push(quantity(found.value, found.lower, found.upper.unwrap_or(u64::MAX).min(filter.most_items())));
        }
        let union = self.union(largest, &all)?;
        let common = self.common(smallest, self.alpha)?;
        let value = common.value.zip(union.value).map(|(common, union)| if union > 0.0 { common / union } else { 1.0 });
        let similarity = self.similarity(smallest, largest, &all, value)?;
        Ok(Comparison { sizes, own, union, common, similarity })
    }

    fn union_of(&self, wanted: impl Fn(usize) -> bool) -> Result<AnyFilter, CompareError> {
        let mut union = self.empty.to_empty()?;
        for (index, filter) in self.filters.iter().enumerate().filter(|(index, _)| wanted(*index)) {
            union.union_with(filter).map_err(|cause| CompareError::Differs { index, cause })?;
        }
        Ok(union)
    }

    /// The number of items in one filter. The number is computed from the filter's counts, which
    /// give a very narrow interval. After a merge, the number is computed from the fill instead,
    /// and the counts give only bounds on it.
    fn size(&self, filter: &AnyFilter<K>, alpha: f64) -> Result<(Size, Option<f64>), CompareError> {
        let by_fill = |alpha| beyond(&self.empty, filter, alpha);
        if !filter.is_merged() {
            let (lower, upper) = filter.verification()?.items();
            if upper < u64::MAX {
                return Ok((Size { lower, upper, error: ALPHA / 4.0 }, estimate(&self.empty, filter)?));
            }
        }
        let found = by_fill(alpha)?;
        let lower = found.lower.max(filter.changed());
        let upper = found.upper.unwrap_or(u64::MAX).min(if filter.is_merged() { filter.most_items() } else { u64::MAX });
        Ok((Size { lower, upper: upper.max(lower), error: alpha }, found.value))
    }

    /// Returns bounds on the number of items in a filter, an estimate of this number, and the part
    /// of `alpha` that remains for estimating another number. If the filter's counts determine its
    /// number of items, most of `alpha` remains.
    fn size_beside(&self, index: usize, alpha: f64) -> Result<(Size, Option<f64>, f64), CompareError> {
        let filter = self.filters.get(index).ok_or(CompareError::Arguments)?;
        let (size, value) = self.size(filter, alpha / 2.0)?;
        let left = alpha - size.error;
        Ok((size, value, if left > 0.0 { left } else { alpha / 2.0 }))
    }

    /// The size of the union: the size of the largest filter, plus the number of items that only
    /// the other filters hold.
    fn union(&self, largest: usize, all: &AnyFilter) -> Result<Quantity, CompareError> {
        let (size, _, left) = self.size_beside(largest, self.alpha)?;
        let more = beyond(self.filters.get(largest).ok_or(CompareError::Arguments)?, all, left)?;
        let value = estimate(&self.empty, all)?;
        Ok(quantity(value, size.lower.saturating_add(more.lower), size.upper.saturating_add(more.upper.unwrap_or(u64::MAX))))
    }

    /// The number of common items: the number of items in the smallest filter, minus the number of
    /// its items that at least one of the others lacks.
    ///
    /// Let L(i) be the set of the smallest filter's items that the other filter i lacks. The union
    /// of these sets is at least as large as the largest set. By the inequality of Hunter and
    /// Worsley, its size is at most the sum of the sizes of all L(i), minus the sizes of the
    /// intersections of L(1) with each of the sets L(2), L(3) and so on.
    fn common(&self, smallest: usize, alpha: f64) -> Result<Quantity, CompareError> {
        let (size, value, left) = self.size_beside(smallest, alpha)?;
        let filter = self.filters.get(smallest).ok_or(CompareError::Arguments)?;
        let others: Vec<usize> = (0..self.filters.len()).filter(|index| *index != smallest).collect();
        let each = left / (2 * others.len() - 1) as f64;
        let (mut most_lacked, mut least_lacked, mut first_found) = (0u64, 0u64, None);
        for (nth, &index) in others.iter().enumerate() {
            let lacked = self.lacked(filter, |other| other == index, each)?;
            most_lacked = most_lacked.saturating_add(lacked.upper.unwrap_or(u64::MAX));
            least_lacked = least_lacked.max(lacked.lower);
            match (nth, others.first()) {
                (1.., Some(&first)) => {
                    let by_both = self.lacked(filter, |other| other == index || other == first, each)?;
                    most_lacked = most_lacked.saturating_sub(by_both.lower);
                }
                _ => first_found = lacked.value,
            }
        }
        let lacked = match others.len() {
            1 => first_found,
            2..MOST_SELECTED => self.lacked_by_any(filter, &others)?,
            _ => None,
        };
        let value = value.zip(lacked).map(|(size, lacked)| size - lacked);
        let upper = if size.upper == u64::MAX { u64::MAX } else { size.upper.saturating_sub(least_lacked) };
        Ok(quantity(value, size.lower.saturating_sub(most_lacked), upper))
    }

    /// How many items of a filter are in none of the other filters that `others` selects.
    fn lacked(&self, filter: &AnyFilter<K>, others: impl Fn(usize) -> bool, alpha: f64) -> Result<ItemsEstimate, CompareError> {
        let ground = self.union_of(others)?;
        let mut both = ground.clone();
        both.union_with(filter).map_err(|cause| CompareError::Differs { index: 0, cause })?;
        beyond(&ground, &both, alpha)
    }

    /// How many items of a filter are missing in at least one of the filters `others`. For every
    /// subset of `others`, this function estimates the number of items that all filters of the
    /// subset lack. The estimates are then combined by inclusion and exclusion.
    fn lacked_by_any(&self, filter: &AnyFilter<K>, others: &[usize]) -> Result<Option<f64>, CompareError> {
        let mut sum = Some(0.0);
        for selection in 1..1usize << others.len() {
            let is_selected = |index: usize| others.iter().position(|other| *other == index).is_some_and(|bit| selection >> bit & 1 == 1);
            let ground = self.union_of(is_selected)?;
            let mut both = ground.clone();
            both.union_with(filter).map_err(|cause| CompareError::Differs { index: 0, cause })?;
            let sign = if selection.count_ones() % 2 == 1 { 1.0 } else { -1.0 };
            sum = sum.zip(estimate(&ground, &both)?).map(|(sum, value)| sum + sign * value);
        }
        Ok(sum)
    }

    /// The similarity of two filters is a decreasing function of the number of items that only the
    /// smaller filter has, so one interval for this number is enough. For more filters, there is
    /// one interval for the common items and one for the union.
    fn similarity(&self, smallest: usize, largest: usize, all: &AnyFilter, value: Option<f64>) -> Result<Share, CompareError> {
        let share = |top: f64, bottom: f64| if bottom > 0.0 { (top / bottom).clamp(0.0, 1.0) } else { 1.0 };
        let [smaller, other] = [smallest, largest].map(|index| self.filters.get(index));
        if let (2, Some(smaller), Some(other)) = (self.filters.len(), smaller, other) {
            let (a, _) = self.size(smaller, self.alpha / 4.0)?;
            let (b, _) = self.size(other, self.alpha / 4.0)?;
            let left = self.alpha - a.error - b.error;
            let own = beyond(other, all, if left > 0.0 { left } else { self.alpha / 2.0 })?;
            let (own_least, own_most) = (own.lower, own.upper.unwrap_or(u64::MAX));
            let lower = share(a.lower.saturating_sub(own_most) as f64, b.upper.saturating_add(own_most) as f64);
            let upper = share(a.upper.saturating_sub(own_least) as f64, b.lower.saturating_add(own_least) as f64);
            return Ok(bounded_share(value, lower, upper));
        }
        let common = self.common(smallest, self.alpha / 2.0)?;
        let union = Compared { filters: self.filters, empty: self.empty.to_empty()?, alpha: self.alpha / 2.0 }.union(largest, all)?;
        let least = union.upper.map_or(0.0, |upper| share(common.lower as f64, upper as f64));
        let most = common.upper.map_or(1.0, |upper| share(upper as f64, union.lower as f64));
        Ok(bounded_share(value, least, most))
    }
}

fn bounded_share(value: Option<f64>, lower: f64, upper: f64) -> Share {
    // If nothing is in common, the share is exactly 0, without rounding up.
    let above = if upper == 0.0 { 0.0 } else { upper.next_up().min(1.0) };
    let (lower, upper) = (lower.min(upper).next_down().max(0.0), above);
    Share { value: value.map(|value| value.clamp(lower, upper)), lower, upper }
}

/// Makes a quantity with this interval. An estimate outside the interval is moved to its nearest
/// end.
fn quantity(value: Option<f64>, lower: u64, upper: u64) -> Quantity {
    let upper = upper.max(lower);
    let value = value.map(|value| value.clamp(lower as f64, if upper == u64::MAX { f64::MAX } else { upper as f64 }));
    Quantity { value, lower, upper: (upper < u64::MAX).then_some(upper) }
}

/// Estimates the number of items that `both` holds and `ground` does not. `both` must hold all
/// items of `ground`. The interval misses the true number with probability at most alpha.
fn beyond<G: Counted, B: Counted>(ground: &AnyFilter<G>, both: &AnyFilter<B>, alpha: f64) -> Result<ItemsEstimate, CompareError> {
    let more = both.ones().saturating_sub(ground.ones());
    let confidence = (1.0 - alpha).clamp(f64::EPSILON, 1.0 - f64::EPSILON);
    let probes = ground.probes();
    with_any_ground(ground, |ground| items_beyond(&ground, probes, more, confidence)).map_err(CompareError::Law)
}

/// The estimate of the number of items that `both` holds and `ground` does not, without an
/// interval.
fn estimate<G: Counted, B: Counted>(ground: &AnyFilter<G>, both: &AnyFilter<B>) -> Result<Option<f64>, CompareError> {
    let more = both.ones().saturating_sub(ground.ones());
    let probes = ground.probes();
    Ok(with_any_ground(ground, |ground| ground.estimate(probes, more)))
}

/// Calls `use_ground` with the bits of a filter of any scheme, in the form that the estimate of
/// added items needs.
fn with_any_ground<T>(filter: &AnyFilter<impl Counted>, use_ground: impl FnOnce(Ground<'_>) -> T) -> T {
    // Not reached for filters that grow, because the caller has already refused them.
    each_planned!(filter, filter => with_ground(filter, use_ground), grows => use_ground(Ground::Unsliced { variant: Variant::Standard, bits: grows.bits(), ones: grows.ones() }))
}

/// Calls `use_ground` with the bits of a filter, in the form that the estimate of added items
/// needs.
fn with_ground<S: Scheme, H: KeyHasher, K: Counted, T>(filter: &FilterOf<S, H, K>, use_ground: impl FnOnce(Ground<'_>) -> T) -> T {
    let (bits, ones) = (filter.bits(), filter.ones());
    match filter.scheme().id().variant() {
        Some(Variant::Partitioned) => {
            let count = u64::from(filter.probes());
            let (short, longer) = (bits / count, bits % count);
            let start = |slice: u64| slice * short + slice.min(longer);
            let slice = |slice| (start(slice + 1) - start(slice), count_ones_in(filter.words(), start(slice)..start(slice + 1)));
            let slices: Vec<(u64, u64)> = (0..count).map(slice).collect();
            use_ground(Ground::Sliced { slices: &slices })
        }
        Some(variant) => use_ground(Ground::Unsliced { variant, bits, ones }),
        None => {
            let (least, most) = tied::fills(filter);
            use_ground(Ground::Tied { bits, ones, covered: (least.covered, most.covered) })
        }
    }
}
