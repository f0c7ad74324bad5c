//! Whether a filter keeps its promise: its fill, its hits and its expected rate, each held to what is proven.
//!
//! Three verdicts, each by a test that errs with probability at most [`ALPHA`] when the filter is sound, on keys chosen independently of the seed and
//! whatever their repeats; nothing else fails a filter. In particular the measured rate is not compared with the rate asked for: about half of all tight
//! filters lie a little above it, for their rates scatter about the expected one.

use crate::scheme::Scheme;
use crate::{BlockedBloomFilter, BloomFilter, KeyHasher, tied};
use std::fmt;
use truebloom_math::{Error, Fill, Fpr, Law, Rate, binomial};

/// The probability at most with which each verdict fails a sound filter.
pub const ALPHA: f64 = 1e-6;

/// The confidence of [`Measurement::interval`].
pub const CONFIDENCE: f64 = 0.99;

/// What a filter's own counters and bits say, without a query.
///
/// The number n of distinct items is not known, because keys may repeat, but it is bracketed: at least the offers that set a bit, at most all offers, and at
/// most those that set a bit plus the new keys that may have been swallowed.
#[derive(Clone, Debug)]
pub struct Verification {
    items: (u64, u64),
    expected: Fpr,
    expected_verdict: ExpectedVerdict,
    fill: FillVerdict,
}

/// The expected rate against the rate asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpectedVerdict {
    /// Proven to be at or below the rate asked for, for every possible number of items.
    Met,
    /// Repeated keys leave open whether there are too many items.
    Undetermined,
    /// Above the rate asked for even for the fewest possible items.
    Exceeded,
    /// The filter was made without a rate.
    NothingAsked,
}

/// The number of set bits against the law of the fill.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FillVerdict {
    /// Set bits.
    pub ones: u64,
    /// Whether there is a law to test against; not after a union or an intersection, and not for blocked filters.
    pub tested: bool,
    /// Upper bound of the probability of so few set bits, for the fewest possible items.
    pub too_few: f64,
    /// Upper bound of the probability of so many, for the most possible items.
    pub too_many: f64,
}

impl FillVerdict {
    fn untested(ones: u64) -> FillVerdict {
        FillVerdict { ones, tested: false, too_few: 1.0, too_many: 1.0 }
    }

    /// Whether the fill is consistent with its law at level [`ALPHA`]: half of it for too few, a quarter for too many, and a quarter went into the bound of
    /// the items.
    pub fn holds(&self) -> bool {
        !self.tested || (self.too_few >= ALPHA / 2.0 && self.too_many >= ALPHA / 4.0)
    }
}

impl Verification {
    /// Examines a filter. Takes a few exact rates: microseconds. Errors only when a rate cannot be computed ([`Error::TooCostly`]).
    pub fn of<H: KeyHasher, S: Scheme>(filter: &BloomFilter<H, S>) -> Result<Verification, Error> {
        let items = possible_items(filter);
        let law = filter.law();
        let (expected, expected_verdict) = expected(&*law, &|items| filter.expected_fpr_at(items), items, filter.rate(), H::HASH_BITS)?;
        Ok(Verification { items, expected, expected_verdict, fill: fill_verdict(filter, items)? })
    }

    /// [`of`](Self::of) for a blocked filter. Its fill is not tested: the bits of a block share its load, so the set bits are no sum of independent ones, and no tail
    /// of theirs is proven here.
    pub fn of_blocked<H: KeyHasher>(filter: &BlockedBloomFilter<H>) -> Result<Verification, Error> {
        let items = items_between(filter.changed(), filter.offered(), filter.is_merged(), filter.fpr()?.upper);
        let (expected, expected_verdict) =
            expected(&filter.law(), &|items| filter.expected_fpr_at(items), items, filter.rate(), H::HASH_BITS)?;
        Ok(Verification { items, expected, expected_verdict, fill: FillVerdict::untested(filter.ones()) })
    }

    /// The fewest and the most distinct items the filter may hold; outside with probability at most a quarter of [`ALPHA`].
    pub fn items(&self) -> (u64, u64) {
        self.items
    }

    /// The expected rate at the most items, with the floor of equal hashes in its upper end.
    pub fn expected(&self) -> Fpr {
        self.expected
    }

    /// The expected rate against the rate asked for.
    pub fn expected_verdict(&self) -> ExpectedVerdict {
        self.expected_verdict
    }

    /// The fill against its law.
    pub fn fill(&self) -> FillVerdict {
        self.fill
    }

    /// Whether nothing here contradicts the promise.
    pub fn holds(&self) -> bool {
        self.expected_verdict != ExpectedVerdict::Exceeded && self.fill.holds()
    }
}

/// The expected rate of the most items, and what the rate asked for says to it.
fn expected(
    law: &dyn Law,
    rate_of: &dyn Fn(u64) -> Result<Fpr, Error>,
    items: (u64, u64),
    asked: Option<Rate>,
    hash_bits: u32,
) -> Result<(Fpr, ExpectedVerdict), Error> {
    let verdict = match asked {
        None => ExpectedVerdict::NothingAsked,
        Some(asked) if law.meets(items.1, &asked, hash_bits)? => ExpectedVerdict::Met,
        Some(asked) if rate_of(items.0)?.lower > asked.to_f64() * (1.0 + f64::EPSILON) => ExpectedVerdict::Exceeded,
        Some(_) => ExpectedVerdict::Undetermined,
    };
    Ok((rate_of(items.1)?, verdict))
}

fn possible_items<H: KeyHasher, S: Scheme>(filter: &BloomFilter<H, S>) -> (u64, u64) {
    items_between(filter.changed(), filter.offered(), filter.is_merged(), filter.fpr().upper)
}

/// Brackets the number of distinct items.
///
/// A new key is swallowed, setting no bit, with the pass probability of the moment, at most that of the fill now. So the new keys swallowed before the
/// a-th that set a bit are fewer than a negative binomial variable with that chance; its quantile at a quarter of [`ALPHA`] bounds them.
fn items_between(changed: u64, offered: u64, merged: bool, pass: f64) -> (u64, u64) {
    if merged || changed == offered {
        return (changed, offered);
    }
    // Fewer than `swallowed` with the wanted confidence, if so many successes in that many trials are improbable.
    let improbable = |swallowed: u64| binomial::at_least(swallowed, changed.saturating_add(swallowed), pass) < ALPHA / 4.0;
    let most = offered - changed;
    if pass >= 1.0 || !improbable(most) {
        return (changed, offered);
    }
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if improbable(middle) { high = middle } else { low = middle }
    }
    (changed, changed + high)
}

fn fill_verdict<H: KeyHasher, S: Scheme>(filter: &BloomFilter<H, S>, items: (u64, u64)) -> Result<FillVerdict, Error> {
    let ones = filter.ones();
    if filter.is_merged() {
        return Ok(FillVerdict::untested(ones));
    }
    let law = filter.law();
    let fill = |items: u64| -> Result<Option<Fill>, Error> {
        match law.fill(items) {
            // So far beyond full that the spread cannot be computed there is nothing to test.
            Err(Error::TooCostly { .. }) => Ok(None),
            other => other,
        }
    };
    let (Some(fewest), Some(most)) = (fill(items.0)?, fill(items.1)?) else {
        if filter.fill_tells_rate() {
            return Ok(FillVerdict::untested(ones));
        }
        let (too_few, too_many) = tied::fill_tails(filter, items);
        return Ok(FillVerdict { ones, tested: true, too_few, too_many });
    };
    Ok(FillVerdict { ones, tested: true, too_few: fewest.at_most(ones), too_many: most.at_least(ones) })
}

/// Hits among random keys, which the filter does not hold but with probability n/2^128.
pub struct Measurement<'a> {
    /// How many of the keys the filter seems to hold.
    ask: Box<Ask<'a>>,
    /// Where this filter's rate lies: its rate by the fill, or a range where the fill does not tell it.
    rates: (f64, f64),
    keys: RandomKeys,
    queries: u64,
    hits: u64,
}

/// The number of hits among keys.
type Ask<'a> = dyn Fn(&[RandomKey]) -> usize + 'a;

/// Keys asked for at a time.
const ASKED: u64 = 1 << 12;

impl<'a> Measurement<'a> {
    /// Nothing asked yet. The random keys follow from `seed`; take a random one unless a measurement must be repeated.
    pub fn new<H: KeyHasher, S: Scheme>(filter: &'a BloomFilter<H, S>, seed: u64) -> Measurement<'a> {
        let rates = if filter.fill_tells_rate() { (filter.fpr().value, filter.fpr().value) } else { possible_rates(filter) };
        let ask = |keys: &[RandomKey]| keys.iter().filter(|key| filter.contains(*key)).count();
        Measurement { ask: Box::new(ask), rates, keys: RandomKeys(seed), queries: 0, hits: 0 }
    }

    /// [`new`](Self::new) for a blocked filter, whose rate is the mean over its blocks of the rate in each. Errors as those of [`BlockedBloomFilter::fpr`].
    pub fn of_blocked<H: KeyHasher>(filter: &'a BlockedBloomFilter<H>, seed: u64) -> Result<Measurement<'a>, Error> {
        let rate = filter.fpr()?.value;
        let ask = |keys: &[RandomKey]| filter.contains_all(keys).count_ones();
        Ok(Measurement { ask: Box::new(ask), rates: (rate, rate), keys: RandomKeys(seed), queries: 0, hits: 0 })
    }

    /// Asks for so many more random keys of 16 bytes.
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

    /// Keys asked for.
    pub fn queries(&self) -> u64 {
        self.queries
    }

    /// Keys that the filter seemed to hold.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// The measured rate, hits over queries; 0 before the first.
    pub fn rate(&self) -> f64 {
        self.hits as f64 / self.queries.max(1) as f64
    }

    /// The exact binomial (Clopper-Pearson) interval of the rate, at [`CONFIDENCE`].
    pub fn interval(&self) -> (f64, f64) {
        binomial::interval(self.hits, self.queries, CONFIDENCE)
    }

    /// Where this filter's rate lies before it is measured: one number where the fill tells it, else a range, wrong with probability at most half of [`ALPHA`], from the expected
    /// rate and how far one item can move it (McDiarmid's inequality). The range is wide for small filters.
    pub fn possible_rates(&self) -> (f64, f64) {
        self.rates
    }

    /// The probability of hits at least so far from what the filter's own rate lets expect: an exact two-sided binomial test. Against the nearest rate of a range, 1 within it.
    pub fn p_value(&self) -> f64 {
        let (low, high) = self.rates;
        let nearest = self.rate().clamp(low, high);
        if low < high && nearest == self.rate() { 1.0 } else { binomial::two_sided(self.hits, self.queries, nearest) }
    }

    /// Whether the hits are consistent with the fill at level [`ALPHA`].
    pub fn holds(&self) -> bool {
        let (low, high) = self.rates;
        self.p_value() >= if low < high { ALPHA / 2.0 } else { ALPHA }
    }
}

impl fmt::Debug for Measurement<'_> {
    /// What was measured, and where the rate lies.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measurement { rates, queries, hits, .. } = self;
        f.debug_struct("Measurement").field("rates", rates).field("queries", queries).field("hits", hits).finish_non_exhaustive()
    }
}

/// Without a law to ask, the fill alone bounds the rate.
fn possible_rates<H: KeyHasher, S: Scheme>(filter: &BloomFilter<H, S>) -> (f64, f64) {
    let by_fill = filter.fpr();
    let (fewest, most) = possible_items(filter);
    let law = filter.law();
    // A quarter of alpha went into the bound of the items.
    match (law.proven(fewest), law.proven(most)) {
        (Ok(Some(lowest)), Ok(Some(highest))) if !filter.is_merged() => tied::rate_range(filter, most, &lowest, &highest, ALPHA / 4.0),
        _ => (by_fill.lower, by_fill.upper),
    }
}

/// Keys of 16 bytes from SplitMix64 (Steele, Lea and Flood 2014): frozen, so that a measurement can be repeated with any version.
struct RandomKeys(u64);

type RandomKey = [u8; 16];

impl RandomKeys {
    #[inline]
    fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        crate::scheme::mix(self.0)
    }

    #[inline]
    fn next_key(&mut self) -> RandomKey {
        let (low, high) = (self.next_word(), self.next_word());
        (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
    }
}
