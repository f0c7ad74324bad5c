//! The long-run average rate, the worst rate and the expected number of items in a cycle.

use super::average::{Average, Query};
use super::number::{Positive, around};
use super::restart::restart_law;
use super::walk::{Walk, distinct_law, last_seen};
use super::{Bracket, Design, Fpr, MAX_STEPS, Mode, Phases, Result, Trigger};
use crate::exact::double::DoubleDouble;
use crate::exact::dyadic::Dyadic;
use crate::exact::enclosure::{Enclosure, GUARD};
use crate::exact::work;
use crate::law::ratios::Ratios;
use crate::{Error, Method, Rate};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// The long-run properties of a design. The upper ends of the rates include a bound on the
/// probability that a new item has the same 128-bit hash as an item of the filter (see
/// [`Design::long_run`]).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LongRun {
    /// The share of new items that are wrongly reported as seen, in the long run. Equations 18 and
    /// 26 of Dozier, Salamatian and Rubenstein give this rate. The corrections D10 and D11 of
    /// docs/ERRATA.md apply to these equations.
    pub fpr: Fpr,
    /// The probability that a new item is reported as seen when the filter is as full as possible.
    /// The number of set bits is then equal to `sigma`, the recycle threshold. With two phases,
    /// this counts only the bits of the active filter. The frozen filter is as full as possible,
    /// too.
    pub worst: Fpr,
    /// The expected number of new items from one recycle to the next, including the item that
    /// causes the recycle. With two phases, this is the number of new items in one phase.
    pub items_per_cycle: Bracket,
}

/// The largest number of hashes (probes x sigma) for which the recursion over states uses pairs of
/// `f64`. With pairs, the bracket is as narrow as an `f64` allows.
const FINE_HASHES: f64 = 1e6;

/// The largest total number of steps of the recursion for which it uses pairs of `f64`.
const FINE_STEPS: f64 = 5e6;

/// The number of hashes above which integrals, if they are known, replace the recursion. For this
/// many hashes, the recursion takes about a second.
const MOST_WALKED: f64 = 5e7;

/// The number of hashes above which a search tries the integrals first.
const FEWEST_FLUID: f64 = 1e5;

/// The largest relative width of a bracket with the method [`Method::Exact`].
pub(super) const NARROW: f64 = 1e-9;

impl Design {
    /// Returns the long-run average rate, the worst rate and the expected number of items in a
    /// cycle.
    ///
    /// A recursion over the numbers of set bits computes the rates and the number of items. Let
    /// sigma be the recycle threshold. The recursion takes time O(probes x sigma) and memory
    /// O(probes). With five million set bits and seven probes, the recursion takes a tenth of a
    /// second. For large filters, integrals with bounded errors give the same values in
    /// microseconds. The integrals apply only if probes may collide and every cycle begins with an
    /// empty filter.
    ///
    /// If the design meets these two conditions, the product of probes and sigma decides which
    /// method is used. Above a million, the integrals are tried first. If the bracket of the
    /// integrals is wide, the recursion computes a second bracket, and the result is the
    /// intersection of both brackets. Above fifty million, only the integrals are used.
    ///
    /// All brackets are proven. If probes times sigma (the recycle threshold) is at most a million,
    /// the ends of a bracket usually differ by only two units in the last place of an `f64`. If a
    /// bracket is wider than 1e-9 of its value, its method is [`Method::Bound`].
    ///
    /// A new item is also reported as seen if it has the same 128-bit hash as an item of the
    /// filter. The upper ends of the rates include an upper bound on the probability of such equal
    /// hashes. If this bound is below 2^-60 times the rate, it is left out.
    ///
    /// # Errors
    /// Fails with [`Error::TooLong`] if the computation would take more than about a second.
    pub fn long_run(&self) -> Result<LongRun> {
        Ok(self.adding_equal_hashes(self.long_run_of_bits()?))
    }

    /// Like [`long_run`](Self::long_run), but ignores false positives due to equal hashes. These
    /// are the rates as Dozier, Salamatian and Rubenstein define them. At usual rates, `long_run`
    /// returns the same numbers.
    ///
    /// # Errors
    /// Fails as [`long_run`](Self::long_run) does.
    pub fn long_run_of_bits(&self) -> Result<LongRun> {
        let _work = work::begin();
        let found = match self.hashes() {
            ..=FINE_HASHES if self.steps_of_walk() <= FINE_STEPS => self.walked::<DoubleDouble>()?,
            ..=MOST_WALKED => match self.has_integrals() {
                true => self.fluid()?.unless_wide(|| self.walked::<f64>())?,
                false => self.walked::<f64>()?,
            },
            _ => self.nearly()?,
        };
        Ok(LongRun { fpr: found.fpr(), worst: self.worst()?, items_per_cycle: Bracket::from_enclosure(&found.items) })
    }

    /// Returns an approximation of the result of [`long_run`](Self::long_run). Use it for designs
    /// for which `long_run` fails with [`Error::TooLong`]. These are large designs with distinct
    /// probes or with [`Mode::retaining`]. The approximation assumes that probes may collide and
    /// that no item is retained. This takes microseconds. With k probes per item, the relative
    /// error is about `k^2/bits`. With 7 probes in 200,000 bits, it is below 3e-4.
    ///
    /// The method is [`Method::Approximation`]. The lower and upper ends are proven, but far apart.
    ///
    /// # Errors
    /// Fails with [`Error::TooLong`] if even the approximation would take too long.
    pub fn long_run_nearly(&self) -> Result<LongRun> {
        Ok(self.adding_equal_hashes(self.long_run_of_bits_nearly()?))
    }

    /// Like [`long_run_nearly`](Self::long_run_nearly), but ignores false positives due to equal
    /// hashes. See [`long_run_of_bits`](Self::long_run_of_bits).
    ///
    /// # Errors
    /// Fails as [`long_run_nearly`](Self::long_run_nearly) does.
    pub fn long_run_of_bits_nearly(&self) -> Result<LongRun> {
        let _work = work::begin();
        let mode = Mode { colliding: true, retaining: false, ..self.mode };
        let near = Design { mode, ..*self }.long_run_of_bits()?;
        let retained = f64::from(u8::from(self.mode.retaining));
        let method = Method::Approximation("colliding probes, not retained");
        let worst = self.worst()?;
        let fpr = Fpr { lower: 0.0, upper: worst.upper, ln_lower: f64::NEG_INFINITY, ln_upper: worst.ln_upper, method, ..near.fpr };
        let least = (self.sigma / u64::from(self.probes)) as f64 + 1.0 - retained;
        let items = Bracket { value: near.items_per_cycle.value - retained, lower: least, upper: near.items_per_cycle.upper, method };
        Ok(LongRun { fpr, worst, items_per_cycle: items })
    }

    fn hashes(&self) -> f64 {
        f64::from(self.probes) * self.sigma as f64
    }

    /// Whether integrals are known for this mode.
    pub(super) fn has_integrals(&self) -> bool {
        self.mode.colliding && !self.mode.retaining && self.sigma > 0
    }

    /// Returns a bracket that is fast to compute. For large designs, the bracket comes from
    /// integrals.
    pub(super) fn nearly(&self) -> Result<Walked> {
        if self.has_integrals() && self.hashes() > FEWEST_FLUID {
            work::spend("integrals over the numbers of set bits", Design::STEP * self.steps_nearly())?;
            self.fluid()
        } else {
            self.walked::<f64>()
        }
    }

    /// The cost of a step with pairs of `f64`, relative to a step with `f64`.
    const FINER: f64 = 10.0;

    /// The cost of a step of the recursion, in word operations.
    const STEP: f64 = 8.0;

    /// The number of steps of the recursion.
    fn steps_of_walk(&self) -> f64 {
        let again = if self.mode.keeps_overflow() { f64::from(self.probes) + 1.0 } else { 1.0 };
        let averages = if self.mode.shares_positions() && self.mode.colliding { 4.0 } else { 1.0 };
        self.hashes() * again * averages
    }

    /// The number of steps of the fast bracket, [`nearly`](Self::nearly).
    pub(super) fn steps_nearly(&self) -> f64 {
        let k = f64::from(self.probes);
        let frozen = if self.mode.has_two_phases() { k * k } else { 0.0 };
        if self.has_integrals() && self.hashes() > FEWEST_FLUID { 1_000.0 + 20.0 * k + frozen } else { self.steps_of_walk() }
    }

    /// The number of steps that a search should count for [`long_run`](Self::long_run). This is the
    /// number of steps of the recursion, or 0 if [`long_run`](Self::long_run) does not use the
    /// recursion.
    pub(super) fn steps_of_long_run(&self) -> Result<f64> {
        Ok(match self.hashes() {
            ..=FINE_HASHES if self.steps_of_walk() <= FINE_STEPS => Design::FINER * self.steps_of_walk(),
            ..=MOST_WALKED if !self.has_integrals() || !self.fluid()?.is_narrow() => self.steps_of_walk(),
            _ => 0.0,
        })
    }

    /// Returns whether the average rate is at most `rate`, and the number of steps that the
    /// decision took. The fast bracket is tried first. If even pairs of `f64` cannot separate the
    /// two rates, the answer is true only if they are proven to be equal. Above a million hashes,
    /// the most precise computation uses plain `f64`.
    pub(super) fn meets(&self, rate: &Rate) -> Result<(bool, f64)> {
        let mut steps = self.steps_nearly();
        let mut order = self.nearly()?.rate.compare_rate(rate);
        if order.is_none() && (self.hashes() <= MOST_WALKED || !self.has_integrals()) {
            steps += self.steps_of_walk();
            order = self.walked::<f64>()?.rate.compare_rate(rate);
            if order.is_none() && self.hashes() <= FINE_HASHES && self.steps_of_walk() <= FINE_STEPS {
                steps += Design::FINER * self.steps_of_walk();
                order = self.walked::<DoubleDouble>()?.rate.compare_rate(rate);
            }
        }
        Ok((order.map_or_else(|| self.tie_is_proven(rate), Ordering::is_le), steps))
    }

    /// Returns whether the worst rate is at most `rate`. If the bracket cannot separate the two
    /// rates, the answer is false, unless the bracket has a width of 0.
    pub(super) fn meets_at_worst(&self, rate: &Rate) -> Result<bool> {
        Ok(self.worst_enclosure()?.compare_rate(rate).is_some_and(Ordering::is_le))
    }

    /// Returns whether two rates that no bracket can separate are proven to be equal. Two fractions
    /// that agree to within `2^-90` are equal if the product of their denominators is below `2^90`.
    ///
    /// The hashes of each item are one of at most `D = m^k` equally likely choices. Each choice
    /// determines the next state. So by the Markov chain tree theorem, the stationary probabilities
    /// of the `sigma + 1` states are fractions with a common denominator of at most
    /// `(sigma + 1) D^sigma`. The rate in a state has a denominator that divides D, for any number
    /// of distinct positions of the query. The distribution of the frozen filter adds a factor D to
    /// the denominator, and the number of distinct positions adds another factor D.
    fn tie_is_proven(&self, rate: &Rate) -> bool {
        // A retained item that gets new positions doubles the choices of the step that ends a
        // cycle.
        let items = if self.mode.retaining { 2.0 } else { 1.0 };
        let (states, choices) = (self.sigma as f64 + 1.0, items * f64::from(self.probes) * libm::log2(self.bits as f64));
        let denominator = match self.mode.phases {
            Phases::One => choices * states + libm::log2(states),
            Phases::Two(_) => choices * (2.0 * states + 3.0) + 2.0 * libm::log2(states),
        };
        denominator + 4.0 + rate.denominator_bits() as f64 <= 88.0 && self.bits <= 16
    }

    /// Returns the query of a new item, with the weight 1. If both filters use the same positions,
    /// returns one query for each number of distinct positions, with its probability as the weight.
    fn queries<T: Positive>(&self) -> Vec<(Query, T)> {
        let (probes, mode) = (self.probes, self.mode);
        if !mode.colliding {
            return vec![(Query::Distinct(probes), T::ONE)];
        }
        if !mode.shares_positions() {
            return vec![(Query::Repeats(probes), T::ONE)];
        }
        let law = distinct_law(probes, self.fullest());
        let most = u64::from(probes).min(self.fullest()) as u32;
        (1..=most).map(|r| (Query::Distinct(r), law[r as usize])).collect()
    }

    fn check_steps(&self) -> Result<()> {
        let k = f64::from(self.probes);
        let again = if self.mode.keeps_overflow() { k * k * k } else { 0.0 };
        // The steps that compute the law of an item's distinct positions, in pairs of f64.
        let distinct = if self.mode.retaining || self.mode.shares_positions() { 10.0 * k * k } else { 0.0 };
        let steps = (self.sigma as f64 + k) / (self.sigma as f64).max(1.0) * self.steps_of_walk() + again + distinct;
        if steps > MAX_STEPS {
            return Err(Error::TooLong { what: "a computation over all numbers of set bits", steps, allowed: MAX_STEPS });
        }
        Ok(())
    }

    /// Computes the rate and the number of items by one pass of the recursion over all states.
    pub(crate) fn walked<T: Positive>(&self) -> Result<Walked> {
        self.check_steps()?;
        // Pairs of f64 take ten times as long.
        let each = if T::UNIT < f64::EPSILON * f64::EPSILON * 1e3 { 10.0 * Design::STEP } else { Design::STEP };
        // Each state takes as long as one more hash.
        work::spend("a computation over all numbers of set bits", each * (self.steps_of_walk() + self.sigma as f64))?;
        let (bits, probes, sigma, top) = (self.bits, self.probes, self.sigma, self.fullest());
        let distinct = !self.mode.colliding;
        let start = restart_law::<T>(self);
        let mut active: Vec<(Average<T>, T)> = self.queries().into_iter().map(|(query, weight)| (Average::new(query), weight)).collect();
        let mut frozen = active.clone();
        let mut walk = Walk::new(bits, probes, distinct);
        let mut items = T::ZERO;
        let band = sigma + 1 - sigma.saturating_add(1).min(probes.into());
        let mut last = Vec::new();
        for ones in 0..=sigma {
            let step = walk.step(start.get(ones as usize).copied().unwrap_or(T::ZERO));
            items = items.plus(step.visits);
            active.iter_mut().for_each(|(average, _)| average.add(ones, step.visits));
            if ones >= band {
                last.push(step.visits);
            }
        }
        let relative = T::UNIT * self.roundings();
        if relative > 1e-3 {
            return Err(Error::TooLong {
                what: "a computation over all numbers of set bits",
                steps: top as f64,
                allowed: 1e-3 * top as f64 / relative,
            });
        }
        if let Phases::Two(trigger) = self.mode.phases {
            match trigger {
                Trigger::Excluded => {
                    for (ones, weight) in (band..).zip(last_seen(bits, probes, distinct, sigma, &last)) {
                        frozen.iter_mut().for_each(|(average, _)| average.add(ones, weight));
                    }
                }
                Trigger::Included => {
                    for ones in sigma + 1..=top {
                        let left = walk.step_beyond().left;
                        active.iter_mut().for_each(|(average, _)| average.add(ones, T::ZERO));
                        frozen.iter_mut().for_each(|(average, _)| average.add(ones, left));
                    }
                }
            }
        }
        let frozen_counts = self.mode.has_two_phases();
        let mut share = T::ZERO;
        for ((active, weight), (frozen, _)) in active.iter().zip(&frozen) {
            let known = active.sum.over(items);
            // A query passes with probability a + g - a g. Here, a = rho * known is the pass
            // probability of the active filter, and g = rho * frozen is that of the frozen filter.
            let chance = self.chance::<T>(active.query, top).times(frozen.sum);
            share = share.plus(weight.times(known.times(chance.complement()).plus(frozen.sum)));
        }
        let rate = times_rho(self.rho(top), &around(share, if frozen_counts { 8.0 } else { 3.0 } * relative))?;
        Ok(Walked { rate, items: around(items, 2.0 * relative) })
    }

    /// An upper bound on the number of roundings that affect one term of a sum over states.
    ///
    /// If a retained item keeps its positions, the distribution of the state at the beginning of a
    /// cycle is a ratio of products of `k - 1` rows. So the roundings of a row count up to
    /// `2 (k - 1)` times. The elimination adds less than `k + 4` roundings per step and matrix
    /// entry.
    fn roundings(&self) -> f64 {
        let (once, k) = (Walk::<f64>::roundings(self.fullest() + 1, self.probes), f64::from(self.probes));
        match self.mode.keeps_overflow() {
            true => once * (2.0 * k + 1.0) + 4.0 * k * k * (k + 16.0),
            // The law of an item's distinct positions has at most 6 roundings per position.
            false if self.mode.retaining => once + 6.0 * k,
            false => once,
        }
    }

    /// Returns the probability that a new item passes in the fullest state.
    fn worst(&self) -> Result<Fpr> {
        match self.mode.has_two_phases() {
            false => self.rho(self.fullest()).rate(),
            true => Ok(Fpr::from_enclosure(&self.worst_enclosure()?)),
        }
    }

    fn worst_enclosure(&self) -> Result<Enclosure> {
        let top = self.fullest();
        if !self.mode.has_two_phases() {
            return self.rho(top).enclosed(GUARD);
        }
        let steps =
            if self.mode.shares_positions() && self.mode.colliding { 20.0 * f64::from(self.probes) * f64::from(self.probes) } else { 0.0 };
        if steps > MAX_STEPS {
            return Err(Error::TooLong { what: "the worst rate of two filters at one item's positions", steps, allowed: MAX_STEPS });
        }
        let k = f64::from(self.probes);
        work::spend("the worst rate of two filters", 20.0 * k * if self.mode.shares_positions() { k * k } else { k })?;
        let mut share = DoubleDouble::ZERO;
        for (query, weight) in self.queries::<DoubleDouble>() {
            let mut active = Average::new(query);
            active.add(self.sigma, DoubleDouble::ONE);
            (self.sigma + 1..=top).for_each(|ones| active.add(ones, DoubleDouble::ZERO));
            let frozen = if query.passes(top) { DoubleDouble::ONE } else { DoubleDouble::ZERO };
            share = share.plus(weight.times(active.sum.times(self.chance::<DoubleDouble>(query, top).complement()).plus(frozen)));
        }
        let relative = 4.0 * <DoubleDouble as Positive>::UNIT * Walk::<DoubleDouble>::roundings(u64::from(self.probes), self.probes);
        times_rho(self.rho(top), &around(share, relative))
    }

    /// Returns the probability that all positions of a query are among `ones` given bits.
    pub(super) fn rho(&self, ones: u64) -> Ratios {
        match self.mode.colliding {
            true => Ratios::power(ones, self.bits, self.probes),
            false => Ratios::new((0..u64::from(self.probes)).map(|h| (ones.saturating_sub(h), self.bits - h))),
        }
    }

    fn chance<T: Positive>(&self, query: Query, ones: u64) -> T {
        let ratio = |h: u64| T::whole(ones.saturating_sub(h)).over(T::whole(self.bits - h));
        match query {
            Query::Repeats(probes) => (0..probes).fold(T::ONE, |chance, _| chance.times(ratio(0))),
            Query::Distinct(positions) => (0..u64::from(positions)).fold(T::ONE, |chance, h| chance.times(ratio(h))),
        }
    }
}

/// Proven bounds on the rate and on the number of items in a cycle.
pub(crate) struct Walked {
    pub(crate) rate: Enclosure,
    pub(crate) items: Enclosure,
}

impl Walked {
    /// The rate. If the bracket is wide, the value is in the middle.
    pub(crate) fn fpr(&self) -> Fpr {
        let mut fpr = Fpr::from_enclosure(&self.rate);
        if fpr.lower > 0.0 && fpr.upper.to_bits() - fpr.lower.to_bits() > 2 {
            fpr.value = fpr.lower + (fpr.upper - fpr.lower) / 2.0;
        }
        if fpr.ln_upper - fpr.ln_lower > NARROW {
            fpr.method = Method::Bound;
        }
        fpr
    }

    fn is_narrow(&self) -> bool {
        let narrow = |bracket: &Enclosure| bracket.upper.ln().1 - bracket.lower.ln().0 <= NARROW;
        narrow(&self.rate) && narrow(&self.items)
    }

    /// Returns this result if its brackets are narrow enough. If they are wide, returns the
    /// intersection of this result and the result of `other`.
    fn unless_wide(self, other: impl FnOnce() -> Result<Walked>) -> Result<Walked> {
        if self.is_narrow() {
            return Ok(self);
        }
        let other = other()?;
        let both = |a: Enclosure, b: Enclosure| {
            let lower = if a.lower.compare(&b.lower).is_gt() { a.lower } else { b.lower };
            let upper = if a.upper.compare(&b.upper).is_lt() { a.upper } else { b.upper };
            Enclosure::between(lower, upper)
        };
        Ok(Walked { rate: both(self.rate, other.rate), items: both(self.items, other.items) })
    }
}

/// Multiplies a rate at a known fill by a bracket. An upper end above 1 can only be due to
/// rounding, and is replaced by 1.
pub(super) fn times_rho(rho: Ratios, share: &Enclosure) -> Result<Enclosure> {
    let rho = rho.enclosed(GUARD)?;
    // The number 1 has enough words for the lower end, which gets the same exponent.
    let one = Dyadic { words: vec![0, 0, 1], exponent: -128 };
    let upper = rho.upper.multiply(&share.upper);
    let upper = if upper.compare(&one).is_gt() { one } else { upper };
    Ok(Enclosure::between(rho.lower.multiply(&share.lower), upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recycling::Seeds;

    /// Tests the largest denominator of a rate for which equality can be proven. This denominator
    /// is `2^88` (with two bits of safety) divided by the denominators that the Markov chain adds.
    #[test]
    fn ties_are_proven_up_to_the_denominators_of_the_chain() {
        let modes = [
            (Mode::default(), 1.0),
            (Mode { retaining: true, ..Mode::default() }, 1.0),
            (Mode::two_phase(), 2.0),
            (Mode { phases: Phases::Two(Trigger::Excluded), seeds: Seeds::Kept, ..Mode::default() }, 2.0),
        ];
        for (bits, probes, sigma) in [(4u64, 1u32, 2u64), (8, 1, 2), (4, 2, 2), (16, 1, 1), (16, 2, 2), (2, 1, 1), (16, 1, 6)] {
            for (mode, filters) in modes {
                // The choices of an item count once for each state. A retained item has two
                // placements, so its choices are doubled. With a frozen filter, the choices count
                // twice for each state, and once more each for the item, the frozen filter and the
                // query.
                let choices = f64::from(probes) * (bits as f64).log2() * if mode.retaining { 2.0 } else { 1.0 };
                let states = (sigma + 1) as f64;
                let chain = choices * states * filters + if filters == 2.0 { 3.0 * choices } else { 0.0 } + filters * states.log2();
                let Ok(design) = Design::new(bits, probes, sigma, mode) else { continue };
                for digits in 1..=30 {
                    let rate: Rate = format!("{}7", "0.".to_owned() + &"0".repeat(digits - 1)).parse().expect("a rate");
                    let fits = chain + rate.denominator_bits() as f64 <= 84.0;
                    assert_eq!(design.tie_is_proven(&rate), fits, "{design:?} {digits} digits: {chain}");
                }
            }
        }
        let large = Design::new(17, 1, 1, Mode::default()).expect("a design");
        assert!(!large.tie_is_proven(&"0.5".parse().expect("a rate")));
    }

    /// Tests that the number of roundings includes those of the recursion and those of the steps
    /// after the recursion.
    #[test]
    fn restarts_cost_roundings() {
        let of = |retaining, seeds, colliding| {
            let mode = Mode { retaining, seeds, colliding, ..Mode::default() };
            Design::new(1_000, 7, 500, mode).expect("a design").roundings()
        };
        let plain = of(false, Seeds::Renewed, true);
        // For an item with new positions, the law of its distinct positions adds at most 6
        // roundings for each of 7 positions.
        assert_eq!(of(true, Seeds::Renewed, true) - plain, 42.0);
        // For an item that keeps its positions, the start of a cycle is a ratio of products of up
        // to k - 1 probabilities.
        assert!(of(true, Seeds::Kept, true) > 13.0 * plain && of(true, Seeds::Kept, true) < 100.0 * plain);
    }

    /// Tests that the value is in the middle if the bracket is wider than two `f64`.
    #[test]
    fn values_are_in_the_middle_of_wide_brackets() {
        let design = Design::new(5_000, 4, 3_000, Mode::default()).expect("a design");
        let fpr = design.walked::<f64>().expect("affordable").fpr();
        assert!(fpr.upper.to_bits() - fpr.lower.to_bits() > 100, "{fpr:?}");
        assert!(((fpr.value - fpr.lower) / (fpr.upper - fpr.lower) - 0.5).abs() < 0.01, "{fpr:?}");
    }
}
