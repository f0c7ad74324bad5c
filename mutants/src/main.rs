//! Plants random faults in truebloom's mathematics and kernels, and reports for each fault whether
//! a test notices it: `truebloom-mutants SEED [COUNT] [--only N,N] [--test TEXT] [--stage 1|2]
//! [--limit SECONDS]`.
//!
//! A separate build for each fault would take days, so one build contains all faults. In a copy of
//! the source tree, every chosen expression becomes
//! `if crate::mutant::is(N) { other } else { original }`. The environment variable MUTANT says
//! which fault is active. First, each test is run without a fault, to find out which of the chosen
//! expressions it evaluates. Then, for each fault, the tests that evaluate its expression are run,
//! the quickest first, until one of them fails.

mod campaign;
mod candidates;
mod cargo;
mod outcome;
mod plant;
mod sample;
mod tree;

use campaign::Fate;
use outcome::Failure;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tree::Mutant;

/// The groups of source files that get faults: the name of each group, and its files and folders.
const GROUPS: [(&str, &[&str]); 8] = [
    ("fixed", &["crates/math/src/exact/fixed.rs"]),
    ("law", &["crates/math/src/law"]),
    ("plan", &["crates/math/src/plan", "crates/math/src/search"]),
    ("recycling", &["crates/math/src/recycling"]),
    ("count_min", &["crates/math/src/count_min"]),
    ("freedman", &["crates/math/src/tails/freedman.rs"]),
    ("guarantee", &["crates/math/src/one_filter/quantile.rs", "crates/math/src/one_filter/blocks.rs"]),
    ("kernels", &["crates/filter/src/arch", "crates/filter/src/bulk", "crates/filter/src/scheme"]),
];

/// The packages whose tests are run. The first stage has the crates that get faults. The second
/// stage has the crates that depend on them; its tests are run for the faults that survive the
/// first stage.
const STAGES: [&[&str]; 2] = [&["truebloom-math", "truebloom"], &["truebloom-audit", "truebloom-reproduce", "truebloom-cli"]];

const USAGE: &str = "usage: truebloom-mutants SEED [COUNT] [--only N,N] [--test TEXT] [--stage 1|2] [--limit SECONDS]";

struct Arguments {
    seed: u64,
    count: usize,
    only: Option<Vec<u32>>,
    test: Option<String>,
    stage: Option<usize>,
    /// The limit of CPU time for a test, in seconds.
    limit: u64,
}

fn arguments() -> outcome::Result<Arguments> {
    let mut given = std::env::args().skip(1);
    let seed = given.next().and_then(|seed| seed.parse().ok()).ok_or_else(|| Failure::new(USAGE))?;
    let mut arguments = Arguments { seed, count: 300, only: None, test: None, stage: None, limit: 600 };
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| Failure::new(USAGE));
        match argument.as_str() {
            "--only" => arguments.only = Some(value()?.split(',').map(str::parse).collect::<Result<_, _>>()?),
            "--test" => arguments.test = Some(value()?),
            "--limit" => arguments.limit = value()?.parse()?,
            "--stage" => arguments.stage = Some(value()?.parse()?),
            count => arguments.count = count.parse().map_err(|_| Failure::new(USAGE))?,
        }
    }
    Ok(arguments)
}

fn main() -> outcome::Result<()> {
    let arguments = arguments()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or_else(|| Failure::new("no tree above the tool"))?;
    let scratch = root.join("target/mutants");
    let (draft, tree, build) = (scratch.join("draft"), scratch.join("tree"), scratch.join("build"));
    tree::copy(root, &draft)?;
    let groups = tree::candidates(&draft, arguments.seed)?;
    let mutants = tree::choose(&draft, &build, groups, arguments.count)?;
    tree::mirror(&draft, &tree)?;
    eprintln!("{} mutants", mutants.len());
    std::fs::write(scratch.join("mutants.txt"), mutants.iter().map(describe).collect::<String>())?;

    let mut left: Vec<&Mutant> =
        mutants.iter().filter(|mutant| arguments.only.as_ref().is_none_or(|only| only.contains(&mutant.number))).collect();
    let mut fates = BTreeMap::new();
    for (stage, packages) in STAGES.iter().enumerate() {
        if left.is_empty() || arguments.stage.is_some_and(|only| only != stage + 1) {
            continue;
        }
        let binaries = cargo::tests(&tree, &build, packages)?;
        let tests = campaign::trace(&binaries, arguments.test.as_deref(), arguments.limit, &scratch)?;
        for (number, fate) in campaign::run_all(&left, &tests, &scratch.join("journal.tsv"))? {
            let reached_before = matches!(fates.get(&number), Some(Fate::Survived));
            fates.insert(number, if reached_before && matches!(fate, Fate::Unreached) { Fate::Survived } else { fate });
        }
        left.retain(|mutant| matches!(fates[&mutant.number], Fate::Survived | Fate::Unreached));
        report(&mutants, &fates, &scratch.join("report.md"))?;
    }
    print!("{}", std::fs::read_to_string(scratch.join("report.md"))?);
    Ok(())
}

fn describe(mutant: &Mutant) -> String {
    format!("{}\t{}:{}\t{}\n", mutant.number, mutant.file, mutant.fault.line, mutant.fault.label)
}

/// A table of all mutants, below the counts of each group.
fn report(mutants: &[Mutant], fates: &BTreeMap<u32, Fate>, path: &PathBuf) -> outcome::Result<()> {
    let mut text =
        "| group | mutants | killed | of these by a limit of time | survived | never reached |\n|---|---|---|---|---|---|\n".to_owned();
    let groups = GROUPS.iter().enumerate().map(|(i, (name, _))| (*name, Some(i)));
    for (name, group) in groups.chain([("all", None)]) {
        let mine = || {
            mutants.iter().filter(|mutant| group.is_none_or(|group| mutant.group == group)).filter_map(|mutant| fates.get(&mutant.number))
        };
        let count = |what: fn(&Fate) -> bool| mine().filter(|fate| what(fate)).count();
        let timed = count(|fate| matches!(fate, Fate::TimedOut(_)));
        let killed = count(|fate| matches!(fate, Fate::Killed(_))) + timed;
        let survived = count(|fate| matches!(fate, Fate::Survived));
        let unreached = count(|fate| matches!(fate, Fate::Unreached));
        text += &format!("| {name} | {} | {killed} | {timed} | {survived} | {unreached} |\n", mine().count());
    }
    text += "\n| mutant | place | fault | fate |\n|---|---|---|---|\n";
    for mutant in mutants {
        let fate = match fates.get(&mutant.number) {
            Some(Fate::Killed(test)) => format!("killed by {test}"),
            Some(Fate::TimedOut(test)) => format!("killed by the limit of {test}"),
            Some(Fate::Survived) => "**survived**".to_owned(),
            Some(Fate::Unreached) => "**never reached**".to_owned(),
            None => continue,
        };
        let label = mutant.fault.label.replace('|', "\\|");
        text += &format!("| {} | {}:{} | {label} | {fate} |\n", mutant.number, mutant.file, mutant.fault.line);
    }
    Ok(std::fs::write(path, text)?)
}
