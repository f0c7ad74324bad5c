//! Scheme 6: extended double hashing with squares.

use super::progression::progression_scheme;

progression_scheme! {
    /// `h1 + i h2 + i^2` modulo the bits (Kirsch and Mitzenmacher, section 5.2); h2 may be 0. Keys
    /// no longer collide because of shifted progressions, but still because of equal pairs and
    /// reversed progressions.
    Square, 0, [1, 2, 0], Any, Square
}
