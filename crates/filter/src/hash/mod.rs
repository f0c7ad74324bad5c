//! From key bytes to a 128-bit hash.

mod foreign;
mod portable;
mod seed;
mod sip;
mod xxh3;

pub use foreign::Foreign;
pub use portable::{HasherId, PortableHasher};
pub use seed::Seed;

/// The hash of a key: two 64-bit halves.
///
/// Filters with the same seed and hasher give a key the same hash, so a key can be hashed once and then offered to many of them, whatever their
/// sizes ([`BloomFilter::insert_hash`](crate::BloomFilter::insert_hash)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyHash {
    pub(crate) h1: u64,
    pub(crate) h2: u64,
}

impl From<u128> for KeyHash {
    /// The low half of the number becomes the first half of the hash.
    #[inline]
    fn from(hash: u128) -> KeyHash {
        KeyHash { h1: hash as u64, h2: (hash >> 64) as u64 }
    }
}

impl From<KeyHash> for u128 {
    #[inline]
    fn from(hash: KeyHash) -> u128 {
        u128::from(hash.h2) << 64 | u128::from(hash.h1)
    }
}

/// A seeded map from bytes to hashes.
///
/// [`PortableHasher`] is what filters use unless told otherwise; [`Foreign`] adapts the hashers of other crates.
pub trait KeyHasher {
    /// Width of the hash in bits: two keys have equal hashes at a rate of `2^-HASH_BITS`, and plans count that.
    const HASH_BITS: u32;

    /// The hash of a key's canonical bytes.
    fn hash(&self, bytes: &[u8]) -> KeyHash;

    /// What stands for this hasher in files; `None` for hashers that cannot be saved.
    fn id(&self) -> Option<HasherId>;

    /// The seed; for a hasher that keeps its seed to itself, a fingerprint in its place. Hashers of equal `id` and `seed` hash alike (for
    /// fingerprints: but for a chance of 2^-128 if the hasher is any good).
    fn seed(&self) -> Seed;
}
