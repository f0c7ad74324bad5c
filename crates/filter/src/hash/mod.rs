//! Computes a 128-bit hash from the bytes of a key.

mod foreign;
mod portable;
mod prehashed;
mod salt;
mod seed;
mod sip;
mod xxh3;

pub use foreign::ForeignHasher;
pub use portable::PortableHasher;
pub use prehashed::Prehashed;
pub(crate) use salt::{Salt, Use as SaltUse};
pub use seed::Seed;

use crate::error::MergeError;
use crate::ids::HasherId;
use crate::key::{Key, KeyWriter, Write, write_pieces};
use truebloom_math::mix;

/// The hash of a key: two halves of 64 bits, which behave like random numbers.
///
/// Filters compute positions directly from the two 64-bit halves of the hash.
/// [`mixed`](Self::mixed) makes a hash from any 128-bit number.
/// [`from_uniform_bits`](Self::from_uniform_bits) accepts a number that is already a good hash. If
/// your keys are 64-bit hashes, make a filter with the hasher [`Prehashed`]. The rates of such a
/// filter include the probability that two keys have equal hashes.
///
/// If you divide keys among several filters by their hash, use the low bits of `u128::from(hash)`.
/// Do not use the high bits of either half, because keys with the same high bits have similar
/// positions. Alternatively, give each filter its own seed.
///
/// Filters with the same hasher and seed compute the same hash for a key, even if their sizes
/// differ. You can therefore hash a key once and insert the hash into many such filters. See
/// [`BloomFilter::insert_hash`](crate::BloomFilter::insert_hash).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyHash {
    pub(crate) h1: u64,
    pub(crate) h2: u64,
}

impl KeyHash {
    /// A hash from 128 bits that are already uniform and independent, like those of a good hash
    /// function. The bits are not mixed. The low half of the number becomes the first half of the
    /// hash.
    ///
    /// All 128 bits must be random. Do not pass a 64-bit hash as a `u128`, because half of its bits
    /// would be 0. In a blocked filter, all keys could then get the same positions within their
    /// blocks. [`mixed`](Self::mixed) is safe for any number.
    #[inline]
    #[must_use]
    pub const fn from_uniform_bits(hash: u128) -> KeyHash {
        KeyHash { h1: hash as u64, h2: (hash >> 64) as u64 }
    }

    /// A hash from any number that identifies the key, such as a counter, an identifier with some
    /// constant bits, or a short hash. Distinct numbers have distinct hashes, and their positions
    /// behave like random positions. But the mixing has no seed. Anyone who chooses the numbers can
    /// therefore also choose their positions, and so construct false positives. The mixing is a
    /// Feistel network of two rounds, each of which applies SplitMix64's finalizer twice. Mixing a
    /// number takes about three nanoseconds.
    ///
    /// ```
    /// use truebloom::{BlockedBloomFilter, KeyHash};
    /// let mut filter = BlockedBloomFilter::new(1_000, 0.01)?;
    /// (0..1_000u128).for_each(|number| { filter.insert_hash(KeyHash::mixed(number)); });
    /// assert!(filter.fpr().upper < 0.02);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn mixed(number: u128) -> KeyHash {
        let (low, high) = (number as u64, (number >> 64) as u64);
        // Any two different odd constants would do.
        let h1 = mix(low ^ mix(high.wrapping_add(0x9e37_79b9_7f4a_7c15)));
        let h2 = mix(high ^ mix(h1.wrapping_add(0xd1b5_4a32_d192_ed03)));
        KeyHash { h1, h2 }
    }
}

impl From<KeyHash> for u128 {
    #[inline]
    fn from(hash: KeyHash) -> u128 {
        u128::from(hash.h2) << 64 | u128::from(hash.h1)
    }
}

/// Restricts the types that can be hashers.
mod sealed {
    pub trait Sealed {}

    impl Sealed for super::PortableHasher {}
    impl Sealed for super::Prehashed {}
    impl<S: core::hash::BuildHasher + 'static> Sealed for super::ForeignHasher<S> {}
}

fn one_by_one<H: KeyHasher + ?Sized>(hasher: &H, numbers: &[u64], first: &mut [u64], second: &mut [u64]) {
    for (number, halves) in numbers.iter().zip(first.iter_mut().zip(second)) {
        KeyHash { h1: *halves.0, h2: *halves.1 } = hasher.hash_number(*number);
    }
}

/// The hash of a key of any type.
#[inline(always)]
pub(crate) fn hash_key<K: Key + ?Sized>(hasher: &impl KeyHasher, key: &K) -> KeyHash {
    match (key.key_number(), key.key_bytes()) {
        (Some(number), _) => hasher.hash_number(number),
        (None, Some(bytes)) => hasher.hash(bytes),
        (None, None) => hash_parts(hasher, key),
    }
}

/// The hash of a key that consists of several parts.
#[inline]
fn hash_parts<K: Key + ?Sized>(hasher: &impl KeyHasher, key: &K) -> KeyHash {
    let mut short = KeyWriter::new();
    key.write_key(&mut short);
    match short.short() {
        Some(bytes) => hasher.hash(bytes),
        None => hash_long(hasher, key),
    }
}

#[cold]
#[inline(never)]
fn hash_long<K: Key + ?Sized>(hasher: &impl KeyHasher, key: &K) -> KeyHash {
    hasher.hash_pieces(&mut |take| write_pieces(key, take))
}

/// Returns an error unless both hashers are the same hash function. Filters can be merged only if
/// they give every key the same positions.
pub(crate) fn check_alike<H: KeyHasher>(ours: &H, theirs: &H) -> Result<(), MergeError> {
    if ours.id() != theirs.id() {
        return Err(MergeError::Hasher { ours: ours.id(), theirs: theirs.id() });
    }
    if ours.seed() != theirs.seed() {
        return Err(MergeError::Seed);
    }
    Ok(())
}

/// A function, selected by a seed, that computes the hash of a key from its bytes.
///
/// [`PortableHasher`] is the default. [`ForeignHasher`] adapts the hashers of other crates.
/// [`Prehashed`] is for keys that are already 64-bit hashes.
///
/// The trait is sealed, because a wrong implementation can break filters. If a hasher overstated
/// its number of hash bits, every rate would be wrong. If two methods of a hasher returned
/// different hashes for the same key, filters would lose keys. If two different hash functions
/// reported the same [`id`](Self::id) and the same [`seed`](Self::seed), unions would lose keys.
///
/// To use a custom hasher, wrap it in [`ForeignHasher`]. If the custom hasher computes 128-bit
/// hashes, you can instead convert these hashes with [`KeyHash::from_uniform_bits`] and call
/// [`insert_hash`](crate::BloomFilter::insert_hash).
///
/// ```compile_fail,E0277
/// use truebloom::{HasherId, KeyHash, KeyHasher, Seed};
///
/// struct Mine;
///
/// impl KeyHasher for Mine {
///     const HASH_BITS: u32 = 128;
///     fn hash(&self, bytes: &[u8]) -> KeyHash { KeyHash::mixed(bytes.len() as u128) }
///     fn hash_pieces(&self, _: &mut dyn FnMut(&mut dyn FnMut(&[u8]))) -> KeyHash { KeyHash::mixed(0) }
///     fn id(&self) -> Option<HasherId> { None }
///     fn seed(&self) -> Seed { Seed::from(0) }
/// }
/// ```
pub trait KeyHasher: sealed::Sealed + 'static {
    /// The number of bits of the hash. Plans assume that two keys have equal hashes with a
    /// probability of `2^-HASH_BITS`.
    const HASH_BITS: u32;

    /// The hash of a key's canonical bytes.
    fn hash(&self, bytes: &[u8]) -> KeyHash;

    /// The hash of more than eight bytes, which are written in pieces. This method calls `write`
    /// once, with a function as the argument. `write` passes each piece to that function. The
    /// result equals the [`hash`](Self::hash) of all these bytes together. There is one exception:
    /// the result of a [`ForeignHasher`] can depend on how the bytes are divided into pieces.
    fn hash_pieces(&self, write: &mut Write<'_>) -> KeyHash;

    /// The hash of a number. The result equals the [`hash`](Self::hash) of the number's eight
    /// little-endian bytes.
    #[inline]
    fn hash_number(&self, number: u64) -> KeyHash {
        self.hash(&number.to_le_bytes())
    }

    /// Hashes each of the numbers as [`hash_number`](Self::hash_number) does, in parallel if the
    /// hash function allows it. Each hash has two halves of 64 bits. The first halves are written
    /// to `first`, and the second halves to `second`. If the three slices have different lengths,
    /// the excess elements are ignored.
    fn hash_numbers(&self, numbers: &[u64], first: &mut [u64], second: &mut [u64]) {
        one_by_one(self, numbers, first, second);
    }

    /// The number that identifies this hasher in the file format. The result is `None` if filters
    /// with this hasher cannot be saved.
    fn id(&self) -> Option<HasherId>;

    /// The seed. A [`ForeignHasher`] does not know its seed, and returns a fingerprint: the hashes
    /// of two fixed texts. Two hashers of the same type are treated as the same hash function if
    /// they have the same `id` and the same `seed`. If two different foreign hashers behave like
    /// random functions, they have the same fingerprint with a probability of 2^-128.
    fn seed(&self) -> Seed;
}
