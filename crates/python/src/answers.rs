//! The answers for many keys, as a Python object.

use crate::arrow::export;
use crate::batch::Outcome;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyCapsule, PyList};

/// The answers for many keys, in the order of the keys. The object is a sequence of booleans, and
/// also an Arrow column.
///
/// `contains_many` and `add_many` return this type for Arrow columns of a library that this package
/// does not know. Every library with the Arrow C interface accepts this type, and `list(answers)`
/// makes a list. For a null key, the answer is None.
#[pyclass(frozen, module = "truebloom")]
pub(crate) struct Answers {
    outcome: Outcome,
}

impl Answers {
    pub(crate) fn new(outcome: Outcome) -> Answers {
        Answers { outcome }
    }

    fn get(&self, row: usize) -> Option<bool> {
        let bit = |words: &[u64]| words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1);
        let valid = self.outcome.valid.as_deref().is_none_or(bit);
        valid.then(|| bit(&self.outcome.words))
    }
}

/// Converts the answers to the type that corresponds to the type of the keys.
pub(crate) fn give_back<'py>(keys: &Bound<'py, PyAny>, answers: Answers) -> PyResult<Bound<'py, PyAny>> {
    keys.py().import("truebloom._answers")?.getattr("give_back")?.call1((answers, keys))
}

#[pymethods]
impl Answers {
    fn __len__(&self) -> usize {
        self.outcome.len
    }

    fn __getitem__(&self, row: isize) -> PyResult<Option<bool>> {
        let row = if row < 0 { row.checked_add_unsigned(self.outcome.len) } else { Some(row) };
        match row.and_then(|row| usize::try_from(row).ok()).filter(|row| *row < self.outcome.len) {
            Some(row) => Ok(self.get(row)),
            None => Err(PyIndexError::new_err("index out of range")),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.tolist(py)?.try_iter()?.into_any())
    }

    /// The number of answers that are True.
    fn count(&self) -> u64 {
        self.outcome.ones
    }

    /// The answers as a list of bool, with None for nulls.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, (0..self.outcome.len).map(|row| self.get(row)))
    }

    /// The answers as bytes: 1 for True, and 0 for False and for nulls.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        PyByteArray::new_with(py, self.outcome.len, |bytes| {
            for (word, bytes) in self.outcome.words.iter().zip(bytes.chunks_mut(64)) {
                for (bit, byte) in bytes.iter_mut().enumerate() {
                    *byte = (word >> bit & 1) as u8;
                }
            }
            Ok(())
        })
    }

    /// Exports the answers through the Arrow C interface, as a column of booleans.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The column always has the type boolean. The interface allows a producer to ignore the
        // requested type.
        let _ = requested_schema;
        let Outcome { words, valid, len, nulls, .. } = &self.outcome;
        export(py, words.clone(), valid.clone(), *len, *nulls)
    }

    fn __repr__(&self) -> String {
        format!("Answers({} keys, {} true)", self.outcome.len, self.outcome.ones)
    }
}
