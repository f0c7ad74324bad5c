//! The renewal recursion, which computes how often each number of set bits occurs in a cycle.

use super::number::Positive;
use alloc::vec;
use alloc::vec::Vec;

/// The renewal recursion over b, the number of set bits, from 0 upwards. The recursion proceeds
/// hash by hash.
///
/// Let `u_h(b)` be the expected number of times in a cycle that `h` of an item's `k` hashes are
/// placed and `b` bits are set. A hash finds its bit already set with probability `s_h(b)`;
/// otherwise, it sets the bit:
///
/// ```text
/// u_(h+1)(b) = u_h(b) s_h(b) + u_h(b-1) (1 - s_h(b-1))     s_h(b) = b/m colliding, (b-h)/(m-h) distinct
/// u_0(b) = start(b) + u_k(b)                               an item that ends at b <= sigma is followed by another
/// ```
///
/// For each b, eliminating the other unknowns leaves a single equation for `u_0(b)`. Its
/// coefficient, `1 - s_0 .. s_(k-1) > 0`, is computed as a sum of positive terms. Each step of the
/// recursion takes O(k) time and memory. No step subtracts, so the rounding errors can be bounded
/// by counting roundings (see [`Walk::roundings`]). The recursion replaces the linear system of
/// Dozier, Salamatian and Rubenstein (section IV-D).
pub(crate) struct Walk<T> {
    bits: u64,
    distinct: bool,
    next: u64,
    /// The values `u_h(b)` for the last `b` and h = 0..k-1.
    reached: Vec<T>,
    /// The probability of each position for hash h: `1 / (m - h)` for distinct probes, and `1 / m`
    /// for probes that may collide.
    shares: Vec<T>,
}

/// The results for one number of set bits b.
pub(crate) struct Step<T> {
    /// The expected number of items in a cycle that find b bits set.
    pub(crate) visits: T,
    /// The expected number of items in a cycle after which b bits are set.
    pub(crate) left: T,
}

/// The inputs for the next number of set bits.
struct Next<T> {
    /// The expected number of items in a cycle that reach this number of set bits from fewer set
    /// bits.
    arrived: T,
    /// The probability that an item sets no bit.
    staying: T,
    /// The probability that an item sets a bit, computed as a sum of positive terms.
    leaving: T,
}

/// The largest share of the weight of an item that may stay in the same state.
pub(super) const MOST_STAYING: f64 = 0.9;

impl Walk<f64> {
    /// Like [`step`](Self::step), but with weights: `passing` for an item that sets no bit, and
    /// `keeping` for any other item. Returns `None` if more than [`MOST_STAYING`] of an item's
    /// weight stays in the same state, because subtractions would then lose digits.
    #[inline]
    pub(crate) fn step_weighed(&mut self, start: f64, passing: f64, keeping: f64) -> Option<()> {
        let Next { arrived, staying, leaving } = self.arriving();
        let rest = leaving - (passing - 1.0) * staying;
        if passing * staying > MOST_STAYING * (1.0 + 1e-6) {
            return None;
        }
        self.place(self.next, (start + arrived) / rest * keeping);
        Some(())
    }
}

impl<T: Positive> Walk<T> {
    pub(crate) fn new(bits: u64, probes: u32, distinct: bool) -> Walk<T> {
        let share = |h: u64| T::ONE.over(T::whole(if distinct { bits - h } else { bits }));
        let shares: Vec<T> = (0..u64::from(probes)).map(share).collect();
        Walk { bits, distinct, next: 0, reached: vec![T::ZERO; shares.len()], shares }
    }

    /// Creates a recursion that begins with `sigma + 1` set bits. Each of an item's hashes is
    /// equally likely to be the one that sets the last of them.
    pub(crate) fn entering(bits: u64, probes: u32, sigma: u64) -> Walk<T> {
        let mut walk = Walk::new(bits, probes, false);
        walk.next = sigma + 1;
        let reached = T::whole(bits).over(T::whole(bits - sigma)).over(T::whole(probes.into()));
        walk.reached.fill(reached);
        walk
    }

    /// Moves on to the next number of set bits, at which the cycle still continues. `start` is the
    /// probability that a cycle begins with this number of set bits.
    #[inline]
    pub(crate) fn step(&mut self, start: T) -> Step<T> {
        let Next { arrived, leaving, .. } = self.arriving();
        let visits = start.plus(arrived).over(leaving);
        self.place(self.next, visits)
    }

    /// Computes, for the next number of set bits, the expected number of items that reach it, the
    /// probability that an item there sets no bit, and the probability that it sets a bit.
    #[inline]
    fn arriving(&self) -> Next<T> {
        let ones = self.next;
        let (whole, empty, emptier) = (T::whole(ones), T::whole(self.bits - ones), T::whole(self.bits - ones + 1));
        let (mut arrived, mut stay, mut leave) = (T::ZERO, T::ONE, T::ZERO);
        for (h, (&reached, &share)) in self.reached.iter().zip(&self.shares).enumerate() {
            let full = if self.distinct { T::whole(ones.saturating_sub(h as u64)) } else { whole };
            let set = full.times(share);
            arrived = arrived.times(set).plus(reached.times(share).times(emptier));
            leave = leave.plus(stay.times(share));
            stay = stay.times(set);
        }
        Next { arrived, staying: stay, leaving: leave.times(empty) }
    }

    /// Moves on to the next number of set bits, at which the cycle ends: the current item can end
    /// there, but no further item begins.
    pub(crate) fn step_beyond(&mut self) -> Step<T> {
        self.place(self.next, T::ZERO)
    }

    fn place(&mut self, ones: u64, visits: T) -> Step<T> {
        let (whole, emptier) = (T::whole(ones), T::whole(self.bits - ones + 1));
        let mut left = visits;
        for (h, (reached, &share)) in self.reached.iter_mut().zip(&self.shares).enumerate() {
            let full = if self.distinct { T::whole(ones.saturating_sub(h as u64)) } else { whole };
            let here = left;
            left = left.times(full.times(share)).plus(reached.times(share).times(emptier));
            *reached = here;
        }
        self.next += 1;
        Step { visits, left }
    }

    /// Returns an upper bound on the number of roundings on the path to any result of `states`
    /// steps, or of sums over them.
    ///
    /// The longest path of one step goes from some `u_h(b-1)` to the arrived items (5 roundings: 2
    /// for the share, 2 for the factor, 1 for the product). The path continues through at most `k`
    /// Horner steps (5 each: 3 for the probability, 1 for the product, 1 for the sum), the start
    /// (1), the divisor (at most 5k + 6) and the quotient (1), and then down at most `k` steps (5
    /// each). Together these are at most 15k + 13 roundings. The budget of 16k + 32 roundings per
    /// step leaves room for sums over states and for the ratios of rates (at most 4k + 4 per step).
    pub(crate) fn roundings(states: u64, probes: u32) -> f64 {
        (states as f64 + 2.0) * (16.0 * f64::from(probes) + 32.0)
    }
}

/// Returns the probability that b bits were set when the last item of a cycle arrived, for each of
/// the last states b. `visits` lists the expected visits of the states
/// `sigma - visits.len() + 1 ..= sigma`.
///
/// Suppose that h of an item's hashes are placed and b bits are set. Let `chance(h, b)` be the
/// probability that more than sigma bits are set after the item. This probability is a weighted
/// mean of `chance(h+1, b)` and `chance(h+1, b+1)`, so the computation takes time O(k^2), and all
/// terms are positive.
pub(crate) fn last_seen<T: Positive>(bits: u64, probes: u32, distinct: bool, sigma: u64, visits: &[T]) -> Vec<T> {
    let first = sigma + 1 - visits.len() as u64;
    // chances[i] is for first + i set bits. The last entry, above sigma, is 1.
    let mut chances = vec![T::ZERO; visits.len() + 1];
    chances[visits.len()] = T::ONE;
    for h in (0..u64::from(probes)).rev() {
        let placed = if distinct { h } else { 0 };
        let share = T::ONE.over(T::whole(bits - placed));
        for (i, ones) in (first..=sigma).enumerate() {
            let stay = T::whole(ones.saturating_sub(placed)).times(share);
            let go = T::whole(bits - ones).times(share);
            chances[i] = chances[i].times(stay).plus(chances[i + 1].times(go));
        }
    }
    visits.iter().zip(chances).map(|(&visits, chance)| visits.times(chance)).collect()
}

/// Returns the distribution of the number of distinct positions among `draws` uniform positions out
/// of `bits`. Entry r is the probability of r distinct positions, for r from 0 to `draws`.
pub(crate) fn distinct_law<T: Positive>(draws: u32, bits: u64) -> Vec<T> {
    let mut law = vec![T::ZERO; draws as usize + 1];
    law[0] = T::ONE;
    let share = T::ONE.over(T::whole(bits));
    for draw in 1..=draws as usize {
        for r in (1..=draw).rev() {
            let old = law[r].times(T::whole(r as u64)).times(share);
            let new = law[r - 1].times(T::whole((bits + 1).saturating_sub(r as u64))).times(share);
            law[r] = old.plus(new);
        }
        law[0] = T::ZERO;
    }
    law
}
