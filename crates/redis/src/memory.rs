//! The memory that filters take from the server, and its limits.

use crate::answer::Failure;
use crate::plans;
use crate::settings;
use std::sync::atomic::{AtomicU64, Ordering};

/// The size of all values in bytes. A thread of the server can also free values.
static BYTES: AtomicU64 = AtomicU64::new(0);
static VALUES: AtomicU64 = AtomicU64::new(0);

/// Counts a new value with this many bytes.
pub(crate) fn taken(bytes: usize) {
    VALUES.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// Counts the removal of a value with this many bytes.
pub(crate) fn given_back(bytes: usize) {
    VALUES.fetch_sub(1, Ordering::Relaxed);
    BYTES.fetch_sub(bytes as u64, Ordering::Relaxed);
}

/// Counts a change in the size of a value.
pub(crate) fn changed(before: usize, after: usize) {
    BYTES.fetch_add((after as u64).wrapping_sub(before as u64), Ordering::Relaxed);
}

/// The number of values, and their size in bytes.
pub(crate) fn totals() -> (u64, u64) {
    (VALUES.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed))
}

/// Returns the largest number of bytes that a new value may take: the limit for one key, or what is
/// left of the limit for all keys if that is less.
pub(crate) fn room_of_a_key() -> u64 {
    settings::most_bytes_of_a_key().min(left_of_all())
}

/// What is left of the limit for all keys, after all values and the plans that they share.
fn left_of_all() -> u64 {
    settings::most_bytes_of_all().saturating_sub(totals().1).saturating_sub(plans::bytes())
}

/// Returns an error if a value that takes `now` bytes would exceed a limit by growing to `bytes`
/// bytes. Call this function before the allocation.
pub(crate) fn check(bytes: u64, now: u64) -> Result<(), Failure> {
    let (key, left) = (settings::most_bytes_of_a_key(), left_of_all());
    if bytes > key {
        return Err(Failure::text(format!("ERR the filter would take {bytes} bytes, but bf.bloom-memory-usage-limit is {key}")));
    }
    if bytes.saturating_sub(now) > left {
        plans::forget_unused();
    }
    let left = left_of_all();
    if bytes.saturating_sub(now) > left {
        let all = settings::most_bytes_of_all();
        return Err(Failure::text(format!(
            "ERR the filter would take {bytes} bytes, but all filters together may take {all} (bf.bloom-total-memory-limit), and only {left} are left"
        )));
    }
    Ok(())
}

/// The number of bytes that the allocator takes for a block, by jemalloc's size classes (four for
/// each doubling). Blocks of 16 KiB or more take whole pages.
pub(crate) const fn class(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        1..=8 => 8,
        9..=128 => bytes.next_multiple_of(16),
        _ => {
            let step = (bytes - 1).ilog2().saturating_sub(2);
            match bytes.checked_next_multiple_of(1 << step) {
                Some(bytes) => bytes,
                None => usize::MAX,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test lists the classes from the allocator's documentation.
    #[test]
    fn classes_are_those_of_jemalloc() {
        let classes = [(1, 8), (9, 16), (17, 32), (48, 48), (49, 64), (129, 160), (160, 160), (161, 192), (257, 320), (4097, 5120)];
        for (bytes, expected) in
            classes.into_iter().chain([(14336, 14336), (14337, 16384), (239_600_000, 268_435_456), (234_881_024, 234_881_024)])
        {
            assert_eq!(class(bytes), expected, "{bytes}");
        }
        assert_eq!((class(0), class(usize::MAX)), (0, usize::MAX));
    }
}
