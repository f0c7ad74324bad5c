//! The bytes of a value for RDB, DUMP, AOF and SCANDUMP: a single encoding. All numbers are
//! little-endian.
//!
//! | bytes | |
//! |---|---|
//! | 4 | `TBv1` |
//! | 4 | what follows: 1 a compact filter, 2 a file of the project, 3 one of a filter that recycles, 4 one of a sketch, 5 chunks that are still coming |
//! | 8 | the expansion that was asked for; 0 for none |
//! | | that |
//!
//! A compact filter consists of twelve words (see [`Compact`]'s fields in [`write`]), followed by
//! its own words. Everything that is read is checked for consistency before it is used; nothing
//! larger than the input is allocated.

use crate::compact::{Compact, MOST_WORDS, SEED_WORDS, zeroed};
use crate::large::Large;
use crate::loading::Loading;
use crate::plans::{self, Kind, Shape};
use crate::sketch::Sketch;
use crate::turning::Turning;
use crate::value::Value;
use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;
use truebloom::count_min::CountMin;
use truebloom::{AnyFilter, HasherId, Seed};
use truebloom_math::Rate;
use xxhash_rust::xxh3::Xxh3Default;

/// Bytes of a chunk of SCANDUMP.
pub(crate) const CHUNK: usize = 16 << 20;

const MAGIC: u32 = u32::from_le_bytes(*b"TBv1");

mod form {
    pub(super) const COMPACT: u32 = 1;
    pub(super) const FILE: u32 = 2;
    pub(super) const TURNING: u32 = 3;
    pub(super) const SKETCH: u32 = 4;
    pub(super) const LOADING: u32 = 5;
}

/// The number of bytes before the contents.
const HEADER: u64 = 16;

/// The number of words before a compact filter's own.
const COMPACT_WORDS: usize = 12;

/// The beginning of a file of the project. Compressed files, which could expand to a thousand times
/// their length, begin differently and are refused.
pub(crate) const FILE_MAGIC: &[u8; 8] = b"\x89TBL\r\n\x1a\n";

/// A reader that knows how many bytes are left.
pub(crate) trait Source: Read {
    fn left(&self) -> u64;
}

impl Source for &[u8] {
    fn left(&self) -> u64 {
        self.len() as u64
    }
}

/// Why bytes are not a value.
#[derive(Debug)]
pub(crate) struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn refused(why: impl fmt::Display) -> Refused {
    Refused(why.to_string())
}

/// The number of bytes that [`write`] writes.
pub(crate) fn length(value: &Value) -> u64 {
    HEADER
        + match value {
            Value::Compact(filter) => 8 * (COMPACT_WORDS + filter.words().len()) as u64,
            Value::Large(filter) => filter.filter().encoded_bytes(),
            Value::Turning(filter) => filter.file_bytes(),
            Value::Sketch(sketch) => sketch.0.encoded_bytes(),
            Value::Loading(loading) => 8 + loading.bytes.len() as u64,
        }
}

/// Writes a value.
pub(crate) fn write(value: &Value, target: &mut dyn Write) -> io::Result<()> {
    let (form, expansion) = match value {
        Value::Compact(filter) => (form::COMPACT, filter.shape().expansion),
        Value::Large(filter) => (form::FILE, filter.expansion()),
        Value::Turning(_) => (form::TURNING, 0),
        Value::Sketch(_) => (form::SKETCH, 0),
        Value::Loading(_) => (form::LOADING, 0),
    };
    let mut header = [0; HEADER as usize];
    header[..4].copy_from_slice(&MAGIC.to_le_bytes());
    header[4..8].copy_from_slice(&form.to_le_bytes());
    header[8..12].copy_from_slice(&expansion.to_le_bytes());
    target.write_all(&header)?;
    match value {
        Value::Compact(filter) => write_compact(filter, target),
        Value::Large(filter) => filter.filter().write_to(target),
        Value::Turning(filter) => filter.write(target),
        Value::Sketch(sketch) => sketch.0.write_to(target),
        Value::Loading(loading) => {
            target.write_all(&loading.total.to_le_bytes())?;
            target.write_all(&loading.bytes)
        }
    }
}

fn write_compact(filter: &Compact, target: &mut dyn Write) -> io::Result<()> {
    let shape = filter.shape();
    let seed = u128::from(filter.seed());
    let (numerator, exponent, divisor) = shape.rate.map_or((0, 0, 0), |rate| rate.parts());
    let (kind, items, size, probes) = match shape.kind {
        Kind::Growing(growth) => (0, growth.first(), growth.ratio().to_bits(), 0),
        Kind::Fixed { capacity } => {
            let scheme = shape.layer(0).map(|layer| layer.scheme);
            (1, capacity.unwrap_or(0), scheme.map_or(0, |scheme| scheme.bits()), scheme.map_or(0, |scheme| scheme.probes().into()))
        }
    };
    let words: [u64; COMPACT_WORDS] = [
        kind,
        shape.hasher as u64,
        seed as u64,
        (seed >> 64) as u64,
        numerator,
        i64::from(exponent) as u64,
        divisor,
        items,
        size,
        probes,
        u64::from(filter.changed()) | u64::from(filter.repeats()) << 32,
        filter.words().len() as u64,
    ];
    target.write_all(words.map(u64::to_le_bytes).as_flattened())?;
    let mut buffer = [[0; 8]; 64];
    for words in filter.words().chunks(buffer.len()) {
        buffer.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        target.write_all(buffer[..words.len()].as_flattened())?;
    }
    Ok(())
}

/// Reads a value to its end. Refuses a value that would take more bytes than `limit`.
pub(crate) fn read(source: &mut impl Source, limit: Option<u64>) -> Result<Value, Refused> {
    if let Some(limit) = limit.filter(|limit| source.left() > limit.saturating_add(HEADER)) {
        return Err(refused(format!("the value has {} bytes, but a key may take {limit} (bf.bloom-memory-usage-limit)", source.left())));
    }
    let mut header = [0; HEADER as usize];
    source.read_exact(&mut header).map_err(refused)?;
    let number = |at: usize| header.get(at..).and_then(|rest| rest.first_chunk::<4>()).map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let (form, expansion) = (number(4), number(8));
    if number(0) != MAGIC || number(12) != 0 || expansion > crate::settings::MOST_EXPANSION {
        return Err(refused("the bytes are no value of this module"));
    }
    let value = match form {
        form::COMPACT => Value::Compact(read_compact(source, expansion)?),
        form::FILE => {
            let filter = AnyFilter::read_from(file(source)?).map_err(refused)?;
            Value::Large(Box::new(Large::new(filter, expansion)))
        }
        form::TURNING => Value::Turning(Box::new(Turning::read(file(source)?).map_err(|failure| refused(format!("{failure:?}")))?)),
        form::SKETCH => Value::Sketch(Box::new(Sketch(CountMin::read_from(file(source)?).map_err(refused)?))),
        form::LOADING => Value::Loading(Box::new(read_loading(source, limit)?)),
        other => return Err(refused(format!("a value of kind {other} is newer than this module"))),
    };
    if source.left() > 0 {
        return Err(refused("something follows the value"));
    }
    Ok(value)
}

/// The following bytes, if they begin like an uncompressed file of the project.
fn file<S: Source>(source: &mut S) -> Result<impl Read, Refused> {
    let mut magic = [0; 8];
    source.read_exact(&mut magic).map_err(refused)?;
    if magic != *FILE_MAGIC {
        return Err(refused("the value has no file of the project in it"));
    }
    Ok(FILE_MAGIC.chain(source))
}

fn read_loading(source: &mut impl Source, limit: Option<u64>) -> Result<Loading, Refused> {
    let mut total = [0; 8];
    source.read_exact(&mut total).map_err(refused)?;
    let total = u64::from_le_bytes(total);
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).map_err(refused)?;
    if limit.is_some_and(|limit| total > limit) {
        return Err(refused("the value is larger than the limits allow"));
    }
    if bytes.len() as u64 >= total {
        return Err(refused("more chunks than the value has bytes"));
    }
    Ok(Loading { bytes, total })
}

fn read_compact(source: &mut impl Source, expansion: u32) -> Result<Compact, Refused> {
    let wrong = || refused("the counts, the plan and the bits of the filter do not fit each other");
    let mut bytes = [0; 8 * COMPACT_WORDS];
    source.read_exact(&mut bytes).map_err(refused)?;
    let mut words = [0; COMPACT_WORDS];
    words.iter_mut().zip(bytes.as_chunks::<8>().0).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    let [kind, hasher, seed_low, seed_high, numerator, exponent, divisor, items, size, probes, counts, count] = words;
    let hasher = [HasherId::Xxh3, HasherId::Sip13].into_iter().find(|id| *id as u64 == hasher).ok_or_else(wrong)?;
    let rate = match (numerator, exponent, divisor) {
        (0, 0, 0) => None,
        _ => Some(Rate::from_parts(numerator, i32::try_from(exponent as i64).map_err(refused)?, divisor).map_err(refused)?),
    };
    // What is allocated is there to be read.
    if count > MOST_WORDS as u64 || 8 * count != source.left() {
        return Err(wrong());
    }
    let mut own = zeroed(SEED_WORDS + count as usize).map_err(|failure| refused(format!("{failure:?}")))?;
    let mut buffer = [[0; 8]; 64];
    for words in own[SEED_WORDS..].chunks_mut(buffer.len()) {
        let bytes = &mut buffer[..words.len()];
        source.read_exact(bytes.as_flattened_mut()).map_err(refused)?;
        words.iter_mut().zip(bytes).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    }
    let shape: Arc<Shape> = match (kind, rate, probes) {
        (0, Some(rate), 0) => plans::growing_by(rate, items, f64::from_bits(size), expansion, hasher),
        (1, rate, probes) if expansion == 0 && size.div_ceil(64) < count => {
            let probes = u32::try_from(probes).map_err(refused)?;
            plans::fixed(size, probes, rate, Some(items).filter(|items| *items > 0), hasher)
        }
        _ => return Err(wrong()),
    }
    .map_err(|failure| refused(format!("{failure:?}")))?;
    let seed = Seed::from(u128::from(seed_low) | u128::from(seed_high) << 64);
    let repeats = u16::try_from(counts >> 32).map_err(refused)?;
    Compact::checked(shape, seed, own, counts as u32, repeats).ok_or_else(wrong)
}

/// A checksum of the written bytes.
pub(crate) struct Sum(Xxh3Default);

impl Sum {
    pub(crate) fn new() -> Sum {
        Sum(Xxh3Default::new())
    }

    pub(crate) fn finish(&self) -> u64 {
        self.0.digest()
    }
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps a part of what is written: a chunk of SCANDUMP. It stops the writing afterwards.
pub(crate) struct Part {
    skip: u64,
    pub(crate) bytes: Vec<u8>,
    most: usize,
}

impl Part {
    /// The chunk with this number, from 0.
    pub(crate) fn new(number: u64) -> Part {
        Part { skip: number.saturating_mul(CHUNK as u64), bytes: Vec::new(), most: CHUNK }
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
        self.skip -= skipped as u64;
        let rest = &bytes[skipped..];
        let room = self.most - self.bytes.len();
        self.bytes.extend_from_slice(&rest[..rest.len().min(room)]);
        if rest.len() > room { Err(io::Error::other("the part is whole")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
