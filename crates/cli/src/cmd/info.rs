//! `truebloom info`: what a filter file says and holds.

use crate::failure::Failure;
use crate::filters;
use crate::held::{self, Looked};
use crate::report::{FormatArgs, Report, bytes, count, fpr as fpr_text, fpr_value, plural, rate_up, rate_value, significant};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::{AnyFilter, Counted, FileKind};
use truebloom_math::occupancy::Occupancy;

/// Show what a filter holds and what rate it has now
#[derive(clap::Args)]
#[command(after_help = "Example:\n  truebloom info seen.tbl")]
pub(crate) struct Args {
    /// The filter to describe
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let filter = held::look(&args.filter)?;
    report(&filter)?.print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}

fn report(filter: &Looked) -> Result<Report, Failure> {
    let mut report = Report::new("info");
    let size = filters::bytes(filter);
    let ones = filter.ones();
    let fill = ones as f64 / filter.bits() as f64;
    let estimate = filter.estimated_items();
    let now = filter.fpr();
    report
        .field("kind", if filter.kind() == FileKind::Blocked { "blocked" } else { "bloom" })
        .field("scheme", filter.scheme_id().name())
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
        .field("intersection", filter.is_intersection())
        .field("most_items", filter.most_items())
        .field("ones", ones)
        .field("fill", fill)
        .field("estimated_items", estimate)
        .field("over_capacity", filter.is_over_capacity())
        .field("fpr", fpr_value(&now));
    report.line(
        "filter",
        format!(
            "{}, {} ({}), {}",
            filter.scheme_id().name(),
            plural(filter.bits(), "bit"),
            bytes(size),
            plural(filter.probes().into(), "probe")
        ),
    );
    report.line("hash", format!("{}, seed {}", filter.hasher().hasher_id().name(), filter.seed()));
    if let (Some(capacity), Some(asked)) = (filter.capacity(), filter.rate()) {
        report.line("planned", format!("{} at a rate of {asked}", plural(capacity, "item")));
    } else if let Some(capacity) = filter.capacity() {
        report.line("planned", plural(capacity, "item"));
    }
    let merged = match (filter.is_merged(), filter.is_intersection()) {
        (_, true) => "; an intersection, so these are bounds",
        (true, false) => "; merged, so these are bounds",
        (false, false) => "",
    };
    report.line("offered", format!("{}, {} of them new{merged}", plural(filter.offered(), "key"), count(filter.changed())));
    report.line("fill", format!("{} of {} bits set ({}%)", count(ones), count(filter.bits()), significant(fill * 100.0, 4)));
    if !matches!(filter, AnyFilter::Blocked(_)) {
        let items = match estimate {
            _ if filter.is_intersection() => {
                format!("at most {}: the fill of an intersection does not tell how many", count(filter.most_items()))
            }
            Some(items) => format!("about {} by the fill", count(items.round() as u64)),
            None if filter.fill_tells_rate() => "full: no estimate".to_owned(),
            None => format!("not available: how the fill of the {} scheme grows is not known", filter.scheme_id().name()),
        };
        report.line("items", items);
    }
    report.line("rate now", rate_now(filter)?);
    add_place(&mut report, filter);
    if filter.is_over_capacity() {
        report.line("warning", "it holds more items than planned; the rate planned for no longer holds".to_owned());
    }
    Ok(report)
}

/// This filter's rate, as far as its fill tells it.
pub(crate) fn rate_now(filter: &AnyFilter<impl Counted>) -> Result<String, Failure> {
    let now = filter.fpr();
    if filter.fill_tells_rate() {
        return Ok(fpr_text(&now, 6));
    }
    Ok(format!("at most {} by the fill, which does not tell the rate of the {} scheme", rate_up(now.upper, 3), filter.scheme_id().name()))
}

/// Where the fill of this filter lies among those of all filters with as many items as it was offered keys; nothing where its items are only
/// bounds, and for other schemes, whose fills have another law.
pub(crate) fn add_place(report: &mut Report, filter: &AnyFilter<impl Counted>) {
    // Fewer items than offers are proof of repeats.
    // More of them than offers, of keys that were withheld.
    let other = filter.verification().is_ok_and(|found| found.items().1 < filter.offered() || found.has_withheld_keys());
    if !matches!(filter, AnyFilter::Standard(_)) || filter.is_merged() || filter.offered() == 0 || other {
        return;
    }
    let law = Occupancy::standard(filter.bits(), filter.offered(), filter.probes());
    let Ok(below) = law.and_then(|law| law.cdf(filter.ones())) else { return };
    let middle = (below.lower + below.upper) / 2.0;
    report.field(
        "place",
        json!({ "items": filter.offered(), "lower": below.lower, "upper": below.upper, "method": below.method.to_string() }),
    );
    // Certainty is said only where it is.
    let share = if below.lower == 1.0 { 100.0 } else { (100.0 * middle).clamp(0.1, 99.9) };
    let share = significant(share, 3);
    let items = plural(filter.offered(), "item");
    report.line("place", format!("{share}% of filters with {items} have a fill and a rate at most as high, if no key was offered twice"));
}
