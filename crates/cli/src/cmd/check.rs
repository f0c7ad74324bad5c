//! `truebloom check`: the lines that are (perhaps) in a filter, in the manner of grep.

use crate::failure::Failure;
use crate::filters;
use crate::records::{Batch, Event, RecordArgs, Records};
use crate::report::Report;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::scheme::Scheme;
use truebloom::{BloomFilter, PortableHasher};

const EXAMPLES: &str = "\
Examples:
  truebloom check seen.tbl new.txt             lines that are (perhaps) in the filter
  tail -F log | truebloom check -v seen.tbl    lines that are certainly not in it
  truebloom check -q seen.tbl word.txt && echo known

Exit code: 0 some line was selected, 1 none was, 2 an error.";

/// Print the lines that are (perhaps) in a filter
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter to look in
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// Files of lines; `-` or none for standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Select the lines that are certainly not in the filter
    #[arg(short = 'v', long)]
    invert_match: bool,

    /// Print only how many lines were selected
    #[arg(short = 'c', long)]
    count: bool,

    /// Print nothing, stop at the first selected line
    #[arg(short = 'q', long)]
    quiet: bool,

    /// Print one JSON object with the counts
    #[arg(long, conflicts_with_all = ["quiet", "count"])]
    json: bool,

    /// Print keys, not the records they were found in
    #[arg(long)]
    only_key: bool,

    #[command(flatten)]
    records: RecordArgs,
}

impl Args {
    /// Whether records are counted only.
    fn is_silent(&self) -> bool {
        self.quiet || self.count || self.json
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    // The choice of the scheme once, not a key: the standard one is compiled for itself.
    match filters::open(&args.filter)?.into_standard() {
        Ok(filter) => run_on(args, filter),
        Err(filter) => run_on(args, *filter),
    }
}

fn run_on<S: Scheme>(args: &Args, filter: BloomFilter<PortableHasher, S>) -> Result<ExitCode, Failure> {
    let mut records = Records::open(&args.records, &args.inputs)?;
    let mut selection =
        Selection { args, filter, out: io::BufWriter::with_capacity(1 << 16, io::stdout().lock()), selected: 0, header: false };
    loop {
        match records.next() {
            Event::Batch(batch) => selection.add(batch)?,
            Event::Header(header) => selection.add_header(header)?,
            // What was selected is shown before we wait for more input.
            Event::Idle => selection.out.flush()?,
            Event::Stopped | Event::End => break,
            Event::InputEnded | Event::Deadline | Event::Passed(_) => {}
        }
        if args.quiet && selection.selected > 0 {
            return Ok(ExitCode::SUCCESS);
        }
    }
    selection.out.flush()?;
    let selected = selection.selected;
    drop(selection);
    print_counts(args, &records, selected)?;
    if let Some(message) = records.stopped_message() {
        return Err(Failure::new(message));
    }
    Ok(ExitCode::from(if records.complete() { u8::from(selected == 0) } else { 2 }))
}

/// What was selected so far, and where it goes.
struct Selection<'a, S: Scheme, W: Write> {
    args: &'a Args,
    filter: BloomFilter<PortableHasher, S>,
    out: W,
    selected: u64,
    header: bool,
}

impl<S: Scheme, W: Write> Selection<'_, S, W> {
    fn add(&mut self, batch: Batch<'_>) -> Result<(), Failure> {
        let end = self.args.records.terminator();
        let silent = self.args.is_silent();
        for (record, key) in batch.iter() {
            if self.filter.contains(key) == self.args.invert_match {
                continue;
            }
            self.selected += 1;
            if !silent {
                self.out.write_all(if self.args.only_key { key } else { record })?;
                self.out.write_all(end)?;
            }
        }
        Ok(())
    }

    /// Selected CSV records are CSV again, so they keep the names of their columns: those of the first input.
    fn add_header(&mut self, header: &[u8]) -> Result<(), Failure> {
        if !self.header && !self.args.is_silent() && !self.args.only_key {
            self.out.write_all(header)?;
            self.out.write_all(self.args.records.terminator())?;
        }
        self.header = true;
        Ok(())
    }
}

fn print_counts(args: &Args, records: &Records, selected: u64) -> Result<(), Failure> {
    if args.json {
        let mut report = Report::new("check");
        report.field("lines", records.read()).field("selected", selected).field("inverted", args.invert_match);
        records.add_shortfall(&mut report);
        report.print(true)?;
    } else if args.count && !args.quiet {
        writeln!(io::stdout(), "{selected}")?;
    }
    Ok(())
}
