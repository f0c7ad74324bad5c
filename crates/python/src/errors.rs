//! Exceptions: the classes of `truebloom/_errors.py`, with the messages and numbers of the
//! library's errors.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use truebloom::{BuildError, FileError, FormatError, MergeError};
use truebloom_math::Error;

/// The exception classes derived from `Error`.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Plan,
    Merge,
    Format,
    File,
    MissingFile,
    ForbiddenFile,
    ExistingFile,
    KeyType,
    KeyRange,
    ReadOnly,
    OutOfMemory,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Plan => "PlanError",
            Kind::Merge => "MergeError",
            Kind::Format => "FormatError",
            Kind::File => "FileError",
            Kind::MissingFile => "MissingFileError",
            Kind::ForbiddenFile => "ForbiddenFileError",
            Kind::ExistingFile => "ExistingFileError",
            Kind::KeyType => "KeyTypeError",
            Kind::KeyRange => "KeyRangeError",
            Kind::ReadOnly => "ReadOnlyError",
            Kind::OutOfMemory => "OutOfMemoryError",
        }
    }
}

/// An exception without attributes.
pub(crate) fn raise(py: Python<'_>, kind: Kind, message: &str) -> PyErr {
    raise_with(py, kind, message, |_| Ok(()))
}

/// An exception with attributes, which `fill` writes into a dictionary.
pub(crate) fn raise_with(py: Python<'_>, kind: Kind, message: &str, fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        fill(&attributes)?;
        let class = py.import("truebloom._errors")?.getattr(kind.name())?;
        let exception = class.call1((message,))?;
        for (name, value) in &attributes {
            exception.setattr(name.cast_into::<pyo3::types::PyString>()?, value)?;
        }
        Ok(PyErr::from_value(exception))
    };
    // If making the exception fails, the error of this failure is raised instead.
    make().unwrap_or_else(|other| other)
}

pub(crate) fn math_error(py: Python<'_>, error: &Error) -> PyErr {
    raise_with(py, Kind::Plan, &error.to_string(), |attributes| match error {
        Error::OutOfRange { name, found, expected } => {
            attributes.set_item("name", name)?;
            attributes.set_item("found", found)?;
            attributes.set_item("expected", expected)
        }
        _ => Ok(()),
    })
}

/// The exception for memory of this many bytes that cannot be allocated.
pub(crate) fn no_memory(py: Python<'_>, bytes: u64) -> PyErr {
    build_error(py, &BuildError::Memory { bytes })
}

pub(crate) fn build_error(py: Python<'_>, error: &BuildError) -> PyErr {
    match error {
        BuildError::Math(error) => math_error(py, error),
        BuildError::Memory { bytes } => {
            raise_with(py, Kind::OutOfMemory, &error.to_string(), |attributes| attributes.set_item("bytes", bytes))
        }
        BuildError::Counters { bytes } => {
            raise_with(py, Kind::OutOfMemory, &error.to_string(), |attributes| attributes.set_item("bytes", bytes))
        }
        BuildError::Policy { field, found, .. } => raise_with(py, Kind::Plan, &error.to_string(), |attributes| {
            attributes.set_item("name", field)?;
            attributes.set_item("found", found)
        }),
        _ => raise(py, Kind::Plan, &error.to_string()),
    }
}

pub(crate) fn merge_error(py: Python<'_>, error: &MergeError) -> PyErr {
    raise_with(py, Kind::Merge, &error.to_string(), |attributes| {
        let differ = |field: &str| attributes.set_item("field", field);
        match error {
            MergeError::Bits { .. } => differ("bits")?,
            MergeError::Probes { .. } => differ("probes")?,
            MergeError::Shape { name, .. } => differ(name)?,
            MergeError::Scheme { .. } => differ("scheme")?,
            MergeError::Hasher { .. } => differ("hasher")?,
            MergeError::Seed => differ("seed")?,
            _ => {}
        }
        match error {
            MergeError::Bits { ours, theirs } | MergeError::Shape { ours, theirs, .. } => {
                attributes.set_item("ours", ours)?;
                attributes.set_item("theirs", theirs)
            }
            MergeError::Probes { ours, theirs } => {
                attributes.set_item("ours", ours)?;
                attributes.set_item("theirs", theirs)
            }
            MergeError::Scheme { ours, theirs } => {
                attributes.set_item("ours", ours)?;
                attributes.set_item("theirs", theirs)
            }
            _ => Ok(()),
        }
    })
}

/// Names the functions of this package that open a file of this kind.
fn opened_by(kind: truebloom::FileKind) -> &'static str {
    use truebloom::FileKind;
    match kind {
        FileKind::Bloom | FileKind::Blocked => "truebloom.BloomFilter.open or from_bytes",
        FileKind::Scalable => "truebloom.ScalableFilter.open or from_bytes",
        FileKind::RecyclingOnePhase | FileKind::RecyclingTwoPhase | FileKind::RecyclingBlocked => {
            "truebloom.RecyclingFilter.open or from_bytes"
        }
        FileKind::CountMin => "truebloom.CountMin or truebloom.HeavyHitters",
        _ => "the command `truebloom`",
    }
}

fn format_text(error: &FormatError) -> String {
    match error {
        FormatError::Kind { found } => format!("this is {found}; open it with {}", opened_by(*found)),
        FormatError::Scheme { expected, found } => format!("the filter has the {found} scheme, but the {expected} scheme is required"),
        FormatError::Unfinished => "another program is updating the filter, or ended during an update; see `truebloom doctor`".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) fn format_error(py: Python<'_>, error: &FormatError) -> PyErr {
    if let FormatError::Memory { bytes } = error {
        return raise_with(py, Kind::OutOfMemory, &error.to_string(), |attributes| attributes.set_item("bytes", bytes));
    }
    raise(py, Kind::Format, &format_text(error))
}

/// The message of an operating system error, without the error number, which is in `errno`.
fn in_words(cause: &io::Error) -> String {
    let text = cause.to_string();
    text.rsplit_once(" (os error ").map_or(text.clone(), |(words, _)| words.to_owned())
}

pub(crate) fn file_error(py: Python<'_>, error: &FileError) -> PyErr {
    let system = |cause: &io::Error| match cause.kind() {
        io::ErrorKind::NotFound => Kind::MissingFile,
        io::ErrorKind::PermissionDenied => Kind::ForbiddenFile,
        io::ErrorKind::AlreadyExists => Kind::ExistingFile,
        _ => Kind::File,
    };
    let mut text = error.to_string();
    let (kind, path, code) = match error {
        FileError::Format { path, cause } => {
            let message = format!("{}: {}", path.display(), format_text(cause));
            return raise_with(py, Kind::Format, &message, |attributes| attributes.set_item("filename", path));
        }
        FileError::Read { path, cause } | FileError::Write { path, cause } => {
            text = format!("{text}: {}", in_words(cause));
            (system(cause), path, cause.raw_os_error())
        }
        FileError::ReadOnly { path } => (Kind::ForbiddenFile, path, None),
        FileError::Exists { path } => (Kind::ExistingFile, path, None),
        FileError::InUse { path } | FileError::NotAFile { path } | FileError::Dangling { path } | FileError::Replaced { path } => {
            (Kind::File, path, None)
        }
        _ => return raise(py, Kind::File, &text),
    };
    raise_with(py, kind, &text, |attributes| {
        attributes.set_item("filename", path)?;
        attributes.set_item("errno", code)
    })
}
