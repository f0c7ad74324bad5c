//! The methods that add and query keys, one at a time or many at a time.

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
            // Only this filter can need more memory during insertions.
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
    /// False means that the key was added before, or that it is a false positive. Keys are str (as
    /// UTF-8), bytes-like objects, ints of up to 64 bits, uuid.UUID, and tuples of these. 1 and
    /// True are the same key, and so are "a" and b"a".
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
    /// Arrow C interface (pyarrow, polars, pandas, DuckDB). Returns how many keys were certainly
    /// new.
    ///
    /// Nulls in columns are skipped; None in a list is an error. Each row of a table is one key: a
    /// tuple of its fields, or the field itself if the table has only one column. Columns and
    /// arrays are read in place, without a copy. `threads` makes only columns and arrays faster,
    /// mostly columns of strings.
    ///
    /// >>> f = BloomFilter(1000, 0.01, seed=1)
    /// >>> f.update(["a", "b", "a"])
    /// 2
    #[pyo3(signature = (keys, *, threads=1))]
    fn update(&self, keys: &Bound<'_, PyAny>, threads: usize) -> PyResult<u64> {
        Ok(self.offer(keys, threads, false)?.ones)
    }

    /// Adds many keys, and reports for each key whether it was certainly new. `contains_many`
    /// describes the type of the answers.
    ///
    /// >>> BloomFilter(1000, 0.01, seed=1).add_many(["a", "b", "a"])
    /// [True, True, False]
    #[pyo3(signature = (keys, *, threads=1))]
    fn add_many<'py>(&self, keys: &Bound<'py, PyAny>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        give_back(keys, Answers::new(self.offer(keys, threads, true)?))
    }

    /// Reports for each of many keys whether it is contained. Accepts the same keys as `update`.
    /// The type of the answers depends on the type of the keys:
    ///
    /// - for a list or any other iterable: a list of bool;
    /// - for a numpy array: a numpy array of bool;
    /// - for a pandas Series: a Series of bool with the same index;
    /// - for a column of pyarrow, polars or DuckDB: a column of booleans.
    ///
    /// For a null key, the answer is False in numpy and pandas. In all other columns it is null, as
    /// in SQL.
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

    /// How many of the keys are contained. Accepts the same keys as `update`.
    #[pyo3(signature = (keys, *, threads=1))]
    fn count_contained(&self, keys: &Bound<'_, PyAny>, threads: usize) -> PyResult<u64> {
        Ok(run(keys, &Work { ask: &|keys| Ok(self.ask(keys)), share: Share::Asking, hasher: Some(self.hasher), threads, keep: false })?
            .ones)
    }
}
