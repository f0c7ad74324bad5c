//! Plans.

use crate::errors::{Kind, math_error, raise};
use crate::given::Wish;
use crate::results::{plural, rate, result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The size of a filter that is proven to meet its rate. `plan` returns a plan, and
/// `BloomFilter.from_plan` makes a filter from it.
#[pyclass(frozen, module = "truebloom")]
pub(crate) struct Plan {
    pub(crate) plan: truebloom_math::Plan,
    /// The arguments of `plan`, for pickle.
    arguments: Py<PyDict>,
}

/// Plans a filter from two of `items`, `fpr` and `bits`; the third is computed.
///
/// Without `bits`, the result is the smallest filter that meets the rate. Without `items`, it has
/// the largest number of items at this rate. Without `fpr`, it has the lowest rate.
///
/// The rate is kept on average over seeds. Unless mean=True, a single filter also keeps it, with a
/// probability of `confidence` (99.9% by default). Both are proven.
///
/// >>> p = plan(1000, 0.01)
/// >>> p.bits, p.probes, p.fpr.upper <= 0.01
/// (9843, 7, True)
#[pyfunction]
#[pyo3(signature = (items=None, fpr=None, *, bits=None, probes=None, max_bits=None, layout=None, scheme=None, confidence=None, mean=false))]
#[expect(clippy::too_many_arguments, reason = "by name in Python")]
pub(crate) fn plan<'py>(
    py: Python<'py>,
    items: Option<&Bound<'py, PyAny>>,
    fpr: Option<&Bound<'py, PyAny>>,
    bits: Option<&Bound<'py, PyAny>>,
    probes: Option<&Bound<'py, PyAny>>,
    max_bits: Option<&Bound<'py, PyAny>>,
    layout: Option<&str>,
    scheme: Option<&str>,
    confidence: Option<f64>,
    mean: bool,
) -> PyResult<Plan> {
    if items.is_none() && fpr.is_none() && bits.is_none() {
        return Err(raise(py, Kind::Plan, "give two of items, fpr and bits; the third is computed"));
    }
    let wish = Wish { items, fpr, bits, probes, max_bits, layout, scheme, confidence, mean };
    let target = wish.target(py)?;
    let plan = py.detach(|| truebloom_math::Plan::new(&target)).map_err(|error| math_error(py, &error))?;
    let arguments = PyDict::new(py);
    for (name, value) in [("items", items), ("fpr", fpr), ("bits", bits), ("probes", probes), ("max_bits", max_bits)] {
        arguments.set_item(name, value)?;
    }
    arguments.set_item("layout", layout)?;
    arguments.set_item("scheme", scheme)?;
    arguments.set_item("confidence", confidence)?;
    arguments.set_item("mean", mean)?;
    Ok(Plan { plan, arguments: arguments.unbind() })
}

#[pymethods]
impl Plan {
    /// The number of bits.
    #[getter]
    fn bits(&self) -> u64 {
        self.plan.bits
    }

    /// The number of hash positions per item.
    #[getter]
    fn probes(&self) -> u32 {
        self.plan.probes
    }

    /// The number of distinct items for which the rate holds.
    #[getter]
    fn items(&self) -> u64 {
        self.plan.items
    }

    /// The size of the bits in memory, in bytes.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.plan.bytes()
    }

    /// The scheme, which computes positions from a hash.
    #[getter]
    fn scheme(&self) -> &'static str {
        self.plan.scheme.name()
    }

    /// The layout: whether an item's positions can be anywhere ('spread'), or are all in one cache
    /// line ('lines').
    #[getter]
    fn layout(&self) -> &'static str {
        self.plan.layout().name()
    }

    /// The requested rate, or None if none was requested.
    #[getter]
    fn asked_fpr(&self) -> Option<f64> {
        self.plan.rate.map(|rate| rate.to_f64())
    }

    /// The expected rate once the filter holds its items. This is a mean over seeds, and is proven
    /// to be at most the requested rate.
    #[getter]
    fn fpr<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        rate(py, &self.plan.fpr)
    }

    /// The rate that a single filter is proven to keep, with a probability of `confidence` over
    /// seeds. None for a plan with mean=True.
    #[getter]
    fn guaranteed<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.plan.guarantee.as_ref().map(|one| rate(py, &one.fpr)).transpose()
    }

    /// The probability with which a single filter meets the rate `guaranteed`. None for a plan with
    /// mean=True.
    #[getter]
    fn confidence(&self) -> Option<f64> {
        self.plan.guarantee.as_ref().map(|one| one.confidence)
    }

    /// The filter that the textbook formulas give for the same arguments, and its true expected
    /// rate.
    fn textbook<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let textbook = self.plan.textbook().map_err(|error| math_error(py, &error))?;
        let fpr = rate(py, &textbook.fpr)?;
        result(py, "Textbook", |fields| {
            fields.set_item("bits", textbook.bits)?;
            fields.set_item("probes", textbook.probes)?;
            fields.set_item("items", textbook.items)?;
            fields.set_item("fpr", fpr)
        })
    }

    fn __repr__(&self) -> String {
        let promise = match self.plan.guarantee {
            Some(one) => format!("at most {:.5e} with {}% confidence (proven)", one.fpr.upper, one.confidence * 100.0),
            None => format!("at most {:.5e} on average (proven)", self.plan.fpr.upper),
        };
        let (keys, bits) = (plural(self.plan.items, "key"), plural(self.plan.bits, "bit"));
        format!("<Plan for {keys}: {bits}, {}, {promise}>", plural(self.plan.probes.into(), "probe"))
    }

    fn __eq__(&self, other: &Plan) -> bool {
        self.plan == other.plan
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let again = py.import("truebloom._results")?.getattr("plan_again")?;
        Ok((again, (self.arguments.bind(py).copy()?,)))
    }
}
