//! The command `truebloom`: plan, build, query and check Bloom filters whose rate is proven.
//!
//! Every verb is one file in [`cmd`]; what they share is one reader of records, one reporter, one number parser and one way to fail.

mod args;
mod cmd;
mod failure;
mod progress;
mod records;
mod report;
mod stop;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::io::Write;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Three ways to begin:
  truebloom plan -n 10M -p 0.1%                         what would it take?
  truebloom create -n 10M -p 0.1% seen.tbl urls.txt     build a filter from lines
  truebloom check seen.tbl new.txt                      print the lines that are (perhaps) in it

`truebloom verify seen.tbl` measures what rate you really got; `truebloom help` lists all verbs.";

#[derive(Parser)]
#[command(name = "truebloom", version, about, after_help = EXAMPLES, arg_required_else_help = false, disable_help_subcommand = false)]
struct Command {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    Plan(cmd::plan::Args),
    Create(cmd::create::Args),
    Check(cmd::check::Args),
    Info(cmd::info::Args),
    Verify(cmd::verify::Args),
    Fpr(cmd::fpr::Args),
    Explain(cmd::explain::Args),
    Compare(cmd::compare::Args),
    Table(cmd::table::Args),
    Reproduce(cmd::reproduce::Args),
    Eval(cmd::eval::Args),
}

fn main() -> ExitCode {
    let result = match Command::parse().verb {
        None => print_examples(),
        Some(Verb::Plan(args)) => cmd::plan::run(&args),
        Some(Verb::Create(args)) => cmd::create::run(&args),
        Some(Verb::Check(args)) => cmd::check::run(&args),
        Some(Verb::Info(args)) => cmd::info::run(&args),
        Some(Verb::Verify(args)) => cmd::verify::run(&args),
        Some(Verb::Fpr(args)) => cmd::fpr::run(&args),
        Some(Verb::Explain(args)) => cmd::explain::run(&args),
        Some(Verb::Compare(args)) => cmd::compare::run(&args),
        Some(Verb::Table(args)) => cmd::table::run(&args),
        Some(Verb::Reproduce(args)) => cmd::reproduce::run(&args),
        Some(Verb::Eval(args)) => cmd::eval::run(&args),
    };
    match result {
        // As the shell has it of processes that a signal ended.
        _ if stop::signal().is_some() => {
            let signal = stop::signal().unwrap_or(0);
            result.err().iter().for_each(Failure::print);
            ExitCode::from(128u8.saturating_add(signal))
        }
        Ok(code) => code,
        // Whoever read our output has had enough; that is not an error of ours.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(2)
        }
    }
}

fn print_examples() -> Result<ExitCode, Failure> {
    writeln!(std::io::stdout(), "truebloom: Bloom filters whose false-positive rate is proven\n\n{EXAMPLES}")?;
    Ok(ExitCode::SUCCESS)
}
