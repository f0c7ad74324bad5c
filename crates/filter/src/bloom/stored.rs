//! The files of Bloom filters: kinds 1 and 2 of docs/FORMAT.md.

use super::{Counts, FilterOf, Label};
use crate::bits::{Storage, words_for};
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, FileKind, Stored, at, check_field};
use crate::hash::PortableHasher;
use crate::scheme::Scheme;
use alloc::vec::Vec;
use truebloom_math::Rate;

const MERGED: u32 = 1;
/// An intersection, whose offers are more than its items by what stands after the parameters of the layout.
const INTERSECTION: u32 = 32;

/// What a header of these kinds says.
pub(crate) struct Header<S> {
    hasher: PortableHasher,
    scheme: S,
    counts: Counts,
    capacity: Option<u64>,
    rate: Option<Rate>,
}

impl<S: Scheme> Stored for FilterOf<S> {
    const KINDS: &'static [FileKind] = &[S::KIND];

    type Header = Header<S>;

    fn read_header(fields: &Fields, _: FileKind) -> Result<Header<S>, FormatError> {
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        let flags = fields.flags(MERGED | INTERSECTION)?;
        let (merged, is_intersection) = (flags & MERGED != 0, flags & INTERSECTION != 0);
        if is_intersection && !merged {
            let expected = Expected::Exactly((MERGED | INTERSECTION).into());
            return Err(FormatError::Field { field: "flags", expected, found: flags.into() });
        }
        S::check_fields(fields, at::PARAMETERS)?;
        let excluded_at = at::PARAMETERS + S::PARAMETER_BYTES;
        fields.check_zero(if is_intersection { excluded_at + 8 } else { excluded_at }, at::LABEL)?;
        let label = Label::read(fields)?;
        let id = fields.scheme(S::KIND)?;
        let (bits, probes, rate) = (fields.bits()?, fields.probes()?, fields.rate()?);
        let scheme = S::with_id(id, bits, probes).map_err(|error| scheme_error(error, bits, probes))?;
        let offered = fields.u64(at::OFFERED);
        let changed = fields.u64_within("changed", at::CHANGED, 0, offered)?;
        let excluded = if is_intersection { Some(fields.u64_within("excluded offers", excluded_at, 0, offered)?) } else { None };
        let capacity = Some(fields.u64(at::CAPACITY)).filter(|capacity| *capacity > 0);
        Ok(Header { hasher, scheme, counts: Counts { offered, changed, merged, excluded, label }, capacity, rate })
    }

    fn payload_bytes(header: &Header<S>) -> u64 {
        8 * words_for(header.scheme.bits())
    }

    fn assemble(header: Header<S>, words: Vec<u64>) -> Result<Self, FormatError> {
        let Header { hasher, scheme, counts, capacity, rate } = header;
        let storage = S::Storage::from_words(&scheme, words)?;
        counts.check_ones(scheme.probes(), storage.ones())?;
        Ok(FilterOf { hasher, scheme, storage, counts, capacity, rate })
    }

    fn fields(&self) -> Fields {
        let mut fields = Fields::new(S::KIND);
        S::put_parameters(&mut fields, at::PARAMETERS);
        fields.put_scheme(self.scheme.id(), self.bits(), self.probes());
        fields.put_hasher(self.hasher.hasher_id(), self.seed());
        let flags = if self.counts.merged { MERGED } else { 0 } | if self.is_intersection() { INTERSECTION } else { 0 };
        fields.put(at::FLAGS, flags.to_le_bytes());
        fields.put(at::PARAMETERS + S::PARAMETER_BYTES, self.counts.excluded.unwrap_or(0).to_le_bytes());
        self.counts.label.put(&mut fields);
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
        self.words().iter().copied()
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
