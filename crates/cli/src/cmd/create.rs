//! `truebloom create`: builds a filter from lines, in one pass. The command needs memory only for
//! the filter and the longest line.

use super::plan::add_promise;
use super::probes;
use crate::args::{Size, bits, count as number};
use crate::failure::{Failure, PLANNED, Shown, note, of_options, warn};
use crate::filters::{self, Layout};
use crate::lock::Lock;
use crate::records::{self, Limits, RecordArgs, Records};
use crate::report::{Report, certainty, count, fpr as fpr_text, fpr_value, plural, proven, rate_up, rate_value, size};
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::{AnyFilter, FIRST_ITEMS, Filter, ScalableFilter, Seed};
use truebloom_math::{Growth, Plan, SchemeId, Target};

const EXAMPLES: &str = "\
Examples:
  truebloom create -n 10M -p 0.1% seen.tbl urls.txt
  truebloom create -n 10M -p 0.1% seen.tbl urls.gz more.zst
  truebloom create -n 10M -p 0.1% seen.tbl --csv --column email users.csv
  truebloom create -n 10M -p 0.1% -j 4 seen.tbl urls.txt
  truebloom create -p 1e-6 seen.tbl urls.txt           counts the lines first
  zcat *.gz | truebloom create -p 0.1% seen.tbl        one pass; takes up to about 3.2 times the memory
  truebloom create -p 0.1% --grow seen.tbl urls.txt    reads a file only once, without counting
  truebloom create -n 10M -p 1% --layout auto seen.tbl urls.txt
  truebloom create -n 10M -p 1% --empty seen.tbl       to fill later

The filter to write comes first, then the inputs. A line is a string of bytes without its newline. Inserting a line again sets no further bits. With -p or -m alone, the filter is planned for the number of lines in the files, repeats included. If many lines repeat, give the number of distinct lines with -n (`truebloom dedup -c FILE` prints it), or use --grow.";

/// Build a filter from the lines of files or of standard input
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    size: Size,

    /// The filter to write; it comes before the inputs
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// Files of lines; with `-` or no file, read standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Make a filter that grows with its input, in one pass and without -n. When its last layer is
    /// full, it adds a new layer. FIRST is the approximate number of items in the first layer. The
    /// filter meets the rate for any number of items. If only -p is given, this is the default for
    /// input that can be read only once, such as a pipe
    #[arg(long, value_name = "FIRST", num_args = 0..=1, require_equals = true, value_parser = crate::args::items)]
    #[arg(conflicts_with_all = ["items", "bits", "probes", "confidence", "mean", "scheme", "layout", "strict"], requires = "rate")]
    grow: Option<Option<u64>>,

    /// Read no input; write an empty filter
    #[arg(long, conflicts_with = "inputs")]
    empty: bool,

    /// Write the filter only if it is guaranteed to hold at most the planned number of items;
    /// otherwise, fail
    #[arg(long)]
    strict: bool,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    /// Seed of the hash, up to 32 hexadecimal digits; random by default
    #[arg(long, value_name = "HEX", value_parser = seed)]
    seed: Option<Seed>,

    #[arg(help = format!("How positions are computed from a hash: {}", super::fpr::schemes(|_| true)), long, value_name = "NAME", default_value = "standard", value_parser = super::fpr::scheme)]
    scheme: SchemeId,

    /// standard: the fewest bits; blocked: one cache line per key; auto: blocked if that needs at
    /// most 10% more bits
    #[arg(long, value_name = "LAYOUT", value_enum, hide_possible_values = true, default_value = "standard")]
    layout: Layout,

    /// Hash with SipHash-1-3, for untrusted keys. Without this option, an attacker can choose keys
    /// that are false positives, even without seeing the filter. Keep the file private: it contains
    /// the seed. `info` and --json print the seed
    #[arg(long)]
    untrusted: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    records: RecordArgs,
}

pub(crate) fn seed(text: &str) -> Result<Seed, String> {
    text.parse().map_err(|error: truebloom::ParseSeedError| error.to_string())
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    check_name(args)?;
    filters::check_not_input(&args.filter, &args.inputs, args.empty)?;
    let lock = Lock::of_output(&args.filter, args.force)?;
    if !args.empty && records::is_terminal(&args.inputs) {
        return Err(Failure::new("there is nothing to read: name files, pipe lines in, or add --empty for a filter without items"));
    }
    let made = made(args)?;
    let hasher = filters::hasher(args.seed, args.untrusted)?;
    let filter = match &made {
        Made::Planned(plan) => AnyFilter::from_plan_with_hasher(plan, hasher),
        Made::Grows(growth) => ScalableFilter::with_growth(*growth, hasher).map(AnyFilter::from),
    };
    let filter = filter.map_err(Failure::new)?;
    build(filter, &made, args, &lock)
}

/// Refuses a name that was probably meant as a part of an option.
fn check_name(args: &Args) -> Result<(), Failure> {
    let name = args.filter.to_string_lossy();
    let is_given = args.size.items.is_some() || args.size.bits.is_some();
    let meant = match &*name {
        "%" => "write the rate as one word: -p 0.1%".to_owned(),
        "000" if is_given => "write a number without spaces: 1000 or 1,000".to_owned(),
        // A number that was given with an equals sign is meant.
        _ if is_number(&name) && args.grow == Some(None) => format!("write the number with an equals sign: --grow={name}"),
        _ if is_given && is_unit(&name) => "write the number and its unit as one word: 10M or 64MiB".to_owned(),
        _ => return Ok(()),
    };
    Err(Failure::new(format_args!("the filter would be named `{name}`; {meant}; if this is the name, write ./{name}")))
}

/// Whether a name without a folder looks like the value of an option or a part of it: a percent
/// sign, a number, or the unit of a number.
pub(crate) fn looks_like_value(name: &str) -> bool {
    name == "%" || is_number(name) || is_unit(name)
}

fn is_number(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_digit()) && number(name).is_ok()
}

/// Whether a name can be the unit of a number, such as `M` or `MiB`, or looks like an error in it.
/// One lower-case letter is a usual name of a filter.
fn is_unit(name: &str) -> bool {
    let is_word = !name.is_empty() && name.chars().all(char::is_alphabetic);
    let is_letter = name.len() == 1 && name.starts_with(char::is_lowercase);
    let with_number = format!("1{name}");
    is_word
        && !is_letter
        && [number(&with_number), bits(&with_number)].into_iter().any(|read| read.map_or_else(|why| why.ends_with('?'), |_| true))
}

/// A filter that grows, if there is memory for its first layer; its later layers are checked when
/// they are made.
fn grows(growth: Growth, max_memory: Option<u64>) -> Result<Made, Failure> {
    let needed = filters::bytes_of(growth.layer(0)?.layer.bits());
    match max_memory {
        Some(most) if needed > most => {
            let [needed, most] = [needed, most].map(crate::report::bytes);
            return Err(Failure::new(format_args!(
                "the first layer takes {needed}, but --max-memory allows {most}; allow more, or begin with fewer items (--grow=ITEMS)"
            )));
        }
        Some(_) => {}
        None => crate::memory::check_memory(
            "the first layer takes",
            needed,
            "begin with fewer items (--grow=ITEMS), or give --max-memory to try anyway",
        )?,
    }
    Ok(Made::Grows(growth))
}

/// How the size of the filter is determined.
enum Made {
    Planned(Box<Plan>),
    Grows(Growth),
}

fn build(mut filter: AnyFilter, made: &Made, args: &Args, lock: &Lock) -> Result<ExitCode, Failure> {
    let limits = Limits { strict: args.strict, memory: args.size.max_memory };
    let records = if args.empty { None } else { Some(records::insert_all(&mut filter, &args.records, &args.inputs, limits)?) };
    // An error upstream, such as an input that does not exist yet, must not destroy the existing
    // filter.
    if lock.replaces() && records.as_ref().is_some_and(|records| records.read() == 0) {
        return Err(Failure::at(
            &args.filter,
            format_args!(
                "the file stays unchanged, because the input has no {}s; add --empty to replace it with an empty filter",
                args.records.noun()
            ),
        ));
    }
    if filter.is_over_capacity() {
        warn(crate::filters::over_capacity(&filter));
    }
    note_repeats(args, &filter, made);
    if records.as_ref().is_some_and(|records| records.read() == 0 && records.complete()) {
        warn(format_args!("the input has no {}s, so the filter is empty", args.records.noun()));
    }
    keep_extraction(&mut filter, args, records.as_ref());
    filters::save(&filter, lock)?;
    report(args, &filter, made, records.as_ref())?.print(args.json)?;
    Ok(records.map_or(ExitCode::SUCCESS, |records| records.told_shortfall(&args.filter)))
}

/// There is a message if the planned number is at least this many times the number of distinct
/// records.
const FAR_TOO_LARGE: u64 = 4;

/// The size, in bits, up to which there is no message, because little memory can be saved.
const SMALL: u64 = 8 << 12;

/// Says that a filter is far too large because repeats were counted, too.
fn note_repeats(args: &Args, filter: &AnyFilter, made: &Made) {
    let is_counted = args.size.items.is_none() && args.size.bits.is_none() && !args.empty;
    let (Made::Planned(plan), true) = (made, is_counted) else { return };
    // Because the filter is not full, nearly every new key has set a bit.
    let distinct = filter.changed();
    if plan.items / FAR_TOO_LARGE >= distinct && filter.bits() > SMALL {
        note(format_args!(
            "the filter was planned for all {}, but only about {} of them are distinct; to get a smaller filter, run the command again, and give this number with -n",
            plural(plan.items, args.records.noun()),
            count(distinct)
        ));
    }
}

/// Stores in the filter how its keys are extracted, and warns if that cannot be stored.
fn keep_extraction(filter: &mut AnyFilter, args: &Args, records: Option<&Records>) {
    // For an empty filter, the first insertion stores this, unless options of this command already
    // determine it.
    if !args.empty || args.records.says_what_keys_are() {
        args.records.extraction().keep(&args.filter, |label| filter.set_label(label));
    }
    args.records.note_names(&args.inputs);
    if let Some(habit) = records.and_then(Records::habit).filter(|habit| habit.is_returns()) {
        warn(habit.hint());
    }
}

/// Determines the plan of the filter, or its growth if it has no plan. To make a plan, the command
/// may first have to count the records. The filter grows if the records cannot be counted or no
/// count is needed.
fn made(args: &Args) -> Result<Made, Failure> {
    if let (Some(first), Some(rate)) = (args.grow, args.size.rate) {
        return grows(Growth::new(rate, first.unwrap_or(FIRST_ITEMS))?, args.size.max_memory);
    }
    filters::check_layout(args.scheme, args.layout)?;
    if matches!(args.size, Size { items: None, rate: None, bits: None, .. }) {
        return Err(Failure::new(
            "give two of -n, -p and -m, or only -p; with only -p, `create` first counts the lines of files, but if the input is a pipe, it makes a filter that grows",
        ));
    }
    let mut target = args.size.target().scheme(args.scheme).layout(args.layout.planned());
    let rate_and_bits = target.rate.is_some() && target.bits.is_some();
    // If the options would not determine a filter even with a count, the planner reports the error.
    if target.items.is_none() && !rate_and_bits && (target.rate.is_some() || target.bits.is_some()) {
        let counted = if args.empty { None } else { records::count(&args.records, &args.inputs)? };
        let Some(counted) = counted else {
            return match target.rate.filter(|_| asks_for_a_rate_alone(args)) {
                Some(rate) => grows(Growth::new(rate, FIRST_ITEMS)?, args.size.max_memory),
                None if args.empty => Err(Failure::new(
                    "for an empty filter, give the planned number of items with -n, or give only -p to make a filter that grows",
                )),
                None => Err(Failure::new(
                    "the input can be read only once, so its lines cannot be counted first; give their number or an upper bound with -n; \
                     or save the lines in a file and name that file; or give only -p to make a filter that grows",
                )),
            };
        };
        // A filter is made even if the input has no records.
        target.items = Some(counted.max(1));
    }
    let plan = Plan::new(&target).map_err(of_options(&PLANNED))?;
    check_memory(&target, plan.bytes())?;
    Ok(Made::Planned(Box::new(plan)))
}

/// Whether the options give only a rate, in which case the command may make a filter that grows.
fn asks_for_a_rate_alone(args: &Args) -> bool {
    let Size { items: None, rate: Some(_), bits: None, probes: None, confidence: None, mean: false, max_memory: _ } = args.size else {
        return false;
    };
    args.scheme == SchemeId::Standard && args.layout != Layout::Blocked && !args.strict
}

/// Without --max-memory, checks that the filter fits into the available memory.
fn check_memory(target: &Target, needed: u64) -> Result<(), Failure> {
    if target.max_bits.is_some() {
        return Ok(());
    }
    crate::memory::check_memory("the filter needs", needed, "ask for fewer items or a higher rate, or give --max-memory to try anyway")
}

fn report(args: &Args, filter: &AnyFilter, made: &Made, records: Option<&Records>) -> Result<Report, Failure> {
    let mut report = Report::new("create");
    let now = filter.fpr();
    report
        .field("filter", args.filter.display().to_string())
        .field("scheme", filter.scheme_id().name())
        .field("bits", filter.bits())
        .field("bytes", filters::bytes(filter))
        .field("probes", filter.probes())
        .field("capacity", filter.capacity())
        .field("asked", rate_value(filter.rate()))
        .field("planned_fpr", if let Made::Planned(plan) = made { Value::Object(fpr_value(&plan.fpr)) } else { Value::Null })
        .field("offered", filter.offered())
        .field("changed", filter.changed())
        .field("ones", filter.ones())
        .field("fpr", fpr_value(&now))
        .field("over_capacity", filter.is_over_capacity())
        .field("seed", filter.seed().to_string());
    match records {
        Some(records) => records.add_shortfall(&mut report),
        None => records::add_no_shortfall(&mut report),
    }
    report.line(
        "created",
        format!(
            "{}: {}{}, {}",
            args.filter.shown(),
            match filter {
                AnyFilter::Standard(_) => String::new(),
                AnyFilter::Scalable(grown) => format!("{}, ", plural(grown.layers().len() as u64, "layer")),
                _ => format!("{}, ", filter.scheme_id().name()),
            },
            size(filter.bits()),
            probes(filter)
        ),
    );
    report.line(
        "holds",
        format!(
            "{}{}",
            super::distinct(filter.offered(), filter.changed(), args.records.noun()),
            filter.capacity().map_or("; adds layers as needed".to_owned(), |items| format!("; planned for {}", count(items)))
        ),
    );
    if records.is_some() {
        args.records.add_header(&mut report);
    }
    let now_text = if filter.fill_tells_rate() { fpr_text(&now, 4) } else { format!("at most {}", rate_up(now.upper, 3)) };
    if let Some(asked) = filter.rate() {
        report.line("requested", asked.to_string());
    }
    match made {
        Made::Planned(plan) if filter.is_over_capacity() => add_broken_promise(&mut report, plan),
        Made::Planned(plan) => add_promise(&mut report, plan),
        Made::Grows(growth) => super::add_growth(&mut report, growth),
    }
    report.line("this filter", format!("{now_text} now"));
    Ok(report)
}

/// Adds the rates if there are more items than planned. In this case nothing is guaranteed, because
/// the plan's rates are for fewer items.
fn add_broken_promise(report: &mut Report, plan: &Plan) {
    let items = plural(plan.items, "item");
    report.field("confidence", Value::Null).field("guarantee", Value::Null);
    let planned = plan.guarantee.as_ref().map_or_else(String::new, |guarantee| {
        let share = certainty(guarantee.confidence, 13);
        format!(
            "; with the planned {items}, the rate would be at most {}, with probability {share}% (proven)",
            proven(&guarantee.fpr, plan.rate)
        )
    });
    report.line("guaranteed", format!("nothing, because the filter holds more items than planned{planned}"));
    report.line("expected", format!("with {items}: at most {} on average over all seeds (proven)", proven(&plan.fpr, plan.rate)));
}
