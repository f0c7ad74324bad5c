//! Compressed files and differences. The length of a compressed file is about the entropy of its
//! bits, plus a thousandth of it, plus about 130 bytes. A compressed file of 13 KB or more is at
//! most a percent longer than the entropy. A difference turns one state of a filter into another
//! state.
//!
//! A compressed filter is small, but cannot be queried. The m bits of a filter are like random bits
//! with the same share of ones (the fill), so they can be described in `m H(fill)` bits, where H is
//! the binary entropy. Compression saves nothing if the filter is half full. At a fill of 1%, it
//! saves 11 of 12 bits. A compressed sparse filter is shorter than a half-full filter with the same
//! rate, although it takes more memory (Mitzenmacher, *Compressed Bloom filters*, 2002). Two caches
//! that share summaries exchange differences (Fan, Cao, Almeida and Broder, *Summary cache*, 2000).
//!
//! These functions work on the bytes of files of any kind. All methods that open a file open a
//! compressed file, too, except those that make views: compressed bits cannot be queried in place.
//!
//! ```
//! use truebloom::{BloomFilter, wire};
//! let mut here = BloomFilter::with_bits_and_probes(1 << 20, 3)?;
//! here.extend(0..10_000);
//! let before = here.to_bytes()?;
//! let sent = wire::compress(&before)?;
//! assert!(5 * sent.len() < before.len());
//! let mut there = BloomFilter::from_bytes(&sent)?; // opened as it is
//! assert!(there == here);
//!
//! here.extend(10_000..10_100);
//! let news = wire::difference(&before, &here.to_bytes()?)?;
//! assert!(news.len() < 700);
//! there = BloomFilter::from_bytes(&wire::apply(&there.to_bytes()?, &news)?)?;
//! assert!(there == here);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod coder;
mod delta;
mod envelope;
mod header;

pub use delta::{apply, difference};
pub(crate) use envelope::{PREFIX_BYTES, is_compressed, wire_bytes};

use crate::error::FormatError;
use crate::format::{FileHeader, HEADER_BYTES, check_length};
use alloc::vec::Vec;
use envelope::What;

/// The largest ratio of the expanded length to the compressed length. A file that would compress
/// further is padded with zeros. The memory for expanding a file is therefore proportional to its
/// compressed length, as with gzip.
pub const MOST_EXPANSION: u64 = 1024;

/// Returns true if the bytes begin like those of a compressed file or of a difference.
#[must_use]
pub fn is_coded(start: &[u8]) -> bool {
    is_compressed(start)
}

/// Compresses the bytes of a file of any kind. If `file` is already compressed, it is expanded and
/// compressed again. The memory needed is the length of the result.
///
/// # Errors
/// Returns an error if the bytes are not exactly one file, or if their length differs from the
/// length in the header.
pub fn compress(file: &[u8]) -> Result<Vec<u8>, FormatError> {
    if is_compressed(file) {
        return expand(file).and_then(|file| compress(&file));
    }
    let (header, payload) = split(file)?;
    let mut body = Vec::new();
    header::pack(header, &mut body);
    coder::encode(payload, &mut body);
    let least = (file.len() as u64).div_ceil(MOST_EXPANSION) as usize;
    if body.len() < least {
        body.resize(least, 0);
    }
    Ok(envelope::seal(What::File, &body))
}

/// Expands a compressed file. A file that is not compressed is copied. This function is safe for
/// damaged and malicious bytes: the memory needed is at most [`MOST_EXPANSION`] times the length of
/// `bytes`.
///
/// # Errors
/// Returns an error if the bytes are not exactly one file, if the file is damaged, or if the memory
/// cannot be allocated.
pub fn expand(bytes: &[u8]) -> Result<Vec<u8>, FormatError> {
    if !is_compressed(bytes) {
        let (header, payload) = split(bytes)?;
        return Ok([header, payload].concat());
    }
    let body = envelope::open(What::File, bytes)?;
    let (header, mut coded) = header::unpack(body, &[0; HEADER_BYTES])?;
    let length = FileHeader::plain(&header)?.file_bytes().saturating_sub(HEADER_BYTES as u64);
    let mut file = reserved(length, (body.len() as u64).saturating_mul(MOST_EXPANSION), HEADER_BYTES)?;
    file.extend_from_slice(&header);
    coder::decode(&mut coded, length as usize, &mut file)?;
    if coded.iter().any(|byte| *byte != 0) {
        return Err(FormatError::TooLong { expected: (bytes.len() - coded.len()) as u64, found: bytes.len() as u64 });
    }
    Ok(file)
}

/// Decodes the header of a compressed file. Only the beginning of the file is needed.
pub(crate) fn coded_header(start: &[u8]) -> Result<[u8; HEADER_BYTES], FormatError> {
    let expected = wire_bytes(start)?;
    let body = start.get(PREFIX_BYTES..).unwrap_or_default();
    let unpacked = header::unpack(body, &[0; HEADER_BYTES]).map_err(|_| FormatError::Truncated { expected, found: start.len() as u64 });
    match start.get(9) {
        Some(1) => unpacked.map(|(header, _)| header),
        _ => Err(FormatError::Coded { is_difference: true }),
    }
}

/// Splits a file into its header and the payload that the header describes.
fn split(file: &[u8]) -> Result<(&[u8; HEADER_BYTES], &[u8]), FormatError> {
    let expected = FileHeader::plain(file)?.file_bytes();
    let found = file.len() as u64;
    check_length(expected, found)?;
    file.split_first_chunk().ok_or(FormatError::Truncated { expected, found })
}

/// Reserves `length + more` bytes, unless `length` is above `most`.
fn reserved(length: u64, most: u64, more: usize) -> Result<Vec<u8>, FormatError> {
    if length > most {
        return Err(FormatError::Expands { to: length, most });
    }
    let mut file = Vec::new();
    let room = usize::try_from(length).ok().and_then(|length| length.checked_add(more));
    let reserved = room.and_then(|room| file.try_reserve_exact(room).ok());
    reserved.map(|()| file).ok_or(FormatError::Memory { bytes: length })
}
