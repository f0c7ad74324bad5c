//! What has a file.

use super::{Fields, FileKind};
use crate::error::FormatError;
use alloc::vec::Vec;

/// A value with a file: a header of 256 bytes and a payload of 64-bit words, written little-endian.
///
/// The envelope (magic, version, kind, lengths, checksums) and everything about streams, files and
/// memory is shared; a kind only says what its fields and its words mean.
pub(crate) trait Stored: Written {
    /// The kinds that this type opens.
    const KINDS: &'static [FileKind];

    /// What the fields of the header say. Only values that `Self` can have:
    /// [`read_header`](Self::read_header) refuses the others.
    type Header;

    /// Reads and checks every field of this kind, and that the parameters it does not use are 0.
    /// Nothing has been allocated before.
    fn read_header(fields: &Fields, kind: FileKind) -> Result<Self::Header, FormatError>;

    /// The length of the payload that follows such a header: a multiple of 8, at most 2^62.
    fn payload_bytes(header: &Self::Header) -> u64;

    /// The value of a header and its words, as many as [`payload_bytes`](Self::payload_bytes) says;
    /// an error if the two contradict each other.
    fn assemble(header: Self::Header, words: Vec<u64>) -> Result<Self, FormatError>;
}

/// A value that can be written to a file, wherever it is.
pub(crate) trait Written: Sized {
    /// The fields of this value.
    fn fields(&self) -> Fields;

    /// The number of [`words`](Self::words).
    fn word_count(&self) -> u64;

    /// The payload.
    fn words(&self) -> impl Iterator<Item = u64>;
}
