//! Records that end with a given byte, and records of a fixed length.

use super::found::Found;
use super::key::KeyOf;
use std::ops::Range;

/// Where records end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ends {
    /// Records end before this byte, which is not part of the record. With `crlf`, a carriage
    /// return before this byte is not part of the record, either.
    Byte { byte: u8, crlf: bool },
    /// Records end after this many bytes.
    Length(usize),
}

/// The capacity, in bytes, to which the buffer for records that span blocks is reduced after a
/// longer record.
const KEPT: usize = 1 << 20;

/// Splits an input into records; the result does not depend on where blocks end.
pub(super) struct Split {
    ends: Ends,
    key_of: KeyOf,
    hex: bool,
    /// Whether empty lines are skipped; JSON Lines may contain them.
    skip_blank: bool,
    most: usize,
    /// What ends a record in the output.
    terminator: &'static [u8],
    /// The beginning of a record whose end was not found yet.
    carry: Vec<u8>,
    /// Whether `carry` was passed on as a record, so that it can be cleared.
    used: bool,
    /// Whether the rest of a record that was too long is being skipped.
    skipping: bool,
    /// Whether the skipped text so far ends with a carriage return, which may end the record.
    has_return: bool,
    /// The number of records of the current input so far.
    number: u64,
}

impl Split {
    pub(super) fn new(ends: Ends, key_of: KeyOf, hex: bool, most: usize, terminator: &'static [u8]) -> Split {
        let skip_blank = matches!(key_of, KeyOf::Member(_));
        Split {
            ends,
            key_of,
            hex,
            skip_blank,
            most,
            terminator,
            carry: Vec::new(),
            used: false,
            skipping: false,
            has_return: false,
            number: 0,
        }
    }

    pub(super) fn carry(&self) -> &[u8] {
        &self.carry
    }

    pub(super) fn ends(&self) -> Ends {
        self.ends
    }

    /// Whether the next bytes begin a record.
    pub(super) fn is_between_records(&self) -> bool {
        !self.skipping && (self.used || self.carry.is_empty())
    }

    /// Continues after this many records, which other threads have found.
    pub(super) fn pass_over(&mut self, records: u64) -> u64 {
        let before = self.number;
        self.number += records;
        before
    }

    /// Finds records in the next piece of an input; returns how much of it was used. Less than the
    /// whole piece is used only if the record that was found began in an earlier piece.
    pub(super) fn split(&mut self, text: &[u8], found: &mut Found) -> usize {
        if self.used {
            self.used = false;
            self.carry.clear();
            self.carry.shrink_to(KEPT);
        }
        if self.skipping || !self.carry.is_empty() {
            return self.complete(text, found);
        }
        let rest = match self.ends {
            Ends::Byte { byte, .. } => self.split_at_byte(byte, text, found),
            Ends::Length(length) => self.split_by_length(length, text, found),
        };
        self.keep(&text[rest..], found);
        text.len()
    }

    /// Ends the input: the remaining bytes are its last record.
    pub(super) fn finish(&mut self, found: &mut Found) {
        let partial = !self.used && !self.carry.is_empty();
        match self.ends {
            Ends::Length(length) if partial => {
                let why = format!("has only {} of {length} bytes", self.carry.len());
                found.trouble(self.number + 1, why);
                found.pass(&self.carry);
            }
            Ends::Byte { .. } if self.skipping => self.end_skipped(found),
            _ if partial => self.hand_out_carry(found),
            _ => {}
        }
        if !self.used {
            self.carry.clear();
        }
        self.number = 0;
    }

    /// Discards the current input, and returns how many of its records were found.
    pub(super) fn abandon(&mut self) -> u64 {
        (self.carry, self.used, self.skipping, self.has_return) = (Vec::new(), false, false, false);
        std::mem::take(&mut self.number)
    }

    fn split_at_byte(&mut self, byte: u8, text: &[u8], found: &mut Found) -> usize {
        let mut start = 0;
        for end in memchr::memchr_iter(byte, text) {
            self.record(text, start..end, found);
            start = end + 1;
        }
        start
    }

    fn split_by_length(&mut self, length: usize, text: &[u8], found: &mut Found) -> usize {
        let whole = text.len() / length * length;
        (0..whole).step_by(length).for_each(|start| self.record(text, start..start + length, found));
        whole
    }

    /// Continues to the end of the record that began in an earlier piece.
    fn complete(&mut self, text: &[u8], found: &mut Found) -> usize {
        let (end, next) = match self.ends {
            Ends::Byte { byte, .. } => memchr::memchr(byte, text).map_or((text.len(), None), |end| (end, Some(end + 1))),
            Ends::Length(length) => {
                let missing = length - self.carry.len();
                if text.len() < missing { (text.len(), None) } else { (missing, Some(missing)) }
            }
        };
        self.keep(&text[..end], found);
        let Some(next) = next else { return text.len() };
        if self.skipping {
            self.end_skipped(found);
            self.number += 1;
        } else {
            self.hand_out_carry(found);
        }
        next
    }

    fn hand_out_carry(&mut self, found: &mut Found) {
        let carry = std::mem::take(&mut self.carry);
        found.carried = true;
        self.record(&carry, 0..carry.len(), found);
        (self.carry, self.used) = (carry, true);
    }

    /// Stores the beginning of a record, unless it is already too long.
    fn keep(&mut self, text: &[u8], found: &mut Found) {
        if self.skipping {
            return self.pass_skipped(text, found);
        }
        let room = self.most.checked_sub(self.carry.len() + text.len());
        if room.is_none() || self.carry.try_reserve(text.len()).is_err() {
            self.skipping = true;
            found.trouble(self.number + 1, too_long(self.most, ""));
            // The memory is no longer needed.
            let carry = std::mem::take(&mut self.carry);
            self.pass_skipped(&carry, found);
            self.pass_skipped(text, found);
        } else {
            self.carry.extend_from_slice(text);
        }
    }

    /// Passes on a part of a record that is being skipped because it is too long. A carriage return
    /// at the end of the part is held back, because it may belong to the line end.
    fn pass_skipped(&mut self, text: &[u8], found: &mut Found) {
        if text.is_empty() {
            return;
        }
        found.pass(if self.has_return { b"\r" } else { b"" });
        let without = text.strip_suffix(b"\r").filter(|_| self.strips_return());
        self.has_return = without.is_some();
        found.pass(without.unwrap_or(text));
    }

    /// Ends a record that was too long.
    fn end_skipped(&mut self, found: &mut Found) {
        found.pass(self.terminator);
        (self.skipping, self.has_return) = (false, false);
    }

    /// Whether a carriage return before the end of a record is not part of it.
    fn strips_return(&self) -> bool {
        matches!(self.ends, Ends::Byte { crlf: true, .. })
    }

    #[inline]
    fn record(&mut self, text: &[u8], mut range: Range<usize>, found: &mut Found) {
        self.number += 1;
        let is_long = range.len() > self.most;
        if self.strips_return() && text[range.clone()].last() == Some(&b'\r') {
            range.end -= 1;
        }
        if is_long {
            return found.reject(range, self.number, too_long(self.most, ""));
        }
        if matches!(self.key_of, KeyOf::Record) && !self.hex {
            found.push(range.clone(), range);
            return found.number_last(self.number);
        }
        self.record_with_key(text, range, found);
    }

    /// This function is separate, so that the loop over lines stays small; most lines are their own
    /// keys and do not need this function.
    #[inline(never)]
    fn record_with_key(&mut self, text: &[u8], range: Range<usize>, found: &mut Found) {
        if self.skip_blank && text[range.clone()].iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match found.push_found(text, range.clone(), &mut self.key_of, self.hex) {
            Ok(()) => found.number_last(self.number),
            Err(why) => found.reject(range, self.number, why),
        }
    }
}

/// The message for a record that was skipped because of its length, and another possible reason.
pub(super) fn too_long(most: usize, or: &str) -> String {
    let most = crate::report::bytes(most as u64);
    format!("is longer than {most}{or}; to allow longer records, raise --max-record")
}
