//! A counter that many threads increment.

use crate::sync::{AtomicU64, Ordering::Relaxed};

/// One part of a tally. Each part takes two cache lines, because processors fetch lines in pairs.
#[repr(align(128))]
struct Part(AtomicU64);

/// The number of parts of a tally. With more threads than this, some threads share a part.
const PARTS: usize = if cfg!(any(not(feature = "std"), all(test, truebloom_loom))) { 1 } else { 16 };

/// A counter that many threads increment. Each thread has its own part, so that threads do not wait
/// for each other's cache line. The counter stops at `u64::MAX`.
pub(crate) struct Tally {
    parts: alloc::boxed::Box<[Part]>,
}

impl Tally {
    pub(crate) fn new(count: u64) -> Tally {
        let part = |number| Part(AtomicU64::new(if number == 0 { count } else { 0 }));
        Tally { parts: (0..PARTS).map(part).collect() }
    }

    /// Adds to the count.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        let Some(Part(part)) = self.parts.get(own_part()) else { return };
        // Far below `u64::MAX`, one atomic addition is enough: between the load and the addition,
        // other threads cannot raise the count to `u64::MAX`.
        if part.load(Relaxed).saturating_add(more) < u64::MAX / 2 {
            part.fetch_add(more, Relaxed);
        } else {
            let _ = part.fetch_update(Relaxed, Relaxed, |count| Some(count.saturating_add(more)));
        }
    }

    /// The present count.
    pub(crate) fn get(&self) -> u64 {
        self.parts.iter().fold(0, |sum: u64, Part(part)| sum.saturating_add(part.load(Relaxed)))
    }
}

/// The index of this thread's part.
#[cfg(all(feature = "std", not(all(test, truebloom_loom))))]
#[inline]
fn own_part() -> usize {
    use crate::sync::AtomicUsize;
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    std::thread_local! {
        static OWN: usize = THREADS.fetch_add(1, Relaxed) % PARTS;
    }
    // A thread that is ending may no longer have its index.
    OWN.try_with(|own| *own).unwrap_or(0)
}

#[cfg(any(not(feature = "std"), all(test, truebloom_loom)))]
fn own_part() -> usize {
    0
}

#[cfg(all(test, not(truebloom_loom)))]
mod tests {
    use super::*;

    /// Several threads add to the tally at the same time, many times. There is one thread more than
    /// there are parts, so at least two threads share a part. If `add` loaded and stored a count in
    /// two steps, some counts would be lost.
    #[test]
    fn threads_that_share_a_part_lose_nothing() {
        let (tally, begin) = (Tally::new(5), std::sync::Barrier::new(PARTS + 1));
        let shared: Vec<AtomicU64> = (0..PARTS).map(|_| AtomicU64::new(0)).collect();
        let added = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..=PARTS {
                scope.spawn(|| {
                    let mine = &shared[own_part()];
                    mine.fetch_add(1, Relaxed);
                    begin.wait();
                    let times = if mine.load(Relaxed) > 1 { 1_000_000 } else { 1_000 };
                    (0..times).for_each(|_| tally.add(1));
                    added.fetch_add(times, Relaxed);
                });
            }
        });
        let added = added.load(Relaxed);
        assert!(added >= 2_000_000, "two threads share a part: {added}");
        assert_eq!(tally.get(), 5 + added);
    }

    #[test]
    fn a_count_stays_at_the_highest_number() {
        let tally = Tally::new(u64::MAX - 1);
        (0..5).for_each(|_| tally.add(1));
        assert_eq!(tally.get(), u64::MAX);
        tally.add(u64::MAX);
        assert_eq!(tally.get(), u64::MAX);
    }
}
