//! Inputs that are read from beginning to end: their size, their number of records, and inserting
//! their keys.

use super::found::Found;
use super::{Event, HASHED, RecordArgs, Records, or_stdin};
use crate::failure::Failure;
use crate::inputs::{input_metadata, is_stdin, open_file};
use crate::report;
use std::fs::Metadata;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use truebloom::{AnyFilter, Filter, KeyHash};

/// Without a limit, a filter may grow to at most this many times its size at once; three times is
/// usual.
const MOST_TIMES: u64 = 64;

/// The number of bytes in all inputs, if they are files.
pub(super) fn total_bytes(paths: &[PathBuf]) -> Option<u64> {
    paths.iter().map(|path| input_metadata(path).ok().filter(Metadata::is_file).map(|data| data.len())).sum()
}

/// The number of records in all inputs, which can then be read again; `None` if one of them can be
/// read only once. Inputs that cannot be read at all are reported in the second reading.
pub(crate) fn count(args: &RecordArgs, paths: &[PathBuf]) -> Result<Option<u64>, Failure> {
    let mut stdin_begin = None;
    for path in or_stdin(paths) {
        match input_metadata(&path) {
            Ok(data) if !data.is_file() && !data.is_dir() => return Ok(None),
            Ok(_) if is_stdin(&path) => stdin_begin = open_file(&path).and_then(|mut file| file.stream_position()).ok(),
            _ => {}
        }
    }
    let mut records = Records::start(args, paths, true, Found::default(), Arc::new(|_, _| ()))?;
    loop {
        match records.next() {
            Event::End | Event::Stopped => break,
            _ => {}
        }
    }
    if let Some(begin) = stdin_begin {
        // The handle shares its position with standard input.
        let sought = open_file(Path::new("-")).and_then(|mut file| file.seek(io::SeekFrom::Start(begin)));
        sought.map_err(|error| Failure::at(Path::new("standard input"), error))?;
    }
    Ok(Some(records.read()))
}

/// Limits for insertions.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The plan: it is an error if there may be more items.
    pub(crate) strict: bool,
    /// The number of bytes to which a filter may grow; by default, the available memory.
    pub(crate) memory: Option<u64>,
}

/// Inserts the keys of all records. An error if nothing should be written.
pub(crate) fn insert_all(filter: &mut AnyFilter, args: &RecordArgs, paths: &[PathBuf], limits: Limits) -> Result<Records, Failure> {
    let strict = limits.strict;
    let hasher = *filter.hasher();
    let mut records = Records::answering(args, paths, move |batch, answers| answers.hash(batch, hasher))?;
    loop {
        match records.next() {
            Event::Batch(_, answers) => {
                let mut hashes = &answers.hashes[..];
                while !hashes.is_empty() {
                    let (now, later) = hashes.split_at(hashes.len().min(at_once(filter, strict)));
                    hashes = later;
                    insert_hashes(filter, now, limits.memory)?;
                    if strict && filter.is_over_capacity() {
                        return Err(too_many("at least", filter.changed(), filter.capacity().unwrap_or(0)));
                    }
                }
            }
            Event::Stopped | Event::End => break,
            _ => {}
        }
    }
    records.worth_writing()?;
    if strict {
        check_room(filter)?;
    }
    Ok(records)
}

/// For a filter that grows, the memory for a layer may be missing; other filters have all their
/// memory.
fn insert_hashes(filter: &mut AnyFilter, hashes: &[KeyHash], most: Option<u64>) -> Result<(), Failure> {
    let AnyFilter::Scalable(grown) = filter else {
        filter.insert_all_hashes(hashes);
        return Ok(());
    };
    let before = grown.bits();
    let outcome = grown.try_insert_all_hashes(hashes).map_err(Failure::new);
    // Of new layers the system has given out no page yet, except for the few keys in them.
    let needed = (grown.bits() - before) / 8;
    let too_much = |why: String| Err(Failure::new(format_args!("its next layer takes {}, {why}", report::bytes(needed))));
    let outcome = match (outcome, most) {
        (Ok(_), Some(most)) if needed > 0 && grown.bits() / 8 > most => {
            too_much(format!("and --max-memory allows {} in all", report::bytes(most)))
        }
        // What no filter of this command does: its file may be forged.
        (Ok(_), None) if needed > MOST_TIMES * before / 8 => {
            too_much(format!("more than {MOST_TIMES} times what it has; if that is meant, give --max-memory"))
        }
        (Ok(_), None) if needed > 0 => crate::memory::check_memory(
            "a layer takes",
            needed,
            "ask for a higher rate, use a machine with more, or give --max-memory to try anyway",
        ),
        (outcome, _) => outcome.map(drop),
    };
    let keys = report::plural(grown.changed(), "key");
    outcome.map_err(|why| Failure::new(format_args!("the filter cannot grow beyond {keys}: {}; nothing was written", why.message())))
}

/// The number of keys to insert before the filter is checked again: if exceeding the plan must be
/// noticed at once, at most as many as certainly stay within it.
fn at_once(filter: &AnyFilter, strict: bool) -> usize {
    if strict && filter.is_merged() {
        // Judged by its fill, which every key may change.
        return 1;
    }
    let room = filter.capacity().filter(|_| strict).map(|capacity| capacity.saturating_sub(filter.changed()).saturating_add(1));
    room.map_or(HASHED, |room| usize::try_from(room).map_or(HASHED, |room| room.min(HASHED)))
}

/// An error unless the filter certainly holds at most the planned number of items, whatever repeats
/// hide: by the upper bound on its items, as in `verify`.
fn check_room(filter: &AnyFilter) -> Result<(), Failure> {
    let Some(capacity) = filter.capacity() else { return Ok(()) };
    let (_, most) = filter.verification()?.items();
    if most <= capacity {
        return Ok(());
    }
    Err(too_many("up to", most, capacity))
}

/// The message of --strict: there are, or may be, this many items.
fn too_many(how: &str, items: u64, capacity: u64) -> Failure {
    Failure::new(format_args!(
        "there {} more items than planned: {how} {} distinct ones, planned for {}; nothing was written. Leave --strict out to insert them anyway, or plan a larger filter with `truebloom create -n`",
        if how == "up to" { "may be" } else { "are" },
        report::count(items),
        report::count(capacity)
    ))
}
