//! Reading values from streams. The stream can contain anything: damaged or malicious data, or data
//! of another program.

use super::decode::{Header, reserve, words_of};
use super::wire::{PREFIX_BYTES, is_compressed, wire_bytes};
use super::{CHUNK_BYTES, HEADER_BYTES, Stored, from_bytes};
use crate::error::{FormatError, ReadError};
use alloc::vec;
use alloc::vec::Vec;
use std::io::{self, Read};
use xxhash_rust::xxh3::Xxh3Default;

/// While a stream of unknown length is read, the memory for words grows in steps of this size. So
/// if the header states a length that is too large, the memory exceeds the length of the stream by
/// at most one step.
const GROWTH_BYTES: u64 = 8 << 20;

/// Reads a value from a stream. If the length of the stream is not known, the stream is not read
/// beyond the value.
pub(crate) fn read_from<T: Stored>(mut reader: impl Read, length: Option<u64>) -> Result<T, ReadError> {
    let mut start = [0; HEADER_BYTES];
    let filled = read_up_to(&mut reader, &mut start[..PREFIX_BYTES])?;
    if is_compressed(&start) {
        return Ok(from_bytes(&read_compressed(reader, &start[..filled], length)?)?);
    }
    let filled = filled + if filled < PREFIX_BYTES { 0 } else { read_up_to(&mut reader, &mut start[PREFIX_BYTES..])? };
    let header = Header::<T>::decode(start.get(..filled).unwrap_or_default())?;
    if let Some(length) = length {
        header.check_length(length)?;
    }
    let (words, checksum) = read_words(reader, header.payload_bytes, length.is_some())?;
    header.check_payload(checksum)?;
    Ok(T::assemble(header.of_kind, words)?)
}

/// The bytes of a compressed file, which contains its own length. Reading them never allocates more
/// than the length of the stream.
fn read_compressed(reader: impl Read, start: &[u8], length: Option<u64>) -> Result<Vec<u8>, ReadError> {
    let expected = wire_bytes(start)?;
    if let Some(found) = length.filter(|found| *found > expected) {
        return Err(FormatError::TooLong { expected, found }.into());
    }
    let mut bytes = start.to_vec();
    reader.take(expected.saturating_sub(start.len() as u64)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the words of a payload of this many bytes, and computes their checksum.
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

/// Reads until the buffer is full or the stream ends.
fn read_up_to(reader: &mut impl Read, mut buffer: &mut [u8]) -> io::Result<usize> {
    let wanted = buffer.len();
    while !buffer.is_empty() {
        match reader.read(buffer) {
            Ok(0) => break,
            // A faulty reader may claim more bytes than the buffer has; this must not cause a
            // panic.
            Ok(count) => {
                buffer = buffer.get_mut(count..).ok_or_else(|| io::Error::other("the reader returned more bytes than were requested"))?
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(wanted - buffer.len())
}
