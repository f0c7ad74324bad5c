//! The blocked Bloom filter: one cache line a key.

mod atomic;
mod build;
mod file;
mod flight;
mod keys;
mod merge;
mod rates;
mod stored;

pub use atomic::AtomicBlockedBloomFilter;

use crate::arch::{LINE_BITS, Level, Line, Words};
use crate::bloom::Counts;
use crate::hash::{KeyHasher, PortableHasher, Seed};
use crate::scheme::InLines;
use std::fmt;
use truebloom_math::{Law, Rate};

/// A Bloom filter that touches one cache line a key, with a proven rate like [`BloomFilter`](crate::BloomFilter)'s.
///
/// All probes of a key lie in one block of 512 bits, so that a query costs one access to memory and one comparison of a whole line. The price is bits: some blocks get
/// more keys than others, so the same rate takes 3.5% more of them at 1%, 8% at 0.1%, 15% at 1e-4 and 35% at 1e-6. The plan counts that exactly: the promise is
/// the same as the standard filter's.
///
/// | | |
/// |---|---|
/// | [`BlockedBloomFilter`] | large filters at rates down to about 0.1% |
/// | [`BloomFilter`](crate::BloomFilter) | lower rates, or the fewest bits |
///
/// ```
/// use truebloom::BlockedBloomFilter;
/// let mut seen = BlockedBloomFilter::new(100_000, 0.01)?;
/// assert_eq!(seen.insert_all(0..100_000).len(), 100_000);
/// assert!(seen.contains(&7));
/// assert!(seen.expected_fpr()?.expect("planned").upper <= 0.01);
/// assert!(seen.contains_all(100_000..200_000).count_ones() < 1_200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct BlockedBloomFilter<H: KeyHasher = PortableHasher> {
    hasher: H,
    scheme: InLines,
    /// Eight a block.
    words: Words,
    level: Level,
    counts: Counts,
    capacity: Option<u64>,
    rate: Option<Rate>,
}

impl<H: KeyHasher> BlockedBloomFilter<H> {
    /// Number of bits m, a multiple of [`block_bits`](Self::block_bits).
    pub fn bits(&self) -> u64 {
        self.scheme.law.bits()
    }

    /// Bits of a block: 512, a cache line.
    pub fn block_bits(&self) -> u64 {
        LINE_BITS
    }

    /// Probes k of a key, all in one block.
    pub fn probes(&self) -> u32 {
        self.scheme.probes()
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

    /// Whether the filter came out of a union, so that the fill no longer obeys the law of a known number of items.
    pub fn is_merged(&self) -> bool {
        self.counts.merged
    }

    /// Number of set bits. Linear in the bits: counting along would slow every insertion down.
    pub fn ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether no bit is set, so that no key is contained. Linear in the bits, until the first that is set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The law that the filter obeys.
    pub fn law(&self) -> truebloom_math::law::Blocked {
        self.scheme.law
    }

    /// Forgets all keys; capacity, rate and seed stay. Linear in the bits.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.counts = Counts::default();
    }

    #[inline(always)]
    fn lines(&self) -> &[Line] {
        self.words.as_chunks().0
    }
}

impl<H: KeyHasher> fmt::Debug for BlockedBloomFilter<H> {
    /// The parameters and counts, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockedBloomFilter")
            .field("bits", &self.bits())
            .field("probes", &self.probes())
            .field("hasher", &self.hasher.id())
            .field("seed", &self.seed())
            .field("capacity", &self.capacity)
            .field("rate", &self.rate)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
