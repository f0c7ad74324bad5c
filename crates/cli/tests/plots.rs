//! Charts: every verb that draws, what is in its chart, and what is never overwritten.
#![allow(missing_docs, reason = "a test has no public interface")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn truebloom(arguments: &str, folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_truebloom"));
    command.args(arguments.split(' ')).current_dir(folder).output().expect("it runs")
}

fn drawn(arguments: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let output = truebloom(&format!("{arguments} --plot chart.svg"), folder.path());
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    assert!(said.contains("written: chart.svg") || said.contains("\"plot\":\"chart.svg\"") || arguments.contains("table --json"), "{said}");
    let svg = fs::read_to_string(folder.path().join("chart.svg")).expect("a chart");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains("prefers-color-scheme: dark"), "{arguments}");
    svg
}

/// Points of the curves, by their number: every polyline of more than ten.
fn curves(svg: &str) -> usize {
    svg.lines().filter(|line| line.starts_with("<polyline") && line.matches(',').count() > 10).count()
}

#[test]
fn every_verb_draws_its_curve() {
    for (arguments, words, least) in [
        ("plan -n 200 -p 1%", &["planned: 200", "asked for: 0.01", "98% of filters", "average over filters"][..], 1),
        ("plan -n 200 -p 1% --layout blocked", &["blocked scheme", "planned: 200"], 1),
        ("plan -n 200 -p 1% --json", &["planned: 200"], 1),
        ("plan --recycling --memory 1KiB -p 1%", &["long-run average", "worst"], 1),
        ("fpr -m 9585 -n 1000 -k 7", &["given: 7", "textbook", "standard, exact"], 1),
        ("fpr -m 9585 -n 1000 -k 7 --scheme double", &["double"], 1),
        ("fpr -m 9728 -n 1000 -k 7 --layout blocked", &["blocked, exact"], 1),
        ("table -k 12", &["24 bits", "1,000 items"], 8),
        ("table --json -k 12 -p 1%,0.1%", &["rate 0.001"], 2),
        ("explain -m 9585 -n 1000 -k 7", &["99.9%: at most 0.01136", "average 0.01005"], 1),
        ("simulate -m 1000 -k 4 --sigma 300 -n 10k", &["simulated average", "recycled above 300 set bits"], 1),
        ("simulate -m 500 -k 5 --sigma 220 --phases 2 -n 10k", &["in each of two filters"], 1),
        ("audit fastbloom -n 1000 -p 1%", &["asked: 0.01", "if positions were independent"], 0),
    ] {
        let svg = drawn(arguments);
        for words in words {
            assert!(svg.contains(words), "{arguments}: no {words:?}");
        }
        assert!(curves(&svg) >= least, "{arguments}: {} curves", curves(&svg));
    }
}

/// The numbers drawn are the numbers of the law: at its plan, the curve of a filter is at the rate
/// that is printed.
#[test]
fn a_plan_is_drawn_at_its_rate() {
    let svg = drawn("plan -n 1000 -p 1% --mean");
    // The points at 0.5, 1, 1.05, 1.2 and 2 times the plan; the second lies on the lines of what
    // was asked and planned.
    let attribute =
        |line: &str, name: &str| line.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
    let points: Vec<(f64, f64)> = svg
        .lines()
        .filter(|line| line.starts_with("<circle"))
        .filter_map(|line| Some((attribute(line, "cx")?, attribute(line, "cy")?)))
        .collect();
    assert_eq!(points.len(), 6, "five, and one in the legend: {points:?}");
    let dashes: Vec<(f64, f64)> = svg
        .lines()
        .filter(|line| line.starts_with("<polyline") && line.contains("stroke=\"#57606A\""))
        .filter_map(|line| line.split("points=\"").nth(1)?.split_whitespace().next()?.split_once(','))
        .filter_map(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)))
        .collect();
    let (x, y) = points[2];
    assert!(dashes.iter().filter(|dash| (dash.0 - x).abs() <= 10.0).count() > 5, "the planned number of items: {x}");
    assert!(dashes.iter().filter(|dash| (dash.1 - y).abs() <= 10.0).count() > 5, "the rate that was asked for: {y}");
}

#[test]
fn only_charts_are_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chart.svg");
    for precious in ["precious", "<svg xmlns=\"http://www.w3.org/2000/svg\"><title>another program's</title></svg>"] {
        fs::write(&file, precious).expect("written");
        let output = truebloom("plan -n 100 -p 1% --plot chart.svg", folder.path());
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("chart.svg: it exists and is no chart"), "{message}");
        assert_eq!(fs::read_to_string(&file).expect("there"), precious);
    }
    fs::remove_file(&file).expect("removed");
    // Nothing waits for a reader, and no file has the name of a dash.
    for name in ["-", "/dev/stdout", "."] {
        assert_eq!(truebloom(&format!("plan -n 100 -p 1% --plot {name}"), folder.path()).status.code(), Some(2), "{name}");
    }
    assert!(!folder.path().join("-").exists());
    for arguments in ["plan -n 100 -p 1% --plot chart.svg", "plan -n 200 -p 1% --plot chart.svg"] {
        assert!(truebloom(arguments, folder.path()).status.success());
    }
    assert!(fs::read_to_string(&file).expect("there").contains("planned: 200"));
    // What cannot be drawn is said before anything is written.
    for arguments in [
        "fpr -m 100 -k 3 --ones 50 --plot new.svg",
        "fpr -m 100 -n 0 -k 3 --plot new.svg",
        "fpr -m 100 -k 3 -n 9 --offsets 1,2,3 --plot new.svg",
    ] {
        assert_eq!(truebloom(arguments, folder.path()).status.code(), Some(2), "{arguments}");
        assert!(!folder.path().join("new.svg").exists(), "{arguments}");
    }
}

/// A page with all figures of a paper; a run that was stopped goes on, and a broken last line
/// counts as not done.
#[test]
fn a_report_is_written_and_taken_up_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = truebloom("reproduce lehr grandi --out report --full", folder.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "written: report/report.html (43 claims) and 10 files with its figures\n");
    let report = folder.path().join("report");
    let page = fs::read_to_string(report.join("report.html")).expect("a page");
    assert!(page.contains("truebloom reproduce lehr grandi --full --out DIR") && page.matches("<svg ").count() == 5);
    for name in ["grandi-1-s1", "grandi-1-s2", "lehr-sequence", "lehr-table", "lehr-families"] {
        assert!(fs::read_to_string(report.join(format!("{name}.csv"))).expect("numbers").lines().count() > 20);
        let svg = fs::read_to_string(report.join(format!("{name}.svg"))).expect("a picture");
        assert!(page.contains(&svg), "{name} stands in the page");
    }
    let log = report.join("experiments.jsonl");
    let version = fs::read_to_string(&log).expect("there");
    assert_eq!(version.lines().count(), 1, "{version}");
    fs::write(&log, format!("{version}{{\"experiment\":\"one\",\"values\":[1.5]}}\n{{\"exper")).expect("written");
    assert!(truebloom("reproduce lehr --out report --full", folder.path()).status.success());
    assert_eq!(fs::read_to_string(&log).expect("there"), format!("{version}{{\"experiment\":\"one\",\"values\":[1.5]}}\n{{\"exper\n"));
    // Experiments of another version are not ours, and neither are the files of others.
    fs::write(&log, "{\"experiment\":\"one\",\"values\":[1.5]}\n").expect("written");
    assert_eq!(truebloom("reproduce lehr --out report --full", folder.path()).status.code(), Some(2));
    fs::create_dir(folder.path().join("theirs")).expect("new");
    fs::write(folder.path().join("theirs/lehr-table.csv"), "precious").expect("written");
    assert_eq!(truebloom("reproduce lehr --out theirs", folder.path()).status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.path().join("theirs/lehr-table.csv")).expect("there"), "precious");
}
