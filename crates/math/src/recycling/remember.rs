//! The memory needed to remember a given number of items.

use super::capacity::{Kept, Search};
use super::equal_hashes::leaving_room;
use super::forgetting::MANY_CALLS;
use super::{Design, Mode, Phases, Result, SizedDesign, Trigger};
use crate::error::out_of_range;
use crate::exact::work;
use crate::{Rate, try_bisect};

/// Searches for a small design that still remembers an item after `items` other new items have
/// come. The design may forget at most the fraction `forgotten` of all items too early. The
/// long-run rate of the design is at most `rate`. The result is `None` if more than 2^62 bits would
/// be needed.
///
/// If `forgotten` is 0, every item is guaranteed to be remembered until at least `items` more new
/// items have come. Only a mode with two phases and [`Trigger::Included`] can give this guarantee.
/// With such a mode, every item is remembered for at least `floor(sigma / probes)` more new items,
/// whatever the hashes are. Here, sigma is the recycle threshold.
///
/// If `forgotten` is above 0, it is the largest allowed probability that an item has been forgotten
/// by the time `items` other new items have come. This probability is the value of
/// [`Forgetting::probability`](super::Forgetting::probability). With one phase, a cycle must have
/// about `items / forgotten` items. With two phases, each phase needs only slightly more than
/// `items / (1 + forgotten)` items.
///
/// The search uses [`min_bits`](super::min_bits). The resulting design meets both `forgotten` and
/// `rate`, but may not be the smallest such design. There may be a slightly smaller design with
/// another number of probes, or with a slightly shorter cycle. After about a second, the search
/// ends and returns the best result so far.
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
/// Fails as [`min_bits`](super::min_bits) does. Also fails if `items` is 0 or above 10^15.
/// `forgotten` must be 0, or at least 1e-6 and below 1. If `forgotten` is 0, the mode must have two
/// phases with [`Trigger::Included`](super::Trigger::Included).
pub fn remember(items: u64, forgotten: f64, rate: &Rate, mode: Mode) -> Result<Option<SizedDesign>> {
    let _work = work::begin();
    leaving_room(rate, 0, |rate| remembering(items, forgotten, rate, Kept::Average, mode))
}

/// Like [`remember()`], but `rate` bounds the worst rate, and not the long-run average rate. See
/// [`worst_capacity`](super::worst_capacity).
///
/// # Errors
/// Fails as [`remember()`] does.
pub fn worst_remember(items: u64, forgotten: f64, rate: &Rate, mode: Mode) -> Result<Option<SizedDesign>> {
    let _work = work::begin();
    leaving_room(rate, 0, |rate| remembering(items, forgotten, rate, Kept::Worst, mode))
}

fn remembering(items: u64, forgotten: f64, rate: &Rate, kept: Kept, mode: Mode) -> Result<Option<SizedDesign>> {
    if !(1..=1_000_000_000_000_000).contains(&items) {
        return out_of_range("items", items, "from 1 to 10^15");
    }
    if forgotten == 0.0 {
        if mode.phases != Phases::Two(Trigger::Included) {
            return out_of_range("forgotten", forgotten, "above 0, unless there are two phases that include the trigger");
        }
        return certain(items, rate, kept, mode);
    }
    if !(1e-6..1.0).contains(&forgotten) {
        return out_of_range("forgotten", forgotten, "0, or from 1e-6 to below 1");
    }
    mostly(items, forgotten, &Search::new(rate, kept, mode)?, mode)
}

/// Returns the smallest design that guarantees to remember the items. The function tries every
/// number of probes that needs at most 3% more bits than the best one, in the limit of large
/// filters. For each of them, it uses the smallest sigma that guarantees to hold the items.
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

/// Returns the smallest design that has a low enough rate at the smallest sigma that guarantees to
/// hold `items` items. The search can use bisection, because more bits lower the rate.
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

/// A number of items that no memory can hold.
const MOST_ITEMS: f64 = 1e17;

/// Searches for the smallest design that forgets at most the fraction `forgotten` of the items. The
/// search lengthens the cycle until the fraction is small enough. It then finds the shortest cycle
/// for which this is so, to within a thousandth.
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
        // Counts the steps of the design's `long_run` twice: once for the search, and once for the
        // cycle.
        search.spend(2.0 * found.design.steps_of_long_run()?);
        let chance = found.design.forgetting_within(MANY_CALLS)?.probability(items).value;
        Ok((chance <= forgotten).then_some(found))
    };
    // Each try can take a large part of the work that is allowed, so the second one should succeed.
    let (mut low, mut high, mut step) = (0.99 * first, first, 2e-2 * first);
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
