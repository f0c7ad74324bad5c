//! Constructors.

use super::{Counts, FilterOf, Head};
use crate::arch::{PAGE_BYTES, decline_huge_pages};
use crate::backing::{Headed, Inline, Owned, Shared};
use crate::error::BuildError;
use crate::format::Label;
use crate::hash::KeyHasher;
#[cfg(feature = "random")]
use crate::hash::PortableHasher;
use crate::items::ItemCount;
use crate::scheme::{AnyScheme, Scheme, Standard, Storage};
use alloc::boxed::Box;
use truebloom_math::law::hash_floor;
use truebloom_math::{Plan, Rate, Target};

impl<S: Scheme> FilterOf<S> {
    /// A filter for `items` distinct items (at least 1), with a random seed. While the filter holds
    /// at most `items` items, two bounds on its false-positive rate are proven. The mean rate over
    /// all seeds is at most `rate`. The rate of this filter is at most `rate` with a probability of
    /// at least 99.9%. For another probability, use [`Plan::new`] and
    /// [`from_plan`](Self::from_plan). A plan that guarantees only the mean rate ([`Target::mean`])
    /// takes fewer bits.
    ///
    /// `items` can be an integer of any type up to 64 bits. Write literals above 2^31 with a
    /// suffix, such as `3_000_000_000u64`. `rate` can be an `f64`, a text like `"0.1%"` or
    /// `"1/1000"`, or a [`Rate`]. An `f64` is taken as the shortest decimal number that represents
    /// it, so `0.01` means exactly 1/100.
    ///
    /// For a blocked filter or for fewer than 1,000 items, computing the number of bits can take a
    /// few tens of milliseconds. In all other cases, it takes well under a millisecond.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let filter = BloomFilter::new(100_000, "0.1%")?;
    /// assert_eq!((filter.capacity(), filter.rate()), (Some(100_000), Some("1/1000".parse()?)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if `items` is 0, or if `rate` is not strictly between 0 and 1. Returns an
    /// error if `rate` is so low that no filter can meet this rate, whatever its size. In every
    /// filter, equal 128-bit hashes of different keys can contribute `items / 2^128` to the rate.
    ///
    /// Returns an error if `S` is a two-hash scheme, which derives all positions of a key from two
    /// hashes. For such a scheme, no rate can be guaranteed for a single filter.
    ///
    /// Returns an error if the memory cannot be allocated, or if the system provides no random
    /// numbers.
    #[cfg(feature = "random")]
    pub fn new<R: TryInto<Rate>>(items: impl ItemCount, rate: R) -> Result<FilterOf<S>, BuildError>
    where
        BuildError: From<R::Error>,
    {
        FilterOf::with_hasher(items, rate, PortableHasher::random()?)
    }

    /// A filter made from a plan, with a random seed. Making a plan can take a few tens of
    /// milliseconds. To make many filters of one size, make the plan once and use it for all of
    /// them. A plan can also be made for a given number of bits or probes, with a memory limit, or
    /// with a guarantee for the mean rate alone.
    ///
    /// ```
    /// use truebloom::{BloomFilter, Plan, Target};
    /// let plan = Plan::new(&Target::new().bits(8 << 20).rate("1%".parse()?))?;
    /// let filter = BloomFilter::from_plan(&plan)?;
    /// assert_eq!((filter.bits(), filter.capacity()), (8 << 20, Some(plan.items)));
    /// let guarantee = plan.guarantee.ok_or("the plan is for the average alone")?;
    /// assert!(guarantee.confidence >= 0.999 && guarantee.fpr.upper <= 0.01);
    ///
    /// // A file contains the bits, the probes and the capacity. To get the guarantee, plan again.
    /// let opened = BloomFilter::from_bytes(&filter.to_bytes()?)?; // as from `open` after `save`
    /// let capacity = opened.capacity().ok_or("without a number of items")?;
    /// let again = Plan::new(&Target::new().items(capacity).bits(opened.bits()).probes(opened.probes()))?;
    /// assert!(again.guarantee.is_some_and(|guarantee| guarantee.fpr.upper <= 0.01));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the plan is for a scheme other than `S`, or if it has more than
    /// [`MAX_PROBES`](crate::MAX_PROBES) probes. Returns an error if the memory cannot be
    /// allocated, or if the system provides no random numbers.
    #[cfg(feature = "random")]
    pub fn from_plan(plan: &Plan) -> Result<FilterOf<S>, BuildError> {
        FilterOf::from_plan_with_hasher(plan, PortableHasher::random()?)
    }
}

impl<S: Scheme, H: KeyHasher> FilterOf<S, H> {
    /// Like [`new`](FilterOf::new), with a custom hasher. Use this method for a known seed, for
    /// untrusted keys ([`PortableHasher::sip13`]), or for a hasher from another crate
    /// ([`ForeignHasher`](crate::ForeignHasher)).
    ///
    /// ```
    /// use truebloom::{BloomFilter, PortableHasher, Seed};
    /// let seed: Seed = "2a".parse()?;
    /// let filter = BloomFilter::with_hasher(1_000, 0.01, PortableHasher::xxh3(seed))?;
    /// assert_eq!(filter.seed(), seed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`new`](FilterOf::new), but never fails for lack of random
    /// numbers. The lowest rate that a filter can meet depends on the hasher. If the hashes have b
    /// bits ([`HASH_BITS`](KeyHasher::HASH_BITS)), equal hashes of different keys can contribute
    /// `items / 2^b` to the rate.
    pub fn with_hasher<R: TryInto<Rate>>(items: impl ItemCount, rate: R, hasher: H) -> Result<FilterOf<S, H>, BuildError>
    where
        BuildError: From<R::Error>,
    {
        let target = Target::new().items(items.item_count()?).rate(rate.try_into()?).hash_bits(H::HASH_BITS).scheme(S::ID);
        FilterOf::from_plan_with_hasher(&Plan::new(&target)?, hasher)
    }

    /// Like [`from_plan`](FilterOf::from_plan), with a custom hasher.
    ///
    /// # Errors
    /// Returns the same errors as [`from_plan`](FilterOf::from_plan), but never fails for lack of
    /// random numbers. Also returns an error if the plan was made for longer hashes than the hasher
    /// computes ([`HASH_BITS`](KeyHasher::HASH_BITS)). Shorter hashes are equal more often, so the
    /// rate could exceed the planned rate.
    pub fn from_plan_with_hasher(plan: &Plan, hasher: H) -> Result<FilterOf<S, H>, BuildError> {
        let scheme = S::with_id(plan.scheme, plan.bits, plan.probes).map_err(|error| match error {
            BuildError::Scheme { expected, found } => BuildError::Planned { expected, found },
            other => other,
        })?;
        let floor = hash_floor(plan.items, H::HASH_BITS);
        if floor > plan.hash_floor {
            return Err(BuildError::HashBits { found: H::HASH_BITS, floor, planned: plan.hash_floor });
        }
        FilterOf::empty(Head { hasher, scheme, capacity: Some(plan.items), rate: plan.rate, label: Label::default() })
    }
}

impl<S: Scheme> FilterOf<S> {
    /// A filter with `bits` bits, `probes` probes per key, and a random seed. The filter has no
    /// [`capacity`](Self::capacity) and no requested [`rate`](Self::rate). `bits` can be at most
    /// 2^62, and `probes` at most [`MAX_PROBES`](crate::MAX_PROBES). Some schemes have narrower
    /// limits: a blocked filter needs a multiple of 512 bits and at most 64 probes. To choose the
    /// hasher, use [`builder`](Self::builder).
    ///
    /// # Errors
    /// Returns an error if `bits` or `probes` is out of range, if the memory cannot be allocated,
    /// or if the system provides no random numbers.
    #[cfg(feature = "random")]
    pub fn with_bits_and_probes(bits: u64, probes: u32) -> Result<FilterOf<S>, BuildError> {
        FilterOf::with_scheme(S::new(bits, probes)?, PortableHasher::random()?)
    }
}

impl FilterOf<AnyScheme> {
    /// Converts a filter that has the standard scheme to a [`BloomFilter`](crate::BloomFilter). A
    /// [`BloomFilter`](crate::BloomFilter) is faster than a filter whose scheme is chosen at run
    /// time.
    ///
    /// # Errors
    /// If the filter has another scheme, the error contains the unchanged filter.
    pub fn into_standard(self) -> Result<FilterOf<Standard>, Box<FilterOf<AnyScheme>>> {
        match self.head.scheme {
            AnyScheme::Standard(scheme) => {
                let FilterOf { head: Inline(Head { hasher, capacity, rate, label, .. }), storage, counts } = self;
                Ok(FilterOf { head: Owned::head(Head { hasher, scheme, capacity, rate, label }), storage, counts })
            }
            _ => Err(Box::new(self)),
        }
    }
}

impl<S: Scheme, H: KeyHasher> FilterOf<S, H> {
    /// An empty filter with the given scheme. The value `scheme` also contains the number of bits
    /// and the number of probes. The filter has no [`capacity`](Self::capacity) and no requested
    /// [`rate`](Self::rate).
    ///
    /// ```
    /// use truebloom::scheme::{AnyScheme, SchemeId};
    /// use truebloom::{FilterOf, PortableHasher, Seed};
    /// let scheme = AnyScheme::named(SchemeId::Partitioned, 9_600, 7)?;
    /// let mut seen = FilterOf::with_scheme(scheme, PortableHasher::xxh3(Seed::random()?))?;
    /// seen.insert("key");
    /// assert!(seen.contains("key") && seen.ones() == 7);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn with_scheme(scheme: S, hasher: H) -> Result<FilterOf<S, H>, BuildError> {
        FilterOf::empty(Head { hasher, scheme, capacity: None, rate: None, label: Label::default() })
    }

    pub(super) fn empty(head: Head<S, H>) -> Result<FilterOf<S, H>, BuildError> {
        let storage = S::Storage::zeroed(&head.scheme)?;
        // Huge pages pay off if most of them will be touched. If the filter is far too large for
        // its keys, most huge pages will not be touched.
        let (touched, pages) =
            (head.capacity.map(|items| items.saturating_mul(head.scheme.probes().into())), head.scheme.bits() / (8 * PAGE_BYTES as u64));
        let filter = FilterOf { head: Owned::head(head), storage, counts: Counts::default() };
        Ok(if touched.is_some_and(|touched| touched < pages / 4) { filter.with_small_pages() } else { filter })
    }

    /// Asks the system for memory pages of 4 KiB instead of huge pages (2 MiB). This saves memory
    /// if the filter will hold far fewer keys than it was sized for: each key then takes at most
    /// one page per probe. Call this method before the first insertion: data that is already on
    /// huge pages stays there.
    ///
    /// By default, a filter of 2 MiB or more asks the system for huge pages. If all pages of the
    /// filter are in use, random accesses are two to three times as fast with huge pages as with
    /// pages of 4 KiB. There is one exception: a filter that is very large for its capacity uses
    /// pages of 4 KiB by default. For such a filter, the product of the capacity and the number of
    /// probes is less than a quarter of the filter's number of 4 KiB pages.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut sparse = BloomFilter::with_bits_and_probes(1 << 33, 7)?.with_small_pages();
    /// sparse.extend(0..1_000); // takes 29 MiB, not one GiB
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    #[must_use]
    pub fn with_small_pages(self) -> FilterOf<S, H> {
        decline_huge_pages(self.words());
        self
    }

    /// Sets the capacity (the number of items that the filter is planned for) and the requested
    /// rate. If `items` is 0, the filter has no [capacity](Self::capacity). If `rate` is `None`,
    /// the filter has no requested rate.
    ///
    /// # Errors
    /// If `rate` is given, returns an error unless the expected rate with `items` items is proven
    /// to be at most this rate.
    pub fn planned_for(mut self, items: u64, rate: Option<Rate>) -> Result<FilterOf<S, H>, BuildError> {
        if let Some(asked) = rate
            && !self.law().meets(items, &asked, H::HASH_BITS)?
        {
            return Err(BuildError::NotProven { scheme: self.scheme().id(), items, asked });
        }
        (self.head.0.capacity, self.head.0.rate) = ((items > 0).then_some(items), rate);
        Ok(self)
    }
}

impl<S: Scheme, H: KeyHasher> FilterOf<S, H> {
    /// Prepares the filter for many clones. The filter and its clones then share one copy of the
    /// hasher, the scheme, the capacity and the rate. Each clone takes 64 bytes besides its bits.
    /// All clones have the same plan and seed. They can therefore be merged, and a key needs to be
    /// hashed only once for all of them.
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let empty = BloomFilter::new(5_000, 0.01)?.into_shared();
    /// let mut tables = vec![empty.clone(); 3];
    /// tables[1].insert("key");
    /// let hash = empty.hash("key");
    /// assert!(tables.iter().map(|table| table.contains_hash(hash)).eq([false, true, false]));
    /// assert!(size_of_val(&tables[1]) <= 64);
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    pub fn into_shared(self) -> FilterOf<S, H, Shared> {
        let FilterOf { head: Inline(head), storage, counts } = self;
        FilterOf { head: Shared::head(head), storage: Storage::with_known(storage.into_known()), counts }
    }
}

impl<S: Scheme, H: KeyHasher + Clone> FilterOf<S, H, Shared> {
    /// Gives the filter its own copy of the values that it shares with its clones. The filter is
    /// then a little faster than a filter that shares these values.
    pub fn into_owned(self) -> FilterOf<S, H> {
        let FilterOf { head, storage, counts } = self;
        FilterOf { head: Owned::head(Head::clone(&head)), storage: Storage::with_known(storage.into_known()), counts }
    }
}
