//! Checks whether a filter behaves as its guarantee says.
//!
//! There are four checks:
//! * The number of set bits is tested against its probability distribution ([`FillVerdict`]).
//! * The expected rate is compared with the requested rate ([`ExpectedVerdict`]).
//! * The filter's own rate, computed from its set bits, is compared with a limit. A rate above the
//!   limit shows that the filter holds too many items ([`Verification::is_overfull`]).
//! * The filter is queried with random keys. The share of keys that it reports as contained is
//!   tested against the filter's own rate ([`Measurement`]).
//!
//! For a correct filter, each check fails with probability at most [`ALPHA`]. This requires that
//! the inserted keys were chosen without knowing the seed. Keys may repeat.
//!
//! The measured rate is not compared with the requested rate, because a plan may guarantee only the
//! mean rate. About half of all filters from such a plan have a rate slightly above the mean rate.

#[cfg(feature = "growth")]
mod layers;
mod planned;

use crate::backing::Counted;
use crate::scheme::Scheme;
use crate::{FilterOf, KeyHasher, tied};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use truebloom_math::{Error, Fill, Fpr, Law, Plan, Rate, Target, Variant, binomial, bisect, distinct, items_interval, mcdiarmid};

/// An upper bound on the probability that a correct filter fails a check. This module makes [four
/// checks](self), and the bound holds for each of them separately.
pub const ALPHA: f64 = 1e-6;

/// The confidence of the interval that [`Measurement::interval`] returns. A check also detects a
/// large enough deviation with at least this probability. [`FillVerdict::noticed`] and
/// [`Measurement::noticed`] say which deviations are large enough.
pub const CONFIDENCE: f64 = 0.99;

/// The results of checking a filter's counters and bits, without any queries.
///
/// Keys may repeat, so the number of distinct items is not known exactly. It has a lower bound and
/// two upper bounds:
/// * The lower bound is the number of insertions that set a bit.
/// * The first upper bound is the number of all insertions.
/// * The second upper bound also counts new keys that were false positives. Such keys set no bit,
///   so the lower bound does not count them. The module [`distinct`] computes this upper bound.
///
/// A program may look up each key first, and insert it only if the filter does not contain it
/// ("insert if absent"). Then a new key that is a false positive is never inserted: it is
/// *withheld*. Inserting a withheld key would not set any bit. So the set bits are the same as if
/// the program had inserted every key that it looked up. Therefore, the test for too many set bits
/// uses the largest possible number of keys that were looked up, inserted or withheld.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    items: (u64, u64),
    withheld: bool,
    expected: Fpr,
    expected_verdict: ExpectedVerdict,
    fill: FillVerdict,
    limit: Option<f64>,
    is_overfull: bool,
}

/// The result of comparing the expected rate with the requested rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpectedVerdict {
    /// The expected rate is proven to be at most the requested rate, for every possible number of
    /// distinct items in the filter.
    Met,
    /// The filter may hold too many items, but this is not certain. Only bounds on the number of
    /// distinct items are known. For example, some keys may have been inserted more than once.
    Undetermined,
    /// The expected rate is above the requested rate, whatever the true number of items is.
    Exceeded,
    /// No rate was requested for the filter, so nothing is compared.
    NothingAsked,
}

/// The test of the number of set bits against its probability distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FillVerdict {
    /// The number of set bits.
    pub ones: u64,
    /// Whether the number of set bits was tested. It is not tested if no distribution of this
    /// number is known, for example after a union or an intersection.
    pub tested: bool,
    /// An upper bound on the probability that a correct filter has at most `ones` set bits. The
    /// bound is computed for the smallest possible number of items.
    pub too_few: f64,
    /// An upper bound on the probability that a correct filter has at least `ones` set bits. The
    /// bound is computed for the largest number of distinct keys that a program may have looked up
    /// or inserted (see [`Verification`]). If no upper bound on this number is known, `too_many`
    /// is 1.
    pub too_many: f64,
    /// The number of wrongly set bits that is enough for the test to fail. If a fault sets at least
    /// this many additional bits in a correct filter, the test fails with probability at least
    /// [`CONFIDENCE`]. `None` if no such number is known.
    pub noticed: Option<u64>,
}

impl FillVerdict {
    fn untested(ones: u64) -> FillVerdict {
        FillVerdict { ones, tested: false, too_few: 1.0, too_many: 1.0, noticed: None }
    }

    /// Returns true if the test passes at the significance level [`ALPHA`], or if nothing was
    /// tested. The test has two parts. The check for too few set bits has the significance level
    /// `ALPHA / 2`. The check for too many set bits has the significance level `ALPHA / 4`. The
    /// remaining `ALPHA / 4` is for the bounds on the number of items: they are wrong with at most
    /// this probability.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.tested || (self.too_few >= ALPHA / 2.0 && self.too_many >= ALPHA / 4.0)
    }
}

impl Verification {
    /// Checks the counters and bits of a filter. For blocked and partitioned filters, the time is
    /// linear in the number of bits. For other filters, the checks usually take less than a
    /// millisecond, and up to a second or two if the scheme has two hashes or the header of the
    /// file was forged.
    ///
    /// In a blocked or two-hash filter, the positions of a key depend on each other. The number of
    /// set bits of such a filter is tested with McDiarmid's inequality. The only property of the
    /// scheme that this inequality uses is the largest number of bits that one item can set. This
    /// test is less sensitive than the test for a standard filter. It still detects, for example, a
    /// hash that leaves most blocks empty.
    ///
    /// # Errors
    /// Returns an error if a rate would take too long to compute ([`Error::TooCostly`]).
    pub fn of<S: Scheme, H: KeyHasher, K: Counted>(filter: &FilterOf<S, H, K>) -> Result<Verification, Error> {
        truebloom_math::as_one_call(|| Verification::examine(filter))
    }

    fn examine<S: Scheme, H: KeyHasher, K: Counted>(filter: &FilterOf<S, H, K>) -> Result<Verification, Error> {
        let law = filter.law();
        // For a blocked filter, this reads every block, so it is computed only once.
        let own = filter.fpr();
        let evidence = Evidence {
            fill: fill_laws(filter, &*law),
            ones: filter.ones(),
            bits: filter.bits(),
            keys: Keys::of(filter, &own),
            is_merged: filter.is_merged(),
        };
        let limit = filter.capacity().and_then(|capacity| capacity_limit(filter, capacity));
        let is_overfull = limit.is_some_and(|limit| own.lower > limit);
        evidence.verify(&*law, &|items| filter.expected_fpr_at(items), filter.rate(), H::HASH_BITS, (limit, is_overfull))
    }

    /// A lower and an upper bound on the number of distinct items in the filter. The true number
    /// lies outside these bounds with probability at most `ALPHA / 4`. If no upper bound is known,
    /// `u64::MAX` takes its place.
    #[must_use]
    pub fn items(&self) -> (u64, u64) {
        self.items
    }

    /// Returns true if more bits are set than the inserted keys explain. This shows that a program
    /// [withheld](Verification) keys: it did not insert some new keys, because the filter reported
    /// them as contained. If no keys were withheld, the result is true with probability at most
    /// `ALPHA / 4`. If the result is true, the upper bound of [`items`](Self::items) also counts
    /// withheld keys.
    #[must_use]
    pub fn has_withheld_keys(&self) -> bool {
        self.withheld
    }

    /// The expected rate for the largest possible number of items. The upper end of the result
    /// includes the probability that a new key has the same hash as an item.
    #[must_use]
    pub fn expected(&self) -> Fpr {
        self.expected
    }

    /// The result of comparing the expected rate with the requested rate.
    #[must_use]
    pub fn expected_verdict(&self) -> ExpectedVerdict {
        self.expected_verdict
    }

    /// The test of the number of set bits against its probability distribution.
    #[must_use]
    pub fn fill(&self) -> FillVerdict {
        self.fill
    }

    /// An upper bound on the rate of the filter when the filter holds as many items as its
    /// capacity. For a random seed, this upper bound is right with probability at least
    /// `1 - ALPHA`. For a filter that grows, the result is the requested rate. For other filters,
    /// the result is `None` if the filter has no capacity, or if no such bound is known.
    #[must_use]
    pub fn limit(&self) -> Option<f64> {
        self.limit
    }

    /// Returns true if the filter's own rate, computed from its set bits, is above
    /// [`limit`](Self::limit). If the result is true, the filter holds too many items. This
    /// conclusion is also valid for merged filters, and is wrong with probability at most
    /// [`ALPHA`].
    #[must_use]
    pub fn is_overfull(&self) -> bool {
        self.is_overfull
    }

    /// Returns true if all checks of this verification pass: the expected rate is not
    /// [`Exceeded`](ExpectedVerdict::Exceeded), the test of the set bits passes, and the filter is
    /// not overfull.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.expected_verdict != ExpectedVerdict::Exceeded && self.fill.holds() && !self.is_overfull
    }
}

/// The law of the number of set bits, or bounds on it.
enum FillLaw {
    /// The number is distributed as a sum of independent indicators.
    Independent(Fill),
    /// Bounds that follow from how much one item can change the number.
    Bounded(mcdiarmid::Fill),
}

impl FillLaw {
    fn at_least(&self, ones: u64) -> f64 {
        match self {
            FillLaw::Independent(fill) => fill.at_least(ones),
            FillLaw::Bounded(fill) => fill.at_least(ones),
        }
    }

    fn at_most(&self, ones: u64) -> f64 {
        match self {
            FillLaw::Independent(fill) => fill.at_most(ones),
            FillLaw::Bounded(fill) => fill.at_most(ones),
        }
    }
}

/// The laws of the fill for the smallest and for the largest number of items.
fn fill_laws<'a, S: Scheme, H: KeyHasher, K: Counted>(
    filter: &'a FilterOf<S, H, K>,
    law: &'a dyn Law,
) -> impl Fn(u64, bool) -> Result<Option<FillLaw>, Error> + 'a {
    let (fewest, most) = tied::fills(filter);
    move |items, is_most| match law.fill(items) {
        // If there are so many items that the variance cannot be computed, nothing is tested.
        Err(Error::TooCostly { .. }) => Ok(None),
        Ok(Some(fill)) => Ok(Some(FillLaw::Independent(fill))),
        Ok(None) if filter.fill_tells_rate() && filter.scheme().id().block_bits().is_none() => Ok(None),
        Ok(None) => Ok(Some(FillLaw::Bounded(mcdiarmid::Fill { items, ..if is_most { most } else { fewest } }))),
        Err(error) => Err(error),
    }
}

/// Whether the number of set bits shows that the filter holds more than `items` items. If the
/// filter holds at most `items` items, the result is true with probability at most [`ALPHA`]. If no
/// distribution of the number of set bits is known, the result is true only if the filter is full.
pub(crate) fn shows_more_than<S: Scheme, H: KeyHasher, K: Counted>(filter: &FilterOf<S, H, K>, items: u64) -> bool {
    // The number of set bits is at most its mean for `items` items, so it does not show that there
    // are more than `items` items.
    if filter.estimated_items().is_some_and(|estimate| estimate <= items as f64) {
        return false;
    }
    truebloom_math::as_one_call(|| match fill_laws(filter, &*filter.law())(items, true) {
        Ok(Some(law)) => law.at_least(filter.ones()) < ALPHA,
        _ => filter.ones() == filter.bits(),
    })
}

/// Bounds on the number of distinct keys.
#[derive(Clone, Copy)]
struct Keys {
    /// A lower bound on the number of items held.
    fewest: u64,
    /// An upper bound on the number of items offered. The bound is wrong with probability at most a
    /// quarter of [`ALPHA`].
    offered: u64,
    /// An upper bound on the number of items looked up, whether offered or withheld. This bound is
    /// wrong only if `offered` is wrong, too. `None` if no upper bound is known.
    met: Option<u64>,
}

impl Keys {
    fn of<S: Scheme, H: KeyHasher, K: Counted>(filter: &FilterOf<S, H, K>, own: &Fpr) -> Keys {
        let (bits, probes, changed, error) = (filter.bits(), filter.probes(), filter.changed(), ALPHA / 4.0);
        let offered = if filter.is_merged() { filter.most_items().min(most_in_union(filter, error)) } else { filter.most_items() };
        Keys::new(changed, offered, filter.is_merged(), || match filter.scheme().id().variant() {
            Some(variant) => distinct::most(variant, bits, probes, changed, error),
            None => distinct::most_at_rate(own.upper, changed, error),
        })
    }

    fn new(changed: u64, offered: u64, merged: bool, met: impl FnOnce() -> Option<u64>) -> Keys {
        let met = if merged { None } else { met() };
        Keys { fewest: changed, offered: met.map_or(offered, |met| met.min(offered)), met }
    }
}

/// An upper bound on the number of items in a union, from its number of set bits. The bound is
/// wrong with probability at most `error`. The counts of the merged filters tell much less, because
/// they include repeats. `u64::MAX` if no such bound is known.
fn most_in_union<S: Scheme, H: KeyHasher, K: Counted>(filter: &FilterOf<S, H, K>, error: f64) -> u64 {
    let variant = filter.scheme().id().variant().filter(|variant| matches!(variant, Variant::Standard | Variant::Classic));
    let variant = variant.filter(|_| filter.estimated_items().is_some());
    // Each end of the interval is wrong with half of its error probability.
    let found = variant.map(|variant| items_interval(variant, filter.bits(), filter.probes(), filter.ones(), 1.0 - 2.0 * error));
    found.and_then(|found| found.ok()?.upper).unwrap_or(u64::MAX)
}

/// An upper bound on the rate of one filter with `items` items, which is exceeded with probability
/// at most [`ALPHA`]. If a plan can guarantee the rate of one filter with this scheme, the bound is
/// the one that the plan guarantees. For two-hash schemes, it is McDiarmid's bound. `None` if no
/// bound is known, or if it would take too long to compute.
fn capacity_limit<S: Scheme, H: KeyHasher, K: Counted>(filter: &FilterOf<S, H, K>, items: u64) -> Option<f64> {
    let scheme = filter.scheme().id();
    if !scheme.has_guarantee() {
        // The other half of `ALPHA` is for the test by queries.
        return tied::rate_limit(filter, items, ALPHA / 2.0);
    }
    let target = Target::new().scheme(scheme).bits(filter.bits()).items(items).probes(filter.probes()).hash_bits(H::HASH_BITS);
    let plan = Plan::new(&target.confidence(1.0 - ALPHA)).ok()?;
    plan.guarantee.map(|guarantee| guarantee.fpr.upper)
}

/// The data from which a filter of any layout is verified.
struct Evidence<F> {
    /// Returns the law of the number of set bits. The argument `false` stands for the smallest
    /// possible number of items, and `true` for the largest.
    fill: F,
    ones: u64,
    bits: u64,
    keys: Keys,
    is_merged: bool,
}

impl<F: Fn(u64, bool) -> Result<Option<FillLaw>, Error>> Evidence<F> {
    fn verify(
        &self,
        law: &dyn Law,
        rate_of: &dyn Fn(u64) -> Result<Fpr, Error>,
        asked: Option<Rate>,
        hash_bits: u32,
        (limit, is_overfull): (Option<f64>, bool),
    ) -> Result<Verification, Error> {
        let fill = self.fill_verdict()?;
        let withheld = self.shows_withheld_keys()?;
        let most = if withheld { self.keys.met.unwrap_or(u64::MAX) } else { self.keys.offered };
        let items = (self.keys.fewest, most);
        let (expected, expected_verdict) = expected(law, rate_of, items, asked, hash_bits)?;
        Ok(Verification { items, withheld, expected, expected_verdict, fill, limit, is_overfull })
    }

    /// Compares the number of set bits with its law. The test fails if the number is too low for
    /// the smallest possible number of items, or too high for the largest number of keys that may
    /// have been looked up.
    fn fill_verdict(&self) -> Result<FillVerdict, Error> {
        let ones = self.ones;
        let untested = FillVerdict::untested(ones);
        let (false, Some(fewest)) = (self.is_merged, (self.fill)(self.keys.fewest, false)?) else { return Ok(untested) };
        let most = match self.keys.met {
            Some(met) => (self.fill)(met, true)?,
            None => None,
        };
        let (too_many, noticed) = most.map_or((1.0, None), |most| (most.at_least(ones), noticed(self.bits, &fewest, &most)));
        Ok(FillVerdict { ones, tested: true, too_few: fewest.at_most(ones), too_many, noticed })
    }

    /// Whether there are more set bits than the offered keys explain. The level of this test is the
    /// same as that of the test for too many set bits.
    fn shows_withheld_keys(&self) -> Result<bool, Error> {
        if self.is_merged || self.keys.met == Some(self.keys.offered) {
            return Ok(false);
        }
        let offered = (self.fill)(self.keys.offered, true)?;
        Ok(offered.is_some_and(|offered| offered.at_least(self.ones) < ALPHA / 4.0))
    }
}

/// Computes [`FillVerdict::noticed`]. It is the difference between the smallest number of set bits
/// that fails the test for too many, and a number of set bits that correct filters reach with
/// probability at least [`CONFIDENCE`].
fn noticed(bits: u64, fewest: &FillLaw, most: &FillLaw) -> Option<u64> {
    let fails = |ones: u64| most.at_least(ones) < ALPHA / 4.0;
    if !fails(bits) {
        return None;
    }
    let too_many = bisect(0..=bits, fails);
    // `least` is the smallest number with P(X <= least) above 1%, so P(X < least) is at most 1%.
    let least = bisect(0..=bits, |ones| fewest.at_most(ones) > 1.0 - CONFIDENCE);
    Some(too_many.saturating_sub(least).max(1))
}

/// The expected rate for the largest number of items, and its comparison with the requested rate.
fn expected(
    law: &dyn Law,
    rate_of: &dyn Fn(u64) -> Result<Fpr, Error>,
    (fewest, most): (u64, u64),
    asked: Option<Rate>,
    hash_bits: u32,
) -> Result<(Fpr, ExpectedVerdict), Error> {
    let is_bounded = most < u64::MAX;
    let verdict = match asked {
        None => ExpectedVerdict::NothingAsked,
        Some(asked) if is_bounded && law.meets(most, &asked, hash_bits)? => ExpectedVerdict::Met,
        Some(asked) if rate_of(fewest)?.lower > asked.to_f64() * (1.0 + f64::EPSILON) => ExpectedVerdict::Exceeded,
        Some(_) => ExpectedVerdict::Undetermined,
    };
    Ok((if is_bounded { rate_of(most)? } else { Fpr::ONE }, verdict))
}

/// A measurement of a filter's rate with random keys. A *hit* is a random key for which
/// [`contains`](FilterOf::contains) returns true. Every hit counts as a false positive. A random
/// key could also be one of the n keys in the filter. This possibility is ignored, because its
/// probability is at most n/2^128.
pub struct Measurement<'a> {
    /// A function that counts how many of the given keys the filter reports as contained.
    ask: Box<Ask<'a>>,
    /// The range of this filter's rate; both ends are equal if the set bits determine the rate.
    rates: (f64, f64),
    /// An upper bound on the rate of a filter that holds as many items as its capacity. `None` if
    /// the set bits determine the rate, or if no bound is known. The bound is exceeded with
    /// probability at most half of [`ALPHA`].
    limit: Option<f64>,
    keys: RandomKeys,
    queries: u64,
    hits: u64,
}

/// A function that returns the number of hits among the given keys.
type Ask<'a> = dyn Fn(&[RandomKey]) -> usize + Send + Sync + 'a;

/// How many keys are queried at a time.
const ASKED: u64 = 1 << 12;

impl<'a> Measurement<'a> {
    /// Starts a measurement of `filter`. This function queries no keys: call [`query`](Self::query)
    /// next. The random keys are derived from `seed`, which should be random. To repeat a
    /// measurement with the same keys, pass the same seed.
    pub fn new<S: Scheme, H: KeyHasher + Sync, K: Counted>(filter: &'a FilterOf<S, H, K>, seed: u64) -> Measurement<'a> {
        let own = filter.fpr();
        let rates = if filter.fill_tells_rate() { (own.value, own.value) } else { possible_rates(filter, &own) };
        let limit = filter.capacity().filter(|_| !filter.fill_tells_rate()).and_then(|capacity| capacity_limit(filter, capacity));
        Measurement { ask: Box::new(filter.counter()), rates, limit, keys: RandomKeys(seed), queries: 0, hits: 0 }
    }

    /// Starts a measurement of a filter whose own rate is in the range `rates`. `ask` counts the
    /// filter's hits among some keys.
    pub(crate) fn of_counter(ask: impl Fn(&[RandomKey]) -> usize + Send + Sync + 'a, rates: (f64, f64), seed: u64) -> Measurement<'a> {
        Measurement { ask: Box::new(ask), rates, limit: None, keys: RandomKeys(seed), queries: 0, hits: 0 }
    }

    /// Looks up `queries` more random keys of 16 bytes each.
    pub fn query(&mut self, queries: u64) {
        let mut left = queries;
        while left > 0 {
            let now = left.min(ASKED);
            let keys: Vec<RandomKey> = (0..now).map(|_| self.keys.next_key()).collect();
            self.hits += (self.ask)(&keys) as u64;
            left -= now;
        }
        self.queries += queries;
    }

    /// The number of keys that were queried.
    #[must_use]
    pub fn queries(&self) -> u64 {
        self.queries
    }

    /// The number of random keys for which the filter returned true.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// The measured rate: hits divided by queries; 0 before the first query.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.hits as f64 / self.queries.max(1) as f64
    }

    /// The exact binomial (Clopper-Pearson) confidence interval of the rate, at the confidence
    /// [`CONFIDENCE`].
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        binomial::interval(self.hits, self.queries, CONFIDENCE)
    }

    /// The range of rates that this filter can have. The range does not depend on the queries. If
    /// the set bits determine the rate, both ends of the range are equal.
    ///
    /// With two-hash schemes, the set bits give only a range of rates. McDiarmid's inequality can
    /// narrow this range: it bounds how far the filter's rate is from the expected rate. With
    /// probability at most `ALPHA / 2`, the filter's rate is outside the narrowed range. For small
    /// filters, the narrowed range is still wide.
    #[must_use]
    pub fn possible_rates(&self) -> (f64, f64) {
        self.rates
    }

    /// The p-value of an exact two-sided binomial test. The test compares the hits with the rate
    /// that was computed from the set bits. If the set bits do not determine the rate, the test
    /// takes the value in the range [`possible_rates`](Self::possible_rates) that is nearest to the
    /// measured rate. If the measured rate is within this range, the p-value is then 1.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        let (low, high) = self.rates;
        let nearest = self.rate().clamp(low, high);
        if low < high && nearest == self.rate() { 1.0 } else { binomial::two_sided(self.hits, self.queries, nearest) }
    }

    /// Returns true if the measured rate agrees with the rate that was computed from the set bits.
    /// For a correct filter, the result is false with probability at most [`ALPHA`].
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.p_value() >= self.level()
    }

    /// Returns true if the hits show that the filter holds more items than its capacity. If the
    /// filter does not hold more items than its capacity, the result is true with probability at
    /// most [`ALPHA`].
    ///
    /// The test uses an upper bound on the rate of a filter that holds as many items as its
    /// capacity. The rate of such a filter exceeds this bound with probability at most `ALPHA / 2`.
    /// An exact binomial test at the level `ALPHA / 2` compares the hits with the bound. The result
    /// is false if no such bound is known.
    ///
    /// This method is for filters whose set bits do not determine the rate, such as two-hash
    /// filters. For all other filters, this method returns false. For those filters, use
    /// [`Verification::is_overfull`], which needs no queries.
    #[must_use]
    pub fn is_overfull(&self) -> bool {
        self.limit.is_some_and(|limit| binomial::at_least(self.hits, self.queries, limit) < ALPHA / 2.0)
    }

    /// Returns true if the measured rate [`agrees`](Self::agrees) with the set bits and the filter
    /// is not [overfull](Self::is_overfull).
    #[must_use]
    pub fn holds(&self) -> bool {
        self.agrees() && !self.is_overfull()
    }

    /// The lowest rate that this measurement detects as too high. A faulty filter may have a true
    /// rate above the rate that was computed from the set bits. If the true rate is at least the
    /// returned value, [`agrees`](Self::agrees) is false with probability at least [`CONFIDENCE`].
    /// The result is `None` if no rate can be detected, for example after too few queries.
    #[must_use]
    pub fn noticed(&self) -> Option<f64> {
        binomial::noticed_rate(self.queries, self.rates.1, self.level())
    }

    fn level(&self) -> f64 {
        let (low, high) = self.rates;
        if low < high { ALPHA / 2.0 } else { ALPHA }
    }
}

impl fmt::Debug for Measurement<'_> {
    /// Formats the number of queries, the number of hits and the range of possible rates.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measurement { rates, queries, hits, .. } = self;
        f.debug_struct("Measurement").field("rates", rates).field("queries", queries).field("hits", hits).finish_non_exhaustive()
    }
}

/// The range of the filter's rate. If no law gives a narrower range, the result is the range that
/// follows from the fill.
fn possible_rates<S: Scheme, H: KeyHasher, K: Counted>(filter: &FilterOf<S, H, K>, own: &Fpr) -> (f64, f64) {
    let by_fill = (own.lower, own.upper);
    if filter.is_merged() {
        return by_fill;
    }
    let keys = Keys::of(filter, own);
    // Keys may have been withheld, so this uses the number of keys that may have been looked up.
    let Some(most) = keys.met else { return by_fill };
    let law = filter.law();
    // Another quarter of `ALPHA` was used for the bound on the items.
    match (law.proven(keys.fewest), law.proven(most)) {
        (Ok(Some(lowest)), Ok(Some(highest))) => tied::rate_range(filter, most, &lowest, &highest, ALPHA / 4.0),
        _ => by_fill,
    }
}

/// Random keys of 16 bytes, generated by SplitMix64 (Steele, Lea and Flood 2014). The generator
/// never changes, so a measurement can be repeated with any version of this crate.
struct RandomKeys(u64);

type RandomKey = [u8; 16];

impl RandomKeys {
    #[inline]
    fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        truebloom_math::mix(self.0)
    }

    #[inline]
    fn next_key(&mut self) -> RandomKey {
        let (low, high) = (self.next_word(), self.next_word());
        (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
    }
}
