//! A running command: its arguments, its keys, and what it replicates.

use super::api::api;
use super::raw::*;
use super::types;
use crate::answer::{Failure, Reply};
use crate::memory;
use crate::value::Value;
use std::ffi::{CStr, CString, c_int, c_long};
use std::marker::PhantomData;
use std::ptr;

/// A running command.
pub(crate) struct Call<'a> {
    ctx: *mut Ctx,
    args: Args<'a>,
}

/// The arguments of a command, which begin with its name.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a> {
    texts: *const *mut Text,
    count: usize,
    lifetime: PhantomData<&'a [u8]>,
}

impl<'a> Args<'a> {
    /// The number of arguments, including the command's name.
    pub(crate) fn len(self) -> usize {
        self.count
    }

    fn text(self, index: usize) -> Option<*mut Text> {
        // SAFETY: the server passed this many strings.
        (index < self.count).then(|| unsafe { *self.texts.add(index) })
    }

    /// An argument; empty if there is none with this index.
    #[inline]
    pub(crate) fn get(self, index: usize) -> &'a [u8] {
        self.text(index).map_or(&[], |text| {
            // SAFETY: the server keeps the arguments while the command runs, which is as long as
            // `'a`.
            unsafe { bytes_of(text) }
        })
    }

    /// The arguments from this index on.
    pub(crate) fn from(self, first: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone {
        (first..self.count.max(first)).map(move |index| self.get(index))
    }
}

/// The bytes of a string of the server.
///
/// # Safety
/// The string must not change, and must live as long as `'a`.
pub(super) unsafe fn bytes_of<'a>(text: *const Text) -> &'a [u8] {
    let mut length = 0;
    // SAFETY: the server returns the number of bytes.
    unsafe {
        let start = (api().StringPtrLen)(text, &raw mut length);
        if start.is_null() { &[] } else { std::slice::from_raw_parts(start.cast(), length) }
    }
}

/// The slot of a value: a key that is open for writing.
pub(crate) struct Slot {
    key: *mut Key,
    changed: bool,
    /// The number of bytes with which the value is currently counted in the statistics.
    counted: usize,
}

impl Slot {
    /// The value in the slot; `None` if the key does not exist, and a failure if its value has
    /// another type.
    pub(crate) fn value(&mut self) -> Result<Option<&mut Value>, Failure> {
        // SAFETY: the key is open, and nothing else uses its value meanwhile, because only one key
        // is open at a time.
        Ok(unsafe { value_of(self.key) }?.map(|value| unsafe { &mut *value }))
    }

    /// Stores a value.
    pub(crate) fn set(&mut self, value: Value) -> Result<(), Failure> {
        // The server frees the previous value, and subtracts the size that was counted now.
        self.count();
        let bytes = value.bytes();
        memory::taken(bytes);
        let value = Box::into_raw(Box::new(value));
        // SAFETY: the key is open for writing; the server takes the value, and frees the previous
        // one.
        let status = unsafe { (api().ModuleTypeSetValue)(self.key, types::own_type(), value.cast()) };
        if status == OK {
            self.changed = true;
            self.counted = bytes;
            return Ok(());
        }
        // SAFETY: the server did not take the value.
        let value = unsafe { Box::from_raw(value) };
        memory::given_back(value.bytes());
        Err(Failure::text("ERR the server did not accept the value"))
    }

    /// Replaces the value in the slot and keeps the key's time to live; an empty slot is filled.
    pub(crate) fn replace(&mut self, value: Value) -> Result<(), Failure> {
        let Some(there) = self.value()? else { return self.set(value) };
        *there = value;
        self.touch();
        Ok(())
    }

    /// Removes the key.
    pub(crate) fn delete(&mut self) {
        self.count();
        // SAFETY: the key is open for writing.
        unsafe { (api().DeleteKey)(self.key) };
        self.changed = true;
    }

    /// Updates the statistics with the current size of the value.
    fn count(&mut self) {
        // SAFETY: as in `value`.
        if let Ok(Some(value)) = unsafe { value_of(self.key) } {
            // SAFETY: as above.
            let now = unsafe { (*value).bytes() };
            memory::changed(self.counted, now);
            self.counted = now;
        }
    }

    /// Tells the server that the value has changed.
    pub(crate) fn touch(&mut self) {
        self.changed = true;
    }
}

/// The value of an open key, which may be null.
///
/// # Safety
/// The key must be open, or null. The result lives until the key is closed.
unsafe fn value_of(key: *mut Key) -> Result<Option<*mut Value>, Failure> {
    // SAFETY: the functions accept null, which means no key; a value of our type was made by us.
    unsafe {
        if key.is_null() || (api().KeyType)(key) == KEY_EMPTY {
            return Ok(None);
        }
        if !types::is_ours((api().ModuleTypeGetType)(key)) {
            return Err(Failure::WrongType);
        }
        Ok(Some((api().ModuleTypeGetValue)(key).cast()).filter(|value: &*mut Value| !value.is_null()))
    }
}

/// Closes a key, even if the code that uses it panics.
struct Open(*mut Key);

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: the key was opened, and is closed once; null means no key.
        unsafe { (api().CloseKey)(self.0) };
    }
}

impl<'a> Call<'a> {
    /// # Safety
    /// The server must have passed these pointers, and they must live as long as `'a`.
    pub(super) unsafe fn new(ctx: *mut Ctx, texts: *const *mut Text, count: c_int) -> Call<'a> {
        Call { ctx, args: Args { texts, count: usize::try_from(count).unwrap_or(0), lifetime: PhantomData } }
    }

    /// The arguments.
    pub(crate) fn args(&self) -> Args<'a> {
        self.args
    }

    /// Calls `look` with the value of the key in this argument: `None` if the key does not exist,
    /// and a failure if its value has another type.
    pub(crate) fn look<R>(&mut self, argument: usize, look: impl FnOnce(Option<&Value>) -> Result<R, Failure>) -> Result<R, Failure> {
        let Some(name) = self.args.text(argument) else { return Err(Failure::Arity) };
        // SAFETY: the value lives while the key is open, and nothing else is opened meanwhile:
        // `self` is borrowed.
        unsafe {
            let open = Open((api().OpenKey)(self.ctx, name, READ));
            let value = value_of(open.0)?;
            look(value.map(|value| &*value))
        }
    }

    /// Changes the value of the key in this argument. Tells the server if the value has changed.
    pub(crate) fn change<R>(&mut self, argument: usize, change: impl FnOnce(&mut Slot) -> Result<R, Failure>) -> Result<R, Failure> {
        let Some(name) = self.args.text(argument) else { return Err(Failure::Arity) };
        // SAFETY: as in `look`; the name lives as long as the command runs.
        unsafe {
            let open = Open((api().OpenKey)(self.ctx, name, WRITE));
            let counted = value_of(open.0).ok().flatten().map_or(0, |value| (*value).bytes());
            let mut slot = Slot { key: open.0, changed: false, counted };
            let result = change(&mut slot);
            slot.count();
            let changed = slot.changed;
            drop(open);
            if changed {
                (api().SignalModifiedKey)(self.ctx, name);
            }
            result
        }
    }

    /// Notifies subscribers to events of the key in this argument.
    pub(crate) fn notify(&mut self, event: &CStr, argument: usize) {
        if let Some(name) = self.args.text(argument) {
            // SAFETY: the event ends with NUL.
            unsafe { (api().NotifyKeyspaceEvent)(self.ctx, NOTIFY_MODULE, event.as_ptr(), name) };
        }
    }

    /// Whether the server only asks for the positions of the keys.
    pub(super) fn asks_for_keys(&self) -> bool {
        // SAFETY: in a command.
        unsafe { (api().IsKeysPositionRequest)(self.ctx) != 0 }
    }

    /// Tells the server the positions of the keys, for a command whose second argument is the
    /// number of keys after it.
    pub(super) fn say_counted_keys(&self) {
        let count = std::str::from_utf8(self.args.get(2)).ok().and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
        let sources = (3..self.args.len()).take(count).map(|position| (position, KEY_READ_ONLY | KEY_ACCESS));
        for (position, flags) in std::iter::once((1, KEY_READ_WRITE | KEY_UPDATE)).chain(sources) {
            // SAFETY: in such a request.
            unsafe { (api().KeyAtPosWithFlags)(self.ctx, position as c_int, flags as c_int) };
        }
    }

    /// Replicates the command unchanged to replicas and the AOF.
    pub(crate) fn replicate(&mut self) {
        // SAFETY: in a command.
        unsafe { (api().ReplicateVerbatim)(self.ctx) };
    }

    /// Replicates another command to replicas and the AOF. The arguments of the replicated command
    /// are the key (the first argument of this command) and `words`.
    pub(crate) fn replicate_as<T: AsRef<[u8]>>(&mut self, command: &CStr, words: &[T]) {
        let Some(key) = self.args.text(1) else { return };
        // SAFETY: `v` takes an array of the server's strings and its length. They are freed after
        // it.
        unsafe {
            let mut texts: Vec<*mut Text> = words
                .iter()
                .map(AsRef::as_ref)
                .map(|word: &[u8]| (api().CreateString)(ptr::null_mut(), word.as_ptr().cast(), word.len()))
                .collect();
            (api().Replicate)(self.ctx, command.as_ptr(), c"sv".as_ptr(), key, texts.as_mut_ptr(), texts.len());
            texts.into_iter().for_each(|text| (api().FreeString)(ptr::null_mut(), text));
        }
    }

    /// Whether the command comes from a primary or an AOF. Such a command must be executed
    /// regardless of this server's limits.
    pub(crate) fn is_replicated(&self) -> bool {
        // SAFETY: in a command.
        let flags = unsafe { (api().GetContextFlags)(self.ctx) };
        flags & (CONTEXT_REPLICATED | CONTEXT_LOADING | CONTEXT_ASYNC_LOADING) != 0
    }

    pub(super) fn answer(&mut self, result: Result<Reply, Failure>) -> c_int {
        match result {
            Ok(reply) => self.send(&reply),
            Err(Failure::Text(text)) => self.error(&text),
            Err(Failure::WrongType) => self.error("WRONGTYPE Operation against a key holding the wrong kind of value"),
            Err(Failure::Arity) => {
                // SAFETY: in a command.
                unsafe { (api().WrongArity)(self.ctx) };
            }
        }
        OK
    }

    fn error(&mut self, text: &str) {
        // The error is one line, so line ends in it are replaced.
        let line: Vec<u8> = text.bytes().map(|byte| if matches!(byte, 0 | b'\r' | b'\n') { b' ' } else { byte }).collect();
        let line = CString::new(line).unwrap_or_default();
        // SAFETY: the line ends with NUL.
        unsafe { (api().ReplyWithError)(self.ctx, line.as_ptr()) };
    }

    fn send(&mut self, reply: &Reply) {
        match reply {
            Reply::Error(text) => self.error(text),
            Reply::Array(replies) => {
                // SAFETY: in a command; this many replies follow.
                unsafe { (api().ReplyWithArray)(self.ctx, replies.len() as c_long) };
                replies.iter().for_each(|reply| self.send(reply));
            }
            Reply::Map(fields) => {
                // SAFETY: as above.
                unsafe { (api().ReplyWithMap)(self.ctx, fields.len() as c_long) };
                for (name, value) in fields {
                    // Names of fields are simple strings, as clients know them.
                    // SAFETY: as above; the name ends with NUL.
                    unsafe { (api().ReplyWithSimpleString)(self.ctx, name.as_ptr()) };
                    self.send(value);
                }
            }
            single => self.send_single(single),
        }
    }

    fn send_single(&mut self, reply: &Reply) {
        let (api, ctx) = (api(), self.ctx);
        // SAFETY: in a command; texts end with NUL, or their length is passed.
        unsafe {
            match reply {
                Reply::Ok => (api.ReplyWithSimpleString)(ctx, c"OK".as_ptr()),
                Reply::Number(number) => (api.ReplyWithLongLong)(ctx, *number),
                Reply::Bool(answer) => (api.ReplyWithBool)(ctx, (*answer).into()),
                Reply::Float(number) => (api.ReplyWithDouble)(ctx, *number),
                Reply::Bytes(bytes) => (api.ReplyWithStringBuffer)(ctx, bytes.as_ptr().cast(), bytes.len()),
                Reply::Text(text) => (api.ReplyWithStringBuffer)(ctx, text.as_ptr().cast(), text.len()),
                _ => (api.ReplyWithNull)(ctx),
            };
        }
    }
}

/// The time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    // SAFETY: the function has no arguments.
    u64::try_from(unsafe { (api().Milliseconds)() }).unwrap_or(0)
}
