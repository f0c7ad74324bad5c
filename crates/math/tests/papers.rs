//! Tests that docs/PAPERS.md has a row for every formula, and names only functions, tests and
//! errata that exist.

mod common;

// Only this file includes the module, because the module needs a parser.
#[path = "common/calls.rs"]
mod calls;

use calls::calls_of_tests;
use common::documents::{errata, numbered_rows, quoted, sources, tests_of};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Whether there is an item with this name, which may have the form `function`, `Type`,
/// `module::function`, `Type::function` or `Type::Variant`.
fn exists(name: &str, sources: &[(PathBuf, String)]) -> bool {
    let defines = |text: &str, item: &str| {
        let function = ["(", "<"].iter().any(|end| text.contains(&format!("fn {item}{end}")));
        function || ["struct", "enum", "trait"].iter().any(|kind| text.contains(&format!("pub {kind} {item} ")))
    };
    let Some((owner, item)) = name.split_once("::") else {
        return sources.iter().any(|(_, text)| defines(text, name));
    };
    if owner.starts_with(char::is_lowercase) {
        let in_module = |path: &Path| path.with_extension("").components().any(|part| part.as_os_str() == owner);
        return sources.iter().any(|(path, text)| in_module(path) && defines(text, item));
    }
    let owns = |text: &str| ["impl", "for", "pub enum", "pub trait"].iter().any(|word| text.contains(&format!("{word} {owner} ")));
    let variant = |text: &str| text.contains(&format!("    {item},\n")) || text.contains(&format!("pub const {item}:"));
    sources.iter().any(|(_, text)| owns(text) && (defines(text, item) || variant(text)))
}

/// The names of the integration tests, in the form `file::test` or `folder::file::test`.
fn tests() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut names = BTreeSet::new();
    for (path, text) in sources("tests") {
        let parts: Vec<String> =
            path.strip_prefix(&root).expect("below").with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
        names.extend(tests_of(&text).into_iter().map(|test| format!("{}::{test}", parts.join("::"))));
    }
    names
}

#[test]
fn every_formula_has_its_row() {
    let found: Vec<String> = numbered_rows("PAPERS.md").into_iter().map(|row| row[0].clone()).collect();
    let numbered = |paper: &str, from: u32, to: u32| (from..=to).map(|i| format!("{paper} {i}")).collect::<Vec<_>>();
    let expected = [
        numbered("Burns", 4, 79),
        numbered("Burns-unnumbered", 1, 9),
        numbered("Grandi", 1, 19),
        numbered("Grandi-unnumbered", 1, 3),
        numbered("Lehr", 1, 8),
        numbered("KM", 1, 22),
        numbered("KM-sketch", 1, 7),
        numbered("Dozier", 1, 49),
        numbered("Dozier-unnumbered", 1, 10),
    ];
    assert_eq!(found, expected.concat());
}

#[test]
fn every_function_and_test_named_exists() {
    let (code, tests) = (sources("src"), tests());
    let mut missing = BTreeSet::new();
    for row in numbered_rows("PAPERS.md") {
        assert_eq!(row.len(), 5, "{row:?}");
        // If a row has no function, it must say that it is a statement about arrivals or means.
        let has_function = quoted(&row[3]).next().is_some() || row[3].starts_with("none: ");
        assert!(has_function && quoted(&row[4]).next().is_some(), "{row:?} names no function or no test");
        missing.extend(quoted(&row[3]).filter(|name| !exists(name, &code)).map(str::to_owned));
        missing.extend(quoted(&row[4]).filter(|name| !tests.contains(*name)).map(str::to_owned));
    }
    assert_eq!(missing, BTreeSet::new(), "named in docs/PAPERS.md, not found");
}

/// Tests that every row names a test that calls its function. The tests are parsed, and their
/// helpers are followed, so a name in a comment is not enough. `tests/faults/run.py --rows` goes
/// further: it shows that a fault in the function makes a test of the row fail.
#[test]
fn every_row_has_a_test_that_calls_its_function() {
    let calls = calls_of_tests();
    let mut missing = Vec::new();
    for row in numbered_rows("PAPERS.md") {
        for function in quoted(&row[3]).filter(|_| !row[3].starts_with("none: ")) {
            if !quoted(&row[4]).any(|test| calls.get(test).is_some_and(|calls| calls.has(function))) {
                missing.push(format!("{}: {function}", row[0]));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "no test of the row calls the function");
}

/// Tests that only actual calls count: a name in a comment, a string, an import or an unused helper
/// is not a call.
#[test]
fn names_alone_are_no_calls() {
    let of = |function: &str, test: &str| calls_of_tests()[test].has(function);
    // Called in an assertion, by a helper, as a method, and as a variant of an enum.
    assert!(of("half_full_items", "functions::half_full_filters"));
    assert!(of("Occupancy::variance", "functions::laws_of_batches") && of("Occupancy::classic", "functions::laws_of_batches"));
    assert!(of("Approximation::Knuth", "vectors::approximations_of_the_papers"));
    assert!(of("convergence::limit_rate", "convergence::upper_ends_hold"));
    // Only mentioned in a string, in the imports of the file, or as a function of another type.
    assert!(!of("half_full_items", "papers::names_alone_are_no_calls"));
    assert!(!of("convergence::slices_constant", "convergence::upper_ends_hold"));
    assert!(!of("Occupancy::union", "functions::laws_of_batches") && !of("Design::fpr", "convergence::upper_ends_hold"));
}

#[test]
fn every_erratum_is_named() {
    let linked = |status: &str| status.split('[').skip(1).filter_map(|rest| Some(rest.split_once(']')?.0.to_owned())).collect::<Vec<_>>();
    let named: BTreeSet<String> = numbered_rows("PAPERS.md").iter().flat_map(|row| linked(&row[2])).collect();
    let listed: BTreeSet<String> = errata().into_iter().map(|entry| entry.number).collect();
    assert_eq!(named, listed);
}

/// Tests that the list of faults has an entry for every function in the rows, with a test that
/// calls the function. `tests/faults/run.py` applies each fault of the list, and checks that the
/// tests named next to it fail.
#[test]
fn every_function_has_its_fault_and_a_test_that_rejects_it() {
    let list = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/functions.txt")).expect("the list");
    let tests = tests();
    let calls = calls_of_tests();
    let mut faulty = BTreeSet::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = line.split(" ~ ").collect();
        assert_eq!(parts.len(), 4, "{line}");
        // If a function has several faults, a text after its name distinguishes them.
        let function = parts[0].split('#').next().unwrap_or_default();
        for test in parts[3].split(", ") {
            assert!(tests.contains(test), "{line}: no test {test}");
            assert!(calls[test].has(function), "{line}: {test} does not call {function}");
        }
        faulty.insert(function.to_owned());
    }
    let named: BTreeSet<String> =
        numbered_rows("PAPERS.md").iter().flat_map(|row| quoted(&row[3]).map(str::to_owned).collect::<Vec<_>>()).collect();
    assert_eq!(named.difference(&faulty).collect::<Vec<_>>(), Vec::<&String>::new(), "named in docs/PAPERS.md, without a fault");
}
