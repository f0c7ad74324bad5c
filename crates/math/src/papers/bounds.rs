//! Bounds from the papers: Burns' theorem 15 and corollary 23, with a separate bracket for each
//! term.
//!
//! These bounds are for comparison and for the papers' tables; plans use exact rates. Every term is
//! computed in integer arithmetic and rounded to the safe side, so an upper bound stays an upper
//! bound. The documentation of each term says whether the inequality is proven. Two of Burns'
//! inequalities hold in all cases that were tried, but have no valid proof.

use crate::error::out_of_range;
use crate::exact::combine::{Power, ProductOf};
use crate::exact::dyadic::Dyadic;
use crate::exact::enclosure::{Enclose, Enclosure};
use crate::exact::fixed::{self, Divisor};
use crate::exact::work;
use crate::law::fill::{Mean, empties};
use crate::law::inclusion::{Inclusion, Items, Query};
use crate::law::mixture::{Mixture, Positions};
use crate::law::ratios::Ratios;
use crate::{Fpr, Result, Variant};
use alloc::boxed::Box;
use alloc::vec::Vec;
use alloc::{format, vec};

/// The terms of Burns' theorem 15 for a given number `r` of bits, from the largest to the smallest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chain {
    /// The power `(mu/m)^r`, where `mu` is the mean number of set bits of the classic filter.
    pub mean_power: Fpr,
    /// The probability that `r` given bits of the classic filter are all set. It is at most
    /// [`Chain::mean_power`], because the set bits are negatively associated.
    pub distinct: Fpr,
    /// The ratio `C(mu, r) / C(m, r)`, which is at most [`Chain::distinct`] by Jensen's inequality.
    pub mean_binomial: Fpr,
    /// The probability that `r` given bits are all set by `nk` single throws. This probability is
    /// at most [`Chain::distinct`]: if every throw that repeats a bit of its item is thrown again
    /// until it hits a new bit, at least as many bits are set. Burns' last inequality says that
    /// this probability is also at most [`Chain::mean_binomial`]. The printed proof of this
    /// inequality has a false step. A search found no counterexample with m up to 18 and n up to 8,
    /// and none in 344 larger cases.
    pub single: Fpr,
}

/// Burns' corollary 23: both the standard and the classic expected rate lie between
/// [`RateBounds::lower`] and [`RateBounds::upper`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RateBounds {
    /// The right side of Burns (64), which is `C(mu, k) / C(m, k)`. Here, `mu` is the mean number
    /// of set bits of the standard filter. The value is 0 if `mu` is at most `k - 1`. It is at most
    /// [`RateBounds::lower`] by Jensen's inequality, because the function that is `C(x, k)` above
    /// `k - 1` and 0 below is convex.
    pub lower_by_mean: Fpr,
    /// L: the probability that `k` different bits are all set by `nk` single throws. L is the left
    /// side of Burns (64), and proven to be a lower bound on both rates. A query of the standard
    /// filter may repeat positions, which can only help the query to pass. An item of the classic
    /// filter has distinct positions, which can only set more bits.
    pub lower: Fpr,
    /// U: Bloom's formula `(1 - (1 - k/m)^n)^k`, equation (65) of Burns. It is proven to be an
    /// upper bound for the classic filter. For the standard filter, the proof depends on the last
    /// inequality of theorem 15, whose printed proof has a false step (see [`Chain::single`]). No
    /// counterexample is known.
    pub upper: Fpr,
}

/// Returns the terms of Burns' theorem 15 for r = `order` given bits of a filter with `bits` bits
/// and `items` items of `probes` bits each.
///
/// The parameters must satisfy `items >= 1`, `probes <= bits` and
/// `order <= min(probes, bits - probes)`. The computation takes `order^2` steps with integers that
/// have about `order` more bits than an `f64`.
///
/// ```
/// let chain = truebloom_math::bounds::chain(1_000, 50, 10, 10)?;
/// assert!(chain.mean_power.lower >= chain.distinct.upper && chain.mean_binomial.lower >= chain.single.upper);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if the parameters do not satisfy the conditions above.
pub fn chain(bits: u64, items: u64, probes: u32, order: u32) -> Result<Chain> {
    let _work = work::begin();
    check(bits, items, probes)?;
    let most = u64::from(probes).min(bits - u64::from(probes));
    if u64::from(order) > most {
        return out_of_range("order", order, format!("at most min(probes, bits - probes) = {most}"));
    }
    if order == 0 {
        return Ok(Chain { mean_power: Fpr::ONE, distinct: Fpr::ONE, mean_binomial: Fpr::ONE, single: Fpr::ONE });
    }
    let classic = filter(Items::Distinct, bits, items, probes);
    Ok(Chain {
        mean_power: Power { base: Mean(classic), exponent: order.into() }.fpr()?,
        distinct: all_set(classic, order)?,
        mean_binomial: mean_binomial(classic, order)?,
        single: all_set(filter(Items::Independent, bits, items, probes), order)?,
    })
}

/// Returns the bounds of Burns' corollary 23 for the expected rates with `items` items (at least
/// 1).
///
/// The parameters must be in Burns' range, `probes <= (bits - 1) / 2`.
///
/// ```
/// use truebloom_math::{Variant, bounds};
/// let bounds = bounds::rates(1_000, 20, 34)?;
/// let (standard, classic) = (Variant::Standard.fpr(1_000, 20, 34)?, Variant::Classic.fpr(1_000, 20, 34)?);
/// assert!(bounds.lower.upper < classic.lower && standard.upper < bounds.upper.lower);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range, or the sum over the bits would be too long.
pub fn rates(bits: u64, items: u64, probes: u32) -> Result<RateBounds> {
    let _work = work::begin();
    check(bits, items, probes)?;
    if u64::from(probes) > (bits - 1) / 2 {
        return out_of_range("probes", probes, format!("at most (bits - 1) / 2 = {}", (bits - 1) / 2));
    }
    let single = filter(Items::Independent, bits, items, probes);
    Ok(RateBounds {
        lower_by_mean: mean_binomial(single, probes)?,
        lower: Inclusion { query: Query::Distinct, ..single }.fpr()?,
        upper: Power { base: Mean(filter(Items::Distinct, bits, items, probes)), exponent: probes.into() }.fpr()?,
    })
}

/// Returns the probability `m (m-1) .. (m-k+1) / m^k` that the independent positions of one item
/// are all different. Burns (section 3) calls such an item a collision-free code word. The
/// probability is 0 if there are more probes than bits.
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn collision_free(bits: u64, probes: u32) -> Result<Fpr> {
    Variant::Standard.check(bits, probes)?;
    Ratios::new((0..u64::from(probes)).map(|i| (bits.saturating_sub(i), bits))).rate()
}

fn check(bits: u64, items: u64, probes: u32) -> Result<()> {
    Variant::Classic.check(bits, probes)?;
    if items == 0 {
        return out_of_range("items", items, "at least 1");
    }
    Ok(())
}

fn filter(placement: Items, bits: u64, items: u64, probes: u32) -> Inclusion {
    Inclusion { query: Query::Independent, placement, bits, items, probes }
}

/// The probability that `order` given bits are all set. The probability is 0 if there are fewer
/// than `order` throws.
fn all_set(filter: Inclusion, order: u32) -> Result<Fpr> {
    if u128::from(filter.items) * u128::from(filter.probes) < u128::from(order) {
        return Ok(Fpr::ZERO);
    }
    Mixture { positions: Positions::Distinct(order), filters: vec![filter] }.fpr()
}

/// The ratio `C(mu, r) / C(m, r)`. The ratio is 0 if the mean does not exceed `r - 1` by more than
/// rounding.
fn mean_binomial(filter: Inclusion, order: u32) -> Result<Fpr> {
    let mean = filter.bits as f64 * Mean(filter).fpr()?.value;
    if mean - f64::from(order - 1) <= 1e-12 * mean {
        return Ok(Fpr::ZERO);
    }
    ProductOf((0..order).map(|i| Box::new(MeanFactor { filter, i }) as Box<dyn Enclose>).collect()).fpr()
}

/// A factor `(mu - i) / (m - i) = 1 - g_1 m / (m - i)` of [`mean_binomial`], known to be positive.
struct MeanFactor {
    filter: Inclusion,
    i: u32,
}

impl Enclose for MeanFactor {
    fn attempt(&self, limbs: usize) -> Result<Enclosure> {
        let [mut low, _] = empties(&self.filter, limbs);
        low.resize(limbs + 2, 0);
        let mut high = low.clone();
        fixed::add(&mut high, &fixed::units(self.filter.empty_error()));
        let rest = Divisor::new(self.filter.bits - u64::from(self.i));
        for words in [&mut low, &mut high] {
            fixed::multiply_word(words, self.filter.bits);
            rest.divide(0, words);
        }
        fixed::add(&mut high, &[1]);
        let one = Dyadic { words: vec![1], exponent: 0 };
        let complement = |words: Vec<u64>| one.minus(&Dyadic { words, exponent: -64 * limbs as i64 });
        Ok(Enclosure::between(complement(high), complement(low)))
    }

    fn bits_needed(&self) -> f64 {
        Mean(self.filter).bits_needed() + libm::log2(self.filter.bits as f64)
    }

    fn denominator_bits(&self) -> f64 {
        Mean(self.filter).denominator_bits() + 64.0
    }

    fn check_cost(&self, bits: f64) -> Result<()> {
        Mean(self.filter).check_cost(bits)
    }
}
