//! Bytes, streams and files.

use super::BloomFilter;
use crate::error::{FileError, FormatError, ReadError};
use crate::format::{self, reads_files, writes_files};
use crate::hash::PortableHasher;
use crate::scheme::Scheme;
use std::io::Read;
use std::path::Path;

writes_files! {
    ///
    /// ```
    /// use truebloom::BloomFilter;
    /// let mut filter = BloomFilter::new(1_000, 0.01)?;
    /// filter.insert("key");
    /// assert_eq!(BloomFilter::from_bytes(&filter.to_bytes()?)?, filter);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    [S: Scheme] BloomFilter<PortableHasher, S>
}

// Of the standard scheme, so that the type of a call says which scheme is meant.
reads_files!([] BloomFilter);

impl<S: Scheme> BloomFilter<PortableHasher, S> {
    /// [`from_bytes`](BloomFilter::from_bytes) for any type of scheme: [`AnyScheme`](crate::scheme::AnyScheme) reads all.
    ///
    /// ```
    /// use truebloom::scheme::{AnyScheme, Scheme};
    /// use truebloom::{BloomFilter, PortableHasher};
    /// let bytes = BloomFilter::new(1_000, 0.01)?.to_bytes()?;
    /// let filter = BloomFilter::<PortableHasher, AnyScheme>::of_scheme_from_bytes(&bytes)?;
    /// assert_eq!(filter.scheme().id().name(), "standard");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_scheme_from_bytes(bytes: &[u8]) -> Result<BloomFilter<PortableHasher, S>, FormatError> {
        format::from_bytes(bytes)
    }

    /// [`read_from`](BloomFilter::read_from) for any type of scheme.
    pub fn of_scheme_read_from(reader: impl Read) -> Result<BloomFilter<PortableHasher, S>, ReadError> {
        format::read_from(reader, None)
    }

    /// [`open`](BloomFilter::open) for any type of scheme. A name of its own, because the type of a call to `BloomFilter::open` would not say which scheme is meant.
    pub fn of_scheme_open(path: impl AsRef<Path>) -> Result<BloomFilter<PortableHasher, S>, FileError> {
        format::open(path.as_ref())
    }
}
