//! Registering commands: their names, flags, keys and categories, and their entry points.

use super::api::{Api, api};
use super::call::Call;
use super::guarded;
use super::raw::*;
use crate::answer::{Failure, Reply};
use std::ffi::{CStr, c_int};
use std::ptr;

/// A command. Each command is a separate type with its own function, because the server does not
/// tell a shared function which command was called.
pub(crate) trait Verb {
    /// The name of the command.
    const NAME: &'static CStr;
    /// What the command does to its keys.
    const KEYS: Keys;
    /// What the command does, in one line.
    const SUMMARY: &'static CStr;
    /// The time complexity of the command.
    const COMPLEXITY: &'static CStr;
    /// The number of arguments, including the name. A negative number `-n` means at least `n`
    /// arguments.
    const ARITY: c_int;

    /// Runs the command.
    fn run(call: &mut Call<'_>) -> Result<Reply, Failure>;
}

/// The keys of a command, and what it does to them.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Keys {
    /// The command has no keys.
    None,
    /// The command reads the key in the first argument.
    Read,
    /// The command adds items to the key in the first argument, and may create this key. The reply
    /// reveals only which items were new, as that of SADD.
    Insert,
    /// The command changes the key in the first argument, and the reply depends on the key's
    /// contents.
    Update,
    /// The command replaces or creates the key in the first argument.
    Replace,
    /// The command changes the key in the first argument, and reads all keys after it.
    Merge,
    /// The command changes the key in the first argument. The second argument is the number of keys
    /// after it, which the command reads.
    CountedMerge,
}

impl Keys {
    fn flags(self) -> &'static str {
        match self {
            Keys::None => "",
            Keys::Read => "readonly",
            Keys::Insert | Keys::Update | Keys::Replace | Keys::Merge => "write deny-oom",
            // Clusters ask the command itself where its keys are.
            Keys::CountedMerge => "write deny-oom getkeys-api",
        }
    }

    /// The first key, the last key and the step, for servers and clients that do not know key
    /// specifications.
    fn positions(self) -> (c_int, c_int, c_int) {
        match self {
            Keys::None => (0, 0, 0),
            Keys::Merge => (1, -1, 1),
            _ => (1, 1, 1),
        }
    }

    fn is_write(self) -> bool {
        !matches!(self, Keys::None | Keys::Read)
    }

    /// The key specifications. The server needs them to enforce the permissions of users who may
    /// only read, or may use only some keys.
    fn specs(self) -> Vec<KeySpec> {
        let first = |flags| spec(flags, 1, FIND_RANGE, [0, 1, 0]);
        let end = spec_end();
        match self {
            Keys::None => vec![end],
            Keys::Read => vec![first(KEY_READ_ONLY | KEY_ACCESS), end],
            Keys::Insert => vec![first(KEY_READ_WRITE | KEY_INSERT), end],
            Keys::Update => vec![first(KEY_READ_WRITE | KEY_ACCESS | KEY_UPDATE), end],
            Keys::Replace => vec![first(KEY_OVERWRITE | KEY_UPDATE), end],
            Keys::Merge => {
                vec![first(KEY_READ_WRITE | KEY_UPDATE), spec(KEY_READ_ONLY | KEY_ACCESS, 2, FIND_RANGE, [-1, 1, 0]), end]
            }
            // The number is at the position where the search begins, and the keys follow it.
            Keys::CountedMerge => {
                vec![first(KEY_READ_WRITE | KEY_UPDATE), spec(KEY_READ_ONLY | KEY_ACCESS, 2, FIND_COUNT, [0, 1, 1]), end]
            }
        }
    }
}

fn spec(flags: u64, position: c_int, find_kind: c_int, find: [c_int; 3]) -> KeySpec {
    KeySpec { notes: ptr::null(), flags, begin_kind: BEGIN_INDEX, begin: Begin { position }, find_kind, find }
}

/// Returns the element that ends the list of key specifications.
fn spec_end() -> KeySpec {
    KeySpec { begin_kind: 0, ..spec(0, 0, 0, [0; 3]) }
}

static VERSION: InfoVersion =
    InfoVersion { version: 1, history_entry: 2 * size_of::<*const u8>(), key_spec: size_of::<KeySpec>(), argument: ARGUMENT_BYTES };

/// Registers a command; returns its name as an error if the server refuses it.
///
/// # Safety
/// `ctx` must be the context that the server passes when it loads the module.
pub(super) unsafe fn register<V: Verb>(ctx: *mut Ctx, category: &CStr) -> Result<(), &'static CStr> {
    let api: &Api = api();
    let (first, last, step) = V::KEYS.positions();
    let specs = V::KEYS.specs();
    let info = CommandInfo {
        version: &raw const VERSION,
        summary: V::SUMMARY.as_ptr(),
        complexity: V::COMPLEXITY.as_ptr(),
        since: c"0.1.0".as_ptr(),
        history: ptr::null(),
        tips: ptr::null(),
        arity: V::ARITY,
        key_specs: specs.as_ptr(),
        arguments: ptr::null(),
    };
    let access = if V::KEYS.is_write() { "write" } else { "read" };
    // Commands that do not read all bits count as fast. In the complexity, n and c stand for the
    // numbers of bits and counters.
    let is_fast = [&b"O(1)"[..], b"O(k", b"O(d"].iter().any(|begin| V::COMPLEXITY.to_bytes().starts_with(begin));
    let (flag, speed) = if is_fast { (" fast", "fast") } else { ("", "slow") };
    let flags = format!("{}{flag}\0", V::KEYS.flags());
    let categories = format!("{access} {speed} {}\0", category.to_str().unwrap_or_default());
    // SAFETY: all texts end with NUL, and the server copies what it keeps; the specifications end
    // with an empty one.
    unsafe {
        if (api.CreateCommand)(ctx, V::NAME.as_ptr(), enter::<V>, flags.trim_start().as_ptr().cast(), first, last, step) != OK {
            return Err(V::NAME);
        }
        let command = (api.GetCommand)(ctx, V::NAME.as_ptr());
        if command.is_null() || (api.SetCommandInfo)(command, &raw const info) != OK {
            return Err(V::NAME);
        }
        if let Some(set) = api.SetCommandACLCategories {
            // Servers that do not support the categories of modules refuse the last word; then only
            // the usual categories are set.
            let plain = format!("{access} {speed}\0");
            if set(command, categories.as_ptr().cast()) != OK {
                set(command, plain.as_ptr().cast());
            }
        }
    }
    Ok(())
}

unsafe extern "C" fn enter<V: Verb>(ctx: *mut Ctx, texts: *mut *mut Text, count: c_int) -> c_int {
    // SAFETY: the server passed these pointers, which are valid during the command.
    let mut call = unsafe { Call::new(ctx, texts, count) };
    if V::KEYS == Keys::CountedMerge && call.asks_for_keys() {
        guarded(|| call.say_counted_keys());
        return OK;
    }
    let result = guarded(|| V::run(&mut call));
    let panicked = || Err(Failure::text("ERR internal error of the module; the server's log has a line about it"));
    guarded(|| call.answer(result.unwrap_or_else(panicked))).unwrap_or(OK)
}
