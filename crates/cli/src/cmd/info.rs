//! `truebloom info`: what a filter file says and holds.

use crate::failure::Failure;
use crate::report::{Report, bytes, count, fpr as fpr_text, fpr_value, plural, rate_value, significant};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::BloomFilter;

/// Show what a filter holds and what rate it has now
#[derive(clap::Args)]
#[command(after_help = "Example:\n  truebloom info seen.tbl")]
pub(crate) struct Args {
    /// The filter to describe
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let filter = BloomFilter::open(&args.filter).map_err(Failure::new)?;
    report(&filter).print(args.json)?;
    Ok(ExitCode::SUCCESS)
}

fn report(filter: &BloomFilter) -> Report {
    let mut report = Report::new("info");
    let size = filter.bits().div_ceil(64) * 8;
    let estimate = filter.estimated_items();
    let now = filter.fpr();
    report
        .field("kind", "bloom")
        .field("scheme", "standard")
        .field("hasher", filter.hasher().hasher_id().name())
        .field("seed", filter.seed().to_string())
        .field("bits", filter.bits())
        .field("bytes", size)
        .field("probes", filter.probes())
        .field("capacity", filter.capacity())
        .field("asked", rate_value(filter.rate()))
        .field("offered", filter.offered())
        .field("changed", filter.changed())
        .field("merged", filter.is_merged())
        .field("ones", filter.ones())
        .field("fill", filter.fill())
        .field("estimated_items", estimate)
        .field("over_capacity", filter.is_over_capacity())
        .field("fpr", fpr_value(&now));
    report.line(
        "filter",
        format!("standard, {} ({}), {}", plural(filter.bits(), "bit"), bytes(size), plural(filter.probes().into(), "probe")),
    );
    report.line("hash", format!("{}, seed {}", filter.hasher().hasher_id().name(), filter.seed()));
    if let (Some(capacity), Some(asked)) = (filter.capacity(), filter.rate()) {
        report.line("planned", format!("{} at a rate of {asked}", plural(capacity, "item")));
    } else if let Some(capacity) = filter.capacity() {
        report.line("planned", plural(capacity, "item"));
    }
    let merged = if filter.is_merged() { "; merged, so these are bounds" } else { "" };
    report.line("offered", format!("{}, {} of them new{merged}", plural(filter.offered(), "key"), count(filter.changed())));
    report.line(
        "fill",
        format!("{} of {} bits set ({}%)", count(filter.ones()), count(filter.bits()), significant(filter.fill() * 100.0, 4)),
    );
    report.line(
        "items",
        estimate.map_or("full: no estimate".to_owned(), |items| format!("about {} by the fill", count(items.round() as u64))),
    );
    report.line("rate now", fpr_text(&now, 6));
    if filter.is_over_capacity() {
        report.line("warning", "it holds more items than planned; the rate asked for no longer holds".to_owned());
    }
    report
}
