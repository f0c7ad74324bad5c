//! Scheme 6: extended double hashing with squares.

use super::progression::progression_scheme;

progression_scheme! {
    /// Probe i (from 0) is at position `h1 + i h2 + i^2`, modulo the number of bits (Kirsch and
    /// Mitzenmacher, section 5.2). Here, h1 and h2 are two hashes of the key, and h2 may be 0.
    ///
    /// Some pairs of keys share many positions, which raises the rate. As with
    /// [`Double`](super::Double), there are three kinds of such pairs:
    /// * The keys have equal h1 and equal h2, so they have the same positions.
    /// * The keys have the same positions, but in opposite orders.
    /// * The probes of one key are those of the other key, shifted by a small number s: probe i of
    ///   one key has the position of probe i + s of the other key. The order of the probes can also
    ///   be reversed.
    ///
    /// With [`Cube`](super::Cube), only pairs with equal h1 and equal h2 raise the rate noticeably.
    Square, 0, [1, 2, 0], Any, Square
}
