//! The file of a Bloom filter: kind 1 of docs/FORMAT.md.

use super::{BloomFilter, Counts};
use crate::bits::{Bits, words_for};
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, Kind, Stored, at, check_field};
use crate::hash::{PortableHasher, check_hasher};
use crate::scheme::Scheme;
use truebloom_math::Rate;

const MERGED: u32 = 1;

/// What a header of kind 1 says.
pub(crate) struct Header<S> {
    hasher: PortableHasher,
    scheme: S,
    counts: Counts,
    capacity: Option<u64>,
    rate: Option<Rate>,
}

impl<S: Scheme> Stored for BloomFilter<PortableHasher, S> {
    const KINDS: &'static [Kind] = &[Kind::Bloom];

    type Header = Header<S>;

    fn read_header(fields: &Fields, _: Kind) -> Result<Header<S>, FormatError> {
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        let merged = fields.flags(MERGED)? == MERGED;
        fields.check_zero(at::PARAMETERS, at::HEADER_CHECKSUM)?;
        let id = fields.scheme()?;
        let (bits, probes, rate) = (fields.bits()?, fields.probes()?, fields.rate()?);
        let scheme = S::with_id(id, bits, probes).map_err(|error| scheme_error(error, bits, probes))?;
        check_hasher(&hasher, scheme.takes_halves()).map_err(|error| FormatError::Parameters { why: error.to_string() })?;
        let offered = fields.u64(at::OFFERED);
        let changed = fields.u64_within("changed", at::CHANGED, 0, offered)?;
        let capacity = Some(fields.u64(at::CAPACITY)).filter(|capacity| *capacity > 0);
        Ok(Header { hasher, scheme, counts: Counts { offered, changed, merged }, capacity, rate })
    }

    fn payload_bytes(header: &Header<S>) -> u64 {
        8 * words_for(header.scheme.bits())
    }

    fn assemble(header: Header<S>, words: Vec<u64>) -> Result<Self, FormatError> {
        let Header { hasher, scheme, counts, capacity, rate } = header;
        let storage = Bits::from_words(words, scheme.bits()).ok_or(FormatError::Padding { bits: scheme.bits() })?;
        let ones = storage.count_ones();
        counts.check_ones(scheme.probes(), ones)?;
        Ok(BloomFilter { hasher, scheme, storage, ones, counts, capacity, rate })
    }

    fn fields(&self) -> Fields {
        let mut fields = Fields::new(Kind::Bloom);
        fields.put_scheme(self.scheme.id(), self.bits(), self.probes());
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

/// Bits and probes are in range by themselves, so what is left is that the scheme is another, or cannot have both.
fn scheme_error(error: BuildError, bits: u64, probes: u32) -> FormatError {
    match error {
        BuildError::Scheme { expected, found } => FormatError::Scheme { expected, found },
        BuildError::Slices { .. } => {
            let multiple = (bits / u64::from(probes)).max(1) * u64::from(probes);
            FormatError::Field { field: "bits", expected: Expected::Exactly(multiple), found: bits }
        }
        _ => {
            FormatError::Field { field: "probes", expected: Expected::Within(1, bits.min(crate::MAX_PROBES.into())), found: probes.into() }
        }
    }
}

impl Counts {
    /// Every offer that set a bit set 1 to k of them. After a merge the counts are only bounds.
    pub(crate) fn check_ones(self, probes: u32, ones: u64) -> Result<(), FormatError> {
        if self.merged {
            return Ok(());
        }
        let most = self.changed.saturating_mul(probes.into());
        check_field("set bits", ones, Expected::Within(self.changed, most)).map(|_| ())
    }
}
