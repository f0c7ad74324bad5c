//! `truebloom audit`: what rate the library you run today really gives.

use crate::args::{bits as parse_bits, count as parse_count, probes as parse_probes, rate as parse_rate};
use crate::failure::Failure;
use crate::plots::{self, Given, PlotArgs};
use crate::progress::Waiting;
use crate::report::{Format, Report, count, fpr as fpr_text, fpr_value, plural, rate as rate_text};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use truebloom_audit::{PROFILES, Profile, Simulation, Size, find, ideal, rate, share, simulate};
use truebloom_math::{Fpr, Rate};
use truebloom_plot::Chart;

const EXAMPLES: &str = "\
Examples:
  truebloom audit guava -n 1000 -p 1e-6
  truebloom audit redisbloom -n 100 -p 1e-6 --simulate 1G     a narrower interval (half a minute)
  truebloom audit bip37 -n 5000 --bits 36000B --probes 5      a filter you have
  truebloom audit --table -n 1000 -p 1e-6                     all of them, side by side
  truebloom audit --table -n 1000 -p 1% --plot audit.svg      the same as a chart

The arithmetic of a library is audited, on ideal hashes in place of its own. Rates come from a law where one fits, otherwise from a simulation, with its 99% interval.

All are judged alike, truebloom too: whether the expected rate is at most what was asked (the verdict), and how many of the filters that are built have a rate of their own
that is at most what was asked (`keep it`, at least; `-` where the set bits do not determine a filter's rate).";

const USAGE: &str = "\
truebloom audit [OPTIONS] -n <N> -p <RATE> <LIBRARY>
       truebloom audit [OPTIONS] -n <N> -m <SIZE> -k <K> <LIBRARY>
       truebloom audit [OPTIONS] -n <N> -p <RATE> --table";

/// Compute the false-positive rate that another library really gives
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Args {
    /// The library: bip37, bits-and-blooms, bloomfilter, cassandra, dcso, fastbloom, guava,
    /// parquet, pybloom-live, rbloom, redisbloom, redisbloom-scaling, truebloom
    #[arg(value_name = "LIBRARY", required_unless_present = "table", value_parser = library)]
    library: Option<&'static Profile>,

    /// All libraries side by side
    #[arg(long, conflicts_with_all = ["library", "bits", "probes"])]
    table: bool,

    /// Distinct items in the filter
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    items: u64,

    /// The rate the library is asked for
    #[arg(short = 'p', long = "fpr", value_name = "RATE", value_parser = parse_rate, required_unless_present_all = ["bits", "probes"])]
    rate: Option<Rate>,

    /// Bits of the filter instead of those the library computes
    #[arg(short = 'm', long, value_name = "SIZE", value_parser = parse_bits, requires = "probes")]
    bits: Option<u64>,

    /// Probes of the filter instead of those the library computes
    #[arg(short = 'k', long, value_name = "K", value_parser = parse_probes, requires = "bits")]
    probes: Option<u32>,

    /// Simulate the arithmetic with this many queries, even where a law gives the rate; by default
    /// 1M to 20M where none does, which measures a rate to a few percent unless it is very low
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

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// By its name in any case.
fn library(name: &str) -> Result<&'static Profile, String> {
    find(&name.to_lowercase()).ok_or_else(|| {
        let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
        format!("`{name}` is not a library known here; take one of {}", names.join(", "))
    })
}

/// What is known of one library at one size.
struct Finding {
    profile: &'static Profile,
    size: Size,
    ideal: Fpr,
    law: Option<Fpr>,
    /// What equal hashes alone give.
    floor: f64,
    simulation: Option<Simulation>,
    /// The share of filters that keep what was asked, at least.
    share: Option<f64>,
}

impl Finding {
    fn new(profile: &'static Profile, args: &Args) -> Result<Finding, Failure> {
        let size = match (args.bits, args.probes, args.rate) {
            (Some(bits), Some(probes), _) => profile.size_of(bits, probes)?,
            (_, _, Some(rate)) => profile.size(args.items, rate.to_f64())?,
            _ => return Err(Failure::new("give the rate the library is asked for with -p, or the bits and probes of a filter")),
        };
        let law = rate(profile, size, args.items)?;
        let ideal = ideal(size, args.items)?;
        let wanted = args.simulate.or_else(|| law.is_none().then(|| enough(&ideal)));
        let waiting = wanted.filter(|_| !args.no_progress).map(|_| Waiting::begin(format!("simulating {}", profile.name)));
        let simulation = wanted.map(|queries| simulate(profile, size, args.items, queries, args.seed)).transpose()?;
        drop(waiting);
        let floor = profile.arithmetic.hash_floor(size, args.items);
        let share = args.rate.map(|asked| share(profile, size, args.items, &asked)).transpose()?.flatten();
        Ok(Finding { profile, size, ideal, law, floor, simulation, share })
    }

    /// The rate, and the interval it lies in: of the law if there is one, never below the floor of
    /// equal hashes.
    fn rate(&self) -> (f64, f64, f64) {
        match (&self.law, &self.simulation) {
            (Some(fpr), _) => (fpr.value, fpr.lower, fpr.upper),
            (None, Some(found)) => (found.rate.max(self.floor), found.lower.max(self.floor), found.upper.max(self.floor)),
            (None, None) => (f64::NAN, 0.0, 1.0),
        }
    }

    /// By items, around those asked for.
    fn chart(&self, args: &Args) -> Chart {
        let by_law = |items: u64| rate(self.profile, self.size, items).ok()?.map(|fpr| fpr.value);
        let ideal = |items: u64| ideal(self.size, items).ok().map(|fpr| fpr.value);
        let asked = args.rate.map(|rate| rate.to_f64());
        let note = format!("{}, {}", plural(self.size.bits, "bit"), plural(self.size.probes.into(), "probe"));
        truebloom_math::as_one_call(|| plots::library(self.profile.title, args.items, asked, by_law, ideal, self.rate())).note(note)
    }

    fn given(&self) -> Given {
        Given { library: self.profile.name.to_owned(), ideal: self.ideal.value, rate: self.rate() }
    }

    fn method(&self) -> String {
        self.law.map_or("simulation".to_owned(), |fpr| fpr.method.to_string())
    }

    fn verdict(&self, asked: Option<Rate>) -> String {
        let Some(asked) = asked.map(|rate| rate.to_f64()) else { return "nothing asked".to_owned() };
        let (value, lower, upper) = self.rate();
        if self.floor > asked {
            let bits = self.profile.arithmetic.hash_bits(self.size);
            format!(
                "missed: {} times what was asked, and equal hashes of {bits} bits alone give more than that",
                rate_text(value / asked, 2)
            )
        } else if upper <= asked {
            "kept".to_owned()
        } else if lower <= asked {
            match &self.simulation {
                Some(found) if self.law.is_none() => format!("too few queries to tell; add --simulate {}", more(found.queries)),
                _ => "too close to tell".to_owned(),
            }
        } else if value >= 1.5 * asked {
            format!("missed: {} times what was asked", rate_text(value / asked, 2))
        } else {
            format!("missed by {}%", rate_text(100.0 * (value / asked - 1.0), 2))
        }
    }

    fn json(&self, asked: Option<Rate>) -> Value {
        let profile = self.profile;
        json!({
            "library": profile.name, "title": profile.title, "version": profile.version, "source": profile.source, "sizing": profile.sizing,
            "scheme": profile.scheme, "remark": profile.remark, "bits": self.size.bits, "probes": self.size.probes,
            "hash_bits": profile.arithmetic.hash_bits(self.size), "hash_floor": self.floor,
            "ideal": fpr_value(&self.ideal), "law": self.law.as_ref().map(fpr_value),
            "simulation": self.simulation.as_ref().map(simulation_value), "method": self.method(), "share": self.share, "verdict": self.verdict(asked),
        })
    }
}

/// A share, rounded down.
fn percent(share: f64) -> String {
    format!("{:.1}%", (1000.0 * share).floor() / 10.0)
}

/// Queries that show the rate to some percent, if that takes about a second at most.
fn enough(ideal: &Fpr) -> u64 {
    (10_000.0 / ideal.value).clamp(1e6, 2e7) as u64
}

/// Ten times as many, or twenty million, as that is written: `20M`.
fn more(queries: u64) -> String {
    let wanted = queries.saturating_mul(10).max(20_000_000).div_ceil(10_000_000) * 10;
    if wanted.is_multiple_of(1_000) { format!("{}G", wanted / 1_000) } else { format!("{wanted}M") }
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
            let finding = Finding::new(profile, args)?;
            let format = if args.json { Format::Json } else { Format::Text };
            args.plot.finish(report(&finding, args), format, || Ok(finding.chart(args)))
        }
        None => print_table(args).map(|()| ExitCode::SUCCESS),
    }
}

fn report(finding: &Finding, args: &Args) -> Report {
    let (profile, size) = (finding.profile, finding.size);
    let mut report = Report::new("audit");
    report.field("items", args.items).field("asked", crate::report::rate_value(args.rate));
    if let Value::Object(fields) = finding.json(args.rate) {
        fields.into_iter().for_each(|(name, value)| {
            report.field(&name, value);
        });
    }
    report
        .line("library", format!("{}, {}", profile.title, profile.version))
        .line("read in", profile.source)
        .line("sizing", profile.sizing);
    report.line("scheme", profile.scheme);
    let asked = args.rate.map_or(String::new(), |rate| format!("{rate} for "));
    report.line("asked", format!("{asked}{}", plural(args.items, "item")));
    report.line("size", format!("{}, {}", plural(size.bits, "bit"), plural(size.probes.into(), "probe")));
    report.line(
        "hash",
        format!("{} bits, so that equal hashes alone give a rate of {}", profile.arithmetic.hash_bits(size), rate_text(finding.floor, 2)),
    );
    report.line("ideal", format!("{} if its positions were independent (exact)", fpr_text(&finding.ideal, 4)));
    if let Some(law) = &finding.law {
        report.line("rate", format!("{} ({})", fpr_text(law, 4), law.method));
    }
    if let Some(found) = &finding.simulation {
        report.line(
            "simulated",
            format!(
                "{} (99% interval {} to {}), {} in {} of {}",
                rate_text(found.rate, 4),
                rate_text(found.lower, 4),
                rate_text(found.upper, 4),
                plural(found.hits, "hit"),
                plural(found.queries, "query").replace("querys", "queries"),
                plural(found.filters, "filter"),
            ),
        );
    }
    if args.rate.is_some() {
        let text = match finding.share {
            Some(share) => format!("at least {} of the filters built have a rate of at most that", percent(share)),
            None => "unknown: the positions are correlated, and no law gives the share of filters that keep the rate".to_owned(),
        };
        report.line("keep it", text);
    }
    report.line("verdict", finding.verdict(args.rate)).line("remark", profile.remark);
    report
}

fn print_table(args: &Args) -> Result<(), Failure> {
    let mut out = crate::output::stdout();
    let findings: Vec<_> = PROFILES.iter().map(|profile| (profile, Finding::new(profile, args))).collect();
    let drawn = args.plot.write(|| {
        let given: Vec<Given> = findings.iter().filter_map(|(_, finding)| Some(finding.as_ref().ok()?.given())).collect();
        Ok(plots::libraries(&given, args.items, args.rate.map(|rate| rate.to_f64())))
    });
    if args.json {
        let rows: Vec<Value> = findings
            .iter()
            .map(|(profile, finding)| match finding {
                Ok(finding) => finding.json(args.rate),
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
    writeln!(
        out,
        "{:<19}{:>14}{:>8}  {:<11}{:<11}{:<36}{:<9}verdict",
        "library", "bits", "probes", "ideal", "rate", "known by", "keep it"
    )?;
    for (profile, finding) in findings {
        match finding {
            Ok(finding) => {
                let (value, lower, upper) = finding.rate();
                let interval = match finding.law {
                    Some(law) => law.method.to_string(),
                    None => format!("simulation, {} to {}", rate_text(lower, 3), rate_text(upper, 3)),
                };
                writeln!(
                    out,
                    "{:<19}{:>14}{:>8}  {:<11}{:<11}{interval:<36}{:<9}{}",
                    profile.name,
                    count(finding.size.bits),
                    finding.size.probes,
                    fpr_text(&finding.ideal, 4),
                    rate_text(value, 4),
                    finding.share.map_or("-".to_owned(), percent),
                    finding.verdict(args.rate)
                )?;
            }
            Err(refusal) => writeln!(out, "{:<19}{:>14}{:>8}  {}", profile.name, "-", "-", refusal.message())?,
        }
    }
    if let Some(path) = drawn? {
        writeln!(out, "\nwritten: {}", path.display())?;
    }
    Ok(())
}
