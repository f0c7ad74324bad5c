//! Rates of progressions (positions `h1 + i h2 + f(i)`) for laws without a sufficiently narrow
//! proven bracket. For small arrays, all states are enumerated. For other arrays, the rate is
//! simulated if that is cheap, and otherwise approximated. The [`Method`] of the result says how
//! the rate was obtained.

use super::{EQUAL_HASHES, Floor};
use crate::exact::double::DoubleDouble;
use crate::exact::modular::gcd;
use crate::law::convergence::limit_rate;
use crate::law::simulation::{Positions, Simulation};
use crate::{Fpr, Method};
use alloc::vec;
use alloc::vec::Vec;

/// The rule for the positions `h1 + i h2 + f(i)`. The positions are modulo the number of bits of
/// one array, or of one slice if each probe has a separate slice.
pub(super) struct Progression {
    /// The number of bits of the array, or of one slice.
    pub(super) modulus: u64,
    /// The smallest h2.
    pub(super) least_step: u64,
    /// The offsets `f(i)` modulo the bits, one for each probe.
    pub(super) offsets: Vec<u64>,
    pub(super) slices: bool,
}

/// The largest number of steps of a simulation. This many steps take a few tenths of a second.
const STEPS: u64 = 40_000_000;

/// The largest filter that is simulated, in bits. Such a filter takes four megabytes.
const MOST_BITS: u64 = 1 << 25;

/// The smallest and the largest number of filters in a simulation. With fewer than 32 filters, the
/// simulation would not show how much their rates differ.
const FILTERS: core::ops::RangeInclusive<u64> = 32..=4_000;

/// The smallest number of hits for which a simulation is used. With fewer hits, the precision of
/// the rate would be 30% at best.
const FEWEST_HITS: u64 = 100;

impl Progression {
    fn bits(&self) -> u64 {
        if self.slices { self.modulus.saturating_mul(self.offsets.len() as u64) } else { self.modulus }
    }

    /// Returns a simulated rate, or `None` if the simulation takes too long or has too few hits.
    /// For the same law, the simulation always gives the same rate.
    fn simulated(&self, items: u64) -> Option<Fpr> {
        let probes = self.offsets.len() as u64;
        let filling = items.saturating_mul(probes).saturating_add(self.bits() / 64);
        let filters = (STEPS / 2 / filling).min(*FILTERS.end());
        if self.bits() > MOST_BITS || filters < *FILTERS.start() {
            return None;
        }
        // If many keys pass, a short simulation is enough. If few pass, most queries end within
        // four probes, so a second simulation can make more queries.
        let each = |probes: u64| STEPS / 2 / filters / probes;
        let found = Simulation::run(self, self.bits(), items, filters, each(4 * probes).max(1), 1);
        if found.rate > 0.1 {
            return Some(found.fpr());
        }
        let found = Simulation::run(self, self.bits(), items, filters, each(probes.min(4)).max(1), 1);
        (found.hits >= FEWEST_HITS).then(|| found.fpr())
    }

    /// Returns the exact rate of an array that is so small that all its states can be enumerated.
    /// Let T be the set of positions of a key. The probability that the filter has set all bits in
    /// T is `sum over U in T of (-1)^|U| P(a key avoids U)^items`, where U runs over the subsets of
    /// T. The sum is computed in double-double arithmetic (pairs of `f64`). Returns `None` if there
    /// are more than [`MOST_COUNTED`] bits or too many items, or if the rate is so small that
    /// cancellation in the sum would cost digits.
    fn counted(&self, items: u64) -> Option<Fpr> {
        if self.bits() > MOST_COUNTED || items > MOST_COUNTED_ITEMS {
            return None;
        }
        let (m, states) = (self.modulus, 1usize << self.bits());
        let mut keys = vec![0u64; states];
        for (first, step) in (0..m).flat_map(|first| (self.least_step..m).map(move |step| (first, step))) {
            let mut words = [first, step - self.least_step].into_iter();
            let mut mask = 0;
            self.walk(
                |_| words.next().unwrap_or(0),
                |position| {
                    mask |= 1 << position;
                    true
                },
            );
            keys[mask] += 1;
        }
        let all = DoubleDouble::of((m * (m - self.least_step)).into());
        let mut within = keys.clone();
        over_subsets(&mut within, |sum, part| sum + part);
        let mut covered: Vec<DoubleDouble> = (0..states)
            .map(|avoided: usize| {
                let chance = power(DoubleDouble::of(within[states - 1 - avoided].into()).over(all), items);
                if avoided.count_ones().is_multiple_of(2) { chance } else { DoubleDouble::ZERO.minus(chance) }
            })
            .collect();
        over_subsets(&mut covered, DoubleDouble::plus);
        let rate = keys
            .iter()
            .zip(&covered)
            .fold(DoubleDouble::ZERO, |sum, (&keys, &covered)| sum.plus(covered.scaled(keys as f64)))
            .over(all)
            .to_f64();
        if rate < LEAST_COUNTED {
            return None;
        }
        let mut fpr = Fpr::bound(rate.next_down(), rate.next_up().min(1.0));
        fpr.place(rate);
        Some(Fpr { method: Method::Exact, ..fpr })
    }

    /// Returns a proven bracket of the rate of any progression. The share of hash pairs that set a
    /// given bit is at most the sum of the shares of all probes. It is at least that sum minus, for
    /// every two probes, the share of pairs for which both probes set this bit. The probability
    /// that all positions of a query are set is at most the probability that one of them is set. It
    /// is at least 1 minus the sum of the probabilities that each position is empty.
    fn union_bounds(&self, items: u64) -> Fpr {
        let (n, m, k) = (items as f64, self.modulus as f64, self.offsets.len() as u64);
        let probes = k as f64;
        let empty = |hits: f64| libm::exp(n * libm::log1p(-(hits / m).min(1.0)));
        let (least, most) = if self.slices {
            (1.0, 1.0)
        } else {
            let coincide: f64 = (1..k).map(|apart| (k - apart) as f64 * gcd(apart, self.modulus) as f64).sum();
            ((probes - coincide / (self.modulus - self.least_step) as f64).max(1.0), probes)
        };
        Fpr::bound((1.0 - probes * empty(least) - ROUNDING).max(0.0), (1.0 - empty(most) + ROUNDING).min(1.0))
    }

    /// Returns the exact rate if all states can be enumerated. Otherwise, if the ends of the proven
    /// bracket are more than a factor of two apart, tries a simulation, and returns the simulated
    /// rate, limited to the bracket. If no simulation is needed or possible, returns the bracket
    /// with an approximate value. This value is the first-order approximation, or the limit of the
    /// rate plus the law's floors. If the bracket is so wide that it says almost nothing, the
    /// method of the result is [`Method::Approximation`].
    pub(super) fn best(&self, items: u64, proven: Option<Fpr>, first_order: Option<f64>, floors: &[Floor]) -> Fpr {
        if let Some(exact) = self.counted(items) {
            return exact;
        }
        let known = proven.unwrap_or_else(|| self.union_bounds(items));
        let narrow = known.upper <= 2.0 * known.lower;
        if let Some(found) = (!narrow).then(|| self.simulated(items)).flatten() {
            return found.within(&known);
        }
        let limit = limit_rate(self.bits() as f64 / items as f64, self.offsets.len() as u32);
        let limit = limit + floors.iter().filter(|floor| floor.cause != EQUAL_HASHES).map(|floor| floor.rate).sum::<f64>();
        let inside = |value: &f64| *value > 0.0 && (known.lower..=known.upper).contains(value);
        let (value, name) = match first_order.filter(inside) {
            Some(value) => (value, "first order"),
            None => (limit.clamp(known.lower, known.upper), "limit and floors"),
        };
        let mut fpr = known;
        if value > 0.0 {
            fpr.place(value);
        }
        let says_nothing = fpr.value * FAR < fpr.upper || (fpr.lower < 0.5 && fpr.upper > 0.99);
        if says_nothing {
            fpr.method = Method::Approximation(name);
        }
        fpr
    }
}

/// The largest number of bits for which all states are enumerated. Such an array has about four
/// thousand states.
const MOST_COUNTED: u64 = 12;

/// The largest number of items for which all states are enumerated. For this many items, the error
/// of a power is below 2^-80.
const MOST_COUNTED_ITEMS: u64 = 1_000_000;

/// The lowest rate for which enumerating all states is precise enough. The sum has 2^12 terms with
/// errors up to 2^-80, so rates of at least 1e-3 have the full precision of an `f64`.
const LEAST_COUNTED: f64 = 1e-3;

/// Replaces each `table[T]` by the sum of `table[U]` over the subsets U of T.
fn over_subsets<T: Copy>(table: &mut [T], plus: impl Fn(T, T) -> T) {
    let bits = table.len().trailing_zeros();
    for bit in (0..bits).map(|bit| 1usize << bit) {
        for at in (0..table.len()).filter(|at| at & bit != 0) {
            table[at] = plus(table[at], table[at ^ bit]);
        }
    }
}

/// Computes `base^exponent` by repeated squaring.
fn power(base: DoubleDouble, exponent: u64) -> DoubleDouble {
    (0..64 - exponent.leading_zeros()).rev().fold(DoubleDouble::ONE, |power, bit| {
        let square = power.times(power);
        if exponent >> bit & 1 == 1 { square.times(base) } else { square }
    })
}

/// A margin that covers a few rounding errors of numbers up to 1, and the rounding of an exponent.
const ROUNDING: f64 = 1e-9;

/// If the upper end of a bracket exceeds the value by more than this factor, the bracket says
/// nothing about the value.
const FAR: f64 = 1_000.0;

impl Positions for Progression {
    /// Draws the first position and the step. Each is the high half of the product of a random word
    /// and its range. The relative deviation from a uniform probability is at most
    /// `modulus / 2^64`, which is at most 2^-39 in all simulations.
    fn every(&self, word: &mut impl FnMut() -> u64, all: impl FnMut(u64) -> bool) -> bool {
        self.walk(|m| ((u128::from(word()) * u128::from(m)) >> 64) as u64, all)
    }
}

impl Progression {
    /// Calls `all` with each position of a key, until `all` returns false. `below` draws the first
    /// position and the step of the key.
    fn walk(&self, mut below: impl FnMut(u64) -> u64, mut all: impl FnMut(u64) -> bool) -> bool {
        let m = self.modulus;
        let (mut at, step) = (below(m), self.least_step + below(m - self.least_step));
        let mut slice = 0;
        self.offsets.iter().all(|&offset| {
            let position = slice + crate::exact::modular::add(at, offset, m);
            at = crate::exact::modular::add(at, step, m);
            slice += if self.slices { m } else { 0 };
            all(position)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::double::{Double, Offsets, Step};
    use crate::law::{Law, PartitionDouble};

    /// Compares the intervals of simulations with exact rates. The test allows one of 24
    /// independent 99% intervals to miss. (At least two would miss with probability 2.4%; the seed
    /// is fixed.)
    #[test]
    fn simulations_agree_with_the_exact_rates() {
        let mut missed = Vec::new();
        let mut check = |name: String, exact: Fpr, found: Option<Fpr>| {
            assert_eq!(exact.method, Method::Exact, "{name}");
            let found = found.expect("cheap, and seen");
            assert!(found.upper < 1.5 * found.lower, "{name}: {found:?}");
            if !(found.lower <= exact.value && exact.value <= found.upper) {
                missed.push(format!("{name}: {found:?} misses {exact:?}"));
            }
        };
        for (m, k, n) in [(13, 3, 2), (60, 4, 8), (101, 5, 10), (256, 4, 40)] {
            for offsets in [Offsets::Linear, Offsets::Square, Offsets::Custom((0..k).map(|i| -7 * i64::from(i * i * i)).collect())] {
                for step in [Step::Any, Step::NonZero].into_iter().take(if offsets == Offsets::Square { 1 } else { 2 }) {
                    let law = Double::new(m, k, step, offsets.clone()).expect("in range");
                    check(format!("{law:?} {n}"), law.fpr(n).expect("affordable"), law.progression().simulated(n));
                }
            }
            let law = PartitionDouble::new(m / u64::from(k), k).expect("in range");
            check(format!("{law:?} {n}"), law.fpr(n).expect("affordable"), law.progression().simulated(n));
        }
        assert!(missed.len() <= 1, "{missed:#?}");
    }

    #[test]
    fn what_is_not_proven_is_not_called_so() {
        let law = |m, k| Double::new(m, k, Step::Any, Offsets::Linear).expect("in range");
        // Nothing is proven for these laws, but a simulation takes little work.
        for (m, k, n) in [(1_000, 1_000, 1u64), (3_000, 100, 20), (50, 64, 1), (128, 64, 2)] {
            let found = law(m, k).fpr(n).expect("always answers");
            assert_eq!(found.method, Method::Simulation, "{m} {k} {n}: {found:?}");
            assert!(found.lower < found.value && found.value < found.upper);
        }
        let found = law(1 << 60, 1_000).fpr(1 << 48).expect("always answers");
        assert_eq!((found.method, found.lower), (Method::Approximation("limit and floors"), 0.0));
        assert_eq!(law(1 << 60, 1_000).proven(1 << 48), Ok(None));
        // There is enough memory, but even a simulation of 32 filters would take years.
        assert_eq!(law(1 << 20, 100).progression().simulated(1 << 40), None);
        // The binomials of this law exceed 128 bits, which must not cause a panic.
        let found = PartitionDouble::new(5, 1_000).expect("in range").fpr(3).expect("always answers");
        assert_eq!(found.method, Method::Simulation);
        // The query's own pair is one of 25 and hits all slices, so the rate is at least
        // `1 - (24/25)^3`.
        assert!((found.value - 0.115_264).abs() < 0.002, "{found:?}");
        // These 2^63 items fill every slice.
        let found = PartitionDouble::new(60, 64).expect("in range").fpr(1 << 63).expect("always answers");
        assert!(found.lower > 0.999 && found.method == Method::Bound);
    }

    /// Compares enumerated states with the exact law for few probes, to the last digits. Also tests
    /// a law of 143 probes. For this law, a simulation of 4,000 filters, all with the same number
    /// of hits, gave the interval [0.999834, 1], which does not contain the rate.
    #[test]
    fn small_arrays_are_counted() {
        let many = Double::new(5, 143, Step::Any, Offsets::Linear).and_then(|law| law.fpr(5)).expect("in range");
        assert!(many.method == Method::Exact && (many.value - 0.999_732_86).abs() < 5e-9, "{many:?}");
        for (m, k, n) in [(5, 3, 2), (7, 4, 3), (8, 3, 1), (11, 6, 4), (12, 5, 3)] {
            for (offsets, step) in [(Offsets::Linear, Step::Any), (Offsets::Linear, Step::NonZero), (Offsets::Square, Step::Any)] {
                let law = Double::new(m, k, step, offsets).expect("in range");
                let (exact, counted) = (law.fpr(n).expect("exact"), law.progression().counted(n).expect("small"));
                assert_eq!(exact.method, Method::Exact);
                assert!((counted.value / exact.value - 1.0).abs() < 4e-16, "{m} {k} {n}: {counted:?} {exact:?}");
            }
        }
        let sliced = PartitionDouble::new(4, 3).expect("in range");
        let (exact, counted) = (sliced.fpr(3).expect("exact"), sliced.progression().counted(3).expect("small"));
        assert!((counted.value / exact.value - 1.0).abs() < 4e-16, "{counted:?} {exact:?}");
    }

    /// Tests the intervals for filters that all, or nearly all, have the same number of hits. Such
    /// an interval must allow for rare filters that did not occur.
    #[test]
    fn filters_that_agree_leave_room_for_others() {
        let of = |hits: &[u64]| Simulation::of(hits, 10);
        let alike = of(&[10; 4_000]);
        // All 4,000 filters agree. By the Clopper-Pearson bound, at least a share of 0.005^(1/4000)
        // of all filters has this number of hits. The other filters might have no hit at all.
        assert!((alike.lower - 0.998_67).abs() < 2e-4 && alike.upper == 1.0, "{alike:?}");
        let mut few = vec![10; 4_000];
        few[7] = 0;
        let few = of(&few);
        assert!(few.lower < 0.998_2 && few.lower > 0.997 && few.upper == 1.0, "{few:?}");
    }

    /// Compares the bounds for any progression with rates from enumerated states. The bounds must
    /// always contain the exact rate. In enough cases, the lower bound must be above 0, and the
    /// upper bound below 1.
    #[test]
    fn union_bounds_enclose_counted_rates() {
        let (mut lower, mut upper) = (0, 0);
        let mut check = |law: &Progression, items: u64| {
            let (Some(counted), bounds) = (law.counted(items), law.union_bounds(items)) else { return };
            assert!(bounds.lower <= counted.upper && counted.lower <= bounds.upper, "{items}: {bounds:?} {counted:?}");
            assert!(0.0 <= bounds.lower && bounds.lower <= bounds.upper && bounds.upper <= 1.0, "{bounds:?}");
            lower += u32::from(bounds.lower > 0.0);
            upper += u32::from(bounds.upper < 1.0);
        };
        for items in [1, 2, 3, 5, 8, 13, 21, 34, 60] {
            for (m, k) in [(7, 1), (7, 2), (9, 3), (8, 4), (12, 2), (12, 6), (11, 5)] {
                for step in [Step::Any, Step::NonZero] {
                    check(&Double::new(m, k, step, Offsets::Linear).expect("in range").progression(), items);
                }
            }
            for (size, k) in [(4, 3), (6, 2), (2, 5), (12, 1)] {
                check(&PartitionDouble::new(size, k).expect("in range").progression(), items);
            }
        }
        assert!(lower > 20 && upper > 20, "nothing is said: {lower} {upper}");
    }
}
