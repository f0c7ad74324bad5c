//! Runs random command lines with good and bad arguments in any order. No command may panic, hang,
//! exit with an undocumented code, or change a file that it was not told to replace.
//!
//! `RANDOM_COMMANDS=3000 RANDOM_SEED=7 RANDOM_SECONDS=10 cargo test -p truebloom-cli --test
//! random_commands -- --nocapture` runs the full test, which takes a few minutes. Without these
//! variables, a small part of it runs with a fixed seed. A failure prints its command line, and the
//! same seed reproduces it. RANDOM_SECONDS limits the time of a command, for use on an otherwise
//! idle machine; without it, only a command that hangs is a failure. A second test introduces each
//! kind of fault on purpose, and checks that it is detected.
#![cfg(unix)]
#![allow(missing_docs, reason = "a test has no public interface")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use truebloom_math::law::simulation::SplitMix64;

/// A command that takes longer counts as hanging, even on a loaded machine.
const HANGS: Duration = Duration::from_secs(300);

/// A random generator that must never change.
struct Random(SplitMix64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0.below(end as u64) as usize
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Subcommands with their options. A command line may also get options of other subcommands. Sizes
/// are small, so that no command takes long.
const VERBS: [(&str, &[&str]); 26] = [
    (
        "create",
        &[
            "-n",
            "-p",
            "-m",
            "-k",
            "--force",
            "--empty",
            "--strict",
            "--scheme",
            "--layout",
            "--untrusted",
            "--json",
            "--seed",
            "--mean",
            "--max-memory",
            "--grow",
            "--grow=100",
        ],
    ),
    ("insert", &["--strict", "--json", "--max-memory"]),
    (
        "check",
        &["-v", "-c", "-q", "--json", "--only-key", "--any", "--all", "--each", "--report", "--report=r.json", "-H", "-n", "-l", "-L"],
    ),
    (
        "dedup",
        &[
            "-n",
            "-p",
            "--memory",
            "--remember",
            "-d",
            "--second",
            "-c",
            "-q",
            "--strict",
            "--state",
            "--json",
            "--report",
            "--report=r.json",
            "--layout",
            "--checkpoint",
        ],
    ),
    ("info", &["--json", "--csv", "--metrics"]),
    ("verify --queries 1k", &["--query-seed", "--json"]),
    ("merge", &["--force", "--intersect", "--json"]),
    ("copy", &["--force", "--empty", "--compress", "--json"]),
    ("diff", &[]),
    ("apply", &["--json"]),
    ("clear", &["--json"]),
    ("count --memory 256KiB", &["-k", "--above", "--force", "-o", "--seed", "--json", "--conservative"]),
    ("count merge", &["--force"]),
    ("count query", &["--json"]),
    ("count show", &["-k", "--above", "--json"]),
    ("doctor", &["--json", "--heal"]),
    ("compare", &["--confidence", "--json", "--csv"]),
    (
        "plan",
        &[
            "-n",
            "-p",
            "-m",
            "-k",
            "--memory",
            "--layout",
            "--bits-per-item",
            "--scheme",
            "--mean",
            "--recycling",
            "--transmit",
            "--remember",
            "--prove",
            "--force",
            "--plot",
            "--json",
        ],
    ),
    ("fpr", &["-m", "-n", "-k", "--ones", "--variant", "--scheme", "--plot", "--json", "--csv"]),
    ("explain", &["-m", "-n", "-k", "--variant", "--plot", "--json"]),
    ("audit", &["-n", "-p", "--plot", "--json", "--csv"]),
    ("table -n 100 -k 3", &["--plot", "--json"]),
    ("completions", &[]),
    ("man", &["--into"]),
    ("eval", &[]),
    ("help", &[]),
];

/// Valid commands, from which half of the command lines are made. A few words may be added, with
/// which a command does something else or is wrong.
const SOUND: [&str; 50] = [
    "diff other.tbl seen.tbl",
    "apply other.tbl news",
    "copy --compress --force seen.tbl other.tbl",
    "check small.tbl words.txt",
    "create -p 1% --grow --force other.tbl words.txt",
    "insert grown.tbl words.txt",
    "merge --force grown.tbl grown.tbl grown2.tbl",
    "verify --queries 1k grown.tbl",
    "create -n 3000 -p 1% new.tbl words.txt",
    "create -p 1% --force seen.tbl words.txt",
    "create --force -n 3000 -p 1% other.tbl",
    "create --empty -n 100 -p 1% new.tbl",
    "create -n 9 -p 1% --column mail new.tbl users.csv",
    "insert other.tbl words.txt",
    "insert blocked.tbl --json-field .a.b lines.jsonl",
    "check seen.tbl words.txt",
    "check --each seen.tbl other.tbl words.txt",
    "check --any blocked.tbl cube.tbl",
    "check --report=r.json seen.tbl packed.gz",
    "dedup words.txt",
    "dedup --state state.tbl",
    "dedup --state state.tbl words.txt",
    "dedup --memory 4KiB -p 1%",
    "dedup --remember 100 -p 1% words.txt",
    "dedup --second -n 3000 -p 1% words.txt",
    "dedup --state mails.tbl users.csv",
    "dedup --second --state new.tbl --memory 4KiB -p 1% words.txt",
    "check -Hn seen.tbl words.txt",
    "check -n --json seen.tbl words.txt",
    "count query digits.tbc 00ff",
    "info - digits.tbc mails.tbl",
    "info seen.tbl state.tbl list.tbc",
    "verify --queries 1k cube.tbl",
    "merge --force other.tbl seen.tbl other.tbl",
    "copy --force seen.tbl other.tbl",
    "clear other.tbl",
    "count --memory 256KiB words.txt",
    "count merge --force list.tbc list.tbc list.tbc",
    "count show list.tbc",
    "count query list.tbc 7",
    "doctor short.tbl",
    "compare seen.tbl other.tbl",
    "plan -n 1000 -p 1%",
    "plan --recycling --memory 4KiB -p 1%",
    "plan -n 100 -p 1% --prove new.json",
    "fpr -m 1000 -n 100 -k 7",
    "plan -n 100 -p 1% --plot new.svg",
    "explain seen.tbl",
    "audit guava -n 1000 -p 1%",
    "man count merge",
];

/// Options of all subcommands that read records.
const RECORDS: [&str; 15] = [
    "-0",
    "--crlf",
    "-f",
    "--delimiter",
    "--csv",
    "--column",
    "--no-header",
    "--json-field",
    "--hex",
    "--fixed",
    "--lines",
    "--blanks",
    "--as-is",
    "-j",
    "--max-record",
];

/// Values of options: numbers, rates, sizes, names, and nonsense.
const VALUES: [&str; 44] = [
    "0",
    "1",
    "7",
    "10",
    "100",
    "1000",
    "1k",
    "1,000",
    "1_000",
    "100k",
    "-1",
    "1e3",
    // More lines than this would take gigabytes.
    "2.5e7",
    "1E",
    "18446744073709551615",
    "99999999999999999999",
    "1%",
    "0.1%",
    "1e-6",
    "1/1000",
    "0",
    "1",
    "100%",
    "1e-400",
    "64",
    "64B",
    "4KiB",
    "1MiB",
    "1GiB",
    "64MiBs",
    "10s",
    "1h",
    "standard",
    "blocked",
    "auto",
    "cube",
    "Partitioned",
    "grandi",
    "guava",
    "",
    "-",
    "é",
    "1,3",
    ".a.b",
];

/// Names of files: filters, text, other kinds, and files that do not exist.
const FILES: [&str; 25] = [
    "small.tbl",
    "news",
    "seen.tbl",
    "grown.tbl",
    "other.tbl",
    "blocked.tbl",
    "cube.tbl",
    "state.tbl",
    "list.tbc",
    "mails.tbl",
    "digits.tbc",
    "words.txt",
    "users.csv",
    "lines.jsonl",
    "packed.gz",
    "short.tbl",
    "empty",
    "folder",
    "new.tbl",
    "no/new.tbl",
    "missing.txt",
    "-",
    "./-",
    "new.json",
    "r.json",
];

/// Files that no command may change, whatever its arguments, because truebloom did not write them.
const PRECIOUS: [&str; 7] = ["words.txt", "users.csv", "lines.jsonl", "packed.gz", "empty", "folder/inner.txt", "short.tbl"];

/// Files that may be replaced, but must always be complete.
const OURS: [&str; 9] =
    ["grown.tbl", "seen.tbl", "other.tbl", "blocked.tbl", "cube.tbl", "state.tbl", "list.tbc", "mails.tbl", "digits.tbc"];

fn prepare(folder: &Path) {
    let script = "set -e; mkdir folder; echo inner > folder/inner.txt; seq 2000 > words.txt; printf 'id,mail\\n1,a@x\\n2,\"b\\n@x\"\\n' > users.csv; printf '{\"a\":{\"b\":1}}\\n{\"a\":2}\\n' > lines.jsonl
        gzip -c words.txt > packed.gz; : > empty
        t create -n 3000 -p 1% --seed 1 seen.tbl words.txt; t copy seen.tbl other.tbl; t create -p 1% --grow=100 --seed 1 grown.tbl words.txt; t copy --empty grown.tbl grown2.tbl; t insert grown2.tbl packed.gz; t copy --compress seen.tbl small.tbl; t diff seen.tbl seen.tbl > news; t create -n 3000 -p 1% --layout blocked --seed 1 blocked.tbl words.txt
        t create -n 3000 -p 1% --mean --scheme cube --seed 1 cube.tbl words.txt; t dedup --memory 4KiB -p 1% --state state.tbl -q words.txt; t count --memory 256KiB --seed 1 -o list.tbc words.txt
        t dedup --memory 4KiB -p 1% --state mails.tbl --column mail -q users.csv; printf '00ff\\n' | t count --memory 256KiB --hex --seed 1 -o digits.tbc
        head -c 1000 seen.tbl > short.tbl";
    let script = format!("t() {{ '{}' \"$@\"; }}\n{script}", env!("CARGO_BIN_EXE_truebloom"));
    let output = Command::new("bash").arg("-c").arg(script).current_dir(folder).output().expect("bash runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn command_line(random: &mut Random) -> Vec<String> {
    let is_sound = random.below(2) == 0;
    let sound = random.pick(&SOUND);
    let (verb, options) = match VERBS.iter().find(|(verb, _)| sound.split(' ').next() == verb.split(' ').next()) {
        Some((_, options)) if is_sound => (sound, *options),
        _ => VERBS[random.below(VERBS.len())],
    };
    let mut line: Vec<String> = verb.split(' ').map(str::to_owned).collect();
    for _ in 0..random.below(if is_sound { 3 } else { 7 }) {
        let word = match random.below(10) {
            0..=3 if !options.is_empty() => random.pick(options),
            4 => random.pick(&RECORDS),
            // An option of another subcommand, which is usually a mistake.
            5 if random.below(4) == 0 => {
                let (_, others) = VERBS[random.below(VERBS.len())];
                others.first().copied().unwrap_or("--help")
            }
            5 | 6 => random.pick(&VALUES),
            _ => random.pick(&FILES),
        };
        line.push(word.to_owned());
        // Most options need a value.
        if word.starts_with("--") && !word.contains('=') && random.below(2) == 0
            || word.len() == 2 && word.starts_with('-') && random.below(3) > 0
        {
            line.push(random.pick(&VALUES).to_owned());
        }
    }
    line
}

/// The outcome of a command.
struct Outcome {
    code: Option<i32>,
    told: String,
    took: Duration,
}

fn run(line: &[String], folder: &Path, input: &Path, longest: Duration) -> Outcome {
    let began = Instant::now();
    let stdin = fs::File::open(input).expect("an input");
    let mut command = Command::new(env!("CARGO_BIN_EXE_truebloom"));
    command.args(line).current_dir(folder).stdin(stdin).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stderr = child.stderr.take().expect("piped");
    let reader = std::thread::spawn(move || {
        let mut told = Vec::new();
        // If thousands of lines are printed, the output is read but not kept.
        let _ = stderr.by_ref().take(1 << 20).read_to_end(&mut told);
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        String::from_utf8_lossy(&told).into_owned()
    });
    let code = loop {
        match child.try_wait().expect("it can be waited for") {
            Some(status) => break status.code(),
            None if began.elapsed() > longest => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    Outcome { code, told: reader.join().unwrap_or_default(), took: began.elapsed() }
}

/// Returns the contents of all files of both lists.
fn contents(folder: &Path) -> BTreeMap<&'static str, Option<Vec<u8>>> {
    PRECIOUS.iter().chain(&OURS).map(|name| (*name, fs::read(folder.join(name)).ok())).collect()
}

/// Returns what a command did wrong, if anything.
fn fault(folder: &Path, before: &BTreeMap<&'static str, Option<Vec<u8>>>, outcome: &Outcome) -> Option<String> {
    if outcome.told.contains("panicked") || outcome.told.contains("RUST_BACKTRACE") {
        return Some(format!("it panicked: {}", outcome.told));
    }
    match outcome.code {
        Some(0..=2) => {}
        None => return Some(format!("it took {:?}, or a signal ended it", outcome.took)),
        Some(code) => return Some(format!("exit code {code}: {}", outcome.told)),
    }
    let now = contents(folder);
    let has_changed = |name: &&&str| before.get(**name) != now.get(**name);
    if let Some(name) = PRECIOUS.iter().find(has_changed) {
        return Some(format!("{name} has changed"));
    }
    let names = fs::read_dir(folder).expect("the folder").flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    if let Some(left) = names.into_iter().find(|name| name.starts_with(".truebloom-")) {
        return Some(format!("{left} was left"));
    }
    OURS.iter().filter(has_changed).find(|name| !whole(folder, name)).map(|name| format!("{name} is lost"))
}

fn whole(folder: &Path, name: &str) -> bool {
    run(&["doctor".to_owned(), name.to_owned()], folder, Path::new("/dev/null"), HANGS).code == Some(0)
}

#[test]
fn no_command_line_panics_hangs_or_loses_a_file() {
    let number = |name: &str, unless: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(unless);
    let (commands, seed) = (number("RANDOM_COMMANDS", 100), number("RANDOM_SEED", 1));
    let most = Duration::from_secs(number("RANDOM_SECONDS", HANGS.as_secs()));
    let folder = tempfile::tempdir().expect("a folder");
    prepare(folder.path());
    let mut random = Random(SplitMix64::at(seed));
    let (mut codes, mut faults, mut longest) = (BTreeMap::new(), Vec::new(), Duration::ZERO);
    for nth in 0..commands {
        let line = command_line(&mut random);
        let input = folder.path().join(random.pick(&["words.txt", "empty", "users.csv", "lines.jsonl"]));
        let before = contents(folder.path());
        let outcome = run(&line, folder.path(), &input, most);
        longest = longest.max(outcome.took);
        *codes.entry(outcome.code).or_insert(0) += 1;
        if let Some(fault) = fault(folder.path(), &before, &outcome) {
            faults.push(format!("{nth}: truebloom {line:?} < {}: {fault}", input.display()));
        }
        // Names of files that a command can create are freed for the next command.
        for made in ["new.tbl", "new.json", "r.json", "-", "1"] {
            let _ = fs::remove_file(folder.path().join(made));
        }
    }
    println!("{commands} commands of seed {seed}: exit codes {codes:?}, at most {longest:?}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let done = codes.get(&Some(0)).copied().unwrap_or(0);
    assert!(done > commands / 10 && codes.contains_key(&Some(2)), "the test has no power: {codes:?}");
}

/// Every kind of fault is detected.
#[test]
fn faults_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    prepare(folder.path());
    let before = contents(folder.path());
    let outcome = |code, told: &str| Outcome { code, told: told.to_owned(), took: Duration::ZERO };
    assert_eq!(fault(folder.path(), &before, &outcome(Some(2), "truebloom: no")), None);
    assert!(fault(folder.path(), &before, &outcome(Some(2), "thread 'main' panicked at")).is_some());
    assert!(
        fault(folder.path(), &before, &outcome(Some(101), "")).is_some() && fault(folder.path(), &before, &outcome(None, "")).is_some()
    );
    // A filter that is small and complete.
    let small = ["copy", "--empty", "--compress", "--force", "seen.tbl", "other.tbl"].map(str::to_owned);
    assert_eq!(run(&small, folder.path(), Path::new("/dev/null"), HANGS).code, Some(0));
    assert_eq!(fault(folder.path(), &before, &outcome(Some(0), "")), None);
    fs::write(folder.path().join("other.tbl"), "gone").expect("writable");
    assert_eq!(fault(folder.path(), &before, &outcome(Some(0), "")), Some("other.tbl is lost".to_owned()));
    assert!(!whole(folder.path(), "other.tbl") && whole(folder.path(), "state.tbl"));
    fs::write(folder.path().join("words.txt"), "changed").expect("writable");
    assert_eq!(fault(folder.path(), &before, &outcome(Some(0), "")), Some("words.txt has changed".to_owned()));
}
