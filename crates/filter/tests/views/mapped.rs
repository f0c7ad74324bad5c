//! Tests views of mapped files.
#![allow(unsafe_code, reason = "mapping a file is sound only if the file does not change; the files here are the tests' own")]

use truebloom::file::Mapped;
use truebloom::recycling::{Policy, RecyclingFilter};
use truebloom::{AnyFilter, BlockedBloomFilter, BloomFilter, FileError};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn a_mapped_filter_answers_and_verifies() {
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    let mut filter = BlockedBloomFilter::new(10_000, 0.01).expect("small");
    filter.extend(0..10_000);
    filter.save(&path).expect("saved");
    // SAFETY: no other program writes to the file.
    let view = unsafe { AnyFilter::map(&path) }.expect("mapped");
    assert_eq!(view.contains_all(0..20_000), filter.contains_all(0..20_000));
    assert_eq!(view.verify_bytes().expect("undamaged").fpr(), filter.fpr());
    let mut seen = RecyclingFilter::new(1_000, 4, Policy::two_phases(500)).expect("small");
    (0..300).for_each(|key| _ = seen.check_and_insert(&key));
    seen.save(&path).expect("saved");
    // SAFETY: as above.
    let view = unsafe { <RecyclingFilter>::map(&path) }.expect("mapped");
    assert!((0..400).all(|key| view.contains(&key) == seen.contains(&key)));
}

/// Tests that a saved file takes the name of the old one, while the old file's bytes remain for
/// processes that have mapped it.
#[test]
fn a_file_that_is_replaced_stays_for_its_map() {
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    let mut filter = BloomFilter::new(1_000, 0.01).expect("small");
    filter.insert("old");
    filter.save(&path).expect("saved");
    // SAFETY: no program writes to the file, because `save` makes a new file.
    let view = unsafe { BloomFilter::map(&path) }.expect("mapped");
    filter.clear();
    filter.save(&path).expect("saved");
    assert!(view.contains("old"));
    // SAFETY: as above.
    assert!(!unsafe { BloomFilter::map(&path) }.expect("mapped").contains("old"));
}

#[test]
fn what_is_no_filter_is_refused() {
    let folder = folder();
    let path = folder.path().join("short.tbl");
    for bytes in [&b""[..], b"\x89TBL", b"something else"] {
        std::fs::write(&path, bytes).expect("written");
        // SAFETY: no program writes to the file while it is mapped.
        let error = unsafe { AnyFilter::map(&path) }.map(drop).expect_err("no filter");
        assert!(matches!(error, FileError::Format { .. }), "{error}");
    }
    // SAFETY: there is no file, so nothing is mapped.
    let missing = unsafe { AnyFilter::map(folder.path().join("missing")) }.map(drop);
    assert!(matches!(missing, Err(FileError::Read { .. })));
    // SAFETY: a folder cannot be mapped.
    assert!(matches!(unsafe { AnyFilter::map(folder.path()) }.map(drop), Err(FileError::Read { .. })));
}

/// Tests in a child process that truncating a mapped file ends the process by SIGBUS, as the
/// documentation says.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_truncated_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    const FILE: &str = "TRUEBLOOM_TRUNCATED";
    const SIGBUS: i32 = 7;
    if let Some(path) = std::env::var_os(FILE) {
        // SAFETY: this test violates the requirement on purpose, to see the effect.
        let view = AnyFilter::view(unsafe { Mapped::open(&path) }.expect("mapped")).expect("whole");
        std::fs::OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(0)).expect("truncated");
        let found = view.contains_all(0..1_000).count_ones();
        panic!("found {found} keys in bytes that are not there");
    }
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    BloomFilter::new(100_000, 0.01).expect("small").save(&path).expect("saved");
    let mut child = std::process::Command::new(std::env::current_exe().expect("this test"));
    let name = "mapped::a_file_that_is_truncated_ends_the_process";
    let status = child.args(["--exact", name]).env(FILE, &path).stdout(std::process::Stdio::null()).status().expect("started");
    assert_eq!(status.signal(), Some(SIGBUS), "{status}");
}
