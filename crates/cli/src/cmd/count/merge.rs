//! `truebloom count merge`: adds several sketches into one.

use super::sketch::{AnySketch, Mismatch, with_sketch};
use crate::failure::{Failure, Shown};
use crate::lock::Lock;
use crate::records::{Source, common_label};
use crate::report::{FormatArgs, Report, plural};
use crate::stop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  truebloom count merge week.tbc monday.tbc tuesday.tbc

The sketches must have the same size and seed: make them with the same options and --seed.";

/// Add the counts of several sketches
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The sketch to write
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// The sketches to add; with --force, OUT may be one of them
    #[arg(value_name = "SKETCH", required = true, num_args = 2..)]
    sketches: Vec<PathBuf>,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let lock = Lock::of_output(&args.out, args.force)?;
    let (first, others) = args.sketches.split_first().ok_or_else(|| Failure::new("there is nothing to merge: name two sketches"))?;
    let mut merged = AnySketch::open(first)?;
    let source = |path, sketch: &AnySketch| Source::new(path, sketch.label(), with_sketch!(sketch, list => list.sketch().total()) > 0);
    let mut sources = vec![source(first, &merged)];
    for path in others {
        let other = AnySketch::open(path)?;
        sources.push(source(path, &other));
        merged.merge(&other).map_err(|mismatch| refusal(first, path, &mismatch))?;
    }
    if let Some(label) = common_label(&sources) {
        // The label came from a sketch, so it is not too long.
        let _ = with_sketch!(&mut merged, list => list.set_label(label));
    }
    let shield = stop::last_moment()?;
    with_sketch!(&merged, list => lock.save(&shield, |file| list.write_to(file)))?;
    drop(shield);
    report(args, &merged).print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}

/// Says in which parameter the sketches differ, and how to make sketches that can be merged.
fn refusal(first: &Path, other: &Path, mismatch: &Mismatch) -> Failure {
    let Mismatch { name, ours, theirs } = mismatch;
    let (first, other) = (first.shown(), other.shown());
    let remedy = match *name {
        "seed" => format!("count the data of {other} again with the same --seed as {first}"),
        "hasher" => format!("use --untrusted for both or for neither, and count the data of {other} again"),
        "kind" => format!("use --two-hash for both or for neither, and count the data of {other} again"),
        _ => format!("count the data of {other} again with the same --memory (or --epsilon) and --delta as {first}"),
    };
    let why = match *name {
        "seed" => format!("{first} and {other} have different seeds"),
        "kind" => format!("{first} is {ours}, but {other} is {theirs}"),
        "hasher" => format!("{first} uses the hash function {ours}, but {other} uses {theirs}"),
        _ => format!("{first} has {name} {ours}, but {other} has {name} {theirs}"),
    };
    Failure::new(format_args!("cannot merge: {why}; nothing was written. To merge them, {remedy}"))
}

fn report(args: &Args, merged: &AnySketch) -> Report {
    let (total, missed, capacity) = with_sketch!(merged, list => (list.sketch().total(), list.missed_at_most(), list.capacity()));
    let listed = with_sketch!(merged, list => list.top(usize::MAX).len() as u64);
    let names: Vec<String> = args.sketches.iter().map(|path| path.display().to_string()).collect();
    let mut report = Report::new("count merge");
    report
        .field("sketch", args.out.display().to_string())
        .field("of", names.clone())
        .field("total", total)
        .field("capacity", capacity)
        .field("missed_at_most", super::answer::bound(missed));
    report.line("merged", format!("{}: the sum of {}", args.out.shown(), names.join(", ")));
    report.line("counted", plural(total, "record"));
    report.line("list", super::describe::listing(listed, total, missed));
    report
}
