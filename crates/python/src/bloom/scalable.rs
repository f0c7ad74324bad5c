//! The filter that grows.

use super::held::viewed;
use super::{BloomFilter, Made};
use crate::errors::{build_error, math_error};
use crate::given::{hasher, rate as given_rate, whole};
use pyo3::prelude::*;
use truebloom::{AnyFilter, ScalableFilter as Layers};
use truebloom_math::Growth;

/// A Bloom filter for an unknown number of keys: it grows, and its rate never exceeds the requested
/// rate.
///
/// >>> f = ScalableFilter(0.01, seed=1)
/// >>> f.update(range(100_000)) > 99_000
/// True
/// >>> f.fpr().upper <= 0.01, f.layers > 3
/// (True, True)
///
/// The rate is kept with certainty, at any number of keys. The rate of a union can be as high as
/// the sum of the two rates. The filter takes up to three or four times the memory of a filter that
/// is planned for the right number of keys. It grows by adding layers; `first_items` is the
/// approximate number of keys in the first layer. A key that is already contained is not inserted
/// again.
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
        if let Some(made) = Made::take(fpr)? {
            return Ok(PyClassInitializer::from(made).add_subclass(ScalableFilter {}));
        }
        let first = first_items.map_or(Ok(truebloom::FIRST_ITEMS), |items| whole("first_items", items))?;
        let growth = Growth::new(given_rate(fpr)?, first).map_err(|error| math_error(py, &error))?;
        let filter = Layers::with_growth(growth, hasher(py, seed, untrusted)?).map_err(|error| build_error(py, &error))?;
        Ok(PyClassInitializer::from(BloomFilter::new_of(filter.into())).add_subclass(ScalableFilter {}))
    }

    /// The number of layers.
    #[getter]
    fn layers(slf: &Bound<'_, ScalableFilter>) -> usize {
        let filter = slf.as_super().get();
        filter.held.look(slf.py(), |held| {
            viewed!(held, filter => match filter {
                AnyFilter::Scalable(filter) => filter.layers().len(),
                _ => 1,
            })
        })
    }
}
