//! Count-Min sketches count how often each key occurred, in a fixed amount of memory. An estimate
//! can be too high. An estimate cannot be too low, unless counters have reached their highest
//! value.
//!
//! | | |
//! |---|---|
//! | [`CountMin`] | every row has an independent hash function; the usual choice |
//! | [`TwoHashCountMin`] | the rows share hash functions: less hashing than [`CountMin`], but about twice as many counters |
//! | [`PairwiseCountMin`] | for integers: the hash functions are proven to be pairwise independent |
//! | [`HeavyHitters`] | a sketch with a list of the most frequent keys; [`ListedSketch`] is the same for other types of rows |
//! | [`DyadicCountMin`] | counts of ranges of integers |
//!
//! # What is proven
//! An estimate of a key's count is at least the true count. The only exception is an estimate that
//! is marked as [`saturated`](Estimate::saturated), because all counters of the key have reached
//! their highest value.
//!
//! The parameters `epsilon` and `delta` describe the accuracy of a sketch. Let `N` be the sum of
//! all counts. For a key chosen without knowing the seed, the estimate exceeds the count by more
//! than `epsilon * N` with a probability of at most `delta`. [`Sketch::error_bound`] computes a
//! bound from the present counters. This bound is usually far below `epsilon * N`.
//!
//! The bounds hold for a single key, not for all keys at once. If you query a thousand keys with a
//! delta of 1/1000, on average at most one error exceeds its bound.
//!
//! An attacker who knows the seed can choose keys that make an estimate arbitrarily high. For
//! untrusted keys, use [`PortableHasher::sip13`] and keep the seed secret.
//!
//! ```
//! use truebloom::count_min::CountMin;
//! // Too high by more than 0.1% of the stream's length with a probability of at most 1%.
//! let mut counts: CountMin = CountMin::new("0.001".parse()?, "1%".parse()?)?;
//! for word in "to be or not to be".split(' ') {
//!     counts.add(word, 1);
//! }
//! let to = counts.estimate("to");
//! assert!(to.value >= 2 && !to.saturated);
//! let error = counts.error_bound(&"1%".parse()?);
//! println!("`to` came {} to {} times", to.value - error.least(), to.value);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounds;
mod bulk;
mod dyadic;
mod file;
mod hashes;
mod heavy;
mod heavy_stored;
mod merge;
mod stored;
mod walk;

pub use crate::backing::Counter;
use alloc::vec::Vec;
pub use bounds::ErrorBound;
pub use dyadic::DyadicCountMin;
pub use hashes::{FullRows, PairwiseRows, RowHashes, TwoHashRows};
pub use heavy::{HeavyHitter, HeavyHitters, ListedSketch};
pub use merge::InnerProduct;

use crate::backing::{Backing, Counted, Owned, View};
use crate::error::BuildError;
use crate::hash::{KeyHash, KeyHasher, PortableHasher, hash_key};
use crate::key::Key;
use crate::word::Lies;
use crate::{MAX_PROBES, arch};
use core::fmt;
use truebloom_math::Rate;
use truebloom_math::count_min::Shape;

/// A Count-Min sketch with an independent hash function for every row.
pub type CountMin<C = u64> = Sketch<FullRows, C>;

/// A Count-Min sketch for integers, with hash functions that are proven to be pairwise independent:
/// see [`PairwiseRows`].
pub type PairwiseCountMin<C = u64> = Sketch<PairwiseRows, C>;

/// A Count-Min sketch whose rows share hash functions: see [`TwoHashRows`].
pub type TwoHashCountMin<C = u64> = Sketch<TwoHashRows, C>;

/// Rows of counters. A key has one counter in each row. Counting the key raises its counters. The
/// estimate of the key's count is the smallest of the key's counters.
///
/// `R` determines which counter a key has in each row. `C` is the type of the counters, `u32` or
/// `u64`. A counter that reaches its highest value keeps this value. If all counters of a key have
/// reached the highest value, the estimate of the key's count is marked as
/// [`saturated`](Estimate::saturated). The [module](self) documentation states the proven bounds.
///
/// `K` determines where the counters are stored: in the sketch's own memory, or in existing bytes
/// ([`view`](Sketch::view)).
pub struct Sketch<R: RowHashes, C: Counter = u64, K: Backing = Owned> {
    hasher: PortableHasher,
    shape: Shape,
    hashes: R,
    /// The counters, row by row.
    counters: K::Cells<C>,
    /// The sum of all counts. [`halve`](Sketch::halve) rounds the sum up.
    total: u64,
    conservative: bool,
    rounded: u64,
}

/// An estimate of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Estimate {
    /// The estimate. Unless the estimate is saturated, it is at least the true count. After
    /// [`halve`](Sketch::halve), the estimate is at least the halved count, rounded down.
    pub value: u64,
    /// Whether all counters of the key reached their highest value. The true count can then be
    /// higher than `value`, and has no upper bound.
    pub saturated: bool,
}

/// Makes `count` counters that are 0. The system provides each page of their memory when it is
/// first used.
fn zeroed<C: Counter>(count: u128) -> Result<Vec<C>, BuildError> {
    let refuse = || BuildError::Counters { bytes: count.saturating_mul(C::BYTES.into()) };
    usize::try_from(count).ok().and_then(arch::zeroed_vec).ok_or_else(refuse)
}

impl<R: RowHashes, C: Counter> Sketch<R, C> {
    /// A sketch with a random seed. With probability at least `1 - delta`, an estimate exceeds the
    /// true count by at most `epsilon` times the sum of all counts.
    ///
    /// [`Shape::for_error`] computes the size of the sketch.
    ///
    /// # Errors
    /// Returns an error if no sketch can reach `epsilon` and `delta`, if the memory cannot be
    /// allocated, or if the system provides no random numbers.
    #[cfg(feature = "random")]
    pub fn new(epsilon: Rate, delta: Rate) -> Result<Sketch<R, C>, BuildError> {
        Sketch::with_hasher(epsilon, delta, PortableHasher::random()?)
    }

    /// Like [`new`](Self::new), with a hasher that you choose, such as one with a known seed or one
    /// for untrusted keys.
    ///
    /// # Errors
    /// Returns the same errors as [`new`](Self::new), but never fails for lack of random numbers.
    pub fn with_hasher(epsilon: Rate, delta: Rate, hasher: PortableHasher) -> Result<Sketch<R, C>, BuildError> {
        Sketch::with_shape(Shape::for_error(&epsilon, &delta, R::ROWS)?, hasher)
    }

    /// An empty sketch of the given size.
    ///
    /// # Errors
    /// Returns an error if [`shape.rows()`](Shape::rows) differs from [`R::ROWS`](RowHashes::ROWS).
    /// Returns an error if the shape has more than [`MAX_PROBES`] rows, or a width above 2^62 (2^40
    /// for [`PairwiseRows`]). Also returns an error if the memory cannot be allocated.
    pub fn with_shape(shape: Shape, hasher: PortableHasher) -> Result<Sketch<R, C>, BuildError> {
        let hashes = checked_hashes(&shape, hasher)?;
        Ok(Sketch { hasher, shape, hashes, counters: zeroed(shape.cells())?, total: 0, conservative: false, rounded: 0 })
    }

    /// From now on, every addition is a conservative update. When a key is counted, the new
    /// estimate of its count is the old estimate plus the added count. Each of the key's counters
    /// that is below the new estimate is raised to it. The other counters stay the same.
    ///
    /// Estimates are then usually lower than without conservative update. All bounds still hold,
    /// even after a [`merge`](Self::merge). There are two drawbacks. A merged sketch can differ
    /// from a sketch that counts both streams, and [`inner_product`](Self::inner_product) returns
    /// an error.
    #[must_use]
    pub fn with_conservative_update(mut self) -> Sketch<R, C> {
        self.conservative = true;
        self
    }

    /// Adds `count` to the count of a key. The key is hashed once, and one counter in each row is
    /// accessed. With [conservative update](Self::with_conservative_update), each of these counters
    /// is accessed twice.
    #[inline]
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, count: u64) {
        self.add_hash(self.hash(key), count);
    }

    /// Like [`add`](Self::add), for a key that is already hashed.
    #[inline]
    pub fn add_hash(&mut self, hash: KeyHash, count: u64) {
        let raised = if self.conservative { self.smallest(hash).plus(count) } else { C::default() };
        for cell in self.hashes.cells(hash) {
            if let Some(counter) = self.counters.get_mut(cell as usize) {
                *counter = if self.conservative { raised.max(*counter) } else { counter.plus(count) };
            }
        }
        self.total = self.total.saturating_add(count);
    }

    /// Sets all counts to 0. The time is linear in the number of counters.
    pub fn clear(&mut self) {
        self.counters.fill(C::default());
        (self.total, self.rounded) = (0, 0);
    }

    /// Divides all counts by 2 and rounds down. If you call this method at regular intervals, old
    /// counts lose half of their weight in each interval.
    ///
    /// After this call, an estimate is at least the halved count, rounded down. The bounds that
    /// [`error_bound`](Self::error_bound) returns are higher by 1, because of this rounding. If
    /// halved sketches are merged, they are higher by the number of these sketches.
    /// Counters at their highest value are not halved. The time is linear in the number of
    /// counters.
    pub fn halve(&mut self) {
        self.counters.iter_mut().for_each(|counter| *counter = counter.half());
        // The total is rounded up, because the bounds need a total that is at least the sum of the
        // halved counts.
        self.total = if self.total == u64::MAX { u64::MAX } else { self.total.div_ceil(2) };
        // Half of what was lost before, and at most one half more.
        self.rounded = (self.rounded / 2) + 1;
    }
}

impl<R: RowHashes, C: Counter, K: Backing> Sketch<R, C, K> {
    /// An upper bound on how often a key occurred, unless the estimate is
    /// [`saturated`](Estimate::saturated). The key is hashed once, and one counter in each row is
    /// read.
    #[inline]
    pub fn estimate<Q: Key + ?Sized>(&self, key: &Q) -> Estimate {
        self.estimate_hash(self.hash(key))
    }

    /// The key's hash. The hash can be passed to [`add_hash`](Self::add_hash) and
    /// [`estimate_hash`](Self::estimate_hash) of all sketches with the same hasher and seed.
    #[inline]
    pub fn hash<Q: Key + ?Sized>(&self, key: &Q) -> KeyHash {
        hash_key(&self.hasher, key)
    }

    /// Like [`estimate`](Self::estimate), for a key that is already hashed.
    #[inline]
    pub fn estimate_hash(&self, hash: KeyHash) -> Estimate {
        let smallest = self.smallest(hash);
        Estimate { value: smallest.into_u64(), saturated: smallest == C::HIGHEST }
    }

    #[inline]
    fn smallest(&self, hash: KeyHash) -> C {
        let counters = &self.counters[..];
        let cells = self.hashes.cells(hash).filter_map(|cell| counters.get(cell as usize));
        cells.fold(C::HIGHEST, |least, counter| least.min(counter.get()))
    }

    /// The sum of all counts. After [`halve`](Self::halve), the result is an upper bound on the sum
    /// of the halved counts. If the result is 2^64 - 1, the true sum can be higher.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The size of the sketch: the number of copies, the number of rows in each copy (the depth),
    /// and the number of counters in each row (the width). A sketch with independent rows has one
    /// copy.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The hasher, with its seed.
    pub fn hasher(&self) -> &PortableHasher {
        &self.hasher
    }

    /// Returns true if this sketch, or a sketch that was merged into it, uses conservative update.
    pub fn is_conservative(&self) -> bool {
        self.conservative
    }

    /// Returns true if the counts of this sketch, or of a sketch that was merged into it, were
    /// halved. After [`clear`](Sketch::clear), the result is false.
    pub fn is_halved(&self) -> bool {
        self.rounded > 0
    }
}

impl<R: RowHashes, C: Counter, K: Counted> Sketch<R, C, K> {
    /// Returns true if any counter has reached its highest value. The time is linear in the number
    /// of counters.
    pub fn is_saturated(&self) -> bool {
        self.counters.iter().any(|counter| counter.get() == C::HIGHEST)
    }
}

/// A read-only sketch that uses existing bytes without copying them. `B` is the type of the bytes,
/// for example `&[u8]` or `Vec<u8>`. The method `view` of `Sketch` makes such a sketch.
pub type SketchView<B, R = FullRows, C = u64> = Sketch<R, C, View<B>>;

impl<R: RowHashes, C: Counter, K: Backing> Clone for Sketch<R, C, K>
where
    K::Cells<C>: Clone,
{
    fn clone(&self) -> Sketch<R, C, K> {
        Sketch { hashes: self.hashes.clone(), counters: self.counters.clone(), ..*self }
    }
}

impl<R: RowHashes, C: Counter, K: Backing> PartialEq for Sketch<R, C, K> {
    fn eq(&self, other: &Sketch<R, C, K>) -> bool {
        let alike = (self.hasher, self.shape, self.total) == (other.hasher, other.shape, other.total) && self.hashes == other.hashes;
        alike && (self.conservative, self.rounded) == (other.conservative, other.rounded) && self.counters[..] == other.counters[..]
    }
}

/// Makes the hash functions for a shape. Returns an error if no sketch can have this shape.
fn checked_hashes<R: RowHashes>(shape: &Shape, hasher: PortableHasher) -> Result<R, BuildError> {
    if shape.all_rows() > MAX_PROBES.into() {
        return Err(BuildError::Rows { found: shape.all_rows() });
    }
    if shape.rows() != R::ROWS {
        return Err(BuildError::RowHashes { found: shape.rows(), expected: R::ROWS });
    }
    R::new(shape, hasher.seed())
}

impl<R: RowHashes, C: Counter, K: Backing> fmt::Debug for Sketch<R, C, K> {
    /// Formats the parameters of the sketch, but not its counters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sketch")
            .field("shape", &self.shape)
            .field("hasher", &self.hasher)
            .field("total", &self.total)
            .field("conservative", &self.conservative)
            .field("halved", &self.is_halved())
            .finish_non_exhaustive()
    }
}
