//! Making filters.

use super::{BloomFilter, Counts};
use crate::bits::Bits;
use crate::error::BuildError;
use crate::hash::{KeyHasher, PortableHasher, Seed, check_hasher};
use crate::scheme::{AnyScheme, Scheme, Standard};
use truebloom_math::law::hash_floor;
use truebloom_math::{Plan, Rate, Target, Variant};

impl BloomFilter {
    /// The smallest filter that is proven to hold `items` distinct items (at least 1) at an expected false-positive rate of at most `rate`, with a random
    /// seed. The rate is an `f64`, which stands for the decimal it is written as, or a [`Rate`], which can be `"0.1%"` or `"1/1000"`.
    ///
    /// Errors: no items; a rate that is not strictly between 0 and 1, or below what a hash of 128 bits can reach for so many items; not
    /// enough memory; no random numbers. Finding the size takes well below a millisecond at ordinary parameters.
    ///
    /// ```
    /// use truebloom::{BloomFilter, Rate};
    /// let rate: Rate = "0.1%".parse()?;
    /// let filter = BloomFilter::new(100_000, rate)?;
    /// assert_eq!((filter.capacity(), filter.rate()), (Some(100_000), Some(rate)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new<R: TryInto<Rate>>(items: u64, rate: R) -> Result<BloomFilter, BuildError>
    where
        BuildError: From<R::Error>,
    {
        BloomFilter::with_hasher(items, rate, random_hasher()?)
    }

    /// The filter of a plan, with a random seed. For plans from bits and items, with a memory cap, or with given probes.
    ///
    /// Errors: a plan for another law than the standard one; more probes than [`MAX_PROBES`](crate::MAX_PROBES); not enough memory; no random numbers.
    ///
    /// ```
    /// use truebloom::{BloomFilter, Plan, Target};
    /// let plan = Plan::new(&Target { bits: Some(8 << 20), rate: Some("1%".parse()?), ..Target::default() })?;
    /// let filter = BloomFilter::from_plan(&plan)?;
    /// assert_eq!((filter.bits(), filter.capacity()), (8 << 20, Some(plan.items)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_plan(plan: &Plan) -> Result<BloomFilter, BuildError> {
        BloomFilter::from_plan_with_hasher(plan, random_hasher()?)
    }

    /// A filter of 1 to 2^62 bits and 1 to [`MAX_PROBES`](crate::MAX_PROBES) probes, with a random seed, no capacity and no rate asked for.
    ///
    /// Errors: bits or probes out of range; not enough memory; no random numbers.
    pub fn with_bits_and_probes(bits: u64, probes: u32) -> Result<BloomFilter, BuildError> {
        BloomFilter::with_bits_probes_and_hasher(bits, probes, random_hasher()?)
    }
}

impl<H: KeyHasher> BloomFilter<H> {
    /// [`new`](BloomFilter::new) with a hasher of one's own: a seed that is known, [`PortableHasher::sip13`] for keys from strangers, or a
    /// [`Foreign`](crate::Foreign) hasher.
    ///
    /// ```
    /// use truebloom::{BloomFilter, PortableHasher, Seed};
    /// let seed: Seed = "2a".parse()?;
    /// let filter = BloomFilter::with_hasher(1_000, 0.01, PortableHasher::xxh3(seed))?;
    /// assert_eq!(filter.seed(), seed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_hasher<R: TryInto<Rate>>(items: u64, rate: R, hasher: H) -> Result<BloomFilter<H>, BuildError>
    where
        BuildError: From<R::Error>,
    {
        let target = Target { items: Some(items), rate: Some(rate.try_into()?), hash_bits: H::HASH_BITS, ..Target::default() };
        BloomFilter::from_plan_with_hasher(&Plan::new(&target)?, hasher)
    }

    /// [`from_plan`](BloomFilter::from_plan) with a hasher of one's own. An error if the plan was made for a wider hash than the hasher's
    /// [`HASH_BITS`](KeyHasher::HASH_BITS): equal hashes could take the rate above the plan's.
    pub fn from_plan_with_hasher(plan: &Plan, hasher: H) -> Result<BloomFilter<H>, BuildError> {
        if plan.variant != Variant::Standard {
            return Err(BuildError::Variant { found: plan.variant });
        }
        let floor = hash_floor(plan.items, H::HASH_BITS);
        if floor > plan.hash_floor {
            return Err(BuildError::HashBits { found: H::HASH_BITS, floor, planned: plan.hash_floor });
        }
        let filter = BloomFilter::with_bits_probes_and_hasher(plan.bits, plan.probes, hasher)?;
        Ok(BloomFilter { capacity: Some(plan.items), rate: plan.rate, ..filter })
    }

    /// [`with_bits_and_probes`](BloomFilter::with_bits_and_probes) with a hasher of one's own.
    pub fn with_bits_probes_and_hasher(bits: u64, probes: u32, hasher: H) -> Result<BloomFilter<H>, BuildError> {
        BloomFilter::with_scheme(Standard::new(bits, probes)?, hasher)
    }
}

impl BloomFilter<PortableHasher, AnyScheme> {
    /// The same filter by the standard scheme's own type, which is faster, or itself if it is of another scheme.
    pub fn into_standard(self) -> Result<BloomFilter, Box<BloomFilter<PortableHasher, AnyScheme>>> {
        match self.scheme {
            AnyScheme::Standard(scheme) => {
                let BloomFilter { hasher, scheme: _, storage, ones, counts, capacity, rate } = self;
                Ok(BloomFilter { hasher, scheme, storage, ones, counts, capacity, rate })
            }
            _ => Err(Box::new(self)),
        }
    }
}

impl<H: KeyHasher, S: Scheme> BloomFilter<H, S> {
    /// An empty filter of this scheme, which says bits and probes, with no capacity and no rate asked for. Errors: no memory; a hasher for the files of drafts.
    ///
    /// ```
    /// use truebloom::scheme::{Partitioned, Scheme};
    /// use truebloom::{BloomFilter, PortableHasher, Seed};
    /// let mut seen = BloomFilter::with_scheme(Partitioned::new(9_600, 7)?, PortableHasher::xxh3(Seed::random()?))?;
    /// seen.insert("key");
    /// assert!(seen.contains("key") && seen.ones() == 7);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn with_scheme(scheme: S, hasher: H) -> Result<BloomFilter<H, S>, BuildError> {
        check_hasher(&hasher, scheme.takes_halves())?;
        let storage = Bits::zeroed(scheme.bits())?;
        Ok(BloomFilter { hasher, scheme, storage, ones: 0, counts: Counts::default(), capacity: None, rate: None })
    }

    /// The filter with the items and the rate that it is to be held to. An error unless the law of its scheme proves that so many items keep to the rate.
    pub fn planned_for(self, items: u64, rate: Option<Rate>) -> Result<BloomFilter<H, S>, BuildError> {
        if let Some(asked) = rate
            && !self.law().meets(items, &asked, H::HASH_BITS)?
        {
            return Err(BuildError::NotProven { scheme: self.scheme.id(), items, asked });
        }
        Ok(BloomFilter { capacity: Some(items), rate, ..self })
    }
}

fn random_hasher() -> Result<PortableHasher, BuildError> {
    Seed::random().map(PortableHasher::xxh3)
}
