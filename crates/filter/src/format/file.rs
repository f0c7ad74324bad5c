//! Files: opening them, and replacing them atomically.

use super::{Stored, Written, read_from, write_to};
use crate::disk::{Expected, Replacement, open_regular};
use crate::error::{FileError, ReadError};
use alloc::borrow::ToOwned;
use std::path::Path;

/// Reads the value in a file.
pub(crate) fn open<T: Stored>(path: &Path) -> Result<T, FileError> {
    read_file(path).map_err(|error| match error {
        ReadError::Io(cause) => FileError::Read { path: path.to_owned(), cause },
        ReadError::Format(cause) => FileError::Format { path: path.to_owned(), cause },
    })
}

/// Writes the value to a file and replaces an existing one.
pub(crate) fn save<T: Written>(value: &T, path: &Path) -> Result<(), FileError> {
    save_as(value, path, Expected::Anything)
}

/// Like [`save`], but returns an error if anything exists at `path`.
pub(crate) fn save_new<T: Written>(value: &T, path: &Path) -> Result<(), FileError> {
    save_as(value, path, Expected::Nothing)
}

fn save_as<T: Written>(value: &T, path: &Path, expected: Expected<'_>) -> Result<(), FileError> {
    let replacement = Replacement::begin(path, expected)?;
    write_to(value, replacement.file()).map_err(|cause| FileError::Write { path: path.to_owned(), cause })?;
    replacement.commit().map(drop)
}

fn read_file<T: Stored>(path: &Path) -> Result<T, ReadError> {
    let file = open_regular(path)?;
    let metadata = file.metadata()?;
    // For a folder, no length is passed; reading it fails.
    read_from(file, metadata.is_file().then_some(metadata.len()))
}
