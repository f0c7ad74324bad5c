//! What stands in files by its number.

mod hasher;
mod kind;

pub use hasher::HasherId;
pub use kind::FileKind;
