//! Tests that saving a file replaces all of it or nothing.

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
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(matches!(error, FileError::Format { .. }) && cause.contains(shown), "{error}: {cause}");
    }
    let mut bytes = filter(64, 1, 1).to_bytes().expect("small");
    bytes.push(0);
    fs::write(&path, bytes).expect("a file");
    assert!(matches!(BloomFilter::open(&path), Err(FileError::Format { cause: FormatError::TooLong { expected: 264, found: 265 }, .. })));
}

#[cfg(unix)]
mod replaced {
    use super::filter;
    use std::fs::{self, File};
    use std::io::Write;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::time::{Duration, Instant};
    use truebloom::FileError;
    use truebloom::file::{Expected, Replacement, Unkept, check_target, open_regular};

    fn written(path: &std::path::Path, expected: Expected<'_>) -> Result<Vec<Unkept>, FileError> {
        let replacement = Replacement::begin(path, expected)?;
        replacement.file().write_all(b"new").expect("room");
        replacement.commit()
    }

    /// Tests that only the file that was opened is replaced, and no other file that has its name
    /// now.
    #[test]
    fn only_what_was_expected_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        assert!(matches!(written(&path, Expected::Nothing), Ok(unkept) if unkept.is_empty()));
        assert!(matches!(written(&path, Expected::Nothing), Err(FileError::Exists { .. })));
        let old = File::open(&path).expect("there");
        let begun = Replacement::begin(&path, Expected::Only(&old)).expect("it is the same");
        fs::write(folder.path().join("other"), "other").expect("room");
        fs::rename(folder.path().join("other"), &path).expect("replaced");
        assert!(matches!(begun.commit(), Err(FileError::Replaced { .. })));
        assert!(matches!(written(&path, Expected::Only(&old)), Err(FileError::Replaced { .. })));
        assert_eq!(fs::read(&path).expect("there"), b"other");
        fs::remove_file(&path).expect("there");
        assert!(matches!(written(&path, Expected::Only(&old)), Err(FileError::Replaced { .. })));
        // A file that appears after the writer has begun.
        let begun = Replacement::begin(&path, Expected::Nothing).expect("nothing there");
        fs::write(&path, "quicker").expect("room");
        assert!(matches!(begun.commit(), Err(FileError::Exists { .. })));
        assert_eq!(fs::read(&path).expect("there"), b"quicker");
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1, "nothing is left");
    }

    /// At the moment of the replacement, another program gives the name to a file of its own.
    /// Whichever comes first, that file has the name in the end. (A check followed by a rename,
    /// instead of an exchange, would lose the file in a dozen of the rounds.)
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    #[test]
    fn a_file_that_comes_at_the_same_moment_is_never_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("x"), folder.path().join("other"));
        // The time that a commit takes, so that the other file can come at any moment of it.
        let mut usual = Duration::ZERO;
        for round in 0..1_000 {
            fs::write(&path, "old").expect("room");
            fs::write(&other, "other").expect("room");
            let old = File::open(&path).expect("there");
            let begun = Replacement::begin(&path, Expected::Only(&old)).expect("the same");
            let come = || fs::rename(&other, &path).expect("the same folder");
            match round % 10 {
                0 => {
                    let start = Instant::now();
                    begun.commit().expect("nobody came before");
                    usual = start.elapsed();
                    come();
                }
                1 => {
                    come();
                    assert!(matches!(begun.commit(), Err(FileError::Replaced { .. })));
                }
                _ => std::thread::scope(|scope| {
                    let start = Instant::now();
                    let come = &come;
                    scope.spawn(move || {
                        while start.elapsed() < usual * (round % 100) / 80 {
                            std::hint::spin_loop();
                        }
                        come();
                    });
                    let _ = begun.commit();
                }),
            }
            assert_eq!(fs::read(&path).expect("there"), b"other", "round {round}");
        }
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1, "nothing is left");
    }

    #[test]
    fn permissions_are_those_of_the_old_file_before_a_byte_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        fs::write(&path, "old").expect("room");
        for mode in [0o600, 0o640, 0o666, 0o755] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("ours");
            let begun = Replacement::begin(&path, Expected::Anything).expect("writable");
            assert_eq!(begun.file().metadata().expect("open").mode() & 0o777, mode);
            begun.commit().expect("room");
            assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, mode);
        }
        fs::hard_link(&path, folder.path().join("y")).expect("a link");
        assert_eq!(written(&path, Expected::Anything).expect("room"), [Unkept::Links { others: 1 }]);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("ours");
        assert!(matches!(written(&path, Expected::Anything), Err(FileError::ReadOnly { .. })));
        assert!(matches!(filter(64, 1, 1).save(&path), Err(FileError::ReadOnly { .. })));
        let link = folder.path().join("link");
        symlink("nowhere", &link).expect("a link");
        assert!(matches!(filter(64, 1, 1).save(&link), Err(FileError::Dangling { .. })));
        assert!(open_regular(&path).is_ok() && open_regular("/dev/null").is_err());
    }

    /// A temporary file that a running process writes is locked, so it is not removed.
    #[test]
    fn leftovers_are_removed_but_not_files_in_use() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        let in_use = Replacement::begin(&path, Expected::Nothing).expect("nothing there");
        let ours: Vec<_> = fs::read_dir(&folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
        fs::write(folder.path().join(".truebloom-0123456789aB.tmp"), "left").expect("room");
        fs::write(folder.path().join(".truebloom-0123456789aB.tmp~"), "precious").expect("room");
        check_target(&path).expect("writable");
        let mut left: Vec<_> = fs::read_dir(&folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
        left.sort();
        let mut expected = vec![folder.path().join(".truebloom-0123456789aB.tmp~"), ours[0].clone()];
        expected.sort();
        assert_eq!(left, expected);
        in_use.commit().expect("it is still there");
    }
}
