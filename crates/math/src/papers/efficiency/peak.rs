//! The most efficient number of items, with proof: a bound or an exact comparison excludes every
//! other number.

use super::{half_full_items, share};
use crate::error::check_bits;
use crate::exact::combine::Power;
use crate::exact::enclosure::Enclose;
use crate::exact::work;
use crate::search::{boundary, ln_complement_bound};
use crate::{Result, Variant, binomial};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// The numbers of items and probes at which a filter of a given size has the highest efficiency.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Peak {
    /// The best whole number of items. If several numbers of items are equally good, this is the
    /// smallest.
    pub items: u64,
    /// The number of probes. If several numbers of probes are equally good, this is the smallest.
    /// For classic filters, [`max_efficiency`] can return a number above
    /// [`MAX_PROBES`](crate::MAX_PROBES).
    pub probes: u64,
    /// The efficiency with these items and probes: `items log2(1/fpr) / bits`, where `fpr` is the
    /// expected rate.
    pub value: f64,
    /// Whether the result is proven to be the best. If false, the result depends on an assumption.
    /// The documentation of the function that returned the result states this assumption.
    pub proven: bool,
}

/// For classic filters with at most this number of bits, [`max_efficiency`] compares all numbers of
/// items and probes. For larger classic filters, the result of [`max_efficiency`] depends on a
/// conjecture.
pub const MOST_BITS_SEARCHED: u64 = 256;

/// Returns the whole number of items at which a filter of `bits` bits with `probes` probes is most
/// efficient. This is Burns' peak efficiency.
///
/// Let f(n) be the rate with n items. The search maximizes `n ln(1/f(n))`, which is proportional to
/// the efficiency. It divides the range of n into intervals. For all n from a to b, `n ln(1/f(n))`
/// is at most `b ln(1/f(a))`, because the rate increases with n. If this bound is below the best
/// value found so far, the search discards the interval. Otherwise, it divides the interval again,
/// until only single numbers remain. For an exact comparison of two candidates a and b, the search
/// compares `f(a)^a` with `f(b)^b`. The search computes about `sqrt(n)` rates. It does not assume
/// that the efficiency has a single peak, and it does not use Burns' conjecture 28, which is false.
///
/// Above about 10^6 items (fewer with many probes), this search would take too long. A faster
/// search then returns the first number of items at which one more item does not increase the
/// efficiency. The faster search assumes that the efficiency has only one peak, so `proven` is
/// false. With one probe, this assumption is proven, so `proven` is true.
///
/// ```
/// use truebloom_math::{Variant, peak_efficiency};
/// let peak = peak_efficiency(Variant::Classic, 1_024, 5)?;
/// assert_eq!(peak.items, 141);
/// # Ok::<(), truebloom_math::Error>(())
/// ```
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn peak_efficiency(variant: Variant, bits: u64, probes: u32) -> Result<Peak> {
    let _work = work::begin();
    variant.check(bits, probes)?;
    // The filter is full from the first item on.
    if is_always_full(variant, bits, probes) {
        return Ok(Peak { items: 1, probes: probes.into(), value: 0.0, proven: true });
    }
    Search::new(variant, bits, probes)?.run(None)
}

/// Returns the numbers of items and probes at which a filter of `bits` bits is most efficient
/// (Burns' maximum efficiency, over whole numbers).
///
/// - For the standard filter, one probe is best (Burns, theorem 26 and corollary 27). Let f(n, k)
///   be the rate with n items and k probes. By Hölder's inequality, `f(n, k)^(1/k) >= f(nk, 1)`. So
///   nk items with one probe are at least as efficient as n items with k probes.
/// - For the partitioned filter, one probe is best. Let m be the number of bits, and n the number
///   of items. With k probes, `n log2(1/fpr)` is at most `(m - k/2) ln 2`. With one probe and 8 or
///   more bits, the highest value of `n log2(1/fpr)` exceeds `(m - 1) ln 2`. A comment in the
///   source code contains the proof. For fewer than 8 bits, all numbers of probes are compared.
/// - For the classic filter with up to [`MOST_BITS_SEARCHED`] bits, all numbers of items and probes
///   are compared. According to Burns' equation (75), the best classic filter has one item, which
///   sets half of the bits. The only known exception is the filter of three bits: two items with
///   one probe are more efficient than one item. For more than 256 bits, equation (75) is a
///   conjecture. The result is then the filter with one item, and `proven` is false. The efficiency
///   of this filter is below 1 by about `log2(pi m / 2) / (2m)`, where m is the number of bits. No
///   efficiency is above 1.
///
/// The search usually takes milliseconds, and at most a few tenths of a second.
///
/// # Errors
/// Fails if `bits` is out of range.
pub fn max_efficiency(variant: Variant, bits: u64) -> Result<Peak> {
    let _work = work::begin();
    check_bits(bits)?;
    match variant {
        Variant::Standard => peak_efficiency(variant, bits, 1),
        Variant::Partitioned => best_of_partitioned(bits),
        Variant::Classic if bits <= MOST_BITS_SEARCHED => best_of_classic(bits),
        Variant::Classic => {
            let half = bits / 2;
            // log2 C(m, m/2) follows from the probability of m/2 heads in m throws of a coin.
            let value = 1.0 + libm::log2(binomial::probability(half, bits, 0.5)) / bits as f64;
            Ok(Peak { items: 1, probes: half, value, proven: false })
        }
    }
}

fn is_always_full(variant: Variant, bits: u64, probes: u32) -> bool {
    bits == 1 || variant != Variant::Standard && u64::from(probes) == bits
}

/// With 8 or more bits, one probe is best for the following reason. A slice of s bits adds at most
/// `ln 2 / ln(s / (s-1)) <= (s - 1/2) ln 2` to `n log2(1/f)` (the peak over real items), so k
/// slices reach at most `(m - k/2) ln 2`. One slice reaches `g(t) / (ln 2 ln(m / (m-1)))` with
/// `g(t) = -t ln(1 - e^-t)` at `t = n ln(m / (m-1))`. The nearest whole n is within half a step of
/// the peak `t = ln 2`, and `|g''| < 1.2` on 0.5..1, so rounding n loses less than `1 / (m-1)`. So
/// one slice still reaches more than `(m - 1) ln 2`.
fn best_of_partitioned(bits: u64) -> Result<Peak> {
    let mut best = peak_efficiency(Variant::Partitioned, bits, 1)?;
    if bits < 8 {
        for probes in 2..=bits as u32 {
            best = better(Variant::Partitioned, bits, best, probes)?;
        }
    }
    Ok(best)
}

fn best_of_classic(bits: u64) -> Result<Peak> {
    // Starts with the likely best number, so that the others are soon excluded.
    let half = (bits / 2).max(1) as u32;
    let mut best = peak_efficiency(Variant::Classic, bits, half)?;
    for probes in (1..=bits as u32).filter(|&probes| probes != half) {
        best = better(Variant::Classic, bits, best, probes)?;
    }
    Ok(best)
}

/// The better of two peaks: the best so far, and the one with `probes` probes. If they are equally
/// good, it is the one with fewer probes.
fn better(variant: Variant, bits: u64, best: Peak, probes: u32) -> Result<Peak> {
    if is_always_full(variant, bits, probes) {
        return Ok(best);
    }
    let peak = Search::new(variant, bits, probes)?.run(Some(best.value))?;
    if peak.items == 0 {
        return Ok(Peak { proven: best.proven && peak.proven, ..best });
    }
    let (mine, other) = (variant.expected(bits, best.items, best.probes as u32)?, variant.expected(bits, peak.items, probes)?);
    let order = Power { base: other, exponent: peak.items }.compare(&Power { base: mine, exponent: best.items })?;
    let wins = order.is_lt() || order.is_eq() && peak.probes < best.probes;
    let proven = best.proven && peak.proven;
    Ok(if wins { Peak { proven, ..peak } } else { Peak { proven, ..best } })
}

/// Lower and upper bounds on `n ln(1/f(n))` for one number of items n.
#[derive(Clone, Copy)]
struct Point {
    items: u64,
    lower: f64,
    upper: f64,
    /// An upper bound on `ln(1/f(n))`, which decreases with n.
    slope: f64,
}

struct Search {
    variant: Variant,
    bits: u64,
    probes: u32,
    best: Point,
    budget: u32,
}

/// A relative margin that is many times larger than the rounding errors of the products with
/// logarithms.
const SLACK: f64 = 1e-14;

impl Search {
    fn new(variant: Variant, bits: u64, probes: u32) -> Result<Search> {
        // With many probes, computing a rate takes about k^3 steps.
        let cube = u64::from(probes).pow(3);
        let budget = (2_000_000_000 / cube).clamp(20, 20_000) as u32;
        let mut search = Search { variant, bits, probes, best: Point { items: 1, lower: 0.0, upper: 0.0, slope: 0.0 }, budget };
        search.best = search.point(search.guess()?)?;
        Ok(search)
    }

    /// The number of items of the half-full filter.
    fn guess(&self) -> Result<u64> {
        let items = match self.variant {
            Variant::Standard => half_full_items(self.bits, self.probes)?,
            Variant::Classic => super::peak_items_approximation(self.bits, self.probes)?,
            Variant::Partitioned => half_full_items((self.bits / u64::from(self.probes)).max(2), 1)?,
        };
        Ok(libm::round(items).max(1.0) as u64)
    }

    fn rate(&self, items: u64) -> Result<Box<dyn Enclose>> {
        self.variant.expected(self.bits, items, self.probes)
    }

    fn point(&self, items: u64) -> Result<Point> {
        let fpr = self.rate(items)?.fpr()?;
        let n = items as f64;
        let slope = (-fpr.ln_lower).max(0.0) * (1.0 + SLACK);
        Ok(Point { items, lower: n * -fpr.ln_upper * (1.0 - SLACK), upper: n * slope * (1.0 + SLACK), slope })
    }

    fn visit(&mut self, items: u64) -> Result<Point> {
        let point = self.point(items)?;
        self.budget = self.budget.saturating_sub(1);
        if point.lower > self.best.lower {
            self.best = point;
        }
        Ok(point)
    }

    /// A number of items such that this number and all larger ones are excluded. Let r be the
    /// probability that an item leaves a given bit empty. Then `n ln(1/f) <= n c / (1 - c)`, where
    /// `c = k r^n` is an upper bound on `1 - f`. For n of at least `1 / ln(1/r)`, this bound on
    /// `n ln(1/f)` decreases as n grows.
    fn excluded_from(&self) -> u64 {
        let complement = |items: u64| libm::exp(ln_complement_bound(self.variant, self.bits, items, self.probes));
        let decay = libm::log(f64::from(self.probes)) - ln_complement_bound(self.variant, self.bits, 1, self.probes);
        let mut items = self.best.items;
        loop {
            let c = complement(items);
            let falls = items as f64 * decay > 1.0 + 1e-6;
            if falls && c < 0.5 && items as f64 * c / (1.0 - c) < self.best.lower * (1.0 - 1e-9) || items > 1 << 61 {
                return items;
            }
            items += items / 8 + 1;
        }
    }

    /// The peak. The result has 0 items if no number of items reaches the efficiency `least`.
    fn run(mut self, least: Option<f64>) -> Result<Peak> {
        let floor = least.map_or(0.0, |least| least * self.bits as f64 * core::f64::consts::LN_2 * (1.0 - 1e-12));
        let end = self.excluded_from();
        let first = self.visit(1)?;
        let mut open = vec![(first, end)];
        let mut single = Vec::new();
        // An interval is stored as its first point and the first number after the interval.
        while let Some((start, end)) = open.pop() {
            if self.budget == 0 || work::is_third_spent() {
                return self.uphill(floor);
            }
            let most = (end - 1) as f64 * start.slope * (1.0 + SLACK);
            if most < self.best.lower.max(floor) {
                continue;
            }
            if end - start.items == 1 {
                single.push(start);
                continue;
            }
            // While the interval is long, it is divided at the geometric mean of its ends. The
            // reason is that its bound is too high by a factor of up to the ratio of the ends.
            let middle = if end > 4 * start.items {
                libm::sqrt(start.items as f64 * end as f64) as u64
            } else {
                start.items + (end - start.items) / 2
            };
            let middle = self.visit(middle.clamp(start.items + 1, end - 1))?;
            let (left, right) = ((start, middle.items), (middle, end));
            // The half that contains the best number so far is pushed last, so that it is searched
            // first.
            if self.best.items < middle.items { open.extend([right, left]) } else { open.extend([left, right]) }
        }
        single.retain(|point| point.upper >= self.best.lower.max(floor));
        single.sort_by_key(|point| point.items);
        let mut candidates = single.into_iter();
        let Some(mut best) = candidates.next() else { return Ok(self.peak(0, 0.0, true)) };
        for point in candidates {
            if self.compare(point.items, best.items)?.is_lt() {
                best = point;
            }
        }
        let value = share(self.bits, best.items, self.rate(best.items)?.fpr()?.ln);
        Ok(self.peak(best.items, value, true))
    }

    fn peak(&self, items: u64, value: f64, proven: bool) -> Peak {
        Peak { items, probes: self.probes.into(), value, proven }
    }

    /// Compares `f(a)^a` with `f(b)^b` exactly: the smaller one is more efficient.
    fn compare(&self, a: u64, b: u64) -> Result<core::cmp::Ordering> {
        let (left, right) = (self.rate(a)?, self.rate(b)?);
        Power { base: left, exponent: a }.compare(&Power { base: right, exponent: b })
    }

    /// The first number of items after which efficiency does not rise. The function assumes that
    /// there is only one peak. For one probe this is a theorem, because `t ln(1 / (1 - e^-t))` has
    /// one peak.
    fn uphill(&self, floor: f64) -> Result<Peak> {
        let items = boundary(self.best.items as f64, 1, 1 << 62, |items| Ok(self.compare(items + 1, items)?.is_lt()))?;
        let ln = self.rate(items)?.fpr()?.ln;
        let reached = items as f64 * -ln >= floor;
        Ok(self.peak(if reached { items } else { 0 }, share(self.bits, items, ln), self.probes == 1))
    }
}
