//! Laws: the probability models of the schemes.
//!
//! A *scheme* turns a hash into positions. The *law* of a scheme gives the resulting false-positive
//! rate. Every scheme has a [`Law`]. The tests of the filter crate check each scheme against its
//! law.

mod block_fills;
mod blocked;
mod classic;
#[cfg(feature = "two-hash")]
pub mod convergence;
#[cfg(feature = "two-hash")]
pub(crate) mod double;
pub(crate) mod fill;
pub(crate) mod inclusion;
mod layered;
pub(crate) mod mixture;
#[cfg(feature = "two-hash")]
mod partition_double;
mod partitioned;
pub(crate) mod ratios;
pub(crate) mod registry;
#[cfg(feature = "study")]
pub mod sets;
#[cfg(feature = "two-hash")]
pub mod simulation;
pub(crate) mod slices;
mod standard;
mod two_blocks;
#[cfg(feature = "two-hash")]
mod unproven;

use alloc::boxed::Box;
use alloc::vec::Vec;
use alloc::{format, vec};
pub use blocked::{Blocked, InBlock};
pub use classic::Classic;
#[cfg(feature = "two-hash")]
pub use double::{Double, Offsets, Step};
pub use fill::Fill;
pub use layered::{Layer, Layered};
#[cfg(feature = "two-hash")]
pub use partition_double::PartitionDouble;
pub use partitioned::Partitioned;
pub use registry::{BLOCK_BITS, BLOCK_PROBES, Layout, SchemeId};
pub use standard::Standard;

use crate::error::{check_bits, check_probes, out_of_range};
use crate::exact::enclosure::{Enclose, HashFloor};
use crate::exact::work;
use crate::{Error, Fpr, Rate, Result};
use core::fmt;
use core::str::FromStr;
use inclusion::{Inclusion, Items, Query};
use slices::Slices;

/// The probability model of a filter with a given number of bits and probes.
///
/// The trait is sealed: only this crate can implement the trait. A law returns brackets (lower and
/// upper bounds), and plans and guarantees rely on these brackets. New methods may be added to the
/// trait without a breaking change.
///
/// ```compile_fail,E0277
/// use truebloom_math::{Fill, Fpr, Law, Result};
///
/// struct Mine;
///
/// impl Law for Mine {
///     fn bits(&self) -> u64 { 64 }
///     fn probes(&self) -> u32 { 1 }
///     fn fpr(&self, _: u64) -> Result<Fpr> { Ok(Fpr::ZERO) }
///     fn fpr_at_fill(&self, _: &[u64]) -> Result<Option<Fpr>> { Ok(None) }
///     fn fill(&self, _: u64) -> Result<Option<Fill>> { Ok(None) }
/// }
/// ```
pub trait Law: sealed::Sealed + Send + Sync {
    /// Returns the number of bits of the filter, m.
    fn bits(&self) -> u64;

    /// Returns the number of probes per item, k.
    fn probes(&self) -> u32;

    /// Returns the expected false-positive rate, over all seeds, of a filter that holds `items`
    /// distinct items. The [`Method`](crate::Method) of the result says whether the rate is exact,
    /// lies between proven bounds, is simulated, or is approximate.
    ///
    /// # Errors
    /// Fails if computing the rate would take too much work, which happens only with hundreds of
    /// probes.
    fn fpr(&self, items: u64) -> Result<Fpr>;

    /// Returns the expected rate with a proven bracket (a lower and an upper bound). The bracket
    /// can be wider than the bracket of a rate that is computed exactly. The result is `None` if
    /// there is no proven bracket. A guarantee is never based on a rate without a proven bracket.
    ///
    /// # Errors
    /// Fails as [`fpr`](Self::fpr) does.
    fn proven(&self, items: u64) -> Result<Option<Fpr>> {
        self.fpr(items).map(Some)
    }

    /// Returns the rate of one filter, computed from its counts of set bits. `ones` has one count
    /// per slice or layer, or a single count for a filter without slices and layers. The result is
    /// `None` if the counts do not determine the rate.
    ///
    /// # Errors
    /// Fails if the number of counts is wrong, or if a count exceeds the size in bits of its slice,
    /// layer or filter.
    fn fpr_at_fill(&self, ones: &[u64]) -> Result<Option<Fpr>>;

    /// Returns the mean, the variance and tail bounds of the number of set bits after `items`
    /// distinct items. The result is `None` if they are not known.
    ///
    /// # Errors
    /// Fails if computing the mean or the variance would take too much work, which happens only
    /// with hundreds of probes.
    fn fill(&self, items: u64) -> Result<Option<Fill>>;

    /// Returns whether a filter with `items` distinct items is proven to meet `rate`. A new key
    /// with the same hash as an item is a false positive, too. So [`hash_floor`], a bound on the
    /// probability of equal hashes, is added to the expected rate. The filter meets `rate` if the
    /// sum is at most `rate`.
    ///
    /// For the laws of the three [`Variant`]s, the comparison is exact. The default implementation
    /// does not use the expected rate. It adds [`hash_floor`] to the upper end of the proven
    /// bracket, and requires that the sum is below `rate`. So the default implementation can return
    /// false for a filter that meets `rate`.
    ///
    /// # Errors
    /// Fails as [`fpr`](Self::fpr) does.
    fn meets(&self, items: u64, rate: &Rate, hash_bits: u32) -> Result<bool> {
        let Some(mut fpr) = self.proven(items)? else { return Ok(false) };
        fpr.add_above(hash_floor(items, hash_bits));
        Ok(fpr.upper < rate.to_f64())
    }

    /// Returns the terms that equal hashes and dependent positions add to the rate. Without these
    /// terms, the rate would be that of a filter with independent positions. The result has one
    /// [`Floor`] for each cause. Every scheme has the term for equal hashes, which does not depend
    /// on the number of bits. If the positions of a key depend on each other, there are further
    /// terms, which tend to 0 as the number of bits grows.
    fn floors(&self, items: u64, hash_bits: u32) -> Vec<Floor> {
        vec![Floor { cause: EQUAL_HASHES, rate: hash_floor(items, hash_bits) }]
    }
}

/// Restricts the types that can implement [`Law`].
mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Standard {}
    impl Sealed for super::Classic {}
    impl Sealed for super::Partitioned {}
    #[cfg(feature = "two-hash")]
    impl Sealed for super::Double {}
    #[cfg(feature = "two-hash")]
    impl Sealed for super::PartitionDouble {}
    impl Sealed for super::Blocked {}
    impl Sealed for super::Layered {}
}

/// The name of the term for equal hashes, which every scheme has.
pub(crate) const EQUAL_HASHES: &str = "equal hashes";

/// An amount that is added to the rate of a filter because of equal hashes or dependent positions
/// (see [`Law::floors`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// The reason for this amount, for example `equal hashes`.
    pub cause: &'static str,
    /// The amount added to the rate. The amount is an upper bound if the cause is `equal hashes`,
    /// `equal pairs of hashes` or `reversed progressions`. For all other causes, the amount is a
    /// first-order approximation.
    pub rate: f64,
}

/// Returns `items / 2^hash_bits`, which is an upper bound on the probability that a new key has the
/// same hash as one of the items.
#[must_use]
pub fn hash_floor(items: u64, hash_bits: u32) -> f64 {
    // Above 2^53, the conversion to `f64` can round down.
    let items = if items > 1 << 53 { (items as f64).next_up() } else { items as f64 };
    libm::scalbn(items, -i32::try_from(hash_bits).unwrap_or(i32::MAX))
}

/// The standard, the classic and the partitioned filter. This crate computes exact rates and plans
/// for all three. In the descriptions below, k is the number of probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Each item has k independent positions, which can coincide. This is the usual filter with k
    /// hash functions.
    Standard,
    /// Each item has k distinct positions (Bloom 1970).
    Classic,
    /// Each item has one position in each of k slices. The first `bits mod probes` slices are one
    /// bit longer than the others.
    Partitioned,
}

impl Variant {
    /// All variants.
    pub const ALL: [Variant; 3] = [Variant::Standard, Variant::Classic, Variant::Partitioned];

    /// Returns the usual name of the variant.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Variant::Standard => "standard",
            Variant::Classic => "classic",
            Variant::Partitioned => "partitioned",
        }
    }

    /// Returns the [`Law`] of filters with `bits` bits and `probes` probes per item.
    ///
    /// # Errors
    /// Fails if a parameter is out of range. Bits must be from 1 to 2^62, and probes from 1 to
    /// 100,000. For [`Variant::Classic`] and [`Variant::Partitioned`], the number of probes must be
    /// at most the number of bits.
    pub fn law(self, bits: u64, probes: u32) -> Result<Box<dyn Law>> {
        Ok(match self {
            Variant::Standard => Box::new(Standard::new(bits, probes)?),
            Variant::Classic => Box::new(Classic::new(bits, probes)?),
            Variant::Partitioned => Box::new(Partitioned::new(bits, probes)?),
        })
    }

    /// Returns the largest number of probes that is possible with `bits` bits.
    #[must_use]
    pub fn max_probes(self, bits: u64) -> u32 {
        match self {
            Variant::Standard => crate::MAX_PROBES,
            _ => u32::try_from(bits).unwrap_or(u32::MAX).min(crate::MAX_PROBES),
        }
    }

    /// The smallest number of bits that allows this number of probes.
    pub(crate) fn least_bits(self, probes: u32) -> u64 {
        if self == Variant::Standard { 1 } else { u64::from(probes) }
    }

    /// The expected rate, in a form that can be compared exactly with another number. There must be
    /// at least one item.
    pub(crate) fn expected(self, bits: u64, items: u64, probes: u32) -> Result<Box<dyn Enclose>> {
        self.check(bits, probes)?;
        if items == 0 {
            return out_of_range("items", items, "at least 1");
        }
        Ok(match self {
            Variant::Standard => Box::new(Inclusion { query: Query::Independent, placement: Items::Independent, bits, items, probes }),
            Variant::Classic => Box::new(Inclusion { query: Query::Distinct, placement: Items::Distinct, bits, items, probes }),
            Variant::Partitioned => Box::new(Slices { bits, items, probes }),
        })
    }

    /// Returns the expected false-positive rate of a filter with `bits` bits, `items` distinct
    /// items and `probes` probes.
    ///
    /// The result contains a bracket: a lower and an upper bound on the rate. The bracket is proven
    /// for all parameters. The two bounds differ by at most two units in the last place of an
    /// `f64`. The computation takes a few microseconds for ordinary parameters. For up to 64 probes
    /// and up to 2^40 bits, the computation takes less than a millisecond.
    ///
    /// ```
    /// use truebloom_math::Variant;
    /// let fpr = Variant::Standard.fpr(9_593, 1_000, 7)?;
    /// assert!(fpr.lower <= fpr.value && fpr.value <= fpr.upper);
    /// assert_eq!(format!("{:.6e}", fpr.value), "1.000879e-2");
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if a parameter is out of range. With hundreds of probes, the computation can also take
    /// too much work and fail with [`Error::TooCostly`] or [`Error::TooLong`].
    pub fn fpr(self, bits: u64, items: u64, probes: u32) -> Result<Fpr> {
        let _work = work::begin();
        self.check(bits, probes)?;
        if items == 0 {
            return Ok(Fpr::ZERO);
        }
        // One item sets all bits if there is only one bit, or if an item has as many distinct (or
        // sliced) positions as the filter has bits.
        if bits == 1 || (self != Variant::Standard && u64::from(probes) == bits) {
            return Ok(Fpr::ONE);
        }
        self.expected(bits, items, probes)?.fpr()
    }

    /// Whether the expected rate is at most `rate`. If a hash width is given, the bound on equal
    /// hashes is added to the expected rate. The decision is exact, and the result is true if the
    /// two are equal.
    pub(crate) fn meets(self, bits: u64, items: u64, probes: u32, rate: &Rate, hash_bits: Option<u32>) -> Result<bool> {
        if items == 0 {
            return Ok(true);
        }
        let floor = hash_bits.map(|hash_bits| HashFloor { items, hash_bits });
        self.expected(bits, items, probes)?.at_most(rate, floor)
    }

    pub(crate) fn check(self, bits: u64, probes: u32) -> Result<()> {
        check_bits(bits)?;
        check_probes(probes)?;
        if probes > self.max_probes(bits) {
            return out_of_range("probes", probes, format!("at most the number of bits ({bits}) for a {self} filter"));
        }
        Ok(())
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Variant {
    type Err = Error;

    fn from_str(text: &str) -> Result<Variant> {
        let found = Variant::ALL.into_iter().find(|variant| variant.name() == text);
        found.map_or_else(|| out_of_range("variant", text, "standard, classic or partitioned"), Ok)
    }
}
