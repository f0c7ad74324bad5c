//! The header of 256 bytes before the payload. The fields that all kinds share are checked here.
//! Each field has one function that reads it and one that writes it.

use super::HEADER_BYTES;
use crate::MAX_PROBES;
use crate::error::{Expected, FormatError};
use crate::hash::Seed;
use crate::ids::{FileKind, HasherId};
#[cfg(feature = "growth")]
use truebloom_math::Growth;
use truebloom_math::{MAX_BITS, Rate, SchemeId};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"\x89TBL\r\n\x1a\n";
const VERSION: u16 = 1;

/// The flag that marks a file as being updated in place.
const UNFINISHED: u32 = 1 << 6;

/// The flag of a filter that is the result of a union.
pub(crate) const MERGED: u32 = 1;

/// The flag of an intersection, which is set together with [`MERGED`]. A field after the layout's
/// parameters then stores how many insertions certainly do not belong to the intersection's items.
pub(crate) const INTERSECTION: u32 = 32;

/// Where each field starts; docs/FORMAT.md explains the fields.
pub(crate) mod at {
    pub(crate) const VERSION: usize = 8;
    pub(crate) const KIND: usize = 10;
    pub(crate) const SCHEME: usize = 12;
    pub(crate) const HASHER: usize = 14;
    pub(crate) const FLAGS: usize = 16;
    pub(crate) const PROBES: usize = 20;
    pub(crate) const BITS: usize = 24;
    pub(crate) const SEED: usize = 32;
    pub(crate) const OFFERED: usize = 48;
    pub(crate) const CHANGED: usize = 56;
    pub(crate) const CAPACITY: usize = 64;
    pub(crate) const RATE_NUMERATOR: usize = 72;
    pub(crate) const RATE_DIVISOR: usize = 80;
    pub(crate) const RATE_EXPONENT: usize = 88;
    pub(crate) const RESERVED: usize = 92;
    pub(crate) const PAYLOAD_OFFSET: usize = 96;
    pub(crate) const PAYLOAD_LENGTH: usize = 104;
    pub(crate) const PAYLOAD_CHECKSUM: usize = 112;
    pub(crate) const PARAMETERS: usize = 120;
    /// The items of the first layer, and the memory ratio, in files of kind 5.
    #[cfg(feature = "growth")]
    pub(crate) const FIRST: usize = 120;
    #[cfg(feature = "growth")]
    pub(crate) const RATIO: usize = 128;
    /// The number of layers in files of kind 5.
    pub(crate) const LAYERS: usize = 136;
    /// The label of files of kinds 1 and 2.
    pub(crate) const LABEL: usize = 144;
    pub(crate) const HEADER_CHECKSUM: usize = 248;
}

/// The bytes of a header.
///
/// To write a header, call [`new`](Self::new), add the fields of this kind of file, and finish with
/// [`sealed`](Self::sealed). A reader starts with [`open`](Self::open), which checks the fields
/// that all kinds share; each kind checks its own fields.
#[derive(Clone)]
pub struct Fields([u8; HEADER_BYTES]);

impl Fields {
    /// A header in which everything is 0 except the magic, the version and the kind.
    pub(crate) fn new(kind: FileKind) -> Fields {
        let mut fields = Fields([0; HEADER_BYTES]);
        fields.put(0, MAGIC);
        fields.put(at::VERSION, VERSION.to_le_bytes());
        fields.put(at::KIND, (kind as u16).to_le_bytes());
        fields
    }

    /// The finished header, with the length of the payload and all checksums.
    pub(crate) fn sealed(mut self, payload_bytes: u64, payload_checksum: u64) -> [u8; HEADER_BYTES] {
        self.put(at::PAYLOAD_OFFSET, (HEADER_BYTES as u64).to_le_bytes());
        self.put(at::PAYLOAD_LENGTH, payload_bytes.to_le_bytes());
        self.put(at::PAYLOAD_CHECKSUM, payload_checksum.to_le_bytes());
        self.put(at::HEADER_CHECKSUM, self.checksum().to_le_bytes());
        self.0
    }

    /// Reads the header and its kind, which must be one of `kinds`, from the start of a file. The
    /// file may be shorter than a header.
    pub(crate) fn open(start: &[u8], kinds: &[FileKind]) -> Result<(Fields, FileKind), FormatError> {
        check_magic(start)?;
        let whole = start.first_chunk().copied().map(Fields);
        let fields = whole.ok_or(FormatError::Truncated { expected: HEADER_BYTES as u64, found: start.len() as u64 })?;
        fields.check_version()?;
        fields.check_checksum()?;
        let kind = fields.kind()?;
        if !kinds.contains(&kind) {
            return Err(FormatError::Kind { found: kind });
        }
        fields.check_zero(at::RESERVED, at::PAYLOAD_OFFSET)?;
        Ok((fields, kind))
    }

    /// Compares the length of the payload in the header with the length that follows from the
    /// fields of its kind.
    pub(crate) fn check_payload_place(&self, payload_bytes: u64) -> Result<(), FormatError> {
        check_field("payload offset", self.u64(at::PAYLOAD_OFFSET), Expected::Exactly(HEADER_BYTES as u64))?;
        check_field("payload length", self.u64(at::PAYLOAD_LENGTH), Expected::Exactly(payload_bytes)).map(|_| ())
    }

    pub(crate) fn payload_checksum(&self) -> u64 {
        self.u64(at::PAYLOAD_CHECKSUM)
    }

    pub(crate) fn put<const N: usize>(&mut self, offset: usize, field: [u8; N]) {
        self.0[offset..offset + N].copy_from_slice(&field);
    }

    pub(crate) fn get<const N: usize>(&self, offset: usize) -> [u8; N] {
        core::array::from_fn(|i| self.0[offset + i])
    }

    pub(crate) fn u16(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.get(offset))
    }

    pub(crate) fn u32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.get(offset))
    }

    pub(crate) fn u64(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.get(offset))
    }

    /// Reads a field whose value must be within these limits, both included. An error names the
    /// field `name`.
    pub(crate) fn u64_within(&self, name: &'static str, offset: usize, lowest: u64, highest: u64) -> Result<u64, FormatError> {
        check_field(name, self.u64(offset), Expected::Within(lowest, highest))
    }

    /// Checks that unused bytes are 0. This ensures that equal values have equal bytes, and that
    /// later versions of the format can use these bytes.
    pub(crate) fn check_zero(&self, start: usize, end: usize) -> Result<(), FormatError> {
        let zero = self.0[start..end].iter().all(|byte| *byte == 0);
        if zero { Ok(()) } else { Err(FormatError::Reserved { offset: start }) }
    }

    /// Whether a program is updating the file in place, or was doing so when it ended.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.u32(at::FLAGS) & UNFINISHED != 0
    }

    /// Reads the flags; any flag that is not in `known` is an error.
    pub(crate) fn flags(&self, known: u32) -> Result<u32, FormatError> {
        let found = self.u32(at::FLAGS);
        if self.is_unfinished() {
            return Err(FormatError::Unfinished);
        }
        if found & !known == 0 { Ok(found) } else { Err(FormatError::Unknown { field: "flags", found }) }
    }

    pub(crate) fn put_scheme(&mut self, scheme: SchemeId, bits: u64, probes: u32) {
        self.put_numbered_scheme(scheme.number(), bits, probes);
    }

    /// Like [`put_scheme`](Self::put_scheme), with the number of the scheme.
    pub(crate) fn put_numbered_scheme(&mut self, scheme: u16, bits: u64, probes: u32) {
        self.put(at::SCHEME, scheme.to_le_bytes());
        self.put(at::PROBES, probes.to_le_bytes());
        self.put(at::BITS, bits.to_le_bytes());
    }

    /// Reads the scheme, which must be one that this kind of file can have. Only blocked filters
    /// have the blocked scheme.
    pub(crate) fn scheme(&self, kind: FileKind) -> Result<SchemeId, FormatError> {
        let found = self.u16(at::SCHEME);
        let known = SchemeId::from_number(found).filter(|scheme| scheme.layout() == kind.layout());
        known.ok_or(FormatError::Unknown { field: "scheme", found: found.into() })
    }

    pub(crate) fn bits(&self) -> Result<u64, FormatError> {
        self.u64_within("bits", at::BITS, 1, MAX_BITS)
    }

    pub(crate) fn probes(&self) -> Result<u32, FormatError> {
        let found = self.u32(at::PROBES);
        check_field("probes", found.into(), Expected::Within(1, MAX_PROBES.into()))?;
        Ok(found)
    }

    pub(crate) fn put_hasher(&mut self, hasher: HasherId, seed: Seed) {
        self.put(at::HASHER, (hasher as u16).to_le_bytes());
        self.put(at::SEED, u128::from(seed).to_le_bytes());
    }

    pub(crate) fn hasher(&self) -> Result<HasherId, FormatError> {
        let found = self.u16(at::HASHER);
        let known = HasherId::ALL.into_iter().find(|hasher| *hasher as u16 == found);
        known.ok_or(FormatError::Unknown { field: "hasher", found: found.into() })
    }

    pub(crate) fn seed(&self) -> Seed {
        self.seed_at(at::SEED)
    }

    pub(crate) fn seed_at(&self, offset: usize) -> Seed {
        Seed::from(u128::from_le_bytes(self.get(offset)))
    }

    pub(crate) fn put_rate(&mut self, rate: Option<Rate>) {
        let (numerator, exponent, divisor) = rate.map_or((0, 0, 0), |rate| rate.parts());
        self.put(at::RATE_NUMERATOR, numerator.to_le_bytes());
        self.put(at::RATE_DIVISOR, divisor.to_le_bytes());
        self.put(at::RATE_EXPONENT, exponent.to_le_bytes());
    }

    pub(crate) fn rate(&self) -> Result<Option<Rate>, FormatError> {
        let (numerator, divisor) = (self.u64(at::RATE_NUMERATOR), self.u64(at::RATE_DIVISOR));
        let exponent = i32::from_le_bytes(self.get(at::RATE_EXPONENT));
        // A filter without a rate always has these bytes, so that equal filters have equal bytes.
        if (numerator, exponent, divisor) == (0, 0, 0) {
            return Ok(None);
        }
        Rate::from_parts(numerator, exponent, divisor).map(Some).map_err(|_| FormatError::Rate { numerator, exponent, divisor })
    }

    /// Reads the plan of the layers of a filter that grows.
    #[cfg(feature = "growth")]
    pub(crate) fn growth(&self) -> Result<Growth, FormatError> {
        let rate = self.rate()?.ok_or(FormatError::Rate { numerator: 0, exponent: 0, divisor: 0 })?;
        let growth = Growth::with_ratio(rate, self.u64(at::FIRST), f64::from_bits(self.u64(at::RATIO)));
        growth.map_err(|error| FormatError::Parameters { why: alloc::string::ToString::to_string(&error) })
    }

    /// Marks the file as being updated in place.
    #[cfg(feature = "mmap")]
    pub(crate) fn mark_unfinished(&mut self) {
        let flags = self.u32(at::FLAGS) | UNFINISHED;
        self.put(at::FLAGS, flags.to_le_bytes());
    }

    /// Marks the file as being updated in place, and as an intersection.
    #[cfg(feature = "mmap")]
    pub(crate) fn mark_unfinished_intersection(&mut self) {
        let flags = self.u32(at::FLAGS) | UNFINISHED | MERGED | INTERSECTION;
        self.put(at::FLAGS, flags.to_le_bytes());
    }

    /// Removes the mark of a file that is being updated in place.
    #[cfg(feature = "mmap")]
    pub(crate) fn take_mark_away(&mut self) {
        let flags = self.u32(at::FLAGS) & !UNFINISHED;
        self.put(at::FLAGS, flags.to_le_bytes());
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

    fn kind(&self) -> Result<FileKind, FormatError> {
        let found = self.u16(at::KIND);
        let known = FileKind::ALL.into_iter().find(|kind| *kind as u16 == found);
        known.ok_or(FormatError::Unknown { field: "kind", found: found.into() })
    }
}

fn check_magic(start: &[u8]) -> Result<(), FormatError> {
    // A file that is shorter than the magic may be truncated, so its missing bytes count as correct
    // here.
    let filled: [u8; 8] = core::array::from_fn(|i| start.get(i).copied().unwrap_or(MAGIC[i]));
    if filled == MAGIC {
        return Ok(());
    }
    // A transfer in text mode changes line ends or clears the highest bit of a byte, but keeps the
    // three letters of the magic.
    let letters_stand = filled[1..4] == MAGIC[1..4] && (filled[0] | 0x80) == MAGIC[0];
    let found = start[..start.len().min(MAGIC.len())].to_vec();
    Err(if letters_stand { FormatError::TextMode { found } } else { FormatError::NotAFilter { found } })
}

/// Returns the value if it is as expected, and otherwise an error.
pub(crate) fn check_field(field: &'static str, found: u64, expected: Expected) -> Result<u64, FormatError> {
    let fits = match expected {
        Expected::Exactly(value) => found == value,
        Expected::Within(lowest, highest) => (lowest..=highest).contains(&found),
        Expected::Prime => truebloom_math::is_prime(found),
    };
    if fits { Ok(found) } else { Err(FormatError::Field { field, expected, found }) }
}
