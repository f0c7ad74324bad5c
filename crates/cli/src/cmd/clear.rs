//! `truebloom clear`: empties a filter and keeps its plan.

use crate::cmd::dedup::State;
use crate::failure::Failure;
use crate::filters;
use crate::held::Held;
use crate::lock::Lock;
use crate::opened::Opened;
use crate::report::{FormatArgs, Report, plural, rate, rate_up};
use crate::stop;
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::recycling::Stats;
use truebloom::{AnyFilter, Filter};

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
    let (path, name) = (&args.filter, args.filter.display());
    let lock = Lock::of(path)?;
    let mut report = Report::new("clear");
    report.field("filter", name.to_string());
    match Opened::of(path, Held::open(path)?, |bytes| AnyFilter::from_bytes(bytes.as_ref()), State::from_bytes)? {
        Opened::Filter(mut filter) => {
            let offered = filter.offered();
            filter.clear();
            filters::save(&filter, &lock)?;
            report.field("forgotten", offered);
            report.line("cleared", format!("{name}, into which {} had been inserted", plural(offered, "key")));
            super::add_state(&mut report, &filter)?;
        }
        Opened::State(mut state) => {
            let offered = state.stats().offered;
            state.clear();
            let shield = stop::last_moment()?;
            lock.save(&shield, |file| state.write_to(file))?;
            report.field("forgotten", offered);
            report.line("cleared", format!("{name}, a state of `dedup` into which {} had been inserted", plural(offered, "key")));
            add_dedup_state(&mut report, &state);
        }
    }
    report.print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}

/// Adds the counts and the rate of a state of `dedup`, in the lines that a filter has, too.
fn add_dedup_state(report: &mut Report, state: &State) {
    let Stats { offered, new, .. } = state.stats();
    report.field("offered", offered).field("kept", new).field("present_fpr", state.fpr());
    report.line("holds", super::distinct(offered, new, "key"));
    report.line("rate", format!("{} now; at most {} when full", rate(state.fpr(), 4), rate_up(state.worst_fpr(), 4)));
}
