//! Scheme 6: extended double hashing with squares.

use super::progression::progression_scheme;

progression_scheme! {
    /// The positions are `h1 + i h2 + i^2` modulo the bits (Kirsch and Mitzenmacher, section 5.2);
    /// h2 may be 0. Shifted progressions no longer raise the rate, but equal pairs of h1 and h2 and
    /// reversed progressions still do.
    Square, 0, [1, 2, 0], Any, Square
}
