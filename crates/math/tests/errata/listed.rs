//! Tests that docs/ERRATA.md names all of these tests, and that the tests name its entries.

use crate::common::documents::{numbered_rows, quoted, sources, tests_of};
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
fn every_row_names_tests_and_every_test_is_named() {
    let mut named = BTreeSet::new();
    for row in numbered_rows("ERRATA.md") {
        assert_eq!(row.len(), 5, "{row:?}");
        let tests: Vec<&str> = quoted(&row[4]).collect();
        assert!(!tests.is_empty(), "{row:?} names no test");
        named.extend(tests.into_iter().map(str::to_owned));
    }
    let written = written();
    assert!(written.len() > 40, "the tests were not found");
    assert_eq!(named.difference(&written).collect::<Vec<_>>(), Vec::<&String>::new(), "named, not written");
    assert_eq!(written.difference(&named).collect::<Vec<_>>(), Vec::<&String>::new(), "written, not named");
}

#[test]
fn every_number_has_one_row() {
    let numbers: Vec<String> = numbered_rows("ERRATA.md").into_iter().map(|row| row[0].clone()).collect();
    for (paper, last) in [("B", 35), ("G", 11), ("L", 2), ("K", 18), ("D", 30)] {
        let own: Vec<u32> = numbers.iter().filter_map(|number| number.strip_prefix(paper)?.parse().ok()).collect();
        // A row keeps its number when it moves between the tables of errors and of correct
        // statements.
        let mut sorted = own.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=last).collect::<Vec<_>>(), "{paper}: {own:?}");
        assert!(own.windows(2).filter(|pair| pair[1] < pair[0]).count() <= 2, "{paper}: {own:?}");
    }
}
