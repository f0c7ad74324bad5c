//! The largest number of items that a given memory remembers at a given rate.

use super::equal_hashes::leaving_room;
use super::fluid::limit_rate;
use super::{Bracket, Design, LongRun, Mode, Result, Seeds};
use crate::error::{check_bits, out_of_range};
use crate::exact::bisect::bisect_reals;
use crate::exact::work;
use crate::{Error, Rate, try_bisect};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

/// A design found by a search, with its rates.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SizedDesign {
    /// The design. It has the best number of probes that the search found, and the best recycle
    /// threshold (`sigma`) for this number of probes.
    pub design: Design,
    /// The rates and the number of items of the design.
    pub run: LongRun,
}

/// Searches for the design that holds the most items per cycle, among all designs with `bits` bits
/// in total and a long-run rate of at most `rate`. With two phases, the search maximises the items
/// per phase. If several designs hold equally many items, the result is the design with the fewest
/// probes. (Two numbers of items are treated as equal if their relative difference is below 1e-11.)
/// With two phases, each filter has half of the bits; if `bits` is odd, one bit is not used. The
/// result is `None` if the search finds no design whose rate is low enough.
///
/// The filter is emptied when more than sigma of its bits are set. With a larger sigma, the filter
/// gets fuller, so its rate increases. Therefore the best sigma for a given number of probes is
/// found by bisection. It is proven that the rate increases with sigma, except for modes with all
/// of these settings: probes may collide, [`Mode::retaining`] is set, and the seeds are
/// [`Seeds::Kept`]. For these modes, an increase of the rate with sigma was observed, but not
/// proven. So for filters of at most 64 bits, the search tries every sigma.
///
/// To accept or reject a design, the search compares proven bounds on the design's rate with the
/// exact value of `rate`. For small designs, these bounds are computed with about twice the digits
/// of an `f64`. For large designs, these bounds have at most the precision of an `f64`. A design
/// whose bounds lie on both sides of `rate` is rejected, unless its rate is proven to be exactly
/// `rate`. This proof is possible only for filters of at most 16 bits.
///
/// The search tries every number of probes that is nearly best for a very large filter: with it,
/// such a filter holds at least 97% of the items that it could hold. For filters of up to 1,024
/// bits, it also tries other numbers of probes. If trying all of these would take too long, the
/// search leaves some of them out. There is no proof that the resulting design is the best one. For
/// small sizes, the results were checked against a search over all probe counts.
///
/// The search takes time O(probes x bits) for each probe count that it tries. For a million bits,
/// this is 0.2 seconds. If probes times sigma (the recycle threshold) is above a hundred thousand,
/// the search first computes bounds on the rate from integrals. This takes a few microseconds. To
/// decide whether a design meets the rate, the search needs the slower recursion over the numbers
/// of set bits only in three cases: `rate` is between these bounds, probes are distinct, or
/// [`Mode::retaining`] is set. A search ends after about a second with the best result so far. If
/// there is no result yet, the search fails with [`Error::TooLong`]. This can happen with hundreds
/// of probes and a few thousand bits.
///
/// ```
/// use truebloom_math::recycling::{Mode, capacity};
/// let best = capacity(1_000, &"0.01".parse()?, Mode::default())?.expect("a design");
/// assert_eq!((best.design.probes(), best.design.sigma()), (6, 606));
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// The upper end of the rate includes the probability that a new item has the same 128-bit hash as
/// an earlier item. This matters only at very low rates.
///
/// # Errors
/// Fails if `bits` is out of range, or if the rate is below 1e-300. Fails with
/// [`Error::EqualHashes`] if the upper bound on the probability of equal 128-bit hashes is above
/// half of `rate`.
pub fn capacity(bits: u64, rate: &Rate, mode: Mode) -> Result<Option<SizedDesign>> {
    let _work = work::begin();
    check_bits(bits / mode.filters())?;
    leaving_room(rate, bits, |rate| Search::new(rate, Kept::Average, mode)?.capacity(bits))
}

/// Like [`capacity()`], but `rate` bounds the *worst* rate ([`LongRun::worst`]), and not the
/// long-run average rate. If the stream was chosen without knowledge of the seeds, each new item is
/// wrongly reported as seen with a probability of at most `rate`. This holds whatever came before
/// the item. So the average over any such stream is at most `rate`, too.
///
/// In contrast, [`capacity()`] bounds only the average rate. With one phase, this bound holds on
/// every stream that was chosen without knowledge of the seeds. With two phases, the average rate
/// exceeds the bound on some of these streams. The *frozen* filter is the full filter of the
/// previous phase, and items are inserted into the *active* filter. If an item of the frozen filter
/// repeats, this item is inserted into the active filter, too. Such items may fill the active
/// filter before new items come. So on some streams, the average rate can come close to the worst
/// rate.
///
/// For two phases with the same seed, the worst rate is computed as if the set bits of the two
/// filters were independent.
///
/// ```
/// use truebloom_math::recycling::{Mode, capacity, worst_capacity};
/// let rate = "0.01".parse()?;
/// let (average, worst) = (capacity(1 << 20, &rate, Mode::two_phase())?, worst_capacity(1 << 20, &rate, Mode::two_phase())?);
/// let (average, worst) = (average.expect("a design").run, worst.expect("a design").run);
/// assert!(worst.worst.upper <= 0.01 && average.worst.lower > 0.017);
/// // The design that limits the worst rate holds about a tenth fewer items.
/// assert!(worst.items_per_cycle.value > 0.88 * average.items_per_cycle.value);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails as [`capacity()`] does.
pub fn worst_capacity(bits: u64, rate: &Rate, mode: Mode) -> Result<Option<SizedDesign>> {
    let _work = work::begin();
    check_bits(bits / mode.filters())?;
    leaving_room(rate, bits, |rate| Search::new(rate, Kept::Worst, mode)?.capacity(bits))
}

/// Searches for the smallest design whose long-run rate is at most `rate`, and that holds at least
/// `items` items per cycle on average. With two phases, `items` is the number of items per phase.
/// The result is `None` if more than 2^62 bits would be needed.
///
/// A filter with more bits can hold slightly fewer items, because sigma and the number of probes
/// are integers. So after a bisection, the search also tries smaller sizes. Up to 512 bits, the
/// search tries all smaller sizes. Up to a hundred thousand bits, the search tries 48 smaller
/// sizes; above a hundred thousand bits, it tries 12. With two phases, each size counts only one of
/// the two filters, so the total size is always even. Above 256 bits, the search ends at the first
/// size that is clearly too small. A size is clearly too small if even its best design cannot hold
/// enough items unless sigma is raised by more than four. For small filters, the results were
/// checked against a search over all sizes.
///
/// # Errors
/// Fails as [`capacity()`] does. Also fails if `items` is 0 or less, or above 1e18.
pub fn min_bits(items: f64, rate: &Rate, mode: Mode) -> Result<Option<SizedDesign>> {
    let _work = work::begin();
    leaving_room(rate, 0, |rate| Search::new(rate, Kept::Average, mode)?.min_bits(items))
}

/// Like [`min_bits`], but `rate` bounds the worst rate (see [`worst_capacity`]).
///
/// # Errors
/// Fails as [`min_bits`] does.
pub fn worst_min_bits(items: f64, rate: &Rate, mode: Mode) -> Result<Option<SizedDesign>> {
    let _work = work::begin();
    leaving_room(rate, 0, |rate| Search::new(rate, Kept::Worst, mode)?.min_bits(items))
}

/// The rate that is compared with the requested rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// The long-run average.
    Average,
    /// The rate in the fullest state.
    Worst,
}

/// The relative difference below which two numbers of items count as equal.
const SAME: f64 = 1e-11;

/// The largest number of bits for which the limit of large filters is not a useful guide for the
/// search.
const SMALL: u64 = 1_024;

/// The largest number of bits for which every sigma is tried if the rate is not proven to rise with
/// sigma.
const SCANNED: u64 = 64;

/// The largest number of steps of one search. This many steps take about a second.
const MOST_STEPS: f64 = 8e7;

/// The number of steps after which a search gives up if it has found nothing.
const MOST_STEPS_ALONE: f64 = 3e8;

/// The best design for a number of bits and probes, and its items per cycle, or `None` if there is
/// no such design.
type Found = Option<(Design, Bracket)>;

/// A search for designs with a given mode and rate. The search counts its steps.
pub(super) struct Search<'a> {
    rate: &'a Rate,
    kept: Kept,
    mode: Mode,
    /// For 1, 2, .. probes, the load (sigma divided by bits) at which a filter has the rate, in the
    /// limit of large filters. The list ends well above the best number of probes.
    loads: Vec<f64>,
    per_bit: Vec<f64>,
    most_per_bit: f64,
    steps: Cell<f64>,
    /// For each number of probes, the difference between the best sigma for the last size and the
    /// value predicted by the limit of large filters. This difference changes little from one size
    /// to the next.
    shifts: RefCell<BTreeMap<u32, i64>>,
    /// Earlier results, by number of bits and probes. Nested searches need the same sizes again.
    found: RefCell<BTreeMap<(u64, u32), Found>>,
    /// A search with a similar mode, for which the integrals are known. Its results serve as first
    /// guesses.
    near: Option<Box<Search<'a>>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(rate: &'a Rate, kept: Kept, mode: Mode) -> Result<Search<'a>> {
        let loads = limit_loads(rate, kept, mode)?;
        let per_bit: Vec<f64> = loads.iter().zip(1u32..).map(|(load, probes)| -libm::log1p(-load) / f64::from(probes)).collect();
        let most_per_bit = per_bit.iter().copied().fold(0.0, f64::max);
        let plain = Mode { colliding: true, retaining: false, seeds: Seeds::Renewed, ..mode };
        let near = if mode == plain { None } else { Some(Box::new(Search::new(rate, kept, plain)?)) };
        Ok(Search {
            near,
            rate,
            kept,
            mode,
            loads,
            per_bit,
            most_per_bit,
            steps: Cell::new(0.0),
            shifts: RefCell::default(),
            found: RefCell::default(),
        })
    }

    pub(super) fn capacity(&self, bits: u64) -> Result<Option<SizedDesign>> {
        let best = self.best(bits / self.mode.filters(), f64::INFINITY)?;
        best.map(|(design, _)| Ok(SizedDesign { design, run: design.long_run()? })).transpose()
    }

    /// Returns the design that holds the most items, with `each` bits in each filter. If the search
    /// finds a design that holds at least `enough` items, it returns the first such design instead.
    fn best(&self, each: u64, enough: f64) -> Result<Option<(Design, Bracket)>> {
        check_bits(each)?;
        let mut best: Option<(Design, Bracket)> = None;
        for probes in self.candidates(each) {
            if self.is_spent() && best.is_some() {
                break;
            }
            let Some((design, items)) = self.fullest_once(each, probes)? else { continue };
            let more = |(than, most): (Design, Bracket)| {
                items.value > most.value * (1.0 + SAME) || items.value >= most.value * (1.0 - SAME) && design.probes < than.probes
            };
            if best.is_none_or(more) {
                best = Some((design, items));
                if items.lower >= enough {
                    break;
                }
            }
        }
        Ok(best)
    }

    /// Like [`fullest`](Self::fullest), but also returns the number of items of the design, and
    /// caches the result.
    fn fullest_once(&self, bits: u64, probes: u32) -> Result<Option<(Design, Bracket)>> {
        if let Some(found) = self.found.borrow().get(&(bits, probes)) {
            return Ok(*found);
        }
        let found = match self.fullest(bits, probes)? {
            None => None,
            Some(design) => {
                self.spend(design.steps_nearly());
                Some((design, Bracket::from_enclosure(&design.nearly()?.items)))
            }
        };
        self.found.borrow_mut().insert((bits, probes), found);
        Ok(found)
    }

    /// Returns the probe counts that the search tries. Each of them may be the best.
    fn candidates(&self, bits: u64) -> impl Iterator<Item = u32> {
        // The number of items per cycle. If it is small, rounding items and set bits to whole
        // numbers matters.
        let items = self.most_per_bit * bits as f64;
        let slack = if bits <= EXHAUSTED {
            1.0
        } else if bits <= SMALL {
            (0.03 + 2.0 / items).min(1.0)
        } else {
            0.03
        };
        let worth = move |found: f64| found >= (1.0 - slack) * self.most_per_bit;
        let possible = move |probes: u32| self.mode.colliding || u64::from(probes) <= bits;
        let mut found: Vec<(u32, f64)> =
            (1u32..).zip(self.per_bit.iter().copied()).filter(|&(probes, found)| worth(found) && possible(probes)).collect();
        // The most promising numbers of probes come first, in case there is no time to try all of
        // them.
        if bits > EXHAUSTED {
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
            // A search for the smallest memory tries about forty sizes. If there are hundreds of
            // candidates, neighbours differ little, so only some of them are tried for each size.
            let steps: f64 = found.iter().map(|&(probes, _)| self.steps_of(bits, probes)).sum();
            let stride = libm::ceil(100.0 * steps / MOST_STEPS).clamp(1.0, (found.len() as f64 / 8.0).max(1.0)) as u32;
            let best = found.first().map_or(0, |&(probes, _)| probes);
            found.retain(|(probes, _)| probes.abs_diff(best) % stride == 0);
        }
        found.into_iter().map(|(probes, _)| probes)
    }

    /// Returns, for 1, 2, .. probes, the load at which a filter has the rate, in the limit of large
    /// filters.
    pub(super) fn loads(&self) -> &[f64] {
        &self.loads
    }

    /// The number of steps needed to decide whether one design meets the rate. The design has the
    /// sigma that the limit of large filters predicts.
    fn steps_of(&self, bits: u64, probes: u32) -> f64 {
        let sigma = (self.loads[probes as usize - 1] * bits as f64) as u64;
        Design::new(bits, probes, sigma.min(bits - 1), self.mode).map_or(0.0, |design| design.steps_nearly())
    }

    /// Whether the search has used up its steps. It should then return the best result so far.
    pub(super) fn is_spent(&self) -> bool {
        self.steps.get() > MOST_STEPS || work::is_third_spent()
    }

    pub(super) fn meets(&self, design: &Design) -> Result<bool> {
        if self.steps.get() > MOST_STEPS_ALONE {
            let what = "the search for the best design at this rate (a higher rate takes less, and so do probes that may collide)";
            return Err(Error::TooLong { what, steps: self.steps.get(), allowed: MOST_STEPS_ALONE });
        }
        let (meets, steps) = match self.kept {
            Kept::Average => design.meets(self.rate)?,
            Kept::Worst => {
                let k = f64::from(design.probes());
                (design.meets_at_worst(self.rate)?, k * (100.0 + k))
            }
        };
        self.spend(steps);
        Ok(meets)
    }

    pub(super) fn spend(&self, steps: f64) {
        self.steps.set(self.steps.get() + steps);
    }

    /// Returns the design with the largest sigma at which the rate is low enough. With few bits and
    /// at high rates, the frozen filter of such a design may become full (sigma + probes exceed
    /// bits). Such a design has a rate, but a `RecyclingFilter` cannot be created for it.
    fn fullest(&self, bits: u64, probes: u32) -> Result<Option<Design>> {
        let (k, mode) = (u64::from(probes), self.mode);
        let least = if mode.retaining { k } else { 0 };
        if least >= bits {
            return Ok(None);
        }
        let design = |sigma| Design::new(bits, probes, sigma, mode);
        let meets = |sigma| self.meets(&design(sigma)?);
        if mode.keeps_overflow() && bits <= SCANNED {
            for sigma in (least..bits).rev() {
                if meets(sigma)? {
                    return design(sigma).map(Some);
                }
            }
            return Ok(None);
        }
        let limit = (self.loads[probes as usize - 1] * bits as f64) as u64;
        let shift = self.shifts.borrow().get(&probes).copied().unwrap_or(0);
        let near = match &self.near {
            Some(near) if bits > SMALL => near.fullest(bits, probes)?.map(|design| design.sigma()),
            _ => None,
        };
        let guess = near.unwrap_or(limit.saturating_add_signed(shift)).clamp(least, bits - 1);
        let (low, high) = around(guess, least, bits, &meets)?;
        let low = try_bisect(low + 1..=high, |sigma| Ok(!meets(sigma)?))? - 1;
        // Both numbers are below 2^62, so their difference fits an `i64`.
        self.shifts.borrow_mut().insert(probes, low as i64 - limit as i64);
        if low == least && !meets(least)? {
            return Ok(None);
        }
        design(low).map(Some)
    }

    pub(super) fn min_bits(&self, items: f64) -> Result<Option<SizedDesign>> {
        if !(items > 0.0 && items <= 1e18) {
            return out_of_range("items", items, "above 0 and at most 1e18");
        }
        // The best design with this many bits in each filter, if it holds enough items. Otherwise,
        // the number of missing items, divided by the number of items that one more set bit would
        // allow.
        let enough = |each: u64| -> Result<core::result::Result<Design, f64>> {
            let Some((design, mut found)) = self.best(each, items)? else { return Ok(Err(f64::INFINITY)) };
            if found.lower < items && items <= found.upper {
                found = design.long_run()?.items_per_cycle;
            }
            // If the bracket cannot decide whether the design holds enough items, the design counts
            // as large enough.
            Ok(if found.upper >= items { Ok(design) } else { Err((items - found.upper) / items_of_a_bit(&design)) })
        };
        let most = crate::MAX_BITS / self.mode.filters();
        let guess = items / self.most_per_bit;
        if guess > 0.99 * most as f64 {
            return Ok(None);
        }
        let (mut low, mut high) = (0, guess as u64 + 1);
        let mut step = 1;
        let mut found = loop {
            match enough(high)? {
                Ok(found) => break found,
                Err(_) if high == most => return Ok(None),
                Err(_) => (low, high, step) = (high, (high + step).min(most), 2 * step),
            }
        };
        step = 1;
        while low == 0 && high > 1 && !self.is_spent() {
            let next = high.saturating_sub(step).max(1);
            match enough(next)? {
                Ok(smaller) => (found, high, step) = (smaller, next, 2 * step),
                Err(_) => low = next,
            }
        }
        while high - low > 1 && !self.is_spent() {
            let middle = low + (high - low) / 2;
            match enough(middle)? {
                Ok(smaller) => (found, high) = (smaller, middle),
                Err(_) => low = middle,
            }
        }
        let depth = match high {
            ..=512 => high,
            513..=100_000 => 48,
            _ => 12,
        };
        for each in (high.saturating_sub(depth).max(1)..high).rev() {
            if self.is_spent() {
                break;
            }
            match enough(each)? {
                Ok(smaller) => found = smaller,
                Err(short) if short > STEPS_BELOW && each > EXHAUSTED => break,
                Err(_) => {}
            }
        }
        // So far, `found` is the first design of its size that was found to hold enough items. If
        // there is time, it is replaced by the design of the same size that holds the most items.
        if !self.is_spent()
            && let Some((best, _)) = self.best(found.bits(), f64::INFINITY)?
        {
            found = best;
        }
        Ok(Some(SizedDesign { design: found, run: found.long_run()? }))
    }
}

/// The largest number of bits for which all numbers of probes and all smaller sizes are tried.
const EXHAUSTED: u64 = 256;

/// The search for smaller sizes ends at a size that would need a sigma that is higher by more than
/// this number to hold enough items.
const STEPS_BELOW: f64 = 4.0;

/// The number of items needed to set one more bit when sigma bits are set.
fn items_of_a_bit(design: &Design) -> f64 {
    let empty = (design.bits() - design.sigma()) as f64 / design.bits() as f64;
    1.0 / (f64::from(design.probes()) * empty)
}

/// The load (sigma divided by bits) at which filters have this rate, in the limit of large filters.
fn limit_load(probes: u32, rate: f64, kept: Kept, filters: u64) -> f64 {
    if kept == Kept::Worst {
        // In the worst state of two filters, both are equally full, and the rate is 2 rho - rho^2.
        let each = if filters == 1 { rate } else { rate / (1.0 + libm::sqrt(1.0 - rate)) };
        return libm::pow(each, 1.0 / f64::from(probes)).min(1.0 - f64::EPSILON);
    }
    bisect_reals(0.0, 1.0 - f64::EPSILON, 60, |load| limit_rate(probes, load, filters) >= rate).0
}

/// Returns, for 1, 2, .. probes, the load at which a filter has the rate, in the limit of large
/// filters. The list ends well above the best number of probes.
fn limit_loads(rate: &Rate, kept: Kept, mode: Mode) -> Result<Vec<f64>> {
    let p = rate.to_f64();
    if p < 1e-300 {
        return out_of_range("fpr", rate, "at least 1e-300 for a recycling filter");
    }
    let mut loads: Vec<f64> = Vec::new();
    let (mut best, mut most) = (0, 0.0);
    for probes in 1.. {
        // Sixty integrals of a few hundred terms each.
        work::spend("the search for the best number of probes at this rate", 60.0 * 300.0)?;
        let load = limit_load(probes, p, kept, mode.filters());
        let items = -libm::log1p(-load) / f64::from(probes);
        if items > most {
            (best, most) = (loads.len(), items);
        }
        loads.push(load);
        if loads.len() > 2 * best + 16 {
            break;
        }
    }
    Ok(loads)
}

/// Finds lower and upper bounds on the largest sigma that meets the rate. The search starts from a
/// guess, and doubles its steps. Returns two values of sigma: the first meets the rate or is
/// `least`, and the second does not meet it or is `end`.
fn around(guess: u64, least: u64, end: u64, meets: &impl Fn(u64) -> Result<bool>) -> Result<(u64, u64)> {
    let mut step = 1;
    if meets(guess)? {
        let mut low = guess;
        loop {
            let next = low.saturating_add(step);
            if next >= end || !meets(next)? {
                return Ok((low, next.min(end)));
            }
            (low, step) = (next, 2 * step);
        }
    }
    let mut high = guess;
    loop {
        let next = high.saturating_sub(step).max(least);
        if next == least || meets(next)? {
            return Ok((next, high.max(next + 1)));
        }
        (high, step) = (next, 2 * step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that the load in the limit of large filters has the requested rate. In the worst case,
    /// both filters of two phases are equally full, and the rate is `1 - (1 - rho)^2`.
    #[test]
    fn loads_of_the_limit_have_their_rate() {
        for probes in [1u32, 3, 10] {
            for rate in [0.9f64, 0.3, 0.01] {
                let each = |filters| limit_load(probes, rate, Kept::Worst, filters).powi(probes as i32);
                let (one, two) = (each(1), each(2));
                assert!((one - rate).abs() < 1e-9 && (1.0 - (1.0 - two) * (1.0 - two) - rate).abs() < 1e-9, "{probes} {rate}: {one} {two}");
                for filters in [1, 2] {
                    let load = limit_load(probes, rate, Kept::Average, filters);
                    let found = limit_rate(probes, load, filters);
                    assert!((found - rate).abs() < 1e-6, "{probes} {rate} {filters}: {load} {found}");
                }
            }
        }
    }
}
