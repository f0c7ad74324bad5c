//! Replacing files atomically. All methods of this crate that save a file use this module.
//!
//! ```
//! use std::io::Write;
//! use truebloom::file::{Expected, Replacement};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("answer.txt");
//! let replacement = Replacement::begin(&path, Expected::Nothing)?;
//! replacement.file().write_all(b"42\n")?;
//! replacement.commit()?;
//! assert_eq!(std::fs::read(&path)?, b"42\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **What is promised.** A reader of the path sees either the whole old file or the whole new file,
//! even after a power cut. The new contents are written to a temporary file in the same folder. The
//! temporary file has a random name, and never overwrites an existing file (`O_EXCL`). The
//! temporary file is locked while it is written, and never has more permissions than the finished
//! file. The new file gets the owner, the group and the permissions of the old file, as far as the
//! system allows. [`commit`](Replacement::commit) reports [what was not kept](Unkept). If the path
//! is a symbolic link, the file that it points to is replaced.
//!
//! **What is refused.** Only regular files are replaced. A symbolic link to a file that does not
//! exist is not replaced. The caller can say which file may be replaced ([`Expected`]); other files
//! are then not replaced. A read-only file is not replaced, even by root.
//!
//! **What is not kept.** The new file does not have the access control lists, the extended
//! attributes, or the set-user-ID, set-group-ID and sticky bits of the old file. Other hard links
//! to the old file still lead to the old contents. `commit` returns [their number](Unkept::Links).
//!
//! **What happens if another program replaces the file at the same time.** With [`Expected::Only`],
//! the caller asks `commit` not to overwrite the other program's file. On their usual file systems,
//! Linux and macOS can exchange the names of two files in one step. There, `commit` exchanges the
//! names of the old and the new file. Then `commit` checks whether the old file is the expected
//! file. If not, `commit` swaps the names back and returns an error.
//!
//! On other systems, `commit` first checks whether the file at the path is the expected file, and
//! then renames the new file. If another program replaces the file in the few microseconds between
//! these two steps, the other program's file is overwritten.

#[cfg(feature = "mmap")]
pub use crate::disk::Mapped;
pub use crate::disk::{Expected, Replacement, Unkept, check_target, open_regular};
#[cfg(feature = "mmap")]
pub use crate::in_place::{InPlace, Place};
