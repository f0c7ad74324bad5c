//! Files on disk: replacing them atomically, opening them and mapping them.

use crate::error::FileError;
use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::fmt;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Names of temporary files consist of this prefix, twelve random letters and digits, and
/// [`SUFFIX`].
const PREFIX: &str = ".truebloom-";
const SUFFIX: &str = ".tmp";
const RANDOM: usize = 12;

/// Which file a [`Replacement`] may replace. If the path leads to another file, the [`Replacement`]
/// returns an error.
#[derive(Clone, Copy, Debug)]
pub enum Expected<'a> {
    /// Any file. There may also be no file at the path.
    Anything,
    /// No file. Nothing may exist at the path.
    Nothing,
    /// Only this open [`File`]. Use this variant if the new contents are computed from the old
    /// contents.
    Only(&'a File),
}

/// A property of the old file that the new file does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unkept {
    /// The new file has another owner. The owners are given as numbers.
    Owner {
        /// The owner of the old file.
        was: u32,
        /// The owner of the new file.
        is: u32,
    },
    /// The new file belongs to a different group than the old one. The groups are given as numbers.
    /// The new group gets a permission of the old group only if all other users have that
    /// permission, too.
    Group {
        /// The group of the old file.
        was: u32,
        /// The group of the new file.
        is: u32,
    },
    /// The old file has other names (hard links). These names still lead to the old contents.
    Links {
        /// The number of other names (hard links) that the old file has.
        others: u64,
    },
}

impl fmt::Display for Unkept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unkept::Owner { was, is } => {
                write!(f, "its owner was {was} and is now {is}; only root can keep the owner of another user's file")
            }
            Unkept::Group { was, is } => write!(f, "its group was {was} and is now {is}, with no more permissions than other users have"),
            Unkept::Links { others: 1 } => write!(f, "another name of the old file (a hard link) still has the old contents"),
            Unkept::Links { others } => write!(f, "{others} other names of the old file (hard links) still have the old contents"),
        }
    }
}

/// A new file with a temporary name. [`commit`](Self::commit) gives the new file its final name. If
/// the `Replacement` is dropped without a commit, the new file is removed.
#[derive(Debug)]
pub struct Replacement {
    /// The path as it was given.
    name: PathBuf,
    /// The path after following links.
    path: PathBuf,
    expected: Identity,
    file: NamedTempFile,
    unkept: Vec<Unkept>,
}

/// Like [`Expected`], but without borrowing the file.
#[derive(Debug)]
enum Identity {
    Anything,
    Nothing,
    /// The file is kept open, so that no other file gets its inode number.
    Only(File),
}

impl Replacement {
    /// Creates an empty temporary file in the folder of `path`. If there is a file at `path`, the
    /// temporary file gets the owner, the group and the permissions of that file, as far as the
    /// system allows. Otherwise, the temporary file gets the usual owner, group and permissions.
    ///
    /// # Errors
    /// Returns an error if `expected` does not allow replacing the file at `path`. Also returns an
    /// error if this file is read-only or not a regular file, or if the folder cannot be written.
    pub fn begin(path: impl AsRef<Path>, expected: Expected<'_>) -> Result<Replacement, FileError> {
        let name = path.as_ref();
        let failed = |cause| write_error(name, cause);
        if matches!(expected, Expected::Nothing) && std::fs::symlink_metadata(name).is_ok() {
            return Err(FileError::Exists { path: name.to_owned() });
        }
        let path = resolve(name)?;
        let expected = match expected {
            Expected::Anything => Identity::Anything,
            Expected::Nothing => Identity::Nothing,
            Expected::Only(file) => Identity::Only(file.try_clone().map_err(failed)?),
        };
        let old = old(&path).map_err(failed)?;
        if let Some(old) = &old {
            check_writable(name, &path, old)?;
        }
        let file = temporary(folder_of(&path), old.is_none()).map_err(failed)?;
        let unkept = match &old {
            Some(old) => keep(file.as_file(), old).map_err(failed)?,
            None => Vec::new(),
        };
        let replacement = Replacement { name: name.to_owned(), path, expected, file, unkept };
        replacement.check_expected().map(|()| replacement)
    }

    /// The new file, into which the caller writes the contents. The file is locked against other
    /// processes.
    #[must_use]
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Flushes the new file to the disk, gives it its final name, and unlocks it. Returns the
    /// properties of the old file that the new file does not have.
    ///
    /// # Errors
    /// Returns an error if the new file cannot be written or renamed, or if `expected` does not
    /// allow replacing the file that is now at the path. In these cases, the old file is unchanged.
    ///
    /// There are two rare errors after the rename. First, the system may be unable to confirm that
    /// the new name is on the disk. The new file then has its final name, but can be lost in a
    /// power cut. Second, another program may replace the file during this call. In this case, the
    /// file of the other program may be left under a temporary name. The cause of the error
    /// contains this name.
    pub fn commit(self) -> Result<Vec<Unkept>, FileError> {
        let (file, unkept) = self.commit_locked()?;
        // Closing the file would not always unlock it. If another thread is starting a child
        // process at this moment, the child also has the file open, and would keep the lock for a
        // short time.
        let _ = file.unlock();
        Ok(unkept)
    }

    /// Like [`commit`](Self::commit), but returns the new file, still locked against other
    /// processes.
    ///
    /// # Errors
    /// Returns the same errors as [`commit`](Self::commit).
    pub fn commit_locked(self) -> Result<(File, Vec<Unkept>), FileError> {
        self.file.as_file().sync_all().map_err(|cause| write_error(&self.name, cause))?;
        let Replacement { name, path, expected, file, unkept } = self;
        let failed = |cause| write_error(&name, cause);
        // The folder is opened before anything is changed, because opening fails for folders that
        // can be written but not read.
        let folder = folder_to_sync(&path).map_err(failed)?;
        let file = match expected {
            Identity::Anything => file.persist(&path).map_err(|error| failed(error.error))?,
            Identity::Nothing => file.persist_noclobber(&path).map_err(|error| match error.error.kind() {
                io::ErrorKind::AlreadyExists => FileError::Exists { path: name.clone() },
                _ => failed(error.error),
            })?,
            Identity::Only(old) => {
                let old = old.metadata().map_err(failed)?;
                take_name_of(&old, file, &path).map_err(failed)?.ok_or_else(|| FileError::Replaced { path: name.clone() })?
            }
        };
        folder.sync_all().map_err(failed)?;
        Ok((file, unkept))
    }

    fn check_expected(&self) -> Result<(), FileError> {
        let replaced = || FileError::Replaced { path: self.name.clone() };
        let Identity::Only(expected) = &self.expected else { return Ok(()) };
        let expected = expected.metadata().map_err(|cause| write_error(&self.name, cause))?;
        let there = std::fs::metadata(&self.path).map_err(|_| replaced())?;
        if is_same(&expected, &there) { Ok(()) } else { Err(replaced()) }
    }
}

/// Gives the new file the name of the old one. Returns `None` if this name no longer leads to the
/// old file. In that case, the file that has the name now keeps it.
fn take_name_of(old: &Metadata, new: NamedTempFile, path: &Path) -> io::Result<Option<File>> {
    let is_old = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|there| is_same(old, &there));
    match exchange(new.path(), path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // The system or the file system does not support exchanging names.
        Err(_) if is_old(path) => return new.persist(path).map(Some).map_err(|error| error.error),
        Err(_) => return Ok(None),
    }
    if is_old(new.path()) {
        // The old file now has the temporary name, and is removed with it.
        return Ok(Some(new.into_parts().0));
    }
    if let Err(error) = exchange(new.path(), path) {
        // Another program's file now has the temporary name, and must not be removed.
        let kept = new.keep().map_or_else(|error| error.file.path().to_owned(), |(_, kept)| kept);
        let problem = format!(
            "another program replaced the file at the same time, and its file could not be moved back ({error}); it is now {}",
            kept.display()
        );
        return Err(io::Error::other(problem));
    }
    if !is_at(new.as_file(), new.path())? {
        // In the meantime, another program has replaced our file, and the exchange above gave that
        // program's file our temporary name. That file is the newest, so it gets its name back.
        exchange(new.path(), path)?;
    }
    Ok(None)
}

/// Checks whether a program can write a file at `path` now. Call this function before a long run.
///
/// The check also removes temporary files of this crate that were left in the folder when a process
/// was killed. The check recognizes these files by their names. A file is removed only if the
/// current user owns it and no process has locked it.
///
/// # Errors
/// Returns the same errors as [`Replacement::begin`].
pub fn check_target(path: impl AsRef<Path>) -> Result<(), FileError> {
    let replacement = Replacement::begin(path, Expected::Anything)?;
    remove_leftovers(folder_of(&replacement.path), replacement.file());
    Ok(())
}

/// Opens a file for reading. If the file is a named pipe, this function fails, but [`File::open`]
/// waits until another program opens the pipe for writing. This function can also open a folder,
/// but reading a folder fails.
///
/// # Errors
/// Returns an error if the file cannot be opened, or is a pipe, a socket or a device.
pub fn open_regular(path: impl AsRef<Path>) -> io::Result<File> {
    let file = without_waiting(OpenOptions::new().read(true)).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() || metadata.is_dir() {
        return Ok(file);
    }
    Err(io::Error::other("it is a pipe or a device, not a regular file"))
}

/// The path that a link leads to. A dangling link, or a link to something that is not a regular
/// file, is an error.
fn resolve(name: &Path) -> Result<PathBuf, FileError> {
    let Ok(metadata) = std::fs::symlink_metadata(name) else { return Ok(name.to_owned()) };
    // A link to a pipe, such as /dev/stdout, has no canonical name.
    if std::fs::metadata(name).is_ok_and(|target| !target.is_file()) {
        return Err(FileError::NotAFile { path: name.to_owned() });
    }
    if !metadata.is_symlink() {
        return Ok(name.to_owned());
    }
    std::fs::canonicalize(name).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => FileError::Dangling { path: name.to_owned() },
        _ => write_error(name, cause),
    })
}

fn old(path: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Checks that the file is not read-only. The system would allow replacing a read-only file if the
/// folder can be written, but such a file is not meant to change.
fn check_writable(name: &Path, path: &Path, old: &Metadata) -> Result<(), FileError> {
    if old.permissions().readonly() {
        return Err(FileError::ReadOnly { path: name.to_owned() });
    }
    match without_waiting(OpenOptions::new().write(true)).open(path) {
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Err(FileError::ReadOnly { path: name.to_owned() }),
        Err(cause) => Err(write_error(name, cause)),
        Ok(_) => Ok(()),
    }
}

/// Makes an error that does not contain the name of the temporary file. The library for temporary
/// files adds this name to its errors, and removes the error code of the system. To get the error
/// code back if the folder is missing, this function looks up the folder again.
fn write_error(path: &Path, cause: io::Error) -> FileError {
    let again = |kind| std::fs::metadata(folder_of(path)).err().filter(|again| again.kind() == kind);
    let cause = match cause.raw_os_error() {
        Some(_) => cause,
        None => again(cause.kind()).unwrap_or_else(|| cause.kind().into()),
    };
    FileError::Write { path: path.to_owned(), cause }
}

/// Creates and locks a temporary file. If it will replace another file, only the owner of the
/// temporary file can read it until it has the permissions of the old file. If there is no old
/// file, the new file has the usual permissions from the start.
fn temporary(folder: &Path, is_new: bool) -> io::Result<NamedTempFile> {
    loop {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
        if is_new {
            with_usual_permissions(&mut builder);
        }
        let file = builder.tempfile_in(folder)?;
        // Before the file is locked, another process can mistake it for one that a killed process
        // left behind, and lock and remove it. On network file systems without locks, nothing is
        // removed.
        let is_ours = !matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
        if is_ours && is_at(file.as_file(), file.path()).unwrap_or(false) {
            return Ok(file);
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn is_temporary(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Removes temporary files that killed processes left behind. `ours` is a file that this process
/// has created. Only files with the same owner are removed.
fn remove_leftovers(folder: &Path, ours: &File) {
    let (Ok(entries), Ok(ours)) = (std::fs::read_dir(folder), ours.metadata()) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_temporary) {
            // A file that cannot be removed is left for the next run.
            let _ = remove_leftover(&entry.path(), &ours);
        }
    }
}

fn remove_leftover(path: &Path, ours: &Metadata) -> io::Result<()> {
    let file = without_following(OpenOptions::new().read(true)).open(path)?;
    let metadata = file.metadata()?;
    // The process that writes the file holds a lock on it until the process ends.
    let is_leftover = metadata.is_file() && is_of_same_owner(&metadata, ours) && file.try_lock().is_ok();
    if is_leftover && is_at(&file, path)? { std::fs::remove_file(path) } else { Ok(()) }
}

#[cfg(unix)]
mod system {
    use super::{Unkept, folder_of};
    use rustix::fs::OFlags;
    use std::fs::{File, Metadata, OpenOptions, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
    use std::path::Path;

    pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed())
    }

    pub(super) fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed())
    }

    pub(super) fn with_usual_permissions(builder: &mut tempfile::Builder<'_, '_>) {
        // The system removes the permissions in the process's umask.
        builder.permissions(Permissions::from_mode(0o666));
    }

    pub(super) fn is_same(one: &Metadata, other: &Metadata) -> bool {
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    }

    /// Exchanges the names of two files in one step.
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
    pub(super) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
    pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether the path leads to this open file.
    pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
        Ok(is_same(&file.metadata()?, &std::fs::symlink_metadata(path)?))
    }

    pub(super) fn is_of_same_owner(one: &Metadata, other: &Metadata) -> bool {
        one.uid() == other.uid()
    }

    /// Gives the new file first the group, then the owner, and then the permissions of the old
    /// file. With this order, the new file is never readable by more users than the old one.
    pub(super) fn keep(file: &File, old: &Metadata) -> io::Result<Vec<Unkept>> {
        let new = file.metadata()?;
        let mut unkept = Vec::new();
        let mut mode = old.mode() & 0o777;
        if new.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
            unkept.push(Unkept::Group { was: old.gid(), is: new.gid() });
            mode &= !0o070 | (mode & 0o007) << 3;
        }
        if new.uid() != old.uid() && fchown(file, Some(old.uid()), None).is_err() {
            unkept.push(Unkept::Owner { was: old.uid(), is: new.uid() });
        }
        if old.nlink() > 1 {
            unkept.push(Unkept::Links { others: old.nlink() - 1 });
        }
        file.set_permissions(Permissions::from_mode(mode))?;
        Ok(unkept)
    }

    /// Opens the folder so that it can be flushed. A new name is on the disk only after its folder
    /// was flushed.
    pub(super) fn folder_to_sync(path: &Path) -> io::Result<File> {
        File::open(folder_of(path))
    }
}

#[cfg(not(unix))]
mod system {
    use super::Unkept;
    use std::fs::{File, Metadata, OpenOptions};
    use std::io;
    use std::path::Path;

    pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    pub(super) fn without_following(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    pub(super) fn with_usual_permissions(_: &mut tempfile::Builder<'_, '_>) {}

    pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// On this system, a file that is open cannot be replaced, so the result is always true.
    pub(super) fn is_same(_: &Metadata, _: &Metadata) -> bool {
        true
    }

    pub(crate) fn is_at(_: &File, _: &Path) -> io::Result<bool> {
        Ok(true)
    }

    /// The owner of a file is not known on this system, so nothing is removed.
    pub(super) fn is_of_same_owner(_: &Metadata, _: &Metadata) -> bool {
        false
    }

    pub(super) fn keep(file: &File, old: &Metadata) -> io::Result<Vec<Unkept>> {
        file.set_permissions(old.permissions()).map(|()| Vec::new())
    }

    /// On this system, folders cannot be flushed and need not be.
    pub(super) struct NoFolder;

    impl NoFolder {
        pub(super) fn sync_all(&self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(super) fn folder_to_sync(_: &Path) -> io::Result<NoFolder> {
        Ok(NoFolder)
    }
}

#[cfg(feature = "mmap")]
mod mapped;

#[cfg(feature = "mmap")]
pub use mapped::Mapped;

use system::{exchange, folder_to_sync, is_of_same_owner, is_same, keep, with_usual_permissions, without_following};
pub(crate) use system::{is_at, without_waiting};
