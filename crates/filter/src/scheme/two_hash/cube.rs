//! Scheme 7: extended double hashing with cubes.

use super::progression::progression_scheme;

progression_scheme! {
    /// The positions are `h1 + i h2 + i^3` modulo the bits (Kirsch and Mitzenmacher, section 5.2);
    /// h2 may be 0. Two keys with equal h1 and equal h2 still have equal positions, which raises
    /// the rate. Other coincidences of positions that occur with [`Double`](super::Double) are very
    /// rare with this scheme.
    Cube, 0, [1, 6, 6], Any, Cube
}
