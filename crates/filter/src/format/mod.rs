//! The file format, version 1: docs/FORMAT.md. The bytes of a file, of a byte string in another language and of a value in a database are the same.

mod decode;
mod encode;
mod file;
mod header;

pub(crate) use header::Header;

/// Bytes before the payload.
const HEADER_BYTES: usize = 256;

/// Bytes that are read and written at a time.
const CHUNK_BYTES: usize = 1 << 16;
