//! One writer at a time: a filter file that is read, changed and replaced is locked from before it is read until after it is replaced.

use crate::failure::{Failure, warn};
use crate::output;
use crate::stop::{self, Shield};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use truebloom::FileError;
use truebloom::file::{Expected, Replacement, Unkept, check_target, open_regular};

/// What is said of a file in the place of a new one.
pub(crate) const EXISTS: &str = "exists already; add --force to overwrite it, or choose another name";

/// The right to replace a file: the file that was there at the beginning, locked, or the knowledge that there was none. Given back when dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: Option<File>,
}

impl Lock {
    /// Locks an existing file, and checks that it could be replaced. Signals are caught from now on, so that no temporary file is left. If another process holds it, that is an error, not a wait: how long it will take is not known.
    pub(crate) fn of(path: &Path) -> Result<Lock, Failure> {
        stop::watch();
        let file = locked(path, "is changing this filter")?;
        check_target(path).map_err(Failure::from)?;
        Ok(Lock { path: path.to_owned(), file: Some(file) })
    }

    /// The same for a file that a verb writes: it must not exist, or with `force` is locked to be replaced. What would fail at the end of a long run is reported at its beginning.
    pub(crate) fn of_output(path: &Path, force: bool) -> Result<Lock, Failure> {
        if !force && std::fs::symlink_metadata(path).is_ok() {
            return Err(Failure::at(path, EXISTS));
        }
        stop::watch();
        check_target(path).map_err(Failure::from)?;
        let file = if path.exists() { Some(locked(path, "is changing this filter")?) } else { None };
        Ok(Lock { path: path.to_owned(), file })
    }

    /// Replaces the file, or makes it, unless the name is no longer what it was when it was locked.
    pub(crate) fn save(&self, _: &Shield, write: impl FnOnce(&File) -> io::Result<()>) -> Result<(), Failure> {
        let (_, unkept) = replace(&self.path, self.file.as_ref(), write).map_err(Failure::from)?;
        output::now_written(&self.path);
        tell_unkept(&self.path, &unkept);
        Ok(())
    }
}

/// A file, locked; `busy` is what another process that holds it does.
pub(crate) fn locked(path: &Path, busy: &str) -> Result<File, Failure> {
    let fail = |error| Failure::new(format_args!("cannot read {}: {error}; check the path and its permissions", path.display()));
    loop {
        let file = open_regular(path).map_err(fail)?;
        try_lock(&file, path, busy)?;
        // The process that held the lock before may have replaced the file: then ours is of one that has no name any more.
        if is_at(&file, path).map_err(fail)? {
            return Ok(file);
        }
    }
}

fn try_lock(file: &File, path: &Path, busy: &str) -> Result<(), Failure> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(Failure::at(path, format_args!("another process {busy}; wait until it has finished, then try again{}", holder(file))))
        }
        // Some network file systems know no locks, and the name is checked again before it is replaced.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// The process that has locked this file, where the system knows it.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> String {
    use std::os::unix::fs::MetadataExt;
    let Ok(inode) = file.metadata().map(|data| data.ino()) else { return String::new() };
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
    let process = locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let same = fields.get(1) == Some(&"FLOCK") && fields.get(5)?.rsplit(':').next()?.parse() == Ok(inode);
        fields.get(4).filter(|_| same)?.parse::<u32>().ok()
    });
    process.map_or(String::new(), |process| format!(" (process {process})"))
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> String {
    String::new()
}

/// Replaces the file that was there, or makes one; the new file, still locked, and what it lacks of the old one.
pub(crate) fn replace(
    path: &Path,
    old: Option<&File>,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(File, Vec<Unkept>), FileError> {
    let replacement = Replacement::begin(path, old.map_or(Expected::Nothing, Expected::Only))?;
    write(replacement.file()).map_err(|cause| FileError::Write { path: path.to_owned(), cause })?;
    replacement.commit()
}

/// Says what the new file lacks of the old one.
pub(crate) fn tell_unkept(path: &Path, unkept: &[Unkept]) {
    unkept.iter().for_each(|unkept| warn(format_args!("{} was written, but {unkept}", path.display())));
}

/// Whether this file has that name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (ours, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

/// Elsewhere a file that is open is not replaced.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
