//! Scheme 8: enhanced double hashing.

use super::progression::progression_scheme;

progression_scheme! {
    /// Enhanced double hashing: probe i (from 0) is at position `h1 + i h2 + (i^3 - i) / 6`, modulo
    /// the number of bits (Dillinger and Manolios 2004). Here, h1 and h2 are two hashes of the key,
    /// and h2 may be 0. This scheme is similar to [`Cube`](super::Cube).
    Enhanced, 0, [0, 1, 1], Any, Enhanced
}
