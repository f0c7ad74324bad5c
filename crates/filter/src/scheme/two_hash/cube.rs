//! Scheme 7: extended double hashing with cubes.

use super::progression::progression_scheme;

progression_scheme! {
    /// `h1 + i h2 + i^3` modulo the bits (Kirsch and Mitzenmacher, section 5.2); h2 may be 0. Of
    /// the coincidences of [`Double`](super::Double), hardly more than equal pairs remain.
    Cube, 0, [1, 6, 6], Any, Cube
}
