//! Simulations of filters on a stream. They check the models independently, and give the rates for
//! which no exact law is known.

use super::simulated::Filter;
use super::stream::{Arrival, Arriving, Stream};
use super::{Bracket, Design, Mode, Phases, Result, Trigger};
use crate::Method;
use crate::error::out_of_range;
use crate::exact::random::SplitMix64;
use crate::tails::binomial::interval;
use alloc::vec;
use alloc::vec::Vec;

/// The results of a simulated run, each with a 99% interval ([`Method::Simulation`]). The intervals
/// come from 64 sections of the run. For small counts, they are exact.
///
/// A first arrival is the arrival of an item that no filter holds. It *passes* if the filter
/// reports it as seen. While an item is held, all its arrivals belong to its first arrival, as in
/// Dozier, Salamatian and Rubenstein (section II-E).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulated {
    /// The paper's count-instance: first arrivals that pass, as a share of first arrivals.
    pub instance: Bracket,
    /// The paper's count-first: first arrivals that pass, as a share of all arrivals.
    pub first: Bracket,
    /// The paper's count-each: arrivals of items whose first arrival passed, as a share of all
    /// arrivals.
    pub each: Bracket,
    /// The number of items per cycle that are new to the active filter.
    pub items_per_cycle: Bracket,
    /// Arrivals of items that came before but are no longer held, as a share of all arrivals of
    /// items that came before. It is 0 if all items are new.
    pub forgotten: Bracket,
}

/// The number of sections from which an interval is computed.
const STRETCHES: usize = 64;

/// The 99.5% point of Student's distribution with 63 degrees of freedom.
const STUDENT: f64 = 2.656;

/// A recycling filter that can be simulated: an existing one, or one made for simulation.
pub trait Subject {
    /// Offers an item, which is remembered from now on. Returns whether it was reported as seen.
    fn offer(&mut self, item: u64) -> bool;

    /// The number of recycles so far.
    fn cycles(&self) -> u64;
}

/// Simulates a filter of this design, with all its bits, on `arrivals` arrivals of a stream. Before
/// them, a tenth as many arrivals are simulated and not counted.
///
/// Positions are uniform and come from a generator that never changes (SplitMix64), so a seed gives
/// the same run on every machine. Items get new positions in every cycle, as the models assume. The
/// exception is two phases with the same seed, where items keep their positions. This takes time
/// O(probes x arrivals) and memory O(bits + population).
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
/// Fails if there are fewer than 6,400 arrivals, or more than 2^28 bits or items to hold.
pub fn simulate(design: &Design, stream: Stream, arrivals: u64, seed: u64) -> Result<Simulated> {
    simulate_subject(&mut Filter::new(*design, seed)?, design.mode(), stream, arrivals, seed)
}

/// Returns the filter that [`simulate()`] uses. With `most_items`, a cycle also ends after this
/// many items that set bits.
///
/// # Errors
/// Fails if there are more than 2^28 bits.
pub fn subject(design: &Design, most_items: Option<u64>, seed: u64) -> Result<impl Subject + use<>> {
    Filter::counted(*design, most_items.unwrap_or(u64::MAX), seed)
}

/// Like [`simulate()`], with any filter. Only the phases, the trigger and `retaining` of the mode
/// are used. They determine which items the filter must remember, so the simulation does not ask
/// the filter.
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

/// The kind of a count. It determines which exact interval is used if counts are small.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// Arrivals that pass or not, each with its own probability. Their number is at least as
    /// concentrated as with equal probabilities (Hoeffding 1956), so the binomial interval holds.
    Trials,
    /// Arrivals that come in groups, such as all later arrivals of an item that passed. Only the
    /// sections are independent. Their shares are between 0 and 1.
    Groups,
    /// Items divided by cycles. One item ends each cycle, and the lengths of cycles vary less than
    /// if every item were equally likely to end one.
    Lengths,
}

/// Up to this many hits or misses, an exact interval is computed in addition to the usual one.
const FEW: u64 = 100;

/// Like [`FEW`], for the number of sections with hits, if arrivals come in groups.
const FEW_STRETCHES: u64 = 20;

/// A ratio of sums over sections, with the usual interval for a ratio. If counts are small, or all
/// sections agree, an exact interval is computed as well, and the wider of the two is used.
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

/// The interval for items per cycle, from the numbers of items and cycles.
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

/// The last arrival of an item of the population, and whether the item passed when it was new.
#[derive(Clone, Copy, Default)]
struct Past {
    /// The number of the cycle whose filter holds the item. Cycles are numbered from 1, and 0 means
    /// that the item never came.
    cycle: u64,
    passed: bool,
}

/// The items that a filter must remember, derived only from its recycles.
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

    /// The number of the cycle whose filter holds the item that caused a recycle. If no filter
    /// keeps the item, it is [`FORGOTTEN`].
    fn holder_of_trigger(&self, next: u64) -> u64 {
        match self.mode.phases {
            _ if self.mode.retaining => next,
            Phases::Two(Trigger::Included) => self.cycle,
            _ => FORGOTTEN,
        }
    }
}

/// The number of the first cycle. 0 stands for "never".
const FIRST: u64 = 1;

/// The number of a cycle that never comes.
const FORGOTTEN: u64 = u64::MAX - 1;
