//! The module path of `eval`, the only verb whose functions the targets call directly.

#[path = "../../crates/cli/src/cmd/eval/mod.rs"]
pub(crate) mod eval;
