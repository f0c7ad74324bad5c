//! The file format, version 1, as described in docs/FORMAT.md. The same bytes are used in files, in
//! byte strings of other languages, and in databases.
//!
//! All kinds share one structure. A type that implements [`Stored`] is written and read with the
//! functions of this module.

mod decode;
mod encode;
mod fields;
#[cfg(feature = "fs")]
mod file;
mod header;
mod label;
mod methods;
mod stored;
#[cfg(feature = "std")]
mod stream;
mod view;
pub mod wire;

pub(crate) use decode::{check_checksum, check_length, from_bytes, words_of};
#[cfg(feature = "std")]
pub(crate) use encode::write_to;
pub(crate) use encode::{encoded_bytes, part_of_bytes, put_words, to_bytes, write_into};
pub(crate) use fields::{Fields, INTERSECTION, MERGED, at, check_field};
#[cfg(feature = "fs")]
pub(crate) use file::{open, save, save_new};
pub use header::FileHeader;
pub(crate) use label::Label;
pub(crate) use methods::{reads_files, views_files, writes_files};
pub(crate) use stored::{Stored, Written};
#[cfg(feature = "std")]
pub(crate) use stream::read_from;
pub(crate) use view::{Viewed, check_payload, view, view_prefix};
#[cfg(feature = "mmap")]
pub(crate) use view::{view_by, view_mapped};

/// The number of bytes before the payload.
pub(crate) const HEADER_BYTES: usize = 256;

/// How many bytes are read or written at a time.
const CHUNK_BYTES: usize = 1 << 16;
