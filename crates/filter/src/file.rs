//! Replacing files atomically. This crate and its command write all files in this way.
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
//! temporary file has a random name and must not have existed before (`O_EXCL`). The temporary file
//! is locked while it is written, and never has more permissions than the finished file. The new
//! file has the owner, the group and the permissions of the old file; properties that cannot be
//! kept are [reported](Unkept). A symbolic link is followed.
//!
//! **What is refused.** A link that leads nowhere, anything that is not a regular file, a file
//! without write permission (also for root), and a file other than the [expected](Expected) one.
//!
//! **What is not kept.** Access control lists, extended attributes, and other hard links. Other
//! hard links still lead to the old contents, and their number is [reported](Unkept::Links).
//!
//! **What happens if another program replaces the file at the same time.** Linux and macOS can
//! exchange the names of two files on their usual file systems, so such a replacement is always
//! detected. If the exchange shows that another file had the name, the names are exchanged back. On
//! other systems, a replacement is not detected if it happens in the few microseconds between the
//! last check of the name and the rename.

#[cfg(feature = "mmap")]
pub use crate::disk::Mapped;
pub use crate::disk::{Expected, Replacement, Unkept, check_target, open_regular};
#[cfg(feature = "mmap")]
pub use crate::in_place::{InPlace, Place};
