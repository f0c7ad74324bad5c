//! `truebloom fpr`: the exact rate of any filter, compared with the usual formulas.

use crate::args::{bits, count, needs};
use crate::failure::{Failure, unknown_name};
use crate::plots::{self, PlotArgs};
use crate::report::{FormatArgs, Report, fpr as fpr_text, fpr_value, plural, power, rate};
use serde_json::{Map, Value};
use std::process::ExitCode;
use truebloom_math::SchemeId;
use truebloom_math::law::{Blocked, Double, InBlock, Offsets, PartitionDouble, Step};
use truebloom_math::{Approximation, BLOCK_BITS, Fpr, Law, Variant};

const EXAMPLES: &str = "\
Examples:
  truebloom fpr --bits 9585 --items 1000 --probes 7
  truebloom fpr -m 9585 -n 1000 -k 7 --plot fpr.svg    the rate by probes as a chart
  truebloom fpr -m 64MiB -n 50M -k 7 --variant classic
  truebloom fpr -m 9585 -k 7 --ones 4965               for a known number of set bits
  truebloom fpr -m 1M -n 50k -k 10 --scheme double     positions h1 + i h2, modulo the number of bits
  truebloom fpr -m 1MiB -n 800k -k 6 --layout blocked  one cache line per item
  truebloom fpr --slice-bits 6673 -n 5000 -k 6 --scheme partition-double

In this command, --scheme uses the formula from the paper about the scheme, and the filter has exactly the given bits and probes. Libraries choose bits and probes differently, and compute positions modulo a power of two before they reduce them modulo the number of bits. Therefore, the rates that `truebloom audit` reports for libraries differ from the rates that this command prints.";

/// Compute the exact rate of a filter of any size
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(skip)]
#[command(group(clap::ArgGroup::new("load").required(true)))]
pub(crate) struct Args {
    /// Size of the filter, in bits (1M, 64Mi) or bytes (2MB, 64MiB)
    #[arg(short = 'm', long, value_name = "SIZE", value_parser = bits, allow_hyphen_values = true, required_unless_present = "slice_bits")]
    bits: Option<u64>,

    /// Number of distinct items in the filter
    #[arg(short = 'n', long, value_name = "N", value_parser = count, group = "load", allow_hyphen_values = true)]
    items: Option<u64>,

    /// Number of probes per item
    #[arg(short = 'k', long, value_name = "K")]
    probes: u32,

    /// How an item's positions are chosen: standard (independently), classic (all distinct) or
    /// partitioned (the filter has one slice per probe, with one position in each)
    #[arg(long, default_value = "standard", value_parser = variant)]
    variant: Variant,

    /// standard, or blocked: all positions of an item in one cache line of 512 bits
    #[arg(long, value_name = "LAYOUT", default_value = "standard", value_parser = ["standard", "blocked"], conflicts_with_all = ["variant", "scheme", "ones", "offsets", "slice_bits"])]
    layout: String,

    #[arg(help = format!("Derive positions from two hashes; replaces --variant. Schemes: {}", schemes(|id| !id.has_guarantee())), long, value_name = "NAME", value_parser = scheme, conflicts_with_all = ["variant", "ones"])]
    scheme: Option<SchemeId>,

    /// Size of one slice, for partition-double, which has one slice per probe
    #[arg(long, value_name = "SIZE", value_parser = bits, conflicts_with = "bits", requires = "scheme", allow_hyphen_values = true)]
    slice_bits: Option<u64>,

    /// Custom offsets f(i), one for each probe, separated by commas. With two hashes h1 and h2 of
    /// the item, probe i has the position h1 + i h2 + f(i), modulo the number of bits
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["variant", "ones", "slice_bits"], allow_hyphen_values = true)]
    offsets: Option<Vec<i64>>,

    /// Number of set bits, instead of the number of items. For a partitioned filter, give one
    /// number for each slice, separated by commas
    #[arg(long, value_name = "COUNT", value_parser = count, value_delimiter = ',', group = "load")]
    ones: Option<Vec<u64>>,

    #[command(flatten)]
    plot: PlotArgs,

    #[command(flatten)]
    format: FormatArgs,
}

impl Args {
    /// The number of bits of the whole filter; the parser requires it unless there are slices.
    fn bits(&self) -> u64 {
        self.bits.unwrap_or_default()
    }
}

fn variant(text: &str) -> Result<Variant, String> {
    text.parse().map_err(unknown_name)
}

pub(crate) fn scheme(text: &str) -> Result<SchemeId, String> {
    text.to_lowercase().parse().map_err(unknown_name)
}

/// Lists the names of the wanted schemes, for a help text.
pub(crate) fn schemes(wanted: impl Fn(SchemeId) -> bool) -> String {
    let names: Vec<&str> = SchemeId::ALL.into_iter().filter(|id| wanted(*id)).map(SchemeId::name).collect();
    names.join(", ")
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    needs(("--slice-bits", args.slice_bits.is_some()), ("--scheme partition-double", args.scheme.is_some()))?;
    check_plot(args)?;
    let mut report = Report::new("fpr");
    if args.scheme.is_some() || args.offsets.is_some() {
        add_scheme(&mut report, args)?;
        return finish(report, args);
    }
    if args.layout == "blocked" {
        add_blocked(&mut report, args)?;
        return finish(report, args);
    }
    report.field("variant", args.variant.name()).field("bits", args.bits()).field("probes", args.probes);
    match (args.items, &args.ones) {
        (Some(items), _) => add_expected(&mut report, args, items)?,
        (None, ones) => add_at_fill(&mut report, args, ones.as_deref().unwrap_or_default())?,
    }
    finish(report, args)
}

/// Refuses options for which no chart can be drawn.
fn check_plot(args: &Args) -> Result<(), Failure> {
    if !args.plot.asked() {
        return Ok(());
    }
    args.plot.check()?;
    match args.items {
        None => return Err(Failure::new("--plot needs a number of items: give -n instead of --ones")),
        Some(0) => return Err(Failure::new("--plot cannot draw a rate of 0: give at least one item with -n")),
        Some(_) => {}
    }
    if args.offsets.is_some() || args.slice_bits.is_some() {
        return Err(Failure::new(
            "--plot draws the rate for each number of probes, but --offsets and --slice-bits fix this number: leave them out",
        ));
    }
    Ok(())
}

/// The number of points of a curve.
const POINTS: u32 = 40;
/// The number of points of a curve for schemes that use two hashes. Many of their rates are
/// simulated, which takes some tenths of a second each.
const FEW_POINTS: u32 = 16;

/// Prints the report, and draws the rate as a function of the number of probes.
fn finish(report: Report, args: &Args) -> Result<ExitCode, Failure> {
    let (bits, items) = (args.bits(), args.items.unwrap_or_default());
    args.plot.finish(report, args.format.format(), || {
        let chart = truebloom_math::as_one_call(|| match (args.layout.as_str(), args.scheme) {
            ("blocked", _) => plots::by_probes(("blocked", POINTS), bits, items, args.probes, |probes| {
                Ok(Box::new(Blocked::new(bits, BLOCK_BITS, InBlock::Independent, probes)?))
            }),
            (_, Some(scheme)) => {
                let points = if scheme.variant().is_some() { POINTS } else { FEW_POINTS };
                plots::by_probes((scheme.name(), points), bits, items, args.probes, |probes| scheme.law(bits, probes))
            }
            (_, None) => plots::by_probes((args.variant.name(), POINTS), bits, items, args.probes, |probes| args.variant.law(bits, probes)),
        });
        Ok(chart?)
    })
}

fn add_rate(report: &mut Report, label: &str, fpr: &Fpr) {
    if fpr.value >= f64::MIN_POSITIVE || fpr.ln == f64::NEG_INFINITY {
        report.line(label, rate(fpr.value, 15));
        report.line("bracket", format!("{:e} to {:e}, {}", fpr.lower, fpr.upper, fpr.method));
    } else {
        // For rates below the range of f64, the logarithms are shown.
        report.line(label, fpr_text(fpr, 10));
        report.line("bracket", format!("e^{} to e^{}, {}", fpr.ln_lower, fpr.ln_upper, fpr.method));
    }
    for (name, value) in fpr_value(fpr) {
        report.field(&name, value);
    }
}

/// Adds the exact rate of a scheme that uses two hashes, or a bracket of this rate. For comparison,
/// also adds the rate of independent positions.
fn add_scheme(report: &mut Report, args: &Args) -> Result<(), Failure> {
    let items = args.items.unwrap_or_default();
    let scheme = args.scheme.unwrap_or(SchemeId::Double);
    let law: Box<dyn Law> = match (&args.offsets, args.slice_bits) {
        (Some(offsets), _) => {
            let step = match scheme {
                SchemeId::Double => Step::Any,
                SchemeId::DoubleNonzero => Step::NonZero,
                _ => return Err(Failure::new(format_args!("--offsets can be used with --scheme double or double-nonzero, not {scheme}"))),
            };
            Box::new(Double::new(args.bits(), args.probes, step, Offsets::Custom(offsets.clone()))?)
        }
        (None, Some(slice_bits)) if scheme == SchemeId::PartitionDouble => Box::new(PartitionDouble::new(slice_bits, args.probes)?),
        (None, Some(_)) => return Err(Failure::new(format_args!("--slice-bits can be used with --scheme partition-double, not {scheme}"))),
        (None, None) => scheme.law(args.bits(), args.probes)?,
    };
    let fpr = law.fpr(items)?;
    report.field("scheme", scheme.name()).field("bits", law.bits()).field("probes", args.probes).field("items", items);
    if let Some(offsets) = &args.offsets {
        report.field("offsets", offsets.clone());
    }
    let (bits, probes) = (plural(law.bits(), "bit"), plural(u64::from(args.probes), "probe"));
    let offsets = args.offsets.as_ref().map_or(String::new(), |offsets| {
        let listed: Vec<String> = offsets.iter().map(i64::to_string).collect();
        format!(" (offsets {})", listed.join(","))
    });
    report.line("filter", format!("{scheme} hashing{offsets}, {bits}, {probes}, {}", plural(items, "item")));
    add_rate(report, "expected rate", &fpr);
    let independent = Variant::Standard.fpr(law.bits(), items, args.probes)?;
    report.field("standard", Value::Object(fpr_value(&independent)));
    if independent.ln.is_finite() {
        // Logarithms are compared, because the rates can be below the range of `f64`, and their
        // ratio above it.
        let ln_times = fpr.ln - independent.ln;
        let compared = match ln_times.exp() {
            times @ ..1.0 => format!("{:.3}% lower", 100.0 * (1.0 - times)),
            times @ ..10.0 => format!("{:.3}% higher", 100.0 * (times - 1.0)),
            times @ ..1e300 => format!("{} times as high", rate(times, 4)),
            _ => format!("{} times as high", power(ln_times, 4)),
        };
        report.line("independent", format!("{} if positions were independent; the rate above is {compared}", fpr_text(&independent, 6)));
    }
    Ok(())
}

/// Adds the rate of a blocked filter (blocks of one cache line), and the rate of an unblocked
/// filter for comparison.
fn add_blocked(report: &mut Report, args: &Args) -> Result<(), Failure> {
    let items = args.items.unwrap_or_default();
    let law = Blocked::new(args.bits(), BLOCK_BITS, InBlock::Independent, args.probes)?;
    report.field("layout", "blocked").field("bits", law.bits()).field("probes", args.probes).field("items", items);
    let (bits, probes) = (plural(law.bits(), "bit"), plural(u64::from(args.probes), "probe"));
    report.line("filter", format!("blocked, {bits}, {probes}, {}", plural(items, "item")));
    add_rate(report, "expected rate", &law.fpr(items)?);
    let independent = Variant::Standard.fpr(law.bits(), items, args.probes)?;
    report.field("standard", Value::Object(fpr_value(&independent)));
    report.line("standard", rate(independent.value, 6));
    Ok(())
}

fn add_expected(report: &mut Report, args: &Args, items: u64) -> Result<(), Failure> {
    let fpr = args.variant.fpr(args.bits(), items, args.probes)?;
    report.field("items", items);
    report.line(
        "filter",
        format!("{}, {}, {}, {}", args.variant, plural(args.bits(), "bit"), plural(u64::from(args.probes), "probe"), plural(items, "item")),
    );
    add_rate(report, "expected rate", &fpr);
    let mut fields = Map::new();
    for approximation in Approximation::ALL {
        // Approximations for distinct bits have no value if there are more probes than bits.
        let Ok(value) = approximation.value(args.bits(), items, args.probes) else { continue };
        fields.insert(approximation.name().to_owned(), value.into());
        let error = value / fpr.value - 1.0;
        let off = if fpr.value >= f64::MIN_POSITIVE { format!("  {error:+.3e} relative error") } else { String::new() };
        let shown = if value >= f64::MIN_POSITIVE { rate(value, 6) } else { "too small for a double".to_owned() };
        report.line(approximation.name(), format!("{shown}{off}"));
    }
    report.field("approximations", Value::Object(fields));
    Ok(())
}

fn add_at_fill(report: &mut Report, args: &Args, ones: &[u64]) -> Result<(), Failure> {
    let law = args.variant.law(args.bits(), args.probes)?;
    let Some(fpr) = law.fpr_at_fill(ones)? else {
        return Err(Failure::new(format_args!(
            "the set bits alone do not determine the rate of a {} filter; give the number of items with -n instead of --ones",
            args.variant
        )));
    };
    report.field("ones", if ones.len() == 1 { ones[0].into() } else { Value::from(ones.to_vec()) });
    let total: u64 = ones.iter().sum();
    report.line(
        "filter",
        format!(
            "{}, {}, {}, {} set",
            args.variant,
            plural(args.bits(), "bit"),
            plural(u64::from(args.probes), "probe"),
            plural(total, "bit")
        ),
    );
    add_rate(report, "this rate", &fpr);
    Ok(())
}
