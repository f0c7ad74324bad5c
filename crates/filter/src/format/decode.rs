//! From bytes to values. The bytes may be anything: damaged, foreign or made to do harm.

use super::{CHUNK_BYTES, Fields, HEADER_BYTES, Stored};
use crate::arch::advise_huge_pages;
use crate::error::{FormatError, ReadError};
use std::io::{self, Read};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Memory for the words of a stream of unknown length grows by so much at a time: a header that promises more than its stream holds costs no more
/// than the stream and this.
const GROWTH_BYTES: u64 = 8 << 20;

/// The value in these bytes, which must be those of one file, whole and nothing after it. Takes no more memory than they are long.
pub(crate) fn from_bytes<T: Stored>(bytes: &[u8]) -> Result<T, FormatError> {
    let header = Header::<T>::decode(bytes)?;
    header.check_length(bytes.len() as u64)?;
    let payload = bytes.get(HEADER_BYTES..).unwrap_or_default();
    header.check_payload(xxh3_64(payload))?;
    let mut words = Vec::new();
    reserve(&mut words, header.payload_bytes, header.payload_bytes)?;
    words.extend(words_of(payload));
    T::assemble(header.of_kind, words)
}

/// Reads a value from a stream, whose length may be known; if it is not, what comes after the value is left there.
pub(crate) fn read_from<T: Stored>(mut reader: impl Read, length: Option<u64>) -> Result<T, ReadError> {
    let mut start = [0; HEADER_BYTES];
    let filled = read_up_to(&mut reader, &mut start)?;
    let header = Header::<T>::decode(start.get(..filled).unwrap_or_default())?;
    if let Some(length) = length {
        header.check_length(length)?;
    }
    let (words, checksum) = read_words(reader, header.payload_bytes, length.is_some())?;
    header.check_payload(checksum)?;
    Ok(T::assemble(header.of_kind, words)?)
}

/// A header that is checked as far as it can be without the payload.
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

    /// There are as many bytes as header and payload take.
    pub(super) fn check_length(&self, found: u64) -> Result<(), FormatError> {
        self.check_holds(found)?;
        let expected = self.file_bytes();
        if found == expected { Ok(()) } else { Err(FormatError::TooLong { expected, found }) }
    }

    /// There are as many bytes, or more.
    pub(super) fn check_holds(&self, found: u64) -> Result<(), FormatError> {
        let expected = self.file_bytes();
        if found >= expected { Ok(()) } else { Err(FormatError::Truncated { expected, found }) }
    }

    fn file_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + self.payload_bytes
    }

    pub(super) fn check_payload(&self, found: u64) -> Result<(), FormatError> {
        let expected = self.payload_checksum;
        if expected == found { Ok(()) } else { Err(FormatError::PayloadChecksum { expected, found }) }
    }
}

/// The words of a payload of so many bytes, and its checksum.
fn read_words(mut reader: impl Read, bytes: u64, length_known: bool) -> Result<(Vec<u64>, u64), ReadError> {
    let growth = if length_known { bytes } else { GROWTH_BYTES };
    let (mut words, mut checksum, mut buffer) = (Vec::new(), Xxh3Default::new(), vec![0; CHUNK_BYTES]);
    let mut left = bytes;
    while left > 0 {
        let wanted = left.min(CHUNK_BYTES as u64) as usize;
        let chunk = &mut buffer[..wanted];
        let filled = read_up_to(&mut reader, chunk)?;
        if filled < wanted {
            let expected = HEADER_BYTES as u64 + bytes;
            return Err(FormatError::Truncated { expected, found: expected - left + filled as u64 }.into());
        }
        if words.capacity() - words.len() < wanted / 8 {
            reserve(&mut words, left.min(growth), bytes)?;
        }
        words.extend(words_of(chunk));
        checksum.update(chunk);
        left -= wanted as u64;
    }
    Ok((words, checksum.digest()))
}

/// Room for the words of so many more bytes, of `total`.
fn reserve(words: &mut Vec<u64>, bytes: u64, total: u64) -> Result<(), FormatError> {
    let more = usize::try_from(bytes / 8).ok();
    let reserved = more.and_then(|more| words.try_reserve_exact(more).ok());
    reserved.ok_or(FormatError::Memory { bytes: total })?;
    advise_huge_pages(words.spare_capacity_mut());
    Ok(())
}

fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word))
}

/// Fills the buffer as far as the stream goes.
fn read_up_to(reader: &mut impl Read, mut buffer: &mut [u8]) -> io::Result<usize> {
    let wanted = buffer.len();
    while !buffer.is_empty() {
        match reader.read(buffer) {
            Ok(0) => break,
            // A reader that claims more than it was given room for is broken; it must not make us panic.
            Ok(count) => buffer = buffer.get_mut(count..).ok_or_else(|| io::Error::other("the reader returned more than was asked for"))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(wanted - buffer.len())
}
