//! Schemes: how a hash becomes positions.

/// The accessors of every scheme for its fields `bits`, `probes` and `law`.
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
pub(crate) use standard::digit;
pub use standard::{Positions, Standard};
pub(crate) use stream::{WordStream, draw};
#[cfg(feature = "two-hash")]
pub use two_hash::{Cube, Double, DoubleNonzero, Enhanced, PartitionDouble, Progression, Square};

/// The schemes whose positions lie anywhere, each with how batches of its keys go
/// (`bits/spread.rs`): the one list, for macros that generate the same for all.
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

/// The layouts, each by the scheme whose type stands for it, with the name that
/// [`AnyFilter`](crate::AnyFilter) has for a filter of it: the one list, for macros that generate
/// the same for all.
#[cfg(feature = "any")]
macro_rules! layouts {
    ($say:ident $($more:tt)*) => {
        $say! { [
            /// Of the standard scheme.
            Standard of crate::scheme::Standard,
            /// Blocked.
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

/// A map from hashes to positions, for given bits and probes, and the law it obeys.
///
/// The law is the contract: a scheme without an exact law or a proven bound is not offered, and one
/// test holds every scheme to its law. Only this crate can define schemes, because the number in a
/// file must lead to the positions where its keys were put.
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
    /// For `bits` positions, 1 to 2^62, and `probes` per key, 1 to [`MAX_PROBES`].
    ///
    /// # Errors
    /// Bits or probes out of range, or other requirements of the scheme.
    fn new(bits: u64, probes: u32) -> Result<Self, BuildError>;

    /// As [`new`](Self::new), of the scheme with this number.
    ///
    /// # Errors
    /// The type is that of another scheme; otherwise as [`new`](Self::new).
    fn with_id(id: SchemeId, bits: u64, probes: u32) -> Result<Self, BuildError> {
        if id == Self::ID { Self::new(bits, probes) } else { Err(BuildError::Scheme { expected: Self::ID, found: id }) }
    }

    /// The scheme that [`new`](Self::new) makes.
    const ID: SchemeId;

    /// Its number in files: [`ID`](Self::ID), except for [`AnyScheme`].
    fn id(&self) -> SchemeId {
        Self::ID
    }

    /// Number of bits m.
    fn bits(&self) -> u64;

    /// Probes k per key.
    fn probes(&self) -> u32;

    /// The positions of a key, each below the number of bits; not necessarily distinct.
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64>;

    /// Whether `has` is true for all positions of a key. For hot paths, where that is faster than
    /// a decision after each: positions may be asked for after a false, again from the first, or,
    /// with an answer that does not count, if they are not the key's.
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

    /// Hands over every position of a key, for what writes. They may come again from the first.
    #[inline(always)]
    fn each(&self, hash: KeyHash, take: impl FnMut(u64)) {
        self.positions(hash).for_each(take);
    }

    /// The slices whose fills the law asks for, of bits / slices bits each, the first
    /// `bits mod slices` of one more; 1 for most schemes.
    fn slices(&self) -> u32 {
        1
    }

    /// The probability model that the positions obey.
    fn law(&self) -> Box<dyn Law>;
}

/// Positions that are looked up before the first decision to go on: three. One by one, each
/// decision is a coin toss and mispredicted every other time, which costs more than the two
/// accesses that may be too many; those are made at the same time, and the processor goes on to the
/// next key meanwhile.
const TOGETHER: usize = 3;

/// Probes in the range of the file format.
pub(crate) fn check_probes(probes: u32) -> Result<(), BuildError> {
    if (1..=MAX_PROBES).contains(&probes) { Ok(()) } else { Err(BuildError::Probes { found: probes }) }
}
