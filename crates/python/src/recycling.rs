//! The recycling filter.

use crate::answers::{Answers, give_back};
use crate::batch::{Outcome, Refusal, Run, Share, Work, run};
use crate::errors::{Kind, build_error, file_error, format_error, math_error, raise};
use crate::given::{hasher, rate as given_rate, whole, with_bytes};
use crate::key::{Owned, RawKey, with_key};
use crate::results::{grouped, rate as typed_rate, result};
use crate::shared::Shared;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use std::path::PathBuf;
use truebloom::PortableHasher;
use truebloom::recycling::{Phases, Policy, RecyclingFilter as Filter, Seeds, Trigger};
use truebloom_math::Error;
use truebloom_math::recycling::{Mode, min_bits};

/// A filter for endless streams. It meets the requested rate, because it forgets keys when it is
/// full.
///
/// >>> f = RecyclingFilter(1000, 0.01, seed=1)
/// >>> f.add("a"), f.add("a"), "a" in f
/// (True, False, True)
///
/// `items` is the average number of new keys until the filter forgets. `fpr` is the share of new
/// keys that are wrongly reported as seen: an average in the long run, proven for every stream that
/// is chosen without knowing the seed. With phases=2, the filter has two phases of `items` keys,
/// which takes more memory. It forgets only the older phase at a time, so a key is remembered for
/// one to two phases. With retaining=True, the key that fills the filter is not forgotten.
#[pyclass(frozen, module = "truebloom")]
pub(crate) struct RecyclingFilter {
    held: Shared<Filter>,
}

impl RecyclingFilter {
    fn offer(&self, keys: &Bound<'_, PyAny>, keep: bool) -> PyResult<Outcome> {
        let ask = |keys: Run<'_>| -> Result<truebloom::Answers, Refusal> {
            let mut held = self.held.held_to_change();
            Ok(keys.answer(|key| held.check_and_insert(&key).is_new()))
        };
        run(keys, &Work { ask: &ask, share: Share::Nothing, hasher: None, threads: 1, keep })
    }
}

#[pymethods]
impl RecyclingFilter {
    #[new]
    #[pyo3(signature = (items, fpr, *, phases=1, retaining=false, seed=None, untrusted=false))]
    fn new(
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        fpr: &Bound<'_, PyAny>,
        phases: u8,
        retaining: bool,
        seed: Option<&Bound<'_, PyAny>>,
        untrusted: bool,
    ) -> PyResult<RecyclingFilter> {
        let (items, rate, hasher): (u64, _, PortableHasher) = (whole("items", items)?, given_rate(fpr)?, hasher(py, seed, untrusted)?);
        let phases = match phases {
            1 => Phases::One,
            2 => Phases::Two(Trigger::Included),
            other => return Err(raise(py, Kind::Plan, &format!("phases is {other}, but must be 1 or 2"))),
        };
        let mode = Mode { phases, retaining, seeds: Seeds::Renewed, ..Mode::default() };
        let found = py.detach(|| min_bits(items as f64, &rate, mode)).map_err(|error| math_error(py, &error))?;
        let fewer = || Error::OutOfRange {
            name: "items",
            found: items.to_string(),
            expected: "smaller, because these items need more than 2^62 bits".to_owned(),
        };
        let design = found.ok_or_else(|| math_error(py, &fewer()))?.design;
        let filter = Filter::with_hasher(design.bits(), design.probes(), Policy::from(&design), hasher);
        Ok(RecyclingFilter { held: Shared::new(filter.map_err(|error| build_error(py, &error))?) })
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let look = |key: RawKey<'_>| self.held.if_free().map(|held| held.contains(&key));
        match with_key(key, look)? {
            Some(found) => Ok(found),
            // Another thread is changing the filter. To wait without the interpreter, the key is
            // copied out of the Python object.
            None => {
                let owned = with_key(key, Owned::of)?;
                Ok(self.held.look(key.py(), |filter| filter.contains(&owned.key())))
            }
        }
    }

    /// Offers a key; returns True if it was new. A key is new if the filter did not contain it.
    fn add(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let owned = with_key(key, Owned::of)?;
        Ok(self.held.change(key.py(), |filter| filter.check_and_insert(&owned.key()).is_new()))
    }

    /// Offers many keys, and returns how many of them were new. Accepts the same keys as
    /// `BloomFilter.update`.
    fn update(&self, keys: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.offer(keys, false)?.ones)
    }

    /// Offers many keys, and reports for each key whether it was new. To remove repeats from a
    /// stream, keep the new keys. `BloomFilter.contains_many` describes the type of the answers.
    fn add_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        give_back(keys, Answers::new(self.offer(keys, true)?))
    }

    /// Reports for each of many keys whether the filter contains it, without offering the key.
    /// `BloomFilter.contains_many` describes the type of the answers.
    fn contains_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let ask = |keys: Run<'_>| -> Result<truebloom::Answers, Refusal> {
            let held = self.held.held();
            Ok(keys.answer(|key| held.contains(&key)))
        };
        give_back(keys, Answers::new(run(keys, &Work { ask: &ask, share: Share::Nothing, hasher: None, threads: 1, keep: true })?))
    }

    /// Forgets all keys now. With two phases, forgets only the keys of the older phase.
    fn recycle(&self, py: Python<'_>) {
        self.held.write(py, Filter::recycle);
    }

    /// The rate in the long run: an average over new keys, proven for every stream that is chosen
    /// without knowing the seed. None for a filter with two phases and retaining=True, because no
    /// formula is known.
    fn long_run_fpr<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let run = self.held.read(py, |filter| filter.design().map(|design| design.long_run()));
        run.transpose().map_err(|error| math_error(py, &error))?.map(|run| typed_rate(py, &run.fpr)).transpose()
    }

    /// The rate when the filter is fullest. It is an upper bound on the rate of every new key.
    #[getter]
    fn worst_fpr(&self, py: Python<'_>) -> f64 {
        self.held.read(py, Filter::worst_fpr)
    }

    /// The current rate: the probability that a new key is wrongly reported as seen.
    fn fpr(&self, py: Python<'_>) -> f64 {
        self.held.read(py, Filter::fpr)
    }

    /// Estimates how many new keys this filter has wrongly reported as repeats so far. The result
    /// also has an upper bound with this confidence. None if nothing is proven.
    #[pyo3(signature = (confidence=0.999_999))]
    fn wrong_drops<'py>(&self, py: Python<'py>, confidence: f64) -> PyResult<Option<Bound<'py, PyAny>>> {
        let drops = self.held.read(py, |filter| filter.wrong_drops(confidence)).map_err(|error| math_error(py, &error))?;
        let typed = |drops: truebloom::recycling::WrongDrops| {
            result(py, "WrongDrops", |fields| {
                fields.set_item("expected", drops.expected)?;
                fields.set_item("at_most", drops.at_most)
            })
        };
        drops.map(typed).transpose()
    }

    /// How many keys were offered, including repeats.
    #[getter]
    fn offered(&self, py: Python<'_>) -> u64 {
        self.held.look(py, Filter::stats).offered
    }

    /// How many keys were new.
    #[getter]
    fn new_keys(&self, py: Python<'_>) -> u64 {
        self.held.look(py, Filter::stats).new
    }

    /// How often the filter has forgotten keys.
    #[getter]
    fn cycles(&self, py: Python<'_>) -> u64 {
        self.held.look(py, Filter::stats).cycles
    }

    /// The number of bits in each phase.
    #[getter]
    fn bits(&self, py: Python<'_>) -> u64 {
        self.held.look(py, Filter::bits)
    }

    /// The number of hash positions per key.
    #[getter]
    fn probes(&self, py: Python<'_>) -> u32 {
        self.held.look(py, Filter::probes)
    }

    /// The number of phases: 1 or 2.
    #[getter]
    fn phases(&self, py: Python<'_>) -> u8 {
        if self.held.look(py, |filter| filter.policy().phases == Phases::One) { 1 } else { 2 }
    }

    /// The filter as bytes, in the format of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.held.read(py, Filter::to_bytes).map_err(|error| build_error(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Makes a filter from the bytes that `to_bytes` returned, or from the contents of a file.
    #[staticmethod]
    fn from_bytes(data: &Bound<'_, PyAny>) -> PyResult<RecyclingFilter> {
        let filter = with_bytes(data, Filter::from_bytes)?.map_err(|error| format_error(data.py(), &error))?;
        Ok(RecyclingFilter { held: Shared::new(filter) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, RecyclingFilter>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let class: Bound<'py, PyType> = py.get_type::<RecyclingFilter>();
        Ok((class.getattr("from_bytes")?, (slf.get().to_bytes(py)?,)))
    }

    /// Returns a copy of the filter.
    fn copy(&self, py: Python<'_>) -> PyResult<RecyclingFilter> {
        // The copy is made by writing and reading the bytes, because both steps report a lack of
        // memory instead of ending the process.
        let bytes = self.held.read(py, Filter::to_bytes).map_err(|error| build_error(py, &error))?;
        let filter = py.detach(|| Filter::from_bytes(&bytes)).map_err(|error| format_error(py, &error))?;
        Ok(RecyclingFilter { held: Shared::new(filter) })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<RecyclingFilter>() else { return Ok(py.NotImplemented()) };
        let equal = self.held.read_both(py, &other.get().held, |ours, theirs| ours == theirs);
        Ok(equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// Writes the filter to a file. An existing file is replaced. After an error, the file is
    /// unchanged.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.held.read(py, |filter| filter.save(&path)).map_err(|error| file_error(py, &error))
    }

    /// Opens a file that was written by this package, by the Rust crate or by
    /// `truebloom dedup --state`.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<RecyclingFilter> {
        let filter = py.detach(|| Filter::open(&path)).map_err(|error| file_error(py, &error))?;
        Ok(RecyclingFilter { held: Shared::new(filter) })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (bits, probes, stats) = self.held.look(py, |filter| (filter.bits(), filter.probes(), filter.stats()));
        format!(
            "<RecyclingFilter: {} bits, {probes} probes, {} keys offered, {} new, {} cycles>",
            grouped(bits),
            grouped(stats.offered),
            grouped(stats.new),
            grouped(stats.cycles)
        )
    }
}
