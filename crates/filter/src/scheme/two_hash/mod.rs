//! Schemes 4 to 9, which derive all positions from two hashes.
//!
//! See Kirsch and Mitzenmacher, "Less hashing, same performance". With these schemes, the rate of a
//! filter cannot fall below a limit that depends on the size of the filter. The schemes are for
//! comparison, and for filters whose plan accounts for this limit. A plan uses them only on
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
