//! Decoding: from bytes to values. The bytes can be anything: damaged, malicious, or written by
//! another program.

use super::wire::{coded_header, expand, is_compressed};
use super::{Fields, HEADER_BYTES, Stored};
use crate::arch::advise_huge_pages;
use crate::error::FormatError;
use alloc::vec::Vec;
use core::cmp::Ordering;
use xxhash_rust::xxh3::xxh3_64;

/// Reads a value from these bytes. The bytes must be the whole content of one file, with nothing
/// after it. Decoding takes about as much memory as the bytes, and twice as much for filters that
/// grow. A compressed file is expanded first.
pub(crate) fn from_bytes<T: Stored>(bytes: &[u8]) -> Result<T, FormatError> {
    if is_compressed(bytes) {
        // A file with a wrong header is refused before anything is expanded.
        Header::<T>::decode(&coded_header(bytes)?)?;
        return from_bytes(&expand(bytes)?);
    }
    let header = Header::<T>::decode(bytes)?;
    header.check_length(bytes.len() as u64)?;
    let payload = bytes.get(HEADER_BYTES..).unwrap_or_default();
    header.check_payload(xxh3_64(payload))?;
    let mut words = Vec::new();
    reserve(&mut words, header.payload_bytes, header.payload_bytes)?;
    words.extend(words_of(payload));
    T::assemble(header.of_kind, words)
}

/// A header that has been checked as far as possible without the payload.
pub(super) struct Header<T: Stored> {
    pub(super) of_kind: T::Header,
    pub(super) payload_bytes: u64,
    payload_checksum: u64,
}

impl<T: Stored> Header<T> {
    pub(super) fn decode(start: &[u8]) -> Result<Header<T>, FormatError> {
        let (fields, kind) = Fields::open(start, T::KINDS)?;
        let of_kind = T::read_header(&fields, kind)?;
        let payload_bytes = T::payload_bytes(&of_kind);
        fields.check_payload_place(payload_bytes)?;
        Ok(Header { of_kind, payload_bytes, payload_checksum: fields.payload_checksum() })
    }

    /// Checks that there are exactly as many bytes as the header and the payload need.
    pub(super) fn check_length(&self, found: u64) -> Result<(), FormatError> {
        check_length(self.file_bytes(), found)
    }

    /// Checks that there are at least as many bytes as the header and the payload need.
    pub(super) fn check_holds(&self, found: u64) -> Result<(), FormatError> {
        let expected = self.file_bytes();
        if found >= expected { Ok(()) } else { Err(FormatError::Truncated { expected, found }) }
    }

    fn file_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + self.payload_bytes
    }

    pub(super) fn check_payload(&self, found: u64) -> Result<(), FormatError> {
        check_checksum(self.payload_checksum, found)
    }
}

/// Checks that there are exactly this many bytes.
pub(crate) fn check_length(expected: u64, found: u64) -> Result<(), FormatError> {
    match found.cmp(&expected) {
        Ordering::Less => Err(FormatError::Truncated { expected, found }),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(FormatError::TooLong { expected, found }),
    }
}

/// Checks that the bytes after a header have not changed since they were written.
pub(crate) fn check_checksum(expected: u64, found: u64) -> Result<(), FormatError> {
    if expected == found { Ok(()) } else { Err(FormatError::PayloadChecksum { expected, found }) }
}

/// Reserves memory for the words in another `bytes` bytes. An error reports `total` bytes.
pub(super) fn reserve(words: &mut Vec<u64>, bytes: u64, total: u64) -> Result<(), FormatError> {
    let more = usize::try_from(bytes / 8).ok();
    let reserved = more.and_then(|more| words.try_reserve_exact(more).ok());
    reserved.ok_or(FormatError::Memory { bytes: total })?;
    advise_huge_pages(words.spare_capacity_mut());
    Ok(())
}

pub(crate) fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word))
}
