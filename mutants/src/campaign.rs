//! Finds out which test notices which mutant. A mutant is a copy of the program with one fault.

use crate::cargo::Binary;
use crate::outcome;
use crate::tree::Mutant;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A test that was run once without a fault.
pub struct Test<'a> {
    binary: &'a Binary,
    name: String,
    time: Duration,
    reached: BTreeSet<u32>,
}

#[derive(Clone, Debug)]
pub enum Fate {
    Killed(String),
    /// The test did not end: an infinite loop, or too much memory or time.
    TimedOut(String),
    Survived,
    /// No test runs the changed code.
    Unreached,
}

enum End {
    Passed,
    Failed,
    TimedOut,
}

/// Runs every test alone, without a fault, and notes which changed expressions it evaluates. Tests
/// that take longer than `limit` seconds are left out.
pub fn trace<'a>(binaries: &'a [Binary], filter: Option<&str>, limit: u64, scratch: &Path) -> outcome::Result<Vec<Test<'a>>> {
    let mut tests = Vec::new();
    for binary in binaries {
        let listed = Command::new(&binary.path).args(["--list", "--format", "terse"]).current_dir(&binary.folder).output()?;
        for line in String::from_utf8(listed.stdout)?.lines() {
            let Some(name) = line.strip_suffix(": test") else { continue };
            if filter.is_some_and(|filter| !format!("{} {name}", binary.name).contains(filter)) {
                continue;
            }
            let path = scratch.join("trace");
            let _ = std::fs::remove_file(&path);
            let start = Instant::now();
            let end = run(binary, name, &format!("trace:{}", path.display()), Duration::from_secs(limit))?;
            let time = start.elapsed();
            let reached = std::fs::read_to_string(&path).unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect();
            match end {
                End::Passed => tests.push(Test { binary, name: name.to_owned(), time, reached }),
                End::Failed => eprintln!("left out, because it fails without a fault: {} {name}", binary.name),
                End::TimedOut => eprintln!("left out, because it takes more than {limit} s: {} {name}", binary.name),
            }
        }
        eprintln!("{}: {} tests so far, {:.0} s", binary.name, tests.len(), tests.iter().map(|test| test.time.as_secs_f64()).sum::<f64>());
    }
    tests.sort_by_key(|test| test.time);
    Ok(tests)
}

/// For each mutant, runs the tests that evaluate the changed expression, until one of them fails.
/// The quick tests are run for all mutants before the slow tests.
pub fn run_all(mutants: &[&Mutant], tests: &[Test], journal: &Path) -> outcome::Result<BTreeMap<u32, Fate>> {
    let mut journal = std::fs::OpenOptions::new().append(true).create(true).open(journal)?;
    let mut fates = BTreeMap::new();
    for mutant in mutants {
        let reached = tests.iter().any(|test| test.reached.contains(&mutant.number));
        fates.insert(mutant.number, if reached { Fate::Survived } else { Fate::Unreached });
    }
    let mut least = Duration::ZERO;
    for most in [Duration::from_millis(300), Duration::from_secs(2), Duration::from_secs(10), Duration::MAX] {
        for mutant in mutants {
            if !matches!(fates[&mutant.number], Fate::Survived) {
                continue;
            }
            let mine = tests.iter().filter(|test| (least..most).contains(&test.time) && test.reached.contains(&mutant.number));
            for test in mine {
                let limit = Duration::from_secs(10) + 4 * test.time;
                let name = format!("{} {}", test.binary.name, test.name);
                let fate = match run(test.binary, &test.name, &mutant.number.to_string(), limit)? {
                    End::Passed => continue,
                    End::Failed => Fate::Killed(name),
                    End::TimedOut => Fate::TimedOut(name),
                };
                writeln!(journal, "{}\t{}\t{fate:?}", mutant.number, mutant.file)?;
                fates.insert(mutant.number, fate);
                break;
            }
        }
        let left = fates.values().filter(|fate| matches!(fate, Fate::Survived)).count();
        let least_text = least.as_secs_f64();
        eprintln!("after the tests from {least_text} s to {:.1} s: {left} left", most.as_secs_f64().min(600.0));
        least = most;
    }
    Ok(fates)
}

/// Runs a test. The shell limits its CPU time and memory. Its elapsed time is also limited, because
/// a test that only waits takes no CPU time.
fn run(binary: &Binary, test: &str, mutant: &str, limit: Duration) -> outcome::Result<End> {
    let limits = format!("ulimit -t {} -v 8000000; exec \"$0\" \"$@\"", limit.as_secs());
    let mut child = Command::new("bash")
        .args(["-c", &limits])
        .arg(&binary.path)
        .args(["--exact", test, "--test-threads", "1"])
        .current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder)
        .env("MUTANT", mutant)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            // 9 and 24: the limit of processor time.
            return Ok(match status.code() {
                Some(0) => End::Passed,
                None if matches!(status.signal(), Some(9 | 24)) => End::TimedOut,
                _ => End::Failed,
            });
        }
        if start.elapsed() > 8 * limit {
            let _ = Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).status();
            child.wait()?;
            return Ok(End::TimedOut);
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(50));
    }
}
