//! Bytes, streams and files: the whole state, in the middle of a cycle.

use super::RecyclingFilter;
use super::memory::Layout;
use crate::error::{BuildError, FileError, FormatError, ReadError};
use crate::format;
use crate::hash::PortableHasher;
use std::io::{self, Read, Write};
use std::path::Path;

impl<S: Layout> RecyclingFilter<PortableHasher, S> {
    /// The filter in the bytes of its file. An error if there is no memory for them.
    ///
    /// ```
    /// use truebloom::recycling::{Policy, RecyclingFilter};
    /// let mut seen = RecyclingFilter::new(1_000, 4, Policy::two_phases(500))?;
    /// assert!((0..300).filter(|i| seen.check_and_insert(i).is_new()).count() > 200);
    /// let mut copy: RecyclingFilter = RecyclingFilter::from_bytes(&seen.to_bytes()?)?;
    /// // It goes on as if nothing had happened.
    /// assert!((250..600).all(|i| seen.check_and_insert(&i) == copy.check_and_insert(&i)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, BuildError> {
        format::to_bytes(self)
    }

    /// Writes the bytes of the filter's file. Unbuffered writers are fine: it writes in large pieces.
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        format::write_to(self, writer)
    }

    /// The number of bytes of the filter's file.
    pub fn encoded_bytes(&self) -> u64 {
        format::encoded_bytes(self)
    }

    /// The filter in these bytes, which must be those of one file, whole and nothing after it. Safe for bytes from anywhere. Linear in the bytes.
    ///
    /// Errors: the bytes are no recycling filter, or one of another scheme or layout than `S`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        format::from_bytes(bytes)
    }

    /// Reads one filter from a stream and leaves what comes after it. Safe for streams from anywhere.
    pub fn read_from(reader: impl Read) -> Result<Self, ReadError> {
        format::read_from(reader, None)
    }

    /// Reads the filter in a file. The scheme is that of the type: `let seen: RecyclingFilter = RecyclingFilter::open(path)?` is one of the standard scheme.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        format::open(path.as_ref())
    }

    /// Writes the filter to a file, and replaces the one that is there, whole or not at all, as [`BloomFilter::save`](crate::BloomFilter::save) does. Takes no memory of the filter's size.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        format::save(self, path.as_ref())
    }

    /// [`save`](Self::save), but an error if there is anything under that name already.
    pub fn save_new(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        format::save_new(self, path.as_ref())
    }

    /// Whether a filter could be saved there now; see [`BloomFilter::check_target`](crate::BloomFilter::check_target).
    pub fn check_target(path: impl AsRef<Path>) -> Result<(), FileError> {
        format::check_target(path.as_ref())
    }
}
