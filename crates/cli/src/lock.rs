//! One writer at a time: a filter file that is read, changed and replaced stays locked from before
//! it is read until after it is replaced.

use crate::failure::{Failure, Shown, for_shell, warn};
use crate::output;
use crate::stop::{self, Shield};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use truebloom::file::{Expected, Replacement, Unkept, check_target, open_regular};
use truebloom::{FileError, FileHeader, FormatError};

/// The message if a file exists where a new one should be written.
pub(crate) const EXISTS: &str = "the file exists already; add --force to overwrite it, or choose another name";

/// The message for a file that this command has not written.
const FOREIGN: &str = "this is not a truebloom file, and --force replaces only truebloom files; choose another name, or remove the file if it is not needed (were the arguments swapped?)";

/// The message for a file that this command has not written, if --force is not given.
const FOREIGN_EXISTS: &str = "the file exists already, and is not a truebloom file; choose another name (were the arguments swapped?)";

/// The message for a file that another process created after this command began with --force.
const CREATED_MEANWHILE: &str = "another process created this file during this run, so it was not replaced; run the command again";

/// The right to replace a file. A `Lock` holds the locked file that existed at the beginning, or
/// records that there was none. Dropping this value releases the lock.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: Option<File>,
    /// Whether --force was given.
    is_forced: bool,
}

impl Lock {
    /// Locks an existing file, and checks that it can be replaced. After this call, signals no
    /// longer end the process at once, so that no temporary file is left behind. If another process
    /// holds the lock, this returns an error instead of waiting, because it is not known how long
    /// that would take.
    pub(crate) fn of(path: &Path) -> Result<Lock, Failure> {
        stop::watch();
        check_no_stream(path)?;
        let file = locked(path, "is changing this filter")?;
        check_target(path).map_err(Failure::from)?;
        Ok(Lock { path: path.to_owned(), file: Some(file), is_forced: false })
    }

    /// Locks a file that a subcommand writes: the file must not exist, or, with `force`, it must be
    /// one that this program has written. Problems that would occur at the end of a long run are
    /// reported at its beginning.
    pub(crate) fn of_output(path: &Path, force: bool) -> Result<Lock, Failure> {
        check_name(path)?;
        check_no_stream(path)?;
        if !force && std::fs::symlink_metadata(path).is_ok() {
            return Err(taken(path, |file| begins_as_ours(file).unwrap_or(true)));
        }
        stop::watch();
        check_target(path).map_err(Failure::from)?;
        // Without --force, the name is not looked up again: a file that another process creates
        // from now on is not replaced, and saving fails.
        if !force || !path.exists() {
            return Ok(Lock { path: path.to_owned(), file: None, is_forced: force });
        }
        let file = locked(path, "is changing this filter")?;
        if !begins_as_ours(&file).map_err(|error| Failure::at(path, error))? {
            return Err(Failure::at(path, FOREIGN));
        }
        Ok(Lock { path: path.to_owned(), file: Some(file), is_forced: force })
    }

    /// Whether an existing file will be replaced.
    pub(crate) fn replaces(&self) -> bool {
        self.file.is_some()
    }

    /// Replaces or creates the file; fails if the name now refers to a file other than the locked
    /// one.
    pub(crate) fn save(&self, _: &Shield, write: impl FnOnce(&File) -> io::Result<()>) -> Result<(), Failure> {
        let (_, unkept) = replace(&self.path, self.file.as_ref(), write).map_err(|error| match error {
            FileError::Exists { path } if self.is_forced => Failure::at(&path, CREATED_MEANWHILE),
            FileError::Exists { path } => Failure::at(&path, EXISTS),
            error => error.into(),
        })?;
        output::now_written(&self.path);
        tell_unkept(&self.path, &unkept);
        Ok(())
    }
}

/// The error that says why no new file can be written under this name. The message suggests --force
/// only if that would work.
pub(crate) fn taken(path: &Path, is_ours: impl FnOnce(&File) -> bool) -> Failure {
    match check_target(path) {
        Err(error @ (FileError::NotAFile { .. } | FileError::Dangling { .. } | FileError::ReadOnly { .. })) => error.into(),
        _ => {
            let foreign = open_regular(path).is_ok_and(|file| !is_ours(&file));
            Failure::at(path, if foreign { FOREIGN_EXISTS } else { EXISTS })
        }
    }
}

/// Returns an error for a name that no file can have, and for one in a folder that does not exist.
pub(crate) fn check_name(path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::new("a file is needed here, but `-` means standard output; name a file, or write ./- for a file named -"));
    }
    if path.as_os_str().as_encoded_bytes().last().is_some_and(|last| std::path::is_separator(char::from(*last))) {
        return Err(Failure::at(path, "this name ends with a slash, so it can only be the name of a folder; name a file"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| !folder.exists()) {
        Some(folder) => Err(Failure::at(
            path,
            format_args!("the folder {} does not exist; make it with `mkdir -p {}`", folder.shown(), for_shell(folder)),
        )),
        None => Ok(()),
    }
}

/// Returns an error for a file to which the output or the messages of this run go, because these
/// would be lost if the file were replaced.
pub(crate) fn check_no_stream(path: &Path) -> Result<(), Failure> {
    match output::stream_to(path) {
        Some(stream) => Err(Failure::at(path, format_args!("{stream} goes to this file, so it cannot be replaced; name another file"))),
        None => Ok(()),
    }
}

/// Whether the file contains only data of this program, so that it can be replaced. This is the
/// case if the file is empty, or begins like a truebloom file.
fn begins_as_ours(mut file: &File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.by_ref().take(FileHeader::BYTES).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(!matches!(FileHeader::from_bytes(&start), Err(FormatError::NotAFilter { .. } | FormatError::TextMode { .. })))
}

/// Returns an error if the file is not empty and does not begin with these bytes. `what` is the
/// beginning of the error message.
pub(crate) fn check_begins(path: &Path, with: &[u8], what: &str) -> Result<(), Failure> {
    let Ok(file) = open_regular(path) else { return Ok(()) };
    let mut start = Vec::new();
    file.take(with.len() as u64).read_to_end(&mut start).map_err(|error| Failure::at(path, error))?;
    if start.is_empty() || start == with {
        return Ok(());
    }
    Err(Failure::at(
        path,
        format_args!("{what}, and only certificates are replaced; choose another name, or remove the file if it is not needed"),
    ))
}

/// Locks a file. If another process holds the lock, the error says what that process is doing, in
/// the words of `busy`.
pub(crate) fn locked(path: &Path, busy: &str) -> Result<File, Failure> {
    let fail = |cause| Failure::from(FileError::Read { path: path.to_owned(), cause });
    loop {
        let file = open_regular(path).map_err(fail)?;
        try_lock(&file, path, busy)?;
        // The process that held the lock before may have replaced the file. Then the locked file no
        // longer has a name.
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
        // Some network file systems do not support locks. The name is checked again before the file
        // is replaced.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// The process that has locked this file, if the system can tell.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> String {
    use std::os::unix::fs::MetadataExt;
    let Ok(data) = file.metadata() else { return String::new() };
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    holder_among(&locks, data.dev(), data.ino()).map_or(String::new(), |process| format!(" (process {process})"))
}

/// The process that has locked the file with this device and inode, from lines such as
/// `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`.
#[cfg(target_os = "linux")]
fn holder_among(locks: &str, device: u64, inode: u64) -> Option<u32> {
    let (major, minor) = (device >> 32 & 0xffff_f000 | device >> 8 & 0xfff, device >> 12 & 0xffff_ff00 | device & 0xff);
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let mut file = fields.get(5)?.split(':');
        let mut hex = || u64::from_str_radix(file.next()?, 16).ok();
        let (its_major, its_minor) = (hex()?, hex()?);
        // On file systems without their own device, files report another device number than the
        // file system.
        let same_device = its_major == major && (its_minor == minor || major == 0);
        let same = fields.get(1) == Some(&"FLOCK") && same_device && file.next()?.parse() == Ok(inode);
        fields.get(4).filter(|_| same)?.parse().ok()
    })
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> String {
    String::new()
}

/// Replaces the existing file, or creates one. Returns the new file, still locked, and the
/// properties of the old one that it could not take over.
pub(crate) fn replace(
    path: &Path,
    old: Option<&File>,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(File, Vec<Unkept>), FileError> {
    let replacement = Replacement::begin(path, old.map_or(Expected::Nothing, Expected::Only))?;
    write(replacement.file()).map_err(|cause| FileError::Write { path: path.to_owned(), cause })?;
    replacement.commit_locked()
}

/// Reports the properties of the old file that the new one could not take over.
pub(crate) fn tell_unkept(path: &Path, unkept: &[Unkept]) {
    unkept.iter().for_each(|unkept| warn(format_args!("{} was written, but {unkept}", path.shown())));
}

/// Whether two names lead to the same file. The file need not exist yet.
pub(crate) fn is_same_place(one: &Path, other: &Path) -> bool {
    let same = |one: Option<PathBuf>, other: Option<PathBuf>| one.is_some() && one == other;
    same(place(one), place(other)) || crate::inputs::same_file(one, &[other.to_owned()]).is_some()
}

/// The path to which a name leads, even if the file does not exist yet.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    path.canonicalize().ok().or_else(|| Some(folder.canonicalize().ok()?.join(path.file_name()?)))
}

/// Whether this path leads to the opened file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (ours, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

/// On systems other than Unix, an open file cannot be replaced.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Tests that a file which appears while the name is checked is never taken for the old one.
    #[test]
    fn a_file_that_appears_is_not_replaced_without_force() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, ends) = (folder.path().join("new"), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    File::create(&path).and_then(|_| std::fs::remove_file(&path)).expect("a file");
                }
            });
            let replaced = (0..4_000).any(|_| Lock::of_output(&path, false).is_ok_and(|lock| lock.replaces()));
            ends.store(true, Ordering::Relaxed);
            assert!(!replaced);
        });
    }

    #[test]
    fn a_lock_is_of_a_device_and_an_inode() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 08:01:5678 0 EOF\n2: FLOCK  ADVISORY  WRITE 11 08:11:5678 0 EOF\n3: FLOCK  ADVISORY  WRITE 12 08:01:5678 0 EOF\n\
            4: -> FLOCK  ADVISORY  WRITE 13 fe:00:9 0 EOF\n5: FLOCK  ADVISORY  WRITE 14 00:2a:77 0 EOF\n";
        assert_eq!(holder_among(locks, 0x801, 5678), Some(12));
        assert_eq!(holder_among(locks, 0x811, 5678), Some(11));
        assert_eq!(holder_among(locks, 0x802, 5678), None);
        assert_eq!(holder_among(locks, 0x31, 77), Some(14));
        assert_eq!(holder_among("garbage\n1: FLOCK x y z", 0x801, 5678), None);
    }
}
