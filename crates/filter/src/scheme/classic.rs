//! Scheme 2: k distinct positions, where every set of k positions is equally likely.

use super::stream::WordStream;
use super::{Scheme, SchemeId, check_probes};
use crate::error::BuildError;
use crate::hash::KeyHash;
use alloc::boxed::Box;
use alloc::vec;
use truebloom_math::law;

/// The scheme that Bloom proposed in 1970: a key has k distinct positions, where k is the number of
/// probes. The key's hash is expanded into a stream of 64-bit words, from which the positions are
/// drawn. If the words are uniform, all sets of k positions are equally likely.
///
/// Floyd's method draws the positions (Bentley and Floyd, *A sample of brilliance*, 1987). This
/// method needs exactly one draw per position, although the positions are distinct.
///
/// Near the optimal number of probes, this scheme has slightly fewer false positives than
/// [`Standard`](super::Standard). The scheme is slower, because each position is compared with the
/// earlier positions of the key. With up to 32 probes, the positions are compared one by one. With
/// more than 32 probes, the positions are looked up in a hash table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classic {
    law: law::Classic,
    bits: u64,
    probes: u32,
}

impl Scheme for Classic {
    const ID: SchemeId = SchemeId::Classic;

    /// Returns an error if `bits` or `probes` is out of range, or if there are more probes than
    /// bits.
    fn new(bits: u64, probes: u32) -> Result<Classic, BuildError> {
        check_probes(probes)?;
        Ok(Classic { law: law::Classic::new(bits, probes)?, bits, probes })
    }

    #[inline]
    fn positions(&self, hash: KeyHash) -> impl Iterator<Item = u64> {
        self.positions(hash)
    }

    of_fields!();
}

impl Classic {
    /// The k positions of a key, all distinct. The order of the positions is unspecified.
    #[inline]
    #[must_use]
    pub fn positions(&self, hash: KeyHash) -> DistinctPositions {
        let drawn = if self.probes as usize <= FEW { Drawn::Few { positions: [0; FEW], count: 0 } } else { Drawn::many(self.probes) };
        DistinctPositions { words: WordStream::new(hash), bound: self.bits - u64::from(self.probes), bits: self.bits, drawn }
    }
}

/// The positions of one key under the [`Classic`] scheme.
#[derive(Clone, Debug)]
pub struct DistinctPositions {
    words: WordStream,
    /// The exclusive upper bound of the last draw.
    bound: u64,
    bits: u64,
    drawn: Drawn,
}

impl Iterator for DistinctPositions {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.bound == self.bits {
            return None;
        }
        let last = self.bound;
        self.bound += 1;
        let position = self.words.below(self.bound);
        if self.drawn.insert(position) {
            return Some(position);
        }
        self.drawn.insert(last);
        Some(last)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.bits - self.bound) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for DistinctPositions {}

/// Up to this many positions are compared one by one, which is faster than a hash table and
/// allocates nothing.
const FEW: usize = 32;

/// Marks an empty slot; positions are below 2^62.
const EMPTY: u64 = u64::MAX;

/// The positions drawn so far.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "the large variant is the common one, and stays on the stack because it must not allocate")]
enum Drawn {
    Few {
        positions: [u64; FEW],
        count: usize,
    },
    /// A hash table. The number of slots is a power of two, and at least twice the number of
    /// probes. The low bits of a position select a slot; the position is stored in the first empty
    /// slot from there on.
    Many(Box<[u64]>),
}

impl Drawn {
    #[cold]
    fn many(probes: u32) -> Drawn {
        Drawn::Many(vec![EMPTY; (2 * probes as usize).next_power_of_two()].into_boxed_slice())
    }

    /// Inserts the position, and returns whether it was not there before.
    #[inline]
    fn insert(&mut self, position: u64) -> bool {
        match self {
            Drawn::Few { positions, count } => {
                let (before, after) = positions.split_at_mut(*count);
                if before.contains(&position) {
                    return false;
                }
                if let Some(next) = after.first_mut() {
                    *next = position;
                    *count += 1;
                }
                true
            }
            Drawn::Many(slots) => insert_into(slots, position),
        }
    }
}

fn insert_into(slots: &mut [u64], position: u64) -> bool {
    let start = position as usize & (slots.len() - 1);
    let (low, high) = slots.split_at_mut(start);
    for slot in high.iter_mut().chain(low) {
        if *slot == position {
            return false;
        }
        if *slot == EMPTY {
            *slot = position;
            return true;
        }
    }
    // Never reached: the table is at most half full.
    true
}
