//! The files of sketches: kinds 6 and 7 of docs/FORMAT.md.

use super::walk::WALK;
use super::{Counter, RowHashes, Sketch, checked_hashes};
use crate::MAX_PROBES;
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, FileKind, Stored, at, check_field};
use crate::hash::{KeyHasher, PortableHasher};
use alloc::vec::Vec;
use truebloom_math::count_min::{Family, Rows, Shape};

const CONSERVATIVE: u32 = 1 << 1;
const HALVED: u32 = 1 << 2;

/// Where the parameters of sketches are.
pub(super) mod parameter {
    use crate::format::at::PARAMETERS;
    pub(crate) const COPIES: usize = PARAMETERS;
    pub(crate) const COUNTER_BYTES: usize = PARAMETERS + 4;
    pub(crate) const FAMILY: usize = PARAMETERS + 8;
    pub(crate) const RESERVED: usize = PARAMETERS + 12;
    /// From here on, of the list of heavy hitters; 0 in a sketch without.
    pub(crate) const LIST_CAPACITY: usize = PARAMETERS + 16;
    pub(crate) const LIST_LENGTH: usize = PARAMETERS + 24;
    pub(crate) const LIST_BYTES: usize = PARAMETERS + 32;
    pub(crate) const LIST_MISSED: usize = PARAMETERS + 40;
    pub(crate) const END: usize = PARAMETERS + 48;
}

/// What a header of kind 6 or 7 says of the sketch.
pub(crate) struct Header {
    hasher: PortableHasher,
    shape: Shape,
    counter_bytes: u32,
    total: u64,
    conservative: bool,
    halved: bool,
}

impl Header {
    /// Everything but the list of heavy hitters.
    pub(super) fn read<R: RowHashes, C: Counter>(fields: &Fields) -> Result<Header, FormatError> {
        // The one that rows are drawn by, whatever schemes filters have.
        check_field("scheme", fields.u16(at::SCHEME).into(), Expected::Exactly(WALK.into()))?;
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        let flags = fields.flags(CONSERVATIVE | HALVED)?;
        for (start, end) in
            [(at::CHANGED, at::RATE_EXPONENT + 4), (parameter::RESERVED, parameter::LIST_CAPACITY), (parameter::END, at::HEADER_CHECKSUM)]
        {
            fields.check_zero(start, end)?;
        }
        check_field("hash family", fields.u32(parameter::FAMILY).into(), Expected::Exactly(family_number(R::FAMILY).into()))?;
        let counter_bytes = fields.u32(parameter::COUNTER_BYTES);
        let widest = if counter_bytes == u32::BYTES { counter_bytes } else { C::BYTES };
        check_field("bytes of a counter", counter_bytes.into(), Expected::Exactly(widest.into()))?;
        let most = if R::ROWS == Rows::Independent { 1 } else { MAX_PROBES / 2 };
        let copies = fields.u32(parameter::COPIES);
        check_field("copies", copies.into(), Expected::Within(1, most.into()))?;
        let (width, depth) = (fields.bits()?, fields.probes()?);
        check_field("rows", u64::from(depth) * u64::from(copies), Expected::Within(1, MAX_PROBES.into()))?;
        let shape = Shape::new(R::ROWS, width, depth, copies);
        let shape = shape.map_err(|_| FormatError::Field { field: "width", expected: Expected::Prime, found: width })?;
        if shape.cells() > 1 << 58 {
            return Err(FormatError::Memory { bytes: u64::MAX });
        }
        let (conservative, halved) = (flags & CONSERVATIVE != 0, flags & HALVED != 0);
        Ok(Header { hasher, shape, counter_bytes, total: fields.u64(at::OFFERED), conservative, halved })
    }

    /// At most 2^61.
    pub(super) fn counter_words(&self) -> u64 {
        (self.shape.cells() as u64).div_ceil((8 / self.counter_bytes).into())
    }

    /// The sketch with these counters, as many as [`counter_words`](Self::counter_words) says.
    pub(super) fn assemble<R: RowHashes, C: Counter>(self, words: &[u64]) -> Result<Sketch<R, C>, FormatError> {
        let memory =
            || FormatError::Memory { bytes: u64::try_from(self.shape.cells()).unwrap_or(u64::MAX).saturating_mul(C::BYTES.into()) };
        let hashes = checked_hashes::<R>(&self.shape, self.hasher).map_err(|error| match error {
            BuildError::Math(_) => FormatError::Field { field: "width", expected: Expected::Within(1, 1 << 40), found: self.shape.width() },
            _ => memory(),
        })?;
        let cells = usize::try_from(self.shape.cells()).map_err(|_| memory())?;
        let mut counters = Vec::new();
        counters.try_reserve_exact(cells).map_err(|_| memory())?;
        if self.counter_bytes == u32::BYTES {
            let widened = |half: u32| if half == u32::MAX { C::HIGHEST } else { C::saturated_from(half.into()) };
            let halves = words.iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]);
            counters.extend(halves.clone().take(cells).map(widened));
            check_field("bytes after the counters", halves.skip(cells).map(u64::from).sum(), Expected::Exactly(0))?;
        } else {
            counters.extend(words.iter().take(cells).map(|word| C::saturated_from(*word)));
        }
        let Header { hasher, shape, total, conservative, halved, .. } = self;
        let sketch = Sketch { hasher, shape, hashes, counters, total, conservative, halved };
        sketch.check_sums().map(|()| sketch)
    }
}

impl<R: RowHashes, C: Counter> Sketch<R, C> {
    /// Every addition went to one counter of each row: the sum of a row is that of all counts, or below it where counters were not raised, were halved or are full. Full counters
    /// stay full when the total is halved, and then say nothing of the sum.
    fn check_sums(&self) -> Result<(), FormatError> {
        let short = self.conservative || self.halved || self.total == u64::MAX;
        // A full counter of a halved sketch, or one of fewer bits that was read into a wider one, says nothing of the sum: only the others are held to it.
        let silent = self.halved || C::BYTES == u64::BYTES;
        for row in self.counters.chunks(self.shape.width() as usize) {
            let (mut sum, mut full) = (0u64, false);
            for counter in row {
                let is_full = *counter == C::HIGHEST;
                full |= is_full;
                sum = sum.saturating_add(if is_full && silent { 0 } else { counter.into_u64() });
            }
            let expected = if short || full { Expected::Within(0, self.total) } else { Expected::Exactly(self.total) };
            check_field("the sum of a row", sum, expected)?;
        }
        Ok(())
    }

    pub(super) fn sketch_fields(&self) -> Fields {
        let mut fields = Fields::new(R::KIND);
        fields.put_numbered_scheme(WALK, self.shape.width(), self.shape.depth());
        fields.put_hasher(self.hasher.hasher_id(), self.hasher.seed());
        let flags = if self.conservative { CONSERVATIVE } else { 0 } | if self.halved { HALVED } else { 0 };
        fields.put(at::FLAGS, flags.to_le_bytes());
        fields.put(at::OFFERED, self.total.to_le_bytes());
        fields.put(parameter::COPIES, self.shape.copies().to_le_bytes());
        fields.put(parameter::COUNTER_BYTES, C::BYTES.to_le_bytes());
        fields.put(parameter::FAMILY, family_number(R::FAMILY).to_le_bytes());
        fields
    }

    pub(super) fn counter_words(&self) -> impl Iterator<Item = u64> {
        let in_word = 8 / C::BYTES as usize;
        let word = |counters: &[C]| {
            counters.iter().rev().fold(0u64, |word, counter| word.checked_shl(8 * C::BYTES).unwrap_or(0) | counter.into_u64())
        };
        self.counters.chunks(in_word).map(word)
    }
}

impl<R: RowHashes, C: Counter> Stored for Sketch<R, C> {
    const KINDS: &'static [FileKind] = &[R::KIND];

    type Header = Header;

    fn read_header(fields: &Fields, _: FileKind) -> Result<Header, FormatError> {
        let header = Header::read::<R, C>(fields)?;
        check_field("capacity of a list of heavy hitters", fields.u64(parameter::LIST_CAPACITY), Expected::Exactly(0))?;
        fields.check_zero(parameter::LIST_LENGTH, parameter::END)?;
        Ok(header)
    }

    fn payload_bytes(header: &Header) -> u64 {
        8 * header.counter_words()
    }

    fn assemble(header: Header, words: Vec<u64>) -> Result<Sketch<R, C>, FormatError> {
        header.assemble(&words)
    }

    fn fields(&self) -> Fields {
        self.sketch_fields()
    }

    fn word_count(&self) -> u64 {
        (self.shape.cells() as u64).div_ceil((8 / C::BYTES).into())
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.counter_words()
    }
}

fn family_number(family: Family) -> u32 {
    match family {
        Family::Ideal => 1,
        Family::Pairwise => 2,
    }
}
