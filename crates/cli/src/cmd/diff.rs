//! `truebloom diff`: computes the difference between two states of a filter.

use crate::failure::Failure;
use crate::held::{self, Held, format_error};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::wire;

const EXAMPLES: &str = "\
Examples:
  truebloom diff monday.tbl tuesday.tbl > news
  truebloom apply monday.tbl news                      now monday.tbl equals tuesday.tbl

A difference can update copies of a filter on other machines. It contains only the bits that differ, compressed. Both files must be states of the same filter, at different times.
A filter that grows may have more layers in the later state.";

/// Write the difference between an earlier and a later state of a filter
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The earlier state
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The later state
    #[arg(value_name = "NEW")]
    new: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if std::io::stdout().is_terminal() {
        return Err(Failure::new(
            "a difference is not text, so it is not written to a terminal; write it to a file with `> FILE`, or pipe it into another command",
        ));
    }
    let (old, new) = (Held::open(&args.old)?, Held::open(&args.new)?);
    // Errors are reported for the file that has them. No difference is made that `apply` would
    // refuse.
    for (path, bytes) in [(&args.old, &old), (&args.new, &new)] {
        held::look_at(bytes.clone()).map_err(|cause| format_error(path, cause))?;
    }
    let difference = wire::difference(old.as_ref(), new.as_ref()).map_err(|cause| format_error(&args.new, cause))?;
    let mut out = crate::output::stdout();
    out.write_all(&difference)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
