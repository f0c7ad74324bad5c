//! Filters whose layout and scheme are known only from the file.

use crate::backing::{Backing, Checked, Counted, Owned, View};
use crate::bulk::Answers;
use crate::error::{BuildError, FormatError, MergeError};
use crate::format::{Fields, Stored, Viewed, Written, reads_files, views_files, writes_files};
use crate::hash::{KeyHash, PortableHasher, Seed};
use crate::ids::FileKind;
use crate::key::Key;
use crate::scheme::{AnyScheme, Placed, Scheme, SchemeId, layouts};
use crate::verify::{Measurement, Verification};
use crate::word::Lies;
use crate::{FilterOf, ScalableFilter};
use alloc::boxed::Box;
use alloc::vec::Vec;
use truebloom_math::{Error, Fpr, ItemsEstimate, Law, Plan, Rate, Variant, items_interval};

/// Evaluates one expression for the filter in any variant.
macro_rules! each {
    ($self:expr, $filter:ident => $value:expr) => {
        layouts!(each_arm($self), $filter => $value, $filter => $value)
    };
}

/// Evaluates one expression for filters that were planned for a number of items, and another for
/// those that grow.
macro_rules! each_planned {
    ($self:expr, $filter:ident => $value:expr, $grows:ident => $other:expr) => {
        layouts!(each_arm($self), $filter => $value, $grows => $other)
    };
}

macro_rules! each_arm {
    ([$($(#[$doc:meta])* $layout:ident of $scheme:ty,)*] ($self:expr), $filter:ident => $value:expr, $grows:ident => $other:expr) => {
        match $self {
            $(AnyFilter::$layout($filter) => $value,)*
            AnyFilter::Other($filter) => $value,
            AnyFilter::Scalable($grows) => $other,
        }
    };
}

/// Evaluates an expression for two filters of the same kind; returns an error if their kinds
/// differ.
macro_rules! both {
    ($self:expr, $other:expr, ($ours:ident, $theirs:ident) => $value:expr) => {
        layouts!(both_arms($self, $other), ($ours, $theirs) => $value)
    };
}

macro_rules! both_arms {
    ([$($(#[$doc:meta])* $layout:ident of $scheme:ty,)*] ($self:expr, $other:expr), ($ours:ident, $theirs:ident) => $value:expr) => {
        match ($self, $other) {
            $((AnyFilter::$layout($ours), AnyFilter::$layout($theirs)) => $value,)*
            (AnyFilter::Other($ours), AnyFilter::Other($theirs)) => $value,
            (AnyFilter::Scalable($ours), AnyFilter::Scalable($theirs)) => $value,
            (ours, theirs) => Err(MergeError::Scheme { ours: ours.form(), theirs: theirs.form() }),
        }
    };
}

pub(crate) use {each, each_arm, each_planned};

writes_files!([K: Counted] AnyFilter<K>);
reads_files!([] AnyFilter);
views_files!([] AnyFilter, [AsRef<[u8]> + Send + Sync] AnyFilter<View<B>>, AnyFilter<View<crate::disk::Mapped>>);

macro_rules! any_filter {
    ([$($(#[$doc:meta])* $layout:ident of $scheme:ty,)*]) => {
        /// A filter whose [scheme](crate::scheme) is known only at run time, for example from the
        /// filter's file. The scheme is the method that chooses the bits of a key. An `AnyFilter`
        /// can also be a filter that grows. The type implements [`Filter`](crate::Filter).
        ///
        /// Each call of a method looks up the scheme only once, even for many keys. Therefore,
        /// [`insert_all_hashes`](crate::Filter::insert_all_hashes) and
        /// [`contains_all`](crate::Filter::contains_all) are as fast as for a filter whose scheme
        /// is known at compile time.
        ///
        /// The method `open` returns an error if the file contains a sketch, or a recycling filter
        /// (a filter that forgets old keys). The error names the type to use.
        ///
        /// ```
        /// use truebloom::{AnyFilter, BlockedBloomFilter, Filter};
        /// let mut blocked = BlockedBloomFilter::new(1_000, 0.01)?;
        /// blocked.insert("key");
        /// let mut filter = AnyFilter::from_bytes(&blocked.to_bytes()?)?;
        /// assert!(filter.contains("key") && filter.scheme_id().name() == "blocked");
        /// // Blocked filters have no estimate of their items.
        /// assert_eq!(filter.estimated_items(), None);
        /// filter.union_with(&blocked.into())?;
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum AnyFilter<K: Backing = Owned> {
            $($(#[$doc])* $layout(FilterOf<$scheme, PortableHasher, K>),)*
            /// A filter of any other scheme.
            Other(Box<FilterOf<AnyScheme, PortableHasher, K>>),
            /// A filter that grows.
            Scalable(Box<ScalableFilter<K>>),
        }

        /// The contents of the header, for any scheme.
        pub(crate) enum Header {
            $($layout(<FilterOf<$scheme> as Stored>::Header),)*
            Other(<FilterOf<AnyScheme> as Stored>::Header),
            Scalable(<ScalableFilter as Stored>::Header),
        }

        impl Stored for AnyFilter {
            const KINDS: &'static [FileKind] = &[$(<$scheme>::KIND,)* FileKind::Scalable];

            type Header = Header;

            fn read_header(fields: &Fields, kind: FileKind) -> Result<Header, FormatError> {
                if kind == FileKind::Scalable {
                    return ScalableFilter::read_header(fields, kind).map(Header::Scalable);
                }
                $(if kind == <$scheme>::KIND && fields.scheme(kind)? == <$scheme>::ID {
                    return FilterOf::<$scheme>::read_header(fields, kind).map(Header::$layout);
                })*
                FilterOf::<AnyScheme>::read_header(fields, kind).map(Header::Other)
            }

            fn payload_bytes(header: &Header) -> u64 {
                match header {
                    $(Header::$layout(header) => FilterOf::<$scheme>::payload_bytes(header),)*
                    Header::Other(header) => FilterOf::<AnyScheme>::payload_bytes(header),
                    Header::Scalable(header) => ScalableFilter::payload_bytes(header),
                }
            }

            fn assemble(header: Header, words: Vec<u64>) -> Result<AnyFilter, FormatError> {
                Ok(match header {
                    $(Header::$layout(header) => AnyFilter::$layout(Stored::assemble(header, words)?),)*
                    Header::Other(header) => AnyFilter::Other(Box::new(Stored::assemble(header, words)?)),
                    Header::Scalable(header) => AnyFilter::Scalable(Box::new(Stored::assemble(header, words)?)),
                })
            }
        }

        impl<B: AsRef<[u8]> + Send + Sync> Viewed<B> for AnyFilter {
            type View = AnyFilter<View<B>>;

            fn over(header: Header, bytes: B) -> Result<AnyFilter<View<B>>, FormatError> {
                Ok(match header {
                    $(Header::$layout(header) => AnyFilter::$layout(FilterOf::<$scheme>::over(header, bytes)?),)*
                    Header::Other(header) => AnyFilter::Other(Box::new(FilterOf::<AnyScheme>::over(header, bytes)?)),
                    Header::Scalable(header) => AnyFilter::Scalable(Box::new(ScalableFilter::over(header, bytes)?)),
                })
            }
        }

        impl<B: AsRef<[u8]> + Send + Sync> AnyFilter<View<B>> {
            /// Reads and checks all bytes of the view: see [`FilterOf::verify_bytes`].
            ///
            /// # Errors
            /// Returns the same errors as [`FilterOf::verify_bytes`].
            pub fn verify_bytes(self) -> Result<AnyFilter<Checked<B>>, FormatError> {
                Ok(match self {
                    $(AnyFilter::$layout(view) => AnyFilter::$layout(view.verify_bytes()?),)*
                    AnyFilter::Other(view) => AnyFilter::Other(Box::new(view.verify_bytes()?)),
                    AnyFilter::Scalable(view) => AnyFilter::Scalable(Box::new(view.verify_bytes()?)),
                })
            }
        }

        impl<K: Backing> Clone for AnyFilter<K>
        where
            $(FilterOf<$scheme, PortableHasher, K>: Clone,)*
            FilterOf<AnyScheme, PortableHasher, K>: Clone,
            ScalableFilter<K>: Clone,
        {
            fn clone(&self) -> AnyFilter<K> {
                match self {
                    $(AnyFilter::$layout(filter) => AnyFilter::$layout(filter.clone()),)*
                    AnyFilter::Other(filter) => AnyFilter::Other(filter.clone()),
                    AnyFilter::Scalable(filter) => AnyFilter::Scalable(filter.clone()),
                }
            }
        }

        impl<K: Backing> PartialEq for AnyFilter<K> {
            fn eq(&self, other: &AnyFilter<K>) -> bool {
                match (self, other) {
                    $((AnyFilter::$layout(ours), AnyFilter::$layout(theirs)) => ours == theirs,)*
                    (AnyFilter::Other(ours), AnyFilter::Other(theirs)) => ours == theirs,
                    (AnyFilter::Scalable(ours), AnyFilter::Scalable(theirs)) => ours == theirs,
                    _ => false,
                }
            }
        }

        impl AnyFilter {
            /// A filter made from a plan, with a random seed. The plan can be for any scheme.
            ///
            /// # Errors
            /// Returns the same errors as [`FilterOf::from_plan`].
            #[cfg(feature = "random")]
            pub fn from_plan(plan: &Plan) -> Result<AnyFilter, BuildError> {
                AnyFilter::from_plan_with_hasher(plan, PortableHasher::random()?)
            }

            /// Like [`from_plan`](Self::from_plan), with a custom hasher.
            ///
            /// # Errors
            /// Returns the same errors as [`FilterOf::from_plan_with_hasher`].
            pub fn from_plan_with_hasher(plan: &Plan, hasher: PortableHasher) -> Result<AnyFilter, BuildError> {
                Ok(match plan.scheme {
                    $(<$scheme>::ID => AnyFilter::$layout(FilterOf::from_plan_with_hasher(plan, hasher)?),)*
                    _ => AnyFilter::Other(Box::new(FilterOf::from_plan_with_hasher(plan, hasher)?)),
                })
            }

            /// An empty filter with the given scheme, number of bits, and number of probes per key.
            /// The filter has no capacity and no requested false-positive rate:
            /// [`capacity`](Self::capacity) and [`rate`](Self::rate) return `None`.
            ///
            /// # Errors
            /// Returns the same errors as [`Scheme::new`]. Also returns an error if the memory
            /// cannot be allocated.
            pub fn with_scheme(id: SchemeId, bits: u64, probes: u32, hasher: PortableHasher) -> Result<AnyFilter, BuildError> {
                Ok(match id {
                    $(<$scheme>::ID => AnyFilter::$layout(FilterOf::with_scheme(<$scheme>::new(bits, probes)?, hasher)?),)*
                    _ => AnyFilter::Other(Box::new(FilterOf::with_scheme(AnyScheme::named(id, bits, probes)?, hasher)?)),
                })
            }
        }

        $(impl From<FilterOf<$scheme>> for AnyFilter {
            fn from(filter: FilterOf<$scheme>) -> AnyFilter {
                AnyFilter::$layout(filter)
            }
        })*
    };
}

layouts!(any_filter);

/// The payload of a filter: its words, or the records and words of the layers of a filter that
/// grows.
enum Words<'a, W, L> {
    Bits(core::slice::Iter<'a, W>),
    Layers(L),
}

impl<W: Lies<u64>, L: Iterator<Item = u64>> Iterator for Words<'_, W, L> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        match self {
            Words::Bits(words) => words.next().map(|word| word.get()),
            Words::Layers(words) => words.next(),
        }
    }
}

impl<K: Counted> Written for AnyFilter<K> {
    fn fields(&self) -> Fields {
        each!(self, filter => filter.fields())
    }

    fn word_count(&self) -> u64 {
        each!(self, filter => filter.word_count())
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        each_planned!(self, filter => Words::Bits(filter.words().iter()), grows => Words::Layers(Written::words(&**grows)))
    }
}

/// A type whose files are all of one kind.
trait OfKind {
    fn of_kind(&self) -> FileKind;
}

impl<S: Scheme, K: Backing> OfKind for FilterOf<S, PortableHasher, K> {
    fn of_kind(&self) -> FileKind {
        S::KIND
    }
}

impl<K: Backing> OfKind for ScalableFilter<K> {
    fn of_kind(&self) -> FileKind {
        FileKind::Scalable
    }
}

impl From<ScalableFilter> for AnyFilter {
    fn from(filter: ScalableFilter) -> AnyFilter {
        AnyFilter::Scalable(Box::new(filter))
    }
}

impl From<FilterOf<AnyScheme>> for AnyFilter {
    /// Returns [`AnyFilter::Standard`] if the filter has the standard scheme, and
    /// [`AnyFilter::Other`] otherwise.
    fn from(filter: FilterOf<AnyScheme>) -> AnyFilter {
        filter.into_standard().map_or_else(AnyFilter::Other, AnyFilter::Standard)
    }
}

/// Methods that only call the method of the same name on the filter in any variant.
macro_rules! of_each {
    ($bound:ident: $($(#[$doc:meta])* fn $name:ident(&self$(, $argument:ident: $type:ty)*) -> $result:ty;)*) => {
        impl<K: $bound> AnyFilter<K> {
            $($(#[$doc])*
            pub fn $name(&self$(, $argument: $type)*) -> $result {
                each!(self, filter => filter.$name($($argument),*))
            })*
        }
    };
}

of_each! { Backing:
    /// The hasher, with its seed.
    fn hasher(&self) -> &PortableHasher;
    /// The seed of the hasher.
    fn seed(&self) -> Seed;
    /// The number of bits, m.
    fn bits(&self) -> u64;
    /// The number of probes per key, k.
    fn probes(&self) -> u32;
    /// The number of distinct items that the filter was planned for. `None` if the filter was made
    /// without a plan.
    fn capacity(&self) -> Option<u64>;
    /// The requested false-positive rate. `None` if the filter was made without a requested rate.
    fn rate(&self) -> Option<Rate>;
    /// The number of insertions, repeats included: see [`FilterOf::offered`].
    fn offered(&self) -> u64;
    /// The number of insertions that set a bit: see [`FilterOf::changed`].
    fn changed(&self) -> u64;
    /// Returns true if the filter is the result of a union or an intersection, was converted from a
    /// filter shared by threads, or was recovered after a crash: see [`FilterOf::is_merged`].
    fn is_merged(&self) -> bool;
    /// Returns true if the filter comes from an intersection: see [`FilterOf::is_intersection`].
    fn is_intersection(&self) -> bool;
    /// An upper bound on the number of distinct keys in the filter: see [`FilterOf::most_items`].
    fn most_items(&self) -> u64;
    /// The text that a program attached to the filter: see [`FilterOf::set_label`].
    fn label(&self) -> Option<&str>;
    /// The probability law of the filter. For any number of items, the law gives the expected
    /// false-positive rate, or bounds on this rate: see [`FilterOf::law`].
    fn law(&self) -> Box<dyn Law>;
    /// The expected false-positive rate of the filter when it holds as many items as its capacity:
    /// see [`FilterOf::expected_fpr`].
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::expected_fpr`].
    fn expected_fpr(&self) -> Result<Option<Fpr>, Error>;
    /// The expected false-positive rate of the filter when it holds a given number of distinct
    /// items, `items`.
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::expected_fpr_at`].
    fn expected_fpr_at(&self, items: u64) -> Result<Fpr, Error>;
    /// Returns true if the filter contains a key that is already hashed.
    fn contains_hash(&self, hash: KeyHash) -> bool;
    /// Like [`contains_all`](Self::contains_all), for keys that are already hashed.
    fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers;
}

of_each! { Counted:
    /// The number of set bits.
    fn ones(&self) -> u64;
    /// The share of bits that are set, from 0 to 1.
    fn fill(&self) -> f64;
    /// Returns true if no bit is set.
    fn is_empty(&self) -> bool;
    /// The filter's present false-positive rate: see [`FilterOf::fpr`].
    fn fpr(&self) -> Fpr;
    /// Returns true if the false-positive rate can be computed from the set bits:
    /// see [`FilterOf::fill_tells_rate`].
    fn fill_tells_rate(&self) -> bool;
    /// The number of distinct items, estimated from the fill: see [`FilterOf::estimated_items`].
    fn estimated_items(&self) -> Option<f64>;
    /// Returns true if the filter is known to hold more distinct items than it was planned for: see
    /// [`FilterOf::is_over_capacity`]. A filter that grows is over capacity if a merge raised its
    /// rate above the requested rate: see [`ScalableFilter::is_over_capacity`].
    fn is_over_capacity(&self) -> bool;
}

impl<K: Backing> AnyFilter<K> {
    /// The filter's [scheme](crate::scheme), which computes the positions of a key's bits from its
    /// hash.
    pub fn scheme_id(&self) -> SchemeId {
        each!(self, filter => filter.scheme_id())
    }

    /// The kind of file in which this filter is saved.
    pub fn kind(&self) -> FileKind {
        each!(self, filter => filter.of_kind())
    }

    /// Returns true if the filter contains a key.
    pub fn contains<Q: Key + ?Sized>(&self, key: &Q) -> bool {
        each!(self, filter => filter.contains(key))
    }

    /// Reports which of the keys the filter contains.
    pub fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
        each!(self, filter => filter.contains_all(keys))
    }

    /// Prefetches the bits of a key that will be inserted or looked up soon:
    /// see [`FilterOf::prefetch`].
    #[inline]
    pub fn prefetch(&self, hash: KeyHash) {
        each!(self, filter => filter.prefetch(hash));
    }
}

impl AnyFilter {
    /// Adds all keys of another filter: see [`FilterOf::union_with`]. The other filter may be a
    /// view.
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::union_with`], or as [`ScalableFilter::union_with`] if
    /// both filters grow. Also returns an error if only one of them grows.
    pub fn union_with<V: Backing>(&mut self, other: &AnyFilter<V>) -> Result<(), MergeError> {
        both!(self, other, (ours, theirs) => ours.union_with(theirs))
    }

    /// Keeps only the bits that are set in both filters: see [`FilterOf::intersect_with`].
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::intersect_with`]. Always returns an error for filters
    /// that grow.
    pub fn intersect_with<V: Backing>(&mut self, other: &AnyFilter<V>) -> Result<(), MergeError> {
        both!(self, other, (ours, theirs) => ours.intersect_with(theirs))
    }
}

impl<K: Backing> AnyFilter<K> {
    /// The name that a merge compares first: the name of the scheme, or a name for all filters that
    /// grow.
    fn form(&self) -> &'static str {
        if let AnyFilter::Scalable(_) = self { "standard in layers that grow" } else { self.scheme_id().name() }
    }

    /// Returns an error unless the two filters can be merged.
    pub(crate) fn check_mergeable<V: Backing>(&self, other: &AnyFilter<V>) -> Result<(), MergeError> {
        both!(self, other, (ours, theirs) => ours.check_mergeable(theirs))
    }

    /// An empty filter with the size, plan and seed of this filter: see [`FilterOf::to_empty`].
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn to_empty(&self) -> Result<AnyFilter, BuildError> {
        each!(self, filter => filter.to_empty().map(AnyFilter::from))
    }
}

impl<K: Counted> AnyFilter<K> {
    /// Checks whether the filter's bits agree with its counts of insertions: see
    /// [`Verification::of`].
    ///
    /// # Errors
    /// Returns the same errors as [`Verification::of`].
    pub fn verification(&self) -> Result<Verification, Error> {
        each!(self, filter => filter.verified())
    }

    /// Estimates the number of distinct items from the set bits, like
    /// [`estimated_items`](Self::estimated_items), with an interval. The interval contains the true
    /// number with a probability of at least `confidence` ([`items_interval`]). The estimate
    /// depends only on the set bits, so it is also valid for unions. If a program inserted only
    /// keys that the filter did not seem to contain, the estimate is for the keys that it looked
    /// up.
    ///
    /// Returns `None` where [`estimated_items`](Self::estimated_items) does, and for filters that
    /// grow and partitioned filters, because no interval is known for them. Computing the interval
    /// takes up to a few tenths of a second.
    ///
    /// ```
    /// use truebloom::{AnyFilter, BloomFilter};
    /// let mut filter: BloomFilter = BloomFilter::new(1_000, 0.01)?;
    /// (0..800u64).for_each(|key| { filter.insert(&key); });
    /// let items = AnyFilter::from(filter).items_interval(0.999_999)?.expect("a standard filter");
    /// assert!(items.lower <= 800 && items.upper.is_some_and(|upper| upper >= 800));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if `confidence` is not between 0 and 1.
    pub fn items_interval(&self, confidence: f64) -> Result<Option<ItemsEstimate>, Error> {
        let variant = self.scheme_id().variant().filter(|variant| matches!(variant, Variant::Standard | Variant::Classic));
        let has_law = self.kind() == FileKind::Bloom && self.estimated_items().is_some();
        let found = variant.filter(|_| has_law);
        found.map(|variant| items_interval(variant, self.bits(), self.probes(), self.ones(), confidence)).transpose()
    }

    /// Starts a measurement of the filter's false-positive rate with random keys: see
    /// [`Measurement::new`].
    pub fn measurement(&self, seed: u64) -> Measurement<'_> {
        each!(self, filter => filter.measured(seed))
    }
}
