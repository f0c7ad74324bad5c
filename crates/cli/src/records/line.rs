//! The short way to the key of a CSV record: most records are one line, whose quotes, if it has
//! any, are where they belong.
//!
//! It answers only for such records. Everything else (line ends in quotes, text after a closing
//! quote, fields that are not there, lines that are too long or whose end was not seen yet) goes
//! the long way, which knows what is wrong and how that is said.

use super::csv::MAX_FIELDS;
use std::ops::Range;

/// A record on one line.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// Without the line ends around it.
    pub(super) record: Range<usize>,
    /// Where the next one begins.
    pub(super) next: usize,
    pub(super) key: Field,
}

/// Where the bytes of a field lie.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) bytes: Range<usize>,
    /// Each quote in it is written twice.
    pub(super) has_quotes: bool,
}

/// The record that begins here, in the field that is the key, counted from 0; without one the
/// record is.
pub(super) fn find(text: &[u8], from: usize, delimiter: u8, key: Option<usize>, most: usize) -> Option<Line> {
    let start = from + text[from..].iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    let first = start + memchr::memchr3(b'\r', b'\n', b'"', &text[start..])?;
    let (end, key) =
        if text[first] == b'"' { quoted(text, start, delimiter, key)? } else { (first, plain(text, start..first, delimiter, key)?) };
    let next = if text[end] == b'\r' && text.get(end + 1) == Some(&b'\n') { end + 2 } else { end + 1 };
    // A longer one may have too many fields.
    (end - start <= most.min(MAX_FIELDS / 2)).then_some(Line { record: start..end, next, key })
}

/// The key of a record without quotes.
fn plain(text: &[u8], record: Range<usize>, delimiter: u8, key: Option<usize>) -> Option<Field> {
    let Some(key) = key else { return Some(Field { bytes: record, has_quotes: false }) };
    let mut delimiters = memchr::memchr_iter(delimiter, &text[record.clone()]).map(|at| record.start + at);
    let start = if key == 0 { record.start } else { delimiters.nth(key - 1)? + 1 };
    Some(Field { bytes: start..delimiters.next().unwrap_or(record.end), has_quotes: false })
}

/// The end of a record with quotes, and its key.
fn quoted(text: &[u8], start: usize, delimiter: u8, key: Option<usize>) -> Option<(usize, Field)> {
    let (mut at, mut found) = (start, None);
    for number in 0.. {
        let (field, end) = field(text, at, delimiter)?;
        if key == Some(number) {
            found = Some(field);
        }
        if text[end] != delimiter {
            let whole = || Field { bytes: start..end, has_quotes: false };
            return Some((end, if key.is_none() { whole() } else { found? }));
        }
        at = end + 1;
    }
    None
}

/// The field that begins here, and where the delimiter or the line end after it is.
fn field(text: &[u8], at: usize, delimiter: u8) -> Option<(Field, usize)> {
    if text.get(at) != Some(&b'"') {
        let end = at + memchr::memchr3(delimiter, b'\r', b'\n', text.get(at..)?)?;
        return Some((Field { bytes: at..end, has_quotes: false }, end));
    }
    let (start, mut has_quotes) = (at + 1, false);
    let mut close = start;
    loop {
        close += memchr::memchr2(b'"', b'\n', &text[close..])?;
        match text.get(close + 1)? {
            _ if text[close] == b'\n' => return None,
            b'"' => (close, has_quotes) = (close + 2, true),
            b'\r' | b'\n' => break,
            after if *after == delimiter => break,
            _ => return None,
        }
    }
    Some((Field { bytes: start..close, has_quotes }, close + 1))
}

impl Field {
    /// Appends the field without the quotes around it, and with one of each two in it.
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
    use super::*;
    use csv_core::{ReadRecordResult, ReaderBuilder};

    /// A record as the general reader has it: its fields, and how much of the text they take.
    fn long_way(text: &[u8], delimiter: u8) -> Option<(Vec<Vec<u8>>, usize)> {
        let (mut bytes, mut ends) = (vec![0; text.len() + 1], vec![0; text.len() + 2]);
        let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
        let (result, used, _, fields) = reader.read_record(text, &mut bytes, &mut ends);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let fields = starts.zip(&ends[..fields]).map(|(start, end)| bytes[start..*end].to_vec()).collect();
        (result == ReadRecordResult::Record).then_some((fields, used))
    }

    /// All texts of up to six bytes of those that have a meaning, and of one that has none: what
    /// the short way answers is what the reader answers, for every field and for whole records.
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
        // Not those with line ends in quotes, text after a closing quote, or quotes left open.
        assert!(10 * answered > 8 * whole, "{answered} of {whole}");
    }

    /// Whether the short way answers, rightly.
    fn check(text: &[u8], long: Option<&(Vec<Vec<u8>>, usize)>) -> bool {
        let answer = |key| find(text, 0, b',', key, 100);
        let Some(line) = answer(None) else {
            assert!((0..8).all(|key| answer(Some(key)).is_none()));
            return false;
        };
        let (fields, used) = long.expect("a record");
        assert!(line.next == *used || line.next == used + 1 && text[*used - 1..].starts_with(b"\r\n"), "{line:?} of {text:?}");
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        assert!(text[..line.record.start].iter().chain(&text[line.record.end..line.next]).all(is_end));
        assert!(!text[line.record.clone()].contains(&b'\n') && line.key.bytes == line.record);
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
        let line = |length: usize| [&b"a,"[..], &vec![b'b'; length - 2], b"\n"].concat();
        assert_eq!(find(&line(9), 0, b',', Some(1), 9).map(|line| line.key.bytes), Some(2..9));
        assert_eq!(find(&line(10), 0, b',', Some(1), 9), None);
        assert_eq!(find(&vec![b','; MAX_FIELDS], 0, b',', None, 1 << 20), None);
    }
}
