//! The native half of the Python package `truebloom`: what Python objects are as keys, how columns of them come in, and the filters. The other half is in `python/truebloom`.

mod answers;
mod arrow;
mod audit;
mod batch;
mod bloom;
mod counts;
mod errors;
mod given;
mod key;
mod plan;
mod recycling;
mod results;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The native half of truebloom.
#[pymodule(gil_used = false)]
mod _truebloom {
    #[pymodule_export]
    use super::answers::Answers;
    #[pymodule_export]
    use super::audit::audit;
    #[pymodule_export]
    use super::bloom::{BloomFilter, ScalableFilter};
    #[pymodule_export]
    use super::counts::{CountMin, HeavyHitters};
    #[pymodule_export]
    use super::plan::{Plan, plan};
    #[pymodule_export]
    use super::recycling::RecyclingFilter;
    #[pymodule_export]
    use super::{command, evaluate, key_bytes};
}

/// The canonical bytes of a key: what is hashed, the same in every language.
///
/// >>> key_bytes(("a", 2)).hex(" ", 8)
/// '0100000000000000 61 0200000000000000'
#[pyfunction]
fn key_bytes<'py>(key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    key::with_key(key, |found| PyBytes::new(key.py(), &truebloom::Key::to_key_bytes(&found)))
}

/// The answer of `truebloom eval` to a query, both as JSON.
#[pyfunction]
fn evaluate(py: Python<'_>, query: &str) -> PyResult<String> {
    py.detach(|| truebloom_cli::evaluate(query)).map_err(|message| errors::raise(py, errors::Kind::Plan, &message))
}

/// The command `truebloom` with these arguments, of which the first is its name; gives back its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    let code = py.detach(|| truebloom_cli::run_with(&arguments));
    // The standard library does not say its number.
    (0..=u8::MAX).find(|number| std::process::ExitCode::from(*number) == code).unwrap_or(2)
}
