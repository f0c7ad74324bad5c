//! `truebloom insert`: inserts more records into an existing filter.

use crate::failure::{Failure, warn};
use crate::filters;
use crate::lock::Lock;
use crate::records::{self, Extraction, Limits, RecordArgs, Records};
use crate::report::{Report, plural};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::{AnyFilter, Filter};

const EXAMPLES: &str = "\
Examples:
  truebloom insert seen.tbl new.txt
  truebloom insert --strict seen.tbl new.txt           fails if the plan would be exceeded
  truebloom insert seen.tbl --csv --column email users.csv

The filter file is replaced in one step, after all input has been read. If a signal ends the command, the file stays unchanged. It also stays unchanged if the lines cannot be inserted, for example if --strict refuses them.
Only one process at a time may change a filter. Inserting a line again sets no further bits.
A filter stores how its keys were read (-f, --column and similar options), and `insert` reads keys in the same way. If you give such options, this run uses them and not the stored ones; with --lines, keys are whole lines.";

/// Insert lines into an existing filter
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter to change
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// Files of lines; with `-` or no file, read standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Insert only if the filter is then guaranteed to hold at most the planned number of items;
    /// otherwise, fail, and leave the file unchanged
    #[arg(long)]
    strict: bool,

    /// Refuse to let a filter grow beyond this: 64MiB, 2GB. By default, the limit is the
    /// available memory
    #[arg(long, value_name = "BYTES", value_parser = crate::args::bytes, allow_hyphen_values = true)]
    max_memory: Option<u64>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    records: RecordArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if records::is_terminal(&args.inputs) {
        return Err(Failure::new("there is nothing to read: name files, or pipe lines in"));
    }
    let lock = Lock::of(&args.filter)?;
    let mut filter = filters::open_for(&args.filter, &args.inputs, |path| AnyFilter::open(path))?;
    if args.strict && filter.capacity().is_none() {
        return Err(Failure::at(
            &args.filter,
            "this filter has no planned number of items, so --strict has no limit to enforce; omit --strict",
        ));
    }
    if args.max_memory.is_some() && !matches!(filter, AnyFilter::Scalable(_)) {
        return Err(Failure::at(&args.filter, "this filter does not grow, so --max-memory has no limit to enforce; omit --max-memory"));
    }
    let before = (filter.offered(), filter.changed());
    let kept = Extraction::of(filter.label());
    let keys = args.records.for_filters(&[(&args.filter, kept.clone())])?;
    let record_args = &keys.args;
    let limits = Limits { strict: args.strict, memory: args.max_memory };
    let records = records::insert_all(&mut filter, record_args, &args.inputs, limits);
    if keys.other_form || keys.other_part || keys.is_kept && !records.as_ref().is_ok_and(Records::complete) {
        keys.print_doubt();
    }
    let records = records?;
    // The first keys determine how all keys of the filter are read.
    if filter.label().is_none() && before.0 == 0 {
        record_args.extraction().keep(&args.filter, |label| filter.set_label(label));
        record_args.note_names(&args.inputs);
    }
    if let Some(habit) = records.habit().filter(|habit| habit.is_returns()) {
        warn(habit.hint());
    }
    if filter.is_over_capacity() {
        warn(filters::over_capacity(&filter));
    }
    filters::save(&filter, &lock)?;
    report(args, record_args, &filter, before, &records)?.print(args.json)?;
    Ok(records.told_shortfall(&args.filter))
}

/// Reports what was inserted. `keys` says how the keys were read: as given, or as the filter says.
fn report(args: &Args, keys: &RecordArgs, filter: &AnyFilter, before: (u64, u64), records: &Records) -> Result<Report, Failure> {
    let mut report = Report::new("insert");
    let (offered, changed) = (records.read(), filter.changed() - before.1);
    report.field("filter", args.filter.display().to_string()).field("inserted", offered).field("new", changed);
    let new = if offered == 0 { String::new() } else { format!(", {}", super::certainly(offered, changed, "new to the filter")) };
    report.line("inserted", format!("{}{new}", plural(offered, keys.noun())));
    keys.add_header(&mut report);
    super::add_state(&mut report, filter)?;
    records.add_shortfall(&mut report);
    Ok(report)
}
