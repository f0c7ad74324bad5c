//! Tests the output on a terminal, which `script` provides.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "a test has no public interface")]

use std::process::{Command, Stdio};

/// What a script writes to a terminal.
fn seen(script: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!("T='{}'; t() {{ \"$T\" \"$@\"; }}; stty cols 100\n{script}", env!("CARGO_BIN_EXE_truebloom"));
    let output = Command::new("timeout")
        .args(["-k", "5", "120", "script", "-qec", "bash ./run", "/dev/null"])
        .current_dir(std::fs::write(folder.path().join("run"), script).map(|()| folder.path()).expect("written"))
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .expect("script runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the text after the last control sequence.
fn after_progress(seen: &str) -> &str {
    let end = seen.rfind('\u{1b}').map_or(0, |at| at + 1);
    let rest = &seen[end..];
    rest.find(|c: char| c.is_ascii_alphabetic()).filter(|_| end > 0).map_or(rest, |at| &rest[at + 1..])
}

/// Progress appears only if the work takes longer than a second. The progress line is updated a few
/// times and not in a burst, it is removed before the answer is printed, and messages appear above
/// it.
#[test]
fn progress_is_cleared_before_the_answer() {
    for (verb, answer) in [("dedup -c", "301\r\n"), ("dedup -c --report", "301\r\n"), ("create -n 1000 -p 1% --color never F", "created  ")]
    {
        let seen = seen(&format!("mkfifo in; t {verb} < in & exec 3> in; seq 300 >&3; sleep 1.5; echo last >&3; exec 3>&-; wait"));
        let shown = seen.matches(" lines, ").count();
        assert!((1..=6).contains(&shown), "{verb}: {shown} frames of {seen:?}");
        let rest = after_progress(&seen);
        assert!(rest.contains(answer) && !rest.contains(" lines, 0 B/s"), "{verb}: {seen:?}");
        assert_eq!(seen.matches(answer).count(), 1, "{seen:?}");
    }
}

/// Reports are as wide as the terminal.
#[test]
fn reports_are_wrapped() {
    let seen = seen("stty cols 60; seq 100 | t create -n 1000 -p 1% --seed 1 --color never F; t info --color never F; t info F | cat");
    let (wrapped, piped) = seen.split_at(seen.rfind("filter  ").expect("a report"));
    assert!(wrapped.lines().count() > 15 && wrapped.lines().all(|line| line.trim_end().chars().count() <= 60), "{seen}");
    assert!(wrapped.lines().any(|line| line.starts_with("          ")) && piped.lines().any(|line| line.chars().count() > 60), "{seen}");
}

/// The help is wrapped to the width of the terminal, even if the terminal reports columns but no
/// rows.
#[test]
fn help_is_wrapped() {
    for verb in ["dedup", "create", ""] {
        let seen = seen(&format!("stty rows 0 cols 70; t {verb} --help --color never"));
        let widest = seen.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or(0);
        assert!(seen.lines().count() > 40 && (60..=70).contains(&widest), "{verb}: {widest}");
    }
}

#[test]
fn what_follows_the_last_sequence() {
    assert_eq!((after_progress("x\u{1b}[2Kanswer"), after_progress("plain")), ("answer", "plain"));
}
