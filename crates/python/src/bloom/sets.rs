//! Filters as sets: unions, intersections, copies.

use super::files::attributes;
use super::held::{Held, Merge, viewed};
use super::{BloomFilter, copy_error};
use crate::errors::{build_error, format_error, merge_error};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pymethods]
impl BloomFilter {
    /// Returns the union, whose bits equal those of a filter with the keys of both. Raises
    /// MergeError unless both have the same size and seed.
    fn __or__<'py>(slf: &Bound<'py, BloomFilter>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::merged(slf, other, Merge::Union)
    }

    fn __ior__(&self, other: &Bound<'_, BloomFilter>) -> PyResult<()> {
        self.merge(other.py(), other.get(), Merge::Union)
    }

    /// Returns a filter with the keys that are in both filters; other keys pass at the rate of the
    /// result. More bits may be set than in a filter of only the common keys.
    fn __and__<'py>(slf: &Bound<'py, BloomFilter>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::merged(slf, other, Merge::Intersection)
    }

    fn __iand__(&self, other: &Bound<'_, BloomFilter>) -> PyResult<()> {
        self.merge(other.py(), other.get(), Merge::Intersection)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<BloomFilter>() else { return Ok(py.NotImplemented()) };
        let equal = self.held.read_both(py, &other.get().held, Held::equals).map_err(|error| copy_error(py, &error))?;
        Ok(equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// A filter with the same keys, in its own memory.
    fn copy<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        Self::copied_with(slf, |own| Ok(own.into_any()))
    }

    fn __copy__<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(slf)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, BloomFilter>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::copied_with(slf, |own| slf.py().import("copy")?.getattr("deepcopy")?.call1((own, memo)))
    }

    /// An empty filter of the same size, plan and seed, which can be merged with this one.
    fn to_empty<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let empty = slf.get().held.read(py, |held| viewed!(held, filter => filter.to_empty())).map_err(|error| build_error(py, &error))?;
        BloomFilter::new_of(empty).into_object(&slf.get_type())
    }

    /// Forgets all keys; size, plan and seed stay.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.write(py, truebloom::Filter::clear)
    }
}

impl BloomFilter {
    /// Changes this filter by means of another one, which is not changed.
    fn merge(&self, py: Python<'_>, other: &BloomFilter, merge: Merge) -> PyResult<()> {
        let change = |ours: &mut Held, theirs: &Held| ours.owned().map(|ours| merge.apply(ours, theirs));
        let result = self.held.change_by(py, &other.held, || self.copied(py).map(Held::Owned), change)?;
        let merged = result.map_err(|refusal| refusal.into_error(py))?.map_err(|error| format_error(py, &error))?;
        merged.map_err(|error| merge_error(py, &error))
    }

    fn merged<'py>(slf: &Bound<'py, BloomFilter>, other: &Bound<'py, PyAny>, merge: Merge) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<BloomFilter>() else { return Ok(py.NotImplemented().into_bound(py)) };
        let merged = BloomFilter::new_of(slf.get().copied(py)?);
        merged.merge(py, other.get(), merge)?;
        merged.into_object(&slf.get_type())
    }

    /// Makes a copy. If the object is of a subclass, `attributes_of` computes the attributes of the
    /// copy.
    fn copied_with<'py>(
        slf: &Bound<'py, BloomFilter>,
        attributes_of: impl FnOnce(Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let copy = BloomFilter::new_of(slf.get().copied(py)?).into_object(&slf.get_type())?;
        if let Some(own) = attributes(slf)? {
            copy.getattr(intern!(py, "__dict__"))?.call_method1(intern!(py, "update"), (attributes_of(own)?,))?;
        }
        Ok(copy)
    }
}
