//! The Bloom filter that grows.

#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod atomic;
mod file;
mod keys;
mod merge;
mod part;
mod rates;
mod stored;

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use atomic::AtomicScalableFilter;

use crate::backing::{Backing, Counted, Layers, Owned, View};
use crate::bloom::{Counts, count_methods};
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::{KeyHasher, PortableHasher, Seed};
use crate::scheme::SchemeId;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use part::Part;
use truebloom_math::law::{Layer, Layered};
use truebloom_math::{Growth, Law, Rate};

/// A Bloom filter for an unknown number of keys: it grows in layers, and its rate never exceeds the
/// requested rate.
///
/// ```
/// use truebloom::ScalableFilter;
/// let mut seen = ScalableFilter::new(0.001)?;
/// seen.extend(0..100_000);
/// assert!(seen.contains(&99_999) && seen.layers().len() > 3);
/// assert!(seen.fpr().upper <= 0.001);
/// # Ok::<(), truebloom::BuildError>(())
/// ```
///
/// # What is promised
/// The rate of this filter is at most the requested rate, with any number of keys. This holds for
/// queries that are chosen without knowing the seed. It holds for every single filter, not only on
/// average over many filters. There is one exception: a [merge](Self::union_with) of two filters
/// can raise the rate above the requested rate.
///
/// A layer is a [standard filter](crate::BloomFilter) with a limit on its number of set bits. When
/// the limit leaves no room for another key, the filter adds a new layer. In a layer with `ones`
/// set bits, a key that was never inserted is a false positive with probability
/// `(ones / bits)^probes`. Each layer may use a share of the requested rate. The limit on the
/// layer's set bits keeps the layer's rate within this share. The shares of any number of layers
/// add up to at most the requested rate: see [`Growth`]. The number of keys that fit in a layer
/// varies with the seed.
///
/// # What it costs
/// Memory: this filter takes more memory than a [`BloomFilter`](crate::BloomFilter) that was
/// planned for the same number of keys, by a factor that changes as the filter grows. Once the
/// first layer is full, this factor is at most about 3.2 at a rate of 0.1%, and at most about 3.7
/// at 1% ([`Growth::ratio`]). The factor is highest just after a new layer is added. By the time
/// this layer is full, the factor has fallen to about half of the maximum. Averaged over numbers of
/// keys on a logarithmic scale, the factor is 0.7 times its maximum.
///
/// Time: a key that the filter does not contain is looked up in every layer. In each layer, the
/// lookup often ends before all k bits have been read, where k is the layer's probe count. With 20
/// layers, a filter holds a million times as many keys as the first layer. If you know the number
/// of keys, even roughly, a [`BloomFilter`](crate::BloomFilter) is smaller and faster than this
/// filter.
///
/// # Repeats
/// A key that is already in a layer is not inserted again, so repeats take no room.
///
/// With the feature `std`, `AtomicScalableFilter` can be shared by threads. The type parameter `K`
/// says where the bits are stored: for example, in the filter's own memory ([`Owned`]) or in
/// existing bytes ([`View`]).
pub struct ScalableFilter<K: Backing = Owned> {
    hasher: PortableHasher,
    growth: Growth,
    label: Label,
    parts: Vec<Part<K>>,
    words: K::Layers,
    counts: Counts,
}

/// A read-only [`ScalableFilter`] that uses existing bytes without copying them. `B` is the type of
/// the bytes, for example `&[u8]` or `Vec<u8>`. The method `view` of `ScalableFilter` makes such a
/// filter.
pub type ScalableView<B> = ScalableFilter<View<B>>;

/// The approximate number of keys that fit in the first layer of a filter that grows, if you choose
/// no other [`Growth`]. Such a filter consists of layers, and starts with one layer. A first layer
/// of this size takes a few kilobytes.
pub const FIRST_ITEMS: u64 = 1_000;

impl ScalableFilter {
    /// A filter for any number of keys at this rate, with a random seed. `rate` can be an `f64`, a
    /// text like `"0.1%"`, or a [`Rate`], and must be at least 1e-13.
    ///
    /// # Errors
    /// Returns an error if `rate` is out of range, if the memory cannot be allocated, or if the
    /// system provides no random numbers.
    #[cfg(feature = "random")]
    pub fn new<R: TryInto<Rate>>(rate: R) -> Result<ScalableFilter, BuildError>
    where
        BuildError: From<R::Error>,
    {
        ScalableFilter::with_growth(Growth::new(rate.try_into()?, FIRST_ITEMS)?, PortableHasher::random()?)
    }

    /// A filter with the given growth and the given hasher.
    ///
    /// ```
    /// use truebloom::truebloom_math::Growth;
    /// use truebloom::{PortableHasher, ScalableFilter, Seed};
    /// let growth = Growth::new("1%".parse()?, 1_000_000)?;
    /// let seen = ScalableFilter::with_growth(growth, PortableHasher::xxh3(Seed::random()?))?;
    /// assert_eq!(seen.growth().first(), 1_000_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the memory for the first layer cannot be allocated.
    pub fn with_growth(growth: Growth, hasher: PortableHasher) -> Result<ScalableFilter, BuildError> {
        let mut filter =
            ScalableFilter { hasher, growth, label: Label::default(), parts: Vec::new(), words: Vec::new(), counts: Counts::default() };
        filter.open_layer()?;
        Ok(filter)
    }

    /// Attaches a text to the filter: see [`FilterOf::set_label`](crate::FilterOf::set_label).
    #[must_use]
    pub fn set_label(&mut self, text: &str) -> bool {
        self.label.set(text)
    }

    /// Removes all keys. The filter keeps its seed, and grows again from its first layer. Clearing
    /// the filter frees the memory of all layers except the first.
    pub fn clear(&mut self) {
        self.parts.retain(|part| part.number == 0);
        self.parts.truncate(1);
        self.words.truncate(self.parts.len());
        self.parts.iter_mut().for_each(Part::clear);
        self.words.iter_mut().for_each(|words| words.fill(0));
        self.counts = Counts::default();
    }
}

impl<K: Backing> ScalableFilter<K> {
    /// How the filter grows.
    pub fn growth(&self) -> &Growth {
        &self.growth
    }

    /// For each layer, from the oldest to the newest: the number of bits, the number of probes, and
    /// the largest permitted number of set bits.
    pub fn layers(&self) -> Vec<Layer> {
        self.parts.iter().map(|part| part.layer).collect()
    }

    /// The numbers of the layers, from the oldest to the newest. Layers are numbered from 0 in the
    /// order in which a filter adds them. After a merge, several layers can have the same number.
    pub fn layer_numbers(&self) -> Vec<u64> {
        self.parts.iter().map(|part| part.number).collect()
    }

    /// The scheme of each layer, which is always the standard scheme.
    pub fn scheme_id(&self) -> SchemeId {
        SchemeId::Standard
    }

    /// The number of bits in all layers.
    pub fn bits(&self) -> u64 {
        self.parts.iter().map(|part| part.layer.bits()).sum()
    }

    /// The number of probes per key in all layers together. A query takes at most this many probes.
    pub fn probes(&self) -> u32 {
        self.parts.iter().fold(0, |probes, part| probes.saturating_add(part.layer.probes()))
    }

    /// The hasher, with its seed.
    pub fn hasher(&self) -> &PortableHasher {
        &self.hasher
    }

    /// The seed of the hasher. Each layer computes the positions of a key from this seed and from
    /// the number of the layer.
    pub fn seed(&self) -> Seed {
        self.hasher.seed()
    }

    /// Always `None`, because a filter that grows has no capacity.
    pub fn capacity(&self) -> Option<u64> {
        None
    }

    /// The requested false-positive rate.
    pub fn rate(&self) -> Option<Rate> {
        Some(self.growth.rate())
    }

    count_methods!();

    /// The text that a program attached to the filter.
    pub fn label(&self) -> Option<&str> {
        self.label.text()
    }

    /// How many keys were inserted into each layer.
    pub fn inserted(&self) -> Vec<u64> {
        self.parts.iter().map(|part| part.inserted).collect()
    }

    /// The law of the filter: the formulas for its rate. The law gives an upper bound on the rate,
    /// and computes the rate for given numbers of set bits. After a merge, several layers can have
    /// the same [number](Self::layer_numbers). A key has the same positions in all of these layers,
    /// so the law then gives only bounds on the rate.
    pub fn law(&self) -> Box<dyn Law> {
        Box::new(self.layered())
    }

    /// The probability law of all layers.
    fn layered(&self) -> Layered {
        Layered::numbered(self.layers(), self.parts.iter().map(|part| part.number).collect())
    }

    /// The words of a layer's bits.
    fn bits_of(&self, number: usize) -> &[K::Word] {
        self.words.layer(number).get(crate::backing::KEPT_WORDS..).unwrap_or_default()
    }
}

impl<K: Counted> ScalableFilter<K> {
    /// The number of set bits in all layers.
    pub fn ones(&self) -> u64 {
        self.parts.iter().map(Part::ones).sum()
    }

    /// The number of set bits in each layer, from the oldest to the newest.
    pub fn layer_ones(&self) -> Vec<u64> {
        self.parts.iter().map(Part::ones).collect()
    }

    /// The share of bits that are set, in all layers together, from 0 to 1.
    pub fn fill(&self) -> f64 {
        self.ones() as f64 / self.bits() as f64
    }

    /// Returns true if no bit is set.
    pub fn is_empty(&self) -> bool {
        self.ones() == 0
    }
}

impl<K: Backing> Clone for ScalableFilter<K>
where
    K::Layers: Clone,
{
    fn clone(&self) -> ScalableFilter<K> {
        let ScalableFilter { label, parts, words, .. } = self;
        ScalableFilter { label: label.clone(), parts: parts.clone(), words: words.clone(), ..*self }
    }
}

impl<K: Backing> PartialEq for ScalableFilter<K> {
    /// Returns true if both filters have the same hasher, the same growth and the same layers
    /// (layer numbers and bits). Equal filters give the same answers.
    fn eq(&self, other: &ScalableFilter<K>) -> bool {
        let alike = self.hasher == other.hasher && self.growth == other.growth && self.parts.len() == other.parts.len();
        let numbers = self.parts.iter().zip(&other.parts).all(|(ours, theirs)| (ours.number, ours.layer) == (theirs.number, theirs.layer));
        alike && numbers && (0..self.parts.len()).all(|number| self.bits_of(number) == other.bits_of(number))
    }
}

impl<K: Backing> fmt::Debug for ScalableFilter<K> {
    /// Formats the parameters and counts, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableFilter")
            .field("growth", &self.growth)
            .field("layers", &self.parts.len())
            .field("bits", &self.bits())
            .field("hasher", &self.hasher.hasher_id())
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
