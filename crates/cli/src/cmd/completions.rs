//! `truebloom completions`: what a shell needs to complete our verbs and options.

use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  truebloom completions bash > ~/.local/share/bash-completion/completions/truebloom
  truebloom completions zsh > ~/.zfunc/_truebloom
  truebloom completions fish > ~/.config/fish/completions/truebloom.fish";

/// Print completions for a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::Command::command(), "truebloom", &mut script);
    crate::output::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
