//! `truebloom explain`: everything that is known about a filter before it is built.

use crate::args::{bits, count, probes};
use crate::failure::Failure;
use crate::held;
use crate::plots::{self, PlotArgs};
use crate::report::{FormatArgs, Report, count as counted, fpr as fpr_text, fpr_down, fpr_up, fpr_value, plural, rate, significant};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::AnyFilter;
use truebloom_math::occupancy::Quantile;
use truebloom_math::{Approximation, Fpr, Variant, as_one_call, bounds, efficiency, rate_moments};
use truebloom_report::scatter::Scatter;

const EXAMPLES: &str = "\
Examples:
  truebloom explain --bits 9585 --items 1000 --probes 7
  truebloom explain -m 9585 -n 1000 -k 7 --plot spread.svg    how the rate of one filter depends on its seed
  truebloom explain -m 64MiB -n 50M -k 7 --variant classic
  truebloom explain seen.tbl                           a filter that was built";

/// The levels of the quantiles that are reported for the fill and the rate of one filter.
const LEVELS: [f64; 5] = [0.001, 0.01, 0.5, 0.99, 0.999];

/// Explain a filter: its share of set bits, its rate, how both vary with the seed, its efficiency,
/// and bounds and approximations of the rate
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Existing filter to explain, instead of -m, -k and --variant. Without -n, the report uses an
    /// upper bound on the number of items in the filter
    #[arg(value_name = "FILTER", conflicts_with_all = ["bits", "probes", "variant"])]
    filter: Option<PathBuf>,

    /// Size of the filter, in bits (1M, 64Mi) or bytes (2MB, 64MiB)
    #[arg(short = 'm', long, value_name = "SIZE", value_parser = bits, allow_hyphen_values = true, required_unless_present = "filter")]
    bits: Option<u64>,

    /// Number of distinct items in the filter
    #[arg(short = 'n', long, value_name = "N", value_parser = count, allow_hyphen_values = true, required_unless_present = "filter")]
    items: Option<u64>,

    /// Number of probes per item
    #[arg(short = 'k', long, value_name = "K", value_parser = probes, allow_hyphen_values = true, required_unless_present = "filter")]
    probes: Option<u32>,

    /// How an item's positions are chosen: standard (independently) or classic (all distinct)
    #[arg(long, default_value = "standard", value_parser = variant)]
    variant: Variant,

    #[command(flatten)]
    plot: PlotArgs,

    #[command(flatten)]
    format: FormatArgs,
}

fn variant(text: &str) -> Result<Variant, String> {
    match text {
        "standard" => Ok(Variant::Standard),
        "classic" => Ok(Variant::Classic),
        _ => Err(format!("`{text}` is not a variant that can be explained; choose standard or classic")),
    }
}

/// The filter to explain.
struct Explained {
    variant: Variant,
    bits: u64,
    items: u64,
    probes: u32,
}

impl Explained {
    fn of(args: &Args) -> Result<Explained, Failure> {
        let Some(path) = &args.filter else {
            let (bits, items, probes) = (args.bits.unwrap_or(0), args.items.unwrap_or(0), args.probes.unwrap_or(0));
            return Ok(Explained { variant: args.variant, bits, items, probes });
        };
        let filter = held::look(path)?;
        if let AnyFilter::Scalable(_) = filter {
            return Err(Failure::at(
                path,
                "this filter consists of layers, and `explain` handles one layer at a time; choose a layer in `truebloom info --json`, and give its bits, probes and keys with -m, -k and -n",
            ));
        }
        let variant = filter.scheme_id().variant().filter(|variant| *variant != Variant::Partitioned).ok_or_else(|| {
            Failure::at(
                path,
                format_args!(
                    "this filter has the {} scheme; only filters with the standard or the classic scheme can be explained",
                    filter.scheme_id()
                ),
            )
        })?;
        let items = match args.items {
            Some(items) => items,
            None => filter.verification()?.items().1.min(filter.most_items()),
        };
        Ok(Explained { variant, bits: filter.bits(), items, probes: filter.probes() })
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    args.plot.check()?;
    let of = Explained::of(args)?;
    if of.items == 0 {
        return Err(Failure::new("-n is 0, but must be at least 1: an empty filter needs no explanation"));
    }
    let mut report = Report::new("explain");
    report.field("variant", of.variant.name()).field("bits", of.bits).field("items", of.items).field("probes", of.probes);
    let size = format!("{}, {}, {}, {}", of.variant, plural(of.bits, "bit"), plural(of.probes.into(), "probe"), plural(of.items, "item"));
    report.line("filter", size);
    as_one_call(|| add_all(&mut report, &of))?;
    args.plot.finish(report, args.format.format(), || as_one_call(|| Ok(plots::spread(of.variant, of.bits, of.items, of.probes)?)))
}

fn add_all(report: &mut Report, of: &Explained) -> Result<(), Failure> {
    let expected = of.variant.fpr(of.bits, of.items, of.probes)?;
    let scatter = Scatter::new(of.variant, of.bits, of.items, of.probes)?;
    let fills = add_fill(report, of, &scatter)?;
    add_rate(report, of, &expected, &scatter, &fills)?;
    add_bounds(report, of, &expected);
    add_approximations(report, of, &expected);
    add_efficiency(report, of)
}

/// Adds the fill to the report. Returns the quantiles, at [`LEVELS`], of the number of set bits
/// over all filters.
fn add_fill(report: &mut Report, of: &Explained, scatter: &Scatter) -> Result<Vec<Quantile>, Failure> {
    let (mean, variance) = (scatter.fill.mean()?, scatter.fill.variance()?);
    let mut quantiles = Map::new();
    let mut ends = Vec::new();
    for level in LEVELS {
        let quantile = scatter.quantile(level)?;
        quantiles
            .insert(level.to_string(), json!({ "lower": quantile.lower, "upper": quantile.upper, "method": quantile.method.to_string() }));
        ends.push(quantile);
    }
    report.field("fill", json!({ "mean": mean, "variance": variance, "quantiles": quantiles }));
    let share = significant(100.0 * mean / of.bits as f64, 4);
    report.line(
        "fill",
        format!(
            "{} bits set on average ({share}%), standard deviation {}",
            if of.bits < 10_000 { significant(mean, 6) } else { counted(mean.round() as u64) },
            significant(variance.sqrt(), 4)
        ),
    );
    report.line("", format!("in 98% of filters, {} to {}", counted(ends[1].lower), counted(ends[3].upper)));
    Ok(ends)
}

fn add_rate(report: &mut Report, of: &Explained, expected: &Fpr, scatter: &Scatter, fills: &[Quantile]) -> Result<(), Failure> {
    report.line("expected rate", fpr_text(expected, 9));
    // This takes as much work as a rate with twice the probes. If that is too much, the variance is
    // left out.
    let variance = rate_moments(of.variant, of.bits, of.items, of.probes).ok().map(|moments| moments.variance);
    let spread = variance.map_or(f64::NAN, |variance| variance.sqrt() / expected.value);
    let mut quantiles = Map::new();
    for (level, fill) in LEVELS.into_iter().zip(fills) {
        let fpr = scatter.rate(level, fill)?;
        quantiles.insert(level.to_string(), Value::Object(fpr_value(&fpr)));
        if level == 0.99 || level == 0.999 {
            let share = significant(100.0 * level, 4);
            report.line("", format!("{share}% of filters: at most {}", fpr_up(&fpr, 6)));
        }
    }
    report.field("fpr", fpr_value(expected)).field("rate_variance", variance).field("rate_quantiles", Value::Object(quantiles));
    if spread.is_finite() {
        report.line(
            "",
            format!("standard deviation of the rate from filter to filter: {}% of the expected rate", significant(100.0 * spread, 3)),
        );
    }
    Ok(())
}

fn add_bounds(report: &mut Report, of: &Explained, expected: &Fpr) {
    // These bounds are for distinct bits, so they need at least as many bits as probes.
    let Ok(found) = bounds::rates(of.bits, of.items, of.probes) else { return };
    let named =
        [("lower_by_mean", "lower, mean fill", found.lower_by_mean), ("lower", "lower", found.lower), ("upper", "upper", found.upper)];
    let fields = named.iter().map(|(name, _, fpr)| ((*name).to_owned(), Value::Object(fpr_value(fpr)))).collect();
    report.field("bounds", Value::Object(fields));
    for (_, label, fpr) in named {
        let text = if label == "upper" { fpr_up(&fpr, 6) } else { fpr_down(&fpr, 6) };
        report.line(label, with_error(&text, fpr.value, expected));
    }
}

fn add_approximations(report: &mut Report, of: &Explained, expected: &Fpr) {
    let mut fields = Map::new();
    for approximation in [Approximation::SeveranceLohman, Approximation::Knuth, Approximation::Grandi] {
        let Ok(value) = approximation.value(of.bits, of.items, of.probes) else { continue };
        fields.insert(approximation.name().to_owned(), value.into());
        report.line(approximation.name(), with_error(&rate(value, 6), value, expected));
    }
    report.field("approximations", Value::Object(fields));
}

fn with_error(text: &str, value: f64, expected: &Fpr) -> String {
    if expected.value < f64::MIN_POSITIVE {
        return text.to_owned();
    }
    format!("{text}  {:+.3e} relative error", value / expected.value - 1.0)
}

fn add_efficiency(report: &mut Report, of: &Explained) -> Result<(), Failure> {
    let value = efficiency(of.variant, of.bits, of.items, of.probes)?;
    report.field("efficiency", value);
    report.line(
        "efficiency",
        format!(
            "an ideal structure would need {}% of this filter's bits (for a large Bloom filter: {}%)",
            significant(100.0 * value, 5),
            significant(100.0 * std::f64::consts::LN_2, 4)
        ),
    );
    Ok(())
}
