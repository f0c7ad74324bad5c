//! The file of a Bloom filter: kind 1 of docs/FORMAT.md.

use super::{BloomFilter, Counts};
use crate::bits::{Bits, words_for};
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, Kind, Stored, at, check_field};
use crate::hash::PortableHasher;
use crate::scheme::{Scheme, Standard};
use truebloom_math::Rate;

const MERGED: u32 = 1;

/// What a header of kind 1 says.
pub(crate) struct Header {
    hasher: PortableHasher,
    probes: u32,
    bits: u64,
    counts: Counts,
    capacity: Option<u64>,
    rate: Option<Rate>,
}

impl Stored for BloomFilter {
    const KINDS: &'static [Kind] = &[Kind::Bloom];

    type Header = Header;

    fn read_header(fields: &Fields, _: Kind) -> Result<Header, FormatError> {
        fields.check_scheme(Standard::ID)?;
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        let merged = fields.flags(MERGED)? == MERGED;
        fields.check_zero(at::PARAMETERS, at::HEADER_CHECKSUM)?;
        let (bits, probes, rate) = (fields.bits()?, fields.probes()?, fields.rate()?);
        let offered = fields.u64(at::OFFERED);
        let changed = fields.u64_within("changed", at::CHANGED, 0, offered)?;
        let capacity = Some(fields.u64(at::CAPACITY)).filter(|capacity| *capacity > 0);
        Ok(Header { hasher, probes, bits, counts: Counts { offered, changed, merged }, capacity, rate })
    }

    fn payload_bytes(header: &Header) -> u64 {
        8 * words_for(header.bits)
    }

    fn assemble(header: Header, words: Vec<u64>) -> Result<BloomFilter, FormatError> {
        let Header { hasher, probes, bits, counts, capacity, rate } = header;
        let storage = Bits::from_words(words, bits).ok_or(FormatError::Padding { bits })?;
        let ones = storage.count_ones();
        check_ones(counts, probes, ones)?;
        let scheme = Standard::new(bits, probes).map_err(|error| match error {
            // The header has checked bits and probes, so only memory is left to fail.
            BuildError::Probes { found } => {
                FormatError::Field { field: "probes", expected: Expected::Within(1, crate::MAX_PROBES.into()), found: found.into() }
            }
            _ => FormatError::Memory { bytes: 8 * words_for(bits) },
        })?;
        Ok(BloomFilter { hasher, scheme, storage, ones, counts, capacity, rate })
    }

    fn fields(&self) -> Fields {
        let mut fields = Fields::new(Kind::Bloom);
        fields.put_scheme(Standard::ID, self.bits(), self.probes());
        fields.put_hasher(self.hasher.hasher_id(), self.seed());
        fields.put(at::FLAGS, if self.counts.merged { MERGED } else { 0 }.to_le_bytes());
        fields.put(at::OFFERED, self.counts.offered.to_le_bytes());
        fields.put(at::CHANGED, self.counts.changed.to_le_bytes());
        fields.put(at::CAPACITY, self.capacity.unwrap_or(0).to_le_bytes());
        fields.put_rate(self.rate);
        fields
    }

    fn word_count(&self) -> u64 {
        words_for(self.bits())
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.storage.words().iter().copied()
    }
}

/// Every offer that set a bit set 1 to k of them. After a merge the counts are only bounds.
fn check_ones(counts: Counts, probes: u32, ones: u64) -> Result<(), FormatError> {
    if counts.merged {
        return Ok(());
    }
    let most = counts.changed.saturating_mul(probes.into());
    check_field("set bits", ones, Expected::Within(counts.changed, most)).map(|_| ())
}
