//! The Bloom filter.

/// The getters for the parameters of a filter, which are stored in its `head`.
macro_rules! head_methods {
    () => {
        /// The number of bits, m.
        pub fn bits(&self) -> u64 {
            self.head.scheme.bits()
        }

        /// The number of probes per key, k.
        pub fn probes(&self) -> u32 {
            self.head.scheme.probes()
        }

        /// The scheme, which turns the hash of a key into the positions of the key's bits.
        pub fn scheme(&self) -> &S {
            &self.head.scheme
        }

        /// The hasher, with its seed.
        pub fn hasher(&self) -> &H {
            &self.head.hasher
        }

        /// The seed of the hasher. If the hasher does not reveal its seed, the result is a
        /// fingerprint of the hasher. Different hashers almost certainly have different
        /// fingerprints.
        pub fn seed(&self) -> Seed {
            self.head.hasher.seed()
        }

        /// The number of distinct items that the filter was planned for. `None` if the filter was
        /// made without a plan.
        pub fn capacity(&self) -> Option<u64> {
            self.head.capacity
        }

        /// The requested rate. `None` if the filter was made without a requested rate.
        pub fn rate(&self) -> Option<Rate> {
            self.head.rate
        }
    };
}
#[cfg(target_has_atomic = "64")]
mod atomic;
mod build;
mod builder;
mod bulk;
mod counts;
mod file;
mod keys;
mod label;
mod merge;
#[cfg(feature = "rayon")]
mod parallel;
mod rates;
mod stored;

use alloc::boxed::Box;
#[cfg(target_has_atomic = "64")]
pub use atomic::AtomicFilterOf;
pub use builder::{FilterBuilder, FilterFamily, Unseeded};
pub(crate) use counts::{Counts, Origin, count_methods};
pub(crate) use merge::check_mergeable;
pub(crate) use rates::bracket;

use crate::backing::{Backing, Counted, Owned, View, Writable};
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::{KeyHasher, PortableHasher, Seed, check_alike};
use crate::scheme::{InLines, Scheme, Standard, Storage};
use core::fmt;
use truebloom_math::{Law, Rate};

/// A set of keys that takes a few bits per key. The filter answers "certainly not in the set" or
/// "probably in the set". Its false-positive rate is proven.
///
/// You create a filter for a number of items and a false-positive rate. The filter has m bits
/// ([`bits`](Self::bits)). For every key, a seeded hash selects k of these bits
/// ([`probes`](Self::probes)). [`insert`](Self::insert) sets the bits of a key, and
/// [`contains`](Self::contains) tests whether all of them are set. The answer is always true for a
/// key that was inserted. For a key that was not inserted, the false-positive rate is the
/// probability that the answer is true.
///
/// # Three rates
/// * *requested rate*, [`rate`](Self::rate): the rate that you requested, exactly as you wrote it.
/// * *expected rate*, [`expected_fpr`](Self::expected_fpr): the mean rate over all seeds when the
///   filter holds as many items as its [`capacity`](Self::capacity). This mean is proven to be at
///   most the requested rate.
/// * *this filter's rate*, [`fpr`](Self::fpr): the rate computed from the bits that are set now.
///   This rate varies from seed to seed. By default, it is at most the requested rate with a
///   probability of at least 99.9% over the choice of the seed. This guarantee holds as long as the
///   filter contains no more items than its capacity. A plan can instead guarantee only the
///   expected rate. About half of the filters built from such a plan have a rate slightly above the
///   requested rate.
///
/// # Repeats
/// A filter cannot count distinct keys exactly. It counts all insertions
/// ([`offered`](Self::offered)) and the insertions that set at least one bit
/// ([`changed`](Self::changed)). The number of distinct keys is at least `changed()` and at most
/// `offered()`.
///
/// # Hashers
/// `H` is the hasher. Only filters with a [`PortableHasher`] can be saved. A
/// [`ForeignHasher`](crate::ForeignHasher) wraps a hasher from another crate.
///
/// # Schemes
/// `S` is the scheme, which uses the hash of a key to choose the bits of this key. Two schemes have
/// a type alias: [`BloomFilter`] uses the standard scheme, and [`BlockedBloomFilter`] keeps all
/// bits of a key in one cache line. Any other [scheme](crate::scheme) can be named as the type
/// parameter, or chosen at run time with [`AnyScheme`](crate::scheme::AnyScheme). All schemes have
/// the same methods.
///
/// ```
/// use truebloom::scheme::Partitioned;
/// use truebloom::{FilterOf, PortableHasher, Seed};
/// let mut seen = FilterOf::<Partitioned>::with_bits_and_probes(9_600, 7)?;
/// assert!(seen.insert("one"), "new");
/// assert!(!seen.insert("one"), "a repeat");
/// assert!(seen.contains("one"));
/// assert_eq!(seen.ones(), 7);
/// # Ok::<(), truebloom::BuildError>(())
/// ```
///
/// # Equality
/// Two filters are equal if the same bits are set and all parameters agree: hasher, seed, scheme,
/// number of bits, number of probes, capacity and requested rate. The counts
/// ([`offered`](Self::offered), [`changed`](Self::changed), [`is_merged`](Self::is_merged)) are not
/// compared, because filters with the same keys can have different counts.
///
/// # Views
/// `K` is the backing, which says where the bits are stored. With [`Owned`], they are in the
/// filter's own memory. With [`View`](crate::View) and [`Checked`](crate::Checked), they stay in
/// existing bytes, such as a mapped file. [`view`](FilterOf::view) makes a `View`, and checks only
/// the header of the bytes. [`verify_bytes`](FilterOf::verify_bytes) checks all bytes, and turns
/// the `View` into a `Checked` view.
pub struct FilterOf<S: Scheme, H: KeyHasher = PortableHasher, K: Backing = Owned> {
    pub(crate) head: K::Head<Head<S, H>>,
    pub(crate) storage: S::Storage<K>,
    pub(crate) counts: Counts,
}

/// The values that filters can share with each other.
#[derive(Clone)]
pub struct Head<S, H> {
    pub(crate) hasher: H,
    pub(crate) scheme: S,
    pub(crate) capacity: Option<u64>,
    pub(crate) rate: Option<Rate>,
    /// The text that a program attached to the filter.
    pub(crate) label: Label,
}

/// A [filter](FilterOf) with the standard scheme. The k positions of a key are independent of each
/// other and can be anywhere in the filter.
///
/// ```
/// use truebloom::BloomFilter;
/// let mut seen = BloomFilter::new(1_000, 0.001)?;
/// assert!(seen.insert("one"), "new");
/// assert!(!seen.insert("one"), "a repeat");
/// assert!(seen.contains("one"));
/// assert!(!seen.contains("two"), "except with a probability of one in a thousand");
/// # Ok::<(), truebloom::BuildError>(())
/// ```
pub type BloomFilter<H = PortableHasher> = FilterOf<Standard, H>;

/// A [filter](FilterOf) that keeps all bits of a key in one cache line. Its false-positive rate is
/// proven, like the rate of a [`BloomFilter`].
///
/// All bits of a key lie in one block of 512 bits, so a query reads one cache line from memory. A
/// blocked filter needs more bits than a standard filter, because some blocks get more keys than
/// others. With these additional bits, it has the same guarantee as a standard filter. The table
/// shows how much larger a blocked filter is than a standard filter with the same guarantee.
///
/// | rate | 100,000 keys | ten million keys |
/// |---|---|---|
/// | 1% | 3.7% | 3.4% |
/// | 0.1% | 8.8% | 8.2% |
/// | 1e-4 | 16% | 15% |
/// | 1e-6 | 42% | 35% |
///
/// A blocked filter does not count its set bits during insertions, because this would slow down
/// every insertion. The methods [`ones`](FilterOf::ones), [`fill`](FilterOf::fill) and
/// [`fpr`](FilterOf::fpr) therefore take time linear in the number of bits.
///
/// | | |
/// |---|---|
/// | [`BlockedBloomFilter`] | large filters at rates down to about 0.1% |
/// | [`BloomFilter`] | lower rates, or the fewest bits |
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
pub type BlockedBloomFilter<H = PortableHasher> = FilterOf<InLines, H>;

/// A read-only [`BloomFilter`] that uses existing bytes without copying them. `B` is the type of
/// the bytes, for example `&[u8]` or `Vec<u8>`. [`FilterOf::view`] makes such a filter.
pub type BloomView<B> = FilterOf<Standard, PortableHasher, View<B>>;

/// A read-only [`BlockedBloomFilter`] that uses existing bytes without copying them. `B` is the
/// type of the bytes, for example `&[u8]` or `Vec<u8>`. [`FilterOf::view`] makes such a filter.
pub type BlockedBloomView<B> = FilterOf<InLines, PortableHasher, View<B>>;

/// A [`BloomFilter`] that several threads can share: an [`AtomicFilterOf`] with the standard
/// scheme.
#[cfg(target_has_atomic = "64")]
pub type AtomicBloomFilter<H = PortableHasher> = AtomicFilterOf<Standard, H>;

/// A [`BlockedBloomFilter`] that several threads can share: an [`AtomicFilterOf`] with the blocked
/// scheme.
#[cfg(target_has_atomic = "64")]
pub type AtomicBlockedBloomFilter<H = PortableHasher> = AtomicFilterOf<InLines, H>;

impl<S: Scheme, H: KeyHasher, K: Backing> FilterOf<S, H, K> {
    head_methods!();
    count_methods!();

    /// The mathematical model of the filter: its probability law. For any number of items, the law
    /// gives the expected rate, or bounds on it. The law also gives the distribution of the number
    /// of set bits, if this distribution is known.
    pub fn law(&self) -> Box<dyn Law> {
        self.head.scheme.law()
    }

    pub(crate) fn head(&self) -> &Head<S, H> {
        &self.head
    }

    /// The bits as words: bit i of the filter is bit i mod 64 of word i / 64.
    pub(crate) fn words(&self) -> &[K::Word] {
        self.storage.words()
    }
}

impl<S: Scheme, H: KeyHasher, K: Counted> FilterOf<S, H, K> {
    /// The number of set bits. This takes constant time. For a blocked filter, the time is linear
    /// in the number of bits.
    pub fn ones(&self) -> u64 {
        self.storage.ones()
    }

    /// The share of bits that are set, from 0 to 1. A standard filter with the smallest possible
    /// size is about half full at its capacity. This method takes constant time. For a blocked
    /// filter, the time is linear in the number of bits.
    pub fn fill(&self) -> f64 {
        self.ones() as f64 / self.bits() as f64
    }

    /// Returns true if no bit is set, and the filter therefore contains no key.
    pub fn is_empty(&self) -> bool {
        self.storage.is_empty()
    }
}

impl<S: Scheme, H: KeyHasher, K: Writable> FilterOf<S, H, K> {
    /// Removes all keys. The filter keeps its capacity, its requested rate and its seed. The time
    /// is linear in the number of bits.
    pub fn clear(&mut self) {
        self.storage.clear();
        self.counts = Counts::default();
    }
}

impl<S: Scheme, H: KeyHasher + Clone, K: Backing> FilterOf<S, H, K> {
    /// An empty filter with the size, plan, seed and label of this filter. The new filter has its
    /// own memory, even if this filter is a view of existing bytes. The two filters can be merged.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn to_empty(&self) -> Result<FilterOf<S, H>, BuildError> {
        FilterOf::empty(Head::clone(&self.head))
    }
}

impl<S: Scheme, H: KeyHasher + Clone, K: Backing> Clone for FilterOf<S, H, K>
where
    K::Words: Clone,
    K::Head<Head<S, H>>: Clone,
{
    fn clone(&self) -> FilterOf<S, H, K> {
        FilterOf { head: self.head.clone(), storage: self.storage.copied(), counts: self.counts }
    }
}

impl<S: Scheme, H: KeyHasher, K: Backing> PartialEq for FilterOf<S, H, K> {
    /// Returns true if both filters have the same parameters, hasher and bits. Equal filters give
    /// the same answers. Their labels and their numbers of insertions can differ.
    fn eq(&self, other: &FilterOf<S, H, K>) -> bool {
        let alike = self.scheme() == other.scheme() && check_alike(self.hasher(), other.hasher()).is_ok();
        alike && self.capacity() == other.capacity() && self.rate() == other.rate() && self.words() == other.words()
    }
}

impl<S: Scheme, H: KeyHasher> Head<S, H> {
    /// Formats the parameters, under the given type name.
    fn describe<'f, 'a>(&self, f: &'f mut fmt::Formatter<'a>, name: &str) -> fmt::DebugStruct<'f, 'a> {
        let mut parameters = f.debug_struct(name);
        parameters
            .field("scheme", &self.scheme.id())
            .field("bits", &self.scheme.bits())
            .field("probes", &self.scheme.probes())
            .field("hasher", &self.hasher.id())
            .field("seed", &self.hasher.seed())
            .field("capacity", &self.capacity)
            .field("rate", &self.rate);
        parameters
    }
}

impl<S: Scheme, H: KeyHasher, K: Backing> fmt::Debug for FilterOf<S, H, K> {
    /// Formats the parameters and counts, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head.describe(f, "FilterOf").field("counts", &self.counts).finish_non_exhaustive()
    }
}
