//! The raw text of CSV records: quotes, and line ends.

use std::ops::Range;

/// Whether every closing quote is followed by the end of its field. The CSV parser treats text
/// after it as part of the field, which hides an open quote until the next one.
pub(super) fn is_well_quoted(raw: &[u8], delimiter: u8) -> bool {
    let mut rest = raw;
    loop {
        let ends_field = |byte: &u8| *byte == delimiter || matches!(byte, b'\r' | b'\n');
        if let Some(mut quoted) = rest.strip_prefix(b"\"") {
            // The quoted part ends at the first quote that is not one of a pair.
            loop {
                let Some(quote) = memchr::memchr(b'"', quoted) else { return false };
                quoted = &quoted[quote + 1..];
                match quoted.strip_prefix(b"\"") {
                    Some(after_pair) => quoted = after_pair,
                    None => break,
                }
            }
            if !quoted.first().is_none_or(ends_field) {
                return false;
            }
            rest = quoted;
        }
        match rest.iter().position(ends_field) {
            Some(end) => rest = &rest[end + 1..],
            None => return true,
        }
    }
}

/// Names for a message, but not too many.
pub(super) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown: Vec<_> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The range of a record in the text, without line ends around it.
pub(super) fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let raw = trim(&text[range]);
    let start = raw.as_ptr().addr() - text.as_ptr().addr();
    start..start + raw.len()
}

/// The record without the line ends around it: those of empty lines before it, and its own.
pub(super) fn trim(raw: &[u8]) -> &[u8] {
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let start = raw.iter().position(|byte| !is_end(byte)).unwrap_or(raw.len());
    let end = raw.iter().rposition(|byte| !is_end(byte)).map_or(start, |last| last + 1);
    &raw[start..end]
}

/// The length of the first line that is not empty, including its newline and empty lines before it.
pub(super) fn first_line(text: &[u8]) -> usize {
    let start = text.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(text.len());
    memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1)
}
