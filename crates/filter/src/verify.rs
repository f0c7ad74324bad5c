//! Whether a filter keeps its promise: its fill, its hits and its expected rate, each held to what is proven.
//!
//! Three verdicts, each by a test that errs with probability at most [`ALPHA`] when the filter is sound, on keys chosen independently of the seed and
//! whatever their repeats; nothing else fails a filter. In particular the measured rate is not compared with the rate asked for: about half of all tight
//! filters lie a little above it, for their rates scatter about the expected one.

use crate::scheme::{Scheme, Standard};
use crate::{BloomFilter, KeyHasher, tied};
use truebloom_math::{Error, Fill, Fpr, binomial};

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
    /// Whether there is a law to test against; not after a union or an intersection.
    pub tested: bool,
    /// Upper bound of the probability of so few set bits, for the fewest possible items.
    pub too_few: f64,
    /// Upper bound of the probability of so many, for the most possible items.
    pub too_many: f64,
}

impl FillVerdict {
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
        let rate_of = |items: u64| filter.expected_fpr_at(items);
        let expected = rate_of(items.1)?;
        let expected_verdict = match filter.rate() {
            None => ExpectedVerdict::NothingAsked,
            Some(asked) if law.meets(items.1, &asked, H::HASH_BITS)? => ExpectedVerdict::Met,
            Some(asked) if rate_of(items.0)?.lower > asked.to_f64() * (1.0 + f64::EPSILON) => ExpectedVerdict::Exceeded,
            Some(_) => ExpectedVerdict::Undetermined,
        };
        Ok(Verification { items, expected, expected_verdict, fill: fill_verdict(filter, items)? })
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

/// Brackets the number of distinct items.
///
/// A new key is swallowed, setting no bit, with the pass probability of the moment, at most that of the fill now. So the new keys swallowed before the
/// a-th that set a bit are fewer than a negative binomial variable with that chance; its quantile at a quarter of [`ALPHA`] bounds them.
fn possible_items<H: KeyHasher, S: Scheme>(filter: &BloomFilter<H, S>) -> (u64, u64) {
    let (changed, offered) = (filter.changed(), filter.offered());
    if filter.is_merged() || changed == offered {
        return (changed, offered);
    }
    let pass = filter.fpr().upper;
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
    let untested = FillVerdict { ones, tested: false, too_few: 1.0, too_many: 1.0 };
    if filter.is_merged() {
        return Ok(untested);
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
            return Ok(untested);
        }
        let (too_few, too_many) = tied::fill_tails(filter, items);
        return Ok(FillVerdict { ones, tested: true, too_few, too_many });
    };
    Ok(FillVerdict { ones, tested: true, too_few: fewest.at_most(ones), too_many: most.at_least(ones) })
}

/// Hits among random keys, which the filter does not hold but with probability n/2^128.
#[derive(Debug)]
pub struct Measurement<'a, H: KeyHasher = crate::PortableHasher, S: Scheme = Standard> {
    filter: &'a BloomFilter<H, S>,
    /// Where this filter's rate lies: its rate by the fill, or a range where the fill does not tell it.
    rates: (f64, f64),
    keys: RandomKeys,
    queries: u64,
    hits: u64,
}

impl<'a, H: KeyHasher, S: Scheme> Measurement<'a, H, S> {
    /// Nothing asked yet. The random keys follow from `seed`; take a random one unless a measurement must be repeated.
    pub fn new(filter: &'a BloomFilter<H, S>, seed: u64) -> Measurement<'a, H, S> {
        let rates = if filter.fill_tells_rate() { (filter.fpr().value, filter.fpr().value) } else { possible_rates(filter) };
        Measurement { filter, rates, keys: RandomKeys(seed), queries: 0, hits: 0 }
    }

    /// Asks for so many more random keys of 16 bytes.
    pub fn query(&mut self, queries: u64) {
        for _ in 0..queries {
            let key = self.keys.next_key();
            self.hits += u64::from(self.filter.contains(&key));
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
#[derive(Debug)]
struct RandomKeys(u64);

impl RandomKeys {
    #[inline]
    fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        crate::scheme::mix(self.0)
    }

    #[inline]
    fn next_key(&mut self) -> [u8; 16] {
        let (low, high) = (self.next_word(), self.next_word());
        (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
    }
}
