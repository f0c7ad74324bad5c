//! `truebloom check`: the lines that are (perhaps) in a filter, in the manner of grep.

use crate::failure::Failure;
use crate::filters;
use crate::input::{Inputs, name, open};
use crate::lines::Lines;
use crate::report::Report;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
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
}

/// Lines read and selected so far.
#[derive(Default)]
struct Counts {
    lines: u64,
    selected: u64,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    // The choice of the scheme once, not a key: the standard one is compiled for itself.
    match filters::open(&args.filter)?.into_standard() {
        Ok(filter) => run_on(args, &filter),
        Err(filter) => run_on(args, filter.as_ref()),
    }
}

fn run_on<S: Scheme>(args: &Args, filter: &BloomFilter<PortableHasher, S>) -> Result<ExitCode, Failure> {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut counts = Counts::default();
    let mut failed = false;
    for path in Inputs::new(&args.inputs).iter() {
        // As grep does: an input that cannot be read is told, the others are read.
        match select(args, path, filter, &mut out, &mut counts) {
            Ok(()) => {}
            Err(failure) if failure.is_of_output() => return Err(failure),
            Err(failure) => {
                failure.print();
                failed = true;
            }
        }
        if args.quiet && counts.selected > 0 {
            return Ok(ExitCode::SUCCESS);
        }
    }
    out.flush()?;
    drop(out);
    print_counts(args, &counts)?;
    Ok(ExitCode::from(if failed { 2 } else { u8::from(counts.selected == 0) }))
}

fn select<S: Scheme>(
    args: &Args,
    path: &Path,
    filter: &BloomFilter<PortableHasher, S>,
    out: &mut impl Write,
    counts: &mut Counts,
) -> Result<(), Failure> {
    let silent = args.quiet || args.count || args.json;
    let fail = |error| Failure::at(name(path), error);
    let mut lines = Lines::new(open(path).map_err(fail)?);
    loop {
        // What was selected is shown before we wait for more input.
        if lines.must_read() {
            out.flush()?;
        }
        let Some(line) = lines.next_line().map_err(fail)? else { return Ok(()) };
        counts.lines += 1;
        if filter.contains(line) == args.invert_match {
            continue;
        }
        counts.selected += 1;
        if args.quiet {
            return Ok(());
        }
        if !silent {
            out.write_all(line)?;
            out.write_all(b"\n")?;
        }
    }
}

fn print_counts(args: &Args, counts: &Counts) -> Result<(), Failure> {
    if args.json {
        let mut report = Report::new("check");
        report.field("lines", counts.lines).field("selected", counts.selected).field("inverted", args.invert_match);
        report.print(true)?;
    } else if args.count && !args.quiet {
        writeln!(io::stdout(), "{}", counts.selected)?;
    }
    Ok(())
}
