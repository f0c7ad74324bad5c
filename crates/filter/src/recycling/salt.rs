//! What makes the positions of each phase its own.

use crate::hash::{KeyHash, Seed};
use core::fmt;
use siphasher::sip128::SipHasher13;
use truebloom_math::mix;

/// Keeps the derivation of seeds apart from the hashes of keys.
const RECYCLED: u64 = u64::from_le_bytes(*b"recycled");

/// What makes the positions of a phase its own: 128 bits that a key's hash is mixed with, or nothing.
///
/// The key is hashed once, whatever the number of phases. In the model, hash and phase together are mapped to positions by a random function; that this one behaves as such is tested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(Option<[u64; 2]>);

impl fmt::Debug for Salt {
    /// Without what follows from the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Salt").finish_non_exhaustive()
    }
}

impl Salt {
    pub(super) const NONE: Salt = Salt(None);

    /// Of the phase after so many recycles: SipHash-1-3-128 of their number, keyed by the hasher's seed.
    pub(super) fn of_cycle(seed: Seed, cycle: u64) -> Salt {
        let hash = SipHasher13::new_with_keys(seed.low() ^ RECYCLED, seed.high() ^ RECYCLED).hash(&cycle.to_le_bytes());
        Salt(Some([hash.h1, hash.h2]))
    }

    /// The key's hash in this phase. A bijection, so distinct hashes stay distinct.
    #[inline]
    pub(super) fn apply(self, hash: KeyHash) -> KeyHash {
        match self.0 {
            None => hash,
            Some([first, second]) => KeyHash { h1: mix(hash.h1 ^ first), h2: mix(hash.h2 ^ second) },
        }
    }
}
