//! Brackets for the quantiles of the number of hits among new keys. Both the filter and the new
//! keys are random.
//!
//! Given the rate R of the filter, the number of hits H is binomial, and its tail
//! `S(r) = P(H >= h | R = r)` rises with r. Take a grid of fills `y_0 < y_1 < ..`, and rates `r_i`
//! such that `R <= r_i` if the fill Y is at most `y_i`. Then
//!
//! ```text
//! P(H >= h) <= S(r_0) + sum over i of (S(r_(i+1)) - S(r_i)) P(Y > y_i)
//! ```
//!
//! The probabilities `P(Y > y_i)` are replaced by upper bounds, which gives an upper bound on
//! `P(H >= h)` that can be computed. The lower tail `P(H <= h)` is bounded in the same way.

use crate::error::check_confidence;
use crate::error::out_of_range;
use crate::exact::work;
use crate::occupancy::Occupancy;
use crate::one_filter::quantile::{OnesLaw, own_rate};
use crate::search::boundary;
use crate::{Fill, Method, Result, Variant, binomial};
use alloc::vec;
use alloc::vec::Vec;

/// A bracket for a quantile of the number of hits (false positives).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HitsQuantile {
    /// The probability q.
    pub probability: f64,
    /// The lower end of the bracket. It is at most the q-quantile of H, the number of hits:
    /// `P(H < lower) < q`.
    pub lower: u64,
    /// The upper end of the bracket. It is at least the q-quantile of H, the number of hits:
    /// `P(H <= upper) >= q`.
    pub upper: u64,
    /// The method by which the ends were computed. [`Method::Bound`] means that the ends follow
    /// from proven bounds on the tails of the number of set bits. [`Method::Validated`] means that
    /// the ends follow from a sum over all numbers of set bits, computed in `f64`. The ends then
    /// include a margin for the errors of the sum. Tests confirm this margin, but it is not proven.
    pub method: Method,
}

/// Returns a bracket for a quantile of H, the number of hits: the smallest h with
/// `P(H <= h) >= probability`. H is the number of hits (false positives) among `queries` new keys
/// in one filter with `items` items. Both the filter and the new keys are random.
///
/// With few items and queries, both ends are computed by a sum over all possible numbers of set
/// bits. The two ends are then almost always equal. For example, 10,000 positions (items times
/// probes) and 100,000 queries are still few enough for this sum. With more items or queries, the
/// ends of the interval follow from proven tail bounds on the number of set bits. The two ends are
/// then different. For a partitioned filter with two or more probes, the ends are always computed
/// from such bounds, and the lower end is 0. A call takes at most a few tens of milliseconds.
///
/// ```
/// use truebloom_math::{Variant, false_positives, hits_quantile_bound};
/// let mean = false_positives(Variant::Standard, 9_593, 1_000, 7, 100_000)?.mean;
/// let upper = hits_quantile_bound(Variant::Standard, 9_593, 1_000, 7, 100_000, 0.999)?.upper as f64;
/// assert!(upper > mean && upper < 1.3 * mean);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range, or if `probability` is not strictly between 0 and 1.
pub fn hits_quantile_bound(variant: Variant, bits: u64, items: u64, probes: u32, queries: u64, probability: f64) -> Result<HitsQuantile> {
    let _work = work::begin();
    variant.check(bits, probes)?;
    check_confidence(probability)?;
    // With one probe, the only slice is the whole filter.
    let variant = if probes == 1 { Variant::Standard } else { variant };
    if queries > 1 << 62 {
        return out_of_range("queries", queries, "at most 2^62");
    }
    if items == 0 || queries == 0 {
        return Ok(HitsQuantile { probability, lower: 0, upper: 0, method: Method::Bound });
    }
    let grid = Grid::new(variant, bits, items, probes)?;
    let mean = queries as f64 * grid.middle();
    let past = boundary(mean + 1.0, 1, queries + 1, |hits| Ok(grid.at_least(hits, queries) > 1.0 - probability))?;
    let above = boundary(mean, 1, queries + 1, |hits| Ok(grid.at_most(hits - 1, queries) < probability))?;
    let upper = (past - 1).min(queries);
    let bounded = HitsQuantile { probability, lower: (above - 1).min(upper), upper, method: Method::Bound };
    match Mixture::new(variant, bits, items, probes, queries)? {
        Some(mixture) => Ok(mixture.narrow(bounded)),
        None => Ok(bounded),
    }
}

/// The law of the number of hits, if the law of the fill can be summed quickly. Given the fill, the
/// number of hits is binomial.
struct Mixture {
    queries: u64,
    /// The probability of each fill, and the filter's rate at that fill.
    fills: Vec<(f64, f64)>,
    /// The largest error of the sum over fills in either direction.
    error: f64,
}

/// The law is summed if the number of fills times the standard deviation of the hits is at most
/// this limit. Such a sum takes a few tens of milliseconds.
const MOST_TERMS: f64 = 3e6;

impl Mixture {
    fn new(variant: Variant, bits: u64, items: u64, probes: u32, queries: u64) -> Result<Option<Mixture>> {
        let law = match variant {
            Variant::Standard => Occupancy::standard(bits, items, probes)?,
            Variant::Classic => Occupancy::classic(bits, items, probes)?,
            Variant::Partitioned => return Ok(None),
        };
        let throws = items as f64 * f64::from(probes);
        let cost = 20.0 * libm::sqrt(law.variance()?) * (20.0 + 10.0 * libm::sqrt(queries as f64));
        if cost > MOST_TERMS || throws > 1e5 {
            return Ok(None);
        }
        let pmf = law.pmf_window()?;
        let mut fills = Vec::with_capacity(pmf.probabilities.len());
        for (i, &probability) in pmf.probabilities.iter().enumerate() {
            // The fills that are left out have a total probability below 1e-20, which cannot change
            // a practical quantile.
            if probability > 1e-25 {
                fills.push((probability, own_rate(variant, bits, probes, pmf.first + i as u64)?.value));
            }
        }
        // The probabilities and the binomial tails have errors of at most 1e-12.
        Ok(Some(Mixture { queries, fills, error: pmf.left_out + 1e-11 }))
    }

    fn at_most(&self, hits: u64) -> f64 {
        self.fills.iter().map(|&(probability, rate)| probability * binomial::at_most(hits, self.queries, rate)).sum()
    }

    /// Bisects between the ends, until the error of the sum is too large to decide.
    fn narrow(&self, mut found: HitsQuantile) -> HitsQuantile {
        while found.lower < found.upper {
            let middle = found.lower + (found.upper - found.lower) / 2;
            let sum = self.at_most(middle);
            if sum - self.error >= found.probability {
                (found.upper, found.method) = (middle, Method::Validated);
            } else if sum + self.error < found.probability {
                (found.lower, found.method) = (middle + 1, Method::Validated);
            } else {
                break;
            }
        }
        found
    }
}

/// Rates at some fills, and bounds on the probabilities that the fill is beyond them.
struct Grid {
    /// Pairs `(r, bound on P(R > r))`, with rising r. The last probability is 0.
    above: Vec<(f64, f64)>,
    /// Pairs `(r, bound on P(R < r))`, with rising r. The first rate is 0 and has probability 0.
    below: Vec<(f64, f64)>,
}

impl Grid {
    fn new(variant: Variant, bits: u64, items: u64, probes: u32) -> Result<Grid> {
        let law = OnesLaw::new(variant, bits, items, probes)?;
        let deviation = libm::sqrt(law.fill.variance).max(0.25);
        // From nine standard deviations below the mean to nine above, in steps of a quarter of one.
        let mut fills: Vec<u64> =
            (-36..=36).map(|i| libm::round(law.fill.mean + f64::from(i) / 4.0 * deviation).clamp(0.0, bits as f64) as u64).collect();
        fills.push(bits);
        fills.dedup();
        let (mut above, mut below) = (Vec::new(), vec![(0.0, 0.0)]);
        for ones in fills {
            if variant == Variant::Partitioned {
                let share = (ones as f64 / law.capacity).min(1.0);
                let rate = (libm::pow(share, f64::from(probes)) * (1.0 + 1e-12)).min(1.0);
                let beyond = if law.is_lattice { ones as f64 + 1.0 } else { ones as f64 };
                above.push((rate, if ones == bits { 0.0 } else { law.at_least(beyond) }));
            } else {
                let rate = own_rate(variant, bits, probes, ones)?;
                above.push((rate.upper, if ones == bits { 0.0 } else { law.at_least(ones as f64 + 1.0) }));
                below.push((rate.lower, if ones == 0 { 0.0 } else { law.at_most(ones as f64 - 1.0) }));
            }
        }
        Ok(Grid { above, below })
    }

    /// The rate in the middle of the grid.
    fn middle(&self) -> f64 {
        self.above[self.above.len() / 2].0
    }

    /// An upper bound on `P(H >= hits)`.
    fn at_least(&self, hits: u64, queries: u64) -> f64 {
        let mut last = at_least(hits, queries, self.above[0].0);
        let mut total = last;
        for pair in self.above.windows(2) {
            let tail = at_least(hits, queries, pair[1].0).max(last);
            total += (tail - last) * pair[0].1;
            last = tail;
        }
        (total * (1.0 + 1e-9) + 1e-300).min(1.0)
    }

    /// An upper bound on `P(H <= hits)`.
    fn at_most(&self, hits: u64, queries: u64) -> f64 {
        let Some(&(largest, _)) = self.below.last() else { return 1.0 };
        let mut last = at_most(hits, queries, largest);
        let mut total = last;
        for pair in self.below.windows(2).rev() {
            let tail = at_most(hits, queries, pair[0].0).max(last);
            total += (tail - last) * pair[1].1;
            last = tail;
        }
        (total * (1.0 + 1e-9) + 1e-300).min(1.0)
    }
}

/// The largest variance for which the binomial tail is summed. For larger variances, the tail is
/// bounded.
const SUMMED: f64 = 1e4;

fn binomial_law(queries: u64, rate: f64) -> OnesLaw {
    let mean = queries as f64 * rate;
    let variance = mean * (1.0 - rate);
    OnesLaw { fill: Fill { bits: queries, mean, variance }, capacity: queries as f64, is_lattice: true, lattice: (variance, 1.0) }
}

/// The probability `P(Bin >= hits)`, or an upper bound on it.
fn at_least(hits: u64, queries: u64, rate: f64) -> f64 {
    let law = binomial_law(queries, rate);
    if law.fill.variance <= SUMMED { binomial::at_least(hits, queries, rate) } else { law.at_least(hits as f64) }
}

/// The probability `P(Bin <= hits)`, or an upper bound on it.
fn at_most(hits: u64, queries: u64, rate: f64) -> f64 {
    let law = binomial_law(queries, rate);
    if law.fill.variance <= SUMMED { binomial::at_most(hits, queries, rate) } else { law.at_most(hits as f64) }
}
