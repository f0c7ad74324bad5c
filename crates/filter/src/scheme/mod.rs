//! Schemes: how a hash becomes positions.

mod classic;
mod fill;
mod standard;
mod words;

pub use classic::{Classic, DistinctPositions};
pub use fill::FillScheme;
pub use standard::{Positions, Standard};

use crate::error::BuildError;
use crate::hash::KeyHash;
use std::fmt;
use truebloom_math::Law;

/// The schemes that have a number in the file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum SchemeId {
    /// k independent positions.
    Standard = 1,
    /// k distinct positions.
    Classic = 2,
}

impl SchemeId {
    /// All of them.
    pub const ALL: [SchemeId; 2] = [SchemeId::Standard, SchemeId::Classic];

    /// Its name: `standard` or `classic`.
    pub fn name(self) -> &'static str {
        match self {
            SchemeId::Standard => "standard",
            SchemeId::Classic => "classic",
        }
    }
}

impl fmt::Display for SchemeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A map from hashes to positions, for given bits and probes, and the law it obeys.
///
/// The law is the contract: a scheme without an exact law or a proven bound is not offered, and one test holds every scheme to its law.
pub trait Scheme: Sized {
    /// Its number in files.
    const ID: SchemeId;

    /// For `bits` positions, 1 to 2^62, and `probes` a key, 1 to [`MAX_PROBES`](crate::MAX_PROBES); an error outside of these.
    fn new(bits: u64, probes: u32) -> Result<Self, BuildError>;

    /// Number of bits m.
    fn bits(&self) -> u64;

    /// Probes k of a key.
    fn probes(&self) -> u32;

    /// The positions of a key, each below the number of bits; not necessarily distinct.
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64>;

    /// The probability model that the positions obey.
    fn law(&self) -> Box<dyn Law>;
}

/// A bijection of 64-bit words in which every bit of the input moves every bit of the output (two multiplications, three shifts; the finalizer of
/// SplitMix64, Stafford's variant 13).
#[inline]
pub(crate) fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
