//! Columns of other libraries, read in place through the Arrow C data interface.
//!
//! The interface is implemented by hand, because it is small, and the crates that support it
//! contain a whole array library. The interface does not include the sizes of buffers, so every
//! consumer has to trust the lengths and offsets of the producer. Everything that can be checked is
//! checked: signs, the order of offsets, missing buffers, and the numbers of buffers and children.
#![allow(unsafe_code, reason = "a foreign interface of pointers")]

mod abi;
mod column;
mod export;

pub(crate) use column::{Column, Nulls, Span};
pub(crate) use export::export;

use crate::errors::{Kind, no_memory, raise};
use crate::key::NoMemory;
use abi::{Array, Schema, Stream};
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

/// A problem with a column.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The type of the column cannot be a key.
    Type(String),
    /// The column contradicts itself.
    Broken(String),
    /// The memory for an assembled key cannot be allocated.
    NoMemory(NoMemory),
}

impl From<NoMemory> for Problem {
    fn from(lacking: NoMemory) -> Problem {
        Problem::NoMemory(lacking)
    }
}

impl Problem {
    pub(crate) fn broken<T>(what: impl Into<String>) -> Result<T, Problem> {
        Err(Problem::Broken(what.into()))
    }

    pub(crate) fn into_error(self, py: Python<'_>) -> PyErr {
        match self {
            Problem::Type(text) => raise(py, Kind::KeyType, &text),
            Problem::Broken(text) => {
                raise(py, Kind::Format, &format!("broken Arrow data: {text}; the fault is in the library that made it"))
            }
            Problem::NoMemory(NoMemory { bytes }) => no_memory(py, bytes),
        }
    }
}

/// Arrays of one type, one after the other.
pub(crate) struct Arrays {
    schema: Schema,
    rest: Rest,
}

enum Rest {
    One(Option<Array>),
    Stream(Stream),
}

/// A lock for moving structures out of capsules. Two threads may pass the same capsule, and a
/// free-threaded build has no other protection.
static TAKING: Mutex<()> = Mutex::new(());

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

impl Arrays {
    /// The arrays of an object that has the interface; `None` for other objects.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Arrays>> {
        let py = object.py();
        if let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_stream__"))? {
            return match method.call0() {
                Ok(capsule) => Arrays::of_stream(&capsule).map(Some),
                Err(error) => instead_of_stream(object, error).map(|()| None),
            };
        }
        let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? else { return Ok(None) };
        let pair = method.call0()?;
        let Ok((schema, array)) =
            pair.cast::<PyTuple>().map_err(PyErr::from).and_then(|pair| pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>())
        else {
            return Err(raise(py, Kind::KeyType, "__arrow_c_array__ did not return two capsules"));
        };
        let (schema, array) = (pointer(&schema, SCHEMA)?, pointer(&array, ARRAY)?);
        let taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: according to the interface, capsules with these names contain these structures.
        // Meanwhile, no other thread moves structures out of them.
        let (schema, array) = unsafe { (Schema::take(schema), Array::take(array)) };
        drop(taking);
        if schema.is_released() || array.is_released() {
            return Err(Problem::Broken("the array was released or given away before".to_owned()).into_error(py));
        }
        Ok(Some(Arrays { schema, rest: Rest::One(Some(array)) }))
    }

    fn of_stream(capsule: &Bound<'_, PyAny>) -> PyResult<Arrays> {
        let stream = pointer(capsule, STREAM)?;
        let taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: according to the interface, a capsule with this name contains this structure.
        // Meanwhile, no other thread moves the structure out of it.
        let mut stream = unsafe { Stream::take(stream) };
        drop(taking);
        let py = capsule.py();
        // The producer may wait for threads that need the interpreter.
        let schema = py.detach(|| stream.schema()).map_err(|problem| problem.into_error(py))?;
        Ok(Arrays { schema, rest: Rest::Stream(stream) })
    }

    /// The next array. The function must be called with the interpreter released, because the
    /// producer can need the interpreter.
    pub(crate) fn next(&mut self) -> Result<Option<Array>, Problem> {
        match &mut self.rest {
            Rest::One(array) => Ok(array.take()),
            Rest::Stream(stream) => stream.next(),
        }
    }

    /// Returns the column in one of these arrays.
    pub(crate) fn column<'a>(&'a self, array: &'a Array) -> Result<Column<'a>, Problem> {
        // SAFETY: the schema and the array come from the same producer, and are borrowed as long as
        // the column lives.
        unsafe { Column::read(&self.schema, array) }
    }
}

/// Decides what to do after the `__arrow_c_stream__` of a pandas object has failed. The method
/// fails without pyarrow, and for values that have no Arrow type, such as tuples and mixed values.
/// The items of a Series can still be keys, so they are read one by one. The items of a table are
/// the names of its columns, which nobody wants as keys, so a table is an error.
fn instead_of_stream(object: &Bound<'_, PyAny>, error: PyErr) -> PyResult<()> {
    let py = object.py();
    let cannot =
        error.is_instance_of::<PyImportError>(py) || error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyValueError>(py);
    let is_pandas =
        |kind: Bound<'_, PyAny>| kind.getattr(intern!(py, "__module__"))?.extract::<String>().map(|name| name.starts_with("pandas."));
    // In a subclass of a pandas class, one of the base classes is from pandas.
    if !cannot || !object.get_type().mro().iter().any(|kind| is_pandas(kind).unwrap_or(false)) {
        return Err(error);
    }
    if !object.hasattr(intern!(py, "columns"))? {
        return Ok(());
    }
    let own =
        raise(py, Kind::KeyType, "this table cannot be read as Arrow columns; install pyarrow, and give each column one type (astype)");
    own.set_cause(py, Some(error));
    Err(own)
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<*mut T> {
    let wrong = || {
        let message = format!("expected a capsule with the name {}", name.to_string_lossy());
        raise(capsule.py(), Kind::KeyType, &message)
    };
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| wrong())?;
    Ok(capsule.pointer_checked(Some(name)).map_err(|_| wrong())?.as_ptr().cast())
}
