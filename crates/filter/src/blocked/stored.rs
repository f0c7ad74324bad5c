//! The file of a blocked filter: kind 2 of docs/FORMAT.md.

use super::BlockedBloomFilter;
use crate::arch::{LINE_BITS, Level, Words};
use crate::bloom::Counts;
use crate::error::{Expected, FormatError};
use crate::format::{Fields, Kind, Stored, at, check_field};
use crate::hash::{PortableHasher, check_hasher};
use crate::scheme::{InLines, InLinesId, MAX_BLOCKED_PROBES};
use truebloom_math::{MAX_BITS, Rate};

const MERGED: u32 = 1;
/// Where the parameters of this kind end: the block's bits.
const PARAMETERS_END: usize = at::PARAMETERS + 8;

/// What a header of kind 2 says.
pub(crate) struct Header {
    hasher: PortableHasher,
    scheme: InLines,
    bits: u64,
    counts: Counts,
    capacity: Option<u64>,
    rate: Option<Rate>,
}

impl Stored for BlockedBloomFilter {
    const KINDS: &'static [Kind] = &[Kind::Blocked];

    type Header = Header;

    fn read_header(fields: &Fields, _: Kind) -> Result<Header, FormatError> {
        let found = fields.u16(at::SCHEME);
        let id = [InLinesId::InLines, InLinesId::First].into_iter().find(|id| *id as u16 == found);
        let id = id.ok_or(FormatError::Unknown { field: "scheme", found: found.into() })?;
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        let merged = fields.flags(MERGED)? == MERGED;
        check_field("block bits", fields.u64(at::PARAMETERS), Expected::Exactly(LINE_BITS))?;
        fields.check_zero(PARAMETERS_END, at::HEADER_CHECKSUM)?;
        let bits = fields.u64_within("bits", at::BITS, LINE_BITS, MAX_BITS)?;
        check_field("bits modulo 512", bits % LINE_BITS, Expected::Exactly(0))?;
        let probes = fields.u32(at::PROBES);
        check_field("probes", probes.into(), Expected::Within(1, MAX_BLOCKED_PROBES.into()))?;
        let rate = fields.rate()?;
        let offered = fields.u64(at::OFFERED);
        let changed = fields.u64_within("changed", at::CHANGED, 0, offered)?;
        let capacity = Some(fields.u64(at::CAPACITY)).filter(|capacity| *capacity > 0);
        // Bits and probes are checked, so this is not refused.
        let scheme = InLines::with_id(id, bits, probes).map_err(|error| FormatError::Parameters { why: error.to_string() })?;
        check_hasher(&hasher, scheme.takes_halves()).map_err(|error| FormatError::Parameters { why: error.to_string() })?;
        Ok(Header { hasher, scheme, bits, counts: Counts { offered, changed, merged }, capacity, rate })
    }

    fn payload_bytes(header: &Header) -> u64 {
        header.bits / 8
    }

    fn assemble(header: Header, words: Vec<u64>) -> Result<BlockedBloomFilter, FormatError> {
        let Header { hasher, scheme, bits, counts, capacity, rate } = header;
        let words = Words::from_vec(words).ok_or(FormatError::Memory { bytes: bits / 8 })?;
        let filter = BlockedBloomFilter { hasher, scheme, words, level: Level::detect(), counts, capacity, rate };
        counts.check_ones(scheme.probes(), filter.ones())?;
        Ok(filter)
    }

    fn fields(&self) -> Fields {
        let mut fields = Fields::new(Kind::Blocked);
        fields.put(at::SCHEME, (self.scheme.id() as u16).to_le_bytes());
        fields.put(at::PROBES, self.probes().to_le_bytes());
        fields.put(at::BITS, self.bits().to_le_bytes());
        fields.put(at::PARAMETERS, LINE_BITS.to_le_bytes());
        fields.put_hasher(self.hasher.hasher_id(), self.seed());
        fields.put(at::FLAGS, if self.counts.merged { MERGED } else { 0 }.to_le_bytes());
        fields.put(at::OFFERED, self.counts.offered.to_le_bytes());
        fields.put(at::CHANGED, self.counts.changed.to_le_bytes());
        fields.put(at::CAPACITY, self.capacity.unwrap_or(0).to_le_bytes());
        fields.put_rate(self.rate);
        fields
    }

    fn word_count(&self) -> u64 {
        self.bits() / 64
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.words.iter().copied()
    }
}
