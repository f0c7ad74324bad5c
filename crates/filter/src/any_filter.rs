//! Filters whose layout and scheme are known only from their file.

use crate::error::{BuildError, FormatError};
use crate::format::{Fields, FileKind, Stored, reads_files, writes_files};
use crate::hash::PortableHasher;
use crate::scheme::{AnyScheme, SchemeId};
use crate::{BlockedBloomFilter, BloomFilter, FilterOf};
use alloc::boxed::Box;
use alloc::vec::Vec;
use truebloom_math::Plan;

/// A filter of whichever layout and scheme its file has. It does what every [`Filter`](crate::Filter) does; which of the three it is, is chosen once a call, so keys come at full speed in batches
/// ([`insert_all_hashes`](crate::Filter::insert_all_hashes), [`contains_all`](crate::Filter::contains_all)).
///
/// Files of recycling filters and of sketches are refused with an error that says what they hold and what opens them.
///
/// ```
/// use truebloom::{AnyFilter, BlockedBloomFilter, Filter};
/// let mut blocked = BlockedBloomFilter::new(1_000, 0.01)?;
/// blocked.insert("key");
/// let mut filter = AnyFilter::from_bytes(&blocked.to_bytes()?)?;
/// assert!(filter.contains("key") && filter.scheme_id().name() == "blocked");
/// // Blocked filters have no estimate of their items.
/// assert_eq!(filter.estimated_items(), None);
/// filter.union_with(&blocked.into())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyFilter {
    /// Of the standard scheme.
    Standard(BloomFilter),
    /// Blocked.
    Blocked(BlockedBloomFilter),
    /// Of another scheme than these.
    Other(Box<FilterOf<AnyScheme>>),
}

/// The same expression for each of them.
macro_rules! each {
    ($self:expr, $filter:ident => $value:expr) => {
        match $self {
            AnyFilter::Standard($filter) => $value,
            AnyFilter::Blocked($filter) => $value,
            AnyFilter::Other($filter) => $value,
        }
    };
}

/// The same expression for two of one kind, and an error for others.
macro_rules! both {
    ($self:expr, $other:expr, ($ours:ident, $theirs:ident) => $value:expr) => {
        match ($self, $other) {
            (AnyFilter::Standard($ours), AnyFilter::Standard($theirs)) => $value,
            (AnyFilter::Blocked($ours), AnyFilter::Blocked($theirs)) => $value,
            (AnyFilter::Other($ours), AnyFilter::Other($theirs)) => $value,
            (ours, theirs) => Err(MergeError::Scheme { ours: ours.scheme_id().name(), theirs: theirs.scheme_id().name() }),
        }
    };
}

pub(crate) use {both, each};

writes_files!([] AnyFilter);
reads_files!([] AnyFilter);

/// What a header says, of whichever it is.
pub(crate) enum Header {
    Standard(<BloomFilter as Stored>::Header),
    Blocked(<BlockedBloomFilter as Stored>::Header),
    Other(<FilterOf<AnyScheme> as Stored>::Header),
}

impl Stored for AnyFilter {
    const KINDS: &'static [FileKind] = &[FileKind::Bloom, FileKind::Blocked];

    type Header = Header;

    fn read_header(fields: &Fields, kind: FileKind) -> Result<Header, FormatError> {
        Ok(match kind {
            FileKind::Blocked => Header::Blocked(BlockedBloomFilter::read_header(fields, kind)?),
            _ if fields.scheme(kind)? == SchemeId::Standard => Header::Standard(BloomFilter::read_header(fields, kind)?),
            _ => Header::Other(FilterOf::<AnyScheme>::read_header(fields, kind)?),
        })
    }

    fn payload_bytes(header: &Header) -> u64 {
        match header {
            Header::Standard(header) => BloomFilter::payload_bytes(header),
            Header::Blocked(header) => BlockedBloomFilter::payload_bytes(header),
            Header::Other(header) => FilterOf::<AnyScheme>::payload_bytes(header),
        }
    }

    fn assemble(header: Header, words: Vec<u64>) -> Result<AnyFilter, FormatError> {
        Ok(match header {
            Header::Standard(header) => AnyFilter::Standard(Stored::assemble(header, words)?),
            Header::Blocked(header) => AnyFilter::Blocked(Stored::assemble(header, words)?),
            Header::Other(header) => AnyFilter::Other(Box::new(Stored::assemble(header, words)?)),
        })
    }

    fn fields(&self) -> Fields {
        each!(self, filter => filter.fields())
    }

    fn word_count(&self) -> u64 {
        each!(self, filter => filter.word_count())
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        each!(self, filter => filter.words()).iter().copied()
    }
}

impl AnyFilter {
    /// The filter of a plan, whatever its scheme, with a random seed.
    ///
    /// # Errors
    /// As those of [`FilterOf::from_plan`].
    #[cfg(feature = "random")]
    pub fn from_plan(plan: &Plan) -> Result<AnyFilter, BuildError> {
        AnyFilter::from_plan_with_hasher(plan, PortableHasher::random()?)
    }

    /// [`from_plan`](Self::from_plan) with a hasher of one's own.
    ///
    /// # Errors
    /// As those of [`FilterOf::from_plan_with_hasher`].
    pub fn from_plan_with_hasher(plan: &Plan, hasher: PortableHasher) -> Result<AnyFilter, BuildError> {
        Ok(match plan.scheme {
            SchemeId::Standard => AnyFilter::Standard(FilterOf::from_plan_with_hasher(plan, hasher)?),
            SchemeId::Blocked => AnyFilter::Blocked(FilterOf::from_plan_with_hasher(plan, hasher)?),
            _ => AnyFilter::Other(Box::new(FilterOf::from_plan_with_hasher(plan, hasher)?)),
        })
    }
}

impl From<BloomFilter> for AnyFilter {
    fn from(filter: BloomFilter) -> AnyFilter {
        AnyFilter::Standard(filter)
    }
}

impl From<BlockedBloomFilter> for AnyFilter {
    fn from(filter: BlockedBloomFilter) -> AnyFilter {
        AnyFilter::Blocked(filter)
    }
}

impl From<FilterOf<AnyScheme>> for AnyFilter {
    /// By the standard scheme's own type if it is of that scheme.
    fn from(filter: FilterOf<AnyScheme>) -> AnyFilter {
        filter.into_standard().map_or_else(AnyFilter::Other, AnyFilter::Standard)
    }
}
