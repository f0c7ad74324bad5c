//! Attempts to repair a damaged file in memory; the checksums show whether an attempt was right.

use super::diagnosis::{Diagnosis, header};
use crate::failure::for_shell;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use truebloom::file::open_regular;
use truebloom::{AnyFilter, FileHeader, FileKind, FormatError, ReadError};

/// The largest file that is read into memory as a whole.
const MAX_WHOLE: u64 = 1 << 28;

/// A header that is correct after one of its bytes was changed.
pub(super) struct Healed {
    offset: usize,
    found: u8,
    right: u8,
    header: Vec<u8>,
    /// Whether the filter's bits are undamaged, too.
    whole: bool,
    /// Whether extra bytes follow the filter.
    is_too_long: bool,
}

/// A file that is correct without the carriage returns before its newlines.
pub(super) struct Undone {
    /// The position of the first of these carriage returns.
    pub(super) first: u64,
    /// Whether extra bytes follow the filter.
    pub(super) is_too_long: bool,
    /// Whether the file does not end with a newline, so that a final carriage return belongs to it.
    pub(super) keeps_last: bool,
}

/// The one byte whose change makes the header correct, found by trying all bytes.
pub(super) fn one_byte(path: &Path, start: &[u8]) -> io::Result<Option<Healed>> {
    if (start.len() as u64) < FileHeader::BYTES {
        return Ok(None);
    }
    let mut header = start.to_vec();
    for offset in 0..header.len() {
        let found = header[offset];
        for right in 0..=u8::MAX {
            header[offset] = right;
            if is_header(&header) {
                let healed = || {
                    let mut rest = open_regular(path)?;
                    rest.seek(SeekFrom::Start(FileHeader::BYTES))?;
                    Ok(Cursor::new(header.clone()).chain(rest))
                };
                let whole = is_whole(&header, healed)?;
                let is_too_long = exceeds(&header, open_regular(path)?.metadata()?.len());
                return Ok(Some(Healed { offset, found, right, header, whole, is_too_long }));
            }
        }
        header[offset] = found;
    }
    Ok(None)
}

/// Whether these bytes are a header without its payload, as in a file that was cut off.
fn is_header(header: &[u8]) -> bool {
    matches!(AnyFilter::from_bytes(header), Err(FormatError::Truncated { .. } | FormatError::Kind { .. }))
}

/// Whether these bytes are a complete, undamaged file of any kind. Every call of `bytes` must
/// return a reader that starts at the beginning.
pub(super) fn is_whole<R: Read>(header: &[u8], bytes: impl Fn() -> io::Result<R>) -> io::Result<bool> {
    if !is_header(header) {
        return Ok(false);
    }
    match FileKind::of_whole(bytes) {
        Ok(_) => Ok(true),
        Err(ReadError::Io(error)) => Err(error),
        Err(_) => Ok(false),
    }
}

/// The length that the header implies, and the real length.
pub(super) fn lengths(path: &Path) -> io::Result<(u64, u64)> {
    let mut start = [0; FileHeader::BYTES as usize];
    let mut file = open_regular(path)?;
    file.read_exact(&mut start)?;
    let header = FileHeader::from_bytes(&start).map_err(io::Error::other)?;
    Ok((header.file_bytes(), file.metadata()?.len()))
}

/// Whether a file of this length has bytes after the filter with this header.
fn exceeds(header: &[u8], length: u64) -> bool {
    FileHeader::from_bytes(header).is_ok_and(|header| length > header.file_bytes())
}

/// Removes every carriage return before a newline. Returns `None` if the file is not correct then.
pub(super) fn text_mode(path: &Path, length: u64) -> io::Result<Option<Undone>> {
    if length > MAX_WHOLE {
        return Ok(None);
    }
    let bytes = std::fs::read(path)?;
    let added = |at: &usize| bytes[*at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
    let undone: Vec<u8> = (0..bytes.len()).filter(|at| !added(at)).map(|at| bytes[at]).collect();
    let Some(first) = (0..bytes.len()).find(added) else { return Ok(None) };
    let is_whole = FileKind::of_whole(|| Ok(undone.as_slice())).is_ok();
    let is_too_long = exceeds(&undone, undone.len() as u64);
    Ok(is_whole.then_some(Undone { first: first as u64, is_too_long, keeps_last: !bytes.ends_with(b"\n") }))
}

impl Healed {
    pub(super) fn diagnosis(self, path: &Path) -> Diagnosis {
        let offset = self.offset as u64;
        let repair = format!("printf '\\{:03o}' | dd of={} bs=1 seek={offset} conv=notrunc", self.right, for_shell(path));
        let saved = match (self.whole, self.is_too_long) {
            (true, false) => "all of it, once that byte is restored",
            (true, true) => "all of it, once that byte is restored, and the extra bytes at the end are removed",
            (false, _) => "only the header, once that byte is restored: the bits are also damaged or cut off",
        };
        let remedy = format!("{repair} && truebloom doctor {}", for_shell(path));
        Diagnosis {
            wrong: format!("one byte of the header was changed from {:02x} to {:02x}", self.right, self.found),
            at: Some(offset..offset + 1),
            saved: saved.to_owned(),
            remedy: vec![remedy],
            header: header(&self.header),
        }
    }
}
