//! `truebloom compare`: how much two filters have in common.

use crate::args;
use crate::failure::Failure;
use crate::held::{Held, format_error};
use crate::report::{FormatArgs, Report, count, significant};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truebloom::scheme::Standard;
use truebloom::verify::Verification;
use truebloom::{BloomFilter, BloomView, Checked, FilterOf, PortableHasher};
use truebloom_math::sets::{self, Bounds, Interval, SetSizes};
use truebloom_math::{Variant, items_interval};

const EXAMPLES: &str = "\
Example:
  truebloom compare monday.tbl tuesday.tbl

Both filters must have the same bits, probes, hasher and seed: create the second with the --seed of the first (see `truebloom info`).
The intervals hold for keys chosen independently of the seed. Intersections are refused: their set bits do not tell how many items they hold.";

/// Estimate what two filters have in common, with intervals
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The first filter
    #[arg(value_name = "A")]
    a: PathBuf,

    /// The second filter
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Probability that all intervals hold
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = args::confidence)]
    confidence: f64,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (a, b) = (open(&args.a)?, open(&args.b)?);
    let (bits, probes) = (a.bits(), a.probes());
    let ones = [a.ones(), b.ones(), a.ones_of_union(&b).map_err(Failure::new)?];
    let values = sets::sizes(Variant::Standard, bits, probes, ones[0], ones[1], ones[2])?;
    // Three intervals at a third of the error each: then all of them hold.
    let each = 1.0 - (1.0 - args.confidence) / 3.0;
    let mut intervals = Vec::new();
    for ones in ones {
        let estimate = items_interval(Variant::Standard, bits, probes, ones, each)?;
        intervals.push(Interval { lower: estimate.lower, upper: estimate.upper });
    }
    let ranges = sets::intervals(intervals[0], intervals[1], intervals[2]);
    let ranges = ranges
        .ok_or_else(|| Failure::new("the three fills contradict each other: at least one filter does not hold what its bits suggest"))?;
    report(args, &values, &ranges).print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}

/// Opens a filter whose set bits tell how many keys it holds.
fn open(path: &Path) -> Result<FilterOf<Standard, PortableHasher, Checked<Held>>, Failure> {
    let filter = BloomFilter::view(Held::open(path)?).and_then(BloomView::verify_bytes).map_err(|cause| format_error(path, cause))?;
    if filter.is_intersection() {
        return Err(Failure::at(
            path,
            "this is an intersection, and its set bits do not tell how many items it holds; compare the filters it was made of",
        ));
    }
    if !Verification::of(&filter)?.fill().holds() {
        return Err(Failure::at(
            path,
            "the set bits do not fit the keys it was offered, so they tell nothing about its items; see `truebloom verify`, and build the filter again",
        ));
    }
    Ok(filter)
}

/// What every interval rests on.
const ASSUMES: &str = "the keys were chosen independently of the seed";

fn report(args: &Args, values: &SetSizes<Option<f64>>, ranges: &SetSizes<Bounds>) -> Report {
    let mut ranges = *ranges;
    // Nothing in common is no similarity, whatever the union.
    if ranges.intersection.upper == 0.0 && ranges.union.lower > 0.0 {
        ranges.jaccard = Bounds { lower: 0.0, upper: 0.0 };
    }
    let mut report = Report::new("compare");
    report.field("confidence", args.confidence).field("assumes", ASSUMES);
    let rows = [
        ("a", "in A", values.a, ranges.a),
        ("b", "in B", values.b, ranges.b),
        ("union", "in either", values.union, ranges.union),
        ("intersection", "in both", values.intersection, ranges.intersection),
        ("only_a", "in A only", values.only_a, ranges.only_a),
        ("only_b", "in B only", values.only_b, ranges.only_b),
        ("jaccard", "similarity", values.jaccard, ranges.jaccard),
    ];
    for (name, label, value, range) in rows {
        let upper = if range.upper.is_finite() { Value::from(range.upper) } else { Value::Null };
        report.field(name, json!({ "value": value, "lower": range.lower, "upper": upper }));
        report.line(label, row(name == "jaccard", value, range));
    }
    report.line("", format!("all seven hold with {}% confidence if {ASSUMES}", significant(100.0 * args.confidence, 13)));
    report
}

fn row(is_share: bool, value: Option<f64>, range: Bounds) -> String {
    let show = |x: f64| if is_share { significant(x, 4) } else { count(x.round() as u64) };
    // Few bits may put the estimate of the mean fill outside of what is possible.
    let value = if range.lower == range.upper { Some(range.lower) } else { value.map(|value| value.clamp(range.lower, range.upper)) };
    let value = value.map_or("unknown".to_owned(), |value| format!("about {}", show(value)));
    let upper = if range.upper.is_finite() { show(range.upper) } else { "any number".to_owned() };
    format!("{value} ({} to {upper})", show(range.lower))
}
