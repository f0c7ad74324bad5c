//! Bounds and limits for the rates of schemes that derive all positions of a key from two hashes.
//! As a filter with such a scheme grows, its rate approaches the rate of a filter with independent
//! positions. The functions of this module say how fast the rate approaches this limit. Other
//! functions bound the difference between the rate of one filter and the mean rate.
//!
//! The theorems, lemmas, sections and figures are those of Kirsch and Mitzenmacher, *Building a
//! Better Bloom Filter*, sections 4 to 7. Errata K1 to K18 in `docs/ERRATA.md` correct the theorems
//! that are wrong.
//!
//! Notation: m is the number of bits, n the number of items, k the number of probes, and `c = m/n`
//! the number of bits per item. In the limit of large filters, `y = e^(-k/c)` is the share of empty
//! bits, and `q = 1 - y` is the share of set bits.
//!
//! For every scheme of this module, the rate converges to `q^k` as the filter grows. For large n,
//! the rate is `q^k + a/n`, plus terms that tend to 0 faster than 1/n. Some functions return the
//! number a, the coefficient of 1/n. This coefficient does not bound the rate of a given filter.
//! For the rate of a given filter, use a [`Law`].

use crate::exact::modular::gcd;
use crate::law::Double;
pub use crate::law::double::odd_step_constant;
use crate::{Law, binomial};

/// The prime `2^61 - 1`. To get [`Double::constant`] for large primes, use this number of bits.
pub const LARGE_PRIME: u64 = (1 << 61) - 1;

/// The number `2^61`. To get [`Double::constant`] for large powers of two, create the [`Double`]
/// with this number of bits.
pub const LARGE_POWER_OF_TWO: u64 = 1 << 61;

/// A number of query positions, and the number of hash pairs that hit exactly this many of them.
pub(crate) type Hit = (u32, f64);

/// Returns the limit that the rate approaches as filters grow: `(1 - e^(-k/c))^k`, where k is the
/// number of probes, and c the number of bits per item. The limit is the same for all schemes of
/// this module (Theorems 5.1 and 5.2 of Kirsch and Mitzenmacher).
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

/// Returns `a`, the coefficient of `1/n` in the rate of a filter with independent positions. With n
/// items, the rate of such a filter is about [`limit_rate`] plus a/n.
#[must_use]
pub fn standard_constant(bits_per_item: f64, probes: u32) -> f64 {
    let load = Load::new(bits_per_item, probes);
    let repeats = load.k * (load.k - 1.0) / 2.0 / load.c * (load.power(1.0) - load.power(0.0));
    repeats - load.k / (2.0 * load.c * load.c) * load.curvature()
}

/// Returns `a`, the coefficient of `1/n` in the rate of the partition scheme. With n items, the
/// rate is about [`limit_rate`] plus a/n. The partition scheme divides the array into one slice for
/// each probe. The result is correct only if the number of bits per slice is a large prime. For
/// other slices, use [`slices_constant`].
///
/// Let k be the number of probes, and c the number of bits per item. Suppose that each of k
/// independent bits is empty with probability `e^(-k/c)`. Let B be the number of empty bits among
/// these k bits. The coefficient is `(k^2/c^2) (1 - P(B=0) - P(B=1)/2 - P(B=2))`.
#[must_use]
pub fn partition_constant(bits_per_item: f64, probes: u32) -> f64 {
    let load = Load::new(bits_per_item, probes);
    let none = load.power(0.0);
    let one = load.k * load.empty * load.power(1.0);
    let two = if probes < 2 { 0.0 } else { load.k * (load.k - 1.0) / 2.0 * load.empty * load.empty * load.power(2.0) };
    load.k * load.k / (load.c * load.c) * (1.0 - none - one / 2.0 - two)
}

/// Returns `a`, the coefficient of `1/n` in the rate of the partition scheme, for any number of
/// bits per slice. With n items, the rate is about [`limit_rate`] plus a/n. The partition scheme
/// divides the array into k slices, one for each probe.
///
/// Let c be the number of bits per item, `y = e^(-k/c)`, and `q = 1 - y`. Let b be the second hash
/// of an item minus the second hash of the query, modulo `slice_bits`. The order of b is the
/// smallest positive number r for which `slice_bits` divides `r b`. For each divisor r of
/// `slice_bits`, `phi(r)` values of b have order r, where phi is Euler's function.
///
/// Let the slices have the numbers 0 to `k - 1`. For a given r, two slices belong to the same class
/// if their numbers are equal modulo r. So there are r classes. If b has order r, there are two
/// cases: the item hits the query's position in all slices of one class and in no others, or in no
/// slice at all. Let `|A|` be the number of slices in a class A. Let `s(r)` be the sum of
/// `q^(k-|A|) - q^k` over the r classes A. The coefficient is
///
/// ```text
/// (k^2/c^2) [ sum over r of phi(r) (s(r) - k y q^(k-1)) - curvature / 2 ]
/// where curvature = k (k-1) y^2 q^(k-2) - k y q^(k-1)
/// ```
///
/// The sum is over the divisors r of `slice_bits` that are smaller than k. For k = 1, the sum has
/// only the term for r = 1. The same is true if the number of bits per slice is a large prime. Then
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

/// Returns the limit of the rate for large filters with the best number of probes. With c bits per
/// item, the limit is `2^(-c ln 2)`, about `0.6185^c` (Kirsch and Mitzenmacher, section 2). The
/// best number of probes is `c ln 2`, which need not be a whole number. For every whole number of
/// probes, the result of [`limit_rate`] is at least as high as this limit.
#[must_use]
pub fn best_limit_rate(bits_per_item: f64) -> f64 {
    libm::exp2(-bits_per_item * core::f64::consts::LN_2)
}

/// Returns the coefficient of 1/n in the rate, as printed in Theorem 6.1 of Kirsch and
/// Mitzenmacher. The printed theorem is wrong, because the proof drops a term. The formula of
/// [`slices_constant`] contains this term under the name `curvature` (erratum K1). This function is
/// only for comparison.
#[must_use]
pub fn theorem_6_1_printed(bits_per_item: f64, probes: u32) -> f64 {
    let load = Load::new(bits_per_item, probes);
    load.k * load.k / (load.c * load.c) * ((load.k - 1.0) * load.power(0.0) - load.k * load.power(1.0) + 1.0)
}

/// Returns `k^5 / (2 c^2)`, an upper bound on `n (rate - limit)`. Here n is the number of items, k
/// the number of probes, c the number of bits per item, and the limit is [`limit_rate`]. Theorem
/// 6.2 of Kirsch and Mitzenmacher states this bound for the partition scheme, and Theorem 6.3
/// states it for double hashing. The bound held in every case that was tried. For usual filters,
/// the bound is far above the actual value of `n (rate - limit)`.
#[must_use]
pub fn theorem_6_2_upper(bits_per_item: f64, probes: u32) -> f64 {
    libm::pow(f64::from(probes), 5.0) / (2.0 * bits_per_item * bits_per_item)
}

/// Returns the lower bound on `n (rate - limit)` that is printed in Theorem 6.2 of Kirsch and
/// Mitzenmacher. Here n is the number of items, and the limit is [`limit_rate`]. The printed bound
/// is false (erratum K3). This function is only for comparison.
#[must_use]
pub fn theorem_6_2_lower_printed(bits_per_item: f64, probes: u32) -> f64 {
    let load = Load::new(bits_per_item, probes);
    let pairs = load.power(1.0) * (1.0 + load.empty) * libm::pow(load.k, 3.0) / 2.0;
    load.k * load.k / (load.c * load.c) * (1.0 - pairs)
}

/// Returns the lower bound on `n (rate - limit)` that is printed in Theorem 6.3 of Kirsch and
/// Mitzenmacher. Here n is the number of items, and the limit is [`limit_rate`]. The printed bound
/// is false (erratum K4). This function is only for comparison.
#[must_use]
pub fn theorem_6_3_lower_printed(bits_per_item: f64, probes: u32) -> f64 {
    let load = Load::new(bits_per_item, probes);
    (1.0 - load.power(1.0) * (1.0 + load.empty) * libm::pow(load.k, 5.0) / 2.0) / (load.c * load.c)
}

/// Returns `items * pairs_of_events`. According to Lemma 6.1 of Kirsch and Mitzenmacher, the rate
/// exceeds [`limit_rate`] by at most this number. In the lemma, each event is one way in which an
/// item can hit positions of the query. `pairs_of_events` is a sum over all pairs of events. Each
/// term is the probability that both events happen for the same item.
#[must_use]
pub fn lemma_6_1_upper(items: u64, pairs_of_events: f64) -> f64 {
    items as f64 * pairs_of_events
}

/// Three numbers that show how close a filter is to meeting conditions 3 and 4 of Lemma 4.1 of
/// Kirsch and Mitzenmacher. The conditions require that these numbers tend to 0 as filters grow.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Conditions {
    /// `n (p - k/m)`: the number that condition 3 requires to tend to 0. Here n is the number of
    /// items, k the number of probes, m the number of bits, and p the probability that an item hits
    /// a given position. The number is at most 0, because an item can have fewer than k different
    /// positions (erratum K7).
    pub single: f64,
    /// `n p`: the first of the two numbers that condition 4 requires to tend to 0. Here n is the
    /// number of items, and p is an upper bound on the probability that an item hits two given
    /// positions.
    pub pair: f64,
    /// `n p`: the second of the two numbers that condition 4 requires to tend to 0. Here n is the
    /// number of items. For any fixed position, p is an upper bound on the probability that two
    /// probes of an item both hit it.
    pub repeat: f64,
}

/// Returns three numbers that show how close a filter with double hashing is to meeting the
/// conditions of Lemma 4.1 of Kirsch and Mitzenmacher. The conditions are about limits as the
/// filter grows. In the limit, a filter meets the conditions whatever its offsets are, even if they
/// are random.
///
/// These numbers do not show which offsets give a lower rate. For example, the numbers are the same
/// for the offsets `i^2` and `i^3`. But with the offsets `i^2`, an item can share nearly all
/// positions of the query, even if its hashes differ from those of the query. With the offsets
/// `i^3`, such an item shared only a few positions in the cases that were tried (erratum K16).
#[must_use]
pub fn conditions(law: &Double, items: u64) -> Conditions {
    let (hits, shared, lost, pairs) = law.collision_counts();
    let n = items as f64;
    let single = hits as f64 / pairs as f64 - f64::from(law.probes()) / law.bits() as f64;
    Conditions { single: n * single, pair: n * shared as f64 / pairs as f64, repeat: n * lost as f64 / pairs as f64 }
}

/// Returns an upper bound on the probability that the rate R of one filter differs from the mean
/// rate by more than `distance`. The mean is over all seeds. The bound is
/// `2 exp(-2 d^2 m^2 / (n k^4))`, where d is `distance`, m the number of bits, n the number of
/// items, and k the number of probes.
///
/// The bound follows from McDiarmid's inequality. One item sets at most k bits. A random query
/// checks any given bit with probability at most `k/m`. So one item changes R by at most `k^2/m`.
/// The bound holds for double hashing with any offsets, and for the partition scheme.
/// [`theorem_7_1`] is similar, but bounds the difference between R and [`limit_rate`].
#[must_use]
pub fn rate_deviation(bits: u64, items: u64, probes: u32, distance: f64) -> f64 {
    let step = f64::from(probes) * f64::from(probes) / bits as f64;
    (2.0 * libm::exp(-2.0 * distance * distance / (items as f64 * step * step))).min(1.0)
}

/// Returns an upper bound on the probability that the rate of one filter differs from p by more
/// than `distance`. Here p is the limit of the rate for large filters ([`limit_rate`]). The bound
/// is `2 exp(-2 n (distance - bias)^2 / (lambda^2 + xi))`, where
/// `xi = n k delta (2 lambda + n k delta)`. This is Theorem 7.1 of Kirsch and Mitzenmacher, with
/// the value of xi corrected by erratum K6.
///
/// Here n is the number of items, and k the number of probes. The parameter `lambda` is `k^2 / c`,
/// where c is the number of bits per item. The parameter `delta` is the probability that an item
/// hits a given position, minus `lambda / (n k)`. A negative `delta` counts as 0. The parameter
/// `bias` is the absolute difference between p and the mean rate over all seeds. The result is 1 if
/// `distance` is at most `bias`.
#[must_use]
pub fn theorem_7_1(items: u64, probes: u32, lambda: f64, delta: f64, bias: f64, distance: f64) -> f64 {
    let (n, excess) = (items as f64, items as f64 * f64::from(probes) * delta.max(0.0));
    let left = distance - bias;
    if left <= 0.0 {
        return 1.0;
    }
    (2.0 * libm::exp(-2.0 * n * left * left / (lambda * lambda + excess * (2.0 * lambda + excess)))).min(1.0)
}

/// Returns an upper bound on the probability that S, the share of false positives among `queries`
/// new keys, differs from p by more than `distance`. Here p is the limit of the rate for large
/// filters ([`limit_rate`]). Both the filter and the queries are random. The bound is the third
/// part of Theorem 7.2 of Kirsch and Mitzenmacher.
///
/// The bound is a sum of two bounds. Hoeffding's inequality bounds the probability that S, the
/// share of false positives, is more than `distance / 2` away from the rate of the filter.
/// [`theorem_7_1`] bounds the probability that the rate of the filter is more than `distance / 2`
/// away from p. The other parameters are those of [`theorem_7_1`].
#[must_use]
pub fn theorem_7_2(queries: u64, items: u64, probes: u32, lambda: f64, delta: f64, bias: f64, distance: f64) -> f64 {
    let of_queries = 2.0 * libm::exp(-(queries as f64) * distance * distance / 2.0);
    (of_queries + theorem_7_1(items, probes, lambda, delta, bias, distance / 2.0)).min(1.0)
}

/// Returns a normal approximation of the probability of `hits` false positives among `queries` new
/// keys. It is the normal density with mean `Q p` and variance `Q p (1-p)`, where Q is `queries`
/// and p is `rate`. The approximation is the fourth part of Theorem 7.2 of Kirsch and Mitzenmacher.
/// Figure 2 of their paper shows this curve.
///
/// The rate R of a random filter is random. Let p be its mean, and `Var R` its variance. Over
/// random filters, the variance of the number of false positives exceeds `Q p (1-p)` by
/// `Q (Q-1) Var R`. So the approximation is good only if Q is much smaller than the number of
/// items.
#[must_use]
pub fn hits_normal(queries: u64, rate: f64, hits: f64) -> f64 {
    let (mean, variance) = (queries as f64 * rate, queries as f64 * rate * (1.0 - rate));
    libm::exp(-(hits - mean) * (hits - mean) / (2.0 * variance)) / libm::sqrt(2.0 * core::f64::consts::PI * variance)
}

/// Returns the probability of exactly `hits` false positives among `queries` new keys, for one
/// filter with this `rate`. In one filter, the outcomes of the queries are independent. So the
/// number of false positives has a binomial distribution. Over random filters, the distribution of
/// the number of false positives is a mixture of binomial distributions.
#[must_use]
pub fn hits_of_one_filter(queries: u64, rate: f64, hits: u64) -> f64 {
    binomial::probability(hits, queries, rate)
}

/// Returns a number of bits per item. With fewer bits per item, the rate is close to
/// [`limit_rate`]. This is the rule of thumb at the end of section 6 of Kirsch and Mitzenmacher.
/// For a filter with n items, the rate is about [`limit_rate`] plus a/n, where a does not depend on
/// n. "Close" means that a/n is less than `share` times the rate. With the correction of erratum
/// K8, the rule is `c < (log2(n epsilon / (ln 2)^5) - 1.0131) / 2`. Here c is the number of bits
/// per item, and epsilon is `share`. This function returns the right side.
#[must_use]
pub fn negligible_up_to(items: u64, share: f64) -> f64 {
    (libm::log2(items as f64 * share / libm::pow(core::f64::consts::LN_2, 5.0)) - 1.0131) / 2.0
}
