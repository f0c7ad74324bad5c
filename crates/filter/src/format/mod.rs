//! The file format, version 1: docs/FORMAT.md. The bytes of a file, of a byte string in another language and of a value in a database are the same.
//!
//! One envelope for all kinds: a type that implements [`Stored`] can be written and read whole with the functions of this module.

mod decode;
mod encode;
mod fields;
#[cfg(feature = "fs")]
mod file;
mod header;
mod kind;
mod methods;
mod stored;
#[cfg(feature = "std")]
mod stream;
#[cfg(feature = "std")]
mod whole;

pub(crate) use decode::from_bytes;
#[cfg(feature = "std")]
pub(crate) use encode::write_to;
pub(crate) use encode::{encoded_bytes, to_bytes};
pub(crate) use fields::{Fields, at, check_field};
#[cfg(feature = "fs")]
pub(crate) use file::{open, save, save_new};
pub use header::FileHeader;
pub use kind::FileKind;
pub(crate) use methods::{reads_files, writes_files};
pub(crate) use stored::Stored;
#[cfg(feature = "std")]
pub(crate) use stream::read_from;

/// Bytes before the payload.
const HEADER_BYTES: usize = 256;

/// Bytes that are read and written at a time.
const CHUNK_BYTES: usize = 1 << 16;
