//! Filters that are only read: small files are loaded, large ones are mapped.
#![allow(unsafe_code, reason = "mapping a file is sound only if the file does not change")]

use crate::inputs::{is_stdin, name};
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::Arc;
use truebloom::file::{Mapped, open_regular};
use truebloom::{AnyFilter, Checked, FileError, FileHeader, FormatError, View, wire};

/// The smallest size of a file that is mapped. Reading a smaller file takes no longer, and a file
/// that has been read into memory is safe from later changes to the file.
const MAPPED_FROM: u64 = 64 << 20;

/// The bytes of a file, as they are stored.
#[derive(Clone)]
pub(crate) enum Held {
    Read(Arc<Vec<u8>>),
    Mapped(Arc<Mapped>),
}

impl AsRef<[u8]> for Held {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        match self {
            Held::Read(bytes) => bytes,
            Held::Mapped(bytes) => bytes.as_ref().as_ref(),
        }
    }
}

/// A filter of which only the header was checked.
pub(crate) type Viewed = AnyFilter<View<Held>>;

/// A filter of which all bytes were checked.
pub(crate) type Looked = AnyFilter<Checked<Held>>;

impl Held {
    /// The bytes of a file, expanded if they are compressed.
    pub(crate) fn open(path: &Path) -> Result<Held, FileError> {
        let held = Held::as_it_is(path).map_err(|cause| FileError::Read { path: path.to_owned(), cause })?;
        held.expanded().map_err(|cause| format_error(path, cause))
    }

    /// The bytes of a file.
    pub(crate) fn as_it_is(path: &Path) -> io::Result<Held> {
        read_or_map(path)
    }

    /// The bytes of a file, or, for `-`, of standard input to its end.
    pub(crate) fn of_input(path: &Path) -> Result<Held, FileError> {
        let read = if is_stdin(path) { read_stdin() } else { read_or_map(path) };
        read.map_err(|cause| FileError::Read { path: name(path).to_owned(), cause })
    }

    /// The bytes of an input, expanded if they are compressed.
    pub(crate) fn open_input(path: &Path) -> Result<Held, FileError> {
        Held::of_input(path)?.expanded().map_err(|cause| format_error(name(path), cause))
    }

    fn expanded(self) -> Result<Held, FormatError> {
        if wire::is_coded(self.as_ref()) { Ok(Held::Read(Arc::new(wire::expand(self.as_ref())?))) } else { Ok(self) }
    }

    /// Whether the file is mapped, so that only the necessary parts are read.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self, Held::Mapped(_))
    }
}

fn read_or_map(path: &Path) -> io::Result<Held> {
    let mut file = open_regular(path)?;
    if file.metadata()?.len() >= MAPPED_FROM {
        // SAFETY: this program replaces files as a whole, and never writes into one. If another
        // program changes or truncates a filter in place while a command reads it, the command
        // answers for the changed bytes, or is ended by SIGBUS; `docs/CLI.md` says so.
        if let Ok(bytes) = unsafe { Mapped::open(path) } {
            return Ok(Held::Mapped(Arc::new(bytes)));
        }
        // Some file systems do not support mapping.
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Held::Read(Arc::new(bytes)))
}

/// The filter in a file, completely read and checked.
pub(crate) fn look(path: &Path) -> Result<Looked, FileError> {
    look_at(Held::open(path)?).map_err(|cause| format_error(path, cause))
}

/// The filter in these bytes, completely read and checked.
pub(crate) fn look_at(bytes: Held) -> Result<Looked, FormatError> {
    AnyFilter::view(bytes).and_then(Viewed::verify_bytes)
}

/// Reads and checks all bytes of an opened filter.
pub(crate) fn look_closer(path: &Path, filter: &Viewed) -> Result<Looked, FileError> {
    filter.clone().verify_bytes().map_err(|cause| format_error(path, cause))
}

/// Reads standard input to its end if it begins like a truebloom file. Other input is not read
/// further, because it may have no end.
fn read_stdin() -> io::Result<Held> {
    crate::output::check_stdin()?;
    let mut input = io::stdin().lock();
    if input.is_terminal() {
        return Err(io::Error::other("it is a terminal; name a file, or pipe one in"));
    }
    let mut bytes = Vec::new();
    input.by_ref().take(FileHeader::BYTES).read_to_end(&mut bytes)?;
    let more = match FileHeader::from_bytes(&bytes) {
        _ if wire::is_coded(&bytes) => u64::MAX,
        // One byte more is read, to see whether the input ends there.
        Ok(header) => header.file_bytes().saturating_sub(bytes.len() as u64).saturating_add(1),
        Err(_) => 0,
    };
    input.take(more).read_to_end(&mut bytes)?;
    Ok(Held::Read(Arc::new(bytes)))
}

/// The filter in these bytes. A small file is checked completely. For a large file, only the header
/// is checked.
pub(crate) fn view_at(bytes: Held) -> Result<Viewed, FormatError> {
    if !bytes.is_mapped() {
        AnyFilter::view(bytes.as_ref()).and_then(AnyFilter::<View<&[u8]>>::verify_bytes).map(drop)?;
    }
    AnyFilter::view(bytes)
}

pub(crate) fn format_error(path: &Path, cause: FormatError) -> FileError {
    FileError::Format { path: path.to_owned(), cause }
}
