//! The filters themselves, with bits and uniform positions: an independent check of the models, and the answer where no exact law is known.

use super::stream::{Arrival, Arriving, SplitMix64, Stream};
use super::{Bracket, Design, Phases, Result, Trigger};
use crate::Method;
use crate::error::out_of_range;

/// Shares of a run, each with a 99% interval from 64 stretches of it ([`Method::Simulation`]).
///
/// A first arrival is one of an item that no filter holds; it *passes* when a filter takes it for known. After Dozier, Salamatian and Rubenstein (section II-E), the later arrivals of an item, as long
/// as it is held, count with its first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulated {
    /// count-instance: passing first arrivals, of first arrivals.
    pub instance: Bracket,
    /// count-first: passing first arrivals, of all arrivals.
    pub first: Bracket,
    /// count-each: arrivals of items whose first arrival passed, of all arrivals.
    pub each: Bracket,
    /// Items new to the active filter a cycle.
    pub items_per_cycle: Bracket,
    /// Arrivals of items that came before and are held no more, of all that came before. 0 where all are new.
    pub forgotten: Bracket,
}

/// Stretches that an interval is made from.
const STRETCHES: usize = 64;

/// The 99.5% point of Student's distribution with 63 degrees of freedom.
const STUDENT: f64 = 2.656;

/// Bits that a simulation may hold.
const MOST_BITS: u64 = 1 << 28;

/// Runs a filter of this design, all its bits, over `arrivals` of a stream; a tenth more come before and are not counted.
///
/// Positions are uniform from a frozen generator (SplitMix64), so a seed gives the same run on every machine. Items get fresh positions with every cycle, as the models assume, except in two phases
/// with one hash, which need the old ones. Time O(probes x arrivals), memory O(bits + population). Errors with fewer than 6,400 arrivals, or more than 2^28 bits or items to hold.
///
/// ```
/// use truebloom_math::recycling::{Design, Mode, Stream, simulate};
/// let design = Design::new(1_000, 4, 300, Mode::default())?;
/// let seen = simulate(&design, Stream::New, 1_000_000, 1)?;
/// let exact = design.long_run()?.fpr.value;
/// assert!(seen.instance.lower < exact && exact < seen.instance.upper);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
pub fn simulate(design: &Design, stream: Stream, arrivals: u64, seed: u64) -> Result<Simulated> {
    if arrivals < 100 * STRETCHES as u64 {
        return out_of_range("arrivals", arrivals, "at least 6400");
    }
    if design.total_bits() > MOST_BITS {
        return out_of_range("bits", design.total_bits(), "at most 2^28 in a simulation");
    }
    let mut arriving = Arriving::new(stream)?;
    let mut filter = Filter::new(*design, arriving.population(), seed);
    let mut random = SplitMix64::new(seed);
    let mut run = |arrivals: u64| {
        let mut tally = Tally::default();
        (0..arrivals).for_each(|_| filter.arrive(arriving.draw(&mut random), &mut tally));
        tally
    };
    run(arrivals / 10);
    let tallies: Vec<Tally> = (0..STRETCHES).map(|_| run(arrivals / STRETCHES as u64)).collect();
    Ok(Simulated {
        instance: share(&tallies, |t| t.passed, |t| t.first),
        first: share(&tallies, |t| t.passed, |t| t.all),
        each: share(&tallies, |t| t.each, |t| t.all),
        items_per_cycle: share(&tallies, |t| t.entered, |t| t.cycles),
        forgotten: share(&tallies, |t| t.forgotten, |t| t.repeats),
    })
}

/// A ratio of sums over stretches, with the usual interval of a ratio.
fn share(tallies: &[Tally], part: impl Fn(&Tally) -> u64, whole: impl Fn(&Tally) -> u64) -> Bracket {
    let sum = |of: &dyn Fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>() as f64;
    let (parts, wholes) = (sum(&part), sum(&whole));
    if wholes == 0.0 {
        return Bracket { value: 0.0, lower: 0.0, upper: 0.0, method: Method::Simulation };
    }
    let (value, n) = (parts / wholes, tallies.len() as f64);
    let squares: f64 = tallies.iter().map(|t| part(t) as f64 - value * whole(t) as f64).map(|rest| rest * rest).sum();
    let error = STUDENT * libm::sqrt(squares * n / (n - 1.0)) / wholes;
    Bracket { value, lower: (value - error).max(0.0), upper: value + error, method: Method::Simulation }
}

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

/// When an item of the population came last, and whether it passed when it was new.
#[derive(Clone, Copy, Default)]
struct Past {
    /// The number of the cycle whose filter holds it, from 1; 0 for never.
    cycle: u64,
    passed: bool,
}

struct Filter {
    design: Design,
    seed: u64,
    cycle: u64,
    active: Vec<bool>,
    ones: u64,
    frozen: Vec<bool>,
    positions: Vec<usize>,
    frozen_positions: Vec<usize>,
    past: Vec<Past>,
    /// The item that began this cycle, which keeps its old positions.
    retained: Option<(u64, Vec<usize>)>,
}

impl Filter {
    fn new(design: Design, population: usize, seed: u64) -> Filter {
        let bits = design.bits as usize;
        let frozen = if design.mode.phases == Phases::Two { bits } else { 0 };
        Filter {
            design,
            seed,
            cycle: 1,
            active: vec![false; bits],
            ones: 0,
            frozen: vec![false; frozen],
            positions: Vec::new(),
            frozen_positions: Vec::new(),
            past: vec![Past::default(); population],
            retained: None,
        }
    }

    fn place(&self, item: u64, cycle: u64, into: &mut Vec<usize>) {
        let one_hash = self.design.mode.phases == Phases::Two && self.design.mode.shared_hash;
        let mut random = SplitMix64::of(&[self.seed, item, if one_hash { 0 } else { cycle }]);
        into.clear();
        while into.len() < self.design.probes as usize {
            let position = random.below(self.design.bits) as usize;
            if self.design.mode.colliding || !into.contains(&position) {
                into.push(position);
            }
        }
    }

    fn arrive(&mut self, Arrival { item, place, fresh: never_seen }: Arrival, tally: &mut Tally) {
        let two = self.design.mode.phases == Phases::Two;
        let (mut positions, mut older) = (std::mem::take(&mut self.positions), std::mem::take(&mut self.frozen_positions));
        match &self.retained {
            Some((kept, old)) if *kept == item => positions.clone_from(old),
            _ => self.place(item, self.cycle, &mut positions),
        }
        let in_active = positions.iter().all(|&position| self.active[position]);
        let mut known = in_active;
        if two && self.cycle > 1 {
            self.place(item, self.cycle - 1, &mut older);
            known |= older.iter().all(|&position| self.frozen[position]);
        }
        let past = self.past.get(place).copied().filter(|_| !never_seen).unwrap_or_default();
        let held = past.cycle == self.cycle || two && past.cycle > 0 && past.cycle + 1 == self.cycle;
        tally.all += 1;
        tally.repeats += u64::from(past.cycle > 0);
        tally.forgotten += u64::from(past.cycle > 0 && !held);
        let passed = if held { past.passed } else { known };
        if !held {
            tally.first += 1;
            tally.passed += u64::from(known);
        }
        tally.each += u64::from(passed);
        // Whatever came in this cycle is in the active filter, whether it set bits or not.
        tally.entered += u64::from(past.cycle != self.cycle);
        let mut holder = self.cycle;
        if !in_active {
            let fresh = self.set(&positions);
            if self.ones > self.design.sigma {
                tally.cycles += 1;
                holder = self.recycle(&positions, &fresh, item);
            }
        }
        if let Some(past) = self.past.get_mut(place) {
            *past = Past { cycle: holder, passed };
        }
        (self.positions, self.frozen_positions) = (positions, older);
    }

    /// Sets bits, and returns those that were not set.
    fn set(&mut self, positions: &[usize]) -> Vec<usize> {
        let fresh: Vec<usize> =
            positions.iter().copied().filter(|&position| !std::mem::replace(&mut self.active[position], true)).collect();
        self.ones += fresh.len() as u64;
        fresh
    }

    /// Returns the number of the cycle that holds the item that caused it: a number that is never current for one that is kept nowhere.
    fn recycle(&mut self, positions: &[usize], fresh: &[usize], item: u64) -> u64 {
        let mode = self.design.mode;
        let ended = self.cycle;
        self.cycle += 1;
        if mode.phases == Phases::Two {
            if mode.trigger == Trigger::Excluded {
                fresh.iter().for_each(|&position| self.active[position] = false);
            }
            std::mem::swap(&mut self.active, &mut self.frozen);
        }
        self.active.fill(false);
        self.ones = 0;
        if mode.retaining {
            // The item keeps its positions: their number of distinct ones is what made the filter overflow.
            self.set(positions);
            self.retained = Some((item, positions.to_vec()));
            return self.cycle;
        }
        match (mode.phases, mode.trigger) {
            (Phases::Two, Trigger::Included) => ended,
            _ => FORGOTTEN,
        }
    }
}

/// A cycle that never comes.
const FORGOTTEN: u64 = u64::MAX - 1;
