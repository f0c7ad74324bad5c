//! The kinds of files.

use std::fmt;

/// What a file holds. The numbers are those of docs/FORMAT.md, where 5 is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum Kind {
    /// A Bloom filter.
    Bloom = 1,
    /// A blocked Bloom filter.
    Blocked = 2,
    /// A recycling filter of one phase.
    RecyclingOnePhase = 3,
    /// A recycling filter of two phases.
    RecyclingTwoPhase = 4,
    /// A Count-Min sketch.
    CountMin = 6,
    /// A Count-Min sketch whose rows are made of two hashes.
    TwoHashCountMin = 7,
    /// A blocked recycling filter, of one phase.
    RecyclingBlocked = 8,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 7] = [
        Kind::Bloom,
        Kind::Blocked,
        Kind::RecyclingOnePhase,
        Kind::RecyclingTwoPhase,
        Kind::CountMin,
        Kind::TwoHashCountMin,
        Kind::RecyclingBlocked,
    ];

    /// What opens a file of this kind: the type of this crate and the verb of the command.
    pub fn opened_by(self) -> &'static str {
        match self {
            Kind::Bloom => "`BloomFilter::open`, or `truebloom check`",
            Kind::Blocked => "`BlockedBloomFilter::open`, or `truebloom check`",
            Kind::RecyclingOnePhase | Kind::RecyclingTwoPhase => "`RecyclingFilter::open`, or `truebloom dedup --state`",
            Kind::CountMin => "`CountMin::open`, or `truebloom count query`",
            Kind::RecyclingBlocked => "`BlockedRecyclingFilter::open`, or `truebloom dedup --state`",
            Kind::TwoHashCountMin => "`TwoHashCountMin::open`, or `truebloom count query`",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Bloom => "a Bloom filter",
            Kind::Blocked => "a blocked Bloom filter",
            Kind::RecyclingOnePhase => "a recycling filter of one phase",
            Kind::RecyclingTwoPhase => "a recycling filter of two phases",
            Kind::CountMin => "a Count-Min sketch",
            Kind::TwoHashCountMin => "a two-hash Count-Min sketch",
            Kind::RecyclingBlocked => "a blocked recycling filter",
        })
    }
}
