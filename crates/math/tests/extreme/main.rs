//! Tests that no call of the public interface panics or computes for more than two seconds,
//! whatever its arguments. The call returns the exact answer, a wider bracket that is marked as
//! such, or an error.
//!
//! The test makes 2,200 calls with random extreme arguments from a fixed seed. It omits simulations
//! (`simulate`, `simulate_subject`, `Simulation::run`), because they take as many steps as
//! requested.

mod draw;
mod laws;
mod numbers;
mod plans;
mod recycling;
mod watch;
