//! Errors of files.

use super::FormatError;
use core::fmt;
use std::io;
use std::path::PathBuf;

/// The error for a file that cannot be opened or saved. The message of this error does not include
/// the underlying error, such as an error of the operating system. To print both, follow
/// [`source`](std::error::Error::source):
///
/// ```
/// use std::error::Error;
/// use truebloom::BloomFilter;
///
/// if let Err(error) = BloomFilter::open("missing.tbl") {
///     eprint!("{error}");
///     let mut cause = error.source();
///     while let Some(reason) = cause {
///         eprint!(": {reason}");
///         cause = reason.source();
///     }
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// The file can be read, but its bytes cannot be opened as this type.
    Format {
        /// The file.
        path: PathBuf,
        /// The reason why the bytes cannot be opened.
        cause: FormatError,
    },
    /// Another program is updating the file.
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written. If the program was replacing the file, the old file is
    /// unchanged, except in two rare cases, which [`commit`](crate::file::Replacement::commit)
    /// describes. If the program was updating the file in place, the disk may hold all, some or
    /// none of the changes.
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// Something other than a regular file is at the path.
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A symbolic link at the path leads to a file that does not exist.
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// The file is read-only.
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The path no longer leads to the file that this program opened. The opened file was moved or
    /// removed, or another file has its name. Other programs that open the path do not see the
    /// changes that this program made. If another file now has this name, that file is unchanged.
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// The file exists already, and the caller did not allow overwriting it.
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
            FileError::InUse { path } => write!(f, "{} is being updated by another program; wait until that has finished", path.display()),
            FileError::Write { path, .. } => {
                write!(f, "cannot write {}; check the folder, its permissions and its free space", path.display())
            }
            FileError::NotAFile { path } => write!(f, "{} is not a regular file; choose another name", path.display()),
            FileError::Dangling { path } => {
                write!(f, "{} is a symbolic link to a file that does not exist; remove the link, or choose another name", path.display())
            }
            FileError::ReadOnly { path } => {
                write!(f, "{} is write-protected; `chmod u+w` it first, or choose another name", path.display())
            }
            FileError::Replaced { path } => write!(
                f,
                "{} was removed or replaced by another program in the meantime, and the new file was left unchanged; open it again and repeat the changes",
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
