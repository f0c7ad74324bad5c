//! The streams of many keys side by side, a lane a key.
//!
//! One source for every level: the loops are simple enough that the compiler makes vectors of them, and a function only has to say which instructions it may use. So all levels are
//! the same arithmetic on whole numbers.

use super::Level;
use crate::hash::KeyHash;
use crate::scheme::{Words, mix};

/// The streams of N keys, all at the same step: what [`Words`] is for one.
pub(crate) struct Streams<const N: usize> {
    x: [u64; N],
    y: [u64; N],
    step: u64,
}

impl<const N: usize> Streams<N> {
    /// The streams of at most N keys; lanes that are left over repeat the last key, so that they do nothing that no key does.
    #[inline(always)]
    pub(crate) fn new(hashes: &[KeyHash]) -> Streams<N> {
        let (mut x, mut y) = ([0; N], [0; N]);
        for ((x, y), hash) in x.iter_mut().zip(&mut y).zip(hashes) {
            (*x, *y) = (hash.h1, hash.h2);
        }
        if let Some(last) = hashes.last() {
            x[hashes.len().min(N)..].fill(last.h1);
            y[hashes.len().min(N)..].fill(last.h2);
        }
        Streams { x, y, step: 0 }
    }

    /// A number below `range` for each key, by its next word, as [`crate::scheme::draw`] makes it; `threshold` is 2^64 mod `range`. False if any key would have to skip its word:
    /// then the numbers are worth nothing, and the caller goes key by key.
    #[inline(always)]
    pub(crate) fn draw(&mut self, level: Level, range: u64, threshold: u64, numbers: &mut [u64; N]) -> bool {
        self.step += 1;
        match level {
            Level::Scalar => draw(&mut self.x, &mut self.y, self.step, range, threshold, numbers),
            // SAFETY: `Level::detect` makes these values only on processors that have the instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { draw_avx2(&mut self.x, &mut self.y, self.step, range, threshold, numbers) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { draw_avx512(&mut self.x, &mut self.y, self.step, range, threshold, numbers) },
        }
    }

    /// What is left of a key's stream.
    #[inline(always)]
    pub(crate) fn stream_of(&self, key: usize) -> Words {
        Words { x: self.x[key], y: self.y[key], step: self.step }
    }

    /// The next word of each key.
    #[inline(always)]
    pub(crate) fn words(&mut self, level: Level, words: &mut [u64; N]) {
        self.step += 1;
        match level {
            Level::Scalar => next(&mut self.x, &mut self.y, self.step, words),
            // SAFETY: `Level::detect` makes these values only on processors that have the instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { next_avx2(&mut self.x, &mut self.y, self.step, words) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { next_avx512(&mut self.x, &mut self.y, self.step, words) },
        }
    }
}

#[inline(always)]
fn next<const N: usize>(x: &mut [u64; N], y: &mut [u64; N], step: u64, words: &mut [u64; N]) {
    for ((x, y), word) in x.iter_mut().zip(y).zip(words) {
        *word = mix(*x ^ y.rotate_left(32));
        *x = x.wrapping_add(*y);
        *y = y.wrapping_add(step);
    }
}

#[inline(always)]
fn draw<const N: usize>(x: &mut [u64; N], y: &mut [u64; N], step: u64, range: u64, threshold: u64, numbers: &mut [u64; N]) -> bool {
    next(x, y, step, numbers);
    let mut skipped = 0;
    // Vectors multiply halves only, and a small range has but one.
    let (high, low) = (range >> 32, range & LOW);
    if high == 0 {
        for number in numbers {
            skipped |= u64::from(number.wrapping_mul(low) < threshold);
            *number = ((*number >> 32) * low + (((*number & LOW) * low) >> 32)) >> 32;
        }
    } else {
        for number in numbers {
            skipped |= u64::from(number.wrapping_mul(range) < threshold);
            *number = high_product(*number, high, low);
        }
    }
    skipped == 0
}

const LOW: u64 = u32::MAX as u64;

/// The high half of a product of 64-bit numbers, by halves; no sum overflows, as (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
#[inline(always)]
fn high_product(word: u64, high: u64, low: u64) -> u64 {
    let (word_high, word_low) = (word >> 32, word & LOW);
    let middle = word_high * low + ((word_low * low) >> 32);
    let other = word_low * high + (middle & LOW);
    word_high * high + (middle >> 32) + (other >> 32)
}

macro_rules! for_level {
    ($features:literal, $next:ident, $draw:ident) => {
        /// # Safety
        /// The processor has the instructions.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $next<const N: usize>(x: &mut [u64; N], y: &mut [u64; N], step: u64, words: &mut [u64; N]) {
            next(x, y, step, words);
        }

        /// # Safety
        /// The processor has the instructions.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $draw<const N: usize>(
            x: &mut [u64; N],
            y: &mut [u64; N],
            step: u64,
            range: u64,
            threshold: u64,
            numbers: &mut [u64; N],
        ) -> bool {
            draw(x, y, step, range, threshold, numbers)
        }
    };
}

for_level!("avx2", next_avx2, draw_avx2);
for_level!("avx512f,avx512dq,avx512vl", next_avx512, draw_avx512);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::line::levels;
    use crate::scheme::draw as draw_one;
    use proptest::prelude::*;

    /// Eight steps of every level against the stream of each key alone.
    fn check(hashes: &[KeyHash], range: u64) {
        let threshold = range.wrapping_neg() % range;
        for level in levels() {
            let (mut streams, mut numbers) = (Streams::<16>::new(hashes), [0; 16]);
            let mut alone: Vec<Words> = hashes.iter().map(|hash| Words::new(*hash)).collect();
            for step in 0..8 {
                if step % 3 == 2 {
                    streams.words(level, &mut numbers);
                    alone.iter_mut().zip(&numbers).for_each(|(words, word)| assert_eq!(words.next(), *word, "{level:?}"));
                    continue;
                }
                let before = alone.clone();
                let all_drawn = streams.draw(level, range, threshold, &mut numbers);
                let expected: Vec<u64> = alone.iter_mut().map(|words| draw_one(words, range, threshold)).collect();
                let skipped = before.iter().zip(&alone).any(|(before, after)| {
                    let mut once = *before;
                    once.next();
                    once != *after
                });
                assert_eq!(all_drawn, !skipped, "{level:?} {range}");
                if skipped {
                    break;
                }
                assert_eq!(numbers[..hashes.len().min(16)], expected[..], "{level:?} {range} step {step}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_level_draws_as_one_key_does(hashes in prop::collection::vec(any::<u128>(), 1..=16), range: u64, bits in 0u32..63) {
            let hashes: Vec<KeyHash> = hashes.into_iter().map(KeyHash::from).collect();
            check(&hashes, (range >> 1 >> bits).clamp(1, 1 << 62));
        }
    }

    #[test]
    fn ranges_at_the_borders() {
        let hashes: Vec<KeyHash> = (0..16u128).map(|i| KeyHash::from(i * 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef + 1)).collect();
        for range in [1, 2, 3, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 62) - 1, 1 << 62, 3 << 60] {
            check(&hashes, range);
            check(&hashes[..1], range);
        }
        // The first word of hash 0 is 0, which is skipped unless the range is a power of two.
        let zero = KeyHash::from(0);
        let mut numbers = [0; 4];
        assert!(!Streams::<4>::new(&[hashes[0], zero]).draw(Level::Scalar, 1000, 616, &mut numbers));
        assert!(Streams::<4>::new(&[hashes[0]]).draw(Level::Scalar, 1000, 616, &mut numbers));
    }

    #[test]
    fn high_halves_of_products() {
        for word in [0, 1, LOW, LOW + 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            for range in [1, LOW, LOW + 1, 1 << 62, u64::MAX] {
                let expected = ((u128::from(word) * u128::from(range)) >> 64) as u64;
                assert_eq!(high_product(word, range >> 32, range & LOW), expected);
            }
        }
    }
}
