//! The raw text of CSV records: lines, quotes, and fields.

use super::near;
use crate::failure::on_one_line;

/// Whether this byte ends a line. With CR LF, this reports an additional empty line between the two
/// bytes, which does no harm because empty lines are ignored.
pub(super) fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// The position of the first line end, at or after `from`.
#[inline]
pub(super) fn line_end(text: &[u8], from: usize) -> Option<usize> {
    near::any_of(text, from, *b"\r\n")
}

/// The position of the first byte, at or after `from`, that does not end a line. Returns the text's
/// length if there is no such byte.
#[inline]
pub(super) fn line_start(text: &[u8], from: usize) -> usize {
    text[from..].iter().position(|byte| !ends_line(*byte)).map_or(text.len(), |more| from + more)
}

/// What a line contributes to its record.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Part {
    /// The number of delimiters outside of quotes.
    pub(super) delimiters: usize,
    /// Whether the line ends within quotes.
    pub(super) is_open: bool,
    /// Whether text follows a closing quote. Such text is part of the field. Text in this place can
    /// mean that an earlier quote was never closed, and that the next opening quote was taken as
    /// the closing one.
    pub(super) is_misquoted: bool,
}

impl Part {
    /// Examines a line, which begins within quotes or at the beginning of a field.
    pub(super) fn of(line: &[u8], begins_open: bool, delimiter: u8) -> Part {
        let (mut part, mut rest, mut is_open) = (Part::default(), line, begins_open);
        loop {
            if let Some(inside) = if is_open { Some(rest) } else { rest.strip_prefix(b"\"") } {
                let Some(close) = closing_quote(inside) else { return Part { is_open: true, ..part } };
                rest = &inside[close + 1..];
                part.is_misquoted |= rest.first().is_some_and(|byte| *byte != delimiter);
            }
            let Some(end) = near::any_of(rest, 0, [delimiter]) else { return part };
            (part.delimiters, rest, is_open) = (part.delimiters + 1, &rest[end + 1..], false);
        }
    }
}

/// Returns the position of the closing quote, which is the first quote that is not doubled.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let quote = from + memchr::memchr(b'"', &text[from..])?;
        if text.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        from = quote + 2;
    }
}

/// A field as it is written: text in quotes, and text after the quotes or without quotes.
#[derive(Clone, Copy)]
pub(super) struct Written<'t> {
    quoted: &'t [u8],
    plain: &'t [u8],
}

impl Written<'_> {
    /// Appends the value of the field. Quotes around the value are left out, and a doubled quote
    /// within them is appended once.
    pub(super) fn append(self, to: &mut Vec<u8>) {
        let mut rest = self.quoted;
        while let Some(quote) = memchr::memchr(b'"', rest) {
            to.extend_from_slice(&rest[..=quote]);
            rest = &rest[quote + 2..];
        }
        to.extend_from_slice(rest);
        to.extend_from_slice(self.plain);
    }

    /// The value of the field, for a message.
    pub(super) fn name(self) -> String {
        let mut bytes = Vec::new();
        self.append(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The fields of a record whose quotes are closed.
pub(super) fn fields(record: &[u8], delimiter: u8) -> impl Iterator<Item = Written<'_>> {
    let mut left = Some(record);
    std::iter::from_fn(move || {
        let text = left.take()?;
        let (quoted, rest) = match text.strip_prefix(b"\"") {
            Some(inside) => {
                let close = closing_quote(inside).unwrap_or(inside.len());
                (&inside[..close], inside.get(close + 1..).unwrap_or_default())
            }
            None => (&[][..], text),
        };
        let end = near::any_of(rest, 0, [delimiter]);
        left = end.map(|end| &rest[end + 1..]);
        Some(Written { quoted, plain: &rest[..end.unwrap_or(rest.len())] })
    })
}

/// The names of the first columns for a message, and how many more there are.
pub(super) fn listed(header: &[u8], delimiter: u8) -> String {
    const SHOWN: usize = 20;
    let mut names = fields(header, delimiter).map(Written::name);
    let shown: Vec<_> = names.by_ref().take(SHOWN).map(|name| format!("`{}`", on_one_line(&name))).collect();
    let more = match names.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}
