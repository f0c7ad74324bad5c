//! The header of a file, apart from the payload.

use super::wire::{self, is_compressed};
use super::{Fields, HEADER_BYTES, INTERSECTION, Label, at};
use crate::error::FormatError;
use crate::hash::Seed;
use crate::ids::{FileKind, HasherId};
use alloc::string::{String, ToString};
use core::ops::Range;
#[cfg(feature = "growth")]
use truebloom_math::Growth;
use truebloom_math::{Rate, SchemeId};

/// The header of a file. Use this type in programs that inspect files without opening them as
/// filters. docs/FORMAT.md explains the fields of each kind.
///
/// ```
/// use truebloom::{BloomFilter, FileHeader, FileKind};
/// let bytes = BloomFilter::with_bits_and_probes(1_000, 7)?.to_bytes()?;
/// let header = FileHeader::from_bytes(&bytes)?;
/// assert_eq!((header.kind(), header.bits(), header.probes()), (FileKind::Bloom, 1_000, 7));
/// assert_eq!(header.file_bytes(), bytes.len() as u64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FileHeader {
    fields: Fields,
    kind: FileKind,
}

impl core::fmt::Debug for FileHeader {
    /// Shows the kind and the sizes. The seed is not shown.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut shown = f.debug_struct("FileHeader");
        shown.field("kind", &self.kind).field("bits", &self.bits()).field("probes", &self.probes());
        shown.field("file_bytes", &self.file_bytes()).finish_non_exhaustive()
    }
}

impl FileHeader {
    /// The length of a header in bytes.
    pub const BYTES: u64 = HEADER_BYTES as u64;

    /// Reads the header at the start of these bytes. If the bytes are from a compressed file, the
    /// result is the header that the file had before it was compressed. This method does not check
    /// whether the values of the fields are valid for the kind of file.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a header of this version, or if the header is damaged
    /// or has an unknown kind.
    pub fn from_bytes(bytes: &[u8]) -> Result<FileHeader, FormatError> {
        if is_compressed(bytes) { FileHeader::plain(&wire::coded_header(bytes)?) } else { FileHeader::plain(bytes) }
    }

    /// Reads the header of bytes that are not compressed. Compressed bytes are an error.
    pub(crate) fn plain(bytes: &[u8]) -> Result<FileHeader, FormatError> {
        let (fields, kind) = Fields::open(bytes, &FileKind::ALL)?;
        Ok(FileHeader { fields, kind })
    }

    /// Returns an error while a program is changing the file in place.
    pub(crate) fn check_finished(&self) -> Result<(), FormatError> {
        if self.fields.is_unfinished() { Err(FormatError::Unfinished) } else { Ok(()) }
    }

    /// Returns an error if the two headers cannot belong to two states of one filter. The numbers
    /// of bits and probes can change only in a filter that grows.
    pub(crate) fn check_states(old: &[u8], new: &[u8]) -> Result<(), FormatError> {
        let (old, new) = (FileHeader::plain(old)?, FileHeader::plain(new)?);
        let grows = old.kind == FileKind::Scalable;
        let differs =
            |field, range: Range<usize>| (field, (range.start..range.end).any(|at| old.fields.get::<1>(at) != new.fields.get(at)));
        let fields = [
            differs("kinds", at::KIND..at::SCHEME),
            differs("schemes", at::SCHEME..at::HASHER),
            differs("hashers", at::HASHER..at::FLAGS),
            differs("seeds", at::SEED..at::OFFERED),
            differs("probes", if grows { 0..0 } else { at::PROBES..at::BITS }),
            differs("bits", if grows { 0..0 } else { at::BITS..at::SEED }),
        ];
        fields.into_iter().find(|(_, differ)| *differ).map_or(Ok(()), |(field, _)| Err(FormatError::OtherFilter { field }))
    }

    /// The kind of value that the file contains.
    #[must_use]
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// The number of bits: for a filter that grows, of all layers together; for a recycling filter,
    /// of one phase; for a pack, of one member. For a Count-Min sketch, this is the width: the
    /// number of counters in a row.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.fields.u64(at::BITS)
    }

    /// The number of probes per key. For a filter that grows, this is the sum over all layers. For
    /// a Count-Min sketch, this is the depth: the number of rows, or the number of rows in one copy
    /// if the sketch consists of copies.
    #[must_use]
    pub fn probes(&self) -> u32 {
        self.fields.u32(at::PROBES)
    }

    /// The seed of the hasher.
    #[must_use]
    pub fn seed(&self) -> Seed {
        self.fields.seed()
    }

    /// The number of insertions, repeats included. For a filter that was merged, this is the sum of
    /// the numbers of both inputs. For a Count-Min sketch, this is the sum of all counts. For a
    /// pack, this is 0: each member has a number of its own.
    #[must_use]
    pub fn offered(&self) -> u64 {
        self.fields.u64(at::OFFERED)
    }

    /// The number of layers of a filter that grows. For every other file, this is 1. If no layer
    /// contains a key, a query for this key probes every layer.
    #[must_use]
    pub fn layers(&self) -> u64 {
        if self.kind == FileKind::Scalable { self.fields.u64(at::LAYERS) } else { 1 }
    }

    /// The planned number of items of a filter. Returns `None` if the filter has no such number,
    /// and for filters that grow, recycling filters, sketches and packs.
    #[must_use]
    pub fn capacity(&self) -> Option<u64> {
        self.of_filter(|fields| Some(fields.u64(at::CAPACITY))).filter(|items| *items > 0)
    }

    /// The requested rate of a filter. Returns `None` if the filter was made without a rate, and
    /// for recycling filters, sketches and packs.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        self.of_filter(|fields| fields.rate().ok().flatten())
    }

    /// The plan of the layers of a filter that grows. Returns `None` for every other file, and if
    /// the plan is not valid.
    #[cfg(feature = "growth")]
    #[must_use]
    pub fn growth(&self) -> Option<Growth> {
        if self.kind == FileKind::Scalable { self.fields.growth().ok() } else { None }
    }

    /// Whether a filter is the result of an intersection.
    #[must_use]
    pub fn is_intersection(&self) -> bool {
        self.of_filter(|fields| Some(fields.u32(at::FLAGS) & INTERSECTION != 0)).unwrap_or(false)
    }

    /// The scheme of a filter. Returns `None` for recycling filters, sketches and packs, and for
    /// schemes that this version does not know.
    #[must_use]
    pub fn scheme_id(&self) -> Option<SchemeId> {
        self.of_filter(|fields| fields.scheme(self.kind).ok())
    }

    /// The hash function of a filter. Returns `None` for recycling filters, sketches and packs, and
    /// for hash functions that this version does not know.
    #[must_use]
    pub fn hasher_id(&self) -> Option<HasherId> {
        self.of_filter(|fields| fields.hasher().ok())
    }

    /// The label of a filter. Returns `None` if the filter has no label, and for recycling filters,
    /// sketches and packs.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        self.of_filter(|fields| Label::read(fields).ok()).and_then(|label| label.text().map(ToString::to_string))
    }

    /// Reads a field that only Bloom filters and filters that grow have.
    fn of_filter<T>(&self, field: impl Fn(&Fields) -> Option<T>) -> Option<T> {
        let is_filter = matches!(self.kind, FileKind::Bloom | FileKind::Blocked | FileKind::Scalable);
        if is_filter { field(&self.fields) } else { None }
    }

    /// The length of the whole file, the payload included. If the file is compressed, this is the
    /// length that it has when it is not compressed.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.fields.u64(at::PAYLOAD_OFFSET).saturating_add(self.fields.u64(at::PAYLOAD_LENGTH))
    }
}

impl FormatError {
    /// The range of bytes that the invalid field takes in the header. Returns `None` if the error
    /// is not about one field. The argument `header` must be the beginning of the file, because the
    /// places of some fields depend on the kind of file.
    #[must_use]
    pub fn header_bytes(&self, header: &[u8]) -> Option<Range<u64>> {
        let range = match *self {
            FormatError::NotAFilter { .. } | FormatError::TextMode { .. } => 0..at::VERSION,
            FormatError::Version { .. } => at::VERSION..at::KIND,
            FormatError::Kind { .. } => at::KIND..at::SCHEME,
            FormatError::Scheme { .. } | FormatError::LeftOut { .. } => at::SCHEME..at::HASHER,
            FormatError::Rate { .. } => at::RATE_NUMERATOR..at::RESERVED,
            FormatError::Reserved { offset } => offset..offset + 1,
            FormatError::Unknown { field, .. } | FormatError::Field { field, .. } => named(field, header)?,
            _ => return None,
        };
        Some(range.start as u64..range.end as u64)
    }
}

/// The range of bytes that a field takes in the header. `field` is the name that errors use for the
/// field.
fn named(field: &str, header: &[u8]) -> Option<Range<usize>> {
    Some(match field {
        "kind" => at::KIND..at::SCHEME,
        "scheme" => at::SCHEME..at::HASHER,
        "hasher" => at::HASHER..at::FLAGS,
        "flags" => at::FLAGS..at::PROBES,
        "probes" => at::PROBES..at::BITS,
        "bits" => at::BITS..at::SEED,
        // Layouts whose number of bits must be a multiple of some number report this field.
        field if field.starts_with("bits modulo ") => at::BITS..at::SEED,
        "changed" => at::CHANGED..at::CAPACITY,
        "excluded offers" => {
            let start = at::PARAMETERS + FileHeader::from_bytes(header).ok()?.kind.layout_bytes();
            start..start + 8
        }
        "payload offset" => at::PAYLOAD_OFFSET..at::PAYLOAD_LENGTH,
        "payload length" => at::PAYLOAD_LENGTH..at::PAYLOAD_CHECKSUM,
        _ => return None,
    })
}
