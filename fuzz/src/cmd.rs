//! The only verb whose functions are called directly.

#[path = "../../crates/cli/src/cmd/eval/mod.rs"]
pub(crate) mod eval;
