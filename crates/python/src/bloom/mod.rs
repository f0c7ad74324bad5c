//! The type `BloomFilter`, and how it becomes a Python object. The methods of `BloomFilter` are in
//! the other files of this folder, by topic.

mod facts;
mod files;
mod held;
mod keys;
mod make;
mod rates;
mod scalable;
mod sets;

pub(crate) use scalable::ScalableFilter;

use crate::errors::{Kind, build_error, format_error, raise};
use crate::shared::Shared;
use held::{Copying, Held, viewed};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::{Mutex, PoisonError};
use truebloom::{AnyFilter, FileKind, PortableHasher};

/// A set of keys that takes a few bits per key, and has a proven false-positive rate. Its answer is
/// either "certainly not in the set" or "probably in the set".
///
/// >>> f = BloomFilter(1000, 0.01, seed=1)
/// >>> f.add("a"), f.add("a")
/// (True, False)
/// >>> "a" in f, "b" in f
/// (True, False)
///
/// Parameters
/// ----------
/// items:
///   The number of distinct keys to hold: an int, or a float without a fraction, such as 1e6.
/// fpr:
///   The false-positive rate: 0.01, "1%", "1/100", Decimal or Fraction.
/// layout:
///   "spread" takes the fewest bits. "lines" keeps all bits of a key in one cache line, which is
///   faster; at a rate of 1%, the filter is 3.5% larger for a million keys, and 9% larger for a
///   thousand keys. "auto" chooses "lines" if the filter is at most 10% larger.
/// scheme:
///   "standard", "classic" or "partitioned". With mean=True, a scheme of two hashes, such as
///   "double", is also possible.
/// confidence:
///   The probability with which a single filter meets the rate; 0.999 by default.
/// mean:
///   Guarantee only the average rate over seeds. This takes fewer bits, but about half of all
///   filters have a rate slightly above the requested rate.
/// seed:
///   An int below 2**128, or hexadecimal digits; random by default. Filters can be merged only if
///   they have the same seed and size.
/// untrusted:
///   Use a keyed hash (SipHash-1-3), for keys that an attacker can choose. Keep the seed secret.
///
/// Threads can share a filter: every call sees a consistent state, and long calls let other threads
/// run. A subclass can have its own attributes, which `copy` and pickle keep. `open`, `from_bytes`
/// and `copy` return an object of the same subclass. There is no len(), because a filter does not
/// know how many distinct keys it holds; `estimated_items()` gives an interval.
#[pyclass(frozen, subclass, module = "truebloom")]
pub(crate) struct BloomFilter {
    held: Shared<Held>,
    hasher: PortableHasher,
}

/// A wrapper that passes a finished filter to Python's `__new__`, because only `__new__` can make
/// an object of a subclass.
#[pyclass(frozen)]
struct Made(Mutex<Option<BloomFilter>>);

impl Made {
    /// Takes the filter out of the object, if the object is a `Made`.
    fn take(object: &Bound<'_, PyAny>) -> PyResult<Option<BloomFilter>> {
        let Ok(made) = object.cast::<Made>() else { return Ok(None) };
        let filter = made.get().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        filter.map(Some).ok_or_else(|| raise(object.py(), Kind::Plan, "this filter has already been used"))
    }
}

impl BloomFilter {
    fn new_of(filter: AnyFilter) -> BloomFilter {
        BloomFilter { hasher: *filter.hasher(), held: Shared::new(Held::Owned(filter)) }
    }

    fn is_mapped(&self, py: Python<'_>) -> bool {
        self.held.look(py, Held::is_mapped)
    }

    fn grows(&self, py: Python<'_>) -> bool {
        self.held.look(py, |held| viewed!(held, filter => matches!(filter.kind(), FileKind::Scalable)))
    }

    /// Changes the filter by an operation that takes little time.
    #[inline]
    fn change<R: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut AnyFilter) -> R + Send) -> PyResult<R> {
        self.held.change(py, |held| held.owned().map(change)).map_err(|refusal| refusal.into_error(py))
    }

    /// Changes the filter by an operation that takes long.
    fn write<R: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut AnyFilter) -> R + Send) -> PyResult<R> {
        self.held.write(py, |held| held.owned().map(change)).map_err(|refusal| refusal.into_error(py))
    }

    /// A copy of the filter in its own memory.
    fn copied(&self, py: Python<'_>) -> PyResult<AnyFilter> {
        self.held.read(py, Held::copied).map_err(|error| copy_error(py, &error))
    }

    /// The filter as an object of this class, or of a subclass; a filter that grows becomes a
    /// `ScalableFilter`.
    fn into_object<'py>(self, class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let (plain, growing) = (py.get_type::<BloomFilter>(), py.get_type::<ScalableFilter>());
        let grows = self.grows(py);
        if !grows && class.is_subclass(&growing)? {
            return Err(raise(py, Kind::Format, "this is a Bloom filter that does not grow; open it with truebloom.BloomFilter"));
        }
        if class.is(&plain) || class.is(&growing) {
            return if grows {
                let initializer = PyClassInitializer::from(self).add_subclass(ScalableFilter {});
                Ok(Bound::new(py, initializer)?.into_any())
            } else {
                Ok(Bound::new(py, self)?.into_any())
            };
        }
        if grows && !class.is_subclass(&growing)? {
            return Err(raise(py, Kind::Format, "this is a Bloom filter that grows; open it with truebloom.ScalableFilter"));
        }
        let made = Bound::new(py, Made(Mutex::new(Some(self))))?;
        if grows { growing.call_method1("__new__", (class, made)) } else { plain.call_method1("__new__", (class, made, 1)) }
    }
}

fn copy_error(py: Python<'_>, error: &Copying) -> PyErr {
    match error {
        Copying::Build(error) => build_error(py, error),
        Copying::Format(error) => format_error(py, error),
    }
}
