//! Scheme 7: extended double hashing with cubes.

use super::progression::progression_scheme;

progression_scheme! {
    /// Probe i (from 0) is at position `h1 + i h2 + i^3`, modulo the number of bits (Kirsch and
    /// Mitzenmacher, section 5.2). Here, h1 and h2 are two hashes of the key, and h2 may be 0.
    ///
    /// As with [`Double`](super::Double), two keys with equal h1 and equal h2 have equal positions.
    /// This raises the rate. With [`Double`](super::Double), two keys can also have the same
    /// positions in another order, or share most of their positions. With `Cube`, such cases are
    /// very rare.
    Cube, 0, [1, 6, 6], Any, Cube
}
