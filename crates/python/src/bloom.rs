//! The filter.

use crate::answers::Answers;
use crate::batch::{Refusal, Run, Share, Work, read_only, run};
use crate::errors::{Kind, build_error, file_error, format_error, math_error, merge_error, raise};
use crate::given::{Wish, hasher, rate as given_rate, small, whole};
use crate::key::with_key;
use crate::plan::Plan;
use crate::results::{rate, result};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use std::path::PathBuf;
use std::sync::{OnceLock, PoisonError, RwLock};
use truebloom::file::Mapped;
use truebloom::scheme::AnyScheme;
use truebloom::verify::{ExpectedVerdict, Measurement};
use truebloom::{AnyFilter, BlockedBloomFilter, Checked, Filter, FilterOf, FormatError, PortableHasher, ScalableFilter as Layers, View};
use truebloom_math::{Growth, SchemeId, items_interval};

/// Where the bits are.
enum Held {
    Owned(AnyFilter),
    /// In a file; what needs all bits reads them once.
    Mapped {
        view: AnyFilter<View<Mapped>>,
        checked: Box<OnceLock<Result<AnyFilter<Checked<Mapped>>, FormatError>>>,
    },
}

/// The same of a filter wherever its bits are.
macro_rules! viewed {
    ($held:expr, $filter:ident => $value:expr) => {
        match $held {
            Held::Owned($filter) => $value,
            Held::Mapped { view: $filter, .. } => $value,
        }
    };
}

/// The same of a filter all of whose bits are read.
macro_rules! counted {
    ($held:expr, $filter:ident => $value:expr) => {
        match $held {
            Held::Owned($filter) => Ok($value),
            Held::Mapped { view, checked } => match checked.get_or_init(|| view.clone().verify_bytes()) {
                Ok($filter) => Ok($value),
                Err(error) => Err(error.clone()),
            },
        }
    };
}

impl Held {
    fn owned(&mut self) -> Result<&mut AnyFilter, Refusal> {
        match self {
            Held::Owned(filter) => Ok(filter),
            Held::Mapped { .. } => Err(Refusal::ReadOnly),
        }
    }
}

/// A set that answers "surely not in it" or "probably in it" in a few bits a key, at a false-positive rate that is proven.
///
/// >>> f = BloomFilter(1000, 0.01, seed=1)
/// >>> f.add("a"), f.add("a")
/// (True, False)
/// >>> "a" in f, "b" in f
/// (True, False)
///
/// Parameters
/// ----------
/// items
///     How many distinct keys it has to hold; a float without a fraction will do (1e6).
/// fpr
///     The false-positive rate: 0.01, "1%", "1/100", Decimal or Fraction.
/// layout
///     "spread" (the fewest bits), "lines" (all bits of a key in one cache line: faster, and at 1% 3.5% larger for a million keys, 9% for a thousand), or "auto".
/// scheme
///     "standard", "classic", "partitioned", or with mean=True a scheme of two hashes such as "double".
/// confidence
///     The probability with which this one filter keeps the rate, 0.999 unless given.
/// mean
///     Promise the average over seeds alone: fewer bits, and about half of all filters have a rate slightly above the one asked for.
/// seed
///     An int below 2**128 or hexadecimal digits; random unless given. Filters merge only if they have the same seed and size.
/// untrusted
///     Take a keyed hash (SipHash-1-3) for keys that somebody may choose against you. Keep the seed secret.
///
/// Threads may share a filter: every call sees it whole, and long calls let other threads run. There is no len(): a filter does not know how
/// many distinct keys it holds, `estimated_items()` says it with an interval.
#[pyclass(frozen, subclass, module = "truebloom")]
pub(crate) struct BloomFilter {
    held: RwLock<Held>,
    hasher: PortableHasher,
}

impl BloomFilter {
    fn new_of(filter: AnyFilter) -> BloomFilter {
        BloomFilter { hasher: *filter.hasher(), held: RwLock::new(Held::Owned(filter)) }
    }

    /// What is quick: with the interpreter held, unless another thread has the filter.
    fn read<R: Send>(&self, py: Python<'_>, look: impl FnOnce(&Held) -> R + Send) -> R {
        match self.held.try_read() {
            Ok(held) => look(&held),
            Err(_) => self.read_long(py, look),
        }
    }

    /// What takes long: with the interpreter released.
    fn read_long<R: Send>(&self, py: Python<'_>, look: impl FnOnce(&Held) -> R + Send) -> R {
        py.detach(|| look(&self.held.read().unwrap_or_else(PoisonError::into_inner)))
    }

    fn write<R: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut AnyFilter) -> R + Send) -> PyResult<R> {
        let result = match self.held.try_write() {
            Ok(mut held) => held.owned().map(change),
            Err(_) => return self.write_long(py, change),
        };
        result.map_err(|refusal| refusal.into_error(py))
    }

    fn write_long<R: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut AnyFilter) -> R + Send) -> PyResult<R> {
        let result = py.detach(|| self.held.write().unwrap_or_else(PoisonError::into_inner).owned().map(change));
        result.map_err(|refusal| refusal.into_error(py))
    }

    /// Inserts a block.
    fn insert(&self, keys: Run<'_>) -> Result<truebloom::Answers, Refusal> {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        let filter = held.owned()?;
        Ok(match (filter, keys) {
            // The one filter that may need memory for more keys.
            (AnyFilter::Scalable(filter), Run::Hashes(hashes)) => filter.try_insert_all_hashes(hashes)?,
            (AnyFilter::Scalable(filter), keys) => filter.try_insert_all_hashes(&crate::batch::hashes(&self.hasher, &keys))?,
            (filter, Run::Numbers(numbers)) => Filter::insert_all(filter, numbers.iter().copied()),
            (filter, Run::Keys(keys)) => Filter::insert_all(filter, keys.iter().copied()),
            (filter, Run::Hashes(hashes)) => Filter::insert_all_hashes(filter, hashes),
        })
    }

    /// Asks for a block.
    fn ask(&self, keys: Run<'_>) -> truebloom::Answers {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        viewed!(&*held, filter => match keys {
            Run::Numbers(numbers) => filter.contains_all(numbers.iter().copied()),
            Run::Keys(keys) => filter.contains_all(keys.iter().copied()),
            Run::Hashes(hashes) => filter.contains_all_hashes(hashes),
        })
    }

    fn offer(&self, keys: &Bound<'_, PyAny>, threads: usize, keep: bool) -> PyResult<crate::batch::Outcome> {
        let py = keys.py();
        if self.is_mapped(py) {
            return Err(read_only(py));
        }
        let share = Share::Hashing(self.hasher);
        run(keys, &Work { ask: &|keys| self.insert(keys), share, threads, keep })
    }

    /// The same filter in memory of its own.
    fn copied(&self, py: Python<'_>) -> PyResult<AnyFilter> {
        let copied = self.read_long(py, |held| match held {
            Held::Owned(filter) => to_owned(filter).map_err(Copying::Build),
            Held::Mapped { .. } => match counted!(held, filter => filter.to_bytes()) {
                Ok(Ok(bytes)) => AnyFilter::from_bytes(&bytes).map_err(Copying::Format),
                Ok(Err(error)) => Err(Copying::Build(error)),
                Err(error) => Err(Copying::Format(error)),
            },
        });
        copied.map_err(|error| match error {
            Copying::Build(error) => build_error(py, &error),
            Copying::Format(error) => format_error(py, &error),
        })
    }

    /// Changes this filter by another.
    fn merge(
        &self,
        py: Python<'_>,
        other: &BloomFilter,
        merge: impl FnOnce(&mut AnyFilter, &AnyFilter) -> Result<(), truebloom::MergeError> + Send,
    ) -> PyResult<()> {
        // A copy, so that no thread ever waits for two filters at once. Only of what is not this filter itself.
        let theirs = other.copied(py)?;
        self.write_long(py, |ours| merge(ours, &theirs))?.map_err(|error| merge_error(py, &error))
    }

    /// An object of the class that this filter has by its kind.
    fn object<'py>(py: Python<'py>, class: &Bound<'py, PyType>, filter: BloomFilter) -> PyResult<Bound<'py, PyAny>> {
        let grows = filter.read(py, |held| viewed!(held, filter => matches!(filter.kind(), truebloom::FileKind::Scalable)));
        if !grows {
            if class.is_subclass_of::<ScalableFilter>()? {
                return Err(raise(py, Kind::Format, "this is a Bloom filter that does not grow; open it with truebloom.BloomFilter"));
            }
            return Ok(Bound::new(py, filter)?.into_any());
        }
        let initializer = PyClassInitializer::from(filter).add_subclass(ScalableFilter {});
        Ok(Bound::new(py, initializer)?.into_any())
    }
}

/// A clone that reports when there is no memory, as `clone` would not.
fn to_owned(filter: &AnyFilter) -> Result<AnyFilter, truebloom::BuildError> {
    // Taken and given back where there is room; of what is small, not even that.
    let bytes = filter.encoded_bytes();
    let mut room = Vec::<u8>::new();
    if usize::try_from(bytes).is_ok_and(|bytes| room.try_reserve_exact(bytes).is_ok()) {
        drop(room);
        return Ok(filter.clone());
    }
    Err(truebloom::BuildError::Memory { bytes })
}

enum Copying {
    Build(truebloom::BuildError),
    Format(FormatError),
}

#[pymethods]
impl BloomFilter {
    #[new]
    #[pyo3(signature = (items, fpr, *, layout=None, scheme=None, confidence=None, mean=false, seed=None, untrusted=false))]
    #[expect(clippy::too_many_arguments, reason = "by name in Python")]
    fn new<'py>(
        py: Python<'py>,
        items: &Bound<'py, PyAny>,
        fpr: &Bound<'py, PyAny>,
        layout: Option<&str>,
        scheme: Option<&str>,
        confidence: Option<f64>,
        mean: bool,
        seed: Option<&Bound<'py, PyAny>>,
        untrusted: bool,
    ) -> PyResult<BloomFilter> {
        let hasher = hasher(py, seed, untrusted)?;
        let target = Wish { items: Some(items), fpr: Some(fpr), layout, scheme, confidence, mean, ..Wish::default() }.target(py)?;
        let plan = py.detach(|| truebloom_math::Plan::new(&target)).map_err(|error| math_error(py, &error))?;
        let filter = AnyFilter::from_plan_with_hasher(&plan, hasher).map_err(|error| build_error(py, &error))?;
        Ok(BloomFilter::new_of(filter))
    }

    /// The filter of a plan.
    ///
    /// >>> BloomFilter.from_plan(plan(bits=8192, fpr=0.01), seed=7).bits
    /// 8192
    #[staticmethod]
    #[pyo3(signature = (plan, *, seed=None, untrusted=false))]
    fn from_plan(py: Python<'_>, plan: &Plan, seed: Option<&Bound<'_, PyAny>>, untrusted: bool) -> PyResult<BloomFilter> {
        let filter = AnyFilter::from_plan_with_hasher(&plan.plan, hasher(py, seed, untrusted)?);
        Ok(BloomFilter::new_of(filter.map_err(|error| build_error(py, &error))?))
    }

    /// A filter of so many bits and probes that is held to no rate.
    #[staticmethod]
    #[pyo3(signature = (bits, probes, *, scheme=None, seed=None, untrusted=false))]
    fn with_size(
        py: Python<'_>,
        bits: &Bound<'_, PyAny>,
        probes: &Bound<'_, PyAny>,
        scheme: Option<&str>,
        seed: Option<&Bound<'_, PyAny>>,
        untrusted: bool,
    ) -> PyResult<BloomFilter> {
        let (bits, probes, hasher) = (whole("bits", bits)?, small("probes", probes)?, hasher(py, seed, untrusted)?);
        let scheme: SchemeId = scheme.unwrap_or("standard").parse().map_err(|error| math_error(py, &error))?;
        let filter = if scheme == SchemeId::Blocked {
            BlockedBloomFilter::builder().bits(bits).probes(probes).hasher(hasher).build().map(AnyFilter::from)
        } else {
            AnyScheme::named(scheme, bits, probes).and_then(|scheme| FilterOf::with_scheme(scheme, hasher)).map(AnyFilter::from)
        };
        Ok(BloomFilter::new_of(filter.map_err(|error| build_error(py, &error))?))
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = with_key(key, |key| self.hasher.hash_key(&key))?;
        Ok(self.read(key.py(), |held| viewed!(held, filter => filter.contains_hash(hash))))
    }

    /// Adds a key; True if it was surely new.
    ///
    /// False is a repeat, or a new key that passes by chance, at the filter's rate. Keys are str (as UTF-8), bytes-like objects, ints of up to 64
    /// bits, uuid.UUID, and tuples of them; 1 and True are one key, and so are "a" and b"a".
    fn add(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = with_key(key, |key| self.hasher.hash_key(&key))?;
        let py = key.py();
        let added = self.write(py, |filter| match filter {
            AnyFilter::Scalable(filter) => filter.try_insert_hash(hash),
            filter => Ok(Filter::insert_hash(filter, hash)),
        })?;
        added.map_err(|error| build_error(py, &error))
    }

    /// Adds many keys: from a list, any iterable, a numpy array of integers, or anything with the Arrow C interface (pyarrow, polars, pandas, DuckDB).
    /// Gives back how many were surely new: at least so many of them are distinct.
    ///
    /// Nulls in columns are left out; None in a list is an error. Columns and arrays are read where they are; threads helps with them alone, mostly
    /// with strings. A table is a column of tuples, and a table of one column that column.
    ///
    /// >>> f = BloomFilter(1000, 0.01, seed=1)
    /// >>> f.update(["a", "b", "a"])
    /// 2
    #[pyo3(signature = (keys, *, threads=1))]
    fn update(&self, keys: &Bound<'_, PyAny>, threads: usize) -> PyResult<u64> {
        Ok(self.offer(keys, threads, false)?.ones)
    }

    /// Adds many keys, and says of each whether it was surely new: the first occurrences of a column. Answers come as from `contains_many`.
    ///
    /// >>> BloomFilter(1000, 0.01, seed=1).add_many(["a", "b", "a"])
    /// [True, True, False]
    #[pyo3(signature = (keys, *, threads=1))]
    fn add_many<'py>(&self, keys: &Bound<'py, PyAny>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        give_back(keys, Answers::new(self.offer(keys, threads, true)?))
    }

    /// Which of many keys are contained: takes what `update` takes, and answers in kind.
    ///
    /// A list, or any iterable, gives a list of bool; a numpy array one of bool; a pandas Series one of bool with its index; pyarrow, polars and DuckDB
    /// columns a column of booleans. Where the key is null the answer is null, as in SQL, and False in numpy and pandas.
    ///
    /// >>> f = BloomFilter(1000, 0.01, seed=1)
    /// >>> f.update(range(10))
    /// 10
    /// >>> f.contains_many([3, 11])
    /// [True, False]
    #[pyo3(signature = (keys, *, threads=1))]
    fn contains_many<'py>(&self, keys: &Bound<'py, PyAny>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        let work = Work { ask: &|keys| Ok(self.ask(keys)), share: Share::Asking, threads, keep: true };
        give_back(keys, Answers::new(run(keys, &work)?))
    }

    /// How many of many keys are contained: `contains_many` without the answers.
    #[pyo3(signature = (keys, *, threads=1))]
    fn count_contained(&self, keys: &Bound<'_, PyAny>, threads: usize) -> PyResult<u64> {
        Ok(run(keys, &Work { ask: &|keys| Ok(self.ask(keys)), share: Share::Asking, threads, keep: false })?.ones)
    }

    /// The union: bit for bit the filter that both key sets give. Raises MergeError unless both have the same size and seed.
    fn __or__<'py>(slf: &Bound<'py, BloomFilter>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::combined(slf, other, |ours, theirs| ours.union_with(theirs))
    }

    fn __ior__(&self, other: &Bound<'_, BloomFilter>) -> PyResult<()> {
        self.merge(other.py(), other.get(), |ours, theirs| ours.union_with(theirs))
    }

    /// What both contain: every key of both, and others at the rate of the two. More bits may be set than in a filter of the common keys alone.
    fn __and__<'py>(slf: &Bound<'py, BloomFilter>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::combined(slf, other, |ours, theirs| ours.intersect_with(theirs))
    }

    fn __iand__(&self, other: &Bound<'_, BloomFilter>) -> PyResult<()> {
        self.merge(other.py(), other.get(), |ours, theirs| ours.intersect_with(theirs))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<BloomFilter>() else { return Ok(py.NotImplemented()) };
        let theirs = other.get().copied(py)?;
        // Equal filters in files are equal, too.
        let equal = if self.is_mapped(py) {
            self.copied(py)? == theirs
        } else {
            self.read_long(py, |held| matches!(held, Held::Owned(ours) if *ours == theirs))
        };
        Ok(equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// A filter with the same keys, in memory of its own.
    fn copy<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        BloomFilter::object(py, &py.get_type::<BloomFilter>(), BloomFilter::new_of(slf.get().copied(py)?))
    }

    fn __copy__<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(slf)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, BloomFilter>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(slf)
    }

    /// An empty filter of the same size, plan and seed, which can be merged with this one.
    fn to_empty<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let empty = slf.get().read_long(py, |held| viewed!(held, filter => filter.to_empty())).map_err(|error| build_error(py, &error))?;
        BloomFilter::object(py, &py.get_type::<BloomFilter>(), BloomFilter::new_of(empty))
    }

    /// Forgets all keys; size, plan and seed stay.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.write_long(py, Filter::clear)
    }

    /// The bytes of its file. The same everywhere: Rust, the command `truebloom` and any other process read them.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.read_long(py, |held| counted!(held, filter => filter.to_bytes())).map_err(|error| format_error(py, &error))?;
        Ok(PyBytes::new(py, &bytes.map_err(|error| build_error(py, &error))?))
    }

    /// The filter that these bytes are the file of. A filter that grows comes back as a ScalableFilter.
    #[classmethod]
    fn from_bytes<'py>(cls: &Bound<'py, PyType>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let filter = with_bytes(data, AnyFilter::from_bytes)?.map_err(|error| format_error(cls.py(), &error))?;
        BloomFilter::object(cls.py(), cls, BloomFilter::new_of(filter))
    }

    fn __reduce__<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let class = py.get_type::<BloomFilter>();
        Ok((class.getattr("from_bytes")?, (slf.get().to_bytes(py)?,)))
    }

    /// Writes its file and replaces the one that is there: whole or not at all, also after a power cut.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let saved = self.read_long(py, |held| counted!(held, filter => filter.save(&path))).map_err(|error| format_error(py, &error))?;
        saved.map_err(|error| file_error(py, &error))
    }

    /// Opens a file, of this package, of Rust or of the command `truebloom`.
    ///
    /// With mmap=True the bits stay in the file: it opens in no time at any size, processes share the memory, and the filter cannot be changed. Nobody
    /// may write into the file meanwhile (replacing it, as `save` does, is fine).
    #[classmethod]
    #[pyo3(signature = (path, *, mmap=false))]
    fn open<'py>(cls: &Bound<'py, PyType>, path: PathBuf, mmap: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = cls.py();
        if !mmap {
            let filter = py.detach(|| AnyFilter::open(&path)).map_err(|error| file_error(py, &error))?;
            return BloomFilter::object(py, cls, BloomFilter::new_of(filter));
        }
        #[allow(unsafe_code, reason = "the mapping of a file")]
        // SAFETY: nobody may write into the file meanwhile, says the documentation, as that of every mapping has to.
        let view = unsafe { AnyFilter::map(&path) }.map_err(|error| file_error(py, &error))?;
        let hasher = *view.hasher();
        BloomFilter::object(py, cls, BloomFilter { held: RwLock::new(Held::Mapped { view, checked: Box::default() }), hasher })
    }

    /// This filter's own false-positive rate right now, with its bracket: the chance that a key which was never added passes, computed from the bits
    /// currently set.
    ///
    /// >>> BloomFilter(1000, 0.01).fpr().value
    /// 0.0
    fn fpr<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fpr = self.read_long(py, |held| counted!(held, filter => filter.fpr())).map_err(|error| format_error(py, &error))?;
        rate(py, &fpr)
    }

    /// The expected rate of a filter of this size with so many distinct items (unless given, as many as planned): a mean over seeds. None without a plan.
    #[pyo3(signature = (items=None))]
    fn expected_fpr<'py>(&self, py: Python<'py>, items: Option<&Bound<'py, PyAny>>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let items = items.map(|items| whole("items", items)).transpose()?;
        let fpr = self.read_long(py, |held| {
            viewed!(held, filter => match items {
                Some(items) => filter.expected_fpr_at(items).map(Some),
                None => filter.expected_fpr(),
            })
        });
        fpr.map_err(|error| math_error(py, &error))?.map(|fpr| rate(py, &fpr)).transpose()
    }

    /// How many distinct keys it holds, by the set bits: an estimate, and an interval that has the truth with at least this confidence.
    ///
    /// Filters in lines, filters that grow and intersections have no law for it: the value is None, and the ends are certain.
    #[pyo3(signature = (confidence=0.99))]
    fn estimated_items<'py>(&self, py: Python<'py>, confidence: f64) -> PyResult<Bound<'py, PyAny>> {
        let found = self.read_long(py, |held| {
            counted!(held, filter => {
                let variant = filter.scheme_id().variant();
                let has_law = filter.estimated_items().is_some() && filter.kind() == truebloom::FileKind::Bloom && filter.fill_tells_rate();
                let interval = variant.filter(|_| has_law).map(|variant| items_interval(variant, filter.bits(), filter.probes(), filter.ones(), confidence));
                (interval, filter.estimated_items(), filter.changed(), filter.most_items())
            })
        });
        let (interval, value, fewest, most) = found.map_err(|error| format_error(py, &error))?;
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(raise(py, Kind::Plan, &format!("confidence is {confidence}, but must be strictly between 0 and 1")));
        }
        let interval = interval.transpose().map_err(|error| math_error(py, &error))?;
        result(py, "ItemsEstimate", |fields| {
            fields.set_item("value", interval.as_ref().map_or(value, |interval| interval.value))?;
            fields.set_item("lower", interval.as_ref().map_or(fewest, |interval| interval.lower))?;
            fields.set_item("upper", interval.as_ref().map_or(Some(most), |interval| interval.upper))?;
            fields.set_item("method", interval.as_ref().map_or_else(|| "bound".to_owned(), |interval| interval.method.to_string()))
        })
    }

    /// Checks the promise: the set bits against their law, the expected rate against the one asked for, and the hits among so many random keys against
    /// the filter's own rate, each by an exact test with an error of one in a million. It looks at a copy, so other threads may go on adding.
    ///
    /// >>> f = BloomFilter(1000, 0.01, seed=1)
    /// >>> _ = f.update(range(1000))
    /// >>> f.verify(100_000, seed=1).holds
    /// True
    #[pyo3(signature = (queries=1_000_000, *, seed=None))]
    fn verify<'py>(&self, py: Python<'py>, queries: u64, seed: Option<u64>) -> PyResult<Bound<'py, PyAny>> {
        let seed = match seed {
            Some(seed) => seed,
            None => u128::from(truebloom::Seed::random().map_err(|error| build_error(py, &error))?) as u64,
        };
        // One state of the filter for all that is said, whatever other threads add meanwhile. What is in a file does not change.
        let snapshot = if self.is_mapped(py) { None } else { Some(BloomFilter::new_of(self.copied(py)?)) };
        let state = snapshot.as_ref().unwrap_or(self);
        let verification =
            state.read_long(py, |held| counted!(held, filter => filter.verification())).map_err(|error| format_error(py, &error))?;
        let verification = verification.map_err(|error| math_error(py, &error))?;
        let measured = state.measured(py, queries, seed)?;
        let own = state.fpr(py)?;
        let fill = verification.fill();
        let expected = rate(py, &verification.expected())?;
        let verdict = match verification.expected_verdict() {
            ExpectedVerdict::Met => "met",
            ExpectedVerdict::Exceeded => "exceeded",
            ExpectedVerdict::NothingAsked => "nothing asked",
            _ => "undetermined",
        };
        result(py, "Verification", |fields| {
            fields.set_item("holds", verification.holds() && measured.holds)?;
            fields.set_item("expected", expected)?;
            fields.set_item("expected_verdict", verdict)?;
            fields.set_item("fill_tested", fill.tested)?;
            fields.set_item("fill_holds", fill.holds())?;
            fields.set_item("overfull", verification.is_overfull() || measured.overfull)?;
            fields.set_item("own", own)?;
            fields.set_item("queries", measured.queries)?;
            fields.set_item("hits", measured.hits)?;
            fields.set_item("measured", measured.rate)?;
            fields.set_item("interval", measured.interval)?;
            fields.set_item("p_value", measured.p_value)
        })
    }

    /// Number of bits.
    #[getter]
    fn bits(&self, py: Python<'_>) -> u64 {
        self.read(py, |held| viewed!(held, filter => filter.bits()))
    }

    /// Hash positions per key.
    #[getter]
    fn probes(&self, py: Python<'_>) -> u32 {
        self.read(py, |held| viewed!(held, filter => filter.probes()))
    }

    /// The number of distinct keys that it was planned for, if it was.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> Option<u64> {
        self.read(py, |held| viewed!(held, filter => filter.capacity()))
    }

    /// The rate that was asked for, if one was.
    #[getter]
    fn asked_fpr(&self, py: Python<'_>) -> Option<f64> {
        self.read(py, |held| viewed!(held, filter => filter.rate())).map(|rate| rate.to_f64())
    }

    /// The seed. Keep it to yourself if keys are untrusted.
    #[getter]
    fn seed(&self) -> u128 {
        truebloom::KeyHasher::seed(&self.hasher).into()
    }

    /// Whether it was made for untrusted keys.
    #[getter]
    fn untrusted(&self) -> bool {
        self.hasher.hasher_id() == truebloom::HasherId::Sip13
    }

    /// How a hash becomes positions.
    #[getter]
    fn scheme(&self, py: Python<'_>) -> &'static str {
        self.read(py, |held| viewed!(held, filter => filter.scheme_id())).name()
    }

    /// Keys that were added, repeats included: at least the number of distinct keys.
    #[getter]
    fn offered(&self, py: Python<'_>) -> u64 {
        self.read(py, |held| viewed!(held, filter => filter.offered()))
    }

    /// Keys that were surely new when they were added: at most the number of distinct keys.
    #[getter]
    fn surely_new(&self, py: Python<'_>) -> u64 {
        self.read(py, |held| viewed!(held, filter => filter.changed()))
    }

    /// Number of set bits.
    #[getter]
    fn ones(&self, py: Python<'_>) -> PyResult<u64> {
        self.read_long(py, |held| counted!(held, filter => filter.ones())).map_err(|error| format_error(py, &error))
    }

    /// Share of set bits, from 0 to 1.
    #[getter]
    fn fill(&self, py: Python<'_>) -> PyResult<f64> {
        self.read_long(py, |held| counted!(held, filter => filter.fill())).map_err(|error| format_error(py, &error))
    }

    /// Whether no key was added since it was made or cleared.
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> PyResult<bool> {
        self.read_long(py, |held| counted!(held, filter => filter.is_empty())).map_err(|error| format_error(py, &error))
    }

    /// Whether it holds more distinct keys than it was planned for.
    #[getter]
    fn is_over_capacity(&self, py: Python<'_>) -> PyResult<bool> {
        self.read_long(py, |held| counted!(held, filter => filter.is_over_capacity())).map_err(|error| format_error(py, &error))
    }

    /// Whether it came out of a union or an intersection: its counts are then bounds.
    #[getter]
    fn is_merged(&self, py: Python<'_>) -> bool {
        self.read(py, |held| viewed!(held, filter => filter.is_merged()))
    }

    /// Whether the bits are in a file, so that the filter cannot be changed.
    #[getter(is_mapped)]
    fn get_is_mapped(&self, py: Python<'_>) -> bool {
        self.is_mapped(py)
    }

    /// Bytes of memory that the bits take.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> u64 {
        self.bits(py).div_ceil(64) * 8
    }

    /// A text that is kept with the filter and in its file, up to 104 bytes.
    #[getter]
    fn label(&self, py: Python<'_>) -> Option<String> {
        self.read(py, |held| viewed!(held, filter => filter.label().map(str::to_owned)))
    }

    #[setter]
    fn set_label(&self, py: Python<'_>, label: Option<&str>) -> PyResult<()> {
        let label = label.unwrap_or_default();
        let kept = self.write(py, |filter| Filter::set_label(filter, label))?;
        if kept { Ok(()) } else { Err(raise(py, Kind::Plan, "a label has at most 104 bytes of UTF-8 and no NUL")) }
    }

    fn __repr__(slf: &Bound<'_, BloomFilter>) -> PyResult<String> {
        let (py, filter) = (slf.py(), slf.get());
        let name = slf.get_type().name()?;
        let plan = match (filter.capacity(py), filter.asked_fpr(py)) {
            (Some(items), Some(fpr)) => format!(" for {} keys at {fpr}", grouped(items)),
            (Some(items), None) => format!(" for {} keys", grouped(items)),
            (None, Some(fpr)) => format!(" at {fpr}"),
            (None, None) => String::new(),
        };
        let scheme = match filter.scheme(py) {
            "standard" => String::new(),
            other => format!(", {other}"),
        };
        let place = if filter.is_mapped(py) { ", read-only in a file" } else { "" };
        Ok(format!(
            "<{name}{plan}: {} bits, {} probes{scheme}, {} keys offered{place}>",
            grouped(filter.bits(py)),
            filter.probes(py),
            grouped(filter.offered(py))
        ))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("truebloom._notebook")?.getattr("filter_html")?.call1((slf,))
    }
}

impl BloomFilter {
    fn is_mapped(&self, py: Python<'_>) -> bool {
        self.read(py, |held| matches!(held, Held::Mapped { .. }))
    }

    fn combined<'py>(
        slf: &Bound<'py, BloomFilter>,
        other: &Bound<'py, PyAny>,
        merge: impl FnOnce(&mut AnyFilter, &AnyFilter) -> Result<(), truebloom::MergeError> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<BloomFilter>() else { return Ok(py.NotImplemented().into_bound(py)) };
        let combined = BloomFilter::new_of(slf.get().copied(py)?);
        combined.merge(py, other.get(), merge)?;
        BloomFilter::object(py, &py.get_type::<BloomFilter>(), combined)
    }

    /// Random keys asked for in parts, so that an interrupt is heard.
    fn measured(&self, py: Python<'_>, queries: u64, seed: u64) -> PyResult<Measured> {
        const PART: u64 = 1 << 22;
        let (mut left, mut part, mut hits) = (queries, 0, 0);
        loop {
            let now = left.min(PART);
            // The random keys of each part have a seed of their own; what is asked of them is asked of all together.
            let (seed, before) = (seed.wrapping_add(part), queries - left);
            let found = self.read_long(py, |held| {
                counted!(held, filter => {
                    let mut measurement = filter.measurement(seed);
                    measurement.query(now);
                    Measured::of(&measurement, hits + measurement.hits(), before + now)
                })
            });
            let measured = found.map_err(|error| format_error(py, &error))?;
            (hits, left, part) = (measured.hits, left - now, part + 1);
            if left == 0 {
                return Ok(measured);
            }
            py.check_signals()?;
        }
    }
}

/// What random keys said.
struct Measured {
    holds: bool,
    overfull: bool,
    queries: u64,
    hits: u64,
    rate: f64,
    interval: (f64, f64),
    p_value: f64,
}

impl Measured {
    /// Of all parts together, by the rates that the filter may have.
    fn of(measurement: &Measurement<'_>, hits: u64, queries: u64) -> Measured {
        use truebloom_math::binomial;
        let (low, high) = measurement.possible_rates();
        let rate = hits as f64 / queries.max(1) as f64;
        let nearest = rate.clamp(low, high);
        let p_value = if low < high && nearest == rate { 1.0 } else { binomial::two_sided(hits, queries, nearest) };
        let level = if low < high { truebloom::verify::ALPHA / 2.0 } else { truebloom::verify::ALPHA };
        let overfull = measurement.is_overfull();
        let interval = binomial::interval(hits, queries, truebloom::verify::CONFIDENCE);
        Measured { holds: p_value >= level && !overfull, overfull, queries, hits, rate, interval, p_value }
    }
}

/// Digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Calls `use_bytes` with the bytes of a bytes-like object.
pub(crate) fn with_bytes<R>(data: &Bound<'_, PyAny>, use_bytes: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(use_bytes(bytes.as_bytes()));
    }
    let Ok(buffer) = PyBuffer::<u8>::get(data) else {
        return Err(PyTypeError::new_err(format!("expected a bytes-like object, not {}", data.get_type().qualname()?)));
    };
    Ok(use_bytes(&buffer.to_vec(data.py())?))
}

/// The answers as what the keys came in.
pub(crate) fn give_back<'py>(keys: &Bound<'py, PyAny>, answers: Answers) -> PyResult<Bound<'py, PyAny>> {
    let py = keys.py();
    py.import("truebloom._answers")?.getattr("give_back")?.call1((answers, keys))
}

/// A Bloom filter for a number of keys that nobody knows: it grows, and its rate never exceeds the one asked for.
///
/// >>> f = ScalableFilter(0.01, seed=1)
/// >>> f.update(range(100_000)) > 99_000
/// True
/// >>> f.fpr().upper <= 0.01, f.layers > 3
/// (True, True)
///
/// The rate is kept certainly, at any number of keys (that of a union only up to the sum of both), for up to three or four times the memory of a filter planned for the right number. `first_items` is
/// about how many keys the first layer takes. A key that is contained already is not inserted again.
#[pyclass(frozen, subclass, extends = BloomFilter, module = "truebloom")]
pub(crate) struct ScalableFilter {}

#[pymethods]
impl ScalableFilter {
    #[new]
    #[pyo3(signature = (fpr, *, first_items=None, seed=None, untrusted=false))]
    fn new<'py>(
        py: Python<'py>,
        fpr: &Bound<'py, PyAny>,
        first_items: Option<&Bound<'py, PyAny>>,
        seed: Option<&Bound<'py, PyAny>>,
        untrusted: bool,
    ) -> PyResult<PyClassInitializer<ScalableFilter>> {
        let first = first_items.map_or(Ok(truebloom::FIRST_ITEMS), |items| whole("first_items", items))?;
        let growth = Growth::new(given_rate(fpr)?, first).map_err(|error| math_error(py, &error))?;
        let filter = Layers::with_growth(growth, hasher(py, seed, untrusted)?).map_err(|error| build_error(py, &error))?;
        Ok(PyClassInitializer::from(BloomFilter::new_of(filter.into())).add_subclass(ScalableFilter {}))
    }

    /// How many layers there are.
    #[getter]
    fn layers(slf: &Bound<'_, ScalableFilter>) -> usize {
        let filter = slf.as_super().get();
        filter.read(slf.py(), |held| {
            viewed!(held, filter => match filter {
                AnyFilter::Scalable(filter) => filter.layers().len(),
                _ => 1,
            })
        })
    }
}
