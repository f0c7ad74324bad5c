//! `truebloom audit`: computes the real rate of a filter of another library.

use crate::args::{bits as parse_bits, count as parse_count, probes as parse_probes, rate as parse_rate};
use crate::failure::{Failure, Shown};
use crate::plots::{self, Given, PlotArgs};
use crate::progress::Waiting;
use crate::report::{Format, FormatArgs, Report, count, fpr as fpr_text, fpr_value, plural, rate as rate_text, rate_down, rate_up};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use truebloom_audit::{PROFILES, Profile, Simulation};
use truebloom_math::{Error, Rate};
use truebloom_report::finding::{Finding, Verdict, library};

const EXAMPLES: &str = "\
Examples:
  truebloom audit guava -n 1000 -p 1e-6
  truebloom audit redisbloom -n 100 -p 1e-6 --simulate 1G     a narrower interval than by default (takes half a minute)
  truebloom audit bip37 -n 5000 --bits 36000B --probes 5      bits and probes of your own filter
  truebloom audit --table -n 1000 -p 1e-6                     all libraries, side by side
  truebloom audit --table -n 1000 -p 1% --plot audit.svg      the same as a chart

The audit uses the library's own arithmetic, but ideal hashes in place of its hash function. Rates come from a formula if one applies, and otherwise from a simulation with a 99% interval.

All libraries are judged alike, including truebloom. The verdict says whether the expected rate is at most the requested rate. The column `met by` is a lower bound on the share of filters that meet the requested rate. It shows `-` if the rate of a filter cannot be computed from its number of set bits.";

const USAGE: &str = "\
truebloom audit [OPTIONS] -n <N> -p <RATE> <LIBRARY>
       truebloom audit [OPTIONS] -n <N> -m <SIZE> -k <K> <LIBRARY>
       truebloom audit [OPTIONS] -n <N> -p <RATE> --table";

/// Compute the false-positive rate that another library really gives
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    /// The library to audit: bip37, bits-and-blooms, bloomfilter, cassandra, dcso, fastbloom,
    /// guava, parquet, pybloom-live, rbloom, redisbloom, redisbloom-scaling, truebloom
    #[arg(value_name = "LIBRARY", required_unless_present = "table", value_parser = library)]
    library: Option<&'static Profile>,

    /// Compare all libraries in one table
    #[arg(long, conflicts_with_all = ["library", "bits", "probes", "csv"])]
    table: bool,

    /// Number of distinct items in the filter
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    items: u64,

    /// The rate requested from the library
    #[arg(short = 'p', long = "fpr", value_name = "RATE", value_parser = parse_rate, required_unless_present_all = ["bits", "probes"])]
    rate: Option<Rate>,

    /// Number of bits, instead of the number that the library computes
    #[arg(short = 'm', long, value_name = "SIZE", value_parser = parse_bits, requires = "probes")]
    bits: Option<u64>,

    /// Number of probes, instead of the number that the library computes
    #[arg(short = 'k', long, value_name = "K", value_parser = parse_probes, requires = "bits")]
    probes: Option<u32>,

    /// Simulate the library with this many queries, even if a formula gives the rate. Without a
    /// formula, the default is 1M to 20M queries, which measure the rate to within a few percent.
    /// Very low rates are measured less precisely
    #[arg(long, value_name = "N", value_parser = parse_count)]
    simulate: Option<u64>,

    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_count)]
    seed: u64,

    /// Show no progress
    #[arg(long)]
    no_progress: bool,

    #[command(flatten)]
    plot: PlotArgs,

    #[command(flatten)]
    format: FormatArgs,
}

/// Collects what is known about one library, from formulas, and from a simulation if one was
/// requested or no formula applies.
fn finding(profile: &'static Profile, args: &Args) -> Result<Finding, Failure> {
    let size = match (args.bits, args.probes, args.rate) {
        (Some(bits), Some(probes), _) => profile.size_of(bits, probes)?,
        (_, _, Some(rate)) => profile.size(args.items, rate.to_f64())?,
        _ => return Err(Failure::new("give the requested rate with -p, or the bits and probes of a filter with -m and -k")),
    };
    let found = Finding::by_law(profile, size, args.items, args.rate.as_ref())?;
    let Some(queries) = args.simulate.or_else(|| found.queries()) else { return Ok(found) };
    let waiting = (!args.no_progress).then(|| Waiting::begin(format!("simulating {}", profile.name)));
    let found = found.simulated(queries, args.seed).map_err(|error| match error {
        Error::TooLong { .. } => Failure::new(format_args!(
            "{}: a simulation with {} queries takes too long; give fewer items, or fewer queries (--simulate)",
            profile.name,
            count(queries)
        )),
        error => error.into(),
    })?;
    drop(waiting);
    Ok(found)
}

/// A simulation that confirms a lower rate would take more than the 10^12 steps that are allowed.
const LOWEST_CONFIRMED: f64 = 1e-11;

fn verdict(found: &Finding, asked: Option<Rate>) -> String {
    let verdict = found.verdict(asked);
    match &verdict {
        Verdict::TooFew(queries) if asked.is_some_and(|rate| rate.to_f64() < LOWEST_CONFIRMED) => {
            format!("{verdict}; no simulation can confirm a rate this low, but --simulate {queries} may show that it is missed")
        }
        Verdict::TooFew(queries) => format!("{verdict}; add --simulate {queries}"),
        _ => verdict.to_string(),
    }
}

fn json(found: &Finding, asked: Option<Rate>) -> Value {
    let profile = found.profile;
    json!({
        "library": profile.name, "title": profile.title, "version": profile.version, "source": profile.source, "sizing": profile.sizing,
        "scheme": profile.scheme, "remark": profile.remark, "bits": found.size.bits, "probes": found.size.probes,
        "hash_bits": profile.arithmetic.hash_bits(found.size), "hash_floor": found.floor,
        "ideal": fpr_value(&found.ideal), "law": found.law.as_ref().map(fpr_value),
        "simulation": found.simulation.as_ref().map(simulation_value), "method": found.method(), "share": found.share, "verdict": verdict(found, asked),
    })
}

/// Formats the ends of an interval around `value`: the lower end rounded down, the upper end up.
fn outward(value: f64, digits: usize) -> impl Fn(f64) -> String {
    move |end| if end < value { rate_down(end, digits) } else { rate_up(end, digits) }
}

/// A share, rounded down.
fn percent(share: f64) -> String {
    format!("{:.1}%", (1000.0 * share).floor() / 10.0)
}

fn simulation_value(found: &Simulation) -> Value {
    json!({
        "filters": found.filters, "queries": found.queries, "hits": found.hits, "rate": found.rate, "lower": found.lower, "upper": found.upper,
        "confidence": 0.99,
    })
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    args.plot.check()?;
    match args.library {
        Some(profile) => {
            let finding = finding(profile, args)?;
            args.plot.finish(report(&finding, args), args.format.format(), || Ok(finding.chart(args.rate)))
        }
        None => print_table(args).map(|()| ExitCode::SUCCESS),
    }
}

fn report(finding: &Finding, args: &Args) -> Report {
    let (profile, size) = (finding.profile, finding.size);
    let mut report = Report::new("audit");
    report.field("items", args.items).field("asked", crate::report::rate_value(args.rate));
    if let Value::Object(fields) = json(finding, args.rate) {
        fields.into_iter().for_each(|(name, value)| {
            report.field(&name, value);
        });
    }
    report.line("library", format!("{}, {}", profile.title, profile.version)).line("source", profile.source).line("sizing", profile.sizing);
    report.line("scheme", profile.scheme);
    let asked = args.rate.map_or("no rate, because the size was given; the rates below are for ".to_owned(), |rate| format!("{rate} for "));
    report.line("requested", format!("{asked}{}", plural(args.items, "item")));
    report.line("size", format!("{}, {}", plural(size.bits, "bit"), plural(size.probes.into(), "probe")));
    report.line(
        "hash",
        format!("{} bits; hash collisions alone give a rate of {}", profile.arithmetic.hash_bits(size), rate_text(finding.floor, 2)),
    );
    report.line("ideal", format!("{}, the exact rate if all positions were independent", fpr_text(&finding.ideal, 4)));
    if let Some(law) = &finding.law {
        report.line("rate", format!("{} ({})", fpr_text(law, 4), law.method));
    }
    if let Some(found) = &finding.simulation {
        let interval = finding.interval(found, outward(found.rate, 4));
        report.line(
            "simulated",
            format!(
                "{} ({interval}), {} in {} of {}",
                rate_text(found.rate, 4),
                plural(found.hits, "hit"),
                plural(found.queries, "query").replace("querys", "queries"),
                plural(found.filters, "filter"),
            ),
        );
    }
    if args.rate.is_some() {
        let text = match finding.share {
            Some(share) if share < 1e-3 => "possibly no filter (the lower bound is 0.0%)".to_owned(),
            Some(share) => format!("at least {} of all filters", percent(share)),
            None => "unknown: the positions are correlated, and no formula gives the share of filters that meet the rate".to_owned(),
        };
        report.line("met by", text);
    }
    report.line("verdict", verdict(finding, args.rate)).line("remark", profile.remark);
    report
}

fn print_table(args: &Args) -> Result<(), Failure> {
    let mut out = crate::output::stdout();
    let findings: Vec<_> = PROFILES.iter().map(|profile| (profile, finding(profile, args))).collect();
    let drawn = args.plot.write(|| {
        let given: Vec<Given> = findings.iter().filter_map(|(_, finding)| Some(finding.as_ref().ok()?.given())).collect();
        let refused: Vec<&str> = findings.iter().filter(|(_, finding)| finding.is_err()).map(|(profile, _)| profile.name).collect();
        Ok(plots::libraries(&given, &refused, args.items, args.rate.map(|rate| rate.to_f64())))
    });
    if args.format.format() == Format::Json {
        let rows: Vec<Value> = findings
            .iter()
            .map(|(profile, finding)| match finding {
                Ok(finding) => json(finding, args.rate),
                Err(refusal) => json!({ "library": profile.name, "refused": refusal.message() }),
            })
            .collect();
        writeln!(
            out,
            "{}",
            json!({ "verb": "audit", "items": args.items, "asked": crate::report::rate_value(args.rate), "libraries": rows })
        )?;
        return drawn.map(|_| ());
    }
    writeln!(out, "{:<19}{:>14}{:>8}  {:<11}{:<11}{:<36}{:<9}verdict", "library", "bits", "probes", "ideal", "rate", "method", "met by")?;
    for (profile, finding) in findings {
        match finding {
            Ok(finding) => {
                let (value, ..) = finding.rate();
                let known_by = finding.known_by(outward(value, 3));
                writeln!(
                    out,
                    "{:<19}{:>14}{:>8}  {:<11}{:<11}{known_by:<36}{:<9}{}",
                    profile.name,
                    count(finding.size.bits),
                    finding.size.probes,
                    fpr_text(&finding.ideal, 4),
                    rate_text(value, 4),
                    finding.share.map_or("-".to_owned(), percent),
                    verdict(&finding, args.rate)
                )?;
            }
            Err(refusal) => writeln!(out, "{:<19}{:>14}{:>8}  {}", profile.name, "-", "-", refusal.message())?,
        }
    }
    if let Some(path) = drawn? {
        writeln!(out, "\nwritten: {}", path.shown())?;
    }
    Ok(())
}
