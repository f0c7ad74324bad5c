//! The file of a sketch with its list of heavy hitters: that of the sketch, and after the counters the keys.

use super::heavy::{Listed, MAX_CAPACITY};
use super::stored::{Header as SketchHeader, parameter};
use super::{CountMin, Counter, FullRows, HeavyHitters};
use crate::error::{Expected, FormatError};
use crate::format::{Fields, Kind, Stored, check_field};
use crate::hash::KeyHasher;
use std::collections::HashMap;

/// What a header says of the sketch and of the list.
pub(crate) struct Header {
    sketch: SketchHeader,
    capacity: u64,
    length: u64,
    bytes: u64,
    missed: u64,
}

impl<C: Counter> Stored for HeavyHitters<C> {
    const KINDS: &'static [Kind] = &[Kind::CountMin];

    type Header = Header;

    fn read_header(fields: &Fields, _: Kind) -> Result<Header, FormatError> {
        let sketch = SketchHeader::read::<FullRows, C>(fields)?;
        let capacity = fields.u64_within("capacity of the list of heavy hitters", parameter::LIST_CAPACITY, 1, MAX_CAPACITY)?;
        let length = fields.u64_within("length of the list", parameter::LIST_LENGTH, 0, 2 * capacity)?;
        // A count and a length for each.
        let bytes = fields.u64_within("bytes of the list", parameter::LIST_BYTES, 16 * length, 1 << 60)?;
        check_field("bytes of the list modulo 8", bytes % 8, Expected::Exactly(0))?;
        Ok(Header { sketch, capacity, length, bytes, missed: fields.u64(parameter::LIST_MISSED) })
    }

    fn payload_bytes(header: &Header) -> u64 {
        8 * header.sketch.counter_words() + header.bytes
    }

    fn assemble(header: Header, words: Vec<u64>) -> Result<HeavyHitters<C>, FormatError> {
        let Header { sketch, capacity, length, missed, .. } = header;
        let counters = usize::try_from(sketch.counter_words()).unwrap_or(usize::MAX);
        let (counters, mut list) = words.split_at_checked(counters).unwrap_or((&words, &[]));
        let sketch: CountMin<C> = sketch.assemble(counters)?;
        let mut listed = HashMap::default();
        let mut last: Option<(u64, Vec<u8>)> = None;
        for _ in 0..length {
            let (count, key) = read_key(&mut list)?;
            check_field("count of a listed key", count, Expected::Within(0, sketch.total()))?;
            // One order, so that equal lists have equal files.
            if last.as_ref().is_some_and(|(before, earlier)| (count, &earlier[..]) > (*before, &key[..])) {
                return Err(FormatError::Field {
                    field: "count of a listed key out of order",
                    expected: Expected::Within(0, last.map_or(0, |(count, _)| count)),
                    found: count,
                });
            }
            let hash = sketch.hasher().hash(&key);
            last = Some((count, key.clone()));
            listed.insert(u128::from(hash), Listed { key, count });
        }
        check_field("different keys in the list", listed.len() as u64, Expected::Exactly(length))?;
        check_field("words after the list", list.len() as u64, Expected::Exactly(0))?;
        Ok(HeavyHitters { sketch, capacity, missed, listed })
    }

    fn fields(&self) -> Fields {
        let mut fields = self.sketch.sketch_fields();
        fields.put(parameter::LIST_CAPACITY, self.capacity.to_le_bytes());
        fields.put(parameter::LIST_LENGTH, (self.listed.len() as u64).to_le_bytes());
        fields.put(parameter::LIST_BYTES, (8 * self.list_words()).to_le_bytes());
        fields.put(parameter::LIST_MISSED, self.missed.to_le_bytes());
        fields
    }

    fn word_count(&self) -> u64 {
        self.sketch.word_count() + self.list_words()
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        let keys = self.sorted().into_iter().flat_map(|hitter| {
            let bytes = hitter.key.chunks(8).map(word_of).collect::<Vec<u64>>();
            [hitter.count, hitter.key.len() as u64].into_iter().chain(bytes)
        });
        self.sketch.counter_words().chain(keys)
    }
}

impl<C: Counter> HeavyHitters<C> {
    fn list_words(&self) -> u64 {
        self.listed.values().map(|listed| 2 + listed.key.len().div_ceil(8) as u64).sum()
    }
}

/// Up to eight bytes as a word, little-endian, 0 beyond.
fn word_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The next count and key of the list: a count, the length of the key in bytes, and the key in words.
fn read_key(list: &mut &[u64]) -> Result<(u64, Vec<u8>), FormatError> {
    let short = |found: u64| FormatError::Field { field: "words of the list", expected: Expected::Within(2, u64::MAX), found };
    let Some(([count, length], rest)) = list.split_first_chunk() else { return Err(short(list.len() as u64)) };
    check_field("length of a listed key", *length, Expected::Within(0, 8 * rest.len() as u64))?;
    let (words, rest) = rest.split_at_checked(length.div_ceil(8) as usize).ok_or(short(rest.len() as u64))?;
    let mut key: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let beyond = key.split_off(*length as usize);
    check_field("bytes after a listed key", beyond.into_iter().map(u64::from).sum(), Expected::Exactly(0))?;
    *list = rest;
    Ok((*count, key))
}
