//! The server's functions, each looked up by its name when the module is loaded.

#![allow(non_snake_case, reason = "the functions keep the names that the server gives them")]

use super::raw::*;
use std::ffi::{c_char, c_int, c_long, c_longlong, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

/// The type of the server's function that looks up a function by its name: it writes a pointer, and
/// returns 0 if the function exists.
pub(super) type GetApi = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;

macro_rules! api {
    (needed { $($needed:ident: $needed_type:ty,)* } optional { $($optional:ident: $optional_type:ty,)* }) => {
        /// The server's functions: those that the module requires, and those that only some servers
        /// have.
        pub(super) struct Api {
            $(pub(super) $needed: $needed_type,)*
            $(pub(super) $optional: Option<$optional_type>,)*
        }

        impl Api {
            /// All functions, or the name of a missing one.
            ///
            /// # Safety
            /// `get` must be the function that the server passes.
            unsafe fn resolve(get: GetApi) -> Result<Api, &'static str> {
                Ok(Api {
                    // SAFETY: the server has a function of this name and, by its header, of this
                    // type.
                    $($needed: unsafe { find::<$needed_type>(get, concat!("RedisModule_", stringify!($needed), "\0")) }.ok_or(stringify!($needed))?,)*
                    // SAFETY: as above; the function may be missing.
                    $($optional: unsafe { find::<$optional_type>(get, concat!("RedisModule_", stringify!($optional), "\0")) },)*
                })
            }
        }
    };
}

api! {
    needed {
        SetModuleAttribs: unsafe extern "C" fn(*mut Ctx, *const c_char, c_int, c_int),
        IsModuleNameBusy: unsafe extern "C" fn(*const c_char) -> c_int,
        SetModuleOptions: unsafe extern "C" fn(*mut Ctx, c_int),
        TryAlloc: unsafe extern "C" fn(usize) -> *mut c_void,
        Calloc: unsafe extern "C" fn(usize, usize) -> *mut c_void,
        Free: unsafe extern "C" fn(*mut c_void),
        CreateCommand: unsafe extern "C" fn(*mut Ctx, *const c_char, CommandFn, *const c_char, c_int, c_int, c_int) -> c_int,
        GetCommand: unsafe extern "C" fn(*mut Ctx, *const c_char) -> *mut Command,
        SetCommandInfo: unsafe extern "C" fn(*mut Command, *const CommandInfo) -> c_int,
        CreateDataType: unsafe extern "C" fn(*mut Ctx, *const c_char, c_int, *mut TypeMethods) -> *mut Type,
        ModuleTypeSetValue: unsafe extern "C" fn(*mut Key, *mut Type, *mut c_void) -> c_int,
        ModuleTypeGetType: unsafe extern "C" fn(*mut Key) -> *mut Type,
        ModuleTypeGetValue: unsafe extern "C" fn(*mut Key) -> *mut c_void,
        OpenKey: unsafe extern "C" fn(*mut Ctx, *mut Text, c_int) -> *mut Key,
        CloseKey: unsafe extern "C" fn(*mut Key),
        KeyType: unsafe extern "C" fn(*mut Key) -> c_int,
        DeleteKey: unsafe extern "C" fn(*mut Key) -> c_int,
        SignalModifiedKey: unsafe extern "C" fn(*mut Ctx, *mut Text) -> c_int,
        NotifyKeyspaceEvent: unsafe extern "C" fn(*mut Ctx, c_int, *const c_char, *mut Text) -> c_int,
        IsKeysPositionRequest: unsafe extern "C" fn(*mut Ctx) -> c_int,
        KeyAtPosWithFlags: unsafe extern "C" fn(*mut Ctx, c_int, c_int),
        GetContextFlags: unsafe extern "C" fn(*mut Ctx) -> c_int,
        Milliseconds: unsafe extern "C" fn() -> c_longlong,
        CreateString: unsafe extern "C" fn(*mut Ctx, *const c_char, usize) -> *mut Text,
        FreeString: unsafe extern "C" fn(*mut Ctx, *mut Text),
        StringPtrLen: unsafe extern "C" fn(*const Text, *mut usize) -> *const c_char,
        WrongArity: unsafe extern "C" fn(*mut Ctx) -> c_int,
        ReplyWithLongLong: unsafe extern "C" fn(*mut Ctx, c_longlong) -> c_int,
        ReplyWithBool: unsafe extern "C" fn(*mut Ctx, c_int) -> c_int,
        ReplyWithDouble: unsafe extern "C" fn(*mut Ctx, f64) -> c_int,
        ReplyWithNull: unsafe extern "C" fn(*mut Ctx) -> c_int,
        ReplyWithError: unsafe extern "C" fn(*mut Ctx, *const c_char) -> c_int,
        ReplyWithSimpleString: unsafe extern "C" fn(*mut Ctx, *const c_char) -> c_int,
        ReplyWithStringBuffer: unsafe extern "C" fn(*mut Ctx, *const c_char, usize) -> c_int,
        ReplyWithArray: unsafe extern "C" fn(*mut Ctx, c_long) -> c_int,
        ReplyWithMap: unsafe extern "C" fn(*mut Ctx, c_long) -> c_int,
        Replicate: unsafe extern "C" fn(*mut Ctx, *const c_char, *const c_char, ...) -> c_int,
        ReplicateVerbatim: unsafe extern "C" fn(*mut Ctx) -> c_int,
        SaveUnsigned: unsafe extern "C" fn(*mut Io, u64),
        LoadUnsigned: unsafe extern "C" fn(*mut Io) -> u64,
        SaveStringBuffer: unsafe extern "C" fn(*mut Io, *const c_char, usize),
        LoadDouble: unsafe extern "C" fn(*mut Io) -> f64,
        LoadStringBuffer: unsafe extern "C" fn(*mut Io, *mut usize) -> *mut c_char,
        IsIOError: unsafe extern "C" fn(*mut Io) -> c_int,
        LogIOError: unsafe extern "C" fn(*mut Io, *const c_char, *const c_char, ...),
        EmitAOF: unsafe extern "C" fn(*mut Io, *const c_char, *const c_char, ...),
        DigestAddStringBuffer: unsafe extern "C" fn(*mut Digest, *const c_char, usize),
        DigestEndSequence: unsafe extern "C" fn(*mut Digest),
        RegisterInfoFunc: unsafe extern "C" fn(*mut Ctx, InfoFn) -> c_int,
        InfoAddSection: unsafe extern "C" fn(*mut InfoCtx, *const c_char) -> c_int,
        InfoAddFieldULongLong: unsafe extern "C" fn(*mut InfoCtx, *const c_char, c_ulonglong) -> c_int,
        Log: unsafe extern "C" fn(*mut Ctx, *const c_char, *const c_char, ...),
        RegisterNumericConfig: unsafe extern "C" fn(*mut Ctx, *const c_char, c_longlong, c_uint, c_longlong, c_longlong, GetNumber, SetNumber, ApplyFn, *mut c_void) -> c_int,
        RegisterStringConfig: unsafe extern "C" fn(*mut Ctx, *const c_char, *const c_char, c_uint, GetString, SetString, ApplyFn, *mut c_void) -> c_int,
        LoadConfigs: unsafe extern "C" fn(*mut Ctx) -> c_int,
    }
    optional {
        // Redis 7.4, Valkey 8.0.
        AddACLCategory: unsafe extern "C" fn(*mut Ctx, *const c_char) -> c_int,
        // Redis 7.2.
        SetCommandACLCategories: unsafe extern "C" fn(*mut Command, *const c_char) -> c_int,
    }
}

/// The function with this name, which ends with NUL.
///
/// # Safety
/// `get` must be the function that the server passes, and `F` the type of a pointer to a function
/// with this name.
unsafe fn find<F: Copy>(get: GetApi, name: &'static str) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let mut found: *mut c_void = std::ptr::null_mut();
    // SAFETY: the name ends with NUL, and the pointer is ours. The function that is found is not
    // null and has the type that the caller names; both types are as wide as a pointer.
    unsafe {
        (get(name.as_ptr().cast(), &raw mut found) == OK && !found.is_null()).then(|| std::mem::transmute_copy::<*mut c_void, F>(&found))
    }
}

static API: OnceLock<Api> = OnceLock::new();

/// Looks up the functions; returns the name of a missing one as an error.
///
/// # Safety
/// `ctx` must be the context that the server passes when it loads the module.
pub(super) unsafe fn load(ctx: *mut Ctx) -> Result<&'static Api, &'static str> {
    // SAFETY: during loading, the context begins with the function that finds the others.
    let resolved = unsafe {
        let get = *ctx.cast::<GetApi>();
        Api::resolve(get)?
    };
    super::alloc::use_server(&resolved);
    Ok(API.get_or_init(|| resolved))
}

/// The functions, if they have been looked up.
pub(super) fn found() -> Option<&'static Api> {
    API.get()
}

/// Returns the server's functions, which are looked up before the server calls any other code of
/// this module.
#[inline]
pub(super) fn api() -> &'static Api {
    API.get().unwrap_or_else(|| unreachable!("the server calls nothing before the module is loaded"))
}
