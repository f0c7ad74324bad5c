//! Reads inputs in many formats, such as lines, CSV and JSON, with the reader of the command.
//! Checks that the records do not depend on compression or on the number of threads.

use super::bytes::Bytes;
use crate::records::{Event, RecordArgs, Records};
use clap::{CommandFactory, FromArgMatches, Parser};
use std::io::Write;
use std::path::PathBuf;

#[derive(Parser)]
struct Options {
    #[command(flatten)]
    records: RecordArgs,
}

const FORMS: [&[&str]; 12] = [
    &[],
    &["--null"],
    &["--crlf"],
    &["--csv"],
    &["--csv", "--column", "b"],
    &["--csv", "--column", "2", "--no-header", "-d", ";"],
    &["--json-field", ".a"],
    &["--json-field", ".a.b", "--max-record", "100"],
    &["-f", "2", "-d", ","],
    &["-f", "1,3-4", "--hex"],
    &["--fixed", "3"],
    &["--hex", "--max-record", "9"],
];

/// The forms whose records contain all bytes of the input. The other forms drop empty lines of
/// JSON, carriage returns, or quotes.
const LOSSLESS: [usize; 5] = [0, 1, 8, 9, 11];

/// The result of reading: the keys, all text of the records, and whether there was an error.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    keys: Vec<Vec<u8>>,
    text: Vec<u8>,
    complete: bool,
}

/// The first byte chooses the form, and the second the compression.
pub fn records(data: &[u8]) {
    let mut bytes = Bytes(data);
    let (number, packing) = (usize::from(bytes.byte()) % FORMS.len(), bytes.byte() % 8);
    let (form, text) = (FORMS[number], bytes.0);
    let plain = read(form, "1", text, true);
    assert_eq!(read(form, "3", text, true), plain, "three threads");
    // Records without a key are returned, too, so the result has all bytes, and the end of the last
    // line.
    if LOSSLESS.contains(&number) {
        assert!(plain.text.starts_with(text) && plain.text.len() <= text.len() + 1, "{:?} of {text:?}", plain.text);
    }
    match packing {
        // The fuzzer's bytes are used as compressed data, with the fuzzer's checksum or with a
        // corrected one.
        0 => drop(read(form, "1", &[b"\x1f\x8b\x08", text].concat(), false)),
        1 => drop(read(form, "2", &[b"\x28\xb5\x2f\xfd", text].concat(), false)),
        2 => drop(read(form, "1", &deflated(text), false)),
        3 => drop(read(form, "1", text, false)),
        4 | 5 if !form.contains(&"--fixed") => assert_eq!(read(form, "1", &gzip(text), false), plain, "gzip"),
        6 | 7 if !form.contains(&"--fixed") => assert_eq!(read(form, "1", &zstd(text, packing == 6), false), plain, "Zstandard"),
        _ => {}
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text).expect("memory");
    packed.finish().expect("memory")
}

/// Makes two frames, possibly after a skippable frame.
fn zstd(text: &[u8], skipped: bool) -> Vec<u8> {
    let mut packed = if skipped { b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc".to_vec() } else { Vec::new() };
    let (first, second) = text.split_at(text.len() / 2);
    for part in [first, second] {
        packed.extend(ruzstd::encoding::compress_to_vec(part, ruzstd::encoding::CompressionLevel::Fastest));
    }
    packed
}

/// Puts raw deflate data from the fuzzer into a gzip member, with the right trailer for its
/// contents.
fn deflated(body: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    let _ = std::io::Read::read_to_end(&mut std::io::Read::take(flate2::read::DeflateDecoder::new(body), 1 << 20), &mut unpacked);
    let mut sum = flate2::Crc::new();
    sum.update(&unpacked);
    let header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00";
    [header, body, &sum.sum().to_le_bytes(), &sum.amount().to_le_bytes()].concat()
}

/// The result of reading these bytes from a file. All calls use the same file.
fn read(form: &[&str], threads: &str, bytes: &[u8], as_is: bool) -> Outcome {
    thread_local!(static FILE: tempfile::NamedTempFile = tempfile::NamedTempFile::new().expect("a temporary file"));
    let path: PathBuf = FILE.with(|file| {
        std::fs::write(file.path(), bytes).expect("a temporary file");
        file.path().to_owned()
    });
    let options = ["records"].iter().chain(form).copied().chain(["-j", threads, "--no-progress"]).chain(as_is.then_some("--as-is"));
    let matches = Options::command().try_get_matches_from(options).expect("known options");
    let args = Options::from_arg_matches(&matches).expect("known options").records;
    let mut records = Records::passing(&args, &[path], |_, _| ()).unwrap_or_else(|_| panic!("cannot read a file"));
    let mut outcome = Outcome::default();
    loop {
        match records.next() {
            Event::Batch(batch, _) => {
                outcome.keys.extend(batch.iter().map(|(_, key)| key.to_vec()));
                for index in 0..batch.len() {
                    outcome.text.extend_from_slice(batch.text_of(index, index));
                    outcome.text.extend_from_slice(args.terminator());
                }
            }
            Event::Header(piece) => outcome.text.extend([piece, b"\n"].concat()),
            Event::Passed(piece) => outcome.text.extend_from_slice(piece),
            Event::Stopped | Event::End => break,
            _ => {}
        }
    }
    outcome.complete = records.complete();
    outcome
}
