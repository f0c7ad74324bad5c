//! Files are replaced whole or not at all.

mod common;

use common::filter;
use std::fs;
use truebloom::{BloomFilter, FileError, FormatError};

#[test]
fn files_are_saved_opened_and_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("seen.tbl");
    let mut filter = filter(10_000, 4, 7);
    filter.insert("one");
    filter.save_new(&path).expect("a new file");
    assert_eq!(BloomFilter::open(&path).ok(), Some(filter.clone()));
    assert_eq!(fs::read(&path).ok(), filter.to_bytes().ok());

    let before = filter.clone();
    filter.insert("two");
    assert!(matches!(filter.save_new(&path), Err(FileError::Exists { path: found }) if found == path));
    assert_eq!(BloomFilter::open(&path).ok(), Some(before), "a refused save changes nothing");
    filter.save(&path).expect("a replaced file");
    assert_eq!(BloomFilter::open(&path).ok(), Some(filter));
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1, "no temporary file is left");
}

#[cfg(unix)]
#[test]
fn a_file_has_the_permissions_of_a_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (path, plain) = (folder.path().join("seen.tbl"), folder.path().join("plain"));
    filter(64, 1, 1).save(&path).expect("a new file");
    fs::write(&plain, "").expect("a new file");
    let mode = |path| fs::metadata(path).map(|metadata| metadata.permissions().mode()).expect("the file");
    assert_eq!(mode(&path), mode(&plain));
}

#[test]
fn what_cannot_be_opened_or_saved_is_said_with_its_path() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let missing = folder.path().join("no/such/folder/seen.tbl");
    let error = BloomFilter::open(&missing).expect_err("not there");
    assert!(matches!(error, FileError::Read { .. }) && error.to_string().contains("no/such/folder"), "{error}");
    assert!(matches!(filter(64, 1, 1).save(&missing), Err(FileError::Write { .. })));
    assert!(matches!(BloomFilter::open(folder.path()), Err(FileError::Read { .. })), "a folder");
    assert!(filter(64, 1, 1).save(folder.path()).is_err(), "a folder");

    let path = folder.path().join("other");
    for (bytes, shown) in
        [(vec![], "cut off"), (b"key\nkey\n".to_vec(), "not a truebloom file"), (vec![0; 1 << 20], "not a truebloom file")]
    {
        fs::write(&path, bytes).expect("a file");
        let error = BloomFilter::open(&path).expect_err("no filter");
        assert!(matches!(error, FileError::Format { .. }) && error.to_string().contains(shown), "{error}");
    }
    let mut bytes = filter(64, 1, 1).to_bytes().expect("small");
    bytes.push(0);
    fs::write(&path, bytes).expect("a file");
    assert!(matches!(BloomFilter::open(&path), Err(FileError::Format { cause: FormatError::TooLong { expected: 264, found: 265 }, .. })));
}
