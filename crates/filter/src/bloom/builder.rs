//! Building filters step by step, and families of filters that can be merged.

use super::FilterOf;
use crate::error::BuildError;
use crate::hash::{KeyHasher, PortableHasher};
use crate::items::ItemCount;
use crate::scheme::Scheme;
use alloc::boxed::Box;
use core::marker::PhantomData;
use truebloom_math::{Plan, Promise, Rate, Target};

/// Collects the parameters of a new filter. To start, call [`FilterOf::builder`].
///
/// Set any two of these three: `items`, `rate` and `bits`. A [`Plan`] computes the third, with a
/// proven bound on the rate. If you set only `bits` and `probes`, no bound is computed. An error in
/// any step is reported when the filter is made.
///
/// ```
/// use truebloom::{BloomFilter, PortableHasher, Seed};
/// // At most 8 MiB, for untrusted keys.
/// let hasher = PortableHasher::sip13(Seed::random()?);
/// let filter = BloomFilter::builder().items(1_000_000).rate("0.1%").max_bits(8 << 23).hasher(hasher).build()?;
/// assert_eq!(filter.capacity(), Some(1_000_000));
/// // A given size, without a plan.
/// let filter = BloomFilter::builder().bits(9_600).probes(7).build()?;
/// assert_eq!((filter.bits(), filter.probes(), filter.capacity()), (9_600, 7, None));
/// # Ok::<(), truebloom::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` or `family` is called"]
pub struct FilterBuilder<S, H = Unseeded> {
    target: Target,
    hasher: H,
    /// The first error.
    problem: Option<BuildError>,
    scheme: PhantomData<S>,
}

/// The hasher type of a builder that has no hasher yet. Without a hasher,
/// [`build`](FilterBuilder::build) uses a random seed. All filters of one
/// [`family`](FilterBuilder::family) have the same random seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unseeded;

/// Makes filters that can be merged, because they have the same size and the same seed.
/// [`filter`](Self::filter) makes the next filter of the family.
///
/// Filters made with [`FilterOf::new`] have different seeds and cannot be merged. Another process
/// can make the same family with [`from_plan`](Self::from_plan), from the same [`plan`](Self::plan)
/// and [`hasher`](Self::hasher). Alternatively, that process can [`open`](crate::FilterOf::open) a
/// saved filter of the family, and remove all keys of this filter with
/// [`clear`](crate::FilterOf::clear).
///
/// ```
/// use truebloom::BloomFilter;
/// let shards = BloomFilter::builder().items(10_000).rate(0.001).family()?;
/// let (mut one, mut other) = (shards.filter()?, shards.filter()?);
/// one.insert("a");
/// other.insert("b");
/// one.union_with(&other)?;
/// assert!(one.contains("a") && one.contains("b"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FilterFamily<S: Scheme, H: KeyHasher = PortableHasher> {
    size: Size<S>,
    hasher: H,
}

/// The size that all filters of a family have in common.
#[derive(Clone, Debug, PartialEq)]
enum Size<S> {
    Planned(Box<Plan>),
    Given(S),
}

impl<S: Scheme> FilterOf<S> {
    /// Starts a builder. A builder lets you choose the hasher with its seed, the size, a limit on
    /// the memory, and the [confidence](FilterBuilder::confidence). It can also make a
    /// [family](FilterBuilder::family) of filters that can be merged.
    pub fn builder() -> FilterBuilder<S> {
        FilterBuilder { target: Target::new().scheme(S::ID), hasher: Unseeded, problem: None, scheme: PhantomData }
    }
}

impl<S, H> FilterBuilder<S, H> {
    /// The number of distinct items that the filter must hold, as an integer of any type up to
    /// 64 bits.
    pub fn items(mut self, items: impl ItemCount) -> FilterBuilder<S, H> {
        match items.item_count() {
            Ok(items) => self.target.items = Some(items),
            Err(error) => self.problem = self.problem.or(Some(error)),
        }
        self
    }

    /// The requested false-positive rate: `0.001`, `"0.1%"`, or a [`Rate`].
    pub fn rate<R: TryInto<Rate>>(mut self, rate: R) -> FilterBuilder<S, H>
    where
        BuildError: From<R::Error>,
    {
        match rate.try_into() {
            Ok(rate) => self.target.rate = Some(rate),
            Err(error) => self.problem = self.problem.or(Some(error.into())),
        }
        self
    }

    /// The number of bits.
    pub fn bits(mut self, bits: u64) -> FilterBuilder<S, H> {
        self.target.bits = Some(bits);
        self
    }

    /// The number of probes per key. By default, the plan chooses this number.
    pub fn probes(mut self, probes: u32) -> FilterBuilder<S, H> {
        self.target.probes = Some(probes);
        self
    }

    /// The largest number of bits that the filter may have.
    pub fn max_bits(mut self, bits: u64) -> FilterBuilder<S, H> {
        self.target.max_bits = Some(bits);
        self
    }

    /// The confidence: the probability that the rate of the built filter is at most the requested
    /// rate. The default is 99.9%.
    pub fn confidence(mut self, confidence: f64) -> FilterBuilder<S, H> {
        self.target.promise = Promise::OneFilter { confidence };
        self
    }

    /// With this setting, the plan guarantees only the mean rate over all seeds. The filter then
    /// takes fewer bits, but about half of all such filters slightly exceed the requested rate.
    pub fn mean(mut self) -> FilterBuilder<S, H> {
        self.target.promise = Promise::Mean;
        self
    }

    /// The hasher. The default is [`PortableHasher::xxh3`] with a random seed. To use a known seed,
    /// pass a hasher with this seed. For untrusted keys, pass [`PortableHasher::sip13`].
    pub fn hasher<G: KeyHasher>(self, hasher: G) -> FilterBuilder<S, G> {
        let FilterBuilder { target, hasher: _, problem, scheme } = self;
        FilterBuilder { target: target.hash_bits(G::HASH_BITS), hasher, problem, scheme }
    }
}

#[cfg(feature = "random")]
impl<S: Scheme> FilterBuilder<S> {
    /// Makes the filter, with a random seed.
    ///
    /// # Errors
    /// Returns an error if a parameter is invalid, if the rate cannot be reached, or if the
    /// parameters do not determine a size. Returns an error if the memory cannot be allocated, or
    /// if the system provides no random numbers.
    pub fn build(self) -> Result<FilterOf<S>, BuildError> {
        self.family()?.filter()
    }

    /// Makes a family, whose filters have the same size and the same random seed. They can
    /// therefore be merged.
    ///
    /// # Errors
    /// Returns an error if a parameter is invalid, if the rate cannot be reached, if the parameters
    /// do not determine a size, or if the system provides no random numbers.
    pub fn family(self) -> Result<FilterFamily<S>, BuildError> {
        self.hasher(PortableHasher::random()?).family()
    }
}

impl<S: Scheme, H: KeyHasher> FilterBuilder<S, H> {
    /// Makes the filter, with the hasher that was passed to [`hasher`](FilterBuilder::hasher).
    ///
    /// # Errors
    /// Returns an error if a parameter is invalid, if the rate cannot be reached, if the parameters
    /// do not determine a size, or if the memory cannot be allocated.
    pub fn build(self) -> Result<FilterOf<S, H>, BuildError> {
        let FilterFamily { size, hasher } = self.family()?;
        size.filter(hasher)
    }

    /// Makes a family, whose filters have the same size and the same hasher. They can therefore be
    /// merged.
    ///
    /// # Errors
    /// Returns an error if a parameter is invalid, if the rate cannot be reached, or if the
    /// parameters do not determine a size.
    pub fn family(self) -> Result<FilterFamily<S, H>, BuildError> {
        let FilterBuilder { target, hasher, problem, .. } = self;
        if let Some(problem) = problem {
            return Err(problem);
        }
        let size = match target {
            Target { items: None, rate: None, bits: Some(bits), probes: Some(probes), .. } => {
                target.check_cap(bits)?;
                Size::Given(S::new(bits, probes)?)
            }
            _ => Size::Planned(Box::new(Plan::new(&target)?)),
        };
        Ok(FilterFamily { size, hasher })
    }
}

impl<S: Scheme, H: KeyHasher> FilterFamily<S, H> {
    /// A family made from a plan and a hasher. [`filter`](Self::filter) returns an error if the
    /// plan does not match the scheme or the hasher.
    pub fn from_plan(plan: Plan, hasher: H) -> FilterFamily<S, H> {
        FilterFamily { size: Size::Planned(Box::new(plan)), hasher }
    }

    /// Makes the next filter, which is empty.
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::from_plan_with_hasher`].
    pub fn filter(&self) -> Result<FilterOf<S, H>, BuildError>
    where
        H: Clone,
    {
        self.size.clone().filter(self.hasher.clone())
    }

    /// The plan of all filters of the family. `None` if the family was made from only `bits` and
    /// `probes`.
    pub fn plan(&self) -> Option<&Plan> {
        match &self.size {
            Size::Planned(plan) => Some(plan),
            Size::Given(_) => None,
        }
    }

    /// The hasher of all filters of the family, with its seed.
    pub fn hasher(&self) -> &H {
        &self.hasher
    }
}

impl<S: Scheme> Size<S> {
    fn filter<H: KeyHasher>(self, hasher: H) -> Result<FilterOf<S, H>, BuildError> {
        match self {
            Size::Planned(plan) => FilterOf::from_plan_with_hasher(&plan, hasher),
            Size::Given(scheme) => FilterOf::with_scheme(scheme, hasher),
        }
    }
}
