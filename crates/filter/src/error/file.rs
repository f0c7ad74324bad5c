//! What can go wrong with a file.

use super::FormatError;
use core::fmt;
use std::io;
use std::path::PathBuf;

/// Why a file cannot be opened or saved. A message does not repeat its cause, which is its
/// [`source`](std::error::Error::source).
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It can be read, but is not a filter.
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: FormatError,
    },
    /// Another program updates it.
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be written. A file that was to be replaced is untouched; of one that is updated in
    /// its place, it is not known what is on the disk.
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// There is something other than a file under that name.
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A symbolic link under that name leads to no file.
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// The file may not be written.
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file was removed, or another one took its name, after it was opened. What is there now
    /// is untouched; what was written to the file that was opened is lost with it.
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// It exists already and was not to be overwritten.
    Exists {
        /// The file.
        path: PathBuf,
    },
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Read { path, .. } => write!(f, "cannot read {}; check the path and its permissions", path.display()),
            FileError::Format { path, .. } => write!(f, "cannot open the filter in {}", path.display()),
            FileError::InUse { path } => write!(f, "{} is being updated by another program; wait until that is done", path.display()),
            FileError::Write { path, .. } => {
                write!(f, "cannot write {}; check the folder, its permissions and its free space", path.display())
            }
            FileError::NotAFile { path } => write!(f, "{} is not a regular file; choose another name", path.display()),
            FileError::Dangling { path } => {
                write!(f, "{} is a symbolic link to a file that is not there; remove the link, or choose another name", path.display())
            }
            FileError::ReadOnly { path } => {
                write!(f, "{} is write-protected; `chmod u+w` it first, or choose another name", path.display())
            }
            FileError::Replaced { path } => write!(
                f,
                "{} was removed or replaced by another program in the meantime, and what is there now was not written to; open it again and repeat what was done",
                path.display()
            ),
            FileError::Exists { path } => write!(f, "{} exists already; choose another name or overwrite it", path.display()),
        }
    }
}

impl core::error::Error for FileError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            FileError::Read { cause, .. } | FileError::Write { cause, .. } => Some(cause),
            FileError::Format { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
