//! Diagnosis: explains an error of the file format.

use super::heal;
use super::rebuild::{FILTER_AGAIN, rebuild, replace};
use crate::failure::{for_shell, without_advice};
use crate::records::{PACKING_BYTES, for_tools, packing};
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use truebloom::file::open_regular;
use truebloom::{FileHeader, FileKind, FormatError, wire};

/// What is wrong with a file, and what can be done about it.
pub(super) struct Diagnosis {
    pub(super) wrong: String,
    /// The bytes that are wrong.
    pub(super) at: Option<Range<u64>>,
    pub(super) saved: String,
    /// What can be done, one alternative per line of the report.
    pub(super) remedy: Vec<String>,
    /// The fields of the header, if it can be trusted.
    pub(super) header: Option<FileHeader>,
}

/// The header of a Bloom filter's file, if it is undamaged. Returns `None` for other kinds of
/// files, because their fields have other meanings.
pub(super) fn header(start: &[u8]) -> Option<FileHeader> {
    FileHeader::from_bytes(start).ok().filter(|header| matches!(header.kind(), FileKind::Bloom | FileKind::Blocked))
}

/// A command that writes the output of `command` to a new file, and then examines this file.
fn into_new(stem: &str, command: &str) -> String {
    let name = new_name(stem);
    format!("{command} > {name} && truebloom doctor {name}")
}

/// A name that no file in the current folder has. A command that reads and writes the same file
/// would empty it.
fn new_name(stem: &str) -> String {
    let numbered = (2..).map(|number| format!("{stem}-{number}.tbl"));
    let mut names = std::iter::once(format!("{stem}.tbl")).chain(numbered);
    names.find(|name| Path::new(name).symlink_metadata().is_err()).unwrap_or_default()
}

impl Diagnosis {
    /// Examines a file that could not be opened because of the error `cause`.
    pub(super) fn of(path: &Path, cause: &FormatError) -> io::Result<Diagnosis> {
        let found = Diagnosis::of_named(path, cause)?;
        let has_word = !path.as_os_str().as_encoded_bytes().ends_with(b"\n");
        // A shell would remove the newline from the name, so a command would change another file.
        let rename = || vec!["give the file a name that does not end with a newline, and examine it again".to_owned()];
        Ok(if has_word { found } else { Diagnosis { remedy: rename(), ..found } })
    }

    fn of_named(path: &Path, cause: &FormatError) -> io::Result<Diagnosis> {
        let mut file = open_regular(path)?;
        let length = file.metadata()?.len();
        let mut start = Vec::new();
        (&mut file).take(FileHeader::BYTES).read_to_end(&mut start)?;
        let plain = |at: Option<Range<u64>>, saved: &str, remedy: Vec<String>| Diagnosis {
            wrong: without_advice(cause),
            at,
            saved: saved.to_owned(),
            remedy,
            header: None,
        };
        let newer = || vec!["use a newer truebloom".to_owned()];
        if wire::is_coded(&start) {
            return Ok(coded(path, length, cause));
        }
        let at = cause.header_bytes(&start);
        // Finding the options of `create` can take some seconds, so this is only done if needed.
        let rebuild = || rebuild(path, FileHeader::from_bytes(&start).ok().as_ref());
        // In other kinds the fields of the header have other meanings, and are not shown.
        let header = header(&start);
        let is_shown = header.is_some();
        Ok(match *cause {
            FormatError::NotAFilter { .. }
            | FormatError::TextMode { .. }
            | FormatError::Version { .. }
            | FormatError::HeaderChecksum { .. } => {
                match heal::one_byte(path, &start)? {
                    Some(healed) => healed.diagnosis(path),
                    // A single wrong byte among the first ones looks like a transfer in text mode.
                    None if matches!(cause, FormatError::TextMode { .. }) => {
                        text_mode(path, length, plain(at, "nothing: the change cannot be undone", rebuild()))?
                    }
                    None if matches!(cause, FormatError::NotAFilter { .. }) => {
                        file.take(PACKING_BYTES - start.len() as u64).read_to_end(&mut start)?;
                        foreign(&start, path, at)
                    }
                    None if matches!(cause, FormatError::Version { found: 0, .. }) => {
                        plain(at, "nothing: the format has no version 0, so the beginning of the file was overwritten", rebuild())
                    }
                    None if matches!(cause, FormatError::Version { .. }) => {
                        plain(at, "perhaps everything, with a program that knows this version, if there is one", newer())
                    }
                    None => plain(
                        Some(0..FileHeader::BYTES),
                        "nothing: more than one byte of the header was changed, so none of its fields can be trusted",
                        rebuild(),
                    ),
                }
            }
            FormatError::Truncated { found: 0, .. } => plain(None, "nothing: the file is empty", rebuild()),
            FormatError::Truncated { found, expected } if found < FileHeader::BYTES => {
                plain(Some(found..expected), "nothing: not even the header is complete", rebuild())
            }
            FormatError::Truncated { found, expected } => {
                let saved = if is_shown {
                    "only the header, because every key may have bits in the missing part"
                } else {
                    "nothing, because every key may have bits in the missing part"
                };
                Diagnosis { header, ..plain(Some(found..expected), saved, rebuild()) }
            }
            FormatError::TooLong { expected, found } => {
                let saved = if is_shown { "only the header" } else { "nothing" };
                too_long(path, &start, expected, Diagnosis { header, ..plain(Some(expected..found), saved, rebuild()) })?
            }
            FormatError::PayloadChecksum { .. } => {
                let saved = if is_shown {
                    "only the header: one checksum covers all bits, so it is not known which bits are wrong, and no answer can be trusted"
                } else {
                    "nothing: one checksum covers all bits, so it is not known which bits are wrong, and no answer can be trusted"
                };
                Diagnosis { header, ..plain(Some(FileHeader::BYTES..length), saved, rebuild()) }
            }
            FormatError::Memory { .. } => {
                plain(None, "everything, on a machine with more memory", vec!["read it on a machine with more memory".to_owned()])
            }
            FormatError::Padding { .. } => plain(
                Some(length.saturating_sub(8)..length),
                "nothing: the checksums are right, so the file was written in this form by a program other than truebloom",
                rebuild(),
            ),
            FormatError::Reserved { .. } => plain(at, "everything, with a program that knows the meaning of these bytes", newer()),
            FormatError::Unknown { .. } => plain(at, "everything, with a program that supports this value", newer()),
            FormatError::Field { .. } | FormatError::Rate { .. } => plain(
                at,
                "nothing: the checksums are right, so the file was written in this form by a program other than truebloom",
                vec![replace(path), FILTER_AGAIN.to_owned()],
            ),
            FormatError::Unfinished => plain(
                None,
                "perhaps everything: a program is changing the file, or ended during a change",
                vec![
                    "wait until no program uses the file, and examine it again".to_owned(),
                    "or, if that program was killed: recover the bits with a program that uses the crate `truebloom`, or build the filter again from its data".to_owned(),
                ],
            ),
            _ => plain(None, "unknown", rebuild()),
        })
    }
}

/// Diagnoses a compressed file, in which the meaning of each byte depends on all bytes before it.
fn coded(path: &Path, length: u64, cause: &FormatError) -> Diagnosis {
    let (at, saved, remedy) = match *cause {
        FormatError::Truncated { expected, found } => {
            (Some(found..expected), "nothing: a compressed file can only be read if all of it is intact", replace(path))
        }
        FormatError::TooLong { expected, .. } if expected < length => {
            let healed = into_new("healed", &format!("head -c {expected} {}", for_shell(path)));
            (Some(expected..length), "perhaps all of it, if the bytes before the extra ones are undamaged", healed)
        }
        FormatError::Coded { is_difference: true } => (
            None,
            "all of it, if the bits are undamaged; `truebloom apply` checks this",
            format!("truebloom apply FILTER {}", for_shell(path)),
        ),
        FormatError::Version { .. } => {
            (Some(8..9), "everything, with a program that knows this version", "use a newer truebloom".to_owned())
        }
        _ => (None, "nothing: a compressed file can only be read if all of it is intact", replace(path)),
    };
    Diagnosis { wrong: without_advice(cause), at, saved: saved.to_owned(), remedy: vec![remedy], header: None }
}

/// The first bytes of a filter or a compressed filter in base64, as far as they are equal.
const BASE64: &[u8] = b"iVRC";

/// The first bytes of both after a conversion from Latin-1 to UTF-8.
const AS_UTF_8: &[u8] = b"\xc2\x89TB";

/// Says in what form a file may contain a filter, and how to bring it back.
fn packed(start: &[u8], path: &Path) -> Option<(String, String)> {
    let shown = for_shell(path);
    let look = |verb: &str, stem: &str, command: String| format!("{verb} and look again: {}", into_new(stem, &command));
    if let Some((what, command)) = packing(start) {
        return Some((format!(", but {what}"), look("unpack it", "unpacked", format!("{command} {}", for_tools(path)))));
    }
    if start.starts_with(BASE64) && start.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_=\r\n".contains(byte)) {
        // Base64 for addresses has two other characters. It often lacks the padding at the end:
        // then `base64` decodes all bytes, but fails, so its exit code is hidden by `cat`.
        let command = format!("tr -d '\\r' < {shown} | tr '_-' '/+' | base64 -d | cat");
        return Some((", but base64 text".to_owned(), look("decode it", "decoded", command)));
    }
    let convert = || look("convert it back", "healed", format!("iconv -f UTF-8 -t LATIN1 {shown}"));
    start.starts_with(AS_UTF_8).then(|| (": it was converted as text to UTF-8".to_owned(), convert()))
}

/// Identifies a file that is not a filter.
fn foreign(start: &[u8], path: &Path, at: Option<Range<u64>>) -> Diagnosis {
    let is_text = !start.is_empty() && start.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..));
    let never = "nothing: the file was never a truebloom filter, or its beginning was overwritten";
    let (what, saved, remedy) = if let Some((what, remedy)) = packed(start, path) {
        (what, "perhaps all of it, if a filter is in it", vec![remedy])
    } else if is_text {
        let create = format!("make a filter from these lines: truebloom create -n ITEMS -p RATE {} {}", new_name("new"), for_shell(path));
        (", but text, perhaps the data for a filter".to_owned(), never, vec![create])
    } else {
        (String::new(), never, vec![format!("check the path, or {}", replace(path)), FILTER_AGAIN.to_owned()])
    };
    Diagnosis { wrong: format!("this is not a filter file{what}"), at, saved: saved.to_owned(), remedy, header: None }
}

fn text_mode(path: &Path, length: u64, otherwise: Diagnosis) -> io::Result<Diagnosis> {
    let Some(undone) = heal::text_mode(path, length)? else { return Ok(otherwise) };
    let at = undone.first;
    Ok(Diagnosis {
        at: Some(at..at + 1),
        saved: format!(
            "all of it: a carriage return was inserted before every newline; without these carriage returns, the checksums are right{}",
            if undone.is_too_long { ", but extra bytes follow the filter" } else { "" }
        ),
        remedy: vec![into_new(
            "healed",
            &format!("LC_ALL=C sed '{}s/\\r$//' {}", if undone.keeps_last { "$!" } else { "" }, for_shell(path)),
        )],
        ..otherwise
    })
}

fn too_long(path: &Path, start: &[u8], expected: u64, otherwise: Diagnosis) -> io::Result<Diagnosis> {
    if !heal::is_whole(start, || open_regular(path).map(|file| file.take(expected)))? {
        return Ok(otherwise);
    }
    Ok(Diagnosis {
        saved: "all of it: without the extra bytes, the file is a whole filter".to_owned(),
        remedy: vec![into_new("healed", &format!("head -c {expected} {}", for_shell(path)))],
        header: header(start),
        ..otherwise
    })
}
