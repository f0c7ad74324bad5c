//! Many keys at a time: from whatever holds them to blocks that a filter takes with the interpreter released.

use crate::arrow::{Arrays, Column, Nulls, Problem, Span};
use crate::errors::{Kind, build_error, no_memory, raise};
use crate::key::{NoMemory, RawKey, extend, with_key};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use std::ops::Range;
use truebloom::{Answers, BuildError, KeyHash, PortableHasher};

/// Keys of a block: their copies stay in the second cache.
const BLOCK: usize = 4096;

/// Bytes of a block's keys that are put together, or copied out of Python: a block ends with the key that exceeds them.
const BLOCK_BYTES: usize = 1 << 20;

/// Keys between two looks at signals, and for each thread at once.
const SLICE: usize = 64 * BLOCK;

/// Threads, at most: more than any machine can use here.
const MOST_THREADS: usize = 256;

/// A block of keys.
pub(crate) enum Run<'a> {
    Numbers(&'a [u64]),
    Keys(&'a [RawKey<'a>]),
    Hashes(&'a [KeyHash]),
}

impl Run<'_> {
    /// The answers to its keys one by one. Hashes are none: they are for filters of one seed.
    pub(crate) fn answer(&self, mut answer: impl FnMut(RawKey<'_>) -> bool) -> truebloom::Answers {
        match self {
            Run::Numbers(numbers) => numbers.iter().map(|number| answer(RawKey::Number(*number))).collect(),
            Run::Keys(keys) => keys.iter().map(|key| answer(*key)).collect(),
            Run::Hashes(_) => truebloom::Answers::default(),
        }
    }
}

/// Why a block is not taken.
pub(crate) enum Refusal {
    Build(BuildError),
    ReadOnly,
}

impl Refusal {
    pub(crate) fn into_error(self, py: Python<'_>) -> PyErr {
        match self {
            Refusal::Build(error) => build_error(py, &error),
            Refusal::ReadOnly => read_only(py),
        }
    }
}

pub(crate) fn read_only(py: Python<'_>) -> PyErr {
    raise(py, Kind::ReadOnly, "a filter opened with mmap=True cannot be changed; use copy(), or open it without mmap")
}

impl From<BuildError> for Refusal {
    fn from(error: BuildError) -> Refusal {
        Refusal::Build(error)
    }
}

/// What threads may do.
#[derive(Clone)]
pub(crate) enum Share {
    /// Nothing: every key depends on those before it.
    Nothing,
    /// Hash the next keys while those before them are taken.
    Hashing(PortableHasher),
    /// Ask all at once.
    Asking,
}

type Ask<'a> = dyn Fn(Run<'_>) -> Result<Answers, Refusal> + Sync + 'a;

/// What is to be done with all keys.
pub(crate) struct Work<'a> {
    pub(crate) ask: &'a Ask<'a>,
    pub(crate) share: Share,
    pub(crate) threads: usize,
    /// Whether the answers are wanted, or only their number.
    pub(crate) keep: bool,
}

/// The answers, a bit a row.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) words: Vec<u64>,
    /// A bit a row that is no null; all are without it.
    pub(crate) valid: Option<Vec<u64>>,
    pub(crate) len: usize,
    pub(crate) nulls: usize,
    pub(crate) ones: u64,
    keep: bool,
}

impl Outcome {
    fn new(keep: bool) -> Outcome {
        Outcome { keep, ..Outcome::default() }
    }

    /// The answers to the keys of a block that are no nulls.
    fn push(&mut self, answers: &Answers, nulls: &Nulls) {
        self.ones += answers.count_ones() as u64;
        if !self.keep {
            return;
        }
        if nulls.rows.is_empty() {
            self.append(answers.words(), None, answers.len());
            return;
        }
        let rows = answers.len() + nulls.rows.len();
        let (mut words, mut valid) = (vec![0; rows.div_ceil(64)], vec![0; rows.div_ceil(64)]);
        let (mut null, mut key) = (nulls.rows.iter().peekable(), 0);
        for row in 0..rows {
            if null.next_if(|null| **null == row).is_some() {
                continue;
            }
            words[row / 64] |= u64::from(answers[key]) << (row % 64);
            valid[row / 64] |= 1 << (row % 64);
            key += 1;
        }
        self.nulls += nulls.rows.len();
        self.append(&words, Some(&valid), rows);
    }

    fn append(&mut self, words: &[u64], valid: Option<&[u64]>, len: usize) {
        if let (None, Some(_)) = (&self.valid, valid) {
            let mut all = Vec::new();
            append_bits(&mut all, 0, &vec![u64::MAX; self.len.div_ceil(64)], self.len);
            self.valid = Some(all);
        }
        if let Some(all) = &mut self.valid {
            match valid {
                Some(valid) => append_bits(all, self.len, valid, len),
                None => append_bits(all, self.len, &vec![u64::MAX; len.div_ceil(64)], len),
            }
        }
        append_bits(&mut self.words, self.len, words, len);
        self.len += len;
    }

    fn join(&mut self, other: Outcome) {
        self.ones += other.ones;
        self.nulls += other.nulls;
        self.append(&other.words, other.valid.as_deref(), other.len);
    }
}

/// Adds so many bits to those that are there; what is beyond the last stays 0.
fn append_bits(to: &mut Vec<u64>, there: usize, bits: &[u64], len: usize) {
    let shift = there % 64;
    for (number, word) in bits.iter().take(len.div_ceil(64)).enumerate() {
        let left = len - number * 64;
        let word = if left < 64 { word & ((1 << left) - 1) } else { *word };
        if shift == 0 {
            to.push(word);
            continue;
        }
        if let Some(last) = to.last_mut() {
            *last |= word << shift;
        }
        if left.min(64) + shift > 64 {
            to.push(word >> (64 - shift));
        }
    }
}

/// Does the work with all keys that the object holds.
pub(crate) fn run(keys: &Bound<'_, PyAny>, work: &Work<'_>) -> PyResult<Outcome> {
    let py = keys.py();
    if keys.is_instance_of::<PyString>()
        || keys.is_instance_of::<PyBytes>()
        || keys.is_instance_of::<PyByteArray>()
        || is_view_of_bytes(keys)
    {
        let name = keys.get_type().qualname()?;
        return Err(raise(py, Kind::KeyType, &format!("{name} is one key, not many; give add(key), or a list: [key]")));
    }
    if !(1..=MOST_THREADS).contains(&work.threads) {
        let message = format!("threads is {}, but must be from 1 to {MOST_THREADS}", work.threads);
        return Err(raise(py, Kind::Plan, &message));
    }
    if let Some(arrays) = Arrays::of(keys)? {
        return run_arrays(py, arrays, work);
    }
    if let Some(buffer) = numbers_of(keys)? {
        return run_buffer(py, &buffer, work);
    }
    run_objects(keys, work)
}

/// A memoryview of bytes, or a mapped file: a string of bytes, which is one key.
fn is_view_of_bytes(keys: &Bound<'_, PyAny>) -> bool {
    let is_map = || keys.get_type().fully_qualified_name().is_ok_and(|name| name == "mmap.mmap");
    (keys.is_instance_of::<PyMemoryView>() || is_map()) && PyUntypedBuffer::get(keys).is_ok_and(|buffer| buffer.item_size() == 1)
}

fn run_arrays(py: Python<'_>, mut arrays: Arrays, work: &Work<'_>) -> PyResult<Outcome> {
    let mut outcome = Outcome::new(work.keep);
    let raise = |problem: Problem| problem.into_error(py);
    loop {
        let Some(array) = py.detach(|| arrays.next()).map_err(raise)? else { break };
        let done = arrays.column(&array).map_err(raise).and_then(|column| run_column(py, &column, work, &mut outcome));
        // Its producer may wait for threads that need the interpreter, as for the next one.
        py.detach(move || drop(array));
        if let Err(error) = done {
            py.detach(move || drop(arrays));
            return Err(error);
        }
    }
    py.detach(move || drop(arrays));
    Ok(outcome)
}

/// The buffer of an object that has integers one after the other.
fn numbers_of(keys: &Bound<'_, PyAny>) -> PyResult<Option<PyUntypedBuffer>> {
    let Ok(buffer) = PyUntypedBuffer::get(keys) else { return Ok(None) };
    let format = buffer.format().to_str().unwrap_or_default();
    let letter = format.trim_start_matches(if cfg!(target_endian = "little") { ['@', '=', '<'] } else { ['@', '=', '>'] });
    let numbers = matches!(letter, "b" | "B" | "h" | "H" | "i" | "I" | "l" | "L" | "q" | "Q" | "n" | "N" | "?");
    Ok((buffer.dimensions() == 1 && numbers && buffer.suboffsets().is_none()).then_some(buffer))
}

fn run_buffer(py: Python<'_>, buffer: &PyUntypedBuffer, work: &Work<'_>) -> PyResult<Outcome> {
    let signed = buffer.format().to_bytes().last().is_some_and(u8::is_ascii_lowercase);
    let (Some(len), Some(stride)) = (buffer.shape().first(), buffer.strides().first()) else { return Ok(Outcome::new(work.keep)) };
    #[allow(unsafe_code, reason = "the buffer protocol is pointers")]
    // SAFETY: the buffer says that so many items are there, and keeps them there as long as it lives.
    let column = unsafe { Column::strided(buffer.buf_ptr().cast(), *len, buffer.item_size(), signed, *stride) };
    let Some(column) = column else { return Ok(Outcome::new(work.keep)) };
    let mut outcome = Outcome::new(work.keep);
    run_column(py, &column, work, &mut outcome)?;
    Ok(outcome)
}

fn run_objects(keys: &Bound<'_, PyAny>, work: &Work<'_>) -> PyResult<Outcome> {
    let py = keys.py();
    let Ok(mut objects) = keys.try_iter() else {
        let name = keys.get_type().qualname()?;
        return Err(raise(
            py,
            Kind::KeyType,
            &format!("{name} does not hold keys; give a list, an iterator, a numpy array or an Arrow column"),
        ));
    };
    let mut outcome = Outcome::new(work.keep);
    let (mut bytes, mut spans) = (Vec::new(), Vec::with_capacity(BLOCK));
    loop {
        let mut end = None;
        bytes.clear();
        spans.clear();
        while spans.len() < BLOCK {
            let push = |key: RawKey<'_>| match key {
                RawKey::Number(number) => {
                    spans.push(Span::Number(number));
                    Ok(())
                }
                RawKey::Bytes(key) => {
                    let from = bytes.len();
                    extend(&mut bytes, key)?;
                    spans.push(Span::Bytes(from, bytes.len()));
                    Ok(())
                }
            };
            match objects.next().map(|object| with_key(&object?, push)) {
                Some(Ok(Ok(()))) => {}
                Some(Ok(Err(NoMemory { bytes }))) => end = Some(Err(no_memory(py, bytes))),
                Some(Err(error)) => end = Some(Err(error)),
                None => end = Some(Ok(())),
            }
            if end.is_some() || bytes.len() > BLOCK_BYTES {
                break;
            }
        }
        // Those before one that is no key are taken, as those before it by a set.
        let answers = py.detach(|| {
            let keys: Vec<RawKey<'_>> = spans.iter().map(|span| span.key(&bytes)).collect();
            (work.ask)(Run::Keys(&keys))
        });
        outcome.push(&answers.map_err(|refusal| refusal.into_error(py))?, &Nulls::default());
        if let Some(end) = end {
            return end.map(|()| outcome);
        }
        py.check_signals()?;
    }
}

/// Why a column's keys are not taken to the end.
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

fn run_column(py: Python<'_>, column: &Column<'_>, work: &Work<'_>, outcome: &mut Outcome) -> PyResult<()> {
    let raise = |stop: Stop| match stop {
        Stop::Problem(problem) => problem.into_error(py),
        Stop::Refusal(refusal) => refusal.into_error(py),
    };
    // No more than that is hashed ahead: 64 MiB of hashes.
    let slice = SLICE * work.threads.min(16);
    let mut hashed = None;
    for from in (0..column.len()).step_by(slice) {
        let rows = from..(from + slice).min(column.len());
        let done = py.detach(|| match &work.share {
            _ if work.threads == 1 => ask_rows(column, rows, work),
            Share::Nothing => ask_rows(column, rows, work),
            Share::Asking => ask_by_threads(column, rows, work),
            Share::Hashing(hasher) => {
                let next = rows.end..(rows.end + slice).min(column.len());
                let present = hashed.take().map_or_else(|| hash_by_threads(column, rows, hasher, work.threads), Ok)?;
                // All threads but this one hash the next keys meanwhile.
                let hash_next = || hash_by_threads(column, next.clone(), hasher, work.threads - 1);
                let (done, ahead) = std::thread::scope(|scope| {
                    let ahead = std::thread::Builder::new().spawn_scoped(scope, hash_next);
                    let done = insert_hashed(&present, work);
                    // Without a thread to spare, this one does it.
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

/// Memory for a block, used again for the next.
#[derive(Default)]
struct Scratch {
    numbers: Vec<u64>,
    bytes: Vec<u8>,
    spans: Vec<Span>,
    nulls: Nulls,
}

impl Scratch {
    /// Calls `take` for the keys of these rows block by block, with the rows of the block that have none.
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

    /// A block of at most these rows; gives back the row after it.
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

/// Equal parts, of whole blocks but for the last.
fn parts(rows: Range<usize>, threads: usize) -> Vec<Range<usize>> {
    let part = rows.len().div_ceil(threads).next_multiple_of(BLOCK).max(BLOCK);
    rows.clone().step_by(part).map(|from| from..(from + part).min(rows.end)).collect()
}

/// Each part by a thread of its own, the results in order.
fn by_threads<R: Send>(parts: Vec<Range<usize>>, part: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let part = &part;
    std::thread::scope(|scope| {
        let start = |rows: Range<usize>| {
            // Without a thread to spare, this one does it.
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

/// Hashes of a block's keys, and the rows that have none.
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

pub(crate) fn hashes(hasher: &PortableHasher, run: &Run<'_>) -> Vec<KeyHash> {
    match run {
        Run::Numbers(numbers) => numbers.iter().map(|number| hasher.hash_key(number)).collect(),
        Run::Keys(keys) => keys.iter().map(|key| hasher.hash_key(key)).collect(),
        Run::Hashes(hashes) => hashes.to_vec(),
    }
}

fn insert_hashed(hashed: &Hashed, work: &Work<'_>) -> Result<Outcome, Stop> {
    let mut outcome = Outcome::new(work.keep);
    for (hashes, nulls) in hashed {
        outcome.push(&(work.ask)(Run::Hashes(hashes))?, nulls);
    }
    Ok(outcome)
}
