//! The commands, one file for each kind. Commands that RedisBloom also has keep its names,
//! arguments, replies and errors, because clients know these; README.md lists the differences.

mod create;
mod info;
mod items;
mod merge;
mod parse;
mod recycle;
mod sketches;
mod transfer;
mod verify;

/// A command: its type, name, keys, arity, summary, complexity and function.
macro_rules! verb {
    ($(#[$doc:meta])* $type:ident, $name:literal, $keys:ident, $arity:literal, $summary:literal, $complexity:literal, $run:expr) => {
        $(#[$doc])*
        pub(crate) struct $type;

        impl crate::ffi::Verb for $type {
            const NAME: &'static std::ffi::CStr = $name;
            const KEYS: crate::ffi::Keys = crate::ffi::Keys::$keys;
            const SUMMARY: &'static std::ffi::CStr = $summary;
            const COMPLEXITY: &'static std::ffi::CStr = $complexity;
            const ARITY: std::ffi::c_int = $arity;

            fn run(call: &mut crate::ffi::Call<'_>) -> Result<crate::answer::Reply, crate::answer::Failure> {
                let run: fn(&mut crate::ffi::Call<'_>) -> _ = $run;
                let least = Self::ARITY.unsigned_abs() as usize;
                let count = call.args().len();
                if count < least || (Self::ARITY > 0 && count > least) {
                    return Err(crate::answer::Failure::Arity);
                }
                run(call)
            }
        }
    };
}
use verb;

pub(crate) use create::{Request, Reserve};
pub(crate) use info::{Card, Debug, Info};
pub(crate) use items::{Add, Exists, Insert, MultiAdd, MultiExists};
pub(crate) use merge::Merge;
pub(crate) use recycle::Recycle;
pub(crate) use sketches::{SketchAdd, SketchByDim, SketchByProb, SketchInfo, SketchMerge, SketchQuery};
pub(crate) use transfer::{Dump, Load, LoadChunk, ScanDump};
pub(crate) use verify::{Plan, Verify};

/// All commands, each with its ACL category.
macro_rules! all {
    ($say:ident) => {
        $say! {
            commands::Reserve => c"bloom",
            commands::Add => c"bloom",
            commands::MultiAdd => c"bloom",
            commands::Insert => c"bloom",
            commands::Exists => c"bloom",
            commands::MultiExists => c"bloom",
            commands::Card => c"bloom",
            commands::Info => c"bloom",
            commands::Debug => c"bloom",
            commands::ScanDump => c"bloom",
            commands::LoadChunk => c"bloom",
            commands::Dump => c"bloom",
            commands::Load => c"bloom",
            commands::Merge => c"bloom",
            commands::Plan => c"bloom",
            commands::Verify => c"bloom",
            commands::Recycle => c"bloom",
            commands::SketchByDim => c"cms",
            commands::SketchByProb => c"cms",
            commands::SketchAdd => c"cms",
            commands::SketchQuery => c"cms",
            commands::SketchMerge => c"cms",
            commands::SketchInfo => c"cms",
        }
    };
}
pub(crate) use all;
