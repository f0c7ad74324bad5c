//! Bounds and asymptotics for schemes that derive all positions of a key from two hashes. As a
//! filter with such a scheme grows, its rate approaches the rate of a filter with independent
//! positions. The functions of this module say how fast. They also bound the difference between the
//! rate of one filter and the mean rate.
//!
//! The theorems, lemmas, sections and figures are those of Kirsch and Mitzenmacher, *Building a
//! Better Bloom Filter*, sections 4 to 7. Errata K1 to K18 in `docs/ERRATA.md` correct the theorems
//! that are wrong.
//!
//! Notation: m is the number of bits, n the number of items, k the number of probes, and `c = m/n`
//! the number of bits per item. In the limit of large filters, `y = e^(-k/c)` is the share of empty
//! bits, and `q = 1 - y` is the share of set bits.
//!
//! For every scheme of this module, the rate converges to `q^k`. For large n, the rate is
//! `q^k + a/n` plus smaller terms. Some functions return the number a, the coefficient of 1/n. This
//! coefficient does not bound the rate of a given filter. For the rate of a given filter, use a
//! [`Law`].

use crate::exact::modular::gcd;
use crate::law::Double;
pub use crate::law::double::odd_step_constant;
use crate::{Law, binomial};

/// The prime `2^61 - 1`. A filter with this number of bits stands for the limit of large primes
/// (see [`Double::constant`]).
pub const LARGE_PRIME: u64 = (1 << 61) - 1;

/// The number `2^61`. A filter with this number of bits stands for the limit of large powers of two
/// (see [`Double::constant`]).
pub const LARGE_POWER_OF_TWO: u64 = 1 << 61;

/// A number of query positions, and the number of hash pairs that hit exactly this many of them.
pub(crate) type Hit = (u32, f64);

/// Returns the limit of the rate for large filters, `(1 - e^(-k/c))^k` (Theorems 5.1 and 5.2). The
/// limit is the same for all schemes of this module.
#[must_use]
pub fn limit_rate(bits_per_item: f64, probes: u32) -> f64 {
    libm::pow(Load::new(bits_per_item, probes).full, f64::from(probes))
}

/// The quantities that the formulas of this module share.
struct Load {
    c: f64,
    k: f64,
    empty: f64,
    full: f64,
}

impl Load {
    fn new(bits_per_item: f64, probes: u32) -> Load {
        let (c, k) = (bits_per_item, f64::from(probes));
        Load { c, k, empty: libm::exp(-k / c), full: -libm::expm1(-k / c) }
    }

    /// The power `q^(k - taken)`.
    fn power(&self, taken: f64) -> f64 {
        libm::pow(self.full, self.k - taken)
    }

    /// The second-order term in the expansion of `(1 - x/n)^n`, summed over the query's positions,
    /// up to a factor. Theorem 6.1 omits this term.
    fn curvature(&self) -> f64 {
        // Where the power is not defined at q = 0, its factor k (k-1) is 0.
        self.k * (self.k - 1.0) * self.empty * self.empty * self.power(2.0) - self.k * self.empty * self.power(1.0)
    }
}

/// Returns the coefficient of 1/n for a scheme. Three arguments describe the scheme. `fewer` lists
/// the queries with fewer than k positions, as `(positions, number of such queries among m)`.
/// `lost` is the sum, over all h2, of k minus the number of different positions. `several` lists
/// the pairs of hashes that hit several positions of a query.
///
/// ```text
/// const = (1/c) sum (q^r - q^k)
///       + (1/c^2) [ -lost k y q^(k-1) + sum (q^(k-s) - q^k - s y q^(k-1)) - (k^2/2) curvature ]
/// ```
///
/// The formula expands the inclusion-exclusion sum to order 1/n. Theorem 6.1 omits the first and
/// the last of these terms (errata K1, K2).
pub(crate) fn constant(bits_per_item: f64, probes: u32, fewer: &[(u32, f64)], lost: f64, several: &[Hit]) -> f64 {
    let load = Load::new(bits_per_item, probes);
    let whole = load.power(0.0);
    let queries: f64 = fewer.iter().map(|&(positions, count)| count * (libm::pow(load.full, f64::from(positions)) - whole)).sum();
    let once = load.empty * load.power(1.0);
    let pairs: f64 = several.iter().map(|&(size, count)| count * (load.power(f64::from(size)) - whole - f64::from(size) * once)).sum();
    let items = pairs - lost * load.k * once - load.k * load.k / 2.0 * load.curvature();
    queries / load.c + items / (load.c * load.c)
}

/// Returns the coefficient of 1/n in the rate of k independent positions.
#[must_use]
pub fn standard_constant(bits_per_item: f64, probes: u32) -> f64 {
    let load = Load::new(bits_per_item, probes);
    let repeats = load.k * (load.k - 1.0) / 2.0 / load.c * (load.power(1.0) - load.power(0.0));
    repeats - load.k / (2.0 * load.c * load.c) * load.curvature()
}

/// Returns the coefficient of 1/n in the rate of the partition scheme, which has one slice of the
/// array for each probe. The number of bits per slice must be a large prime. For other slices, see
/// [`slices_constant`].
///
/// Suppose that each of k independent bits is empty with probability y. Let B be the number of
/// empty bits. The coefficient is `(k^2/c^2) (1 - P(B=0) - P(B=1)/2 - P(B=2))`.
#[must_use]
pub fn partition_constant(bits_per_item: f64, probes: u32) -> f64 {
    let load = Load::new(bits_per_item, probes);
    let none = load.power(0.0);
    let one = load.k * load.empty * load.power(1.0);
    let two = if probes < 2 { 0.0 } else { load.k * (load.k - 1.0) / 2.0 * load.empty * load.empty * load.power(2.0) };
    load.k * load.k / (load.c * load.c) * (1.0 - none - one / 2.0 - two)
}

/// Returns the coefficient of 1/n in the rate of the partition scheme, for any number of bits per
/// slice. The number of bits per slice matters only through its divisors r that are smaller than k.
/// For k = 1, only r = 1 matters.
///
/// Let b be the second hash of an item minus the second hash of the query, modulo `slice_bits`. Let
/// r be the order of b: the smallest positive number for which `slice_bits` divides `r b`. The k
/// slices, numbered from 0, fall into r residue classes modulo r. The item hits either no position
/// of the query, or the query's positions in exactly the slices of one residue class. For a residue
/// class A, let `|A|` be its number of slices. Let `s(r)` be the sum of `q^(k-|A|) - q^k` over all
/// r classes. Euler's function `phi(r)` is the number of values b of order r. The coefficient is
///
/// ```text
/// (k^2/c^2) [ sum over r of phi(r) (s(r) - k y q^(k-1)) - curvature / 2 ]
/// where curvature = k (k-1) y^2 q^(k-2) - k y q^(k-1)
/// ```
///
/// If the number of bits per slice is a large prime, only the divisor 1 matters. Then
/// [`partition_constant`] gives the same result. The computation takes `k^2` steps.
///
/// ```
/// use truebloom_math::convergence::{partition_constant, slices_constant};
/// // At exactly 8 bits per item and 6 probes a slice has 4/3 bits per item, so 4 divides it: never a prime.
/// assert!((slices_constant(8.0, 6, 2_000_000) - 0.52546).abs() < 1e-5);
/// assert!((slices_constant(8.0, 6, 1_333_337) / partition_constant(8.0, 6) - 1.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn slices_constant(bits_per_item: f64, probes: u32, slice_bits: u64) -> f64 {
    let load = Load::new(bits_per_item, probes);
    let (whole, once) = (load.power(0.0), load.k * load.empty * load.power(1.0));
    let of_order = |order: u32| {
        let class = |first: u32| load.power(f64::from((probes - first).div_ceil(order))) - whole;
        f64::from(totient(order)) * ((0..order).map(class).sum::<f64>() - once)
    };
    // With one probe, only the order 1 is used. Its one class is the whole query.
    let orders = (1..probes.max(2)).filter(|&order| slice_bits.is_multiple_of(order.into()));
    load.k * load.k / (load.c * load.c) * (orders.map(of_order).sum::<f64>() - load.curvature() / 2.0)
}

/// Returns the number of integers from 1 to n that are coprime to n.
fn totient(n: u32) -> u32 {
    (1..=n).filter(|&i| gcd(i.into(), n.into()) == 1).count() as u32
}

/// Returns the limit of the rate for the best number of probes: `2^(-c ln 2)`, about `0.6185^c`
/// (Kirsch and Mitzenmacher, section 2). The best number of probes is `c ln 2`, which need not be a
/// whole number. For every whole number of probes, [`limit_rate`] is at least as high as this
/// result.
#[must_use]
pub fn best_limit_rate(bits_per_item: f64) -> f64 {
    libm::exp2(-bits_per_item * core::f64::consts::LN_2)
}

/// Returns the coefficient of 1/n that Theorem 6.1 states. The printed theorem is wrong, because it
/// omits the curvature term of [`slices_constant`] (erratum K1). This function is only for
/// comparison.
#[must_use]
pub fn theorem_6_1_printed(bits_per_item: f64, probes: u32) -> f64 {
    let load = Load::new(bits_per_item, probes);
    load.k * load.k / (load.c * load.c) * ((load.k - 1.0) * load.power(0.0) - load.k * load.power(1.0) + 1.0)
}

/// Returns `k^5 / (2 c^2)`, an upper bound on `n (rate - limit)`, where the limit is
/// [`limit_rate`]. Theorem 6.2 states it for the partition scheme, and Theorem 6.3 for double
/// hashing. The bound held in every case that was tried. For usual filters, it is far above the
/// actual difference.
#[must_use]
pub fn theorem_6_2_upper(bits_per_item: f64, probes: u32) -> f64 {
    libm::pow(f64::from(probes), 5.0) / (2.0 * bits_per_item * bits_per_item)
}

/// Returns the lower bound that Theorem 6.2 states for `n (rate - limit)` (see
/// [`theorem_6_2_upper`]). The bound is false (erratum K3). This function is only for comparison.
#[must_use]
pub fn theorem_6_2_lower_printed(bits_per_item: f64, probes: u32) -> f64 {
    let load = Load::new(bits_per_item, probes);
    let pairs = load.power(1.0) * (1.0 + load.empty) * libm::pow(load.k, 3.0) / 2.0;
    load.k * load.k / (load.c * load.c) * (1.0 - pairs)
}

/// Returns the lower bound that Theorem 6.3 states for `n (rate - limit)` (see
/// [`theorem_6_2_upper`]). The bound is false (erratum K4). This function is only for comparison.
#[must_use]
pub fn theorem_6_3_lower_printed(bits_per_item: f64, probes: u32) -> f64 {
    let load = Load::new(bits_per_item, probes);
    (1.0 - load.power(1.0) * (1.0 + load.empty) * libm::pow(load.k, 5.0) / 2.0) / (load.c * load.c)
}

/// Returns `items * pairs_of_events`, the upper bound of Lemma 6.1 on the rate minus its limit. In
/// the lemma, each event is one way in which an item can hit the query. `pairs_of_events` is the
/// sum, over all pairs of events, of the probability that both happen for the same item.
#[must_use]
pub fn lemma_6_1_upper(items: u64, pairs_of_events: f64) -> f64 {
    items as f64 * pairs_of_events
}

/// Three numbers that show how close a filter is to meeting conditions 3 and 4 of Lemma 4.1. The
/// conditions require that these numbers tend to 0 as filters grow.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Conditions {
    /// Condition 3: `n (p - k/m)`, where p is the probability that an item hits a given position.
    /// The value is at most 0, because some positions of an item can coincide. Such an item has
    /// fewer than k different positions (erratum K7).
    pub single: f64,
    /// Condition 4 for two different positions: `n p`, where p is an upper bound on the probability
    /// that an item hits both positions.
    pub pair: f64,
    /// Condition 4 for a single position: `n p`, where p is an upper bound on the probability that
    /// two probes of an item coincide at this position.
    pub repeat: f64,
}

/// Returns three numbers that show how close a filter with double hashing is to meeting the
/// conditions of Lemma 4.1. In the limit of large filters, all offsets meet the conditions, even
/// random offsets.
///
/// The numbers cannot be used to compare schemes. For example, the offsets `i^2` and `i^3` have the
/// same numbers, but items and queries share positions in different ways. With squares, the
/// positions of an item can be those of the query shifted by one probe, so nearly all are shared.
/// With cubes, an item whose hashes differ from those of the query shares only a few positions
/// (erratum K16).
#[must_use]
pub fn conditions(law: &Double, items: u64) -> Conditions {
    let (hits, shared, lost, pairs) = law.collision_counts();
    let n = items as f64;
    let single = hits as f64 / pairs as f64 - f64::from(law.probes()) / law.bits() as f64;
    Conditions { single: n * single, pair: n * shared as f64 / pairs as f64, repeat: n * lost as f64 / pairs as f64 }
}

/// Returns an upper bound on the probability that the rate R of one filter differs from the mean
/// rate by more than `distance`. The mean is over all seeds. The bound is
/// `2 exp(-2 d^2 m^2 / (n k^4))`, where d is `distance`.
///
/// The proof is McDiarmid's inequality. One item sets at most k bits. A random query checks any
/// given bit with probability at most `k/m`. So one item changes R by at most `k^2/m`. The bound
/// holds for double hashing with any offsets, and for the partition scheme. [`theorem_7_1`] is
/// similar, but measures the distance from the limit of the rate.
#[must_use]
pub fn rate_deviation(bits: u64, items: u64, probes: u32, distance: f64) -> f64 {
    let step = f64::from(probes) * f64::from(probes) / bits as f64;
    (2.0 * libm::exp(-2.0 * distance * distance / (items as f64 * step * step))).min(1.0)
}

/// Returns an upper bound on the probability that the rate R of one filter differs from p by more
/// than `distance`. Here p is the limit of the rate for large filters ([`limit_rate`]). This is
/// Theorem 7.1 with a corrected `xi = n k delta (2 lambda + n k delta)` (erratum K6).
///
/// `lambda` is `k^2 / c`. `delta` is the probability that an item hits a given position, minus
/// `lambda / (n k)`. A negative `delta` counts as 0. `bias` is the absolute difference between p
/// and the mean rate over all seeds. The result is 1 if `distance` is at most `bias`.
#[must_use]
pub fn theorem_7_1(items: u64, probes: u32, lambda: f64, delta: f64, bias: f64, distance: f64) -> f64 {
    let (n, excess) = (items as f64, items as f64 * f64::from(probes) * delta.max(0.0));
    let left = distance - bias;
    if left <= 0.0 {
        return 1.0;
    }
    (2.0 * libm::exp(-2.0 * n * left * left / (lambda * lambda + excess * (2.0 * lambda + excess)))).min(1.0)
}

/// Returns an upper bound on the probability that S differs from p by more than `distance` (Theorem
/// 7.2, third part). S is the share of false positives among `queries` new keys. The number p is
/// the limit of the rate for large filters ([`limit_rate`]). Both the filter and the queries are
/// random.
///
/// The bound is a sum of two bounds. Hoeffding's inequality bounds the probability that S differs
/// from the rate of the filter by more than half of `distance`. [`theorem_7_1`] bounds the
/// probability that the rate of the filter differs from p by more than half of `distance`. The
/// other parameters are those of [`theorem_7_1`].
#[must_use]
pub fn theorem_7_2(queries: u64, items: u64, probes: u32, lambda: f64, delta: f64, bias: f64, distance: f64) -> f64 {
    let of_queries = 2.0 * libm::exp(-(queries as f64) * distance * distance / 2.0);
    (of_queries + theorem_7_1(items, probes, lambda, delta, bias, distance / 2.0)).min(1.0)
}

/// Returns a normal approximation of the probability of `hits` false positives (Theorem 7.2, fourth
/// part). It is the normal density with mean `Q p` and variance `Q p (1-p)`, where Q is `queries`
/// and p is `rate`. Figure 2 of the paper shows this curve.
///
/// A random filter has a random rate R. Over random filters, the variance of the number of false
/// positives exceeds `Q p (1-p)` by `Q (Q-1) Var R`. So the approximation is good only if Q is much
/// smaller than n.
#[must_use]
pub fn hits_normal(queries: u64, rate: f64, hits: f64) -> f64 {
    let (mean, variance) = (queries as f64 * rate, queries as f64 * rate * (1.0 - rate));
    libm::exp(-(hits - mean) * (hits - mean) / (2.0 * variance)) / libm::sqrt(2.0 * core::f64::consts::PI * variance)
}

/// Returns the probability of exactly `hits` false positives among `queries` new keys, for one
/// filter with this `rate`. In one filter, the outcomes of the queries are independent. So the
/// number of false positives has a binomial distribution. Over random filters, its distribution is
/// a mixture of such distributions.
#[must_use]
pub fn hits_of_one_filter(queries: u64, rate: f64, hits: u64) -> f64 {
    binomial::probability(hits, queries, rate)
}

/// Returns the number of bits per item up to which the 1/n term is negligible, by the rule of thumb
/// at the end of section 6. "Negligible" means less than `share` times the rate. The rule,
/// corrected by erratum K8, is `c < (log2(n epsilon / (ln 2)^5) - 1.0131) / 2`, where epsilon is
/// `share`. This function returns the right side.
#[must_use]
pub fn negligible_up_to(items: u64, share: f64) -> f64 {
    (libm::log2(items as f64 * share / libm::pow(core::f64::consts::LN_2, 5.0)) - 1.0131) / 2.0
}
