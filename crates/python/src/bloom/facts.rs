//! Properties of a filter, and its text representation.

use super::BloomFilter;
use super::held::{counted, viewed};
use crate::errors::{Kind, format_error, raise};
use crate::results::plural;
use pyo3::prelude::*;
use truebloom::Filter;

#[pymethods]
impl BloomFilter {
    /// The number of bits.
    #[getter]
    fn bits(&self, py: Python<'_>) -> u64 {
        self.held.look(py, |held| viewed!(held, filter => filter.bits()))
    }

    /// The number of hash positions per key.
    #[getter]
    fn probes(&self, py: Python<'_>) -> u32 {
        self.held.look(py, |held| viewed!(held, filter => filter.probes()))
    }

    /// The number of distinct keys that the filter was planned for. None if there was no plan.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> Option<u64> {
        self.held.look(py, |held| viewed!(held, filter => filter.capacity()))
    }

    /// The requested rate, or None if none was requested.
    #[getter]
    fn asked_fpr(&self, py: Python<'_>) -> Option<f64> {
        self.held.look(py, |held| viewed!(held, filter => filter.rate())).map(|rate| rate.to_f64())
    }

    /// The seed. Keep it secret if keys are untrusted.
    #[getter]
    fn seed(&self) -> u128 {
        truebloom::KeyHasher::seed(&self.hasher).into()
    }

    /// Whether the filter was made for untrusted keys, with a keyed hash.
    #[getter]
    fn untrusted(&self) -> bool {
        self.hasher.hasher_id() == truebloom::HasherId::Sip13
    }

    /// The scheme, which computes positions from a hash.
    #[getter]
    fn scheme(&self, py: Python<'_>) -> &'static str {
        self.held.look(py, |held| viewed!(held, filter => filter.scheme_id())).name()
    }

    /// How many keys were added, including repeats. This is an upper bound on the number of
    /// distinct keys.
    #[getter]
    fn offered(&self, py: Python<'_>) -> u64 {
        self.held.look(py, |held| viewed!(held, filter => filter.offered()))
    }

    /// How many keys were certainly new when they were added. This is a lower bound on the number
    /// of distinct keys.
    #[getter]
    fn surely_new(&self, py: Python<'_>) -> u64 {
        self.held.look(py, |held| viewed!(held, filter => filter.changed()))
    }

    /// The number of set bits.
    #[getter]
    fn ones(&self, py: Python<'_>) -> PyResult<u64> {
        self.held.read(py, |held| counted!(held, filter => filter.ones())).map_err(|error| format_error(py, &error))
    }

    /// The share of set bits, from 0 to 1.
    #[getter]
    fn fill(&self, py: Python<'_>) -> PyResult<f64> {
        self.held.read(py, |held| counted!(held, filter => filter.fill())).map_err(|error| format_error(py, &error))
    }

    /// Whether no key was added since the filter was made or cleared.
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> PyResult<bool> {
        self.held.read(py, |held| counted!(held, filter => filter.is_empty())).map_err(|error| format_error(py, &error))
    }

    /// Whether the filter is known to hold more distinct keys than it was planned for.
    #[getter]
    fn is_over_capacity(&self, py: Python<'_>) -> PyResult<bool> {
        self.held.read(py, |held| counted!(held, filter => filter.is_over_capacity())).map_err(|error| format_error(py, &error))
    }

    /// Whether the filter is the result of a union or an intersection. If so, its counts of keys
    /// are only bounds.
    #[getter]
    fn is_merged(&self, py: Python<'_>) -> bool {
        self.held.look(py, |held| viewed!(held, filter => filter.is_merged()))
    }

    /// Whether the filter was opened with mmap=True. If so, its bits are in the file, and it cannot
    /// be changed.
    #[getter(is_mapped)]
    fn get_is_mapped(&self, py: Python<'_>) -> bool {
        self.is_mapped(py)
    }

    /// The size of the bits in memory, in bytes.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> u64 {
        self.bits(py).div_ceil(64) * 8
    }

    /// A text of up to 104 bytes that is stored with the filter and in its file. None if there is
    /// no label.
    #[getter]
    fn label(&self, py: Python<'_>) -> Option<String> {
        self.held.look(py, |held| viewed!(held, filter => filter.label().map(str::to_owned)))
    }

    #[setter]
    fn set_label(&self, py: Python<'_>, label: Option<&str>) -> PyResult<()> {
        let label = label.unwrap_or_default();
        let kept = self.change(py, |filter| Filter::set_label(filter, label))?;
        if kept { Ok(()) } else { Err(raise(py, Kind::Plan, "a label can have at most 104 bytes in UTF-8, and cannot contain NUL")) }
    }

    fn __repr__(slf: &Bound<'_, BloomFilter>) -> PyResult<String> {
        let (py, filter) = (slf.py(), slf.get());
        let name = slf.get_type().name()?;
        let plan = match (filter.capacity(py), filter.asked_fpr(py)) {
            (Some(items), Some(fpr)) => format!(" for {} at {fpr}", plural(items, "key")),
            (Some(items), None) => format!(" for {}", plural(items, "key")),
            (None, Some(fpr)) => format!(" at {fpr}"),
            (None, None) => String::new(),
        };
        let scheme = match filter.scheme(py) {
            "standard" => String::new(),
            other => format!(", {other}"),
        };
        let place = if filter.is_mapped(py) { ", read-only in a file" } else { "" };
        Ok(format!(
            "<{name}{plan}: {}, {}{scheme}, {} offered{place}>",
            plural(filter.bits(py), "bit"),
            plural(filter.probes(py).into(), "probe"),
            plural(filter.offered(py), "key")
        ))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, BloomFilter>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("truebloom._notebook")?.getattr("filter_html")?.call1((slf,))
    }
}
