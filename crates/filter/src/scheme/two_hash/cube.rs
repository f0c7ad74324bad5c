//! Scheme 7: extended double hashing with cubes.

use super::progression::progression_scheme;

progression_scheme! {
    /// The positions are `h1 + i h2 + i^3` modulo the bits (Kirsch and Mitzenmacher, section 5.2);
    /// h2 may be 0. Of the coincidences that raise the rate of [`Double`](super::Double), hardly
    /// any remain except equal pairs of h1 and h2.
    Cube, 0, [1, 6, 6], Any, Cube
}
