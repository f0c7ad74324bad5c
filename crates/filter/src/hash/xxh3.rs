//! XXH3-128, the hasher for trusted keys.

use super::{KeyHash, Seed};
use crate::arch::{Halves, LANES, Level, halves_of, high_product};
use crate::key::Write;
use core::fmt;
use truebloom_math::mix;
use xxhash_rust::xxh3::{Xxh3Builder, xxh3_128_with_seed};

/// XXH3 with a seed of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Xxh3 {
    seed: u64,
    /// The seed in the form that hashing a number needs. It is computed once.
    of_eight: OfEight,
}

impl Xxh3 {
    /// Prepares XXH3 for a seed. XXH3 has a seed of only 64 bits, so two different seeds give the
    /// same hash function with probability 2^-64. Otherwise, the two hash functions are unrelated,
    /// whichever bits of the seeds differ.
    pub(super) fn new(seed: Seed) -> Xxh3 {
        let seed = mix(mix(seed.low().wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ seed.high());
        Xxh3 { seed, of_eight: OfEight::new(seed) }
    }

    #[inline]
    pub(super) fn hash(self, bytes: &[u8]) -> KeyHash {
        KeyHash::from_uniform_bits(xxh3_128_with_seed(bytes, self.seed))
    }

    /// The [`hash`](Self::hash) of all pieces together.
    pub(super) fn hash_pieces(self, write: &mut Write<'_>) -> KeyHash {
        let mut state = Xxh3Builder::new().with_seed(self.seed).build();
        write(&mut |piece| state.update(piece));
        KeyHash::from_uniform_bits(state.digest128())
    }

    /// The [`hash`](Self::hash) of the eight bytes of a number.
    #[inline(always)]
    pub(super) fn hash_number(self, number: u64) -> KeyHash {
        self.of_eight.hash(number)
    }

    /// Computes [`hash_number`](Self::hash_number) of each number.
    pub(super) fn hash_numbers(self, numbers: &[u64], first: &mut [u64], second: &mut [u64]) {
        let hasher = self.of_eight;
        let level = Level::detect();
        let whole = numbers.len().min(first.len()).min(second.len()) / LANES * LANES;
        let (firsts, seconds) = (first.as_chunks_mut().0.iter_mut(), second.as_chunks_mut().0);
        for (numbers, (first, second)) in numbers.as_chunks().0.iter().zip(firsts.zip(seconds)) {
            halves_of(level, hasher, numbers, first, second);
        }
        for (number, (first, second)) in numbers.iter().zip(first.iter_mut().zip(second)).skip(whole) {
            KeyHash { h1: *first, h2: *second } = hasher.hash(*number);
        }
    }
}

impl fmt::Debug for Xxh3 {
    /// Does not show the seed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Xxh3").finish_non_exhaustive()
    }
}

/// XXH3-128 of eight bytes, with a seed: the same arithmetic as the published algorithm for inputs
/// of this length. Hashing a number this way needs neither memory accesses nor branches.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct OfEight {
    flip: u64,
}

/// The first of XXH64's primes, plus four times the length of the input, as in the published
/// algorithm.
const FACTOR: u64 = 0x9e37_79b1_85eb_ca87 + (8 << 2);

impl OfEight {
    #[inline(always)]
    fn new(seed: u64) -> OfEight {
        // The XOR of two words of the algorithm's default secret.
        const SECRET: u64 = 0xdb97_9083_e96d_d4de ^ 0x1f67_b3b7_a4a4_4072;
        let seed = seed ^ (u64::from((seed as u32).swap_bytes()) << 32);
        OfEight { flip: SECRET.wrapping_add(seed) }
    }

    #[inline(always)]
    fn hash(self, number: u64) -> KeyHash {
        let keyed = number ^ self.flip;
        let product = u128::from(keyed) * u128::from(FACTOR);
        OfEight::finish(product as u64, (product >> 64) as u64)
    }

    #[inline(always)]
    fn finish(mut low: u64, mut high: u64) -> KeyHash {
        high = high.wrapping_add(low << 1);
        low ^= high >> 3;
        low = (low ^ (low >> 35)).wrapping_mul(0x9fb2_1c65_1e98_df25);
        low ^= low >> 28;
        high = (high ^ (high >> 37)).wrapping_mul(0x1656_6791_9e37_79f9);
        high ^= high >> 32;
        KeyHash { h1: low, h2: high }
    }
}

impl Halves for OfEight {
    /// Computes the same result as [`hash`](OfEight::hash). The product is computed from 32-bit
    /// halves, as vector instructions require.
    #[inline(always)]
    fn of(self, number: u64) -> (u64, u64) {
        let keyed = number ^ self.flip;
        let KeyHash { h1, h2 } = OfEight::finish(keyed.wrapping_mul(FACTOR), high_product(keyed, FACTOR));
        (h1, h2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::{Lanes, levels};
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

    #[test]
    fn every_level_hashes_alike() {
        let numbers: Lanes = core::array::from_fn(|lane| (lane as u64).wrapping_mul(0x0123_4567_89ab_cdef).rotate_left(lane as u32));
        for seed in [0, 1, u64::MAX, 0x8796_a5b4_c3d2_e1f0] {
            let hasher = OfEight::new(seed);
            for level in levels() {
                let (mut first, mut second) = ([0; LANES], [0; LANES]);
                halves_of(level, hasher, &numbers, &mut first, &mut second);
                assert!((0..LANES).all(|lane| hasher.hash(numbers[lane]) == KeyHash { h1: first[lane], h2: second[lane] }), "{level:?}");
            }
        }
    }
}
