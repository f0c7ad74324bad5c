//! Bounds on rates from Burns, *On Occupancy Moments and Bloom Filter Efficiency*: theorem 15 and
//! corollary 23. Each function returns every bound as a bracket (two numbers between which the
//! bound lies).
//!
//! Plans do not use these bounds. The ends of the brackets are computed in integer arithmetic and
//! rounded outward. The documentation of each field says whether the inequality is proven. Two of
//! Burns' inequalities hold in all cases that were tried, but have no valid proof.

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

/// The four terms of the chain of inequalities in Burns' theorem 15, for `r` given bits of a
/// filter. The filter has m bits and n items with k probes each. The theorem says that each term is
/// at most the previous term. The first two of these three inequalities are proven. The last
/// inequality has no valid proof (see [`Chain::single`]).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chain {
    /// The power `(mu/m)^r`, where `mu` is the mean number of set bits of the classic filter
    /// ([`Variant::Classic`]).
    pub mean_power: Fpr,
    /// The probability that `r` given bits of the classic filter are all set. It is at most
    /// [`Chain::mean_power`], because the set bits are negatively associated.
    pub distinct: Fpr,
    /// The ratio `C(mu, r) / C(m, r)` of two binomial coefficients. Here, `mu` is the mean number
    /// of set bits of the classic filter. By Jensen's inequality, the ratio is at most
    /// [`Chain::distinct`].
    pub mean_binomial: Fpr,
    /// The probability that `nk` independent positions set all of `r` given bits, as in the
    /// standard filter ([`Variant::Standard`]). This probability is at most [`Chain::distinct`]. To
    /// see this, draw every repeated position of an item again, until it differs from the item's
    /// other positions. The items then have distinct positions, as in the classic filter. No set
    /// bit becomes unset, because one of the equal positions remains.
    ///
    /// Burns' last inequality says that the probability `single` is also at most
    /// [`Chain::mean_binomial`]. The printed proof of this inequality has a false step. A search
    /// found no counterexample with m up to 18 and n up to 8, and none in 344 larger cases.
    pub single: Fpr,
}

/// Burns' corollary 23: bounds on the expected rates of the standard and the classic filter. By the
/// corollary, both rates lie between [`RateBounds::lower`] and [`RateBounds::upper`]. For the
/// standard filter, the upper bound has no valid proof. The filters have m bits and n items with k
/// probes each.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RateBounds {
    /// The right side of Burns' inequality (64), `C(mu, k) / C(m, k)`. Here, C is the binomial
    /// coefficient, and `mu` is the mean number of set bits of the standard filter. If `mu` is at
    /// most `k - 1`, the value is 0.
    ///
    /// The value is always at most [`RateBounds::lower`]. This follows from Jensen's inequality,
    /// because `C(x, k)` is a convex function of x. (For x up to `k - 1`, `C(x, k)` is defined as 0
    /// here.)
    pub lower_by_mean: Fpr,
    /// The left side of Burns' inequality (64): the probability that `nk` independent positions set
    /// all of `k` given bits. This probability is proven to be a lower bound on the rates of the
    /// standard and the classic filter. A query of the standard filter can repeat positions. If
    /// positions repeat, fewer than `k` set bits are enough for a false positive. An item of the
    /// classic filter has distinct positions, which set at least as many bits as independent
    /// positions.
    pub lower: Fpr,
    /// Bloom's formula `(1 - (1 - k/m)^n)^k`, which Burns calls U in equation (65). For the classic
    /// filter, this value is a proven upper bound on the rate. For the standard filter, the bound
    /// would follow from the last inequality of theorem 15, which is unproven (see
    /// [`Chain::single`]). No counterexample is known.
    pub upper: Fpr,
}

/// Returns the four terms of the chain of inequalities in Burns' theorem 15 (see [`Chain`]). The
/// filter has `bits` bits and `items` items, and each item has `probes` probes. The argument
/// `order` is r, the number of given bits in these terms.
///
/// The parameters must satisfy `items >= 1`, `probes <= bits` and
/// `order <= min(probes, bits - probes)`. The computation takes about `order^2` steps with long
/// integers.
///
/// ```
/// let chain = truebloom_math::bounds::chain(1_000, 50, 10, 10)?;
/// assert!(chain.mean_power.lower >= chain.distinct.upper && chain.mean_binomial.lower >= chain.single.upper);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if the parameters do not satisfy the conditions above, or if the computation would take
/// too much work.
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

/// Returns the bounds of Burns' corollary 23 on the expected rates of the standard and the classic
/// filter (see [`RateBounds`]).
///
/// The parameters must satisfy `items >= 1` and `probes <= (bits - 1) / 2`.
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
/// Fails if a parameter is out of range, or if the computation would take too much work.
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

/// The probability that `order` given bits are all set. The probability is 0 if all items together
/// have fewer than `order` positions.
fn all_set(filter: Inclusion, order: u32) -> Result<Fpr> {
    if u128::from(filter.items) * u128::from(filter.probes) < u128::from(order) {
        return Ok(Fpr::ZERO);
    }
    Mixture { positions: Positions::Distinct(order), filters: vec![filter] }.fpr()
}

/// The ratio `C(mu, r) / C(m, r)`. The result is 0 if the mean, mu, does not exceed `r - 1` by more
/// than the rounding error.
fn mean_binomial(filter: Inclusion, order: u32) -> Result<Fpr> {
    let mean = filter.bits as f64 * Mean(filter).fpr()?.value;
    if mean - f64::from(order - 1) <= 1e-12 * mean {
        return Ok(Fpr::ZERO);
    }
    ProductOf((0..order).map(|i| Box::new(MeanFactor { filter, i }) as Box<dyn Enclose>).collect()).fpr()
}

/// A factor `(mu - i) / (m - i) = 1 - g_1 m / (m - i)` of [`mean_binomial`], known to be positive.
/// Here, `g_1` is the expected share of empty bits.
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
