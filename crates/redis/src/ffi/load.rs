//! The module's entry point.

use super::api::{self, Api};
use super::raw::*;
use super::{command, config, guarded, info, types};
use crate::{commands, settings};
use std::ffi::{CStr, CString, c_int};

/// The module's name. RedisBloom's filters and valkey-bloom have the same name, and this module has
/// their commands. With this name, clients recognize the module, and a server cannot load two such
/// modules at once.
const NAME: &CStr = c"bf";

/// Version 0.1.0, in the form that modules use.
const VERSION: c_int = 100;

const API_VERSION: c_int = 1;

/// The server, Redis or Valkey, calls this when it loads the module.
///
/// # Safety
/// Only the server may call this function, and only once.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn RedisModule_OnLoad(ctx: *mut Ctx, texts: *mut *mut Text, count: c_int) -> c_int {
    // SAFETY: as the caller promised.
    guarded(|| unsafe { load(ctx, texts, count) }).unwrap_or(ERR)
}

unsafe fn load(ctx: *mut Ctx, texts: *mut *mut Text, count: c_int) -> c_int {
    // By default, Rust does not write to the server's log.
    std::panic::set_hook(Box::new(|panic| {
        if let Some(api) = api::found() {
            log(api, std::ptr::null_mut(), &format!("internal error of the module: {panic}"));
        }
    }));
    // SAFETY: the server is loading the module.
    let api: &Api = match unsafe { api::load(ctx) } {
        Ok(api) => api,
        Err(missing) => {
            // The missing function may be the one that logs.
            eprintln!("truebloom: this server has no function {missing}; use Redis 7.0, Valkey 7.2 or a newer version");
            return ERR;
        }
    };
    // SAFETY: as above; the name ends with NUL.
    unsafe {
        if (api.IsModuleNameBusy)(NAME.as_ptr()) != 0 {
            eprintln!("truebloom: a module with the name bf is already loaded");
            return ERR;
        }
        (api.SetModuleAttribs)(ctx, NAME.as_ptr(), VERSION, API_VERSION);
        (api.SetModuleOptions)(ctx, OPTION_IO_ERRORS | OPTION_NO_IMPLICIT_SIGNAL | OPTION_ASYNC_LOAD);
    }
    // SAFETY: as above.
    let registered = unsafe {
        info::register(ctx);
        types::register(ctx).and_then(|()| register_commands(ctx)).and_then(|()| config::register(ctx))
    };
    if let Err(what) = registered {
        log(api, ctx, &format!("the server refuses {}", what.to_string_lossy()));
        return ERR;
    }
    // SAFETY: the server passes the arguments of the module.
    let arguments: Vec<String> = (0..usize::try_from(count).unwrap_or(0)).map(|i| unsafe { types::text_of(*texts.add(i)) }).collect();
    for pair in arguments.chunks(2) {
        let set = match pair {
            [name, value] => settings::set_argument(name, value),
            _ => Err(format!("{} has no value; each name must be followed by a value", pair.concat())),
        };
        if let Err(why) = set {
            log(api, ctx, &why);
            return ERR;
        }
    }
    OK
}

/// # Safety
/// `ctx` must be the context that the server passes when it loads the module.
unsafe fn register_commands(ctx: *mut Ctx) -> Result<(), &'static CStr> {
    for category in [c"bloom", c"cms"] {
        if let Some(add) = api::api().AddACLCategory {
            // SAFETY: the name ends with NUL. A category that already exists can be used, too.
            unsafe { add(ctx, category.as_ptr()) };
        }
    }
    macro_rules! register {
        ($($verb:path => $category:literal,)*) => {
            // SAFETY: as the caller promised.
            $(unsafe { command::register::<$verb>(ctx, $category)? };)*
        };
    }
    commands::all!(register);
    Ok(())
}

fn log(api: &Api, ctx: *mut Ctx, text: &str) {
    let text = CString::new(text).unwrap_or_default();
    // SAFETY: the format takes one text, which ends with NUL.
    unsafe { (api.Log)(ctx, c"warning".as_ptr(), c"truebloom: %s".as_ptr(), text.as_ptr()) };
}
