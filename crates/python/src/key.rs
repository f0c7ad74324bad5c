//! Converts Python objects to keys. The Rust crate and the command have the same keys.

use crate::errors::{Kind, no_memory, raise};
use crate::given::copied;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyUnicodeEncodeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyMemoryView, PyString, PyTuple, PyType};
use truebloom::{Key, KeyWriter};

/// A key without Python objects: a number of 8 bytes, or a byte string. The byte string of a tuple
/// consists of the bytes of its fields, one after the other. The crate hashes the same bytes.
#[derive(Clone, Copy)]
pub(crate) enum RawKey<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl Key for RawKey<'_> {
    #[inline]
    fn write_key(&self, to: &mut KeyWriter<'_>) {
        match self {
            RawKey::Number(number) => to.number(*number),
            RawKey::Bytes(bytes) => to.byte_string(bytes),
        }
    }

    #[inline(always)]
    fn key_number(&self) -> Option<u64> {
        match self {
            RawKey::Number(number) => Some(*number),
            RawKey::Bytes(_) => None,
        }
    }

    #[inline(always)]
    fn key_bytes(&self) -> Option<&[u8]> {
        match self {
            RawKey::Number(_) => None,
            RawKey::Bytes(bytes) => Some(bytes),
        }
    }
}

/// A key that owns its bytes, so that other threads can use it.
pub(crate) enum Owned {
    Number(u64),
    Bytes(Vec<u8>),
}

impl Owned {
    pub(crate) fn of(key: RawKey<'_>) -> Owned {
        match key {
            RawKey::Number(number) => Owned::Number(number),
            RawKey::Bytes(bytes) => Owned::Bytes(bytes.to_vec()),
        }
    }

    pub(crate) fn key(&self) -> RawKey<'_> {
        match self {
            Owned::Number(number) => RawKey::Number(*number),
            Owned::Bytes(bytes) => RawKey::Bytes(bytes),
        }
    }
}

/// Appends a field of a tuple: the eight bytes of a number, or a byte string after its length.
pub(crate) fn push_field(key: RawKey<'_>, to: &mut Vec<u8>) -> Result<(), NoMemory> {
    match key {
        RawKey::Number(number) => extend(to, &number.to_le_bytes()),
        RawKey::Bytes(bytes) => {
            extend(to, &(bytes.len() as u64).to_le_bytes())?;
            extend(to, bytes)
        }
    }
}

/// The error if this many bytes cannot be allocated.
#[derive(Debug)]
pub(crate) struct NoMemory {
    pub(crate) bytes: u64,
}

/// Appends bytes. Returns an error if there is not enough memory, which can happen because keys may
/// have any length.
#[inline]
pub(crate) fn extend(to: &mut Vec<u8>, bytes: &[u8]) -> Result<(), NoMemory> {
    to.try_reserve(bytes.len()).map_err(|_| NoMemory { bytes: (to.len() + bytes.len()) as u64 })?;
    to.extend_from_slice(bytes);
    Ok(())
}

/// The largest depth of nested tuples; it bounds the recursion, and thereby the use of the stack.
pub(crate) const MOST_NESTED: usize = 32;

static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The key of a text, a byte string or a whole number; most keys are one of these.
#[inline]
fn usual_key<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Option<RawKey<'a>>> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Some(RawKey::Bytes(utf8(text)?)));
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Some(RawKey::Bytes(bytes.as_bytes())));
    }
    match object.cast::<PyInt>() {
        Ok(integer) => Ok(Some(RawKey::Number(number(integer)?))),
        Err(_) => Ok(None),
    }
}

#[inline]
fn utf8<'a>(text: &'a Bound<'_, PyString>) -> PyResult<&'a [u8]> {
    text.to_str().map(str::as_bytes).map_err(|error| no_utf8(text.py(), error))
}

#[cold]
fn no_utf8(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        // This can be a lack of memory.
        return error;
    }
    let message = "a str with a lone surrogate has no UTF-8 form, so it is not a key; for a file name give os.fsencode(name), for other text \
                   key.encode('utf-8', 'surrogatepass')";
    let own = raise(py, Kind::KeyType, message);
    own.set_cause(py, Some(error));
    own
}

/// Calls `use_key` with the key of the object.
#[inline]
pub(crate) fn with_key<R>(object: &Bound<'_, PyAny>, use_key: impl FnOnce(RawKey<'_>) -> R) -> PyResult<R> {
    if let Some(key) = usual_key(object)? {
        return Ok(use_key(key));
    }
    with_rarer_key(object, use_key)
}

#[cold]
fn with_rarer_key<R>(object: &Bound<'_, PyAny>, use_key: impl FnOnce(RawKey<'_>) -> R) -> PyResult<R> {
    if let Ok(tuple) = object.cast::<PyTuple>() {
        // A tuple with one field has the same key as this field.
        if tuple.len() == 1 {
            let mut inner = tuple.get_item(0)?;
            for _ in 0..MOST_NESTED {
                match inner.cast::<PyTuple>() {
                    Ok(tuple) if tuple.len() == 1 => inner = tuple.get_item(0)?,
                    Ok(_) => return with_fields(&inner, use_key),
                    Err(_) => return with_atom(&inner, use_key),
                }
            }
            return Err(too_nested(object.py()));
        }
        return with_fields(object, use_key);
    }
    with_atom(object, use_key)
}

fn with_fields<R>(tuple: &Bound<'_, PyAny>, use_key: impl FnOnce(RawKey<'_>) -> R) -> PyResult<R> {
    let mut bytes = Vec::new();
    push_fields(tuple.cast::<PyTuple>()?, &mut bytes, 0)?;
    Ok(use_key(RawKey::Bytes(&bytes)))
}

fn push_fields(tuple: &Bound<'_, PyTuple>, to: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    let py = tuple.py();
    if tuple.is_empty() {
        return Err(raise(py, Kind::KeyType, "an empty tuple is not a key; give at least one field"));
    }
    if depth >= MOST_NESTED {
        return Err(too_nested(py));
    }
    for field in tuple.iter() {
        match field.cast::<PyTuple>() {
            Ok(inner) => push_fields(inner, to, depth + 1)?,
            Err(_) => with_atom(&field, |key| push_field(key, to))?.map_err(|lacking| no_memory(py, lacking.bytes))?,
        }
    }
    Ok(())
}

fn too_nested(py: Python<'_>) -> PyErr {
    raise(py, Kind::KeyType, &format!("a key cannot have more than {MOST_NESTED} levels of tuples"))
}

/// Calls `use_key` with the key of any object except a tuple.
fn with_atom<R>(object: &Bound<'_, PyAny>, use_key: impl FnOnce(RawKey<'_>) -> R) -> PyResult<R> {
    let py = object.py();
    if let Some(key) = usual_key(object)? {
        return Ok(use_key(key));
    }
    if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
        let Ok(buffer) = PyBuffer::<u8>::get(object) else {
            return Err(raise(py, Kind::KeyType, "a memoryview whose items are not bytes is not a key; give view.tobytes()"));
        };
        return Ok(use_key(RawKey::Bytes(&copied(py, &buffer)?)));
    }
    if object.is_instance(UUID.import(py, "uuid", "UUID")?)? {
        let bytes = object.getattr(intern!(py, "bytes"))?;
        return Ok(use_key(RawKey::Bytes(bytes.cast::<PyBytes>()?.as_bytes())));
    }
    // Integers of other libraries have this method.
    match object.call_method0(intern!(py, "__index__")) {
        Ok(index) => match index.cast::<PyInt>() {
            Ok(index) => Ok(use_key(RawKey::Number(number(index)?))),
            Err(_) => Err(not_a_key(object)),
        },
        Err(error) if error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyAttributeError>(py) => Err(not_a_key(object)),
        // The error can be an interrupt or a lack of memory.
        Err(error) => Err(error),
    }
}

/// Returns the key of an integer of up to 64 bits: eight bytes, sign-extended if the integer is
/// negative, as in the crate.
#[inline]
fn number(integer: &Bound<'_, PyInt>) -> PyResult<u64> {
    if let Ok(signed) = integer.extract::<i64>() {
        return Ok(signed as u64);
    }
    integer.extract::<u64>().map_err(|_| {
        let message =
            "an integer of more than 64 bits is not a key; give str(n), or, for the same key as a 128-bit integer in Rust, n.to_bytes(16, 'little')";
        raise(integer.py(), Kind::KeyRange, message)
    })
}

fn not_a_key(object: &Bound<'_, PyAny>) -> PyErr {
    let py = object.py();
    let name = object.get_type().qualname().map_or_else(|_| "this object".to_owned(), |name| name.to_string());
    let advice = match name.as_str() {
        "bool" | "bool_" => return raise(py, Kind::KeyType, "a numpy bool is not a key; give bool(x)"),
        "NoneType" => return raise(py, Kind::KeyType, "None is not a key; leave missing values out"),
        "float" | "float64" | "float32" => "0.0 and -0.0 are equal but have different bytes; give x.hex(), or an integer",
        "datetime" | "date" | "time" => "give x.isoformat()",
        "Timestamp" | "datetime64" => "give its text, or its integer",
        "Decimal" | "Fraction" => "give str(x)",
        "list" | "dict" | "set" | "frozenset" | "ndarray" => "give a tuple, or for many keys use update() or contains_many()",
        _ => "give its text, its bytes, or a tuple of its fields",
    };
    let message = format!("{name} is not a key: keys are str, bytes, int, uuid.UUID and tuples of them; {advice}");
    raise(py, Kind::KeyType, &message)
}
