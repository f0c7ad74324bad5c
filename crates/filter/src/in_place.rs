//! Filters that are updated directly in their file.
#![allow(unsafe_code, reason = "mapping a file is sound only if nobody else changes it, which no program can enforce")]

use crate::FilterOf;
use crate::backing::{Backing, Checked};
use crate::bulk::Answers;
use crate::disk::{is_at, without_waiting};
use crate::error::{FileError, FormatError, MergeError};
use crate::format::{self, Fields, HEADER_BYTES, Stored, Written, at};
use crate::hash::{KeyHash, PortableHasher};
use crate::key::Key;
use crate::scheme::{Scheme, Standard};
use core::fmt;
use core::ops::Deref;
use memmap2::MmapMut;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A filter whose bits are changed directly in its file, which is mapped into memory. Use this type
/// for filters that are too large to be rewritten for each update.
///
/// # What is promised
/// While the file is open for updates, its header contains a mark. The mark reaches the disk before
/// the first bit changes. [`close`](Self::close) first writes all bits to the disk. Then it writes
/// a header that contains the counts and the checksum of the bits, and no mark. An update can set a
/// bit, but never unsets one. So even if only some of the changes reach the disk, the file still
/// has every bit that was set before the update.
///
/// | | keys inserted before the last [`sync`](Self::sync) | keys inserted later |
/// |---|---|---|
/// | the process was killed (Unix) | contained | contained, if their insertion returned |
/// | the system crashed, or the power failed | contained | may be lost |
///
/// If the process is killed, the system crashes, or the power fails, the mark stays in the file.
/// Every method that opens files then refuses this file, with an error that gives the reason. Only
/// [`recover`](Self::recover) opens the file. The exact number of keys in the recovered filter is
/// unknown. This number is at least the number that was counted at the last sync, and has no upper
/// bound. [`is_merged`](FilterOf::is_merged) returns true for a recovered filter.
///
/// The file is locked while it is open. The command `truebloom`, and other programs that use this
/// type, therefore cannot update the file at the same time.
///
/// ```
/// use truebloom::file::InPlace;
/// use truebloom::BloomFilter;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("seen.tbl");
/// BloomFilter::new(1_000_000, 0.01)?.save(&path)?;
/// // SAFETY: the file is this program's own, and nobody else writes to it.
/// let mut seen: InPlace = unsafe { InPlace::open(&path) }?;
/// seen.insert_all(0..1_000);
/// seen.sync()?; // now a crash cannot lose these keys
/// assert!(seen.contains(&7) && seen.offered() == 1_000);
/// seen.close()?;
/// assert!(BloomFilter::open(&path)?.contains(&7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct InPlace<S: Scheme = Standard> {
    /// The filter; `None` only after closing.
    filter: Option<FilterOf<S, PortableHasher, Checked<Place>>>,
    path: PathBuf,
    /// Whether an earlier write has failed.
    has_failed: bool,
}

/// The bytes of an [`InPlace`] filter: the contents of its file, which is locked and mapped into
/// memory.
pub struct Place {
    map: MmapMut,
    /// The path of the file, after following links.
    target: PathBuf,
    file: Locked,
}

/// A file that this process keeps locked until the value is dropped.
struct Locked(File);

impl Locked {
    fn new(file: File, path: &Path) -> Result<Locked, FileError> {
        match file.try_lock() {
            Ok(()) => Ok(Locked(file)),
            Err(TryLockError::WouldBlock) => Err(FileError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(cause)) => Err(FileError::Read { path: path.to_owned(), cause }),
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing the file would not always unlock it. A child process that another thread is just
        // starting also has the file open, and would keep the lock for a moment.
        let _ = self.0.unlock();
    }
}

impl AsRef<[u8]> for Place {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}

impl AsMut<[u8]> for Place {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }
}

impl<S: Scheme> InPlace<S> {
    /// Opens a filter for updates. The method reads the whole file once to check it.
    ///
    /// # Safety
    /// Until the filter is closed, nothing else may write to the file or truncate it.
    /// [`Mapped::open`](crate::disk::Mapped::open) explains why. Programs fulfil this requirement
    /// if they lock the file before they write to it. This type and the command `truebloom` do so.
    ///
    /// # Errors
    /// Returns the errors of [`FilterOf::open`]. Returns an error if the file is already locked, or
    /// if it is read-only. Returns an error with the cause [`FormatError::Unfinished`] if the file
    /// is still marked as unfinished. In this case, a program ended before it closed the filter.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<InPlace<S>, FileError> {
        let path = path.as_ref();
        // SAFETY: as the caller promised.
        let place = unsafe { Place::open(path) }?;
        let filter = format::view::<FilterOf<S>, Place>(place).and_then(|view| view.verify_bytes());
        InPlace::marked(filter.map_err(|cause| format_error(path, cause))?, path)
    }

    /// Opens a filter even if a program ended before it closed the filter. In this case, the exact
    /// number of keys in the filter is unknown: see [`InPlace`]. If the filter was closed properly,
    /// this method does the same as [`open`](Self::open).
    ///
    /// # Safety
    /// Until the filter is closed, nothing else may write to the file or truncate it: see
    /// [`open`](Self::open).
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), except [`FormatError::Unfinished`].
    pub unsafe fn recover(path: impl AsRef<Path>) -> Result<InPlace<S>, FileError> {
        let path = path.as_ref();
        // SAFETY: as the caller promised.
        let place = unsafe { Place::open(path) }?;
        let filter = match unmarked_header::<S>(place.as_ref()) {
            // Nothing is written before the whole file was checked. So if the process is killed
            // here, or the type is wrong, the mark stays unchanged.
            Ok(Some(header)) => format::view_by::<FilterOf<S>, Place>(&header, place).and_then(FilterOf::counted_anew),
            Ok(None) => format::view::<FilterOf<S>, Place>(place).and_then(|view| view.verify_bytes()),
            Err(cause) => Err(cause),
        };
        InPlace::marked(filter.map_err(|cause| format_error(path, cause))?, path)
    }

    /// Marks the file on the disk, and returns the filter.
    fn marked(filter: FilterOf<S, PortableHasher, Checked<Place>>, path: &Path) -> Result<InPlace<S>, FileError> {
        let mut opened = InPlace { filter: Some(filter), path: path.to_owned(), has_failed: false };
        opened.write_mark(Fields::mark_unfinished).map_err(|cause| opened.write_error(cause))?;
        Ok(opened)
    }

    /// Writes all changed bits to the disk, and returns when they are there. A later crash cannot
    /// lose a key that was inserted before this call. The time is linear in the number of bytes
    /// that changed since the last sync.
    ///
    /// # Errors
    /// * Returns an error if the bits cannot be written. After this error, it is unknown which bits
    ///   are on the disk. All later calls of this method and of [`close`](Self::close) therefore
    ///   fail, too. The file stays marked as unfinished. [`recover`](Self::recover) can still open
    ///   it.
    /// * Returns [`FileError::Replaced`] if the path no longer leads to the open file, because the
    ///   file was replaced, moved or deleted. Programs that open the path afterwards do not find
    ///   the keys that were inserted into this filter.
    pub fn sync(&mut self) -> Result<(), FileError> {
        let synced = self.flush().and_then(|()| self.write_mark(Fields::mark_unfinished));
        synced.map_err(|cause| self.write_error(cause))?;
        self.check_in_place()
    }

    /// Flushes everything to the disk, and removes the mark that says that the file is being
    /// changed. The file is then an ordinary file again. The time is linear in the number of bits,
    /// because their checksum is computed. Dropping the filter closes it, too, but reports no
    /// errors.
    ///
    /// # Errors
    /// Returns the same errors as [`sync`](Self::sync).
    pub fn close(mut self) -> Result<(), FileError> {
        let closed = self.finish();
        let in_place = self.check_in_place();
        self.filter = None;
        closed.map_err(|cause| self.write_error(cause))?;
        in_place
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
        let Some(filter) = &mut self.filter else { return Ok(()) };
        let header = filter.sealed_header();
        self.write_header(&header)
    }

    /// Flushes all bits. The header must be flushed later, because it is correct only once the bits
    /// are on the disk.
    fn flush(&mut self) -> io::Result<()> {
        self.noted(|place| place.flush(0, place.map.len()))
    }

    /// Writes the header with the present counts and a mark, and flushes it to the disk.
    fn write_mark(&mut self, mark: impl FnOnce(&mut Fields)) -> io::Result<()> {
        let Some(filter) = &mut self.filter else { return Ok(()) };
        let (mut fields, length) = (filter.fields(), 8 * Written::word_count(filter));
        mark(&mut fields);
        // While the payload changes, its checksum is unknown.
        let header = fields.sealed(length, 0);
        self.write_header(&header)
    }

    /// Replaces the header, and flushes it to the disk.
    fn write_header(&mut self, header: &[u8; HEADER_BYTES]) -> io::Result<()> {
        self.noted(|place| place.write_header(header).and_then(|()| place.flush(0, HEADER_BYTES)))
    }

    /// Calls `write` and remembers a failure, because the system reports a failed write only once,
    /// and later treats the data as written.
    fn noted(&mut self, write: impl FnOnce(&mut Place) -> io::Result<()>) -> io::Result<()> {
        if self.has_failed {
            return Err(io::Error::other("an earlier write failed, so the contents of the file on disk are unknown"));
        }
        let written = self.filter.as_mut().map_or(Ok(()), |filter| write(filter.bytes_mut()));
        self.has_failed = written.is_err();
        written
    }

    /// Checks that the path still leads to the opened file.
    fn check_in_place(&mut self) -> Result<(), FileError> {
        let replaced = FileError::Replaced { path: self.path.clone() };
        let Some(filter) = &mut self.filter else { return Ok(()) };
        let place = filter.bytes_mut();
        if is_at(&place.file.0, &place.target).unwrap_or(false) { Ok(()) } else { Err(replaced) }
    }

    fn write_error(&self, cause: io::Error) -> FileError {
        FileError::Write { path: self.path.clone(), cause }
    }
}

/// The header at the beginning of these bytes, without its mark and with the right checksum; `None`
/// if the header has no mark. The fields of the filter are not checked.
fn unmarked_header<S: Scheme>(bytes: &[u8]) -> Result<Option<[u8; HEADER_BYTES]>, FormatError> {
    let (mut fields, _) = Fields::open(bytes, FilterOf::<S>::KINDS)?;
    if !fields.is_unfinished() {
        return Ok(None);
    }
    fields.take_mark_away();
    let length = fields.u64(at::PAYLOAD_LENGTH);
    Ok(Some(fields.sealed(length, 0)))
}

fn format_error(path: &Path, cause: FormatError) -> FileError {
    FileError::Format { path: path.to_owned(), cause }
}

impl Place {
    /// Opens, locks and maps a file.
    ///
    /// # Safety
    /// The requirement of [`InPlace::open`].
    unsafe fn open(path: &Path) -> Result<Place, FileError> {
        let failed = |cause| FileError::Read { path: path.to_owned(), cause };
        let file = without_waiting(OpenOptions::new().read(true).write(true)).open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(FileError::NotAFile { path: path.to_owned() });
        }
        let file = Locked::new(file, path)?;
        // The program that held the lock before may have replaced the file.
        let target = std::fs::canonicalize(path).map_err(failed)?;
        if !is_at(&file.0, &target).map_err(failed)? {
            return Err(FileError::Replaced { path: path.to_owned() });
        }
        // SAFETY: as the caller promised; the lock excludes all other programs that lock the file
        // before they write.
        let map = unsafe { MmapMut::map_mut(&file.0) }.map_err(failed)?;
        Ok(Place { map, target, file })
    }

    /// Replaces the header with one system call. A copy into the mapped bytes takes many
    /// instructions, and a process that is killed between two of them would leave a damaged header.
    #[cfg(unix)]
    fn write_header(&mut self, header: &[u8; HEADER_BYTES]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file.0, header, 0)
    }

    /// Replaces the header by copying it into the mapped bytes. On systems other than Unix, a write
    /// to a mapped file may not be visible in the mapped bytes.
    #[cfg(not(unix))]
    fn write_header(&mut self, header: &[u8; HEADER_BYTES]) -> io::Result<()> {
        self.map[..HEADER_BYTES].copy_from_slice(header);
        Ok(())
    }

    /// Flushes a range of the file to the disk. On systems where this is not enough (macOS), the
    /// cache of the disk is flushed, too.
    fn flush(&self, start: usize, length: usize) -> io::Result<()> {
        self.map.flush_range(start, length)?;
        self.file.0.sync_data()
    }
}

impl<S: Scheme> Drop for InPlace<S> {
    fn drop(&mut self) {
        // If this fails, the mark stays, and the file is refused until it is recovered.
        let _ = self.finish();
    }
}

impl fmt::Debug for Place {
    /// Shows the path and the length, not the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("path", &self.target).field("length", &self.map.len()).finish_non_exhaustive()
    }
}

impl<S: Scheme> fmt::Debug for InPlace<S> {
    /// Shows the path, and the parameters and counts of the filter, not the bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InPlace").field("path", &self.path).field("filter", &self.filter).finish_non_exhaustive()
    }
}

impl<S: Scheme> Deref for InPlace<S> {
    type Target = FilterOf<S, PortableHasher, Checked<Place>>;

    fn deref(&self) -> &Self::Target {
        self.filter.as_ref().unwrap_or_else(|| unreachable!("only `close` takes it"))
    }
}

impl<S: Scheme> InPlace<S> {
    fn filter_mut(&mut self) -> &mut FilterOf<S, PortableHasher, Checked<Place>> {
        self.filter.as_mut().unwrap_or_else(|| unreachable!("only `close` takes it"))
    }

    /// Inserts a key: see [`FilterOf::insert`].
    pub fn insert<Q: Key + ?Sized>(&mut self, key: &Q) -> bool {
        self.filter_mut().insert(key)
    }

    /// Inserts a key that is already hashed: see [`FilterOf::insert_hash`].
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        self.filter_mut().insert_hash(hash)
    }

    /// Inserts many keys: see [`FilterOf::insert_all`].
    pub fn insert_all<I: IntoIterator<Item: Key>>(&mut self, keys: I) -> Answers {
        self.filter_mut().insert_all(keys)
    }

    /// Adds all keys of another filter: see [`FilterOf::union_with`].
    ///
    /// # Errors
    /// Returns the same errors as [`FilterOf::union_with`].
    pub fn union_with<V: Backing>(&mut self, other: &FilterOf<S, PortableHasher, V>) -> Result<(), MergeError> {
        self.filter_mut().check_mergeable(other)?;
        if other.is_intersection() && !self.is_intersection() {
            // The bits of the other filter may be set by chance, so a recovery after a crash must
            // not count them as keys. The mark of an intersection prevents this, and is therefore
            // written before these bits. If the mark cannot be written, `sync` fails.
            let _ = self.write_mark(Fields::mark_unfinished_intersection);
        }
        self.filter_mut().union_with(other)
    }
}
