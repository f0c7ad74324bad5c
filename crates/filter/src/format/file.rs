//! Files: opened whole, and replaced whole or not at all.

use super::decode;
use crate::bloom::BloomFilter;
use crate::error::{FileError, ReadError};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

impl BloomFilter {
    /// Reads the filter in a file. Takes no more memory than the file is long.
    ///
    /// ```no_run
    /// use truebloom::BloomFilter;
    /// let seen = BloomFilter::open("seen.tbl")?;
    /// println!("{}", seen.contains("key"));
    /// # Ok::<(), truebloom::FileError>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<BloomFilter, FileError> {
        let path = path.as_ref();
        read_file(path).map_err(|error| match error {
            ReadError::Io(cause) => FileError::Read { path: path.to_owned(), cause },
            ReadError::Format(cause) => FileError::Format { path: path.to_owned(), cause },
        })
    }

    /// Writes the filter to a file, and replaces the one that is there, keeping its permissions.
    ///
    /// Whoever reads the path sees the old file or the new one, whole, also after a power cut: the bytes go to a temporary file beside it, to the disk, and
    /// only then under the name. A symbolic link is followed, and what it points to is replaced. Errors: there is something else than a file (a folder, a
    /// device, a pipe); it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = &replaceable(path.as_ref())?;
        let permissions = std::fs::metadata(path).ok().map(|old| old.permissions());
        self.save_by(path, |file, path| {
            permissions.map_or(Ok(()), |kept| file.as_file().set_permissions(kept))?;
            file.persist(path).map(drop).map_err(|error| error.error)
        })
    }

    /// [`save`](Self::save), but an error if there is anything under that name already.
    pub fn save_new(&self, path: impl AsRef<Path>) -> Result<(), FileError> {
        self.save_by(path.as_ref(), |file, path| file.persist_noclobber(path).map(drop).map_err(|error| error.error))
    }

    /// Whether a filter could be saved there now, so that a long run can fail at its start: the folder is there and can be written, and the name does not belong to
    /// something else than a file. Writes and removes an empty temporary file.
    pub fn check_target(path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = &replaceable(path.as_ref())?;
        temporary(folder_of(path)).map(drop).map_err(|cause| write_error(path, cause))
    }

    fn save_by(&self, path: &Path, name: impl FnOnce(NamedTempFile, &Path) -> io::Result<()>) -> Result<(), FileError> {
        let saved = write_beside(self, path).and_then(|file| name(file, path)).and_then(|()| sync_folder(path));
        saved.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists { path: path.to_owned() },
            _ => write_error(path, cause),
        })
    }
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

fn read_file(path: &Path) -> Result<BloomFilter, ReadError> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    // A pipe or a device has no length to check against.
    decode::read(file, metadata.is_file().then_some(metadata.len()))
}

/// A temporary file in the folder of `path` with the filter in it, on the disk. Removed if anything fails.
fn write_beside(filter: &BloomFilter, path: &Path) -> io::Result<NamedTempFile> {
    let file = temporary(folder_of(path))?;
    filter.write_to(file.as_file())?;
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
