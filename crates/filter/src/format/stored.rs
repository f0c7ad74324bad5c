//! Types that can be saved in a file.

use super::Fields;
use crate::error::FormatError;
use crate::ids::FileKind;
use alloc::vec::Vec;

/// A value with a file format: a header of 256 bytes and a payload of 64-bit words, written
/// little-endian.
///
/// All kinds share the general fields (magic, version, kind, lengths, checksums) and the code for
/// streams, files and memory. A kind defines only its own fields and its words.
pub(crate) trait Stored: Written {
    /// The kinds of files that this type opens.
    const KINDS: &'static [FileKind];

    /// The contents of the header. [`read_header`](Self::read_header) refuses values that `Self`
    /// cannot have.
    type Header;

    /// Reads and checks every field of this kind, and checks that all unused parameters are 0.
    /// Nothing is allocated before these checks.
    fn read_header(fields: &Fields, kind: FileKind) -> Result<Self::Header, FormatError>;

    /// The length of the payload that follows a header with these contents: a multiple of 8, at
    /// most 2^62.
    fn payload_bytes(header: &Self::Header) -> u64;

    /// Makes a value from a header and its words, which must have
    /// [`payload_bytes`](Self::payload_bytes) bytes. Returns an error if header and words
    /// contradict each other.
    fn assemble(header: Self::Header, words: Vec<u64>) -> Result<Self, FormatError>;
}

/// A value that can be written to a file, whatever its backing.
pub(crate) trait Written: Sized {
    /// The header fields of this value.
    fn fields(&self) -> Fields;

    /// The number of [`words`](Self::words).
    fn word_count(&self) -> u64;

    /// The payload.
    fn words(&self) -> impl Iterator<Item = u64>;
}
