//! The best number of probes, the smallest number of bits and the largest number of items. Each is
//! proven: a bound or an exact decision excludes every alternative.

mod few_items;

use crate::error::{check_bits, out_of_range};
use crate::exact::enclosure::Enclose;
use crate::exact::work;
use crate::law::hash_floor;
use crate::{Fpr, MAX_BITS, Rate, Result, Variant};
use alloc::boxed::Box;
use alloc::vec::Vec;
use alloc::{format, vec};
use core::cmp::Ordering;

/// The largest number of probes that functions such as [`optimal_probes`] try.
pub const MAX_SEARCHED_PROBES: u32 = 1_000;

/// The largest number of items that is tried.
const MAX_ITEMS: u64 = 1 << 62;

/// A margin for comparing logarithms computed in `f64`. The margin is far above their rounding
/// errors (1e-15 relative, for values up to 1e5), and too small to affect results.
fn slack(ln: f64) -> f64 {
    1e-9 + 1e-12 * ln.abs()
}

/// The number of probes with the smallest expected rate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OptimalProbes {
    /// The best number of probes. If several numbers are equally good, this is the smallest.
    pub probes: u32,
    /// All numbers of probes with the lowest rate. Equality is decided exactly.
    pub ties: Vec<u32>,
    /// The expected rate with the best number of probes.
    pub fpr: Fpr,
    /// Whether the limit of the search is too low for this filter. If true, [`MAX_SEARCHED_PROBES`]
    /// is the best number of probes that was tried, but one more probe would give an even lower
    /// rate.
    pub capped: bool,
}

/// The logarithm of the textbook's rate `(1 - (1 - 1/m)^(nk))^k`, which is the k-th power of the
/// mean fill (Lehr). This rate is close to the rate of every law with uniform positions.
pub(crate) fn ln_power_of_mean(bits: f64, items: f64, probes: f64) -> f64 {
    probes * libm::log(-libm::expm1(items * probes * libm::log1p(-1.0 / bits)))
}

/// A proven lower bound on the logarithm of the expected rate, in `f64`. [`slack`] covers its
/// rounding.
///
/// By convexity (Jensen) the rate is at least the rate at the mean fill: `(E[X]/m)^k` for the
/// standard filter, `C(E[X], k) / C(m, k)` for the classic filter (Burns, corollary 23). The
/// partitioned rate is a product that `f64` evaluates directly.
pub(crate) fn ln_lower_bound(variant: Variant, bits: u64, items: u64, probes: u32) -> f64 {
    let (m, n, k) = (bits as f64, items as f64, f64::from(probes));
    match variant {
        Variant::Standard => ln_power_of_mean(m, n, k),
        Variant::Classic if u64::from(probes) == bits => 0.0,
        Variant::Classic => {
            let mean = -m * libm::expm1(n * libm::log1p(-k / m));
            (0..probes).map(|i| libm::log((mean - f64::from(i)).max(0.0) / (m - f64::from(i)))).sum()
        }
        Variant::Partitioned => {
            let (size, longer) = ((bits / u64::from(probes)) as f64, (bits % u64::from(probes)) as f64);
            let slice = |size: f64| if size == 1.0 { 0.0 } else { libm::log(-libm::expm1(n * libm::log1p(-1.0 / size))) };
            (k - longer) * slice(size) + if longer > 0.0 { longer * slice(size + 1.0) } else { 0.0 }
        }
    }
}

/// An upper bound on `ln(1 - rate)`: the logarithm of the expected number of empty query positions.
/// For the partitioned filter, every slice counts as one of the longest slices, which can only
/// raise the bound.
pub(crate) fn ln_complement_bound(variant: Variant, bits: u64, items: u64, probes: u32) -> f64 {
    let (m, n, k) = (bits as f64, items as f64, f64::from(probes));
    libm::log(k)
        + match variant {
            Variant::Standard => n * k * libm::log1p(-1.0 / m),
            Variant::Classic => n * libm::log1p(-k / m),
            Variant::Partitioned => n * libm::log1p(-1.0 / bits.div_ceil(u64::from(probes)) as f64),
        }
}

/// Returns the number of probes with the smallest expected rate. If several numbers of probes have
/// this rate, the field `ties` lists all of them. The search tries numbers up to
/// [`MAX_SEARCHED_PROBES`]. Classic and partitioned filters cannot have more probes than bits,
/// because all positions of an item are different. For m bits and n items, rounding `(m/n) ln 2`
/// does not always give the best number. For m = 26 and n = 12, the rounded value is 2. In this
/// case, two probes are best for classic filters, but one probe is best for standard filters.
///
/// The result is proven to be the best, even if the rate has several local minima. A number of
/// probes is excluded if a lower bound on its rate is above the best rate found so far. The other
/// numbers of probes are compared exactly. The search usually computes only a few exact rates. Each
/// exact rate takes a few microseconds. For a nearly empty filter with about a thousand probes, the
/// search can take a few seconds.
///
/// # Errors
/// Fails if a parameter is out of range.
pub fn optimal_probes(variant: Variant, bits: u64, items: u64) -> Result<OptimalProbes> {
    let _work = work::begin();
    check_bits(bits)?;
    if items == 0 {
        return out_of_range("items", items, "at least 1");
    }
    let most = variant.max_probes(bits).min(MAX_SEARCHED_PROBES);
    let mut best = best_probes(variant, bits, items, most)?;
    if best.ties.contains(&MAX_SEARCHED_PROBES) && bits > 1 && variant.max_probes(bits) > MAX_SEARCHED_PROBES {
        let beyond = variant.expected(bits, items, MAX_SEARCHED_PROBES + 1)?;
        best.capped = beyond.compare(&*variant.expected(bits, items, best.probes)?)?.is_lt();
    }
    Ok(best)
}

/// The best number of probes from 1 to `most`.
pub(crate) fn best_probes(variant: Variant, bits: u64, items: u64, most: u32) -> Result<OptimalProbes> {
    // A filter of one bit is full after one item, with any number of probes.
    if bits == 1 {
        return Ok(OptimalProbes { probes: 1, ties: (1..=most).collect(), fpr: Fpr::ONE, capped: false });
    }
    if variant == Variant::Classic && items == 1 {
        return best_for_one_item(bits, most);
    }
    if variant == Variant::Classic {
        // The bound for k probes takes k logarithms, for every k up to `most`.
        work::spend("the best number of probes for these bits and items", 20.0 * f64::from(most) * f64::from(most))?;
    }
    let saturated = items as f64 * -libm::log1p(-1.0 / bits as f64) > 0.7;
    let start = if saturated { 1 } else { likely_probes(bits, items, most) };
    let mut best = Contest::new(variant, bits, items, start)?;
    if items < FEW_ITEMS && variant != Variant::Partitioned {
        best.exclude_with_few_items(most)?;
    } else {
        best.exclude(most)?;
    }
    best.ties.sort_unstable();
    Ok(OptimalProbes { probes: best.ties[0], ties: best.ties, fpr: best.fpr, capped: false })
}

/// The best number of probes for one item. With one item, a query of k distinct positions passes
/// only if it has the same positions as the item. So the rate is `1 / C(m, k)`, which falls up to
/// k = m/2 and rises from there.
fn best_for_one_item(bits: u64, most: u32) -> Result<OptimalProbes> {
    let possible = |probes: u64| u32::try_from(probes).ok().filter(|&probes| (1..=most).contains(&probes));
    let mut ties: Vec<u32> = [bits / 2, bits.div_ceil(2)].into_iter().filter_map(possible).collect();
    ties.dedup();
    if ties.is_empty() {
        ties.push(most);
    }
    let fpr = Variant::Classic.expected(bits, 1, ties[0])?.fpr()?;
    Ok(OptimalProbes { probes: ties[0], ties, fpr, capped: false })
}

/// With fewer items than this limit, the bounds from the mean fill ([`ln_lower_bound`]) are too
/// weak to exclude many numbers of probes.
const FEW_ITEMS: u64 = 33;

/// The best number of probes found so far.
struct Contest {
    variant: Variant,
    bits: u64,
    items: u64,
    ties: Vec<u32>,
    best: Box<dyn Enclose>,
    fpr: Fpr,
}

impl Contest {
    fn new(variant: Variant, bits: u64, items: u64, start: u32) -> Result<Contest> {
        let best = variant.expected(bits, items, start)?;
        let fpr = best.fpr()?;
        Ok(Contest { variant, bits, items, ties: vec![start], best, fpr })
    }

    /// Compares a number of probes exactly with the best, keeps the better one, and returns the
    /// result of the comparison.
    fn challenge(&mut self, probes: u32) -> Result<Ordering> {
        let other = self.variant.expected(self.bits, self.items, probes)?;
        let order = other.compare(&*self.best)?;
        match order {
            Ordering::Greater => {}
            Ordering::Equal => self.ties.push(probes),
            Ordering::Less => {
                self.ties = vec![probes];
                self.fpr = other.fpr()?;
                self.best = other;
            }
        }
        Ok(order)
    }

    /// Goes through every number of probes k from 1 to `most`. A bound excludes all but a few of
    /// them. Nothing is assumed about the shape of the rate as a function of k.
    fn exclude(&mut self, most: u32) -> Result<()> {
        let start = self.ties[0];
        if self.variant == Variant::Standard && start > 1 {
            return self.exclude_outwards(start, most);
        }
        // Starts near the best number, so that the bound soon excludes the others.
        for probes in outwards(start, 1, most) {
            if !self.is_excluded(probes) {
                self.challenge(probes)?;
            }
        }
        Ok(())
    }

    /// Like `exclude`, for the standard filter, whose bound `k ln(1 - q^k)` with `q = (1 - 1/m)^n`
    /// has one minimum. With `x = q^k` the bound is `ln x ln(1 - x) / ln q`. The product of
    /// logarithms rises up to `x = 1/2`, and then falls. (Its derivative has the sign of
    /// `(1-x) ln(1-x) - x ln x`, which is concave on `[0, 1/2]` and 0 at both ends.) So if the
    /// bound excludes a k on one side of the minimum, it excludes all k farther away on that side.
    fn exclude_outwards(&mut self, start: u32, most: u32) -> Result<()> {
        let bottom = core::f64::consts::LN_2 / (self.items as f64 * -libm::log1p(-1.0 / self.bits as f64));
        let beyond = |probes: u32, up: bool| if up { f64::from(probes) > bottom + 1e-6 } else { f64::from(probes) < bottom - 1e-6 };
        for up in [false, true] {
            let mut probes = start;
            while if up { probes < most } else { probes > 1 } {
                probes = if up { probes + 1 } else { probes - 1 };
                if !self.is_excluded(probes) {
                    self.challenge(probes)?;
                } else if beyond(probes, up) && self.is_excluded_by_mean(probes) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn is_excluded_by_mean(&self, probes: u32) -> bool {
        if self.variant == Variant::Classic && self.is_excluded_by_last_factor(probes) {
            return true;
        }
        let bound = ln_lower_bound(self.variant, self.bits, self.items, probes);
        bound > self.fpr.ln_upper + slack(bound)
    }

    /// A weaker form of the bound for classic filters: it replaces all factors
    /// `(mean - i) / (m - i)` by the last one, which is the smallest. This saves k logarithms.
    fn is_excluded_by_last_factor(&self, probes: u32) -> bool {
        let (m, k) = (self.bits as f64, f64::from(probes));
        let mean = -m * libm::expm1(self.items as f64 * libm::log1p(-k / m));
        let bound = k * libm::log((mean - k + 1.0) / (m - k + 1.0));
        bound > self.fpr.ln_upper + slack(bound)
    }

    fn is_excluded(&self, probes: u32) -> bool {
        if self.is_excluded_by_mean(probes) {
            return true;
        }
        // Rates near 1 are compared by their complements (1 - rate), because the rates themselves
        // are too close to each other. The complement for a single probe is `(1 - 1/m)^n`.
        let complement = ln_complement_bound(self.variant, self.bits, self.items, probes);
        let single = self.items as f64 * libm::log1p(-1.0 / self.bits as f64);
        self.ties == [1] && complement < single - slack(single)
    }

    /// Goes through every number of probes k from 1 to `most`, for a handful of items. First, a
    /// bound from the mean fill ([`ln_lower_bound`]) excludes some of them. For each remaining k,
    /// the rate is computed in floating point ([`few_items::ln_rates`]), to exclude further
    /// numbers. The numbers that are left are compared exactly.
    fn exclude_with_few_items(&mut self, most: u32) -> Result<()> {
        let start = self.ties[0];
        let mut left: Vec<u32> = (1..=most).filter(|&k| k != start && !self.is_excluded(k)).collect();
        work::spend("the best number of probes for a few items", few_items::steps(self.variant, self.bits, self.items, &left))?;
        let rates = few_items::ln_rates(self.variant, self.bits, self.items, &left);
        let mut order: Vec<(f64, u32)> = rates.into_iter().zip(left.drain(..)).collect();
        // The best numbers come first, so that they exclude the others.
        lowest_first(&mut order);
        for (rate, probes) in order {
            if rate <= self.fpr.ln_upper + slack(rate) && !self.is_excluded(probes) {
                self.challenge(probes)?;
            }
        }
        Ok(())
    }
}

/// All numbers of the range except `from`, in ascending order of their distance from it. If two are
/// equally near, the smaller comes first.
pub(crate) fn outwards(from: u32, first: u32, last: u32) -> impl Iterator<Item = u32> {
    let both = move |distance| [from.checked_sub(distance), from.checked_add(distance)];
    (1..=from.abs_diff(first).max(from.abs_diff(last))).flat_map(both).flatten().filter(move |&number| (first..=last).contains(&number))
}

/// Sorts numbers of probes by their rates, and equal rates by the number of probes.
pub(crate) fn lowest_first(rates: &mut [(f64, u32)]) {
    rates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
}

/// A number of probes at which the search starts: `(m/n) ln 2` rounded.
fn likely_probes(bits: u64, items: u64, most: u32) -> u32 {
    let ideal = bits as f64 / items as f64 * core::f64::consts::LN_2;
    libm::round(ideal).clamp(1.0, f64::from(most)) as u32
}

/// A size at which the expected rate is at most the requested rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fit {
    /// The number of bits or of items, depending on the search.
    pub(crate) size: u64,
    /// The number of probes that meets the rate at this size.
    pub(crate) probes: u32,
}

/// Whether the bound on equal hashes, `floor`, is at least the rate.
pub(crate) fn reaches(floor: f64, rate: &Rate) -> bool {
    rate.to_f64() <= floor
}

/// The condition of a search: whether a size meets the rate.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) variant: Variant,
    pub(crate) rate: &'a Rate,
    /// A fixed number of probes, or `None` for the best one.
    pub(crate) probes: Option<u32>,
    /// The width of the hash in bits. The bound on equal hashes of this width is added to the rate
    /// of the positions. With `None`, nothing is added.
    pub(crate) hash_bits: Option<u32>,
}

impl Question<'_> {
    fn meets(&self, bits: u64, items: u64, probes: u32) -> Result<bool> {
        self.variant.meets(bits, items, probes, self.rate, self.hash_bits)
    }

    /// Whether the bound on equal hashes alone is at least the requested rate. In this case, no
    /// filter meets the requested rate, because the positions always add to the bound on equal
    /// hashes.
    fn is_reached_by_equal_hashes(&self, items: u64) -> bool {
        self.hash_bits.is_some_and(|hash_bits| reaches(hash_floor(items, hash_bits), self.rate))
    }

    /// Estimates the logarithm of the rate that remains for the positions when the bound on equal
    /// hashes is subtracted.
    pub(crate) fn ln_target(&self, items: u64) -> f64 {
        let floor = self.hash_bits.map_or(0.0, |hash_bits| hash_floor(items, hash_bits));
        self.rate.ln() + libm::log1p(-libm::exp(libm::log(floor) - self.rate.ln()).min(1.0 - 1e-12))
    }

    /// The number of probes at which a search starts, which is near the best number for the rate.
    fn first_probes(&self, items: u64, most: u32) -> u32 {
        let likely = libm::round(-self.ln_target(items) / core::f64::consts::LN_2);
        self.probes.unwrap_or(likely.clamp(1.0, f64::from(most.min(MAX_SEARCHED_PROBES))) as u32)
    }

    /// The best number of probes at this size, or `None` if the number is given or the best one
    /// does not meet the rate.
    fn better_probes(&self, bits: u64, items: u64) -> Result<Option<u32>> {
        // If equal hashes alone reach the rate, no number of probes meets it. A search would take
        // many steps, because the rate of the best number of probes would be far below that of
        // equal hashes.
        if self.probes.is_some() || self.is_reached_by_equal_hashes(items) {
            return Ok(None);
        }
        let probes = best_probes(self.variant, bits, items, self.variant.max_probes(bits).min(MAX_SEARCHED_PROBES))?.probes;
        Ok(self.meets(bits, items, probes)?.then_some(probes))
    }

    /// The logarithm of the exact rate, minus the logarithm of the textbook formula's rate.
    fn missed(&self, bits: u64, items: u64, probes: u32) -> Result<f64> {
        let exact = self.variant.fpr(bits, items, probes)?.ln;
        Ok(exact - ln_power_of_mean(bits as f64, items as f64, f64::from(probes)))
    }
}

/// The smallest number of bits whose expected rate for `items` items is at most the requested rate,
/// or `None` if it would be above [`MAX_BITS`].
///
/// With a fixed number of probes, the rate falls as the number of bits grows. So if one bit less is
/// not enough, no smaller size is. [`best_probes`] proves that no other number of probes needs
/// fewer bits.
pub(crate) fn fewest_bits(question: Question<'_>, items: u64) -> Result<Option<Fit>> {
    let mut probes = question.first_probes(items, MAX_SEARCHED_PROBES);
    let mut enough = None;
    loop {
        let Some(size) = fewest_bits_at(question, items, probes, enough)? else { return Ok(None) };
        let better = if size == 1 { None } else { question.better_probes(size - 1, items)? };
        let Some(better) = better else { return Ok(Some(Fit { size, probes })) };
        (probes, enough) = (better, Some(size - 1));
    }
}

/// Like `fewest_bits`, with fixed probes. `enough` is a number of bits that is known to be enough.
pub(crate) fn fewest_bits_at(question: Question<'_>, items: u64, probes: u32, enough: Option<u64>) -> Result<Option<u64>> {
    let least = question.variant.least_bits(probes);
    let k = f64::from(probes);
    // Inverts the textbook formula at the requested rate, and then at a rate corrected by the
    // formula's error.
    let target = question.ln_target(items);
    let invert = |ln: f64| items as f64 * k / -libm::log1p(-libm::exp(ln / k));
    let mut guess = invert(target);
    for _ in 0..2 {
        let bits = (guess as u64).clamp(least, MAX_BITS);
        guess = invert(target - question.missed(bits, items, probes)?);
    }
    let meets = |bits: u64| question.meets(bits, items, probes);
    let limit = match enough {
        Some(enough) => Some(enough),
        None => first_that_meets(((2.0 * guess) as u64).clamp(least, MAX_BITS), MAX_BITS, meets)?,
    };
    limit.map(|limit| boundary(guess, least, limit, |bits| Ok(!meets(bits)?))).transpose()
}

/// The largest number of items whose expected rate in `bits` bits is at most the requested rate, or
/// `None` if not even one item fits.
///
/// With a fixed number of probes, the rate rises with the number of items. So, as in
/// [`fewest_bits`], one decision settles all larger numbers: if one more item does not fit, no
/// larger number fits. The function fails if more than 2^62 items fit.
pub(crate) fn most_items(question: Question<'_>, bits: u64) -> Result<Option<Fit>> {
    let mut probes = question.first_probes(1, question.variant.max_probes(bits));
    let mut known = 0;
    loop {
        if question.meets(bits, known + 1, probes)? {
            known = most_items_at(question, bits, known + 1, probes)?;
        }
        let Some(better) = question.better_probes(bits, known + 1)? else { return Ok((known > 0).then_some(Fit { size: known, probes })) };
        probes = better;
    }
}

/// Like `most_items`, with fixed probes. `least` is a number of items that is known to fit.
fn most_items_at(question: Question<'_>, bits: u64, least: u64, probes: u32) -> Result<u64> {
    if question.meets(bits, MAX_ITEMS, probes)? {
        return out_of_range("rate", question.rate, format!("lower: at this rate, {bits} bits hold more than 2^62 items"));
    }
    let k = f64::from(probes);
    let invert = |ln: f64| -(bits as f64) / k * libm::log1p(-libm::exp(ln / k));
    let mut guess = invert(question.ln_target(least));
    for _ in 0..2 {
        let items = (guess as u64).clamp(least, MAX_ITEMS);
        guess = invert(question.ln_target(items) - question.missed(bits, items, probes)?);
    }
    // The smallest number of items that is too large.
    let first_too_many = boundary(guess + 1.0, least + 1, MAX_ITEMS, |items| question.meets(bits, items, probes))?;
    Ok(first_too_many - 1)
}

/// The smallest size in `least..=limit` for which `before` is false. `before` must be false at
/// `limit`. If it is false at a size, it must be false at every larger size. The search moves away
/// from the guess in steps, each four times as long as the previous one, and then bisects. If the
/// guess is right, two calls of `before` are enough.
pub(crate) fn boundary(guess: f64, least: u64, limit: u64, before: impl Fn(u64) -> Result<bool>) -> Result<u64> {
    boundary_by(guess, least, limit, &before)
}

/// The body of [`boundary`] with a trait object, so that it is compiled only once.
fn boundary_by(guess: f64, least: u64, limit: u64, before: &dyn Fn(u64) -> Result<bool>) -> Result<u64> {
    // `low` is the largest size known to be before the boundary, or `least - 1` if none is known.
    // `high` is the smallest size known to be at or past it.
    let (mut low, mut high) = (least - 1, limit);
    let mut at = libm::ceil(guess).max(0.0) as u64;
    let mut step = 1;
    while high - low > 1 {
        at = at.clamp(low + 1, high - 1);
        if before(at)? {
            low = at
        } else {
            high = at
        }
        at = if low < least {
            high.saturating_sub(step)
        } else if high == limit {
            low.saturating_add(step)
        } else {
            low + (high - low) / 2
        };
        step = step.saturating_mul(4);
    }
    Ok(high)
}

/// The first of the sizes `size`, `4 size`, .. up to `limit` that meets the rate.
pub(crate) fn first_that_meets(mut size: u64, limit: u64, meets: impl Fn(u64) -> Result<bool>) -> Result<Option<u64>> {
    loop {
        if meets(size)? {
            return Ok(Some(size));
        }
        if size == limit {
            return Ok(None);
        }
        size = size.saturating_mul(4).min(limit);
    }
}

/// A filter whose expected rate is at most the requested rate, with the best number of probes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Best {
    /// The number of bits of the filter.
    pub bits: u64,
    /// The number of distinct items in the filter.
    pub items: u64,
    /// The best number of probes for these bits and items.
    pub probes: u32,
    /// The expected rate with these bits, items and probes.
    pub fpr: Fpr,
}

/// Returns the smallest filter that holds `items` items at an expected rate of at most `rate`. It
/// has the best number of probes. The result is `None` if the filter would need more than
/// [`MAX_BITS`] bits. The rate does not include false positives that are caused by equal hashes. To
/// plan a filter, use [`Plan`](crate::Plan).
///
/// # Errors
/// Fails if `items` is 0.
pub fn min_bits(variant: Variant, items: u64, rate: &Rate) -> Result<Option<Best>> {
    let _work = work::begin();
    if items == 0 {
        return out_of_range("items", items, "at least 1");
    }
    let fit = fewest_bits(Question { variant, rate, probes: None, hash_bits: None }, items)?;
    fit.map(|fit| best_at(variant, fit.size, items, rate)).transpose()
}

/// Returns the largest number of items that a filter of `bits` bits can hold at an expected rate of
/// at most `rate`. The filter has the best number of probes. The result is `None` if not even one
/// item fits. The rate does not include false positives that are caused by equal hashes.
///
/// # Errors
/// Fails if `bits` is out of range, or if more than 2^62 items fit.
pub fn max_items(variant: Variant, bits: u64, rate: &Rate) -> Result<Option<Best>> {
    let _work = work::begin();
    check_bits(bits)?;
    let fit = most_items(Question { variant, rate, probes: None, hash_bits: None }, bits)?;
    fit.map(|fit| best_at(variant, bits, fit.size, rate)).transpose()
}

fn best_at(variant: Variant, bits: u64, items: u64, rate: &Rate) -> Result<Best> {
    let OptimalProbes { probes, mut fpr, .. } = optimal_probes(variant, bits, items)?;
    fpr.cap(rate);
    Ok(Best { bits, items, probes, fpr })
}
