//! The type of our values: saving, loading, copying, measuring and freeing them.

use super::api::api;
use super::call::bytes_of;
use super::guarded;
use super::raw::*;
use crate::state::{self, Source};
use crate::value::Value;
use crate::{loading, memory};
use std::ffi::{CStr, c_int, c_longlong, c_void};
use std::io::{self, Read, Write};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The name, which must never change: nine characters, with which servers without the module refuse
/// a dump.
const NAME: &CStr = c"truebloom";

/// The version of the outer encoding. The contents have their own version.
const ENCODING: c_int = 1;

/// How many bytes are written at a time.
const PIECE: usize = 1 << 20;

/// The number of bytes in a command of the AOF: far below the server's limit for one argument.
const AOF_PIECE: usize = state::CHUNK;

static OWN: AtomicPtr<Type> = AtomicPtr::new(ptr::null_mut());

/// Our type.
#[inline]
pub(super) fn own_type() -> *mut Type {
    OWN.load(Ordering::Relaxed)
}

/// Registers the type.
///
/// # Safety
/// `ctx` must be that of loading the module.
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
    if own.is_null() { Err(NAME) } else { Ok(()) }
}

/// A value that the server passed.
///
/// # Safety
/// The pointer must be one that we gave to the server, and that was not freed.
unsafe fn value<'a>(value: *const c_void) -> &'a Value {
    // SAFETY: as the caller says.
    unsafe { &*value.cast::<Value>() }
}

fn given(value: Value) -> *mut c_void {
    memory::taken(value.bytes());
    Box::into_raw(Box::new(value)).cast()
}

unsafe extern "C" fn load(io: *mut Io, encoding: c_int) -> *mut c_void {
    guarded(|| {
        let loaded = if encoding == ENCODING { read(io) } else { Err(format!("encoding {encoding} is newer than this module")) };
        match loaded {
            Ok(value) => given(value),
            Err(why) => {
                let why = std::ffi::CString::new(why).unwrap_or_default();
                // SAFETY: the format takes one text, which ends with NUL.
                unsafe { (api().LogIOError)(io, c"warning".as_ptr(), c"truebloom: %s".as_ptr(), why.as_ptr()) };
                ptr::null_mut()
            }
        }
    })
    .unwrap_or(ptr::null_mut())
}

fn read(io: *mut Io) -> Result<Value, String> {
    // SAFETY: the server is loading a value.
    let (total, failed) = unsafe { ((api().LoadUnsigned)(io), (api().IsIOError)(io) != 0) };
    if failed {
        return Err("the value is cut".to_owned());
    }
    state::read(&mut Pieces { io, left: total, piece: Vec::new(), at: 0 }, limit()).map_err(|error| error.to_string())
}

/// The largest size of a value in bytes; `None` for data from a primary or a file of our own.
fn limit() -> Option<u64> {
    // SAFETY: without a context it says what the server is doing.
    let flags = unsafe { (api().GetContextFlags)(ptr::null_mut()) };
    let obeys = flags & (CONTEXT_LOADING | CONTEXT_ASYNC_LOADING | CONTEXT_REPLICA) != 0;
    (!obeys).then(memory::room_of_a_key)
}

/// The pieces of a value that is being loaded, one after the other.
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
        let cut = || io::Error::new(io::ErrorKind::UnexpectedEof, "the value is cut");
        let mut length = 0;
        // SAFETY: the server allocates the piece, says how long it is, and lets us free it.
        unsafe {
            let start = (api().LoadStringBuffer)(self.io, &raw mut length);
            if start.is_null() {
                return Err(cut());
            }
            let bytes = std::slice::from_raw_parts(start.cast::<u8>(), length);
            self.piece.clear();
            let copied = self.piece.try_reserve(length).map(|()| self.piece.extend_from_slice(bytes));
            (api().Free)(start.cast());
            copied.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        }
        self.at = 0;
        if length == 0 {
            return Err(cut());
        }
        self.left = self.left.checked_sub(length as u64).ok_or_else(|| io::Error::other("a piece is longer than the value"))?;
        Ok(())
    }
}

/// Cuts the written bytes into pieces.
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
        // SAFETY: the server passes a value of ours, and what it saves to.
        let value = unsafe { value(saved) };
        // SAFETY: as above.
        unsafe { (api().SaveUnsigned)(io, state::length(value)) };
        // SAFETY: as above; the server copies the piece.
        let mut pieces = Cut::new(PIECE, |piece| unsafe { (api().SaveStringBuffer)(io, piece.as_ptr().cast(), piece.len()) });
        // Nothing that it writes to can fail.
        let _ = state::write(value, &mut pieces);
        pieces.finish();
    });
}

unsafe extern "C" fn rewrite(io: *mut Io, key: *mut Text, saved: *mut c_void) {
    guarded(|| {
        // SAFETY: the server passes a value of ours.
        let value = unsafe { value(saved) };
        let mut number: c_longlong = 0;
        let mut emit = |piece: &[u8]| {
            number += 1;
            // SAFETY: the format takes a string of the server, a number, and bytes with their length.
            unsafe { (api().EmitAOF)(io, c"BF.LOADCHUNK".as_ptr(), c"slb".as_ptr(), key, number, piece.as_ptr(), piece.len()) };
        };
        if let Value::Loading(loading) = value {
            // Its chunks as they came.
            emit(&loading::header(loading.total));
            loading.bytes.chunks(AOF_PIECE).for_each(emit);
            return;
        }
        emit(&loading::header(state::length(value)));
        let mut pieces = Cut::new(AOF_PIECE, emit);
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

/// From 64 on, the server frees a value in a separate thread: those of a megabyte or more.
unsafe extern "C" fn free_effort(_: *mut Text, value: *const c_void) -> usize {
    // SAFETY: the server passes a value of ours.
    guarded(|| 1 + unsafe { self::value(value) }.bytes() / (1 << 14)).unwrap_or(1)
}

unsafe extern "C" fn copy(_: *mut Text, _: *mut Text, value: *const c_void) -> *mut c_void {
    // SAFETY: the server passes a value of ours.
    guarded(|| unsafe { self::value(value) }.copied().map_or(ptr::null_mut(), given)).unwrap_or(ptr::null_mut())
}

/// The text of a string of the server, for settings.
///
/// # Safety
/// The string must live meanwhile.
pub(super) unsafe fn text_of(text: *const Text) -> String {
    // SAFETY: as the caller says.
    String::from_utf8_lossy(unsafe { bytes_of(text) }).into_owned()
}
