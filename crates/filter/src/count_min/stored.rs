//! The files of sketches: kinds 6 and 7 of docs/FORMAT.md.

use super::walk::WALK;
use super::{Counter, RowHashes, Sketch, checked_hashes};
use crate::MAX_PROBES;
use crate::backing::{Backing, Checked, Counted, InBytes, View};
use crate::error::{BuildError, Expected, FormatError};
use crate::format::{Fields, HEADER_BYTES, Stored, Viewed, Written, at, check_field, check_payload};
use crate::hash::{KeyHasher, PortableHasher};
use crate::ids::FileKind;
use crate::word::Lies;
use alloc::vec::Vec;
use truebloom_math::count_min::{Family, Rows, Shape};

const CONSERVATIVE: u32 = 1 << 1;
const HALVED: u32 = 1 << 2;

/// Where the header stores the parameters of sketches.
pub(super) mod parameter {
    use crate::format::at::PARAMETERS;
    pub(crate) const COPIES: usize = PARAMETERS;
    pub(crate) const COUNTER_BYTES: usize = PARAMETERS + 4;
    pub(crate) const FAMILY: usize = PARAMETERS + 8;
    pub(crate) const RESERVED: usize = PARAMETERS + 12;
    /// The position at which the parameters of the list of heavy hitters begin. In a sketch without
    /// a list, these parameters are 0.
    pub(crate) const LIST_CAPACITY: usize = PARAMETERS + 16;
    pub(crate) const LIST_LENGTH: usize = PARAMETERS + 24;
    pub(crate) const LIST_BYTES: usize = PARAMETERS + 32;
    pub(crate) const LIST_MISSED: usize = PARAMETERS + 40;
    /// The rounding of halved sketches that were merged, or 0.
    pub(crate) const ROUNDED: usize = PARAMETERS + 48;
    pub(crate) const END: usize = PARAMETERS + 56;
}

/// The fields of a header of kind 6 or 7 that describe the sketch.
pub(crate) struct Header {
    hasher: PortableHasher,
    shape: Shape,
    counter_bytes: u32,
    total: u64,
    conservative: bool,
    rounded: u64,
}

impl Header {
    /// Reads everything except the list of heavy hitters. `known` contains flags that do not
    /// concern the sketch. This function accepts them without checking them.
    pub(super) fn read<R: RowHashes, C: Counter>(fields: &Fields, known: u32) -> Result<Header, FormatError> {
        // In files of sketches, this field always contains the number of the method that draws
        // positions.
        check_field("scheme", fields.u16(at::SCHEME).into(), Expected::Exactly(WALK.into()))?;
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        let flags = fields.flags(CONSERVATIVE | HALVED | known)?;
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
        let conservative = flags & CONSERVATIVE != 0;
        Ok(Header { hasher, shape, counter_bytes, total: fields.u64(at::OFFERED), conservative, rounded: rounded(fields, flags)? })
    }

    /// The number of words for the counters: at most 2^61.
    pub(super) fn counter_words(&self) -> u64 {
        (self.shape.cells() as u64).div_ceil((8 / self.counter_bytes).into())
    }

    /// Makes the sketch from the words of its counters. There must be
    /// [`counter_words`](Self::counter_words) words.
    pub(super) fn assemble<R: RowHashes, C: Counter>(self, words: &[u64]) -> Result<Sketch<R, C>, FormatError> {
        let memory =
            || FormatError::Memory { bytes: u64::try_from(self.shape.cells()).unwrap_or(u64::MAX).saturating_mul(C::BYTES.into()) };
        let cells = usize::try_from(self.shape.cells()).map_err(|_| memory())?;
        let mut counters = Vec::new();
        counters.try_reserve_exact(cells).map_err(|_| memory())?;
        if self.counter_bytes == u32::BYTES {
            let widened = |half: u32| if half == u32::MAX { C::HIGHEST } else { C::saturated_from(half.into()) };
            let halves = words.iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]);
            counters.extend(halves.clone().take(cells).map(widened));
            check_after(halves.skip(cells).map(u64::from).sum())?;
        } else {
            counters.extend(words.iter().take(cells).map(|word| C::saturated_from(*word)));
        }
        let sketch: Sketch<R, C> = self.with_counters(counters)?;
        sketch.check_sums().map(|()| sketch)
    }

    /// Makes the sketch with these counters, without checking them.
    fn with_counters<R: RowHashes, C: Counter, K: Backing>(self, counters: K::Cells<C>) -> Result<Sketch<R, C, K>, FormatError> {
        let Header { hasher, shape, total, conservative, rounded, .. } = self;
        let hashes = checked_hashes::<R>(&shape, hasher).map_err(|error| match error {
            BuildError::Math(_) => FormatError::Field { field: "width", expected: Expected::Within(1, 1 << 40), found: shape.width() },
            _ => FormatError::Memory { bytes: u64::try_from(shape.cells()).unwrap_or(u64::MAX).saturating_mul(C::BYTES.into()) },
        })?;
        Ok(Sketch { hasher, shape, hashes, counters, total, conservative, rounded })
    }
}

/// Reads what rounding may have taken from a count. The field is used only for sums of halved
/// sketches; for a single one, it is 0, and the flag means 1.
fn rounded(fields: &Fields, flags: u32) -> Result<u64, FormatError> {
    let found = fields.u64(parameter::ROUNDED);
    match (flags & HALVED != 0, found) {
        (true, 0) => Ok(1),
        (true, _) => check_field("rounding", found, Expected::Within(2, u64::MAX)).map(|_| found),
        (false, _) => check_field("rounding", found, Expected::Exactly(0)).map(|_| 0),
    }
}

/// Checks that the bytes after the last counter are 0.
fn check_after(sum: u64) -> Result<(), FormatError> {
    check_field("bytes after the counters", sum, Expected::Exactly(0)).map(drop)
}

impl<R: RowHashes, C: Counter, K: Backing> Sketch<R, C, K> {
    /// Checks the sum of each row. Every addition increased one counter in each row, so the sum of
    /// a row is the total of all counts. The sum can be lower if counters were updated
    /// conservatively, were halved, or are saturated.
    fn check_sums(&self) -> Result<(), FormatError> {
        let short = self.conservative || self.is_halved() || self.total == u64::MAX;
        // In a halved sketch, saturated counters are left out of the sum, because they were not
        // halved with the total. They are also left out if the counters have 64 bits. Such a sketch
        // may have been read from 32-bit counters, and a saturated counter is then larger than the
        // total.
        let silent = self.is_halved() || C::BYTES == u64::BYTES;
        for row in self.counters.chunks(self.shape.width() as usize) {
            let (mut sum, mut full) = (0u64, false);
            for counter in row {
                let counter = counter.get();
                let is_full = counter == C::HIGHEST;
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
        let flags = if self.conservative { CONSERVATIVE } else { 0 } | if self.is_halved() { HALVED } else { 0 };
        fields.put(at::FLAGS, flags.to_le_bytes());
        fields.put(at::OFFERED, self.total.to_le_bytes());
        fields.put(parameter::COPIES, self.shape.copies().to_le_bytes());
        fields.put(parameter::COUNTER_BYTES, C::BYTES.to_le_bytes());
        if self.rounded > 1 {
            fields.put(parameter::ROUNDED, self.rounded.to_le_bytes());
        }
        fields.put(parameter::FAMILY, family_number(R::FAMILY).to_le_bytes());
        fields
    }

    pub(super) fn counter_words(&self) -> impl Iterator<Item = u64> {
        let in_word = 8 / C::BYTES as usize;
        let word = |counters: &[K::Cell<C>]| {
            let counters = counters.iter().rev().map(|counter| counter.get());
            counters.fold(0u64, |word, counter| word.checked_shl(8 * C::BYTES).unwrap_or(0) | counter.into_u64())
        };
        self.counters.chunks(in_word).map(word)
    }
}

impl<R: RowHashes, C: Counter> Stored for Sketch<R, C> {
    const KINDS: &'static [FileKind] = &[R::KIND];

    type Header = Header;

    fn read_header(fields: &Fields, _: FileKind) -> Result<Header, FormatError> {
        // A sketch with a list is opened as another type.
        if fields.u64(parameter::LIST_CAPACITY) > 0 {
            return Err(FormatError::Kind { found: R::KIND });
        }
        let header = Header::read::<R, C>(fields, 0)?;
        fields.check_zero(parameter::LIST_LENGTH, parameter::ROUNDED)?;
        Ok(header)
    }

    fn payload_bytes(header: &Header) -> u64 {
        8 * header.counter_words()
    }

    fn assemble(header: Header, words: Vec<u64>) -> Result<Sketch<R, C>, FormatError> {
        header.assemble(&words)
    }
}

impl<R: RowHashes, C: Counter, K: Counted> Written for Sketch<R, C, K> {
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

impl Header {
    /// Makes a sketch over these bytes, whose payload begins with the counters.
    pub(super) fn over<R: RowHashes, C: Counter, B: AsRef<[u8]> + Send + Sync>(
        self,
        bytes: B,
    ) -> Result<Sketch<R, C, View<B>>, FormatError> {
        check_field("bytes of a counter", self.counter_bytes.into(), Expected::Exactly(C::BYTES.into()))?;
        // The bytes contain all counters, so the length fits into a `usize`.
        let length = self.shape.cells() as usize * C::BYTES as usize;
        self.with_counters(InBytes::new(bytes, HEADER_BYTES, length))
    }
}

impl<R: RowHashes, C: Counter, B: AsRef<[u8]> + Send + Sync> Viewed<B> for Sketch<R, C> {
    type View = Sketch<R, C, View<B>>;

    fn over(header: Header, bytes: B) -> Result<Self::View, FormatError> {
        header.over(bytes)
    }
}

impl<R: RowHashes, C: Counter, B: AsRef<[u8]> + Send + Sync> Sketch<R, C, View<B>> {
    /// Reads and checks all bytes of the view. This method verifies the checksum, and compares the
    /// sum of each row with the sum of all counts. The time is linear in the number of counters,
    /// and the counters are not copied.
    ///
    /// # Errors
    /// Returns an error if the bytes are damaged, or do not match the header.
    pub fn verify_bytes(self) -> Result<Sketch<R, C, Checked<B>>, FormatError> {
        let Sketch { hasher, shape, hashes, counters, total, conservative, rounded } = self;
        let (bytes, start) = counters.whole();
        check_payload(bytes)?;
        let cells = start + shape.cells() as usize * C::BYTES as usize;
        let fills_up = bytes.get(cells..cells.next_multiple_of(8)).unwrap_or_default();
        check_after(fills_up.iter().map(|byte| u64::from(*byte)).sum())?;
        let sketch = Sketch { hasher, shape, hashes, counters, total, conservative, rounded };
        sketch.check_sums().map(|()| sketch)
    }
}

fn family_number(family: Family) -> u32 {
    match family {
        Family::Ideal => 1,
        Family::Pairwise => 2,
    }
}
