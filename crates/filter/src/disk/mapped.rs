//! Files mapped into memory.
#![allow(unsafe_code, reason = "mapping a file is sound only if the file does not change, which no program can enforce")]

use super::open_regular;
use memmap2::Mmap;
use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

/// The bytes of a file, mapped into memory. The bytes are read from the file when they are first
/// accessed. All processes that map the file share this memory. A clone refers to the same map.
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
    /// Maps a regular file. The map keeps the file's present length, even if that length changes
    /// later.
    ///
    /// # Safety
    /// While the map or a clone of it exists, no process, including this one, may write to the file
    /// or truncate it. Rust assumes that bytes behind a reference do not change; no lock enforces
    /// this.
    ///
    /// If a process writes to the file anyway, it is unspecified whether the map shows the new
    /// bytes, so answers may be wrong. If a process truncates the file, accessing the removed bytes
    /// ends this process (SIGBUS on Unix). *Replacing* the file is allowed, because the map keeps
    /// the old file. All methods of this crate that save a file replace it.
    ///
    /// # Errors
    /// Returns the errors of [`open_regular`](super::open_regular), and an error if the system
    /// cannot map the file.
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Mapped> {
        let file = open_regular(path)?;
        // A folder can be opened as well, but it has no bytes.
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
