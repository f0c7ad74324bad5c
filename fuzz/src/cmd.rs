//! The one verb whose inside is called.

#[path = "../../crates/cli/src/cmd/eval/mod.rs"]
pub(crate) mod eval;
