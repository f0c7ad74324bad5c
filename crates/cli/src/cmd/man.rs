//! `truebloom man`: manual pages, generated from the same definitions as the help.

use crate::failure::Failure;
use clap::CommandFactory;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use truebloom::file::Expected;

const EXAMPLES: &str = "\
Examples:
  truebloom man | man -l -                     the page of truebloom
  truebloom man create | man -l -              the page of a command
  truebloom man count merge | man -l -         the page of a subcommand of count
  truebloom man --into ~/.local/share/man/man1";

/// Print a manual page, or write all of them into a folder
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The command to describe, or a command and its subcommand (count merge); truebloom itself by
    /// default
    #[arg(value_name = "VERB")]
    verb: Vec<String>,

    /// Write the pages of truebloom and all its commands into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "verb")]
    into: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut command = crate::Command::command().disable_help_subcommand(true);
    command.build();
    if let Some(folder) = &args.into {
        std::fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
        for page in pages(&command) {
            let path = folder.join(format!("{}.1", page_name(page)));
            crate::output::write_whole(&path, Expected::Anything, &render(page)?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let page = args.verb.iter().try_fold(&command, |page, verb| {
        page.find_subcommand(verb)
            .ok_or_else(|| Failure::new(format_args!("there is no command `{}`; see `truebloom help`", args.verb.join(" "))))
    })?;
    crate::output::stdout().write_all(&render(page)?)?;
    Ok(ExitCode::SUCCESS)
}

/// A command, its verbs, and their sub-verbs.
fn pages(command: &clap::Command) -> Vec<&clap::Command> {
    std::iter::once(command).chain(command.get_subcommands().flat_map(pages)).collect()
}

fn page_name(command: &clap::Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).replace(' ', "-")
}

fn render(command: &clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}
