//! The positions of a group of keys. The positions are computed together and ahead of time, so that
//! the words at these positions can be prefetched.

use super::drawn::Drawn;
use crate::arch::{LANES, Lanes, Level, prefetch};
use crate::bulk::Group;
use crate::hash::{KeyHash, Salt};
use crate::scheme::{Scheme, SideBySide};
use crate::word::Word;

/// A group of keys. First, the keys are added. Then their positions are computed, and the words at
/// these positions are prefetched. Finally, the keys are looked up.
pub(crate) struct Ahead {
    level: Level,
    hashes: [KeyHash; LANES],
    count: usize,
    /// The halves of the salted hashes.
    first: Lanes,
    second: Lanes,
    positions: Drawn,
    /// Whether the positions were computed together. If not, they are computed for one key at a
    /// time, when they are needed.
    is_made: bool,
}

impl Ahead {
    /// Makes an empty group.
    pub(crate) fn new(scheme: &impl Scheme) -> Ahead {
        Ahead {
            level: Level::detect(),
            hashes: [KeyHash { h1: 0, h2: 0 }; LANES],
            count: 0,
            first: [0; LANES],
            second: [0; LANES],
            positions: Drawn::new(scheme),
            is_made: false,
        }
    }

    /// Removes all keys.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a key. A group has at most [`LANES`] keys.
    #[inline(always)]
    pub(crate) fn add(&mut self, hash: KeyHash) {
        self.hashes[self.count % LANES] = hash;
        self.count += 1;
    }

    /// The number of keys.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The hashes, in the order in which they were added.
    pub(crate) fn hashes(&self) -> &[KeyHash] {
        &self.hashes[..self.count.min(LANES)]
    }

    /// Computes the positions of all keys together.
    #[inline(always)]
    pub(crate) fn draw(&mut self, scheme: &impl SideBySide, salt: Salt) {
        for (hash, (first, second)) in self.hashes.iter().zip(self.first.iter_mut().zip(&mut self.second)) {
            KeyHash { h1: *first, h2: *second } = salt.apply(*hash);
        }
        let group = Group { first: &self.first, second: &self.second, count: self.count };
        self.is_made = self.positions.draw(self.level, scheme, group, |_| ());
    }

    /// Prefetches the words of the key in this lane, if there is one.
    #[inline(always)]
    pub(crate) fn ask<W: Word>(&self, lane: usize, bits: &[W]) {
        if lane < self.count {
            self.positions.of(lane).for_each(|position| prefetch(bits, position >> 6));
        }
    }

    /// Calls `take` with every position of a key.
    #[inline(always)]
    pub(crate) fn for_each(&self, scheme: &impl Scheme, lane: usize, take: impl FnMut(u64)) {
        if self.is_made {
            self.positions.of(lane).for_each(take);
        } else {
            let hash = KeyHash { h1: self.first[lane % LANES], h2: self.second[lane % LANES] };
            scheme.positions(hash).for_each(take);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{Classic, Standard};
    use alloc::vec::Vec;

    /// Each key gets the same positions in a group as it gets alone. The test includes keys that
    /// skip words, keys with more probes than are prefetched, and groups that are not full.
    #[test]
    fn keys_in_company_have_their_own_positions() {
        let hashes: Vec<KeyHash> =
            (0..400u128).map(|i| KeyHash::from_uniform_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834))).collect();
        for (bits, probes) in [(1_000, 1), (1 << 20, 7), (52_356_516, 8), (3 << 60, 4), (1_000, 64), (1_000, 65)] {
            check(&Standard::new(bits, probes).expect("in range"), &hashes);
            check(&Classic::new(bits, probes).expect("in range"), &hashes);
        }
    }

    fn check(scheme: &impl SideBySide, hashes: &[KeyHash]) {
        let mut ahead = Ahead::new(scheme);
        for group in hashes.chunks(LANES - 1) {
            ahead.clear();
            group.iter().for_each(|hash| ahead.add(*hash));
            ahead.draw(scheme, Salt::NONE);
            ahead.ask(0, &[0u64; 0]);
            assert_eq!(ahead.hashes(), group);
            for (lane, hash) in group.iter().enumerate() {
                let mut found = Vec::new();
                ahead.for_each(scheme, lane, |position| found.push(position));
                assert_eq!(found, scheme.positions(*hash).collect::<Vec<_>>());
            }
        }
    }
}
