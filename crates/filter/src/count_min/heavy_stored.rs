//! The file of a sketch with its list of heavy hitters. In this file, the keys of the list follow
//! the counters of the sketch.

use super::heavy::{List, Listed, MAX_CAPACITY, upper};
use super::stored::{Header as SketchHeader, parameter};
use super::{Counter, ListedSketch, RowHashes, Sketch};
use crate::backing::View;
use crate::error::{Expected, FormatError};
use crate::format::{Fields, Label, Stored, Viewed, Written, at, check_field};
use crate::hash::KeyHasher;
use crate::ids::FileKind;
use alloc::vec::Vec;

/// The fields of the header that describe the sketch and the list.
pub(crate) struct Header {
    sketch: SketchHeader,
    capacity: u64,
    length: u64,
    bytes: u64,
    missed: u64,
    /// The flags of the file; one of them says that the payload ends with a label.
    flags: u32,
}

impl<R: RowHashes, C: Counter> Stored for ListedSketch<R, C> {
    const KINDS: &'static [FileKind] = &[R::KIND];

    type Header = Header;

    fn read_header(fields: &Fields, _: FileKind) -> Result<Header, FormatError> {
        // A sketch without a list is opened as another type.
        if fields.u64(parameter::LIST_CAPACITY) == 0 {
            return Err(FormatError::Kind { found: R::KIND });
        }
        let sketch = SketchHeader::read::<R, C>(fields, Label::FLAG)?;
        let capacity = fields.u64_within("capacity of the list of heavy hitters", parameter::LIST_CAPACITY, 1, MAX_CAPACITY)?;
        let length = fields.u64_within("length of the list", parameter::LIST_LENGTH, 0, 2 * capacity)?;
        // Each entry has at least four numbers of 8 bytes.
        let bytes = fields.u64_within("bytes of the list", parameter::LIST_BYTES, 32 * length, 1 << 60)?;
        check_field("bytes of the list modulo 8", bytes % 8, Expected::Exactly(0))?;
        Ok(Header { sketch, capacity, length, bytes, missed: fields.u64(parameter::LIST_MISSED), flags: fields.u32(at::FLAGS) })
    }

    fn payload_bytes(header: &Header) -> u64 {
        8 * header.sketch.counter_words() + header.bytes + Label::payload_bytes(header.flags)
    }

    fn assemble(header: Header, mut words: Vec<u64>) -> Result<ListedSketch<R, C>, FormatError> {
        let Header { sketch, capacity, length, missed, flags, .. } = header;
        let label = Label::split_off(&mut words, flags)?;
        let counters = usize::try_from(sketch.counter_words()).unwrap_or(usize::MAX);
        let (counters, mut list) = words.split_at_checked(counters).unwrap_or((&words, &[]));
        let sketch: Sketch<R, C> = sketch.assemble(counters)?;
        let mut found = ListedSketch { sketch, capacity, missed, listed: List::default(), key_bytes: 0, label };
        let mut last = None;
        for _ in 0..length {
            let (hash, listed) = read_key(&mut list, &found.sketch)?;
            // The entries are sorted by hash, so that equal lists have equal files.
            if last.is_some_and(|last| hash <= last) {
                return Err(FormatError::Field { field: "order of the listed keys", expected: Expected::Exactly(1), found: 0 });
            }
            last = Some(hash);
            found.key_bytes += listed.key.len();
            found.listed.insert(hash, listed);
        }
        check_field("words after the list", list.len() as u64, Expected::Exactly(0))?;
        check_field("bytes of the listed keys", found.key_bytes as u64, Expected::Within(0, found.most_key_bytes() as u64))?;
        Ok(found)
    }
}

impl<R: RowHashes, C: Counter> Written for ListedSketch<R, C> {
    fn fields(&self) -> Fields {
        let mut fields = self.sketch.sketch_fields();
        fields.put(parameter::LIST_CAPACITY, self.capacity.to_le_bytes());
        fields.put(parameter::LIST_LENGTH, (self.listed.len() as u64).to_le_bytes());
        fields.put(parameter::LIST_BYTES, (8 * self.list_words()).to_le_bytes());
        fields.put(parameter::LIST_MISSED, self.missed.to_le_bytes());
        let flags = fields.u32(at::FLAGS) | self.label.flag();
        fields.put(at::FLAGS, flags.to_le_bytes());
        fields
    }

    fn word_count(&self) -> u64 {
        self.sketch.word_count() + self.list_words() + self.label.word_count()
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        let mut order: Vec<(&u128, &Listed)> = self.listed.iter().collect();
        order.sort_unstable_by_key(|(hash, _)| **hash);
        let keys = order.into_iter().flat_map(|(_, listed)| {
            let numbers = [listed.since, listed.before, listed.at_most, listed.key.len() as u64];
            numbers.into_iter().chain(listed.key.chunks(8).map(word_of))
        });
        self.sketch.counter_words().chain(keys).chain(self.label.words())
    }
}

/// A view shows only the sketch; the list is not read.
impl<R: RowHashes, C: Counter, B: AsRef<[u8]> + Send + Sync> Viewed<B> for ListedSketch<R, C> {
    type View = Sketch<R, C, View<B>>;

    fn over(header: Header, bytes: B) -> Result<Self::View, FormatError> {
        header.sketch.over(bytes)
    }
}

impl<R: RowHashes, C: Counter> ListedSketch<R, C> {
    fn list_words(&self) -> u64 {
        self.listed.values().map(|listed| 4 + listed.key.len().div_ceil(8) as u64).sum()
    }
}

/// Up to eight bytes as a little-endian word; missing bytes are 0.
fn word_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Reads the next key of the list and its hash: three counts, the length of the key in bytes, and
/// the key in words.
fn read_key<R: RowHashes, C: Counter>(list: &mut &[u64], sketch: &Sketch<R, C>) -> Result<(u128, Listed), FormatError> {
    let Some(([since, before, at_most, length], rest)) = list.split_first_chunk() else {
        return Err(FormatError::Field {
            field: "words of a listed key",
            expected: Expected::Within(4, u64::MAX),
            found: list.len() as u64,
        });
    };
    check_field("length of a listed key", *length, Expected::Within(0, 8 * rest.len() as u64))?;
    let (words, rest) = rest.split_at_checked(length.div_ceil(8) as usize).unwrap_or((rest, &[]));
    let mut key: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let beyond = key.split_off(*length as usize);
    check_field("bytes after a listed key", beyond.into_iter().map(u64::from).sum(), Expected::Exactly(0))?;
    let hash = sketch.hasher().hash(&key);
    // No counter of a key is below the key's count. With a higher count, the bound could fall below
    // the count when other keys are added.
    let estimate = upper(sketch.estimate_hash(hash));
    check_field("count of a listed key", *since, Expected::Within(0, estimate))?;
    let most = estimate.min(since.saturating_add(*before));
    check_field("bound of a listed key", *at_most, Expected::Within(*since, most))?;
    *list = rest;
    Ok((hash.into(), Listed { key, since: *since, before: *before, at_most: *at_most }))
}
