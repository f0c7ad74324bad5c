//! From bytes to filters. The bytes may be anything: damaged, foreign or made to do harm.

use super::header::check_field;
use super::{CHUNK_BYTES, HEADER_BYTES, Header};
use crate::bits::Bits;
use crate::bloom::BloomFilter;
use crate::error::{BuildError, Expected, FormatError, ReadError};
use std::io::{self, Read};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Memory for the bits of a stream of unknown length grows by so much at a time: a header that promises more than its stream holds costs no more
/// than the stream and this.
const GROWTH_BYTES: u64 = 8 << 20;

impl BloomFilter {
    /// The filter in these bytes, which must be those of one file, whole and nothing after it.
    ///
    /// Safe for bytes from anywhere: all that is not a filter is an error, and the memory taken is at most the bytes' own length. The checksums find damage; they
    /// do not stop a forger. Linear in the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<BloomFilter, FormatError> {
        let header = Header::decode(bytes)?;
        check_length(&header, bytes.len() as u64)?;
        let payload = bytes.get(HEADER_BYTES..).unwrap_or_default();
        check_payload(&header, xxh3_64(payload))?;
        let mut words = Vec::new();
        reserve(&mut words, &header, header.payload_bytes())?;
        words.extend(words_of(payload));
        assemble(&header, words)
    }

    /// Reads one filter from a stream and leaves what comes after it. For files, [`open`](Self::open) also checks that nothing does.
    ///
    /// Safe for streams from anywhere, as [`from_bytes`](Self::from_bytes) is: the memory taken is at most the length of the stream and 8 MiB.
    pub fn read_from(reader: impl Read) -> Result<BloomFilter, ReadError> {
        read(reader, None)
    }
}

/// Reads a filter from a stream, whose length may be known.
pub(super) fn read(mut reader: impl Read, length: Option<u64>) -> Result<BloomFilter, ReadError> {
    let mut start = [0; HEADER_BYTES];
    let filled = read_up_to(&mut reader, &mut start)?;
    let header = Header::decode(start.get(..filled).unwrap_or_default())?;
    if let Some(length) = length {
        check_length(&header, length)?;
    }
    let (words, checksum) = read_words(reader, &header, length.is_some())?;
    check_payload(&header, checksum)?;
    Ok(assemble(&header, words)?)
}

/// The words of the payload and its checksum.
fn read_words(mut reader: impl Read, header: &Header, length_known: bool) -> Result<(Vec<u64>, u64), ReadError> {
    let growth = if length_known { header.payload_bytes() } else { GROWTH_BYTES };
    let (mut words, mut checksum, mut buffer) = (Vec::new(), Xxh3Default::new(), vec![0; CHUNK_BYTES]);
    let mut left = header.payload_bytes();
    while left > 0 {
        let wanted = left.min(CHUNK_BYTES as u64) as usize;
        let chunk = &mut buffer[..wanted];
        let filled = read_up_to(&mut reader, chunk)?;
        if filled < wanted {
            let found = header.total_bytes() - left + filled as u64;
            return Err(FormatError::Truncated { expected: header.total_bytes(), found }.into());
        }
        if words.capacity() - words.len() < wanted / 8 {
            reserve(&mut words, header, left.min(growth))?;
        }
        words.extend(words_of(chunk));
        checksum.update(chunk);
        left -= wanted as u64;
    }
    Ok((words, checksum.digest()))
}

/// Room for the words of so many more bytes.
fn reserve(words: &mut Vec<u64>, header: &Header, bytes: u64) -> Result<(), FormatError> {
    let more = usize::try_from(bytes / 8).ok();
    let reserved = more.and_then(|more| words.try_reserve_exact(more).ok());
    reserved.ok_or(FormatError::Memory { bytes: header.payload_bytes() })
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

fn check_length(header: &Header, found: u64) -> Result<(), FormatError> {
    let expected = header.total_bytes();
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => Err(FormatError::Truncated { expected, found }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(FormatError::TooLong { expected, found }),
    }
}

fn check_payload(header: &Header, found: u64) -> Result<(), FormatError> {
    let expected = header.payload_checksum;
    if expected == found { Ok(()) } else { Err(FormatError::PayloadChecksum { expected, found }) }
}

/// The filter of a header and its words, if the two agree.
fn assemble(header: &Header, words: Vec<u64>) -> Result<BloomFilter, FormatError> {
    let bits = Bits::from_words(words, header.bits).ok_or(FormatError::Padding { bits: header.bits })?;
    let ones = bits.count_ones();
    check_ones(header, ones)?;
    BloomFilter::from_stored(header, bits, ones).map_err(|error| match error {
        // The header has checked bits and probes, so only memory is left to fail.
        BuildError::Probes { found } => {
            FormatError::Field { field: "probes", expected: Expected::Within(1, crate::MAX_PROBES.into()), found: found.into() }
        }
        _ => FormatError::Memory { bytes: header.payload_bytes() },
    })
}

/// Every offer that set a bit set 1 to k of them. After a merge the counts are only bounds.
fn check_ones(header: &Header, ones: u64) -> Result<(), FormatError> {
    let counts = header.counts;
    if counts.merged {
        return Ok(());
    }
    let most = counts.changed.saturating_mul(header.probes.into());
    check_field("set bits", ones, Expected::Within(counts.changed, most)).map(|_| ())
}
