//! `truebloom doctor`: explains what is wrong with a filter file, at which byte, and what can be
//! saved.

mod diagnosis;
mod heal;
mod rebuild;

use crate::failure::{Failure, Shown};
use crate::held::Held;
use crate::report::{FormatArgs, Report, count, plural};
use diagnosis::Diagnosis;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truebloom::file::open_regular;
use truebloom::{AnyFilter, FileError, FileHeader, FileKind, FormatError, HasherId, ReadError, wire};

const EXAMPLES: &str = "\
Example:
  truebloom doctor seen.tbl

The command changes nothing. Exit code: 0 if the file is intact, 1 if something is wrong with it, 2 if it cannot be read.";

/// Explain what is wrong with a filter file, and which parts of it can still be used
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file to examine
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let found = match open(&args.file) {
        Ok(kind) => Ok(kind),
        Err(FileError::Format { cause, .. }) => Err(Diagnosis::of(&args.file, &cause).map_err(|error| Failure::at(&args.file, error))?),
        Err(error) => return Err(Failure::from(error)),
    };
    let healthy = found.is_ok();
    report(&args.file, found)?.print_as(args.format.format())?;
    Ok(ExitCode::from(u8::from(!healthy)))
}

/// Opens a file of any kind.
fn open(path: &Path) -> Result<FileKind, FileError> {
    let format = |cause| FileError::Format { path: path.to_owned(), cause };
    let read = |cause| FileError::Read { path: path.to_owned(), cause };
    let mut start = Vec::new();
    open_regular(path).and_then(|file| file.take(FileHeader::BYTES).read_to_end(&mut start)).map_err(read)?;
    if wire::is_coded(&start) {
        let held = Held::as_it_is(path).map_err(read)?;
        let file = wire::expand(held.as_ref()).map_err(format)?;
        return whole(path, || Ok(file.as_slice()));
    }
    match AnyFilter::open(path) {
        Ok(filter) => return Ok(filter.kind()),
        Err(FileError::Format { cause: FormatError::Kind { .. }, .. }) => {}
        Err(error) => return Err(error),
    }
    let kind = whole(path, || open_regular(path))?;
    // In a stream, bytes may follow a filter, but not in a file.
    let (expected, found) = heal::lengths(path).map_err(read)?;
    if found > expected { Err(format(FormatError::TooLong { expected, found })) } else { Ok(kind) }
}

/// Returns the kind of these bytes, if they are a complete file.
fn whole<R: Read>(path: &Path, bytes: impl Fn() -> io::Result<R>) -> Result<FileKind, FileError> {
    FileKind::of_whole(bytes).map_err(|error| match error {
        ReadError::Format(cause) => FileError::Format { path: path.to_owned(), cause },
        ReadError::Io(cause) => FileError::Read { path: path.to_owned(), cause },
        other => FileError::Read { path: path.to_owned(), cause: io::Error::other(other) },
    })
}

fn report(path: &Path, found: Result<FileKind, Diagnosis>) -> Result<Report, Failure> {
    let fail = |error| Failure::at(path, error);
    let file = open_regular(path).map_err(fail)?;
    let bytes = file.metadata().map_err(fail)?.len();
    let mut start = Vec::new();
    file.take(FileHeader::BYTES).read_to_end(&mut start).map_err(fail)?;
    let mut report = Report::new("doctor");
    report.field("file", path.display().to_string()).field("bytes", bytes).field("healthy", found.is_ok());
    report.line("file", format!("{}, {}", path.shown(), plural(bytes, "byte")));
    let diagnosis = match found {
        Err(diagnosis) => diagnosis,
        Ok(kind) => {
            report.field("kind", kind.to_string());
            report.line("verdict", format!("{kind}, intact: header, checksums, counts and bits agree"));
            add_parameters(&mut report, diagnosis::header(&start).as_ref());
            return Ok(report);
        }
    };
    let range = diagnosis.at.clone().map(|at| (at.start, at.end));
    report
        .field("wrong", diagnosis.wrong.clone())
        .field("first_byte", range.map(|(first, _)| first))
        .field("end_byte", range.map(|(_, end)| end));
    report.field("saved", diagnosis.saved.clone()).field("remedy", diagnosis.remedy.join("; "));
    report.line("wrong", diagnosis.wrong);
    if let Some((first, end)) = range {
        let text = if end == first + 1 {
            format!("byte {}", count(first))
        } else {
            format!("bytes {} to {}", count(first), count(end.saturating_sub(1)))
        };
        report.line("where", text);
    }
    report.line("usable", diagnosis.saved);
    add_parameters(&mut report, diagnosis.header.as_ref());
    for (nth, remedy) in diagnosis.remedy.into_iter().enumerate() {
        report.line(if nth == 0 { "do" } else { "" }, remedy);
    }
    Ok(report)
}

fn add_parameters(report: &mut Report, header: Option<&FileHeader>) {
    let Some(of) = header else { return };
    // A report about a damaged file is often shown to others, so it must not contain a secret.
    let seed = (of.hasher_id() != Some(HasherId::Sip13)).then(|| of.seed().to_string());
    let (bits, probes, offered) = (of.bits(), of.probes(), of.offered());
    report.field("bits", bits).field("probes", probes).field("seed", seed.as_deref()).field("offered", offered);
    let [bits, probes, keys] = [(bits, "bit"), (probes.into(), "probe"), (offered, "key")].map(|(number, what)| plural(number, what));
    // The number of insertions does not tell what an intersection holds, and may be unknown.
    let keys = if of.is_intersection() || offered == u64::MAX { String::new() } else { format!(", {keys} inserted") };
    let seed = seed.map_or("a secret seed".to_owned(), |seed| format!("seed {seed}"));
    report.line("header", format!("{bits}, {probes}, {seed}{keys}"));
}
