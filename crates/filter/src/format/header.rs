//! The 256 bytes before the bits.

use super::HEADER_BYTES;
use crate::MAX_PROBES;
use crate::bloom::Counts;
use crate::error::{Expected, FormatError};
use crate::hash::{HasherId, Seed};
use crate::scheme::SchemeId;
use truebloom_math::{MAX_BITS, Rate};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"\x89TBL\r\n\x1a\n";
const VERSION: u16 = 1;
/// The kind of a Bloom filter, and the only one so far.
const KIND: u16 = 1;
const MERGED: u32 = 1;

/// Where the fields start; docs/FORMAT.md says what they mean.
mod at {
    pub(super) const VERSION: usize = 8;
    pub(super) const KIND: usize = 10;
    pub(super) const SCHEME: usize = 12;
    pub(super) const HASHER: usize = 14;
    pub(super) const FLAGS: usize = 16;
    pub(super) const PROBES: usize = 20;
    pub(super) const BITS: usize = 24;
    pub(super) const SEED: usize = 32;
    pub(super) const OFFERED: usize = 48;
    pub(super) const CHANGED: usize = 56;
    pub(super) const CAPACITY: usize = 64;
    pub(super) const RATE_NUMERATOR: usize = 72;
    pub(super) const RATE_DIVISOR: usize = 80;
    pub(super) const RATE_EXPONENT: usize = 88;
    pub(super) const RESERVED: usize = 92;
    pub(super) const PAYLOAD_OFFSET: usize = 96;
    pub(super) const PAYLOAD_LENGTH: usize = 104;
    pub(super) const PAYLOAD_CHECKSUM: usize = 112;
    pub(super) const PARAMETERS: usize = 120;
    pub(super) const HEADER_CHECKSUM: usize = 248;
}

/// What a header says. Only values that a filter can have: [`Header::decode`] refuses the others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) scheme: SchemeId,
    pub(crate) hasher: HasherId,
    pub(crate) probes: u32,
    pub(crate) bits: u64,
    pub(crate) seed: Seed,
    pub(crate) counts: Counts,
    pub(crate) capacity: Option<u64>,
    pub(crate) rate: Option<Rate>,
    pub(crate) payload_checksum: u64,
}

impl Header {
    /// Bytes of the bits; at most 2^59.
    pub(crate) fn payload_bytes(&self) -> u64 {
        self.bits.div_ceil(64) * 8
    }

    /// Bytes of the whole.
    pub(crate) fn total_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + self.payload_bytes()
    }

    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let (numerator, exponent, divisor) = self.rate.map_or((0, 0, 0), |rate| rate.parts());
        let mut bytes = Bytes([0; HEADER_BYTES]);
        bytes.put(0, MAGIC);
        bytes.put(at::VERSION, VERSION.to_le_bytes());
        bytes.put(at::KIND, KIND.to_le_bytes());
        bytes.put(at::SCHEME, (self.scheme as u16).to_le_bytes());
        bytes.put(at::HASHER, (self.hasher as u16).to_le_bytes());
        bytes.put(at::FLAGS, if self.counts.merged { MERGED } else { 0 }.to_le_bytes());
        bytes.put(at::PROBES, self.probes.to_le_bytes());
        bytes.put(at::BITS, self.bits.to_le_bytes());
        bytes.put(at::SEED, u128::from(self.seed).to_le_bytes());
        bytes.put(at::OFFERED, self.counts.offered.to_le_bytes());
        bytes.put(at::CHANGED, self.counts.changed.to_le_bytes());
        bytes.put(at::CAPACITY, self.capacity.unwrap_or(0).to_le_bytes());
        bytes.put(at::RATE_NUMERATOR, numerator.to_le_bytes());
        bytes.put(at::RATE_DIVISOR, divisor.to_le_bytes());
        bytes.put(at::RATE_EXPONENT, exponent.to_le_bytes());
        bytes.put(at::PAYLOAD_OFFSET, (HEADER_BYTES as u64).to_le_bytes());
        bytes.put(at::PAYLOAD_LENGTH, self.payload_bytes().to_le_bytes());
        bytes.put(at::PAYLOAD_CHECKSUM, self.payload_checksum.to_le_bytes());
        bytes.put(at::HEADER_CHECKSUM, bytes.checksum().to_le_bytes());
        bytes.0
    }

    /// Reads a header from the start of a file, of which there may be less than a header. Checks everything that can be checked without the bits.
    pub(crate) fn decode(start: &[u8]) -> Result<Header, FormatError> {
        check_magic(start)?;
        let bytes = Bytes::from_start(start)?;
        bytes.check_version()?;
        bytes.check_checksum()?;
        bytes.check_kind()?;
        let header = Header {
            scheme: bytes.scheme()?,
            hasher: bytes.hasher()?,
            counts: bytes.counts()?,
            bits: bytes.field("bits", bytes.u64(at::BITS), Expected::Within(1, MAX_BITS))?,
            probes: bytes.probes()?,
            seed: Seed::from(u128::from_le_bytes(bytes.get(at::SEED))),
            capacity: Some(bytes.u64(at::CAPACITY)).filter(|capacity| *capacity > 0),
            rate: bytes.rate()?,
            payload_checksum: bytes.u64(at::PAYLOAD_CHECKSUM),
        };
        bytes.field("payload offset", bytes.u64(at::PAYLOAD_OFFSET), Expected::Exactly(HEADER_BYTES as u64))?;
        bytes.field("payload length", bytes.u64(at::PAYLOAD_LENGTH), Expected::Exactly(header.payload_bytes()))?;
        Ok(header)
    }
}

fn check_magic(start: &[u8]) -> Result<(), FormatError> {
    // A file shorter than that is cut off, if what is there fits.
    let found: [u8; 8] = std::array::from_fn(|i| start.get(i).copied().unwrap_or(MAGIC[i]));
    if found == MAGIC {
        return Ok(());
    }
    // Text mode turns line ends into others or drops the high bit: all after the letters.
    let letters_stand = found[1..4] == MAGIC[1..4] && (found[0] | 0x80) == MAGIC[0];
    Err(if letters_stand { FormatError::TextMode { found } } else { FormatError::NotAFilter { found } })
}

/// The bytes of a header and their fields.
struct Bytes([u8; HEADER_BYTES]);

impl Bytes {
    fn from_start(start: &[u8]) -> Result<Bytes, FormatError> {
        let whole = start.first_chunk().copied().map(Bytes);
        whole.ok_or(FormatError::Truncated { expected: HEADER_BYTES as u64, found: start.len() as u64 })
    }

    fn put<const N: usize>(&mut self, offset: usize, field: [u8; N]) {
        self.0[offset..offset + N].copy_from_slice(&field);
    }

    fn get<const N: usize>(&self, offset: usize) -> [u8; N] {
        std::array::from_fn(|i| self.0[offset + i])
    }

    fn u16(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.get(offset))
    }

    fn u32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.get(offset))
    }

    fn u64(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.get(offset))
    }

    fn checksum(&self) -> u64 {
        xxh3_64(&self.0[..at::HEADER_CHECKSUM])
    }

    fn check_version(&self) -> Result<(), FormatError> {
        match self.u16(at::VERSION) {
            VERSION => Ok(()),
            found => Err(FormatError::Version { expected: VERSION, found }),
        }
    }

    fn check_checksum(&self) -> Result<(), FormatError> {
        let (expected, found) = (self.u64(at::HEADER_CHECKSUM), self.checksum());
        if expected == found { Ok(()) } else { Err(FormatError::HeaderChecksum { expected, found }) }
    }

    fn check_kind(&self) -> Result<(), FormatError> {
        match self.u16(at::KIND) {
            KIND => Ok(()),
            found => Err(FormatError::Unknown { field: "kind", found: found.into() }),
        }
    }

    fn scheme(&self) -> Result<SchemeId, FormatError> {
        let found = self.u16(at::SCHEME);
        let known = [SchemeId::Standard].into_iter().find(|scheme| *scheme as u16 == found);
        known.ok_or(FormatError::Unknown { field: "scheme", found: found.into() })
    }

    fn hasher(&self) -> Result<HasherId, FormatError> {
        let found = self.u16(at::HASHER);
        let known = HasherId::ALL.into_iter().find(|hasher| *hasher as u16 == found);
        known.ok_or(FormatError::Unknown { field: "hasher", found: found.into() })
    }

    /// The counts, the flag that belongs to them, and the fields that must be 0.
    fn counts(&self) -> Result<Counts, FormatError> {
        let flags = self.u32(at::FLAGS);
        if flags & !MERGED != 0 {
            return Err(FormatError::Unknown { field: "flags", found: flags });
        }
        for (offset, end) in [(at::RESERVED, at::PAYLOAD_OFFSET), (at::PARAMETERS, at::HEADER_CHECKSUM)] {
            if self.0[offset..end].iter().any(|byte| *byte != 0) {
                return Err(FormatError::Reserved { offset });
            }
        }
        let offered = self.u64(at::OFFERED);
        let changed = self.field("changed", self.u64(at::CHANGED), Expected::Within(0, offered))?;
        Ok(Counts { offered, changed, merged: flags & MERGED != 0 })
    }

    fn probes(&self) -> Result<u32, FormatError> {
        let found = self.u32(at::PROBES);
        self.field("probes", found.into(), Expected::Within(1, MAX_PROBES.into()))?;
        Ok(found)
    }

    fn rate(&self) -> Result<Option<Rate>, FormatError> {
        let (numerator, divisor) = (self.u64(at::RATE_NUMERATOR), self.u64(at::RATE_DIVISOR));
        let exponent = i32::from_le_bytes(self.get(at::RATE_EXPONENT));
        // One way to write "none", so that equal filters have equal bytes.
        if (numerator, exponent, divisor) == (0, 0, 0) {
            return Ok(None);
        }
        Rate::from_parts(numerator, exponent, divisor).map(Some).map_err(|_| FormatError::Rate { numerator, exponent, divisor })
    }

    fn field(&self, field: &'static str, found: u64, expected: Expected) -> Result<u64, FormatError> {
        check_field(field, found, expected)
    }
}

/// The value, if it is as expected.
pub(super) fn check_field(field: &'static str, found: u64, expected: Expected) -> Result<u64, FormatError> {
    let fits = match expected {
        Expected::Exactly(value) => found == value,
        Expected::Within(lowest, highest) => (lowest..=highest).contains(&found),
    };
    if fits { Ok(found) } else { Err(FormatError::Field { field, expected, found }) }
}
