//! The module's section of INFO.

use super::api::api;
use super::guarded;
use super::raw::*;
use crate::{memory, plans, settings};
use std::ffi::c_int;

/// Registers the section.
///
/// # Safety
/// `ctx` must be the context that the server passes when it loads the module.
pub(super) unsafe fn register(ctx: *mut Ctx) {
    // SAFETY: as the caller says.
    unsafe { (api().RegisterInfoFunc)(ctx, add) };
}

unsafe extern "C" fn add(info: *mut InfoCtx, crashed: c_int) {
    guarded(|| {
        // INFO is also part of crash reports, which may interrupt code that holds a lock. So no
        // field takes a lock.
        let (values, bytes) = memory::totals();
        let limit = |bytes: u64| if bytes == u64::MAX { 0 } else { bytes };
        let fields = [
            (c"keys", values),
            (c"memory_bytes", bytes),
            (c"memory_limit_of_a_key", limit(settings::most_bytes_of_a_key())),
            (c"memory_limit_of_all", limit(settings::most_bytes_of_all())),
            (c"plans", plans::count(crashed != 0)),
            (c"plans_memory_bytes", plans::bytes()),
        ];
        // SAFETY: the server is making the reply of INFO; names end with NUL.
        unsafe {
            (api().InfoAddSection)(info, c"filters".as_ptr());
            for (name, number) in fields {
                (api().InfoAddFieldULongLong)(info, name.as_ptr(), number);
            }
        }
    });
}
