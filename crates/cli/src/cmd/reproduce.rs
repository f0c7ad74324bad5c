//! `truebloom reproduce`: recomputes the numbers of a paper and the data of its figures. Each claim
//! of the paper is printed as a block of lines.

use super::reproduce_report::{Report, Workers};
use crate::args::needs;
use crate::color;
use crate::failure::{Failure, Shown};
use crate::progress::Waiting;
use crate::report::wrapped;
use crate::subject::Real;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use truebloom::file::Expected;
use truebloom::recycling::Policy;
use truebloom::scheme::Standard;
use truebloom_math::recycling::Subject;
use truebloom_reproduce::{Claim, Effort, Known, Paper, Trial, Verdict};

const EXAMPLES: &str = "\
Examples:
  truebloom reproduce grandi                     each number of the paper and ours, with a verdict
  truebloom reproduce burns --csv > burns.csv
  truebloom reproduce --out report               all five papers, as report/report.html
  truebloom reproduce --out report --full        as many trials as in the papers; continues a stopped run
  truebloom reproduce burns --figures data/      only the numbers of the figures, one CSV file each
  truebloom reproduce kirsch-mitzenmacher --figures data/ --trials 10000    (takes minutes)
  truebloom reproduce dozier                     simulations of recycling filters next to the models";

/// Recompute the numbers and figures of five papers
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The papers: burns, grandi, lehr, kirsch-mitzenmacher, dozier; all of them by default
    #[arg(value_name = "PAPER", value_parser = paper)]
    papers: Vec<Paper>,

    /// Write a report into this folder: every figure as SVG and CSV, and all claims on one page
    #[arg(long, value_name = "DIR", conflicts_with_all = ["csv", "json"])]
    out: Option<PathBuf>,

    /// With --out: simulate a hundredth of the papers' filters, each with fewer items. This
    /// is the default
    #[arg(long, requires = "out", conflicts_with = "full")]
    quick: bool,

    /// With --out: simulate as many filters and items as in the papers. If such a run is stopped,
    /// the next run with --full continues it
    #[arg(long, requires = "out")]
    full: bool,

    /// Number of threads for simulations; by default, one for each core
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,

    /// Write the numbers of every figure into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    figures: Option<PathBuf>,

    /// Number of trials of each simulated experiment in a figure; 100 by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000), requires = "figures")]
    trials: Option<u64>,

    /// Show no progress
    #[arg(long)]
    no_progress: bool,

    /// Print comma-separated values, one claim per line
    #[arg(long)]
    csv: bool,

    /// Print one JSON object for each paper
    #[arg(long, conflicts_with = "csv")]
    json: bool,
}

fn paper(text: &str) -> Result<Paper, String> {
    text.parse().map_err(crate::failure::unknown_name)
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    needs(("--quick", args.quick), ("--out", args.out.is_some()))?;
    needs(("--full", args.full), ("--out", args.out.is_some()))?;
    needs(("--trials", args.trials.is_some()), ("--figures", args.figures.is_some()))?;
    let papers = once(if args.papers.is_empty() { &Paper::ALL } else { &args.papers });
    let workers = Workers::new(args.threads, args.no_progress);
    if let Some(folder) = &args.out {
        let effort = if args.full { Effort::FULL } else { Effort::QUICK };
        let how = described(&papers, args.full);
        return Report { papers, effort, full: args.full, folder, workers, how }.write();
    }
    let mut out = io::BufWriter::new(crate::output::stdout());
    for (number, &paper) in papers.iter().enumerate() {
        let effort = if args.figures.is_some() { Effort::trials(args.trials.unwrap_or(TRIALS)) } else { Effort::CLAIMS };
        let mut known = Known::new();
        workers.run(paper, &effort, &mut known, |_| Ok(()))?;
        let waiting = (!args.no_progress).then(|| Waiting::begin(format!("recomputing {}", paper.name())));
        let claims = paper.claims_of(&real_filter, &known)?;
        let figures = args.figures.as_deref().map(|folder| write_figures(paper, &effort, &known, folder)).transpose()?.unwrap_or_default();
        drop(waiting);
        match (args.json, args.csv) {
            (true, _) => print_json(&mut out, paper, &claims, &figures)?,
            (_, true) => print_csv(&mut out, number == 0, &claims)?,
            _ => {
                if number > 0 {
                    writeln!(out)?;
                }
                print_text(&mut out, number == 0, paper, &claims, &figures)?;
            }
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the papers without duplicates, in the given order.
fn once(papers: &[Paper]) -> Vec<Paper> {
    let mut found: Vec<Paper> = Vec::new();
    for paper in papers {
        if !found.contains(paper) {
            found.push(*paper);
        }
    }
    found
}

/// Text for the report: the command that makes the report, and what the report means.
fn described(papers: &[Paper], full: bool) -> String {
    let names: String =
        if papers.len() == Paper::ALL.len() { String::new() } else { papers.iter().map(|paper| format!(" {}", paper.name())).collect() };
    let (flag, meaning) = match full {
        true => ("--full", "each experiment for a figure has as many trials as in its paper"),
        false => ("--quick", "each experiment has a hundredth of the paper's filters, and a fraction of the items"),
    };
    format!("Made by truebloom {} with: truebloom reproduce{names} {flag} --out DIR ({meaning}; fixed seeds).", env!("CARGO_PKG_VERSION"))
}

/// The default number of trials per experiment.
const TRIALS: u64 = 100;

/// Builds the library's recycling filter for a trial. `None` if it cannot be built.
pub(super) fn real_filter(trial: &Trial, seed: u64) -> Option<Box<dyn Subject>> {
    let policy = Policy { insertions: trial.most_items, ..Policy::from(&trial.design) };
    let (bits, probes) = (trial.design.bits(), trial.design.probes());
    Some(Box::new(Real::<Standard>::new(bits, probes, policy, seed).ok()?))
}

/// Makes a folder with this name, unless there is one already.
pub(super) fn new_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| match folder.is_dir() || !folder.exists() {
        true => Failure::at(folder, error),
        false => Failure::at(folder, "this is a file, but a folder is needed; give another name, or remove the file first"),
    })
}

/// Writes the figures and returns the files.
fn write_figures(paper: Paper, effort: &Effort, known: &Known, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    new_folder(folder)?;
    let mut paths = Vec::new();
    for figure in paper.figures_of(effort, &real_filter, known)? {
        let path = folder.join(figure.name).with_extension("csv");
        crate::output::write_whole(&path, Expected::Anything, figure.csv().as_bytes())?;
        paths.push(path);
    }
    Ok(paths)
}

fn found(claims: &[Claim], verdict: Verdict) -> usize {
    claims.iter().filter(|claim| claim.verdict == verdict).count()
}

/// Prints a block of lines for each claim. The first paper is preceded by the meanings of the
/// verdicts and of the lines.
fn print_text(out: &mut impl Write, is_first: bool, paper: Paper, claims: &[Claim], figures: &[PathBuf]) -> io::Result<()> {
    let columns = crate::output::columns(&io::stdout());
    let counts = Verdict::ALL.map(|verdict| format!("{} {verdict}", found(claims, verdict)));
    let mut line = |label: &str, text: &str| print_line(out, columns, label, text);
    line("paper", paper.title())?;
    line("claims", &format!("{}: {}", claims.len(), counts.join(", ")))?;
    if is_first {
        Verdict::ALL.iter().try_for_each(|verdict| line(verdict.name(), verdict.meaning()))?;
        LINES.iter().try_for_each(|(label, meaning)| line(label, meaning))?;
    }
    for (number, (term, meaning)) in paper.notation().iter().enumerate() {
        line(if number == 0 { "letters" } else { "" }, &format!("{term}: {meaning}"))?;
    }
    for claim in claims {
        writeln!(out)?;
        print_claim(out, columns, claim)?;
    }
    if !figures.is_empty() {
        writeln!(out)?;
    }
    figures.iter().try_for_each(|path| writeln!(out, "written: {}", path.shown()))
}

/// The width of the labels in the report.
const LABELS: usize = 11;

/// The lines of each block, and their meanings.
const LINES: [(&str, &str); 4] = [
    (
        "blocks",
        "each block below is a claim; its first line has the verdict, the place in the paper and, in parentheses, the name of the claim",
    ),
    ("quantity", "the meaning of the printed number"),
    ("printed", "what the paper prints; if this line is missing, the claim paraphrases the paper"),
    ("ours", "what this program computed"),
];

/// Prints a label and a text, wrapped if `columns` is the width of a terminal.
fn print_line(out: &mut impl Write, columns: Option<usize>, label: &str, text: &str) -> io::Result<()> {
    let text = columns.map_or_else(|| text.to_owned(), |columns| wrapped(text, LABELS + 2, columns));
    writeln!(out, "{}  {text}", color::bold(&format!("{label:LABELS$}"), columns.is_some()))
}

fn print_claim(out: &mut impl Write, columns: Option<usize>, claim: &Claim) -> io::Result<()> {
    let mut line = |label: &str, text: &str| print_line(out, columns, label, text);
    line(claim.verdict.name(), &format!("{} ({})", claim.place, claim.id))?;
    let is_number = |text: &str| text.trim_end_matches('%').split('/').all(|part| part.parse::<f64>().is_ok());
    line(if is_number(claim.printed) { "  quantity" } else { "  claim" }, claim.text)?;
    if claim.printed != "holds" {
        line("  printed", claim.printed)?;
    }
    line("  ours", &rounded(&claim.ours, digits(claim)))?;
    // A correction that is only a number is the same as ours.
    if let Some(corrected) = claim.corrected.filter(|corrected| !is_number(corrected)) {
        line("  corrected", corrected)?;
    }
    match claim.erratum {
        Some(erratum) => line("  see", &format!("entry {erratum} of docs/ERRATA.md")),
        None => Ok(()),
    }
}

/// The number of significant digits that the text report shows of our numbers: four, or one more
/// than the paper or the correction has.
fn digits(claim: &Claim) -> usize {
    let texts = [Some(claim.printed), claim.corrected];
    let longest = texts
        .into_iter()
        .flatten()
        .flat_map(numbers)
        .filter(|(_, number)| number.contains('.'))
        .map(|(_, number)| significant_digits(number));
    (longest.max().unwrap_or(0) + 1).max(4)
}

/// The parts of a text that consist of digits and points, each with its position.
fn numbers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_other = |letter: char| !letter.is_ascii_digit() && letter != '.';
    let mut at = 0;
    text.split_inclusive(is_other).filter_map(move |part| {
        let start = at;
        at += part.len();
        let number = part.trim_end_matches(is_other).trim_end_matches('.');
        (!number.is_empty()).then_some((start, number))
    })
}

fn significant_digits(number: &str) -> usize {
    number.trim_start_matches(['0', '.']).chars().filter(char::is_ascii_digit).count()
}

/// Rounds every decimal fraction in a text to this many significant digits.
fn rounded(text: &str, digits: usize) -> String {
    let (mut result, mut end) = (String::with_capacity(text.len()), 0);
    for (start, number) in numbers(text) {
        let Some((_, decimals)) = number.split_once('.') else { continue };
        let excess = significant_digits(number).saturating_sub(digits);
        let Ok(value) = number.parse::<f64>() else { continue };
        if excess > 0 {
            result.push_str(&text[end..start]);
            result.push_str(&format!("{value:.*}", decimals.len().saturating_sub(excess)));
            end = start + number.len();
        }
    }
    result + &text[end..]
}

fn print_csv(out: &mut impl Write, with_names: bool, claims: &[Claim]) -> io::Result<()> {
    let quoted = |text: &str| if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() };
    if with_names {
        writeln!(out, "id,where,claim,printed,ours,verdict,corrected,erratum")?;
    }
    claims.iter().try_for_each(|claim| {
        let corrected = claim.corrected.unwrap_or_default();
        let erratum = claim.erratum.unwrap_or_default();
        let cells = [claim.id, claim.place, claim.text, claim.printed, &claim.ours, claim.verdict.name(), corrected, erratum];
        writeln!(out, "{}", cells.map(quoted).join(","))
    })
}

fn print_json(out: &mut impl Write, paper: Paper, claims: &[Claim], figures: &[PathBuf]) -> io::Result<()> {
    let claim = |claim: &Claim| {
        json!({ "id": claim.id, "where": claim.place, "claim": claim.text, "printed": claim.printed, "ours": claim.ours,
            "verdict": claim.verdict.name(), "corrected": claim.corrected, "erratum": claim.erratum })
    };
    let counts: serde_json::Map<String, Value> =
        Verdict::ALL.iter().map(|&verdict| (verdict.name().to_owned(), found(claims, verdict).into())).collect();
    let claims: Vec<Value> = claims.iter().map(claim).collect();
    let figures: Vec<String> = figures.iter().map(|path| path.display().to_string()).collect();
    let answer = json!({ "verb": "reproduce", "paper": paper.name(), "title": paper.title(), "counts": counts, "claims": claims, "figures": figures });
    writeln!(out, "{answer}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_fractions_are_rounded() {
        for (text, digits, short) in [
            ("f_S = 0.989384, f_C = 1009.34% at k = 40", 4, "f_S = 0.9894, f_C = 1009% at k = 40"),
            ("2.91401e-42 of 12345678.", 4, "2.914e-42 of 12345678."),
            ("-0.00297442, 0.5", 4, "-0.002974, 0.5"),
            ("13.6094% in 6.2.1", 6, "13.6094% in 6.2.1"),
        ] {
            assert_eq!(rounded(text, digits), short);
        }
    }
}
