//! `truebloom count`: counts how often each key occurs, in fixed memory; it lists the most frequent
//! keys, with guaranteed bounds on their counts.
//!
//! The subcommands are in this folder; `count` without a subcommand counts its inputs.

mod answer;
mod describe;
mod merge;
mod query;
mod show;
mod sizes;
mod sketch;
mod stream;

use crate::failure::Failure;
pub(crate) use describe::describe;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  truebloom count words.txt                            the 20 most frequent lines
  truebloom count -k 5 -d ' ' -f 1 log                 the 5 most frequent values of a field
  truebloom count --above 0.1% log                     each line that is at least 0.1% of all lines
  tail -F log | truebloom count --every 10s            print the list every ten seconds
  truebloom count --save new.tbc --seed 7 log          a sketch, to query and merge later
  truebloom count query monday.tbc apple pear          the counts of two keys
  truebloom count merge week.tbc monday.tbc tuesday.tbc
  truebloom count show monday.tbc                      print the list of a sketch

Each line of the list has an upper and a lower bound on a key's count, and then the key. Both bounds are guaranteed. If an input file is named merge, query or show, write ./ before its name.";

/// Count how often each line occurs, in fixed memory; list the most frequent lines, with guaranteed
/// bounds on their counts
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    stream: stream::StreamArgs,
}

#[derive(clap::Subcommand)]
enum Verb {
    Merge(merge::Args),
    Query(query::Args),
    Show(show::Args),
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.verb {
        None => stream::run(&args.stream),
        Some(Verb::Merge(args)) => merge::run(args),
        Some(Verb::Query(args)) => query::run(args),
        Some(Verb::Show(args)) => show::run(args),
    }
}
