//! Proven brackets of the number of items in a cycle, and of the average rate over a cycle. A cycle
//! is the time from one emptying of the filter to the next.
//!
//! Distinct items arrive one after another. W_i is the rate of the filter after i new items. An
//! item that passes does not change the filter. The cycle ends with the first item N for which
//! `W_N > r`, where r is the limit. W never falls, so `{N > i} = {W_i <= r}`. Item i + 1 passes
//! with probability W_i, so the expected number of items and the average rate are
//!
//! ```text
//! E[N] = sum over i >= 0 of P(W_i <= r)            average = E[sum of W_i over i < N] / E[N] = r - G / E[N]
//! G    = sum over i >= 0 of E[(r - W_i)^+]
//! ```
//!
//! Let `f(i) = E[W_i]`, let `n` be near the number of items at which f reaches r, and let `M` be
//! the mean of f over i < n, which the law gives exactly. Then the following bounds hold.
//!
//! * Jensen: `G >= n (r - M)`. Scarf: `G <= n (r - M) + D`, where D is the sum of `E[(W_i - r)^+]`
//!   over i below n, plus the sum of `E[(r - W_i)^+]` over i from n on. D is a small second-order
//!   term.
//! * Cantelli: `n - A <= E[N] <= n + C`, where A is the sum of `P(W_i > r)` over i below n, and C
//!   is the sum of `P(W_i <= r)` over i from n on.
//! * For any I, `c I` items consist of c groups of I items. If N > c I, no group on its own makes
//!   the rate exceed r, so `P(N > c I) <= P(N > I)^c`. Therefore, the sum of `P(N > i)` over all i
//!   from I on is at most `I q / (1 - q)` with `q = P(N > I)`.
//!
//! So `(n M - r A - D) / (n - A) <= average <= (n M + r C) / (n + C)`. All these probabilities are
//! monotone in i, so a single value bounds the sum over a range of items. The filter compares the
//! mean of its rounded weights with r. This mean exceeds W by at most u. So if `W_i <= r - u`, the
//! cycle continues, and if the cycle continues, `W_i <= r`. Therefore, lower bounds are computed at
//! r - u.

use super::super::{Bracket, Result};
use super::BlockedDesign;
use super::moments::after;
use crate::error::out_of_range;
use crate::exact::enclosure::Enclose;
use crate::law::Blocked;
use crate::try_bisect;
use crate::{Fpr, Law, Method};

/// The length of a range of items over which one value bounds the sum. The length is a sixth of the
/// distance of the range from n if the probability is high, and a third if it is low. Using ranges
/// increases the sums by about a tenth, which matters little because the sums are small.
fn stretch(first: u64, distance: u64, chance: f64) -> u64 {
    first.max(distance / if chance > 0.05 { 6 } else { 3 })
}

/// A sum over items ends when the bound on its remaining terms is at most this share of the sum so
/// far.
const TAIL: f64 = 1e-3;

/// A share of n. For a sum over the items from n on, the bound on the remaining terms may be larger
/// by this amount, which is about the rounding error of a variance of 0.
const ROUNDING: f64 = 1e-12;

/// The largest number of items in a cycle for which brackets are computed.
pub(super) const MOST_ITEMS: u64 = 1 << 61;

/// The average rate and the number of items of a cycle, as brackets.
pub(super) fn bracket(design: &BlockedDesign) -> Result<(Fpr, Bracket)> {
    let law = &design.law;
    let upper = design.limit;
    let lower = (upper - design.weights().most_rounded()).next_down();
    let items = crossing(law, upper)?;
    let first = first_stretch(design.blocks(), items);
    let below = below(law, items, first, lower, upper)?;
    let beyond = beyond(law, items, first, upper)?;
    combine(law, items, [lower, upper], below, beyond)
}

/// The length of the shortest ranges, which is much shorter than the standard deviation of N.
fn first_stretch(blocks: u64, items: u64) -> u64 {
    ((items as f64 / (128.0 * libm::sqrt(blocks as f64))) as u64).max(1)
}

/// The smallest number of items for which the expected rate is above the limit, to the precision of
/// an `f64`.
pub(super) fn crossing(law: &Blocked, limit: f64) -> Result<u64> {
    let above = |items: u64| Ok(law.fpr(items)?.value > limit);
    // Most limits allow more than one item per line.
    let (mut low, mut high) = (0, law.bits() / law.block_bits());
    while !above(high)? {
        if high > MOST_ITEMS {
            return out_of_range("limit", limit, "a rate that fewer than 2^61 items reach");
        }
        (low, high) = (high, 2 * high);
    }
    try_bisect(low + 1..=high, above)
}

/// Upper bounds on two sums over the items before n, or over the items from n on.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// The bound on the sum of the probabilities.
    chances: f64,
    /// The bound on the sum of the expected positive parts.
    parts: f64,
}

impl Sums {
    fn add(&mut self, items: u64, chance: f64, part: f64) {
        let items = (items as f64).next_up();
        self.chances = (self.chances + (items * chance).next_up()).next_up();
        self.parts = (self.parts + (items * part).next_up()).next_up();
    }
}

/// Bounds on the sums of `P(W_i > lower)` and `E[(W_i - upper)^+]` over i < n. Each range is
/// bounded by the values at its last item, which are the largest.
fn below(law: &Blocked, items: u64, first: u64, lower: f64, upper: f64) -> Result<Sums> {
    let mut sums = Sums::default();
    let mut last = items - 1;
    // For i = 0, W is 0, so the loop leaves it out.
    while last > 0 {
        let moments = after(law, last)?;
        let (chance, part) = (moments.above(lower), moments.excess(upper));
        // When the remaining items hardly matter, they form one range. This avoids the rates for
        // few items, which need many digits.
        let few = last as f64 * chance <= TAIL * sums.chances && last as f64 * part <= TAIL * sums.parts;
        let next = if few { 0 } else { last.saturating_sub(stretch(first, items - last, chance)) };
        sums.add(last - next, chance, part);
        last = next;
    }
    Ok(sums)
}

/// Bounds on the sums of `P(W_i <= r)` and `E[(r - W_i)^+]` over i >= n. Each range is bounded by
/// the values at its first item, which are the largest.
fn beyond(law: &Blocked, items: u64, first: u64, limit: f64) -> Result<Sums> {
    let mut sums = Sums::default();
    let mut at = items;
    loop {
        let moments = after(law, at)?;
        let chance = moments.at_most(limit);
        let rest = (at as f64 * chance / (1.0 - chance).next_down()).next_up() * (1.0 + 4.0 * f64::EPSILON);
        if chance < 0.5 && rest <= TAIL * sums.chances + ROUNDING * items as f64 {
            sums.add(1, rest, (limit * rest).next_up());
            return Ok(sums);
        }
        if at > MOST_ITEMS {
            return out_of_range("limit", limit, "a rate that fewer than 2^61 items reach");
        }
        let more = stretch(first, at - items, chance);
        sums.add(more, chance, moments.shortfall(limit));
        at += more;
    }
}

fn combine(law: &Blocked, items: u64, [lower, upper]: [f64; 2], below: Sums, beyond: Sums) -> Result<(Fpr, Bracket)> {
    let mean = if items == 1 { Fpr::ZERO } else { law.expected_before(items).fpr()? };
    let n = items as f64;
    // Margins for a few roundings, each with a relative error of 2^-53, in sums of positive terms.
    let (up, down) = (1.0 + 16.0 * f64::EPSILON, 1.0 - 16.0 * f64::EPSILON);
    let most = (n + beyond.chances) * up;
    let least = ((n * down - below.chances) * down).max(1.0);
    let known = (n * (mean.upper + (upper - lower)) + upper * beyond.chances) / (n + beyond.chances) * up;
    let unknown = (upper * below.chances + below.parts + beyond.parts) * up;
    let passed = (n * mean.lower * down - unknown) / least;
    let mut fpr = Fpr::bound((passed * down).max(0.0), known.min(upper));
    fpr.place(mean.value);
    Ok((fpr, Bracket { value: n.clamp(least, most), lower: least, upper: most, method: Method::Bound }))
}

#[cfg(test)]
mod tests {
    use super::super::every_state::{empty, one_more, own_rates};
    use super::*;
    use crate::law::InBlock;

    /// The true sums below n and from n on, computed from all states of tiny filters until they are
    /// full.
    fn exact(blocks: u32, block_bits: u32, probes: u32, items: u64, limit: f64) -> [Sums; 2] {
        let (mut states, mut sums) = (empty(blocks, block_bits), [Sums::default(); 2]);
        for item in 0.. {
            let rates = own_rates(&states, block_bits, probes);
            let (mut above, mut excess) = (0.0, 0.0);
            let (mut at_most, mut shortfall) = (0.0, 0.0);
            for (rate, chance) in rates {
                match rate > limit {
                    true => (above, excess) = (above + chance, excess + chance * (rate - limit)),
                    false => (at_most, shortfall) = (at_most + chance, shortfall + chance * (limit - rate)),
                }
            }
            if item < items {
                sums[0] = Sums { chances: sums[0].chances + above, parts: sums[0].parts + excess };
            } else {
                sums[1] = Sums { chances: sums[1].chances + at_most, parts: sums[1].parts + shortfall };
                if at_most < 1e-12 {
                    break;
                }
            }
            states = one_more(&states, block_bits, probes);
        }
        sums
    }

    /// Tests that each of the four bounds is at least the true sum, for every n, and that some
    /// bounds are close.
    #[test]
    fn sums_bound_those_of_every_state() {
        let mut nearest = [f64::INFINITY; 4];
        for (blocks, block_bits, probes) in [(1u32, 8u32, 3u32), (2, 4, 2), (3, 4, 1), (5, 2, 4), (9, 2, 2), (30, 1, 1)] {
            let law = Blocked::new((blocks * block_bits).into(), block_bits.into(), InBlock::Independent, probes).expect("in range");
            // These limits are not values that a filter's rate can take.
            for limit in [0.0301, 0.1703, 0.4507, 0.7309] {
                let n = crossing(&law, limit).expect("in range");
                for items in [n, n + 2, (n / 2).max(1)] {
                    let [below_exact, beyond_exact] = exact(blocks, block_bits, probes, items, limit);
                    let below = below(&law, items, 1, limit, limit).expect("in range");
                    let beyond = beyond(&law, items, 1, limit).expect("in range");
                    let truths = [below_exact.chances, below_exact.parts, beyond_exact.chances, beyond_exact.parts];
                    let bounds = [below.chances, below.parts, beyond.chances, beyond.parts];
                    for ((truth, bound), nearest) in truths.iter().zip(bounds).zip(&mut nearest) {
                        assert!(*truth <= bound * (1.0 + 1e-9) + 1e-10, "{truth} {bound}: {law:?} {limit} {items}");
                        if *truth > 1e-3 {
                            *nearest = nearest.min(bound / truth);
                        }
                    }
                }
            }
        }
        assert!(nearest.iter().all(|nearest| *nearest < 1.5), "the bounds are generous: {nearest:?}");
    }

    /// Tests the effect of each sum on the lower and the upper end of the bracket, for each term of
    /// the module's formulas.
    #[test]
    fn ends_are_those_of_the_formulas() {
        let law = Blocked::new(1_024 * 512, 512, InBlock::Independent, 6).expect("in range");
        let (items, r, u) = (70_000, 0.05, 1e-4);
        let (n, mean) = (items as f64, law.expected_before(items).fpr().expect("in range").value);
        let sums = |chances, parts| Sums { chances, parts };
        for (below, beyond) in [(sums(500.0, 0.0), sums(0.0, 0.0)), (sums(0.0, 2.0), sums(700.0, 3.0)), (sums(30.0, 1.0), sums(0.0, 0.0))] {
            let (fpr, count) = combine(&law, items, [r - u, r], below, beyond).expect("in range");
            let near = |found: f64, exact: f64| assert!((found / exact - 1.0).abs() < 1e-12, "{found} {exact}");
            near(count.lower, n - below.chances);
            near(count.upper, n + beyond.chances);
            near(fpr.lower, (n * mean - r * below.chances - below.parts - beyond.parts) / (n - below.chances));
            near(fpr.upper, (n * (mean + u) + r * beyond.chances) / (n + beyond.chances));
        }
    }
}
