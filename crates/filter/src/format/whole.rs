//! Files of any kind, read whole to be checked.

use super::FileKind;
use super::kind::kinds;
use crate::AnyFilter;
use crate::error::{FormatError, ReadError};
use alloc::vec;
use alloc::vec::Vec;
use std::io::{self, Read};

macro_rules! read_as_each {
    ($($(#[$doc:meta])* $kind:ident = $number:literal, $what:literal, $opened_by:literal, $layout:ident, if $feature:literal [$($type:ty),*];)*) => {
        impl FileKind {
            /// Reads a value as each type that files of this kind may be, from its beginning, and
            /// drops it.
            fn read_as_each<R: Read>(self, open: impl Fn() -> io::Result<R>) -> io::Result<Vec<Result<(), ReadError>>> {
                Ok(match self {$(
                    #[cfg(feature = $feature)]
                    FileKind::$kind => vec![$(<$type>::read_from(open()?).map(drop)),*],
                    #[cfg(not(feature = $feature))]
                    FileKind::$kind => vec![],
                )*})
            }
        }
    };
}

kinds!(read_as_each);

impl FileKind {
    /// Reads a file of any kind to the end of its value, and checks all that opening it would: its
    /// kind, or what is wrong with it. `open` gives the bytes from their beginning, some times
    /// over, as each type refuses the headers of the others. For programs that look after files;
    /// takes the memory of the value.
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
    /// A stream fails; the bytes are no file of any kind, or a damaged one.
    pub fn of_whole<R: Read>(open: impl Fn() -> io::Result<R>) -> Result<FileKind, ReadError> {
        let error = match AnyFilter::read_from(open()?) {
            Ok(filter) => return Ok(filter.kind()),
            Err(error) => error,
        };
        let ReadError::Format(FormatError::Kind { found }) = error else { return Err(error) };
        let results = found.read_as_each(open)?;
        if results.iter().any(Result::is_ok) {
            return Ok(found);
        }
        // What is damaged says more than what is of another type.
        let damage = |error: &ReadError| {
            matches!(error, ReadError::Io(_) | ReadError::Format(FormatError::PayloadChecksum { .. } | FormatError::Truncated { .. }))
        };
        let mut errors: Vec<ReadError> = results.into_iter().filter_map(Result::err).collect();
        let worst = errors.iter().position(damage).unwrap_or(0);
        Err(if errors.is_empty() { ReadError::Format(FormatError::Kind { found }) } else { errors.swap_remove(worst) })
    }
}
