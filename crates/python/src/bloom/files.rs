//! Files, bytes and pickles.

use super::BloomFilter;
use super::held::{Held, counted};
use crate::errors::{build_error, file_error, format_error};
use crate::given::with_bytes;
use crate::shared::Shared;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use std::path::PathBuf;
use truebloom::AnyFilter;

/// A function, its arguments, and the state to set afterwards, for pickle.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,), Option<Bound<'py, PyDict>>);

/// The attributes in the `__dict__` of a subclass.
pub(super) fn attributes<'py>(filter: &Bound<'py, BloomFilter>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let found = filter.getattr_opt("__dict__")?.and_then(|found| found.cast_into::<PyDict>().ok());
    Ok(found.filter(|found| !found.is_empty()))
}

#[pymethods]
impl BloomFilter {
    /// The filter as bytes, in the format of its file. The Rust crate and the command `truebloom`
    /// can read the same bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.held.read(py, |held| counted!(held, filter => filter.to_bytes())).map_err(|error| format_error(py, &error))?;
        Ok(PyBytes::new(py, &bytes.map_err(|error| build_error(py, &error))?))
    }

    /// Makes a filter from the bytes that `to_bytes` returned, or from the contents of a file. For
    /// a filter that grows, the result is a ScalableFilter.
    #[classmethod]
    fn from_bytes<'py>(cls: &Bound<'py, PyType>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let filter = with_bytes(data, AnyFilter::from_bytes)?.map_err(|error| format_error(cls.py(), &error))?;
        BloomFilter::new_of(filter).into_object(cls)
    }

    /// The filter as bytes, and the attributes of a subclass, for pickle.
    fn __reduce__<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Reduced<'py>> {
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,), attributes(slf)?))
    }

    /// Writes the filter to a file. An existing file is replaced. After an error or a power cut,
    /// the file is either complete or unchanged.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let saved = self.held.read(py, |held| counted!(held, filter => filter.save(&path))).map_err(|error| format_error(py, &error))?;
        saved.map_err(|error| file_error(py, &error))
    }

    /// Opens a file that was written by this package, by the Rust crate or by the command
    /// `truebloom`.
    ///
    /// With mmap=True, the bits stay in the file. Opening takes almost no time at any size, and
    /// processes share the memory, but the filter cannot be changed. While the file is mapped, no
    /// program may write into it. Replacing the file, as `save` does, is allowed.
    #[classmethod]
    #[pyo3(signature = (path, *, mmap=false))]
    fn open<'py>(cls: &Bound<'py, PyType>, path: PathBuf, mmap: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = cls.py();
        if !mmap {
            let filter = py.detach(|| AnyFilter::open(&path)).map_err(|error| file_error(py, &error))?;
            return BloomFilter::new_of(filter).into_object(cls);
        }
        #[allow(unsafe_code, reason = "the mapping of a file")]
        // SAFETY: the documentation of this method says that no program may write into the file
        // while it is mapped. The package cannot enforce this.
        let view = py.detach(|| unsafe { AnyFilter::map(&path) }).map_err(|error| file_error(py, &error))?;
        let hasher = *view.hasher();
        BloomFilter { held: Shared::new(Held::mapped(view)), hasher }.into_object(cls)
    }
}
