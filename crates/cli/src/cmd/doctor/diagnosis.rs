//! From an error of the format to what it means. docs/FORMAT.md has the offsets.

use super::heal;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use truebloom::{FormatError, Kind, Seed};

/// What was found.
pub(super) struct Diagnosis {
    pub(super) wrong: String,
    /// The bytes where it is wrong.
    pub(super) at: Option<Range<u64>>,
    pub(super) saved: String,
    pub(super) remedy: String,
    /// What the header says, if it can be believed.
    pub(super) parameters: Option<Parameters>,
}

/// The header's main fields.
pub(super) struct Parameters {
    pub(super) probes: u32,
    pub(super) bits: u64,
    pub(super) seed: Seed,
    pub(super) offered: u64,
}

impl Parameters {
    /// Bytes of a header.
    pub(super) const BYTES: u64 = 256;

    /// Of a header that is whole; those of other kinds than a Bloom filter have other fields.
    pub(super) fn of(header: &[u8]) -> Option<Parameters> {
        if header.get(10..12)? != (Kind::Bloom as u16).to_le_bytes() {
            return None;
        }
        let u64_at = |at: usize| header.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        let u128_at = |at: usize| header.get(at..at + 16).and_then(|bytes| bytes.try_into().ok()).map(u128::from_le_bytes);
        let probes = header.get(20..24).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        Some(Parameters { probes: probes?, bits: u64_at(24)?, seed: Seed::from(u128_at(32)?), offered: u64_at(48)? })
    }
}

const COPY: &str = "copy the file again from where it is whole";
const REBUILD: &str = "copy the file again from where it is whole, or build the filter again from its data with `truebloom create`";

impl Diagnosis {
    /// Looks at the file once more, knowing why it cannot be opened.
    pub(super) fn of(path: &Path, cause: &FormatError) -> io::Result<Diagnosis> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut start = Vec::new();
        (&mut file).take(Parameters::BYTES).read_to_end(&mut start)?;
        let plain = |at: Option<Range<u64>>, saved: &str, remedy: &str| Diagnosis {
            wrong: strip_remedy(&cause.to_string()),
            at,
            saved: saved.to_owned(),
            remedy: remedy.to_owned(),
            parameters: None,
        };
        Ok(match *cause {
            FormatError::NotAFilter { .. } | FormatError::Version { .. } | FormatError::HeaderChecksum { .. } => {
                match heal::one_byte(path, &start)? {
                    Some(healed) => healed.diagnosis(path),
                    None if matches!(cause, FormatError::NotAFilter { .. }) => foreign(&start, path),
                    None if matches!(cause, FormatError::Version { .. }) => {
                        plain(Some(8..10), "all, by a program that knows this version", "use a newer truebloom")
                    }
                    None => plain(
                        Some(0..Parameters::BYTES),
                        "nothing that could be trusted: more than one byte of the header was changed",
                        REBUILD,
                    ),
                }
            }
            FormatError::TextMode { .. } => text_mode(path, length, plain(Some(0..8), "nothing: the change cannot be undone", COPY))?,
            FormatError::Truncated { found: 0, .. } => plain(None, "nothing: the file is empty", REBUILD),
            FormatError::Truncated { found, expected } if found < Parameters::BYTES => {
                plain(Some(found..expected), "nothing: not even the header is whole", REBUILD)
            }
            FormatError::Truncated { found, expected } => Diagnosis {
                parameters: Parameters::of(&start),
                ..plain(
                    Some(found..expected),
                    "the header: a new filter with its bits, probes and seed can be merged with others of its kind; the bits that are missing may be any key's",
                    REBUILD,
                )
            },
            FormatError::TooLong { expected, found } => {
                too_long(path, &start, expected, plain(Some(expected..found), "only the header", REBUILD))?
            }
            FormatError::PayloadChecksum { .. } => Diagnosis {
                parameters: Parameters::of(&start),
                ..plain(
                    Some(Parameters::BYTES..length),
                    "the header; one checksum covers all bits, so nothing says which are wrong, and no answer can be trusted",
                    REBUILD,
                )
            },
            FormatError::Memory { .. } => plain(None, "all, on a larger machine", "read it on a larger machine"),
            FormatError::Padding { .. } => plain(
                Some(length.saturating_sub(8)..length),
                "nothing: checksums are right, so it was written so, but not by truebloom",
                REBUILD,
            ),
            FormatError::Reserved { offset } => {
                plain(Some(offset as u64..offset as u64 + 1), "all, by a program that knows these bytes", "use a newer truebloom")
            }
            FormatError::Unknown { field, .. } => plain(field_bytes(field), "all, by a program that knows it", "use a newer truebloom"),
            FormatError::Field { field, .. } => {
                plain(field_bytes(field), "nothing: checksums are right, so it was written so, but not by truebloom", REBUILD)
            }
            FormatError::Rate { .. } => {
                plain(Some(72..92), "nothing: checksums are right, so it was written so, but not by truebloom", REBUILD)
            }
            _ => plain(None, "unknown", REBUILD),
        })
    }
}

/// Where a field of the header lies.
fn field_bytes(field: &str) -> Option<Range<u64>> {
    Some(match field {
        "kind" => 10..12,
        "scheme" => 12..14,
        "hasher" => 14..16,
        "flags" => 16..20,
        "probes" => 20..24,
        "bits" => 24..32,
        "changed" => 56..64,
        "payload offset" => 96..104,
        "payload length" => 104..112,
        _ => return None,
    })
}

/// The message without its advice, which we give ourselves.
fn strip_remedy(message: &str) -> String {
    message.rsplit_once("; ").map_or(message, |(what, _)| what).to_owned()
}

/// What a file is that is no filter.
fn foreign(start: &[u8], path: &Path) -> Diagnosis {
    let shown = path.display();
    let is_text = !start.is_empty() && start.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..));
    let (what, remedy) = if start.starts_with(&[0x1f, 0x8b]) {
        ("compressed by gzip", format!("unpack it and look again: gzip -dc {shown} > unpacked.tbl && truebloom doctor unpacked.tbl"))
    } else if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        ("compressed by Zstandard", format!("unpack it and look again: zstd -dc {shown} > unpacked.tbl && truebloom doctor unpacked.tbl"))
    } else if start.starts_with(b"PK\x03\x04") {
        ("a zip archive", "unpack it and look at what is in it".to_owned())
    } else if is_text {
        ("text; is it the data that a filter is to be built from?", format!("truebloom create -n ITEMS -p RATE new.tbl {shown}"))
    } else {
        ("something else", "check the path".to_owned())
    };
    Diagnosis {
        wrong: format!("this is not a filter file, but {what}"),
        at: Some(0..8),
        saved: "nothing was lost: it was never a filter of truebloom, or its beginning was overwritten".to_owned(),
        remedy,
        parameters: None,
    }
}

fn text_mode(path: &Path, length: u64, otherwise: Diagnosis) -> io::Result<Diagnosis> {
    let Some(at) = heal::text_mode(path, length)? else { return Ok(otherwise) };
    Ok(Diagnosis {
        at: Some(at..at + 1),
        saved: "all of it: every newline had a carriage return put before it, and without them the checksums are right".to_owned(),
        remedy: format!("LC_ALL=C sed 's/\\r$//' {} > healed.tbl", path.display()),
        ..otherwise
    })
}

fn too_long(path: &Path, start: &[u8], expected: u64, otherwise: Diagnosis) -> io::Result<Diagnosis> {
    if !heal::is_whole(start, || File::open(path).map(|file| file.take(expected)))? {
        return Ok(otherwise);
    }
    Ok(Diagnosis {
        saved: "all of it: the filter before them is whole".to_owned(),
        remedy: format!("head -c {expected} {} > healed.tbl", path.display()),
        parameters: Parameters::of(start),
        ..otherwise
    })
}
