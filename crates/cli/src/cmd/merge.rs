//! `truebloom merge`: merges several filters into one.

use crate::failure::{Failure, Shown, for_shell, warn};
use crate::filters;
use crate::lock::Lock;
use crate::records::{Source, common_label};
use crate::report::{FormatArgs, Report, count, plural, rate_up};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truebloom::{AnyFilter, Filter, MergeError};

const EXAMPLES: &str = "\
Examples:
  truebloom merge week.tbl monday.tbl tuesday.tbl           the keys of both
  truebloom merge --intersect both.tbl monday.tbl tuesday.tbl

Filters can be merged only if they have the same bits, probes, scheme, hash function and seed. To make such filters, create an empty filter that is planned for the keys of all filters together, and copy it:
  truebloom create -n 20M -p 0.1% --empty base.tbl
  truebloom copy --empty base.tbl monday.tbl && truebloom insert monday.tbl monday.txt
  truebloom copy --empty base.tbl tuesday.tbl && truebloom insert tuesday.tbl tuesday.txt

The merged filter has the planned number of items and the requested rate of the first filter. Only bounds on its number of items are known.";

/// Merge filters into one that holds the keys of all of them; with --intersect, only the keys that
/// are in every filter
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter to write
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// The filters to merge; with --force, OUT may be one of them
    #[arg(value_name = "FILTER", required = true, num_args = 1..)]
    filters: Vec<PathBuf>,

    /// Keep only the keys that are in every filter. The result can have more false positives than a
    /// new filter made from only these common keys
    #[arg(long)]
    intersect: bool,

    /// Write nothing and fail if the merged filter could hold more items than planned. For filters
    /// that grow, fail if the present layers could exceed the requested rate. The number of items
    /// follows from the set bits, with 99.9999% confidence; in blocked filters and some schemes, it
    /// is the number of all insertions, so repeats are counted
    #[arg(long, conflicts_with = "intersect")]
    strict: bool,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    // This is checked before the file OUT. If the argument OUT was left out, an existing filter is
    // in its place, and the error about that file would be misleading.
    if args.filters.len() < 2 {
        return Err(Failure::new("give the filter to write, and then at least two filters to merge: truebloom merge OUT FILTER FILTER"));
    }
    let lock = Lock::of_output(&args.out, args.force)?;
    let (first, others) = args.filters.split_first().ok_or_else(|| Failure::new("there is nothing to merge: name two filters"))?;
    let mut merged = filters::open(first)?;
    let source = |path, filter: &AnyFilter| Source::new(path, filter.label(), filter.offered() > 0);
    let mut sources = vec![source(first, &merged)];
    for path in others {
        let other = filters::open(path)?;
        check_kinds(args.intersect, (first, &merged), (path, &other))?;
        sources.push(source(path, &other));
        let result = if args.intersect { merged.intersect_with(&other) } else { merged.union_with(&other) };
        result.map_err(|error| mismatch(if args.intersect { Purpose::Intersection } else { Purpose::Union }, first, path, &error))?;
    }
    if args.strict && merged.capacity().is_none() && merged.rate().is_none() {
        return Err(Failure::at(first, "this filter has no planned number of items, so --strict has no limit to enforce; omit --strict"));
    }
    if args.strict {
        check_strictly(&merged)?;
    }
    if let Some(label) = common_label(&sources) {
        // The label came from a filter of this kind, so it is not too long.
        let _ = merged.set_label(label);
    }
    if merged.is_over_capacity() {
        warn(filters::over_capacity(&merged));
    }
    filters::save(&merged, &lock)?;
    report(args, &merged)?.print_as(args.format.format())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns an error if only one of the two filters grows.
fn check_kinds(intersect: bool, first: (&Path, &AnyFilter), other: (&Path, &AnyFilter)) -> Result<(), Failure> {
    let grows = |filter: &AnyFilter| matches!(filter, AnyFilter::Scalable(_));
    let (growing, fixed) = match (grows(first.1), grows(other.1)) {
        (true, false) => (first.0, other.0),
        (false, true) => (other.0, first.0),
        _ => return Ok(()),
    };
    let remedy = if intersect {
        "To find the lines that are in both, check the lines with one filter, and check the output of that with the other"
    } else {
        "Make one filter from the original data of all filters: truebloom create -n ALL_KEYS -p RATE FILTER INPUT..."
    };
    Err(Failure::new(format_args!(
        "cannot {}: {} is a filter that grows, and {} is not; nothing was written. {remedy}",
        if intersect { "intersect" } else { "merge" },
        growing.shown(),
        fixed.shown()
    )))
}

/// Returns an error if the merged filter could hold more items than planned or, for a filter that
/// grows, if its rate could exceed the requested rate with its present layers.
fn check_strictly(merged: &AnyFilter) -> Result<(), Failure> {
    let (_, most) = merged.verification()?.items();
    if let Some(capacity) = merged.capacity().filter(|&capacity| most > capacity) {
        return Err(Failure::new(format_args!(
            "the merged filter could hold up to {}, more than the {} planned; nothing was written. \
             Leave --strict out to merge the filters anyway, or make them as copies of a larger filter (see `truebloom merge --help`)",
            plural(most, "distinct item"),
            count(capacity)
        )));
    }
    if let (AnyFilter::Scalable(grown), Some(asked)) = (merged, merged.rate())
        && grown.bound().upper > asked.to_f64()
    {
        return Err(Failure::new(format_args!(
            "the rate of the merged filter could reach {} with its present layers, above the requested {asked}; nothing was written. Leave --strict out to merge the filters anyway",
            rate_up(grown.bound().upper, 4)
        )));
    }
    Ok(())
}

/// What was to be done with filters whose parameters must be equal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Union,
    Intersection,
    Comparison,
}

/// Says in which parameter the filters differ, and what to do instead.
pub(crate) fn mismatch(purpose: Purpose, first: &Path, other: &Path, error: &MergeError) -> Failure {
    let differ = |ours: String, theirs: String| format!("{} {ours}, but {} {theirs}", first.shown(), other.shown());
    let why = match *error {
        // The seeds themselves are not shown, because a known seed is enough to choose keys that
        // pass.
        MergeError::Seed => format!("{} and {} have different seeds", first.shown(), other.shown()),
        MergeError::Bits { ours, theirs } => differ(format!("has {}", plural(ours, "bit")), format!("has {}", plural(theirs, "bit"))),
        MergeError::Probes { ours, theirs } => {
            differ(format!("has {}", plural(ours.into(), "probe")), format!("has {}", plural(theirs.into(), "probe")))
        }
        MergeError::Scheme { ours, theirs } => differ(format!("has the {ours} scheme"), format!("has the {theirs} scheme")),
        MergeError::Hasher { ours, theirs } => {
            let name = |id: Option<truebloom::HasherId>| id.map_or("unknown", truebloom::HasherId::name);
            differ(format!("uses the hash function {}", name(ours)), format!("uses {}", name(theirs)))
        }
        MergeError::Layers => {
            format!("{} and {} are filters that grow, which may hold the same key in different layers", first.shown(), other.shown())
        }
        _ => format!("{} and {}: {error}", first.shown(), other.shown()),
    };
    let refused = match purpose {
        Purpose::Union => format!("cannot merge: {why}; nothing was written"),
        Purpose::Intersection => format!("cannot intersect: {why}; nothing was written"),
        Purpose::Comparison => format!("cannot compare: {why}"),
    };
    match error {
        MergeError::Layers => return Failure::new(format_args!("{refused}. Query both filters instead: truebloom check --all")),
        MergeError::Memory { .. } => return Failure::new(refused),
        _ => {}
    }
    let remedy = if purpose == Purpose::Union {
        // Not an insertion into the first filter, which was planned for its own keys alone.
        "Filters can be merged only if they have the same bits, probes, scheme, hash function and seed. Create an empty filter that is planned for the keys of all filters together, copy it for each input, and insert the original data into the copies:\n  \
         truebloom create -n ALL_KEYS -p RATE --empty BASE\n  \
         truebloom copy --empty BASE PART && truebloom insert PART INPUT    (for each input, with options such as --column)"
            .to_owned()
    } else {
        format!(
            "Make an empty copy of {}, and insert the original data of {} into the copy:\n  truebloom copy --empty {} NEW && truebloom insert NEW INPUT    (with options such as --column)",
            first.shown(),
            other.shown(),
            for_shell(first)
        )
    };
    Failure::new(format_args!("{refused}. {remedy}"))
}

fn report(args: &Args, filter: &AnyFilter) -> Result<Report, Failure> {
    let mut report = Report::new("merge");
    let names: Vec<String> = args.filters.iter().map(|path| path.display().to_string()).collect();
    let word = if args.intersect { "intersection" } else { "union" };
    report.field("filter", args.out.display().to_string()).field("of", names.clone()).field("operation", word);
    report.line("merged", format!("{}: the {word} of {}", args.out.shown(), names.join(", ")));
    super::add_state(&mut report, filter)?;
    Ok(report)
}
