//! From key bytes to a 128-bit hash.

mod foreign;
mod portable;
mod seed;
mod sip;
mod xxh3;

pub use foreign::Foreign;
pub use portable::{HasherId, PortableHasher};
pub use seed::Seed;

use crate::error::{BuildError, MergeError};
use crate::key::Key;

/// The hash of a key: two 64-bit halves, each as good as random.
///
/// Positions are taken from the halves as they are, so a number that is no hash, such as a counter or a random identifier with fixed bits, has to be hashed first. Whoever divides keys among
/// several filters of one seed takes the low bits of the first half for it, or another seed: keys whose hashes begin alike share positions.
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

fn one_by_one<H: KeyHasher + ?Sized>(hasher: &H, numbers: &[u64], first: &mut [u64], second: &mut [u64]) {
    for (number, halves) in numbers.iter().zip(first.iter_mut().zip(second)) {
        KeyHash { h1: *halves.0, h2: *halves.1 } = hasher.hash_number(*number);
    }
}

/// The hash of a key of any type.
#[inline(always)]
pub(crate) fn hash_key<K: Key + ?Sized>(hasher: &impl KeyHasher, key: &K) -> KeyHash {
    match key.as_number() {
        Some(number) => hasher.hash_number(number),
        None => key.with_bytes(|bytes| hasher.hash(bytes)),
    }
}

/// An error for the first hasher where positions come from the halves of the hash as they are: there filters of seeds that differ in one half would be of one mind.
pub(crate) fn check_hasher(hasher: &impl KeyHasher, takes_halves: bool) -> Result<(), BuildError> {
    if takes_halves && hasher.id() == Some(HasherId::FirstXxh3) { Err(BuildError::FirstHasher) } else { Ok(()) }
}

/// An error unless the two hash alike: what is merged has to put every key in the same place.
pub(crate) fn check_alike<H: KeyHasher>(ours: &H, theirs: &H) -> Result<(), MergeError> {
    if ours.id() != theirs.id() {
        return Err(MergeError::Hasher { ours: ours.id(), theirs: theirs.id() });
    }
    if ours.seed() != theirs.seed() {
        return Err(MergeError::Seed { ours: ours.seed(), theirs: theirs.seed() });
    }
    Ok(())
}

/// A seeded map from bytes to hashes.
///
/// [`PortableHasher`] is what filters use unless told otherwise; [`Foreign`] adapts the hashers of other crates.
pub trait KeyHasher {
    /// Width of the hash in bits: two keys have equal hashes at a rate of `2^-HASH_BITS`, and plans count that.
    const HASH_BITS: u32;

    /// The hash of a key's canonical bytes.
    fn hash(&self, bytes: &[u8]) -> KeyHash;

    /// The hash of the eight bytes of a number, little-endian: what [`hash`](Self::hash) says of them.
    #[inline]
    fn hash_number(&self, number: u64) -> KeyHash {
        self.hash(&number.to_le_bytes())
    }

    /// [`hash_number`](Self::hash_number) of many, the first halves and the second ones apart: with the same results, side by side where the hash allows it. As many are hashed as there are of all three.
    fn hash_numbers(&self, numbers: &[u64], first: &mut [u64], second: &mut [u64]) {
        one_by_one(self, numbers, first, second);
    }

    /// What stands for this hasher in files; `None` for hashers that cannot be saved.
    fn id(&self) -> Option<HasherId>;

    /// The seed; for a hasher that keeps its seed to itself, a fingerprint in its place. Hashers of equal `id` and `seed` hash alike (for
    /// fingerprints: but for a chance of 2^-128 if the hasher is any good).
    fn seed(&self) -> Seed;
}
