//! XXH3-128, the hasher for trusted keys.

use super::{KeyHash, Seed, Write};
use crate::arch::{self, LANES, Level, Xxh3OfEight};
use core::fmt;
use truebloom_math::mix;
use xxhash_rust::xxh3::{Xxh3Builder, xxh3_128_with_seed};

/// XXH3 with a seed, which it takes in 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Xxh3 {
    seed: u64,
}

impl Xxh3 {
    /// Both halves of our seed are mixed to one. So two seeds in 2^64 hash alike, and all others
    /// have nothing to do with each other, whichever bits they differ in.
    pub(super) fn new(seed: Seed) -> Xxh3 {
        Xxh3 { seed: mix(mix(seed.low().wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ seed.high()) }
    }

    #[inline]
    pub(super) fn hash(self, bytes: &[u8]) -> KeyHash {
        KeyHash::from_uniform_bits(xxh3_128_with_seed(bytes, self.seed))
    }

    /// [`hash`](Self::hash) of all pieces.
    pub(super) fn hash_pieces(self, write: &mut Write<'_>) -> KeyHash {
        let mut state = Xxh3Builder::new().with_seed(self.seed).build();
        write(&mut |piece| state.update(piece));
        KeyHash::from_uniform_bits(state.digest128())
    }

    /// [`hash`](Self::hash) of the eight bytes of a number.
    #[inline(always)]
    pub(super) fn hash_number(self, number: u64) -> KeyHash {
        Xxh3OfEight::new(self.seed).hash(number)
    }

    /// [`hash_number`](Self::hash_number) of each.
    pub(super) fn hash_numbers(self, numbers: &[u64], first: &mut [u64], second: &mut [u64]) {
        let hasher = Xxh3OfEight::new(self.seed);
        let level = Level::detect();
        let whole = numbers.len().min(first.len()).min(second.len()) / LANES * LANES;
        let (firsts, seconds) = (first.as_chunks_mut().0.iter_mut(), second.as_chunks_mut().0);
        for (numbers, (first, second)) in numbers.as_chunks().0.iter().zip(firsts.zip(seconds)) {
            arch::xxh3_of_eight(level, hasher, numbers, first, second);
        }
        for (number, (first, second)) in numbers.iter().zip(first.iter_mut().zip(second)).skip(whole) {
            KeyHash { h1: *first, h2: *second } = hasher.hash(*number);
        }
    }
}

impl fmt::Debug for Xxh3 {
    /// Without the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Xxh3").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(seed: u128, numbers: &[u64]) {
        let hasher = Xxh3::new(Seed::from(seed));
        let (mut first, mut second) = (vec![0; numbers.len()], vec![0; numbers.len()]);
        hasher.hash_numbers(numbers, &mut first, &mut second);
        for (i, number) in numbers.iter().enumerate() {
            let expected = hasher.hash(&number.to_le_bytes());
            assert_eq!(hasher.hash_number(*number), expected, "{number}");
            assert_eq!((first[i], second[i]), (expected.h1, expected.h2), "{number}, {i} of {}", numbers.len());
        }
    }

    proptest! {
        #[test]
        fn numbers_are_hashed_as_their_bytes(seed: u128, numbers in prop::collection::vec(any::<u64>(), 0..100)) {
            check(seed, &numbers);
        }
    }

    #[test]
    fn small_and_large_numbers() {
        for seed in [0, 1, u128::from(u64::MAX), u128::MAX, 1 << 64, 0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0] {
            check(seed, &(0..70).chain([u64::MAX, 1 << 63, 1 << 32, u64::from(u32::MAX)]).collect::<Vec<_>>());
        }
    }
}
