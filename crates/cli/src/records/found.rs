//! The result of splitting a piece of text: records, their keys, and problems with some of them.

use super::SHOWN;
use super::key::{Found as Where, KeyOf, decode_hex};
use super::selected::runs;
use std::io::{self, Write};
use std::ops::Range;

/// The ranges of a record and of its key in their text.
#[derive(Clone, Copy)]
pub(super) struct Span {
    record: (u32, u32),
    /// A range of the text; with the bit [`COPIED`], a range of the copied keys.
    key: (u32, u32),
}

/// A record that was skipped.
pub(super) struct Trouble {
    /// The record's number in its input, from 1.
    pub(super) record: u64,
    pub(super) why: String,
}

/// The result for one piece of text.
#[derive(Default)]
pub(super) struct Found {
    pub(super) spans: Vec<Span>,
    /// Keys that are not parts of the text, such as those with escapes.
    pub(super) keys: Vec<u8>,
    /// Whether the only span refers to the record in the splitter's `carry`, and not to the text.
    pub(super) carried: bool,
    pub(super) troubles: Vec<Trouble>,
    /// The number of problems after the first [`SHOWN`]; only the first ones are reported one by
    /// one.
    pub(super) more_troubles: u64,
    /// Whether records without keys are passed on, so that nothing is lost.
    pub(super) passing: bool,
    /// Bytes that are not a complete record, to be printed after the records.
    pub(super) passed: Vec<u8>,
    /// The places where the record number is not one more than the number before: the index of a
    /// span, and the number of its record.
    pub(super) numbers: Vec<(u32, u64)>,
    /// The record number that follows that of the last span.
    pub(super) next_number: u64,
    /// Text that must be split before any new text is read, because it was wrongly taken as part of
    /// a broken record, or follows such text.
    pub(super) again: Option<Vec<u8>>,
}

impl Found {
    pub(super) fn clear(&mut self) {
        self.spans.clear();
        self.keys.clear();
        self.carried = false;
        self.numbers.clear();
        self.next_number = 0;
    }

    /// Sets the number of the last span in its input, from 1.
    #[inline]
    pub(super) fn number_last(&mut self, number: u64) {
        if number != self.next_number {
            self.numbers.push((self.spans.len().saturating_sub(1) as u32, number));
        }
        self.next_number = number + 1;
    }

    /// The number of records that have keys.
    pub(super) fn with_keys(&self) -> u64 {
        (self.spans.len() - if self.passing { self.spans.iter().filter(|span| span.key == NO_KEY).count() } else { 0 }) as u64
    }

    pub(super) fn trouble(&mut self, record: u64, why: impl Into<String>) {
        if self.troubles.len() < SHOWN {
            self.troubles.push(Trouble { record, why: why.into() });
        } else {
            self.more_troubles += 1;
        }
    }

    /// Adds a record of the text that has no key.
    pub(super) fn reject(&mut self, record: Range<usize>, number: u64, why: impl Into<String>) {
        self.trouble(number, why);
        self.pass_record(record);
    }

    pub(super) fn pass_record(&mut self, record: Range<usize>) {
        if self.passing {
            self.spans.push(Span { record: short(record), key: NO_KEY });
        }
    }

    pub(super) fn pass(&mut self, text: &[u8]) {
        if self.passing {
            self.passed.extend_from_slice(text);
        }
    }

    /// Adds a record and its key, both of which are parts of the text.
    #[inline]
    pub(super) fn push(&mut self, record: Range<usize>, key: Range<usize>) {
        self.spans.push(Span { record: short(record), key: short(key) });
    }

    /// Adds a record whose key is `keys[start..]`, after decoding the key if it is hexadecimal.
    pub(super) fn push_copied(&mut self, record: Range<usize>, start: usize, hex: bool) -> Result<(), String> {
        let decoded = if hex { decode_hex(&mut self.keys, start) } else { Ok(()) };
        if decoded.is_err() {
            self.keys.truncate(start);
            return decoded;
        }
        let (start, end) = short(start..self.keys.len());
        self.spans.push(Span { record: short(record), key: (start | COPIED, end | COPIED) });
        Ok(())
    }

    /// Adds a record in `text`; the function `key_of` finds its key.
    #[inline]
    pub(super) fn push_found(&mut self, text: &[u8], record: Range<usize>, key_of: &mut KeyOf, hex: bool) -> Result<(), String> {
        let (start, offset) = (self.keys.len(), record.start);
        let bytes = &text[record.clone()];
        match key_of.find(bytes, &mut self.keys) {
            Ok(Where::Inside(key)) if !hex => self.push(record, offset + key.start..offset + key.end),
            Ok(Where::Inside(key)) => {
                self.keys.extend_from_slice(&bytes[key]);
                return self.push_copied(record, start, hex);
            }
            Ok(Where::Appended) => return self.push_copied(record, start, hex),
            Err(why) => {
                self.keys.truncate(start);
                return Err(why);
            }
        }
        Ok(())
    }
}

/// Converts a range to two numbers of 31 bits. The numbers fit because a text is shorter than 2 GiB
/// (`--max-record` is at most 1 GiB).
#[inline]
fn short(range: Range<usize>) -> (u32, u32) {
    (range.start as u32, range.end as u32)
}

/// The bit that marks a range of the copied keys.
const COPIED: u32 = 1 << 31;

/// A range that stands for "no key", because it ends before it begins.
const NO_KEY: (u32, u32) = (1, 0);

/// Records that were found together, with their keys.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(super) spans: &'a [Span],
    pub(super) text: &'a [u8],
    pub(super) keys: &'a [u8],
    pub(super) numbers: &'a [(u32, u64)],
}

impl<'a> Batch<'a> {
    /// Iterates over all records that have a key: each record without its terminator, and the key.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let batch = *self;
        (0..batch.len()).filter_map(move |index| Some((batch.text_of(index, index), batch.key(index)?)))
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The key of a record, if it has one. A record lacks a key only if such records are [passed
    /// on](super::Records::passing).
    #[inline]
    pub(crate) fn key(&self, index: usize) -> Option<&'a [u8]> {
        let (start, end) = self.spans[index].key;
        if start & COPIED == 0 {
            return self.text.get(start as usize..end as usize);
        }
        self.keys.get((start & !COPIED) as usize..(end & !COPIED) as usize)
    }

    /// The number of a record in its input, from 1, counting those that were skipped.
    pub(crate) fn number(&self, index: usize) -> u64 {
        let after = self.numbers.partition_point(|(first, _)| *first as usize <= index);
        let (first, number) = after.checked_sub(1).map_or((0, 1), |at| self.numbers[at]);
        number + (index - first as usize) as u64
    }

    /// The text from the beginning of one record to the end of another, including everything in
    /// between.
    #[inline]
    pub(crate) fn text_of(&self, first: usize, last: usize) -> &'a [u8] {
        &self.text[self.spans[first].record.0 as usize..self.spans[last].record.1 as usize]
    }

    /// Writes the selected records, each with `end` after it. Adjacent records are written in one
    /// call if the text between them is already `end`.
    pub(crate) fn write_selected(&self, selected: &[u64], end: &[u8], out: &mut impl Write) -> io::Result<()> {
        for (first, last) in runs(selected) {
            let mut begin = first;
            for index in first..last {
                if !self.joins_next(index, end) {
                    self.write(begin, index, end, out)?;
                    begin = index + 1;
                }
            }
            self.write(begin, last, end, out)?;
        }
        Ok(())
    }

    /// Writes the keys of the selected records; records without a key are written as they are.
    pub(crate) fn write_selected_keys(&self, selected: &[u64], end: &[u8], out: &mut impl Write) -> io::Result<()> {
        runs(selected).flat_map(|(first, last)| first..=last).try_for_each(|index| {
            out.write_all(self.key(index).unwrap_or_else(|| self.text_of(index, index)))?;
            out.write_all(end)
        })
    }

    /// Writes the records from `first` to `last`, which are adjacent, and `end`.
    #[inline]
    fn write(&self, first: usize, last: usize, end: &[u8], out: &mut impl Write) -> io::Result<()> {
        if self.is_followed_by(last, end) {
            let (start, stop) = (self.spans[first].record.0 as usize, self.spans[last].record.1 as usize + end.len());
            return out.write_all(&self.text[start..stop]);
        }
        out.write_all(self.text_of(first, last))?;
        out.write_all(end)
    }

    /// Whether a record and the next are separated by exactly `end`.
    #[inline]
    fn joins_next(&self, index: usize, end: &[u8]) -> bool {
        let distance = self.spans[index + 1].record.0.wrapping_sub(self.spans[index].record.1);
        distance as usize == end.len() && self.is_followed_by(index, end)
    }

    #[inline]
    fn is_followed_by(&self, index: usize, end: &[u8]) -> bool {
        let after = self.spans[index].record.1 as usize;
        match end {
            // The most frequent case; this is faster than a comparison of slices.
            [byte] => self.text.get(after) == Some(byte),
            _ => self.text.get(after..after + end.len()) == Some(end),
        }
    }
}
