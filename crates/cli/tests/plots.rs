//! Charts: every subcommand that draws one, the contents of the charts, and the files that a chart
//! must not overwrite.
#![allow(missing_docs, reason = "a test has no public interface")]

use std::collections::BTreeSet;
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

/// Returns the number of curves, which are the polylines with more than ten points.
fn curves(svg: &str) -> usize {
    svg.lines().filter(|line| line.starts_with("<polyline") && line.matches(',').count() > 10).count()
}

#[test]
fn every_verb_draws_its_curve() {
    for (arguments, words, least) in [
        ("plan -n 200 -p 1%", &["planned: 200", "asked: 0.01", "98% of filters", "average over filters"][..], 1),
        ("plan -n 200 -p 1% --layout blocked", &["blocked scheme", "planned: 200"], 1),
        ("plan -n 200 -p 1% --json", &["planned: 200"], 1),
        ("plan --recycling --memory 1KiB -p 1%", &["long-run average", "worst"], 1),
        ("fpr -m 9585 -n 1000 -k 7", &["given: 7", "textbook", "standard, exact"], 1),
        ("fpr -m 9585 -n 1000 -k 7 --scheme double", &["double"], 1),
        ("fpr -m 9728 -n 1000 -k 7 --layout blocked", &["blocked, exact"], 1),
        ("table -k 12", &["24 bits", "1,000 items"], 8),
        ("table --json -k 12 -p 1%,0.1%", &["rate 0.001"], 2),
        ("explain -m 9585 -n 1000 -k 7", &["99.9%: at most 0.01132", "average 0.01005"], 1),
        ("simulate -m 1000 -k 4 --sigma 300 -n 10k", &["simulated average", "full when more than 300 bits are set"], 1),
        ("simulate -m 1000 -k 4 --sigma 10 -n 10k", &["simulated average at most", "long-run average"], 1),
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

/// The charts of the documentation are what their commands draw. If this fails, draw them again
/// with these commands.
#[test]
fn the_charts_of_the_documentation() {
    for (arguments, chart) in [("plan -n 300 -p 1%", "docs/plan.svg"), ("explain -m 9843 -n 1000 -k 7", "docs/guide/spread.svg")] {
        let there = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(chart)).expect("a chart");
        assert!(drawn(arguments) == there, "truebloom {arguments} --plot {chart} draws another chart");
    }
}

/// The chart shows the computed rates: at the planned number of items, the curve of a filter has
/// the rate that is printed.
#[test]
fn a_plan_is_drawn_at_its_rate() {
    let svg = drawn("plan -n 1000 -p 1% --mean");
    // The points at 1, 1.05, 1.2, 1.5 and 2 times the planned items. The first point lies where the
    // lines for the requested rate and the planned items cross.
    let corners = |line: &str| -> Vec<(f64, f64)> {
        let places = line.split("points=\"").nth(1).map_or("", |rest| rest.trim_end_matches("\"/>").trim());
        places
            .split_whitespace()
            .filter_map(|place| place.split_once(','))
            .filter_map(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)))
            .collect()
    };
    // Counts the squares. The first square is in the legend.
    let squares = svg.lines().filter(|line| line.starts_with("<polygon") && line.contains("#D55E00"));
    let points: Vec<(f64, f64)> = squares
        .map(corners)
        .map(|corners| (f64::midpoint(corners[0].0, corners[2].0), f64::midpoint(corners[0].1, corners[2].1)))
        .collect();
    assert_eq!(points.len(), 6, "five, and one in the legend: {points:?}");
    let lines: Vec<Vec<(f64, f64)>> = svg.lines().filter(|line| line.contains("stroke-dasharray=\"30 30\"")).map(corners).collect();
    let (x, y) = points[1];
    assert!(lines.iter().any(|line| line.iter().all(|end| (end.0 - x).abs() <= 10.0)), "the planned number of items: {x} {lines:?}");
    assert!(lines.iter().any(|line| line.iter().all(|end| (end.1 - y).abs() <= 10.0)), "the rate that was asked for: {y} {lines:?}");
}

/// If the chart's file must not be replaced, the command fails before any work; if the chart cannot
/// be drawn, the command still prints its answer.
#[test]
fn a_chart_costs_no_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = |arguments: &str| {
        let output = truebloom(arguments, folder.path());
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // Five cycles of a gigabyte take too long to draw.
    let (answer, reason) = said("plan --recycling --memory 1GiB -p 1% --plot saw.svg");
    assert!(answer.contains("one phase") && answer.contains("per cycle") && !answer.contains("written"), "{answer}");
    assert!(reason.contains("a cycle has about") && !folder.path().join("saw.svg").exists(), "{reason}");
    let (answer, _) = said("plan --recycling --memory 1GiB -p 1% --plot saw.svg --json");
    assert!(answer.starts_with("{\"verb\":\"plan\"") && !answer.contains("\"plot\""), "{answer}");
    fs::write(folder.path().join("notes.svg"), "precious").expect("written");
    for arguments in [
        // This would take hours if the command began it.
        "simulate -m 1000 -k 4 --sigma 300 -n 1T --plot notes.svg",
        "audit --table -n 1000 -p 1e-6 --simulate 1T --plot notes.svg",
        "table --plot notes.svg",
        "explain -m 9585 -n 1000 -k 7 --plot notes.svg",
        "fpr -m 9585 -n 1000 -k 7 --plot notes.svg",
    ] {
        let (answer, reason) = said(arguments);
        assert!(answer.is_empty() && reason.contains("the file exists, but was not drawn by truebloom"), "{arguments}: {answer}{reason}");
    }
}

/// The name of a chart must end in `.svg`; any other ending is refused before any work, and nothing
/// is written.
#[test]
fn only_svg_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["p.png", "p.pdf", "p"] {
        let output = truebloom(&format!("simulate -m 1000 -k 4 --sigma 300 -n 1T --plot {name}"), folder.path());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{message}");
        assert!(message.contains(name) && message.contains("name it p.svg"), "{message}");
        assert!(!folder.path().join(name).exists());
    }
    assert!(truebloom("plan -n 100 -p 1% --plot P.SVG", folder.path()).status.success());
}

/// The textbook's dashed line is drawn above the exact line, so that it is visible where both have
/// the same values.
#[test]
fn dashes_are_drawn_over_lines() {
    let svg = drawn("fpr -m 9585 -n 1000 -k 7");
    let last = |colour: &str| svg.rfind(&format!("<polyline fill=\"none\" stroke=\"{colour}\"")).expect("a curve");
    assert!(last("#D55E00") > last("#0072B2"));
}

/// The chart of the table names the libraries for which it has no bar.
#[test]
fn libraries_that_refuse_are_named_in_the_chart() {
    let svg = drawn("audit --table -n 1000 -p 1e-6 --simulate 1k");
    assert!(svg.contains("not drawn, because they refuse these numbers: cassandra"), "{svg}");
    assert!(!drawn("audit --table -n 1000 -p 1% --simulate 1k").contains("not drawn"));
}

/// Returns the horizontal coordinates of the chosen polylines, except those of the legend.
fn places(svg: &str, chosen: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let lines = svg.lines().filter(|line| line.starts_with("<polyline") && line.matches(',').count() > 2 && chosen(line));
    let points = lines.filter_map(|line| line.split("points=\"").nth(1)).flat_map(|points| points.split(' '));
    points.filter_map(|point| Some(point.split_once(',')?.0.to_owned())).collect()
}

/// A line shows only rates that are known sharply: it ends where a band begins.
#[test]
fn rates_that_are_only_bracketed_are_no_line() {
    for (arguments, sharp) in [("fpr -m 16000 -n 1000 -k 11 --scheme square", 3), ("fpr -m 1600 -n 100 -k 3 --scheme square", 5)] {
        let svg = drawn(arguments);
        assert!(svg.contains("square, between proven bounds") && svg.contains("square, exact"), "{arguments}");
        let band = places(&svg, |line| line.contains("opacity="));
        let line = places(&svg, |line| !line.contains("opacity=") && !line.contains("dasharray"));
        assert!(band.len() >= 10 && line.len() == sharp, "{arguments}: {band:?} {line:?}");
        assert_eq!(band.intersection(&line).count(), 1, "{arguments}: they meet and do not overlap: {band:?} {line:?}");
    }
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
        assert!(message.contains("chart.svg: the file exists, but was not drawn by truebloom"), "{message}");
        assert_eq!(fs::read_to_string(&file).expect("there"), precious);
    }
    fs::remove_file(&file).expect("removed");
    // The command does not wait for a reader, and does not create a file named `-`.
    for name in ["-", "/dev/stdout", "."] {
        assert_eq!(truebloom(&format!("plan -n 100 -p 1% --plot {name}"), folder.path()).status.code(), Some(2), "{name}");
    }
    assert!(!folder.path().join("-").exists());
    for arguments in ["plan -n 100 -p 1% --plot chart.svg", "plan -n 200 -p 1% --plot chart.svg"] {
        assert!(truebloom(arguments, folder.path()).status.success());
    }
    assert!(fs::read_to_string(&file).expect("there").contains("planned: 200"));
    // If a chart cannot be drawn, the command fails before it writes anything.
    for arguments in [
        "fpr -m 100 -k 3 --ones 50 --plot new.svg",
        "fpr -m 100 -n 0 -k 3 --plot new.svg",
        "fpr -m 100 -k 3 -n 9 --offsets 1,2,3 --plot new.svg",
    ] {
        assert_eq!(truebloom(arguments, folder.path()).status.code(), Some(2), "{arguments}");
        assert!(!folder.path().join("new.svg").exists(), "{arguments}");
    }
}

/// The report has all figures of a paper. A run that was stopped continues, and an incomplete last
/// line of the log counts as not done.
#[test]
fn a_report_is_written_and_taken_up_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = truebloom("reproduce lehr grandi --out report --full", folder.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "written: report/report.html (43 claims) and 12 files with its figures\n");
    let report = folder.path().join("report");
    let page = fs::read_to_string(report.join("report.html")).expect("a page");
    assert!(page.contains("truebloom reproduce lehr grandi --full --out DIR") && page.matches("<svg ").count() == 7);
    for name in ["grandi-1-s1", "grandi-1-s2", "lehr-sequence", "lehr-table", "lehr-families"] {
        assert!(fs::read_to_string(report.join(format!("{name}.csv"))).expect("numbers").lines().count() > 20);
        let svg = fs::read_to_string(report.join(format!("{name}.svg"))).expect("a picture");
        assert!(page.contains(&truebloom_plot::without_style(&svg)), "{name} stands in the page");
    }
    assert_eq!(page.matches("<style>").count(), 1, "one sheet for all charts");
    let log = report.join("experiments.jsonl");
    let version = fs::read_to_string(&log).expect("there");
    assert_eq!(version.lines().count(), 1, "{version}");
    fs::write(&log, format!("{version}{{\"experiment\":\"one\",\"values\":[1.5]}}\n{{\"exper")).expect("written");
    assert!(truebloom("reproduce lehr --out report --full", folder.path()).status.success());
    assert_eq!(fs::read_to_string(&log).expect("there"), format!("{version}{{\"experiment\":\"one\",\"values\":[1.5]}}\n{{\"exper\n"));
    // Experiments of another version do not count, and files of other programs are not replaced.
    fs::write(&log, "{\"experiment\":\"one\",\"values\":[1.5]}\n").expect("written");
    assert_eq!(truebloom("reproduce lehr --out report --full", folder.path()).status.code(), Some(2));
    // A paper that is named twice gives one chapter. Arguments that would be ignored, or that are
    // files, are refused.
    let twice = truebloom("reproduce lehr lehr --out twice", folder.path());
    assert_eq!(String::from_utf8_lossy(&twice.stdout), "written: twice/report.html (8 claims) and 6 files with its figures\n");
    for ignored in ["--json", "--csv"] {
        assert_eq!(truebloom(&format!("reproduce lehr --out new {ignored}"), folder.path()).status.code(), Some(2));
    }
    fs::write(folder.path().join("file"), "precious").expect("written");
    let refused = truebloom("reproduce lehr --out file", folder.path());
    assert!(refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains("file: this is a file"));
    assert!(!folder.path().join("new").exists());
    fs::create_dir(folder.path().join("theirs")).expect("new");
    fs::write(folder.path().join("theirs/lehr-table.csv"), "precious").expect("written");
    assert_eq!(truebloom("reproduce lehr --out theirs", folder.path()).status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.path().join("theirs/lehr-table.csv")).expect("there"), "precious");
    // A log of another program's experiments does not make the folder a folder of this program.
    fs::write(folder.path().join("theirs/experiments.jsonl"), "{\"experiment\":\"mine\"}\n").expect("written");
    assert_eq!(truebloom("reproduce lehr --out theirs", folder.path()).status.code(), Some(2));
}
