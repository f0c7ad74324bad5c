//! `truebloom check`: prints the lines that are probably in a filter, in the manner of grep.

mod asked;
mod queried;
mod selection;
mod trust;

use crate::aside::ReportTo;
use crate::failure::{Failure, note, warn};
use crate::inputs::is_stdin;
use crate::records::{self, Event, Habit, KeysOf, RecordArgs, Records};
use crate::report::Report;
use asked::{Asked, Together};
use selection::Selection;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use trust::Trust;

const EXAMPLES: &str = "\
Examples:
  truebloom check seen.tbl new.txt             lines that are probably in the filter
  tail -F log | truebloom check -v seen.tbl    lines that are certainly not in it
  truebloom check -q seen.tbl word.txt && echo known
  truebloom check -j 0 seen.tbl urls.txt       with all processors
  truebloom check --report seen.tbl new.txt    also report how many may be false positives
  truebloom check -Hn seen.tbl urls.txt new.txt  with the file and the number of each line
  truebloom check --each monday.tbl tuesday.tbl new.txt    which filters each line is in

A filter stores how its keys were read (-f, --column and similar options), and `check` reads keys in the same way. If you give such options, this run uses them and not the stored ones; with --lines, keys are whole lines.

Exit code: 0 if a line was selected, 1 if none was, 2 after an error.";

/// Print the lines that are probably in a filter
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter to query, or a state file of `dedup`; the file is not changed. With --any, --all
    /// or --each, more filters may follow
    #[arg(value_name = "FILTER")]
    filter: PathBuf,

    /// Files of lines; with `-` or no file, read standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Query several filters: select the lines that are probably in at least one filter
    #[arg(long, conflicts_with_all = ["all", "each"])]
    any: bool,

    /// Query several filters: select the lines that are probably in all filters
    #[arg(long, conflicts_with = "each")]
    all: bool,

    /// Query several filters: before each line, print the names of the filters that probably
    /// contain it, and a TAB. With -v, print the names of the filters that certainly do not contain
    /// it
    #[arg(long)]
    each: bool,

    /// Select the lines that are certainly not in the filter
    #[arg(short = 'v', long)]
    invert_match: bool,

    /// Print only the number of selected lines; with --each, one number for each filter
    #[arg(short = 'c', long)]
    count: bool,

    /// Print the name of the input and a colon before each line; with -c, print one count for each
    /// input
    #[arg(short = 'H', long, conflicts_with_all = ["json", "each"])]
    with_filename: bool,

    /// Before each line, print its line number (from 1) and a colon. For CSV, print the number of
    /// the record; the header is record 1. With --json, add a member `line`
    #[arg(short = 'n', long, conflicts_with_all = ["each", "files_with_matches", "files_without_match"])]
    line_number: bool,

    /// Print only the names of inputs with at least one selected line
    #[arg(short = 'l', long, conflicts_with_all = ["json", "count", "each", "with_filename", "quiet"])]
    files_with_matches: bool,

    /// Print only the names of inputs with no selected line; the exit code is 0 if there is such an
    /// input. The name of an input that cannot be read to its end is not printed
    #[arg(short = 'L', long, conflicts_with_all = ["json", "count", "each", "with_filename", "files_with_matches", "quiet"])]
    files_without_match: bool,

    /// Print nothing, and stop at the first selected line
    #[arg(short = 'q', long)]
    quiet: bool,

    /// Print one JSON object with the selected keys (unless -c is given) and the counts
    #[arg(long, conflicts_with_all = ["quiet"])]
    json: bool,

    #[command(flatten)]
    report: ReportTo,

    /// Print only the keys, not the records that contain them
    #[arg(long)]
    only_key: bool,

    #[command(flatten)]
    records: RecordArgs,
}

impl Args {
    /// Whether names of inputs are printed instead of lines.
    fn lists_inputs(&self) -> bool {
        self.files_with_matches || self.files_without_match
    }

    /// Whether lines are printed while they are read.
    fn prints_lines(&self) -> bool {
        !self.quiet && !self.count && !self.lists_inputs()
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (asked, inputs) = Asked::open(args)?;
    let reserved = args.report.reserve(inputs, &asked.names())?;
    if args.prints_lines() {
        records::check_not_output(inputs)?;
    }
    let asked = Arc::new(asked);
    let keys = args.records.for_filters(&asked.extractions())?;
    let record_args = &keys.args;
    let theirs = Arc::clone(&asked);
    let mut records = Records::answering(record_args, inputs, move |batch, answers| theirs.answer(batch, answers))?;
    let out = crate::output::blocks();
    let mut selection = Selection::new(args, inputs, record_args, &asked, out)?;
    loop {
        match records.next() {
            Event::Batch(batch, answers) => selection.add(batch, answers)?,
            Event::Header(header) => selection.add_header(header)?,
            // Selected lines are shown before more input is awaited.
            Event::Idle => selection.out.flush()?,
            Event::Stopped | Event::End => break,
            Event::InputEnded { is_read } => selection.end_input(is_read)?,
            Event::Deadline | Event::Passed(_) => {}
        }
        if args.quiet && selection.selected > 0 {
            return Ok(ExitCode::SUCCESS);
        }
    }
    // To compute how much may be wrong, all bits must be read.
    let is_told = args.json || args.report.is_asked();
    let report = if is_told { report(args, &asked, record_args, &records, &selection)? } else { Report::new("check") };
    if args.json && !args.count {
        selection.finish(report.fields())?;
    } else {
        selection.out.flush()?;
    }
    let (selected, listed, by_each) = (selection.selected, selection.listed, std::mem::take(&mut selection.by_each));
    drop(selection);
    if records.has_answer() || args.json {
        print_counts(args, &asked, &report, selected, &by_each)?;
    }
    reserved.write(&report)?;
    if args.quiet {
        hint_at_names(inputs, &keys, &records);
    } else {
        hint(args, &asked, inputs, &keys, &records, selected);
    }
    if let Some(message) = records.stopped_message() {
        return Err(Failure::new(message));
    }
    let answers = if args.files_without_match { listed } else { selected };
    Ok(ExitCode::from(if records.complete() { u8::from(answers == 0) } else { 2 }))
}

/// Reports what was read, what was selected, and how much of it may be wrong.
fn report<W: Write>(
    args: &Args,
    asked: &Asked,
    record_args: &RecordArgs,
    records: &Records,
    selection: &Selection<'_, W>,
) -> Result<Report, Failure> {
    let mut report = Report::new("check");
    let (lines, selected) = (records.read(), selection.selected);
    report.field("lines", lines).field("selected", selected).field("inverted", args.invert_match);
    // With --each, -v selects lines that are not in all filters, so their number does not tell how
    // many lines are in any filter.
    if !(args.each && args.invert_match) {
        trust(args, asked, records, selected)?.add(&mut report, record_args, args.invert_match);
    }
    if asked.together.is_some() {
        let names = asked.filters.iter().map(|(path, _)| path.display().to_string());
        let each: Vec<Value> = match asked.together {
            Some(Together::Each) => {
                names.zip(&selection.by_each).map(|(name, selected)| json!({ "filter": name, "selected": selected })).collect()
            }
            _ => names.map(|name| json!({ "filter": name })).collect(),
        };
        report.field("filters", each);
    }
    records.add_shortfall(&mut report);
    Ok(report)
}

/// The number of lines that were found.
fn found(args: &Args, records: &Records, selected: u64) -> u64 {
    if args.invert_match { records.read().saturating_sub(selected) } else { selected }
}

/// The queries and answers of this run.
fn trust(args: &Args, asked: &Asked, records: &Records, selected: u64) -> Result<Trust, Failure> {
    let (lines, (rate, is_exact)) = (records.read(), asked.rate()?);
    let found = found(args, records, selected);
    let others = match asked.together {
        None => "not in the filter",
        Some(Together::Any | Together::Each) => "in none of the filters",
        Some(Together::All) => "missing from at least one of the filters",
    };
    Ok(Trust { lines, found, rate, is_exact, others })
}

fn print_counts(args: &Args, asked: &Asked, report: &Report, selected: u64, by_each: &[u64]) -> Result<(), Failure> {
    let mut out = crate::output::stdout();
    if args.json && args.count {
        writeln!(out, "{}", Value::Object(report.fields().clone()))?;
    } else if args.count && !args.quiet && args.each {
        asked.filters.iter().zip(by_each).try_for_each(|((path, _), selected)| writeln!(out, "{}\t{selected}", path.display()))?;
    } else if args.count && !args.quiet && !args.with_filename {
        writeln!(out, "{selected}")?;
    }
    Ok(())
}

/// Prints a hint if a key was probably given as the name of an input.
fn hint_at_names(inputs: &[PathBuf], keys: &KeysOf, records: &Records) -> bool {
    let is_meant = records.read() == 0 && inputs.iter().any(|input| !is_stdin(input) && !input.exists());
    if is_meant {
        let lines = if keys.is_kept && keys.args.says_what_keys_are() { " --lines" } else { "" };
        note(format_args!(
            "the arguments after the filter are names of files; to look up a key, pipe it in: echo KEY | truebloom check{lines} FILTER"
        ));
    }
    is_meant
}

/// Prints a hint if something went wrong, or if no line was found or all lines that were found may
/// be false positives, with a possible reason.
fn hint(args: &Args, asked: &Asked, inputs: &[PathBuf], keys: &KeysOf, records: &Records, selected: u64) {
    if hint_at_names(inputs, keys, records) {
        return;
    }
    let (lines, found) = (records.read(), found(args, records, selected));
    let nothing = lines > 0 && found == 0;
    let habit = records.habit();
    let is_other_way = keys.doubt.is_some() && !keys.is_kept;
    let is_doubtful = is_other_way || habit == Some(Habit::CarriageReturn) || keys.args.lines_of_csv(inputs).is_some();
    // With --each and -v, the number of lines in any filter is not known.
    let are_few = !nothing && found < lines.saturating_sub(found) && !(args.each && args.invert_match);
    // The rate is computed only if it matters, because this reads all bits of the filter. Values of
    // another column can be repeated.
    let all_false = is_doubtful && are_few && trust(args, asked, records, selected).is_ok_and(|trust| trust.may_be_all_false(is_other_way));
    // With -v, the lines that seem to be in the filter are left out.
    let (found, none) = match args.invert_match {
        false => ("all lines found", "nothing was found"),
        true => ("all lines left out", "no line is in the filter"),
    };
    match habit {
        Some(habit) if nothing => note(format_args!("{none}: {}", habit.hint())),
        Some(habit @ Habit::CarriageReturn) if all_false => note(format_args!("{found} may be false positives: {}", habit.hint())),
        Some(habit @ Habit::SomeReturns) => warn(habit.hint()),
        _ if all_false => warn(format_args!("{found} may be false positives")),
        _ => {}
    }
    if nothing || is_other_way && all_false || keys.is_kept && !records.complete() {
        keys.print_doubt();
    }
    // If the filter was made from such lines, whole lines are right.
    if nothing || all_false {
        keys.args.note_names(inputs);
    }
}
