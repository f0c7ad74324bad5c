//! XXH3-128, the hasher for keys that nobody chooses in order to do harm.

use super::{KeyHash, Seed};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// XXH3 takes a seed of 64 bits. The high half of ours goes into the first half of the hash, where it moves every position: filters whose seeds
/// differ only there are as different as any. Equal hashes stay equal, which the floor of n/2^128 counts already.
#[inline]
pub(super) fn hash(seed: Seed, bytes: &[u8]) -> KeyHash {
    let KeyHash { h1, h2 } = xxh3_128_with_seed(bytes, seed.low()).into();
    KeyHash { h1: h1 ^ seed.high(), h2 }
}
