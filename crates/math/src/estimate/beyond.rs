//! An estimate of the number of items that one filter holds and another filter does not. It is
//! computed from the bits that are set only in the first filter.
//!
//! Filters A and B have the same number of bits, the same number of probes and the same seed. A is
//! fixed, and B holds `d` items that A does not hold. The positions of those items are independent
//! of A's bits. A has `|A|` set bits, and the items hit some of the `m - |A|` bits that are not set
//! in A. The number of bits that they hit there is the number of bits that are set in B but not in
//! A. The law (distribution) of this number has only one unknown parameter, d. Items that both
//! filters hold have no influence, because they set only bits that are set in A. The number of
//! items in A has no influence either. So the interval for d is narrow. An interval that is
//! computed from three separate intervals, for the fills of A, of B and of their union, would be
//! wider. The three fills vary together, and each of the three intervals would include this common
//! variation.
//!
//! For a standard or classic filter, the number of bits that are set in A or hit by the d items
//! follows a law of [`occupancy`](crate::occupancy). In this law, the set bits of A count as one
//! more *committee*: a set of different bits that are set together. The number is distributed like
//! a sum of independent Bernoulli variables. Its exact tail probabilities are computed if this
//! takes little enough work. Otherwise, they are bounded by Bennett's inequality and the
//! Berry-Esseen inequality. For a partitioned filter, the number is a sum over slices, which is
//! also a sum of independent Bernoulli variables. If a filter uses two hashes or blocks, the
//! positions of an item depend on each other. The number of bits that are hit is then a function of
//! d independent items, and each item changes this number by at most k. So McDiarmid's inequality
//! applies, with the mean of this number or with bounds on the mean.

use super::interval::{MOST, Search, first, weaker};
use super::{ItemsEstimate, check};
use crate::error::{check_bits, check_confidence, check_probes, out_of_range};
use crate::exact::work;
use crate::occupancy::Occupancy;
use crate::occupancy::tails::{Bounds, Tail};
use crate::{Fill, Method, Result, Variant, try_bisect};
use alloc::format;
use alloc::vec::Vec;

/// A description of a filter to which more items are added. The numbers of set bits in the variants
/// are those before the items are added. The variants differ in how an item chooses its positions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ground<'a> {
    /// A standard or classic filter: the positions of an item are anywhere in the filter.
    Unsliced {
        /// [`Variant::Standard`] or [`Variant::Classic`].
        variant: Variant,
        /// The number of bits, m.
        bits: u64,
        /// The number of set bits.
        ones: u64,
    },
    /// A partitioned filter: it consists of slices of bits, and an item sets one bit in each slice.
    Sliced {
        /// For each slice, its number of bits and its number of set bits.
        slices: &'a [(u64, u64)],
    },
    /// Any other filter in which an item sets each bit with the same probability. The positions of
    /// an item may depend on each other.
    Tied {
        /// The number of bits, m.
        bits: u64,
        /// The number of set bits.
        ones: u64,
        /// A lower and an upper bound on the mean number of distinct bits that an item sets.
        covered: (f64, f64),
    },
}

impl Ground<'_> {
    fn bits(&self) -> u64 {
        match self {
            Ground::Unsliced { bits, .. } | Ground::Tied { bits, .. } => *bits,
            Ground::Sliced { slices } => slices.iter().fold(0, |sum, (bits, _)| sum.saturating_add(*bits)),
        }
    }

    fn ones(&self) -> u64 {
        match self {
            Ground::Unsliced { ones, .. } | Ground::Tied { ones, .. } => *ones,
            Ground::Sliced { slices } => slices.iter().fold(0, |sum, (_, ones)| sum.saturating_add(*ones)),
        }
    }

    fn check(&self, probes: u32) -> Result<()> {
        check_bits(self.bits())?;
        check_probes(probes)?;
        if self.ones() > self.bits() {
            return out_of_range("ones", self.ones(), format!("at most the number of bits ({})", self.bits()));
        }
        match self {
            Ground::Unsliced { variant, bits, ones } => check(*variant, *bits, probes, *ones),
            Ground::Sliced { slices }
                if slices.len() as u64 != u64::from(probes) || slices.iter().any(|(bits, ones)| *bits == 0 || ones > bits) =>
            {
                out_of_range("slices", format!("{slices:?}"), format!("{probes} slices, one per probe, none with more set bits than bits"))
            }
            Ground::Tied { covered: (least, most), .. } if !(*least > 0.0 && least <= most) => {
                out_of_range("covered", format!("{least} to {most}"), "above 0")
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of items that would add `more` set bits on average. The number need not
    /// be whole. `probes` is the number of probes for each item. The result is `None` if the added
    /// bits would fill the filter. If `more` is 0, the result is 0 even for a full filter.
    #[must_use]
    pub fn estimate(&self, probes: u32, more: u64) -> Option<f64> {
        let (bits, ones) = (self.bits() as f64, self.ones());
        let left = self.bits() - ones;
        if more >= left {
            return (more == 0).then_some(0.0);
        }
        let ln_missed = match self {
            Ground::Unsliced { variant: Variant::Classic, .. } => libm::log1p(-f64::from(probes) / bits),
            Ground::Unsliced { .. } => f64::from(probes) * libm::log1p(-1.0 / bits),
            Ground::Sliced { .. } => libm::log1p(-(f64::from(probes) / bits).min(1.0)),
            Ground::Tied { covered: (least, most), .. } => libm::log1p(-(0.5 * (least + most) / bits).min(1.0)),
        };
        Some((libm::log1p(-(more as f64 / left as f64)) / ln_missed).max(0.0))
    }

    /// Upper bounds on two probabilities: that the items set at least `more` additional bits, and
    /// that they set at most `more`.
    fn tails(&self, probes: u32, items: u64, more: u64) -> Result<(f64, f64)> {
        match self {
            Ground::Sliced { slices } => sliced(slices, items, more),
            _ => Ok(self.tied(probes, items, more)),
        }
    }

    fn tied(&self, probes: u32, items: u64, more: u64) -> (f64, f64) {
        let covered = match self {
            Ground::Tied { covered, .. } => *covered,
            _ => (f64::from(probes), f64::from(probes)),
        };
        let (bits, left) = (self.bits() as f64, (self.bits() - self.ones()) as f64);
        let mean = |covered: f64| -left * libm::expm1(items as f64 * libm::log1p(-(covered / bits).min(1.0)));
        let probes = f64::from(probes);
        let tail = |distance: f64| {
            // A margin for the rounding of the mean.
            let distance = distance - 1e-9 * bits - 1e-6;
            if distance <= 0.0 { 1.0 } else { libm::exp(-2.0 * distance * distance / (items as f64 * probes * probes)) }
        };
        (tail(more as f64 - mean(covered.1)), tail(mean(covered.0) - more as f64))
    }
}

/// The two upper bounds of `tails` for a partitioned filter. Each slice has its own law, and the
/// bits of different slices are independent.
fn sliced(slices: &[(u64, u64)], items: u64, more: u64) -> Result<(f64, f64)> {
    let (mut mean, mut variance, mut ones, mut most) = (0.0, 0.0, 0, 0);
    let mut known: Vec<((u64, u64), (f64, f64))> = Vec::new();
    for &(bits, set) in slices {
        let found = known.iter().find(|(slice, _)| *slice == (bits, set)).map(|(_, moments)| *moments);
        let moments = match found {
            Some(moments) => moments,
            None => {
                let throws = [(set.max(1), u64::from(set > 0)), (1, items)];
                let law = Occupancy::union(bits, &throws)?;
                let moments = (law.mean()?, law.variance()?);
                known.push(((bits, set), moments));
                moments
            }
        };
        (mean, variance) = (mean + moments.0, variance + moments.1);
        (ones, most) = (ones + set, most + set.saturating_add(items).min(bits));
    }
    let bits = slices.iter().map(|(bits, _)| bits).sum();
    let bounds = Bounds::of(Fill { bits, mean, variance }, ones, most);
    let upper = |tail| bounds.tail(tail).upper;
    Ok((upper(Tail::AtLeast(ones + more)), upper(Tail::AtMost(ones + more))))
}

/// Estimates the number of items that are added to a filter. The estimate is computed from `more`,
/// the number of bits that these items newly set. The result also has a confidence interval. For a
/// random seed, the interval covers the true number of items with probability at least
/// `confidence`. This holds whatever the true number is, and whatever the filter contains. It also
/// holds if the seed is drawn only from the seeds that give the filter its present bits.
///
/// For example, this function estimates how many items of a filter B are not in a filter A. For
/// this estimate, `ground` is A, and `more` is the number of bits that are set in B but not in A.
/// The two filters must have the same size, the same number of probes and the same seed.
///
/// Each end of the interval is wrong with probability at most `(1 - confidence) / 2`. For an empty
/// standard or classic filter, the interval is that of [`items_interval`](super::items_interval).
/// If the exact probabilities are not known or would take too long to compute, proven bounds
/// replace them. This can only widen the interval. The `method` of the result is then
/// [`Method::Bound`].
///
/// This takes at most a few hundredths of a second.
///
/// ```
/// use truebloom_math::{Ground, Variant, items_beyond};
/// // The filter has 9,593 bits, 7 probes and 1,000 items. It lacks 500 items of another filter.
/// let ground = Ground::Unsliced { variant: Variant::Standard, bits: 9_593, ones: 4_969 };
/// let found = items_beyond(&ground, 7, 1_413, 0.95)?;
/// assert!(found.lower < 500 && found.upper > Some(500) && found.upper.unwrap() - found.lower < 45);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range. `more` must be at most the number of unset bits, and
/// `confidence` must be between 0 and 1.
pub fn items_beyond(ground: &Ground<'_>, probes: u32, more: u64, confidence: f64) -> Result<ItemsEstimate> {
    let _work = work::begin();
    ground.check(probes)?;
    let left = ground.bits() - ground.ones();
    if more > left {
        return out_of_range("more", more, format!("at most the bits that are not set ({left})"));
    }
    check_confidence(confidence)?;
    let (value, level) = (ground.estimate(probes, more), (1.0 - confidence) / 2.0);
    match *ground {
        Ground::Unsliced { variant, bits, ones } if more > 0 => {
            Search { variant, bits, probes, before: ones, ones: ones + more, level }.estimate(value)
        }
        _ => by_tails(ground, probes, more, level, value),
    }
}

/// Computes the interval from bounds on the tail probabilities alone. The true tail probabilities
/// are monotone in the number of items. So if a bound excludes one number of items, all numbers on
/// the same side that are farther from the estimate are also excluded.
fn by_tails(ground: &Ground<'_>, probes: u32, more: u64, level: f64, value: Option<f64>) -> Result<ItemsEstimate> {
    let tails = |items: u64| match ground {
        Ground::Unsliced { variant, bits, ones } => none_more(*variant, *bits, *ones, probes, items),
        _ => ground.tails(probes, items, more),
    };
    let least = more.div_ceil(u64::from(probes.max(1)));
    let start = value.map_or(least, |value| value as u64).max(least);
    let lower = if least == 0 {
        0
    } else {
        let inside = first(least - 1, start, |items| Ok(tails(items)?.0 > level))?.unwrap_or(MOST);
        try_bisect(least..=inside, |items| Ok(tails(items)?.0 > level))?
    };
    let is_full = ground.ones() + more == ground.bits();
    let upper =
        if is_full { None } else { first(least, start.max(least + 1), |items| Ok(tails(items)?.1 <= level))?.map(|beyond| beyond - 1) };
    Ok(ItemsEstimate { value, lower, upper: upper.map(|upper| upper.max(lower)), method: weaker(Method::Exact, Method::Bound) })
}

/// The two upper bounds of `tails` if `more` is 0. The first bound is 1. The second is the
/// probability that `items` items set no additional bit: they hit only bits that are already set.
fn none_more(variant: Variant, bits: u64, ones: u64, probes: u32, items: u64) -> Result<(f64, f64)> {
    let hit = |probe: u32| match variant {
        Variant::Classic => libm::log((ones.saturating_sub(u64::from(probe)) as f64 / (bits - u64::from(probe)) as f64).max(0.0)),
        _ => libm::log(ones as f64 / bits as f64),
    };
    let ln: f64 = match variant {
        Variant::Classic => (0..probes).map(hit).sum(),
        _ => f64::from(probes) * hit(0),
    };
    let none = if items == 0 { 1.0 } else { libm::exp(items as f64 * ln) * (1.0 + 1e-9) };
    Ok((1.0, none))
}
