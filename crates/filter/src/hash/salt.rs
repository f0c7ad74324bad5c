//! What makes the positions of each phase, or each layer, its own.

use super::{KeyHash, Seed};
use core::fmt;
use siphasher::sip128::SipHasher13;
use truebloom_math::mix;

/// What a salt is for: keeps its derivation apart from the hashes of keys and from other salts.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    /// The phases of a recycling filter.
    Phase,
    /// The layers of a filter that grows.
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

/// What makes the positions of a phase or a layer its own: 128 bits that a key's hash is mixed
/// with, or nothing.
///
/// The key is hashed once, whatever the number of phases. In the model, hash and phase together are
/// mapped to positions by a random function; that this one behaves as such is tested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(Option<[u64; 2]>);

impl fmt::Debug for Salt {
    /// Without what follows from the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Salt").finish_non_exhaustive()
    }
}

impl Salt {
    pub(crate) const NONE: Salt = Salt(None);

    /// For phase or layer number `number` (the recycles, or the layers, before it): SipHash-1-3-128
    /// of their number, keyed by the hasher's seed.
    pub(crate) fn numbered(of: Use, seed: Seed, number: u64) -> Salt {
        let hash = SipHasher13::new_with_keys(seed.low() ^ of.word(), seed.high() ^ of.word()).hash(&number.to_le_bytes());
        Salt(Some([hash.h1, hash.h2]))
    }

    /// The key's hash in this phase or layer. A bijection, so distinct hashes stay distinct.
    #[inline]
    pub(crate) fn apply(self, hash: KeyHash) -> KeyHash {
        match self.0 {
            None => hash,
            Some([first, second]) => KeyHash { h1: mix(hash.h1 ^ first), h2: mix(hash.h2 ^ second) },
        }
    }
}
