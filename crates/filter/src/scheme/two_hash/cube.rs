//! Scheme 7: extended double hashing with cubes.

use super::progression::progression_scheme;

progression_scheme! {
    /// The positions are `h1 + i h2 + i^3` modulo the bits (Kirsch and Mitzenmacher, section 5.2);
    /// h2 may be 0. Equal pairs of h1 and h2 still raise the rate. Hardly any of the other
    /// coincidences of [`Double`](super::Double) remain.
    Cube, 0, [1, 6, 6], Any, Cube
}
