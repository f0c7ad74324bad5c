//! The fault that is planted at run time, which the campaign of mutants adds to this crate.
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

const UNREAD: u32 = u32::MAX;
const TRACE: u32 = u32::MAX - 1;
static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);
static SEEN: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];

/// Whether this fault is planted.
#[inline(always)]
pub(crate) fn is(number: u32) -> bool {
    let active = ACTIVE.load(Relaxed);
    if active < TRACE { active == number } else { ask(number) }
}

#[cold]
#[inline(never)]
fn ask(number: u32) -> bool {
    let name = std::env::var("MUTANT").unwrap_or_default();
    if let Some(path) = name.strip_prefix("trace:") {
        if !SEEN[number as usize].swap(true, Relaxed) {
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("the trace opens");
            file.write_all(format!("{number}\n").as_bytes()).expect("the trace is written");
        }
        ACTIVE.store(TRACE, Relaxed);
        return false;
    }
    let active = name.parse().unwrap_or(0);
    ACTIVE.store(active, Relaxed);
    active == number
}
