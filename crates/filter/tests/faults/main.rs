//! Checks that every fault that `run.sh` plants fits the sources. A change of the sources at these
//! places must change the lists of faults, too.
#![allow(missing_docs, reason = "a test has no public interface")]

use std::path::Path;

#[test]
fn every_fault_has_its_place() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    for list in ["schemes", "adoption", "growing"] {
        let path = package.join("tests/faults").join(list).with_extension("txt");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let faults: Vec<Vec<&str>> = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('~').collect()).collect();
        assert!(faults.len() > 5, "{list}");
        for fault in faults {
            let [name, _, _, file, stands, ..] = fault[..] else { panic!("{list}: {fault:?}") };
            let source = std::fs::read_to_string(package.join("src").join(file)).unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
            assert!(source.contains(&stands.replace("\\n", "\n")), "{list}, {name}: what it replaces is gone from {file}");
        }
    }
}
