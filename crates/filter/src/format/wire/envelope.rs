//! The prefix of compressed bytes.

use crate::error::FormatError;
use crate::format::{check_checksum, check_length};
use alloc::vec::Vec;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"\x89TBZ\r\n\x1a\n";
const VERSION: u8 = 1;

/// The length of the prefix: magic, version, type of contents, length of the body, and checksum of
/// the body.
pub(crate) const PREFIX_BYTES: usize = 8 + 1 + 1 + 8 + 8;

/// The type of contents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    File = 1,
    Difference = 2,
}

/// Whether bytes begin with the signature of a compressed file or of a difference.
pub(crate) fn is_compressed(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

/// The length of the whole compressed file or difference that begins with `start`.
pub(crate) fn wire_bytes(start: &[u8]) -> Result<u64, FormatError> {
    let prefix = start.first_chunk::<PREFIX_BYTES>();
    let prefix = prefix.ok_or(FormatError::Truncated { expected: PREFIX_BYTES as u64, found: start.len() as u64 })?;
    if prefix[8] != VERSION {
        return Err(FormatError::Version { expected: VERSION.into(), found: prefix[8].into() });
    }
    // 1 is a file, 2 is a difference.
    if !(1..=2).contains(&prefix[9]) {
        return Err(FormatError::Unknown { field: "what is coded", found: prefix[9].into() });
    }
    Ok(number(&prefix[10..]).saturating_add(PREFIX_BYTES as u64))
}

pub(super) fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())
}

pub(super) fn seal(what: What, body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(PREFIX_BYTES + body.len());
    whole.extend_from_slice(&MAGIC);
    whole.extend_from_slice(&[VERSION, what as u8]);
    whole.extend_from_slice(&(body.len() as u64).to_le_bytes());
    whole.extend_from_slice(&xxh3_64(body).to_le_bytes());
    whole.extend_from_slice(body);
    whole
}

/// Returns the body, after comparing it with its checksum.
pub(super) fn open(what: What, whole: &[u8]) -> Result<&[u8], FormatError> {
    if !is_compressed(whole) {
        if what == What::Difference {
            return Err(FormatError::NotADifference);
        }
        return Err(FormatError::NotAFilter { found: whole.iter().copied().take(8).collect() });
    }
    check_length(wire_bytes(whole)?, whole.len() as u64)?;
    let (prefix, body) = whole.split_at(PREFIX_BYTES);
    if prefix[9] != what as u8 {
        let is_file = what == What::File;
        return Err(if is_file { FormatError::Coded { is_difference: true } } else { FormatError::NotADifference });
    }
    check_checksum(number(&prefix[18..]), xxh3_64(body)).map(|()| body)
}
