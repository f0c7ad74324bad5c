//! Compressed files and differences. A compressed filter is small, but cannot be queried. A
//! difference file has the changes that turn an earlier state of a filter into a later one.
//!
//! The fill of a filter is the share of its bits that are set. The set bits are at random places,
//! so the entropy of m bits is about `m H(fill)`, where H is the binary entropy. The compressed
//! file is longer than this entropy by at most about 0.1%, plus about 130 bytes. However, the
//! compressed file is never shorter than the length of the original file divided by
//! [`MOST_EXPANSION`].
//!
//! Compression saves nothing if the filter is half full. At a fill of 1%, it saves about 92%. For
//! the same rate, a sparse filter takes more memory than a half-full filter, but its compressed
//! file is shorter (Mitzenmacher, *Compressed Bloom filters*, 2002). Differences are useful for web
//! caches that exchange filters of their contents (Fan, Cao, Almeida and Broder, *Summary cache*,
//! 2000).
//!
//! These functions work on the bytes of files of any kind. All methods that open a file also open
//! compressed files, except the methods that make views.
//!
//! ```
//! use truebloom::{BloomFilter, wire};
//! let mut here = BloomFilter::with_bits_and_probes(1 << 20, 3)?;
//! here.extend(0..10_000);
//! let before = here.to_bytes()?;
//! let sent = wire::compress(&before)?;
//! assert!(5 * sent.len() < before.len());
//! let mut there = BloomFilter::from_bytes(&sent)?; // opens compressed bytes directly
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

/// The largest ratio of the uncompressed length of a file to its compressed length. [`compress`]
/// adds zeros to a compressed file whose ratio would be higher. The limit bounds the memory that a
/// short malicious file can take. gzip has a similar limit.
pub const MOST_EXPANSION: u64 = 1024;

/// Returns true if the bytes begin with the signature of a compressed file or of a difference. Both
/// have the same signature.
#[must_use]
pub fn is_coded(start: &[u8]) -> bool {
    is_compressed(start)
}

/// Compresses the bytes of a file of any kind. If `file` is already compressed, it is expanded and
/// compressed again. The memory needed is a small multiple of the length of the result. If `file`
/// is already compressed, the function needs additional memory for the expanded file.
///
/// # Errors
/// Returns an error if the bytes are not exactly one file, or if the header is damaged. If `file`
/// is not compressed, damage after the header is not detected.
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

/// Expands a compressed file. A file that is not compressed is copied. The bytes can come from an
/// untrusted source, because the function uses a limited amount of memory: at most
/// [`MOST_EXPANSION`] (1,024) times the length of `bytes`.
///
/// # Errors
/// Returns an error if the bytes are damaged, or are not exactly one complete file. If the file is
/// not compressed, damage after the header is not detected. Returns an error if the memory for the
/// expanded file cannot be allocated.
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
