//! The memory needed to remember a given number of items.

use super::capacity::{Kept, Search};
use super::forgetting::MANY_CALLS;
use super::{Design, Mode, Phases, Result, SizedDesign, Trigger};
use crate::error::out_of_range;
use crate::exact::work;
use crate::{Rate, try_bisect};

/// Returns a small design with a long-run rate of at most `rate`. After `items` more new items, it
/// still remembers an item, except for a share `forgotten` of the items. The result is `None` above
/// 2^62 bits.
///
/// With `forgotten` = 0, an item is guaranteed to be remembered for that long. Only two phases that
/// keep the trigger can guarantee this: with any hashes, they hold at least `floor(sigma / probes)`
/// items that came after the item. For `forgotten` above 0, the probability is that of
/// [`super::Forgetting::probability`]. One phase forgets a share of about `items / E[N]`, so it
/// needs a cycle of `items / forgotten`. Two phases need a phase of slightly more than
/// `items / (1 + forgotten)`. This difference decides whether one or two phases need less memory.
///
/// The search uses [`min_bits`](super::min_bits). Every design that is returned satisfies both
/// conditions, but a slightly smaller one (with other probes, or with a few thousandths fewer
/// items) may satisfy them, too. The search takes at most about a second, and then ends with the
/// best result so far.
///
/// ```
/// use truebloom_math::recycling::{Mode, remember};
/// let rate = "0.001".parse()?;
/// let certain = remember(1_000, 0.0, &rate, Mode::two_phase())?.expect("a design");
/// assert_eq!(certain.design.forgetting()?.probability(1_000).value, 0.0);
/// let nearly = remember(1_000, 0.01, &rate, Mode::two_phase())?.expect("a design");
/// let one = remember(1_000, 0.01, &rate, Mode::default())?.expect("a design");
/// assert!(nearly.design.total_bits() < certain.design.total_bits() && certain.design.total_bits() < one.design.total_bits());
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails as [`min_bits`](super::min_bits) does, and also in three cases. `items` is 0 or above
/// 10^15. `forgotten` is neither 0 nor from 1e-6 to below 1. `forgotten` is 0, and the mode does
/// not have two phases that keep the trigger.
pub fn remember(items: u64, forgotten: f64, rate: &Rate, mode: Mode) -> Result<Option<SizedDesign>> {
    let _work = work::begin();
    remembering(items, forgotten, rate, Kept::Average, mode)
}

/// Like [`remember()`], but `rate` bounds the worst rate instead of the average (see
/// [`worst_capacity`](super::worst_capacity)).
///
/// # Errors
/// Fails as [`remember()`] does.
pub fn worst_remember(items: u64, forgotten: f64, rate: &Rate, mode: Mode) -> Result<Option<SizedDesign>> {
    let _work = work::begin();
    remembering(items, forgotten, rate, Kept::Worst, mode)
}

fn remembering(items: u64, forgotten: f64, rate: &Rate, kept: Kept, mode: Mode) -> Result<Option<SizedDesign>> {
    if !(1..=1_000_000_000_000_000).contains(&items) {
        return out_of_range("items", items, "from 1 to 10^15");
    }
    if forgotten == 0.0 {
        if mode.phases != Phases::Two(Trigger::Included) {
            return out_of_range("forgotten", forgotten, "above 0, except for two phases that keep the trigger");
        }
        return certain(items, rate, kept, mode);
    }
    if !(1e-6..1.0).contains(&forgotten) {
        return out_of_range("forgotten", forgotten, "0, or from 1e-6 to below 1");
    }
    mostly(items, forgotten, &Search::new(rate, kept, mode)?, mode)
}

/// Tries the numbers of probes that need at most 3% more bits than the best in the limit of many
/// bits, each with the smallest sigma that holds the items.
fn certain(items: u64, rate: &Rate, kept: Kept, mode: Mode) -> Result<Option<SizedDesign>> {
    let search = Search::new(rate, kept, mode)?;
    let bits = |probes: u32| f64::from(probes) * items as f64 / search.loads()[probes as usize - 1];
    let most = search.loads().len() as u32;
    let least = (1..=most).map(bits).fold(f64::INFINITY, f64::min);
    let mut best: Option<Design> = None;
    for probes in (1..=most).filter(|&probes| items < 100 || bits(probes) < 1.03 * least) {
        let found = just_holding(items, probes, bits(probes), &search, mode)?;
        if let Some(design) = found.filter(|design| best.is_none_or(|best| design.bits() < best.bits())) {
            best = Some(design);
        }
    }
    best.map(|design| Ok(SizedDesign { design, run: design.long_run()? })).transpose()
}

/// The smallest number of bits for a fixed sigma. More bits lower the rate, so it is found by
/// bisection.
fn just_holding(items: u64, probes: u32, guess: f64, search: &Search<'_>, mode: Mode) -> Result<Option<Design>> {
    let k = u64::from(probes);
    let sigma = k * items;
    let most = crate::MAX_BITS / 2;
    let mut low = sigma + k;
    if guess > 0.5 * most as f64 || low >= most {
        return Ok(None);
    }
    let meets = |bits: u64| search.meets(&Design::new(bits, probes, sigma, mode)?);
    let mut high = (guess as u64).max(low + 1);
    let mut step = 1;
    if meets(high)? {
        while high > low + step {
            if !meets(high - step)? {
                low = high - step;
                break;
            }
            (high, step) = (high - step, 2 * step);
        }
    } else {
        while {
            (low, high, step) = (high, high + step, 2 * step);
            high <= most && !meets(high)?
        } {}
        if high > most {
            return Ok(None);
        }
    }
    Design::new(try_bisect(low + 1..=high, meets)?, probes, sigma, mode).map(Some)
}

/// A number of items that exceeds any memory.
const MOST_ITEMS: f64 = 1e17;

/// Lengthens the cycle until the forgotten share is small enough, and then shortens it again, to
/// within a thousandth.
fn mostly(items: u64, forgotten: f64, search: &Search<'_>, mode: Mode) -> Result<Option<SizedDesign>> {
    let wanted = items as f64 + 1.0;
    let first = match mode.phases {
        Phases::One => wanted / forgotten,
        Phases::Two(_) => wanted / (1.0 + forgotten),
    };
    let enough = |mean: f64| -> Result<Option<SizedDesign>> {
        if mean > MOST_ITEMS {
            return Ok(None);
        }
        let Some(found) = search.min_bits(mean)? else { return Ok(None) };
        // Counts the steps of the long run of the design, and those of its cycle.
        search.spend(2.0 * found.design.steps_of_long_run()?);
        let chance = found.design.forgetting_within(MANY_CALLS)?.probability(items).value;
        Ok((chance <= forgotten).then_some(found))
    };
    let (mut low, mut high, mut step) = (0.99 * first, first, 2e-3 * first);
    let mut found = loop {
        match enough(high)? {
            Some(found) => break found,
            None if high > MOST_ITEMS || high > 64.0 * first => return Ok(None),
            None => (low, high, step) = (high, high + step, 2.0 * step),
        }
    };
    while high - low > 1e-3 * high && !search.is_spent() {
        let middle = (low + high) / 2.0;
        match enough(middle)? {
            Some(smaller) => (found, high) = (smaller, middle),
            None => low = middle,
        }
    }
    Ok(Some(found))
}
