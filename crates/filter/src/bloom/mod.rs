//! The Bloom filter, a file an aspect.

mod atomic;
mod build;
mod bulk;
mod file;
mod keys;
mod merge;
mod rates;
mod stored;

pub use atomic::AtomicBloomFilter;

use crate::bits::Bits;
use crate::bulk::Answers;
use crate::hash::{KeyHasher, PortableHasher, Seed};
use crate::scheme::{Scheme, Standard};
use std::fmt;
use truebloom_math::{Law, Rate};

/// A set that answers "surely not in it" or "probably in it" in a few bits a key, with a proven rate of wrong answers.
///
/// Made for a number of items and a rate, it holds m bits ([`bits`](Self::bits)); every key has k positions in them ([`probes`](Self::probes)), drawn
/// independently by a seeded hash. [`insert`](Self::insert) sets them, and [`contains`](Self::contains) asks whether all are set: always true for keys that
/// were inserted, and for others at the false-positive rate.
///
/// # Three rates
/// * *asked*, [`rate`](Self::rate): the decimal you wrote;
/// * *expected*, [`expected_fpr`](Self::expected_fpr): the mean over seeds once the filter holds its capacity; proven to be at most the one asked for;
/// * *this filter's*, [`fpr`](Self::fpr): what the bits that are set right now make of it. About half of all filters at capacity lie slightly above the
///   rate asked for, and the others below.
///
/// # Repeats
/// A filter cannot count distinct keys exactly: it keeps how often it was offered a key ([`offered`](Self::offered)) and how many offers set a bit
/// ([`changed`](Self::changed)); the number of distinct keys lies between them.
///
/// # Hashers
/// `H` is [`PortableHasher`] for every filter that can be saved, and [`Foreign`](crate::Foreign) for those with hashers of other crates.
///
/// # Schemes
/// `S` is how a hash becomes positions: [`Standard`] unless one of the other [schemes](crate::scheme) is wanted, by its type or, for files of any scheme, as
/// [`AnyScheme`](crate::scheme::AnyScheme).
///
/// ```
/// use truebloom::BloomFilter;
/// let mut seen = BloomFilter::new(1_000, 0.001)?;
/// assert!(seen.insert("one"), "new");
/// assert!(!seen.insert("one"), "a repeat");
/// assert!(seen.contains("one"));
/// assert!(!seen.contains("two"), "but for a chance of one in a thousand at most");
/// # Ok::<(), truebloom::BuildError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct BloomFilter<H: KeyHasher = PortableHasher, S: Scheme = Standard> {
    hasher: H,
    scheme: S,
    storage: Bits,
    /// Number of set bits, kept exact.
    ones: u64,
    counts: Counts,
    capacity: Option<u64>,
    rate: Option<Rate>,
}

/// What a filter remembers of the keys it was offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) offered: u64,
    pub(crate) changed: u64,
    pub(crate) merged: bool,
}

impl Counts {
    /// A batch of keys was offered, of which these were new. Saturating, as a file may bring any count along.
    pub(crate) fn add(&mut self, offered: usize, new: &Answers) {
        let changed: u32 = new.iter().map(|word| word.count_ones()).sum();
        self.offered = self.offered.saturating_add(offered as u64);
        self.changed = self.changed.saturating_add(changed.into());
    }
}

impl<H: KeyHasher, S: Scheme> BloomFilter<H, S> {
    /// Number of bits m.
    pub fn bits(&self) -> u64 {
        self.scheme.bits()
    }

    /// Probes k of a key.
    pub fn probes(&self) -> u32 {
        self.scheme.probes()
    }

    /// How a hash becomes positions.
    pub fn scheme(&self) -> &S {
        &self.scheme
    }

    /// The hasher, with its seed.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }

    /// The seed of the hasher; a fingerprint for a hasher that keeps its seed to itself.
    pub fn seed(&self) -> Seed {
        self.hasher.seed()
    }

    /// The number of distinct items that the filter was planned for, if it was.
    pub fn capacity(&self) -> Option<u64> {
        self.capacity
    }

    /// The rate that was asked for, if one was.
    pub fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Offers of keys, repeats included: at least the number of distinct keys. After a merge, the sum over both filters.
    pub fn offered(&self) -> u64 {
        self.counts.offered
    }

    /// Offers that set a bit: at most the number of distinct keys, and nearly as many while the rate is small. After a merge, only a lower bound.
    pub fn changed(&self) -> u64 {
        self.counts.changed
    }

    /// Whether the filter came out of a union or an intersection, so that the fill no longer obeys the law of any number of items.
    pub fn is_merged(&self) -> bool {
        self.counts.merged
    }

    /// Number of set bits. Constant time.
    pub fn ones(&self) -> u64 {
        self.ones
    }

    /// Share of set bits, from 0 to 1. A filter at its capacity is about half full.
    pub fn fill(&self) -> f64 {
        self.ones as f64 / self.bits() as f64
    }

    /// Whether no bit is set, so that no key is contained.
    pub fn is_empty(&self) -> bool {
        self.ones == 0
    }

    /// The law that the filter obeys: rates at any number of items, and the law of the number of set bits.
    pub fn law(&self) -> Box<dyn Law> {
        self.scheme.law()
    }

    /// Forgets all keys; capacity, rate and seed stay. Linear in the bits.
    pub fn clear(&mut self) {
        self.storage.clear();
        self.ones = 0;
        self.counts = Counts::default();
    }
}

impl<H: KeyHasher, S: Scheme> fmt::Debug for BloomFilter<H, S> {
    /// The parameters and counts, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BloomFilter")
            .field("scheme", &self.scheme.id())
            .field("bits", &self.bits())
            .field("probes", &self.probes())
            .field("hasher", &self.hasher.id())
            .field("seed", &self.seed())
            .field("capacity", &self.capacity)
            .field("rate", &self.rate)
            .field("ones", &self.ones)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
