//! Checks help, manual pages and docs/CLI.md against the program: every example runs, and every
//! JSON object has the documented fields.
#![allow(missing_docs, reason = "a test has no public interface")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

fn run(command: &str, folder: &Path) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_truebloom"));
    let path = format!("{}:{}", program.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(command).current_dir(folder).env("PATH", path).env("HOME", folder).env("COLUMNS", "500");
    bash.output().expect("bash runs")
}

fn text_of(command: &str, folder: &Path) -> String {
    let output = run(command, folder);
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A folder with the files that the examples name: made once, then copied.
fn folder() -> tempfile::TempDir {
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let copy = tempfile::tempdir().expect("a folder");
    text_of(&format!("cp -R '{}/.' .", MADE.get_or_init(make_folder).path().display()), copy.path());
    copy
}

fn make_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let prepare = format!(
        "set -e
        gzip -dc '{}/data/american-english.gz' | head -2000 > words.txt
        cp words.txt urls.txt; cp words.txt new.txt; cp words.txt monday.txt; cp words.txt tuesday.txt; cp words.txt log; echo unheard-of >> log; head -1 words.txt > word.txt
        gzip -c urls.txt > urls.gz; echo KLUv/QRYMQAAemVicmEKA20tEw== | base64 -d > more.zst
        printf 'id,email\\n1,ada@example.org\\n' > users.csv
        truebloom create -n 100k -p 0.1% --seed 1 seen.tbl words.txt
        truebloom copy seen.tbl other.tbl; cp seen.tbl monday.tbl; cp seen.tbl base.tbl; truebloom create -p 1% --grow --seed 1 grown.tbl words.txt
        truebloom count --memory 256KiB --seed 7 --save monday.tbc words.txt > words.count 2>&1; cp monday.tbc tuesday.tbc
        truebloom copy seen.tbl tuesday.tbl; truebloom merge united.tbl monday.tbl tuesday.tbl; truebloom diff monday.tbl tuesday.tbl > news; head -c 1000 seen.tbl > short.tbl
        mkdir -p .local/share/bash-completion/completions .zfunc .config/fish/completions",
        root().display()
    );
    text_of(&prepare, folder.path());
    folder
}

fn verbs(folder: &Path) -> Vec<String> {
    let help = text_of("truebloom --help", folder);
    let (_, list) = help.split_once("Commands:\n").expect("a list of verbs");
    let names = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let verbs: Vec<String> = names.filter(|name| *name != "help").map(str::to_owned).collect();
    assert!(verbs.len() >= 18, "{verbs:?}");
    verbs
}

/// Returns the commands of the examples at the end of a help text. These commands are the lines
/// that are indented by two spaces, without the remark that follows after two spaces.
fn examples(help: &str) -> Vec<String> {
    let begin = ["\nExample", "\nGive two", "\nThree ways"].iter().filter_map(|heading| help.rfind(heading)).max();
    let after = help.get(begin.unwrap_or(help.len())..).unwrap_or_default();
    let lines =
        after.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| line.contains("truebloom ") && !line.starts_with(' '));
    lines.map(|line| line.split("  ").next().unwrap_or(line).to_owned()).collect()
}

/// Runs the checks on two threads. A command spends most of its time waiting for its pipes, so this
/// is faster even on one processor.
fn on_two_threads<T: Send>(mut all: Vec<T>, check: impl Fn(T) + Sync) {
    let half = all.split_off(all.len() / 2);
    std::thread::scope(|scope| {
        [all, half].into_iter().for_each(|part| {
            scope.spawn(|| part.into_iter().for_each(&check));
        });
    });
}

/// Returns the same command with less work and without a pager.
fn shortened(example: &str) -> String {
    [
        ("tail -F log", "cat log"),
        ("verify seen.tbl", "verify --time 0.1 seen.tbl"),
        ("--time 60", "--time 0.1"),
        ("--queries 100M", "--queries 10k"),
        ("--simulate 1G", "--simulate 1k"),
        ("--trials 10000", "--trials 2"),
        ("reproduce --out report --full", "reproduce grandi --out report --full"),
        ("reproduce --out report", "reproduce lehr --out report"),
        ("audit --table -n 1000 -p 1e-6", "audit --table -n 100 -p 1%"),
        ("man -l -", "grep -q NAME"),
    ]
    .iter()
    .fold(example.to_owned(), |command, (long, short)| command.replace(long, short))
}

#[test]
fn every_example_of_the_help_runs() {
    let listing = folder();
    let mut found = examples(&text_of("truebloom --help", listing.path()));
    assert_eq!(found.len(), 3);
    for verb in verbs(listing.path()) {
        let of_verb = examples(&text_of(&format!("truebloom {verb} --help"), listing.path()));
        assert!(!of_verb.is_empty(), "{verb} has no example");
        found.extend(of_verb);
    }
    on_two_threads(found, |example| {
        let folder = folder();
        let clean = if example.contains("truebloom create") {
            "rm seen.tbl base.tbl; "
        } else if example.contains("copy --empty base.tbl") {
            "rm monday.tbl tuesday.tbl; "
        } else if example.contains("copy --empty") {
            "rm tuesday.tbl; "
        } else {
            ""
        };
        let output = run(&format!("{clean}{}", shortened(&example)), folder.path());
        assert!(output.status.success(), "{example}: {:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
    });
}

/// A remark after an example must fit into the line, because a remark that continues at the margin
/// would be lost.
#[test]
fn examples_of_the_help_fit_into_a_line() {
    let folder = folder();
    for verb in verbs(folder.path()) {
        let help = text_of(&format!("truebloom {verb} --help"), folder.path());
        let shown = help.split_once("\nExamples:\n").map_or("", |(_, examples)| examples.split("\n\n").next().unwrap_or(""));
        for line in shown.lines() {
            assert!(line.contains("truebloom") || line.starts_with("    "), "{verb}: {line}");
        }
    }
}

#[test]
fn manual_pages_have_the_examples() {
    let folder = folder();
    text_of("truebloom man --into pages", folder.path());
    for verb in verbs(folder.path()) {
        let page = std::fs::read_to_string(folder.path().join(format!("pages/truebloom-{verb}.1"))).expect("a page");
        let page = page.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\&", "");
        for example in examples(&text_of(&format!("truebloom {verb} --help"), folder.path())) {
            let plain = example.replace('\'', "");
            assert!(page.replace('\'', "").contains(&plain), "{verb}: {example}\n{page}");
        }
        assert!(!text_of(&format!("truebloom man {verb}"), folder.path()).is_empty(), "{verb}");
    }
}

#[test]
fn completions_are_scripts() {
    let folder = folder();
    text_of("truebloom completions bash > c.bash && bash -n c.bash && grep -q json-field c.bash", folder.path());
    for shell in ["zsh", "fish"] {
        assert!(text_of(&format!("truebloom completions {shell}"), folder.path()).contains("json-field"), "{shell}");
    }
}

/// Returns the commands, the required fields and the optional fields of every section of
/// docs/CLI.md.
fn documented() -> Vec<(Vec<String>, BTreeSet<String>, BTreeSet<String>)> {
    let text = std::fs::read_to_string(root().join("docs/CLI.md")).expect("docs/CLI.md");
    let sections = text.split("\n### ").skip(1).map(|section| {
        let commands = section.lines().filter_map(|line| line.strip_prefix("    truebloom ")).map(str::to_owned).collect();
        let rows = |prefix: &str, end: char| -> BTreeSet<String> {
            section.lines().filter_map(|line| line.strip_prefix(prefix)?.split(end).next().map(str::to_owned)).collect()
        };
        (commands, rows("| `", '`'), rows("| *`", '`'))
    });
    sections.collect()
}

#[test]
fn objects_have_the_documented_fields() {
    let documented = documented();
    assert!(documented.len() >= 15);
    on_two_threads(documented, |(commands, always, sometimes)| {
        let mut seen = BTreeSet::new();
        for command in &commands {
            let folder = folder();
            let output = run(&format!("truebloom {command}"), folder.path());
            let object: serde_json::Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|error| panic!("{command}: {error} {}", String::from_utf8_lossy(&output.stderr)));
            let found: BTreeSet<String> = object.as_object().expect("an object").keys().cloned().collect();
            let missing: Vec<_> = always.difference(&found).collect();
            let unknown: Vec<_> = found.iter().filter(|field| !always.contains(*field) && !sometimes.contains(*field)).collect();
            assert!(missing.is_empty() && unknown.is_empty(), "{command}: not printed {missing:?}, not documented {unknown:?}");
            seen.extend(found);
        }
        // An optional field must be present in at least one of the section's commands.
        let unseen: Vec<_> = sometimes.difference(&seen).collect();
        assert!(!commands.is_empty() && unseen.is_empty(), "{commands:?}: no command prints {unseen:?}");
    });
}

/// docs/PAPERS.md has a query for each function that its rows name, and every query has an answer.
#[test]
fn functions_of_the_papers_can_be_asked() {
    let text = std::fs::read_to_string(root().join("docs/PAPERS.md")).expect("docs/PAPERS.md");
    let (rows, asking) = text.split_once("## Asking a row").expect("the section");
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let of_rows = |row: &str| row.strip_prefix("| ").map(|row| row.split(" | ").map(str::to_owned).collect::<Vec<_>>());
    let named: BTreeSet<String> = rows.lines().filter_map(of_rows).filter(|row| row.len() == 5).flat_map(|row| quoted(&row[3])).collect();
    let queries: Vec<(Vec<String>, String, Vec<String>)> = asking
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.strip_suffix("` |")?.split_once("}` | "))
        .filter_map(|(asked, fields)| Some((asked.rsplit_once(" | `")?, fields)))
        .map(|((functions, query), fields)| (quoted(&format!("`{functions}")), format!("{query}}}"), quoted(&format!("{fields}`"))))
        .collect();
    let asked: BTreeSet<String> = queries.iter().flat_map(|(functions, ..)| functions.clone()).collect();
    assert!(
        named.len() > 50 && named.difference(&asked).next().is_none(),
        "without a query: {:?}",
        named.difference(&asked).collect::<Vec<_>>()
    );
    let lines: String = queries.iter().map(|(_, query, _)| format!("{query}\n")).collect();
    let folder = folder();
    std::fs::write(folder.path().join("queries"), lines).expect("written");
    let answers = text_of("truebloom eval < queries", folder.path());
    assert_eq!(answers.lines().count(), queries.len());
    for (answer, (functions, query, fields)) in answers.lines().zip(&queries) {
        let answer: serde_json::Value = serde_json::from_str(answer).expect("an object");
        assert_eq!(functions.len(), fields.len(), "{functions:?}: a field for each");
        for (function, field) in functions.iter().zip(fields) {
            // The answer must be a number or a list of numbers, and not null.
            let found = &answer[field];
            let is_number = found.is_number()
                || found["value"].is_number()
                || found.as_array().is_some_and(|all| all.iter().all(|one| one.is_number()));
            assert!(is_number, "{function}: {query}: {field} of {answer}");
        }
    }
}

#[test]
fn every_verb_with_objects_is_documented() {
    let folder = folder();
    let documented = documented();
    for verb in verbs(folder.path()) {
        let has_json =
            text_of(&format!("truebloom {verb} --help"), folder.path()).lines().any(|line| line.trim_start().starts_with("--json "));
        let is_documented = documented.iter().any(|(commands, ..)| commands.iter().all(|command| command.starts_with(&format!("{verb} "))));
        assert_eq!(has_json, is_documented, "{verb}");
    }
}
