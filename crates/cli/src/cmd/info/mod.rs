//! `truebloom info`: what a filter file contains.

mod metrics;
mod other;

use crate::failure::Failure;
use crate::filters;
use crate::held::{self, Held, Looked};
use crate::inputs::name;
use crate::records::Extraction;
use crate::report::{Format, FormatArgs, Report, count, fpr as fpr_text, fpr_value, plural, rate_up, rate_value, significant, size};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truebloom::{AnyFilter, Counted, FileKind, FormatError};
use truebloom_math::occupancy::Occupancy;

const EXAMPLES: &str = "\
Examples:
  truebloom info seen.tbl
  truebloom info seen.tbl other.tbl
  truebloom info --metrics seen.tbl other.tbl          for node_exporter's textfile collector";

/// Describe a filter: its size, the number of its keys, and its current false-positive rate
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The files to describe: filters, packs, states of `dedup` and sketches of `count`; `-` for
    /// standard input
    #[arg(value_name = "FILTER", required = true)]
    filters: Vec<PathBuf>,

    /// Print metrics in the format of Prometheus. For filters, these include the share of set bits,
    /// the rate, and how many more items fit. For states of `dedup`, the metrics include the number
    /// of new lines, an upper bound on the number of lines wrongly dropped, and how many times
    /// older lines were forgotten
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    metrics: bool,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.metrics {
        return print_metrics(&args.filters);
    }
    let format = args.format.format();
    if let [only] = args.filters.as_slice() {
        describe(only)?.print_as(format)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = Report::new("info");
    let mut objects = Vec::new();
    for (nth, path) in args.filters.iter().enumerate() {
        let mut report = describe(path)?;
        report.first_line("file", path.display().to_string());
        if format == Format::Text {
            if nth > 0 {
                writeln!(crate::output::stdout())?;
            }
            report.print_as(format)?;
        } else {
            let name = ("filter".to_owned(), Value::from(path.display().to_string()));
            let fields = report.fields().iter().filter(|(name, _)| *name != "verb").map(|(name, value)| (name.clone(), value.clone()));
            objects.push(Value::Object(std::iter::once(name).chain(fields).collect()));
        }
    }
    if format != Format::Text {
        all.field("filters", objects);
        all.print_as(format)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the metrics of these files. Prometheus refuses a page on which a series occurs twice, so
/// a file that is named twice is printed once.
fn print_metrics(paths: &[PathBuf]) -> Result<ExitCode, Failure> {
    let mut named = HashSet::new();
    let look = |path: &PathBuf| {
        let (name, bytes) = (name(path), Held::open_input(path)?);
        metrics::Subject::open(name, bytes).map(|subject| (name.to_owned(), subject))
    };
    let subjects = paths.iter().filter(|path| named.insert(*path)).map(look).collect::<Result<Vec<_>, Failure>>()?;
    crate::output::stdout().write_all(metrics::text(&subjects).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The description of a file.
fn describe(path: &Path) -> Result<Report, Failure> {
    let (name, bytes) = (name(path), Held::open_input(path)?);
    match held::look_at(bytes.clone()) {
        Ok(filter) => report(&filter),
        Err(FormatError::Kind { found }) => other::report(name, &bytes, found),
        Err(cause) => Err(held::format_error(name, cause).into()),
    }
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Blocked => "blocked",
        FileKind::Scalable => "scalable",
        _ => "bloom",
    }
}

fn report(filter: &Looked) -> Result<Report, Failure> {
    let mut report = Report::new("info");
    let ones = filter.ones();
    let fill = ones as f64 / filter.bits() as f64;
    let estimate = filter.estimated_items();
    let now = filter.fpr();
    report
        .field("kind", kind(filter.kind()))
        .field("scheme", filter.scheme_id().name())
        .field("hasher", filter.hasher().hasher_id().name())
        .field("seed", filter.seed().to_string())
        .field("bits", filter.bits())
        .field("bytes", filters::bytes(filter))
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
    report.field("keys", filter.label());
    let verified = filter.verification()?;
    let (least, most) = verified.items();
    let by_fill = super::items_by_fill(filter, least, most)?;
    report.field("items", json!([least, most]));
    if let Some(by_fill) = by_fill {
        report.field("items_by_fill", super::by_fill_value(by_fill));
    }
    report.line("filter", format!("{}, {}, {}", filter.scheme_id().name(), size(filter.bits()), super::probes(filter)));
    if let AnyFilter::Scalable(grown) = filter {
        super::add_layers(&mut report, grown);
    }
    report.line("hash", format!("{}, seed {}", filter.hasher().hasher_id().name(), filter.seed()));
    if let (Some(capacity), Some(asked)) = (filter.capacity(), filter.rate()) {
        report.line("planned", format!("for {} at a rate of {asked}", plural(capacity, "item")));
    } else if let Some(capacity) = filter.capacity() {
        report.line("planned", format!("for {}", plural(capacity, "item")));
    } else if let (AnyFilter::Scalable(_), Some(asked)) = (filter, filter.rate()) {
        report.line("planned", format!("for any number of items at a rate of {asked}"));
    }
    let merged = match (filter.is_merged(), filter.is_intersection()) {
        (_, true) => "; the filter is an intersection",
        (true, false) => "; the filter was merged",
        (false, false) => "",
    };
    if let Some(keys) = Extraction::told(filter.label()) {
        report.line("keys", keys);
    }
    report.line(if filter.is_merged() { "holds" } else { "inserted" }, format!("{}{merged}", super::held(filter)));
    report.line("fill", format!("{} of {} bits set ({}%)", count(ones), count(filter.bits()), significant(fill * 100.0, 4)));
    if !matches!(filter, AnyFilter::Blocked(_)) {
        let items = match estimate {
            _ if filter.is_intersection() => {
                format!("at most {}; no estimate, because the filter is an intersection", count(filter.most_items()))
            }
            // An exact count is better than an estimate.
            _ if least == most => format!("exactly {}", count(most)),
            _ if most < u64::MAX && !filter.is_merged() => format!("{} to {} (99.9999% confidence)", count(least), count(most)),
            Some(items) => {
                let (least, most) = by_fill.unwrap_or((least, most));
                let about = count((items.round() as u64).clamp(least, most));
                match by_fill {
                    Some((lower, upper)) => format!("about {about} ({} to {} with 99.9999% confidence)", count(lower), count(upper)),
                    None => format!("about {about} (estimated from the fill)"),
                }
            }
            None if filter.fill_tells_rate() => "no estimate, because all bits are set".to_owned(),
            None if filter.is_merged() && matches!(filter, AnyFilter::Scalable(_)) => {
                "no estimate, because layers of the merged filters may have keys in common".to_owned()
            }
            None => format!(
                "no estimate, because it is not known how the fill of the {} scheme grows with the number of items",
                filter.scheme_id().name()
            ),
        };
        report.line("items", items);
    }
    report.line("rate now", rate_now(filter)?);
    add_place(&mut report, filter);
    if filter.is_over_capacity() {
        report.line("warning", filters::over_capacity(filter));
    }
    Ok(report)
}

/// Describes the filter's current rate, as precisely as the number of set bits determines it.
fn rate_now(filter: &AnyFilter<impl Counted>) -> Result<String, Failure> {
    let now = filter.fpr();
    if filter.fill_tells_rate() {
        return Ok(fpr_text(&now, 6) + super::for_others(filter));
    }
    let why = match filter {
        AnyFilter::Scalable(_) => "the set bits alone do not determine the rate, because merged layers may have keys in common".to_owned(),
        _ => format!("in the {} scheme, the rate depends on more than the number of set bits", filter.scheme_id().name()),
    };
    Ok(format!("at most {}; {why}", rate_up(now.upper, 3)))
}

/// Adds the share of all filters with the same number of items that are at most as full as this
/// one. Adds nothing if the number of items is known only within bounds, or if the scheme's fill
/// has a different distribution.
pub(crate) fn add_place(report: &mut Report, filter: &AnyFilter<impl Counted>) {
    // Fewer items than offered keys prove that keys were repeated. More items than offered keys
    // prove that keys were withheld.
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
    let share = match 100.0 * middle {
        // 100% is printed only if it is exact.
        _ if below.lower == 1.0 => "100".to_owned(),
        low if low < 0.1 => "less than 0.1".to_owned(),
        high if high > 99.9 => "more than 99.9".to_owned(),
        share => significant(share, 3),
    };
    let items = plural(filter.offered(), "item");
    report.line("fullness", format!("{share}% of filters with {items} have this many set bits or fewer, if no key was inserted twice"));
}
