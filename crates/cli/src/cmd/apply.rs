//! `truebloom apply`: updates a filter to a later state, using a difference.

use crate::failure::{Failure, Shown};
use crate::filters;
use crate::held::{Held, format_error};
use crate::inputs::name;
use crate::lock::Lock;
use crate::report::{FormatArgs, Report, bytes};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::{AnyFilter, wire};

const EXAMPLES: &str = "\
Examples:
  truebloom diff monday.tbl tuesday.tbl > news
  truebloom apply monday.tbl news

The filter must be in the same state as the earlier file had when `truebloom diff` ran. Otherwise, the difference is refused, and the filter stays unchanged.";

/// Update a filter to a later state, using the difference that `diff` wrote
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter to change
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// The difference that `diff` wrote; `-` for standard input
    #[arg(value_name = "DIFFERENCE")]
    difference: PathBuf,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    // The input is read before the filter is locked: until then, a signal ends the program, and
    // other processes can use the filter.
    let (difference, name) = (Held::of_input(&args.difference)?, name(&args.difference));
    let lock = Lock::of(&args.filter)?;
    let old = Held::open(&args.filter)?;
    // An error in the filter must not be reported as one in the difference.
    drop(AnyFilter::from_bytes(old.as_ref()).map_err(|cause| format_error(&args.filter, cause))?);
    let new = wire::apply(old.as_ref(), difference.as_ref()).map_err(|cause| format_error(name, cause))?;
    drop(old);
    let filter = AnyFilter::from_bytes(&new).map_err(|cause| format_error(name, cause))?;
    drop(new);
    filters::save(&filter, &lock)?;
    let mut report = Report::new("apply");
    let size = difference.as_ref().len() as u64;
    report.field("filter", args.filter.display().to_string()).field("difference_bytes", size);
    report.line("applied", format!("{} to {}; the size of the difference is {}", name.shown(), args.filter.shown(), bytes(size)));
    super::add_state(&mut report, &filter)?;
    report.print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}
