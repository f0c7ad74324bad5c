//! `truebloom compare`: estimates how many keys filters have in common.

use crate::args;
use crate::cmd::merge::{Purpose, mismatch};
use crate::failure::Failure;
use crate::held;
use crate::report::{FormatArgs, Report, certainty, count, rate_down, rate_up, significant};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truebloom::{CompareError, Comparison, Quantity, Share};

const EXAMPLES: &str = "\
Examples:
  truebloom compare monday.tbl tuesday.tbl
  truebloom compare --confidence 99.9% monday.tbl tuesday.tbl other.tbl

The filters must have the same number of bits, number of probes, scheme, hasher and seed: make them all as empty copies of one filter, with `truebloom copy --empty`.
The ranges hold for keys that were chosen without knowing the seed. Filters from `merge --intersect` are refused, because the set bits of an intersection do not determine how many items it holds.";

/// Estimate the number of keys that filters share, with a range for each estimate
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filters to compare
    #[arg(value_name = "FILTER", required = true, num_args = 2..)]
    filters: Vec<PathBuf>,

    /// Probability that a range contains the true number; it holds for each single range, not
    /// for all of them together; at most 99.9999%
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = confidence)]
    confidence: f64,

    #[command(flatten)]
    format: FormatArgs,
}

/// Reads a confidence that [`Comparison::of`] accepts.
fn confidence(text: &str) -> Result<f64, String> {
    let confidence = args::confidence(text)?;
    if confidence > 0.999_999 {
        return Err(format!("`{text}` is too high; the confidence can be at most 99.9999%"));
    }
    Ok(confidence)
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let filters = args.filters.iter().map(|path| held::look(path)).collect::<Result<Vec<_>, _>>()?;
    let found = Comparison::of(&filters, args.confidence).map_err(|error| refusal(args, &error))?;
    report(args, &found).print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}

fn refusal(args: &Args, error: &CompareError) -> Failure {
    let name = |index: usize| args.filters.get(index).map_or(Path::new(""), PathBuf::as_path);
    match error {
        CompareError::Differs { index, cause } => mismatch(Purpose::Comparison, name(0), name(*index), cause),
        CompareError::Intersection { index } => Failure::at(
            name(*index),
            "this is an intersection, whose set bits do not determine how many items it holds; compare the filters that it was made from",
        ),
        CompareError::Unfit { index } => Failure::at(
            name(*index),
            "its set bits contradict its count of keys, so the number of its items cannot be estimated; see `truebloom verify`, and build the filter again",
        ),
        CompareError::Grows { index } => Failure::at(
            name(*index),
            "a filter that grows cannot be compared, because two filters may have the same key in different layers; compare filters made with -n",
        ),
        CompareError::Law(error) => Failure::from(error.clone()),
        other => Failure::new(other),
    }
}

/// The assumption on which every range is based.
const ASSUMES: &str = "the keys were chosen without knowing the seed";

fn report(args: &Args, found: &Comparison) -> Report {
    let mut report = Report::new("compare");
    report.field("confidence", args.confidence).field("assumes", ASSUMES);
    let names: Vec<String> = args.filters.iter().map(|path| path.display().to_string()).collect();
    let each = names.iter().zip(found.sizes.iter().zip(&found.own));
    let each: Vec<Value> = each.map(|(name, (size, own))| json!({ "filter": name, "items": object(size), "own": object(own) })).collect();
    report.field("filters", each);
    let is_pair = names.len() == 2;
    for (name, size) in names.iter().zip(&found.sizes) {
        report.line(&format!("in {name}"), row(size));
    }
    report.line(if is_pair { "in either" } else { "in any" }, row(&found.union));
    report.line(if is_pair { "in both" } else { "in all" }, row(&found.common));
    for (name, own) in names.iter().zip(&found.own) {
        report.line(&format!("in {name} only"), row(own));
    }
    if let ([a, b], [own_a, own_b]) = (found.sizes.as_slice(), found.own.as_slice()) {
        report.field("a", object(a)).field("b", object(b)).field("only_a", object(own_a)).field("only_b", object(own_b));
    }
    report.field("union", object(&found.union)).field("intersection", object(&found.common));
    let Share { value, lower, upper, .. } = found.similarity;
    report.field("jaccard", json!({ "value": value, "lower": lower, "upper": upper }));
    let show = |x: f64| significant(x, 4);
    let value = value.map_or("unknown".to_owned(), |value| format!("about {}", show(value)));
    report.line("similarity", format!("{value} ({} to {})", rate_down(lower, 4), rate_up(upper, 4)));
    report.line("", format!("each range by itself has {}% confidence, if {ASSUMES}", certainty(args.confidence, 13)));
    report
}

fn object(quantity: &Quantity) -> Value {
    json!({ "value": quantity.value, "lower": quantity.lower, "upper": quantity.upper })
}

fn row(quantity: &Quantity) -> String {
    let value = quantity.value.map_or("unknown".to_owned(), |value| format!("about {}", count(value.round() as u64)));
    let lower = count(quantity.lower);
    let range = quantity.upper.map_or_else(|| format!("at least {lower}"), |upper| format!("{lower} to {}", count(upper)));
    format!("{value} ({range})")
}
