//! What can go wrong, with the values that were found and what to do about it.

#[cfg(feature = "fs")]
mod file;
#[cfg(feature = "std")]
mod read;

#[cfg(feature = "fs")]
pub use file::FileError;
#[cfg(feature = "std")]
pub use read::ReadError;

use crate::MAX_PROBES;
use crate::ids::{FileKind, HasherId};
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;
#[cfg(feature = "sketches")]
use truebloom_math::count_min::Rows;
use truebloom_math::{Rate, SchemeId};

/// Why a filter cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// The numbers are wrong: a rate, a number of items or of bits out of range or out of reach.
    Math(truebloom_math::Error),
    /// The number of probes is out of range.
    Probes {
        /// The number that was given.
        found: u32,
    },
    /// The number of probes is out of range for a blocked filter.
    BlockedProbes {
        /// The number that was given.
        found: u32,
    },
    /// The type is that of another scheme.
    Scheme {
        /// The scheme of the type.
        expected: SchemeId,
        /// The scheme that was given.
        found: SchemeId,
    },
    /// The scheme of blocked filters for a filter whose positions lie anywhere.
    InLines,
    /// The crate is built without the feature `two-hash`.
    LeftOut {
        /// The scheme.
        scheme: SchemeId,
    },
    /// The law of the scheme does not prove the rate.
    NotProven {
        /// The scheme.
        scheme: SchemeId,
        /// The items that were asked for.
        items: u64,
        /// The rate that was asked for.
        asked: Rate,
    },
    /// Slices cannot be equal.
    Slices {
        /// The bits that were given.
        bits: u64,
        /// The probes, one a slice.
        probes: u32,
    },
    /// The plan is for another scheme than that of this filter.
    Planned {
        /// The scheme of this filter.
        expected: truebloom_math::SchemeId,
        /// The plan's scheme.
        found: truebloom_math::SchemeId,
    },
    /// The plan counts fewer equal hashes than the hasher makes.
    HashBits {
        /// Width of the hasher's hash.
        found: u32,
        /// What equal hashes of that width add to the rate at most.
        floor: f64,
        /// What the plan adds for them.
        planned: f64,
    },
    /// A policy of a recycling filter that cannot work.
    Policy {
        /// The field.
        field: &'static str,
        /// Its value.
        found: u64,
        /// What it may be.
        expected: Expected,
        /// Why no other value works.
        why: &'static str,
    },
    /// A policy that a blocked recycling filter cannot have.
    NotBlocked {
        /// What it cannot have.
        what: &'static str,
    },
    /// A policy that a filter shared by threads cannot have.
    NotShared {
        /// What it cannot have.
        what: &'static str,
    },
    /// The memory cannot be allocated.
    Memory {
        /// The bytes that the filter needs.
        bytes: u64,
    },
    /// There are fewer bytes than the filter takes.
    Room {
        /// The bytes of the filter.
        needed: u64,
        /// The bytes that there are.
        found: u64,
    },
    /// The memory for a sketch's counters cannot be allocated.
    Counters {
        /// The bytes that the counters need.
        bytes: u128,
    },
    /// A sketch has too many rows.
    Rows {
        /// The number that was asked for.
        found: u64,
    },
    /// The shape is for another kind of rows than the sketch has.
    #[cfg(feature = "sketches")]
    RowHashes {
        /// The shape's.
        found: Rows,
        /// The sketch's.
        expected: Rows,
    },
    /// The operating system gives no random numbers.
    NoRandomSeed {
        /// What the system said.
        reason: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Math(error) => error.fmt(f),
            BuildError::Probes { found } => {
                write!(f, "a key cannot have {found} probes; give 1 to {MAX_PROBES}, or leave the choice to a plan")
            }
            BuildError::BlockedProbes { found } => write!(
                f,
                "a key cannot have {found} probes in one block; give 1 to {}, leave the choice to a plan, or take a standard \
                 filter",
                truebloom_math::BLOCK_PROBES
            ),
            BuildError::Scheme { expected, found } => {
                write!(f, "this type is for the {expected} scheme, not for the {found} one; use the type for that scheme, or `AnyScheme`")
            }
            BuildError::InLines => f.write_str("the blocked scheme has a type of its own; take `BlockedBloomFilter`"),
            BuildError::LeftOut { scheme } => left_out(*scheme, f),
            BuildError::NotProven { scheme, items, asked } => write!(
                f,
                "a rate of {asked} for {items} items is not proven for a filter of the {scheme} scheme with these bits and \
                 probes; give more bits, or take the standard scheme"
            ),
            BuildError::Slices { bits, probes } => write!(
                f,
                "{bits} bits cannot be shared equally by {probes} slices; take {} or {}",
                (bits / u64::from(*probes)).max(1) * u64::from(*probes),
                (bits / u64::from(*probes) + 1) * u64::from(*probes)
            ),
            BuildError::Planned { expected, found } => {
                write!(f, "the plan is for a {found} filter, but this is a {expected} one; plan with the scheme `{expected}`")
            }
            BuildError::HashBits { found, floor, planned } => write!(
                f,
                "the plan adds {planned:e} for equal hashes, but a hash of {found} bits makes {floor:e}; plan with `hash_bits: \
                 {found}`, or take a wider hash"
            ),
            BuildError::Policy { field, found, expected, why } => {
                write!(f, "{field} of the policy is {found}, but must be {expected}: {why}")
            }
            BuildError::NotBlocked { what } => {
                write!(f, "a blocked recycling filter cannot have {what}: its rate would not be known; take a standard filter")
            }
            BuildError::NotShared { what } => {
                write!(f, "a filter that threads share cannot have {what}; recycle it yourself, or put a lock around a `RecyclingFilter`")
            }
            BuildError::Memory { bytes } => write!(
                f,
                "cannot allocate {bytes} bytes; ask for a higher rate or fewer items, or split the keys over \
                 several filters"
            ),
            BuildError::Room { needed, found } => {
                write!(f, "the buffer has {found} bytes, but the filter takes {needed}; give that many (see `encoded_bytes`)")
            }
            BuildError::Counters { bytes } => write!(
                f,
                "cannot allocate {bytes} bytes for the counters; ask for a larger epsilon or delta, or take \
                 32-bit counters"
            ),
            BuildError::Rows { found } => {
                write!(f, "a sketch cannot have {found} rows; give at most {MAX_PROBES}, or ask for a larger delta")
            }
            #[cfg(feature = "sketches")]
            BuildError::RowHashes { found, expected } => {
                write!(f, "the shape is for {found:?} rows, but the sketch has {expected:?} ones; make the shape for those")
            }
            BuildError::NoRandomSeed { reason } => write!(f, "the operating system gives no random seed ({reason}); give a seed"),
        }
    }
}

impl core::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            BuildError::Math(error) => error.source(),
            _ => None,
        }
    }
}

impl From<truebloom_math::Error> for BuildError {
    fn from(error: truebloom_math::Error) -> BuildError {
        BuildError::Math(error)
    }
}

impl From<Infallible> for BuildError {
    /// Lets constructors take a `Rate` as well as types that may fail to convert to one.
    fn from(never: Infallible) -> BuildError {
        match never {}
    }
}

/// Why a text is not a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseSeedError {
    /// The text that was given.
    pub found: String,
}

impl fmt::Display for ParseSeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseSeedError { found } = self;
        write!(f, "`{found}` is not a seed; write 1 to 32 hexadecimal digits")
    }
}

impl core::error::Error for ParseSeedError {}

/// Why two filters or two sketches cannot be merged: the first parameter in which they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// Different numbers of bits.
    Bits {
        /// Of the filter that was to change.
        ours: u64,
        /// Of the other.
        theirs: u64,
    },
    /// Different numbers of probes.
    Probes {
        /// Of the filter that was to change.
        ours: u32,
        /// Of the other.
        theirs: u32,
    },
    /// Sketches of different sizes.
    Shape {
        /// The first size in which they differ.
        name: &'static str,
        /// Of the sketch that was to change.
        ours: u64,
        /// Of the other.
        theirs: u64,
    },
    /// An inner product of sketches whose counters are not sums.
    NotSums {
        /// What was done to one of them.
        how: &'static str,
    },
    /// Different schemes.
    Scheme {
        /// The name of that of the filter that was to change.
        ours: &'static str,
        /// Of the other.
        theirs: &'static str,
    },
    /// Different hash functions.
    Hasher {
        /// Of the one that was to change; `None` for one that files do not know.
        ours: Option<HasherId>,
        /// Of the other.
        theirs: Option<HasherId>,
    },
    /// Filters that grow by different rules.
    Growth,
    /// An intersection of filters that grow.
    Layers,
    /// A layer of the other has more set bits than its limit: its bytes are damaged or forged.
    Limit {
        /// The set bits.
        ones: u64,
        /// The most that the layer may have.
        limit: u64,
    },
    /// There is no memory for a layer.
    Memory {
        /// The bytes of the layer.
        bytes: u64,
    },
    /// There are fewer bytes than a member of a pack takes.
    Room {
        /// The bytes of a member.
        needed: usize,
        /// The bytes that there are.
        found: usize,
    },
    /// Different seeds.
    /// They are not part of the message, because seeds are secrets.
    Seed,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Bits { ours, theirs } => write!(f, "the filters differ in bits, {ours} and {theirs}; make both with the same plan"),
            MergeError::Probes { ours, theirs } => {
                write!(f, "the filters differ in probes, {ours} and {theirs}; make both with the same plan")
            }
            MergeError::Shape { name, ours, theirs } => {
                write!(f, "the sketches differ in {name}, {ours} and {theirs}; make both with the same epsilon and delta")
            }
            MergeError::NotSums { how } => {
                write!(f, "after {how} a counter is no longer the sum of its keys' counts, so there is no inner product; count without it")
            }
            MergeError::Scheme { ours, theirs } => {
                write!(f, "the filters differ in schemes, {ours} and {theirs}; make both with the same scheme")
            }
            MergeError::Hasher { ours, theirs } => {
                write!(f, "they differ in hashers, {} and {}; make both with the same hasher", name(*ours), name(*theirs))
            }
            MergeError::Growth => f.write_str("the filters differ in how they grow; make one as an empty copy of the other"),
            MergeError::Layers => {
                f.write_str("filters that grow have no intersection: a key may be in different layers of the two; ask both")
            }
            MergeError::Limit { ones, limit } => {
                write!(
                    f,
                    "a layer of the other filter has {ones} set bits, but its limit is {limit}; its bytes are damaged: fetch them again"
                )
            }
            MergeError::Memory { bytes } => {
                write!(f, "cannot allocate {bytes} bytes for a layer; ask both filters instead")
            }
            MergeError::Room { needed, found } => {
                write!(f, "the buffer has {found} bytes, but a member takes {needed}; give that many (see `member_bytes`)")
            }
            MergeError::Seed => f.write_str("they differ in seeds; make both with the same seed, or one as a clone of the other"),
        }
    }
}

impl core::error::Error for MergeError {}

fn name(hasher: Option<HasherId>) -> &'static str {
    hasher.map_or("a foreign one", HasherId::name)
}

/// Why bytes are not a filter of this format. docs/FORMAT.md has the fields.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FormatError {
    /// The first bytes belong to something else.
    NotAFilter {
        /// The first bytes, up to eight.
        found: Vec<u8>,
    },
    /// The first bytes were changed as a transfer in text mode changes them.
    TextMode {
        /// The first bytes, up to eight.
        found: Vec<u8>,
    },
    /// A version of the format that this program does not know.
    Version {
        /// The version that can be read.
        expected: u16,
        /// The file's.
        found: u16,
    },
    /// Fewer bytes than expected.
    Truncated {
        /// The bytes there must be at least.
        expected: u64,
        /// The bytes that are there.
        found: u64,
    },
    /// More bytes than expected.
    TooLong {
        /// The length by the header.
        expected: u64,
        /// The bytes that are there.
        found: u64,
    },
    /// The header is damaged.
    HeaderChecksum {
        /// The checksum that the header carries.
        expected: u64,
        /// That of its bytes.
        found: u64,
    },
    /// The bits are damaged.
    PayloadChecksum {
        /// The checksum that the header carries.
        expected: u64,
        /// That of the bytes.
        found: u64,
    },
    /// The record of a pack's member is damaged, or belongs to another pack.
    MemberChecksum {
        /// The checksum that it carries.
        expected: u64,
        /// That of its bytes.
        found: u64,
    },
    /// The bytes are compressed, or a difference: they cannot be queried in place, and a difference
    /// is not a filter.
    Coded {
        /// Whether they are a difference; otherwise a compressed file.
        is_difference: bool,
    },
    /// A difference was expected.
    NotADifference,
    /// The coded bits cannot be decoded.
    Code,
    /// The coded bytes expand to more than they may.
    Expands {
        /// What they stand for, in bytes.
        to: u64,
        /// What they may stand for at most.
        most: u64,
    },
    /// A difference from another file than this one.
    WrongBase {
        /// The checksum of the header that the difference was made from.
        expected: u64,
        /// That of this file's.
        found: u64,
    },
    /// Two files that are not two states of one filter.
    OtherFilter {
        /// What differs.
        field: &'static str,
    },
    /// The record of a layer of a filter that grows is damaged.
    LayerChecksum {
        /// The checksum that it carries.
        expected: u64,
        /// That of its bytes.
        found: u64,
    },
    /// A file of another kind.
    Kind {
        /// What it holds.
        found: FileKind,
    },
    /// A file with another scheme.
    Scheme {
        /// The scheme of the type that was to be read.
        expected: SchemeId,
        /// The file's.
        found: SchemeId,
    },
    /// The crate is built without the feature `two-hash`.
    LeftOut {
        /// The file's scheme.
        scheme: SchemeId,
    },
    /// A kind, scheme, hasher or flag that this program does not know.
    Unknown {
        /// The field's name.
        field: &'static str,
        /// Its value.
        found: u32,
    },
    /// The file was being updated in place when its program ended, or is still.
    Unfinished,
    /// A field that must be 0 is not.
    Reserved {
        /// Where the field starts.
        offset: usize,
    },
    /// A field lies outside its range, or contradicts another.
    Field {
        /// The field's name.
        field: &'static str,
        /// The value, or the lowest, or the highest, that it may have, in words.
        expected: Expected,
        /// Its value.
        found: u64,
    },
    /// The parameters contradict each other.
    Parameters {
        /// What is wrong with the parameters.
        why: String,
    },
    /// The rate asked for is not strictly between 0 and 1.
    Rate {
        /// The numerator.
        numerator: u64,
        /// The power of ten.
        exponent: i32,
        /// The divisor.
        divisor: u64,
    },
    /// A bit beyond the last one is set.
    Padding {
        /// The number of bits.
        bits: u64,
    },
    /// The memory cannot be allocated.
    Memory {
        /// The bytes that it needs.
        bytes: u64,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::NotAFilter { found } => {
                write!(f, "this is not a truebloom file (it starts with \"{}\"); make one with `truebloom create`", found.escape_ascii())
            }
            FormatError::TextMode { found } => write!(
                f,
                "the file was damaged by a transfer in text mode (it starts with \"{}\"); copy it again in binary mode",
                found.escape_ascii()
            ),
            FormatError::Version { expected, found } => {
                write!(f, "the file has format version {found}, but this program reads {expected}; use a newer truebloom")
            }
            FormatError::Truncated { expected, found } => write!(f, "the file is cut off: {found} bytes of {expected}; copy it again"),
            FormatError::TooLong { expected, found } => {
                write!(f, "the file has {found} bytes, but its filter ends after {expected}; copy it again")
            }
            FormatError::HeaderChecksum { expected, found } => write!(
                f,
                "the header is damaged (checksum {found:016x} instead of {expected:016x}); copy the file again or rebuild the \
                 filter"
            ),
            FormatError::PayloadChecksum { expected, found } => write!(
                f,
                "the bits are damaged (checksum {found:016x} instead of {expected:016x}); copy the file again or rebuild the \
                 filter"
            ),
            FormatError::MemberChecksum { expected, found } => write!(
                f,
                "the member is damaged, or of a pack of another plan or seed (checksum {found:016x} instead of {expected:016x}); \
                 copy the file again or rebuild the filter"
            ),
            FormatError::Coded { is_difference: true } => {
                f.write_str("this is a difference of two filters, not a filter; apply it to the earlier one with `truebloom apply`")
            }
            FormatError::Coded { is_difference: false } => {
                f.write_str("the filter is compressed, and cannot be asked where it lies; expand it with `truebloom copy`")
            }
            FormatError::NotADifference => f.write_str("this is not a difference of two filters; make one with `truebloom diff`"),
            FormatError::Code => {
                f.write_str("the compressed bits cannot be decoded; the file was not written by truebloom: compress the filter again")
            }
            FormatError::Expands { to, most } => {
                write!(
                    f,
                    "the compressed bytes stand for {to} bytes, more than the {most} that so few bytes may expand to; the file was not written by truebloom"
                )
            }
            FormatError::WrongBase { expected, found } => write!(
                f,
                "the difference was made from another state of the filter (header checksum {expected:016x} instead of {found:016x}); \
                 apply it to that one, or copy the whole filter"
            ),
            FormatError::OtherFilter { field } => {
                write!(f, "the two are not states of one filter: they have different {field}; send the whole filter")
            }
            FormatError::LayerChecksum { expected, found } => write!(
                f,
                "the record of a layer is damaged (checksum {found:016x} instead of {expected:016x}); copy the file again or rebuild \
                 the filter"
            ),
            FormatError::Unfinished => f.write_str(
                "the filter is being updated in place, or was when its program ended, so that its counts and its checksum are not \
                 those of its bits; open it with `InPlace::recover` once that program is gone",
            ),
            FormatError::Kind { found } => write!(f, "the file holds {found}; open it with {}", found.opened_by()),
            FormatError::Scheme { expected, found } => write!(
                f,
                "the filter has the {found} scheme, but was to be opened as one with the {expected} scheme; open it by the type \
                 of its scheme, or a Bloom filter as `FilterOf<AnyScheme>` or `AnyFilter`"
            ),
            FormatError::LeftOut { scheme } => left_out(*scheme, f),
            FormatError::Unknown { field, found } => {
                write!(f, "the file has {field} {found}, which this program does not know; use a newer truebloom")
            }
            FormatError::Reserved { offset } => write!(f, "the bytes at {offset} must be 0; use a newer truebloom, or rebuild the filter"),
            FormatError::Field { field, expected, found } => {
                write!(
                    f,
                    "the file says {field} {found}, but it must be {expected}; the file was not written by truebloom: rebuild the filter"
                )
            }
            FormatError::Parameters { why } => {
                write!(f, "the parameters in the file contradict each other ({why}); it was not written by truebloom: rebuild the filter")
            }
            FormatError::Rate { numerator, exponent, divisor } => write!(
                f,
                "the file gives a rate of {numerator}e{exponent}/{divisor} as the one asked for, which is not a rate; the file was not \
                 written by truebloom: rebuild the filter"
            ),
            FormatError::Padding { bits } => {
                write!(f, "there are set bits beyond the last of {bits}; the file was not written by truebloom: rebuild the filter")
            }
            FormatError::Memory { bytes } => {
                write!(f, "cannot allocate {bytes} bytes for this filter; read it on a machine with more memory")
            }
        }
    }
}

impl core::error::Error for FormatError {}

/// What a field must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// This value.
    Exactly(u64),
    /// A value from the first to the second, both included.
    Within(u64, u64),
    /// A prime that is at least the depth of the sketch.
    Prime,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Exactly(value) => write!(f, "{value}"),
            Expected::Within(lowest, highest) => write!(f, "from {lowest} to {highest}"),
            Expected::Prime => f.write_str("a prime of at least the depth"),
        }
    }
}

fn left_out(scheme: SchemeId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "the {scheme} scheme was left out of this program; build it with the feature `two-hash` of truebloom")
}
