//! Filters that are emptied after a fixed number of items (Dozier, Salamatian and Rubenstein,
//! sections I and III).

use super::fills::Fills;
use super::{Bracket, Result};
use crate::error::{check_bits, check_probes, out_of_range};
use crate::exact::work;
use crate::{Fpr, Method, Variant};
use alloc::vec;

/// Says which rate is computed for a filter that is emptied after N items. This also determines
/// which items count towards N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Counting {
    /// The rate just after the last of N new items, when the filter is fullest. Dozier et al. call
    /// it f_w. All new items count towards N, even new items that are wrongly reported as seen.
    Worst,
    /// The false-positive rate, averaged over the first N new items of a cycle. Dozier et al. call
    /// it f_o. All new items count towards N, even new items that are wrongly reported as seen. To
    /// be emptied after exactly N new items, a filter would have to know which items are really
    /// new.
    Oracle,
    /// The false-positive rate, averaged over all new items of a cycle. Dozier et al. call it f_a.
    /// The cycle ends when N items have each set at least one bit. An item that sets no bit is
    /// reported as seen, so a user of the filter cannot count it.
    Real,
}

impl core::str::FromStr for Counting {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Counting> {
        match text {
            "worst" => Ok(Counting::Worst),
            "oracle" => Ok(Counting::Oracle),
            "real" => Ok(Counting::Real),
            _ => out_of_range("kind", text, "worst, oracle or real"),
        }
    }
}

/// The rate of a filter that is emptied after N items. [`Counting`] says which rate this is, and
/// which items count towards N.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NBounded {
    /// The exact rate. For [`Counting::Worst`], it is computed by the formula for the standard
    /// filter. For the other rates, it is computed by a Markov chain over the number of set bits.
    pub fpr: Fpr,
    /// The rate according to the formula of Dozier, Salamatian and Rubenstein, which uses the
    /// textbook approximation. For [`Counting::Oracle`] and [`Counting::Real`], the formula assumes
    /// that the rate of the i-th new item is the textbook rate of a filter with i - 1 items. See
    /// D14 and D15 in docs/ERRATA.md.
    pub printed: f64,
    /// The expected number of new items in a cycle.
    pub arrivals: Bracket,
    /// The probability that a cycle never ends. It is above 0 only with [`Counting::Real`]: all
    /// bits can become set before N items have each set a new bit, and then the cycle never ends.
    /// The rate and the number of arrivals are averages over the cycles that end.
    pub stuck: f64,
}

/// Returns the long-run rate of a standard filter that is emptied after `items` items. The filter
/// has `bits` bits and `probes` probes per item.
///
/// For [`Counting::Worst`], the rate is exact at any size. For the other kinds of [`Counting`], the
/// distribution of the number of set bits is computed item by item. This takes time O(items x
/// probes x width). Here, width is the count of those numbers of set bits whose probability is not
/// negligible. If this would take more than 6e7 steps, the function fails with
/// [`Error::TooLong`](crate::Error::TooLong). The brackets include all rounding errors.
///
/// ```
/// use truebloom_math::recycling::{Counting, n_bounded};
/// let real = n_bounded(1_000, 5, 150, Counting::Real)?;
/// assert_eq!(format!("{:.12} {:.12}", real.fpr.value, real.printed), "0.009066364784 0.008875439258");
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if `bits` or `probes` is out of range, or if `items` is 0.
pub fn n_bounded(bits: u64, probes: u32, items: u64, counting: Counting) -> Result<NBounded> {
    let _work = work::begin();
    check_bits(bits)?;
    check_probes(probes)?;
    if items == 0 {
        return out_of_range("items", items, "at least 1");
    }
    let certain = Bracket { value: items as f64, lower: items as f64, upper: items as f64, method: Method::Exact };
    match counting {
        Counting::Worst => {
            let fpr = Variant::Standard.fpr(bits, items, probes)?;
            Ok(NBounded { fpr, printed: textbook(bits, items, probes), arrivals: certain, stuck: 0.0 })
        }
        Counting::Oracle => {
            let walk = averaged(bits, probes, items, false)?;
            let fpr = rate(walk.passed / items as f64, walk.error, walk.missed / items as f64);
            Ok(NBounded {
                fpr,
                printed: (0..items).map(|i| textbook(bits, i, probes)).sum::<f64>() / items as f64,
                arrivals: certain,
                stuck: 0.0,
            })
        }
        Counting::Real => {
            let walk = averaged(bits, probes, items, true)?;
            let more: f64 = (0..items).map(|i| textbook(bits, i, probes)).map(|f| f / (1.0 - f)).sum();
            let (passed, kept) = (walk.passed, items as f64);
            let arrivals = Bracket {
                value: kept + passed,
                lower: (kept + passed * (1.0 - walk.error)).next_down(),
                upper: (kept + passed * (1.0 + walk.error) + walk.missed).next_up(),
                method: Method::Exact,
            };
            let fpr = rate(passed / (kept + passed), 2.0 * walk.error, walk.missed);
            Ok(NBounded { fpr, printed: more / (kept + more), arrivals, stuck: walk.stuck })
        }
    }
}

/// The textbook formula (1), `(1 - (1 - 1/m)^(nk))^k`.
fn textbook(bits: u64, items: u64, probes: u32) -> f64 {
    let k = f64::from(probes);
    let empty = items as f64 * k * if bits == 1 { f64::NEG_INFINITY } else { libm::log1p(-1.0 / bits as f64) };
    if items == 0 { 0.0 } else { libm::pow(-libm::expm1(empty), k) }
}

fn rate(value: f64, relative: f64, missed: f64) -> Fpr {
    let (lower, upper) = ((value * (1.0 - relative)).next_down().max(0.0), (value * (1.0 + relative) + missed).next_up().min(1.0));
    let value = value.clamp(lower, upper);
    let (ln_lower, ln, ln_upper) = (libm::log(lower).next_down(), libm::log(value), libm::log(upper).next_up().min(0.0));
    Fpr { value, lower, upper, ln, ln_lower, ln_upper, method: Method::Exact }
}

struct Averaged {
    /// The expected number of items that pass in a cycle, over all cycles that end.
    passed: f64,
    /// A bound on the relative error of `passed`.
    error: f64,
    /// An upper bound on the amount that the dropped probabilities could add to `passed`.
    missed: f64,
    stuck: f64,
}

/// Computes averages over the fill before each of the first `items` items. With `that_set`, only
/// items that set a bit count. On average, `rho / (1 - rho)` other items pass before each of them.
fn averaged(bits: u64, probes: u32, items: u64, that_set: bool) -> Result<Averaged> {
    let mut fills = Fills::new(bits, probes, false, vec![1.0], 1e-200);
    let (mut passed, mut stuck) = (0.0, 0.0);
    for item in 0..items {
        if item > 0 {
            if that_set { fills.item_that_sets()? } else { fills.item()? }
        }
        if that_set {
            stuck += fills.overflow(bits - 1);
            passed += fills.mean(|ones| fills.odds(ones));
        } else {
            passed += fills.mean(|ones| fills.passing(ones));
        }
    }
    let k = f64::from(probes);
    // A hash has at most 6 roundings, weights and means have at most 8 k more, and sums have one
    // per state that is not dropped.
    let roundings = items as f64 * (6.0 * k + 8.0) + 16.0 * k + libm::sqrt(bits as f64) * 64.0 + 64.0;
    // Computed from the smaller of the two probabilities, which keeps all digits.
    let alive = if stuck < 0.5 { 1.0 - stuck } else { fills.mean(|_| 1.0) };
    let mut dropped = fills.dropped;
    if stuck > 0.0 {
        (passed, dropped) = passed_unstuck(bits, probes, items)?;
    }
    // If a filter has an empty bit, an item sets a bit with a probability of at least 1/m.
    let missed = dropped * bits as f64 * items as f64 / alive.max(1e-300);
    Ok(Averaged { passed: passed / alive.max(1e-300), error: 2.0 * roundings * f64::EPSILON, missed, stuck })
}

/// Returns two numbers. The first is the expected number of items that pass in a cycle, over all
/// cycles that end, multiplied by the probability that a cycle ends. The second is the total
/// probability that was dropped. The function tracks the number of passed items for each state.
/// This is necessary because in a cycle that will not end, more items have already passed than in
/// other cycles.
fn passed_unstuck(bits: u64, probes: u32, items: u64) -> Result<(f64, f64)> {
    let mut fills = Fills::new(bits, probes, false, vec![1.0], 1e-200);
    let mut passed = Fills::new(bits, probes, false, vec![0.0], 1e-200);
    for item in 0..items {
        if item > 0 {
            for law in [&mut fills, &mut passed] {
                law.item_that_sets()?;
                law.overflow(bits - 1);
            }
        }
        passed.add(&fills, |ones| fills.odds(ones));
    }
    Ok((passed.mean(|_| 1.0), fills.dropped + passed.dropped))
}
