//! Operations on many keys, from any kind of container. The keys are collected in blocks. The
//! interpreter is released while a filter processes a block.

mod columns;
mod objects;
mod outcome;

pub(crate) use outcome::Outcome;

use crate::arrow::{Arrays, Column, Problem};
use crate::errors::{Kind, build_error, raise};
use crate::key::RawKey;
use columns::run_column;
use objects::run_objects;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use truebloom::{Answers, BuildError, KeyHash, PortableHasher};

/// The number of keys in a block; the copies of these keys fit in the L2 cache.
const BLOCK: usize = 4096;

/// A limit on the size in bytes of a block whose keys are assembled from fields or copied from
/// Python. The block ends with the key that exceeds this limit.
const BLOCK_BYTES: usize = 1 << 20;

/// The largest number of threads that can be requested.
const MOST_THREADS: usize = 256;

/// A block of keys.
pub(crate) enum Run<'a> {
    Numbers(&'a [u64]),
    Keys(&'a [RawKey<'a>]),
    Hashes(&'a [KeyHash]),
}

impl Run<'_> {
    /// Computes the answer for each key of the block, one key at a time. This method must not be
    /// called for a block of hashes. Such blocks are only for filters, which have a single seed.
    pub(crate) fn answer(&self, mut answer: impl FnMut(RawKey<'_>) -> bool) -> truebloom::Answers {
        match self {
            Run::Numbers(numbers) => numbers.iter().map(|number| answer(RawKey::Number(*number))).collect(),
            Run::Keys(keys) => keys.iter().map(|key| answer(*key)).collect(),
            Run::Hashes(_) => truebloom::Answers::default(),
        }
    }
}

/// Why a block is refused.
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

/// The work that threads can do in parallel.
#[derive(Clone, Copy)]
pub(crate) enum Share {
    /// Nothing, because the answer for a key depends on the previous keys.
    Nothing,
    /// Hashing: threads hash the next keys while one thread processes the previous keys in order.
    Hashing,
    /// The whole operation: threads look up different keys at the same time.
    Asking,
}

type Ask<'a> = dyn Fn(Run<'_>) -> Result<Answers, Refusal> + Sync + 'a;

/// An operation that is applied to all keys.
pub(crate) struct Work<'a> {
    pub(crate) ask: &'a Ask<'a>,
    pub(crate) share: Share,
    /// The hasher, if the operation needs only the hashes of keys.
    pub(crate) hasher: Option<PortableHasher>,
    pub(crate) threads: usize,
    /// Whether to keep the individual answers. Otherwise, only the number of true answers is kept.
    pub(crate) keep: bool,
}

pub(crate) fn hashes(hasher: &PortableHasher, run: &Run<'_>) -> Vec<KeyHash> {
    match run {
        Run::Numbers(numbers) => numbers.iter().map(|number| hasher.hash_key(number)).collect(),
        Run::Keys(keys) => keys.iter().map(|key| hasher.hash_key(key)).collect(),
        Run::Hashes(hashes) => hashes.to_vec(),
    }
}

/// Applies the operation to all keys that the object contains.
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
    if let Some(why) = not_meant(keys)? {
        return Err(raise(py, Kind::KeyType, why));
    }
    if let Some(arrays) = Arrays::of(keys)? {
        return run_arrays(py, arrays, work);
    }
    if let Some(buffer) = numbers_of(keys)? {
        return run_buffer(py, &buffer, work);
    }
    run_objects(keys, work)
}

/// Says why the values that a container stores are not the values that it shows, if this is known.
/// The stored values would be other keys than the user means.
fn not_meant(keys: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    let Some(dtype) = keys.getattr_opt(intern!(keys.py(), "dtype"))? else { return Ok(None) };
    let kind = dtype.str()?;
    let name = keys.get_type().fully_qualified_name()?;
    let (kind, name) = (kind.to_str()?, name.to_str()?);
    Ok(if name.starts_with("numpy.ma.") {
        Some("a masked array stores values for masked elements, too; give keys.compressed()")
    } else if kind == "Object" {
        Some("a polars column of type Object stores addresses in memory; give keys.to_list()")
    } else if kind.starts_with("period") || kind.starts_with("interval") {
        Some("a column of periods or intervals stores numbers without their meaning; give keys.astype(str)")
    } else {
        None
    })
}

/// Whether the object is a memoryview of bytes or a mapped file. Such an object is a byte string,
/// which is a single key.
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
        // The interpreter is released, because the producer of an array can wait for threads that
        // need the interpreter when it frees the array, as when it makes the next one.
        py.detach(move || drop(array));
        if let Err(error) = done {
            py.detach(move || drop(arrays));
            return Err(error);
        }
    }
    py.detach(move || drop(arrays));
    Ok(outcome)
}

/// The buffer of an object that contains integers in one dimension, such as a numpy array. `None`
/// for other objects.
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
    // SAFETY: the buffer contains this number of items of this size, and stays valid as long as
    // `buffer` lives.
    let column = unsafe { Column::strided(buffer.buf_ptr().cast(), *len, buffer.item_size(), signed, *stride) };
    let Some(column) = column else { return Ok(Outcome::new(work.keep)) };
    let mut outcome = Outcome::new(work.keep);
    run_column(py, &column, work, &mut outcome)?;
    Ok(outcome)
}
