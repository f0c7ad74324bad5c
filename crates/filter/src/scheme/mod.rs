//! Schemes: how a hash becomes positions.

/// The getters for the fields `bits`, `probes` and `law` of a scheme.
macro_rules! of_fields {
    () => {
        #[inline]
        fn bits(&self) -> u64 {
            self.bits
        }

        #[inline]
        fn probes(&self) -> u32 {
            self.probes
        }

        fn law(&self) -> alloc::boxed::Box<dyn truebloom_math::Law> {
            alloc::boxed::Box::new(Clone::clone(&self.law))
        }
    };
}
#[cfg(feature = "two-hash")]
pub(crate) use of_fields;

mod any;
mod classic;
mod fill;
mod in_lines;
mod partitioned;
mod placed;
mod side_by_side;
mod standard;
mod stream;
#[cfg(feature = "two-hash")]
mod two_hash;

use alloc::boxed::Box;
pub use any::AnyScheme;
pub use classic::{Classic, DistinctPositions};
pub use fill::FillScheme;
pub use in_lines::InLines;
pub use partitioned::Partitioned;
pub(crate) use placed::{Batches, Doing, Placed, Storage};
pub(crate) use side_by_side::SideBySide;
pub use standard::{Positions, Standard};
pub(crate) use stream::{WordStream, digit};
#[cfg(feature = "two-hash")]
pub use two_hash::{Cube, Double, DoubleNonzero, Enhanced, PartitionDouble, Progression, Square};

/// Calls the macro `$say` with a list of all schemes whose positions are spread over the whole
/// filter, so that the macro generates the same code for each scheme. The list names each scheme
/// with its implementation of batches (`bits/spread.rs`).
macro_rules! spread_schemes {
    ($say:ident) => {
        $say! {
            Standard by Probing,
            Classic by OneByOne,
            Partitioned by OneByOne,
            #[cfg(feature = "two-hash")]
            Double by OneByOne,
            #[cfg(feature = "two-hash")]
            DoubleNonzero by OneByOne,
            #[cfg(feature = "two-hash")]
            Square by OneByOne,
            #[cfg(feature = "two-hash")]
            Cube by OneByOne,
            #[cfg(feature = "two-hash")]
            Enhanced by OneByOne,
            #[cfg(feature = "two-hash")]
            PartitionDouble by OneByOne,
        }
    };
}
pub(crate) use spread_schemes;

/// Calls the macro `$say` with a list of all layouts, so that the macro generates the same code for
/// each layout. The list names the layout's variant in [`AnyFilter`](crate::AnyFilter) and the type
/// of its scheme.
#[cfg(feature = "any")]
macro_rules! layouts {
    ($say:ident $($more:tt)*) => {
        $say! { [
            /// A filter of the standard scheme.
            Standard of crate::scheme::Standard,
            /// A blocked filter.
            Blocked of crate::scheme::InLines,
        ] $($more)* }
    };
}
#[cfg(feature = "any")]
pub(crate) use layouts;

use crate::MAX_PROBES;
use crate::error::BuildError;
use crate::hash::KeyHash;
use core::fmt;
use truebloom_math::Law;
pub use truebloom_math::SchemeId;

/// A scheme maps the hash of a key to positions, for given numbers of bits and probes.
///
/// The [`law`](Self::law) of a scheme computes its false-positive rates, exactly or as proven
/// bounds. Tests compare every scheme with its law.
///
/// Only this crate can define schemes. A file identifies its scheme only by a number
/// ([`SchemeId`]). So this number must select the same positions in every program that opens the
/// file.
///
/// ```compile_fail
/// use truebloom::scheme::{Scheme, SchemeId};
/// use truebloom::{BuildError, KeyHash, truebloom_math::{Law, law}};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Mine { bits: u64, probes: u32 }
///
/// impl Scheme for Mine {
///     const ID: SchemeId = SchemeId::Standard;
///     fn new(bits: u64, probes: u32) -> Result<Mine, BuildError> { Ok(Mine { bits, probes }) }
///     fn bits(&self) -> u64 { self.bits }
///     fn probes(&self) -> u32 { self.probes }
///     fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> { [u128::from(hash) as u64 % self.bits].into_iter() }
///     fn law(&self) -> Box<dyn Law> { Box::new(law::Standard::new(self.bits, self.probes).unwrap()) }
/// }
/// ```
pub trait Scheme: Placed + Clone + PartialEq + fmt::Debug + Send + Sync {
    /// Makes the scheme. `bits` is the number of bits, from 1 to 2^62. `probes` is the number of
    /// probes per key, from 1 to [`MAX_PROBES`].
    ///
    /// # Errors
    /// Returns an error if `bits` or `probes` is out of range, or violates other requirements of
    /// the scheme.
    fn new(bits: u64, probes: u32) -> Result<Self, BuildError>;

    /// Makes the scheme with the number `id`. [`AnyScheme`] accepts several numbers. Any other type
    /// accepts only its own [`ID`](Self::ID).
    ///
    /// # Errors
    /// Returns the same errors as [`new`](Self::new). Also returns an error if the type does not
    /// accept `id`.
    fn with_id(id: SchemeId, bits: u64, probes: u32) -> Result<Self, BuildError> {
        if id == Self::ID { Self::new(bits, probes) } else { Err(BuildError::Scheme { expected: Self::ID, found: id }) }
    }

    /// The scheme's number. The method [`new`](Self::new) makes the scheme that this number
    /// identifies.
    const ID: SchemeId;

    /// The number that identifies the scheme in files. For [`AnyScheme`], this is the number of the
    /// selected scheme. For all other types, this is [`ID`](Self::ID).
    fn id(&self) -> SchemeId {
        Self::ID
    }

    /// The number of bits, m.
    fn bits(&self) -> u64;

    /// The number of probes per key, k.
    fn probes(&self) -> u32;

    /// The positions of a key. Each position is below the number of bits. Two positions of a key
    /// may be equal.
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64>;

    /// Tests whether the function `has` returns true for every position of a key.
    ///
    /// For speed, this method may call `has` more often than necessary. For example, this method
    /// may pass the same position twice, or go on after `has` returns false. This method may also
    /// pass positions that do not belong to the key. Such calls do not affect the result.
    #[inline(always)]
    fn all(&self, hash: KeyHash, has: impl Fn(u64) -> bool) -> bool {
        let mut positions = self.positions(hash);
        loop {
            let mut all = true;
            for _ in 0..TOGETHER {
                let Some(position) = positions.next() else { return all };
                all &= has(position);
            }
            if !all {
                return false;
            }
        }
    }

    /// Calls the function `take` with every position of a key, and with no other positions. The
    /// method may pass the same position several times.
    #[inline(always)]
    fn each(&self, hash: KeyHash, take: impl FnMut(u64)) {
        self.positions(hash).for_each(take);
    }

    /// The number of slices into which the filter is divided. Most schemes have a single slice. To
    /// compute false-positive rates, [`law`](Self::law) needs the number of set bits in each slice.
    ///
    /// Each slice has `bits / slices` bits, rounded down. If the division leaves a remainder, each
    /// of the first `bits mod slices` slices has one more bit.
    fn slices(&self) -> u32 {
        1
    }

    /// The probability law of the positions, which computes false-positive rates.
    fn law(&self) -> Box<dyn Law>;
}

/// How many positions are looked up before the first branch. A branch after each position would be
/// mispredicted every other time. Up to two unnecessary accesses cost less than such a branch,
/// because they overlap with each other and with the accesses of the next key.
const TOGETHER: usize = 3;

/// Checks that the number of probes is allowed by the file format.
pub(crate) fn check_probes(probes: u32) -> Result<(), BuildError> {
    if (1..=MAX_PROBES).contains(&probes) { Ok(()) } else { Err(BuildError::Probes { found: probes }) }
}
