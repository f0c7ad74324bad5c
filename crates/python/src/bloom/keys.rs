//! Keys: one at a time, and many at a time.

use super::BloomFilter;
use super::held::viewed;
use crate::answers::{Answers, give_back};
use crate::batch::{Outcome, Refusal, Run, Share, Work, hashes, read_only, run};
use crate::errors::build_error;
use crate::key::with_key;
use pyo3::prelude::*;
use truebloom::{AnyFilter, Filter};

impl BloomFilter {
    /// Inserts a block.
    fn insert(&self, keys: Run<'_>) -> Result<truebloom::Answers, Refusal> {
        let mut held = self.held.held_to_change();
        let filter = held.owned()?;
        Ok(match (filter, keys) {
            // The one filter that may need memory for more keys.
            (AnyFilter::Scalable(filter), Run::Hashes(hashes)) => filter.try_insert_all_hashes(hashes)?,
            (AnyFilter::Scalable(filter), keys) => filter.try_insert_all_hashes(&hashes(&self.hasher, &keys))?,
            (filter, Run::Numbers(numbers)) => Filter::insert_all(filter, numbers.iter().copied()),
            (filter, Run::Keys(keys)) => Filter::insert_all(filter, keys.iter().copied()),
            (filter, Run::Hashes(hashes)) => Filter::insert_all_hashes(filter, hashes),
        })
    }

    /// Looks up a block.
    fn ask(&self, keys: Run<'_>) -> truebloom::Answers {
        let held = self.held.held();
        viewed!(&*held, filter => match keys {
            Run::Numbers(numbers) => filter.contains_all(numbers.iter().copied()),
            Run::Keys(keys) => filter.contains_all(keys.iter().copied()),
            Run::Hashes(hashes) => filter.contains_all_hashes(hashes),
        })
    }

    fn offer(&self, keys: &Bound<'_, PyAny>, threads: usize, keep: bool) -> PyResult<Outcome> {
        let py = keys.py();
        if self.is_mapped(py) {
            return Err(read_only(py));
        }
        run(keys, &Work { ask: &|keys| self.insert(keys), share: Share::Hashing, hasher: Some(self.hasher), threads, keep })
    }
}

#[pymethods]
impl BloomFilter {
    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = with_key(key, |key| self.hasher.hash_key(&key))?;
        Ok(self.held.look(key.py(), |held| viewed!(held, filter => filter.contains_hash(hash))))
    }

    /// Adds a key; returns True if it was certainly new.
    ///
    /// False means that the key was added before, or that it is new and passes by chance, which
    /// happens at the filter's rate. Keys are str (as UTF-8), bytes-like objects, ints of up to 64
    /// bits, uuid.UUID, and tuples of these; 1 and True are the same key, and so are "a" and b"a".
    fn add(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = with_key(key, |key| self.hasher.hash_key(&key))?;
        let py = key.py();
        let added = self.change(py, |filter| match filter {
            AnyFilter::Scalable(filter) => filter.try_insert_hash(hash),
            filter => Ok(Filter::insert_hash(filter, hash)),
        })?;
        added.map_err(|error| build_error(py, &error))
    }

    /// Adds many keys: from a list, any iterable, a numpy array of integers, or anything with the
    /// Arrow C interface (pyarrow, polars, pandas, DuckDB). Returns how many were certainly new,
    /// which is a lower bound on the number of distinct keys among them.
    ///
    /// Nulls in columns are skipped; None in a list is an error. Columns and arrays are read in
    /// place; `threads` has an effect only on them, mostly on strings. A table counts as a column
    /// of tuples, and a table with one column as that column.
    ///
    /// >>> f = BloomFilter(1000, 0.01, seed=1)
    /// >>> f.update(["a", "b", "a"])
    /// 2
    #[pyo3(signature = (keys, *, threads=1))]
    fn update(&self, keys: &Bound<'_, PyAny>, threads: usize) -> PyResult<u64> {
        Ok(self.offer(keys, threads, false)?.ones)
    }

    /// Adds many keys, and reports for each whether it was certainly new: the first occurrences of
    /// a column. The answers have the same types as from `contains_many`.
    ///
    /// >>> BloomFilter(1000, 0.01, seed=1).add_many(["a", "b", "a"])
    /// [True, True, False]
    #[pyo3(signature = (keys, *, threads=1))]
    fn add_many<'py>(&self, keys: &Bound<'py, PyAny>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        give_back(keys, Answers::new(self.offer(keys, threads, true)?))
    }

    /// Reports for each of many keys whether it is contained. Accepts the same keys as `update`;
    /// the type of the answer corresponds to the type of the keys.
    ///
    /// A list, or any iterable, gives a list of bool; a numpy array gives an array of bool; a
    /// pandas Series gives a Series of bool with its index; pyarrow, polars and DuckDB columns give
    /// a column of booleans. If the key is null, the answer is null, as in SQL, and False in numpy
    /// and pandas.
    ///
    /// >>> f = BloomFilter(1000, 0.01, seed=1)
    /// >>> f.update(range(10))
    /// 10
    /// >>> f.contains_many([3, 11])
    /// [True, False]
    #[pyo3(signature = (keys, *, threads=1))]
    fn contains_many<'py>(&self, keys: &Bound<'py, PyAny>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        let work = Work { ask: &|keys| Ok(self.ask(keys)), share: Share::Asking, hasher: Some(self.hasher), threads, keep: true };
        give_back(keys, Answers::new(run(keys, &work)?))
    }

    /// How many of the keys are contained: `contains_many` without the individual answers.
    #[pyo3(signature = (keys, *, threads=1))]
    fn count_contained(&self, keys: &Bound<'_, PyAny>, threads: usize) -> PyResult<u64> {
        Ok(run(keys, &Work { ask: &|keys| Ok(self.ask(keys)), share: Share::Asking, hasher: Some(self.hasher), threads, keep: false })?
            .ones)
    }
}
