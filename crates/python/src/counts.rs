//! Sketches: counts of keys, and the most frequent keys.

use crate::batch::{Refusal, Run, Share, Work, run};
use crate::errors::{Kind, build_error, file_error, format_error, math_error, merge_error, raise};
use crate::given::{hasher, rate as given_rate, with_bytes};
use crate::key::{Owned, RawKey, with_key};
use crate::results::{grouped, result};
use crate::shared::Shared;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use truebloom::count_min::{CountMin as Sketch, HeavyHitter, HeavyHitters as List};

type Counters = Sketch<u64>;
type Hitters = List<u64>;

/// Calls `count` once for each of many keys, and returns the number of keys.
fn count_all<T: Send + Sync>(shared: &Shared<T>, keys: &Bound<'_, PyAny>, count: impl Fn(&mut T, RawKey<'_>) + Sync) -> PyResult<u64> {
    let ask = |keys: Run<'_>| -> Result<truebloom::Answers, Refusal> {
        let mut held = shared.held_to_change();
        Ok(keys.answer(|key| {
            count(&mut held, key);
            true
        }))
    };
    Ok(run(keys, &Work { ask: &ask, share: Share::Nothing, hasher: None, threads: 1, keep: false })?.ones)
}

/// A Count-Min sketch. It counts any number of keys in fixed memory. The estimate of a key's count
/// is never too low. With a probability of at least 1 - delta, the estimate exceeds the true count
/// by at most epsilon times the sum of all counts.
///
/// >>> c = CountMin(0.001, 0.001, seed=1)
/// >>> c.update(["a", "b", "a"])
/// 3
/// >>> c.estimate("a"), c.total
/// (2, 3)
#[pyclass(frozen, module = "truebloom")]
pub(crate) struct CountMin {
    held: Shared<Counters>,
}

#[pymethods]
impl CountMin {
    #[new]
    #[pyo3(signature = (epsilon, delta, *, conservative=false, seed=None, untrusted=false))]
    fn new(
        py: Python<'_>,
        epsilon: &Bound<'_, PyAny>,
        delta: &Bound<'_, PyAny>,
        conservative: bool,
        seed: Option<&Bound<'_, PyAny>>,
        untrusted: bool,
    ) -> PyResult<CountMin> {
        let sketch = Counters::with_hasher(given_rate(epsilon)?, given_rate(delta)?, hasher(py, seed, untrusted)?);
        let sketch = sketch.map_err(|error| build_error(py, &error))?;
        Ok(CountMin { held: Shared::new(if conservative { sketch.with_conservative_update() } else { sketch }) })
    }

    /// Counts a key.
    #[pyo3(signature = (key, count=1))]
    fn add(&self, key: &Bound<'_, PyAny>, count: u64) -> PyResult<()> {
        let owned = with_key(key, Owned::of)?;
        self.held.change(key.py(), |sketch| sketch.add(&owned.key(), count));
        Ok(())
    }

    /// Counts many keys once each, from anything that `BloomFilter.update` accepts; returns their
    /// number.
    fn update(&self, keys: &Bound<'_, PyAny>) -> PyResult<u64> {
        count_all(&self.held, keys, |sketch, key| sketch.add(&key, 1))
    }

    /// An upper bound on the count of the key. None if the key's counters are saturated, because no
    /// bound is known then.
    fn estimate(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        let owned = with_key(key, Owned::of)?;
        let estimate = self.held.look(key.py(), |sketch| sketch.estimate(&owned.key()));
        Ok((!estimate.saturated).then_some(estimate.value))
    }

    /// The sum of all counts.
    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        self.held.look(py, Counters::total)
    }

    /// The number of counters in each row.
    #[getter]
    fn width(&self, py: Python<'_>) -> u64 {
        self.held.look(py, |sketch| sketch.shape().width())
    }

    /// The number of rows.
    #[getter]
    fn depth(&self, py: Python<'_>) -> u32 {
        self.held.look(py, |sketch| sketch.shape().depth())
    }

    /// Adds the counts of another sketch. Raises MergeError unless both have the same size and
    /// seed.
    fn merge(&self, py: Python<'_>, other: &CountMin) -> PyResult<()> {
        let merged = self.held.change_by(py, &other.held, || self.copied(py), |ours, theirs| ours.merge(theirs))?;
        merged.map_err(|error| merge_error(py, &error))
    }

    /// Sets all counts to 0.
    fn clear(&self, py: Python<'_>) {
        self.held.write(py, Counters::clear);
    }

    /// Halves all counts, so that the past weighs less.
    fn halve(&self, py: Python<'_>) {
        self.held.write(py, Counters::halve);
    }

    /// Returns a copy of the sketch.
    fn copy(&self, py: Python<'_>) -> PyResult<CountMin> {
        Ok(CountMin { held: Shared::new(self.copied(py)?) })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<CountMin>() else { return Ok(py.NotImplemented()) };
        let equal = self.held.read_both(py, &other.get().held, |ours, theirs| ours == theirs);
        Ok(equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.held.read(py, Counters::to_bytes).map_err(|error| build_error(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Makes a sketch from the bytes that `to_bytes` returned, or from the contents of a file.
    #[staticmethod]
    fn from_bytes(data: &Bound<'_, PyAny>) -> PyResult<CountMin> {
        let sketch = with_bytes(data, Counters::from_bytes)?.map_err(|error| format_error(data.py(), &error))?;
        Ok(CountMin { held: Shared::new(sketch) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, CountMin>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        Ok((py.get_type::<CountMin>().getattr("from_bytes")?, (slf.get().to_bytes(py)?,)))
    }

    /// Writes its file and replaces an existing one, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.held.read(py, |sketch| sketch.save(&path)).map_err(|error| file_error(py, &error))
    }

    /// Opens a file that was written by this package or by the Rust crate.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<CountMin> {
        let sketch = py.detach(|| Counters::open(&path)).map_err(|error| file_error(py, &error))?;
        Ok(CountMin { held: Shared::new(sketch) })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (width, depth, total) = self.held.look(py, |sketch| (sketch.shape().width(), sketch.shape().depth(), sketch.total()));
        format!("<CountMin: {} rows of {} counters, {} counted>", grouped(depth.into()), grouped(width), grouped(total))
    }
}

/// Finds the most frequent keys of a stream in fixed memory, with guaranteed bounds on their
/// counts.
///
/// >>> h = HeavyHitters("10%", seed=1)
/// >>> h.update("the cat and the dog and the bird".split())
/// 8
/// >>> h.top(2)
/// [Count(key='the', at_least=3, at_most=3), Count(key='and', at_least=2, at_most=2)]
///
/// A key is frequent if its count is at least `share` times the sum of all counts. With a
/// probability of at least 1 - delta, the upper bound on a key's count exceeds the true count by at
/// most `share / 2` times this sum. `keys` is the type of the keys in results: str (the default),
/// int (signed, 64 bits) or bytes.
#[pyclass(frozen, module = "truebloom")]
pub(crate) struct HeavyHitters {
    held: Shared<Hitters>,
    keys: Keys,
}

/// A function and its arguments, for pickle.
type Again<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, &'static str));

/// The type of the keys in results.
#[derive(Clone, Copy)]
enum Keys {
    Text,
    Integers,
    Bytes,
}

impl Keys {
    fn given(keys: Option<&Bound<'_, PyAny>>) -> PyResult<Keys> {
        let Some(keys) = keys else { return Ok(Keys::Text) };
        let py = keys.py();
        if keys.is(py.get_type::<pyo3::types::PyString>()) {
            Ok(Keys::Text)
        } else if keys.is(py.get_type::<pyo3::types::PyInt>()) {
            Ok(Keys::Integers)
        } else if keys.is(py.get_type::<PyBytes>()) {
            Ok(Keys::Bytes)
        } else {
            Err(raise(py, Kind::Plan, "keys must be str, int or bytes: the type of the keys in results"))
        }
    }

    fn name(self) -> &'static str {
        match self {
            Keys::Text => "str",
            Keys::Integers => "int",
            Keys::Bytes => "bytes",
        }
    }

    /// Converts the key to an object of this type. If it cannot be one, the result is bytes.
    fn object<'py>(self, py: Python<'py>, key: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        Ok(match (self, str::from_utf8(key), <&[u8; 8]>::try_from(key)) {
            (Keys::Text, Ok(text), _) => text.into_pyobject(py)?.into_any(),
            (Keys::Integers, _, Ok(number)) => i64::from_le_bytes(*number).into_pyobject(py)?.into_any(),
            _ => PyBytes::new(py, key).into_any(),
        })
    }
}

impl CountMin {
    /// Makes a copy by writing and reading the bytes, because both steps report a lack of memory
    /// instead of ending the process.
    fn copied(&self, py: Python<'_>) -> PyResult<Counters> {
        let bytes = self.held.read(py, Counters::to_bytes).map_err(|error| build_error(py, &error))?;
        py.detach(|| Counters::from_bytes(&bytes)).map_err(|error| format_error(py, &error))
    }
}

impl HeavyHitters {
    /// Makes a copy by writing and reading the bytes, because both steps report a lack of memory
    /// instead of ending the process.
    fn copied(&self, py: Python<'_>) -> PyResult<Hitters> {
        let bytes = self.held.read(py, Hitters::to_bytes).map_err(|error| build_error(py, &error))?;
        py.detach(|| Hitters::from_bytes(&bytes)).map_err(|error| format_error(py, &error))
    }

    fn typed<'py>(&self, py: Python<'py>, found: &HeavyHitter) -> PyResult<Bound<'py, PyAny>> {
        let key = self.keys.object(py, &found.key)?;
        result(py, "Count", |fields| {
            fields.set_item("key", key)?;
            fields.set_item("at_least", found.at_least)?;
            fields.set_item("at_most", (!found.saturated).then_some(found.at_most))
        })
    }
}

#[pymethods]
impl HeavyHitters {
    #[new]
    #[pyo3(signature = (share, delta=None, *, keys=None, seed=None, untrusted=false))]
    fn new(
        py: Python<'_>,
        share: &Bound<'_, PyAny>,
        delta: Option<&Bound<'_, PyAny>>,
        keys: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        untrusted: bool,
    ) -> PyResult<HeavyHitters> {
        let delta = delta.map_or_else(|| truebloom_math::Rate::try_from(0.001).map_err(|error| math_error(py, &error)), given_rate)?;
        let list = Hitters::for_share_with_hasher(given_rate(share)?, delta, hasher(py, seed, untrusted)?);
        Ok(HeavyHitters { held: Shared::new(list.map_err(|error| build_error(py, &error))?), keys: Keys::given(keys)? })
    }

    /// Counts a key.
    #[pyo3(signature = (key, count=1))]
    fn add(&self, key: &Bound<'_, PyAny>, count: u64) -> PyResult<()> {
        let owned = with_key(key, Owned::of)?;
        self.held.change(key.py(), |list| list.add(&owned.key(), count));
        Ok(())
    }

    /// Counts many keys once each, from anything that `BloomFilter.update` accepts; returns their
    /// number.
    fn update(&self, keys: &Bound<'_, PyAny>) -> PyResult<u64> {
        count_all(&self.held, keys, |list, key| list.add(&key, 1))
    }

    /// The keys with the highest counts, highest first.
    fn top<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.held.read(py, |list| list.top(number)).iter().map(|found| self.typed(py, found)).collect()
    }

    /// All keys whose count can be at least `threshold`, highest count first. If
    /// `at_least >= threshold` for a key, the key's true count is at least `threshold`. None if
    /// `threshold <= missed_at_most`, because some keys can then be missing from the list.
    fn above<'py>(&self, py: Python<'py>, threshold: u64) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let found = self.held.read(py, |list| list.above(threshold));
        found.map(|found| found.iter().map(|found| self.typed(py, found)).collect()).transpose()
    }

    /// Guaranteed bounds on the count of a key, which need not be in the list.
    fn bounds<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let owned = with_key(key, Owned::of)?;
        let found = self.held.look(key.py(), |list| list.bounds(&owned.key()));
        self.typed(key.py(), &found)
    }

    /// An upper bound on the count of every key that is not in the list.
    #[getter]
    fn missed_at_most(&self, py: Python<'_>) -> u64 {
        self.held.look(py, Hitters::missed_at_most)
    }

    /// The sum of all counts.
    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        self.held.look(py, |list| list.sketch().total())
    }

    /// The number of keys that the list can hold.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> u64 {
        self.held.look(py, Hitters::capacity)
    }

    /// Adds the counts and the list of another object. Raises MergeError unless both have the same
    /// size and seed.
    fn merge(&self, py: Python<'_>, other: &HeavyHitters) -> PyResult<()> {
        let merged = self.held.change_by(py, &other.held, || self.copied(py), |ours, theirs| ours.merge(theirs))?;
        merged.map_err(|error| merge_error(py, &error))
    }

    /// Halves all counts, so that the past weighs less.
    fn halve(&self, py: Python<'_>) {
        self.held.write(py, Hitters::halve);
    }

    /// Returns a copy with the same list and counts.
    fn copy(&self, py: Python<'_>) -> PyResult<HeavyHitters> {
        Ok(HeavyHitters { held: Shared::new(self.copied(py)?), keys: self.keys })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<HeavyHitters>() else { return Ok(py.NotImplemented()) };
        let equal = self.held.read_both(py, &other.get().held, |ours, theirs| ours == theirs);
        Ok(equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.held.read(py, Hitters::to_bytes).map_err(|error| build_error(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Makes a list from the bytes that `to_bytes` returned, or from the contents of a file. `keys`
    /// is the type of the keys in results.
    #[staticmethod]
    #[pyo3(signature = (data, *, keys=None))]
    fn from_bytes(data: &Bound<'_, PyAny>, keys: Option<&Bound<'_, PyAny>>) -> PyResult<HeavyHitters> {
        let list = with_bytes(data, Hitters::from_bytes)?.map_err(|error| format_error(data.py(), &error))?;
        Ok(HeavyHitters { held: Shared::new(list), keys: Keys::given(keys)? })
    }

    fn __reduce__<'py>(slf: &Bound<'py, HeavyHitters>) -> PyResult<Again<'py>> {
        let py = slf.py();
        let again = py.import("truebloom._results")?.getattr("hitters_again")?;
        Ok((again, (slf.get().to_bytes(py)?, slf.get().keys.name())))
    }

    /// Writes its file and replaces an existing one, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.held.read(py, |list| list.save(&path)).map_err(|error| file_error(py, &error))
    }

    /// Opens a file that was written by this package or by the Rust crate. `keys` is the type of
    /// the keys in results.
    #[staticmethod]
    #[pyo3(signature = (path, *, keys=None))]
    fn open(py: Python<'_>, path: PathBuf, keys: Option<&Bound<'_, PyAny>>) -> PyResult<HeavyHitters> {
        let list = py.detach(|| Hitters::open(&path)).map_err(|error| file_error(py, &error))?;
        Ok(HeavyHitters { held: Shared::new(list), keys: Keys::given(keys)? })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (capacity, total) = self.held.look(py, |list| (list.capacity(), list.sketch().total()));
        format!("<HeavyHitters: a list for {} keys, {} counted>", grouped(capacity), grouped(total))
    }
}
