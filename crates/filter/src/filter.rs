//! The common interface of filters that never forget a key.

use crate::FilterOf;
#[cfg(feature = "growth")]
use crate::ScalableFilter;
#[cfg(feature = "any")]
use crate::any_filter::{AnyFilter, each, each_arm};
use crate::bulk::Answers;
#[cfg(feature = "fs")]
use crate::error::FileError;
use crate::error::{BuildError, MergeError};
use crate::hash::{KeyHash, KeyHasher, PortableHasher, Seed, hash_key};
use crate::ids::FileKind;
use crate::key::Key;
#[cfg(feature = "any")]
use crate::scheme::layouts;
use crate::scheme::{Scheme, SchemeId};
use crate::verify::{Measurement, Verification};
use alloc::boxed::Box;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::io::{self, Write};
#[cfg(feature = "fs")]
use std::path::Path;
use truebloom_math::{Error, Fpr, Law, Rate};

/// The common methods of the filters that can be saved and never forget a key. Use this trait in
/// code that must work with filters of every scheme.
///
/// Three types implement the trait: [`FilterOf`], [`ScalableFilter`] and [`AnyFilter`]. A filter
/// must have a [`PortableHasher`] and own its bits. Views and [shared](crate::Shared) filters do
/// not implement the trait. The documentation of [`FilterOf`] describes the methods. Unlike the
/// methods of [`FilterOf`], the methods of this trait take paths as `&Path`.
///
/// A `dyn Filter` has no methods that take a key or another filter. Instead of a key, pass the hash
/// of the key, for example to [`insert_hash`](Self::insert_hash). To compute the hash, call
/// [`hasher`](Self::hasher), and then the method [`hash_key`](PortableHasher::hash_key) of the
/// result.
///
/// ```
/// use truebloom::{BlockedBloomFilter, BloomFilter, Filter};
///
/// fn seen_before(filter: &mut impl Filter, keys: &[&str]) -> usize {
///     keys.iter().filter(|key| !filter.insert(**key)).count()
/// }
///
/// assert_eq!(seen_before(&mut BloomFilter::new(100, 1e-6)?, &["a", "b", "a"]), 1);
/// assert_eq!(seen_before(&mut BlockedBloomFilter::new(100, 1e-6)?, &["a", "b", "a"]), 1);
/// # Ok::<(), truebloom::BuildError>(())
/// ```
///
/// Use a `dyn Filter` if the type of the filter is known only at run time:
///
/// ```
/// use truebloom::{BlockedBloomFilter, BloomFilter, Filter};
///
/// let mut filters: Vec<Box<dyn Filter>> = vec![Box::new(BloomFilter::new(100, 1e-6)?), Box::new(BlockedBloomFilter::new(100, 1e-6)?)];
/// for filter in &mut filters {
///     let hash = filter.hasher().hash_key("a");
///     assert!(filter.insert_hash(hash) && filter.contains_hash(hash));
/// }
/// # Ok::<(), truebloom::BuildError>(())
/// ```
///
/// Recycling filters do not implement the trait, because they forget keys. They can return false
/// for a key that was inserted.
pub trait Filter {
    /// The filter's scheme: how a hash becomes positions.
    fn scheme_id(&self) -> SchemeId;

    /// The kind of file in which this filter is saved.
    fn kind(&self) -> FileKind;

    /// The hasher, with its seed.
    fn hasher(&self) -> &PortableHasher;

    /// The seed of the hasher.
    fn seed(&self) -> Seed {
        KeyHasher::seed(self.hasher())
    }

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

    /// Attaches a text to the filter. Returns false and changes nothing if the text is longer than
    /// 104 bytes or contains a NUL.
    #[must_use]
    fn set_label(&mut self, text: &str) -> bool;

    /// The number of set bits.
    fn ones(&self) -> u64;

    /// The share of bits that are set, from 0 to 1.
    fn fill(&self) -> f64;

    /// Returns true if no bit is set.
    fn is_empty(&self) -> bool;

    /// The probability law of the filter. For any number of items, the law gives the expected
    /// false-positive rate, or bounds on this rate: see [`FilterOf::law`].
    fn law(&self) -> Box<dyn Law>;

    /// The filter's present false-positive rate: see [`FilterOf::fpr`].
    fn fpr(&self) -> Fpr;

    /// Returns true if the false-positive rate can be computed from the set bits:
    /// see [`FilterOf::fill_tells_rate`].
    fn fill_tells_rate(&self) -> bool;

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

    /// The number of distinct items, estimated from the fill: see [`FilterOf::estimated_items`].
    fn estimated_items(&self) -> Option<f64>;

    /// Returns true if the filter is known to hold more distinct items than it was planned for: see
    /// [`FilterOf::is_over_capacity`]. A filter that grows is over capacity if a merge raised its
    /// rate above the requested rate: see [`ScalableFilter::is_over_capacity`].
    fn is_over_capacity(&self) -> bool;

    /// Checks whether the filter's bits agree with its counts of insertions: see
    /// [`Verification::of`].
    ///
    /// # Errors
    /// Returns the same errors as [`Verification::of`].
    fn verification(&self) -> Result<Verification, Error>;

    /// Starts a measurement of the filter's false-positive rate with random keys: see
    /// [`Measurement::new`].
    fn measurement(&self, seed: u64) -> Measurement<'_>;

    /// Inserts a key that is already hashed. Returns true if the key was certainly new.
    fn insert_hash(&mut self, hash: KeyHash) -> bool;

    /// Returns true if the filter contains a key that is already hashed.
    fn contains_hash(&self, hash: KeyHash) -> bool;

    /// Inserts already hashed keys in the given order, and reports which of them were certainly
    /// new.
    fn insert_all_hashes(&mut self, hashes: &[KeyHash]) -> Answers;

    /// Reports which of these hashed keys are contained.
    fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers;

    /// Removes all keys.
    fn clear(&mut self);

    /// The number of bytes that the filter takes in the file format.
    fn encoded_bytes(&self) -> u64;

    /// Encodes the filter in the file format, and returns the bytes.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    fn to_bytes(&self) -> Result<Vec<u8>, BuildError>;

    /// Writes the filter to a writer, in the file format.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    #[cfg(feature = "std")]
    fn write_to(&self, writer: &mut dyn Write) -> io::Result<()>;

    /// Writes the filter to a file, and replaces the file if it exists: see [`FilterOf::save`].
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::save`].
    #[cfg(feature = "fs")]
    fn save(&self, path: &Path) -> Result<(), FileError>;

    /// Writes the filter to a new file. Nothing may exist at `path` yet: see
    /// [`FilterOf::save_new`].
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::save_new`].
    #[cfg(feature = "fs")]
    fn save_new(&self, path: &Path) -> Result<(), FileError>;

    /// Adds all keys of another filter: see [`FilterOf::union_with`].
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::union_with`].
    fn union_with(&mut self, other: &Self) -> Result<(), MergeError>
    where
        Self: Sized;

    /// Keeps only the bits that are set in both filters: see [`FilterOf::intersect_with`].
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::intersect_with`].
    fn intersect_with(&mut self, other: &Self) -> Result<(), MergeError>
    where
        Self: Sized;

    /// The key's hash.
    #[inline]
    fn hash<K: Key + ?Sized>(&self, key: &K) -> KeyHash
    where
        Self: Sized,
    {
        hash_key(self.hasher(), key)
    }

    /// Inserts a key. Returns true if the key was certainly new.
    #[inline]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool
    where
        Self: Sized,
    {
        self.insert_hash(self.hash(key))
    }

    /// Returns true if the filter contains a key.
    #[inline]
    fn contains<K: Key + ?Sized>(&self, key: &K) -> bool
    where
        Self: Sized,
    {
        self.contains_hash(self.hash(key))
    }

    /// Inserts keys in order, and reports which of them were certainly new.
    fn insert_all<I: IntoIterator<Item: Key>>(&mut self, keys: I) -> Answers
    where
        Self: Sized;

    /// Reports which of the keys are contained.
    fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers
    where
        Self: Sized;
}

/// Implements those methods of the trait that only call the method of the same name on the filter.
/// The macro `$each` selects the filter: the value itself, or the filter inside an `AnyFilter`.
macro_rules! handed_on {
    ($each:ident) => {
        fn bits(&self) -> u64 {
            $each!(self, filter => filter.bits())
        }

        fn probes(&self) -> u32 {
            $each!(self, filter => filter.probes())
        }

        fn hasher(&self) -> &PortableHasher {
            $each!(self, filter => filter.hasher())
        }

        fn capacity(&self) -> Option<u64> {
            $each!(self, filter => filter.capacity())
        }

        fn rate(&self) -> Option<Rate> {
            $each!(self, filter => filter.rate())
        }

        fn offered(&self) -> u64 {
            $each!(self, filter => filter.offered())
        }

        fn changed(&self) -> u64 {
            $each!(self, filter => filter.changed())
        }

        fn is_merged(&self) -> bool {
            $each!(self, filter => filter.is_merged())
        }

        fn is_intersection(&self) -> bool {
            $each!(self, filter => filter.is_intersection())
        }

        fn most_items(&self) -> u64 {
            $each!(self, filter => filter.most_items())
        }

        fn label(&self) -> Option<&str> {
            $each!(self, filter => filter.label())
        }

        fn set_label(&mut self, text: &str) -> bool {
            $each!(self, filter => filter.set_label(text))
        }

        fn ones(&self) -> u64 {
            $each!(self, filter => filter.ones())
        }

        fn fill(&self) -> f64 {
            $each!(self, filter => filter.fill())
        }

        fn is_empty(&self) -> bool {
            $each!(self, filter => filter.is_empty())
        }

        fn law(&self) -> Box<dyn Law> {
            $each!(self, filter => filter.law())
        }

        fn fpr(&self) -> Fpr {
            $each!(self, filter => filter.fpr())
        }

        fn fill_tells_rate(&self) -> bool {
            $each!(self, filter => filter.fill_tells_rate())
        }

        fn expected_fpr(&self) -> Result<Option<Fpr>, Error> {
            $each!(self, filter => filter.expected_fpr())
        }

        fn expected_fpr_at(&self, items: u64) -> Result<Fpr, Error> {
            $each!(self, filter => filter.expected_fpr_at(items))
        }

        fn estimated_items(&self) -> Option<f64> {
            $each!(self, filter => filter.estimated_items())
        }

        fn is_over_capacity(&self) -> bool {
            $each!(self, filter => filter.is_over_capacity())
        }

        fn verification(&self) -> Result<Verification, Error> {
            $each!(self, filter => filter.verified())
        }

        fn measurement(&self, seed: u64) -> Measurement<'_> {
            $each!(self, filter => filter.measured(seed))
        }

        #[inline]
        fn insert_hash(&mut self, hash: KeyHash) -> bool {
            $each!(self, filter => filter.insert_hash(hash))
        }

        #[inline]
        fn contains_hash(&self, hash: KeyHash) -> bool {
            $each!(self, filter => filter.contains_hash(hash))
        }

        fn insert_all_hashes(&mut self, hashes: &[KeyHash]) -> Answers {
            $each!(self, filter => filter.insert_all_hashes(hashes))
        }

        fn contains_all_hashes(&self, hashes: &[KeyHash]) -> Answers {
            $each!(self, filter => filter.contains_all_hashes(hashes))
        }

        fn insert_all<I: IntoIterator<Item: Key>>(&mut self, keys: I) -> Answers {
            $each!(self, filter => filter.insert_all(keys))
        }

        fn contains_all<I: IntoIterator<Item: Key>>(&self, keys: I) -> Answers {
            $each!(self, filter => filter.contains_all(keys))
        }

        fn clear(&mut self) {
            $each!(self, filter => filter.clear())
        }

        fn encoded_bytes(&self) -> u64 {
            self.encoded_bytes()
        }

        fn to_bytes(&self) -> Result<Vec<u8>, BuildError> {
            self.to_bytes()
        }

        #[cfg(feature = "std")]
        fn write_to(&self, writer: &mut dyn Write) -> io::Result<()> {
            self.write_to(writer)
        }

        #[cfg(feature = "fs")]
        fn save(&self, path: &Path) -> Result<(), FileError> {
            self.save(path)
        }

        #[cfg(feature = "fs")]
        fn save_new(&self, path: &Path) -> Result<(), FileError> {
            self.save_new(path)
        }
    };
}

/// Calls a method on the filter itself, for the types with one scheme.
macro_rules! itself {
    ($self:expr, $filter:ident => $value:expr) => {{
        let $filter = $self;
        $value
    }};
}

impl<S: Scheme> Filter for FilterOf<S> {
    handed_on!(itself);

    fn scheme_id(&self) -> SchemeId {
        self.scheme().id()
    }

    fn kind(&self) -> FileKind {
        S::KIND
    }

    fn union_with(&mut self, other: &FilterOf<S>) -> Result<(), MergeError> {
        self.union_with(other)
    }

    fn intersect_with(&mut self, other: &FilterOf<S>) -> Result<(), MergeError> {
        self.intersect_with(other)
    }
}

#[cfg(feature = "growth")]
impl Filter for ScalableFilter {
    handed_on!(itself);

    fn scheme_id(&self) -> SchemeId {
        self.scheme_id()
    }

    fn kind(&self) -> FileKind {
        FileKind::Scalable
    }

    fn union_with(&mut self, other: &ScalableFilter) -> Result<(), MergeError> {
        self.union_with(other)
    }

    fn intersect_with(&mut self, other: &ScalableFilter) -> Result<(), MergeError> {
        self.intersect_with(other)
    }
}

#[cfg(feature = "any")]
impl Filter for AnyFilter {
    handed_on!(each);

    fn scheme_id(&self) -> SchemeId {
        AnyFilter::scheme_id(self)
    }

    fn kind(&self) -> FileKind {
        each!(self, filter => filter.kind())
    }

    fn union_with(&mut self, other: &AnyFilter) -> Result<(), MergeError> {
        self.union_with(other)
    }

    fn intersect_with(&mut self, other: &AnyFilter) -> Result<(), MergeError> {
        self.intersect_with(other)
    }
}
