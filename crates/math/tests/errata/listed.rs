//! Tests that docs/ERRATA.md names all of these tests, and that the tests name its entries.

use crate::common::documents::{errata, quoted, sources, tests_of};
use std::collections::BTreeSet;

/// The names of the tests in the files of all papers, such as `burns::formula_12`.
fn written() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (path, text) in sources("tests/errata") {
        let paper = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        if paper != "listed" {
            names.extend(tests_of(&text).into_iter().map(|test| format!("{paper}::{test}")));
        }
    }
    names
}

#[test]
fn every_entry_names_tests_and_every_test_is_named() {
    let mut named = BTreeSet::new();
    for entry in errata() {
        let names: Vec<&str> = entry.parts.iter().map(|(name, _)| name.as_str()).collect();
        let ["Printed", "Wrong" | "Note" | "Wrong or missing", "Right", "Test" | "Tests"] = names[..] else {
            panic!("{}: {names:?}", entry.number)
        };
        let tests: Vec<&str> = quoted(&entry.parts[3].1).collect();
        assert!(!tests.is_empty(), "{} names no test", entry.number);
        named.extend(tests.into_iter().map(str::to_owned));
    }
    let written = written();
    assert!(written.len() > 40, "the tests were not found");
    assert_eq!(named.difference(&written).collect::<Vec<_>>(), Vec::<&String>::new(), "named, not written");
    assert_eq!(written.difference(&named).collect::<Vec<_>>(), Vec::<&String>::new(), "written, not named");
}

#[test]
fn every_number_has_one_entry() {
    let numbers: Vec<String> = errata().into_iter().map(|entry| entry.number).collect();
    for (paper, last) in [("B", 35), ("G", 11), ("L", 2), ("K", 18), ("D", 30)] {
        let own: Vec<u32> = numbers.iter().filter_map(|number| number.strip_prefix(paper)?.parse().ok()).collect();
        // An entry keeps its number when it moves between the errors and the correct statements.
        let mut sorted = own.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=last).collect::<Vec<_>>(), "{paper}: {own:?}");
        assert!(own.windows(2).filter(|pair| pair[1] < pair[0]).count() <= 2, "{paper}: {own:?}");
    }
}
