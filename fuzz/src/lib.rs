//! The functions of the fuzz targets. `cargo test` calls the same functions with the committed
//! corpora (see `main`).
//!
//! `records` and `eval` are private modules of the command. Their sources are compiled here as
//! modules with the same names, so the command needs no public interface for fuzzing. The table of
//! numeric calls is shared with the test `extreme` of `truebloom-math`.
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
#[path = "../../crates/cli/src/inputs.rs"]
mod inputs;
#[path = "../../crates/cli/src/lock.rs"]
mod lock;
#[path = "../../crates/cli/src/memory.rs"]
mod memory;
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

/// Runs each target on its corpus: a minimised set of inputs with which libFuzzer reached new code.
/// This test does not use the usual test harness, which would also run the unit tests of the
/// command's modules.
#[cfg(test)]
fn main() {
    harness::replay::all();
}
