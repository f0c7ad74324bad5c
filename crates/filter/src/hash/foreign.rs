//! Adapters for hashers of other crates.

use super::{HasherId, KeyHash, KeyHasher, Seed};
use crate::key::Write;
use core::hash::{BuildHasher, Hash, Hasher};
use truebloom_math::mix;

/// Adapts a hasher that implements the standard library's traits, such as `RandomState` or a hasher
/// of another crate.
///
/// Compared with the hashers of this crate, a foreign hasher has two drawbacks. First, its hash has
/// only 64 bits. Because of hash collisions, the rate of a filter with n keys cannot be lower than
/// about n/2^64. Plans take this limit into account. Second, filters with a foreign hasher cannot
/// be saved, because the hasher may compute different hashes in another run of the program. These
/// filters have no method `save`:
///
/// ```compile_fail
/// use truebloom::{BloomFilter, ForeignHasher};
/// let filter = BloomFilter::with_hasher(1_000, 0.01, ForeignHasher::new(std::hash::RandomState::new())).unwrap();
/// filter.save("filter.tbl").unwrap();
/// ```
///
/// ```
/// use truebloom::{BloomFilter, ForeignHasher};
/// let mut filter = BloomFilter::with_hasher(1_000, 0.01, ForeignHasher::new(std::hash::RandomState::new()))?;
/// filter.insert("key");
/// assert!(filter.contains("key"));
/// # Ok::<(), truebloom::BuildError>(())
/// ```
///
/// The proven rate holds only if the hasher behaves like a random function of the key's bytes. Many
/// fast hashers do not behave like a random function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignHasher<S> {
    hashers: S,
}

impl<S: BuildHasher> ForeignHasher<S> {
    /// Makes a hasher from a `BuildHasher`.
    pub fn new(hashers: S) -> ForeignHasher<S> {
        ForeignHasher { hashers }
    }

    /// The hash of any value that implements `std::hash::Hash`, even if its type is not a
    /// [`Key`](crate::Key). Pass the hash to [`insert_hash`](crate::BloomFilter::insert_hash) and
    /// [`contains_hash`](crate::BloomFilter::contains_hash) of filters with this hasher. The result
    /// can differ from [`FilterOf::hash`](crate::FilterOf::hash) of the same value. For example,
    /// the `Hash` trait adds a byte at the end of a string.
    ///
    /// Only a filter with this hasher can use the result. A filter with another hasher accepts the
    /// hash, too, but its rates do not include the collisions of 64-bit hashes, and after it was
    /// saved and opened, no hasher makes these hashes again.
    ///
    /// ```
    /// use std::path::Path;
    /// use truebloom::{BloomFilter, ForeignHasher};
    /// let hasher = ForeignHasher::new(std::hash::RandomState::new());
    /// let mut filter = BloomFilter::with_hasher(1_000, 0.01, hasher.clone())?;
    /// filter.insert_hash(hasher.hash_one(Path::new("a/b")));
    /// assert!(filter.contains_hash(hasher.hash_one(Path::new("a/b"))));
    /// # Ok::<(), truebloom::BuildError>(())
    /// ```
    #[inline]
    pub fn hash_one<T: Hash>(&self, value: T) -> KeyHash {
        spread(self.hashers.hash_one(value))
    }

    fn hash64(&self, bytes: &[u8]) -> u64 {
        let mut hasher = self.hashers.build_hasher();
        hasher.write(bytes);
        hasher.finish()
    }
}

impl<S: BuildHasher + 'static> KeyHasher for ForeignHasher<S> {
    const HASH_BITS: u32 = 64;

    #[inline]
    fn hash(&self, bytes: &[u8]) -> KeyHash {
        spread(self.hash64(bytes))
    }

    fn hash_pieces(&self, write: &mut Write<'_>) -> KeyHash {
        let mut state = self.hashers.build_hasher();
        write(&mut |piece| state.write(piece));
        spread(state.finish())
    }

    fn id(&self) -> Option<HasherId> {
        None
    }

    /// A fingerprint of the hasher. It takes the place of the seed, which a foreign hasher does not
    /// reveal. The fingerprint consists of the hashes of two fixed texts.
    fn seed(&self) -> Seed {
        let half = |text: &[u8]| u128::from(self.hash64(text));
        Seed::from(half(b"truebloom fingerprint 1") << 64 | half(b"truebloom fingerprint 2"))
    }
}

/// Makes a 128-bit hash from a 64-bit one. Both halves of the hash are functions of the same 64
/// bits, and distinct inputs give distinct hashes. The bits are mixed, because many hashers mix
/// integers badly. Some hashers return an integer unchanged. If its bits were not mixed here, a
/// filter of 100 keys would have more than three times the planned rate. The constant is 2^64
/// divided by the golden ratio.
#[inline]
fn spread(hash: u64) -> KeyHash {
    KeyHash { h1: mix(hash), h2: mix(hash ^ 0x9e37_79b9_7f4a_7c15) }
}
