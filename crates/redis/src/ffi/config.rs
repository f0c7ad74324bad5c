//! Settings in the server's CONFIG.

use super::api::api;
use super::guarded;
use super::raw::*;
use super::types::text_of;
use crate::settings::{NUMBERS, Number, TEXTS, Text as TextSetting};
use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Registers all settings and reads the server's file.
///
/// # Safety
/// `ctx` must be the context that the server passes when it loads the module.
pub(super) unsafe fn register(ctx: *mut Ctx) -> Result<(), &'static CStr> {
    for number in NUMBERS {
        let Number { name, default, lowest, highest, is_memory, .. } = number;
        let flags = if *is_memory { CONFIG_MEMORY } else { 0 };
        let data = ptr::from_ref(number).cast_mut().cast();
        // SAFETY: names end with NUL, and the data pointers are valid for ever.
        let status = unsafe {
            (api().RegisterNumericConfig)(ctx, name.as_ptr(), *default, flags, *lowest, *highest, get_number, set_number, None, data)
        };
        if status != OK {
            return Err(name);
        }
    }
    for text in &TEXTS {
        let flags = if text.is_secret { CONFIG_SENSITIVE } else { 0 };
        let data = ptr::from_ref(text).cast_mut().cast();
        // SAFETY: as above.
        let status =
            unsafe { (api().RegisterStringConfig)(ctx, text.name.as_ptr(), text.default.as_ptr(), flags, get_text, set_text, None, data) };
        if status != OK {
            return Err(text.name);
        }
    }
    // SAFETY: the module is being loaded.
    if unsafe { (api().LoadConfigs)(ctx) } == OK { Ok(()) } else { Err(c"the settings in the server's file") }
}

unsafe extern "C" fn get_number(_: *const c_char, data: *mut c_void) -> c_longlong {
    // SAFETY: the setting was registered with one of `NUMBERS`.
    guarded(|| unsafe { &*data.cast::<Number>() }.get()).unwrap_or(0)
}

unsafe extern "C" fn set_number(_: *const c_char, value: c_longlong, data: *mut c_void, _: *mut *mut Text) -> c_int {
    // SAFETY: the setting was registered with one of `NUMBERS`; the server has checked the value's
    // range.
    guarded(|| unsafe { &*data.cast::<Number>() }.set(value)).map_or(ERR, |()| OK)
}

/// The last text that was passed to the server, which reads it after our function has returned.
static TOLD: AtomicPtr<Text> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" fn get_text(_: *const c_char, data: *mut c_void) -> *mut Text {
    guarded(|| {
        // SAFETY: the setting was registered with one of `TEXTS`. The server copies a text before
        // it requests the next one.
        unsafe {
            let text = ((*data.cast::<TextSetting>()).get)();
            let told = (api().CreateString)(ptr::null_mut(), text.as_ptr().cast(), text.len());
            let before = TOLD.swap(told, Ordering::Relaxed);
            if !before.is_null() {
                (api().FreeString)(ptr::null_mut(), before);
            }
            told
        }
    })
    .unwrap_or(ptr::null_mut())
}

unsafe extern "C" fn set_text(_: *const c_char, value: *mut Text, data: *mut c_void, error: *mut *mut Text) -> c_int {
    guarded(|| {
        // SAFETY: the setting was registered with one of `TEXTS`; the server frees the error.
        unsafe {
            let Err(why) = ((*data.cast::<TextSetting>()).set)(&text_of(value)) else { return OK };
            if !error.is_null() {
                *error = (api().CreateString)(ptr::null_mut(), why.as_ptr().cast(), why.len());
            }
            ERR
        }
    })
    .unwrap_or(ERR)
}
