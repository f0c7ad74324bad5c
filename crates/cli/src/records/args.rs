//! The options of the subcommands that read records.

use super::csv::{Column, Csv};
use super::json;
use super::key::{Fields, KeyOf, decode_hex};
use super::source::Reading;
use super::split::{Ends, Split};
use super::splitter::Splitter;
use crate::args::{bytes, count};
use crate::failure::{Failure, Shown, note};
use crate::report::Report;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The smallest and the largest value of `--max-record`. The largest value keeps offsets within 32
/// bits.
const MAX_RECORD: (u64, u64) = (1, 1 << 30);

/// The largest number of threads; there is a limit because each thread needs memory.
const MOST_THREADS: usize = 256;

/// How bytes are divided into records, and where the key of a record is.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Records and keys")]
pub(crate) struct RecordArgs {
    /// Records end with NUL instead of a newline, in the input and in the output
    #[arg(short = '0', long = "null", conflicts_with_all = ["crlf", "csv", "json_field", "fixed"])]
    pub(super) null: bool,

    /// Lines end with CR LF, in the input and in the output
    #[arg(long, conflicts_with_all = ["fixed"])]
    pub(super) crlf: bool,

    /// The key is this field or these fields, such as 2 or 1,3 or 2-4; the first field is 1, as in
    /// `cut`
    #[arg(short = 'f', long, value_name = "LIST", conflicts_with_all = ["csv", "json_field", "fixed"])]
    pub(super) field: Option<Fields>,

    /// Character that separates fields [default: TAB; with --csv, a comma]
    #[arg(short = 'd', long, value_name = "CHAR", value_parser = delimiter)]
    pub(super) delimiter: Option<u8>,

    /// Fields are separated by runs of spaces and TABs, as in awk; requires -f
    #[arg(long, requires = "field", conflicts_with_all = ["delimiter", "csv", "column", "json_field", "fixed"])]
    pub(super) blanks: bool,

    /// Records are comma-separated values, with quotes as in RFC 4180; the first record names the
    /// columns. Without --column, the key is the record as it is written, with its quotes
    #[arg(long)]
    pub(super) csv: bool,

    /// The key is this CSV column, by name or number; implies --csv
    #[arg(long, value_name = "NAME", conflicts_with_all = ["null", "field", "json_field", "fixed"])]
    pub(super) column: Option<String>,

    /// The first CSV record is data, not a header
    #[arg(long)]
    pub(super) no_header: bool,

    /// Lines are JSON; the key is this member: .name, .outer.inner or ."with.dot"
    #[arg(long, value_name = "PATH", conflicts_with_all = ["csv", "fixed"])]
    pub(super) json_field: Option<json::Path>,

    /// Use whole lines as keys, even if the keys of an existing filter were read in another way
    #[arg(long, conflicts_with_all = ["null", "crlf", "field", "delimiter", "csv", "column", "no_header", "json_field", "hex", "fixed"])]
    pub(super) lines: bool,

    /// Keys are written as hexadecimal digits, two for each byte
    #[arg(long)]
    pub(super) hex: bool,

    /// Records are keys of N bytes each, with nothing between them
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "csv")]
    pub(super) fixed: Option<u64>,

    /// Skip records that are longer than this, and report them
    #[arg(long, value_name = "BYTES", value_parser = max_record, default_value = "4MiB")]
    pub(super) max_record: u64,

    /// Do not decompress inputs; by default, .gz and .zst are decompressed
    #[arg(long)]
    pub(super) as_is: bool,

    /// Find records, hash keys and look them up with N threads (0: one per processor); the output
    /// keeps the order of the input
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, default_value = "1")]
    pub(super) threads: usize,

    /// Show no progress
    #[arg(long)]
    pub(super) no_progress: bool,
}

/// Whether this is the name of a CSV file, compressed or not.
fn names_csv(path: &Path) -> bool {
    let has = |name: &Path, ending: &str| name.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
    has(path, "csv")
        || ["gz", "zst"].iter().any(|packed| has(path, packed)) && path.file_stem().is_some_and(|stem| has(Path::new(stem), "csv"))
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        _ => Err(format!("`{text}` is not one byte; write one plain character, or \\t for a TAB")),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|number| *number <= MOST_THREADS)
        .ok_or_else(|| format!("`{text}` is not a number of threads; give one from 1 to {MOST_THREADS}, or 0 for one per processor"))
}

fn max_record(text: &str) -> Result<u64, String> {
    let (least, most) = MAX_RECORD;
    bytes(text)?
        .checked_sub(least)
        .map(|size| size + least)
        .filter(|size| *size <= most)
        .ok_or_else(|| format!("`{text}` is not a length for --max-record; give a length from {least} byte to 1GiB"))
}

impl RecordArgs {
    pub(super) fn splitter(&self) -> Result<Splitter, Failure> {
        if self.no_header && !self.is_csv() {
            return Err(Failure::new("only CSV has a header: add --csv, or leave --no-header out"));
        }
        if self.delimiter.is_some() && self.field.is_none() && !self.is_csv() {
            return Err(Failure::new("--delimiter is only for keys in fields: also give the number of the key's field with -f"));
        }
        let most = self.max_record as usize;
        if let (true, Some(delimiter @ (b'"' | b'\n' | b'\r'))) = (self.is_csv(), self.delimiter) {
            let name = if delimiter == b'"' { "a quote" } else { "the end of a line" };
            return Err(Failure::new(format_args!(
                "{name} cannot separate CSV fields, because it has another meaning in CSV; give another character with --delimiter"
            )));
        }
        if self.is_csv() {
            let column = self.column.clone().map_or(Column::Record, Column::Named);
            return Ok(Splitter::Csv(Box::new(Csv::new(
                self.delimiter.unwrap_or(b','),
                column,
                !self.no_header,
                self.hex,
                most,
                self.terminator(),
            ))));
        }
        let key_of = match (&self.field, &self.json_field) {
            (Some(fields), _) if self.blanks => KeyOf::Words(fields.clone()),
            (Some(fields), _) => KeyOf::Fields { delimiter: self.delimiter.unwrap_or(b'\t'), fields: fields.clone() },
            (_, Some(path)) => KeyOf::Member(Box::new(json::Member::new(path.clone()))),
            _ => KeyOf::Record,
        };
        Ok(Splitter::Plain(Split::new(self.ends()?, key_of, self.hex, most, self.terminator())))
    }

    /// Whether records are CSV; an option that names a column implies this.
    pub(super) fn is_csv(&self) -> bool {
        self.csv || self.column.is_some()
    }

    /// The first input with the name of a CSV file, if no option says what the keys are.
    pub(crate) fn lines_of_csv<'a>(&self, inputs: &'a [PathBuf]) -> Option<&'a PathBuf> {
        inputs.iter().find(|path| names_csv(path)).filter(|_| !self.says_what_keys_are())
    }

    /// Says that the keys are whole lines if an input is CSV, and no option says what the keys are.
    pub(crate) fn note_names(&self, inputs: &[PathBuf]) {
        if let Some(path) = self.lines_of_csv(inputs) {
            note(format_args!(
                "whole lines of {} are the keys; to use one of its columns, add --column NAME; to hide this message, add --lines",
                path.shown()
            ));
        }
    }

    /// Adds a line that says that the first record was not a key, if it names the columns.
    pub(crate) fn add_header(&self, report: &mut Report) {
        if self.is_csv() && !self.no_header {
            report
                .line("header", "the first record of each input is read as the column names, not as a key; for inputs without a header, give --no-header and the number of the column");
        }
    }

    fn ends(&self) -> Result<Ends, Failure> {
        match self.fixed {
            Some(length) if length == 0 || length > self.max_record => Err(Failure::new(format_args!(
                "keys cannot have {length} bytes; give --fixed a length from 1 to {}, the value of --max-record",
                self.max_record
            ))),
            Some(length) => Ok(Ends::Length(length as usize)),
            None => Ok(Ends::Byte { byte: if self.null { 0 } else { b'\n' }, crlf: self.crlf }),
        }
    }

    /// The bytes that end a record in the output.
    pub(crate) fn terminator(&self) -> &'static [u8] {
        match (self.fixed, self.null, self.crlf) {
            (Some(_), ..) => b"",
            (_, true, _) => b"\0",
            (_, _, true) => b"\r\n",
            _ => b"\n",
        }
    }

    /// Whether the command could also be run with `--crlf`, and this would remove a carriage return
    /// from the end of a key.
    pub(super) fn may_strip_returns(&self) -> bool {
        !self.crlf && !self.null && !self.hex && !self.is_csv() && self.json_field.is_none() && self.fixed.is_none()
    }

    /// The word that messages use for a record: `line`, unless records are not lines.
    pub(crate) fn noun(&self) -> &'static str {
        if self.fixed.is_some() {
            "key"
        } else if self.is_csv() || self.null {
            "record"
        } else {
            "line"
        }
    }

    /// Returns the key that an argument of the command line gives. If keys are hexadecimal, the key
    /// is the bytes that the digits represent.
    pub(crate) fn key_of_argument<'a>(&self, text: &'a [u8]) -> Result<Cow<'a, [u8]>, Failure> {
        if !self.hex {
            return Ok(Cow::Borrowed(text));
        }
        let mut bytes = text.to_vec();
        decode_hex(&mut bytes, 0).map_err(|_| {
            Failure::new(format_args!(
                "`{}` is not an even number of hexadecimal digits; to use the text itself as the key, add --lines",
                String::from_utf8_lossy(text)
            ))
        })?;
        Ok(Cow::Owned(bytes))
    }

    /// Whether progress may be shown.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.no_progress
    }

    /// The number of threads that find records.
    pub(crate) fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, |number| number.get().min(MOST_THREADS)),
            number => number,
        }
    }

    /// How inputs are read. Keys of a fixed length may begin with any bytes, even those that mark a
    /// compressed file, so they are read as they are.
    pub(super) fn reading(&self) -> Reading {
        Reading { as_is: self.as_is || self.fixed.is_some(), ends_by_nul: self.null }
    }

    /// Returns options for plain lines of at most this many bytes.
    pub(crate) fn lines(max_record: u64) -> RecordArgs {
        RecordArgs {
            null: false,
            crlf: false,
            field: None,
            delimiter: None,
            blanks: false,
            csv: false,
            column: None,
            no_header: false,
            json_field: None,
            lines: false,
            hex: false,
            fixed: None,
            max_record,
            as_is: true,
            threads: 1,
            no_progress: true,
        }
    }
}
