//! Bytes, streams and files.

use super::BlockedBloomFilter;
use crate::error::{BuildError, FileError, FormatError, ReadError};
use crate::format;
use std::io::{self, Read, Write};
use std::path::Path;

impl BlockedBloomFilter {
    /// The filter in the bytes of its file. An error if there is no memory for them.
    ///
    /// ```
    /// use truebloom::BlockedBloomFilter;
    /// let mut filter = BlockedBloomFilter::new(1_000, 0.01)?;
    /// filter.insert("key");
    /// assert_eq!(BlockedBloomFilter::from_bytes(&filter.to_bytes()?)?, filter);
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

    /// The filter in these bytes, which must be those of one file, whole and nothing after it.
    ///
    /// Safe for bytes from anywhere: all that is not a filter is an error, and the memory taken is at most the bytes' own length. The checksums find damage; they
    /// do not stop a forger. Linear in the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<BlockedBloomFilter, FormatError> {
        format::from_bytes(bytes)
    }

    /// Reads one filter from a stream and leaves what comes after it. For files, [`open`](Self::open) also checks that nothing does.
    ///
    /// Safe for streams from anywhere, as [`from_bytes`](Self::from_bytes) is: the memory taken is at most the length of the stream and 8 MiB.
    pub fn read_from(reader: impl Read) -> Result<BlockedBloomFilter, ReadError> {
        format::read_from(reader, None)
    }

    /// Reads the filter in a file. Takes no more memory than the file is long.
    ///
    /// ```no_run
    /// use truebloom::BlockedBloomFilter;
    /// let seen = BlockedBloomFilter::open("seen.tbl")?;
    /// println!("{}", seen.contains("key"));
    /// # Ok::<(), truebloom::FileError>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<BlockedBloomFilter, FileError> {
        format::open(path.as_ref())
    }

    /// Writes the filter to a file, and replaces the one that is there, keeping its permissions.
    ///
    /// Whoever reads the path sees the old file or the new one, whole, also after a power cut: the bytes go to a temporary file beside it, to the disk, and
    /// only then under the name. A symbolic link is followed, and what it points to is replaced. Errors: there is something else than a file (a folder, a
    /// device, a pipe); it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        format::save(self, path.as_ref())
    }

    /// [`save`](Self::save), but an error if there is anything under that name already.
    pub fn save_new(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        format::save_new(self, path.as_ref())
    }

    /// Whether a filter could be saved there now, so that a long run can fail at its start: the folder is there and can be written, and the name does not belong to
    /// something else than a file. Writes and removes an empty temporary file.
    pub fn check_target(path: impl AsRef<Path>) -> Result<(), FileError> {
        format::check_target(path.as_ref())
    }
}
