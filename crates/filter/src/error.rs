//! Errors, which include the values that were found, and advice on what to do.

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

/// The reason why a filter cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A rate, a number of items or a number of bits is out of range, or cannot be achieved.
    Math(truebloom_math::Error),
    /// The number of probes is out of range.
    Probes {
        /// The number of probes that was given.
        found: u32,
    },
    /// The number of probes is out of range for a blocked filter.
    BlockedProbes {
        /// The number of probes that was given.
        found: u32,
    },
    /// The type does not support the given scheme.
    Scheme {
        /// The only scheme that the type supports.
        expected: SchemeId,
        /// The scheme that was given.
        found: SchemeId,
    },
    /// The type does not support the scheme of blocked filters.
    InLines,
    /// The crate is built without the feature `two-hash`.
    LeftOut {
        /// The scheme that was given.
        scheme: SchemeId,
    },
    /// It is not proven that a filter with this scheme, these bits and these probes meets the
    /// requested rate for the requested number of items.
    NotProven {
        /// The scheme that was given.
        scheme: SchemeId,
        /// The requested number of items.
        items: u64,
        /// The requested false-positive rate.
        asked: Rate,
    },
    /// The bits cannot be divided into equal slices.
    Slices {
        /// The number of bits that was given.
        bits: u64,
        /// The number of probes, which is the number of slices.
        probes: u32,
    },
    /// The plan was made for a scheme that differs from the filter's scheme.
    Planned {
        /// The scheme of this filter.
        expected: truebloom_math::SchemeId,
        /// The plan's scheme.
        found: truebloom_math::SchemeId,
    },
    /// The plan was made for longer hashes than the hasher computes. Hash collisions would be more
    /// frequent than planned.
    HashBits {
        /// The number of bits in each hash that the hasher computes.
        found: u32,
        /// An upper bound on the part of the false-positive rate that hash collisions cause. The
        /// bound is for hashes of `found` bits.
        floor: f64,
        /// The part of the false-positive rate that the plan reserves for hash collisions.
        planned: f64,
    },
    /// A field in the policy of a recycling filter has an invalid value. The policy says when the
    /// filter forgets old keys.
    Policy {
        /// The invalid field.
        field: &'static str,
        /// The value of the invalid field.
        found: u64,
        /// The values that the field may have.
        expected: Expected,
        /// Why the field must have one of these values.
        why: &'static str,
    },
    /// A blocked recycling filter does not support this policy.
    NotBlocked {
        /// The unsupported part of the policy.
        what: &'static str,
    },
    /// A filter shared by threads does not support this policy.
    NotShared {
        /// The unsupported part of the policy.
        what: &'static str,
    },
    /// The memory cannot be allocated.
    Memory {
        /// The number of bytes that the filter needs.
        bytes: u64,
    },
    /// The buffer is shorter than the filter.
    Room {
        /// The length of the filter in bytes.
        needed: u64,
        /// The length of the buffer in bytes.
        found: u64,
    },
    /// The memory for a sketch's counters cannot be allocated.
    Counters {
        /// The number of bytes that the counters need.
        bytes: u128,
    },
    /// A sketch has too many rows.
    Rows {
        /// The requested number of rows.
        found: u64,
    },
    /// The rows of the sketch get their hashes in another way than the shape requires (see
    /// [`Rows`]).
    #[cfg(feature = "sketches")]
    RowHashes {
        /// How the rows get their hashes, according to the shape.
        found: Rows,
        /// How the rows of the sketch get their hashes.
        expected: Rows,
    },
    /// The operating system provides no random numbers.
    NoRandomSeed {
        /// The error message of the operating system.
        reason: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Math(error) => error.fmt(f),
            BuildError::Probes { found } => {
                write!(f, "a key cannot have {found} probes; choose from 1 to {MAX_PROBES}, or let a plan choose")
            }
            BuildError::BlockedProbes { found } => write!(
                f,
                "a key cannot have {found} probes in one block; choose from 1 to {}, let a plan choose, or use a standard \
                 filter",
                truebloom_math::BLOCK_PROBES
            ),
            BuildError::Scheme { expected, found } => {
                write!(f, "this type is for the {expected} scheme, not for the {found} one; use the type for that scheme, or `AnyScheme`")
            }
            BuildError::InLines => f.write_str("the blocked scheme has its own type; use `BlockedBloomFilter`"),
            BuildError::LeftOut { scheme } => left_out(*scheme, f),
            BuildError::NotProven { scheme, items, asked } => write!(
                f,
                "a rate of {asked} for {items} items is not proven for a filter of the {scheme} scheme with these bits and \
                 probes; give more bits, or take the standard scheme"
            ),
            BuildError::Slices { bits, probes } => write!(
                f,
                "{bits} bits cannot be divided into {probes} equal slices; take {} or {}",
                (bits / u64::from(*probes)).max(1) * u64::from(*probes),
                (bits / u64::from(*probes) + 1) * u64::from(*probes)
            ),
            BuildError::Planned { expected, found } => {
                write!(f, "the plan is for a {found} filter, but this is a {expected} one; plan with the scheme `{expected}`")
            }
            BuildError::HashBits { found, floor, planned } => write!(
                f,
                "the plan reserves {planned:e} of the rate for hash collisions, but hashes of {found} bits can cause {floor:e}; plan with `hash_bits: {found}`, or use a wider hash"
            ),
            BuildError::Policy { field, found, expected, why } => {
                write!(f, "{field} of the policy is {found}, but must be {expected}: {why}")
            }
            BuildError::NotBlocked { what } => {
                write!(f, "a blocked recycling filter cannot have {what}: its rate would not be known; use a standard filter")
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
                write!(f, "the buffer has {found} bytes, but the filter takes {needed}; make the buffer that long (see `encoded_bytes`)")
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
                write!(
                    f,
                    "the shape is for rows of kind {found:?}, but the sketch has rows of kind {expected:?}; make a shape for {expected:?} rows"
                )
            }
            BuildError::NoRandomSeed { reason } => write!(f, "the operating system provided no random seed ({reason}); give a seed"),
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
    /// Never called. Constructors accept any type that converts to a [`Rate`], and report a failed
    /// conversion as a `BuildError`. A [`Rate`] is accepted, too. Converting a [`Rate`] to itself
    /// cannot fail, so the error type of this conversion is `Infallible`.
    fn from(never: Infallible) -> BuildError {
        match never {}
    }
}

/// The error for a text that is not a seed.
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

/// The reason why two filters or two sketches cannot be merged. If they differ in several
/// parameters, the error names only the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// The numbers of bits differ.
    Bits {
        /// The number of bits of the first filter, which the merge would change.
        ours: u64,
        /// The number of bits of the other filter.
        theirs: u64,
    },
    /// The numbers of probes differ.
    Probes {
        /// The number of probes of the first filter, which the merge would change.
        ours: u32,
        /// The number of probes of the other filter.
        theirs: u32,
    },
    /// The shapes of the sketches differ.
    Shape {
        /// The first dimension in which the sketches differ.
        name: &'static str,
        /// The value of the differing dimension in the sketch that the merge would change.
        ours: u64,
        /// The size of this dimension in the other sketch.
        theirs: u64,
    },
    /// The inner product of the two sketches cannot be computed. For an inner product, each counter
    /// must be the sum of the counts of its keys. In one of the sketches, conservative update or
    /// halving has made counters lower than these sums.
    NotSums {
        /// The operation that made the counters lower: conservative update or halving.
        how: &'static str,
    },
    /// The schemes differ.
    Scheme {
        /// The name of the scheme of the filter that would be changed.
        ours: &'static str,
        /// The name of the scheme of the other filter.
        theirs: &'static str,
    },
    /// The hash functions differ.
    Hasher {
        /// The hasher of the first filter, which the merge would change, or `None` if the hasher
        /// has no number in the file format. Filters with such a hasher cannot be saved.
        ours: Option<HasherId>,
        /// The hasher of the other filter, or `None` if this hasher has no number in the file
        /// format.
        theirs: Option<HasherId>,
    },
    /// The two filters were made with different [`Growth`](truebloom_math::Growth) parameters.
    Growth,
    /// Filters that grow cannot be intersected.
    Layers,
    /// The other filter grows by adding layers. One of its layers has more set bits than the limit
    /// for this layer, so the bytes of the other filter are damaged or forged.
    Limit {
        /// The number of set bits in the layer.
        ones: u64,
        /// The limit: the largest number of bits that may be set in the layer.
        limit: u64,
    },
    /// The memory for a layer cannot be allocated.
    Memory {
        /// The size of the layer in bytes.
        bytes: u64,
    },
    /// The buffer is too short for a filter of the [pack](crate::Pack).
    Room {
        /// The number of bytes that each filter takes in the pack.
        needed: usize,
        /// The length of the buffer in bytes.
        found: usize,
    },
    /// The seeds differ. The error does not contain the seeds, because they are secret.
    Seed,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Bits { ours, theirs } => write!(f, "the filters have {ours} and {theirs} bits; make both as copies of one empty filter"),
            MergeError::Probes { ours, theirs } => {
                write!(f, "the filters have {ours} and {theirs} probes; make both as copies of one empty filter")
            }
            MergeError::Shape { name, ours, theirs } => {
                write!(f, "the sketches differ in {name} ({ours} and {theirs}); make both with the same epsilon and delta")
            }
            MergeError::NotSums { how } => {
                write!(
                    f,
                    "the inner product needs counters that are sums of their keys' counts, but {how} leaves other values; count again without {how}"
                )
            }
            MergeError::Scheme { ours, theirs } => {
                write!(f, "the filters have different schemes, {ours} and {theirs}; make both with the same scheme")
            }
            MergeError::Hasher { ours, theirs } => {
                write!(f, "the hashers differ ({} and {}); make both with the same hasher", name(*ours), name(*theirs))
            }
            MergeError::Growth => f.write_str("the filters grow in different ways; make one as an empty copy of the other"),
            MergeError::Layers => f.write_str(
                "filters that grow cannot be intersected, because the same key may be in different layers of the two filters; query both filters instead",
            ),
            MergeError::Limit { ones, limit } => {
                write!(
                    f,
                    "a layer of the other filter has {ones} set bits, but its limit is {limit}; the bytes of that filter are damaged: fetch them again"
                )
            }
            MergeError::Memory { bytes } => {
                write!(f, "cannot allocate {bytes} bytes for a layer; query both filters instead")
            }
            MergeError::Room { needed, found } => {
                write!(f, "the buffer has {found} bytes, but a member takes {needed}; make the buffer that long (see `member_bytes`)")
            }
            MergeError::Seed => f.write_str("the seeds differ; make both with the same seed, or one as a clone of the other"),
        }
    }
}

impl core::error::Error for MergeError {}

fn name(hasher: Option<HasherId>) -> &'static str {
    hasher.map_or("a custom one", HasherId::name)
}

/// The error for bytes that are not a valid file. The file format is described in docs/FORMAT.md.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FormatError {
    /// The bytes do not begin like a file of this format.
    NotAFilter {
        /// At most eight bytes from the beginning of the data.
        found: Vec<u8>,
    },
    /// The first bytes were changed, probably by a transfer in text mode.
    TextMode {
        /// At most eight bytes from the beginning of the data.
        found: Vec<u8>,
    },
    /// The format version is not supported.
    Version {
        /// The version that can be read.
        expected: u16,
        /// The version that the file has.
        found: u16,
    },
    /// There are too few bytes.
    Truncated {
        /// The smallest number of bytes that is required.
        expected: u64,
        /// The actual number of bytes.
        found: u64,
    },
    /// There are too many bytes.
    TooLong {
        /// The number of bytes that the contents of the file take.
        expected: u64,
        /// The actual number of bytes.
        found: u64,
    },
    /// The header is damaged.
    HeaderChecksum {
        /// The checksum in the header.
        expected: u64,
        /// The checksum of the header's bytes.
        found: u64,
    },
    /// The payload is damaged.
    PayloadChecksum {
        /// The checksum in the header.
        expected: u64,
        /// The checksum of the payload's bytes.
        found: u64,
    },
    /// In a [pack](crate::Pack), the record of a filter is damaged, or comes from a pack with
    /// another plan or seed.
    MemberChecksum {
        /// The checksum in the record.
        expected: u64,
        /// The checksum of the record's bytes.
        found: u64,
    },
    /// The bytes are a compressed filter, or the [difference](crate::wire) between two states of a
    /// filter. Keys cannot be looked up in such bytes.
    Coded {
        /// True if the bytes encode the difference between two states of a filter, and false if
        /// they encode a compressed filter.
        is_difference: bool,
    },
    /// The bytes are not the [difference](crate::wire) between two states of a filter.
    NotADifference,
    /// The compressed bytes cannot be decoded.
    Code,
    /// The expanded file would be too large. The limit depends on the number of compressed bytes.
    Expands {
        /// The length in bytes after expansion.
        to: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// The difference was made from a file other than the given one.
    WrongBase {
        /// The checksum in the header of the file from which the difference was made.
        expected: u64,
        /// The checksum in the header of the given file.
        found: u64,
    },
    /// The two files do not hold the same filter at two different times, because their headers
    /// differ in a field that never changes.
    OtherFilter {
        /// The first header field in which the files differ.
        field: &'static str,
    },
    /// The file of a filter that grows has a record for each layer. One of these records is
    /// damaged.
    LayerChecksum {
        /// The checksum in the record.
        expected: u64,
        /// The checksum of the record's bytes.
        found: u64,
    },
    /// The Rust type with which the file was opened does not support this kind of file.
    Kind {
        /// The kind of the file.
        found: FileKind,
    },
    /// The scheme of the file differs from the scheme of the Rust type that opened it.
    Scheme {
        /// The scheme of the Rust type.
        expected: SchemeId,
        /// The scheme of the file.
        found: SchemeId,
    },
    /// The crate is built without the feature `two-hash`.
    LeftOut {
        /// The scheme of the file.
        scheme: SchemeId,
    },
    /// A kind, scheme, hasher or flag has a value that this program does not know.
    Unknown {
        /// The name of the field with the unknown value.
        field: &'static str,
        /// The value that was found.
        found: u32,
    },
    /// A program is updating the file in place, or a program ended before it finished such an
    /// update.
    Unfinished,
    /// A field that must be 0 has another value.
    Reserved {
        /// The offset of the field in the file.
        offset: usize,
    },
    /// The value of a field is outside its range, or contradicts another field.
    Field {
        /// The field's name.
        field: &'static str,
        /// The allowed values.
        expected: Expected,
        /// The value that was found.
        found: u64,
    },
    /// The parameters contradict each other.
    Parameters {
        /// What is wrong with the parameters.
        why: String,
    },
    /// The rate in the header is not strictly between 0 and 1. The rate is
    /// `numerator * 10^exponent / divisor`.
    Rate {
        /// The `numerator` in the formula for the rate.
        numerator: u64,
        /// The `exponent` in the formula for the rate.
        exponent: i32,
        /// The `divisor` in the formula for the rate.
        divisor: u64,
    },
    /// The unused bits after the last bit of the filter are not all 0.
    Padding {
        /// The number of bits of the filter.
        bits: u64,
    },
    /// The memory cannot be allocated.
    Memory {
        /// The number of bytes that could not be allocated.
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
            FormatError::Truncated { expected, found } => {
                write!(f, "the file is cut off: it has {found} of at least {expected} bytes; copy the original file again")
            }
            FormatError::TooLong { expected, found } => {
                write!(f, "the file has {found} bytes, but its contents end after {expected}; copy the original file again")
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
                "the member is damaged, or belongs to a pack with another plan or seed (checksum {found:016x} instead of {expected:016x}); \
                 copy the file again or rebuild the filter"
            ),
            FormatError::Coded { is_difference: true } => {
                f.write_str("this is a difference of two filters, not a filter; apply it to the earlier of the two filters with `truebloom apply`")
            }
            FormatError::Coded { is_difference: false } => {
                f.write_str("the filter is compressed, and cannot be queried in place; expand it with `truebloom copy`")
            }
            FormatError::NotADifference => f.write_str("this is not a difference of two filters; make one with `truebloom diff`"),
            FormatError::Code => {
                f.write_str("the compressed bits cannot be decoded; the file was not written by truebloom: compress the filter again")
            }
            FormatError::Expands { to, most } => {
                write!(
                    f,
                    "the compressed bytes would expand to {to} bytes, more than the {most} that are allowed for their length; the file was not written by truebloom"
                )
            }
            FormatError::WrongBase { expected, found } => write!(
                f,
                "the difference was made from another state of the filter (that state has header checksum {expected:016x}, but this filter has {found:016x}); \
                 apply it to that state, or copy the whole filter"
            ),
            FormatError::OtherFilter { field } => {
                let differ = match *field {
                    "kinds" => "are of different ",
                    "probes" | "bits" => "have different numbers of ",
                    _ => "have different ",
                };
                write!(f, "the two files are not states of the same filter: they {differ}{field}; copy the whole filter instead")
            }
            FormatError::LayerChecksum { expected, found } => write!(
                f,
                "the record of a layer is damaged (checksum {found:016x} instead of {expected:016x}); copy the file again or rebuild \
                 the filter"
            ),
            FormatError::Unfinished => f.write_str(
                "a program is updating the filter in place, or ended during an update, so its counts and its checksum do not match its bits; open it with `InPlace::recover` once that program has ended",
            ),
            FormatError::Kind { found } => write!(f, "the file holds {found}; open it with {}", found.opened_by()),
            FormatError::Scheme { expected, found } => write!(
                f,
                "the filter has the {found} scheme, but was opened with a type for the {expected} scheme; open it with the type for the {found} scheme, or, if it is a Bloom filter, as `FilterOf<AnyScheme>` or `AnyFilter`"
            ),
            FormatError::LeftOut { scheme } => left_out(*scheme, f),
            FormatError::Unknown { field, found } => {
                write!(f, "the file has {field} {found}, which this program does not know; use a newer truebloom")
            }
            FormatError::Reserved { offset } => write!(f, "the bytes at offset {offset} must be 0, but are not; use a newer truebloom, or rebuild the filter"),
            FormatError::Field { field, expected, found } => {
                // An intact file that was opened as another type must not be thrown away.
                let advice = match *field {
                    "hash family" => "if the file is intact, open it as a sketch of this family",
                    "bytes of a counter" => "if the file is intact, open it as a sketch with counters of this size",
                    "block bits" => "if the file is intact, open it as a filter of this layout",
                    _ => "the file was not written by truebloom: rebuild the filter",
                };
                write!(f, "the file has {field} {found}, but this must be {expected}; {advice}")
            }
            FormatError::Parameters { why } => {
                write!(f, "the parameters in the file contradict each other ({why}); the file was not written by truebloom: rebuild the filter")
            }
            FormatError::Rate { numerator, exponent, divisor } => write!(
                f,
                "the requested rate in the file, {numerator}e{exponent}/{divisor}, is not between 0 and 1; the file was not \
                 written by truebloom: rebuild the filter"
            ),
            FormatError::Padding { bits } => {
                write!(f, "bits are set beyond the last of the filter's {bits} bits; the file was not written by truebloom: rebuild the filter")
            }
            FormatError::Memory { bytes } => {
                write!(f, "cannot allocate {bytes} bytes for this filter; read it on a machine with more memory")
            }
        }
    }
}

impl core::error::Error for FormatError {}

/// The allowed values of a field in a file or in a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// Exactly this value.
    Exactly(u64),
    /// A value in this range, which includes both ends.
    Within(u64, u64),
    /// A prime number that is at least the number of rows of the sketch.
    Prime,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Exactly(value) => write!(f, "{value}"),
            Expected::Within(lowest, highest) => write!(f, "from {lowest} to {highest}"),
            Expected::Prime => f.write_str("a prime that is at least the number of rows"),
        }
    }
}

fn left_out(scheme: SchemeId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "this program was built without the {scheme} scheme; build it with the feature `two-hash` of truebloom")
}
