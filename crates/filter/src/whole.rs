//! Reading files of any kind as a whole, to check them.

use crate::AnyFilter;
use crate::error::{FormatError, ReadError};
use crate::ids::FileKind;
use crate::read_as_each;
use alloc::vec::Vec;
use std::io::{self, Read};

/// For each kind of file that `AnyFilter` does not read, lists the types that can read it and the
/// feature that they need. Each type reads the file from its beginning.
macro_rules! each_kind_is_read_as {
    ($($($kind:ident)|+ if $feature:literal => [$($type:ty),* $(,)?],)*) => {
        fn read_as_each<R: std::io::Read>(
            kind: FileKind,
            open: impl Fn() -> std::io::Result<R>,
        ) -> std::io::Result<alloc::vec::Vec<Result<(), ReadError>>> {
            Ok(match kind {$(
                #[cfg(feature = $feature)]
                $(FileKind::$kind)|+ => alloc::vec![$(<$type>::read_from(open()?).map(drop)),*],
                #[cfg(not(feature = $feature))]
                $(FileKind::$kind)|+ => alloc::vec![],
            )*})
        }
    };
}
pub(crate) use each_kind_is_read_as;

impl FileKind {
    /// Reads a whole file of any kind into memory, and checks the file. Opening the file makes the
    /// same checks. Returns the kind of the file.
    ///
    /// The function may call `open` several times, because it may try several types of this crate
    /// one after the other. Each call of `open` must return a reader at the beginning of the file.
    ///
    /// ```
    /// use truebloom::{BloomFilter, FileKind};
    /// let mut bytes = BloomFilter::with_bits_and_probes(1_000, 7)?.to_bytes()?;
    /// assert_eq!(FileKind::of_whole(|| Ok(&bytes[..]))?, FileKind::Bloom);
    /// bytes[300] ^= 1;
    /// assert!(FileKind::of_whole(|| Ok(&bytes[..])).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if reading fails, if the file is of no known kind, or if the file is
    /// damaged.
    pub fn of_whole<R: Read>(open: impl Fn() -> io::Result<R>) -> Result<FileKind, ReadError> {
        let error = match AnyFilter::read_from(open()?) {
            Ok(filter) => return Ok(filter.kind()),
            Err(error) => error,
        };
        let ReadError::Format(FormatError::Kind { found }) = error else { return Err(error) };
        let results = read_as_each(found, open)?;
        if results.iter().any(Result::is_ok) {
            return Ok(found);
        }
        // An error that reports damage is more helpful than one that reports the wrong type.
        let damage = |error: &ReadError| {
            matches!(error, ReadError::Io(_) | ReadError::Format(FormatError::PayloadChecksum { .. } | FormatError::Truncated { .. }))
        };
        let mut errors: Vec<ReadError> = results.into_iter().filter_map(Result::err).collect();
        let worst = errors.iter().position(damage).unwrap_or(0);
        Err(if errors.is_empty() { ReadError::Format(FormatError::Kind { found }) } else { errors.swap_remove(worst) })
    }
}
