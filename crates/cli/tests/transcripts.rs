//! Compares terminal sessions in the documentation with what the program prints. The sessions are
//! in the README, docs/SESSION.md, docs/JOBS.md, the pages of docs/guide, and `tests/transcripts/`.
//!
//! A session is the `console` blocks of a Markdown file, run in order by bash in one fresh folder.
//! The lines below a command must equal its output, including standard error; `[..]` in a line
//! stands for any text. A command must succeed unless `[exit N]` follows. A ready-made runner does
//! not suffice, because the usual one starts only single commands, and the README has pipes. No
//! session depends on timing: if one thing must happen before another, the session waits for it,
//! with a pipe that is held open.
#![allow(missing_docs, reason = "a test has no public interface")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Step {
    command: String,
    expected: Vec<String>,
}

fn steps(markdown: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step { command: command.to_owned(), expected: Vec::new() }),
                (None, Some(step)) => step.expected.push(line.to_owned()),
                (None, None) => panic!("output before the first command: {line}"),
            }
        }
    }
    steps
}

/// Whether `line` is `pattern`, in which `[..]` stands for any text.
fn matches(pattern: &str, line: &str) -> bool {
    let Some((head, tail)) = pattern.split_once("[..]") else { return pattern == line };
    let Some(rest) = line.strip_prefix(head) else { return false };
    (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| matches(tail, &rest[at..]))
}

/// Returns what a command prints, and its exit code if that is not 0.
fn run(command: &str, folder: &Path) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_truebloom"));
    let path = format!("{}:{}", program.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let merged = format!("exec 2>&1\n{command}");
    // A command that hangs is ended after five minutes and says so, with exit code 124; nothing
    // else depends on time.
    let output = Command::new("timeout")
        .args(["-k", "5", "300", "bash", "-c"])
        .arg(&merged)
        .current_dir(folder)
        .env("PATH", path)
        .env("COLUMNS", "120")
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    if !output.status.success() {
        lines.push(format!("[exit {}]", output.status.code().map_or("by signal".to_owned(), |code| code.to_string())));
    }
    lines
}

fn hold(file: &Path) {
    let markdown = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let folder = tempfile::tempdir().expect("a folder");
    // The folder has only the files that the session names, because sessions list their folder.
    let golden = ["count-min-full", "count-min-pairwise", "pack", "recycling-one", "recycling-shared", "recycling-two-classic"];
    let golden = golden.map(|name| format!("crates/filter/tests/golden/v1-{name}.tbl"));
    let others = ["data/zones.csv", "data/changes.log", "crates/filter/tests/count_min/text.md"].map(str::to_owned);
    let named: Vec<_> =
        golden.into_iter().chain(others).filter(|data| markdown.contains(data.rsplit('/').next().unwrap_or(data))).collect();
    let copied: String = named.iter().map(|data| format!("cp '{}/{data}' .; ", root().display())).collect();
    let prepared = run(&format!("{copied}gzip -dc '{}/data/american-english.gz' > words.txt", root().display()), folder.path());
    assert!(prepared.is_empty(), "{prepared:?}");
    if markdown.contains("all.txt") || markdown.contains("examples/words.sh") {
        // The sample of words from examples/words.sh, in addition to all words.
        let sampled = run("mv words.txt all.txt; awk 'NR % 104 == 0 && NR <= 104000' all.txt > words.txt", folder.path());
        assert!(sampled.is_empty(), "{sampled:?}");
    }
    let steps = steps(&markdown);
    assert!(!steps.is_empty(), "{} has no session", file.display());
    for Step { command, mut expected } in steps {
        let mut found = run(&command, folder.path());
        [&mut expected, &mut found]
            .into_iter()
            .for_each(|lines| lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1)));
        let same = expected.len() == found.len() && expected.iter().zip(&found).all(|(pattern, line)| matches(pattern, line));
        assert!(same, "{}\n$ {command}\n--- expected\n{}\n--- found\n{}\n", file.display(), expected.join("\n"), found.join("\n"));
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

#[test]
fn the_readme() {
    hold(&root().join("README.md"));
}

#[test]
fn the_first_session() {
    hold(&root().join("docs/SESSION.md"));
}

#[test]
fn the_jobs() {
    hold(&root().join("docs/JOBS.md"));
}

#[test]
fn the_guide() {
    let mut pages = markdown_in(&root().join("docs/guide"));
    pages.retain(|page| std::fs::read_to_string(page).expect("a page").contains("```console"));
    assert!(pages.len() >= 4, "{pages:?}");
    pages.iter().for_each(|page| hold(page));
}

fn markdown_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    files.sort();
    files
}

#[test]
fn every_transcript() {
    let files = markdown_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts"));
    assert!(files.len() >= 5);
    // Sessions spend most of their time waiting for the processes that they start.
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    hold(file);
                }
            });
        }
    });
}

#[test]
fn patterns() {
    assert!(matches("a[..]c", "abbc") && matches("[..]", "") && matches("x [..] y [..]", "x 1 y 2"));
    assert!(!matches("a[..]c", "abb") && !matches("abc", "abcd"));
}
