//! Values that are used directly in the bytes of a file.

use super::decode::{Header, check_checksum};
use super::{Fields, HEADER_BYTES, Stored, at};
use crate::error::FormatError;
use crate::ids::FileKind;
#[cfg(feature = "mmap")]
use crate::{disk::Mapped, error::FileError};
#[cfg(feature = "mmap")]
use std::{io, path::Path};
use xxhash_rust::xxh3::xxh3_64;

/// A value that can be queried in bytes that another owner holds.
pub(crate) trait Viewed<B>: Stored {
    /// The type of a value whose words are in bytes of type `B`.
    type View;

    /// Makes a view from a header and the bytes of the file, without reading the payload. The
    /// payload must have the length that [`payload_bytes`](Stored::payload_bytes) says.
    fn over(header: Self::Header, bytes: B) -> Result<Self::View, FormatError>;
}

/// A view of the value in these bytes, which must be the whole content of one file.
pub(crate) fn view<T: Viewed<B>, B: AsRef<[u8]> + Send + Sync>(bytes: B) -> Result<T::View, FormatError> {
    check_plain(bytes.as_ref())?;
    let header = Header::<T>::decode(bytes.as_ref())?;
    header.check_length(bytes.as_ref().len() as u64)?;
    T::over(header.of_kind, bytes)
}

/// A view of the value in these bytes; `header` is used instead of the header in the bytes.
#[cfg(feature = "mmap")]
pub(crate) fn view_by<T: Viewed<B>, B: AsRef<[u8]> + Send + Sync>(header: &[u8], bytes: B) -> Result<T::View, FormatError> {
    let header = Header::<T>::decode(header)?;
    header.check_length(bytes.as_ref().len() as u64)?;
    T::over(header.of_kind, bytes)
}

/// A view of the value at the beginning of these bytes, which may be followed by other bytes.
pub(crate) fn view_prefix<T: Viewed<B>, B: AsRef<[u8]> + Send + Sync>(bytes: B) -> Result<T::View, FormatError> {
    check_plain(bytes.as_ref())?;
    let header = Header::<T>::decode(bytes.as_ref())?;
    header.check_holds(bytes.as_ref().len() as u64)?;
    T::over(header.of_kind, bytes)
}

/// Returns an error for compressed bytes, which cannot be queried in place.
fn check_plain(bytes: &[u8]) -> Result<(), FormatError> {
    if !super::wire::is_compressed(bytes) {
        return Ok(());
    }
    super::wire::wire_bytes(bytes)?;
    Err(FormatError::Coded { is_difference: bytes.get(9) == Some(&2) })
}

/// Compares the payload of the file at the beginning of these bytes with the checksum in its
/// header. The header is read again, because the bytes belong to another owner and may have
/// changed.
pub(crate) fn check_payload(bytes: &[u8]) -> Result<(), FormatError> {
    let (fields, _) = Fields::open(bytes, &FileKind::ALL)?;
    let (length, expected) = (fields.u64(at::PAYLOAD_LENGTH), fields.payload_checksum());
    let payload = bytes.get(HEADER_BYTES..).and_then(|rest| rest.get(..usize::try_from(length).ok()?));
    let truncated = FormatError::Truncated { expected: length.saturating_add(HEADER_BYTES as u64), found: bytes.len() as u64 };
    check_checksum(expected, xxh3_64(payload.ok_or(truncated)?))
}

/// A view of the value in a file that is mapped into memory.
#[cfg(feature = "mmap")]
pub(crate) fn view_mapped<T: Viewed<Mapped>>(bytes: io::Result<Mapped>, path: &Path) -> Result<T::View, FileError> {
    let bytes = bytes.map_err(|cause| FileError::Read { path: path.to_owned(), cause })?;
    view::<T, Mapped>(bytes).map_err(|cause| FileError::Format { path: path.to_owned(), cause })
}
