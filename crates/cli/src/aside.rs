//! Reports of subcommands that print lines. Because standard output has the lines, a report goes to
//! standard error or to a file.
//!
//! A report is written after all lines. If it will replace a file, that file is checked at the
//! beginning: it must be an older report, and not a file that this run reads or writes.

use crate::failure::{Failure, Shown};
use crate::report::Report;
use crate::{lock, output};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use truebloom::file::{Expected, check_target};

/// The JSON member that marks a file as a report.
const MARK: &str = "report";

/// The subcommands that write reports.
const VERBS: [&str; 2] = ["check", "dedup"];

/// The largest size of a report.
const LONGEST: u64 = 16 << 20;

/// The destination of a report about an output of lines.
#[derive(clap::Args)]
pub(crate) struct ReportTo {
    /// At the end, report on standard error how many lines were read, and how many answers are
    /// expected to be wrong. --report=FILE writes the report to a file instead, as one JSON object
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    report: Option<PathBuf>,
}

impl ReportTo {
    /// Whether a report was requested.
    pub(crate) fn is_asked(&self) -> bool {
        self.report.is_some()
    }

    /// Whether the report goes to a file.
    pub(crate) fn has_file(&self) -> bool {
        self.file().is_some()
    }

    fn file(&self) -> Option<&Path> {
        self.report.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Reserves the report's file, if there is one: it must be an older report, or not exist.
    /// Refuses a file that cannot be written, or that this run also reads or writes: an input, an
    /// output, or one of the `others`.
    pub(crate) fn reserve(&self, inputs: &[PathBuf], others: &[&Path]) -> Result<Reserved, Failure> {
        let Some(path) = self.file() else { return Ok(Reserved { file: None, aside: self.is_asked() }) };
        let fail = |why: &dyn std::fmt::Display| {
            Err(Failure::at(path, format_args!("cannot write the report to this file: {why}; name another file")))
        };
        lock::check_name(path)?;
        if let Some(input) = crate::inputs::same_file(path, inputs) {
            return fail(&format_args!("it is read as an input ({})", crate::inputs::name(input).shown()));
        }
        if let Some(other) = others.iter().find(|other| lock::is_same_place(path, other)) {
            return fail(&format_args!("this run also uses it under the name {}", other.shown()));
        }
        if let Some(stream) = output::stream_to(path) {
            return fail(&format_args!("{stream} is written to it"));
        }
        check_target(path).map_err(Failure::from)?;
        if !path.exists() {
            return Ok(Reserved { file: Some((path.to_owned(), None)), aside: false });
        }
        let there = lock::locked(path, "is going to write its report to this file")?;
        match is_report(&there) {
            Ok(true) => Ok(Reserved { file: Some((path.to_owned(), Some(there))), aside: false }),
            Ok(false) => Err(Failure::at(
                path,
                "this is not a report, and only reports are replaced; choose another name, or remove the file if it is not needed",
            )),
            Err(error) => Err(Failure::at(path, error)),
        }
    }
}

/// Whether the file contains nothing but a report, so that it can be replaced. This is the case if
/// the file is empty, or consists of one object that this command has marked as a report.
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

/// The destination of a report that is written later.
pub(crate) struct Reserved {
    /// The name of the file, and the locked file that is replaced, if there is one.
    file: Option<(PathBuf, Option<File>)>,
    /// Whether the report goes to standard error.
    aside: bool,
}

impl Reserved {
    /// Writes the report, if one was requested. If another program has created a file under the
    /// same name in the meantime, that file is not replaced.
    pub(crate) fn write(&self, report: &Report) -> Result<(), Failure> {
        if self.aside {
            return print_aside(report, false);
        }
        let Some((path, there)) = &self.file else { return Ok(()) };
        if there.is_none() && path.symlink_metadata().is_ok() {
            return Err(Failure::at(
                path,
                "another program created this file during this run, so it is not replaced, and the report is lost; name another file",
            ));
        }
        let mut fields = report.fields().clone();
        fields.insert(MARK.to_owned(), true.into());
        let expected = there.as_ref().map_or(Expected::Nothing, Expected::Only);
        output::write_whole(path, expected, format!("{}\n", Value::Object(fields)).as_bytes())
    }
}

/// Prints a report to standard error. It is not an error if the reader has closed the pipe.
pub(crate) fn print_aside(report: &Report, json: bool) -> Result<(), Failure> {
    match report.print_aside(json) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format_args!("cannot write the report to standard error: {error}; to write it to a file, give --report=FILE")))
        }
        _ => Ok(()),
    }
}
