//! Undoing damage, in memory, to see whether the checksums then are right.

use super::diagnosis::{Diagnosis, Parameters};
use crate::filters::AnyFilter;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use truebloom::count_min::{CountMin, HeavyHitters, ListedSketch, PairwiseCountMin, TwoHashCountMin, TwoHashRows};
use truebloom::recycling::BlockedRecyclingFilter;
use truebloom::scheme::{Classic, Standard};
use truebloom::{BlockedBloomFilter, FormatError, Kind, PortableHasher, ReadError, RecyclingFilter};

/// The largest file that is read into memory whole.
const MAX_WHOLE: u64 = 1 << 28;

/// A header that is right again with one byte changed.
pub(super) struct Healed {
    offset: usize,
    found: u8,
    right: u8,
    header: Vec<u8>,
    /// Whether the bits are right as well.
    whole: bool,
}

/// The one byte whose change makes the header right, found by trying all.
pub(super) fn one_byte(path: &Path, start: &[u8]) -> io::Result<Option<Healed>> {
    if (start.len() as u64) < Parameters::BYTES {
        return Ok(None);
    }
    let mut header = start.to_vec();
    for offset in 0..header.len() {
        let found = header[offset];
        for right in 0..=u8::MAX {
            header[offset] = right;
            if is_header(&header) {
                let healed = || {
                    let mut rest = File::open(path)?;
                    rest.seek(SeekFrom::Start(Parameters::BYTES))?;
                    Ok(Cursor::new(header.clone()).chain(rest))
                };
                let whole = is_whole(&header, healed)?;
                return Ok(Some(Healed { offset, found, right, header, whole }));
            }
        }
        header[offset] = found;
    }
    Ok(None)
}

/// A header without its bits is a file that is cut off, and nothing else is wrong with it.
fn is_header(header: &[u8]) -> bool {
    matches!(AnyFilter::of_scheme_from_bytes(header), Err(FormatError::Truncated { .. } | FormatError::Kind { .. }))
}

/// Whether these bytes, from their beginning each time, are a file of any kind.
pub(super) fn is_whole<R: Read>(header: &[u8], bytes: impl Fn() -> io::Result<R>) -> io::Result<bool> {
    if !is_header(header) {
        return Ok(false);
    }
    match every_kind(|| bytes().map_err(ReadError::Io)) {
        Ok(_) => Ok(true),
        Err(ReadError::Io(error)) => Err(error),
        Err(_) => Ok(false),
    }
}

/// The kind of a file that is whole, or what is wrong with it by the type that its header calls for. Each type refuses the headers of the others.
pub(super) fn every_kind<R: Read>(open: impl Fn() -> Result<R, ReadError>) -> Result<Kind, ReadError> {
    let error = match AnyFilter::of_scheme_read_from(open()?) {
        Ok(_) => return Ok(Kind::Bloom),
        Err(error) => error,
    };
    let ReadError::Format(FormatError::Kind { found }) = error else { return Err(error) };
    let results = match found {
        Kind::Blocked => vec![BlockedBloomFilter::read_from(open()?).map(drop)],
        Kind::RecyclingBlocked => vec![BlockedRecyclingFilter::read_from(open()?).map(drop)],
        Kind::RecyclingOnePhase | Kind::RecyclingTwoPhase => vec![
            RecyclingFilter::<PortableHasher, Standard>::read_from(open()?).map(drop),
            RecyclingFilter::<PortableHasher, Classic>::read_from(open()?).map(drop),
        ],
        Kind::CountMin => vec![
            HeavyHitters::<u64>::read_from(open()?).map(drop),
            CountMin::<u64>::read_from(open()?).map(drop),
            CountMin::<u32>::read_from(open()?).map(drop),
            PairwiseCountMin::<u64>::read_from(open()?).map(drop),
            PairwiseCountMin::<u32>::read_from(open()?).map(drop),
        ],
        Kind::TwoHashCountMin => {
            vec![
                ListedSketch::<TwoHashRows, u64>::read_from(open()?).map(drop),
                TwoHashCountMin::<u64>::read_from(open()?).map(drop),
                TwoHashCountMin::<u32>::read_from(open()?).map(drop),
            ]
        }
        _ => vec![],
    };
    if results.iter().any(Result::is_ok) {
        return Ok(found);
    }
    // What is damaged says more than what is of another type.
    let damage = |error: &ReadError| {
        matches!(error, ReadError::Io(_) | ReadError::Format(FormatError::PayloadChecksum { .. } | FormatError::Truncated { .. }))
    };
    let mut errors: Vec<ReadError> = results.into_iter().filter_map(Result::err).collect();
    let worst = errors.iter().position(damage).unwrap_or(0);
    Err(if errors.is_empty() { ReadError::Format(FormatError::Kind { found }) } else { errors.swap_remove(worst) })
}

/// The length that a whole file has by its header, and the one it has.
pub(super) fn lengths(path: &Path) -> io::Result<(u64, u64)> {
    let mut header = [0; 112];
    let mut file = std::fs::File::open(path)?;
    file.read_exact(&mut header)?;
    // The payload's offset and its length (docs/FORMAT.md).
    let field = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    Ok((field(96).saturating_add(field(104)), file.metadata()?.len()))
}

/// Where the first carriage return was added, if all is right without those before newlines.
pub(super) fn text_mode(path: &Path, length: u64) -> io::Result<Option<u64>> {
    if length > MAX_WHOLE {
        return Ok(None);
    }
    let bytes = std::fs::read(path)?;
    let added = |at: &usize| bytes[*at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
    let undone: Vec<u8> = (0..bytes.len()).filter(|at| !added(at)).map(|at| bytes[at]).collect();
    let first = (0..bytes.len()).find(added).map(|at| at as u64);
    Ok(first.filter(|_| every_kind(|| Ok(undone.as_slice())).is_ok()))
}

impl Healed {
    pub(super) fn diagnosis(self, path: &Path) -> Diagnosis {
        let offset = self.offset as u64;
        let repair = format!("printf '\\x{:02x}' | dd of={} bs=1 seek={offset} conv=notrunc", self.right, path.display());
        let (saved, remedy) = if self.whole {
            ("all of it: with that byte put back, header and bits are right", repair)
        } else {
            (
                "the header, with that byte put back; the bits are damaged or cut off as well",
                format!("{repair}; then truebloom doctor {}", path.display()),
            )
        };
        Diagnosis {
            wrong: format!("one byte of the header was changed: it is {:02x} and was {:02x}", self.found, self.right),
            at: Some(offset..offset + 1),
            saved: saved.to_owned(),
            remedy,
            parameters: Parameters::of(&self.header),
        }
    }
}
