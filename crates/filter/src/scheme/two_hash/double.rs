//! Schemes 4 and 5: double hashing modulo the bits.

use super::progression::progression_scheme;

progression_scheme! {
    /// Double hashing, `h1 + i h2` modulo the bits, with h1 and h2 uniform and independent; h2 may
    /// be 0.
    ///
    /// A few instructions per probe, for a floor near 6n/m^2 and more under the rate when m has
    /// small divisors: two hashes are all that distinguishes keys. The fill does not determine the
    /// rate. For comparison, and for filters whose floor a plan has counted.
    Double, 0, [0, 0, 0], Any, Linear
}

progression_scheme! {
    /// [`Double`] with h2 uniform on 1 to m - 1: no key has a single position. Needs 2 bits at
    /// least.
    DoubleNonzero, 1, [0, 0, 0], NonZero, Linear
}
