//! Operations on the keys of a column, block by block, on one or several threads.

use super::{BLOCK, BLOCK_BYTES, Outcome, Refusal, Run, Share, Work, hashes};
use crate::arrow::{Column, Nulls, Problem, Span};
use pyo3::prelude::*;
use std::ops::Range;
use truebloom::{KeyHash, PortableHasher};

/// The number of keys that are processed between two checks for signals, and that each thread
/// processes at a time.
const SLICE: usize = 64 * BLOCK;

/// The number of keys in a slice that is hashed by parallel threads while the previous slice is
/// inserted. The number is large enough to justify a thread, and small enough that several threads
/// share the hashing of a short column.
const HASHED: usize = 16 * BLOCK;

/// Why processing a column stopped early.
enum Stop {
    Problem(Problem),
    Refusal(Refusal),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Problem(problem)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop::Refusal(refusal)
    }
}

pub(super) fn run_column(py: Python<'_>, column: &Column<'_>, work: &Work<'_>, outcome: &mut Outcome) -> PyResult<()> {
    let raise = |stop: Stop| match stop {
        Stop::Problem(problem) => problem.into_error(py),
        Stop::Refusal(refusal) => refusal.into_error(py),
    };
    let slice = match work.share {
        Share::Hashing if work.threads > 1 => HASHED,
        // At the end of each slice, threads wait for the slowest of them, so slices are large. The
        // slices do not grow further beyond 16 threads.
        _ => SLICE * work.threads.min(16),
    };
    let mut hashed = None;
    for from in (0..column.len()).step_by(slice) {
        let rows = from..(from + slice).min(column.len());
        let done = py.detach(|| match (work.share, &work.hasher) {
            _ if work.threads == 1 => ask_rows(column, rows, work),
            (Share::Asking, _) => ask_by_threads(column, rows, work),
            (Share::Nothing, _) | (_, None) => ask_rows(column, rows, work),
            (Share::Hashing, Some(hasher)) => {
                let next = rows.end..(rows.end + slice).min(column.len());
                let present = hashed.take().map_or_else(|| hash_by_threads(column, rows, hasher, work.threads), Ok)?;
                // Meanwhile, all other threads hash the next keys.
                let hash_next = || hash_by_threads(column, next.clone(), hasher, work.threads - 1);
                let (done, ahead) = std::thread::scope(|scope| {
                    let ahead = std::thread::Builder::new().spawn_scoped(scope, hash_next);
                    let done = insert_hashed(&present, work);
                    // If the thread cannot be started, this thread does its work.
                    (done, ahead.map_or_else(|_| Ok(hash_next()), |ahead| ahead.join()))
                });
                hashed = Some(ahead.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
                done
            }
        });
        outcome.join(done.map_err(raise)?);
        py.check_signals()?;
    }
    Ok(())
}

/// The memory for a block, which is reused for the next block.
#[derive(Default)]
struct Scratch {
    numbers: Vec<u64>,
    bytes: Vec<u8>,
    spans: Vec<Span>,
    nulls: Nulls,
}

impl Scratch {
    /// Calls `take` for the keys of these rows block by block. Each call also gets the rows of the
    /// block that are null.
    fn each_block<E: From<Problem>>(
        &mut self,
        column: &Column<'_>,
        rows: Range<usize>,
        mut take: impl FnMut(Run<'_>, &Nulls) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut from = rows.start;
        while from < rows.end {
            from = self.block(column, from..(from + BLOCK).min(rows.end), &mut take)?;
        }
        Ok(())
    }

    /// Calls `take` for a block that consists of at most these rows, and returns the index of the
    /// row after the block.
    fn block<E: From<Problem>>(
        &mut self,
        column: &Column<'_>,
        rows: Range<usize>,
        take: impl FnOnce(Run<'_>, &Nulls) -> Result<(), E>,
    ) -> Result<usize, E> {
        let Scratch { numbers, bytes, spans, nulls } = self;
        numbers.clear();
        bytes.clear();
        spans.clear();
        nulls.rows.clear();
        let mut end = rows.end;
        if column.is_numbers() {
            column.load_numbers(rows, numbers, nulls);
            take(Run::Numbers(numbers), nulls)?;
            return Ok(end);
        }
        let mut keys = Vec::with_capacity(rows.len());
        if column.is_fields() {
            end = column.pack(rows, BLOCK_BYTES, bytes, spans, nulls)?;
            keys.extend(spans.iter().map(|span| span.key(bytes)));
        } else {
            column.load_keys(rows, &mut keys, nulls)?;
        }
        take(Run::Keys(&keys), nulls)?;
        Ok(end)
    }
}

fn ask_rows(column: &Column<'_>, rows: Range<usize>, work: &Work<'_>) -> Result<Outcome, Stop> {
    let mut outcome = Outcome::new(work.keep);
    Scratch::default().each_block(column, rows, |run, nulls| -> Result<(), Stop> {
        outcome.push(&(work.ask)(run)?, nulls);
        Ok(())
    })?;
    Ok(outcome)
}

/// Divides the rows into equal parts of whole blocks; only the last part may end within a block.
fn parts(rows: Range<usize>, threads: usize) -> Vec<Range<usize>> {
    let part = rows.len().div_ceil(threads).next_multiple_of(BLOCK).max(BLOCK);
    rows.clone().step_by(part).map(|from| from..(from + part).min(rows.end)).collect()
}

/// Runs each part on its own thread, and returns the results in order.
fn by_threads<R: Send>(parts: Vec<Range<usize>>, part: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let part = &part;
    std::thread::scope(|scope| {
        let start = |rows: Range<usize>| {
            // If a thread cannot be started, this thread does its work.
            let own = rows.clone();
            std::thread::Builder::new().spawn_scoped(scope, move || part(rows)).map_err(|_| part(own))
        };
        let threads: Vec<_> = parts.into_iter().map(start).collect();
        let result = |thread: Result<std::thread::ScopedJoinHandle<'_, R>, R>| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(result) => result,
        };
        threads.into_iter().map(result).collect()
    })
}

fn ask_by_threads(column: &Column<'_>, rows: Range<usize>, work: &Work<'_>) -> Result<Outcome, Stop> {
    let mut outcome = Outcome::new(work.keep);
    for part in by_threads(parts(rows, work.threads), |rows| ask_rows(column, rows, work)) {
        outcome.join(part?);
    }
    Ok(outcome)
}

/// The blocks of a slice. For each block: the hashes of its keys, and the rows that are null.
type Hashed = Vec<(Vec<KeyHash>, Nulls)>;

fn hash_by_threads(column: &Column<'_>, rows: Range<usize>, hasher: &PortableHasher, threads: usize) -> Result<Hashed, Stop> {
    let hash = |rows: Range<usize>| -> Result<Hashed, Problem> {
        let mut hashed = Hashed::new();
        Scratch::default().each_block(column, rows, |run, nulls| -> Result<(), Problem> {
            hashed.push((hashes(hasher, &run), Nulls { rows: nulls.rows.clone() }));
            Ok(())
        })?;
        Ok(hashed)
    };
    let mut all = Vec::new();
    for part in by_threads(parts(rows, threads.max(1)), hash) {
        all.extend(part?);
    }
    Ok(all)
}

fn insert_hashed(hashed: &Hashed, work: &Work<'_>) -> Result<Outcome, Stop> {
    let mut outcome = Outcome::new(work.keep);
    for (hashes, nulls) in hashed {
        outcome.push(&(work.ask)(Run::Hashes(hashes))?, nulls);
    }
    Ok(outcome)
}
