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
use truebloom::{AnyFilter, Filter, KeyHash, ScalableFilter};

/// The default limit on a new layer of a filter that grows: this many times the memory of all
/// layers before it. Usually, a new layer takes three times their memory.
const MOST_TIMES: u64 = 64;

/// The number of bytes in all inputs, if they are files.
pub(super) fn total_bytes(paths: &[PathBuf]) -> Option<u64> {
    paths.iter().map(|path| input_metadata(path).ok().filter(Metadata::is_file).map(|data| data.len())).sum()
}

/// The number of records in all inputs, which can then be read again; `None` if one of them can be
/// read only once. Inputs that cannot be read are reported only when they are read for the second
/// time.
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
    /// Whether it is an error if there may be more items than planned.
    pub(crate) strict: bool,
    /// The number of bytes to which a filter may grow; by default, the available memory.
    pub(crate) memory: Option<u64>,
}

/// Inserts the keys of all records. Returns an error if the result should not be written.
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

/// Inserts hashed keys. If a filter that grows needs a new layer, there may not be enough memory
/// for it; other filters already have all their memory.
fn insert_hashes(filter: &mut AnyFilter, hashes: &[KeyHash], most: Option<u64>) -> Result<(), Failure> {
    let AnyFilter::Scalable(grown) = filter else {
        filter.insert_all_hashes(hashes);
        return Ok(());
    };
    let (before, layers_before) = (grown.bits(), grown.layers().len());
    let outcome = grown.try_insert_all_hashes(hashes).map_err(Failure::new);
    // The system has not yet provided the pages of new layers, except those with the few keys in
    // them.
    let needed = (grown.bits() - before) / 8;
    let fail = |what: String| Err(Failure::new(what));
    let leap = if needed > 0 { leap(grown, layers_before) } else { None };
    let outcome = match (outcome, most, leap) {
        (Ok(_), Some(most), _) if needed > 0 && grown.bits() / 8 > most => {
            let [needed, most] = [needed, most].map(report::bytes);
            fail(match grown.layers().len() - layers_before {
                1 => format!("its next layer takes {needed}, but --max-memory allows {most} for all layers together"),
                several => format!("its next {several} layers take {needed}, but --max-memory allows {most} for all layers together"),
            })
        }
        (Ok(_), None, Some(leap)) => fail(format!(
            "its next layer takes {}, more than {MOST_TIMES} times all earlier layers together; if this is intended, give --max-memory",
            report::bytes(leap / 8)
        )),
        (Ok(_), None, None) if needed > 0 => crate::memory::check_memory(
            "a layer takes",
            needed,
            "choose a higher rate, use a machine with more memory, or give --max-memory to try anyway",
        ),
        (outcome, ..) => outcome.map(drop),
    };
    let keys = report::plural(grown.changed(), "key");
    outcome.map_err(|why| Failure::new(format_args!("the filter cannot grow beyond {keys}: {}; nothing was written", why.message())))
}

/// Looks for a layer after the first `known` ones that is too large in comparison with the layers
/// before it, and returns the number of its bits. This command never makes such a layer, so the
/// file may be forged. A batch of keys may add several layers; each of them is compared with all
/// layers before it.
fn leap(grown: &ScalableFilter, known: usize) -> Option<u64> {
    let mut before = 0;
    for (nth, layer) in grown.layers().iter().enumerate() {
        if nth >= known && layer.bits() > MOST_TIMES.saturating_mul(before) {
            return Some(layer.bits());
        }
        before += layer.bits();
    }
    None
}

/// The number of keys to insert before the filter is checked again. If the caller must know as soon
/// as the filter exceeds its plan, this is at most the number of keys that certainly fit.
fn at_once(filter: &AnyFilter, strict: bool) -> usize {
    if strict && filter.is_merged() {
        // A merged filter is judged by its fill, which every key may change.
        return 1;
    }
    let room = filter.capacity().filter(|_| strict).map(|capacity| capacity.saturating_sub(filter.changed()).saturating_add(1));
    room.map_or(HASHED, |room| usize::try_from(room).map_or(HASHED, |room| room.min(HASHED)))
}

/// Returns an error if the filter may hold more items than planned. Some keys that seemed to be
/// repeats may be new, so the comparison uses the upper bound on the number of items from `verify`.
fn check_room(filter: &AnyFilter) -> Result<(), Failure> {
    let Some(capacity) = filter.capacity() else { return Ok(()) };
    let (_, most) = filter.verification()?.items();
    if most <= capacity {
        return Ok(());
    }
    Err(too_many("up to", most, capacity))
}

/// Returns the error of --strict; `how` says whether the filter has, or may have, this many items.
fn too_many(how: &str, items: u64, capacity: u64) -> Failure {
    Failure::new(format_args!(
        "there {} {how} {} distinct items, more than the {} planned; nothing was written. Leave --strict out to insert them anyway, or plan a larger filter with `truebloom create -n`",
        if how == "up to" { "may be" } else { "are" },
        report::count(items),
        report::count(capacity)
    ))
}
