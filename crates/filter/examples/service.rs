//! A service that gets every message at least once, drops the repeats, and forgets old messages.
//! The service needs a fixed amount of memory, and its state survives restarts.
//!
//! `cargo run --example service` simulates this service in a temporary folder: it stops after the
//! first day and continues from its file.

use std::error::Error;
use std::io;
use std::path::Path;
use truebloom::recycling::{Policy, RecyclingFilter};
use truebloom::truebloom_math::recycling::{Mode, worst_remember};
use truebloom::{FileError, file};

/// A message is remembered at least until this many new messages have come after it.
const REMEMBERED: u64 = 20_000;

/// The state of the last run, or a new one.
fn start(state: &Path) -> Result<RecyclingFilter, Box<dyn Error>> {
    match RecyclingFilter::open(state) {
        Ok(seen) => Ok(seen),
        Err(FileError::Read { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {
            // If the state cannot be saved, fail now rather than at the first save.
            file::check_target(state)?;
            let sized = worst_remember(REMEMBERED, 0.0, &"0.01%".try_into()?, Mode::two_phase())?.ok_or("no memory is large enough")?;
            Ok(RecyclingFilter::new(sized.design.bits(), sized.design.probes(), Policy::from(sized.design))?)
        }
        // A damaged state is an error, because a service with an empty state would handle today's
        // repeats as new.
        Err(error) => Err(error.into()),
    }
}

/// Handles the new messages, and returns their number.
fn serve(seen: &mut RecyclingFilter, messages: impl Iterator<Item = u64>) -> usize {
    messages.filter(|message| seen.check_and_insert(&("order", message)).is_new()).count()
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let state = folder.path().join("seen.tbl");

    let mut seen = start(&state)?;
    let day = 0..80_000;
    // Every message comes twice, the second time a thousand messages later.
    let twice = |messages: std::ops::Range<u64>| {
        messages.clone().flat_map(move |i| [Some(i), i.checked_sub(1_000).filter(|i| messages.contains(i))]).flatten()
    };
    let handled = serve(&mut seen, twice(day.clone()));
    // Even after a power cut, the file is either the complete old state or the complete new one.
    seen.save(&state)?;
    drop(seen);

    let mut seen = start(&state)?;
    // The sender noticed that the service stopped, and repeats its last messages.
    let again = serve(&mut seen, day.end - 1_000..day.end);
    assert_eq!(again, 0, "nothing of what is remembered is handled again");
    let next = serve(&mut seen, twice(day.end..3 * day.end));
    seen.save(&state)?;

    let drops = seen.wrong_drops(0.999_999)?.ok_or("seeds are renewed at every recycle")?;
    println!("handled   {} messages of {}, after a restart too", handled + next, 3 * day.end);
    println!("forgot    {} times", seen.stats().cycles);
    println!("lost      at most {} new messages taken for repeats (99.9999% sure)", drops.at_most);
    println!("state     {} bytes", seen.encoded_bytes());
    let lost = 3 * day.end - (handled + next) as u64;
    assert!(lost <= drops.at_most, "{lost} lost");
    Ok(())
}
