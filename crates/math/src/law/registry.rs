//! The list of schemes. Each scheme has a number in files, a name, a law, a layout and the
//! guarantees that it supports.

use crate::error::out_of_range;
use crate::law::{Blocked, Classic, InBlock, Law, Partitioned, Standard};
#[cfg(feature = "two-hash")]
use crate::law::{Double, Offsets, PartitionDouble, Step};
use crate::{Error, Result, Variant};
use alloc::boxed::Box;
use alloc::format;
use core::fmt;
use core::str::FromStr;

/// The number of bits in a block of [`SchemeId::Blocked`]. A block is a cache line of 64 bytes.
pub const BLOCK_BITS: u64 = 512;

/// The largest number of probes per key in a block of [`SchemeId::Blocked`].
pub const BLOCK_PROBES: u32 = 64;

/// The end of the error message for a two-hash scheme in a build without two-hash schemes. It
/// follows the words "must be".
#[cfg(not(feature = "two-hash"))]
pub(crate) const LEFT_OUT: &str = "a scheme with independent positions, or the crate must be built with the feature `two-hash`";

/// Generates [`SchemeId`] from a single list. Every scheme in the list has a number in files and a
/// name.
macro_rules! schemes {
    ($($(#[$doc:meta])* $scheme:ident = $number:literal, $name:literal;)*) => {
        /// A scheme: how a hash determines the positions of a key. In the two-hash schemes, h1 and
        /// h2 are two numbers computed from the hash, and i = 0, 1, .. is the index of the probe.
        /// Files store a scheme as the number of its variant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum SchemeId {
            $($(#[$doc])* $scheme = $number,)*
        }

        impl SchemeId {
            /// All schemes.
            pub const ALL: [SchemeId; [$($number),*].len()] = [$(SchemeId::$scheme),*];

            /// Returns the scheme's name in reports and on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(SchemeId::$scheme => $name,)*
                }
            }
        }
    };
}

schemes! {
    /// k independent positions, where k is the number of probes.
    Standard = 11, "standard";
    /// k distinct positions, where k is the number of probes.
    Classic = 2, "classic";
    /// One independent position in each of k slices, where k is the number of probes.
    Partitioned = 3, "partitioned";
    /// Probe i is at `h1 + i h2` modulo the number of bits, where h1 and h2 are two hashes of the
    /// key. h2 may be 0.
    Double = 4, "double";
    /// Probe i is at `h1 + i h2` modulo the number of bits, where h1 and h2 are two hashes of the
    /// key. h2 is not 0.
    DoubleNonzero = 5, "double-nonzero";
    /// Probe i is at `h1 + i h2 + i^2` modulo the number of bits, where h1 and h2 are two hashes of
    /// the key.
    Square = 6, "square";
    /// Probe i is at `h1 + i h2 + i^3` modulo the number of bits, where h1 and h2 are two hashes of
    /// the key.
    Cube = 7, "cube";
    /// Probe i is at `h1 + i h2 + (i^3 - i) / 6` modulo the number of bits, where h1 and h2 are two
    /// hashes of the key.
    Enhanced = 8, "enhanced";
    /// Probe i is in slice i, at `h1 + i h2` modulo the number of bits of the slice, where h1 and
    /// h2 are two hashes of the key.
    PartitionDouble = 9, "partition-double";
    /// k independent positions in one block of [`BLOCK_BITS`] bits, where k is the number of
    /// probes.
    Blocked = 12, "blocked";
}

const _: () = {
    let mut index = 0;
    while index < SchemeId::ALL.len() {
        let is_taken = matches!(SchemeId::ALL[index] as u16, 1 | 10 | 13);
        assert!(!is_taken, "1 and 10 were those of drafts; 13 is the walk of sketches, which stands in the same field of a file");
        index += 1;
    }
};

/// Where the positions of a key are in the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Layout {
    /// The positions of a key can be anywhere in the filter.
    Spread,
    /// All positions of a key are in a single block, so that a lookup reads one cache line.
    Lines,
    /// A request to choose one of the other two layouts. [`Layout::Lines`] is chosen if that layout
    /// needs at most a tenth more bits than [`Layout::Spread`]. Otherwise, [`Layout::Spread`] is
    /// chosen. Only a [`Target`](crate::Target) can have the value `Auto`. A plan contains the
    /// layout that was chosen for it.
    Auto,
}

impl Layout {
    /// Returns the layout's name: `spread`, `lines` or `auto`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Layout::Spread => "spread",
            Layout::Lines => "lines",
            Layout::Auto => "auto",
        }
    }
}

impl SchemeId {
    /// Returns the number that identifies the scheme in files.
    #[must_use]
    pub fn number(self) -> u16 {
        self as u16
    }

    /// Returns the scheme that has this number in files.
    #[must_use]
    pub fn from_number(number: u16) -> Option<SchemeId> {
        SchemeId::ALL.into_iter().find(|scheme| scheme.number() == number)
    }

    /// Returns where a key's positions are: [`Layout::Lines`] for [`SchemeId::Blocked`], and
    /// [`Layout::Spread`] for all other schemes.
    #[must_use]
    pub fn layout(self) -> Layout {
        if self.block_bits().is_some() { Layout::Lines } else { Layout::Spread }
    }

    /// Returns the number of bits in the block that holds all positions of a key, or `None` if
    /// positions can be anywhere.
    #[must_use]
    pub fn block_bits(self) -> Option<u64> {
        if self == SchemeId::Blocked { Some(BLOCK_BITS) } else { None }
    }

    /// Returns the number of bits of which the size of every filter must be a multiple. For blocked
    /// filters, this is [`BLOCK_BITS`]. For `partition-double`, whose slices must be equally long,
    /// it is the number of probes. For all other schemes, it is 1.
    #[must_use]
    pub fn bits_unit(self, probes: u32) -> u64 {
        let slices = if self == SchemeId::PartitionDouble { probes.max(1).into() } else { 1 };
        self.block_bits().unwrap_or(slices)
    }

    /// Returns the [`Variant`] with the same law as this scheme, or `None` for two-hash schemes and
    /// for blocked filters.
    #[must_use]
    pub fn variant(self) -> Option<Variant> {
        match self {
            SchemeId::Standard => Some(Variant::Standard),
            SchemeId::Classic => Some(Variant::Classic),
            SchemeId::Partitioned => Some(Variant::Partitioned),
            _ => None,
        }
    }

    /// Returns whether a plan can guarantee the rate of one filter, with a given probability
    /// ([`Promise::OneFilter`](crate::Promise::OneFilter)). For two-hash schemes, the result is
    /// false: a plan can only guarantee the average rate over filters with different seeds.
    #[must_use]
    pub fn has_guarantee(self) -> bool {
        self.variant().is_some() || self == SchemeId::Blocked
    }

    /// Returns the law of filters of this scheme with `bits` bits in total.
    ///
    /// ```
    /// use truebloom_math::SchemeId;
    /// let law = "cube".parse::<SchemeId>()?.law(487, 5)?;
    /// assert_eq!(format!("{:.9}", law.fpr(60)?.value), "0.020964506");
    /// # Ok::<(), truebloom_math::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if `bits` or `probes` is out of range. For `partition-double`, also fails if the bits
    /// cannot be divided equally among the slices. For `blocked`, also fails if the bits are not a
    /// multiple of [`BLOCK_BITS`].
    pub fn law(self, bits: u64, probes: u32) -> Result<Box<dyn Law>> {
        match self {
            SchemeId::Standard => Ok(Box::new(Standard::new(bits, probes)?)),
            SchemeId::Classic => Ok(Box::new(Classic::new(bits, probes)?)),
            SchemeId::Partitioned => Ok(Box::new(Partitioned::new(bits, probes)?)),
            SchemeId::Blocked => Ok(Box::new(Blocked::new(bits, BLOCK_BITS, InBlock::Independent, probes)?)),
            SchemeId::Double
            | SchemeId::DoubleNonzero
            | SchemeId::Square
            | SchemeId::Cube
            | SchemeId::Enhanced
            | SchemeId::PartitionDouble => self.two_hash_law(bits, probes),
        }
    }

    /// The law of a two-hash scheme.
    #[cfg(feature = "two-hash")]
    fn two_hash_law(self, bits: u64, probes: u32) -> Result<Box<dyn Law>> {
        if let Some(law) = self.double(bits, probes)? {
            return Ok(Box::new(law));
        }
        let slices = u64::from(probes.max(1));
        if !bits.is_multiple_of(slices) {
            return out_of_range(
                "bits",
                bits,
                format!("a multiple of the number of probes ({probes}), so that each probe has the same number of bits"),
            );
        }
        Ok(Box::new(PartitionDouble::new(bits / slices, probes)?))
    }

    /// Returns an error, because this build does not include the laws of two-hash schemes.
    #[cfg(not(feature = "two-hash"))]
    fn two_hash_law(self, _bits: u64, _probes: u32) -> Result<Box<dyn Law>> {
        out_of_range("scheme", self, LEFT_OUT)
    }

    /// Returns the law as a [`Double`], or `None` for schemes that are not double hashing on one
    /// array.
    #[cfg(feature = "two-hash")]
    pub(crate) fn double(self, bits: u64, probes: u32) -> Result<Option<Double>> {
        let (step, offsets) = match self {
            SchemeId::Double => (Step::Any, Offsets::Linear),
            SchemeId::DoubleNonzero => (Step::NonZero, Offsets::Linear),
            SchemeId::Square => (Step::Any, Offsets::Square),
            SchemeId::Cube => (Step::Any, Offsets::Cube),
            SchemeId::Enhanced => (Step::Any, Offsets::Enhanced),
            SchemeId::Standard | SchemeId::Classic | SchemeId::Partitioned | SchemeId::PartitionDouble | SchemeId::Blocked => {
                return Ok(None);
            }
        };
        Double::new(bits, probes, step, offsets).map(Some)
    }
}

impl From<Variant> for SchemeId {
    fn from(variant: Variant) -> SchemeId {
        match variant {
            Variant::Standard => SchemeId::Standard,
            Variant::Classic => SchemeId::Classic,
            Variant::Partitioned => SchemeId::Partitioned,
        }
    }
}

impl fmt::Display for SchemeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SchemeId {
    type Err = Error;

    fn from_str(text: &str) -> Result<SchemeId> {
        let found = SchemeId::ALL.into_iter().find(|scheme| scheme.name() == text);
        found.map_or_else(|| out_of_range("scheme", text, format!("one of {}", SchemeId::ALL.map(SchemeId::name).join(", "))), Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that each number and each name belongs to exactly one scheme, and converts back to it.
    #[test]
    fn numbers_and_names_lead_back() {
        for scheme in SchemeId::ALL {
            assert_eq!(SchemeId::from_number(scheme.number()), Some(scheme));
            assert_eq!(scheme.name().parse(), Ok(scheme));
        }
    }
}
