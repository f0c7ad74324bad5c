//! Reports beside an output of lines: on standard error, or in a file of their own.
//!
//! A report is written when all lines are, so that what it may replace is decided at the beginning:
//! nothing but an older report, and never a file that this run reads or writes.

use crate::failure::Failure;
use crate::report::Report;
use crate::{lock, output, records};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use truebloom::file::{Expected, check_target};

/// The member by which a report in a file is known again.
const MARK: &str = "report";

/// The verbs that write reports.
const VERBS: [&str; 2] = ["check", "dedup"];

/// No report is longer.
const LONGEST: u64 = 16 << 20;

/// Where a report goes that comes beside an output of lines.
#[derive(clap::Args)]
pub(crate) struct ReportTo {
    /// Report at the end, on standard error, what was read and how much of the output may be wrong;
    /// --report=FILE writes it to a file, as one JSON object
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    report: Option<PathBuf>,
}

impl ReportTo {
    /// Whether a report is wanted at all.
    pub(crate) fn is_asked(&self) -> bool {
        self.report.is_some()
    }

    /// Whether it goes to a file.
    pub(crate) fn has_file(&self) -> bool {
        self.file().is_some()
    }

    fn file(&self) -> Option<&Path> {
        self.report.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Reserves the file, if there is to be one: an older report, or no file yet. Refuses one that
    /// could not be written, and one that this run reads or writes otherwise: an input, an output,
    /// or one of the `others`.
    pub(crate) fn reserve(&self, inputs: &[PathBuf], others: &[&Path]) -> Result<Reserved, Failure> {
        let Some(path) = self.file() else { return Ok(Reserved { file: None, aside: self.is_asked() }) };
        let fail =
            |why: &dyn std::fmt::Display| Err(Failure::at(path, format_args!("cannot take the report: {why}; name another file for it")));
        lock::check_name(path)?;
        if let Some(input) = records::same_file(path, inputs) {
            return fail(&format_args!("it is read as an input ({})", records::name(input).display()));
        }
        if let Some(other) = others.iter().find(|other| lock::is_same_place(path, other)) {
            return fail(&format_args!("this run needs it as {}", other.display()));
        }
        if let Some(stream) = output::stream_to(path) {
            return fail(&format_args!("{stream} goes there"));
        }
        check_target(path).map_err(Failure::from)?;
        if !path.exists() {
            return Ok(Reserved { file: Some((path.to_owned(), None)), aside: false });
        }
        let there = lock::locked(path, "is going to write its report there")?;
        match is_report(&there) {
            Ok(true) => Ok(Reserved { file: Some((path.to_owned(), Some(there))), aside: false }),
            Ok(false) => Err(Failure::at(
                path,
                "is not a report, and only a report is replaced; choose another name, or remove it yourself if it is not needed",
            )),
            Err(error) => Err(Failure::at(path, error)),
        }
    }
}

/// Whether nothing is lost with this file but a report: it is empty, or all of it is one object
/// that this command has marked as one.
fn is_report(file: &File) -> io::Result<bool> {
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text)?;
    if text.is_empty() {
        return Ok(true);
    }
    let Ok(found) = serde_json::from_slice::<Map<String, Value>>(&text) else { return Ok(false) };
    let is_ours = found.get("verb").and_then(Value::as_str).is_some_and(|verb| VERBS.contains(&verb));
    Ok(is_ours && found.get(MARK) == Some(&Value::Bool(true)))
}

/// The place of a report that is to come.
pub(crate) struct Reserved {
    /// The file, and the one that it replaces, which is locked.
    file: Option<(PathBuf, Option<File>)>,
    /// Whether it goes to standard error.
    aside: bool,
}

impl Reserved {
    /// Writes the report, if one was asked for. What appeared under its name meanwhile is no report
    /// of ours, and stays.
    pub(crate) fn write(&self, report: &Report) -> Result<(), Failure> {
        if self.aside {
            return print_aside(report, false);
        }
        let Some((path, there)) = &self.file else { return Ok(()) };
        if there.is_none() && path.symlink_metadata().is_ok() {
            return Err(Failure::at(
                path,
                "appeared while the lines were read, so it stays as it is, and the report is lost; name another file for it",
            ));
        }
        let mut fields = report.fields().clone();
        fields.insert(MARK.to_owned(), true.into());
        let expected = there.as_ref().map_or(Expected::Nothing, Expected::Only);
        output::write_whole(path, expected, format!("{}\n", Value::Object(fields)).as_bytes())
    }
}

/// Prints a report to standard error. A reader that has gone had enough.
pub(crate) fn print_aside(report: &Report, json: bool) -> Result<(), Failure> {
    match report.print_aside(json) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format_args!("cannot write the report to standard error: {error}; --report=FILE writes it to a file")))
        }
        _ => Ok(()),
    }
}
