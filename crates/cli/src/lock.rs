//! One writer at a time: a filter file that is read, changed and replaced is locked from before it is read until after it is replaced.

use crate::failure::Failure;
use fs4::{FileExt, TryLockError};
use std::fs::File;
use std::path::Path;

/// Held while a file is changed; given back when dropped.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Locks an existing file. Whoever else holds it is an error, not a wait: how long it will take is not known.
    pub(crate) fn of(path: &Path) -> Result<Lock, Failure> {
        let fail = |error| Failure::new(format_args!("cannot read {}: {error}; check the path and its permissions", path.display()));
        loop {
            let file = File::open(path).map_err(fail)?;
            match FileExt::try_lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Failure::at(path, "another process is changing this filter; wait until it has finished, then try again"));
                }
                // Some network file systems know no locks; nobody would be served by not writing to them.
                Err(TryLockError::Error(_)) => return Ok(Lock { _file: file }),
            }
            // Whoever held the lock before may have replaced the file: then ours is of one that has no name any more.
            if is_at(&file, path).map_err(fail)? {
                return Ok(Lock { _file: file });
            }
        }
    }

    /// Locks a file if there is one, to overwrite it.
    pub(crate) fn of_existing(path: &Path) -> Result<Option<Lock>, Failure> {
        let is_file = std::fs::metadata(path).is_ok_and(|data| data.is_file());
        if is_file { Lock::of(path).map(Some) } else { Ok(None) }
    }
}

/// Whether this file has that name.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (ours, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

/// Elsewhere a file that is open is not replaced.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(true)
}
