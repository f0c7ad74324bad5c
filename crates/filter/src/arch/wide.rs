//! Products of 64-bit numbers, computed from 32-bit halves as vector instructions require.

const LOW: u64 = u32::MAX as u64;

/// The high and the low half of a number.
#[inline(always)]
pub(super) fn halves(number: u64) -> (u64, u64) {
    (number >> 32, number & LOW)
}

/// The high half of a product. No sum overflows, because (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
#[inline(always)]
pub(crate) fn high_product(word: u64, factor: u64) -> u64 {
    let ((word_high, word_low), (high, low)) = (halves(word), halves(factor));
    let middle = word_high * low + ((word_low * low) >> 32);
    let other = word_low * high + (middle & LOW);
    word_high * high + (middle >> 32) + (other >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn high_halves_of_products() {
        for word in [0, 1, LOW, LOW + 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            for factor in [1, LOW, LOW + 1, 1 << 62, u64::MAX] {
                assert_eq!(high_product(word, factor), ((u128::from(word) * u128::from(factor)) >> 64) as u64);
            }
        }
    }
}
