//! `truebloom check`: the lines that are (perhaps) in a filter, in the manner of grep.

use crate::failure::Failure;
use crate::filters;
use crate::held;
use crate::records::{Batch, Event, RecordArgs, Records};
use crate::report::Report;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  truebloom check seen.tbl new.txt             lines that are (perhaps) in the filter
  tail -F log | truebloom check -v seen.tbl    lines that are certainly not in it
  truebloom check -q seen.tbl word.txt && echo known
  truebloom check -j 0 seen.tbl urls.txt       with all processors

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
    let filter = filters::open_for(&args.filter, &args.inputs, held::view)?;
    let invert = args.invert_match;
    let mut records = Records::answering(&args.records, &args.inputs, move |batch, answers| {
        answers.look_up(batch, &filter);
        if invert {
            invert_first(&mut answers.contained, batch.len());
        }
    })?;
    let out = io::BufWriter::with_capacity(1 << 16, crate::output::stdout());
    let mut selection = Selection { args, out, selected: 0, header: false };
    loop {
        match records.next() {
            Event::Batch(batch, answers) => selection.add(batch, &answers.contained)?,
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
struct Selection<'a, W: Write> {
    args: &'a Args,
    out: W,
    selected: u64,
    header: bool,
}

impl<W: Write> Selection<'_, W> {
    fn add(&mut self, batch: Batch<'_>, selected: &[u64]) -> io::Result<()> {
        self.selected += selected.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        if self.args.is_silent() { Ok(()) } else { self.print(batch, selected) }
    }

    /// The selected records; neighbours as one piece.
    fn print(&mut self, batch: Batch<'_>, selected: &[u64]) -> io::Result<()> {
        let end = self.args.records.terminator();
        if self.args.only_key {
            let keys = batch.iter().map(|(_, key)| key);
            return keys.zip(0..).filter(|(_, index)| is_set(selected, *index)).try_for_each(|(key, _)| {
                self.out.write_all(key)?;
                self.out.write_all(end)
            });
        }
        let mut index = next_set(selected, 0);
        while let Some(begin) = index {
            let mut last = begin;
            while is_set(selected, last + 1) && batch.joins_next(last, end) {
                last += 1;
            }
            self.out.write_all(batch.text_of(begin, last))?;
            self.out.write_all(end)?;
            index = next_set(selected, last + 1);
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

/// Every one of the first bits is what it was not; beyond them there is nothing to select.
fn invert_first(words: &mut [u64], bits: usize) {
    words.iter_mut().for_each(|word| *word = !*word);
    if let (Some(last), rest @ 1..) = (words.last_mut(), bits % 64) {
        *last &= (1 << rest) - 1;
    }
}

fn is_set(words: &[u64], index: usize) -> bool {
    words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
}

/// The first set bit from this one on.
fn next_set(words: &[u64], from: usize) -> Option<usize> {
    let first = words.get(from / 64)? & (u64::MAX << (from % 64));
    let rest = words[from / 64 + 1..].iter().copied();
    let found = |(i, word): (usize, u64)| (word != 0).then(|| 64 * (from / 64 + i) + word.trailing_zeros() as usize);
    std::iter::once(first).chain(rest).enumerate().find_map(found)
}

fn print_counts(args: &Args, records: &Records, selected: u64) -> Result<(), Failure> {
    if args.json {
        let mut report = Report::new("check");
        report.field("lines", records.read()).field("selected", selected).field("inverted", args.invert_match);
        records.add_shortfall(&mut report);
        report.print(true)?;
    } else if args.count && !args.quiet {
        writeln!(crate::output::stdout(), "{selected}")?;
    }
    Ok(())
}
