//! Constructors: from a number of items and a rate, from a plan, or with a given size.

use super::{BloomFilter, Made, ScalableFilter};
use crate::errors::{Kind, build_error, math_error, raise};
use crate::given::{Wish, hasher, small, whole};
use crate::plan::Plan;
use pyo3::prelude::*;
use pyo3::types::PyType;
use truebloom::scheme::AnyScheme;
use truebloom::{AnyFilter, BlockedBloomFilter, FilterOf};
use truebloom_math::SchemeId;

#[pymethods]
impl BloomFilter {
    #[new]
    #[pyo3(signature = (items, fpr, *, layout=None, scheme=None, confidence=None, mean=false, seed=None, untrusted=false))]
    #[expect(clippy::too_many_arguments, reason = "by name in Python")]
    fn new<'py>(
        py: Python<'py>,
        items: &Bound<'py, PyAny>,
        fpr: &Bound<'py, PyAny>,
        layout: Option<&str>,
        scheme: Option<&str>,
        confidence: Option<f64>,
        mean: bool,
        seed: Option<&Bound<'py, PyAny>>,
        untrusted: bool,
    ) -> PyResult<BloomFilter> {
        if let Some(made) = Made::take(items)? {
            return Ok(made);
        }
        let hasher = hasher(py, seed, untrusted)?;
        let target = Wish { items: Some(items), fpr: Some(fpr), layout, scheme, confidence, mean, ..Wish::default() }.target(py)?;
        let plan = py.detach(|| truebloom_math::Plan::new(&target)).map_err(|error| math_error(py, &error))?;
        let filter = AnyFilter::from_plan_with_hasher(&plan, hasher).map_err(|error| build_error(py, &error))?;
        Ok(BloomFilter::new_of(filter))
    }

    /// Makes a filter from a plan.
    ///
    /// >>> BloomFilter.from_plan(plan(bits=8192, fpr=0.01), seed=7).bits
    /// 8192
    #[classmethod]
    #[pyo3(signature = (plan, *, seed=None, untrusted=false))]
    fn from_plan<'py>(
        cls: &Bound<'py, PyType>,
        plan: &Plan,
        seed: Option<&Bound<'py, PyAny>>,
        untrusted: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = cls.py();
        refuse_growing(cls)?;
        let filter = AnyFilter::from_plan_with_hasher(&plan.plan, hasher(py, seed, untrusted)?);
        BloomFilter::new_of(filter.map_err(|error| build_error(py, &error))?).into_object(cls)
    }

    /// Makes a filter with this many bits and probes, without a guaranteed rate.
    #[classmethod]
    #[pyo3(signature = (bits, probes, *, scheme=None, seed=None, untrusted=false))]
    fn with_size<'py>(
        cls: &Bound<'py, PyType>,
        bits: &Bound<'py, PyAny>,
        probes: &Bound<'py, PyAny>,
        scheme: Option<&str>,
        seed: Option<&Bound<'py, PyAny>>,
        untrusted: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = cls.py();
        refuse_growing(cls)?;
        let (bits, probes, hasher) = (whole("bits", bits)?, small("probes", probes)?, hasher(py, seed, untrusted)?);
        let scheme: SchemeId = scheme.unwrap_or("standard").parse().map_err(|error| math_error(py, &error))?;
        let filter = if scheme == SchemeId::Blocked {
            BlockedBloomFilter::builder().bits(bits).probes(probes).hasher(hasher).build().map(AnyFilter::from)
        } else {
            AnyScheme::named(scheme, bits, probes).and_then(|scheme| FilterOf::with_scheme(scheme, hasher)).map(AnyFilter::from)
        };
        BloomFilter::new_of(filter.map_err(|error| build_error(py, &error))?).into_object(cls)
    }
}

/// Returns an error for a class of filters that grow, because such filters have no fixed size.
fn refuse_growing(class: &Bound<'_, PyType>) -> PyResult<()> {
    if class.is_subclass_of::<ScalableFilter>()? {
        return Err(raise(
            class.py(),
            Kind::Plan,
            "a filter that grows has no fixed size; use truebloom.BloomFilter, or ScalableFilter(fpr)",
        ));
    }
    Ok(())
}
