//! Inputs that are read from beginning to end: their size, their number of records, and inserting
//! their keys.

use super::found::Found;
use super::{Event, HASHED, RecordArgs, Records, or_stdin};
use crate::failure::Failure;
use crate::filters::bytes_of;
use crate::inputs::{input_metadata, is_stdin, open_file};
use crate::report;
use std::fs::Metadata;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use truebloom::{AnyFilter, Filter, KeyHash, ScalableFilter};
use truebloom_math::law::Layer;

/// The default limit on a new layer of a filter that grows: this many times the memory of all
/// layers before it. Usually, a new layer takes three times their memory.
const MOST_TIMES: u64 = 64;

/// The number of bytes in all inputs, if they are files.
pub(super) fn total_bytes(paths: &[PathBuf]) -> Option<u64> {
    paths.iter().map(|path| input_metadata(path).ok().filter(Metadata::is_file).map(|data| data.len())).sum()
}

/// The number of records in all inputs, which can then be read again; `None` if one of them can be
/// read only once. This function reports no input that cannot be read, because the second reading
/// reports it.
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
    // Without records, the filter stays as it is, even if it is overfilled already.
    if strict && records.read() > 0 {
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
    let known = grown.layers().len();
    let outcome = grown.try_insert_all_hashes(hashes);
    // A batch may add several layers. The message is about the first one that is refused, so that
    // it does not depend on the size of batches.
    let layers = grown.layers().len();
    let refused = (known..layers).find_map(|nth| Some((nth, check_layer(grown, nth, most).err()?)));
    match refused.or_else(|| Some((layers, Failure::new(outcome.err()?)))) {
        None => Ok(()),
        Some((nth, why)) => {
            // All layers but the newest are full, so these are all keys that fit without it.
            let keys = report::plural(grown.inserted().iter().take(nth).sum(), "key");
            Err(Failure::new(format_args!("the filter cannot grow beyond {keys}: {}; nothing was written", why.message())))
        }
    }
}

/// Returns an error if a new layer takes too much memory. A layer that is far too large in
/// comparison with the layers before it was never made by this command, so the file may be forged.
fn check_layer(grown: &ScalableFilter, nth: usize, most: Option<u64>) -> Result<(), Failure> {
    let layers = grown.layers();
    let before: u64 = layers.iter().take(nth).map(Layer::bits).sum();
    let new = layers.get(nth).map_or(0, Layer::bits);
    let (needed, in_all) = (bytes_of(new), bytes_of(before + new));
    match most {
        Some(most) if in_all > most => {
            let [needed, in_all, most] = [needed, in_all, most].map(report::bytes);
            Err(Failure::new(format_args!(
                "with its next layer of {needed}, it would take {in_all}, but --max-memory allows {most} for all layers together"
            )))
        }
        Some(_) => Ok(()),
        None if new > MOST_TIMES.saturating_mul(before) => Err(Failure::new(format_args!(
            "its next layer takes {}, more than {MOST_TIMES} times all earlier layers together; if this is intended, give --max-memory",
            report::bytes(needed)
        ))),
        // The system has not yet provided the pages of the new layer, except those with the few
        // keys in it.
        None => crate::memory::check_memory(
            "its next layer takes",
            needed,
            "choose a higher rate, use a machine with more memory, or give --max-memory to try anyway",
        ),
    }
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
        "the filter {} hold {how} {} distinct items, more than the {} planned; nothing was written. Leave --strict out to insert them anyway, or plan a larger filter with `truebloom create -n`",
        if how == "up to" { "could" } else { "would" },
        report::count(items),
        report::count(capacity)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use truebloom::{PortableHasher, Seed};
    use truebloom_math::Growth;

    /// Inserts 20,000 keys in batches of this size, and returns the error.
    fn refusal(batch: usize, memory: u64) -> String {
        let growth = Growth::new("1%".parse().expect("a rate"), 64).expect("a growth");
        let hasher = PortableHasher::xxh3(Seed::from(1));
        let mut filter = AnyFilter::from(ScalableFilter::with_growth(growth, hasher).expect("memory"));
        let hashes: Vec<KeyHash> = (0..20_000u64).map(|key| filter.hash(&key)).collect();
        let refused = hashes.chunks(batch).find_map(|hashes| insert_hashes(&mut filter, hashes, Some(memory)).err());
        refused.expect("the memory is too small").message().to_owned()
    }

    #[test]
    fn a_refused_layer_does_not_depend_on_batches() {
        for memory in [200, 1 << 10, 20 << 10] {
            let one_by_one = refusal(1, memory);
            assert!(one_by_one.contains(" for all layers together"), "{one_by_one}");
            for batch in [7, 1000, 20_000] {
                assert_eq!(refusal(batch, memory), one_by_one, "{batch}");
            }
        }
    }
}
