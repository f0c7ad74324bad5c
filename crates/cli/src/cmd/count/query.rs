//! `truebloom count query`: prints how often given keys occurred.

use super::answer::{bound, row};
use super::sketch::{AnySketch, with_sketch};
use crate::args::rate;
use crate::failure::{Failure, note};
use crate::records::{Event, Extraction, RecordArgs, Records};
use crate::report::key_fields;
use serde_json::json;
use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::count_min::{ErrorBound, ListedSketch, RowHashes};
use truebloom_math::Rate;

const EXAMPLES: &str = "\
Examples:
  truebloom count query monday.tbc apple pear
  truebloom count query monday.tbc < words.txt         every line of a file";

/// Print how often given keys occurred
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The sketch to query
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Keys to look up, in hexadecimal if the sketch was made with --hex; with `-` or no key, read
    /// keys from standard input
    #[arg(value_name = "KEY")]
    keys: Vec<OsString>,

    /// Allowed probability, for each key, that the true count is below the printed lower bound
    #[arg(long, value_name = "RATE", value_parser = rate, default_value = "0.1%", allow_hyphen_values = true)]
    delta: Rate,

    /// Print a JSON object for each key
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    records: RecordArgs,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    with_sketch!(AnySketch::open(&args.file)?, list => run_on(args, &list))
}

fn run_on<R: RowHashes>(args: &Args, list: &ListedSketch<R>) -> Result<ExitCode, Failure> {
    let keys = args.records.for_filters(&[(&args.file, Extraction::of(list.label()))])?;
    let records = &keys.args;
    let error = list.sketch().error_bound(&args.delta);
    let mut query = Query { args, list, error, found: false, out: BufWriter::with_capacity(1 << 16, crate::output::stdout()) };
    let reads = args.keys.is_empty() || matches!(args.keys.as_slice(), [only] if only == "-");
    let code = if reads {
        query.answer_input(records)?
    } else {
        args.keys.iter().try_for_each(|key| query.answer(&records.key_of_argument(key.as_encoded_bytes())?))?;
        ExitCode::SUCCESS
    };
    query.out.flush()?;
    query.tell();
    if reads && (keys.other_form || !query.found || keys.is_kept && code != ExitCode::SUCCESS) {
        keys.print_doubt();
    }
    Ok(code)
}

struct Query<'a, R: RowHashes, W: Write> {
    args: &'a Args,
    list: &'a ListedSketch<R>,
    error: ErrorBound,
    /// Whether any of the keys may have occurred.
    found: bool,
    out: W,
}

impl<R: RowHashes, W: Write> Query<'_, R, W> {
    fn answer_input(&mut self, records: &RecordArgs) -> Result<ExitCode, Failure> {
        let mut records = Records::open(records, &[])?;
        loop {
            match records.next() {
                Event::Batch(batch, _) => batch.iter().try_for_each(|(_, key)| self.answer(key))?,
                Event::Idle => self.out.flush()?,
                Event::Header(_) | Event::Passed(_) | Event::InputEnded { .. } | Event::Deadline => {}
                Event::Stopped | Event::End => break,
            }
        }
        if let Some(message) = records.stopped_message() {
            self.out.flush()?;
            return Err(Failure::new(message));
        }
        Ok(ExitCode::from(if records.complete() { 0 } else { 2 }))
    }

    fn answer(&mut self, key: &[u8]) -> Result<(), Failure> {
        let certain = self.list.bounds(key);
        self.found |= certain.at_most > 0;
        let estimate = self.list.sketch().estimate(key);
        let likely = if estimate.saturated { 0 } else { estimate.value.saturating_sub(self.error.least()) }.max(certain.at_least);
        if !self.args.json {
            return row(&mut self.out, bound(certain.at_most), likely, key);
        }
        let (text, hex) = key_fields(key);
        let at_most = bound(certain.at_most);
        let object = json!({ "key": text, "hex": hex, "at_most": at_most, "at_least": certain.at_least, "likely_at_least": likely });
        writeln!(self.out, "{object}")?;
        Ok(())
    }

    fn tell(&self) {
        if !self.args.json {
            note(format_args!(
                "for each key, the first number is a guaranteed upper bound on its count, and the second is a lower bound; the lower bound is wrong with a probability of at most {}, if the key was chosen without looking at the sketch",
                self.args.delta
            ));
        }
    }
}
