//! Checking the available memory before it is needed.

use crate::failure::Failure;
use crate::report;
use std::fmt::Display;

/// The available memory. Linux reports this number; on other systems, the result is `None`, and
/// only an allocation shows whether there is enough.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns an error if less than this much memory is available. The check is necessary because some
/// systems allow larger allocations, but end the process when it uses the memory. `what` is the
/// beginning of the error message ("the filter needs"), and `remedy` is its end.
pub(crate) fn check_memory(what: impl Display, needed: u64, remedy: &str) -> Result<(), Failure> {
    match available_memory() {
        Some(available) if needed > available => Err(Failure::new(format_args!(
            "{what} {}, but only {} of memory is available; {remedy}",
            report::bytes(needed),
            report::bytes(available)
        ))),
        _ => Ok(()),
    }
}
