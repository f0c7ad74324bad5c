//! A rate that, with a given probability, one blocked filter does not exceed. It follows from
//! Chernoff's bound on the exact joint law of the blocks.
//!
//! A filter of B blocks that holds n items has the rate `R = (1/B) sum_b Y_b` with
//! `Y_b = (X_b / 512)^k`, where `X_b` is the number of set bits in block b. The load `L_b` is the
//! number of items in block b. The loads are multinomial, and given the loads the blocks are
//! independent. Let `phi_l(t)` be `E[exp(t Y)]` for a block with l items. Let `[z^n]` denote the
//! coefficient of `z^n`. Then
//!
//! ```text
//! E exp(t sum_b Y_b) = n! / B^n [z^n] G(z)^B,   G(z) = sum_l z^l / l! phi_l(t).
//! ```
//!
//! For every `t > 0` and `z > 0`, Markov's inequality and Cauchy's formula on the circle of radius
//! z give
//!
//! ```text
//! P(R > p) <= e^(-t B p) n! / (B^n z^n) G(z)^B P(S = n),
//! ```
//!
//! Here S is a sum of B independent loads with probabilities proportional to `z^l / l! phi_l(t)`.
//! The dependence of the blocks is treated exactly: the coefficient of z^n expresses that the loads
//! have a fixed sum. So the bound is much sharper than Bennett's inequality for the negatively
//! associated loads (Joag-Dev and Proschan 1983; Dubhashi and Ranjan 1998). That inequality can use
//! only the sum of the variances of single blocks. At a rate of 1%, that sum is seven times the
//! variance of `sum_b Y_b`. The reason is that a block's rate is nearly linear in its load, and the
//! sum of the linear parts over all blocks is a constant.
//!
//! Let `lambda = n/B` and `z = lambda zeta`, and let `M = E[phi_L(t) - 1]` for a Poisson load L of
//! mean z. With Stirling's `n! <= sqrt(2 pi n) (n/e)^n e^(1/12n)`, the bound becomes:
//!
//! ```text
//! ln P(R > p) <= ln(sqrt(2 pi n) e^(1/12n) P(S = n)) + B (ln(1 + M) + lambda (zeta - 1 - ln zeta) - t p).
//! ```
//!
//! `P(S = n) <= (1/2 pi) integral |psi(s)|^B ds`, where `psi` is the characteristic function of one
//! load ([`local`]). Any t and zeta are valid, so the search for good ones needs no proof.
//!
//! *Full blocks.* A large t would give nearly all weight to blocks so full that they practically
//! never occur. So every `Y_b` is cut off at a level c:
//! `P(R > p) <= B P(Y > c) + P((1/B) sum_b min(Y_b, c) > p)`. The first term gets a share of the
//! allowed probability: one hundredth, or up to nine tenths if the fullest blocks dominate the
//! bound. A block's load is binomial with n and 1/B ([`binomial`]). If there is only one block, its
//! load is n, and the tail of its set bits is summed.
//!
//! *Rounding.* The `phi_l` are sums of positive terms from a recurrence whose factors (`x/512`) are
//! exact. Their relative error is below `3 * 2^-53` per ball (a position of an item), and therefore
//! below 5e-12 for the 15,000 balls that are allowed. [`ROUNDING`] covers this error, and the
//! errors of the sums and of the loads' weights.

use crate::exact::power::power;
use alloc::vec;
use alloc::vec::Vec;

/// The number of bits in a block.
const BITS: usize = crate::law::registry::BLOCK_BITS as usize;

/// An upper bound on the relative error of every sum in this file.
const ROUNDING: f64 = 1e-11;

/// Probabilities below this value are left out of the rows of a [`BlockLaw`], and added to the
/// bound separately.
const DROPPED: f64 = 1e-70;

/// The search for the parameters of the bound ignores probabilities below this value.
const LOOKED_AT: f64 = 1e-20;

/// The largest number of balls in a block for which rows are computed.
const MOST_BALLS: usize = 15_000;

/// The largest exponent of a [`Tilt`]. Even if dropped probabilities are multiplied by `e` to this
/// power, they are negligible.
const MOST_GROWTH: f64 = 60.0;

/// If `1 - c s_0^2` is above this value, the bound of [`by_curvature`] is too high by at most a few
/// percent.
const NEARLY_STRAIGHT: f64 = 0.9;

/// The largest number of residues that [`by_residues`] sums. Each takes a few hundred nanoseconds.
const MOST_RESIDUES: f64 = 2_000.0;

/// The largest number of steps in the search for a minimum. Each step is twice as long as the
/// previous one.
const MOST_STEPS: u32 = 12;

/// The largest number of points that are tried once the steps have enclosed the minimum.
const MOST_TRIALS: u32 = 10;

/// The shares of the allowed probability that blocks above the cut may get. The first share is used
/// unless full blocks dominate the bound.
const CUT_SHARES: [f64; 4] = [0.01, 0.1, 0.5, 0.9];

/// Full blocks dominate a [`Tilt`] if it multiplies the weight of a block at the cut by more than
/// `e` to this power, relative to the weight of an empty block.
const STEEP: f64 = 5.0;

/// The law of the number of set bits of one block, for each load.
pub(crate) struct BlockLaw {
    /// One row per load.
    rows: Vec<Row>,
    /// The rates `(x / 512)^k` for x set bits.
    rates: Vec<f64>,
}

/// The law of the number of set bits in a block with a given load.
struct Row {
    /// The number of set bits to which the first probability belongs.
    first: usize,
    law: Vec<f64>,
    /// The entries of the law that matter in the search for a tilt.
    core: core::ops::Range<usize>,
}

impl Row {
    fn new(first: usize, law: &[f64]) -> Row {
        let start = law.iter().position(|p| *p > LOOKED_AT).unwrap_or(0);
        let end = law.iter().rposition(|p| *p > LOOKED_AT).map_or(0, |last| last + 1);
        Row { first, law: law.to_vec(), core: start..end }
    }
}

/// The parameters of Chernoff's bound: any `t > 0` and any cut are valid.
#[derive(Clone, Debug)]
pub(crate) struct Tilt {
    t: f64,
    /// The share of the allowed probability that is used for the cut.
    share: f64,
    /// For every load, `E[exp(t min(Y, c)) - 1]` and `P(Y > c)`.
    loads: Vec<(f64, f64)>,
    /// The number `exp(t c) - 1`.
    most: f64,
}

impl Tilt {
    /// Whether full blocks dominate this tilt. If they do, the tilt gives a sharp bound for only a
    /// few other sizes.
    pub(crate) fn is_steep(&self) -> bool {
        libm::log1p(self.most) > STEEP
    }
}

impl BlockLaw {
    /// Computes rows for all loads with a relevant probability, for blocks of mean load `lambda`.
    /// Returns `None` if these loads reach [`MOST_BALLS`] balls in a block.
    pub(crate) fn new(probes: u32, lambda: f64) -> Option<BlockLaw> {
        // The rows end where the probability of a load is below 1e-20, with room for somewhat
        // higher mean loads.
        let loads = 1.3 * lambda + 12.0 * libm::sqrt(lambda) + 30.0;
        if loads.is_nan() || loads * f64::from(probes) >= MOST_BALLS as f64 {
            return None;
        }
        let rates = (0..=BITS).map(|ones| libm::pow(ones as f64 / BITS as f64, f64::from(probes)) * (1.0 + 1e-15)).collect();
        // The probability of x set bits is `now[x + 1]`, so that every x has a predecessor. The
        // factors are exact, and the lengths of the arrays are known to the compiler.
        let (mut now, mut next) = ([0.0f64; BITS + 2], [0.0f64; BITS + 2]);
        let stays: Vec<f64> = (0..=BITS).map(|ones| ones as f64 / BITS as f64).collect();
        let enters: Vec<f64> = (0..=BITS).map(|ones| (BITS + 1 - ones) as f64 / BITS as f64).collect();
        let (mut first, mut last) = (0usize, 0usize);
        now[1] = 1.0;
        let mut rows = vec![Row::new(0, &[1.0])];
        for _ in 0..loads as usize {
            for _ in 0..probes {
                let end = (last + 1).min(BITS);
                let parts = stays[first..=end].iter().zip(&enters[first..=end]).zip(now[first..=end].iter().zip(&now[first + 1..=end + 1]));
                for (slot, ((stays, enters), (before, old))) in next[first + 1..=end + 1].iter_mut().zip(parts) {
                    *slot = old * stays + before * enters;
                }
                core::mem::swap(&mut now, &mut next);
                // The entries next to the ones just written are left over from two balls ago.
                (now[first], last) = (0.0, end);
                if let Some(above) = now.get_mut(end + 2) {
                    *above = 0.0;
                }
                while now[first + 1] < DROPPED && first < last {
                    now[first + 1] = 0.0;
                    first += 1;
                }
                while now[last + 1] < DROPPED && last > first {
                    now[last + 1] = 0.0;
                    last -= 1;
                }
            }
            rows.push(Row::new(first, &now[first + 1..=last + 1]));
        }
        Some(BlockLaw { rows, rates })
    }

    /// Computes the tilted law, either with all entries (`all`) or only with those that the search
    /// for a tilt needs.
    fn tilted(&self, t: f64, (cut, share): (usize, f64), lambda: f64, all: bool) -> Tilt {
        let mut grown: Vec<f64> = (0..=cut).map(|ones| libm::expm1(t * self.rates[ones])).collect();
        grown.resize(BITS + 1, grown[cut]);
        // With a steep tilt, all entries matter: if the search left some out, the tilt would seem
        // to cost nothing.
        let is_steep = t * self.rates[cut] > STEEP;
        let searched = (lambda + 9.0 * libm::sqrt(lambda) + 12.0) as usize;
        let of_row = |row: &Row| {
            if !all && !is_steep {
                let growth = dot(&row.law[row.core.clone()], &grown[row.first + row.core.start..]);
                return (growth, 0.0);
            }
            let growth = dot(&row.law, &grown[row.first..]);
            (growth, if all { row.law.iter().skip((cut + 1).saturating_sub(row.first)).sum() } else { 0.0 })
        };
        let rows = if all || is_steep { self.rows.len() } else { searched.min(self.rows.len()) };
        Tilt { t, share, loads: self.rows[..rows].iter().map(of_row).collect(), most: grown[BITS] }
    }

    /// The number of blocks times the variance of the filter's rate, for a fixed sum of loads and
    /// for rates limited by the cut. The search for t starts from this number.
    fn scatter(&self, lambda: f64, cut: usize) -> f64 {
        let weights = poisson(lambda, self.rows.len());
        let (mut mean, mut square, mut with_load) = (0.0, 0.0, 0.0);
        for (load, (weight, row)) in weights.iter().zip(&self.rows).enumerate() {
            let core = row.core.clone();
            let moments = row.law[core.clone()].iter().zip(core).fold((0.0, 0.0), |(m, s), (p, i)| {
                let rate = self.rates[(row.first + i).min(cut)];
                (m + p * rate, s + p * rate * rate)
            });
            mean += weight * moments.0;
            square += weight * moments.1;
            with_load += weight * moments.0 * (load as f64 - lambda);
        }
        (square - mean * mean - with_load * with_load / lambda).max(1e-300)
    }

    /// A number of set bits. The probability that any block has more is at most `share` times the
    /// allowed probability.
    fn cut(&self, blocks: u64, items: u64, allowed: f64, share: f64) -> usize {
        let (weights, _) = binomial(blocks, items, self.rows.len());
        let mut law = [0.0f64; BITS + 1];
        for (weight, row) in weights.iter().zip(&self.rows) {
            law[row.first..].iter_mut().zip(&row.law).for_each(|(sum, p)| *sum += weight * p);
        }
        let (mut beyond, limit) = (0.0, 0.9 * share * allowed / blocks as f64);
        let past = law.iter().rposition(|p| {
            beyond += p;
            beyond > limit
        });
        past.unwrap_or(0)
    }

    /// Finds a tilt that is nearly the best for the given numbers of blocks and items. If a tilt
    /// `near` is given, the search starts there. The tilt also gives a sharp bound for neighbouring
    /// sizes. Returns `None` if the blocks are too full.
    pub(crate) fn tilt(&self, blocks: u64, items: u64, allowed: f64, near: Option<&Tilt>) -> Option<Tilt> {
        let lambda = items as f64 / blocks as f64;
        if blocks < 2 || lambda + 10.0 * libm::sqrt(lambda) + 15.0 > self.rows.len() as f64 {
            return None;
        }
        let growth = near.map(|near| libm::log1p(near.most));
        let mut best = self.tilt_with(near.map_or(CUT_SHARES[0], |near| near.share), blocks, items, allowed, growth)?;
        if near.is_none() && best.is_steep() {
            let mut least = self.kept(Some(&best), blocks, items, allowed);
            for share in &CUT_SHARES[1..] {
                let Some(other) = self.tilt_with(*share, blocks, items, allowed, Some(libm::log1p(best.most))) else { continue };
                let kept = self.kept(Some(&other), blocks, items, allowed);
                if kept < least {
                    (best, least) = (other, kept);
                }
            }
        }
        Some(best)
    }

    /// Like `tilt`, with one share of the allowed probability. If `near` is given, it is the
    /// exponent of the fullest blocks; the search then starts from this exponent, with shorter
    /// steps.
    fn tilt_with(&self, share: f64, blocks: u64, items: u64, allowed: f64, near: Option<f64>) -> Option<Tilt> {
        let (b, lambda) = (blocks as f64, items as f64 / blocks as f64);
        let cut = self.cut(blocks, items, allowed, share);
        let normal = || libm::sqrt(-2.0 * libm::log(allowed)) / libm::sqrt(b * self.scatter(lambda, cut));
        let kept = |ln: f64| self.about(&self.tilted(libm::exp(ln), (cut, share), lambda, false), blocks, items, allowed);
        let (step, close) = if near.is_some() { (0.2, 0.6) } else { (0.35, 0.3) };
        let start = libm::log(near.map_or_else(normal, |growth| growth / self.rates[cut]));
        let ln = lowest(kept, start, step, libm::log(MOST_GROWTH / self.rates[cut]), close);
        let t = libm::exp(ln);
        (t.is_finite() && t > 0.0).then(|| self.tilted(t, (cut, share), lambda, true))
    }

    /// Estimates the rate that [`Self::kept`] proves.
    pub(crate) fn about(&self, tilt: &Tilt, blocks: u64, items: u64, allowed: f64) -> f64 {
        let (b, lambda) = (blocks as f64, items as f64 / blocks as f64);
        let (zeta, grown, variance) = self.balance(tilt, b, lambda);
        let constant = 0.5 * libm::log(lambda / variance) - libm::log(allowed * (1.0 - tilt.share));
        (constant + b * (libm::log1p(grown) + lambda * less_logarithm(zeta))) / (tilt.t * b)
    }

    /// Computes three numbers: the zeta for which the tilted loads have the mean `lambda`, M at
    /// that zeta, and the variance of a tilted load. Newton's method is kept within a bracket,
    /// because the tilted loads may have two modes.
    fn balance(&self, tilt: &Tilt, blocks: f64, lambda: f64) -> (f64, f64, f64) {
        // The tilted mean rises with zeta, and is above lambda at 1.
        let (mut low, mut high, mut ln) = (-3.0, 0.0, 0.0);
        let mut found = (1.0, 0.0, lambda);
        // The Poisson probability of load l for the mean `lambda zeta` is the one for the mean
        // lambda, times `e^(-lambda (zeta - 1)) zeta^l`.
        let middle = poisson(lambda, tilt.loads.len());
        for _ in 0..40 {
            let zeta = libm::exp(ln);
            let (mut power, scale) = (1.0, libm::exp(-lambda * (zeta - 1.0)));
            let (mut sum, mut first, mut second, mut grown) = (0.0, 0.0, 0.0, 0.0);
            for (load, (weight, (growth, _))) in middle.iter().zip(&tilt.loads).enumerate() {
                let weight = weight * power * scale;
                power *= zeta;
                let (part, load) = (weight * (1.0 + growth), load as f64 - lambda);
                grown += weight * growth;
                sum += part;
                first += part * load;
                second += part * load * load;
            }
            let mean = first / sum;
            let variance = (second / sum - mean * mean).max(1e-3);
            found = (zeta, grown, variance);
            if mean.abs() < 1e-3 * libm::sqrt(variance / blocks) || high - low < 1e-15 {
                break;
            }
            if mean > 0.0 {
                high = ln
            } else {
                low = ln
            }
            let step = ln - mean / variance;
            ln = if step > low && step < high { step } else { low + (high - low) / 2.0 };
        }
        found
    }

    /// A rate that, with a probability of at least `1 - allowed`, a filter of `blocks` blocks with
    /// `items` items does not exceed. The result is 1 if there is no better bound. Every part of
    /// the bound is rounded up.
    pub(crate) fn kept(&self, tilt: Option<&Tilt>, blocks: u64, items: u64, allowed: f64) -> f64 {
        if blocks == 1 {
            return self.of_one_block(items, allowed);
        }
        let Some(tilt) = tilt else { return 1.0 };
        let (b, n, last) = (blocks as f64, items as f64, self.rows.len() as f64);
        // The quotient is rounded by at most an ulp, which the margins below cover.
        let lambda = n / b;
        let (zeta, _, _) = self.balance(tilt, b, lambda);
        let mean = lambda * zeta;
        if !(zeta > 0.0 && zeta.is_finite()) || mean > 0.7 * last {
            return 1.0;
        }
        // Adds the probability of loads beyond the rows, which falls faster than a geometric
        // series. Also adds the probabilities that were dropped from the rows, or are too small for
        // an f64.
        let beyond = |mean: f64, weights: &[f64]| weights[weights.len() - 1] * mean / last / (1.0 - mean / (last + 1.0)) + 1e4 * DROPPED;
        let (loads, more) = binomial(blocks, items, self.rows.len());
        let over = loads.iter().zip(&tilt.loads).map(|(weight, (_, over))| weight * over).sum::<f64>() + more + 1e4 * DROPPED;
        let left = (allowed - b * over * (1.0 + ROUNDING)) * (1.0 - 1e-12);
        if left <= 0.0 {
            return 1.0;
        }
        let weights = poisson(mean, self.rows.len());
        debug_assert_eq!(tilt.loads.len(), weights.len());
        let missing = beyond(mean, &weights) * (1.0 + 1e-9) * tilt.most;
        let grown = weights.iter().zip(&tilt.loads).map(|(weight, (growth, _))| weight * growth).sum::<f64>() * (1.0 + ROUNDING) + missing;
        let parts: Vec<f64> = weights.iter().zip(&tilt.loads).map(|(weight, (growth, _))| weight * (1.0 + growth)).collect();
        let stirling = 0.5 * libm::log(2.0 * core::f64::consts::PI * n) + 1.0 / (12.0 * n);
        let constant = stirling + libm::log(local(&parts, b, missing)) - libm::log(left);
        // These margins cover the rounding of the logarithms, which is below 1e-13 for each term.
        // They also cover the rounding of `zeta - 1 - ln zeta`, whose leading digits cancel.
        let excess = lambda * (less_logarithm(zeta) * (1.0 + 1e-11) + 1e-30);
        let exponent = constant + 1e-9 + b * (libm::log1p(grown) * (1.0 + ROUNDING) + excess);
        (exponent / (tilt.t * b) * (1.0 + ROUNDING)).min(1.0)
    }

    fn of_one_block(&self, items: u64, allowed: f64) -> f64 {
        let Some(row) = usize::try_from(items).ok().and_then(|items| self.rows.get(items)) else { return 1.0 };
        let mut beyond = 1e4 * DROPPED;
        let past = row.law.iter().rposition(|p| {
            beyond += p * (1.0 + ROUNDING);
            beyond > allowed
        });
        past.map_or(0.0, |past| self.rates[row.first + past] * (1.0 + 1e-15))
    }
}

/// Finds a point near the minimum of a curve that falls and then rises. From the start, the search
/// goes downhill in growing steps, until it has a point between two higher ones. Then it fits
/// parabolas through three points. The last parabola is fitted to points that are closer together
/// than `near`.
fn lowest(curve: impl Fn(f64) -> f64, start: f64, step: f64, last: f64, near: f64) -> f64 {
    let at = |x: f64| (x, curve(x));
    let start = start.min(last - step);
    let (mut low, mut mid, mut high, mut step) = (at(start - step), at(start), at(start + step), step);
    for _ in 0..MOST_STEPS {
        step *= 2.0;
        if low.1 < mid.1 {
            (low, mid, high) = (at(low.0 - step), low, mid);
        } else if high.1 < mid.1 && high.0 < last {
            (low, mid, high) = (mid, high, at((high.0 + step).min(last)));
        } else {
            break;
        }
    }
    for trial in 1..=MOST_TRIALS {
        let (left, right) = (mid.0 - low.0, high.0 - mid.0);
        let (down, up) = ((mid.1 - low.1) / left, (high.1 - mid.1) / right);
        let vertex = 0.5 * (low.0 + mid.0) - 0.5 * (left + right) * down / (up - down);
        // If one side is much longer, the curve there may rise so steeply that the parabola misses
        // the minimum. So that side is shortened first.
        let is_even = left < 2.0 * right && right < 2.0 * left;
        let is_last = trial == MOST_TRIALS || left + right < near;
        let next = if is_even || is_last {
            vertex
        } else if left > right {
            mid.0 - 0.38 * left
        } else {
            mid.0 + 0.38 * right
        };
        if !(next > low.0 && next < high.0) || next == mid.0 {
            break;
        }
        let found = at(next);
        let is_flat = is_even && (found.1 - mid.1).abs() < 1e-4 * mid.1.abs();
        match (found.1 < mid.1, found.0 < mid.0) {
            (true, true) => (mid, high) = (found, mid),
            (true, false) => (low, mid) = (mid, found),
            (false, true) => low = found,
            (false, false) => high = found,
        }
        if is_last || is_flat {
            break;
        }
    }
    if high.1 < mid.1 { high.0 } else { mid.0 }
}

/// The sum of the products of two slices, up to the length of the first, computed as eight sums in
/// parallel.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let b = &b[..a.len()];
    let ((heads, rest), (tails, others)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in heads.iter().zip(tails) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(others).map(|(a, b)| a * b).sum::<f64>()
}

/// The probabilities of a block's load, from 0 to `count - 1`, and the probability of a larger
/// load. They are binomial, and computed by ratios from the mode outwards. Then the probabilities
/// from 0 to `count - 1` are divided by their sum, so that they alone add up to 1. So these
/// probabilities can only be too high, except for a rounding error below 1e-12.
fn binomial(blocks: u64, items: u64, count: usize) -> (Vec<f64>, f64) {
    let (n, others) = (items as f64, (blocks - 1) as f64);
    // The probability of a load, divided by the probability of the load before it.
    let ratio = |load: usize| (n - (load as f64 - 1.0)).max(0.0) / (load as f64 * others);
    let mode = ((n / (others + 1.0)) as usize).min(count - 1);
    let mut all = vec![0.0; count];
    all[mode] = 1.0;
    for load in mode + 1..count {
        all[load] = all[load - 1] * ratio(load);
    }
    for load in (0..mode).rev() {
        all[load] = all[load + 1] / ratio(load + 1);
    }
    let sum: f64 = all.iter().sum();
    all.iter_mut().for_each(|weight| *weight /= sum);
    // Beyond `count`, the probabilities fall faster than a geometric series.
    let next = ratio(count);
    let more = if next < 1.0 { all[count - 1] * next / (1.0 - next) } else { 1.0 };
    (all, more)
}

/// The Poisson probabilities of 0 to `count - 1`, computed by ratios from the mode outwards. The
/// relative error is below 1e-12, because the logarithm of the first probability is at most a few
/// hundred.
fn poisson(mean: f64, count: usize) -> Vec<f64> {
    let mut all = vec![0.0; count];
    let mode = (mean as usize).min(count - 1);
    all[mode] = libm::exp(mode as f64 * libm::log(mean) - mean - libm::lgamma(mode as f64 + 1.0));
    for load in mode + 1..count {
        all[load] = all[load - 1] * (mean / load as f64);
    }
    for load in (0..mode).rev() {
        all[load] = all[load + 1] * ((load + 1) as f64 / mean);
    }
    all
}

/// The number `zeta - 1 - ln zeta`, computed without cancellation near 1, where it is the series
/// `d^2/2 - d^3/3 + ..` in `d = zeta - 1`.
fn less_logarithm(zeta: f64) -> f64 {
    let d = zeta - 1.0;
    if d.abs() > 0.01 {
        return d - libm::log(zeta);
    }
    d * d * (2..=12).rev().fold(0.0, |inner, i| 1.0 / f64::from(i) - d * inner)
}

/// An upper bound on `P(S = n)` for the sum S of `blocks` independent loads. The probabilities of a
/// load are proportional to `parts`; the sum of the parts is too low by at most `missing`.
fn local(parts: &[f64], blocks: f64, missing: f64) -> f64 {
    let sum: f64 = parts.iter().sum();
    let floor = sum * 1e-18;
    let first = parts.iter().position(|part| *part > floor).unwrap_or(0);
    let last = parts.iter().rposition(|part| *part > floor).unwrap_or(0);
    let law: Vec<f64> = parts[first..=last].iter().map(|part| part / sum).collect();
    let moment = |order: u32, about: f64| law.iter().enumerate().map(|(i, p)| p * power(i as f64 - about, order)).sum::<f64>();
    let mean = moment(1, 0.0);
    // The loads left out are beyond the last row, where probabilities fall by a third or more from
    // load to load. They add at most `2 share reach^4` to the fourth moment. They change the mean
    // and the variance by less than the margins.
    let (share, reach) = (missing / sum, parts.len() as f64);
    let variance = moment(2, mean) * (1.0 - 1e-9);
    let fourth = moment(4, mean) * (1.0 + 1e-6) + 2.0 * share * reach * reach * reach * reach;
    if variance.is_nan() || variance <= 0.0 || share.is_nan() || share > 1e-10 {
        return 1.0;
    }
    let (bound, straight) = by_curvature(&law, blocks, variance, fourth);
    if straight > NEARLY_STRAIGHT { bound } else { bound.min(by_residues(&law, blocks, variance)) }
}

/// Let `f(s)` be the square of the characteristic function of one load. This square is
/// `f(s) = 1 - sum_d w_d (1 - cos d s)`, where `w_d` is the probability that two independent loads
/// differ by d. If the variance is `V` and the fourth central moment is `F`, then
/// `1 - cos x >= x^2/2 - x^4/24` gives `f(s) <= 1 - V s^2 (1 - c s^2)` with
/// `c = (F + 3 V^2) / (12 V)`. So `f(s)^(B/2)` is at most a Gaussian up to
/// `s_0 = sqrt(2a / (B V))`, for the `a` chosen below. From there to `1 / sqrt(2c)`,
/// `s^2 (1 - c s^2)` rises, so `f(s)^(B/2)` is at most `exp(-a (1 - c s_0^2))`. Beyond that, `f` is
/// at most its largest value on a grid plus its largest possible rise between two grid points. This
/// rise is bounded because `|f'| <= E|L - L'| <= sqrt(2V)`, where L and L' are independent loads.
///
/// Returns the bound and `1 - c s_0^2`. The bound is too large by a factor of about
/// `1 / sqrt(1 - c s_0^2)`.
fn by_curvature(law: &[f64], blocks: f64, variance: f64, fourth: f64) -> (f64, f64) {
    let bend = (fourth + 3.0 * variance * variance) / (12.0 * variance);
    let a = 7.0 + 0.5 * libm::log(blocks);
    let start = libm::sqrt(2.0 * a / (blocks * variance));
    let (bent, end) = (1.0 - bend * start * start, libm::sqrt(0.5 / bend));
    if bent < 0.5 || start > end || end > 3.0 {
        return (1.0, bent);
    }
    let near = libm::sqrt(2.0 * core::f64::consts::PI / (blocks * variance * bent));
    let middle = 2.0 * end * libm::exp(-a * bent);
    let far = 2.0 * core::f64::consts::PI * libm::pow(highest(law, end, libm::sqrt(2.0 * variance)), 0.5 * blocks);
    (((near + middle + far) / (2.0 * core::f64::consts::PI) * (1.0 + 1e-8)).min(1.0), bent)
}

/// A bound for few blocks, for which the bound of [`by_curvature`] is weak. `P(S = n)` is at most
/// the probability that S and n are congruent modulo N. For every N, that probability is
/// `(1/N) sum_j psi(2 pi j / N)^B exp(-2 pi i j n / N)`, which is at most
/// `(1/N) sum_j |psi(2 pi j / N)|^B`. The loads that are left out, and the rounding, change `psi`
/// by less than 1e-9. N is about 16 standard deviations of S, because a larger N does not improve
/// the bound. The result is 1 if N would be too large.
fn by_residues(law: &[f64], blocks: f64, variance: f64) -> f64 {
    // N is odd, so that the values at j and N - j, which are conjugate, form pairs.
    let half = libm::ceil(8.0 * libm::sqrt(blocks * variance)) + 8.0;
    let residues = 2.0 * half + 1.0;
    if residues > MOST_RESIDUES {
        return 1.0;
    }
    let value = |j: u64| libm::pow(libm::sqrt(square(law, 2.0 * core::f64::consts::PI * j as f64 / residues)) + 1e-9, blocks);
    let rest: f64 = (1..=half as u64).map(value).sum();
    ((libm::pow(1.0 + 1e-9, blocks) + 2.0 * rest) / residues * (1.0 + 1e-9)).min(1.0)
}

/// The squared absolute value of the characteristic function, by Horner's scheme in `exp(is)`.
fn square(law: &[f64], s: f64) -> f64 {
    let (turn_re, turn_im) = (libm::cos(s), libm::sin(s));
    let (re, im) = law.iter().rev().fold((0.0, 0.0), |(re, im), p| (re * turn_re - im * turn_im + p, re * turn_im + im * turn_re));
    re * re + im * im
}

/// An upper bound on the squared characteristic function from `start` to pi.
fn highest(law: &[f64], start: f64, slope: f64) -> f64 {
    let points = libm::ceil(4.0 * slope * (core::f64::consts::PI - start)).max(1.0);
    let step = (core::f64::consts::PI - start) / points;
    let top = (0..points as u64).map(|i| square(law, start + (i as f64 + 0.5) * step)).fold(0.0, f64::max);
    (top + 0.5 * step * slope + 1e-9).min(1.0)
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
