//! The type of our values: saving, loading, copying, measuring and freeing them.

use super::alloc::has_room;
use super::api::api;
use super::call::bytes_of;
use super::guarded;
use super::raw::*;
use crate::answer::Failure;
use crate::compact::zeroed;
use crate::imported::Imported;
use crate::redisbloom::{self, Chain, Plan};
use crate::state::{self, Source};
use crate::value::Value;
use crate::{loading, memory};
use std::ffi::{CStr, c_int, c_longlong, c_void};
use std::io::{self, Read, Write};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The name of the type: nine characters that must never change. A server without the module finds
/// this name in a dump, and refuses the dump.
const NAME: &CStr = c"truebloom";

/// The version of the outer encoding. The contents have a separate version.
const ENCODING: c_int = 1;

/// The data type of RedisBloom's filters. This type is registered so that RedisBloom's RDB files,
/// DUMP and replication stream can be read. Values that were read keep this type.
const REDISBLOOM: &CStr = c"MBbloom--";

/// The encoding version of values that this module writes under RedisBloom's type name. The
/// encoding is far above RedisBloom's own versions, so RedisBloom refuses it.
const OWN_OF_REDISBLOOM: c_int = 1000;

/// The encoding versions of RedisBloom that can be read. Version 2 added options, and version 4
/// added the growth factor.
const REDISBLOOM_ENCODINGS: std::ops::RangeInclusive<c_int> = 2..=4;
const WITH_GROWTH: c_int = 4;

/// The number of bytes that are written at a time.
const PIECE: usize = 1 << 20;

/// The number of bytes in a command of the AOF. This number is far below the server's limit for one
/// argument.
const AOF_PIECE: usize = state::CHUNK;

static OWN: AtomicPtr<Type> = AtomicPtr::new(ptr::null_mut());
static FROM_REDISBLOOM: AtomicPtr<Type> = AtomicPtr::new(ptr::null_mut());

/// Our type.
#[inline]
pub(super) fn own_type() -> *mut Type {
    OWN.load(Ordering::Relaxed)
}

/// Whether values of this type are ours.
#[inline]
pub(super) fn is_ours(kind: *mut Type) -> bool {
    !kind.is_null() && (kind == own_type() || kind == FROM_REDISBLOOM.load(Ordering::Relaxed))
}

/// Registers the types with the server.
///
/// # Safety
/// `ctx` must be the context that the server passed to the module's load function.
pub(super) unsafe fn register(ctx: *mut Ctx) -> Result<(), &'static CStr> {
    let mut methods = TypeMethods {
        version: TYPE_METHODS_VERSION,
        rdb_load: Some(load),
        rdb_save: Some(save),
        aof_rewrite: Some(rewrite),
        mem_usage: Some(memory_usage),
        digest: Some(digest),
        free: Some(free),
        aux_load: None,
        aux_save: None,
        aux_save_triggers: 0,
        free_effort: Some(free_effort),
        unlink: None,
        copy: Some(copy),
        defrag: None,
    };
    // SAFETY: the server copies the methods.
    let own = unsafe { (api().CreateDataType)(ctx, NAME.as_ptr(), ENCODING, &raw mut methods) };
    OWN.store(own, Ordering::Relaxed);
    methods.rdb_load = Some(load_redisbloom);
    // SAFETY: as above.
    let other = unsafe { (api().CreateDataType)(ctx, REDISBLOOM.as_ptr(), OWN_OF_REDISBLOOM, &raw mut methods) };
    FROM_REDISBLOOM.store(other, Ordering::Relaxed);
    if own.is_null() {
        Err(NAME)
    } else if other.is_null() {
        Err(REDISBLOOM)
    } else {
        Ok(())
    }
}

/// A value that the server passed.
///
/// # Safety
/// The pointer must be one that this module gave to the server, and that was not freed.
unsafe fn value<'a>(value: *const c_void) -> &'a Value {
    // SAFETY: as the caller says.
    unsafe { &*value.cast::<Value>() }
}

fn given(value: Value) -> *mut c_void {
    memory::taken(value.bytes());
    Box::into_raw(Box::new(value)).cast()
}

unsafe extern "C" fn load(io: *mut Io, encoding: c_int) -> *mut c_void {
    loaded(io, || if encoding == ENCODING { read(io) } else { Err(unknown(encoding)) })
}

unsafe extern "C" fn load_redisbloom(io: *mut Io, encoding: c_int) -> *mut c_void {
    loaded(io, || match encoding {
        OWN_OF_REDISBLOOM => read(io),
        _ if REDISBLOOM_ENCODINGS.contains(&encoding) => read_redisbloom(io, encoding),
        _ => Err(unknown(encoding)),
    })
}

fn unknown(encoding: c_int) -> String {
    format!("encoding {encoding} is not known to this module")
}

/// Converts the result of reading to the form that the server expects; errors are logged.
fn loaded(io: *mut Io, read: impl FnOnce() -> Result<Value, String>) -> *mut c_void {
    guarded(|| match read() {
        Ok(value) => given(value),
        Err(why) => {
            let why = std::ffi::CString::new(why).unwrap_or_default();
            // SAFETY: the format takes one text, which ends with NUL.
            unsafe { (api().LogIOError)(io, c"warning".as_ptr(), c"truebloom: %s".as_ptr(), why.as_ptr()) };
            ptr::null_mut()
        }
    })
    .unwrap_or(ptr::null_mut())
}

/// Reads a filter in the form in which RedisBloom writes it: items, number of layers, options,
/// growth, and the layers. Each layer has its capacity, rate, probes, bits per item, number of
/// bits, the binary logarithm of this number or 0, the bits themselves, and the number of items.
fn read_redisbloom(io: *mut Io, encoding: c_int) -> Result<Value, String> {
    // SAFETY: the server is loading a value; numbers that cannot be read are 0, which `sound`
    // detects.
    let (number, fraction) = (|| unsafe { (api().LoadUnsigned)(io) }, || unsafe { (api().LoadDouble)(io) });
    // SAFETY: as above.
    let sound = || if unsafe { (api().IsIOError)(io) } == 0 { Ok(()) } else { Err("the value is cut off".to_owned()) };
    let text = |failure| if let Failure::Text(text) = failure { text.into_owned() } else { String::new() };
    let (_items, count, options) = (number(), number(), number());
    let growth = if encoding < WITH_GROWTH { 2 } else { number() };
    sound()?;
    let count = usize::try_from(count).ok().filter(|count| *count <= redisbloom::MOST_LAYERS).ok_or("the filter has too many layers")?;
    let (mut layers, mut kept, mut left) = (Vec::with_capacity(count), Vec::with_capacity(count), limit().unwrap_or(u64::MAX));
    for _ in 0..count {
        let (capacity, rate, probes, _bits_an_item, bits, power) = (number(), fraction(), number(), fraction(), number(), number());
        sound()?;
        let plan = |items| Plan::checked([bits, probes, capacity, items], rate, power).map_err(text);
        left = left.checked_sub(plan(0)?.bytes()).ok_or("the filter is larger than the limits allow")?;
        let expected = plan(0)?.bytes();
        kept.push(string(io, |bytes| {
            if bytes.len() as u64 != expected {
                return Err("the bits and bytes of a layer contradict each other".to_owned());
            }
            let mut words = zeroed(bytes.len() / 8).map_err(text)?;
            words.iter_mut().zip(bytes.as_chunks::<8>().0).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
            Ok(words)
        })?);
        layers.push(plan(number())?);
        sound()?;
    }
    let chain = Chain::checked(layers, options, growth).map_err(text)?;
    Ok(Value::Imported(Box::new(Imported::new(chain, kept))))
}

/// Reads the next string and calls `make` with it before the server's memory for it is freed.
fn string<R>(io: *mut Io, make: impl FnOnce(&[u8]) -> Result<R, String>) -> Result<R, String> {
    let mut length = 0;
    // SAFETY: the server allocates the string, and returns its length.
    let start = unsafe { (api().LoadStringBuffer)(io, &raw mut length) };
    if start.is_null() {
        return Err("the value is cut off".to_owned());
    }
    // SAFETY: as above; nothing has freed it.
    let made = make(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) });
    // SAFETY: the module must free the string; the result of `make` has no reference to it.
    unsafe { (api().Free)(start.cast()) };
    made
}

fn read(io: *mut Io) -> Result<Value, String> {
    // SAFETY: the server is loading a value.
    let (total, failed) = unsafe { ((api().LoadUnsigned)(io), (api().IsIOError)(io) != 0) };
    if failed {
        return Err("the value is cut off".to_owned());
    }
    state::read(&mut Pieces { io, left: total, piece: Vec::new(), at: 0 }, limit()).map_err(|error| error.to_string())
}

/// Whether limits apply. Limits do not apply to data from a primary server or from the server's own
/// files.
fn is_limited() -> bool {
    // SAFETY: without a context, the function reports the state of the server.
    let flags = unsafe { (api().GetContextFlags)(ptr::null_mut()) };
    flags & (CONTEXT_LOADING | CONTEXT_ASYNC_LOADING | CONTEXT_REPLICA) == 0
}

/// Returns the largest number of bytes that a value may take; `None` if limits do not apply.
fn limit() -> Option<u64> {
    is_limited().then(memory::room_of_a_key)
}

/// Reads the pieces of a value that is being loaded, one after the other.
struct Pieces {
    io: *mut Io,
    /// The number of bytes in the remaining pieces.
    left: u64,
    piece: Vec<u8>,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() && self.left > 0 {
            self.next()?;
        }
        let rest = self.piece.get(self.at..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

impl Source for Pieces {
    fn left(&self) -> u64 {
        self.left + (self.piece.len() - self.at) as u64
    }
}

impl Pieces {
    fn next(&mut self) -> io::Result<()> {
        // The piece is freed before the next one is allocated.
        self.piece = Vec::new();
        self.piece = string(self.io, |bytes| {
            let mut piece = Vec::new();
            let reserved = piece.try_reserve_exact(bytes.len()).map_err(|_| "there is no memory for the value".to_owned());
            reserved.map(|()| piece.extend_from_slice(bytes)).map(|()| piece)
        })
        .map_err(io::Error::other)?;
        self.at = 0;
        if self.piece.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the value is cut off"));
        }
        self.left = self.left.checked_sub(self.piece.len() as u64).ok_or_else(|| io::Error::other("a piece is longer than the value"))?;
        Ok(())
    }
}

/// A writer that cuts the bytes into pieces.
struct Cut<F: FnMut(&[u8])> {
    piece: Vec<u8>,
    most: usize,
    emit: F,
}

impl<F: FnMut(&[u8])> Cut<F> {
    fn new(most: usize, emit: F) -> Cut<F> {
        Cut { piece: Vec::new(), most, emit }
    }

    fn finish(mut self) {
        if !self.piece.is_empty() {
            (self.emit)(&self.piece);
        }
    }
}

impl<F: FnMut(&[u8])> Write for Cut<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.most - self.piece.len());
        self.piece.extend_from_slice(&bytes[..count]);
        if self.piece.len() == self.most {
            (self.emit)(&self.piece);
            self.piece.clear();
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

unsafe extern "C" fn save(io: *mut Io, saved: *mut c_void) {
    guarded(|| {
        // SAFETY: the server passes a value of ours, and the RDB to which it is saved.
        let value = unsafe { value(saved) };
        // SAFETY: as above.
        unsafe { (api().SaveUnsigned)(io, state::length(value)) };
        // SAFETY: as above; the server copies the piece.
        let mut pieces = Cut::new(PIECE, |piece| unsafe { (api().SaveStringBuffer)(io, piece.as_ptr().cast(), piece.len()) });
        // Writing to these pieces cannot fail.
        let _ = state::write(value, &mut pieces);
        pieces.finish();
    });
}

unsafe extern "C" fn rewrite(io: *mut Io, key: *mut Text, saved: *mut c_void) {
    guarded(|| {
        // SAFETY: the server passes a value of ours.
        let value = unsafe { value(saved) };
        let emit = |number: u64, piece: &[u8]| {
            let number = number as c_longlong;
            // SAFETY: the format takes a string of the server, a number, and bytes with their
            // length.
            unsafe { (api().EmitAOF)(io, c"BF.LOADCHUNK".as_ptr(), c"slb".as_ptr(), key, number, piece.as_ptr(), piece.len()) };
        };
        if let Value::Loading(loading) = value {
            return loading.chunks().for_each(|(number, chunk)| emit(number, chunk));
        }
        emit(1, &loading::header(state::length(value)));
        let mut number = 1;
        let mut pieces = Cut::new(AOF_PIECE, |piece| {
            number += 1;
            emit(number, piece);
        });
        let _ = state::write(value, &mut pieces);
        pieces.finish();
    });
}

unsafe extern "C" fn memory_usage(value: *const c_void) -> usize {
    // SAFETY: the server passes a value of ours.
    guarded(|| unsafe { self::value(value) }.bytes()).unwrap_or(0)
}

unsafe extern "C" fn digest(digest: *mut Digest, value: *mut c_void) {
    guarded(|| {
        let mut sum = state::Sum::new();
        // SAFETY: the server passes a value of ours.
        let _ = state::write(unsafe { self::value(value) }, &mut sum);
        let sum = sum.finish().to_le_bytes();
        // SAFETY: the server copies the bytes.
        unsafe {
            (api().DigestAddStringBuffer)(digest, sum.as_ptr().cast(), sum.len());
            (api().DigestEndSequence)(digest);
        }
    });
}

unsafe extern "C" fn free(value: *mut c_void) {
    guarded(|| {
        // SAFETY: the server frees a value once; it was made by `Box`.
        let value = unsafe { Box::from_raw(value.cast::<Value>()) };
        memory::given_back(value.bytes());
    });
}

/// Returns a measure of the work to free a value. From 64 on, the server frees the value in a
/// separate thread, so values of a megabyte or more return at least 64.
unsafe extern "C" fn free_effort(_: *mut Text, value: *const c_void) -> usize {
    // SAFETY: the server passes a value of ours.
    guarded(|| 1 + unsafe { self::value(value) }.bytes() / (1 << 14)).unwrap_or(1)
}

unsafe extern "C" fn copy(_: *mut Text, _: *mut Text, value: *const c_void) -> *mut c_void {
    guarded(|| {
        // SAFETY: the server passes a value of ours.
        let value = unsafe { self::value(value) };
        let bytes = value.bytes();
        // If the limits or the memory do not allow a copy, COPY reports an error. A copy that a
        // primary made must be made here, too.
        let is_refused = is_limited() && memory::check(bytes as u64, 0).is_err();
        if is_refused || !has_room(bytes) { ptr::null_mut() } else { given(value.clone()) }
    })
    .unwrap_or(ptr::null_mut())
}

/// The text of a string of the server, for settings.
///
/// # Safety
/// The string must live during the call.
pub(super) unsafe fn text_of(text: *const Text) -> String {
    // SAFETY: as the caller says.
    String::from_utf8_lossy(unsafe { bytes_of(text) }).into_owned()
}
