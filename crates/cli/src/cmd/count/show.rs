//! `truebloom count show`: prints the list of a saved sketch.

use super::answer::{Answer, Asked};
use super::sketch::{AnySketch, with_sketch};
use crate::failure::Failure;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  truebloom count show monday.tbc
  truebloom count show -k 3 --json monday.tbc";

/// Print the most frequent keys of a saved sketch; with --json, also the sketch's parameters
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The sketch to show
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    asked: Asked,
}

pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let answer = with_sketch!(AnySketch::open(&args.file)?, list => Answer::of(&list, &args.asked));
    answer.print(&args.asked, "record", &mut io::BufWriter::new(crate::output::stdout()))?;
    Ok(ExitCode::from(u8::from(!answer.is_complete())))
}
