//! Encoding: from values to bytes.

use super::{CHUNK_BYTES, HEADER_BYTES, Written};
use crate::error::BuildError;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::io::{self, Write};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Encodes a value in the file format. Returns an error if the memory cannot be allocated.
pub(crate) fn to_bytes<T: Written>(value: &T) -> Result<Vec<u8>, BuildError> {
    let total = encoded_bytes(value);
    let refuse = || BuildError::Memory { bytes: total };
    let length = usize::try_from(total).map_err(|_| refuse())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| refuse())?;
    bytes.extend_from_slice(&header(value));
    put_words(&mut bytes, value.words());
    Ok(bytes)
}

/// A part of the encoded value: at most `length` bytes from the index `start` on. The checksum of
/// the whole file is computed only if the part includes bytes of the header.
pub(crate) fn part_of_bytes<T: Written>(value: &T, start: u64, length: usize) -> Result<Vec<u8>, BuildError> {
    let end = encoded_bytes(value).min(start.saturating_add(length as u64));
    let count = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count).map_err(|_| BuildError::Memory { bytes: count as u64 })?;
    let mut piece = |at: u64, piece: &[u8]| {
        let from = (start.saturating_sub(at) as usize).min(piece.len());
        let to = (end.saturating_sub(at) as usize).min(piece.len());
        bytes.extend_from_slice(piece.get(from..to).unwrap_or_default());
    };
    let payload = HEADER_BYTES as u64;
    if start < payload && count > 0 {
        piece(0, &header(value));
    }
    let (first, last) = (start.saturating_sub(payload) / 8, end.saturating_sub(payload).div_ceil(8));
    let words = value.words().skip(first as usize).take(last.saturating_sub(first) as usize);
    words.zip(first..).for_each(|(word, number)| piece(payload + 8 * number, &word.to_le_bytes()));
    Ok(bytes)
}

/// Writes the encoded value to the beginning of `bytes`, and returns the number of bytes written.
/// Returns an error if `bytes` is shorter than the encoded value.
pub(crate) fn write_into<T: Written>(value: &T, bytes: &mut [u8]) -> Result<usize, BuildError> {
    let needed = encoded_bytes(value);
    let found = bytes.len() as u64;
    let place = usize::try_from(needed).ok().and_then(|length| bytes.get_mut(..length));
    let place = place.ok_or(BuildError::Room { needed, found })?;
    let (header, payload) = place.split_at_mut(HEADER_BYTES);
    for (place, word) in payload.as_chunks_mut().0.iter_mut().zip(value.words()) {
        *place = word.to_le_bytes();
    }
    header.copy_from_slice(&value.fields().sealed(payload.len() as u64, xxh3_64(payload)));
    Ok(place.len())
}

/// Writes the encoded value to a writer, in large pieces.
#[cfg(feature = "std")]
pub(crate) fn write_to<T: Written>(value: &T, mut writer: impl Write) -> io::Result<()> {
    writer.write_all(&header(value))?;
    for_each_chunk(value.words(), |chunk| writer.write_all(chunk))?;
    writer.flush()
}

/// The length of the encoded value in bytes.
pub(crate) fn encoded_bytes<T: Written>(value: &T) -> u64 {
    HEADER_BYTES as u64 + 8 * value.word_count()
}

fn header<T: Written>(value: &T) -> [u8; HEADER_BYTES] {
    value.fields().sealed(8 * value.word_count(), checksum(value.words()))
}

fn checksum(words: impl Iterator<Item = u64>) -> u64 {
    let mut checksum = Xxh3Default::new();
    let updated: Result<(), core::convert::Infallible> = for_each_chunk(words, |chunk| {
        checksum.update(chunk);
        Ok(())
    });
    let Ok(()) = updated;
    checksum.digest()
}

/// Appends the little-endian bytes of words.
pub(crate) fn put_words(bytes: &mut Vec<u8>, words: impl Iterator<Item = u64>) {
    words.for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
}

/// Calls `use_chunk` with the little-endian bytes of the words, chunk by chunk. The bytes are
/// copied, because treating words as bytes would need unsafe code and a little-endian machine.
fn for_each_chunk<E>(mut words: impl Iterator<Item = u64>, mut use_chunk: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut buffer = Vec::with_capacity(CHUNK_BYTES);
    loop {
        buffer.clear();
        put_words(&mut buffer, words.by_ref().take(CHUNK_BYTES / 8));
        if buffer.is_empty() {
            return Ok(());
        }
        use_chunk(&buffer)?;
    }
}
