//! The records selected so far, and where they are printed.

use super::Args;
use super::asked::{Asked, Together};
use crate::inputs::is_stdin;
use crate::records::{Answers, Batch, RecordArgs, count_selected, is_selected};
use crate::report::key_fields;
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Counts selected records, and prints them in one of three forms.
pub(super) struct Selection<'a, W: Write> {
    args: &'a Args,
    /// The inputs, and the number of those that have been read.
    inputs: &'a [PathBuf],
    input: usize,
    /// The number of records selected before the current input.
    before: u64,
    /// The number of inputs whose names were printed.
    pub(super) listed: u64,
    records: &'a RecordArgs,
    asked: &'a Asked,
    pub(super) out: W,
    pub(super) selected: u64,
    /// The number of records selected by each filter, if that was requested.
    pub(super) by_each: Vec<u64>,
    header: bool,
    form: Form,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Counts the records without printing them.
    Silent,
    Records,
    /// Prints the names of filters before each record.
    Named,
    /// Prints the name of the input, or the record's number in it, before each record.
    Prefixed,
    /// Prints elements of a list in a JSON object, which is closed at the end.
    Json,
}

impl<'a, W: Write> Selection<'a, W> {
    pub(super) fn new(
        args: &'a Args,
        inputs: &'a [PathBuf],
        records: &'a RecordArgs,
        asked: &'a Asked,
        mut out: W,
    ) -> io::Result<Selection<'a, W>> {
        let form = match (args.quiet || args.count || args.lists_inputs(), args.json, asked.together) {
            (true, ..) => Form::Silent,
            (_, true, _) => Form::Json,
            _ if args.with_filename || args.line_number => Form::Prefixed,
            (_, _, Some(Together::Each)) => Form::Named,
            _ => Form::Records,
        };
        if form == Form::Json {
            write!(out, "{{\"verb\":\"check\",\"answers\":[")?;
        }
        let by_each = vec![0; asked.filters.len()];
        Ok(Selection { args, inputs, input: 0, before: 0, listed: 0, records, asked, out, selected: 0, by_each, header: false, form })
    }

    /// Returns the name of the current input.
    fn input(&self) -> String {
        let path = self.inputs.get(self.input).map_or(Path::new("-"), PathBuf::as_path);
        if is_stdin(path) { "(standard input)".to_owned() } else { path.display().to_string() }
    }

    /// Ends an input; another one may follow. If the input could not be read to its end, this
    /// prints nothing that the unread lines might contradict; the problem was already reported.
    pub(super) fn end_input(&mut self, is_read: bool) -> io::Result<()> {
        let selected = self.selected - self.before;
        let end = if self.records.terminator() == b"\0" { "\0" } else { "\n" };
        if !self.args.quiet && (self.args.files_with_matches && selected > 0 || self.args.files_without_match && selected == 0 && is_read) {
            self.listed += 1;
            write!(self.out, "{}{end}", self.input())?;
        }
        if self.args.count && self.args.with_filename && !self.args.quiet && is_read {
            write!(self.out, "{}:{selected}{end}", self.input())?;
        }
        (self.input, self.before) = (self.input + 1, self.selected);
        Ok(())
    }

    pub(super) fn add(&mut self, batch: Batch<'_>, answers: &Answers) -> io::Result<()> {
        let before = self.selected;
        self.selected += count_selected(&answers.contained);
        if self.asked.together == Some(Together::Each) {
            self.by_each.iter_mut().zip(&answers.each).for_each(|(sum, words)| *sum += count_selected(words));
        }
        match self.form {
            Form::Silent => Ok(()),
            Form::Records => self.print(batch, &answers.contained),
            Form::Prefixed => self.print_prefixed(batch, &answers.contained),
            Form::Named => self.print_named(batch, answers),
            Form::Json => self.print_json(batch, answers, before > 0),
        }
    }

    /// Prints the selected records. Adjacent records are written in one call.
    fn print(&mut self, batch: Batch<'_>, selected: &[u64]) -> io::Result<()> {
        let end = self.records.terminator();
        if self.args.only_key {
            return batch.write_selected_keys(selected, end, &mut self.out);
        }
        batch.write_selected(selected, end, &mut self.out)
    }

    /// Prints the name of the input and the record's number in it, if requested, each with a colon,
    /// and then the record.
    fn print_prefixed(&mut self, batch: Batch<'_>, selected: &[u64]) -> io::Result<()> {
        let (end, input) = (self.records.terminator(), if self.args.with_filename { self.input() + ":" } else { String::new() });
        for ((record, key), index) in batch.iter().zip(0..).filter(|(_, index)| is_selected(selected, *index)) {
            self.out.write_all(input.as_bytes())?;
            if self.args.line_number {
                write!(self.out, "{}:", batch.number(index))?;
            }
            self.out.write_all(if self.args.only_key { key } else { record })?;
            self.out.write_all(end)?;
        }
        Ok(())
    }

    /// Prints the names of filters, separated by commas, and then a TAB and the record.
    fn print_named(&mut self, batch: Batch<'_>, answers: &Answers) -> io::Result<()> {
        let end = self.records.terminator();
        for ((record, key), index) in batch.iter().zip(0..).filter(|(_, index)| is_selected(&answers.contained, *index)) {
            for (nth, name) in names(self.asked, answers, index).enumerate() {
                write!(self.out, "{}{name}", if nth > 0 { "," } else { "" })?;
            }
            self.out.write_all(b"\t")?;
            self.out.write_all(if self.args.only_key { key } else { record })?;
            self.out.write_all(end)?;
        }
        Ok(())
    }

    /// Prints elements of the JSON list immediately, because there may be more of them than fit in
    /// memory.
    fn print_json(&mut self, batch: Batch<'_>, answers: &Answers, mut follows: bool) -> io::Result<()> {
        for ((_, key), index) in batch.iter().zip(0..).filter(|(_, index)| is_selected(&answers.contained, *index)) {
            let mut fields = Map::new();
            let (text, hex) = key_fields(key);
            fields.insert("key".to_owned(), text);
            fields.insert("hex".to_owned(), hex);
            if self.args.line_number {
                fields.insert("line".to_owned(), batch.number(index).into());
            }
            if self.asked.together == Some(Together::Each) {
                fields.insert("filters".to_owned(), names(self.asked, answers, index).collect::<Vec<_>>().into());
            }
            write!(self.out, "{}{}", if follows { "," } else { "" }, Value::Object(fields))?;
            follows = true;
        }
        Ok(())
    }

    /// Closes the JSON object with its last members.
    pub(super) fn finish(&mut self, rest: &Map<String, Value>) -> io::Result<()> {
        if self.form == Form::Json {
            let rest =
                Value::Object(rest.iter().filter(|(name, _)| *name != "verb").map(|(name, value)| (name.clone(), value.clone())).collect());
            writeln!(self.out, "],{}", &rest.to_string()[1..])?;
        }
        self.out.flush()
    }

    /// Prints the CSV header of the first input, so that the selected CSV records keep their column
    /// names.
    pub(super) fn add_header(&mut self, header: &[u8]) -> io::Result<()> {
        if !self.header && self.form == Form::Records && !self.args.only_key {
            self.out.write_all(header)?;
            self.out.write_all(self.records.terminator())?;
        }
        self.header = true;
        Ok(())
    }
}

/// The filters that select a record.
fn names(asked: &Asked, answers: &Answers, index: usize) -> impl Iterator<Item = String> {
    let filters = asked.filters.iter().zip(&answers.each);
    filters.filter(move |(_, words)| is_selected(words, index)).map(|((path, _), _)| path.display().to_string())
}
