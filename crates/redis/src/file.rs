//! Converts compact filters to truebloom files and back: docs/FORMAT.md, kinds 1 and 5.
//!
//! A part of the file format is implemented here a second time. This module writes files, and reads
//! only those that the filter crate has just written; other files are read by the crate's own
//! reader. The filter crate has no constructor that takes words instead of a file, because it would
//! need the same checks as reading a file. `tests` compares these bytes with the crate's.

use crate::answer::Failure;
use crate::compact::{Compact, MOST_WORDS, SEED_WORDS, zeroed};
use crate::plans::{self, Kind};
use truebloom::{AnyFilter, FilterOf, ScalableFilter};
use xxhash_rust::xxh3::xxh3_64;

/// The positions of the header fields that are set here.
mod at {
    pub(super) const PROBES: usize = 20;
    pub(super) const BITS: usize = 24;
    pub(super) const OFFERED: usize = 48;
    pub(super) const CHANGED: usize = 56;
    pub(super) const CAPACITY: usize = 64;
    pub(super) const RATE: usize = 72;
    pub(super) const PAYLOAD_BYTES: usize = 104;
    pub(super) const PAYLOAD_CHECKSUM: usize = 112;
    pub(super) const LAYERS: usize = 136;
    pub(super) const CHECKSUM: usize = 248;
}

/// The number of bytes in a header.
const HEADER: usize = 256;

/// The number of words in a layer's record.
const RECORD: usize = 8;

/// The bytes of the filter's file.
pub(crate) fn to_bytes(filter: &Compact) -> Result<Vec<u8>, Failure> {
    let mut bytes = header(filter)?;
    bytes.try_reserve_exact(8 * (filter.words().len() + RECORD * plans::MOST_LAYERS)).map_err(Failure::of)?;
    let (mut bits, mut probes, mut layers) = (0, 0u32, 0u64);
    for (number, layer, start) in filter.layers() {
        let words = filter.words().get(start + 1..start + 1 + layer.words()).unwrap_or_default();
        if matches!(filter.shape().kind, Kind::Growing(_)) {
            let (_, inserted) = filter.counts(start);
            let mut record = [0; RECORD];
            record[..5].copy_from_slice(&[number as u64, layer.scheme.bits(), layer.scheme.probes().into(), layer.limit, inserted]);
            record[RECORD - 1] = xxh3_64(record.map(u64::to_le_bytes)[..RECORD - 1].as_flattened());
            bytes.extend(record.iter().flat_map(|word| word.to_le_bytes()));
        }
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        (bits, probes, layers) = (bits + layer.scheme.bits(), probes + layer.scheme.probes(), layers + 1);
    }
    put(&mut bytes, at::PROBES, &probes.to_le_bytes());
    put(&mut bytes, at::BITS, &bits.to_le_bytes());
    put(&mut bytes, at::OFFERED, &(u64::from(filter.changed()) + u64::from(filter.repeats())).to_le_bytes());
    put(&mut bytes, at::CHANGED, &u64::from(filter.changed()).to_le_bytes());
    match filter.shape().kind {
        Kind::Growing(_) => put(&mut bytes, at::LAYERS, &layers.to_le_bytes()),
        Kind::Fixed { capacity } => put(&mut bytes, at::CAPACITY, &capacity.unwrap_or(0).to_le_bytes()),
    }
    if let Some((numerator, exponent, divisor)) = filter.shape().rate.map(|rate| rate.parts()) {
        put(&mut bytes, at::RATE, &numerator.to_le_bytes());
        put(&mut bytes, at::RATE + 8, &divisor.to_le_bytes());
        put(&mut bytes, at::RATE + 16, &exponent.to_le_bytes());
    }
    let payload = (bytes.len() - HEADER) as u64;
    let checksum = xxh3_64(&bytes[HEADER..]);
    put(&mut bytes, at::PAYLOAD_BYTES, &payload.to_le_bytes());
    put(&mut bytes, at::PAYLOAD_CHECKSUM, &checksum.to_le_bytes());
    let checksum = xxh3_64(&bytes[..at::CHECKSUM]);
    put(&mut bytes, at::CHECKSUM, &checksum.to_le_bytes());
    Ok(bytes)
}

/// The header of an empty filter of the same kind and seed, with no payload.
fn header(filter: &Compact) -> Result<Vec<u8>, Failure> {
    let layer = filter.shape().layer(0).ok_or_else(|| Failure::text("ERR the filter has no layers"))?;
    let mut bytes = match filter.shape().growth() {
        Some(growth) => ScalableFilter::with_growth(*growth, filter.hasher()).map_err(Failure::of)?.to_bytes(),
        None => FilterOf::with_scheme(layer.scheme, filter.hasher()).map_err(Failure::of)?.to_bytes(),
    }
    .map_err(Failure::of)?;
    bytes.truncate(HEADER);
    Ok(bytes)
}

fn put(bytes: &mut [u8], offset: usize, field: &[u8]) {
    if let Some(place) = bytes.get_mut(offset..offset + field.len()) {
        place.copy_from_slice(field);
    }
}

/// The compact filter as a filter of the library's type.
pub(crate) fn to_filter(filter: &Compact) -> Result<AnyFilter, Failure> {
    AnyFilter::from_bytes(&to_bytes(filter)?).map_err(Failure::of)
}

/// Returns the compact form of a filter; `None` if the filter has no such form. A filter has a
/// compact form if it is small, has the standard scheme and exactly the planned layers, and is
/// neither merged nor labelled.
pub(crate) fn to_compact(filter: &AnyFilter, expansion: u32) -> Option<Compact> {
    let is_plain = !filter.is_merged() && filter.label().is_none() && filter.bits() / 64 < MOST_WORDS as u64;
    if !is_plain {
        return None;
    }
    let hasher = filter.hasher().hasher_id();
    let (shape, record) = match filter {
        AnyFilter::Standard(standard) => {
            (plans::fixed(standard.bits(), standard.probes(), standard.rate(), standard.capacity(), hasher).ok()?, 0)
        }
        AnyFilter::Scalable(grows) => (plans::growing(*grows.growth(), expansion, hasher).ok()?, RECORD),
        _ => return None,
    };
    if let AnyFilter::Scalable(grows) = filter {
        let alike = |(number, layer): (usize, &truebloom_math::law::Layer)| {
            let planned = shape.layer(number);
            planned.is_some_and(|planned| {
                (planned.scheme.bits(), planned.scheme.probes(), planned.limit) == (layer.bits(), layer.probes(), layer.limit())
            })
        };
        if !grows.layers().iter().enumerate().all(alike) {
            return None;
        }
    }
    let bytes = filter.to_bytes().ok()?;
    let mut file = bytes.get(HEADER..)?.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let changed = u32::try_from(filter.changed()).ok()?;
    let repeats = u16::try_from(filter.offered().checked_sub(filter.changed())?).ok()?;
    let mut words = Vec::new();
    let mut numbers = 0..;
    while file.len() > 0 {
        let layer = shape.layer(numbers.next()?)?;
        let kept: Vec<u64> = file.by_ref().take(record).collect();
        let inserted = kept.get(4).copied().unwrap_or(filter.changed());
        let bits: Vec<u64> = file.by_ref().take(layer.words()).collect();
        let ones: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
        words.push(ones | u64::from(u32::try_from(inserted).ok()?) << 32);
        words.extend(bits);
    }
    let mut own = zeroed(SEED_WORDS + words.len()).ok()?;
    own[SEED_WORDS..].copy_from_slice(&words);
    Compact::checked(shape, filter.seed(), own, changed, repeats)
}
