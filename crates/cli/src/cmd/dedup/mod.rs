//! `truebloom dedup`: prints the first occurrence of each line of an endless stream, in fixed
//! memory.

mod account;
mod design;
mod filter;
mod remember;
mod sift;
mod state;

use crate::aside::ReportTo;
use crate::failure::{Failure, Shown, for_shell, note, warn};
use crate::filters::{self, Layout};
use crate::held::format_error;
use crate::records::{self, Answers, Batch, Event, Extraction, KeysOf, RecordArgs, Records};
use crate::report::{Report, bytes, count, plural};
use account::Account;
use design::{Chosen, Sizing};
use filter::Filter;
pub(crate) use filter::{Filter as State, is_state};
use remember::about;
use sift::Sift;
use state::{Saver, StateFile, check_same};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use truebloom::{BuildError, FormatError, Seed};

const EXAMPLES: &str = "\
Examples:
  truebloom dedup urls.txt                             every line once
  tail -F log | truebloom dedup --remember 1h          endless input; lines are forgotten after 1 to 2 hours
  truebloom dedup -d -n 10M -p 0.1% urls.txt new.txt   lines that occurred before
  truebloom dedup -n 100M -p 1e-6 --report urls.gz
  truebloom dedup -n 100M --layout blocked urls.txt    faster for a large filter, but takes more memory
  truebloom dedup --state state.tbl new.txt            continues where the last run stopped
  truebloom dedup --column email users.csv
  truebloom dedup --second --remember 10M urls.txt     lines that recur, at their second occurrence

If all inputs are files, their lines are counted first, and the filter gets enough memory for all of them, but not less than 64 MiB. For input from a pipe, -n or --memory sets the memory; the default is 64 MiB. \
When the filter is full, it forgets all lines, and a message says so (with --json, the field `cycles` says so). With --strict, the command stops instead. With --remember, only the older lines are forgotten. \
A line that was forgotten is printed again. Each occurrence of a line renews the span of --remember, so a line that keeps recurring is printed only once.

The rate -p bounds how often a first occurrence is wrongly dropped. Without --remember, this is an average over the long run; with --remember, -p bounds the probability that any given line is wrongly dropped. Each of these bounds is proven for \
input that was chosen without knowing the seed. --report estimates how many lines were wrongly dropped.

A state stores how its keys were read (-f, --column and similar options), so later runs need not repeat these options. With --lines, keys are whole lines, whatever the state says. \
`truebloom check` queries a state and does not change it, and `truebloom clear` empties it.
A line without a key, or a line that is too long, is reported in a message. It is printed nevertheless, except with -d or --second. If a signal ends the run, an unfinished last line is not printed.

Exit code: 0 if done; 2 after an error or a line without a key. With -q, it is 0 if a line was selected, and 1 if none was.";

/// Print each line only at its first occurrence
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("delimiter", |delimiter| delimiter.short(None)))]
pub(crate) struct Args {
    /// Files of lines; with `-` or no file, read standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Print only repeats: lines that occurred before
    #[arg(short = 'd', long)]
    repeated: bool,

    /// Print each line only at its second occurrence, like a cache that admits an entry on its
    /// second hit. A line is wrong if it is printed at its first occurrence, or never printed
    /// although it recurs. -p bounds the rate of wrong lines. A line takes up to two entries of the
    /// filter, so each entry is allowed only half of the rate -p. So -n and --remember need
    /// somewhat more than twice the memory that they need without --second
    #[arg(long, conflicts_with = "repeated")]
    second: bool,

    /// Print only the number of selected lines
    #[arg(short = 'c', long)]
    count: bool,

    /// Print nothing. Stop at the first selected line, unless --state is given
    #[arg(short = 'q', long)]
    quiet: bool,

    /// Print only the keys, not the records that contain them
    #[arg(long)]
    only_key: bool,

    /// When the filter is full, stop with exit code 2 instead of forgetting lines; not allowed with
    /// --remember
    #[arg(long, conflicts_with = "remember")]
    strict: bool,

    #[command(flatten)]
    report: ReportTo,

    /// Print the report on standard error as one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    sizing: Sizing,

    /// Keep the filter in this file. Each run begins with the lines that the file already remembers
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// How often to save the state: 10s, 5min; it is also saved at the end. After a crash, lines
    /// that were printed since the last save are printed again
    #[arg(long, value_name = "TIME", value_parser = crate::args::time, default_value = "10s", requires = "state")]
    checkpoint: Duration,

    /// Seed of the hash, up to 32 hexadecimal digits; random by default
    #[arg(long, value_name = "HEX", value_parser = super::create::seed)]
    seed: Option<Seed>,

    /// Hash with SipHash-1-3, for untrusted keys. Without this option, an attacker can choose keys
    /// that are dropped as repeats at their first occurrence, even without seeing the filter. Keep
    /// the file of --state private: it contains the seed. `info` and --json print the seed
    #[arg(long)]
    untrusted: bool,

    #[command(flatten)]
    records: RecordArgs,
}

/// Advice if there is not enough memory.
const LESS: &str = "give less --memory, fewer lines with -n, or a higher rate with -p";

/// The largest difference between clocks for which no warning is printed. The clocks of two
/// machines may differ by this much.
const TOLERATED: Duration = Duration::from_secs(60);

impl Args {
    /// Whether first occurrences are printed, and not repeats. In this mode, records without a key
    /// are printed, too.
    fn keeps_first(&self) -> bool {
        !self.repeated && !self.second
    }

    /// How many entries a line takes at most.
    fn entries(&self) -> u64 {
        if self.second { 2 } else { 1 }
    }

    /// Whether lines are looked up one by one, not in batches.
    fn goes_one_by_one(&self) -> bool {
        self.strict || self.second
    }

    /// Whether other threads hash the keys before they are looked up. Hashing and looking up in one
    /// loop takes less time, but letting other threads hash ahead saves more.
    fn hashes_ahead(&self, records: &RecordArgs) -> bool {
        self.goes_one_by_one() || records.threads() > 1
    }

    /// Whether lines are only counted.
    fn is_silent(&self) -> bool {
        self.quiet || self.count
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if records::is_terminal(&args.inputs) {
        return Err(Failure::new("there is nothing to read: name files, or pipe lines in"));
    }
    check_no_delimiter(args)?;
    let reserved = args.report.reserve(&args.inputs, args.state.as_deref().as_slice())?;
    if !args.is_silent() {
        records::check_not_output(&args.inputs)?;
    }
    let (mut filter, mut saver, chosen) = begin(args)?;
    if args.strict && chosen.design.phases() > 1 {
        return Err(Failure::new(
            "the state has two phases, so it forgets old lines, which --strict forbids: leave --strict out, or give another file",
        ));
    }
    let keys = keys_of(args, &mut filter)?;
    let mut account = Account::begin(&filter, keys.args.noun());
    let (hasher, ahead) = (*filter.hasher(), args.hashes_ahead(&keys.args));
    // Records without a key are printed only together with first occurrences.
    let open = if args.keeps_first() && !args.is_silent() { Records::passing } else { Records::answering };
    let mut records = open(&keys.args, &args.inputs, move |batch: Batch<'_>, answers: &mut Answers| {
        if ahead {
            answers.hash(batch, hasher);
        }
    })?;
    let mut sift = Sift::new(args, &keys.args, filter, crate::output::blocks());
    while read(args, &mut records, &mut sift, &mut saver)? {
        account.tell(args, &sift, &chosen);
    }
    account.tell(args, &sift, &chosen);
    sift.flush()?;
    let (tally, full) = (sift.tally, sift.full);
    let selected = tally.selected;
    let filter = sift.into_filter();
    saver.finish(&filter)?;
    if args.count && !args.quiet && records.has_answer() {
        writeln!(crate::output::stdout(), "{selected}")?;
    }
    account.close(args, &reserved, &filter, &chosen, &records, tally)?;
    if !args.quiet {
        account.doubt(&keys, tally, &records);
    }
    if full {
        return Err(account.full(args, tally, &chosen));
    }
    if let Some(message) = records.stopped_message() {
        let saved = if args.state.is_some() && tally.read > 0 { "; the state includes them" } else { "" };
        return Err(Failure::new(format_args!("{message}{saved}")));
    }
    if let Some(path) = &args.state {
        records.told_shortfall(path);
    }
    Ok(ExitCode::from(match (args.quiet, records.complete()) {
        (true, _) if selected > 0 => 0,
        (_, false) => 2,
        (quiet, true) => u8::from(quiet),
    }))
}

/// Refuses a delimiter after `-d`. Other subcommands take a delimiter after `-d`, but here it would
/// be read as the name of an input.
fn check_no_delimiter(args: &Args) -> Result<(), Failure> {
    let is_delimiter = |path: &&PathBuf| matches!(path.to_str(), Some("," | ";" | ":" | "|" | " " | "\t" | "\\t")) && !path.exists();
    match args.inputs.iter().find(is_delimiter).filter(|_| args.repeated) {
        Some(path) => Err(Failure::new(format_args!(
            "there is no file `{}`; in `dedup`, -d prints repeats; to set the character that separates fields, give --delimiter {}",
            path.shown(),
            for_shell(path)
        ))),
        None => Ok(()),
    }
}

/// Handles one event; returns false after the last one.
///
/// Output is written before the state is saved. A line that is remembered but was not written would
/// be lost, whereas a line that was written but is not remembered is only printed again. For this
/// reason, nothing is saved after an error of the output.
fn read<W: Write>(args: &Args, records: &mut Records, sift: &mut Sift<'_, W>, saver: &mut Saver) -> Result<bool, Failure> {
    records.wake_at(saver.due());
    match records.next() {
        Event::Batch(batch, answers) => sift.batch(batch, &answers.hashes)?,
        Event::Passed(bytes) => sift.pass(bytes)?,
        Event::Header(header) => sift.header(header)?,
        Event::Idle => sift.flush()?,
        Event::Deadline => {
            sift.flush()?;
            saver.save(sift.filter())?;
        }
        Event::InputEnded { .. } => {}
        Event::Stopped | Event::End => return Ok(false),
    }
    Ok(!(sift.full || args.quiet && sift.tally.selected > 0 && args.state.is_none()))
}

/// Determines how keys are extracted: according to the options, or as the state says. A new state
/// stores how its keys are extracted, so later runs extract them in the same way.
fn keys_of(args: &Args, filter: &mut Filter) -> Result<KeysOf, Failure> {
    let Some(path) = args.state.as_deref() else { return args.records.for_filters(&[]) };
    if filter.label().is_none() && filter.stats().offered == 0 {
        let said = args.records.extraction();
        let said = if args.second { said.with_second() } else { said };
        said.keep(path, |label| filter.set_label(label));
    }
    let (kept, second) = Extraction::of_state(filter.label());
    match (second, args.second) {
        (true, false) => Err(Failure::at(
            path,
            "this state also stores second occurrences; add --second to continue with this file, or give another file",
        )),
        (false, true) => Err(Failure::at(
            path,
            "this state stores only first occurrences; omit --second to continue with this file, or give another file",
        )),
        _ => args.records.for_filters(&[(path, kept)]),
    }
}

/// Opens the filter of the state file if the file exists; otherwise, makes a new filter.
fn begin(args: &Args) -> Result<(Filter, Saver, Chosen), Failure> {
    let (sizing, entries) = (&args.sizing, args.entries());
    let Some(path) = &args.state else {
        // The lines of a pipe cannot be counted in advance; those of named files can.
        let counted = if sizing.is_unsized() { records::count(&args.records, &args.inputs)? } else { None };
        let chosen = match counted {
            Some(counted) => {
                let chosen = sizing.choose_for(counted, entries)?;
                let remedy = "choose a higher rate with -p; or give --memory, so that old lines are forgotten when it is full";
                crate::memory::check_memory(format_args!("to remember all {} takes", plural(counted, "line")), chosen.bytes(), remedy)?;
                chosen
            }
            None => sizing.choose(Layout::Standard, entries)?,
        };
        return Ok((new_filter(args, &chosen)?, Saver::none(), chosen));
    };
    filters::check_not_input(path, &args.inputs, false)?;
    let (mut file, found) = StateFile::open(path)?;
    let (filter, chosen) = match found {
        Some(mut filter) => {
            set_clock(path, &mut filter);
            let there = Chosen::of(&filter, entries)?
                .ok_or_else(|| Failure::at(path, "this is a filter, but not of a kind that `dedup` makes; give another file"))?;
            let asked = if sizing.is_empty() { None } else { Some(sizing.choose(filter.layout(), entries)?) };
            check_same(path, &filter, &there, asked.as_ref().unwrap_or(&there), args)?;
            let chosen = match asked {
                Some(asked) if sizing.asks_size() => asked,
                // The size is that of the state.
                Some(asked) => Chosen { rate: asked.rate.filter(|_| sizing.asks_rate()), ..there },
                None => there,
            };
            (filter, chosen)
        }
        None => {
            let chosen = sizing.choose(Layout::Standard, entries)?;
            let filter = new_filter(args, &chosen)?;
            if sizing.is_unsized() && !args.quiet && !args.json {
                let lines = chosen.design.long_run()?.items_per_cycle.lower / entries as f64;
                note(format_args!(
                    "{}: made a new state of {}, which has room for about {} distinct {}s; for another size, remove this file, and give -n or --memory",
                    path.shown(),
                    bytes(chosen.bytes()),
                    count(account::rounded(lines)),
                    args.records.noun()
                ));
            }
            // Saving now reports errors early, and creates the file that is locked.
            file.save(&filter)?;
            (filter, chosen)
        }
    };
    let saver = Saver::every(args.checkpoint, file, &filter);
    Ok((filter, saver, chosen))
}

/// Sets the filter's clock back if the state's clock is ahead, because otherwise nothing would be
/// forgotten until this clock has caught up.
fn set_clock(path: &Path, filter: &mut Filter) {
    let now = sift::now();
    let ahead = filter.now().saturating_sub(now);
    if filter.age().is_some() && ahead >= TOLERATED {
        let ahead = about(ahead);
        warn(format_args!(
            "{}: when this state was saved, the clock was {ahead} ahead of the present time; the lines keep their age, and from now on the present clock decides when they are forgotten",
            path.shown()
        ));
    }
    filter.set_back(now);
}

fn new_filter(args: &Args, chosen: &Chosen) -> Result<Filter, Failure> {
    crate::memory::check_memory("the filter takes", chosen.bytes(), LESS)?;
    chosen.filter(filters::hasher(args.seed, args.untrusted)?).map_err(|error| match error {
        BuildError::Memory { bytes: needed } => Failure::new(format_args!("cannot allocate {}; {LESS}", bytes(needed))),
        error => Failure::new(error),
    })
}

/// Describes what a state holds and guarantees, for `info`. Returns false, and describes nothing,
/// for a filter that no subcommand makes.
pub(crate) fn describe(name: &Path, file: &[u8], report: &mut Report) -> Result<bool, Failure> {
    let filter = match Filter::from_bytes(file) {
        Ok(filter) => filter,
        Err(FormatError::Scheme { .. }) => return Ok(false),
        Err(cause) => return Err(format_error(name, cause).into()),
    };
    let (_, second) = Extraction::of_state(filter.label());
    let Some(chosen) = Chosen::of(&filter, if second { 2 } else { 1 })? else { return Ok(false) };
    report.field("keys", filter.label());
    let offered = filter.stats().offered;
    report.line(
        "counted",
        if second {
            format!("{} entries; a line adds one entry, or two if it is a repeat", count(offered))
        } else {
            plural(offered, "line")
        },
    );
    if let Some(keys) = Extraction::told(filter.label()) {
        report.line("keys", keys);
    }
    account::add_distinct(report, &filter, second)?;
    account::add_design(report, "line", &filter, &chosen)?;
    account::add_recycled(report, filter.stats(), chosen.design.phases());
    Ok(true)
}
