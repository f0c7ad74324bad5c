//! The bytes of a value for RDB, DUMP, AOF and SCANDUMP: a single encoding. All numbers are
//! little-endian.
//!
//! | bytes | |
//! |---|---|
//! | 4 | `TBv1` |
//! | 4 | the kind of the contents: 1 a compact filter, 2 the file of a filter, 3 the file of a filter that recycles, 4 the file of a sketch, 5 chunks that are still coming, 6 a filter of RedisBloom, 7 chunks of RedisBloom that are still coming |
//! | 8 | the requested expansion; 0 for none |
//! | | the contents |
//!
//! A compact filter is stored as twelve header words (`write_compact` lists them), followed by the
//! filter's own words: its counts and bits. Everything that is read is checked for consistency
//! before it is used, and nothing larger than the input is allocated.

use crate::answer::Failure;
use crate::compact::{Compact, MOST_WORDS, SEED_WORDS, zeroed};
use crate::imported::Imported;
use crate::large::{self, Large};
use crate::loading::{self, Loading};
use crate::plans::{self, Kind, Shape};
use crate::redisbloom::{self, Chain};
use crate::sketch::Sketch;
use crate::turning::Turning;
use crate::value::Value;
use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;
use truebloom::count_min::CountMin;
use truebloom::{AnyFilter, FileHeader, HasherId, Seed};
use truebloom_math::Rate;
use xxhash_rust::xxh3::Xxh3Default;

/// The number of bytes in a chunk of SCANDUMP.
pub(crate) const CHUNK: usize = 16 << 20;

const MAGIC: u32 = u32::from_le_bytes(*b"TBv1");

mod form {
    pub(super) const COMPACT: u32 = 1;
    pub(super) const FILE: u32 = 2;
    pub(super) const TURNING: u32 = 3;
    pub(super) const SKETCH: u32 = 4;
    pub(super) const LOADING: u32 = 5;
    pub(super) const IMPORTED: u32 = 6;
    pub(super) const LOADING_IMPORTED: u32 = 7;
}

/// The number of bytes before the contents.
const HEADER: u64 = 16;

/// The number of header words before a compact filter's own words.
const COMPACT_WORDS: usize = 12;

/// The beginning of a truebloom file. Compressed files, which could expand to a thousand times
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

/// The error for bytes that are not a value.
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
            Value::Loading(loading) => {
                let (header, bytes) = loading.parts();
                let header = if is_own(header) { 0 } else { header.len() };
                (8 + header + bytes.len()) as u64
            }
            Value::Imported(filter) => {
                let words = IMPORTED_WORDS + LAYER_WORDS * filter.chain().layers.len();
                8 * words as u64 + filter.chain().bytes().unwrap_or(0) + filter.own().map_or(0, length)
            }
        }
}

/// A part of the bytes that [`write`] writes: at most `most` bytes from a position that is 0 or
/// after the header. The time is linear in the length of the part, except for the first part, which
/// contains a checksum of everything.
pub(crate) fn part(value: &Value, start: u64, most: usize) -> Result<Vec<u8>, Failure> {
    let of_file = |start: u64, most: usize| match value {
        Value::Large(filter) => filter.filter().part_of_bytes(start, most).map_err(Failure::of),
        Value::Turning(filter) => filter.part(start, most),
        Value::Sketch(sketch) => sketch.0.part_of_bytes(start, most).map_err(Failure::of),
        Value::Compact(_) | Value::Loading(_) | Value::Imported(_) => {
            let mut part = Part { skip: HEADER + start, bytes: Vec::new(), most };
            // The writer ends the writing when the part is complete.
            let _ = write(value, &mut part);
            Ok(part.bytes)
        }
    };
    if start >= HEADER {
        return of_file(start - HEADER, most);
    }
    let mut part = header(value).to_vec();
    part.append(&mut of_file(0, most.saturating_sub(part.len()))?);
    Ok(part)
}

/// Writes a value.
pub(crate) fn write(value: &Value, target: &mut dyn Write) -> io::Result<()> {
    target.write_all(&header(value))?;
    match value {
        Value::Compact(filter) => write_compact(filter, target),
        Value::Large(filter) => filter.filter().write_to(target),
        Value::Turning(filter) => filter.write(target),
        Value::Sketch(sketch) => sketch.0.write_to(target),
        Value::Loading(loading) => {
            let (header, bytes) = loading.parts();
            // A first chunk of our own contains only the number of bytes.
            if is_own(header) {
                target.write_all(&loading.total().to_le_bytes())?;
            } else {
                target.write_all(&(header.len() as u64).to_le_bytes())?;
                target.write_all(header)?;
            }
            target.write_all(bytes)
        }
        Value::Imported(filter) => write_imported(filter, target),
    }
}

/// The header of a value's bytes.
fn header(value: &Value) -> [u8; HEADER as usize] {
    let (form, expansion) = match value {
        Value::Compact(filter) => (form::COMPACT, filter.shape().expansion),
        Value::Large(filter) => (form::FILE, filter.expansion()),
        Value::Turning(_) => (form::TURNING, 0),
        Value::Sketch(_) => (form::SKETCH, 0),
        Value::Loading(loading) => (if is_own(loading.parts().0) { form::LOADING } else { form::LOADING_IMPORTED }, 0),
        Value::Imported(_) => (form::IMPORTED, 0),
    };
    let mut header = [0; HEADER as usize];
    header[..4].copy_from_slice(&MAGIC.to_le_bytes());
    header[4..8].copy_from_slice(&form.to_le_bytes());
    header[8..12].copy_from_slice(&expansion.to_le_bytes());
    header
}

/// Whether a first chunk belongs to this module's format.
fn is_own(header: &[u8]) -> bool {
    header.len() == loading::header(0).len()
}

/// For a filter of RedisBloom: the number of words before its layers, and the number of words
/// before the bits of each layer. The words before the layers are their number, options, growth,
/// and the number of bytes of the items that were added here.
const IMPORTED_WORDS: usize = 4;
const LAYER_WORDS: usize = 5;

fn write_imported(filter: &Imported, target: &mut dyn Write) -> io::Result<()> {
    let chain = filter.chain();
    let [options, growth] = chain.options();
    let words: [u64; IMPORTED_WORDS] = [chain.layers.len() as u64, options, growth, filter.own().map_or(0, length)];
    target.write_all(words.map(u64::to_le_bytes).as_flattened())?;
    for (layer, bits) in chain.layers.iter().zip(filter.bits()) {
        let words: [u64; LAYER_WORDS] = [layer.bits, layer.probes.into(), layer.capacity, layer.items, layer.rate.to_bits()];
        target.write_all(words.map(u64::to_le_bytes).as_flattened())?;
        write_words(bits, target)?;
    }
    filter.own().map_or(Ok(()), |own| write(own, target))
}

fn write_words(words: &[u64], target: &mut dyn Write) -> io::Result<()> {
    let mut buffer = [[0; 8]; 64];
    for words in words.chunks(buffer.len()) {
        buffer.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        target.write_all(buffer[..words.len()].as_flattened())?;
    }
    Ok(())
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
    write_words(filter.words(), target)
}

/// Reads a value to its end. Refuses a value that would take more bytes than `limit`.
pub(crate) fn read(source: &mut impl Source, limit: Option<u64>) -> Result<Value, Refused> {
    let all = form::COMPACT..=form::LOADING_IMPORTED;
    read_form(source, limit, &all.collect::<Vec<_>>())
}

/// Reads a value whose form is one of `forms`.
fn read_form(source: &mut impl Source, limit: Option<u64>, forms: &[u32]) -> Result<Value, Refused> {
    if let Some(limit) = limit.filter(|limit| source.left() > limit.saturating_add(HEADER)) {
        return Err(refused(format!("the value has {} bytes, but a key may take {limit} (bf.bloom-memory-usage-limit)", source.left())));
    }
    let mut header = [0; HEADER as usize];
    source.read_exact(&mut header).map_err(refused)?;
    let number = |at: usize| header.get(at..).and_then(|rest| rest.first_chunk::<4>()).map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let (form, expansion) = (number(4), number(8));
    if number(0) != MAGIC || number(12) != 0 || expansion > crate::settings::MOST_EXPANSION {
        return Err(refused("the bytes are not a value of this module"));
    }
    if !forms.contains(&form) {
        return Err(refused(format!("a value of kind {form} is not allowed here, or is newer than this module")));
    }
    let value = match form {
        form::COMPACT => Value::Compact(read_compact(source, expansion)?),
        form::FILE => {
            let filter = AnyFilter::read_from(file(source, limit)?).map_err(refused)?;
            Value::Large(Box::new(Large::new(filter, expansion)))
        }
        form::TURNING => Value::Turning(Box::new(Turning::read(file(source, limit)?).map_err(of_failure)?)),
        form::SKETCH => Value::Sketch(Box::new(Sketch(CountMin::read_from(file(source, limit)?).map_err(refused)?))),
        form::LOADING | form::LOADING_IMPORTED => Value::Loading(Box::new(read_loading(source, form, limit)?)),
        form::IMPORTED => Value::Imported(Box::new(read_imported(source, limit)?)),
        other => return Err(refused(format!("a value of kind {other} is newer than this module"))),
    };
    if source.left() > 0 {
        return Err(refused("there are extra bytes after the value"));
    }
    Ok(value)
}

/// Returns the following bytes of the source. These bytes must begin like an uncompressed truebloom
/// file whose filter takes at most `limit` bytes.
fn file<S: Source>(source: &mut S, limit: Option<u64>) -> Result<impl Read, Refused> {
    let mut header = [0; FileHeader::BYTES as usize];
    source.read_exact(&mut header).map_err(refused)?;
    if !header.starts_with(FILE_MAGIC) {
        return Err(refused("the value does not contain a truebloom file"));
    }
    let bytes = FileHeader::from_bytes(&header).map_err(refused).and_then(|header| large::bytes_of_file(&header).map_err(of_failure))?;
    if let Some(limit) = limit.filter(|limit| bytes > *limit) {
        return Err(refused(format!("the value would take {bytes} bytes, but a key may take {limit} (bf.bloom-memory-usage-limit)")));
    }
    Ok(io::Cursor::new(header).chain(source))
}

fn read_loading(source: &mut impl Source, form: u32, limit: Option<u64>) -> Result<Loading, Refused> {
    let first = read_words::<1>(source)?[0];
    let mut header = loading::header(first).to_vec();
    if form == form::LOADING_IMPORTED {
        if first > redisbloom::MOST_HEADER as u64 {
            return Err(refused("the first chunk is too long"));
        }
        header = vec![0; first as usize];
        source.read_exact(&mut header).map_err(refused)?;
        if is_own(&header) {
            return Err(refused("the first chunk is not from RedisBloom"));
        }
    }
    let mut loading = Loading::begin(&header).map_err(of_failure)?;
    if limit.is_some_and(|limit| loading.total() > limit) {
        return Err(refused("the value is larger than the limits allow"));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(source.left()).map_err(refused)?).map_err(refused)?;
    source.read_to_end(&mut bytes).map_err(refused)?;
    if !bytes.is_empty() && loading.take(&bytes).map_err(of_failure)? {
        return Err(refused("the value is stored as incomplete, but all its chunks are there"));
    }
    Ok(loading)
}

fn of_failure(failure: Failure) -> Refused {
    if let Failure::Text(text) = failure { refused(text) } else { refused("another type") }
}

fn read_words<const N: usize>(source: &mut impl Source) -> Result<[u64; N], Refused> {
    let mut bytes = [[0; 8]; N];
    source.read_exact(bytes.as_flattened_mut()).map_err(refused)?;
    Ok(bytes.map(u64::from_le_bytes))
}

/// Fills words with bytes from the source.
fn fill_words(words: &mut [u64], source: &mut impl Source) -> Result<(), Refused> {
    let mut buffer = [[0; 8]; 64];
    for words in words.chunks_mut(buffer.len()) {
        let bytes = &mut buffer[..words.len()];
        source.read_exact(bytes.as_flattened_mut()).map_err(refused)?;
        words.iter_mut().zip(bytes).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    }
    Ok(())
}

fn read_imported(source: &mut impl Source, limit: Option<u64>) -> Result<Imported, Refused> {
    let [count, options, growth, own] = read_words::<IMPORTED_WORDS>(source)?;
    let count = usize::try_from(count).ok().filter(|count| *count <= redisbloom::MOST_LAYERS).ok_or_else(|| refused("too many layers"))?;
    let mut plans = Vec::with_capacity(count);
    let mut layers = Vec::with_capacity(count);
    for _ in 0..count {
        let [bits, probes, capacity, items, rate] = read_words::<LAYER_WORDS>(source)?;
        let plan = redisbloom::Plan::checked([bits, probes, capacity, items], f64::from_bits(rate), 0).map_err(of_failure)?;
        // Memory is allocated only for words that are in the source.
        if plan.bytes() > source.left() {
            return Err(refused("the value is cut off"));
        }
        let mut words = zeroed((plan.bytes() / 8) as usize).map_err(of_failure)?;
        fill_words(&mut words, source)?;
        plans.push(plan);
        layers.push(words);
    }
    let chain = Chain::checked(plans, options, growth).map_err(of_failure)?;
    if chain.options() != [options, growth] || own != source.left() {
        return Err(refused("the numbers of the filter contradict each other"));
    }
    let imported = Imported::new(chain, layers);
    if own == 0 {
        return Ok(imported);
    }
    match read_form(source, limit, &[form::COMPACT, form::FILE])? {
        own @ (Value::Compact(_) | Value::Large(_)) => Ok(imported.with_own(Some(own))),
        _ => Err(refused("the filter for items that were added after the import is not valid")),
    }
}

fn read_compact(source: &mut impl Source, expansion: u32) -> Result<Compact, Refused> {
    let wrong = || refused("the counts, the plan and the bits of the filter contradict each other");
    let [kind, hasher, seed_low, seed_high, numerator, exponent, divisor, items, size, probes, counts, count] =
        read_words::<COMPACT_WORDS>(source)?;
    let hasher = [HasherId::Xxh3, HasherId::Sip13].into_iter().find(|id| *id as u64 == hasher).ok_or_else(wrong)?;
    let rate = match (numerator, exponent, divisor) {
        (0, 0, 0) => None,
        _ => Some(Rate::from_parts(numerator, i32::try_from(exponent as i64).map_err(refused)?, divisor).map_err(refused)?),
    };
    // Memory is allocated only for words that are in the source.
    if count > MOST_WORDS as u64 || 8 * count != source.left() {
        return Err(wrong());
    }
    let mut own = zeroed(SEED_WORDS + count as usize).map_err(of_failure)?;
    fill_words(&mut own[SEED_WORDS..], source)?;
    let shape: Arc<Shape> = match (kind, rate, probes) {
        (0, Some(rate), 0) => plans::growing_by(rate, items, f64::from_bits(size), expansion, hasher),
        (1, rate, probes) if expansion == 0 && size.div_ceil(64) < count => {
            let probes = u32::try_from(probes).map_err(refused)?;
            plans::fixed(size, probes, rate, Some(items).filter(|items| *items > 0), hasher)
        }
        _ => return Err(wrong()),
    }
    .map_err(of_failure)?;
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

/// A writer that keeps only a part of the bytes that are written to it. After this part, it returns
/// an error, so that writing ends.
struct Part {
    skip: u64,
    bytes: Vec<u8>,
    most: usize,
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
