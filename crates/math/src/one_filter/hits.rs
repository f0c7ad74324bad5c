//! The moments of the rate of one filter, and of the number of hits among new keys (keys that were
//! never inserted).
//!
//! The rate R of one filter depends on its bits, so it is random. Its mean is the expected rate.
//! Among Q new keys, the number of hits is binomial *given* R (Kirsch and Mitzenmacher, section 7).
//! If both the filter and the keys are random, the number of hits varies more than a binomial
//! number with the same mean: its variance is `Q E[R (1-R)] + Q^2 Var[R]`.

use crate::error::out_of_range;
use crate::exact::combine::{Difference, Power, ProductOf};
use crate::exact::enclosure::Enclose;
use crate::exact::work;
use crate::law::inclusion::{Inclusion, Items, Query};
use crate::law::mixture::{Mixture, Positions};
use crate::law::slices::Slices;
use crate::search::ln_complement_bound;
use crate::{Fpr, Result, Variant};
use alloc::boxed::Box;
use alloc::vec;

/// The mean and the variance of the rate R of one filter, over all seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RateMoments {
    /// The expected rate `E[R]`.
    pub mean: Fpr,
    /// The second moment `E[R^2]`: the probability that two new keys are both false positives of
    /// the same filter.
    pub second: Fpr,
    /// The variance `Var[R]`, with a relative error below 1e-15. If the variance underflows, this
    /// is 0 or the smallest positive `f64`.
    pub variance: f64,
    /// The mean `E[R (1-R)]`: the probability that the first of two new keys is a false positive
    /// and the second is not. The relative error is below 1e-15.
    pub mixed: f64,
}

/// The mean and the variance of the number of hits (false positives) among new keys. Both the
/// filter and the new keys are random.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hits {
    /// The number of new keys, Q.
    pub queries: u64,
    /// The mean number of hits, `Q E[R]`, where R is the rate of the filter. The relative error is
    /// below 1e-15.
    pub mean: f64,
    /// The variance of the number of hits, `Q E[R (1-R)] + Q^2 Var[R]`, where Q is the number of
    /// queries, and R is the rate of the filter. The relative error is below 2e-15.
    pub variance: f64,
}

/// Returns the moments of the rate R of one filter with `items` items. R is random, because it
/// depends on the seed.
///
/// `E[R^2]` is the probability that two independent new keys are both false positives of the same
/// filter. It is computed as follows:
/// * In the standard filter with k probes, two keys together have 2k independent positions, so they
///   are treated as one key with 2k probes.
/// * For the classic filter, `E[R^2]` is an average over the number of positions that the two keys
///   have in common.
/// * For the partitioned filter, `E[R^2]` is a product over the slices.
///
/// The variance is computed as `E[R^2] - E[R]^2`, with as many digits as the subtraction needs. The
/// computation takes about as long as computing a few rates with twice as many probes.
///
/// ```
/// use truebloom_math::{Variant, rate_moments};
/// let moments = rate_moments(Variant::Standard, 959, 100, 7)?;
/// // With 100 items, the standard deviation of the rate is an eighth of its mean.
/// assert!((moments.variance.sqrt() / moments.mean.value - 0.125).abs() < 0.01);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn rate_moments(variant: Variant, bits: u64, items: u64, probes: u32) -> Result<RateMoments> {
    let _work = work::begin();
    variant.check(bits, probes)?;
    if items == 0 {
        return Ok(RateMoments { mean: Fpr::ZERO, second: Fpr::ZERO, variance: 0.0, mixed: 0.0 });
    }
    let full = bits == 1 || variant != Variant::Standard && u64::from(probes) == bits;
    if full {
        return Ok(RateMoments { mean: Fpr::ONE, second: Fpr::ONE, variance: 0.0, mixed: 0.0 });
    }
    // In this case, the filter is so full that the probability of a negative answer is too small
    // for an f64. The variance and `mixed` are at most E[1 - R].
    if ln_complement_bound(variant, bits, items, probes) < -760.0 {
        let almost = Fpr { lower: 1f64.next_down(), ln_lower: -1e-300, ..Fpr::ONE };
        return Ok(RateMoments { mean: almost, second: almost, variance: 0.0, mixed: 0.0 });
    }
    let mean = || variant.expected(bits, items, probes);
    let second = || second_moment(variant, bits, items, probes);
    // After one throw, or one set of distinct bits, the rate is not random.
    let certain = items == 1 && (variant != Variant::Standard || probes == 1);
    let variance = if certain { 0.0 } else { Difference { whole: second(), part: Power { base: mean()?, exponent: 2 } }.fpr()?.value };
    let mixed = Difference { whole: mean()?, part: second() }.fpr()?.value;
    Ok(RateMoments { mean: mean()?.fpr()?, second: second().fpr()?, variance, mixed })
}

/// Returns the mean and the variance of the number of hits (false positives) among `queries` new
/// keys in one filter with `items` items. None of the new keys was inserted. Both the filter and
/// the new keys are random.
///
/// The mean and the variance are computed from [`rate_moments`]. With one query, the variance is
/// `p (1 - p)`, where p is the expected rate.
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn false_positives(variant: Variant, bits: u64, items: u64, probes: u32, queries: u64) -> Result<Hits> {
    let _work = work::begin();
    if queries > 1 << 62 {
        return out_of_range("queries", queries, "at most 2^62");
    }
    let moments = rate_moments(variant, bits, items, probes)?;
    let q = queries as f64;
    Ok(Hits { queries, mean: q * moments.mean.value, variance: q * moments.mixed + q * q * moments.variance })
}

/// The second moment `E[R^2]`, for at least one item and a filter that is not always full.
fn second_moment(variant: Variant, bits: u64, items: u64, probes: u32) -> Box<dyn Enclose> {
    let query = Query::Independent;
    match variant {
        Variant::Standard => Box::new(Mixture {
            positions: Positions::Draws(2 * probes),
            filters: vec![Inclusion { query, placement: Items::Independent, bits, items, probes }],
        }),
        Variant::Classic => Box::new(Mixture {
            positions: Positions::TwoSets(probes),
            filters: vec![Inclusion { query, placement: Items::Distinct, bits, items, probes }],
        }),
        Variant::Partitioned => {
            let slice = |(bits, count): (u64, u32)| {
                let throws = Inclusion { query, placement: Items::Independent, bits, items, probes: 1 };
                let base = Mixture { positions: Positions::Draws(2), filters: vec![throws] };
                Box::new(Power { base, exponent: count.into() }) as Box<dyn Enclose>
            };
            let sizes = Slices { bits, items, probes }.sizes();
            // A slice of one bit is full after one item, so its factor is 1.
            Box::new(ProductOf(sizes.into_iter().filter(|&(size, count)| size > 1 && count > 0).map(slice).collect()))
        }
    }
}
