//! `truebloom clear`: empties a filter and keeps its plan.

use crate::cmd::dedup;
use crate::failure::Failure;
use crate::filters;
use crate::lock::Lock;
use crate::report::{FormatArgs, Report, plural};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::{AnyFilter, FileError, Filter, FormatError};

/// Empty a filter, but keep its size, seed and plan
#[derive(clap::Args)]
#[command(after_help = "Example:\n  truebloom clear seen.tbl")]
pub(crate) struct Args {
    /// The filter to empty, or a state of `dedup`
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let lock = Lock::of(&args.filter)?;
    let mut report = Report::new("clear");
    report.field("filter", args.filter.display().to_string());
    match AnyFilter::open(&args.filter) {
        Err(FileError::Format { cause: FormatError::Kind { found }, .. }) if dedup::is_state(found) => {
            let forgotten = dedup::clear(&args.filter, &lock)?;
            report.field("forgotten", forgotten).field("offered", 0);
            report.line(
                "cleared",
                format!("{}, a state of `dedup` to which {} had been offered", args.filter.display(), plural(forgotten, "key")),
            );
        }
        filter => clear_filter(args, filter?, &lock, &mut report)?,
    }
    report.print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}

fn clear_filter(args: &Args, mut filter: AnyFilter, lock: &Lock, report: &mut Report) -> Result<(), Failure> {
    let offered = filter.offered();
    filter.clear();
    filters::save(&filter, lock)?;
    report.field("forgotten", offered);
    report.line("cleared", format!("{}, into which {} had been inserted", args.filter.display(), plural(offered, "key")));
    super::add_state(report, &filter)
}
