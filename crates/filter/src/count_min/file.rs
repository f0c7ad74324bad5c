//! Bytes, streams and files.

use super::{Counter, ListedSketch, RowHashes, Sketch};
use crate::error::{BuildError, FileError, FormatError, ReadError};
use crate::format;
use std::io::{Read, Write};
use std::path::Path;

macro_rules! files {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// The bytes of its file. An error if there is no memory for them.
            pub fn to_bytes(&self) -> Result<Vec<u8>, BuildError> {
                format::to_bytes(self)
            }

            /// Writes the bytes of its file, in large pieces.
            pub fn write_to(&self, writer: impl Write) -> std::io::Result<()> {
                format::write_to(self, writer)
            }

            /// What these bytes hold, which must be those of one file, whole and nothing after it. Counters of 32 bits are read into 64, not the other way round.
            ///
            /// Safe for bytes from anywhere: all else is an error, and the memory taken is a small multiple of the bytes' own length. The checksums find damage; they do not
            /// stop a forger.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
                format::from_bytes(bytes)
            }

            /// Reads one from a stream and leaves what comes after it. Safe for streams from anywhere, as [`from_bytes`](Self::from_bytes) is.
            pub fn read_from(reader: impl Read) -> Result<Self, ReadError> {
                format::read_from(reader, None)
            }

            /// Reads a file.
            pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
                format::open(path.as_ref())
            }

            /// Writes the file, and replaces the one that is there as a whole: see [`BloomFilter::save`](crate::BloomFilter::save).
            pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
                format::save(self, path.as_ref())
            }

            /// [`save`](Self::save), but an error if there is anything under that name already.
            pub fn save_new(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
                format::save_new(self, path.as_ref())
            }
        }
    };
}

files!([R: RowHashes, C: Counter] Sketch<R, C>);
files!([R: RowHashes, C: Counter] ListedSketch<R, C>);
