//! Schemes 4 to 9, which derive all positions from two hashes.
//!
//! See Kirsch and Mitzenmacher, "Less hashing, same performance". These schemes are for comparison,
//! and for filters whose plan accounts for the lowest possible rate. A plan uses them only on
//! request.

mod cube;
mod double;
mod enhanced;
mod partition_double;
mod progression;
mod square;

pub use cube::Cube;
pub use double::{Double, DoubleNonzero};
pub use enhanced::Enhanced;
pub use partition_double::PartitionDouble;
pub use progression::Progression;
pub use square::Square;
