//! Schemes 4 and 5: double hashing modulo the bits.

use super::progression::progression_scheme;

progression_scheme! {
    /// Double hashing: probe i (from 0) is at position `h1 + i h2`, modulo the number of bits. The
    /// hashes h1 and h2 are uniform and independent, and h2 may be 0.
    ///
    /// Double hashing saves a few instructions per probe. But with n keys in m bits, the rate
    /// cannot fall below about `(k + 2) n/m^2`, because the two hashes alone determine all
    /// positions of a key. If m has small divisors, the limit is higher. Filters with equally many
    /// set bits can have different rates. Use this scheme for comparison, or if the size of the
    /// filter was planned for this scheme.
    Double, 0, [0, 0, 0], Any, Linear
}

progression_scheme! {
    /// Like [`Double`], but h2 is never 0. Therefore, no key has all its probes at one position.
    /// This scheme needs at least 2 bits.
    DoubleNonzero, 1, [0, 0, 0], NonZero, Linear
}
