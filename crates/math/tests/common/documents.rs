//! Reads the tables of documents and the names of tests in source files, so that tests can compare
//! them.

use std::path::{Path, PathBuf};

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of all tables of a document in `docs` whose first cell is the number of an entry, such
/// as `B12`. Cells are trimmed.
pub fn numbered_rows(document: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(document);
    let cells = |line: &str| line.trim().trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let numbered = |row: &Vec<String>| row[0].starts_with(char::is_alphabetic) && row[0].ends_with(|c: char| c.is_ascii_digit());
    read(&path).lines().filter(|line| line.starts_with("| ")).map(cells).filter(numbered).collect()
}

/// An entry of docs/ERRATA.md.
pub struct Erratum {
    /// Such as `B12`.
    pub number: String,
    /// The parts of the entry, such as `Printed` or `Test`, with their texts.
    pub parts: Vec<(String, String)>,
}

/// The entries of docs/ERRATA.md. Each has a heading of the fourth level, and one list item for
/// each part.
pub fn errata() -> Vec<Erratum> {
    let page = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ERRATA.md"));
    let part = |item: &str| {
        let bold = item.strip_prefix("**").and_then(|item| item.split_once(":** "));
        let (name, text) = bold.or_else(|| item.split_once(": ")).expect("a part with a name");
        (name.to_owned(), text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let entry = |text: &str| {
        let (number, rest) = text.split_once('\n').expect("a number on a line of its own");
        let own = rest.split("\n#").next().unwrap_or_default();
        let parts = own.split("\n- ").skip(1).map(|item| part(item.trim())).collect();
        Erratum { number: number.trim().to_owned(), parts }
    };
    page.split("\n#### ").skip(1).map(entry).collect()
}

/// The parts of a table cell between backticks.
pub fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// All Rust files below a folder of the crate.
pub fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the crate") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = read(&path);
                found.push((path, text));
            }
        }
    }
    found
}

/// The functions marked as tests.
pub fn tests_of(source: &str) -> Vec<&str> {
    let name = |rest| Some(str::split_once(str::split_once(rest, "fn ")?.1, '(')?.0);
    source.split("#[test]\n").skip(1).filter_map(name).collect()
}
