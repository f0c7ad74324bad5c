//! What splitting a piece of text finds: records, their keys, and what is wrong with some of them.

use super::key::{Found as Where, KeyOf, decode_hex};
use std::ops::Range;

/// Where a record lies in its text, and its key in its own.
#[derive(Clone, Copy)]
pub(super) struct Span {
    record: (u32, u32),
    key: (u32, u32),
}

/// A record that was skipped.
pub(super) struct Trouble {
    /// Counted from 1 in its input.
    pub(super) record: u64,
    pub(super) why: String,
}

/// What was found in one piece of text.
#[derive(Default)]
pub(super) struct Found {
    pub(super) spans: Vec<Span>,
    /// Keys that are not parts of the text.
    pub(super) keys: Vec<u8>,
    /// The only span is of the carried record, not of the text.
    pub(super) carried: bool,
    pub(super) troubles: Vec<Trouble>,
    /// To be split next, before anything else is read: what a broken record had swallowed, and what was left of the text.
    pub(super) again: Option<Vec<u8>>,
}

impl Found {
    pub(super) fn clear(&mut self) {
        self.spans.clear();
        self.keys.clear();
        self.carried = false;
    }

    pub(super) fn trouble(&mut self, record: u64, why: impl Into<String>) {
        self.troubles.push(Trouble { record, why: why.into() });
    }

    /// A record with its key, both parts of the text.
    #[inline]
    pub(super) fn push(&mut self, record: Range<usize>, key: Range<usize>) {
        // Records are shorter than 4 GiB: `--max-record` is at most one.
        let short = |range: Range<usize>| (range.start as u32, range.end as u32);
        self.spans.push(Span { record: short(record), key: short(key) });
    }

    /// A record whose key is `keys[start..]`, to be decoded first if it is hexadecimal.
    pub(super) fn push_copied(&mut self, record: Range<usize>, start: usize, hex: bool) -> Result<(), String> {
        let decoded = if hex { decode_hex(&mut self.keys, start) } else { Ok(()) };
        if decoded.is_err() {
            self.keys.truncate(start);
            return decoded;
        }
        let end = self.keys.len();
        self.push(record, start..end);
        Ok(())
    }

    /// A record in `text`, whose key is found by `key_of`.
    #[inline]
    pub(super) fn push_found(&mut self, text: &[u8], record: Range<usize>, key_of: &KeyOf, hex: bool) -> Result<(), String> {
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

/// Records that came together, with their keys.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(super) spans: &'a [Span],
    pub(super) text: &'a [u8],
    pub(super) keys: &'a [u8],
}

impl<'a> Batch<'a> {
    /// Every record, without what ended it, and its key.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let (text, keys) = (self.text, self.keys);
        let part = |of: &'a [u8], (start, end): (u32, u32)| &of[start as usize..end as usize];
        self.spans.iter().map(move |span| (part(text, span.record), part(keys, span.key)))
    }
}
