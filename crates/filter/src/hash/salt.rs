//! Salts, which give each phase or layer its own positions.

use super::{KeyHash, Seed};
use core::fmt;
use siphasher::sip128::SipHasher13;
use truebloom_math::mix;

/// The purpose of a salt. Salts with different purposes are derived from the seed in different
/// ways, and none of these ways is used to hash keys.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    /// Salts for the phases of a recycling filter.
    Phase,
    /// Salts for the layers of a filter that grows.
    Layer,
}

impl Use {
    fn word(self) -> u64 {
        u64::from_le_bytes(*match self {
            Use::Phase => b"recycled",
            Use::Layer => b"scalable",
        })
    }
}

/// A salt. It makes the positions of a key differ between phases, or between layers. A salt is
/// either empty, or 128 bits that are mixed with a key's hash.
///
/// With salts, a key is hashed only once for any number of phases or layers. The proofs assume a
/// random function that maps the hash and the phase to positions. Tests confirm that the salted
/// hash behaves like such a function, but this is not proven.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(Option<[u64; 2]>);

impl fmt::Debug for Salt {
    /// Does not show the salt, because it is derived from the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Salt").finish_non_exhaustive()
    }
}

impl Salt {
    pub(crate) const NONE: Salt = Salt(None);

    /// The salt for phase or layer `number`, counted from 0: the SipHash-1-3-128 of this number,
    /// with the hasher's seed as the key.
    pub(crate) fn numbered(of: Use, seed: Seed, number: u64) -> Salt {
        let hash = SipHasher13::new_with_keys(seed.low() ^ of.word(), seed.high() ^ of.word()).hash(&number.to_le_bytes());
        Salt(Some([hash.h1, hash.h2]))
    }

    /// The key's hash in this phase or layer. The mapping is a bijection, so distinct hashes stay
    /// distinct.
    #[inline]
    pub(crate) fn apply(self, hash: KeyHash) -> KeyHash {
        match self.0 {
            None => hash,
            Some([first, second]) => KeyHash { h1: mix(hash.h1 ^ first), h2: mix(hash.h2 ^ second) },
        }
    }
}
