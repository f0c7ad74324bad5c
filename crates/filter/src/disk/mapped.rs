//! Files mapped into memory.
#![allow(unsafe_code, reason = "mapping a file is sound only if the file does not change, which no program can enforce")]

use super::open_regular;
use memmap2::Mmap;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

/// The bytes of a file, mapped into memory. The system reads each part of the file when a program
/// first accesses this part. Processes that map the same file share the memory. A clone of this
/// value refers to the same map.
///
/// ```
/// use truebloom::file::Mapped;
/// use truebloom::{AnyFilter, BloomFilter};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("seen.tbl");
/// let mut filter = BloomFilter::new(1_000, 0.01)?;
/// filter.insert("key");
/// filter.save(&path)?;
/// // SAFETY: the file is this program's own, and nobody writes to it.
/// let view = AnyFilter::view(unsafe { Mapped::open(&path) }?)?;
/// assert!(view.contains("key"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Mapped(Arc<Mmap>);

impl Mapped {
    /// Maps a regular file into memory. The length of the map stays the same, even if the length of
    /// the file changes.
    ///
    /// # Safety
    /// While the map or one of its clones exists, no process may write to the file or truncate it,
    /// not even the calling process. The reason is that Rust assumes that bytes behind a shared
    /// reference do not change. No lock enforces this requirement.
    ///
    /// If a process writes to the file anyway, the map may or may not show the new bytes, so
    /// answers may be wrong. If a process truncates the file, accessing the removed bytes ends the
    /// process that mapped the file (SIGBUS on Unix). *Replacing* the file is allowed, because the
    /// map still shows the old file. All methods of this crate that save a file replace it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, is not a regular file, or cannot be mapped.
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Mapped> {
        let file = open_regular(path)?;
        // A folder can be opened, too, but it cannot be mapped.
        if !file.metadata()?.is_file() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // SAFETY: as the caller promised.
        unsafe { Mmap::map(&file) }.map(|map| Mapped(Arc::new(map)))
    }
}

impl AsRef<[u8]> for Mapped {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Mapped {
    /// Formats the length, not the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapped").field("length", &self.0.len()).finish_non_exhaustive()
    }
}
