//! Errors of reading from streams.

use super::FormatError;
use core::fmt;
use std::io;

/// The error for a filter that cannot be read from a stream. The message of [`Io`](Self::Io) does
/// not include the underlying error of the stream. To get the underlying error, call
/// [`source`](std::error::Error::source).
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// Reading the stream failed.
    Io(io::Error),
    /// The bytes of the stream cannot be opened as this type.
    Format(FormatError),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(_) => f.write_str("cannot read the filter; check its source"),
            ReadError::Format(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            ReadError::Io(error) => Some(error),
            ReadError::Format(error) => error.source(),
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Io(error)
    }
}

impl From<FormatError> for ReadError {
    fn from(error: FormatError) -> ReadError {
        ReadError::Format(error)
    }
}
