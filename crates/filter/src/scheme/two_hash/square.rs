//! Scheme 6: extended double hashing with squares.

use super::progression::progression_scheme;

progression_scheme! {
    /// The positions are `h1 + i h2 + i^2` modulo the bits (Kirsch and Mitzenmacher, section 5.2);
    /// h2 may be 0. With [`Double`](super::Double), the rate is higher because the positions of one
    /// key can be the shifted or the reversed positions of another key. With this scheme, shifted
    /// positions do not raise the rate. Reversed positions still raise the rate, and so do keys
    /// with equal h1 and equal h2.
    Square, 0, [1, 2, 0], Any, Square
}
