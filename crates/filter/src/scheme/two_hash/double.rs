//! Schemes 4 and 5: double hashing modulo the bits.

use super::progression::progression_scheme;

progression_scheme! {
    /// Double hashing: the positions are `h1 + i h2` modulo the bits, where h1 and h2 are uniform
    /// and independent; h2 may be 0.
    ///
    /// Double hashing saves a few instructions per probe. The rate cannot fall below about 6n/m^2,
    /// because only two hashes distinguish keys. This limit is higher if m has small divisors. The
    /// number of set bits does not determine the rate. Use this scheme for comparison, or with a
    /// plan that accounts for the limit.
    Double, 0, [0, 0, 0], Any, Linear
}

progression_scheme! {
    /// Like [`Double`], but h2 is uniform from 1 to m - 1. Therefore, no key has all its probes at
    /// one position. This scheme needs at least 2 bits.
    DoubleNonzero, 1, [0, 0, 0], NonZero, Linear
}
