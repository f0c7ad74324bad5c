//! What was selected so far, and where it goes.

use super::Args;
use super::asked::{Asked, Together};
use crate::inputs::is_stdin;
use crate::records::{Answers, Batch, RecordArgs, count_selected, is_selected};
use crate::report::key_fields;
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Selected records, counted, and printed in one of three forms.
pub(super) struct Selection<'a, W: Write> {
    args: &'a Args,
    /// What is read, and how much of it was.
    inputs: &'a [PathBuf],
    input: usize,
    /// What was selected before the present input.
    before: u64,
    /// Inputs that were listed by name.
    pub(super) listed: u64,
    records: &'a RecordArgs,
    asked: &'a Asked,
    pub(super) out: W,
    pub(super) selected: u64,
    /// By each filter, where that is asked for.
    pub(super) by_each: Vec<u64>,
    header: bool,
    form: Form,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Counted only.
    Silent,
    Records,
    /// With the names of filters before them.
    Named,
    /// With the name of the input before them, or their number there.
    Prefixed,
    /// Elements of a list in an object that is still open.
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

    /// The name of the input that is read.
    fn input(&self) -> String {
        let path = self.inputs.get(self.input).map_or(Path::new("-"), PathBuf::as_path);
        if is_stdin(path) { "(standard input)".to_owned() } else { path.display().to_string() }
    }

    /// Another input follows.
    pub(super) fn end_input(&mut self) -> io::Result<()> {
        let selected = self.selected - self.before;
        let end = if self.records.terminator() == b"\0" { "\0" } else { "\n" };
        if !self.args.quiet && (self.args.files_with_matches && selected > 0 || self.args.files_without_match && selected == 0) {
            self.listed += 1;
            write!(self.out, "{}{end}", self.input())?;
        }
        if self.args.count && self.args.with_filename && !self.args.quiet {
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

    /// The selected records; neighbours as one piece.
    fn print(&mut self, batch: Batch<'_>, selected: &[u64]) -> io::Result<()> {
        let end = self.records.terminator();
        if self.args.only_key {
            return batch.write_selected_keys(selected, end, &mut self.out);
        }
        batch.write_selected(selected, end, &mut self.out)
    }

    /// The name of the input and the number in it, as far as they are asked for, a colon after
    /// each, and the record.
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

    /// The names of filters, joined by commas, a TAB, and the record.
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

    /// Elements of the list, as they come: there may be more of them than memory.
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

    /// Closes an object with its last members.
    pub(super) fn finish(&mut self, rest: &Map<String, Value>) -> io::Result<()> {
        if self.form == Form::Json {
            let rest =
                Value::Object(rest.iter().filter(|(name, _)| *name != "verb").map(|(name, value)| (name.clone(), value.clone())).collect());
            writeln!(self.out, "],{}", &rest.to_string()[1..])?;
        }
        self.out.flush()
    }

    /// Selected CSV records are CSV again, so they keep the names of their columns: those of the
    /// first input.
    pub(super) fn add_header(&mut self, header: &[u8]) -> io::Result<()> {
        if !self.header && self.form == Form::Records && !self.args.only_key {
            self.out.write_all(header)?;
            self.out.write_all(self.records.terminator())?;
        }
        self.header = true;
        Ok(())
    }
}

/// The filters that have selected a record.
fn names(asked: &Asked, answers: &Answers, index: usize) -> impl Iterator<Item = String> {
    let filters = asked.filters.iter().zip(&answers.each);
    filters.filter(move |(_, words)| is_selected(words, index)).map(|((path, _), _)| path.display().to_string())
}
