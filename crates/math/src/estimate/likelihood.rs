//! The most likely number of items.

use super::items_by_moments;
use crate::exact::work;
use crate::occupancy::contour::{Contour, MAX_THROWS};
use crate::occupancy::tails::{Tail, of_stretch};
use crate::occupancy::thinning::{self, Budget, Precision, too_costly};
use crate::{Result, Variant, try_bisect};

/// The largest number of terms of a recurrence over the items of a classic filter. Computing this
/// many terms takes a few tenths of a second.
const WALK_TERMS: f64 = 1e8;

/// Returns the maximum-likelihood estimate of the number of items in a filter with `ones` set bits.
/// If several numbers of items are equally likely, the result is the smallest. The result is `None`
/// for a full filter, because its likelihood grows with every item.
///
/// For the standard filter, the likelihood has a single peak, and bisection finds it. This takes a
/// few hundred microseconds if `items * probes` is at most 2^53. For the classic filter, the search
/// tries increasing numbers of items. It ends when no larger number can be more likely.
///
/// Burns gives one formula (equation 46) for both this estimate and the method-of-moments estimate
/// ([`items_by_moments`](super::items_by_moments)). In fact, the two estimates differ by a few
/// thousandths of an item. In small filters, the difference is larger.
///
/// ```
/// use truebloom_math::{Variant, items_by_likelihood};
/// assert_eq!(items_by_likelihood(Variant::Standard, 1_024, 7, 512)?, Some(101));
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`items_by_moments`]. Also fails with
/// [`Error::LawTooCostly`](crate::Error::LawTooCostly) if the search would take too long, which
/// happens for large classic filters.
pub fn items_by_likelihood(variant: Variant, bits: u64, probes: u32, ones: u64) -> Result<Option<u64>> {
    let _work = work::begin();
    let Some(moments) = items_by_moments(variant, bits, probes, ones)? else { return Ok(None) };
    if ones == 0 {
        return Ok(Some(0));
    }
    match variant {
        // The search is not started if it would need too many terms. Every item takes at least one
        // row of terms.
        Variant::Classic if moments * thinning::row_length(probes.into()) * (1.0 + 2.0 * libm::sqrt(moments)) > WALK_TERMS => {
            Err(too_costly(bits))
        }
        Variant::Classic => classic(bits, probes, ones),
        _ => standard(bits, probes, ones, moments),
    }
    .map(Some)
}

fn standard(bits: u64, probes: u32, ones: u64, moments: f64) -> Result<u64> {
    let ln = |items: u64| {
        let throws = u128::from(items) * u128::from(probes);
        Contour::new(bits, throws).map(|contour| contour.ln_probability(ones)).ok_or_else(|| too_costly(bits))
    };
    let least = ones.div_ceil(u64::from(probes));
    let most = (MAX_THROWS / u128::from(probes)) as u64;
    if least >= most {
        return Err(too_costly(bits));
    }
    // Searches for the first number of items n for which n + 1 is not more likely than n. This is
    // true for all n far above the moment estimate.
    let (mut low, mut high) = (least, least.max((2.0 * moments) as u64 + 4).min(most - 1));
    while ln(high + 1)? > ln(high)? && high < most - 1 {
        low = high + 1;
        high = high.saturating_mul(2).min(most - 1);
    }
    try_bisect(low..=high, |items| Ok(ln(items + 1)? <= ln(items)?))
}

fn classic(bits: u64, probes: u32, ones: u64) -> Result<u64> {
    let (mut best, mut likelihood) = (0, 0.0);
    let budget = Budget { precision: Precision::Single, floor: 1e-100, terms: WALK_TERMS };
    thinning::walk(bits, 0, probes.into(), &budget, |items, law| {
        let law = law();
        let here = ones.checked_sub(law.first).and_then(|i| law.probabilities.get(i as usize)).copied().unwrap_or(0.0);
        // A later number replaces the best only if it is more likely by more than the rounding
        // errors.
        if here > likelihood * (1.0 + 4.0 * law.relative) {
            (best, likelihood) = (items, here);
        }
        of_stretch(&law, Tail::AtMost(ones)).upper >= likelihood || likelihood == 0.0
    })?;
    Ok(best)
}
