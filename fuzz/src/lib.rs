//! What the fuzz targets do with their bytes. The same functions are given the committed corpora by
//! `cargo test` (see `main`).
//!
//! Records and `eval` are private to the command, a program without a library. Their sources are
//! compiled in here, as modules of the same names: the command keeps its shape, and nobody is
//! tempted to use its inside as a library. The table of numeric calls is that of the test `extreme`
//! of `truebloom-math`.
#![allow(dead_code, unused_imports, reason = "most of the command is not called from here")]
#![allow(unreachable_pub, reason = "a library for the fuzz targets, a program for the test")]

#[path = "../../crates/cli/src/arch.rs"]
mod arch;
#[path = "../../crates/cli/src/args.rs"]
mod args;
#[path = "../../crates/cli/src/certificate.rs"]
mod certificate;
mod cmd;
#[path = "../../crates/cli/src/color.rs"]
mod color;
#[path = "../../crates/cli/src/failure.rs"]
mod failure;
#[path = "../../crates/cli/src/filters.rs"]
mod filters;
#[path = "../../crates/cli/src/held.rs"]
mod held;
#[path = "../../crates/cli/src/lock.rs"]
mod lock;
#[path = "../../crates/cli/src/output.rs"]
mod output;
#[path = "../../crates/cli/src/progress.rs"]
mod progress;
#[path = "../../crates/cli/src/records/mod.rs"]
mod records;
#[path = "../../crates/cli/src/report.rs"]
mod report;
#[path = "../../crates/cli/src/stop.rs"]
mod stop;

#[path = "../../crates/math/tests/extreme/draw.rs"]
mod draw;
#[path = "../../crates/math/tests/extreme/laws.rs"]
mod laws;
#[path = "../../crates/math/tests/extreme/numbers.rs"]
mod numbers;
#[path = "../../crates/math/tests/extreme/plans.rs"]
mod plans;
#[path = "../../crates/math/tests/extreme/recycling.rs"]
mod recycling;
#[path = "../../crates/math/tests/extreme/watch.rs"]
mod watch;

mod harness;

pub use harness::decode::decode;
pub use harness::eval::eval;
pub use harness::kernels::kernels;
pub use harness::numeric::numeric;
pub use harness::operations::operations;
pub use harness::records::records;
pub use harness::text::text;
pub use harness::travel::travel;
pub use harness::views::views;

/// Gives each target its corpus: the bytes that libFuzzer found to reach something new, minimised.
/// A test of the command's crate, without a harness of its own: with one, the command's unit tests
/// would run here once more.
#[cfg(test)]
fn main() {
    harness::replay::all();
}
