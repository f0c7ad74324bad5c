//! Simulations of recycling filters on a stream of items. The simulations check the models
//! independently, and provide rates for which no exact law is known.

use super::simulated::Filter;
use super::stream::{Arrival, Arriving, Stream};
use super::{Bracket, Design, Mode, Phases, Result, Trigger};
use crate::Method;
use crate::error::out_of_range;
use crate::exact::random::SplitMix64;
use crate::tails::binomial::interval;
use alloc::vec;
use alloc::vec::Vec;

/// The results of a simulated run, each with a 99% interval ([`Method::Simulation`]). The run is
/// divided into 64 parts of equal length. The intervals are computed from the variation between
/// these parts. If a count is small, a second, exact interval is computed as well. The interval of
/// the result then contains both intervals.
///
/// A *first arrival* is an arrival of an item that no filter holds at this moment. It is a *false
/// positive* if the filter reports the item as seen. A later arrival of the item counts as a repeat
/// of this first arrival, as long as a filter still holds the item. Dozier, Salamatian and
/// Rubenstein use these terms (section II-E).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulated {
    /// The number of first arrivals that are false positives, divided by the number of first
    /// arrivals. Dozier et al. call this rate count-instance.
    pub instance: Bracket,
    /// The number of first arrivals that are false positives, divided by the number of all
    /// arrivals. Dozier et al. call this rate count-first.
    pub first: Bracket,
    /// The share of all arrivals that are false-positive first arrivals, or repeats of such an
    /// arrival. Dozier et al. call this rate count-each.
    pub each: Bracket,
    /// The mean number of new items per cycle. Here, an item is new if it is not in the active
    /// filter when it arrives. A new item is counted even if the filter wrongly reports it as seen.
    pub items_per_cycle: Bracket,
    /// The share of repeats that came after the filter had forgotten the item. A repeat is an
    /// arrival of an item that has arrived before. The share is 0 if no item repeats.
    pub forgotten: Bracket,
}

/// The number of parts of the run from which an interval is computed.
const STRETCHES: usize = 64;

/// The 99.5% point of Student's distribution with 63 degrees of freedom.
const STUDENT: f64 = 2.656;

/// A recycling filter that can be simulated.
pub trait Subject {
    /// Queries the filter for an item and inserts the item. Returns whether the item was reported
    /// as seen.
    fn offer(&mut self, item: u64) -> bool;

    /// Returns the number of recycles so far.
    fn cycles(&self) -> u64;
}

/// Simulates every bit of a filter of this design, for `arrivals` items of a stream. Before these
/// items, the simulation runs another `arrivals / 10` items that are not counted.
///
/// Positions are uniform and come from SplitMix64, a generator that never changes. So the same seed
/// gives the same run on every machine. Items get new positions in every cycle, with two
/// exceptions. Both exceptions apply only if all cycles use the same seed
/// ([`Seeds::Kept`](super::Seeds::Kept)). With two phases, every item keeps its positions in all
/// cycles. With `retaining`, the retained item keeps its positions in the next cycle.
///
/// The simulation takes time O(probes x arrivals) and memory O(bits + population). Here, population
/// is the number of items from which the stream draws.
///
/// ```
/// use truebloom_math::recycling::{Design, Mode, Stream, simulate};
/// let design = Design::new(1_000, 4, 300, Mode::default())?;
/// let seen = simulate(&design, Stream::New, 1_000_000, 1)?;
/// let exact = design.long_run()?.fpr.value;
/// assert!(seen.instance.lower < exact && exact < seen.instance.upper);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if `arrivals` is below 6,400, if the filters have more than 2^28 bits in total, or if a
/// parameter of `stream` is out of range. A population has at most 2^26 items.
pub fn simulate(design: &Design, stream: Stream, arrivals: u64, seed: u64) -> Result<Simulated> {
    simulate_subject(&mut Filter::new(*design, seed)?, design.mode(), stream, arrivals, seed)
}

/// Returns the filter that [`simulate()`] simulates. If `most_items` is `Some(n)`, a cycle also
/// ends once n of its items have changed at least one bit.
///
/// # Errors
/// Fails if there are more than 2^28 bits.
pub fn subject(design: &Design, most_items: Option<u64>, seed: u64) -> Result<impl Subject + use<>> {
    Filter::counted(*design, most_items.unwrap_or(u64::MAX), seed)
}

/// Like [`simulate()`], but with any filter that implements [`Subject`]. The simulation uses only
/// three settings of `mode`: whether there are one or two phases, the [`Trigger`], and `retaining`.
/// From these settings, the simulation derives which items the filter must remember after each
/// recycle.
///
/// # Errors
/// Fails as [`simulate`](simulate()) does.
pub fn simulate_subject(subject: &mut (impl Subject + ?Sized), mode: Mode, stream: Stream, arrivals: u64, seed: u64) -> Result<Simulated> {
    if arrivals < 100 * STRETCHES as u64 {
        return out_of_range("arrivals", arrivals, "at least 6400");
    }
    let mut arriving = Arriving::new(stream)?;
    let mut truth = Truth { mode, cycle: FIRST, past: vec![Past::default(); arriving.population()] };
    let mut random = SplitMix64::new(seed);
    let mut run = |arrivals: u64| {
        let mut tally = Tally::default();
        (0..arrivals).for_each(|_| truth.arrive(subject, arriving.draw(&mut random), &mut tally));
        tally
    };
    run(arrivals / 10);
    let tallies: Vec<Tally> = (0..STRETCHES).map(|_| run(arrivals / STRETCHES as u64)).collect();
    Ok(Simulated {
        instance: share(&tallies, |t| t.passed, |t| t.first, Counted::Trials),
        first: share(&tallies, |t| t.passed, |t| t.all, Counted::Trials),
        each: share(&tallies, |t| t.each, |t| t.all, Counted::Groups),
        items_per_cycle: share(&tallies, |t| t.entered, |t| t.cycles, Counted::Lengths),
        forgotten: share(&tallies, |t| t.forgotten, |t| t.repeats, Counted::Groups),
    })
}

/// The kind of a count. The kind determines which exact interval is used for small counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// Arrivals, each of which is a false positive with its own probability. The number of false
    /// positives is at least as concentrated as with equal probabilities (Hoeffding 1956), so the
    /// binomial interval holds.
    Trials,
    /// Arrivals that are counted in groups, such as all arrivals that belong to a false positive.
    /// Only the parts of the run are independent of each other. The share in each part is between 0
    /// and 1.
    Groups,
    /// Numbers of items divided by numbers of cycles. Exactly one item ends each cycle, and the
    /// lengths of cycles vary less than if each item were equally likely to end its cycle.
    Lengths,
}

/// The largest number of hits or misses for which an exact interval is computed in addition to the
/// usual one.
const FEW: u64 = 100;

/// The largest number of parts with hits for which an exact interval is computed, if arrivals are
/// counted in groups.
const FEW_STRETCHES: u64 = 20;

/// Returns a ratio of sums over the parts of the run, with the usual interval for a ratio. If
/// counts are small, or all parts agree, an exact interval is computed as well. The result then
/// contains both intervals.
fn share(tallies: &[Tally], part: impl Fn(&Tally) -> u64, whole: impl Fn(&Tally) -> u64, counted: Counted) -> Bracket {
    let sum = |of: &dyn Fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let (parts, wholes) = (sum(&part), sum(&whole));
    let method = Method::Simulation;
    if wholes == 0 {
        let (lower, upper) = if counted == Counted::Lengths { length(parts, 0) } else { (0.0, 1.0) };
        return Bracket { value: 0.0, lower: lower.min(0.0), upper, method };
    }
    let (value, n) = (parts as f64 / wholes as f64, tallies.len() as f64);
    let squares: f64 = tallies.iter().map(|t| part(t) as f64 - value * whole(t) as f64).map(|rest| rest * rest).sum();
    let error = STUDENT * libm::sqrt(squares * n / (n - 1.0)) / wholes as f64;
    let some = tallies.iter().filter(|t| part(t) > 0).count() as u64;
    let few = squares == 0.0
        || parts.min(wholes) <= FEW
        || counted != Counted::Lengths && wholes - parts <= FEW
        || counted == Counted::Groups && some <= FEW_STRETCHES;
    let (lower, upper) = match counted {
        _ if !few => (value, value),
        Counted::Trials => interval(parts, wholes, CONFIDENCE),
        Counted::Groups => (0.0, interval(some, tallies.len() as u64, CONFIDENCE).1),
        Counted::Lengths => length(parts, wholes),
    };
    Bracket { value, lower: (value - error).max(0.0).min(lower), upper: (value + error).max(upper), method }
}

/// Returns the interval for the number of items per cycle, computed from the numbers of items and
/// cycles.
fn length(items: u64, cycles: u64) -> (f64, f64) {
    let (least, most) = interval(cycles.min(items), items, CONFIDENCE);
    (1.0 / most, 1.0 / least)
}

/// The confidence of all intervals in this file.
const CONFIDENCE: f64 = 0.99;

#[derive(Clone, Copy, Default)]
struct Tally {
    all: u64,
    first: u64,
    passed: u64,
    each: u64,
    entered: u64,
    cycles: u64,
    repeats: u64,
    forgotten: u64,
}

/// The cycle of the last arrival of an item, and whether its first arrival was a false positive.
#[derive(Clone, Copy, Default)]
struct Past {
    /// The number of the cycle whose filter holds the item. Cycles are numbered from 1; 0 means
    /// that the item has never come.
    cycle: u64,
    passed: bool,
}

/// The items that a filter must remember, derived only from the times of its recycles.
struct Truth {
    mode: Mode,
    cycle: u64,
    past: Vec<Past>,
}

impl Truth {
    fn arrive(&mut self, subject: &mut (impl Subject + ?Sized), Arrival { item, place, fresh: never_seen }: Arrival, tally: &mut Tally) {
        let past = self.past.get(place).copied().filter(|_| !never_seen).unwrap_or_default();
        let held = past.cycle == self.cycle || self.mode.has_two_phases() && past.cycle > 0 && past.cycle + 1 == self.cycle;
        let known = subject.offer(item);
        let passed = if held { past.passed } else { known };
        tally.all += 1;
        tally.repeats += u64::from(past.cycle > 0);
        tally.forgotten += u64::from(past.cycle > 0 && !held);
        tally.first += u64::from(!held);
        tally.passed += u64::from(!held && known);
        tally.each += u64::from(passed);
        // All items of this cycle are in the active filter, even if they set no bits.
        tally.entered += u64::from(past.cycle != self.cycle);
        let cycle = subject.cycles() + FIRST;
        tally.cycles += cycle - self.cycle;
        let holder = if cycle == self.cycle { cycle } else { self.holder_of_trigger(cycle) };
        self.cycle = cycle;
        if let Some(past) = self.past.get_mut(place) {
            *past = Past { cycle: holder, passed };
        }
    }

    /// Returns the number of the cycle whose filter holds the item that caused a recycle. The
    /// result is [`FORGOTTEN`] if no filter keeps this item.
    fn holder_of_trigger(&self, next: u64) -> u64 {
        match self.mode.phases {
            _ if self.mode.retaining => next,
            Phases::Two(Trigger::Included) => self.cycle,
            _ => FORGOTTEN,
        }
    }
}

/// The number of the first cycle; 0 stands for "never".
const FIRST: u64 = 1;

/// A cycle number that no cycle reaches, which marks items that no filter holds.
const FORGOTTEN: u64 = u64::MAX - 1;
