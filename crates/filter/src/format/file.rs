//! Files: opened whole, and replaced whole or not at all.

use super::{Stored, read_from, write_to};
use crate::error::{FileError, ReadError};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Reads the value in a file. Takes no more memory than the file is long.
pub(crate) fn open<T: Stored>(path: &Path) -> Result<T, FileError> {
    read_file(path).map_err(|error| match error {
        ReadError::Io(cause) => FileError::Read { path: path.to_owned(), cause },
        ReadError::Format(cause) => FileError::Format { path: path.to_owned(), cause },
    })
}

/// Writes the value to a file, and replaces the one that is there, keeping its permissions; a link is followed.
pub(crate) fn save<T: Stored>(value: &T, path: &Path) -> Result<(), FileError> {
    let path = &replaceable(path)?;
    let permissions = std::fs::metadata(path).ok().map(|old| old.permissions());
    save_by(value, path, |file, path| {
        permissions.map_or(Ok(()), |kept| file.as_file().set_permissions(kept))?;
        file.persist(path).map(drop).map_err(|error| error.error)
    })
}

/// [`save`], but an error if there is anything under that name already.
pub(crate) fn save_new<T: Stored>(value: &T, path: &Path) -> Result<(), FileError> {
    save_by(value, path, |file, path| file.persist_noclobber(path).map(drop).map_err(|error| error.error))
}

/// Whether a value could be saved there now.
pub(crate) fn check_target(path: &Path) -> Result<(), FileError> {
    let path = &replaceable(path)?;
    temporary(folder_of(path)).map(drop).map_err(|cause| write_error(path, cause))
}

fn save_by<T: Stored>(value: &T, path: &Path, name: impl FnOnce(NamedTempFile, &Path) -> io::Result<()>) -> Result<(), FileError> {
    let saved = write_beside(value, path).and_then(|file| name(file, path)).and_then(|()| sync_folder(path));
    saved.map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => FileError::Exists { path: path.to_owned() },
        _ => write_error(path, cause),
    })
}

/// Where a link leads, and nothing that is not a file.
fn replaceable(path: &Path) -> Result<PathBuf, FileError> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return Ok(path.to_owned()) };
    let path = if metadata.is_symlink() { std::fs::canonicalize(path).map_err(|cause| write_error(path, cause))? } else { path.to_owned() };
    match std::fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => Err(FileError::NotAFile { path }),
        _ => Ok(path),
    }
}

/// Without what a temporary file adds, its name.
fn write_error(path: &Path, cause: io::Error) -> FileError {
    let cause = if cause.raw_os_error().is_none() { cause.kind().into() } else { cause };
    FileError::Write { path: path.to_owned(), cause }
}

fn read_file<T: Stored>(path: &Path) -> Result<T, ReadError> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    // A pipe or a device has no length to check against.
    read_from(file, metadata.is_file().then_some(metadata.len()))
}

/// A temporary file in the folder of `path` with the value in it, on the disk. Removed if anything fails.
fn write_beside<T: Stored>(value: &T, path: &Path) -> io::Result<NamedTempFile> {
    let file = temporary(folder_of(path))?;
    write_to(value, file.as_file())?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// With the permissions that a new file has, not the owner's alone as temporary files do.
#[cfg(unix)]
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = std::fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".truebloom-").permissions(permissions).tempfile_in(folder)
}

#[cfg(not(unix))]
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".truebloom-").tempfile_in(folder)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The new name is on the disk only once its folder is.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
