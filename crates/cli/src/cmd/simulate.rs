//! `truebloom simulate`: runs the real recycling filter over a stream, and compares it with its
//! model.

use crate::args;
use crate::failure::{Failure, of_options};
use crate::plots::{self, PlotArgs};
use crate::progress::Waiting;
use crate::report::{CONFIDENCE, FormatArgs, Report, fpr_value, plural, rate, rate_down, rate_up, significant, size};
use crate::subject::Real;
use serde_json::{Value, json};
use std::process::ExitCode;
use truebloom::recycling::Policy;
use truebloom::scheme::{Classic, FillScheme, Standard};
use truebloom_math::recycling::{Bracket, Design, Mode, Phases, Seeds, Simulated, Stream, Trigger, capacity, simulate_subject};
use truebloom_math::{Error, Rate};

const EXAMPLES: &str = "\
Examples:
  truebloom simulate --bits 1000 -k 4 --sigma 300                       one phase, new items only
  truebloom simulate --bits 500 -k 5 --sigma 220 --phases 2             two phases of 500 bits each
  truebloom simulate --bits 1000 -p 1% --plot saw.svg                   also draw how its rate rises and falls
  truebloom simulate --bits 64KiB -p 1%                                 the design that holds the most items
  truebloom simulate --bits 10k -p 1% --stream zipf:100k,1.1            popular items recur
  truebloom simulate --bits 10k -p 1% --phases 2 --stream fading:500    items lose popularity

The model assumes that every item is new. With two phases, an item that recurs may be stored again in the newer filter; the model ignores this.";

/// Run a real recycling filter (it is emptied when full) on a stream, and compare it with its model
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Size of each filter, in bits (1M, 64Mi) or bytes (2MB, 64MiB)
    #[arg(short = 'm', long, value_name = "SIZE", value_parser = args::bits)]
    bits: u64,

    /// Number of probes per item
    #[arg(short = 'k', long, value_name = "K", value_parser = args::probes, requires = "sigma")]
    probes: Option<u32>,

    /// End the cycle, and empty a filter, when more bits than this are set
    #[arg(long, value_name = "BITS", value_parser = args::count, requires = "probes", conflicts_with = "rate")]
    sigma: Option<u64>,

    /// Average rate, instead of -k and --sigma. The command then chooses -k and --sigma so that the
    /// filter holds the most items
    #[arg(short = 'p', long = "fpr", value_name = "RATE", value_parser = args::rate, conflicts_with = "probes")]
    rate: Option<Rate>,

    /// Number of filters: one, or two that take turns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2), default_value_t = 1)]
    phases: u8,

    /// Make the positions of an item differ from each other, as in the classic filter
    #[arg(long)]
    classic: bool,

    /// With one phase: when an item ends a cycle, also insert this item into the emptied filter
    #[arg(long)]
    retaining: bool,

    /// With two phases: clear the bits that were set by the item that ends a phase
    #[arg(long)]
    exclude_trigger: bool,

    /// Keep one seed, instead of choosing a new one for every cycle. This makes a difference only
    /// with --phases 2 or --retaining
    #[arg(long)]
    one_seed: bool,

    /// The stream: new (every item is new); uniform:ITEMS (all items are equally likely);
    /// zipf:ITEMS,EXPONENT (item i has the weight 1/i^EXPONENT); or fading:MEAN (half of the items
    /// repeat an earlier one, on average MEAN new items back)
    #[arg(long, value_name = "STREAM", value_parser = stream, default_value = "new")]
    stream: Stream,

    /// Number of arriving items to measure. A warm-up with a tenth of this number comes first
    #[arg(short = 'n', long, value_name = "N", value_parser = args::count, default_value = "1M")]
    arrivals: u64,

    /// Seed of the filter and of the stream
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Show no progress
    #[arg(long)]
    no_progress: bool,

    #[command(flatten)]
    plot: PlotArgs,

    #[command(flatten)]
    format: FormatArgs,
}

fn stream(text: &str) -> Result<Stream, String> {
    let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
    let number = |text: &str| text.parse::<f64>().map_err(|_| format!("`{text}` is not a number"));
    match (name, numbers.split_once(',')) {
        ("new", None) if numbers.is_empty() => Ok(Stream::New),
        ("uniform", None) => Ok(Stream::Uniform { items: args::count(numbers)? }),
        ("zipf", Some((items, exponent))) => Ok(Stream::Zipf { items: args::count(items)?, exponent: number(exponent)? }),
        ("fading", None) => Ok(Stream::Fading { mean: number(numbers)? }),
        _ => {
            Err(format!("`{text}` is not a kind of stream; the kinds are `new`, `uniform:ITEMS`, `zipf:ITEMS,EXPONENT` and `fading:MEAN`"))
        }
    }
}

/// The options of a simulation, by the names that the library gives them.
const SIMULATED: [(&str, &str); 4] =
    [("arrivals", "-n"), ("items", "ITEMS in --stream"), ("exponent", "EXPONENT in --stream"), ("mean", "MEAN in --stream")];

/// The largest number of arrivals. Simulating this many takes some hours.
const MOST_ARRIVALS: u64 = 1_000_000_000_000;

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.arrivals > MOST_ARRIVALS {
        return Err(Failure::new(format!("{} are too many; give at most 10^12", plural(args.arrivals, "arrival"))));
    }
    args::needs(("--exclude-trigger", args.exclude_trigger), ("--phases 2", args.phases == 2))?;
    if args.retaining && args.phases == 2 {
        return Err(Failure::new(
            "--retaining cannot be combined with --phases 2: the item that ends a phase would be in both filters, and no exact formula for the rate is known; leave out one of the two options",
        ));
    }
    args.plot.check()?;
    let design = design(args)?;
    if args.classic { simulated::<Classic>(args, &design) } else { simulated::<Standard>(args, &design) }
}

fn design(args: &Args) -> Result<Design, Failure> {
    let trigger = if args.exclude_trigger { Trigger::Excluded } else { Trigger::Included };
    let mode = Mode {
        phases: if args.phases == 2 { Phases::Two(trigger) } else { Phases::One },
        colliding: !args.classic,
        retaining: args.retaining,
        seeds: if args.one_seed { Seeds::Kept } else { Seeds::Renewed },
    };
    if let (Some(probes), Some(sigma)) = (args.probes, args.sigma) {
        return Ok(Design::new(args.bits, probes, sigma, mode)?);
    }
    let Some(rate) = args.rate else { return Err(Failure::new("give -k and --sigma, or a rate with -p")) };
    let bits = args.bits.saturating_mul(mode.filters());
    let found = capacity(bits, &rate, mode)?;
    found.map(|sized| sized.design).ok_or_else(|| Failure::new(format!("no recycling filter of {bits} bits can meet a rate of {rate}")))
}

fn simulated<S: FillScheme>(args: &Args, design: &Design) -> Result<ExitCode, Failure> {
    let waiting = (!args.no_progress).then(|| Waiting::begin("simulating".to_owned()));
    let mut filter = Real::<S>::new(design.bits(), design.probes(), Policy::from(design), args.seed)?;
    let seen = simulate_subject(&mut filter, design.mode(), args.stream, args.arrivals, args.seed).map_err(of_options(&SIMULATED))?;
    let model = match design.long_run() {
        Ok(run) => Some(run),
        Err(Error::TooLong { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let mut report = Report::new("simulate");
    let two = design.mode().filters() == 2;
    let each = if two { " in each of two filters" } else { "" };
    report.line(
        "design",
        format!(
            "{}{each}, {}, full when more than {} are set",
            size(design.bits()),
            plural(design.probes().into(), "probe"),
            plural(design.sigma(), "bit")
        ),
    );
    report
        .field("bits", design.bits())
        .field("probes", design.probes())
        .field("sigma", design.sigma())
        .field("phases", args.phases)
        .field("arrivals", args.arrivals);
    let modelled = model.as_ref().map(|run| (run.fpr.value, run.items_per_cycle.value));
    add(
        &mut report,
        "rate",
        "of the items that no filter held were wrongly reported as repeats",
        &seen.instance,
        modelled.map(|(rate, _)| rate),
    );
    add(
        &mut report,
        "items",
        if two { "distinct items per phase" } else { "distinct items per cycle" },
        &seen.items_per_cycle,
        modelled.map(|(_, items)| items),
    );
    if args.stream != Stream::New {
        add_repeats(&mut report, &seen);
    }
    report.field("fpr", seen_value(&seen.instance)).field("items_per_cycle", seen_value(&seen.items_per_cycle));
    report.field(
        "model",
        model.map_or(
            Value::Null,
            |run| json!({ "fpr": fpr_value(&run.fpr), "worst": fpr_value(&run.worst), "items_per_cycle": run.items_per_cycle.value }),
        ),
    );
    add_own_account(&mut report, &filter)?;
    let average = [seen.instance.value, seen.instance.lower, seen.instance.upper];
    drop(waiting);
    args.plot.finish(report, args.format.format(), || plots::saw_tooth::<S>(design, args.seed, Some(average)))
}

fn add_repeats(report: &mut Report, seen: &Simulated) {
    for (label, name, what, share) in [
        ("first", "count_first", "of all arrivals were new, but wrongly reported as repeats", &seen.first),
        ("each", "count_each", "of all arrivals were of items whose first arrival was wrongly reported as a repeat", &seen.each),
        ("forgotten", "forgotten", "of all repeats came after the filter had forgotten the item", &seen.forgotten),
    ] {
        add(report, label, what, share, None);
        report.field(name, seen_value(share));
    }
}

/// Adds the rate and the wrong drops that the filter itself reports, without knowing which items
/// were new.
fn add_own_account<S: FillScheme>(report: &mut Report, filter: &Real<S>) -> Result<(), Failure> {
    let average = filter.0.average_fpr();
    report.field("own_average", average).field("cycles", filter.0.stats().cycles);
    if let Some(average) = average {
        let drops = filter.0.wrong_drops(CONFIDENCE)?;
        let bound = drops.map_or(String::new(), |drops| {
            format!("; it wrongly dropped at most {} ({}% confidence)", plural(drops.at_most, "item"), 100.0 * CONFIDENCE)
        });
        report.line("own", format!("the filter estimates its own rate as {}{bound}", rate(average, 4)));
        report.field("wrong_drops_at_most", drops.map(|drops| drops.at_most));
    }
    Ok(())
}

fn seen_value(seen: &Bracket) -> Value {
    json!({ "value": seen.value, "lower": seen.lower, "upper": seen.upper, "method": seen.method.to_string() })
}

fn add(report: &mut Report, label: &str, what: &str, seen: &Bracket, model: Option<f64>) {
    let shown = |value: f64| significant(value, 5);
    let model = model.map_or(String::new(), |model| {
        let inside = if seen.lower <= model && model <= seen.upper { "inside" } else { "outside" };
        format!("; the model predicts {}, {inside} the interval", shown(model))
    });
    report.line(
        label,
        format!("{} {what} (99% interval {} to {}){model}", shown(seen.value), rate_down(seen.lower, 5), rate_up(seen.upper, 5)),
    );
}
