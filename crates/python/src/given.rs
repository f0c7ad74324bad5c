//! Conversion of Python arguments to numbers, rates and seeds.

use crate::errors::{Kind, build_error, math_error, no_memory, raise, raise_with};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString};
use truebloom::{HasherId, PortableHasher, Seed};
use truebloom_math::{Layout, Rate, SchemeId, Target};

/// Converts a whole number: an int, or a float without a fraction, such as 1e6.
pub(crate) fn whole(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    let py = value.py();
    let wrong = || {
        let message = format!("{name} is {}, but must be a whole number from 0 to 2^64 - 1", brief(value));
        raise_with(py, Kind::Plan, &message, |attributes| attributes.set_item("name", name))
    };
    if let Ok(float) = value.cast::<PyFloat>() {
        let float = float.value();
        return if float >= 0.0 && float < 2f64.powi(53) && float.fract() == 0.0 { Ok(float as u64) } else { Err(wrong()) };
    }
    if value.is_instance_of::<PyBool>() || value.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    value.extract::<u64>().map_err(|_| wrong())
}

pub(crate) fn small(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let number = whole(name, value)?;
    u32::try_from(number).map_err(|_| raise(value.py(), Kind::Plan, &format!("{name} is {number}, but must be below 2^32")))
}

/// The text of a value for a message, shortened to 60 characters.
fn brief(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "this object".to_owned(), |text| text.to_string_lossy().into_owned());
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Converts a rate. A float stands for the decimal number that Python prints for it. A Decimal is
/// converted exactly, and a text such as "0.1%" or "1/1000" is parsed.
pub(crate) fn rate(value: &Bound<'_, PyAny>) -> PyResult<Rate> {
    let py = value.py();
    if let Ok(float) = value.cast::<PyFloat>() {
        return Rate::try_from(float.value()).map_err(|error| math_error(py, &error));
    }
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() || value.is_instance_of::<PyString>() || is_number(value)? {
        return value.str()?.to_string_lossy().parse().map_err(|error| math_error(py, &error));
    }
    Err(raise(py, Kind::Plan, &format!("{} is not a rate; write it as 0.001, '0.1%' or '1/1000'", brief(value))))
}

/// Whether the object is a Decimal, a Fraction or a number of another library.
fn is_number(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    value.is_instance(&py.import("numbers")?.getattr("Number")?)
}

/// A hasher with this seed: an int from 0 to 2^128 - 1, or up to 32 hexadecimal digits. For None,
/// the seed is random.
pub(crate) fn hasher(py: Python<'_>, seed: Option<&Bound<'_, PyAny>>, untrusted: bool) -> PyResult<PortableHasher> {
    let seed = match seed {
        None => Seed::random().map_err(|error| build_error(py, &error))?,
        Some(value) if value.is_instance_of::<PyString>() => {
            value.str()?.to_string_lossy().parse().map_err(|error: truebloom::ParseSeedError| raise(py, Kind::Plan, &error.to_string()))?
        }
        // The message does not contain the seed, because seeds are secrets.
        Some(value) => Seed::from(
            value
                .extract::<u128>()
                .map_err(|_| raise(py, Kind::Plan, "a seed is an int from 0 to 2^128 - 1, or a text of 1 to 32 hexadecimal digits"))?,
        ),
    };
    Ok(PortableHasher::new(if untrusted { HasherId::Sip13 } else { HasherId::Xxh3 }, seed))
}

/// Reads the bytes of a bytes-like object, with the interpreter released.
pub(crate) fn with_bytes<R: Send>(data: &Bound<'_, PyAny>, read: impl FnOnce(&[u8]) -> R + Send) -> PyResult<R> {
    let py = data.py();
    if let Ok(bytes) = data.cast::<PyBytes>() {
        // The contents of a `bytes` object never change, and live as long as the object.
        let bytes = bytes.as_bytes();
        return Ok(py.detach(|| read(bytes)));
    }
    let Ok(buffer) = PyBuffer::<u8>::get(data) else {
        return Err(PyTypeError::new_err(format!("expected a bytes-like object, not {}", data.get_type().qualname()?)));
    };
    // The bytes are copied, because other threads can change the contents of other objects.
    let copy = copied(py, &buffer)?;
    Ok(py.detach(|| read(&copy)))
}

/// Copies the bytes of a buffer, which need not be contiguous.
pub(crate) fn copied(py: Python<'_>, buffer: &PyBuffer<u8>) -> PyResult<Vec<u8>> {
    let (mut copy, bytes) = (Vec::new(), buffer.item_count());
    copy.try_reserve_exact(bytes).map_err(|_| no_memory(py, bytes as u64))?;
    copy.resize(bytes, 0);
    buffer.copy_to_slice(py, &mut copy)?;
    Ok(copy)
}

/// The arguments of a plan as Python objects.
#[derive(Default)]
pub(crate) struct Wish<'a, 'py> {
    pub(crate) items: Option<&'a Bound<'py, PyAny>>,
    pub(crate) fpr: Option<&'a Bound<'py, PyAny>>,
    pub(crate) bits: Option<&'a Bound<'py, PyAny>>,
    pub(crate) probes: Option<&'a Bound<'py, PyAny>>,
    pub(crate) max_bits: Option<&'a Bound<'py, PyAny>>,
    pub(crate) layout: Option<&'a str>,
    pub(crate) scheme: Option<&'a str>,
    pub(crate) confidence: Option<f64>,
    pub(crate) mean: bool,
}

impl Wish<'_, '_> {
    pub(crate) fn target(&self, py: Python<'_>) -> PyResult<Target> {
        let mut target = Target::new();
        target.items = self.items.map(|items| whole("items", items)).transpose()?;
        target.rate = self.fpr.map(rate).transpose()?;
        target.bits = self.bits.map(|bits| whole("bits", bits)).transpose()?;
        target.probes = self.probes.map(|probes| small("probes", probes)).transpose()?;
        target.max_bits = self.max_bits.map(|bits| whole("max_bits", bits)).transpose()?;
        target.scheme = match self.scheme {
            None => SchemeId::Standard,
            Some(name) => name.parse().map_err(|error| math_error(py, &error))?,
        };
        target.layout = match self.layout {
            None | Some("spread" | "standard") => Layout::Spread,
            Some("lines" | "blocked") => Layout::Lines,
            Some("auto") => Layout::Auto,
            Some(other) => {
                return Err(raise(
                    py,
                    Kind::Plan,
                    &format!("layout is {other:?}, but must be 'spread' (or 'standard'), 'lines' (or 'blocked') or 'auto'"),
                ));
            }
        };
        match (self.mean, self.confidence) {
            (true, Some(_)) => {
                return Err(raise(
                    py,
                    Kind::Plan,
                    "confidence and mean exclude each other: with mean=True, only the average rate is guaranteed",
                ));
            }
            (true, None) => target = target.mean(),
            (false, Some(confidence)) => target = target.confidence(confidence),
            (false, None) => {}
        }
        Ok(target)
    }
}
