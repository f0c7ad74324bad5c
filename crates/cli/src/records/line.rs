//! The fast path to the key of a CSV record. Most records are a single line, in which quotes, if
//! any, are in the usual places.
//!
//! The fast path answers only for such records. All other records are left to the [general
//! reader](super::csv), which knows what is wrong and words the message. Examples are line ends
//! within quotes, text after a closing quote, missing fields, lines that are too long, and lines
//! whose end was not read yet.

use super::near;
use super::quotes::{ends_line, line_end, line_start};
use std::ops::Range;

/// A record on one line.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// The range of the record, without the line ends around it.
    pub(super) record: Range<usize>,
    /// The position at which the next record begins.
    pub(super) next: usize,
    pub(super) key: Field,
}

/// The range of the bytes of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) bytes: Range<usize>,
    /// Whether the field contains quotes, each of which is written twice.
    pub(super) has_quotes: bool,
}

/// The delimiter of a text, and whether the text contains quotes or carriage returns. Most texts
/// contain neither, so their records need not be searched for them.
#[derive(Clone, Copy)]
pub(super) struct Form {
    delimiter: u8,
    has_quotes: bool,
    has_returns: bool,
}

impl Form {
    /// Examines a text before its records are searched for.
    pub(super) fn of(text: &[u8], delimiter: u8) -> Form {
        let has = |byte| memchr::memchr(byte, text).is_some();
        Form { delimiter, has_quotes: has(b'"'), has_returns: has(b'\r') }
    }

    /// The record that begins at `from`, and its key: the field with the index `key`, counted from
    /// 0, or the whole record if `key` is `None`.
    #[inline]
    pub(super) fn find(self, text: &[u8], from: usize, key: Option<usize>, most: usize) -> Option<Line> {
        let start = line_start(text, from);
        let (end, key) = self.fields(text, start, key)?;
        let next = if text[end] == b'\r' && text.get(end + 1) == Some(&b'\n') { end + 2 } else { end + 1 };
        (end - start <= most).then_some(Line { record: start..end, next, key })
    }

    /// The end of the record, and its key.
    #[inline]
    fn fields(self, text: &[u8], start: usize, key: Option<usize>) -> Option<(usize, Field)> {
        let (mut at, mut found) = (start, None);
        for number in 0.. {
            // Without quotes, only the borders of the key and the end of the record matter.
            if !self.has_quotes && key.is_none_or(|key| number > key) {
                let end = self.line_end(text, at)?;
                return Some((end, if key.is_none() { Field::plain(start..end) } else { found? }));
            }
            let (field, end) = self.field(text, at)?;
            if key == Some(number) {
                found = Some(field);
            }
            if text[end] != self.delimiter {
                return Some((end, if key.is_none() { Field::plain(start..end) } else { found? }));
            }
            at = end + 1;
        }
        None
    }

    /// The field that begins at `at`, and the position of the delimiter or line end after it.
    #[inline]
    fn field(self, text: &[u8], at: usize) -> Option<(Field, usize)> {
        if self.has_quotes && text.get(at) == Some(&b'"') {
            return self.quoted(text, at);
        }
        let end = if self.has_returns {
            near::any_of(text, at, [self.delimiter, b'\r', b'\n'])?
        } else {
            near::any_of(text, at, [self.delimiter, b'\n'])?
        };
        Some((Field::plain(at..end), end))
    }

    /// Like [`field`](Self::field), for a field in quotes.
    #[inline]
    fn quoted(self, text: &[u8], at: usize) -> Option<(Field, usize)> {
        let (start, mut has_quotes) = (at + 1, false);
        let mut close = start;
        loop {
            close = if self.has_returns { near::any_of(text, close, *b"\"\r\n")? } else { near::any_of(text, close, *b"\"\n")? };
            match text.get(close + 1)? {
                _ if ends_line(text[close]) => return None,
                b'"' => (close, has_quotes) = (close + 2, true),
                b'\r' | b'\n' => break,
                after if *after == self.delimiter => break,
                _ => return None,
            }
        }
        Some((Field { bytes: start..close, has_quotes }, close + 1))
    }

    #[inline]
    fn line_end(self, text: &[u8], at: usize) -> Option<usize> {
        if self.has_returns { line_end(text, at) } else { near::any_of(text, at, [b'\n']) }
    }
}

impl Field {
    fn plain(bytes: Range<usize>) -> Field {
        Field { bytes, has_quotes: false }
    }

    /// Appends the field without the quotes around it. A doubled quote within the field is appended
    /// once.
    #[inline]
    pub(super) fn append(&self, text: &[u8], to: &mut Vec<u8>) {
        let mut rest = &text[self.bytes.clone()];
        if self.has_quotes {
            while let Some(quote) = memchr::memchr(b'"', rest) {
                to.extend_from_slice(&rest[..=quote]);
                rest = &rest[quote + 2..];
            }
        }
        to.extend_from_slice(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::super::quotes::{Written, fields};
    use super::*;
    use csv_core::{ReadRecordResult, ReaderBuilder};

    /// A record as csv-core finds it: its fields, and how much of the text they take.
    fn long_way(text: &[u8], delimiter: u8) -> Option<(Vec<Vec<u8>>, usize)> {
        let (mut bytes, mut ends) = (vec![0; text.len() + 1], vec![0; text.len() + 2]);
        let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
        let (result, used, _, fields) = reader.read_record(text, &mut bytes, &mut ends);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let fields = starts.zip(&ends[..fields]).map(|(start, end)| bytes[start..*end].to_vec()).collect();
        (result == ReadRecordResult::Record).then_some((fields, used))
    }

    /// The test covers all texts of up to six bytes from a small alphabet: the bytes with a special
    /// meaning, and one ordinary byte. Whenever the fast path answers, its answer equals that of
    /// csv-core, both for every field and for the whole record.
    #[test]
    fn the_short_way_is_the_long_way() {
        let (mut answered, mut whole) = (0u64, 0u64);
        for length in 0..=6u32 {
            for number in 0..6u64.pow(length) {
                let text: Vec<u8> = (0..length).map(|digit| b"a,\"\r\n;"[(number / 6u64.pow(digit) % 6) as usize]).collect();
                let long = long_way(&text, b',');
                whole += u64::from(long.is_some());
                answered += u64::from(check(&text, long.as_ref()));
            }
        }
        // Except records with line ends in quotes, text after a closing quote, or quotes that are
        // never closed.
        assert!(10 * answered > 8 * whole, "{answered} of {whole}");
    }

    fn value(field: Written<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        field.append(&mut bytes);
        bytes
    }

    /// Whether the fast path gives an answer; fails if the answer is wrong.
    fn check(text: &[u8], long: Option<&(Vec<Vec<u8>>, usize)>) -> bool {
        if let Some((expected, used)) = long {
            let record = &text[line_start(text, 0)..used - 1];
            assert!(fields(record, b',').map(value).eq(expected.iter().cloned()), "{text:?}");
        }
        let answer = |key| Form::of(text, b',').find(text, 0, key, 100);
        let Some(line) = answer(None) else {
            assert!((0..8).all(|key| answer(Some(key)).is_none()));
            return false;
        };
        let (fields, used) = long.expect("a record");
        assert!(line.next == *used || line.next == used + 1 && text[*used - 1..].starts_with(b"\r\n"), "{line:?} of {text:?}");
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        assert!(text[..line.record.start].iter().chain(&text[line.record.end..line.next]).all(is_end));
        assert!(!text[line.record.clone()].iter().any(is_end) && line.key.bytes == line.record);
        for key in 0..8 {
            let found = answer(Some(key)).map(|line| {
                let mut field = b"before".to_vec();
                line.key.append(text, &mut field);
                field
            });
            assert_eq!(found, fields.get(key).map(|field| [b"before", &field[..]].concat()), "field {key} of {text:?}");
        }
        true
    }

    #[test]
    fn long_lines_go_the_long_way() {
        let find = |text: &[u8], key, most| Form::of(text, b',').find(text, 0, key, most);
        let line = |length: usize| [&b"a,"[..], &vec![b'b'; length - 2], b"\n"].concat();
        assert_eq!(find(&line(9), Some(1), 9).map(|line| line.key.bytes), Some(2..9));
        assert_eq!(find(&line(10), Some(1), 9), None);
    }
}
