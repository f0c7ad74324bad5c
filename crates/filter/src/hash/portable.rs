//! The hashers that have a number in the file format.

use super::xxh3::Xxh3;
use super::{KeyHash, KeyHasher, Seed, hash_key, one_by_one, sip};
use crate::ids::HasherId;
use crate::key::{Key, Write};

/// A seeded hash function. It is one of the hash functions that have a number in the file format
/// ([`HasherId`]). Only filters with a `PortableHasher` can be saved.
///
/// All of these hash functions share one Rust type, so `BloomFilter::open` opens files with any of
/// these functions. The file says which hash function its filter uses. Selecting the hash function
/// costs one well-predicted branch per key.
///
/// ```
/// use truebloom::{BloomFilter, PortableHasher, Seed};
/// // For untrusted keys: without the seed, nobody can find keys that fill it or are false positives.
/// let mut seen = BloomFilter::with_hasher(1_000, 0.01, PortableHasher::sip13(Seed::random()?))?;
/// assert!(seen.insert("a stranger's key"));
/// # Ok::<(), truebloom::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortableHasher {
    id: HasherId,
    seed: Seed,
    /// The seed in the form that XXH3 needs.
    xxh3: Xxh3,
}

impl PortableHasher {
    /// The hash function `id` with this seed.
    #[must_use]
    pub fn new(id: HasherId, seed: Seed) -> PortableHasher {
        PortableHasher { id, seed, xxh3: Xxh3::new(seed) }
    }

    /// The default hasher of filters: XXH3-128 with a random seed.
    ///
    /// # Errors
    /// Returns an error if the operating system provides no random numbers.
    #[cfg(feature = "random")]
    pub fn random() -> Result<PortableHasher, crate::BuildError> {
        Seed::random().map(PortableHasher::xxh3)
    }

    /// XXH3-128, the default.
    #[must_use]
    pub fn xxh3(seed: Seed) -> PortableHasher {
        PortableHasher::new(HasherId::Xxh3, seed)
    }

    /// SipHash-1-3-128, for untrusted keys. Keep the seed secret. Keep the filter's file secret,
    /// too, because the file contains the seed.
    #[must_use]
    pub fn sip13(seed: Seed) -> PortableHasher {
        PortableHasher::new(HasherId::Sip13, seed)
    }

    /// The hash of a key of any type. For a filter with this hasher,
    /// [`FilterOf::hash`](crate::FilterOf::hash) returns the same hash. Use this method if you have
    /// no filter, or only a `dyn` [`Filter`](crate::Filter).
    #[inline]
    pub fn hash_key<K: Key + ?Sized>(&self, key: &K) -> KeyHash {
        hash_key(self, key)
    }

    /// The number that identifies the hash function in the file format.
    #[must_use]
    pub fn hasher_id(&self) -> HasherId {
        self.id
    }
}

impl KeyHasher for PortableHasher {
    const HASH_BITS: u32 = 128;

    #[inline]
    fn hash(&self, bytes: &[u8]) -> KeyHash {
        match self.id {
            HasherId::Xxh3 => self.xxh3.hash(bytes),
            HasherId::Sip13 => sip::hash(self.seed, bytes),
        }
    }

    fn hash_pieces(&self, write: &mut Write<'_>) -> KeyHash {
        match self.id {
            HasherId::Xxh3 => self.xxh3.hash_pieces(write),
            HasherId::Sip13 => sip::hash_pieces(self.seed, write),
        }
    }

    #[inline(always)]
    fn hash_number(&self, number: u64) -> KeyHash {
        match self.id {
            HasherId::Xxh3 => self.xxh3.hash_number(number),
            HasherId::Sip13 => sip::hash(self.seed, &number.to_le_bytes()),
        }
    }

    fn hash_numbers(&self, numbers: &[u64], first: &mut [u64], second: &mut [u64]) {
        match self.id {
            HasherId::Xxh3 => self.xxh3.hash_numbers(numbers, first, second),
            HasherId::Sip13 => one_by_one(self, numbers, first, second),
        }
    }

    fn id(&self) -> Option<HasherId> {
        Some(self.id)
    }

    fn seed(&self) -> Seed {
        self.seed
    }
}
