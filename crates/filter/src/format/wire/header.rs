//! A short code for headers. Most bytes of a header are 0, or equal to those of another header.

use crate::error::FormatError;
use crate::format::HEADER_BYTES;
use alloc::vec::Vec;

/// The length of a bit mask with one bit for each byte of the header.
const MAP_BYTES: usize = HEADER_BYTES / 8;

/// Writes a mask of the bytes that are not 0, and then the bytes that are not 0.
pub(super) fn pack(header: &[u8; HEADER_BYTES], out: &mut Vec<u8>) {
    let mut map = [0u8; MAP_BYTES];
    header.iter().enumerate().filter(|(_, byte)| **byte != 0).for_each(|(at, _)| map[at / 8] |= 1 << (at % 8));
    out.extend_from_slice(&map);
    out.extend(header.iter().filter(|byte| **byte != 0));
}

/// Reads a packed header and XORs it with `base`. Returns the result, and the bytes that follow.
pub(super) fn unpack<'a>(body: &'a [u8], base: &[u8; HEADER_BYTES]) -> Result<([u8; HEADER_BYTES], &'a [u8]), FormatError> {
    let truncated = || FormatError::Truncated { expected: MAP_BYTES as u64, found: body.len() as u64 };
    let (map, mut rest) = body.split_first_chunk::<MAP_BYTES>().ok_or_else(truncated)?;
    let mut header = *base;
    for (at, byte) in header.iter_mut().enumerate() {
        if map[at / 8] >> (at % 8) & 1 == 1 {
            let (first, after) = rest.split_first().ok_or_else(truncated)?;
            *byte ^= first;
            rest = after;
        }
    }
    Ok((header, rest))
}
