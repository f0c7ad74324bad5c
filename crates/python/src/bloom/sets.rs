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
    /// Returns the union of two filters. It has the same bits as a filter to which the keys of both
    /// filters were added. Raises MergeError unless both filters have the same size and seed.
    fn __or__<'py>(slf: &Bound<'py, BloomFilter>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::merged(slf, other, Merge::Union)
    }

    fn __ior__(&self, other: &Bound<'_, BloomFilter>) -> PyResult<()> {
        self.merge(other.py(), other.get(), Merge::Union)
    }

    /// Returns the intersection of two filters. It contains the keys that are in both filters, and
    /// can have more set bits than a filter to which only these keys were added. Other keys pass at
    /// the rate of the intersection.
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

    /// Returns a copy of the filter, in its own memory.
    fn copy<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        Self::copied_with(slf, |own| Ok(own.into_any()))
    }

    fn __copy__<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(slf)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, BloomFilter>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::copied_with(slf, |own| slf.py().import("copy")?.getattr("deepcopy")?.call1((own, memo)))
    }

    /// Returns an empty filter with the same size, plan and seed. The two filters can be merged.
    fn to_empty<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let empty = slf.get().held.read(py, |held| viewed!(held, filter => filter.to_empty())).map_err(|error| build_error(py, &error))?;
        BloomFilter::new_of(empty).into_object(&slf.get_type())
    }

    /// Removes all keys. The size, plan and seed stay the same.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.write(py, truebloom::Filter::clear)
    }
}

impl BloomFilter {
    /// Merges another filter into this one. The other filter is not changed.
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

    /// Makes a copy. If the object has attributes of a subclass, `attributes_of` turns them into
    /// the attributes of the copy.
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
