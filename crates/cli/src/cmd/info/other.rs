//! Files of other kinds than Bloom filters: what their headers say, and for states of `dedup` what they promise.

use crate::cmd::dedup;
use crate::failure::Failure;
use crate::report::{Report, bytes, count, plural};
use std::io::Read;
use std::path::Path;
use truebloom::file::open_regular;
use truebloom::{FileHeader, FileKind};

pub(super) fn report(path: &Path, kind: FileKind) -> Result<Report, Failure> {
    let fail = |error| Failure::at(path, error);
    let mut start = Vec::new();
    open_regular(path).and_then(|file| file.take(FileHeader::BYTES).read_to_end(&mut start)).map_err(fail)?;
    let header = FileHeader::from_bytes(&start).map_err(|error| Failure::at(path, error))?;
    let mut report = Report::new("info");
    report.field("kind", kind.to_string()).field("seed", header.seed().to_string());
    report
        .field("bits", header.bits())
        .field("probes", header.probes())
        .field("offered", header.offered())
        .field("file_bytes", header.file_bytes());
    let size = bytes(header.file_bytes());
    if matches!(kind, FileKind::CountMin | FileKind::TwoHashCountMin) {
        report.line("sketch", format!("{kind}, {} of {}, {size}", plural(header.probes().into(), "row"), plural(header.bits(), "counter")));
        report.line("hash", format!("seed {}", header.seed()));
        report.line("counted", plural(header.offered(), "record"));
        report.line("keys", "`truebloom count show` lists the most frequent ones");
        return Ok(report);
    }
    report.line("state", format!("{kind}, {} a phase, {}, {size}", plural(header.bits(), "bit"), plural(header.probes().into(), "probe")));
    report.line("hash", format!("seed {}", header.seed()));
    report.line("offered", format!("{} lines", count(header.offered())));
    dedup::describe(path, &mut report)?;
    Ok(report)
}
