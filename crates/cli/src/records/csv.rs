//! Records of comma-separated values: quotes, and newlines within quotes, as in RFC 4180.
//!
//! If a quote is never closed, all further lines of the input would belong to the same record. So a
//! broken record is given up line by line: its first line is reported and skipped, and reading
//! continues at the next line. A record is broken in these cases: it is still open at the end of
//! the input, it is too long, it has text after a closing quote, or it has several lines and
//! another number of fields than the first record.

use super::found::Found;
use super::line::{Form, Line};
use super::quotes::{first_line, is_well_quoted, listed, trim, trimmed};
use super::split::too_long;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use std::ops::Range;

/// The largest number of fields in a record; the memory for their ends must be known beforehand.
pub(super) const MAX_FIELDS: usize = 1 << 16;

/// The field that is the key.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    /// The record itself.
    Record,
    /// The field with this name in the first record, or, if no name matches, the field with this
    /// number, counted from 1.
    Named(String),
}

/// The facts about an input that are needed to understand a record other than its first.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct Columns {
    width: usize,
    key: Option<usize>,
}

/// Splits an input into CSV records.
pub(super) struct Csv {
    reader: Reader,
    delimiter: u8,
    column: Column,
    has_header: bool,
    hex: bool,
    most: usize,
    /// The raw text of a record whose end was not found yet.
    carry: Vec<u8>,
    used: bool,
    /// Whether the rest of a line that was too long is being skipped.
    skipping: bool,
    /// The unquoted fields of the present record, one after the other, and where each ends.
    fields: Vec<u8>,
    ends: Vec<usize>,
    filled: (usize, usize),
    /// The first record of the input, if it names the columns, and its number of fields.
    header: Option<Vec<u8>>,
    width: Option<usize>,
    key: Option<usize>,
    number: u64,
}

/// The result of parsing a record.
enum Outcome {
    Done,
    /// The record is broken, and its first line must be skipped.
    Broken,
    /// The input has no key column.
    Hopeless(String),
}

impl Csv {
    pub(super) fn new(delimiter: u8, column: Column, has_header: bool, hex: bool, most: usize) -> Csv {
        let reader = ReaderBuilder::new().delimiter(delimiter).build();
        Csv {
            reader,
            delimiter,
            column,
            has_header,
            hex,
            most,
            carry: Vec::new(),
            used: false,
            skipping: false,
            fields: Vec::new(),
            ends: vec![0; 64],
            filled: (0, 0),
            header: None,
            width: None,
            key: None,
            number: 0,
        }
    }

    pub(super) fn carry(&self) -> &[u8] {
        &self.carry
    }

    /// Discards the rest of the present input.
    pub(super) fn abandon(&mut self) -> u64 {
        let number = self.number;
        (self.carry, self.used) = (Vec::new(), false);
        self.begin_input();
        number
    }

    fn begin_input(&mut self) {
        self.begin_record();
        self.reader.reset();
        (self.skipping, self.width, self.key, self.number) = (false, None, None, 0);
    }

    /// The facts about the input that its first record contains.
    pub(super) fn columns(&self) -> Option<Columns> {
        self.width.map(|width| Columns { width, key: self.key })
    }

    /// Continues in the middle of an input for which these facts are known.
    pub(super) fn resume(&mut self, columns: Columns) {
        (self.width, self.key) = (Some(columns.width), columns.key);
    }

    /// Whether the next bytes begin a record that is not the first of its input.
    pub(super) fn is_between_records(&self) -> bool {
        !self.skipping && self.filled == (0, 0) && (self.used || self.carry.is_empty())
    }

    /// Continues after this many records, which other threads have found.
    pub(super) fn pass_over(&mut self, records: u64) -> u64 {
        let before = self.number;
        self.number += records;
        before
    }

    /// Returns the header once, after it was read; later nothing.
    pub(super) fn take_header(&mut self) -> Option<Vec<u8>> {
        self.header.take()
    }

    /// Splits a text as `Split::split` does. An error ends the input.
    pub(super) fn split(&mut self, text: &[u8], found: &mut Found) -> Result<usize, String> {
        if self.used {
            self.used = false;
            self.carry.clear();
        }
        if self.skipping {
            return Ok(self.skip_line(text, found));
        }
        let (mut start, mut at) = (0, 0);
        let form = Form::of(text, self.delimiter);
        // The buffer has room for the whole text, so the reader never needs more.
        let room = self.filled.0 + text.len() - at;
        if self.fields.len() < room {
            self.fields.resize(room, 0);
        }
        while at < text.len() {
            if let Some(next) = self.short_way(text, at, form, found) {
                (start, at) = (next, next);
                continue;
            }
            match self.read(&text[at..]) {
                (ReadRecordResult::Record, used) => at += used,
                (ReadRecordResult::OutputEndsFull, used) if self.ends.len() < MAX_FIELDS => {
                    at += used;
                    self.ends.resize(2 * self.ends.len(), 0);
                    continue;
                }
                (ReadRecordResult::InputEmpty | ReadRecordResult::End, _) => break,
                (ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull, _) => {
                    found.trouble(self.number + 1, format!("has more than {MAX_FIELDS} fields"));
                    self.number += 1;
                    return Ok(self.give_up(start, text, found));
                }
            }
            if !self.carry.is_empty() {
                self.carry.extend_from_slice(&text[..at]);
                return self.hand_out_carry(&text[at..], found).map(|()| if found.again.is_some() { text.len() } else { at });
            }
            match self.record(text, start..at, found) {
                Outcome::Done => {}
                Outcome::Broken => {
                    at = start + first_line(&text[start..at]);
                    found.pass_record(trimmed(text, start..at));
                }
                Outcome::Hopeless(why) => return Err(why),
            }
            self.begin_record();
            start = at;
            // The header is reported as a separate event.
            if self.header.is_some() {
                return Ok(at);
            }
        }
        self.keep(&text[start..], found);
        Ok(text.len())
    }

    /// Takes the record that begins here if the [fast path](super::line) finds it, and returns
    /// where the next record begins. The fast path is possible only between two records, because
    /// only there the reader's state does not matter.
    #[inline]
    fn short_way(&mut self, text: &[u8], at: usize, form: Form, found: &mut Found) -> Option<usize> {
        let between = self.width.is_some() && self.filled == (0, 0) && self.carry.is_empty() && self.header.is_none();
        if !between || self.key.is_none() && self.hex {
            return None;
        }
        let Line { record, next, key } = form.find(text, at, self.key, self.most)?;
        self.number += 1;
        if key.has_quotes || self.hex {
            let start = found.keys.len();
            key.append(text, &mut found.keys);
            let pushed = found.push_copied(record.clone(), start, self.hex);
            self.tell(pushed, record, found);
        } else {
            found.push(record, key.bytes);
            found.number_last(self.number);
        }
        Some(next)
    }

    /// Ends the input. The last record may lack its newline or its closing quote. In the latter
    /// case, the text after its first line is put into `again`.
    pub(super) fn finish(&mut self, found: &mut Found) -> Result<(), String> {
        let open = !self.used && !trim(&self.carry).is_empty();
        if open {
            self.fields.resize(self.filled.0 + 1, 0);
            self.ends.resize(self.ends.len().max(self.filled.1 + 1), 0);
            match self.read(b"\n") {
                (ReadRecordResult::Record, _) => self.hand_out_carry(&[], found)?,
                _ => {
                    found.trouble(self.number + 1, "has a quote that is never closed");
                    self.number += 1;
                    self.give_up(0, &[], found);
                }
            }
            if found.again.is_some() {
                return Ok(());
            }
        }
        if !self.used {
            self.carry.clear();
        }
        self.begin_input();
        Ok(())
    }

    fn read(&mut self, text: &[u8]) -> (ReadRecordResult, usize) {
        let (bytes, fields) = self.filled;
        let (result, used, written, ended) = self.reader.read_record(text, &mut self.fields[bytes..], &mut self.ends[fields..]);
        self.filled = (bytes + written, fields + ended);
        (result, used)
    }

    fn begin_record(&mut self) {
        self.filled = (0, 0);
    }

    fn hand_out_carry(&mut self, rest: &[u8], found: &mut Found) -> Result<(), String> {
        let carry = std::mem::take(&mut self.carry);
        found.carried = true;
        let outcome = self.record(&carry, 0..carry.len(), found);
        self.carry = carry;
        match outcome {
            Outcome::Done => self.used = true,
            Outcome::Broken => {
                self.give_up(0, rest, found);
            }
            Outcome::Hopeless(why) => return Err(why),
        }
        self.begin_record();
        Ok(())
    }

    /// Skips the first line of the carried text and `text[start..]`, so that the rest must be split
    /// again.
    fn give_up(&mut self, start: usize, text: &[u8], found: &mut Found) -> usize {
        let mut whole = std::mem::take(&mut self.carry);
        whole.extend_from_slice(&text[start..]);
        let line = first_line(&whole);
        self.skipping = line == whole.len() && whole.last() != Some(&b'\n');
        // Line ends before the record are left out, because one of them may have ended the record
        // before.
        let begin = whole[..line].iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(line);
        found.pass(&whole[begin..line]);
        whole.drain(..line);
        found.again = Some(whole);
        self.begin_record();
        self.reader.reset();
        text.len()
    }

    fn skip_line(&mut self, text: &[u8], found: &mut Found) -> usize {
        let newline = memchr::memchr(b'\n', text);
        self.skipping = newline.is_none();
        let used = newline.map_or(text.len(), |at| at + 1);
        found.pass(&text[..used]);
        used
    }

    /// Keeps the beginning of a record, unless it is already too long.
    fn keep(&mut self, text: &[u8], found: &mut Found) {
        if self.carry.len() + text.len() > self.most || self.carry.try_reserve(text.len()).is_err() {
            found.trouble(self.number + 1, too_long(self.most));
            self.number += 1;
            self.give_up(0, text, found);
        } else {
            self.carry.extend_from_slice(text);
        }
    }

    fn record(&mut self, text: &[u8], range: Range<usize>, found: &mut Found) -> Outcome {
        let range = trimmed(text, range);
        let raw = &text[range.clone()];
        self.number += 1;
        let fields = self.filled.1;
        let Some(width) = self.width else { return self.first(raw, range, found) };
        let lines = memchr::memchr(b'\n', raw).is_some();
        if raw.len() > self.most {
            found.trouble(self.number, too_long(self.most));
            if lines {
                return Outcome::Broken;
            }
            found.pass_record(range);
            return Outcome::Done;
        }
        if lines && (fields != width || !is_well_quoted(raw, self.delimiter)) {
            found.trouble(self.number, "is broken: a quote opens in it, and closes some lines later in the wrong place");
            return Outcome::Broken;
        }
        self.push(range, found);
        Outcome::Done
    }

    /// Handles the first record, which has the names of the columns or is an ordinary record.
    fn first(&mut self, raw: &[u8], range: Range<usize>, found: &mut Found) -> Outcome {
        let mut names: Vec<_> = (0..self.filled.1).map(|i| String::from_utf8_lossy(self.field(i)).into_owned()).collect();
        // The reader removes a byte order mark, but only if it gets the whole mark at once.
        if let Some(name) = names.first_mut()
            && let Some(bare) = name.strip_prefix('\u{feff}')
        {
            *name = bare.to_owned();
        }
        self.width = Some(names.len());
        if let Column::Named(wanted) = &self.column {
            let named = names.iter().position(|name| self.has_header && name == wanted);
            let numbered = || wanted.parse().ok().filter(|number| (1..=names.len()).contains(number)).map(|number| number - 1);
            self.key = named.or_else(numbered);
            if self.key.is_none() && self.has_header {
                let remark = if names.len() == 1 && names[0].contains('\t') {
                    "; fields are separated by TABs here: add --delimiter '\\t'"
                } else if wanted.contains(',') {
                    "; --column names a single column; for a key of several fields use -f, which does not interpret quotes"
                } else {
                    ""
                };
                return Outcome::Hopeless(format!("there is no column `{wanted}`; there are {}{remark}", listed(&names)));
            }
            if self.key.is_none() {
                return Outcome::Hopeless(format!(
                    "there is no column {wanted}; without a header, give its number, from 1 to {}",
                    names.len()
                ));
            }
        }
        if self.has_header {
            self.header = Some(raw.to_vec());
        } else {
            self.push(range, found);
        }
        Outcome::Done
    }

    fn push(&mut self, range: Range<usize>, found: &mut Found) {
        let start = found.keys.len();
        let pushed = match self.key {
            None if !self.hex => {
                found.push(range.clone(), range.clone());
                Ok(())
            }
            Some(key) if key >= self.filled.1 => Err(format!("has only {} of {} fields", self.filled.1, self.width.unwrap_or(0))),
            Some(key) => {
                let field = field(&self.fields, &self.ends, key);
                found.keys.extend_from_slice(field);
                found.push_copied(range.clone(), start, self.hex)
            }
            None => Err("as a whole is not a hexadecimal key; name the key's column with --column".to_owned()),
        };
        self.tell(pushed, range, found);
    }

    /// Sets the number of the record that was pushed, or rejects the record.
    #[inline]
    fn tell(&self, pushed: Result<(), String>, record: Range<usize>, found: &mut Found) {
        match pushed {
            Ok(()) => found.number_last(self.number),
            Err(why) => found.reject(record, self.number, why),
        }
    }

    fn field(&self, index: usize) -> &[u8] {
        field(&self.fields, &self.ends, index)
    }
}

fn field<'a>(fields: &'a [u8], ends: &[usize], index: usize) -> &'a [u8] {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &fields[start..ends[index]]
}
