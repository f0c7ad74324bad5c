//! The command `truebloom`: plan, build, query and check Bloom filters whose rate is proven.
//! [`main`] is the program, and [`evaluate`] returns the answers of `truebloom eval`, for the
//! Python package.
//!
//! Every subcommand is one file in `cmd`; they share one reader of records, one reporter, one
//! parser of numbers and one type of error.

mod arch;
mod args;
mod aside;
mod certificate;
mod cmd;
mod color;
mod failure;
mod filters;
mod held;
mod inputs;
mod lock;
mod memory;
mod opened;
mod output;
mod plots;
mod progress;
mod records;
mod report;
mod stop;
mod subject;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use failure::Failure;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Three ways to begin:
  truebloom plan -n 10M -p 0.1%                         compute the size of a filter
  truebloom create -n 10M -p 0.1% seen.tbl urls.txt     build a filter from lines
  truebloom check seen.tbl new.txt                      print the lines that are probably in it

`truebloom verify seen.tbl` measures its actual rate; `truebloom help` lists all commands.";

#[derive(Parser)]
#[command(name = "truebloom", version, about, after_help = EXAMPLES, arg_required_else_help = false, disable_help_subcommand = false)]
struct Command {
    #[command(subcommand)]
    verb: Option<Verb>,

    /// When to use colours; NO_COLOR in the environment means `never`
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = clap::ColorChoice::Auto)]
    color: clap::ColorChoice,
}

#[derive(Subcommand)]
enum Verb {
    Plan(cmd::plan::Args),
    // Hidden aliases are the names of these verbs in other programs.
    #[command(aliases = ["build", "new"])]
    Create(cmd::create::Args),
    #[command(visible_alias = "add")]
    Insert(cmd::insert::Args),
    #[command(visible_alias = "test", aliases = ["query", "contains", "lookup"])]
    Check(cmd::check::Args),
    #[command(alias = "uniq")]
    Dedup(cmd::dedup::Args),
    #[command(visible_alias = "show", alias = "stats")]
    Info(cmd::info::Args),
    Verify(cmd::verify::Args),
    #[command(alias = "union")]
    Merge(cmd::merge::Args),
    Copy(cmd::copy::Args),
    Clear(cmd::clear::Args),
    Diff(cmd::diff::Args),
    Apply(cmd::apply::Args),
    Count(Box<cmd::count::Args>),
    Doctor(cmd::doctor::Args),
    Compare(cmd::compare::Args),
    Fpr(cmd::fpr::Args),
    Explain(cmd::explain::Args),
    Audit(cmd::audit::Args),
    Table(cmd::table::Args),
    Simulate(cmd::simulate::Args),
    Reproduce(cmd::reproduce::Args),
    Eval(cmd::eval::Args),
    Completions(cmd::completions::Args),
    Man(cmd::man::Args),
}

/// The program, with the arguments of this process. This function must be called first and only
/// once, because it changes how the process handles signals and failed allocations.
pub fn main() -> ExitCode {
    run_with(&std::env::args_os().collect::<Vec<_>>())
}

/// Runs the program with these arguments, the first of which is its name. A process uses this
/// function if its own arguments precede those of the program.
pub fn run_with(arguments: &[OsString]) -> ExitCode {
    arch::no_backtraces();
    arch::explain_aborts();
    stop::exit_when_aborting();
    stop::survive_size_limits();
    let words = arguments.iter().map(|argument| argument.to_string_lossy().into_owned());
    let page = as_wide_as_the_terminal(Command::command().color(color::choose(words)));
    let matches = page.try_get_matches_from(without_help_of_help(arguments));
    let result = match matches.and_then(|matches| Command::from_arg_matches(&matches)) {
        Ok(command) => run(command),
        Err(error) if error.use_stderr() => without_far_tips(error).exit(),
        Err(help) => output::print_help(&help),
    };
    let result = result.and_then(|code| Ok(output::unless_closed(output::stdout().flush()).map(|()| code)?));
    match result {
        // The exit code that shells use for processes that a signal ended.
        _ if stop::signal().is_some() => {
            let signal = stop::signal().unwrap_or(0);
            result.err().iter().for_each(Failure::print);
            ExitCode::from(128u8.saturating_add(signal))
        }
        Ok(code) => code,
        // A program that has read enough of our output and closes the pipe (as `head` does) is not
        // an error.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(2)
        }
    }
}

/// Sets the width of the help to the width at which reports are wrapped. The parser also asks the
/// terminal for its width, but ignores terminals that report columns and no rows.
fn as_wide_as_the_terminal(page: clap::Command) -> clap::Command {
    match output::columns(&std::io::stdout()) {
        Some(columns) if columns < usize::MAX => page.term_width(columns),
        _ => page,
    }
}

/// Turns `help --help` into `help`: the parser itself adds the verb `help`, and has no help for it.
fn without_help_of_help(arguments: &[OsString]) -> &[OsString] {
    match arguments {
        [first @ .., last] if first.len() == 2 && first[1] == "help" && (last == "--help" || last == "-h") => first,
        _ => arguments,
    }
}

/// Answers one query as `truebloom eval` does: the query and the answer are JSON objects.
///
/// ```
/// let answer = truebloom_cli::evaluate(r#"{"fn":"fpr","variant":"standard","bits":9585,"items":1e3,"probes":7}"#)?;
/// assert!(answer.contains(r#""method":"exact""#));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Returns an error if the query is wrong. The error is a text for people.
pub fn evaluate(query: &str) -> Result<String, String> {
    truebloom_math::as_one_call(|| cmd::eval::answer(query.as_bytes())).map(|answer| serde_json::Value::Object(answer).to_string())
}

/// Removes the parser's tips, except those that name a similar option. In particular, tips on how
/// to pass the text as a file name are removed.
fn without_far_tips(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
        // The second part of a number like 1 000 000.
        if matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(text)) if text == "000") {
            let tip = StyledStr::from("write a number without spaces: 1000000, 1,000,000 or 1M");
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        }
    }
    if let Some(ContextValue::Strings(names)) = error.get(ContextKind::SuggestedSubcommand)
        && let Some(best) = names.last()
    {
        let name = shown_name(best);
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![name]));
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::StyledStr(text)) => Some(text.to_string()),
        _ => None,
    };
    let (given, near, usage) = (text(ContextKind::InvalidArg), text(ContextKind::SuggestedArg), text(ContextKind::Usage));
    if let (Some(given), Some(near)) = (given, near)
        && !is_slip(&given, &near)
    {
        error.remove(ContextKind::SuggestedArg);
        // The option is in the usage, too.
        if let Some(usage) = usage {
            error.insert(ContextKind::Usage, ContextValue::StyledStr(usage_like(&usage)));
        }
    }
    error
}

/// Returns this name of a subcommand, or the name that the help lists if this is a hidden alias.
fn shown_name(name: &str) -> String {
    let page = Command::command();
    let verb = page.find_subcommand(name).filter(|verb| !verb.get_name_and_visible_aliases().contains(&name));
    verb.map_or(name, |verb| verb.get_name()).to_owned()
}

/// Returns the usage of the subcommand that is named in this usage line, without the options that
/// clap adds.
fn usage_like(usage: &str) -> StyledStr {
    let mut page = Command::command();
    page.build();
    for word in usage.split_whitespace().skip_while(|word| *word != "truebloom").skip(1) {
        match page.find_subcommand(word) {
            Some(verb) => page = verb.clone(),
            None => break,
        }
    }
    page.render_usage()
}

/// Whether both names begin with the same three letters, or become equal by changing one or two
/// letters.
fn is_slip(given: &str, meant: &str) -> bool {
    let prefix = given.chars().zip(meant.chars()).take_while(|(one, other)| one == other).count();
    // Rows of the table of edit distances.
    let mut row: Vec<usize> = (0..=meant.chars().count()).collect();
    for (i, one) in given.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, other) in meant.chars().enumerate() {
            let changed = corner + usize::from(one != other);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    prefix >= "--".len() + 3 || row.last().is_some_and(|distance| *distance <= 2)
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command.verb {
        None => print_examples(),
        Some(Verb::Plan(args)) => cmd::plan::run(&args),
        Some(Verb::Create(args)) => cmd::create::run(&args),
        Some(Verb::Insert(args)) => cmd::insert::run(&args),
        Some(Verb::Merge(args)) => cmd::merge::run(&args),
        Some(Verb::Copy(args)) => cmd::copy::run(&args),
        Some(Verb::Clear(args)) => cmd::clear::run(&args),
        Some(Verb::Diff(args)) => cmd::diff::run(&args),
        Some(Verb::Apply(args)) => cmd::apply::run(&args),
        Some(Verb::Count(args)) => cmd::count::run(&args),
        Some(Verb::Doctor(args)) => cmd::doctor::run(&args),
        Some(Verb::Completions(args)) => cmd::completions::run(&args),
        Some(Verb::Man(args)) => cmd::man::run(&args),
        Some(Verb::Check(args)) => cmd::check::run(&args),
        Some(Verb::Dedup(args)) => cmd::dedup::run(&args),
        Some(Verb::Info(args)) => cmd::info::run(&args),
        Some(Verb::Verify(args)) => cmd::verify::run(&args),
        Some(Verb::Fpr(args)) => cmd::fpr::run(&args),
        Some(Verb::Explain(args)) => cmd::explain::run(&args),
        Some(Verb::Compare(args)) => cmd::compare::run(&args),
        Some(Verb::Audit(args)) => cmd::audit::run(&args),
        Some(Verb::Table(args)) => cmd::table::run(&args),
        Some(Verb::Simulate(args)) => cmd::simulate::run(&args),
        Some(Verb::Reproduce(args)) => cmd::reproduce::run(&args),
        Some(Verb::Eval(args)) => cmd::eval::run(&args),
    }
}

fn print_examples() -> Result<ExitCode, Failure> {
    writeln!(crate::output::stdout(), "truebloom: Bloom filters whose false-positive rate is proven\n\n{EXAMPLES}")?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slips_are_corrected() {
        for (given, meant) in [("--fore", "--force"), ("--stric", "--strict"), ("--jsno", "--json"), ("--compress", "--compare")] {
            assert!(is_slip(given, meant), "{given}");
        }
        assert!(!is_slip("--output", "--untrusted") && !is_slip("--size", "--seed-file"));
    }

    #[test]
    fn help_has_help() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for text in ["truebloom help --help", "truebloom help -h"] {
            assert_eq!(without_help_of_help(&words(text)), words("truebloom help"));
        }
        for text in ["truebloom help plan", "truebloom plan --help", "truebloom help help", "truebloom --help"] {
            assert_eq!(without_help_of_help(&words(text)), words(text));
        }
    }

    #[test]
    fn the_definitions_are_sound() {
        Command::command().debug_assert();
    }
}
