//! The native part of the Python package `truebloom`: conversion of Python objects and columns to
//! keys, and the filters. The part that is written in Python is in `python/truebloom`.

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
mod shared;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};
use truebloom::{HasherId, PortableHasher, Seed};

/// The native part of truebloom.
#[pymodule(gil_used = false)]
mod _truebloom {
    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

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
    use super::{command, evaluate, key_bytes, route};
}

/// The canonical bytes of a key. These bytes are hashed. They are the same in every language.
///
/// >>> key_bytes("a").hex(), key_bytes(2).hex()
/// ('61', '0200000000000000')
/// >>> key_bytes(("a", 2)).hex()
/// '0100000000000000610200000000000000'
#[pyfunction]
fn key_bytes<'py>(key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    key::with_key(key, |found| PyBytes::new(key.py(), &truebloom::Key::to_key_bytes(&found)))
}

/// Assigns each key to one of `parts` parts by a hash with this seed. Returns the numbers of the
/// parts, each as 32 bits; null keys get part 0.
#[pyfunction]
#[pyo3(signature = (keys, seed, parts, untrusted=false))]
fn route<'py>(keys: &Bound<'py, PyAny>, seed: u128, parts: u32, untrusted: bool) -> PyResult<Bound<'py, PyBytes>> {
    use batch::{Run, Share, Work, hashes, run};
    // With a keyed hash, an attacker cannot choose keys that all belong to one part.
    let hasher = PortableHasher::new(if untrusted { HasherId::Sip13 } else { HasherId::Xxh3 }, Seed::from(seed));
    let routed = Mutex::new(Vec::<u32>::new());
    let ask = |keys: Run<'_>| {
        let mut routed = routed.lock().unwrap_or_else(PoisonError::into_inner);
        let hashes = hashes(&hasher, &keys);
        // Each part has an equal share of the values that the first half of a hash can have.
        routed.extend(hashes.iter().map(|hash| ((u128::from(u128::from(*hash) as u64) * u128::from(parts)) >> 64) as u32));
        Ok(hashes.iter().map(|_| true).collect())
    };
    let outcome = run(keys, &Work { ask: &ask, share: Share::Nothing, hasher: None, threads: 1, keep: true })?;
    let mut routed = routed.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter();
    let mut bytes = Vec::with_capacity(4 * outcome.len);
    for row in 0..outcome.len {
        let part = if outcome.words[row / 64] >> (row % 64) & 1 == 1 { routed.next().unwrap_or(0) } else { 0 };
        bytes.extend_from_slice(&part.to_ne_bytes());
    }
    Ok(PyBytes::new(keys.py(), &bytes))
}

/// Returns the answer of `truebloom eval` to a query. The query and the answer are JSON.
#[pyfunction]
fn evaluate(py: Python<'_>, query: &str) -> PyResult<String> {
    py.detach(|| truebloom_cli::evaluate(query)).map_err(|message| errors::raise(py, errors::Kind::Plan, &message))
}

/// Runs the command `truebloom` with these arguments, and returns its exit code. The first argument
/// is the name of the command.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    let code = py.detach(|| truebloom_cli::run_with(&arguments));
    // An `ExitCode` has no method that returns its number.
    (0..=u8::MAX).find(|number| std::process::ExitCode::from(*number) == code).unwrap_or(2)
}
