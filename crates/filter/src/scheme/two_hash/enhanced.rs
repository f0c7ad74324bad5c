//! Scheme 8: enhanced double hashing.

use super::progression::progression_scheme;

progression_scheme! {
    /// The positions are `h1 + i h2 + (i^3 - i) / 6` modulo the bits (Dillinger and Manolios 2004);
    /// h2 may be 0. This scheme is [`Cube`](super::Cube) with the smallest constant third
    /// difference, which is 1.
    Enhanced, 0, [0, 1, 1], Any, Enhanced
}
