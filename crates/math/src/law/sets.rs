//! Unions and intersections of filters: their expected rates, and estimates of the sizes of the
//! sets that two given filters hold.

use crate::error::{check_bits, out_of_range};
use crate::exact::combine::ProductOf;
use crate::exact::enclosure::Enclose;
use crate::exact::work;
use crate::law::inclusion::{Inclusion, Items, Query};
use crate::law::mixture::{Mixture, Positions};
use crate::{Error, Fpr, Result, Variant};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::str::FromStr;

/// How two filters are combined, bit by bit. The filters have the same size, the same number of
/// probes and the same seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SetOp {
    /// OR: the result is exactly the filter of the union of the sets.
    Union,
    /// AND: every bit that is set in the filter of the intersection is also set in the result. The
    /// result can have additional set bits, because different items can set the same bit in the two
    /// filters.
    Intersection,
}

impl SetOp {
    /// Returns the operation's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SetOp::Union => "union",
            SetOp::Intersection => "intersection",
        }
    }
}

impl FromStr for SetOp {
    type Err = Error;

    fn from_str(text: &str) -> Result<SetOp> {
        let found = [SetOp::Union, SetOp::Intersection].into_iter().find(|op| op.name() == text);
        found.map_or_else(|| out_of_range("op", text, "union or intersection"), Ok)
    }
}

/// Returns the expected rate of a union or an intersection of filters. The rate is for keys that
/// are in none of the sets. The sets are assumed to be disjoint, and `items` lists their sizes.
///
/// A union has the rate of one filter that holds all items. For standard filters, the rate of an
/// intersection can be slightly higher than the product of the rates of the filters. The reason is
/// that a query of a standard filter has a random number of distinct positions. In classic and
/// partitioned filters, this number is fixed, so the rate of the intersection is equal to the
/// product. The two ends of the result differ by at most two units in the last place of an `f64`.
///
/// ```
/// use truebloom_math::{Variant, sets};
/// let both = sets::set_fpr(sets::SetOp::Intersection, Variant::Standard, 1_000, 7, &[100, 50])?;
/// let (one, other) = (Variant::Standard.fpr(1_000, 100, 7)?, Variant::Standard.fpr(1_000, 50, 7)?);
/// assert!(both.lower > one.upper * other.upper);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range, or if the list is empty. Also fails for a union of 2^64 or
/// more items in total.
pub fn set_fpr(op: SetOp, variant: Variant, bits: u64, probes: u32, items: &[u64]) -> Result<Fpr> {
    let _work = work::begin();
    variant.check(bits, probes)?;
    if items.is_empty() {
        return out_of_range("items", "an empty list", "a list with one number for each filter");
    }
    match op {
        SetOp::Union => match items.iter().try_fold(0u64, |sum, &items| sum.checked_add(items)) {
            Some(sum) => variant.fpr(bits, sum, probes),
            None => out_of_range("items", "a list with a sum of 2^64 or more", "a list with a smaller sum"),
        },
        SetOp::Intersection if items.contains(&0) => Ok(Fpr::ZERO),
        SetOp::Intersection => match (variant, items) {
            (_, &[items]) => variant.fpr(bits, items, probes),
            (Variant::Standard, _) => {
                let throws = |&items: &u64| Inclusion { query: Query::Independent, placement: Items::Independent, bits, items, probes };
                Mixture { positions: Positions::Draws(probes), filters: items.iter().map(throws).collect() }.fpr()
            }
            _ => {
                let factors: Result<Vec<Box<dyn Enclose>>> = items.iter().map(|&items| variant.expected(bits, items, probes)).collect();
                ProductOf(factors?).fpr()
            }
        },
    }
}

/// The sizes of two sets A and B, of their union and of their intersection.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SetSizes<T> {
    /// |A|
    pub a: T,
    /// |B|
    pub b: T,
    /// |A or B|
    pub union: T,
    /// |A and B|
    pub intersection: T,
    /// |A without B|
    pub only_a: T,
    /// |B without A|
    pub only_b: T,
    /// The Jaccard similarity, |A and B| / |A or B|
    pub jaccard: T,
}

/// Returns point estimates of the sizes of two sets. They are computed from three numbers of set
/// bits: one for each filter, and one for the OR of both filters. The filters must have the same
/// size, the same number of probes and the same seed. The method of moments gives the sizes of A, B
/// and their union. The other values are computed from these three.
///
/// A value is `None` if the value depends on a filter in which all bits are set. The Jaccard
/// similarity of two empty sets is 1. Random errors can make the estimated size of a set negative,
/// or larger than the estimated size of a superset. Such an estimate is replaced by the nearest
/// possible value. The estimates are not corrected for bias. [`intervals`] computes confidence
/// intervals for these sizes. In partitioned filters, all slices must have the same number of bits.
///
/// # Errors
/// Fails if a parameter is out of range, or if the three counts of set bits contradict each other.
pub fn sizes(variant: Variant, bits: u64, probes: u32, ones_a: u64, ones_b: u64, ones_union: u64) -> Result<SetSizes<Option<f64>>> {
    let _work = work::begin();
    variant.check(bits, probes)?;
    check_counts(bits, ones_a, ones_b, ones_union)?;
    let [a, b, union] =
        [estimate(variant, bits, probes, ones_a)?, estimate(variant, bits, probes, ones_b)?, estimate(variant, bits, probes, ones_union)?];
    let with = |f: &dyn Fn(f64, f64, f64) -> f64| Some(f(a?, b?, union?));
    Ok(SetSizes {
        a,
        b,
        union,
        intersection: with(&|a, b, u| (a + b - u).clamp(0.0, a.min(b))),
        only_a: with(&|a, b, u| (u - b).clamp(0.0, a)),
        only_b: with(&|a, b, u| (u - a).clamp(0.0, b)),
        jaccard: with(&|a, b, u| if u > 0.0 { ((a + b - u) / u).clamp(0.0, 1.0) } else { 1.0 }),
    })
}

fn check_counts(bits: u64, ones_a: u64, ones_b: u64, ones_union: u64) -> Result<()> {
    check_bits(bits)?;
    for (name, ones) in [("ones_a", ones_a), ("ones_b", ones_b)] {
        if ones > bits {
            return out_of_range(name, ones, format!("at most the number of bits ({bits})"));
        }
    }
    let (least, most) = (ones_a.max(ones_b), bits.min(ones_a + ones_b));
    if !(least..=most).contains(&ones_union) {
        return out_of_range("ones_union", ones_union, format!("from {least} to {most} for filters of {ones_a} and {ones_b} set bits"));
    }
    Ok(())
}

/// The number of items that sets `ones` bits on average, or `None` if all bits are set.
fn estimate(variant: Variant, bits: u64, probes: u32, ones: u64) -> Result<Option<f64>> {
    let k = u64::from(probes);
    if variant == Variant::Partitioned && !bits.is_multiple_of(k) {
        return out_of_range(
            "bits",
            bits,
            format!("a multiple of the number of probes ({probes}), so that each probe has the same number of bits"),
        );
    }
    if ones == 0 {
        return Ok(Some(0.0));
    }
    if ones == bits {
        return Ok(None);
    }
    let m = bits as f64;
    let ln_empty_after_one = match variant {
        Variant::Standard => f64::from(probes) * libm::log1p(-1.0 / m),
        // One item sets one bit of a slice of m/k bits, or k of m bits.
        _ => libm::log1p(-(f64::from(probes) / m)),
    };
    // The logarithm of the share of empty bits, without the cancellation of 1 - x in a nearly full
    // filter.
    let ln_empty = if ones > bits / 2 { libm::log((bits - ones) as f64 / m) } else { libm::log1p(-(ones as f64 / m)) };
    Ok(Some(ln_empty / ln_empty_after_one))
}

/// A closed interval for a number of items. If all bits of the filter are set, the interval has no
/// upper end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The lower end.
    pub lower: u64,
    /// The upper end, or `None` if the interval is unbounded.
    pub upper: Option<u64>,
}

/// A closed interval for a size or a similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The lower end.
    pub lower: f64,
    /// The upper end, which is infinite if there is no bound.
    pub upper: f64,
}

/// Returns intervals for all values in [`SetSizes`], computed from intervals for |A|, |B| and
/// |A or B|.
///
/// Let c be a number, for example 0.99. Suppose that each of the three intervals has the confidence
/// `1 - (1-c)/3`. By the union bound, all three intervals contain the true sizes with probability
/// at least c. In this case, all intervals of the result contain the true values, too. The union
/// bound ignores that the three intervals depend on each other. So the confidence of the result can
/// be higher than c.
///
/// The three intervals are first narrowed by the relation `max(|A|, |B|) <= |A or B| <= |A| + |B|`.
/// Narrowing the intervals does not reduce the confidence. If an interval becomes empty, the result
/// is `None`. In this case, at least one of the three intervals does not contain the true size.
///
/// ```
/// use truebloom_math::sets::{Interval, intervals};
/// let of = |lower, upper| Interval { lower, upper: Some(upper) };
/// let sizes = intervals(of(90, 110), of(95, 105), of(140, 160)).expect("consistent");
/// assert_eq!((sizes.intersection.lower, sizes.intersection.upper), (25.0, 75.0));
/// ```
#[must_use]
pub fn intervals(a: Interval, b: Interval, union: Interval) -> Option<SetSizes<Bounds>> {
    let mut ends = [a, b, union].map(|interval| (u128::from(interval.lower), interval.upper.map_or(u128::MAX >> 2, u128::from)));
    // Each round narrows the intervals by the relation above. More than three rounds would change
    // nothing.
    for _ in 0..3 {
        let [a, b, u] = ends;
        let narrowed = |own: (u128, u128), other: (u128, u128)| (own.0.max(u.0.saturating_sub(other.1)), own.1.min(u.1));
        ends = [narrowed(a, b), narrowed(b, a), (u.0.max(a.0).max(b.0), u.1.min(a.1 + b.1))];
    }
    if ends.iter().any(|&(low, high)| low > high) {
        return None;
    }
    let [(al, au), (bl, bu), (ul, uu)] = ends;
    let unbounded = u128::MAX >> 3;
    // Rounds outward, because a conversion can round by half a unit in the last place.
    let low = |x: u128| if x > 1 << 53 { (x as f64).next_down() } else { x as f64 };
    let high = |x: u128| match x {
        _ if x >= unbounded => f64::INFINITY,
        _ if x > 1 << 53 => (x as f64).next_up(),
        _ => x as f64,
    };
    let range = |lower: u128, upper: u128| Bounds { lower: low(lower), upper: high(upper) };
    let both = range((al + bl).saturating_sub(uu), au.min(bu).min((au + bu).saturating_sub(ul)));
    // (a + b) / u - 1 rises with a and b, and falls with u. It is at most min(a, b) / max(a, b).
    let similarity = |top: f64, bottom: f64| (top / bottom - 1.0).clamp(0.0, 1.0);
    let jaccard = Bounds {
        lower: if uu == 0 { 1.0 } else { (similarity(low(al + bl), high(uu)) - 1e-15).max(0.0) },
        upper: if ul == 0 || au.max(bu) >= unbounded {
            1.0
        } else {
            (similarity(high(au + bu), low(ul)) + 1e-15).min(high(au.min(bu)) / low(ul) + 1e-15).min(1.0)
        },
    };
    Some(SetSizes {
        a: range(al, au),
        b: range(bl, bu),
        union: range(ul, uu),
        intersection: both,
        only_a: range(ul.saturating_sub(bu), au.min(uu.saturating_sub(bl))),
        only_b: range(ul.saturating_sub(au), bu.min(uu.saturating_sub(al))),
        jaccard,
    })
}
