//! Types and numbers from the server's header that are used here.

use std::ffi::{c_char, c_int, c_longlong, c_void};

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        #[repr(C)]
        pub(super) struct $name {
            _opaque: [u8; 0],
        })*
    };
}

opaque! {
    /// The context of a command, or of loading.
    Ctx;
    /// An open key.
    Key;
    /// A string of the server.
    Text;
    /// A type of values.
    Type;
    /// A registered command.
    Command;
    /// An RDB or AOF that is being read or written.
    Io;
    /// The state of DEBUG DIGEST.
    Digest;
    /// The reply of INFO.
    InfoCtx;
    /// The context of a defragmentation callback. The module has no such callback.
    Defrag;
}

pub(super) const OK: c_int = 0;
pub(super) const ERR: c_int = 1;

pub(super) const READ: c_int = 1;
pub(super) const WRITE: c_int = 2;

pub(super) const KEY_EMPTY: c_int = 0;

pub(super) const NOTIFY_MODULE: c_int = 1 << 13;

pub(super) const CONTEXT_REPLICA: c_int = 1 << 3;
pub(super) const CONTEXT_REPLICATED: c_int = 1 << 12;
pub(super) const CONTEXT_LOADING: c_int = 1 << 13;
pub(super) const CONTEXT_ASYNC_LOADING: c_int = 1 << 23;

pub(super) const OPTION_IO_ERRORS: c_int = 1;
pub(super) const OPTION_NO_IMPLICIT_SIGNAL: c_int = 1 << 1;
pub(super) const OPTION_ASYNC_LOAD: c_int = 1 << 2;

/// Marks a setting whose value is a size in bytes, which can be written as `1gb`.
pub(super) const CONFIG_MEMORY: u32 = 1 << 7;
pub(super) const CONFIG_SENSITIVE: u32 = 1 << 1;

pub(super) type CommandFn = unsafe extern "C" fn(*mut Ctx, *mut *mut Text, c_int) -> c_int;
pub(super) type InfoFn = unsafe extern "C" fn(*mut InfoCtx, c_int);
pub(super) type GetNumber = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_longlong;
pub(super) type SetNumber = unsafe extern "C" fn(*const c_char, c_longlong, *mut c_void, *mut *mut Text) -> c_int;
pub(super) type GetString = unsafe extern "C" fn(*const c_char, *mut c_void) -> *mut Text;
pub(super) type SetString = unsafe extern "C" fn(*const c_char, *mut Text, *mut c_void, *mut *mut Text) -> c_int;
pub(super) type ApplyFn = Option<unsafe extern "C" fn(*mut Ctx, *mut c_void, *mut *mut Text) -> c_int>;

/// Version 3 of this structure; Redis and Valkey have supported it since version 6.2 of Redis.
#[repr(C)]
pub(super) struct TypeMethods {
    pub(super) version: u64,
    pub(super) rdb_load: Option<unsafe extern "C" fn(*mut Io, c_int) -> *mut c_void>,
    pub(super) rdb_save: Option<unsafe extern "C" fn(*mut Io, *mut c_void)>,
    pub(super) aof_rewrite: Option<unsafe extern "C" fn(*mut Io, *mut Text, *mut c_void)>,
    pub(super) mem_usage: Option<unsafe extern "C" fn(*const c_void) -> usize>,
    pub(super) digest: Option<unsafe extern "C" fn(*mut Digest, *mut c_void)>,
    pub(super) free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(super) aux_load: Option<unsafe extern "C" fn(*mut Io, c_int, c_int) -> c_int>,
    pub(super) aux_save: Option<unsafe extern "C" fn(*mut Io, c_int)>,
    pub(super) aux_save_triggers: c_int,
    pub(super) free_effort: Option<unsafe extern "C" fn(*mut Text, *const c_void) -> usize>,
    pub(super) unlink: Option<unsafe extern "C" fn(*mut Text, *const c_void)>,
    pub(super) copy: Option<unsafe extern "C" fn(*mut Text, *mut Text, *const c_void) -> *mut c_void>,
    pub(super) defrag: Option<unsafe extern "C" fn(*mut Defrag, *mut Text, *mut *mut c_void) -> c_int>,
}

pub(super) const TYPE_METHODS_VERSION: u64 = 3;

#[repr(C)]
pub(super) struct InfoVersion {
    pub(super) version: c_int,
    pub(super) history_entry: usize,
    pub(super) key_spec: usize,
    pub(super) argument: usize,
}

#[repr(C)]
pub(super) struct CommandInfo {
    pub(super) version: *const InfoVersion,
    pub(super) summary: *const c_char,
    pub(super) complexity: *const c_char,
    pub(super) since: *const c_char,
    pub(super) history: *const c_void,
    pub(super) tips: *const c_char,
    pub(super) arity: c_int,
    pub(super) key_specs: *const KeySpec,
    pub(super) arguments: *const c_void,
}

/// The positions of the keys of a command: a range, or an argument that gives their number. The two
/// unions of the header are represented by words that are as long as their longest members.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct KeySpec {
    pub(super) notes: *const c_char,
    pub(super) flags: u64,
    pub(super) begin_kind: c_int,
    pub(super) begin: Begin,
    pub(super) find_kind: c_int,
    pub(super) find: [c_int; 3],
}

/// Where the keys begin. This module gives a position; the header also allows a keyword.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) union Begin {
    pub(super) position: c_int,
    pub(super) _keyword: Keyword,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Keyword {
    _text: *const c_char,
    _from: c_int,
}

pub(super) const BEGIN_INDEX: c_int = 2;
pub(super) const FIND_RANGE: c_int = 2;
pub(super) const FIND_COUNT: c_int = 3;

pub(super) const KEY_READ_ONLY: u64 = 1;
pub(super) const KEY_READ_WRITE: u64 = 1 << 1;
pub(super) const KEY_OVERWRITE: u64 = 1 << 2;
pub(super) const KEY_ACCESS: u64 = 1 << 4;
pub(super) const KEY_UPDATE: u64 = 1 << 5;
pub(super) const KEY_INSERT: u64 = 1 << 6;

/// The size of the structure with which the header describes an argument of a command. This
/// structure has nine words. This module passes no such structure.
pub(super) const ARGUMENT_BYTES: usize = 72;
