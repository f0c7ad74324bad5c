//! The rates of the filters of other libraries.

use crate::errors::{Kind, math_error, raise};
use crate::given::{rate as given_rate, whole};
use crate::results::{rate, result};
use pyo3::prelude::*;
use truebloom_audit::{PROFILES, Profile, Size, simulate};
use truebloom_math::{Error, Fpr, Method, Rate};

/// Computes the true false-positive rates of the filters that other libraries make for this many
/// items and this requested rate. The rates follow from the libraries' arithmetic, by a formula or
/// by a simulation.
///
/// >>> [(row.library, row.kept) for row in audit(1000, 0.01, ["rbloom", "truebloom"])]
/// [('rbloom', False), ('truebloom', True)]
///
/// `libraries` lists the names of the libraries to audit; by default, all known libraries are
/// audited. `queries` is the number of queries in each simulation. A hundred million queries take
/// some seconds.
#[pyfunction]
#[pyo3(signature = (items, fpr, libraries=None, *, queries=1_000_000, seed=1))]
pub(crate) fn audit<'py>(
    py: Python<'py>,
    items: &Bound<'py, PyAny>,
    fpr: &Bound<'py, PyAny>,
    libraries: Option<Vec<String>>,
    queries: u64,
    seed: u64,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (items, asked) = (whole("items", items)?, given_rate(fpr)?);
    let known = |name: &String| {
        truebloom_audit::find(&name.to_lowercase()).ok_or_else(|| {
            let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
            raise(py, Kind::Plan, &format!("{name:?} is not a known library; choose one of {}", names.join(", ")))
        })
    };
    let profiles: Vec<&'static Profile> = match libraries {
        Some(names) => names.iter().map(known).collect::<PyResult<_>>()?,
        None => PROFILES.iter().collect(),
    };
    let mut rows = Vec::new();
    for profile in profiles {
        let found = py.detach(|| Finding::new(profile, items, asked, queries, seed)).map_err(|error| math_error(py, &error))?;
        rows.push(found.typed(py, asked)?);
        py.check_signals()?;
    }
    Ok(rows)
}

struct Finding {
    profile: &'static Profile,
    size: Size,
    fpr: Fpr,
    share: Option<f64>,
}

impl Finding {
    fn new(profile: &'static Profile, items: u64, asked: Rate, queries: u64, seed: u64) -> Result<Finding, Error> {
        let size = profile.size(items, asked.to_f64())?;
        let share = truebloom_audit::share(profile, size, items, &asked)?;
        let fpr = match truebloom_audit::rate(profile, size, items)? {
            Some(fpr) => fpr,
            None => {
                let found = simulate(profile, size, items, queries, seed)?;
                // Because of equal hashes alone, the rate is at least this high.
                let floor = profile.arithmetic.hash_floor(size, items);
                let mut fpr = Fpr::ONE;
                (fpr.value, fpr.lower, fpr.upper) = (found.rate.max(floor), found.lower.max(floor), found.upper.max(floor));
                (fpr.ln, fpr.ln_lower, fpr.ln_upper) = (fpr.value.ln(), fpr.lower.ln(), fpr.upper.ln());
                fpr.method = Method::Simulation;
                fpr
            }
        };
        Ok(Finding { profile, size, fpr, share })
    }

    fn typed<'py>(&self, py: Python<'py>, asked: Rate) -> PyResult<Bound<'py, PyAny>> {
        let Finding { profile, size, fpr, share } = self;
        let asked = asked.to_f64();
        let kept = if fpr.upper <= asked { Some(true) } else { (fpr.lower > asked).then_some(false) };
        let fpr = rate(py, fpr)?;
        result(py, "Audited", |fields| {
            fields.set_item("library", profile.name)?;
            fields.set_item("version", profile.version)?;
            fields.set_item("bits", size.bits)?;
            fields.set_item("probes", size.probes)?;
            fields.set_item("fpr", fpr)?;
            fields.set_item("kept", kept)?;
            fields.set_item("share", share)?;
            fields.set_item("remark", profile.remark)
        })
    }
}
