//! Files of any kind, read whole to be checked.

use crate::AnyFilter;
use crate::error::{FormatError, ReadError};
use crate::ids::FileKind;
use alloc::vec;
use alloc::vec::Vec;
use std::io::{self, Read};

/// Reads a value as each of these types that the crate was compiled with, from its beginning, and drops it.
macro_rules! read_as_each {
    ($open:expr; $(if $feature:literal [$($type:ty),*])?) => {{
        $(
            #[cfg(feature = $feature)]
            return Ok(vec![$(<$type>::read_from($open()?).map(drop)),*]);
        )?
        #[allow(unreachable_code, reason = "without the feature")]
        Ok(vec![])
    }};
}

/// Reads a value as each type that files of its kind may be. `AnyFilter` was tried before.
fn read_as_each<R: Read>(kind: FileKind, open: impl Fn() -> io::Result<R>) -> io::Result<Vec<Result<(), ReadError>>> {
    match kind {
        FileKind::Bloom | FileKind::Blocked | FileKind::Scalable => Ok(vec![]),
        FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase => read_as_each!(open;
            if "recycling" [crate::RecyclingFilter, crate::RecyclingFilter<crate::PortableHasher, crate::scheme::Classic>]),
        FileKind::RecyclingBlocked => read_as_each!(open; if "recycling" [crate::recycling::BlockedRecyclingFilter]),
        FileKind::CountMin => read_as_each!(open; if "sketches" [
            crate::count_min::HeavyHitters<u64>, crate::count_min::CountMin<u64>, crate::count_min::CountMin<u32>,
            crate::count_min::PairwiseCountMin<u64>, crate::count_min::PairwiseCountMin<u32>
        ]),
        FileKind::TwoHashCountMin => read_as_each!(open; if "sketches" [
            crate::count_min::ListedSketch<crate::count_min::TwoHashRows, u64>,
            crate::count_min::TwoHashCountMin<u64>, crate::count_min::TwoHashCountMin<u32>
        ]),
        FileKind::Pack => {
            read_as_each!(open; if "std" [crate::Pack<crate::scheme::Standard>, crate::Pack<crate::scheme::InLines>, crate::Pack<crate::scheme::AnyScheme>])
        }
    }
}

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
        let results = read_as_each(found, open)?;
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
