//! Files that are not Bloom filters: the fields of their headers, and, for states of `dedup` and
//! sketches of `count`, what they hold and guarantee.

use crate::cmd::{count, dedup};
use crate::failure::Failure;
use crate::held::{Held, format_error};
use crate::report::{Report, bytes, plural};
use std::path::Path;
use truebloom::{FileHeader, FileKind};

/// The report about a file with this name and these bytes.
pub(super) fn report(name: &Path, held: &Held, kind: FileKind) -> Result<Report, Failure> {
    let fail = |error| Failure::from(format_error(name, error));
    let header = FileHeader::from_bytes(held.as_ref()).map_err(fail)?;
    let mut report = Report::new("info");
    report.field("kind", kind.to_string()).field("seed", header.seed().to_string());
    report
        .field("bits", header.bits())
        .field("probes", header.probes())
        .field("offered", header.offered())
        .field("file_bytes", header.file_bytes());
    let (size, hash) = (bytes(header.file_bytes()), format!("seed {}", header.seed()));
    let probes = header.probes().into();
    match kind {
        FileKind::CountMin | FileKind::TwoHashCountMin => {
            report.line("sketch", format!("{kind}, {} of {}, {size}", plural(probes, "row"), plural(header.bits(), "counter")));
            report.line("hash", hash);
            if !count::describe(held.as_ref(), &mut report).map_err(fail)? {
                report.line("counted", plural(header.offered(), "record"));
                add_library_only(&mut report);
            }
        }
        FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase | FileKind::RecyclingBlocked => {
            report.line("state", format!("{kind}, {} per phase, {}, {size}", plural(header.bits(), "bit"), plural(probes, "probe")));
            report.line("hash", hash);
            if !dedup::describe(name, held.as_ref(), &mut report)? {
                report.line("counted", plural(header.offered(), "item"));
                add_library_only(&mut report);
            }
        }
        _ => {
            report
                .line("file", format!("{kind}, each with {} and {}, {size} in all", plural(header.bits(), "bit"), plural(probes, "probe")));
            report.line("hash", hash);
            add_library_only(&mut report);
        }
    }
    Ok(report)
}

/// Adds a note for kinds of files that no subcommand writes: the command describes only their
/// header, and reading their contents takes the library.
fn add_library_only(report: &mut Report) {
    report.line("usable", "only by programs that use the crate `truebloom`, not by this command");
}
