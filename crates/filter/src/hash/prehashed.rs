//! Keys that are already hashes.

use super::{HasherId, KeyHash, KeyHasher, Seed};
use crate::key::Write;
use truebloom_math::mix;
use xxhash_rust::xxh3::{Xxh3Builder, xxh3_64_with_seed};

/// The hasher for keys that are already 64-bit hashes, given as `u64`.
///
/// The hasher mixes each number with the seed, so the numbers need not be evenly distributed.
/// Distinct numbers get distinct hashes. Keys of other types are first hashed with XXH3-64.
///
/// Two keys with the same 64-bit hash cannot be distinguished, however large the filter is. If n
/// keys were inserted, another key has the same hash as one of them with a probability of up to
/// n/2^64. Plans, rates and [`verify`](crate::verify) take this probability into account.
///
/// A filter with this hasher cannot be saved, because this hasher has no number in the file format.
///
/// ```
/// use truebloom::{BlockedBloomFilter, Prehashed, Seed};
/// let mut filter = BlockedBloomFilter::with_hasher(1_000, 0.01, Prehashed::new(Seed::random()?))?;
/// let hash_of_key: u64 = 0x1234;
/// filter.insert(&hash_of_key);
/// assert!(filter.contains(&hash_of_key));
/// // The probability that a key has the same hash as the one inserted key is 1/2^64.
/// assert!(filter.fpr().upper >= 2f64.powi(-64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prehashed {
    seed: Seed,
}

impl Prehashed {
    /// A hasher with this seed.
    #[must_use]
    pub fn new(seed: Seed) -> Prehashed {
        Prehashed { seed }
    }
}

impl KeyHasher for Prehashed {
    const HASH_BITS: u32 = 64;

    #[inline]
    fn hash(&self, bytes: &[u8]) -> KeyHash {
        match bytes.try_into() {
            Ok(number) => self.hash_number(u64::from_le_bytes(number)),
            Err(_) => self.hash_number(xxh3_64_with_seed(bytes, self.seed.low())),
        }
    }

    fn hash_pieces(&self, write: &mut Write<'_>) -> KeyHash {
        let mut state = Xxh3Builder::new().with_seed(self.seed.low()).build();
        write(&mut |piece| state.update(piece));
        self.hash_number(state.digest())
    }

    /// Each half of the hash is a bijective function of the number. The second half is computed
    /// from the first half and the seed. The two halves behave as if they were independent.
    #[inline]
    fn hash_number(&self, number: u64) -> KeyHash {
        let h1 = mix(mix(number ^ self.seed.low()) ^ self.seed.high());
        KeyHash { h1, h2: mix(mix(h1.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ self.seed.high()) }
    }

    fn id(&self) -> Option<HasherId> {
        None
    }

    fn seed(&self) -> Seed {
        self.seed
    }
}
