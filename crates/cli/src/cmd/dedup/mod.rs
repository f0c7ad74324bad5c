//! `truebloom dedup`: first occurrences of lines, from a stream without end, in fixed memory.

mod account;
mod design;
mod filter;
mod remember;
mod sift;
mod state;

use crate::failure::Failure;
use crate::filters::{self, Layout};
use crate::records::{self, Event, RecordArgs, Records};
use crate::report::{Report, ReportTo};
use account::Account;
use design::{Chosen, Sizing};
use filter::Filter;
use sift::Sift;
use state::{Saver, StateFile, check_same};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use truebloom::{PortableHasher, Seed};

const EXAMPLES: &str = "\
Examples:
  truebloom dedup urls.txt                             every line once
  tail -F log | truebloom dedup --remember 1h          for ever; a line comes again after an hour or two
  truebloom dedup -d -n 10M -p 0.1% urls.txt new.txt   lines that were there before
  truebloom dedup -n 100M -p 1e-6 --report urls.gz
  truebloom dedup -n 100M -p 0.1% --layout blocked urls.txt   faster in memory larger than the caches, of which it takes more
  truebloom dedup --state state.tbl new.txt            goes on where the last run stopped
  truebloom dedup --csv --column email users.csv

Files are counted first, and the memory is made large enough for all their lines, 64 MiB at least. What comes through a pipe has the memory of -n or --memory, 64 MiB unless given: \
when it is full everything is forgotten (a message says so, or --strict stops before), or with --remember what is older. \
A line that was forgotten is printed again. A first occurrence is dropped wrongly with at most the rate -p: on average, in the long run, or with --remember for every line. That is proven for \
input that was chosen without knowing the seed; --report says what this very stream has lost.

A state knows keys, not where they were found: give the same -f, --csv and the like each time.
Lines without a key, or too long, are passed on with a message. An unfinished last line is not, when a signal ends the run.

Exit code: 0 done, 2 an error or a line without a key; with -q 0 if some line was selected, 1 if none was.";

/// Print lines at their first occurrence only
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("delimiter", |delimiter| delimiter.short(None)))]
pub(crate) struct Args {
    /// Files of lines; `-` or none for standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Print repeats instead: lines that were there before
    #[arg(short = 'd', long)]
    repeated: bool,

    /// Print only how many lines were selected
    #[arg(short = 'c', long)]
    count: bool,

    /// Print nothing; stop at the first selected line, unless there is a --state to be kept
    #[arg(short = 'q', long)]
    quiet: bool,

    /// Print keys, not the records they were found in
    #[arg(long)]
    only_key: bool,

    /// Stop, with exit code 2, before anything is forgotten
    #[arg(long, conflicts_with = "remember")]
    strict: bool,

    #[command(flatten)]
    report: ReportTo,

    /// The report as one JSON object, on standard error
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    sizing: Sizing,

    /// Keep what is known in this file, and begin with what it knows
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// Save the state this often, and at the end: 10s, 5min; what is printed after the last time is printed again after a crash
    #[arg(long, value_name = "TIME", value_parser = crate::args::time, default_value = "10s", requires = "state")]
    checkpoint: Duration,

    /// Seed of the hash, up to 32 hexadecimal digits; random unless given
    #[arg(long, value_name = "HEX", value_parser = super::create::seed)]
    seed: Option<Seed>,

    /// Hash with SipHash-1-3, for keys that an attacker may choose; without it, an attacker needs no access to choose keys whose first occurrence is dropped. Keep a --state private: anyone who can read it has the seed
    #[arg(long)]
    untrusted: bool,

    #[command(flatten)]
    records: RecordArgs,
}

impl Args {
    /// Whether lines are only counted.
    fn is_silent(&self) -> bool {
        self.quiet || self.count
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if records::is_terminal(&args.inputs) {
        return Err(Failure::new("there is nothing to read: name files, or pipe lines in"));
    }
    args.report.check()?;
    let (filter, mut saver, chosen) = begin(args)?;
    if args.strict && chosen.design.phases() > 1 {
        return Err(Failure::new("the state has two phases, which forget what is old: leave --strict out, or give another file"));
    }
    let mut account = Account::begin(&filter);
    let hasher = *filter.hasher();
    let mut records = Records::passing(&args.records, &args.inputs, move |batch, answers| answers.hash(batch, hasher))?;
    let mut sift = Sift::new(args, filter, crate::output::stdout());
    while read(args, &mut records, &mut sift, &mut saver)? {
        account.tell_forgotten(args, sift.filter(), &chosen);
    }
    account.tell_forgotten(args, sift.filter(), &chosen);
    sift.flush()?;
    let (selected, full) = (sift.selected, sift.full);
    let filter = sift.into_filter();
    saver.finish(&filter)?;
    if args.count && !args.quiet {
        writeln!(crate::output::stdout(), "{selected}")?;
    }
    account.close(args, &filter, &chosen, &records, selected)?;
    if full {
        return Err(account.full(&filter, &chosen, args));
    }
    if let Some(message) = records.stopped_message() {
        return Err(Failure::new(message));
    }
    Ok(ExitCode::from(match (args.quiet, records.complete()) {
        (true, _) if selected > 0 => 0,
        (_, false) => 2,
        (quiet, true) => u8::from(quiet),
    }))
}

/// One event; whether there may be more to come.
///
/// Output comes before the state: a line that is known but that nobody received would be lost, one that was received but is not known is only printed again. So after an error of
/// the output nothing is saved.
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
        Event::InputEnded => {}
        Event::Stopped | Event::End => return Ok(false),
    }
    Ok(!(sift.full || args.quiet && sift.selected > 0 && args.state.is_none()))
}

/// The filter to begin with: that of the state file if there is one, or a new one.
fn begin(args: &Args) -> Result<(Filter, Saver, Chosen), Failure> {
    let Some(path) = &args.state else {
        // What is to come on a pipe is not known; named files can be counted.
        let counted = if args.sizing.is_unsized() { records::count(&args.records, &args.inputs)? } else { None };
        let chosen = match counted {
            Some(counted) => args.sizing.choose_for(counted)?,
            None => args.sizing.choose(Layout::Standard)?,
        };
        return Ok((new_filter(args, &chosen)?, Saver::none(), chosen));
    };
    filters::check_not_input(path, &args.inputs, false)?;
    let (mut file, found) = StateFile::open(path)?;
    let (filter, chosen) = match found {
        Some(filter) => {
            let chosen = if args.sizing.is_empty() { Chosen::of(&filter)? } else { args.sizing.choose(filter.layout())? };
            check_same(path, &filter, &chosen, args)?;
            (filter, chosen)
        }
        None => {
            let chosen = args.sizing.choose(Layout::Standard)?;
            let filter = new_filter(args, &chosen)?;
            // What would fail later is told now; and from now on there is a file to lock.
            file.save(&filter)?;
            (filter, chosen)
        }
    };
    let saver = Saver::every(args.checkpoint, file, &filter);
    Ok((filter, saver, chosen))
}

fn new_filter(args: &Args, chosen: &Chosen) -> Result<Filter, Failure> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => Seed::random().map_err(Failure::new)?,
    };
    let hasher = if args.untrusted { PortableHasher::sip13(seed) } else { PortableHasher::xxh3(seed) };
    chosen.filter(hasher).map_err(Failure::new)
}

/// What a state promises, for `info`.
pub(crate) fn describe(path: &Path, report: &mut Report) -> Result<(), Failure> {
    let filter = Filter::open(path).map_err(Failure::from)?;
    account::add_design(report, "line", &filter, &Chosen::of(&filter)?)
}
