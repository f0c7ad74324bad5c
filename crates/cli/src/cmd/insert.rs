//! `truebloom insert`: more records into a filter that exists.

use crate::failure::{Failure, warn};
use crate::filters::{self, Filter};
use crate::lock::Lock;
use crate::records::{self, RecordArgs, Records};
use crate::report::{Report, count, plural};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::BloomFilter;

const EXAMPLES: &str = "\
Examples:
  truebloom insert seen.tbl new.txt
  truebloom insert --strict seen.tbl new.txt           not beyond what it was planned for
  truebloom insert seen.tbl --csv --column email users.csv

The file is replaced as a whole at the end, or left as it is: after an error of its own, --strict, or a signal.
Only one process at a time may change a filter. Repeated lines do no harm and count once.";

/// Insert lines into an existing filter
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter to change
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// Files of lines; `-` or none for standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Fail, and change nothing, unless the filter surely holds no more items than planned
    #[arg(long)]
    strict: bool,

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
    let _lock = Lock::of(&args.filter)?;
    let mut filter = filters::open_for(&args.filter, &args.inputs)?;
    BloomFilter::check_target(&args.filter).map_err(Failure::new)?;
    if args.strict && filter.capacity().is_none() {
        return Err(Failure::at(
            &args.filter,
            "was not planned for a number of items, so --strict has nothing to hold it to; leave it out",
        ));
    }
    let before = (filter.offered(), filter.changed());
    let records = records::insert_all(&mut filter, &args.records, &args.inputs, args.strict)?;
    if filter.is_over_capacity() {
        warn(over_capacity(&filter));
    }
    filter.save(&args.filter, true)?;
    report(args, &filter, before, &records)?.print(args.json)?;
    Ok(records.told_shortfall(&args.filter))
}

/// More items than planned, in words: certain by the offers that set a bit, or, where a merge has mixed those up, likely by the fill.
pub(crate) fn over_capacity(filter: &Filter) -> String {
    let (changed, capacity) = (filter.changed(), filter.capacity().unwrap_or(0));
    if changed > capacity {
        return format!(
            "more items than planned: at least {} distinct ones, planned for {}; the rate planned for no longer holds, plan for more with -n",
            count(changed),
            count(capacity)
        );
    }
    let found =
        filter.estimated_items().map_or("the filter is full".to_owned(), |items| format!("about {} by the fill", count(items as u64)));
    format!(
        "probably more items than planned: {found}, planned for {}; if so, the rate planned for no longer holds, plan for more with -n",
        count(capacity)
    )
}

fn report(args: &Args, filter: &Filter, before: (u64, u64), records: &Records) -> Result<Report, Failure> {
    let mut report = Report::new("insert");
    let (offered, changed) = (filter.offered() - before.0, filter.changed() - before.1);
    report.field("filter", args.filter.display().to_string()).field("inserted", offered).field("new", changed);
    report.line("inserted", format!("{}, {} of them new", plural(offered, args.records.noun()), count(changed)));
    super::add_state(&mut report, filter)?;
    records.add_shortfall(&mut report);
    Ok(report)
}
