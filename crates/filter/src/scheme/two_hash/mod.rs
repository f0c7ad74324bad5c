//! Schemes 4 to 9, which make all positions of two hashes.
//!
//! Kirsch and Mitzenmacher, "Less hashing, same performance". For comparison, and for filters whose
//! plan counts their floor: no plan chooses them by itself.

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
