//! What can go wrong, said with the values that were found and what to do about it.

use crate::MAX_PROBES;
use crate::format::FileKind;
use crate::hash::HasherId;
use crate::scheme::SchemeId;
use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use truebloom_math::Rate;
use truebloom_math::count_min::Rows;

/// Why a filter cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The numbers are wrong: a rate, a number of items or of bits out of range or out of reach.
    #[error(transparent)]
    Math(#[from] truebloom_math::Error),
    /// The number of probes is out of range.
    #[error("a key cannot have {found} probes; give 1 to {MAX_PROBES}, or leave the choice to a plan")]
    Probes {
        /// The number that was given.
        found: u32,
    },
    /// The number of probes is out of range for a blocked filter.
    #[error(
        "a key cannot have {found} probes in one block; give 1 to {}, leave the choice to a plan, or take a standard filter",
        crate::scheme::MAX_BLOCKED_PROBES
    )]
    BlockedProbes {
        /// The number that was given.
        found: u32,
    },
    /// The type is that of another scheme.
    #[error("the type is that of the {expected} scheme, not of the {found} one; take the type of that, or `AnyScheme`")]
    Scheme {
        /// The scheme of the type.
        expected: SchemeId,
        /// The scheme that was given.
        found: SchemeId,
    },
    /// The scheme of blocked filters for a filter whose positions lie anywhere.
    #[error("the blocked scheme has a type of its own; take `BlockedBloomFilter`")]
    InLines,
    /// The law of the scheme does not prove the rate.
    #[error(
        "a rate of {asked} for {items} items is not proven for a filter of the {scheme} scheme with these bits and probes; give more bits, or take the standard scheme"
    )]
    NotProven {
        /// The scheme.
        scheme: SchemeId,
        /// The items that were asked for.
        items: u64,
        /// The rate that was asked for.
        asked: Rate,
    },
    /// Slices cannot be equal.
    #[error(
        "{bits} bits cannot be shared equally by {probes} slices; take {} or {}",
        (bits / u64::from(*probes)).max(1) * u64::from(*probes),
        (bits / u64::from(*probes) + 1) * u64::from(*probes)
    )]
    Slices {
        /// The bits that were given.
        bits: u64,
        /// The probes, one a slice.
        probes: u32,
    },
    /// The plan is for another scheme than that of this filter.
    #[error("the plan is for a {found} filter, but this is a {expected} one; plan with the scheme `{expected}`")]
    Planned {
        /// The scheme of this filter.
        expected: truebloom_math::SchemeId,
        /// The plan's scheme.
        found: truebloom_math::SchemeId,
    },
    /// The plan counts fewer equal hashes than the hasher makes.
    #[error(
        "the plan adds {planned:e} for equal hashes, but a hash of {found} bits makes {floor:e}; plan with `hash_bits: {found}`, or take a wider hash"
    )]
    HashBits {
        /// Width of the hasher's hash.
        found: u32,
        /// What equal hashes of that width add to the rate at most.
        floor: f64,
        /// What the plan adds for them.
        planned: f64,
    },
    /// A policy of a recycling filter that cannot work.
    #[error("{field} of the policy is {found}, but must be {expected}: {why}")]
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
    #[error("a blocked recycling filter cannot have {what}: no law of them is known; take a standard filter")]
    NotBlocked {
        /// What it cannot have.
        what: &'static str,
    },
    /// A policy that a filter shared by threads cannot have.
    #[error("a filter that threads share cannot have {what}; recycle it yourself, or put a lock around a `RecyclingFilter`")]
    NotShared {
        /// What it cannot have.
        what: &'static str,
    },
    /// The memory is not to be had.
    #[error("there are no {bytes} bytes of memory to be had; ask for a higher rate or fewer items, or split the keys over several filters")]
    Memory {
        /// The bytes that the filter needs.
        bytes: u64,
    },
    /// There are fewer bytes than the filter takes.
    #[error("there is room for {found} bytes, but the filter takes {needed}; give as many (`encoded_bytes` says how many)")]
    Room {
        /// The bytes of the filter.
        needed: u64,
        /// The bytes that there are.
        found: u64,
    },
    /// The memory for a sketch's counters is not to be had.
    #[error("there are no {bytes} bytes of memory to be had for the counters; ask for a larger epsilon or delta, or take 32-bit counters")]
    Counters {
        /// The bytes that the counters need.
        bytes: u128,
    },
    /// A sketch has too many rows.
    #[error("a sketch cannot have {found} rows; give at most {MAX_PROBES}, or ask for a larger delta")]
    Rows {
        /// The number that was asked for.
        found: u64,
    },
    /// The shape is for another kind of rows than the sketch has.
    #[error("the shape is for {found:?} rows, but the sketch has {expected:?} ones; make the shape for those")]
    RowHashes {
        /// The shape's.
        found: Rows,
        /// The sketch's.
        expected: Rows,
    },
    /// The operating system gives no random numbers.
    #[error("the operating system gives no random seed ({reason}); give a seed")]
    NoRandomSeed {
        /// What the system said.
        reason: String,
    },
}

impl From<Infallible> for BuildError {
    /// So that constructors take a `Rate` as well as what can fail to become one.
    fn from(never: Infallible) -> BuildError {
        match never {}
    }
}

/// Why a text is not a seed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a seed; write 1 to 32 hexadecimal digits")]
#[non_exhaustive]
pub struct ParseSeedError {
    /// The text that was given.
    pub found: String,
}

/// Why two filters or two sketches cannot be merged: the first parameter in which they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Different numbers of bits.
    #[error("the filters differ in bits, {ours} and {theirs}; make both with the same plan")]
    Bits {
        /// Of the filter that was to change.
        ours: u64,
        /// Of the other.
        theirs: u64,
    },
    /// Different numbers of probes.
    #[error("the filters differ in probes, {ours} and {theirs}; make both with the same plan")]
    Probes {
        /// Of the filter that was to change.
        ours: u32,
        /// Of the other.
        theirs: u32,
    },
    /// Sketches of different sizes.
    #[error("the sketches differ in {name}, {ours} and {theirs}; make both with the same epsilon and delta")]
    Shape {
        /// The first size in which they differ.
        name: &'static str,
        /// Of the sketch that was to change.
        ours: u64,
        /// Of the other.
        theirs: u64,
    },
    /// An inner product of sketches whose counters are not sums.
    #[error("after {how} a counter is no longer the sum of its keys' counts, so there is no inner product; count without it")]
    NotSums {
        /// What was done to one of them.
        how: &'static str,
    },
    /// Different schemes.
    #[error("the filters differ in schemes, {ours} and {theirs}; make both with the same scheme")]
    Scheme {
        /// The name of that of the filter that was to change.
        ours: &'static str,
        /// Of the other.
        theirs: &'static str,
    },
    /// Different hash functions.
    #[error("they differ in hashers, {} and {}; make both with the same hasher", name(*ours), name(*theirs))]
    Hasher {
        /// Of the one that was to change; `None` for one that files do not know.
        ours: Option<HasherId>,
        /// Of the other.
        theirs: Option<HasherId>,
    },
    /// There are fewer bytes than a member of a pack takes.
    #[error("there is room for {found} bytes, but a member takes {needed}; give as many (`member_bytes` says how many)")]
    Room {
        /// The bytes of a member.
        needed: usize,
        /// The bytes that there are.
        found: usize,
    },
    /// Different seeds.
    /// They are not part of the message, because seeds are secrets.
    #[error("they differ in seeds; make both with the same seed, or one as a clone of the other")]
    Seed,
}

fn name(hasher: Option<HasherId>) -> &'static str {
    hasher.map_or("a foreign one", HasherId::name)
}

/// Why bytes are not a filter of this format. docs/FORMAT.md has the fields.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The first bytes are those of something else.
    #[error("this is not a truebloom file (it starts with \"{}\"); make one with `truebloom create`", found.escape_ascii())]
    NotAFilter {
        /// The first bytes, up to eight.
        found: Vec<u8>,
    },
    /// The first bytes were changed as a transfer in text mode changes them.
    #[error("the file was damaged by a transfer in text mode (it starts with \"{}\"); copy it again in binary mode", found.escape_ascii())]
    TextMode {
        /// The first bytes, up to eight.
        found: Vec<u8>,
    },
    /// A version of the format that this program does not know.
    #[error("the file has format version {found}, but this program reads {expected}; use a newer truebloom")]
    Version {
        /// The version that can be read.
        expected: u16,
        /// The file's.
        found: u16,
    },
    /// Fewer bytes than there must be.
    #[error("the file is cut off: {found} bytes of {expected}; copy it again")]
    Truncated {
        /// The bytes there must be at least.
        expected: u64,
        /// The bytes that are there.
        found: u64,
    },
    /// More bytes than there must be.
    #[error("the file has {found} bytes, but its filter ends after {expected}; copy it again")]
    TooLong {
        /// The length by the header.
        expected: u64,
        /// The bytes that are there.
        found: u64,
    },
    /// The header is damaged.
    #[error("the header is damaged (checksum {found:016x} instead of {expected:016x}); copy the file again or rebuild the filter")]
    HeaderChecksum {
        /// The checksum that the header carries.
        expected: u64,
        /// That of its bytes.
        found: u64,
    },
    /// The bits are damaged.
    #[error("the bits are damaged (checksum {found:016x} instead of {expected:016x}); copy the file again or rebuild the filter")]
    PayloadChecksum {
        /// The checksum that the header carries.
        expected: u64,
        /// That of the bytes.
        found: u64,
    },
    /// What a member of a pack keeps is damaged, or it is one of another pack.
    #[error(
        "the member is damaged, or of a pack of another plan or seed (checksum {found:016x} instead of {expected:016x}); copy the file again or rebuild the filter"
    )]
    MemberChecksum {
        /// The checksum that it carries.
        expected: u64,
        /// That of its bytes.
        found: u64,
    },
    /// A file of another kind.
    #[error("the file holds {found}; open it with {}", found.opened_by())]
    Kind {
        /// What it holds.
        found: FileKind,
    },
    /// A file with another scheme.
    #[error(
        "the filter has the {found} scheme, but was to be opened as one with the {expected} scheme; open it by the type of its scheme, or a Bloom filter as `BloomFilter<PortableHasher, AnyScheme>`"
    )]
    Scheme {
        /// The scheme of the type that was to be read.
        expected: SchemeId,
        /// The file's.
        found: SchemeId,
    },
    /// A kind, scheme, hasher or flag that this program does not know.
    #[error("the file has {field} {found}, which this program does not know; use a newer truebloom")]
    Unknown {
        /// The field's name.
        field: &'static str,
        /// Its value.
        found: u32,
    },
    /// The file was being updated in place when its program ended, or is still.
    #[error(
        "the filter is being updated in place, or was when its program ended, so that its counts and its checksum are not those of its bits; open it with `InPlace::recover` once that program is gone"
    )]
    Unfinished,
    /// A field that must be 0 is not.
    #[error("the bytes at {offset} must be 0; use a newer truebloom, or rebuild the filter")]
    Reserved {
        /// Where the field starts.
        offset: usize,
    },
    /// A field lies outside its range, or contradicts another.
    #[error("the file says {field} {found}, but it must be {expected}; it was not written by truebloom: rebuild the filter")]
    Field {
        /// The field's name.
        field: &'static str,
        /// The value, or the lowest, or the highest, that it may have, in words.
        expected: Expected,
        /// Its value.
        found: u64,
    },
    /// The parameters contradict each other.
    #[error("the parameters in the file do not go together ({why}); it was not written by truebloom: rebuild the filter")]
    Parameters {
        /// What is wrong with them.
        why: String,
    },
    /// The rate asked for is not strictly between 0 and 1.
    #[error(
        "the file says that a rate of {numerator}e{exponent}/{divisor} was asked for, which is none; it was not written by truebloom: rebuild the filter"
    )]
    Rate {
        /// The numerator.
        numerator: u64,
        /// The power of ten.
        exponent: i32,
        /// The divisor.
        divisor: u64,
    },
    /// A bit beyond the last one is set.
    #[error("there are set bits beyond the last of {bits}; the file was not written by truebloom: rebuild the filter")]
    Padding {
        /// The number of bits.
        bits: u64,
    },
    /// The memory is not to be had.
    #[error("there are no {bytes} bytes of memory to be had for this filter; read it on a larger machine")]
    Memory {
        /// The bytes that it needs.
        bytes: u64,
    },
}

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

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expected::Exactly(value) => write!(f, "{value}"),
            Expected::Within(lowest, highest) => write!(f, "from {lowest} to {highest}"),
            Expected::Prime => f.write_str("a prime of at least the depth"),
        }
    }
}

/// Why a filter cannot be read from a stream. A message does not repeat its cause, which is its [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The stream fails.
    #[error("cannot read the filter; check where it comes from")]
    Io(#[from] io::Error),
    /// The bytes are no filter.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// Why a file cannot be opened or saved. A message does not repeat its cause, which is its [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot read {}; check the path and its permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// It can be read, but is no filter.
    #[error("{} cannot be opened as this kind of filter", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        cause: FormatError,
    },
    /// Another program updates it.
    #[error("{} is being updated by another program; wait until that is done", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be written. What was there before is untouched.
    #[error("cannot write {}; check the folder, its permissions and its free space", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// There is something else than a file under that name.
    #[error("{} is not a regular file; choose another name", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A symbolic link under that name leads to no file.
    #[error("{} is a symbolic link to a file that is not there; remove the link, or choose another name", path.display())]
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// The file may not be written.
    #[error("{} is write-protected; `chmod u+w` it first, or choose another name", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file was removed, or another one took its name, after it was opened. What is there now is untouched.
    #[error("{} was removed or replaced by another program in the meantime; nothing was written: run the command again", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// It exists already and was not to be overwritten.
    #[error("{} exists already; choose another name or overwrite it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
}
