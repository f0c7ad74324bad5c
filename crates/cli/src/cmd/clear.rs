//! `truebloom clear`: empties a filter and keeps its plan.

use crate::failure::Failure;
use crate::filters;
use crate::lock::Lock;
use crate::report::{FormatArgs, Report, plural};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::Filter;

/// Empty a filter, but keep its size, seed and plan
#[derive(clap::Args)]
#[command(after_help = "Example:\n  truebloom clear seen.tbl")]
pub(crate) struct Args {
    /// The filter to empty
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let lock = Lock::of(&args.filter)?;
    let mut filter = filters::open(&args.filter)?;
    let offered = filter.offered();
    filter.clear();
    filters::save(&filter, &lock)?;
    let mut report = Report::new("clear");
    report.field("filter", args.filter.display().to_string()).field("forgotten", offered);
    report.line("cleared", format!("{}, into which {} had been inserted", args.filter.display(), plural(offered, "key")));
    super::add_state(&mut report, &filter)?;
    report.print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}
