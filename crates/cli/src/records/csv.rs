//! Records of comma-separated values: quotes, and line ends within quotes, as in RFC 4180.
//!
//! A quote that is never closed would swallow all further lines of its input. So a broken record is
//! given up line by line: its first line is reported and skipped, and reading continues at the next
//! line. A record is broken in these cases:
//!
//! - The record is still open at the end of the input.
//! - The record is too long.
//! - The record has several lines, and text follows a closing quote in it.
//! - The record has several lines, and its number of fields differs from that of the first record.
//!
//! The result does not depend on how an input is divided into pieces: whether a record is found or
//! given up depends only on the bytes of the input. The time is proportional to the length of the
//! input, because the lines after an open quote are [examined only once](Quoted), even if several
//! lines are given up.

use super::MARK;
use super::found::Found;
use super::line::{Form, Line};
use super::quotes::{Part, Written, fields, line_end, line_start, listed};
use super::split::too_long;
use crate::failure::on_one_line;
use std::ops::Range;

/// The field that is the key.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    /// The record itself.
    Record,
    /// The field with this name in the first record, or, if no name matches, the field with this
    /// number, counted from 1.
    Named(String),
}

/// The facts about the first record of an input that are needed to read its other records.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct Columns {
    width: usize,
    key: Option<usize>,
}

/// Splits an input into CSV records.
pub(super) struct Csv {
    delimiter: u8,
    column: Column,
    has_header: bool,
    hex: bool,
    most: usize,
    /// The bytes that end a record in the output.
    terminator: &'static [u8],
    /// The raw text of a record whose end was not found yet.
    carry: Vec<u8>,
    /// Whether `carry` was already passed on as a record, in which case the next call clears it.
    used: bool,
    /// Whether the rest of a line that was too long is being skipped.
    skipping: bool,
    /// Whether the text that is being split is the last of the input.
    ended: bool,
    /// The first line of the unfinished record in `carry`, if that line ends within quotes.
    first: Option<FirstLine>,
    quoted: Quoted,
    /// If the first record of the input names the columns: this record, until it is returned. The
    /// facts about the columns are in the next field.
    header: Option<Vec<u8>>,
    columns: Option<Columns>,
    number: u64,
}

/// The first line of a record of several lines.
#[derive(Clone, Copy)]
struct FirstLine {
    length: usize,
    delimiters: usize,
}

/// Where a record ends.
enum End {
    /// The end of the record was not read yet.
    Unread,
    At(usize),
    /// The record is broken. The first line ends at this position, and is skipped.
    Never(usize, Why),
}

/// Why a record is skipped.
#[derive(Clone, Copy, PartialEq)]
enum Why {
    TooLong,
    NeverClosed,
    Misplaced,
}

impl Csv {
    pub(super) fn new(delimiter: u8, column: Column, has_header: bool, hex: bool, most: usize, terminator: &'static [u8]) -> Csv {
        Csv {
            delimiter,
            column,
            has_header,
            hex,
            most,
            terminator,
            carry: Vec::new(),
            used: false,
            skipping: false,
            ended: false,
            first: None,
            quoted: Quoted::default(),
            header: None,
            columns: None,
            number: 0,
        }
    }

    pub(super) fn carry(&self) -> &[u8] {
        &self.carry
    }

    /// Whether the first record of an input names its columns.
    pub(super) fn has_header(&self) -> bool {
        self.has_header
    }

    /// Discards the rest of the current input.
    pub(super) fn abandon(&mut self) -> u64 {
        let number = self.number;
        (self.carry, self.used) = (Vec::new(), false);
        self.begin_input();
        number
    }

    fn begin_input(&mut self) {
        (self.skipping, self.ended, self.columns, self.number) = (false, false, None, 0);
    }

    /// Returns the facts about the columns, which come from the first record of the input.
    pub(super) fn columns(&self) -> Option<Columns> {
        self.columns
    }

    /// Continues in the middle of an input whose columns are known.
    pub(super) fn resume(&mut self, columns: Columns) {
        self.columns = Some(columns);
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

    /// Returns the header once, after it was read; later calls return `None`.
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
        if !self.carry.is_empty() {
            return if self.first.is_some() { Ok(self.wait_for_quote(text, found)) } else { self.complete_line(text, found) };
        }
        self.quoted = Quoted::default();
        let form = Form::of(text, self.delimiter);
        let mut at = 0;
        loop {
            while let Some(next) = self.short_way(text, at, form, found) {
                at = next;
            }
            at = line_start(text, at);
            if at == text.len() {
                return Ok(at);
            }
            match self.end_of(text, at) {
                End::At(end) => {
                    self.record(text, at..end, found)?;
                    at = end;
                }
                End::Never(end, why) => {
                    self.give_up(text, at..end, why, found)?;
                    at = end;
                }
                End::Unread => {
                    self.quoted.begins_at(at);
                    self.carry.extend_from_slice(&text[at..]);
                    return Ok(text.len());
                }
            }
            // The header is returned separately from other records.
            if self.header.is_some() {
                return Ok(at);
            }
        }
    }

    /// Takes the record that begins here if the [fast path](super::line) finds it, and returns
    /// where the next record begins.
    #[inline]
    fn short_way(&mut self, text: &[u8], at: usize, form: Form, found: &mut Found) -> Option<usize> {
        let key = self.columns?.key;
        if key.is_none() && self.hex {
            return None;
        }
        let Line { record, next, key } = form.find(text, at, key, self.most)?;
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

    /// Finds the end of the record that begins at `start`.
    fn end_of(&mut self, text: &[u8], start: usize) -> End {
        self.first = None;
        let Some(end) = self.line_end(text, start) else {
            return if text.len() - start > self.most { End::Never(text.len(), Why::TooLong) } else { End::Unread };
        };
        if end - start > self.most {
            return End::Never(end, Why::TooLong);
        }
        let line = Part::of(self.without_mark(&text[start..end]), false, self.delimiter);
        if !line.is_open {
            return End::At(end);
        }
        if line.is_misquoted {
            return End::Never(end, Why::Misplaced);
        }
        let first = FirstLine { length: end - start, delimiters: line.delimiters };
        self.first = Some(first);
        self.end_of_quoted(text, start, first)
    }

    /// Finds the end of a record of several lines that begins at `start`.
    fn end_of_quoted(&mut self, text: &[u8], start: usize, first: FirstLine) -> End {
        let first_end = start + first.length;
        self.quoted.go_to(first_end + 1, text, self.delimiter);
        let never = |why| End::Never(first_end, why);
        loop {
            if self.quoted.is_found() {
                let end = self.quoted.next - 1;
                let width = first.delimiters + self.quoted.delimiters + 1;
                let is_misplaced = self.quoted.is_misquoted || self.columns.is_some_and(|columns| columns.width != width);
                let is_long = end - start > self.most;
                return if is_long || is_misplaced { never(if is_long { Why::TooLong } else { Why::Misplaced }) } else { End::At(end) };
            }
            if self.quoted.next.min(text.len()) - start > self.most {
                return never(Why::TooLong);
            }
            // The search comes second: an unread line may be long, and would be searched for each
            // line that is given up.
            if !self.quoted.is_unread
                && let Some(end) = self.line_end(text, self.quoted.next)
            {
                self.quoted.cross(end, text, self.delimiter);
                continue;
            }
            self.quoted.is_unread = true;
            if text.len() - start > self.most {
                return never(Why::TooLong);
            }
            return if self.ended { never(Why::NeverClosed) } else { End::Unread };
        }
    }

    /// The position of the first line end from `from` on. The end of the input also counts as a
    /// line end.
    fn line_end(&self, text: &[u8], from: usize) -> Option<usize> {
        line_end(text, from).or((self.ended && from <= text.len()).then_some(text.len()))
    }

    /// If this record names the columns, returns it without a byte order mark; otherwise, returns
    /// it unchanged.
    fn without_mark<'t>(&self, record: &'t [u8]) -> &'t [u8] {
        if self.has_header && self.columns.is_none() { record.strip_prefix(MARK).unwrap_or(record) } else { record }
    }

    /// Continues a record whose first line has not ended yet.
    fn complete_line(&mut self, text: &[u8], found: &mut Found) -> Result<usize, String> {
        let end = line_end(text, 0);
        let line = &text[..end.unwrap_or(text.len())];
        if self.carry.len() + line.len() > self.most || self.carry.try_reserve(text.len()).is_err() {
            // The memory is no longer needed.
            let carry = std::mem::take(&mut self.carry);
            self.give_up(&carry, 0..carry.len(), Why::TooLong, found)?;
            return Ok(self.skip_line(text, found));
        }
        self.carry.extend_from_slice(line);
        let Some(end) = end else { return Ok(text.len()) };
        if Part::of(self.without_mark(&self.carry), false, self.delimiter).is_open {
            self.carry.extend_from_slice(&text[end..]);
            found.again = Some(std::mem::take(&mut self.carry));
            return Ok(text.len());
        }
        let carry = std::mem::take(&mut self.carry);
        found.carried = true;
        self.record(&carry, 0..carry.len(), found)?;
        (self.carry, self.used) = (carry, true);
        Ok(end)
    }

    /// Continues a record whose first line ends within quotes. As soon as the end of the record is
    /// known, all text from its beginning is collected and split again.
    fn wait_for_quote(&mut self, text: &[u8], found: &mut Found) -> usize {
        let carry_length = self.carry.len();
        self.carry.extend_from_slice(text);
        // A record that is too long is carried beyond the limit: the copy is then made less often,
        // because more lines are given up at once.
        let most = self.most + self.most / 4;
        let mut is_known = self.carry.len() > most;
        if let Some((last, first)) = memchr::memrchr2(b'\r', b'\n', text).zip(self.first) {
            let carry = std::mem::take(&mut self.carry);
            self.quoted.is_unread = false;
            let end = self.end_of_quoted(&carry[..=carry_length + last], 0, first);
            is_known |= !matches!(end, End::Unread | End::Never(_, Why::TooLong));
            self.carry = carry;
        }
        if is_known {
            found.again = Some(std::mem::take(&mut self.carry));
        }
        text.len()
    }

    /// Skips the first line of a record that is broken. A header that is broken ends the input,
    /// because its columns are unknown.
    fn give_up(&mut self, text: &[u8], line: Range<usize>, why: Why, found: &mut Found) -> Result<(), String> {
        self.number += 1;
        let why = match why {
            Why::TooLong => too_long(self.most, ", or has a quote that is never closed"),
            Why::NeverClosed => "has a quote that is never closed".to_owned(),
            Why::Misplaced => "is broken: a quote in it is missing or in the wrong place".to_owned(),
        };
        if self.has_header && self.columns.is_none() {
            return Err(format!("record 1, which names the columns, {why}"));
        }
        if line.end < text.len() || self.ended {
            found.reject(line, self.number, why);
        } else {
            found.trouble(self.number, why);
            found.pass(&text[line]);
            self.skipping = true;
        }
        Ok(())
    }

    /// Skips the rest of a line that is too long.
    fn skip_line(&mut self, text: &[u8], found: &mut Found) -> usize {
        let end = line_end(text, 0);
        let used = end.unwrap_or(text.len());
        found.pass(&text[..used]);
        if end.is_some() {
            found.pass(self.terminator);
            self.skipping = false;
        }
        used
    }

    /// Ends the input. A record whose end was not found yet ends here. The text of the record is
    /// moved to `again`; after the caller has split this text, the input is finished.
    pub(super) fn finish(&mut self, found: &mut Found) {
        if self.skipping {
            found.pass(self.terminator);
        }
        if !self.is_between_records() && !self.skipping {
            self.ended = true;
            found.again = Some(std::mem::take(&mut self.carry));
            return;
        }
        if !self.used {
            self.carry.clear();
        }
        self.begin_input();
    }

    /// Takes a record whose end was found.
    fn record(&mut self, text: &[u8], range: Range<usize>, found: &mut Found) -> Result<(), String> {
        self.number += 1;
        let record = &text[range.clone()];
        let Some(columns) = self.columns else { return self.first_record(record, range, found) };
        self.push(record, range, columns, found);
        Ok(())
    }

    /// Handles the first record, which has the names of the columns or is an ordinary record.
    fn first_record(&mut self, record: &[u8], range: Range<usize>, found: &mut Found) -> Result<(), String> {
        let columns = self.columns_of(self.without_mark(record))?;
        self.columns = Some(columns);
        if self.has_header {
            self.header = Some(record.to_vec());
        } else {
            self.push(record, range, columns, found);
        }
        Ok(())
    }

    /// Finds the key's column, given the first record.
    fn columns_of(&self, record: &[u8]) -> Result<Columns, String> {
        let width = fields(record, self.delimiter).count();
        let Column::Named(wanted) = &self.column else { return Ok(Columns { width, key: None }) };
        let numbered = wanted.parse().ok().filter(|number| (1..=width).contains(number)).map(|number| number - 1);
        let has_name = |(nth, field): (usize, Written<'_>)| (field.name() == *wanted).then_some(nth);
        let mut named = fields(record, self.delimiter).enumerate().filter_map(has_name).filter(|_| self.has_header);
        let (first, second) = (named.next(), named.next());
        // If the name is a number, too, there is no other way to choose a column.
        if let (Some(first), Some(second), None) = (first, second, numbered) {
            return Err(format!(
                "there are several columns `{wanted}`, such as columns {} and {}; give the number of the key's column with --column",
                first + 1,
                second + 1
            ));
        }
        if let key @ Some(_) = first.or(numbered) {
            return Ok(Columns { width, key });
        }
        if !self.has_header {
            return Err(format!("there is no column {wanted}; without a header, a column is given by its number, from 1 to {width}"));
        }
        let remark = if width == 1 && record.contains(&b'\t') {
            "; fields are separated by TABs here: add --delimiter '\\t'"
        } else if width == 1 && record.contains(&b';') && !record.contains(&b'"') {
            "; fields are separated by semicolons here: add --delimiter ';'"
        } else if wanted.bytes().all(|byte| byte.is_ascii_digit()) {
            "; a number counts the columns from 1"
        } else if wanted.contains(',') {
            ". --column takes the name of one column; for a key that consists of several fields, use -f, which does not interpret quotes"
        } else {
            ""
        };
        let wanted = on_one_line(wanted);
        Err(format!("there is no column `{wanted}`; the columns are {}{remark}", listed(record, self.delimiter)))
    }

    fn push(&mut self, record: &[u8], range: Range<usize>, columns: Columns, found: &mut Found) {
        let start = found.keys.len();
        let pushed = match columns.key {
            None if !self.hex => {
                found.push(range.clone(), range.clone());
                Ok(())
            }
            Some(key) => match fields(record, self.delimiter).nth(key) {
                Some(field) => {
                    field.append(&mut found.keys);
                    found.push_copied(range.clone(), start, self.hex)
                }
                None => Err(format!("has only {} of {} fields", fields(record, self.delimiter).count(), columns.width)),
            },
            None => Err("as a whole is not a hexadecimal key; name the key's column with --column".to_owned()),
        };
        self.tell(pushed, range, found);
    }

    /// Sets the number of the record that was just added, or rejects the record.
    #[inline]
    fn tell(&self, pushed: Result<(), String>, record: Range<usize>, found: &mut Found) {
        match pushed {
            Ok(()) => found.number_last(self.number),
            Err(why) => found.reject(record, self.number, why),
        }
    }
}

/// Consecutive lines of a record, of which the first begins within quotes. These lines go up to the
/// line that decides where the record ends: the quotes are closed at the end of this line, or text
/// follows a closing quote in it.
///
/// If the record is given up, a new record may begin in one of its later lines and be open at the
/// end of that line. The continuation of the new record is then a part of the same lines, up to the
/// same last line. For this reason, each line is examined only once: when the beginning moves past
/// a line, the line's delimiters are subtracted from the sum.
#[derive(Default)]
struct Quoted {
    /// The position of the first of these lines, and the position after the last.
    at: usize,
    next: usize,
    delimiters: usize,
    is_closed: bool,
    is_misquoted: bool,
    /// Whether the line after the last one was already examined without finding its end, which has
    /// not been read yet.
    is_unread: bool,
}

impl Quoted {
    fn is_found(&self) -> bool {
        self.is_closed || self.is_misquoted
    }

    /// Moves the beginning to a later line, which begins within quotes.
    fn go_to(&mut self, at: usize, text: &[u8], delimiter: u8) {
        let is_crossed = self.at <= at && (at < self.next || at == self.next && !self.is_found());
        if !is_crossed {
            *self = Quoted { at, next: at, ..Quoted::default() };
        }
        while self.at < at {
            let end = line_end(text, self.at).unwrap_or(text.len());
            self.delimiters -= Part::of(&text[self.at..end], true, delimiter).delimiters;
            self.at = end + 1;
        }
    }

    /// Adds the next line, which ends at `end`.
    fn cross(&mut self, end: usize, text: &[u8], delimiter: u8) {
        let line = Part::of(&text[self.next..end], true, delimiter);
        self.delimiters += line.delimiters;
        (self.is_closed, self.is_misquoted) = (!line.is_open, line.is_misquoted);
        self.next = end + 1;
    }

    /// Makes all positions relative to `start`.
    fn begins_at(&mut self, start: usize) {
        (self.at, self.next) = (self.at.saturating_sub(start), self.next.saturating_sub(start));
    }
}
