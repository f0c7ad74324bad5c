//! Sources of bytes: a file or standard input, decompressed if necessary.

use crate::failure::{Failure, for_shell};
use crate::inputs::{input_metadata, is_stdin, name, open_file};
use crate::output;
use crate::report;
use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much is read to detect the format of an input.
const FIRST: usize = 64 << 10;

const GZIP: &[u8] = &[0x1f, 0x8b, 8];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The last three bytes of the magic number of a skippable Zstandard frame; the first byte is 50 to
/// 5f in hexadecimal. Files of pzstd begin with such a frame.
const SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];

/// Whether these bytes begin like Zstandard data; false if there are too few bytes to decide.
fn begins_zstd(bytes: &[u8]) -> bool {
    bytes.starts_with(ZSTD) || bytes.split_first().is_some_and(|(first, rest)| first >> 4 == 5 && rest.starts_with(SKIPPABLE))
}

/// Formats that have no lines and are not decompressed here: their first bytes, their name, and a
/// command that converts them. In the magic number of bzip2, the 0 stands for any digit.
const REFUSED: [(&[u8], &str, &str); 13] = [
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz-compressed data", "xz -dc"),
    (b"BZh0\x31\x41\x59\x26\x53\x59", "bzip2-compressed data", "bzip2 -dc"),
    (b"PK\x03\x04", "a zip archive", "unzip -p"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "7z x -so"),
    (&[0x04, 0x22, 0x4d, 0x18], "lz4-compressed data", "lz4 -dc"),
    (b"LZIP\x01", "lzip-compressed data", "lzip -dc"),
    (&[0x1f, 0x9d], "data compressed by `compress`", "zcat"),
    (&[0xff, 0xfe, 0, 0], "UTF-32 text", "iconv -f UTF-32 -t UTF-8"),
    (&[0, 0, 0xfe, 0xff], "UTF-32 text", "iconv -f UTF-32 -t UTF-8"),
    (&[0xff, 0xfe], "UTF-16 text", "iconv -f UTF-16 -t UTF-8"),
    (&[0xfe, 0xff], "UTF-16 text", "iconv -f UTF-16 -t UTF-8"),
    (TRUEBLOOM, "", ""),
    (COMPRESSED, "", ""),
];

/// The first bytes of a truebloom file.
const TRUEBLOOM: &[u8] = b"\x89TBL\r\n\x1a\n";
/// The first bytes of a compressed truebloom file, and of a difference between two files.
const COMPRESSED: &[u8] = b"\x89TBZ\r\n\x1a\n";

/// Whether bytes agree with a magic number in all positions that both of them have.
fn agrees(magic: &[u8], bytes: &[u8]) -> bool {
    magic.iter().zip(bytes).all(|(magic, byte)| magic == byte || (*magic == b'0' && byte.is_ascii_digit()))
}

/// The entry of [`REFUSED`] for data that begins like this.
fn refused(first: &[u8]) -> Option<(&'static [u8], &'static str, &'static str)> {
    REFUSED.into_iter().find(|(magic, ..)| first.len() >= magic.len() && agrees(magic, first))
}

/// The number of bytes that [`packing`] needs.
pub(crate) const PACKING_BYTES: u64 = TAR_HEADER as u64;

/// The name of the format of data that begins like this, and a command that unpacks it.
pub(crate) fn packing(first: &[u8]) -> Option<(&'static str, &'static str)> {
    match refused(first) {
        _ if first.starts_with(GZIP) => Some(("gzip-compressed data", "gzip -dc")),
        _ if begins_zstd(first) => Some(("Zstandard-compressed data", "zstd -dc")),
        _ if first.first_chunk().is_some_and(is_tar) => Some(("a tar archive", "tar -xOf")),
        other => other.map(|(_, what, command)| (what, command)),
    }
}

/// Why an input that begins like this cannot be read.
fn refusal(path: &Path, first: &[u8]) -> Option<String> {
    let (magic, what, remedy) = refused(first)?;
    if magic == TRUEBLOOM || magic == COMPRESSED {
        return Some(
            "this is a truebloom file, but lines are expected here; `truebloom merge` joins filters, and --any, --all and --each of `truebloom check` query several filters"
                .to_owned(),
        );
    }
    Some(not_read(path, what, remedy))
}

/// The name of a file as a word of a command that unpacks it. tar takes the part before a colon as
/// the name of another machine, unless this part has a slash.
pub(crate) fn for_tools(path: &Path) -> String {
    let has_colon = path.to_string_lossy().split('/').next().is_some_and(|first| first.contains(':'));
    if has_colon { for_shell(&Path::new(".").join(path)) } else { for_shell(path) }
}

/// Says that this command does not read a format, and how to convert it.
fn not_read(path: &Path, what: &str, remedy: &str) -> String {
    let file = if is_stdin(path) { "FILE".to_owned() } else { for_tools(path) };
    format!(
        "this is {what}, which this command does not read; convert it in a pipe, `{remedy} {file} | truebloom ...`, or use its bytes unchanged with --as-is"
    )
}

/// The length of the header of a file in a tar archive.
const TAR_HEADER: usize = 512;

/// Whether this is the header of a file in a tar archive. The header has its own checksum: the sum
/// of its bytes, in octal digits, with eight spaces in the place of the checksum. Old archives have
/// no magic number. Unlike text, the header has NULs.
fn is_tar(header: &[u8; TAR_HEADER]) -> bool {
    let digits = String::from_utf8_lossy(&header[148..156]);
    let stored = u64::from_str_radix(digits.trim_matches([' ', '\0']), 8).ok();
    let others = header[..148].iter().chain(&header[156..]).map(|&byte| u64::from(byte)).sum::<u64>();
    header.contains(&0) && stored == Some(others + 8 * u64::from(b' '))
}

/// Passes bytes on, unless they are those of a tar archive. Archives are often compressed, so this
/// examines the unpacked bytes.
struct NoArchive<R> {
    source: R,
    path: PathBuf,
    is_examined: bool,
}

impl<R: Read> Read for NoArchive<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut length = read_retrying(&mut self.source, buffer)?;
        if std::mem::replace(&mut self.is_examined, true) {
            return Ok(length);
        }
        // A header has no end of a line. So this waits for at most one line.
        let has_line = |bytes: &[u8]| bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
        while length < TAR_HEADER.min(buffer.len()) && !has_line(&buffer[..length]) {
            match read_retrying(&mut self.source, &mut buffer[length..])? {
                0 => break,
                more => length += more,
            }
        }
        if buffer[..length].first_chunk().is_some_and(is_tar) {
            return Err(io::Error::other(not_read(&self.path, "a tar archive", "tar -xOf")));
        }
        Ok(length)
    }
}

/// Whether these bytes may be the beginning of a magic number.
fn is_undecided(bytes: &[u8]) -> bool {
    let shorter = |magic: &[u8], bytes: &[u8]| bytes.len() < magic.len() && agrees(magic, bytes);
    match bytes.split_first() {
        Some((first, rest)) if first >> 4 == 5 => shorter(SKIPPABLE, rest),
        _ => [GZIP, ZSTD].into_iter().chain(REFUSED.iter().map(|refused| refused.0)).any(|magic| shorter(magic, bytes)),
    }
}

/// Whether an input is a file of this program. A file that cannot be opened, or is not a regular
/// file, is reported when it is read.
pub(crate) fn is_filter(path: &Path) -> bool {
    let mut start = Vec::new();
    let file = std::fs::metadata(path).ok().filter(Metadata::is_file).and_then(|_| File::open(path).ok());
    file.is_some_and(|file| file.take(TRUEBLOOM.len() as u64).read_to_end(&mut start).is_ok())
        && (start == TRUEBLOOM || start == COMPRESSED)
}

/// Refuses an input to which standard output goes: the program would read its own output, without
/// end.
pub(crate) fn check_not_output(paths: &[PathBuf]) -> Result<(), Failure> {
    for path in super::or_stdin(paths) {
        let is_file = input_metadata(&path).is_ok_and(|data| data.is_file());
        // An input that cannot be opened is reported when it is read.
        if is_file && open_file(&path).and_then(|file| output::feeds(&file)).unwrap_or(false) {
            return Err(Failure::at(
                name(&path),
                "this input is also the output, so the command would endlessly read its own output; write to another file, and move it afterwards",
            ));
        }
    }
    Ok(())
}

/// How the bytes of an input are read.
#[derive(Clone, Copy, Default)]
pub(super) struct Reading {
    /// Whether the bytes are used unchanged: nothing is decompressed or refused.
    pub(super) as_is: bool,
    /// Whether records end with NUL. Such records can come one by one from a pipe, and can look
    /// like the header of an archive. So only files of such records are examined for archives.
    pub(super) ends_by_nul: bool,
}

/// Opens an input. If its first bytes are those of gzip or Zstandard, the input is decompressed,
/// unless they are read as they are. `read` counts the bytes that are read from it.
pub(super) fn open(path: &Path, reading: Reading, read: &Arc<AtomicU64>) -> io::Result<Box<dyn Read>> {
    let mut file = Counted { file: open_file(path)?, read: Arc::clone(read) };
    if reading.as_is {
        return Ok(Box::new(file));
    }
    let can_be_archive = !reading.ends_by_nul || file.file.metadata()?.is_file();
    let first = first_bytes(&mut file)?;
    if let Some(why) = refusal(path, &first) {
        return Err(io::Error::other(why));
    }
    let (gzip, zstd) = (first.starts_with(GZIP), begins_zstd(&first));
    let whole = Cursor::new(first).chain(file);
    let source: Box<dyn Read> = match (gzip, zstd) {
        (true, _) => Box::new(Unpacked { format: "gzip", source: Gzip(Some(GzDecoder::new(BufReader::with_capacity(FIRST, whole)))) }),
        (_, true) => {
            let source = BufReader::with_capacity(FIRST, whole);
            Box::new(Unpacked {
                format: "Zstandard",
                source: Zstd { source, decoder: FrameDecoder::new(), inside: false, unpacked: 0, is_sized: false },
            })
        }
        _ => Box::new(whole),
    };
    Ok(Box::new(NoArchive { source, path: path.to_owned(), is_examined: !can_be_archive }))
}

/// Reads at least once, and continues as long as the bytes could be the beginning of a magic
/// number.
fn first_bytes(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut first = vec![0; FIRST];
    let mut length = 0;
    loop {
        let read = read_retrying(source, &mut first[length..])?;
        length += read;
        if read == 0 || !is_undecided(&first[..length]) {
            first.truncate(length);
            return Ok(first);
        }
    }
}

/// Reads, and retries if a signal interrupts it.
pub(super) fn read_retrying(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// A file that counts how many of its bytes were read.
struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The kind of error of compressed data whose contents are damaged, so that what was unpacked
/// before may be wrong. If the data only ends too early, the records before are right.
pub(super) const DAMAGED: io::ErrorKind = io::ErrorKind::InvalidData;

/// A reader that adds the name of the compression format to errors in compressed data.
struct Unpacked<R> {
    format: &'static str,
    source: R,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.source.read(buffer).map_err(|error| match error.raw_os_error() {
            Some(_) => error,
            None if error.kind() == io::ErrorKind::Unsupported => error,
            None => {
                let is_damaged = matches!(error.kind(), DAMAGED | io::ErrorKind::InvalidInput);
                let kind = if is_damaged { DAMAGED } else { io::ErrorKind::Other };
                io::Error::new(kind, format!("broken {} data ({error})", self.format))
            }
        })
    }
}

/// A reader of gzip: any number of members one after the other, followed by any number of zeros,
/// because tapes and disks pad files with zeros.
struct Gzip<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.0 = match self.0.take() {
                Some(ended) => next_member(ended.into_inner())?,
                None => None,
            };
        }
        Ok(0)
    }
}

/// The next member, if anything but zeros follows.
fn next_member<R: BufRead>(mut source: R) -> io::Result<Option<GzDecoder<R>>> {
    let mut padded = false;
    loop {
        let rest = source.fill_buf()?;
        match rest.first() {
            None => return Ok(None),
            Some(0) => padded = true,
            Some(first) if *first == GZIP[0] && !padded => return Ok(Some(GzDecoder::new(source))),
            Some(_) => return Err(io::Error::other("other data follows the gzip data")),
        }
        let zeros = rest.iter().take_while(|byte| **byte == 0).count();
        source.consume(zeros);
    }
}

/// A reader of Zstandard: any number of frames one after the other, as written by tools that append
/// or compress in parallel. The library decompresses one frame at a time.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    inside: bool,
    /// The number of bytes decompressed from this frame so far.
    unpacked: u64,
    /// Whether the header of the frame contains the decompressed size.
    is_sized: bool,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.inside && !self.begin_frame()? {
                return Ok(0);
            }
            if self.decoder.can_collect() > 0 {
                let read = self.decoder.read(buffer)?;
                self.unpacked += read as u64;
                return Ok(read);
            }
            if self.decoder.is_finished() {
                self.end_frame()?;
            } else {
                self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1)).map_err(cut_or_damaged)?;
            }
        }
    }
}

/// Returns the error for a window that is too large: the data is intact, but decompressing it would
/// take more memory than allowed.
fn window_too_large(asked: u64, most: u64) -> io::Error {
    let (asked, most) = (report::bytes(asked), report::bytes(most));
    let why = format!(
        "unpacking it needs {asked} of memory, more than the {most} allowed; unpack it with `zstd -dc --long=31` and pipe the result in"
    );
    io::Error::new(io::ErrorKind::Unsupported, why)
}

/// Converts an error of the library. If the data ends too early, the message says only this.
fn cut_or_damaged(error: FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if inner.downcast_ref::<io::Error>().is_some_and(|inner| inner.kind() == io::ErrorKind::UnexpectedEof) {
            return io::Error::other("it ends too early");
        }
        cause = inner.source();
    }
    io::Error::new(DAMAGED, error)
}

impl<R: BufRead> Zstd<R> {
    /// Reads the header of the next frame; false at the end of the source.
    fn begin_frame(&mut self) -> io::Result<bool> {
        while let Some((_, rest)) = self.source.fill_buf()?.split_first() {
            // The descriptor follows the magic number. It is needed because the decoder reports a
            // missing size as 0.
            let descriptor = rest.get(ZSTD.len() - 1).copied().unwrap_or(0);
            self.is_sized = descriptor >> 6 != 0 || descriptor & 1 << 5 != 0;
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    (self.inside, self.unpacked) = (true, 0);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut (&mut self.source).take(length.into()), &mut io::sink())?;
                    if skipped < length.into() {
                        return Err(io::Error::other("it ends within a skippable frame"));
                    }
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(_))) => {
                    return Err(io::Error::other("other data follows the Zstandard data"));
                }
                Err(FrameDecoderError::WindowSizeTooBig { requested, max }) => return Err(window_too_large(requested, max)),
                Err(error) => return Err(cut_or_damaged(error)),
            }
        }
        Ok(false)
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.inside = false;
        let said = self.decoder.content_size();
        if (self.is_sized || said != 0) && said != self.unpacked {
            let message = format!("a frame declares {}, but holds {}", report::plural(said, "byte"), report::count(self.unpacked));
            return Err(io::Error::new(DAMAGED, message));
        }
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(written), Some(found)) if written != found => Err(io::Error::new(DAMAGED, "the checksum of a frame is wrong")),
            _ => Ok(()),
        }
    }
}
