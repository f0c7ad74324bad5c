//! Checking the available memory before it is needed.

use crate::failure::Failure;
use crate::report;
use std::fmt::Display;

/// The available memory. Linux reports it; on other systems, only an allocation shows whether there
/// is enough.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns an error if there is not this much memory: some systems allow larger allocations, and
/// end the process when it uses them. `what` begins the sentence ("the filter needs"), and `remedy`
/// ends it.
pub(crate) fn check_memory(what: impl Display, needed: u64, remedy: &str) -> Result<(), Failure> {
    match available_memory() {
        Some(available) if needed > available => Err(Failure::new(format_args!(
            "{what} {}, but only {} of memory are available; {remedy}",
            report::bytes(needed),
            report::bytes(available)
        ))),
        _ => Ok(()),
    }
}
