//! `truebloom copy`: a second filter that can be merged with the first.

use crate::failure::Failure;
use crate::filters;
use crate::lock::Lock;
use crate::report::{FormatArgs, Report};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::Filter;

const EXAMPLES: &str = "\
Examples:
  truebloom copy seen.tbl backup.tbl
  truebloom copy --empty monday.tbl tuesday.tbl    the same plan and seed, nothing in it: the two can be merged";

/// Copy a filter, with what is in it or --empty
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter to copy
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// The filter to write
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// Copy its plan and seed, not what is in it
    #[arg(long)]
    empty: bool,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    /// Refused: a filter cannot be given another seed
    #[arg(long, value_name = "HEX")]
    seed: Option<String>,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.seed.is_some() {
        return Err(Failure::new(
            "a filter cannot be given another seed: the seed decided which bits its keys set, and the keys are not in it; \
             build a new one from the data with `truebloom create --seed`",
        ));
    }
    let lock = Lock::of_output(&args.out, args.force)?;
    let mut filter = filters::open(&args.filter)?;
    if args.empty {
        filter.clear();
    }
    filters::save(&filter, &lock)?;
    let mut report = Report::new("copy");
    report.field("filter", args.out.display().to_string()).field("from", args.filter.display().to_string()).field("empty", args.empty);
    let what = if args.empty { ", without what is in it" } else { "" };
    report.line("copied", format!("{} to {}{what}", args.filter.display(), args.out.display()));
    super::add_state(&mut report, &filter)?;
    report.print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}
