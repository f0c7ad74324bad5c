//! The kinds of files.

use crate::bits::Placed;
use crate::count_min::{CountMin, HeavyHitters, ListedSketch, PairwiseCountMin, TwoHashCountMin, TwoHashRows};
use crate::error::{FormatError, ReadError};
use crate::recycling::{BlockedRecyclingFilter, RecyclingFilter};
use crate::scheme::{AnyScheme, Classic, InLines, Standard};
use crate::{AnyFilter, Pack, PortableHasher};
use std::fmt;
use std::io::{self, Read};
use truebloom_math::Layout;

/// What a file holds. The numbers are those of docs/FORMAT.md, where 5 is reserved.
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
    pub const ALL: [FileKind; 8] = [
        FileKind::Bloom,
        FileKind::Blocked,
        FileKind::RecyclingOnePhase,
        FileKind::RecyclingTwoPhase,
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
    pub fn opened_by(self) -> &'static str {
        match self {
            FileKind::Bloom => "`BloomFilter::open`, or `truebloom check`",
            FileKind::Blocked => "`BlockedBloomFilter::open`, or `truebloom check`",
            FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase => "`RecyclingFilter::open`, or `truebloom dedup --state`",
            FileKind::CountMin => "`CountMin::open`, or `truebloom count query`",
            FileKind::RecyclingBlocked => "`BlockedRecyclingFilter::open`, or `truebloom dedup --state`",
            FileKind::TwoHashCountMin => "`TwoHashCountMin::open`, or `truebloom count query`",
            FileKind::Pack => "`Pack::open`",
        }
    }
}

/// Reads values of these types, each from the beginning, and drops them.
macro_rules! read_as {
    ($open:ident, $($type:ty),*) => {
        vec![$(<$type>::read_from($open()?).map(drop)),*]
    };
}

impl FileKind {
    /// Reads a file of any kind to the end of its value, and checks all that opening it would: its kind, or what is wrong with it. `open` gives the bytes from their beginning, some times over, as
    /// each type refuses the headers of the others. For programs that look after files; takes the memory of the value.
    ///
    /// ```
    /// use truebloom::{BloomFilter, FileKind};
    /// let mut bytes = BloomFilter::with_bits_and_probes(1_000, 7)?.to_bytes()?;
    /// assert_eq!(FileKind::of_whole(|| Ok(&bytes[..]))?, FileKind::Bloom);
    /// bytes[300] ^= 1;
    /// assert!(FileKind::of_whole(|| Ok(&bytes[..])).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_whole<R: Read>(open: impl Fn() -> io::Result<R>) -> Result<FileKind, ReadError> {
        let error = match AnyFilter::read_from(open()?) {
            Ok(filter) => return Ok(filter.kind()),
            Err(error) => error,
        };
        let ReadError::Format(FormatError::Kind { found }) = error else { return Err(error) };
        let results: Vec<Result<(), ReadError>> = match found {
            FileKind::RecyclingBlocked => read_as!(open, BlockedRecyclingFilter),
            FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase => {
                read_as!(open, RecyclingFilter, RecyclingFilter<PortableHasher, Classic>)
            }
            FileKind::CountMin => {
                read_as!(open, HeavyHitters<u64>, CountMin<u64>, CountMin<u32>, PairwiseCountMin<u64>, PairwiseCountMin<u32>)
            }
            FileKind::TwoHashCountMin => {
                read_as!(open, ListedSketch<TwoHashRows, u64>, TwoHashCountMin<u64>, TwoHashCountMin<u32>)
            }
            FileKind::Pack => read_as!(open, Pack<Standard>, Pack<InLines>, Pack<AnyScheme>),
            FileKind::Bloom | FileKind::Blocked => vec![],
        };
        if results.iter().any(Result::is_ok) {
            return Ok(found);
        }
        // What is damaged says more than what is of another type.
        let damage = |error: &ReadError| {
            matches!(error, ReadError::Io(_) | ReadError::Format(FormatError::PayloadChecksum { .. } | FormatError::Truncated { .. }))
        };
        let mut errors: Vec<ReadError> = results.into_iter().filter_map(Result::err).collect();
        let worst = errors.iter().position(damage).unwrap_or(0);
        Err(if errors.is_empty() { ReadError::Format(FormatError::Kind { found }) } else { errors.swap_remove(worst) })
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Bloom => "a Bloom filter",
            FileKind::Blocked => "a blocked Bloom filter",
            FileKind::RecyclingOnePhase => "a recycling filter of one phase",
            FileKind::RecyclingTwoPhase => "a recycling filter of two phases",
            FileKind::CountMin => "a Count-Min sketch",
            FileKind::TwoHashCountMin => "a two-hash Count-Min sketch",
            FileKind::RecyclingBlocked => "a blocked recycling filter",
            FileKind::Pack => "a pack of filters",
        })
    }
}
