//! No call of the public interface panics or works for more than two seconds, whatever its
//! arguments: it answers, answers with a wider bracket that says so, or refuses.
//!
//! 2,200 calls with random extreme arguments from a fixed seed. Not among them are simulations
//! (`simulate`, `simulate_subject`, `Simulation::run`), which are asked for a number of steps and
//! take them.

mod draw;
mod laws;
mod numbers;
mod plans;
mod recycling;
mod watch;
