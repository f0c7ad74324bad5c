//! Which part of a record is the key.

use super::json;
use crate::report::plural;
use std::fmt;
use std::ops::Range;

/// Fields numbered as in `cut`, from 1: `2`, `1,3`, `2-4`, `3-`, `-2`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fields {
    /// Numbers from 1, both ends included; the ranges are sorted, disjoint and not adjacent.
    ranges: Vec<(usize, usize)>,
}

impl std::str::FromStr for Fields {
    type Err = String;

    fn from_str(text: &str) -> Result<Fields, String> {
        let wrong =
            || format!("`{text}` is not a list of fields; count fields from 1, and write for example `2`, `1,3`, `2-4`, `3-` or `-2`");
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0).ok_or_else(wrong);
        let mut ranges = Vec::new();
        for part in text.split(',') {
            ranges.push(match part.split_once('-') {
                None => (number(part)?, number(part)?),
                Some(("", "")) => return Err(wrong()),
                Some(("", last)) => (1, number(last)?),
                Some((first, "")) => (number(first)?, usize::MAX),
                Some((first, last)) => (number(first)?, number(last)?),
            });
        }
        if ranges.iter().any(|(first, last)| first > last) {
            return Err(wrong());
        }
        ranges.sort_unstable();
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        Ok(Fields { ranges: joined })
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ranges.iter().enumerate().try_for_each(|(nth, (first, last))| {
            f.write_str(if nth > 0 { "," } else { "" })?;
            match last {
                last if first == last => write!(f, "{first}"),
                &usize::MAX => write!(f, "{first}-"),
                last => write!(f, "{first}-{last}"),
            }
        })
    }
}

impl Fields {
    /// The highest field number that is named; a record must have at least this many fields.
    fn highest(&self) -> usize {
        self.ranges.last().map_or(1, |(first, last)| if *last == usize::MAX { *first } else { *last })
    }
}

/// How the key of a record is found.
#[derive(Clone, Debug)]
pub(crate) enum KeyOf {
    /// The record is the key.
    Record,
    /// The key consists of fields between delimiters, joined by the delimiter as `cut` prints them.
    Fields { delimiter: u8, fields: Fields },
    /// The key consists of fields between runs of spaces and TABs, as in awk; several fields are
    /// joined by a space.
    Words(Fields),
    /// The key is a member of a JSON value.
    Member(Box<json::Member>),
}

/// Where a key was found.
pub(super) enum Found {
    /// The key is this range of the record.
    Inside(Range<usize>),
    /// The key was appended to the buffer of keys.
    Appended,
}

impl Found {
    /// A key that is this part of the record.
    #[inline]
    pub(super) fn part_of(record: &[u8], part: &[u8]) -> Found {
        let start = part.as_ptr().addr() - record.as_ptr().addr();
        Found::Inside(start..start + part.len())
    }
}

impl KeyOf {
    /// Finds the key of a record, or returns why there is none.
    #[inline]
    pub(super) fn find(&mut self, record: &[u8], keys: &mut Vec<u8>) -> Result<Found, String> {
        match self {
            KeyOf::Record => Ok(Found::Inside(0..record.len())),
            KeyOf::Fields { delimiter, fields } => find_fields(record, *delimiter, fields, keys),
            KeyOf::Words(fields) => find_words(record, fields, keys),
            KeyOf::Member(member) => member.find(record, keys),
        }
    }
}

/// How a message names this delimiter.
fn name_of(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "TABs".to_owned(),
        b' ' => "single spaces".to_owned(),
        other => format!("`{}`", other.escape_ascii()),
    }
}

fn find_fields(record: &[u8], delimiter: u8, fields: &Fields, keys: &mut Vec<u8>) -> Result<Found, String> {
    let mut delimiters = memchr::memchr_iter(delimiter, record);
    // The field that begins at `start` has this number.
    let (mut number, mut start, mut ended) = (1, 0, false);
    let mut key = None;
    for (nth, &(first, last)) in fields.ranges.iter().enumerate() {
        let mut advance_past = |target: usize| {
            while number < target && !ended {
                match delimiters.next() {
                    Some(at) => (number, start) = (number + 1, at + 1),
                    None => ended = true,
                }
            }
            (number == target).then_some(start)
        };
        let missing = || format!("has fewer than {} fields separated by {}", fields.highest(), name_of(delimiter));
        let from = advance_past(first).ok_or_else(missing)?;
        let to = match last {
            usize::MAX => record.len(),
            _ => {
                advance_past(last).ok_or_else(missing)?;
                // The last field ends at the next delimiter. The search for the next range begins
                // after it.
                match delimiters.next() {
                    Some(at) => {
                        (number, start) = (number + 1, at + 1);
                        at
                    }
                    None => {
                        ended = true;
                        record.len()
                    }
                }
            }
        };
        if fields.ranges.len() == 1 {
            key = Some(from..to);
        } else {
            if nth > 0 {
                keys.push(delimiter);
            }
            keys.extend_from_slice(&record[from..to]);
        }
    }
    Ok(key.map_or(Found::Appended, Found::Inside))
}

/// Finds fields between runs of spaces and TABs. Such runs before the first field and after the
/// last are ignored.
fn find_words(record: &[u8], fields: &Fields, keys: &mut Vec<u8>) -> Result<Found, String> {
    let mut words = record.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty()).zip(1usize..).peekable();
    let mut is_first = true;
    for &(first, last) in &fields.ranges {
        let mut found = 0;
        while let Some((word, number)) = words.next_if(|(_, number)| *number <= last) {
            if number >= first {
                keys.extend_from_slice(if is_first { b"" } else { b" " });
                keys.extend_from_slice(word);
                (is_first, found) = (false, found + 1);
            }
        }
        if found == 0 || last != usize::MAX && found < last - first + 1 {
            return Err(format!("has fewer than {} fields separated by spaces or TABs", fields.highest()));
        }
    }
    Ok(Found::Appended)
}

/// Turns hexadecimal digits at the end of `keys`, from `start`, into the bytes that they stand for.
pub(super) fn decode_hex(keys: &mut Vec<u8>, start: usize) -> Result<(), String> {
    let digits = keys.len() - start;
    for i in 0..digits / 2 {
        let digit = |at: usize| (keys[at] as char).to_digit(16).map(|digit| digit as u8);
        let (Some(high), Some(low)) = (digit(start + 2 * i), digit(start + 2 * i + 1)) else {
            return Err(not_hexadecimal(&keys[start + 2 * i..], 2 * i));
        };
        keys[start + i] = high << 4 | low;
    }
    if !digits.is_multiple_of(2) {
        return Err(not_hexadecimal(&keys[start + digits - 1..], digits - 1));
    }
    keys.truncate(start + digits / 2);
    Ok(())
}

/// Returns the message for a key in which `rest` follows `before` hexadecimal digits. The message
/// says what is wrong, and which option may be missing.
fn not_hexadecimal(rest: &[u8], before: usize) -> String {
    let more = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let digits = before + more;
    match rest[more..] {
        [] => format!("has a key with an odd number of hexadecimal digits ({digits})"),
        [b'\r'] => format!("has a key that ends with CR after {digits} hexadecimal digits; if lines end with CR LF, add --crlf"),
        [byte, ..] => {
            let is_separator = digits > 0 && (byte.is_ascii_punctuation() || matches!(byte, b' ' | b'\t'));
            let hint = if is_separator { "; if the key is a field of the line, name it with --delimiter and -f" } else { "" };
            let byte = byte.escape_ascii();
            match digits {
                0 => format!("has a key that is not hexadecimal: it begins with `{byte}`{hint}"),
                _ => format!("has a key that is not hexadecimal: `{byte}` comes after {}{hint}", plural(digits as u64, "digit")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(record: &str, fields: &str) -> Result<String, String> {
        let mut keys = Vec::new();
        let mut key_of = KeyOf::Fields { delimiter: b':', fields: fields.parse()? };
        let key = match key_of.find(record.as_bytes(), &mut keys)? {
            Found::Inside(range) => record.as_bytes()[range].to_vec(),
            Found::Appended => keys,
        };
        Ok(String::from_utf8_lossy(&key).into_owned())
    }

    #[test]
    fn fields_as_cut_has_them() {
        for (record, fields, expected) in [
            ("a:b:c:d", "1", "a"),
            ("a:b:c:d", "3", "c"),
            ("a:b:c:d", "4", "d"),
            ("a:b:c:d", "2-3", "b:c"),
            ("a:b:c:d", "3-", "c:d"),
            ("a:b:c:d", "-2", "a:b"),
            ("a:b:c:d", "4,1", "a:d"),
            ("a:b:c:d", "1,2,4-", "a:b:d"),
            ("a:b:c:d", "1,3,2", "a:b:c"),
            ("::", "2", ""),
            ("::", "1,3", ":"),
            ("whole", "1", "whole"),
            ("", "1", ""),
        ] {
            assert_eq!(cut(record, fields), Ok(expected.to_owned()), "{record} {fields}");
        }
        for (record, fields) in [("a:b", "3"), ("a:b", "1,3"), ("a:b", "2-3"), ("a", "2-"), ("a:b", "3,5")] {
            assert!(cut(record, fields).expect_err("too few").contains("fewer"), "{record} {fields}");
        }
        for fields in ["", "0", "a", "3-2", "-", "1,,2", "1-2-3", "99999999999999999999999"] {
            assert!(fields.parse::<Fields>().is_err(), "{fields}");
        }
    }

    #[test]
    fn words_as_awk_has_them() {
        let cut = |record: &str, fields: &str| {
            let mut keys = Vec::new();
            KeyOf::Words(fields.parse()?).find(record.as_bytes(), &mut keys).map(|_| String::from_utf8_lossy(&keys).into_owned())
        };
        for (record, fields, expected) in [
            ("a b c", "2", "b"),
            ("  a \t b  c ", "2", "b"),
            ("  a \t b  c ", "3", "c"),
            ("a   b", "1-2", "a b"),
            ("a  b c  d", "2-", "b c d"),
            ("a  b c  d", "4,1", "a d"),
            ("a  b c  d", "-2,4", "a b d"),
        ] {
            assert_eq!(cut(record, fields), Ok(expected.to_owned()), "{record} {fields}");
        }
        for (record, fields) in [("a b ", "3"), ("", "1"), ("  ", "1"), ("a", "1-2"), ("a b", "3-"), ("a b", "1,3")] {
            assert!(cut(record, fields).expect_err("too few").contains("fewer"), "{record} {fields}");
        }
    }

    #[test]
    fn hexadecimal() {
        let decode = |text: &str| {
            let mut keys = [b"..", text.as_bytes()].concat();
            decode_hex(&mut keys, 2).map(|()| keys[2..].to_vec())
        };
        assert_eq!(decode("00ffAb"), Ok(vec![0, 255, 171]));
        assert_eq!(decode(""), Ok(vec![]));
        assert!(decode("0").is_err() && decode("0g").is_err() && decode("é").is_err());
    }

    #[test]
    fn what_is_not_hexadecimal_is_named() {
        let wrong = |text: &str| decode_hex(&mut text.as_bytes().to_vec(), 0).expect_err(text);
        for digits in ["", "a", "ab", "abc", "abcdef"] {
            let number = if digits.is_empty() { "begins with ".to_owned() } else { format!("after {} ", digits.len()) };
            for after in ["g", "g0", "é", "\u{1}"] {
                let found = wrong(&format!("{digits}{after}"));
                assert!(found.contains(&number) && !found.contains("odd") && !found.contains("-f"), "{found}");
            }
        }
        for digits in ["a", "ab", "abc", "abcdef"] {
            let number = format!("after {} ", digits.len());
            for after in [":1\r", ":12\r", "  -", ",", "\t00", " 0"] {
                let found = wrong(&format!("{digits}{after}"));
                let byte = after.as_bytes()[0].escape_ascii().to_string();
                assert!(found.contains(&number) && found.contains(&format!("`{byte}`")) && found.contains("--delimiter and -f"), "{found}");
            }
            let found = wrong(&format!("{digits}\r"));
            assert!(found.contains(&number) && found.contains("--crlf"), "{found}");
        }
        assert!(wrong("abc").contains("odd number of hexadecimal digits (3)"));
    }
}
