//! Tests filters that are updated in their files, and what remains of them when their process is
//! killed.
#![allow(unsafe_code, reason = "mapping a file is sound only if the file does not change; the files here are the tests' own")]

use crate::common::SplitMix64;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use truebloom::file::InPlace;
use truebloom::scheme::{Classic, InLines, Scheme, Standard};
use truebloom::{FileError, FilterOf, FormatError, PortableHasher, Seed};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn empty<S: Scheme>() -> FilterOf<S> {
    FilterOf::with_hasher(20_000, 0.01, PortableHasher::xxh3(Seed::from(4))).expect("small")
}

fn open<S: Scheme>(path: &Path) -> Result<InPlace<S>, FileError> {
    // SAFETY: no other program writes to the file.
    unsafe { InPlace::open(path) }
}

/// Tests that `{:?}` shows the path and the counts, but neither the seed nor the bits.
#[test]
fn an_opened_filter_can_be_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("seen.tbl");
    empty::<Standard>().save(&path).expect("written");
    let shown = format!("{:?}", open::<Standard>(&path).expect("whole"));
    assert!(shown.starts_with("InPlace { path: ") && shown.contains("seen.tbl") && shown.len() < 500, "{shown}");
}

fn recover<S: Scheme>(path: &Path) -> Result<InPlace<S>, FileError> {
    // SAFETY: as above.
    unsafe { InPlace::recover(path) }
}

fn is_unfinished<T>(result: Result<T, FileError>) -> bool {
    matches!(result, Err(FileError::Format { cause: FormatError::Unfinished, .. }))
}

/// Tests that inserting into a file gives the same file as inserting into a filter and saving it.
fn check_updates<S: Scheme>() {
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    let mut expected = empty::<S>();
    expected.save(&path).expect("saved");
    for round in 0..3u64 {
        let mut filter = open::<S>(&path).expect("closed before");
        assert!(matches!(open::<S>(&path).map(drop), Err(FileError::InUse { .. })), "it is locked");
        let keys = 1_000 * round..1_000 * round + 1_500;
        assert_eq!(filter.insert_all(keys.clone()), expected.insert_all(keys));
        assert_eq!(filter.insert("one"), expected.insert("one"));
        assert!(is_unfinished(FilterOf::<S>::open(&path)), "marked while it is open");
        filter.sync().expect("synced");
        assert_eq!((filter.ones(), filter.fpr()), (expected.ones(), expected.fpr()));
        // The filter is closed explicitly, or dropped.
        if round == 1 {
            drop(filter)
        } else {
            filter.close().expect("closed")
        }
        assert_eq!(std::fs::read(&path).expect("there"), expected.to_bytes().expect("small"));
    }
    assert!(recover::<S>(&path).expect("nothing to recover").offered() == expected.offered());
    let mut other = empty::<S>();
    other.insert("another");
    let mut filter = open::<S>(&path).expect("closed before");
    filter.union_with(&other).expect("of one seed");
    filter.close().expect("closed");
    assert!(FilterOf::<S>::open(&path).expect("closed").contains("another"));
}

#[test]
fn updates_are_those_of_a_filter_that_is_saved() {
    check_updates::<Standard>();
    check_updates::<InLines>();
}

/// The child process of the next test: inserts numbers, and prints each number when its insertion
/// has returned.
fn insert_until_killed(path: &Path) {
    let mut filter = recover::<Standard>(path).expect("recovered");
    let mut out = std::io::stdout();
    for key in 0.. {
        filter.insert(&key);
        if key % 64 == 0 {
            filter.sync().expect("synced");
        }
        writeln!(out, "key {key}").and_then(|()| out.flush()).expect("the parent reads");
    }
}

#[test]
fn a_process_that_is_killed_loses_no_key() {
    const FILE: &str = "TRUEBLOOM_KILLED";
    if let Some(path) = std::env::var_os(FILE) {
        return insert_until_killed(Path::new(&path));
    }
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    let mut random = SplitMix64(16);
    let mut refused = 0;
    for _ in 0..12 {
        empty::<Standard>().save(&path).expect("saved");
        let name = "in_place::a_process_that_is_killed_loses_no_key";
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        let mut child = command.args(["--exact", name, "--nocapture"]).env(FILE, &path).stdout(Stdio::piped()).spawn().expect("started");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let acknowledged = (random.next() % 400) as usize;
        let said: Vec<u64> = lines.by_ref().filter_map(|line| line.strip_prefix("key ")?.parse().ok()).take(acknowledged + 1).collect();
        child.kill().expect("killed");
        // The numbers that the process printed before it ended.
        let rest = lines.filter_map(|line| line.strip_prefix("key ")?.parse().ok());
        let last = rest.last().or(said.last().copied()).expect("it began");
        child.wait().expect("dead");
        assert!(is_unfinished(FilterOf::<Standard>::open(&path)) && is_unfinished(open::<Standard>(&path)));
        refused += 1;
        let filter = recover::<Standard>(&path).expect("its lock went with it");
        assert!((0..=last).all(|key| filter.contains(&key)), "a key up to {last} is lost");
        assert!(filter.is_merged() && filter.changed() <= last + 2 && filter.offered() == u64::MAX);
        filter.close().expect("closed");
        let filter = FilterOf::<Standard>::open(&path).expect("it is whole again");
        assert!((0..=last).all(|key| filter.contains(&key)) && filter.fpr().upper < 0.01);
    }
    assert_eq!(refused, 12);
}

/// Simulates a disk that has written any subset of the sectors that changed since the last sync.
/// Every key inserted before the sync is still contained.
#[test]
fn sectors_of_two_times_hold_what_was_synced() {
    const SECTOR: usize = 512;
    let folder = folder();
    let (path, torn) = (folder.path().join("filter.tbl"), folder.path().join("torn.tbl"));
    empty::<InLines>().save(&path).expect("saved");
    let mut filter = open::<InLines>(&path).expect("whole");
    let mut random = SplitMix64(17);
    for round in 0..10u64 {
        filter.insert_all(1_000 * round..1_000 * round + 500);
        filter.sync().expect("synced");
        let before = std::fs::read(&path).expect("there");
        filter.insert_all(1_000 * round + 500..1_000 * round + 1_000);
        let after = std::fs::read(&path).expect("there");
        let sectors = before.chunks(SECTOR).zip(after.chunks(SECTOR));
        let mixed: Vec<u8> =
            sectors.flat_map(|(before, after)| if random.next().is_multiple_of(2) { before } else { after }).copied().collect();
        assert!(mixed != before && mixed != after);
        std::fs::write(&torn, mixed).expect("written");
        assert!(is_unfinished(open::<InLines>(&torn)));
        let recovered = recover::<InLines>(&torn).expect("its header is whole");
        assert!((0..1_000 * round + 500).all(|key| key % 1_000 >= 500 || recovered.contains(&key)));
        assert!(recovered.changed() >= filter.changed() - 500);
    }
}

/// Keys inserted since the last sync are only in the bits, not in the counts, so a recovered filter
/// bounds its number of keys by the bits.
#[test]
fn what_is_recovered_is_at_least_what_the_bits_show() {
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    empty::<Standard>().save(&path).expect("saved");
    let mut filter = open::<Standard>(&path).expect("whole");
    filter.insert_all(0..5_000);
    let (ones, probes) = (filter.ones(), u64::from(filter.probes()));
    // As if the process had been killed: nothing is written, and the lock is released.
    let copy = folder.path().join("copy.tbl");
    std::fs::copy(&path, &copy).expect("room");
    let recovered = recover::<Standard>(&copy).expect("its header is whole");
    assert_eq!((recovered.ones(), recovered.changed(), recovered.offered()), (ones, ones.div_ceil(probes), u64::MAX));
}

/// Tests that a partially written header is refused, even by `recover`.
#[test]
fn a_torn_header_is_refused() {
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    empty::<Standard>().save(&path).expect("saved");
    let whole = std::fs::read(&path).expect("there");
    std::mem::forget(open::<Standard>(&path).expect("whole"));
    let marked = std::fs::read(&path).expect("there");
    let (torn, other) = ([&marked[..100], &whole[100..]].concat(), folder.path().join("torn.tbl"));
    std::fs::write(&other, torn).expect("written");
    for result in [open::<Standard>(&other).map(drop), recover::<Standard>(&other).map(drop)] {
        assert!(matches!(result, Err(FileError::Format { cause: FormatError::HeaderChecksum { .. }, .. })), "{result:?}");
    }
}

/// A copy of the file in its present state, as a killed process would leave it.
fn left_behind(path: &Path) -> std::path::PathBuf {
    let copy = path.with_extension("left");
    std::fs::copy(path, &copy).expect("copied");
    copy
}

/// A child process holds all files of its parent, and so their locks, until it runs its own
/// program. Tests a program that starts child processes while it saves and opens files.
#[cfg(unix)]
#[test]
fn a_child_that_is_being_started_keeps_no_lock() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                Command::new("true").status().expect("it is on every Unix");
            }
        });
        for round in 0..400 {
            let opened = empty::<Standard>().save(&path).and_then(|()| open::<Standard>(&path)).and_then(InPlace::close);
            let vain = open::<Classic>(&path).map(drop);
            let again = open::<Standard>(&path).map(drop);
            if opened.is_err() || !matches!(vain, Err(FileError::Format { .. })) || again.is_err() {
                done.store(true, Ordering::Relaxed);
                panic!("round {round}: {opened:?}, {vain:?}, {again:?}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Tests that trying to recover a file as the wrong type does not change the file.
#[test]
fn a_vain_attempt_leaves_the_mark() {
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    empty::<Classic>().save(&path).expect("saved");
    let mut filter = open::<Classic>(&path).expect("whole");
    filter.insert("key");
    let left = left_behind(&path);
    assert!(matches!(recover::<Standard>(&left).map(drop), Err(FileError::Format { cause: FormatError::Scheme { .. }, .. })));
    assert!(is_unfinished(FilterOf::<Classic>::open(&left)));
    std::fs::File::options().write(true).open(&left).and_then(|file| file.set_len(1_000)).expect("cut off");
    assert!(recover::<Classic>(&left).is_err());
    let left = left_behind(&path);
    assert!(recover::<Classic>(&left).expect("marked").contains("key"));
    assert!(FilterOf::<Classic>::open(&left).expect("closed").contains("key"));
}

/// Tests that if another file takes the name, this is reported, and that file is not written to.
#[test]
fn a_file_that_was_replaced_is_told_of() {
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    empty::<Standard>().save(&path).expect("saved");
    let mut filter = open::<Standard>(&path).expect("whole");
    filter.sync().expect("in place");
    empty::<Standard>().save(&path).expect("replaced");
    filter.insert("key");
    assert!(matches!(filter.sync(), Err(FileError::Replaced { .. })));
    assert!(matches!(filter.close(), Err(FileError::Replaced { .. })));
    assert!(!FilterOf::<Standard>::open(&path).expect("whole").contains("key"));
}

/// Tests that a recovered filter is marked as an intersection, if one was merged in before the
/// crash. Some of its bits may then be set by chance.
#[test]
fn an_intersection_is_marked_before_its_bits() {
    let folder = folder();
    let path = folder.path().join("filter.tbl");
    empty::<Standard>().save(&path).expect("saved");
    let (mut first, mut second) = (empty::<Standard>(), empty::<Standard>());
    first.extend(0..20_000u64);
    second.extend(20_000..40_000u64);
    first.intersect_with(&second).expect("clones");
    let mut filter = open::<Standard>(&path).expect("whole");
    filter.union_with(&first).expect("clones");
    let left = recover::<Standard>(&left_behind(&path)).expect("marked");
    assert!(left.is_intersection() && left.changed() == 0 && left.ones() == first.ones());
}
