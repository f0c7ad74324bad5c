//! The interface to the server, with all unsafe code. The rest of the module uses [`Call`] in
//! commands, [`Setting`]s, and the types in their arguments and results.
#![allow(unsafe_code, reason = "foreign functions")]

mod alloc;
mod api;
mod call;
mod command;
mod config;
mod info;
mod load;
mod raw;
mod types;

pub(crate) use alloc::has_room;
#[cfg(test)]
pub(crate) use alloc::with_blocks_up_to;
pub(crate) use call::{Call, now};
pub(crate) use command::{Keys, Verb};

/// Runs a function on behalf of the server. A panic must not unwind into the server. If the
/// function panics, the result is `None`, and the panic hook that `load` sets logs a line.
fn guarded<R>(run: impl FnOnce() -> R) -> Option<R> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).ok()
}
