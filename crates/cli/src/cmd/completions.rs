//! `truebloom completions`: prints the script with which a shell completes subcommands and options.

use crate::failure::Failure;
use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use std::io::Write;
use std::process::ExitCode;
use truebloom_audit::PROFILES;
use truebloom_math::SchemeId;
use truebloom_reproduce::Paper;

const EXAMPLES: &str = "\
Examples:
  truebloom completions bash > ~/.local/share/bash-completion/completions/truebloom
  truebloom completions zsh > ~/.zfunc/_truebloom
  truebloom completions fish > ~/.config/fish/completions/truebloom.fish";

/// Print completions for a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell that will use the completions
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_names(crate::Command::command()), "truebloom", &mut script);
    crate::output::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Adds the possible values of some arguments to the parser, so that completions can offer them.
/// Without this, the parser accepts these values but does not list them.
fn with_names(command: clap::Command) -> clap::Command {
    let schemes: Vec<&str> = SchemeId::ALL.into_iter().map(SchemeId::name).collect();
    let libraries: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
    let papers: Vec<&str> = Paper::ALL.into_iter().map(Paper::name).collect();
    let lists = [
        ("create", "scheme", &schemes),
        ("plan", "scheme", &schemes),
        ("fpr", "scheme", &schemes),
        ("audit", "library", &libraries),
        ("reproduce", "papers", &papers),
    ];
    lists.into_iter().fold(command, |command, (verb, argument, names)| {
        let names: Vec<&'static str> = names.clone();
        command.mut_subcommand(verb, |verb| verb.mut_arg(argument, |argument| argument.value_parser(PossibleValuesParser::new(names))))
    })
}
