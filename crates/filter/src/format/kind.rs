//! The kinds of files.

use crate::bits::Placed;
use crate::scheme::{InLines, Standard};
use core::fmt;
use truebloom_math::Layout;

/// What a file holds. The numbers are those of docs/FORMAT.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum FileKind {
    /// A Bloom filter.
    Bloom = 1,
    /// A blocked Bloom filter.
    Blocked = 2,
    /// A recycling filter of one phase.
    RecyclingOnePhase = 3,
    /// A recycling filter of two phases.
    RecyclingTwoPhase = 4,
    /// A Bloom filter that grows.
    Scalable = 5,
    /// A Count-Min sketch.
    CountMin = 6,
    /// A Count-Min sketch whose rows are made of two hashes.
    TwoHashCountMin = 7,
    /// A blocked recycling filter, of one phase.
    RecyclingBlocked = 8,
    /// Many filters of one plan.
    Pack = 9,
}

impl FileKind {
    /// All of them.
    pub const ALL: [FileKind; 9] = [
        FileKind::Bloom,
        FileKind::Blocked,
        FileKind::RecyclingOnePhase,
        FileKind::RecyclingTwoPhase,
        FileKind::Scalable,
        FileKind::CountMin,
        FileKind::TwoHashCountMin,
        FileKind::RecyclingBlocked,
        FileKind::Pack,
    ];

    /// Where the positions of a key lie in a filter of this kind.
    pub(super) fn layout(self) -> Layout {
        match self {
            FileKind::Blocked | FileKind::RecyclingBlocked => Layout::Lines,
            _ => Layout::Spread,
        }
    }

    /// Bytes that the layout's own parameters take in the header of a Bloom filter.
    pub(super) fn layout_bytes(self) -> usize {
        match self {
            FileKind::Blocked => InLines::PARAMETER_BYTES,
            _ => Standard::PARAMETER_BYTES,
        }
    }

    /// What opens a file of this kind: the type of this crate and the verb of the command.
    #[must_use]
    pub fn opened_by(self) -> &'static str {
        match self {
            FileKind::Bloom => "`BloomFilter::open`, or `truebloom check`",
            FileKind::Blocked => "`BlockedBloomFilter::open`, or `truebloom check`",
            FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase => "`RecyclingFilter::open`, or `truebloom dedup --state`",
            FileKind::Scalable => "`ScalableFilter::open`, or `truebloom check`",
            FileKind::CountMin => "`CountMin::open`, or `truebloom count query`",
            FileKind::RecyclingBlocked => "`BlockedRecyclingFilter::open`, or `truebloom dedup --state`",
            FileKind::TwoHashCountMin => "`TwoHashCountMin::open`, or `truebloom count query`",
            FileKind::Pack => "`Pack::open`",
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Bloom => "a Bloom filter",
            FileKind::Blocked => "a blocked Bloom filter",
            FileKind::RecyclingOnePhase => "a recycling filter of one phase",
            FileKind::RecyclingTwoPhase => "a recycling filter of two phases",
            FileKind::Scalable => "a Bloom filter that grows",
            FileKind::CountMin => "a Count-Min sketch",
            FileKind::TwoHashCountMin => "a two-hash Count-Min sketch",
            FileKind::RecyclingBlocked => "a blocked recycling filter",
            FileKind::Pack => "a pack of filters",
        })
    }
}
