//! Schemes: how a hash becomes positions.

mod any;
mod blocked;
mod classic;
mod cube;
mod double;
mod enhanced;
mod fill;
mod partition_double;
mod partitioned;
mod progression;
mod square;
mod standard;
mod words;

pub use any::AnyScheme;
pub(crate) use blocked::{InLines, InLinesId, MAX_PROBES as MAX_BLOCKED_PROBES, PROBES_A_WORD};
pub use classic::{Classic, DistinctPositions};
pub use cube::Cube;
pub use double::{Double, DoubleNonzero};
pub use enhanced::Enhanced;
pub use fill::FillScheme;
pub use partition_double::PartitionDouble;
pub use partitioned::Partitioned;
pub use progression::Progression;
pub use square::Square;
pub(crate) use standard::digit;
pub use standard::{Positions, Standard};
pub(crate) use words::Words;

use crate::MAX_PROBES;
use crate::error::BuildError;
use crate::hash::KeyHash;
use std::fmt;
use std::str::FromStr;
use truebloom_math::Law;
use truebloom_math::law::Hashing;

/// The schemes that have a number in the file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum SchemeId {
    /// k independent positions, as many a word of the key's stream as it has room for.
    Standard = 11,
    /// k distinct positions.
    Classic = 2,
    /// An independent position in each of k slices.
    Partitioned = 3,
    /// `h1 + i h2` modulo the bits, where h2 may be 0.
    Double = 4,
    /// `h1 + i h2` modulo the bits, where h2 is not 0.
    DoubleNonzero = 5,
    /// `h1 + i h2 + i^2` modulo the bits.
    Square = 6,
    /// `h1 + i h2 + i^3` modulo the bits.
    Cube = 7,
    /// `h1 + i h2 + (i^3 - i) / 6` modulo the bits.
    Enhanced = 8,
    /// `h1 + i h2` modulo the bits of a slice, in slice i.
    PartitionDouble = 9,
    /// k independent positions, one a word: how drafts of this library wrote standard filters. Read and merged, and not made anew.
    FirstStandard = 1,
}

impl SchemeId {
    /// All of them.
    pub const ALL: [SchemeId; 10] = [
        SchemeId::Standard,
        SchemeId::Classic,
        SchemeId::Partitioned,
        SchemeId::Double,
        SchemeId::DoubleNonzero,
        SchemeId::Square,
        SchemeId::Cube,
        SchemeId::Enhanced,
        SchemeId::PartitionDouble,
        SchemeId::FirstStandard,
    ];

    /// The law that filters of this scheme obey.
    pub fn hashing(self) -> Hashing {
        match self {
            SchemeId::Standard | SchemeId::FirstStandard => Hashing::Standard,
            SchemeId::Classic => Hashing::Classic,
            SchemeId::Partitioned => Hashing::Partitioned,
            SchemeId::Double => Hashing::Double,
            SchemeId::DoubleNonzero => Hashing::DoubleNonzero,
            SchemeId::Square => Hashing::Square,
            SchemeId::Cube => Hashing::Cube,
            SchemeId::Enhanced => Hashing::Enhanced,
            SchemeId::PartitionDouble => Hashing::PartitionDouble,
        }
    }

    /// Its name: `standard`, `classic`, `partitioned`, `double`, `double-nonzero`, `square`, `cube`, `enhanced`, `partition-double` or `standard-1`.
    pub fn name(self) -> &'static str {
        if self == SchemeId::FirstStandard { "standard-1" } else { self.hashing().name() }
    }
}

impl FromStr for SchemeId {
    type Err = truebloom_math::Error;

    fn from_str(text: &str) -> Result<SchemeId, truebloom_math::Error> {
        let hashing: Hashing = text.parse()?;
        let found = SchemeId::ALL.into_iter().find(|id| id.hashing() == hashing);
        // Every law has a scheme as long as the test below passes.
        found.ok_or(truebloom_math::Error::OutOfRange {
            name: "scheme",
            found: text.to_owned(),
            expected: "one that files know".to_owned(),
        })
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
    /// For `bits` positions, 1 to 2^62, and `probes` a key, 1 to [`MAX_PROBES`]; an error outside of these, and where the scheme asks for more.
    fn new(bits: u64, probes: u32) -> Result<Self, BuildError>;

    /// As [`new`](Self::new), of the scheme with this number. An error if the type is that of another scheme.
    fn with_id(id: SchemeId, bits: u64, probes: u32) -> Result<Self, BuildError> {
        let scheme = Self::new(bits, probes)?;
        let expected = scheme.id();
        if id == expected { Ok(scheme) } else { Err(BuildError::Scheme { expected, found: id }) }
    }

    /// Its number in files.
    fn id(&self) -> SchemeId;

    /// Number of bits m.
    fn bits(&self) -> u64;

    /// Probes k of a key.
    fn probes(&self) -> u32;

    /// The positions of a key, each below the number of bits; not necessarily distinct.
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64>;

    /// Whether `has` says yes to all positions of a key. For hot paths: positions may be asked for after a no, and some again from the first on, where that is faster than deciding after each.
    #[inline(always)]
    fn all(&self, hash: KeyHash, mut has: impl FnMut(u64) -> bool) -> bool {
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

    /// Whether positions come from the two halves of the hash as they are. Then a hasher has to make hashes that are as good as random even beside those of other seeds.
    fn takes_halves(&self) -> bool {
        false
    }

    /// The slices whose fills the law asks for, of bits / slices bits each, the first `bits mod slices` of one more; 1 for most schemes.
    fn slices(&self) -> u32 {
        1
    }

    /// The probability model that the positions obey.
    fn law(&self) -> Box<dyn Law>;
}

/// Positions that are looked at before it is decided whether to go on: three. One by one, the decision is as good as a coin and wrong every other time, which costs more than the two
/// accesses that may be too many; those are made at the same time, and the processor goes on to the next key meanwhile.
const TOGETHER: usize = 3;

/// Probes in the range of the file format.
fn check_probes(probes: u32) -> Result<(), BuildError> {
    if (1..=MAX_PROBES).contains(&probes) { Ok(()) } else { Err(BuildError::Probes { found: probes }) }
}

/// A bijection of 64-bit words in which every bit of the input moves every bit of the output (two multiplications, three shifts; the finalizer of
/// SplitMix64, Stafford's variant 13).
#[inline]
pub(crate) fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_by_name_has_a_scheme_of_that_name() {
        for hashing in Hashing::ALL {
            assert_eq!(hashing.name().parse::<SchemeId>().map(SchemeId::hashing), Ok(hashing));
        }
        assert!("triple".parse::<SchemeId>().is_err());
    }
}
