//! The file of a filter that grows: kind 5 of docs/FORMAT.md.

use super::ScalableFilter;
use super::part::Part;
use crate::arch::AlignedWords;
use crate::backing::{Backing, Checked, Counted, InBytes, InLayers, KEPT_WORDS, Owned, View};
use crate::bits::count_ones;
use crate::bloom::Counts;
use crate::error::{Expected, FormatError};
use crate::format::{Fields, HEADER_BYTES, Label, MERGED, Stored, Viewed, Written, at, check_field, check_payload};
use crate::hash::{KeyHasher as _, PortableHasher};
use crate::ids::FileKind;
use crate::scheme::SchemeId;
use crate::word::{Lies, Word};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;
use truebloom_math::law::{Layer, Layered};
use truebloom_math::{Growth, MAX_BITS};
use xxhash_rust::xxh3::xxh3_64;

/// The indices of a record's words.
mod record {
    pub(super) const NUMBER: usize = 0;
    pub(super) const BITS: usize = 1;
    pub(super) const PROBES: usize = 2;
    pub(super) const LIMIT: usize = 3;
    pub(super) const INSERTED: usize = 4;
    pub(super) const RESERVED: [usize; 2] = [5, 6];
    pub(super) const CHECKSUM: usize = 7;
}

/// The contents of a header of this kind.
pub(crate) struct Header {
    hasher: PortableHasher,
    growth: Growth,
    label: Label,
    counts: Counts,
    layers: u64,
    /// The number of bits in all layers.
    bits: u64,
    probes: u32,
}

/// The contents of a layer's record, and the range of the layer's words among the words of all
/// layers.
struct Recorded {
    number: u64,
    layer: Layer,
    inserted: u64,
    words: Range<usize>,
}

impl Header {
    /// Reads the records in these words. Verifies the checksum of each record, and compares the
    /// sums over all records with the header. Does not read the bits of the layers.
    fn records<W: Word>(&self, words: &[W]) -> Result<Vec<Recorded>, FormatError> {
        let mut records = Vec::new();
        // Each layer has at least nine words.
        let count = usize::try_from(self.layers).ok().filter(|count| *count <= words.len() / (KEPT_WORDS + 1));
        records.try_reserve_exact(count.unwrap_or(0)).map_err(|_| FormatError::Memory { bytes: 8 * words.len() as u64 })?;
        let (mut start, mut inserted, mut bits, mut probes) = (0, 0u64, 0u64, 0u64);
        for _ in 0..self.layers {
            let found = read_record(words, start)?;
            self.check_follows(records.last(), found.number)?;
            (start, inserted, bits) = (found.words.end, inserted.saturating_add(found.inserted), bits.saturating_add(found.layer.bits()));
            probes = probes.saturating_add(found.layer.probes().into());
            records.push(found);
        }
        check_field("bits of all layers", bits, Expected::Exactly(self.bits))?;
        check_field("probes of all layers", probes.min(u32::MAX.into()), Expected::Exactly(self.probes.into()))?;
        check_field("words of all layers", words.len() as u64, Expected::Exactly(start as u64))?;
        if !self.counts.is_merged() {
            check_field("changed", self.counts.changed, Expected::Exactly(inserted))?;
        }
        Ok(records)
    }

    /// Checks that the layers are numbered from 0 without gaps. After a merge, a number can occur
    /// several times.
    fn check_follows(&self, before: Option<&Recorded>, number: u64) -> Result<(), FormatError> {
        let next = before.map_or(0, |last| last.number + 1);
        let least = before.filter(|_| self.counts.is_merged()).map_or(next, |last| last.number);
        check_field("number of a layer", number, Expected::Within(least, next)).map(drop)
    }

    /// Makes two checks. First, if all layers were at their limits, the rate would be at most the
    /// requested rate. Second, the newest layer has at least half of its planned size. Without the
    /// second check, a small file could cause the allocation of a very large next layer, because
    /// the size of a new layer is taken from the plan.
    fn check_growth(&self, records: &[Recorded]) -> Result<(), FormatError> {
        let wrong = |error: truebloom_math::Error| FormatError::Parameters { why: error.to_string() };
        // After a merge, several layers can have the same number. The check uses only the one with
        // the highest rate.
        let mut worst: Vec<(u64, f64, Layer)> = Vec::new();
        for Recorded { number, layer, .. } in records {
            let bound = layer.bound().map_err(wrong)?.upper;
            match worst.last_mut().filter(|last| last.0 == *number) {
                Some(last) if last.1 < bound => *last = (*number, bound, *layer),
                Some(_) => {}
                None => worst.push((*number, bound, *layer)),
            }
        }
        let bound = Layered::new(worst.iter().map(|(_, _, layer)| *layer).collect()).and_then(|law| law.bound()).map_err(wrong)?;
        let asked = self.growth.rate();
        if bound.upper > asked.to_f64() {
            return Err(FormatError::Parameters {
                why: format!("its layers allow a rate of {:e}, above the requested {asked}", bound.upper),
            });
        }
        let Some((number, _, newest)) = worst.last() else { return Ok(()) };
        let planned = self.growth.layer(u32::try_from(*number).unwrap_or(u32::MAX)).map_err(wrong)?.layer.bits();
        if newest.bits() < planned / 2 {
            let bits = newest.bits();
            return Err(FormatError::Parameters { why: format!("its newest layer has {bits} bits instead of the planned {planned}") });
        }
        Ok(())
    }

    /// Counts the set bits of a layer, compares their number with the layer's record, and makes the
    /// layer.
    fn counted<K: Counted, W: Word>(&self, found: &Recorded, is_last: bool, words: &[W]) -> Result<Part<K>, FormatError> {
        let ones = count_ones(words.get(KEPT_WORDS..).unwrap_or_default());
        let (least, most) = if self.counts.is_merged() {
            (0, found.layer.limit())
        } else {
            let most = found.inserted.saturating_mul(found.layer.probes().into());
            // If this layer is not the last, it had no room for another key.
            let full = if is_last { 0 } else { found.layer.limit() + 1 - u64::from(found.layer.probes()) };
            (found.inserted.max(full), most.min(found.layer.limit()))
        };
        check_field("set bits of a layer", ones, Expected::Within(least, most))?;
        self.part(found, K::keep(ones))
    }

    fn part<K: Backing>(&self, found: &Recorded, ones: K::Known<u64>) -> Result<Part<K>, FormatError> {
        Part::new(self.hasher, found.number, found.layer, found.inserted, ones)
            .map_err(|error| FormatError::Parameters { why: error.to_string() })
    }

    fn filter<K: Backing>(self, parts: Vec<Part<K>>, words: K::Layers) -> ScalableFilter<K> {
        let Header { hasher, growth, label, counts, .. } = self;
        ScalableFilter { hasher, growth, label, parts, words, counts }
    }
}

/// Reads the record that starts at `start`.
fn read_record<W: Word>(words: &[W], start: usize) -> Result<Recorded, FormatError> {
    let kept = words.get(start..).and_then(|rest| rest.first_chunk::<KEPT_WORDS>());
    let truncated = FormatError::Truncated { expected: 8 * (start + KEPT_WORDS) as u64, found: 8 * words.len() as u64 };
    let kept = kept.ok_or(truncated)?.map(W::get);
    let (expected, found) = (kept[record::CHECKSUM], record_checksum(&kept));
    if expected != found {
        return Err(FormatError::LayerChecksum { expected, found });
    }
    for reserved in record::RESERVED {
        check_field("reserved words of a layer", kept[reserved], Expected::Exactly(0))?;
    }
    let left = 64 * (words.len() - start - KEPT_WORDS) as u64;
    let bits = check_field("bits of a layer", kept[record::BITS], Expected::Within(64, left.min(MAX_BITS)))?;
    check_field("bits of a layer modulo 64", bits % 64, Expected::Exactly(0))?;
    let probes = check_field("probes of a layer", kept[record::PROBES], Expected::Within(1, crate::MAX_PROBES.into()))? as u32;
    let layer = Layer::new(bits, probes, kept[record::LIMIT]).map_err(|error| FormatError::Parameters { why: error.to_string() })?;
    let end = start + KEPT_WORDS + (bits / 64) as usize;
    Ok(Recorded { number: kept[record::NUMBER], layer, inserted: kept[record::INSERTED], words: start..end })
}

fn record_checksum(kept: &[u64; KEPT_WORDS]) -> u64 {
    xxh3_64(kept.map(u64::to_le_bytes)[..record::CHECKSUM].as_flattened())
}

impl<K: Backing> Part<K> {
    /// Makes the record of the layer.
    fn record(&self) -> [u64; KEPT_WORDS] {
        let mut kept = [0; KEPT_WORDS];
        (kept[record::NUMBER], kept[record::INSERTED]) = (self.number, self.inserted);
        (kept[record::BITS], kept[record::PROBES], kept[record::LIMIT]) =
            (self.layer.bits(), self.layer.probes().into(), self.layer.limit());
        kept[record::CHECKSUM] = record_checksum(&kept);
        kept
    }
}

impl Stored for ScalableFilter {
    const KINDS: &'static [FileKind] = &[FileKind::Scalable];

    type Header = Header;

    fn read_header(fields: &Fields, kind: FileKind) -> Result<Header, FormatError> {
        let flags = fields.flags(MERGED)?;
        let scheme = fields.scheme(kind)?;
        if scheme != SchemeId::Standard {
            return Err(FormatError::Scheme { expected: SchemeId::Standard, found: scheme });
        }
        let hasher = PortableHasher::new(fields.hasher()?, fields.seed());
        check_field("capacity", fields.u64(at::CAPACITY), Expected::Exactly(0))?;
        let growth = fields.growth()?;
        let bits = fields.bits()?;
        check_field("bits modulo 64", bits % 64, Expected::Exactly(0))?;
        let layers = fields.u64_within("layers", at::LAYERS, 1, bits / 64)?;
        let counts = Counts::read(flags, fields.u64(at::OFFERED), fields.u64(at::CHANGED), 0)?;
        Ok(Header { hasher, growth, label: Label::read(fields)?, counts, layers, bits, probes: fields.u32(at::PROBES) })
    }

    fn payload_bytes(header: &Header) -> u64 {
        // There are at most 2^62 bits, and therefore at most 2^56 layers.
        header.bits / 8 + 8 * KEPT_WORDS as u64 * header.layers
    }

    fn assemble(header: Header, mut words: Vec<u64>) -> Result<ScalableFilter, FormatError> {
        let records = header.records(&words)?;
        header.check_growth(&records)?;
        let mut parts = Vec::with_capacity(records.len());
        for (number, found) in records.iter().enumerate() {
            parts.push(header.counted::<Owned, _>(
                found,
                number + 1 == records.len(),
                words.get(found.words.clone()).unwrap_or_default(),
            )?);
        }
        let mut layers = Vec::with_capacity(records.len());
        // Layers are split off from the end, so that no word is moved twice. The vector is shrunk
        // only when a quarter of its memory is unused, because shrinking can copy all remaining
        // words.
        for found in records.iter().rev() {
            let mut own = words.split_off(found.words.start);
            own.iter_mut().take(KEPT_WORDS).for_each(|word| *word = 0);
            layers.push(AlignedWords::from_vec(own).ok_or(FormatError::Memory { bytes: header.bits / 8 })?);
            if words.len() <= words.capacity() / 4 * 3 {
                words.shrink_to_fit();
            }
        }
        layers.reverse();
        Ok(header.filter(parts, layers))
    }
}

impl<K: Counted> Written for ScalableFilter<K> {
    fn fields(&self) -> Fields {
        let mut fields = Fields::new(FileKind::Scalable);
        fields.put_scheme(SchemeId::Standard, self.bits(), self.probes());
        fields.put_hasher(self.hasher.hasher_id(), self.hasher.seed());
        fields.put_rate(self.rate());
        fields.put(at::FLAGS, self.counts.flags().0.to_le_bytes());
        fields.put(at::OFFERED, self.counts.offered.to_le_bytes());
        fields.put(at::CHANGED, self.counts.changed.to_le_bytes());
        fields.put(at::FIRST, self.growth.first().to_le_bytes());
        fields.put(at::RATIO, self.growth.ratio().to_bits().to_le_bytes());
        fields.put(at::LAYERS, (self.parts.len() as u64).to_le_bytes());
        self.label.put(&mut fields);
        fields
    }

    fn word_count(&self) -> u64 {
        self.bits() / 64 + (KEPT_WORDS * self.parts.len()) as u64
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        let layer = |(number, part): (usize, &Part<K>)| part.record().into_iter().chain(self.bits_of(number).iter().map(|word| word.get()));
        self.parts.iter().enumerate().flat_map(layer)
    }
}

fn in_layers<B>(words: InBytes<B, [u8; 8]>, records: Vec<Recorded>) -> InLayers<B> {
    InLayers { words, ranges: records.into_iter().map(|found| found.words).collect() }
}

impl<B: AsRef<[u8]> + Send + Sync> Viewed<B> for ScalableFilter {
    type View = ScalableFilter<View<B>>;

    fn over(header: Header, bytes: B) -> Result<Self::View, FormatError> {
        let words = InBytes::new(bytes, HEADER_BYTES, ScalableFilter::payload_bytes(&header) as usize);
        let records = header.records(&words)?;
        let parts = records.iter().map(|found| header.part(found, ())).collect::<Result<_, _>>()?;
        Ok(header.filter(parts, in_layers(words, records)))
    }
}

impl<B: AsRef<[u8]> + Send + Sync> ScalableFilter<View<B>> {
    /// Reads and checks all bytes of the view. The method verifies the checksum, and checks that
    /// the number of set bits in each layer is consistent with the layer's record in the file. The
    /// resulting view can report its own rate. The time is linear in the number of bits.
    ///
    /// # Errors
    /// Returns an error if the bytes are damaged, or do not match the header.
    pub fn verify_bytes(self) -> Result<ScalableFilter<Checked<B>>, FormatError> {
        let (layers, bits, probes) = (self.parts.len() as u64, self.bits(), self.probes());
        let ScalableFilter { hasher, growth, label, words: InLayers { words, .. }, counts, .. } = self;
        check_payload(words.whole().0)?;
        let header = Header { hasher, growth, label, counts, layers, bits, probes };
        let records = header.records(&words)?;
        header.check_growth(&records)?;
        let part = |(number, found): (usize, &Recorded)| {
            header.counted::<Checked<B>, _>(found, number + 1 == records.len(), words.get(found.words.clone()).unwrap_or_default())
        };
        let parts = records.iter().enumerate().map(part).collect::<Result<_, _>>()?;
        Ok(header.filter(parts, in_layers(words, records)))
    }

    /// The size of the filter's file in bytes. The viewed bytes may be longer than this, because
    /// other data may follow the file.
    pub fn encoded_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + self.bits() / 8 + (8 * KEPT_WORDS * self.parts.len()) as u64
    }
}
