//! Arithmetic for many keys at once, with one vector lane for each key.
//!
//! Each function is compiled from one source for every [level](Level) of vector instructions, so it
//! computes the same integers at every level. The loops are so simple that the compiler vectorizes
//! them. A function only has to say which instructions the compiler may use.

use super::wide::{halves, high_product};
use super::{Below, Level};
use truebloom_math::mix;

/// The number of keys that are processed together.
pub(crate) const LANES: usize = 32;

/// One number for each key.
pub(crate) type Lanes = [u64; LANES];

/// Defines a function with this name, which is compiled from one source for every level.
macro_rules! for_every_level {
    ($(#[$doc:meta])* $name:ident $(<$generic:ident: $bound:ident>)? ($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name$(<$generic: $bound>)?(level: Level, $($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn portable$(<$generic: $bound>)?($($argument: $type),*) $(-> $result)? $body

            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            #[target_feature(enable = "avx2")]
            fn avx2$(<$generic: $bound>)?($($argument: $type),*) $(-> $result)? {
                portable($($argument),*)
            }

            #[cfg(all(target_arch = "x86_64", feature = "simd"))]
            #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
            fn avx512$(<$generic: $bound>)?($($argument: $type),*) $(-> $result)? {
                portable($($argument),*)
            }

            match level {
                Level::Scalar => portable($($argument),*),
                // SAFETY: `Level::detect` makes these values only on processors that have the
                // instructions.
                #[cfg(all(target_arch = "x86_64", feature = "simd"))]
                Level::Avx2 => unsafe { avx2($($argument),*) },
                // SAFETY: as above.
                #[cfg(all(target_arch = "x86_64", feature = "simd"))]
                Level::Avx512 => unsafe { avx512($($argument),*) },
            }
        }
    };
}

for_every_level! {
    /// Computes word `number` of each key's stream, without computing the words before it. Words 0
    /// and 1 are the halves of the hash. A [`WordStream`](crate::scheme::WordStream) gives the same
    /// words in order.
    words(first: &Lanes, second: &Lanes, number: u64, words: &mut Lanes) {
        let Some(steps) = number.checked_sub(2) else {
            *words = if number == 0 { *first } else { *second };
            return;
        };
        let (x, y) = drift(steps);
        for (word, (h1, h2)) in words.iter_mut().zip(first.iter().zip(second)) {
            let (x, y) = (h1.wrapping_add(steps.wrapping_mul(*h2)).wrapping_add(x), h2.wrapping_add(y));
            *word = mix(x ^ y.rotate_left(32));
        }
    }
}

/// The amounts that the first `steps` steps of a stream add to its two state numbers. Step i adds
/// the second number to the first, and then adds i to the second. The first number also grows by
/// `steps` times the initial value of the second number. The result does not include this growth.
#[inline(always)]
fn drift(steps: u64) -> (u64, u64) {
    // No key has 2^20 words, so nothing overflows.
    let steps = steps & ((1 << 20) - 1);
    let sum = steps * (steps + 1) / 2;
    (sum * steps.saturating_sub(1) / 3, sum)
}

/// Word `number` of the stream of one key, given the halves of its hash.
#[inline(always)]
pub(crate) fn word((h1, h2): (u64, u64), number: u64) -> u64 {
    match number {
        0 => h1,
        1 => h2,
        _ => {
            let steps = number - 2;
            let (x, y) = drift(steps);
            let (x, y) = (h1.wrapping_add(steps.wrapping_mul(h2)).wrapping_add(x), h2.wrapping_add(y));
            mix(x ^ y.rotate_left(32))
        }
    }
}

for_every_level! {
    /// Draws the first number below `base` from each new word, and computes the remainders of the
    /// words. Returns false if any word must be skipped. Whether a word must be skipped depends on
    /// all numbers that are drawn from it. They are the digits of one number that `tuples` draws.
    first_digits(words: &Lanes, base: u64, tuples: Below, numbers: &mut Lanes, rest: &mut Lanes) -> bool {
        *rest = *words;
        let mut skipped = 0;
        if tuples.bound == base {
            portable_digits(rest, base, numbers);
            rest.iter().for_each(|rest| skipped |= u64::from(tuples.skips_after(*rest)));
        } else {
            words.iter().for_each(|word| skipped |= u64::from(tuples.skips(*word)));
            portable_digits(rest, base, numbers);
        }
        skipped == 0
    }
}

for_every_level! {
    /// Draws a number below `base` from the remainder of each word, and updates the remainders, as
    /// [`digit`](crate::scheme::digit) does for one word.
    digits(words: &mut Lanes, base: u64, numbers: &mut Lanes) {
        portable_digits(words, base, numbers);
    }
}

/// The next digit of each word in base `base`, and the remainders of the words.
#[inline(always)]
pub(super) fn portable_digits<const N: usize>(words: &mut [u64; N], base: u64, numbers: &mut [u64; N]) {
    // Vector instructions multiply only halves, and the high half of a small base is 0.
    let (high, low) = halves(base);
    if high == 0 {
        for (word, number) in words.iter_mut().zip(numbers) {
            let (word_high, word_low) = halves(*word);
            // The same two products give the digit and the remainder.
            let (high, low) = (word_high * low, word_low * low);
            *number = (high + (low >> 32)) >> 32;
            *word = (high << 32).wrapping_add(low);
        }
    } else {
        for (word, number) in words.iter_mut().zip(numbers) {
            *number = high_product(*word, base);
            *word = word.wrapping_mul(base);
        }
    }
}

/// A function from one number to two numbers, which is applied to every key. The function is
/// inlined, so that it is compiled with the vector instructions of its caller.
pub(crate) trait Halves: Copy {
    /// Computes the two numbers.
    fn of(self, number: u64) -> (u64, u64);
}

for_every_level! {
    /// Applies the function to each number, and stores the two results in separate arrays.
    halves_of<H: Halves>(halves: H, numbers: &Lanes, first: &mut Lanes, second: &mut Lanes) {
        for (number, (first, second)) in numbers.iter().zip(first.iter_mut().zip(second)) {
            (*first, *second) = halves.of(*number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::line::levels;
    use crate::hash::KeyHash;
    use crate::scheme::{WordStream, digit};
    use proptest::prelude::*;

    fn lanes(hashes: &[u128]) -> (Lanes, Lanes) {
        let hash = |lane: usize| KeyHash::from_uniform_bits(hashes[lane % hashes.len()]);
        (core::array::from_fn(|lane| hash(lane).h1), core::array::from_fn(|lane| hash(lane).h2))
    }

    /// Compares the results of every level, and the results for single keys, with a stream that is
    /// read word by word.
    fn check(hashes: &[u128], base: u64) {
        let (first, second) = lanes(hashes);
        let mut streams: Vec<WordStream> =
            (0..LANES).map(|lane| WordStream::from_halves(KeyHash { h1: first[lane], h2: second[lane] })).collect();
        for number in 0..12 {
            let expected: Vec<u64> = streams.iter_mut().map(WordStream::next).collect();
            let least = |tuples: u64| expected.iter().map(|word| word.wrapping_mul(tuples)).min().unwrap_or_default();
            for level in levels() {
                let (mut found, mut rest, mut numbers) = ([0; LANES], [0; LANES], [0; LANES]);
                words(level, &first, &second, number, &mut found);
                assert_eq!(found[..], expected, "{level:?} word {number}");
                for bound in [base, base.wrapping_mul(base)] {
                    let least = least(bound);
                    for (threshold, is_taken) in [(least, true), (least.saturating_add(1), least == u64::MAX)] {
                        let tuples = Below { bound, threshold };
                        assert_eq!(first_digits(level, &found, base, tuples, &mut numbers, &mut rest), is_taken);
                        assert!((0..LANES).all(|lane| (numbers[lane], rest[lane]) == digit(expected[lane], base)), "{level:?} {base}");
                    }
                }
                digits(level, &mut rest, base, &mut numbers);
                for (lane, word) in expected.iter().enumerate() {
                    assert_eq!((numbers[lane], rest[lane]), digit(digit(*word, base).1, base), "{level:?} {base}");
                }
            }
            for (lane, expected) in expected.iter().enumerate() {
                assert_eq!(word((first[lane], second[lane]), number), *expected);
            }
        }
    }

    proptest! {
        #[test]
        fn every_level_does_as_one_key(hashes in prop::collection::vec(any::<u128>(), 1..=LANES), base: u64, bits in 0u32..63) {
            check(&hashes, (base >> 1 >> bits).clamp(1, 1 << 62));
        }
    }

    #[test]
    fn bases_at_the_borders() {
        let hashes: Vec<u128> = (0..32u128).map(|i| i * 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef).collect();
        for base in [1, 2, 3, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 62) - 1, 1 << 62, 3 << 60] {
            check(&hashes, base);
            check(&[u128::MAX, 0, 1, 1 << 64], base);
        }
    }

    /// Tests word numbers up to the largest number of probes.
    #[test]
    fn words_far_away() {
        let hash = KeyHash::from_uniform_bits(0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0);
        let mut stream = WordStream::from_halves(hash);
        assert!((0..5_000).all(|number| stream.next() == word((hash.h1, hash.h2), number)));
    }
}
