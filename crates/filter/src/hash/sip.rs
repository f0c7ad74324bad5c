//! SipHash-1-3-128, the hasher for untrusted keys.

use super::{KeyHash, Seed};
use crate::key::Write;
use core::hash::Hasher;
use siphasher::sip128::{Hasher128, SipHasher13};

/// Hashes only the bytes. In contrast, `std::hash::Hash` would add a length or a terminator,
/// depending on the type. This function is never inlined, because it would take registers from
/// loops that use another hasher.
#[inline(never)]
pub(super) fn hash(seed: Seed, bytes: &[u8]) -> KeyHash {
    let hash = SipHasher13::new_with_keys(seed.low(), seed.high()).hash(bytes);
    KeyHash { h1: hash.h1, h2: hash.h2 }
}

/// The [`hash`] of all pieces together.
pub(super) fn hash_pieces(seed: Seed, write: &mut Write<'_>) -> KeyHash {
    let mut state = SipHasher13::new_with_keys(seed.low(), seed.high());
    write(&mut |piece| state.write(piece));
    let hash = state.finish128();
    KeyHash { h1: hash.h1, h2: hash.h2 }
}
