//! Scheme 6: extended double hashing with squares.

use super::progression::progression_scheme;

progression_scheme! {
    /// The positions are `h1 + i h2 + i^2` modulo the bits (Kirsch and Mitzenmacher, section 5.2);
    /// h2 may be 0. Unlike with [`Double`](super::Double), shifted progressions do not raise the
    /// rate. Reversed progressions still raise the rate, and so do keys with equal h1 and equal h2.
    Square, 0, [1, 2, 0], Any, Square
}
