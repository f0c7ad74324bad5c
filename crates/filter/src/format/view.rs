//! Values that stay in the bytes they are read from.

use super::decode::{Header, check_checksum};
use super::{Fields, FileKind, HEADER_BYTES, Stored, at};
use crate::error::FormatError;
#[cfg(feature = "mmap")]
use crate::{error::FileError, file::Mapped};
#[cfg(feature = "mmap")]
use std::{io, path::Path};
use xxhash_rust::xxh3::xxh3_64;

/// A value that can be asked while its words lie in bytes that somebody else holds.
pub(crate) trait Viewed<B>: Stored {
    /// The value whose words lie in what `B` holds.
    type View;

    /// The value of a header at the beginning of these bytes, of which no other was looked at.
    /// There are as many as [`payload_bytes`](Stored::payload_bytes) says after the header.
    fn over(header: Self::Header, bytes: B) -> Result<Self::View, FormatError>;
}

/// The value in these bytes, which are those of one file.
pub(crate) fn view<T: Viewed<B>, B: AsRef<[u8]> + Send + Sync>(bytes: B) -> Result<T::View, FormatError> {
    check_plain(bytes.as_ref())?;
    let header = Header::<T>::decode(bytes.as_ref())?;
    header.check_length(bytes.as_ref().len() as u64)?;
    T::over(header.of_kind, bytes)
}

/// The value in these bytes, as another header than theirs says.
#[cfg(feature = "mmap")]
pub(crate) fn view_by<T: Viewed<B>, B: AsRef<[u8]> + Send + Sync>(header: &[u8], bytes: B) -> Result<T::View, FormatError> {
    let header = Header::<T>::decode(header)?;
    header.check_length(bytes.as_ref().len() as u64)?;
    T::over(header.of_kind, bytes)
}

/// The value at the beginning of these bytes, after which there may be others.
pub(crate) fn view_prefix<T: Viewed<B>, B: AsRef<[u8]> + Send + Sync>(bytes: B) -> Result<T::View, FormatError> {
    check_plain(bytes.as_ref())?;
    let header = Header::<T>::decode(bytes.as_ref())?;
    header.check_holds(bytes.as_ref().len() as u64)?;
    T::over(header.of_kind, bytes)
}

/// Coded bits cannot be asked where they lie.
fn check_plain(bytes: &[u8]) -> Result<(), FormatError> {
    if !crate::wire::is_compressed(bytes) {
        return Ok(());
    }
    crate::wire::wire_bytes(bytes)?;
    Err(FormatError::Coded { is_difference: bytes.get(9) == Some(&2) })
}

/// Holds the payload of the file at the beginning of these bytes to the checksum in its header,
/// which is looked at once more: bytes that are not ours may have changed.
pub(crate) fn check_payload(bytes: &[u8]) -> Result<(), FormatError> {
    let (fields, _) = Fields::open(bytes, &FileKind::ALL)?;
    let (length, expected) = (fields.u64(at::PAYLOAD_LENGTH), fields.payload_checksum());
    let payload = bytes.get(HEADER_BYTES..).and_then(|rest| rest.get(..usize::try_from(length).ok()?));
    let truncated = FormatError::Truncated { expected: length.saturating_add(HEADER_BYTES as u64), found: bytes.len() as u64 };
    check_checksum(expected, xxh3_64(payload.ok_or(truncated)?))
}

/// The value in a file that was mapped.
#[cfg(feature = "mmap")]
pub(crate) fn view_mapped<T: Viewed<Mapped>>(bytes: io::Result<Mapped>, path: &Path) -> Result<T::View, FileError> {
    let bytes = bytes.map_err(|cause| FileError::Read { path: path.to_owned(), cause })?;
    view::<T, Mapped>(bytes).map_err(|cause| FileError::Format { path: path.to_owned(), cause })
}
