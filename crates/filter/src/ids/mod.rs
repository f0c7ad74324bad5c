//! Enums whose numbers are stored in files.

mod hasher;
mod kind;

pub use hasher::HasherId;
pub use kind::FileKind;
